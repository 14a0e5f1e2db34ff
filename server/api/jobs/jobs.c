/* Handlers of /v1/jobs: create, list, get (optionally wait for the end), cancel, delete. The body
 * of a POST is read by jobs/request/. */
#include "api/access.h"
#include "api/documents.h"
#include "api/handlers.h"
#include "api/idempotency.h"
#include "api/jobs/job_dry_run.h"
#include "api/support.h"
#include "base/json/json_read.h"
#include "base/log/log.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Appends the parameters in the result of a job as JSON text; nothing if the result has none. They
 * are its first member: the rest, which may be long, is not parsed. old_labels: as in
 * jobs_request. */
static void read_params(const char *result, bool old_labels, struct buf *out) {
    static const char begin[] = "{\"params\":";
    const size_t n = sizeof begin - 1;
    size_t used = 0;
    struct problem ignored = {0};
    if (result == NULL || strncmp(result, begin, n) != 0) {
        return;
    }
    json_t *params = json_parse_first(result + n, strlen(result + n), &used, &ignored);
    if (params != NULL && old_labels && json_object_get(params, "decision") == NULL) {
        buf_append(out, result + n, used - 1); /* without the brace */
        buf_puts(out, ",\"decision\":\"scores\"}");
    } else if (params != NULL) {
        buf_append(out, result + n, used);
    }
    problem_done(&ignored);
    json_decref(params);
}

/* Writes "request", the body of the POST (null: an earlier release made the job, and did not store
 * the body or had other labels by default), and "resolved", the request with every value (null: it
 * has an algorithm or a parameter that this release does not have). */
static void put_request(const struct store_job *j, struct json_writer *w) {
    struct jobs_request spec = {0};
    struct arena arena;
    struct buf text = {0}, params = {0};
    struct problem ignored = {0};
    arena_init(&arena, 0);
    const bool known = jobs_request_read_stored(j->spec, &arena, &spec, &ignored);
    json_kv_raw(w, "request", known && spec.old_labels ? NULL : j->request);
    if (known) {
        read_params(j->result, spec.old_labels, &params);
        jobs_request_write_resolved(&spec, params.size > 0 ? buf_cstr(&params) : NULL, &text);
        w->out->failed = w->out->failed || text.failed || params.failed;
        buf_done(&params);
        jobs_request_done(&spec);
    }
    json_kv_raw(w, "resolved", text.size > 0 ? buf_cstr(&text) : NULL);
    problem_done(&ignored);
    buf_done(&text);
    arena_done(&arena);
}

void api_job_write(const struct store_job *j, const char *base_path, bool request,
                   struct json_writer *w) {
    json_begin_object(w);
    json_kv_int(w, "id", j->id);
    json_kv_string(w, "state", store_job_state_name(j->state));
    json_kv_string(w, "model", j->model);
    json_kv_string(w, "algorithm", j->algorithm);
    json_kv_begin_object(w, "dataset");
    json_kv_string(w, "name", j->dataset);
    json_kv_int(w, "version", j->dataset_version);
    json_end_object(w);
    json_kv_string(w, "submitted_by", j->submitted_by);
    json_kv_int(w, "attempts", j->attempts);
    json_kv_time(w, "created_at", j->created_at);
    json_kv_time(w, "started_at", j->started_at);
    json_kv_time(w, "finished_at", j->finished_at);
    if (request) {
        put_request(j, w);
    }
    json_kv_raw(w, "progress", j->progress);
    json_kv_raw(w, "warnings", j->warnings ? j->warnings : "[]");
    problem_put_stored(w, base_path, j->error);
    json_put_key(w, "result");
    if (j->result) {
        json_begin_object(w);
        json_kv_string(w, "model", j->model);
        json_kv_int(w, "version", j->version);
        api_put_members(w, j->result);
        json_end_object(w);
    } else {
        json_put_null(w);
    }
    json_end_object(w);
}

