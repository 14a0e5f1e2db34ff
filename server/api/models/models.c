/* Models: list, describe, list versions, set the live version, change description and tags,
 * delete. */
#include "api/access.h"
#include "api/documents.h"
#include "api/handlers.h"
#include "api/support.h"
#include "base/json/json_read.h"

#include <inttypes.h>
#include <string.h>

void api_model_write(const struct store_model *m, struct json_writer *w) {
    json_begin_object(w);
    json_kv_string(w, "name", m->name);
    json_kv_int(w, "version", m->version);
    json_kv_bool(w, "live", m->version == m->live_version);
    json_kv_int(w, "live_version", m->live_version);
    json_kv_int(w, "newest_version", m->newest_version);
    json_kv_time(w, "created_at", m->created_at);
    json_kv_int(w, "bytes", m->bytes);
    json_kv_string(w, "submitted_by", m->submitted_by);
    json_kv_string(w, "description", m->description);
    json_kv_raw(w, "tags", m->tags ? m->tags : "[]");
    api_put_members(w, m->info);
    json_end_object(w);
}

const struct serving_model *api_model_take(struct http_call *call) {
    struct problem problem = {0};
    const struct serving_model *m =
        serving_get(api_app_of(call)->serving, http_path_param(call, "model"),
                    api_path_number(call, "version"), &problem);
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

static void put_name(const void *item, struct buf *out) {
    const struct store_model *m = item;
    buf_puts(out, m->name);
}

static void put_version(const void *item, struct buf *out) {
    const struct store_model *m = item;
    buf_printf(out, "%" PRId64, m->version);
}

static const char *const fields[] = {
    "name",        "version",      "live",           "live_version",  "newest_version",
    "created_at",  "submitted_by", "bytes",          "description",   "tags",
    "algorithm",   "params",       "target",         "classes",       "inputs",
    "n_features",  "features",     "standardize",    "encoding",      "weight",
    "weights",     "class_weight", "validation",     "seed",          "holdout_rows",
    "decision",    "n_machines",   "dataset",        "job",           "converged",
    "stop_reason", "iterations",   "objective",      "gradient_norm", "rows",
    "details",     "metrics",      "daemon_version", "reading",       NULL};

void api_models_list(struct http_call *call) {
    static const struct api_item kind = {sizeof(struct store_model), write_item, put_name, fields,
                                         api_long_of_fit};
    api_list_names(call, &kind, store_model_list);
}

void api_model_versions(struct http_call *call) {
    static const struct api_item kind = {sizeof(struct store_model), write_item, put_version,
                                         fields, api_long_of_fit};
    api_list_versions(call, &kind, "model", store_model_versions);
}

/* ---- one model ---- */

void api_model_get(struct http_call *call) {
    struct problem problem = {0};
    struct store_model m;
    if (!store_model_get(api_app_of(call)->store, http_path_param(call, "model"),
                         api_path_number(call, "version"), &m, &problem)) {
        http_reply_problem(call, &problem);
    } else {
        http_etag(call, m.etag);
        reply(call, &m);
    }
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
    struct api_patch patch;
    struct store_model m;
    if (!api_patch_read(call, &patch)) {
        return;
    }
    struct store_condition condition = api_condition(call);
    const struct store_actor by = api_actor(call);
    if (store_model_patch(api_app_of(call)->store, &by, http_path_param(call, "model"),
                          patch.description, patch.tags, &condition, &m, &problem)) {
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
