/* How wide a kernel is when nobody says. */
#ifndef DNI_WIDTH_H
#define DNI_WIDTH_H

#include <discern/kernel.h>
#include <discern/rows.h>
#include <discern/run.h>

/* *out ← the width for `auto`, of rbf: the median of ‖x − z‖ over the pairs of at most 1,000 rows drawn with the run's seed; of distance: the root of the median of D, so that exp(−D/(2 width²)) is exp(−½) at the
 * median distance as it is for rbf. 1 where that is 0. A row of weight v counts as v rows that are the same, also when rows are drawn. The kernel's width is not looked at. An even number of pairs has two medians, of which it is the mean.
 * DN_ERR_NUMERIC: a distance that is not finite; those of the points. */
DN_MUST_USE dn_status dni_kernel_width(const dn_kernel *kernel, const dn_rows *rows,
                                       const dn_run *run, double *out, dn_error *err);
/* Bytes that it takes. */
double dni_kernel_width_memory(const dn_kernel *kernel, size_t n_rows, size_t n_features,
                               double n_entries);

#endif
