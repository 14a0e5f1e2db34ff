/* Reads the algorithm and the parameters of a job. The core checks each value by the algorithm's
 * table. */
#include "base/json/json_read.h"
#include "base/nearest.h"
#include "jobs/request/params.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The state of reading `params`. */
struct reading {
    dn_params *params;
    const json_t **given; /* [n_params] the value of each parameter; NULL: absent */
    struct arena *arena;
    struct problem *problem;
    bool decision_beside; /* `decision` is a member of the job, not of `params` */
};

/* One parameter of the body. */
struct setting {
    const dn_param *param;
    char pointer[JOBS_POINTER_SIZE];
    size_t width; /* list of lists: numbers in each inner list; 0: a plain list */
};

static size_t count_faults(const struct reading *r) {
    return r->problem->n_errors + r->problem->n_dropped;
}

/* Adds a fault at a number of the list, counted over all inner lists; item < 0: at the parameter
 * itself. */
static void add_fault(struct problem *problem, const struct setting *s, int64_t item,
                      const char *message) {
    char pointer[JOBS_POINTER_SIZE + 48] = "";
    const int64_t width = (int64_t)s->width;
    if (item >= 0 && width > 0) {
        (void)snprintf(pointer, sizeof pointer, "%s/%" PRId64 "/%" PRId64, s->pointer, item / width,
                       item % width);
    } else if (item >= 0) {
        (void)snprintf(pointer, sizeof pointer, "%s/%" PRId64, s->pointer, item);
    }
    json_fault(problem, item >= 0 ? pointer : s->pointer, NULL, "%s", message);
}

/* Adds the fault that a value, or an item of it, is not of the type `wanted`. */
static void refuse_type(struct reading *r, const struct setting *s, int64_t item,
                        const char *wanted, const json_t *value) {
    struct buf message = {0};
    buf_printf(&message, "parameter \"%s\" must be %s (got ", s->param->name, wanted);
    json_describe(&message, value);
    buf_putc(&message, ')');
    const char *text = buf_cstr(&message);
    add_fault(r->problem, s, item, text != NULL ? text : "must be of another type");
    buf_done(&message);
}

/* ---- values ---- */

/* Checks that the inner lists of a list of lists have the same length, and sets s->width to it. */
static bool measure_lists(struct reading *r, struct setting *s, const json_t *value) {
    const json_t *first = json_array_get(value, 0);
    const size_t before = count_faults(r), width = json_array_size(first);
    if (!json_is_array(first)) {
        return true;
    }
    for (size_t i = 0; i < json_array_size(value); i++) {
        const json_t *row = json_array_get(value, i);
        char wanted[120];
        (void)snprintf(wanted, sizeof wanted,
                       "a list of lists of one length: the first has %zu numbers%s", width,
                       json_is_array(row) ? ", this one has a different number" : "");
        if (!json_is_array(row) || json_array_size(row) != width) {
            refuse_type(r, s, (int64_t)i, wanted, row);
        }
    }
    s->width = width;
    return count_faults(r) == before;
}

/* Returns number i of a list, or of all inner lists. */
static const json_t *get_item(const struct setting *s, const json_t *value, size_t i) {
    return s->width > 0 ? json_array_get(json_array_get(value, i / s->width), i % s->width)
                        : json_array_get(value, i);
}

/* Sets a list; the numbers of a list of lists are joined. DN_OK if a fault was added. */
static dn_status set_list(struct reading *r, struct setting *s, const json_t *value,
                          dn_error *err) {
    const dn_param *param = s->param;
    const size_t before = count_faults(r);
    if (param->type == DN_PARAM_LIST && param->matrix && !measure_lists(r, s, value)) {
        return DN_OK;
    }
    const size_t n = json_array_size(value) * (s->width > 0 ? s->width : 1);
    const bool read = param->type == DN_PARAM_LIST && n <= DN_MAX_LIST;
    double *list = arena_alloc(r->arena, (n + 1) * sizeof *list);
    if (list == NULL) {
        return dn_error_set(err, DN_ERR_MEMORY, "no memory for a list of %zu numbers", n);
    }
    for (size_t i = 0; read && i < n; i++) {
        const json_t *item = get_item(s, value, i);
        list[i] = json_number_value(item);
        if (!json_is_number(item)) {
            refuse_type(r, s, (int64_t)i,
                        param->integers ? "a list of integers" : "a list of finite numbers", item);
        }
    }
    return count_faults(r) > before ? DN_OK
                                    : dn_params_set_list(r->params, param->name, list, n, err);
}

