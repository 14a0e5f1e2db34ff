/* Shares of the training rows, for fits to fewer rows. */
#ifndef DNI_SPLIT_SHARE_H
#define DNI_SPLIT_SHARE_H

#include <discern/encoder.h>
#include <discern/run.h>

/* Writes the indices of the rows that have a class to `order`, in random order. Returns their
 * number.
 *
 *   stratum  [n_rows] class index; NaN: the row has none */
size_t dni_split_shuffle(const double *stratum, size_t n_rows, const dn_run *run, size_t *order);

/* Keeps a share of the training rows of each class, rounded up: the first in `order`. The others
 * become DN_ROW_SKIP. A smaller share keeps a subset of the rows of a greater share.
 *
 *   order  [n] from dni_split_shuffle
 *   count  [2 × n_strata] working memory
 *   role   [n_rows] */
void dni_split_share(const size_t *order, size_t n, const double *stratum, size_t n_strata,
                     double share, size_t *count, uint8_t *role);

#endif
