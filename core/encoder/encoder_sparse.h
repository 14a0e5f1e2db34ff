/* What the training rows say about the filter of a sparse column. */
#ifndef DNI_ENCODER_SPARSE_H
#define DNI_ENCODER_SPARSE_H

#include "encoder/index_set.h"
#include "table/selection.h"

typedef struct dni_sparse_stats {
    double entries; /* mean number of entries of a row that are not 0 */
    unsigned char *
        active; /* [n/8 + 1] malloc'ed, the caller's: bit k % 8 of byte k / 8: the feature of the set's index k, standardised if that is wanted, is not 0 in some row */
} dni_sparse_stats;

/* The filter of `set` of column `column` (of DN_SPARSE) of rows->source over the selected rows; what others hold is not looked at; weight: by source row, NULL: all 1; a row of weight 0 says nothing. total_weight: Σv of them, > 0. One pass through
 * run's sum, by one thread if the source has fewer slots than the run; an eighth of a byte a index and thread. mean and scale [set->n]: those of the filter, 0 where a row has no entry, by
 * encoder_fit.c's rules; a pass more, and 64 bytes a index and thread; NULL: not wanted. DN_ERR_DATA (field, row): an entry that is not finite; DN_ERR_NUMERIC: a mean or a deviation that is not. */
DN_MUST_USE dn_status dni_sparse_fit(const dni_selection *rows, size_t column,
                                     const dni_index_set *set, const double *weight,
                                     double total_weight, const dn_run *run, double *mean,
                                     double *scale, dni_sparse_stats *out, dn_error *err);

#endif
