/* The limits of the daemon, and of the token of the request with what it uses. */
#include "api/access.h"
#include "api/handlers.h"
#include "api/support.h"
#include "base/process/clock.h"

static void put_limit(struct json_writer *w, const char *key, int64_t limit) {
    json_put_key(w, key);
    if (limit > 0) {
        json_put_int(w, limit);
    } else {
        json_put_null(w);
    }
}

static void put_token(struct json_writer *w, const struct auth_token *t, int64_t jobs,
                      int64_t bytes) {
    static const struct {
        unsigned bit;
        const char *name;
    } scopes[] = {{AUTH_READ, "read"},
                  {AUTH_PREDICT, "predict"},
                  {AUTH_TRAIN, "train"},
                  {AUTH_WRITE, "write"},
                  {AUTH_ADMIN, "admin"}};
    json_kv_begin_object(w, "token");
    json_kv_string(w, "name", t->name);
    json_put_key(w, "scopes");
    json_begin_array(w);
    for (size_t i = 0; i < sizeof scopes / sizeof scopes[0]; i++) {
        if ((t->scopes & scopes[i].bit) != 0) {
            json_put_string(w, scopes[i].name);
        }
    }
    json_end_array(w);
    json_kv_raw(w, "only", t->only_json);
    json_kv_time(w, "expires_at", t->expires_ms);
    json_kv_begin_object(w, "limits");
    put_limit(w, "requests_per_second", (int64_t)t->limits.requests);
    put_limit(w, "rows_per_second", (int64_t)t->limits.rows);
    put_limit(w, "heavy_calls", t->limits.calls);
    put_limit(w, "jobs", t->limits.jobs);
    put_limit(w, "stored_bytes", t->limits.bytes);
    json_end_object(w);
    json_kv_begin_object(w, "use");
    json_kv_int(w, "heavy_calls", auth_usage_calls(t->usage));
    json_kv_int(w, "jobs", jobs);
    json_kv_int(w, "stored_bytes", bytes);
    json_end_object(w);
    json_end_object(w);
}

static void put_server(struct json_writer *w, const struct api_app *app) {
    const struct jobs_limits jobs = jobs_limits(app->jobs);
    json_kv_begin_object(w, "server");
    put_limit(w, "upload_bytes", app->max_upload);
    put_limit(w, "body_bytes", app->max_body);
    put_limit(w, "answer_bytes", app->max_spool);
    put_limit(w, "queued_jobs", app->max_queued_jobs);
    put_limit(w, "job_memory_bytes", jobs.memory_bytes);
    json_put_key(w, "job_seconds");
    if (jobs.seconds > 0) {
        json_put_double(w, jobs.seconds);
    } else {
        json_put_null(w);
    }
    put_limit(w, "job_ranks", jobs.ranks);
    json_end_object(w);
}

void api_limits(struct http_call *call) {
    const struct api_app *app = api_app_of(call);
    const struct auth_token *token = api_token(call);
    struct problem problem = {0};
    int64_t jobs = 0, bytes = 0;
    if (token != NULL && !store_owned(app->store, token->name, &jobs, &bytes, &problem)) {
        http_reply_problem(call, &problem);
        return;
    }
    struct buf body = {0};
    struct json_writer w = json_writer_of(&body);
    json_begin_object(&w);
    if (token != NULL) {
        put_token(&w, token, jobs, bytes);
    } else {
        json_kv_raw(&w, "token", NULL);
    }
    put_server(&w, app);
    json_end_object(&w);
    api_reply_json(call, 200, &body);
}
