/* The metrics registry: counters, gauges and histograms by name and labels, written as Prometheus
 * text. With the log the only mutable global of the server.
 *
 * A family is registered once (any thread, before or while serving); a metric of it is looked up by
 * its label values and then updated without a lock. Memory is bounded: a family takes at most
 * METRICS_MAX_SERIES label tuples, further ones share a tuple of "other". */
#ifndef BASE_METRICS_H
#define BASE_METRICS_H

#include "base/buf.h"
#include <stdint.h>

#define METRICS_MAX_SERIES 1000

enum metrics_kind { METRICS_COUNTER, METRICS_GAUGE, METRICS_HISTOGRAM };
struct metrics_family;
struct metric;

/* labels: comma-separated label names ("route,status") or "". bounds: upper bounds of a histogram's
 * buckets, ascending, n_bounds of them (static); else NULL, 0. At most 8 labels. Registering the
 * same name again gives the same family. Never NULL (allocation failure ends in a dummy that counts
 * nothing). */
struct metrics_family *metrics_register(enum metrics_kind kind, const char *name, const char *help,
                                        const char *labels, const double *bounds, size_t n_bounds);
/* The series of these label values (as many as labels; NULL-terminated list of strings). A pointer
 * for life: keep it where speed matters. */
struct metric *metrics_series(struct metrics_family *family, ...) __attribute__((sentinel));
void metric_add(struct metric *m, double v); /* counter (a negative v is ignored), gauge; atomic */
void metric_set(struct metric *m, double v); /* gauge */
void metric_observe(struct metric *m, double v); /* histogram */
double metric_value(const struct metric *m);     /* counter, gauge */

/* Called at every scrape before writing, to set gauges from present state. At most 32. */
void metrics_on_scrape(void (*collect)(void *arg), void *arg);
void metrics_forget_scrape(void *arg); /* removes those with this arg; waits for a scrape under way,
                                          so not to be called by a collector */
void metrics_render(struct buf *out);  /* Prometheus text format 0.0.4 */

#endif
