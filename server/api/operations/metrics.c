/* Metrics that are read at each scrape: jobs, queues, models in memory, files, build. */
#include "base/metrics/metrics.h"
#include "api/api.h"
#include "base/log/log.h"

#include <pthread.h>
#include <stdlib.h>

/* The series, looked up once. */
struct api_metrics {
    const struct api_app *app;
    struct metric *jobs[5];                  /* by state */
    struct metric *state_queue, *bulk_queue; /* transactions waiting */
    struct metric *bulk_bytes;
    struct metric *database, *log, *free;
    struct metric *datasets, *doomed;
    struct metric *appends;
    struct metric *models, *model_bytes;
    pthread_mutex_t lock; /* two scrapes must not add the same difference to a counter */
    struct metric *hits, *loads, *evictions;
    struct metric *log_lines; /* dropped */
};

static struct metric *series(enum metrics_kind kind, const char *name, const char *help) {
    return metrics_series(metrics_register(kind, name, help, "", NULL, 0), NULL);
}

/* Raises a counter to the total that another module counts. */
static void catch_up(struct metric *m, int64_t total) {
    double behind = (double)total - metric_value(m);
    if (behind > 0) {
        metric_add(m, behind);
    }
}

static void collect(void *arg) {
    struct api_metrics *m = arg;
    struct store_stats store;
    struct serving_stats serving;
    struct problem problem = {0};
    int64_t counts[5];
    store_stats(m->app->store, &store);
    metric_set(m->state_queue, (double)store.state_queue);
    metric_set(m->bulk_queue, (double)store.bulk_queue);
    metric_set(m->bulk_bytes, (double)store.bulk_bytes);
    metric_set(m->database, (double)store.database_bytes);
    metric_set(m->log, (double)store.log_bytes);
    metric_set(m->free, (double)store.free_bytes);
    metric_set(m->datasets, (double)store.dataset_bytes);
    metric_set(m->doomed, (double)store.doomed_bytes);
    metric_set(m->appends, (double)store.appends);
    if (store_job_counts(m->app->store, counts, &problem)) {
        for (size_t s = 0; s < 5; s++) {
            metric_set(m->jobs[s], (double)counts[s]);
        }
    }
    problem_done(&problem);
    serving_stats(m->app->serving, &serving);
    metric_set(m->models, (double)serving.models);
    metric_set(m->model_bytes, (double)serving.bytes);
    pthread_mutex_lock(&m->lock);
    catch_up(m->hits, serving.hits);
    catch_up(m->loads, serving.loads);
    catch_up(m->evictions, serving.evictions);
    catch_up(m->log_lines, log_dropped());
    pthread_mutex_unlock(&m->lock);
}

static void register_store(struct api_metrics *m) {
    struct metrics_family *queue =
        metrics_register(METRICS_GAUGE, "discern_store_queue",
                         "Transactions waiting for the writer.", "queue", NULL, 0);
    m->state_queue = metrics_series(queue, "state", NULL);
    m->bulk_queue = metrics_series(queue, "bulk", NULL);
    m->bulk_bytes = series(METRICS_GAUGE, "discern_store_queue_bytes",
                           "Bytes of staged chunks waiting for the writer.");
    m->database = series(METRICS_GAUGE, "discern_database_bytes", "Size of the database file.");
    m->log = series(METRICS_GAUGE, "discern_database_log_bytes",
                    "Size of the database's write-ahead log.");
    m->free = series(METRICS_GAUGE, "discern_database_free_bytes",
                     "Bytes in free pages of the database file.");
    m->datasets = series(METRICS_GAUGE, "discern_dataset_bytes",
                         "Bytes of stored dataset chunks; those that versions share count once.");
    m->doomed = series(METRICS_GAUGE, "discern_store_doomed_bytes",
                       "Bytes of deleted datasets and models that are not freed yet.");
    m->appends = series(METRICS_GAUGE, "discern_appends",
                        "Appends of rows that are under way or wait for their turn.");
}

static void register_models(struct api_metrics *m) {
    m->models = series(METRICS_GAUGE, "discern_model_cache_models", "Models in memory.");
    m->model_bytes =
        series(METRICS_GAUGE, "discern_model_cache_bytes", "Bytes of the models in memory.");
    m->hits = series(METRICS_COUNTER, "discern_model_cache_hits_total",
                     "Calls that found their model in memory.");
    m->loads = series(METRICS_COUNTER, "discern_model_cache_loads_total",
                      "Models read from the database.");
    m->evictions = series(METRICS_COUNTER, "discern_model_cache_evictions_total",
                          "Models dropped from memory to make room for others.");
}

static void register_build(const struct api_app *app) {
    struct metrics_family *build =
        metrics_register(METRICS_GAUGE, "discern_build_info",
                         "Always 1; the label is the version of the daemon.", "version", NULL, 0);
    metric_set(metrics_series(build, DISCERN_VERSION, NULL), 1);
    metric_set(series(METRICS_GAUGE, "discern_start_time_seconds",
                      "When the daemon started, seconds since 1970."),
               (double)app->started_ms / 1000);
}

void api_metrics_register(struct api_app *app) {
    struct api_metrics *m = calloc(1, sizeof *m);
    register_build(app);
    if (!m) {
        return;
    }
    pthread_mutex_init(&m->lock, NULL);
    m->app = app;
    struct metrics_family *jobs =
        metrics_register(METRICS_GAUGE, "discern_jobs", "Jobs by state.", "state", NULL, 0);
    for (int s = STORE_JOB_QUEUED; s <= STORE_JOB_CANCELLED; s++) {
        m->jobs[s] = metrics_series(jobs, store_job_state_name((enum store_job_state)s), NULL);
    }
    register_store(m);
    register_models(m);
    m->log_lines = series(METRICS_COUNTER, "discern_log_dropped_lines_total",
                          "Lines of requests that were not logged because the log was blocked.");
    app->metrics = m;
    metrics_on_scrape(collect, m);
}

void api_metrics_forget(struct api_app *app) {
    if (!app->metrics) {
        return;
    }
    metrics_forget_scrape(app->metrics);
    pthread_mutex_destroy(&app->metrics->lock);
    free(app->metrics);
    app->metrics = NULL;
}