void api_job_reply(struct http_call *call, int status, struct store_job *j) {
    struct buf body = {0};
    struct json_writer w = json_writer_of(&body);
    http_etag(call, j->etag);
    api_job_write(j, api_app_of(call)->base_path, true, &w);
    api_reply_json(call, status, &body);
    store_job_done(j);
}

/* Writes the answer that is kept for an Idempotency-Key. */
static void keep_answer(void *app, const void *made, struct store_answer *out) {
    const struct store_job *j = made;
    struct json_writer w = json_writer_of(&out->body);
    struct buf location = {0};
    out->status = 202;
    buf_printf(&location, "/v1/jobs/%" PRId64, j->id);
    out->location = buf_take(&location, NULL);
    buf_done(&location);
    memcpy(out->etag, j->etag, sizeof out->etag);
    api_job_write(j, ((const struct api_app *)app)->base_path, true, &w);
    buf_putc(&out->body, '\n');
}

/* Holds the key of the call. Returns false after a reply: of an earlier request with the key, or
 * that the key cannot be used. */
static bool take_key(struct http_call *call, struct api_key *k) {
    struct problem problem = {0};
    if (!api_key_begin(call, k)) {
        return false;
    }
    k->key.write = keep_answer;
    k->key.arg = http_app(call);
    if (!api_key_digest(call, k, &problem) || !api_key_find(k, &problem)) {
        api_key_reply_problem(call, k, &problem);
        return false;
    }
    if (k->repeats) {
        api_key_repeat(call, k);
        return false;
    }
    return true;
}

/* Replies with the job, as it is kept for the key if there is one, and frees it. */
static void reply_made(struct http_call *call, struct api_key *k, struct store_job *j) {
    if (api_key_of(k) != NULL) {
        store_job_done(j);
        api_key_reply(call, k);
        return;
    }
    const char *link = http_link(call, "/v1/jobs/%" PRId64, j->id);
    if (link[0] != '\0') {
        http_reply_header(call, "Location", link);
    }
    api_job_reply(call, 202, j);
}

/* ---- POST /v1/jobs ---- */

/* Stores the job that the call's body describes. *job: the committed row. */
static bool insert(const struct http_call *call, const struct jobs_request *r,
                   struct store_key *key, int64_t *id, struct store_job *job,
                   struct problem *problem) {
    const struct api_app *app = api_app_of(call);
    struct buf request = {0}, spec = {0}, warnings = {0};
    size_t size = 0;
    const char *body = http_body_bytes(call, &size);
    /* Without the byte order mark: the text is later written as the member "request" of answers. */
    const size_t mark = json_mark_size(body, size);
    buf_append(&request, body + mark, size - mark);
    jobs_request_write_stored(r, &spec);
    buf_putc(&warnings, '[');
    buf_append(&warnings, r->warnings.data, r->warnings.size);
    buf_putc(&warnings, ']');
    const struct store_job_new j = {
        .model = r->model,
        .algorithm = r->search != NULL ? "search" : r->algorithm->id,
        .dataset_id = r->data.id,
        .validation_id = r->validation.dataset ? r->validation.id : 0,
        .request = buf_cstr(&request),
        .spec = buf_cstr(&spec),
        .warnings = buf_cstr(&warnings),
        .expires_in = r->expires_in,
        .quota = api_quota(call),
        .by = api_actor(call),
        .max_queued = app->max_queued_jobs,
        .key = key,
    };
    bool good = j.request && j.spec && j.warnings
                    ? store_job_insert(app->store, &j, id, job, problem)
                    : problem_set(problem, PROBLEM_UNAVAILABLE, "no memory for the job");
    buf_done(&request);
    buf_done(&spec);
    buf_done(&warnings);
    return good;
}