/* Sets one value. null stands for the parameter's null_word, or is ignored. */
static dn_status set_value(struct reading *r, struct setting *s, const json_t *value,
                           dn_error *err) {
    const char *name = s->param->name, *null_word = s->param->null_word;
    if (json_is_null(value)) {
        return null_word != NULL ? dn_params_set_word(r->params, name, null_word, err) : DN_OK;
    }
    if (json_is_number(value)) {
        return dn_params_set_number(r->params, name, json_number_value(value), err);
    }
    if (json_is_string(value)) {
        return dn_params_set_word(r->params, name, json_string_value(value), err);
    }
    if (json_is_boolean(value)) {
        return dn_params_set_boolean(r->params, name, json_is_true(value), err);
    }
    if (json_is_array(value)) {
        return set_list(r, s, value, err);
    }
    json_fault(r->problem, s->pointer, NULL,
               "must be a number, a string, a boolean or a list of numbers, got object");
    return DN_OK;
}

/* Sets a parameter. member: "type" for the own value of an object's parameter; NULL otherwise. */
static void read_value(struct reading *r, const dn_param *param, const char *member,
                       const json_t *value) {
    struct setting s = {.param = param};
    dn_error err;
    dn_error_clear(&err);
    jobs_param_pointer(param->name, s.pointer);
    if (member != NULL) {
        const size_t n = strlen(s.pointer);
        (void)snprintf(s.pointer + n, sizeof s.pointer - n, "/%s", member);
    }
    if (!json_is_null(value) || param->null_word != NULL) {
        r->given[param - r->params->algorithm->params] = value;
    }
    const dn_status status = set_value(r, &s, value, &err);
    if (status == DN_ERR_MEMORY) {
        problem_set(r->problem, PROBLEM_UNAVAILABLE, "%s", err.message);
    } else if (status != DN_OK) {
        add_fault(r->problem, &s, err.row, err.message);
    }
}

/* ---- objects and members ---- */

/* Writes the names "a, b" of the members of `owner`, or, if it is NULL, of the parameters that are
 * not members. effective: only parameters that have an effect with these values; NULL: all. */
static const char *list_names(const dn_algorithm *a, const char *owner, const dn_params *effective,
                              struct buf *out) {
    for (size_t i = 0; i < a->n_params; i++) {
        const char *member = jobs_param_member(&a->params[i]);
        if ((owner != NULL ? jobs_param_belongs(&a->params[i], owner) : member == NULL) &&
            (effective == NULL || dn_params_applies(effective, i))) {
            buf_printf(out, "%s%s", out->size > 0 ? ", " : "",
                       member != NULL ? member : a->params[i].name);
        }
    }
    return buf_cstr(out) != NULL ? buf_cstr(out) : "";
}

/* Returns a hint at the nearest of the names of list_names, in *nearest. */
static const char *hint_name(const dn_algorithm *a, const char *owner, const char *name,
                             struct nearest *nearest) {
    *nearest = nearest_to(name, strlen(name));
    for (size_t i = 0; i < a->n_params; i++) {
        const char *member = jobs_param_member(&a->params[i]),
                   *own = member != NULL ? member : a->params[i].name;
        if (owner != NULL ? jobs_param_belongs(&a->params[i], owner) : member == NULL) {
            nearest_offer(nearest, own, strlen(own));
        }
    }
    if (owner != NULL) {
        nearest_offer(nearest, "type", 4);
    }
    return nearest->hint;
}

/* Reads {"type": "rbf", "width": 2}. */
static void read_object(struct reading *r, const dn_param *owner, const json_t *object) {
    const dn_algorithm *a = r->params->algorithm;
    for (void *at = json_object_iter((json_t *)(uintptr_t)object); at != NULL;
         at = json_object_iter_next((json_t *)(uintptr_t)object, at)) {
        const char *key = json_object_iter_key(at);
        char name[JOBS_POINTER_SIZE], pointer[JOBS_POINTER_SIZE];
        struct buf known = {0};
        struct nearest nearest;
        (void)snprintf(name, sizeof name, "%s.%s", owner->name, key);
        const dn_param *member = dn_algorithm_param(a, name);
        if (strcmp(key, "type") == 0) {
            read_value(r, owner, "type", json_object_iter_value(at));
        } else if (member != NULL) {
            read_value(r, member, NULL, json_object_iter_value(at));
        } else {
            jobs_param_pointer(owner->name, pointer);
            json_fault(r->problem, pointer, key, "is not a known member; known members: type, %s%s",
                       list_names(a, owner->name, NULL, &known),
                       hint_name(a, owner->name, key, &nearest));
        }
        buf_done(&known);
    }
}

/* Returns the member of an object whose name, or name in the object, is `key`; NULL: none. */
static const dn_param *find_member(const dn_algorithm *a, const char *key) {
    for (size_t i = 0; i < a->n_params; i++) {
        const char *member = jobs_param_member(&a->params[i]);
        if (member != NULL && (strcmp(key, member) == 0 || strcmp(key, a->params[i].name) == 0)) {
            return &a->params[i];
        }
    }
    return NULL;
}

