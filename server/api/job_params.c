/* Algorithm and parameters of a job: judged by the algorithm's own descriptor. */
#include "api/job_spec.h"
#include "base/json.h"
#include "base/json_read.h"

#include <inttypes.h>
#include <stdio.h>

/* A fault of the core at one parameter, or at an item of one that is a list. */
static void fault_from(struct job_request *r, const char *name, const dn_error *err) {
    char item[24] = "";
    struct buf place = {0};
    if (name && name[0])
        json_pointer(&place, "/params", name);
    else
        buf_puts(&place, "/params");
    if (err->row >= 0)
        (void)snprintf(item, sizeof item, "%" PRId64, err->row);
    const char *parent = buf_cstr(&place);
    if (parent)
        json_fault(r->problem, parent, item[0] ? item : NULL, "%s", err->message);
    else
        problem_set(r->problem, PROBLEM_UNAVAILABLE, "no memory for the job");
    buf_done(&place);
}

/* The fault of an item that is no number. */
static void refuse_item(struct job_request *r, const char *name, size_t i, const json_t *item) {
    struct buf list = {0}, place = {0}, got = {0};
    json_pointer(&list, "/params", name);
    const char *parent = buf_cstr(&list);
    if (parent)
        json_pointer_index(&place, parent, i);
    json_describe(&got, item);
    const char *pointer = buf_cstr(&place), *what = buf_cstr(&got);
    if (parent && pointer && what)
        json_fault(r->problem, pointer, NULL, "parameter \"%s\" must be a list of finite numbers (got %s)", name, what);
    else
        problem_set(r->problem, PROBLEM_UNAVAILABLE, "no memory for the job");
    buf_done(&list);
    buf_done(&place);
    buf_done(&got);
}

/* A list for a parameter that takes one; DN_OK too when items are refused. */
static dn_status set_list(struct job_request *r, dn_params *params, const char *name, const json_t *value, dn_error *err) {
    const dn_param *param = dn_algorithm_param(params->algorithm, name);
    const bool taken = param && param->type == DN_PARAM_LIST && json_array_size(value) <= DN_MAX_LIST;
    const size_t n = json_array_size(value), before = job_request_faults(r);
    double *list = arena_alloc(r->arena, (n + 1) * sizeof *list);
    if (!list)
        return dn_error_set(err, DN_ERR_MEMORY, "no memory for a list of %zu numbers", n);
    for (size_t i = 0; i < n; i++) {
        const json_t *item = json_array_get(value, i);
        list[i] = json_number_value(item);
        if (taken && !json_is_number(item))
            refuse_item(r, name, i, item);
    }
    return job_request_faults(r) > before ? DN_OK : dn_params_set_list(params, name, list, n, err);
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
    size_t before = job_request_faults(r);
    for (void *at = json_object_iter((json_t *)(uintptr_t)given); at; at = json_object_iter_next((json_t *)(uintptr_t)given, at))
        if (!json_is_null(json_object_iter_value(at)) || !dn_algorithm_param(algorithm, json_object_iter_key(at))) /* null: not given */
            set(r, r->spec.params, json_object_iter_key(at), json_object_iter_value(at));
    /* Rules between parameters make sense only when each of them is right. */
    if (job_request_faults(r) == before && dn_params_check(r->spec.params, &err) != DN_OK)
        fault_from(r, err.field, &err);
}
