/* Models: list, describe, list versions, set the live version, change description and tags,
 * delete. */
#include "api/access.h"
#include "api/documents.h"
#include "api/handlers.h"
#include "api/support.h"
#include "base/ids.h"
#include "base/json/json_brief.h"
#include "base/json/json_read.h"
#include "base/nearest.h"
#include <discern/metrics.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void api_model_write(const struct store_model *m, struct json_writer *w) {
    json_begin_object(w);
    json_kv_string(w, "name", m->name);
    json_kv_int(w, "version", m->version);
    json_kv_bool(w, "live", m->version == m->live_version);
    json_kv_int(w, "live_version", m->live_version);
    json_kv_int(w, "newest_version", m->newest_version);
    json_kv_time(w, "created_at", m->created_at);
    json_kv_time(w, "expires_at", m->expires_at);
    json_kv_int(w, "bytes", m->bytes);
    json_kv_string(w, "submitted_by", m->submitted_by);
    json_kv_string(w, "description", m->description);
    json_kv_raw(w, "tags", m->tags ? m->tags : "[]");
    api_put_members(w, m->info);
    if (m->rule != NULL) {
        json_kv_begin_object(w, "decision_rule");
        json_kv_int(w, "revision", m->rule_revision);
        api_put_members(w, m->rule);
        json_end_object(w);
    }
    json_end_object(w);
}

const struct serving_model *api_model_take(struct http_call *call) {
    struct problem problem = {0};
    const struct serving_model *m =
        serving_get(api_app_of(call)->serving, http_path_param(call, "model"),
                    api_path_number(call, "version"), http_change(call), &problem);
    if (m == NULL) {
        http_reply_problem(call, &problem);
    }
    return m;
}

/* Replies with the model and frees it. */
static void reply(struct http_call *call, struct store_model *m) {
    struct buf body = {0};
    struct json_writer w = json_writer_of(&body);
    api_model_write(m, &w);
    api_reply_json(call, 200, &body);
    store_model_done(m);
}

/* Replies with the changed model and its ETag, and frees it. */
static void reply_changed(struct http_call *call, struct store_model *m) {
    http_etag(call, m->etag);
    reply(call, m);
}

/* ---- lists ---- */

static void write_item(const struct api_app *app, const void *item, struct json_writer *w) {
    (void)app;
    api_model_write(item, w);
}

static void put_name(const struct http_call *call, const void *item, struct buf *out) {
    (void)call;
    const struct store_model *m = item;
    buf_puts(out, m->name);
}

static void put_version(const struct http_call *call, const void *item, struct buf *out) {
    (void)call;
    const struct store_model *m = item;
    buf_printf(out, "%" PRId64, m->version);
}

static const char *const fields[] = {
    "name",          "version",       "live",         "live_version", "newest_version",
    "created_at",    "expires_at",    "submitted_by", "bytes",        "description",
    "tags",          "algorithm",     "params",       "target",       "n_classes",
    "classes",       "inputs",        "n_features",   "features",     "standardize",
    "encoding",      "weight",        "weights",      "class_weight", "validation",
    "seed",          "holdout_rows",  "decision",     "n_machines",   "dataset",
    "job",           "converged",     "stop_reason",  "iterations",   "objective",
    "gradient_norm", "rows",          "details",      "metrics",      "daemon_version",
    "reading",       "decision_rule", "conformal",    "members",      NULL};

/* ---- ?sort= ---- */

#define SORT_PATH 80
/* The parameter: an optional '-' and the path of a metric in the description of a model. */
static const char *const sort_parts[] = {"metrics.validation.", "metrics.train.",
                                         "metrics.validation.pooled."};
enum { N_SORT_PARTS = sizeof sort_parts / sizeof *sort_parts };

/* Writes the path of metric i of part `part`: a scalar metric, or a mean over the classes. Returns
 * false if there is no such metric. */
static bool sort_path(size_t part, size_t i, char out[SORT_PATH]) {
    static const char *const means[] = {"macro.precision",    "macro.recall",    "macro.f1",
                                        "weighted.precision", "weighted.recall", "weighted.f1"};
    size_t n = 0;
    while (dn_metric_name(n) != NULL) {
        n++;
    }
    if (i >= n + sizeof means / sizeof *means) {
        return false;
    }
    (void)snprintf(out, SORT_PATH, "%s%s", sort_parts[part],
                   i < n ? dn_metric_name(i) : means[i - n]);
    return true;
}

