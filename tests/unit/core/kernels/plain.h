/* Rows of every kind, and kernel values by plain loops as the reference for the fast ones. */
#ifndef TESTS_CORE_KERNELS_PLAIN_H
#define TESTS_CORE_KERNELS_PLAIN_H

#include "unit/core/support.h"

#include "base/random.h"
#include "kernels/points.h"

enum { PLAIN_COLS = 40, PLAIN_KERNELS = 14 };

/* n rows of d numbers, dense and as CSR. */
struct rows {
    size_t n, d, n_entries;
    double *x; /* [n × d] */
    size_t *row_start;
    uint32_t *cols;
    double *values;
};

enum rows_kind { ROWS_DENSE, ROWS_SPARSE, ROWS_BITS, ROWS_TEXT, ROWS_MARGINS };

void rows_index(struct rows *r);

/* Row 3 is equal to row 1, row 4 is empty, also as a text. With margins, the first quarter of the
 * columns and every fifth column are 0 in all rows. */
struct rows rows_make(enum rows_kind kind, size_t n, size_t d, uint64_t seed);

void rows_free(struct rows *r);

dn_matrix rows_dense(const struct rows *r);

dn_matrix rows_csr(const struct rows *r);

/* Returns kernel k of those for rows of numbers. factor [d × d]: memory for the factor of a
 * mahalanobis kernel. */
dn_kernel plain_kernel(size_t k, size_t d, double *factor);

double plain_square(const double *x, const double *z, size_t d, const double *factor);

double plain_metric(const dn_kernel *kernel, const double *x, const double *z, size_t d);

double plain_value(const dn_kernel *kernel, const double *x, const double *z, size_t d);

dni_points *points_of(const dn_kernel *kernel, dn_matrix x, const dn_run *run);

/* Checks that |got − expected| <= tolerance · max(1, size). */
void assert_value(double got, double expected, double size, double tolerance);

#endif
