/* Fits that each leave out the rows of one fold. Cross-validation computes metrics from the rows
 * that were left out, calibration uses their scores. */
#ifndef DNI_FOLDS_H
#define DNI_FOLDS_H

#include "training/fit.h"

typedef struct dni_folds {
    const dn_train_request *request;
    dni_labels *labels; /* `role` and `value` are overwritten */
    const dn_run *run;
    const char *name;      /* begins the prefix of messages, such as "fold" */
    const double *stratum; /* [source rows] class for stratification; NaN: the row gets
                            * DN_ROW_SKIP */
    const uint16_t *fold;  /* [source rows] from dni_split_folds or dni_division_folds */
    size_t n_folds;
    bool rolling; /* the rows of folds after fold f are not training rows of its fit */

    /* The number of folds of the repeats before this one. In messages and for `make`, fold f has
     * the number n_before + f. */
    size_t n_before;
    size_t first, n_parts; /* the fit of the fold with this number uses part first + number of
                            * n_parts equal parts of the run */

    /* Makes the fit of the fold with number f. The inputs of `fit` are set; labels->role is
     * DN_ROW_VALIDATE for rows of the fold and DN_ROW_TRAIN for rows of the other folds. The caller
     * calls dni_fit_done. */
    dn_status (*make)(void *arg, size_t f, dni_fit *fit, dn_error *err);
    void *arg;
} dni_folds;

/* Makes the fits one after the other. Error messages begin with the fold, such as "fold 3: ",
 * unless the run was cancelled. */
DN_MUST_USE dn_status dni_folds_run(const dni_folds *folds, dn_error *err);

/* Copies an error to `err` with "prefix: " before its message; without the prefix if the run was
 * cancelled. Returns status. */
dn_status dni_error_prefixed(const dn_error *from, dn_status status, const char *prefix,
                             dn_error *err);

#endif