/* Reads one member of `params`. */
static void read_param(struct reading *r, const char *key, const json_t *value) {
    const dn_algorithm *a = r->params->algorithm;
    const dn_param *param = dn_algorithm_param(a, key), *inner = find_member(a, key);
    if (param != NULL && jobs_param_member(param) == NULL) {
        if (json_is_object(value) && jobs_param_is_object(a, key)) {
            read_object(r, param, value);
        } else {
            read_value(r, param, NULL, value);
        }
    } else if (inner != NULL) {
        const char *member = jobs_param_member(inner);
        json_fault(r->problem, "/params", key,
                   "is a member of an object: write \"%.*s\": {\"type\": …, \"%s\": …}%s%s",
                   (int)(member - inner->name - 1), inner->name, member,
                   inner->hint != NULL ? "; " : "", inner->hint != NULL ? inner->hint : "");
    } else {
        struct buf known = {0};
        struct nearest nearest;
        json_fault(r->problem, "/params", key,
                   "algorithm \"%s\" has no parameter \"%.64s\"; it has %s%s", a->id, key,
                   list_names(a, NULL, NULL, &known), hint_name(a, NULL, key, &nearest));
        buf_done(&known);
    }
}

/* ---- rules between parameters ---- */

/* Adds the fault that parameter i does not belong to the type of its object: to which types it
 * belongs, and which members the given type has. */
static void refuse_member(struct reading *r, size_t i, const dn_param *owner, const char *pointer) {
    const dn_algorithm *a = r->params->algorithm;
    const uint64_t choices = jobs_param_choices(a, i);
    const char *hint = a->params[i].hint;
    struct buf types = {0}, members = {0};
    for (size_t k = 0; k < 64 && choices >> k; k++) {
        if (choices >> k & 1) {
            buf_printf(&types, "%s%s", types.size > 0 ? ", " : "", owner->choices[k]);
        }
    }
    const char *has = list_names(a, owner->name, r->params, &members);
    json_fault(r->problem, pointer, NULL, "\"%s\" belongs to %s%s %s; %s %s has %s%s%s",
               a->params[i].name, owner->name, (choices & (choices - 1)) != 0 ? "s" : "",
               types.size > 0 && buf_cstr(&types) != NULL ? buf_cstr(&types) : "of another type",
               owner->name, dn_params_word(r->params, owner->name), has[0] ? has : "no members",
               hint != NULL ? "; " : "", hint != NULL ? hint : "");
    buf_done(&types);
    buf_done(&members);
}

/* Refuses parameters that were given and have no effect with the values of the others. */
static void check_effects(struct reading *r) {
    const dn_algorithm *a = r->params->algorithm;
    for (size_t i = 0; i < a->n_params; i++) {
        const dn_param *owner = jobs_param_owner(a, i);
        const char *hint = a->params[i].hint;
        char pointer[JOBS_POINTER_SIZE];
        jobs_param_pointer(a->params[i].name, pointer);
        if (r->decision_beside && strcmp(a->params[i].name, "decision") == 0) {
            (void)snprintf(pointer, sizeof pointer, "/decision");
        }
        if (r->given[i] == NULL || dn_params_applies(r->params, i)) {
            continue;
        }
        if (owner != NULL) {
            refuse_member(r, i, owner, pointer);
        } else {
            json_fault(r->problem, pointer, NULL,
                       "parameter \"%s\" has no effect with the given values of the other "
                       "parameters: omit it%s%s",
                       a->params[i].name, hint != NULL ? "; " : "", hint != NULL ? hint : "");
        }
    }
}

void jobs_params_fault(const dn_error *err, struct problem *problem) {
    struct setting s = {.pointer = "/params"};
    if (err->code != DN_ERR_ARGUMENT) {
        problem_set(problem, PROBLEM_UNAVAILABLE, "%s", err->message);
        return;
    }
    if (err->field[0] != '\0') {
        jobs_param_pointer(err->field, s.pointer);
    }
    add_fault(problem, &s, err->row, err->message);
}

/* ---- the whole ---- */

