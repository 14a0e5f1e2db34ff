/* Which rows are held out, which fold each belongs to: stratified by class, seeded. */
#ifndef DNI_SPLIT_H
#define DNI_SPLIT_H

#include <discern/encoder.h>
#include <discern/run.h>

typedef struct dni_split {
    size_t n_train, n_validation, n_skipped; /* rows by role */
} dni_split;

/* role[n_rows] ← DN_ROW_SKIP where target is NaN, otherwise DN_ROW_TRAIN or, for the share `holdout` of each class (to the nearest row), DN_ROW_VALIDATE.
 * Every class keeps at least one training row. Depends on target, holdout and run->seed only. holdout 0: none is held out. */
DN_MUST_USE dn_status dni_split_holdout(const double *target, size_t n_rows, size_t n_classes,
                                        double holdout, const dn_run *run, uint8_t *role,
                                        dni_split *out, dn_error *err);

/* fold[n_rows] ← 0 … n_folds − 1, for rows whose target is NaN as well (any). The rows of each class are shuffled and dealt round, class after class: the folds' rows differ by at most one,
 * in each class and in all. Depends on target, n_folds and run->seed only. n_folds <= UINT16_MAX. 8 bytes a row of working memory. */
DN_MUST_USE dn_status dni_split_folds(const double *target, size_t n_rows, size_t n_classes,
                                      size_t n_folds, const dn_run *run, uint16_t *fold,
                                      dn_error *err);

/* Bytes of `fold` and of the working memory of dni_split_folds; 0 without folds. */
double dni_split_folds_memory(size_t n_rows, size_t n_folds);

#endif