/* Checks expires_in against the model, as store_job_insert does. */
static bool may_expire(struct store *store, const struct jobs_request *r, struct problem *problem) {
    struct store_model live;
    bool found = false;
    if (r->expires_in == 0) {
        return true;
    }
    bool good = store_model_try_live(store, r->model, &live, &found, problem);
    if (good && found) {
        good = store_may_expire("model", r->model, live.expires_at, r->expires_in, problem);
        store_model_done(&live);
    }
    return good;
}

/* Answers a valid body: with the dry run, or by storing the job. */
static void accept(struct http_call *call, struct jobs_request *r, struct api_key *k,
                   bool dry_run) {
    struct api_app *app = api_app_of(call);
    struct problem problem = {0};
    struct store_job job = {0};
    int64_t id = 0;
    if (dry_run && !may_expire(app->store, r, &problem)) {
        api_key_reply_problem(call, k, &problem);
        return;
    }
    if (dry_run) {
        struct buf body = {0};
        jobs_encoding_foresee(r);
        job_dry_run_write(r, &body);
        api_key_leave(k);
        api_reply_json(call, 200, &body);
        return;
    }
    if (!insert(call, r, api_key_of(k), &id, &job, &problem)) {
        jobs_request_name_deleted(r, &problem);
        api_key_reply_problem(call, k, &problem);
        return;
    }
    jobs_poke(app->jobs);
    log_info("job.queued", log_str("request", http_request_id(call)), log_int("job", id),
             log_str("model", r->model), log_str("dataset", r->dataset),
             log_int("version", r->dataset_version), log_str("algorithm", r->algorithm->id));
    reply_made(call, k, &job);
}

/* Checks the token against the names in the body, before anything is said about what they name. */
static bool may_use_names(struct http_call *call, const json_t *root, struct problem *problem) {
    const json_t *const holders[] = {root, json_object_get(root, "validation")};
    const char *model = json_string_value(json_object_get(root, "model"));
    for (size_t i = 0; i < sizeof holders / sizeof holders[0]; i++) {
        const char *text = json_string_value(json_object_get(holders[i], "dataset"));
        char name[IDS_NAME_SIZE];
        int64_t version;
        if (text != NULL && ids_reference_parse(text, name, &version) &&
            !api_may_read_dataset(call, name, problem)) {
            return false;
        }
    }
    return model == NULL || api_may_use_model(call, model, problem);
}

void api_jobs_create(struct http_call *call) {
    struct problem problem = {0};
    struct jobs_request r;
    struct api_key k = {0};
    bool dry_run = false;
    const struct api_app *app = api_app_of(call);
    const struct jobs_limits limits = jobs_limits(app->jobs);
    if (!api_query_bool(call, "dry_run", &dry_run)) {
        return;
    }
    json_t *root = api_body_object(call);
    if (!root) {
        return;
    }
    if (!may_use_names(call, root, &problem)) {
        http_reply_problem(call, &problem);
        json_decref(root);
        return;
    }
    if (!take_key(call, &k)) {
        json_decref(root);
        return;
    }
    if (jobs_request_read(root, app->store, &limits, http_arena(call), &r, &problem)) {
        accept(call, &r, &k, dry_run);
    } else {
        api_key_reply_problem(call, &k, &problem);
    }
    jobs_request_done(&r);
    json_decref(root);
}

/* ---- GET /v1/jobs ---- */

static void write_item(const struct api_app *app, const void *item, struct json_writer *w) {
    api_job_write(item, app->base_path, false, w);
}

static void put_id(const struct http_call *call, const void *item, struct buf *out) {
    (void)call;
    const struct store_job *j = item;
    buf_printf(out, "%" PRId64, j->id);
}

