/* The division of the rows into training and validation rows that a request asks for: at random, by
 * groups, by the order of a column, or by marks. */
#ifndef DNI_DIVISION_H
#define DNI_DIVISION_H

#include "task/labels.h"

/* Checks the members of the request that divide the rows. DN_ERR_ARGUMENT. */
DN_MUST_USE dn_status dni_division_check(const dn_train_request *request, dn_error *err);

/* Sets labels->role: DN_ROW_TRAIN, DN_ROW_VALIDATE for held-out and marked rows, or DN_ROW_SKIP.
 * Without a holdout and marks all rows that have a class are training rows. */
DN_MUST_USE dn_status dni_division_holdout(const dn_train_request *request, const dn_run *run,
                                           dni_labels *labels, dni_split *out, dn_error *err);

/* Returns the number of fits of the cross-validation: folds · repeats. */
static inline size_t dni_division_fits(const dn_train_request *request) {
    return request->folds * (request->repeats > 1 ? request->repeats : 1);
}

/* Assigns a fold to each row: fold[i] = 0 … folds − 1, or `folds`: no fold holds the row out.
 *
 *   repeat  0 … repeats − 1; each has other folds
 *   labels  `role` is overwritten */
DN_MUST_USE dn_status dni_division_folds(const dn_train_request *request, size_t repeat,
                                         const dn_run *run, dni_labels *labels, uint16_t *fold,
                                         dn_error *err);

/* Assigns a fold of a calibration to each row, as dni_division_folds: keeps the groups of the
 * request together, or those of `calibration_group`.
 *
 *   stratum   [n_rows] class index; NaN: the row is ignored
 *   n_folds   in: the number of folds, >= 2. Out: at most the number of groups that can be held out
 *   out_group receives the column of the groups; SIZE_MAX: none
 *
 * DN_ERR_DATA: the value of a row is missing, fewer than 2 groups can be held out, or a class has no
 * row in such a group. */
DN_MUST_USE dn_status dni_division_calibration(const dn_train_request *request,
                                               const dni_labels *labels, const double *stratum,
                                               const dn_run *run, size_t *n_folds, uint16_t *fold,
                                               size_t *out_group, dn_error *err);

/* Returns the role of a row in the fit of fold f, from 0 within its repeat.
 *
 *   fold  of the row, from dni_division_folds */
static inline enum dn_row_role dni_division_role(const dn_train_request *request, size_t fold,
                                                 size_t f) {
    return fold == f                                               ? DN_ROW_VALIDATE
           : request->ordered && fold > f && fold < request->folds ? DN_ROW_SKIP
                                                                   : DN_ROW_TRAIN;
}

/* Returns the bytes of working memory of a division by groups. */
double dni_division_groups_memory(size_t n_rows, size_t n_classes, size_t n_folds);
/* Returns the bytes of working memory of the functions above, without a calibration. */
double dni_division_memory(const dn_train_request *request, size_t n_rows, size_t n_classes);

#endif
