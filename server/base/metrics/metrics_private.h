/* The registry's inside, shared by metrics.c (registering, updating) and metrics_render.c
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

/* One series. All but value and counts is fixed once it is linked. */
struct metric {
    struct metric *next;              /* of the family, in order of making */
    struct metric *chain;             /* in the hash bucket */
    enum metrics_kind kind;           /* of the family */
    bool ignored;                     /* the dummy: counts nothing */
    char *values[METRICS_MAX_LABELS]; /* label values, as many as the family has labels */
    _Atomic double value;             /* counter, gauge; of a histogram the sum */
    const double *bounds;             /* of the family */
    size_t n_bounds;                  /* of the family */
    _Atomic uint64_t *counts; /* histogram: n_bounds + 1 buckets, each its own observations only */
};

/* Guarded by the registry's lock but for what is fixed at registering (kind, name, help, labels,
 * bounds, ignored). */
struct metrics_family {
    struct metrics_family *next;             /* in order of registering */
    enum metrics_kind kind;                  /* what its series are */
    bool ignored;                            /* the dummy */
    char *name;                              /* owned */
    char *help;                              /* owned */
    char *label_memory;                      /* where labels point, owned */
    const char *labels[METRICS_MAX_LABELS];  /* label names */
    size_t n_labels;                         /* how many */
    const double *bounds;                    /* upper bounds of the buckets, static */
    size_t n_bounds;                         /* how many */
    struct metric *series, *last;            /* first and last of the list */
    size_t n_series;                         /* in the list */
    struct metric *buckets[METRICS_BUCKETS]; /* by label values */
};

struct collector {
    void (*collect)(void *arg); /* called at every scrape */
    void *arg;                  /* its argument and what metrics_forget_scrape knows it by */
};

struct registry {
    pthread_mutex_t lock;                                /* guards all below; a leaf */
    pthread_cond_t idle;                                 /* no scrape is under way */
    struct metrics_family *families;                     /* first */
    struct collector collectors[METRICS_MAX_COLLECTORS]; /* in order of registering */
    size_t n_collectors;                                 /* how many */
    size_t n_collecting; /* scrapes that are calling collectors now, without the lock */
};

struct registry *metrics_registry(void);

#endif
