/* The innermost loops of kernels: products and distances of queries and panels of points,
 * exponentials, bit counts. There are versions for several generations of processors.
 *
 * A lane of a vector belongs to one point. The order of the operations on a pair of a query and a
 * point does not depend on the other points of the panel or on the other queries. Results of
 * different versions differ in the last bits, because some versions use fused multiply-add. */
#ifndef DNI_LANES_H
#define DNI_LANES_H

#include "kernels/kernel_impl.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DNI_PANEL 32 /* points in a panel; index of column k of point l: k · DNI_PANEL + l */
#define DNI_GROUP 8  /* queries in a group; index of column k of query q: k · DNI_GROUP + q */

typedef struct dni_lanes {
    /* out [n × DNI_PANEL] ← the inner products of n queries and the points of a panel.
     *
     *   stride  distance between the starts of two groups of queries, in numbers
     *   d       number of columns */
    void (*products)(const double *panel, const double *groups, size_t stride, size_t d, size_t n,
                     double *out);
    /* Like `products`, in single precision. Partial sums of 64 columns are added in double
     * precision. The error is about 2⁻²⁴ Σ|x_j z_j|. */
    void (*products_single)(const float *panel, const float *groups, size_t stride, size_t d,
                            size_t n, double *out);
    /* out [n × DNI_PANEL] ← Σ(x − z)², Σ|x − z| or max|x − z|, depending on `form`. */
    void (*distances)(dni_form form, const double *panel, const double *groups, size_t stride,
                      size_t d, size_t n, double *out);
    /* Returns x'y. The order of the additions depends on n only. */
    double (*dot)(const double *x, const double *y, size_t n);
    /* Returns x'x of a row with the numbers x[0], x[stride] … x[(d − 1) stride]. The result is
     * bit-for-bit that of `products`. */
    double (*square)(const double *x, size_t d, size_t stride);
    double (*square_single)(const float *x, size_t d, size_t stride);
    /* t [n] ← max(0, square_x + square − 2 t), where square is an array [n]; NaN stays NaN. */
    void (*expand)(double *t, const double *square, double square_x, size_t n);
    /* t [n] ← exp(−t) for t >= 0, with an error of at most 2 units in the last place. The result
     * is 0 for t > 708 and for NaN. */
    void (*exponentials)(double *t, size_t n);
    /* out [n] ← exp(−t) for t >= 0, with an error of at most 2 units in the last place of float.
     * The result is 0 for t > 87 and for NaN. */
    void (*exponentials_single)(const double *t, size_t n, float *out);
    /* out[j] ← table[c] for j < n, where c is the number of bits that are set in both x and point
     * j or, if `differences`, in exactly one of them. points [n × words], x [words]. */
    void (*counts)(bool differences, const uint64_t *x, const uint64_t *points, size_t words,
                   size_t n, const double *table, double *out);
    void (*counts_single)(bool differences, const uint64_t *x, const uint64_t *points, size_t words,
                          size_t n, const float *table, float *out);
    /* The same counts, computed column by column, for points with at most 255 columns. NULL if the
     * version has no fast implementation.
     *
     *   tally    counts [64 · n_words] ← for each point the number of its 1 bits among the columns
     *            set [n_set]. Bit l of planes[j · stride + w] is column j of point 64 w + l
     *   look_up  out[j] ← table[counts[j]]; if `ones` is not NULL,
     *            table[query_ones + ones[j] − 2 counts[j]]. table [n_table] */
    void (*tally)(const uint64_t *planes, size_t stride, const uint8_t *set, size_t n_set,
                  size_t n_words, uint8_t *counts);
    void (*look_up)(const uint8_t *counts, const uint8_t *ones, size_t query_ones,
                    const double *table, size_t n_table, size_t n, double *out);
    void (*look_up_single)(const uint8_t *counts, const uint8_t *ones, size_t query_ones,
                           const float *table, size_t n_table, size_t n, float *out);
} dni_lanes;

/* Returns version i of those that this processor supports: 0 is the portable version, the last is
 * the fastest. Returns NULL if there are fewer versions. */
const dni_lanes *dni_lanes_version(size_t i);
const dni_lanes *dni_lanes_best(void);

#endif