const dn_algorithm *jobs_algorithm_read(const json_t *object, const char *parent,
                                        struct problem *problem) {
    const char *id = NULL;
    if (!json_read_string(object, "algorithm", true, parent, &id, problem)) {
        return NULL;
    }
    const dn_algorithm *algorithm = dn_algorithm_find(id);
    if (strcmp(id, dn_algorithm_combination()->id) == 0) {
        json_fault(
            problem, parent, "algorithm",
            "\"%s\" is made only by a search: give its members as candidates, and \"combine\"", id);
    } else if (algorithm == NULL) {
        struct buf known = {0};
        struct nearest nearest = nearest_to(id, strlen(id));
        for (size_t i = 0; i < dn_algorithm_count(); i++) {
            nearest_offer(&nearest, dn_algorithm_at(i)->id, strlen(dn_algorithm_at(i)->id));
            buf_printf(&known, "%s%s", i > 0 ? ", " : "", dn_algorithm_at(i)->id);
        }
        json_fault(problem, parent, "algorithm",
                   "there is no algorithm \"%s\"; the algorithms are %s%s", id,
                   buf_cstr(&known) != NULL ? buf_cstr(&known) : "", nearest.hint);
        buf_done(&known);
    }
    return algorithm;
}

/* Reads a group of parameters as releases up to 0.1 stored them: full names, booleans as 0 and 1,
 * and also parameters without effect. */
static void read_group(struct reading *r, const json_t *group) {
    for (void *at = json_object_iter((json_t *)(uintptr_t)group); at != NULL;
         at = json_object_iter_next((json_t *)(uintptr_t)group, at)) {
        const char *name = json_object_iter_key(at);
        const json_t *value = json_object_iter_value(at);
        const dn_param *param = dn_algorithm_param(r->params->algorithm, name);
        if (param == NULL) {
            json_fault(r->problem, "/params", name, "algorithm \"%s\" has no parameter \"%.64s\"",
                       r->params->algorithm->id, name);
        } else if (param->type == DN_PARAM_BOOLEAN) {
            read_value(r, param, NULL, json_boolean(json_number_value(value) != 0));
        } else {
            read_value(r, param, NULL, value);
        }
    }
}

/* Reads `decision` beside `params`, which means `params.decision`. */
static void read_decision(struct reading *r, const json_t *root, const json_t *params) {
    const dn_algorithm *a = r->params->algorithm;
    const dn_param *param = dn_algorithm_param(a, "decision");
    const json_t *value = json_read_any(root, "decision", false, "", r->problem),
                 *other = json_object_get(params, "decision");
    size_t choice = 0;
    if (value == NULL || json_is_object(value)) { /* an object is a decision rule */
        return;
    }
    if (param == NULL) {
        json_fault(r->problem, "", "decision", "algorithm \"%s\" has no parameter \"decision\"",
                   a->id);
    } else if (!json_read_choice(root, "decision", false, "", param->choices, &choice,
                                 r->problem)) {
        return;
    } else if (other != NULL && !json_equal(other, value)) {
        json_fault(r->problem, "", "decision",
                   "is \"%s\", but params.decision has another value: give one of them",
                   json_string_value(value));
    } else if (other == NULL) {
        r->decision_beside = true;
        read_param(r, "decision", value);
    }
}

void jobs_params_read(const json_t *root, struct arena *arena, dn_params **out,
                      struct problem *problem) {
    static const char *const groups[] = {"numbers", "words", "lists"};
    const json_t *object = NULL;
    dn_error err;
    dn_error_clear(&err);
    *out = NULL;
    json_read_object(root, "params", false, "", &object, problem);
    if (json_object_get(root, "algorithm") == NULL) {
        json_fault(problem, "", "algorithm",
                   "is missing: give an algorithm, or \"search\" to find one");
        return;
    }
    const dn_algorithm *algorithm = jobs_algorithm_read(root, "", problem);
    if (algorithm == NULL) {
        return;
    }
    struct reading r = {.given = arena_alloc(arena, (algorithm->n_params + 1) * sizeof *r.given),
                        .arena = arena,
                        .problem = problem};
    if (r.given == NULL || dn_params_new(algorithm, &r.params, &err) != DN_OK) {
        problem_set(problem, PROBLEM_UNAVAILABLE, "no memory for the job");
        return;
    }
    *out = r.params;
    memset(r.given, 0, algorithm->n_params * sizeof *r.given);
    const size_t before = count_faults(&r);
    for (size_t i = 0; object == NULL && i < sizeof groups / sizeof groups[0]; i++) {
        read_group(&r, json_object_get(root, groups[i]));
    }
    for (void *at = json_object_iter((json_t *)(uintptr_t)object); at != NULL;
         at = json_object_iter_next((json_t *)(uintptr_t)object, at)) {
        read_param(&r, json_object_iter_key(at), json_object_iter_value(at));
    }
    read_decision(&r, root, object);
    if ((object != NULL || r.decision_beside) && count_faults(&r) == before) {
        check_effects(&r);
    }
    if (count_faults(&r) == before && dn_params_check(r.params, &err) != DN_OK) {
        jobs_params_fault(&err, problem);
    }
}
