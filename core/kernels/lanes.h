/* The innermost loops of kernels: rows against panels of points, exponentials, counts of bits. In several makes, for several generations of processors.
 *
 * Every point and every query is a lane of its own, whose operations have one order that nothing else in the panel or among the queries changes. What a make computes differs from another's in the last
 * bits, where one has fused multiplication and addition. */
#ifndef DNI_LANES_H
#define DNI_LANES_H

#include "kernels/kernel_impl.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DNI_PANEL 32 /* points: number k of point l is at [k · DNI_PANEL + l] */
#define DNI_GROUP 8  /* queries: number k of query q is at [k · DNI_GROUP + q] */

typedef struct dni_lanes {
    /* out [n × DNI_PANEL] ← x'z for n queries, whose groups begin `stride` numbers apart */
    void (*products)(const double *panel, const double *groups, size_t stride, size_t d, size_t n,
                     double *out);
    /* The same in float, whose partial sums of 64 columns are added in double: off by some 2⁻²⁴ of Σ|x_j z_j|, less by luck. */
    void (*products_single)(const float *panel, const float *groups, size_t stride, size_t d,
                            size_t n, double *out);
    /* out ← Σ(x − z)², Σ|x − z| or max|x − z|, by the form */
    void (*distances)(dni_form form, const double *panel, const double *groups, size_t stride,
                      size_t d, size_t n, double *out);
    double (*dot)(const double *x, const double *y,
                  size_t n); /* in an order of additions that n alone decides */
    /* x'x of a row whose numbers are `stride` apart: what the products above make of it, to the last bit */
    double (*square)(const double *x, size_t d, size_t stride);
    double (*square_single)(const float *x, size_t d, size_t stride);
    /* t [n] ← own + square − 2 t, or 0 where that is less; what is not a number stays so */
    void (*expand)(double *t, const double *square, double own, size_t n);
    /* t [n] ← exp(−t), t >= 0, within 2 units in the last place; 0 for t > 708, and where t is not a number */
    void (*exponentials)(double *t, size_t n);
    /* out ← exp(−t), within 2 units of float; 0 for t > 87 */
    void (*exponentials_single)(const double *t, size_t n, float *out);
    /* out[j] ← table[number of bits in x and point j, or in one of them alone], j < n; points [n × words], x [words] */
    void (*counts)(bool differences, const uint64_t *x, const uint64_t *points, size_t words,
                   size_t n, const double *table, double *out);
    void (*counts_single)(bool differences, const uint64_t *x, const uint64_t *points, size_t words,
                          size_t n, const float *table, float *out);
    /* The same by columns, for points with at most 255 of them: NULL where there is nothing faster than the above. tally: counts [64 · n_words] ← how many of the columns set [n_set] each point has; bit l of planes[j · stride + w]
     * tells whether point 64 w + l has column j. look_up: out[j] ← table[counts[j]], or with ones table[own + ones[j] − 2 counts[j]]; table [n_table]. */
    void (*tally)(const uint64_t *planes, size_t stride, const uint8_t *set, size_t n_set,
                  size_t n_words, uint8_t *counts);
    void (*look_up)(const uint8_t *counts, const uint8_t *ones, size_t own, const double *table,
                    size_t n_table, size_t n, double *out);
    void (*look_up_single)(const uint8_t *counts, const uint8_t *ones, size_t own,
                           const float *table, size_t n_table, size_t n, float *out);
} dni_lanes;

/* The makes that this processor can run, from the plainest (0) to the best; NULL beyond it. */
const dni_lanes *dni_lanes_make(size_t i);
const dni_lanes *dni_lanes_best(void);

#endif
