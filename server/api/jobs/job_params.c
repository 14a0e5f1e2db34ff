/* Algorithm and parameters of a job: judged by the algorithm's own descriptor. */
#include "api/jobs/job_spec.h"
#include "base/json/json.h"
#include "base/json/json_read.h"
#include "jobs/request/params.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* One parameter that the client gives. */
struct setting {
    const char *name;    /* in the algorithm's table */
    const char *pointer; /* where it stands in the body */
    size_t width;        /* a list of lists: numbers of each; 0: a plain list */
};

static void no_memory(struct job_request *r) {
    problem_set(r->problem, PROBLEM_UNAVAILABLE, "no memory for the job");
}

/* The pointer of a member, in the arena; NULL: no memory (noted). */
static const char *pointer_of(struct job_request *r, const char *parent, const char *key) {
    struct buf text = {0};
    json_pointer(&text, parent, key);
    const char *copy = buf_cstr(&text) ? arena_strdup(r->arena, buf_cstr(&text)) : NULL;
    buf_done(&text);
    if (!copy) {
        no_memory(r);
    }
    return copy;
}

/* The fault of an item of a list, number `item` of all its numbers; of the whole parameter without
 * one. */
static void fault_at(struct job_request *r, const struct setting *s, int64_t item,
                     const char *message) {
    struct buf place = {0};
    const int64_t width = (int64_t)s->width;
    buf_puts(&place, s->pointer);
    if (item >= 0 && width > 0) {
        buf_printf(&place, "/%" PRId64 "/%" PRId64, item / width, item % width);
    } else if (item >= 0) {
        buf_printf(&place, "/%" PRId64, item);
    }
    const char *pointer = buf_cstr(&place);
    if (pointer) {
        json_fault(r->problem, pointer, NULL, "%s", message);
    } else {
        no_memory(r);
    }
    buf_done(&place);
}

/* The fault of a value that the parameter cannot be, whatever its table says. */
static void refuse_value(struct job_request *r, const struct setting *s, int64_t item,
                         const char *wanted, const json_t *value) {
    struct buf message = {0}, got = {0};
    json_describe(&got, value);
    buf_printf(&message, "parameter \"%s\" must be %s (got %s)", s->name, wanted,
               buf_cstr(&got) ? buf_cstr(&got) : "something else");
    const char *text = buf_cstr(&message);
    if (text) {
        fault_at(r, s, item, text);
    } else {
        no_memory(r);
    }
    buf_done(&message);
    buf_done(&got);
}

/* The rows of a list of lists are of one length, which becomes the setting's width. false: noted.
 */
static bool measure(struct job_request *r, struct setting *s, const json_t *value) {
    const size_t n = json_array_size(value), before = job_request_faults(r);
    const size_t width = json_array_size(json_array_get(value, 0));
    if (!json_is_array(json_array_get(value, 0))) {
        return true;
    }
    for (size_t i = 0; i < n; i++) {
        const json_t *row = json_array_get(value, i);
        char wanted[120];
        (void)snprintf(wanted, sizeof wanted,
                       "a list of lists of one length: the first has %zu numbers%s", width,
                       json_is_array(row) ? ", this one not" : "");
        if (!json_is_array(row) || json_array_size(row) != width) {
            refuse_value(r, s, (int64_t)i, wanted, row);
        }
    }
    s->width = width;
    return job_request_faults(r) == before;
}

/* Number `i` of the list, or of its lists. */
static const json_t *item_of(const struct setting *s, const json_t *value, size_t i) {
    return s->width > 0 ? json_array_get(json_array_get(value, i / s->width), i % s->width)
                        : json_array_get(value, i);
}

/* A list for a parameter that takes one, rows one after the other; DN_OK too when items are
 * refused. */
