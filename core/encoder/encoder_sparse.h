/* The passes over the training rows that fit a sparse column. */
#ifndef DNI_ENCODER_SPARSE_H
#define DNI_ENCODER_SPARSE_H

#include "encoder/index_set.h"
#include "table/selection.h"

typedef struct dni_sparse_stats {
    double entries; /* mean number of nonzero entries of a row */
    /* [n/8 + 1] allocated by malloc, owned by the caller: bit k % 8 of byte k / 8 is 1 if feature k
     * of the input, standardised if moments are computed, is nonzero in some row */
    unsigned char *active;
} dni_sparse_stats;

/* The size of a fit. */
typedef struct dni_sparse_shape {
    size_t n_features; /* indices in the set */
    size_t n_slots;
    bool moments; /* mean and scale are computed */
} dni_sparse_shape;

/* Returns the bytes of the run's memory that dni_sparse_fit allocates, without those of its sums
 * (dn_run_sum_memory). */
double dni_sparse_fit_memory(const dni_sparse_shape *shape);

/* Fits a sparse column to the selected rows.
 *
 *   column        index of the column in rows->source
 *   set           the indices that are features; others are not read
 *   weight        [source->n_rows] or NULL: all 1. Rows with weight 0 are ignored
 *   total_weight  sum of v over the selected rows, > 0
 *   mean, scale   [set->n] of each feature, 0 where a row has no entry (see encoder_fit.c);
 *                 NULL: not computed
 *   out           untouched on failure
 *
 * Cost: one pass, by one thread if the source has fewer slots than the run, and 1/8 byte for
 * each feature and slot. With mean and scale two passes and 64 bytes.
 * Errors: DN_ERR_DATA (field, row) for an entry that is not finite; DN_ERR_NUMERIC (field) for a
 * mean or deviation that is not finite. */
DN_MUST_USE dn_status dni_sparse_fit(const dni_selection *rows, size_t column,
                                     const dni_index_set *set, const double *weight,
                                     double total_weight, const dn_run *run, double *mean,
                                     double *scale, dni_sparse_stats *out, dn_error *err);

#endif