/* Checks the path in ?sort=. Returns false if it has replied. */
static bool sort_known(struct http_call *call, const char *path) {
    struct nearest nearest = nearest_to(path, strlen(path));
    for (size_t part = 0; part < N_SORT_PARTS; part++) {
        char name[SORT_PATH];
        for (size_t i = 0; sort_path(part, i, name); i++) {
            if (strcmp(path, name) == 0) {
                return true;
            }
            nearest_offer(&nearest, name, strlen(name));
        }
    }
    struct buf names = {0};
    for (size_t i = 0; dn_metric_name(i) != NULL; i++) {
        buf_printf(&names, "%s%s", i > 0 ? ", " : "", dn_metric_name(i));
    }
    const char *text = buf_cstr(&names);
    http_fail(
        call, PROBLEM_BAD_REQUEST,
        "query parameter \"sort\" must be metrics.validation. or metrics.train. and a metric, "
        "with - before it in descending order, as in -metrics.validation.roc_auc (got "
        "\"%.100s\")%s; the metrics are %s, and precision, recall and f1 of macro. and "
        "weighted.",
        path, nearest.hint, text != NULL ? text : "those of a model");
    buf_done(&names);
    return false;
}

/* The cursor of a sorted list: the value of ?sort=, the number of the last item as its 16
 * hexadecimal digits (none: null), and its name, separated by colons. */
static void put_sorted(const struct http_call *call, const void *item, struct buf *out) {
    const struct store_model *m = item;
    uint64_t bits;
    memcpy(&bits, &m->sort, sizeof bits);
    buf_printf(out, "%s:", http_query(call, "sort"));
    if (!isnan(m->sort)) {
        buf_printf(out, "%016" PRIx64, bits);
    }
    buf_printf(out, ":%s", m->name);
}

/* Reads such a cursor. */
static bool read_sorted(const char *cursor, const char *sort, struct store_model_order *out) {
    enum { DIGITS = 16 };
    const size_t n = strlen(sort);
    if (strncmp(cursor, sort, n) != 0 || cursor[n] != ':') {
        return false;
    }
    const char *digits = cursor + n + 1, *colon = strchr(digits, ':');
    const size_t n_digits = strspn(digits, "0123456789abcdef");
    if (colon != digits + n_digits || (n_digits != 0 && n_digits != DIGITS) ||
        !ids_name_valid(colon + 1, strlen(colon + 1))) {
        return false;
    }
    out->after_name = colon + 1;
    out->after_value = (double)NAN;
    if (n_digits == DIGITS) {
        const uint64_t bits = strtoull(digits, NULL, 16);
        memcpy(&out->after_value, &bits, sizeof bits);
    }
    return true;
}

static void list_sorted(struct http_call *call, const char *sort) {
    static const struct api_item kind = {sizeof(struct store_model), write_item, put_sorted, fields,
                                         api_long_of_fit};
    struct store_model_order order = {.descending = sort[0] == '-'};
    struct problem problem = {0};
    struct api_page page;
    struct store_page found = {0};
    char path[SORT_PATH + 2];
    if (!sort_known(call, sort + order.descending) || !api_page_any(call, &page)) {
        return;
    }
    if (page.after != NULL && !read_sorted(page.after, sort, &order)) {
        (void)api_page_refuse(call, page.after);
        return;
    }
    (void)snprintf(path, sizeof path, "$.%s", sort + order.descending);
    order.path = path;
    (void)store_model_list_by(api_app_of(call)->store, &order, &page.limit, &found, &problem);
    api_list_reply(call, &kind, &found, &problem);
}

void api_models_list(struct http_call *call) {
    static const struct api_item kind = {sizeof(struct store_model), write_item, put_name, fields,
                                         api_long_of_fit};
    const char *sort = http_query(call, "sort");
    if (sort != NULL) {
        list_sorted(call, sort);
    } else {
        api_list_names(call, &kind, store_model_list);
    }
}

void api_model_versions(struct http_call *call) {
    static const struct api_item kind = {sizeof(struct store_model), write_item, put_version,
                                         fields, api_long_of_fit};
    api_list_versions(call, &kind, "model", store_model_versions);
}

/* ---- one model ---- */

/* Replies with the named members of the model and frees it. */
static void reply_members(struct http_call *call, struct store_model *m, const char *const *names) {
    struct buf whole = {0}, body = {0};
    struct json_writer w = json_writer_of(&whole);
    api_model_write(m, &w);
    const char *text = buf_cstr(&whole);
    if (text != NULL) {
        json_pick(&body, text, names);
    }
    body.failed = body.failed || text == NULL;
    buf_done(&whole);
    api_reply_json(call, 200, &body);
    store_model_done(m);
}