static dn_status set_list(struct job_request *r, dn_params *params, struct setting *s,
                          const json_t *value, dn_error *err) {
    const dn_param *param = dn_algorithm_param(params->algorithm, s->name);
    const size_t before = job_request_faults(r);
    if (param->type == DN_PARAM_LIST && param->matrix && !measure(r, s, value)) {
        return DN_OK;
    }
    const size_t n = json_array_size(value) * (s->width > 0 ? s->width : 1);
    const bool taken = param->type == DN_PARAM_LIST && n <= DN_MAX_LIST;
    double *list = arena_alloc(r->arena, (n + 1) * sizeof *list);
    if (!list) {
        return dn_error_set(err, DN_ERR_MEMORY, "no memory for a list of %zu numbers", n);
    }
    for (size_t i = 0; taken && i < n; i++) {
        const json_t *item = item_of(s, value, i);
        list[i] = json_number_value(item);
        if (!json_is_number(item)) {
            refuse_value(r, s, (int64_t)i,
                         param->integers ? "a list of integers" : "a list of finite numbers", item);
        }
    }
    return job_request_faults(r) > before ? DN_OK
                                          : dn_params_set_list(params, s->name, list, n, err);
}

/* Sets one value; null stands for the parameter's word, or says nothing. */
static void set(struct job_request *r, dn_params *params, struct setting *s, const json_t *value) {
    const dn_param *param = dn_algorithm_param(params->algorithm, s->name);
    dn_status status = DN_OK;
    dn_error err;
    dn_error_clear(&err);
    if (json_is_null(value)) {
        status =
            param->null_word ? dn_params_set_word(params, s->name, param->null_word, &err) : DN_OK;
    } else if (json_is_number(value)) {
        status = dn_params_set_number(params, s->name, json_number_value(value), &err);
    } else if (json_is_string(value)) {
        status = dn_params_set_word(params, s->name, json_string_value(value), &err);
    } else if (json_is_boolean(value)) {
        status = dn_params_set_boolean(params, s->name, json_is_true(value), &err);
    } else if (json_is_array(value)) {
        status = set_list(r, params, s, value, &err);
    } else {
        struct buf what = {0};
        json_describe(&what, value);
        json_fault(r->problem, s->pointer, NULL,
                   "must be a number, a string, a boolean or a list of numbers, got %s",
                   buf_cstr(&what) ? buf_cstr(&what) : "something else");
        buf_done(&what);
    }
    if (status == DN_ERR_MEMORY) {
        problem_set(r->problem, PROBLEM_UNAVAILABLE, "%s", err.message);
    } else if (status != DN_OK) {
        fault_at(r, s, err.row, err.message);
    }
}

static const dn_algorithm *find(struct job_request *r, const char *id) {
    const dn_algorithm *algorithm = dn_algorithm_find(id);
    if (algorithm) {
        return algorithm;
    }
    struct buf known = {0};
    for (size_t i = 0; i < dn_algorithm_count(); i++) {
        buf_printf(&known, "%s%s", i > 0 ? ", " : "", dn_algorithm_at(i)->id);
    }
    const char *list = buf_cstr(&known);
    json_fault(r->problem, "", "algorithm", "there is no algorithm \"%s\"; there are: %s", id,
               list ? list : "");
    buf_done(&known);
    return NULL;
}

/* ---- objects ---- */

/* The parameters as the client gives them. */
struct given {
    dn_params *params;
    const json_t **values; /* [n_params] NULL: not given */
};

/* "a, b" of the names that the test finds among the parameters: of the members of `owner`, or
 * (NULL) of what is no member. */
static const char *list_names(const dn_algorithm *a, const char *owner, const dn_params *only,
                              struct buf *out) {
    for (size_t i = 0; i < a->n_params; i++) {
        const char *member = jobs_param_member(&a->params[i]);
        if ((owner ? jobs_param_belongs(&a->params[i], owner) : !member) &&
            (!only || dn_params_applies(only, i))) {
            buf_printf(out, "%s%s", out->size > 0 ? ", " : "", member ? member : a->params[i].name);
        }
    }
    return buf_cstr(out) ? buf_cstr(out) : "";
}

