/* The resources: what a call means. No SQL, no MHD type, no mathematics. routes.c has the one
 * table; a file per resource has its handlers. */
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

/* What handlers get through http_app. Filled by main before http_start; constant afterwards, but
 * for server (set by http_start before the first call comes in). */
struct api_app {
    struct store *store;
    struct jobs *jobs;
    struct serving *serving;
    struct http_server *server;
    const char *base_path;
    int64_t max_upload;      /* bytes of a dataset's body (--max-upload, 16 GiB) */
    int64_t max_queued_jobs; /* jobs that may wait (--max-queued-jobs); 0: any number */
    int64_t max_body; /* bytes of a prediction's or other body in memory (--max-body, 64 MiB) */
    const char *spool_dir;    /* folder of long answers on their way (--spool-dir) */
    int64_t max_spool;        /* bytes of one (--max-spool, 4 GiB) */
    int64_t max_wait_seconds; /* 50 */
    int64_t started_ms;
    bool (*draining)(const struct api_app *app);
    struct api_metrics *metrics; /* of api_metrics_register; NULL before */
};

/* Checks a request against the policy of its route; http_settings.admit. */
bool api_admit(struct http_call *call);
extern const struct http_route api_routes[];
extern const size_t api_n_routes;
/* For serving_open: what predictions keep with each model in memory. */
extern const struct serving_plans api_predict_plans;
/* Registers the gauges that are read at each scrape (jobs by state, queue depths, cache, database
 * size, build info). */
void api_metrics_register(struct api_app *app);
void api_metrics_forget(struct api_app *app);

#endif
