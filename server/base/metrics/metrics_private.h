/* The internals of the registry, shared by metrics.c (registering, updating) and metrics_render.c
 * (scraping). */
#ifndef BASE_METRICS_PRIVATE_H
#define BASE_METRICS_PRIVATE_H

#include "base/metrics/metrics.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

enum {
    METRICS_MAX_LABELS = 8,
    METRICS_MAX_VALUE = 256,
    METRICS_BUCKETS = 256,
    METRICS_MAX_COLLECTORS = 32
};

/* One series. Only `value` and `counts` change after the series was linked. */
struct metric {
    struct metric *next;              /* next series of the family, in the order of creation */
    struct metric *chain;             /* next series in the same hash bucket */
    enum metrics_kind kind;           /* kind of the family */
    bool ignored;                     /* the dummy, which counts nothing */
    char *values[METRICS_MAX_LABELS]; /* label values, as many as the family has labels */
    /* counter, gauge: the value; histogram: the sum of the observations */
    _Atomic double value;
    const double *bounds; /* bounds of the family */
    size_t n_bounds;      /* number of bounds of the family */
    /* histogram: [n_bounds + 1] number of observations in each bucket, not cumulative */
    _Atomic uint64_t *counts;
};

/* kind, name, help, labels, bounds and ignored are constant after registering; the registry's lock
 * guards the other members. */
struct metrics_family {
    struct metrics_family *next;             /* next family, in the order of registering */
    enum metrics_kind kind;                  /* kind of all series */
    bool ignored;                            /* the dummy */
    char *name;                              /* malloc'ed */
    char *help;                              /* malloc'ed */
    char *label_memory;                      /* malloc'ed: the memory to which `labels` point */
    const char *labels[METRICS_MAX_LABELS];  /* label names */
    size_t n_labels;                         /* number of labels */
    const double *bounds;                    /* upper bounds of the buckets, static */
    size_t n_bounds;                         /* number of bounds */
    struct metric *series, *last;            /* first and last series of the list */
    size_t n_series;                         /* number of series in the list */
    struct metric *buckets[METRICS_BUCKETS]; /* hash table by label values */
};

struct collector {
    void (*collect)(void *arg); /* called at every scrape */
    /* argument of `collect`; metrics_forget_scrape finds the collector by it */
    void *arg;
};

struct registry {
    pthread_mutex_t lock;                                /* guards the members below; a leaf */
    pthread_cond_t idle;                                 /* signalled when a scrape has ended */
    struct metrics_family *families;                     /* first of the list */
    struct collector collectors[METRICS_MAX_COLLECTORS]; /* in order of registering */
    size_t n_collectors;                                 /* number of collectors */
    /* number of scrapes that are now calling collectors, which they do without the lock */
    size_t n_collecting;
};

struct registry *metrics_registry(void);

#endif