static void take(struct job_request *r, struct given *g, const char *name, const char *pointer,
                 const json_t *value) {
    struct setting s = {.name = name, .pointer = pointer};
    const dn_param *param = dn_algorithm_param(g->params->algorithm, name);
    if (!pointer) {
        return;
    }
    if (!json_is_null(value) || param->null_word) {
        g->values[param - g->params->algorithm->params] = value;
    }
    set(r, g->params, &s, value);
}

/* {"type": "rbf", "width": 2} */
static void take_object(struct job_request *r, struct given *g, const char *name,
                        const char *pointer, const json_t *object) {
    const dn_algorithm *a = g->params->algorithm;
    struct buf known = {0}, full = {0};
    for (void *at = json_object_iter((json_t *)(uintptr_t)object); pointer && at;
         at = json_object_iter_next((json_t *)(uintptr_t)object, at)) {
        const char *key = json_object_iter_key(at);
        buf_clear(&full);
        buf_printf(&full, "%s.%s", name, key);
        const char *text = buf_cstr(&full);
        const dn_param *param = text ? dn_algorithm_param(a, text) : NULL;
        if (strcmp(key, "type") == 0) {
            take(r, g, name, pointer_of(r, pointer, key), json_object_iter_value(at));
        } else if (param) {
            take(r, g, param->name, pointer_of(r, pointer, key), json_object_iter_value(at));
        } else {
            buf_clear(&known);
            json_fault(r->problem, pointer, key, "is not known here; known: type, %s",
                       list_names(a, name, NULL, &known));
        }
    }
    buf_done(&known);
    buf_done(&full);
}

/* Place of the parameter that is a member of an object and is called so there, or in full;
 * n_params: there is none. */
static size_t find_member(const dn_algorithm *a, const char *key) {
    size_t i = 0;
    for (; i < a->n_params; i++) {
        const char *member = jobs_param_member(&a->params[i]);
        if (member && (strcmp(key, member) == 0 || strcmp(key, a->params[i].name) == 0)) {
            break;
        }
    }
    return i;
}

/* What is given beside its object. */
static void refuse_outside(struct job_request *r, const dn_param *param, const char *key) {
    const char *member = jobs_param_member(param);
    json_fault(r->problem, "/params", key,
               "is a member of an object: write \"%.*s\": {\"type\": …, \"%s\": …}%s%s",
               (int)(member - param->name - 1), param->name, member, param->hint ? "; " : "",
               param->hint ? param->hint : "");
}

/* One member of `params`. */
static void take_param(struct job_request *r, struct given *g, const char *key,
                       const json_t *value) {
    const dn_algorithm *a = g->params->algorithm;
    const dn_param *param = dn_algorithm_param(a, key);
    if (param && !jobs_param_member(param)) {
        const char *pointer = pointer_of(r, "/params", key);
        if (json_is_object(value) && jobs_param_is_object(a, key)) {
            take_object(r, g, param->name, pointer, value);
        } else {
            take(r, g, param->name, pointer, value);
        }
        return;
    }
    struct buf known = {0};
    const size_t member = find_member(a, key);
    if (member < a->n_params) {
        refuse_outside(r, &a->params[member], key);
    } else {
        json_fault(r->problem, "/params", key,
                   "algorithm \"%s\" has no parameter \"%.64s\"; it has %s", a->id, key,
                   list_names(a, NULL, NULL, &known));
    }
    buf_done(&known);
}

