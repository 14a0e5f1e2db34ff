/* The resources. routes.c has the table of routes; each resource has a file with its handlers. This
 * module has no SQL, no types of libmicrohttpd and no mathematics. */
#ifndef API_API_H
#define API_API_H

#include "http/http.h"
#include "jobs/jobs.h"
#include "serving/serving.h"
#include "store/store.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct api_metrics;
struct auth;

/* What http_app returns to handlers. main fills it before http_start; it is constant afterwards,
 * except `server`, which http_start sets before the first call. */
struct api_app {
    struct store *store;
    struct jobs *jobs;
    struct serving *serving;
    struct auth *auth; /* the tokens; NULL: none are needed */
    struct http_server *server;
    const char *base_path;
    bool no_ui;               /* the page is not served (--no-ui) */
    bool no_serve;            /* only health and metrics are served (--no-serve) */
    int64_t max_upload;       /* bytes of the body of an upload (--max-upload, 16 GiB) */
    int64_t max_queued_jobs;  /* maximum number of queued jobs (--max-queued-jobs); 0: no limit */
    int64_t max_keys;         /* Idempotency-Keys of a token in 24 hours; 0: no limit */
    int64_t max_body;         /* bytes of a body that is held in memory (--max-body, 64 MiB) */
    const char *spool_dir;    /* folder of the files that hold long replies (--spool-dir) */
    int64_t max_spool;        /* bytes of such a file (--max-spool, 4 GiB) */
    int64_t max_wait_seconds; /* 50 */
    bool client_certificates; /* the server checks certificates of clients */
    int64_t started_ms;
    bool (*draining)(const struct api_app *app);
    struct api_metrics *metrics; /* set by api_metrics_register; NULL before */
};

/* Checks a request against the policy of its route; http_settings.admit. */
bool api_admit(struct http_call *call);
/* As http_settings.change. */
int64_t api_change(const struct http_call *call);
/* Counts a refused request of a page of another origin for the audit. See
 * http_settings.cross_origin. */
void api_cross_origin(struct http_call *call);
extern const struct http_route api_routes[];
extern const size_t api_n_routes;
/* The plans for serving_open: the data that predictions keep with each model in memory. */
extern const struct serving_plans api_predict_plans;
/* Registers the gauges that are read at each scrape (jobs by state, queue depths, cache, database
 * size, build info). */
void api_metrics_register(struct api_app *app);
void api_metrics_forget(struct api_app *app);

#endif
