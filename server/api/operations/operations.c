/* Links, health, readiness, metrics and version of the daemon. */
#include "api/access.h"
#include "api/handlers.h"
#include "api/support.h"
#include "base/metrics/metrics.h"
#include "base/process/clock.h"

#include <discern/model.h>
#include <inttypes.h>

/* Shows only that the process answers: a supervisor must not restart the daemon because a disk is
 * slow. */
void api_healthz(struct http_call *call) {
    static const char body[] = "{\"status\":\"ok\"}";
    http_reply_static(call, 200, API_JSON, body, sizeof body - 1);
}

/* The checks of readiness. */
struct checks {
    bool shown; /* a client without a token is told only whether the daemon is ready */
    struct store_health database; /* it was migrated when it was opened */
    struct jobs_health workers;
    bool draining;
    bool ready;
};

static void put_checks(struct json_writer *w, const struct checks *c) {
    static const char *const writes[] = {"ok", "failing", "full", "stuck"};
    const bool database = c->database.reads && c->database.writes == STORE_WRITES_OK;
    json_kv_bool(w, "ready", c->ready);
    if (!c->shown) {
        return;
    }
    json_kv_begin_object(w, "checks");
    json_kv_string(w, "database", database ? "ok" : "failing");
    json_kv_string(w, "reads", c->database.reads ? "ok" : "failing");
    json_kv_string(w, "writes", writes[c->database.writes]);
    json_kv_time(w, "writes_since", c->database.since);
    json_kv_string(w, "migrations", "ok");
    json_kv_string(w, "workers", c->workers.stuck == 0 ? "ok" : "stuck");
    json_kv_time(w, "workers_since", c->workers.since);
    json_kv_string(w, "draining", c->draining ? "yes" : "no");
    json_end_object(w);
}

/* Replies with a problem document that has the checks as members. */
static void reply_unready(struct http_call *call, const struct checks *c, struct problem *problem) {
    struct buf body = {0}, document = {0};
    problem_write(problem, api_app_of(call)->base_path, http_request_id(call), &document);
    struct json_writer w = json_writer_of(&body);
    json_begin_object(&w);
    api_put_members(&w, buf_cstr(&document));
    put_checks(&w, c);
    json_end_object(&w);
    body.failed = body.failed || document.failed;
    buf_done(&document);
    http_reply_header(call, "Retry-After", "1");
    http_reply(call, 503, "application/problem+json", &body);
}

void api_readyz(struct http_call *call) {
    struct api_app *app = api_app_of(call);
    struct problem storage = {0}, problem = {0};
    struct checks c = {.shown = api_is_known(call), .draining = app->draining(app)};
    const bool workers = jobs_healthy(app->jobs, &c.workers),
               database = store_healthy(app->store, &c.database, &storage);
    char since[CLOCK_TEXT_SIZE];
    c.ready = workers && database && !c.draining;
    if (!c.ready && !c.shown) {
        problem_set(&problem, PROBLEM_UNAVAILABLE, "the daemon is not ready");
    } else if (c.draining) {
        problem_set(&problem, PROBLEM_UNAVAILABLE, "the daemon is shutting down");
    } else if (!database) {
        problem_set(&problem, PROBLEM_UNAVAILABLE, "%s",
                    storage.detail ? storage.detail : "the database does not answer");
    } else if (!workers) {
        clock_format(c.workers.since, since);
        problem_set(&problem, PROBLEM_UNAVAILABLE, "%" PRId64 " workers have been stuck since %s",
                    c.workers.stuck, since);
    }
    if (!c.ready) {
        reply_unready(call, &c, &problem);
    } else {
        struct buf body = {0};
        struct json_writer w;
        w = json_writer_of(&body);
        json_begin_object(&w);
        put_checks(&w, &c);
        json_end_object(&w);
        api_reply_json(call, 200, &body);
    }
    problem_done(&storage);
    problem_done(&problem);
}

void api_metrics(struct http_call *call) {
    struct buf body = {0};
    if (!api_may_see_all(call)) {
        return;
    }
    metrics_render(&body);
    http_reply(call, 200, "text/plain; version=0.0.4; charset=utf-8", &body);
}

/* Replies with links to all resources, or with the page. */
void api_root(struct http_call *call) {
    static const struct {
        const char *name, *path;
    } links[] = {
        {"datasets", "/v1/datasets"},     {"models", "/v1/models"}, {"jobs", "/v1/jobs"},
        {"algorithms", "/v1/algorithms"}, {"docs", "/docs"},        {"openapi", "/openapi.json"},
        {"problems", "/problems"},        {"health", "/healthz"},   {"readiness", "/readyz"},
        {"metrics", "/metrics"},          {"limits", "/v1/limits"}, {"audit", "/v1/audit"},
        {"version", "/version"}};
    static const char *const document[] = {API_JSON, NULL};
    struct buf body = {0};
    if (api_wants_page(call)) {
        api_ui_page(call);
        return;
    }
    if (http_accepts(call, document) < 0) {
        http_fail(call, PROBLEM_NOT_ACCEPTABLE,
                  "the first page can be sent as " API_JSON " only: the daemon was started with "
                  "--no-ui");
        return;
    }
    struct json_writer w = json_writer_of(&body);
    json_begin_object(&w);
    json_kv_string(&w, "name", "discernd");
    json_kv_string(&w, "version", DISCERN_VERSION);
    json_kv_begin_object(&w, "links");
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        json_kv_string(&w, links[i].name, http_link(call, "%s", links[i].path));
    }
    json_end_object(&w);
    json_end_object(&w);
    api_reply_unchanging(call, API_JSON, &body);
}

void api_version(struct http_call *call) {
    struct api_app *app = api_app_of(call);
    struct buf body = {0};
    struct json_writer w = json_writer_of(&body);
    json_begin_object(&w);
    json_kv_string(&w, "name", "discernd");
    json_kv_string(&w, "version", DISCERN_VERSION);
    json_kv_string(&w, "library", dn_version());
    json_kv_time(&w, "started_at", app->started_ms);
    json_kv_double(&w, "uptime", (double)(clock_real_ms() - app->started_ms) / 1000);
    json_end_object(&w);
    api_reply_json(call, 200, &body);
}
