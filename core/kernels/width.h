/* The default width of a kernel of type distance, and that of rbf under DN_RULES_FIRST. */
#ifndef DNI_WIDTH_H
#define DNI_WIDTH_H

#include <discern/kernel.h>
#include <discern/rows.h>
#include <discern/run.h>

/* Estimates the width for `auto`: the square root of the median of D over the pairs of at most
 * 1,000 rows, drawn with the run's seed; for rbf the median of ‖x − z‖. K is then exp(−½) at the
 * median distance. kernel->width is ignored.
 *
 * If the median is 0, the width is 1. A row of weight v counts as v equal rows, also in the draw.
 * If the number of pairs is even, the median is the mean of the lower and the upper median.
 *
 * Errors: DN_ERR_NUMERIC if a distance is not finite; errors of dni_points_new and
 * dni_points_end. */
DN_MUST_USE dn_status dni_kernel_width(const dn_kernel *kernel, const dn_rows *rows,
                                       const dn_run *run, double *out, dn_error *err);
/* Returns the bytes of working memory that dni_kernel_width needs. */
double dni_kernel_width_memory(const dn_kernel *kernel, size_t n_rows, size_t n_features,
                               double n_entries);

#endif
