/* The metrics registry: one lock guards families and their series; the value of a series is updated
 * with atomic operations only. */
#include "base/metrics/metrics.h"
#include "base/utf8.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/metrics/metrics_private.h"

static struct registry registry = {.lock = PTHREAD_MUTEX_INITIALIZER,
                                   .idle = PTHREAD_COND_INITIALIZER};

/* Returned if out of memory. Updates of them are ignored. */
static struct metric no_metric = {.kind = METRICS_GAUGE, .ignored = true};
static struct metrics_family no_family = {.kind = METRICS_GAUGE, .ignored = true};

struct registry *metrics_registry(void) {
    return &registry;
}

static bool is_name(const char *s, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const bool letter =
            (s[i] >= 'a' && s[i] <= 'z') || (s[i] >= 'A' && s[i] <= 'Z') || s[i] == '_';
        if (!letter && !(i > 0 && s[i] >= '0' && s[i] <= '9')) {
            return false;
        }
    }
    return n > 0;
}

/* Splits a text like "route,status" in place into label names. */
static void split_labels(struct metrics_family *f) {
    char *at = f->label_memory;
    while (*at != '\0') {
        assert(f->n_labels < METRICS_MAX_LABELS);
        f->labels[f->n_labels++] = at;
        const size_t n = strcspn(at, ",");
        assert(is_name(at, n));
        const bool last = at[n] == '\0';
        at[n] = '\0';
        at += last ? n : n + 1;
    }
}

static void family_free(struct metrics_family *f) {
    if (f != NULL) {
        free(f->name);
        free(f->help);
        free(f->label_memory);
        free(f);
    }
}

static struct metrics_family *family_new(enum metrics_kind kind, const char *name, const char *help,
                                         const char *labels, const double *bounds,
                                         size_t n_bounds) {
    struct metrics_family *f = calloc(1, sizeof *f);
    if (f == NULL) {
        return NULL;
    }
    f->kind = kind;
    f->name = strdup(name);
    f->help = strdup(help);
    f->label_memory = strdup(labels);
    f->bounds = bounds;
    f->n_bounds = n_bounds;
    if (f->name == NULL || f->help == NULL || f->label_memory == NULL) {
        family_free(f);
        return NULL;
    }
    split_labels(f);
    return f;
}

struct metrics_family *metrics_register(enum metrics_kind kind, const char *name, const char *help,
                                        const char *labels, const double *bounds, size_t n_bounds) {
    assert(is_name(name, strlen(name)));
    assert((kind == METRICS_HISTOGRAM) == (n_bounds > 0));
    pthread_mutex_lock(&registry.lock);
    struct metrics_family **end = &registry.families;
    while (*end != NULL && strcmp((*end)->name, name) != 0) {
        end = &(*end)->next;
    }
    if (*end == NULL) {
        *end = family_new(kind, name, help, labels, bounds, n_bounds);
    }
    struct metrics_family *f = *end != NULL ? *end : &no_family;
    assert(f->ignored || f->kind == kind);
    pthread_mutex_unlock(&registry.lock);
    return f;
}

/* FNV-1a hash over the values, including their NUL bytes. */
static size_t hash_values(const char *const *values, size_t n) {
    uint64_t h = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < n; i++) {
        for (const char *p = values[i];; p++) {
            h = (h ^ (unsigned char)*p) * UINT64_C(1099511628211);
            if (*p == '\0') {
                break;
            }
        }
    }
    return (size_t)(h % METRICS_BUCKETS);
}

static struct metric *series_find(const struct metrics_family *f, const char *const *values) {
    for (struct metric *m = f->buckets[hash_values(values, f->n_labels)]; m != NULL; m = m->chain) {
        size_t same = 0;
        while (same < f->n_labels && strcmp(m->values[same], values[same]) == 0) {
            same++;
        }
        if (same == f->n_labels) {
            return m;
        }
    }
    return NULL;
}

static void series_free(struct metric *m, size_t n_values) {
    if (m != NULL) {
        for (size_t i = 0; i < n_values; i++) {
            free(m->values[i]);
        }
        free(m->counts);
        free(m);
    }
}

static struct metric *series_new(struct metrics_family *f, const char *const *values) {
    struct metric *m = calloc(1, sizeof *m);
    if (m == NULL) {
        return NULL;
    }
    m->kind = f->kind;
    m->bounds = f->bounds;
    m->n_bounds = f->n_bounds;
    bool good = true;
    for (size_t i = 0; i < f->n_labels; i++) {
        m->values[i] = strdup(values[i]);
        good = good && m->values[i] != NULL;
    }
    if (f->kind == METRICS_HISTOGRAM) {
        m->counts = calloc(f->n_bounds + 1, sizeof *m->counts);
        good = good && m->counts != NULL;
    }
    if (!good) {
        series_free(m, f->n_labels);
        return NULL;
    }
    const size_t bucket = hash_values(values, f->n_labels);
    m->chain = f->buckets[bucket];
    f->buckets[bucket] = m;
    *(f->last != NULL ? &f->last->next : &f->series) = m;
    f->last = m;
    f->n_series++;
    return m;
}

struct metric *metrics_series(struct metrics_family *family, ...) {
    static const char *const others[METRICS_MAX_LABELS] = {"other", "other", "other", "other",
                                                           "other", "other", "other", "other"};
    const char *values[METRICS_MAX_LABELS] = {NULL};
    if (family->ignored) {
        return &no_metric;
    }
    va_list args;
    va_start(args, family);
    for (size_t i = 0; i < family->n_labels; i++) {
        values[i] = va_arg(args, const char *);
        assert(values[i] != NULL);
        /* A series is never freed, so a client must not be able to create long values. */
        if (strlen(values[i]) > METRICS_MAX_VALUE) {
            values[i] = "other";
        }
    }
    const char *after = va_arg(args, const char *);
    assert(after == NULL); /* there must be as many values as labels */
    (void)after;
    va_end(args);

    pthread_mutex_lock(&registry.lock);
    struct metric *m = series_find(family, values);
    if (m == NULL) {
        const bool room = family->n_series < METRICS_MAX_SERIES;
        m = room ? series_new(family, values) : series_find(family, others);
        if (m == NULL && !room) {
            m = series_new(family, others);
        }
    }
    pthread_mutex_unlock(&registry.lock);
    return m != NULL ? m : &no_metric;
}

/* `+=` on an atomic double would also save and restore the floating-point flags. */
static void add_double(_Atomic double *to, double v) {
    double old = atomic_load_explicit(to, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(to, &old, old + v, memory_order_relaxed,
                                                  memory_order_relaxed)) {
    }
}

void metric_add(struct metric *m, double v) {
    assert(m->kind != METRICS_HISTOGRAM);
    /* a counter never decreases */
    if (!m->ignored && (m->kind == METRICS_GAUGE || v >= 0)) {
        add_double(&m->value, v);
    }
}

void metric_set(struct metric *m, double v) {
    assert(m->kind == METRICS_GAUGE);
    if (!m->ignored) {
        atomic_store_explicit(&m->value, v, memory_order_relaxed);
    }
}

void metric_observe(struct metric *m, double v) {
    if (m->ignored || isnan(v)) {
        return;
    }
    assert(m->kind == METRICS_HISTOGRAM);
    size_t i = 0;
    while (i < m->n_bounds && v > m->bounds[i]) {
        i++;
    }
    atomic_fetch_add_explicit(&m->counts[i], 1, memory_order_relaxed);
    add_double(&m->value, v);
}

double metric_value(const struct metric *m) {
    return atomic_load_explicit(&m->value, memory_order_relaxed);
}
