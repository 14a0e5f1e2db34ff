/* The points of a method with a kernel: the distinct training rows, sorted by class, each with the
 * total weight of its equal rows.
 *
 * Merging equal rows of a class does not change the minimum: the dual variable of the point is the
 * sum of the rows' dual variables, and its upper bound is the sum of their bounds. */
#ifndef DNI_SVM_POINTS_H
#define DNI_SVM_POINTS_H

#include "kernels/points.h"
#include <discern/algorithm.h>

typedef struct dni_svm_points {
    const dn_run *run;
    void *memory;        /* allocated block that holds the arrays */
    size_t n, n_classes; /* number of points; number of classes, 1 without a target */
    /* [n_classes + 1] class k has the points start[k] … start[k + 1] − 1, sorted by `row` */
    size_t *start;
    double *weight;   /* [n] Σv of the equal rows of a point, > 0 */
    double *count;    /* [n] number of equal rows of a point */
    uint32_t *row;    /* [n] index of the first equal row of a point */
    uint32_t *point;  /* [rows->n_rows] point of each row; UINT32_MAX: the row has weight 0 */
    dn_block *blocks; /* [rows->n_blocks] views of the blocks of rows */
    bool sparse;
    size_t n_entries;   /* number of entries of all points, if sparse */
    dni_points *points; /* NULL before dni_svm_points_prepare, and for precomputed kernels */
    double *given;      /* precomputed kernels: [n × n] K; else NULL */
    uint32_t *column;   /* precomputed kernels: [n] column of each point in the table; else NULL */
} dni_svm_points;

/* Sets out->n and the arrays from the rows of `input`, which must be in memory. merge: equal rows
 * of a class become one point. Call dni_svm_points_done after success.
 *
 * Errors: DN_ERR_DATA for more than 2^31 − 1 rows. */
DN_MUST_USE dn_status dni_svm_points_gather(const dn_fit_input *input, bool merge,
                                            const dn_run *run, dni_svm_points *out, dn_error *err);
/* Sets points->points. kernel: width and factor are set; the factor must outlive the points.
 *
 * Errors: DN_ERR_NUMERIC, with the row, if K(x, x) of a row is not finite. */
DN_MUST_USE dn_status dni_svm_points_prepare(dni_svm_points *points, const dn_kernel *kernel,
                                             const dn_fit_input *input, dn_error *err);
/* Sets points->given: copies the values of a precomputed kernel from the rows.
 *
 * Errors: DN_ERR_DATA, with the row and the field, if the number of columns differs from the number
 * of rows of the table, the matrix is not symmetric, or a value is out of range. */
DN_MUST_USE dn_status dni_svm_points_given(dni_svm_points *points, const dn_fit_input *input,
                                           dn_error *err);
/* Frees `points` and `given`. */
void dni_svm_points_drop_values(dni_svm_points *points);
void dni_svm_points_done(dni_svm_points *points); /* {0} is allowed */

/* Bytes of the arrays of a dni_svm_points. */
double dni_svm_points_memory(size_t n_rows, size_t n_classes);
/* Bytes of the working memory of dni_svm_points_gather. */
double dni_svm_points_gather_memory(size_t n_rows);

/* Returns point i as a matrix of one row. */
dn_matrix dni_svm_point(const dni_svm_points *points, size_t i);

#endif