void api_model_get(struct http_call *call) {
    const char *const *names = NULL;
    struct problem problem = {0};
    struct store_model m;
    if (!api_query_fields(call, fields, &names)) {
        return;
    }
    if (!store_model_get(api_app_of(call)->store, http_path_param(call, "model"),
                         api_path_number(call, "version"), &m, &problem)) {
        http_reply_problem(call, &problem);
    } else if (names != NULL) {
        http_etag(call, m.etag);
        reply_members(call, &m, names);
    } else {
        http_etag(call, m.etag);
        reply(call, &m);
    }
}

/* What a client that may only predict needs to know of a model. */
void api_model_schema(struct http_call *call) {
    static const char *const members[] = {"name",          "version",    "live",    "live_version",
                                          "algorithm",     "target",     "inputs",  "n_classes",
                                          "classes",       "n_features", "reading", "decision",
                                          "decision_rule", "conformal",  NULL};
    struct problem problem = {0};
    struct store_model m;
    if (!store_model_get(api_app_of(call)->store, http_path_param(call, "model"),
                         api_path_number(call, "version"), &m, &problem)) {
        http_reply_problem(call, &problem);
        return;
    }
    http_etag(call, m.etag);
    reply_members(call, &m, members);
}

/* Reads the body of PUT …/live: {"version":2}. Returns 0 if it has replied. */
static int64_t read_live(struct http_call *call) {
    static const char *const known[] = {"version", NULL};
    struct problem problem = {0};
    int64_t version = 0;
    json_t *root = api_body_object(call);
    if (!root) {
        return 0;
    }
    json_read_int(root, "version", true, "", 1, API_NUMBER_MAX, &version, &problem);
    json_refuse_unknown(root, known, "", &problem);
    json_decref(root);
    if (!problem.type) {
        return version;
    }
    http_reply_problem(call, &problem);
    return 0;
}

void api_model_set_live(struct http_call *call) {
    struct store *store = api_app_of(call)->store;
    struct problem problem = {0}, invalid = {0};
    struct store_model m;
    const char *name = http_path_param(call, "model");
    const int64_t version = read_live(call);
    if (version == 0) {
        return;
    }
    struct store_condition condition = api_condition(call);
    if (!store_model_get(store, name, 0, &m, &problem)) {
        http_reply_problem(call, &problem);
        return;
    }
    store_model_done(&m);
    const struct store_actor by = api_actor(call);
    if (store_model_set_live(store, &by, name, version, &condition, &m, &problem)) {
        reply_changed(call, &m);
    } else if (problem.type ==
               PROBLEM_UNKNOWN_MODEL) { /* the model exists, but not the version in the body */
        json_fault(&invalid, "", "version", "model \"%s\" has no version %" PRId64, name, version);
        problem_done(&problem);
        http_reply_problem(call, &invalid);
    } else {
        http_reply_problem(call, &problem);
    }
}

void api_model_patch(struct http_call *call) {
    struct problem problem = {0};
    struct store_patch patch;
    struct store_model m;
    if (!api_patch_read(call, &patch)) {
        return;
    }
    struct store_condition condition = api_condition(call);
    const struct store_actor by = api_actor(call);
    if (store_model_patch(api_app_of(call)->store, &by, http_path_param(call, "model"), &patch,
                          &condition, &m, &problem)) {
        reply_changed(call, &m);
    } else {
        http_reply_problem(call, &problem);
    }
}

void api_model_delete(struct http_call *call) {
    struct problem problem = {0};
    int64_t promote = 0;
    const int64_t version = api_path_number(call, "version");
    const char *name = http_path_param(call, "model");
    if (!api_query_int(call, "promote", 1, API_NUMBER_MAX, &promote)) {
        return;
    }
    if (promote != 0 && promote == version) {
        http_fail(call, PROBLEM_BAD_REQUEST,
                  "query parameter \"promote\" must name another version than the deleted one, got "
                  "%" PRId64,
                  promote);
        return;
    }
    struct store_condition condition = api_condition(call);
    const struct store_actor by = api_actor(call);
    if (store_model_delete(api_app_of(call)->store, &by, name, version, promote, &condition,
                           &problem)) {
        http_reply_empty(call, 204);
    } else {
        http_reply_problem(call, &problem);
    }
}