/* A member that does not belong to its object's type: whose it is, and what that type has. */
static void refuse_member(struct job_request *r, const struct given *g, size_t i,
                          const dn_param *owner, const char *pointer) {
    const dn_algorithm *a = g->params->algorithm;
    const char *name = a->params[i].name;
    const uint64_t choices = jobs_param_choices(a, i);
    struct buf of = {0}, own = {0};
    for (size_t k = 0; k < 64 && choices >> k; k++) {
        if (choices >> k & 1) {
            buf_printf(&of, "%s%s", of.size > 0 ? ", " : "", owner->choices[k]);
        }
    }
    const char *has = list_names(a, owner->name, g->params, &own);
    const char *hint = a->params[i].hint;
    json_fault(r->problem, pointer, NULL, "\"%s\" belongs to %s%s %s; %s %s has %s%s%s", name,
               owner->name, (choices & (choices - 1)) != 0 ? "s" : "",
               buf_cstr(&of) && of.size > 0 ? buf_cstr(&of) : "of another type", owner->name,
               dn_params_word(g->params, owner->name), has[0] ? has : "no members",
               hint ? "; " : "", hint ? hint : "");
    buf_done(&of);
    buf_done(&own);
}

/* What was given and does not matter for the values of the others. */
static void check_applies(struct job_request *r, const struct given *g) {
    const dn_algorithm *a = g->params->algorithm;
    for (size_t i = 0; i < a->n_params; i++) {
        const dn_param *owner = jobs_param_owner(a, i);
        const char *hint = a->params[i].hint;
        struct buf place = {0};
        if (!g->values[i] || dn_params_applies(g->params, i)) {
            continue;
        }
        jobs_param_pointer(a->params[i].name, &place);
        if (!buf_cstr(&place)) {
            no_memory(r);
        } else if (owner) {
            refuse_member(r, g, i, owner, buf_cstr(&place));
        } else {
            json_fault(r->problem, buf_cstr(&place), NULL,
                       "parameter \"%s\" has no effect with the other parameters: omit it%s%s",
                       a->params[i].name, hint != NULL ? "; " : "", hint != NULL ? hint : "");
        }
        buf_done(&place);
    }
}

/* Rules between parameters make sense only when each of them is right. */
static void check(struct job_request *r, const struct given *g) {
    const size_t before = job_request_faults(r);
    dn_error err;
    dn_error_clear(&err);
    check_applies(r, g);
    if (job_request_faults(r) == before && dn_params_check(g->params, &err) != DN_OK) {
        job_params_fault(r, &err);
    }
}

void job_params_fault(struct job_request *r, const dn_error *err) {
    struct buf place = {0};
    if (err->field[0]) {
        jobs_param_pointer(err->field, &place);
    } else {
        buf_puts(&place, "/params");
    }
    const struct setting s = {.name = err->field, .pointer = buf_cstr(&place)};
    if (err->code != DN_ERR_ARGUMENT) {
        problem_set(r->problem, PROBLEM_UNAVAILABLE, "%s", err->message);
    } else if (s.pointer) {
        fault_at(r, &s, err->row, err->message);
    } else {
        no_memory(r);
    }
    buf_done(&place);
}

void job_params_read(struct job_request *r, const json_t *root) {
    const char *id = NULL;
    const json_t *object = NULL;
    dn_error err;
    dn_error_clear(&err);
    json_read_object(root, "params", false, "", &object, r->problem);
    if (!json_read_string(root, "algorithm", true, "", &id, r->problem)) {
        return;
    }
    const dn_algorithm *algorithm = find(r, id);
    if (!algorithm) {
        return;
    }
    if (dn_params_new(algorithm, &r->spec.params, &err) != DN_OK) {
        problem_set(r->problem, PROBLEM_UNAVAILABLE, "%s", err.message);
        return;
    }
    r->spec.algorithm = algorithm;
    struct given given = {.params = r->spec.params,
                          .values = arena_alloc(r->arena,
                                                (algorithm->n_params + 1) * sizeof *given.values)};
    if (!given.values) {
        no_memory(r);
        return;
    }
    for (size_t i = 0; i < algorithm->n_params; i++) {
        given.values[i] = NULL;
    }
    const size_t before = job_request_faults(r);
    for (void *at = json_object_iter((json_t *)(uintptr_t)object); at;
         at = json_object_iter_next((json_t *)(uintptr_t)object, at)) {
        take_param(r, &given, json_object_iter_key(at), json_object_iter_value(at));
    }
    if (job_request_faults(r) == before) {
        check(r, &given);
    }
}
