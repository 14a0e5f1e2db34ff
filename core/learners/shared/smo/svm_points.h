/* The rows that a method with a kernel is trained on: the distinct rows, sorted by class, each with
 * the total weight of the rows equal to it.
 *
 * Merging equal rows of a class does not change the minimum: their dual variables add up within the
 * sum of their boxes. */
#ifndef DNI_SVM_POINTS_H
#define DNI_SVM_POINTS_H

#include "kernels/points.h"
#include <discern/algorithm.h>

typedef struct dni_svm_points {
    const dn_run *run;
    void *memory;        /* the block of the lists */
    size_t n, n_classes; /* distinct rows with weight > 0; without a target one class */
    /* [n_classes + 1] class k has points start[k] … start[k + 1] − 1, sorted by their first
     * row */
    size_t *start;
    double *weight;   /* [n] Σv of the equal rows */
    double *count;    /* [n] number of equal rows */
    uint32_t *row;    /* [n] the first of them */
    dn_block *blocks; /* [rows->n_blocks] views of the rows, which stay in memory */
    bool sparse;
    size_t n_entries;   /* of the points, if sparse */
    dni_points *points; /* NULL before dni_svm_points_prepare, and for precomputed kernels */
    double *given;      /* precomputed kernels: [n × n] K; else NULL */
    uint32_t *column;   /* precomputed kernels: [n] the point's column in the table; else NULL */
} dni_svm_points;

/* Gathers the rows of `input`, which are held in memory. `merge`: equal rows of a class become one
 * point. Call dni_svm_points_done if it succeeds.
 *
 * Errors: DN_ERR_DATA for more than 2^31 − 1 rows. */
DN_MUST_USE dn_status dni_svm_points_gather(const dn_fit_input *input, bool merge,
                                            const dn_run *run, dni_svm_points *out, dn_error *err);
/* Makes the points of a complete kernel, whose factor must outlive them.
 *
 * Errors: DN_ERR_NUMERIC, with the row, if K(x, x) of a row is not finite. */
DN_MUST_USE dn_status dni_svm_points_prepare(dni_svm_points *points, const dn_kernel *kernel,
                                             const dn_fit_input *input, dn_error *err);
/* Takes the values of a precomputed kernel from the rows.
 *
 * Errors: DN_ERR_DATA, with the row and the field, if the number of columns is not that of the
 * table's rows, the matrix is not symmetric, or a value is out of range. */
DN_MUST_USE dn_status dni_svm_points_given(dni_svm_points *points, const dn_fit_input *input,
                                           dn_error *err);
/* Frees `points` and `given`. */
void dni_svm_points_drop_values(dni_svm_points *points);
void dni_svm_points_done(dni_svm_points *points); /* {0} is allowed */

/* Bytes of the lists, and of the scratch while they are gathered. */
double dni_svm_points_memory(size_t n_rows, size_t n_classes);
double dni_svm_points_gather_memory(size_t n_rows);

/* Point i as a matrix of one row. */
dn_matrix dni_svm_point(const dni_svm_points *points, size_t i);

#endif
