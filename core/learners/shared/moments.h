/* Weighted moments of the columns and the weights of the classes. */
#ifndef DNI_MOMENTS_H
#define DNI_MOMENTS_H

#include <discern/algorithm.h>
#include <stdbool.h>

typedef struct dni_moments {
    double weight;        /* Σv */
    double *mean;         /* [n_cols] weighted */
    double *deviation;    /* [n_cols] weighted, divisor Σv; 0 for a constant column */
    double *class_weight; /* [n_classes] Σv of each class; 0 for rows without targets */
    bool sparse;          /* the blocks are CSR */
    void *memory;
} dni_moments;

/* Computes the moments in two passes over the rows. The second pass uses centred columns, so that
 * the variance is accurate for columns whose mean is large, such as time stamps.
 *
 *   input  rows, dense or sparse, with or without targets
 *   out    the caller releases it with dni_moments_done; untouched on failure
 *
 * Errors
 *   DN_ERR_NUMERIC  the squares of a column overflow or underflow; the message names the first one
 *   DN_ERR_DATA     the weights do not have a positive, finite sum
 *   DN_ERR_SOURCE   the source delivers dense and sparse blocks
 *   and those of dn_run_alloc and dn_run_sum
 *
 * Cost: O(entries). */
DN_MUST_USE dn_status dni_moments_compute(const dn_fit_input *input, const dn_run *run,
                                          dni_moments *out, dn_error *err);
/* Releases the arrays; {0} is allowed. */
void dni_moments_done(dni_moments *moments, const dn_run *run);

/* Replaces the moments about the means by moments about 0, for problems without centred columns:
 * mean 0, and deviation the root mean square; 0 for a column of zeros. */
void dni_moments_about_zero(dni_moments *moments, size_t n_cols);

/* Maximum bytes of working memory of dni_moments_compute, including its result. */
double dni_moments_memory(size_t n_rows, size_t n_cols, size_t n_classes, size_t n_slots);
/* Bytes of the result of dni_moments_compute. */
double dni_moments_result_memory(size_t n_cols, size_t n_classes);

#endif