void api_jobs_list(struct http_call *call) {
    static const char *const fields[] = {"id",         "state",        "model",    "algorithm",
                                         "dataset",    "submitted_by", "attempts", "created_at",
                                         "started_at", "finished_at",  "progress", "warnings",
                                         "error",      "result",       NULL};
    static const struct api_item kind = {sizeof(struct store_job), write_item, put_id, fields,
                                         api_long_of_fit};
    struct store_job_filter filter = {.state = -1, .model = http_query(call, "model")};
    const char *state = http_query(call, "state");
    enum store_job_state parsed;
    struct problem problem = {0};
    struct api_page page;
    struct store_page found = {0};
    if (!api_page_numbers(call, &page, &filter.before)) {
        return;
    }
    if (state && !store_job_state_parse(state, &parsed)) {
        http_fail(call, PROBLEM_BAD_REQUEST,
                  "query parameter \"state\" must be queued, running, succeeded, failed or "
                  "cancelled, got \"%.100s\"",
                  state);
        return;
    }
    if (state) {
        filter.state = (int)parsed;
    }
    store_job_list(api_app_of(call)->store, &filter, &page.limit, &found, &problem);
    api_list_reply(call, &kind, &found, &problem);
}

/* ---- one job ---- */

bool api_job_find(struct http_call *call, struct store_job *out) {
    struct problem problem = {0};
    const int64_t id = api_path_number(call, "id");
    if (store_job_get(api_app_of(call)->store, id, out, &problem)) {
        if (api_sees_job(call, out->model, out->dataset)) {
            return true;
        }
        store_job_done(out); /* as if there were none: its id tells that it exists */
        problem_set(&problem, PROBLEM_UNKNOWN_JOB, "there is no job %" PRId64, id);
    }
    http_reply_problem(call, &problem);
    return false;
}

/* Whether the caller may see the job in the path. Returns false after a reply. */
static bool may_see_job(struct http_call *call) {
    struct store_job j;
    if (api_only(call) == NULL) {
        return true;
    }
    if (!api_job_find(call, &j)) {
        return false;
    }
    store_job_done(&j);
    return true;
}

static void reply_job(struct http_call *call) {
    struct store_job j;
    if (api_job_find(call, &j)) {
        api_job_reply(call, 200, &j);
    }
}

/* Replies if the job has ended or `last` is true. */
static bool check_ended(struct http_call *call, bool last) {
    struct problem problem = {0};
    enum store_job_state state = STORE_JOB_QUEUED;
    const int64_t id = api_path_number(call, "id");
    if (!last && store_job_get_state(api_app_of(call)->store, id, &state, &problem) &&
        !store_job_ended(state)) {
        return false;
    }
    if (problem.type) {
        http_reply_problem(call, &problem);
    } else {
        reply_job(call);
    }
    return true;
}

void api_job_get(struct http_call *call) {
    double wait = 0;
    if (!api_query_seconds(call, "wait", (double)api_app_of(call)->max_wait_seconds, &wait)) {
        return;
    }
    if (wait == 0) {
        reply_job(call);
    } else if (may_see_job(call)) {
        http_set_topic(call, api_path_number(call, "id"));
        http_watch(call, wait, check_ended);
    }
}

void api_job_cancel(struct http_call *call) {
    struct api_app *app = api_app_of(call);
    struct problem problem = {0};
    struct store_job j;
    struct api_key k;
    const int64_t id = api_path_number(call, "id");
    if (!may_see_job(call) || !take_key(call, &k)) {
        return;
    }
    const struct store_condition condition = api_condition(call);
    const struct store_actor by = api_actor(call);
    if (!store_job_cancel(app->store, &by, id, &condition, api_key_of(&k), &j, &problem)) {
        api_key_reply_problem(call, &k, &problem);
        return;
    }
    log_info("job.cancel", log_str("request", http_request_id(call)), log_int("job", id));
    reply_made(call, &k, &j);
}

void api_job_delete(struct http_call *call) {
    struct problem problem = {0};
    if (!may_see_job(call)) {
        return;
    }
    const struct store_condition condition = api_condition(call);
    const struct store_actor by = api_actor(call);
    if (store_job_delete(api_app_of(call)->store, &by, api_path_number(call, "id"), &condition,
                         &problem)) {
        http_reply_empty(call, 204);
    } else {
        http_reply_problem(call, &problem);
    }
}
