/* Scraping: calls the collectors, then writes all series as Prometheus text 0.0.4. */
#include "base/json/json_write.h"
#include "base/metrics/metrics.h"
#include "base/metrics/metrics_private.h"
#include "base/utf8.h"

#include <assert.h>
#include <discern/number.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

void metrics_on_scrape(void (*collect)(void *arg), void *arg) {
    struct registry *r = metrics_registry();
    pthread_mutex_lock(&r->lock);
    assert(r->n_collectors < METRICS_MAX_COLLECTORS);
    r->collectors[r->n_collectors++] = (struct collector){collect, arg};
    pthread_mutex_unlock(&r->lock);
}

void metrics_forget_scrape(void *arg) {
    struct registry *r = metrics_registry();
    pthread_mutex_lock(&r->lock);
    size_t kept = 0;
    for (size_t i = 0; i < r->n_collectors; i++) {
        if (r->collectors[i].arg != arg) {
            r->collectors[kept++] = r->collectors[i];
        }
    }
    r->n_collectors = kept;
    /* A running scrape may still call a collector with `arg`, which the caller will free. */
    while (r->n_collecting > 0) {
        pthread_cond_wait(&r->idle, &r->lock);
    }
    pthread_mutex_unlock(&r->lock);
}

static void collect_all(struct registry *r) {
    struct collector now[METRICS_MAX_COLLECTORS];
    pthread_mutex_lock(&r->lock);
    const size_t n = r->n_collectors;
    memcpy(now, r->collectors, n * sizeof *now);
    r->n_collecting++;
    pthread_mutex_unlock(&r->lock);
    for (size_t i = 0; i < n; i++) {
        now[i].collect(now[i].arg);
    }
    pthread_mutex_lock(&r->lock);
    r->n_collecting--;
    pthread_cond_broadcast(&r->idle);
    pthread_mutex_unlock(&r->lock);
}

static void put_value(struct buf *out, double v) {
    char text[32];
    (void)dn_number_format(v, text);
    buf_puts(out, isfinite(v) ? text : isnan(v) ? "NaN" : v > 0 ? "+Inf" : "-Inf");
}

static void put_escaped(struct buf *out, const char *s, size_t n, bool quotes) {
    struct buf clean = {0};
    utf8_append(&clean, s, n);
    for (size_t i = 0; i < clean.size; i++) {
        const char c = clean.data[i];
        if (c == '\n') {
            buf_puts(out, "\\n");
        } else {
            if (c == '\\' || (quotes && c == '"')) {
                buf_putc(out, '\\');
            }
            buf_putc(out, c);
        }
    }
    out->failed = out->failed || clean.failed;
    buf_done(&clean);
}

/* Writes {route="/v1/jobs",le="0.1"}; nothing if there are no labels. */
static void put_labels(struct buf *out, const struct metrics_family *f, const struct metric *m,
                       const double *bound) {
    const char *before = "{";
    for (size_t i = 0; i < f->n_labels; i++) {
        buf_printf(out, "%s%s=\"", before, f->labels[i]);
        put_escaped(out, m->values[i], strlen(m->values[i]), true);
        buf_putc(out, '"');
        before = ",";
    }
    if (bound != NULL) {
        buf_printf(out, "%sle=\"", before);
        put_value(out, *bound);
        buf_putc(out, '"');
        before = ",";
    }
    if (before[0] == ',') {
        buf_putc(out, '}');
    }
}

static void put_plain(struct buf *out, const struct metrics_family *f, const struct metric *m) {
    buf_puts(out, f->name);
    put_labels(out, f, m, NULL);
    buf_putc(out, ' ');
    put_value(out, metric_value(m));
    buf_putc(out, '\n');
}

/* The stored bucket counts are added up here, so that the written buckets are cumulative and _count
 * equals the last bucket, also if observations are added at the same time. */
static void put_histogram(struct buf *out, const struct metrics_family *f, const struct metric *m) {
    uint64_t total = 0;
    for (size_t i = 0; i <= f->n_bounds; i++) {
        const double bound = i < f->n_bounds ? f->bounds[i] : (double)INFINITY;
        total += atomic_load_explicit(&m->counts[i], memory_order_relaxed);
        buf_printf(out, "%s_bucket", f->name);
        put_labels(out, f, m, &bound);
        buf_printf(out, " %" PRIu64 "\n", total);
    }
    buf_printf(out, "%s_sum", f->name);
    put_labels(out, f, m, NULL);
    buf_putc(out, ' ');
    put_value(out, metric_value(m));
    buf_printf(out, "\n%s_count", f->name);
    put_labels(out, f, m, NULL);
    buf_printf(out, " %" PRIu64 "\n", total);
}

void metrics_render(struct buf *out) {
    static const char *const kinds[] = {[METRICS_COUNTER] = "counter",
                                        [METRICS_GAUGE] = "gauge",
                                        [METRICS_HISTOGRAM] = "histogram"};
    struct registry *r = metrics_registry();
    collect_all(r);
    pthread_mutex_lock(&r->lock);
    for (const struct metrics_family *f = r->families; f != NULL; f = f->next) {
        buf_printf(out, "# HELP %s ", f->name);
        put_escaped(out, f->help, strlen(f->help), false);
        buf_printf(out, "\n# TYPE %s %s\n", f->name, kinds[f->kind]);
        for (const struct metric *m = f->series; m != NULL; m = m->next) {
            if (f->kind == METRICS_HISTOGRAM) {
                put_histogram(out, f, m);
            } else {
                put_plain(out, f, m);
            }
        }
    }
    pthread_mutex_unlock(&r->lock);
}
