/* Algorithm and parameters of a job: judged by the algorithm's own descriptor. */
#include "api/job_spec.h"
#include "base/json_read.h"

#include <math.h>
#include <string.h>

/* A fault of the core at one parameter. */
static void fault_from(struct job_request *r, const char *name, const dn_error *err) {
    json_fault(r->problem, "/params", name && name[0] ? name : NULL, "%s", err->message);
}

/* A list of numbers for a parameter that takes one. */
static dn_status set_list(struct job_request *r, dn_params *params, const char *name, const json_t *value, dn_error *err) {
    size_t n = json_array_size(value);
    double *list = arena_alloc(r->arena, (n + 1) * sizeof *list);
    if (!list)
        return dn_error_set(err, DN_ERR_MEMORY, "no memory for a list of %zu numbers", n);
    for (size_t i = 0; i < n; i++) {
        const json_t *item = json_array_get(value, i);
        list[i] = json_is_number(item) ? json_number_value(item) : (double)NAN; /* which the parameter's rule refuses, with its place */
    }
    return dn_params_set_list(params, name, list, n, err);
}

static void set(struct job_request *r, dn_params *params, const char *name, const json_t *value) {
    dn_error err;
    dn_error_clear(&err);
    dn_status status;
    if (json_is_number(value))
        status = dn_params_set_number(params, name, json_number_value(value), &err);
    else if (json_is_string(value))
        status = dn_params_set_word(params, name, json_string_value(value), &err);
    else if (json_is_boolean(value))
        status = dn_params_set_boolean(params, name, json_is_true(value), &err);
    else if (json_is_array(value))
        status = set_list(r, params, name, value, &err);
    else {
        struct buf what = {0};
        json_describe(&what, value);
        const char *text = buf_cstr(&what);
        json_fault(r->problem, "/params", name, "must be a number, a string, a boolean or a list of numbers, got %s",
                   text ? text : "something else");
        buf_done(&what);
        return;
    }
    if (status != DN_OK)
        fault_from(r, name, &err);
}

static bool has_param(const dn_algorithm *algorithm, const char *name) {
    for (size_t i = 0; i < algorithm->n_params; i++)
        if (strcmp(algorithm->params[i].name, name) == 0)
            return true;
    return false;
}

static const dn_algorithm *find(struct job_request *r, const char *id) {
    const dn_algorithm *algorithm = dn_algorithm_find(id);
    if (algorithm)
        return algorithm;
    struct buf known = {0};
    for (size_t i = 0; i < dn_algorithm_count(); i++)
        buf_printf(&known, "%s%s", i > 0 ? ", " : "", dn_algorithm_at(i)->id);
    const char *list = buf_cstr(&known);
    json_fault(r->problem, "", "algorithm", "there is no algorithm \"%s\"; there are: %s", id, list ? list : "");
    buf_done(&known);
    return NULL;
}

void job_params_read(struct job_request *r, const json_t *root) {
    const char *id = NULL;
    const json_t *given = NULL;
    dn_error err;
    dn_error_clear(&err);
    json_read_object(root, "params", false, "", &given, r->problem);
    if (!json_read_string(root, "algorithm", true, "", &id, r->problem))
        return;
    const dn_algorithm *algorithm = find(r, id);
    if (!algorithm)
        return;
    if (dn_params_new(algorithm, &r->spec.params, &err) != DN_OK) {
        problem_set(r->problem, PROBLEM_UNAVAILABLE, "%s", err.message);
        return;
    }
    r->spec.algorithm = algorithm;
    size_t before = r->problem->n_errors + r->problem->n_dropped;
    for (void *at = json_object_iter((json_t *)(uintptr_t)given); at; at = json_object_iter_next((json_t *)(uintptr_t)given, at))
        if (!json_is_null(json_object_iter_value(at)) || !has_param(algorithm, json_object_iter_key(at))) /* null: not given */
            set(r, r->spec.params, json_object_iter_key(at), json_object_iter_value(at));
    /* Rules between parameters make sense only when each of them is right. */
    if (r->problem->n_errors + r->problem->n_dropped == before && dn_params_check(r->spec.params, &err) != DN_OK)
        fault_from(r, err.field, &err);
}
