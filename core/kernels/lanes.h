/* The innermost loops of kernels: products and distances of rows with panels of points,
 * exponentials, bit counts. There are versions for several generations of processors.
 *
 * Each point and each query is a lane of its own. The order of a lane's operations does not depend
 * on the other points of the panel or the other queries. Versions differ in the last bits, since
 * some have fused multiply-add. */
#ifndef DNI_LANES_H
#define DNI_LANES_H

#include "kernels/kernel_impl.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DNI_PANEL 32 /* points in a panel: column k of point l is at [k · DNI_PANEL + l] */
#define DNI_GROUP 8  /* queries in a group: column k of query q is at [k · DNI_GROUP + q] */

typedef struct dni_lanes {
    /* out [n × DNI_PANEL] ← x'z for n queries; their groups begin `stride` numbers apart. */
    void (*products)(const double *panel, const double *groups, size_t stride, size_t d, size_t n,
                     double *out);
    /* The same in single precision, with partial sums of 64 columns added in double precision. The
     * error is about 2⁻²⁴ Σ|x_j z_j|. */
    void (*products_single)(const float *panel, const float *groups, size_t stride, size_t d,
                            size_t n, double *out);
    /* out ← Σ(x − z)², Σ|x − z| or max|x − z|, by the form. */
    void (*distances)(dni_form form, const double *panel, const double *groups, size_t stride,
                      size_t d, size_t n, double *out);
    double (*dot)(const double *x, const double *y,
                  size_t n); /* the order of additions depends on n only */
    /* x'x of a row whose numbers are `stride` apart; bit-for-bit equal to `products`. */
    double (*square)(const double *x, size_t d, size_t stride);
    double (*square_single)(const float *x, size_t d, size_t stride);
    /* t [n] ← max(0, own + square − 2 t); NaN stays NaN. */
    void (*expand)(double *t, const double *square, double own, size_t n);
    /* t [n] ← exp(−t) for t >= 0, with an error of at most 2 units in the last place; 0 for t > 708
     * and for NaN. */
    void (*exponentials)(double *t, size_t n);
    /* out ← exp(−t), with an error of at most 2 units in the last place of float; 0 for t > 87. */
    void (*exponentials_single)(const double *t, size_t n, float *out);
    /* out[j] ← table[c] for j < n, where c is the number of bits in x and point j, or in only one
     * of them. points [n × words], x [words]. */
    void (*counts)(bool differences, const uint64_t *x, const uint64_t *points, size_t words,
                   size_t n, const double *table, double *out);
    void (*counts_single)(bool differences, const uint64_t *x, const uint64_t *points, size_t words,
                          size_t n, const float *table, float *out);
    /* The same by columns, for points with at most 255 columns. NULL if the above is as fast.
     *
     *   tally    counts [64 · n_words] ← number of the columns set [n_set] of each point; bit l of
     *            planes[j · stride + w]: point 64 w + l has column j
     *   look_up  out[j] ← table[counts[j]], or with `ones` table[own + ones[j] − 2 counts[j]];
     *            table [n_table] */
    void (*tally)(const uint64_t *planes, size_t stride, const uint8_t *set, size_t n_set,
                  size_t n_words, uint8_t *counts);
    void (*look_up)(const uint8_t *counts, const uint8_t *ones, size_t own, const double *table,
                    size_t n_table, size_t n, double *out);
    void (*look_up_single)(const uint8_t *counts, const uint8_t *ones, size_t own,
                           const float *table, size_t n_table, size_t n, float *out);
} dni_lanes;

/* The versions that this processor supports, from the portable one (0) to the fastest; NULL
 * beyond. */
const dni_lanes *dni_lanes_make(size_t i);
const dni_lanes *dni_lanes_best(void);

#endif
