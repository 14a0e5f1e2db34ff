/* The metrics registry: counters, gauges and histograms by name and labels, written as Prometheus
 * text. Apart from the log it is the only mutable global of the server.
 *
 * A family is registered once (by any thread, at any time). A metric of the family is looked up by
 * its label values, and then updated without a lock. Memory is bounded: a family has at most
 * METRICS_MAX_SERIES combinations of label values; all further ones share one with the values
 * "other". */
#ifndef BASE_METRICS_H
#define BASE_METRICS_H

#include "base/memory/buf.h"
#include <stdint.h>

#define METRICS_MAX_SERIES 1000

enum metrics_kind { METRICS_COUNTER, METRICS_GAUGE, METRICS_HISTOGRAM };
struct metrics_family;
struct metric;

/* Registers a family. labels: comma-separated label names ("route,status") or ""; at most 8.
 * bounds: [n_bounds] ascending upper bounds of a histogram's buckets, static memory; other kinds:
 * NULL and 0. If the name is registered already, returns that family. Never NULL: if out of memory,
 * returns a dummy that counts nothing. */
struct metrics_family *metrics_register(enum metrics_kind kind, const char *name, const char *help,
                                        const char *labels, const double *bounds, size_t n_bounds);
/* Returns the series with these label values: as many strings as labels, then NULL. The pointer
 * stays valid for the life of the process; keep it if it is used often. */
struct metric *metrics_series(struct metrics_family *family, ...) __attribute__((sentinel));
/* for counters (a negative v is ignored) and gauges; atomic */
void metric_add(struct metric *m, double v);
void metric_set(struct metric *m, double v);     /* for gauges */
void metric_observe(struct metric *m, double v); /* for histograms */
double metric_value(const struct metric *m);     /* for counters and gauges */

/* Registers a function that is called at every scrape before the metrics are written, to set gauges
 * to current values. At most 32. */
void metrics_on_scrape(void (*collect)(void *arg), void *arg);
/* Removes the functions registered with this arg. Waits until no scrape is running, so it must not
 * be called by such a function. */
void metrics_forget_scrape(void *arg);
void metrics_render(struct buf *out); /* appends Prometheus text format 0.0.4 */

#endif
