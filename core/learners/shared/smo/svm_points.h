/* The rows that a machine with a kernel is trained on: the different ones, class after class, each with what all rows like it weigh together.
 *
 * Merging equal rows of a class leaves the minimum as it is: their dual variables add up within the sum of their boxes. */
#ifndef DNI_SVM_POINTS_H
#define DNI_SVM_POINTS_H

#include "kernels/points.h"
#include <discern/algorithm.h>

typedef struct dni_svm_points {
    const dn_run *run;
    size_t n, n_classes; /* different rows of weight above 0; without a target one class */
    size_t *
        start; /* [n_classes + 1] class k has points start[k] … start[k + 1] − 1, in the order of their first row */
    double *weight;   /* [n] Σv of the rows */
    double *count;    /* [n] how many there are */
    uint32_t *row;    /* [n] number of the first */
    dn_block *blocks; /* [rows->n_blocks] views of the rows, which are in memory */
    bool sparse;
    size_t n_entries; /* of the points, when sparse */
    dni_points *
        points; /* NULL until dni_svm_points_prepare, and for a kernel that is given (precomputed) */
    double *given;   /* precomputed: [n × n] K */
    uint32_t *place; /* precomputed: [n] the column of the table that a point is */
} dni_svm_points;

/* Gathers the rows of `input` (which are held in memory); `merge`: equal ones of a class become one. */
DN_MUST_USE dn_status dni_svm_points_gather(const dn_fit_input *input, bool merge,
                                            const dn_run *run, dni_svm_points *out, dn_error *err);
/* Makes the points of a complete kernel; its factor must outlive them. `input` is what they were gathered from. DN_ERR_NUMERIC (row): a row that is too long for the kernel. */
DN_MUST_USE dn_status dni_svm_points_prepare(dni_svm_points *points, const dn_kernel *kernel,
                                             const dn_fit_input *input, dn_error *err);
/* Takes the kernel's values from the rows themselves. DN_ERR_DATA (row, field): not as many columns as the table has rows, a value that is not K_ji's. */
DN_MUST_USE dn_status dni_svm_points_given(dni_svm_points *points, const dn_fit_input *input,
                                           dn_error *err);
void dni_svm_points_done(dni_svm_points *points); /* {0} is allowed */

/* Point i as a row of one. */
dn_matrix dni_svm_point(const dni_svm_points *points, size_t i);

#endif
