/* Fits that leave out one fold each. Cross-validation and calibration are such fits; they differ in
 * what they do with a fold's model. */
#ifndef DNI_FOLDS_H
#define DNI_FOLDS_H

#include "training/fit.h"

typedef struct dni_folds {
    const dn_train_request *request;
    dni_labels *labels; /* `role` and `value` are overwritten */
    const dn_run *run;
    const char *name;      /* of a fold in messages: "fold" */
    const double *stratum; /* [source rows] NaN: the row takes no part */
    const uint16_t *fold;  /* [source rows] the row's fold, 0 ... n_folds - 1 */
    size_t n_folds;
    size_t first; /* fold f is fit first + f of n_folds + 1 in the run's progress */

    /* Makes the fit of fold f. `fit` has its inputs; labels->role is DN_ROW_VALIDATE in the fold and
     * DN_ROW_TRAIN in the others. The caller of this function calls dni_fit_done. */
    dn_status (*make)(void *arg, size_t f, dni_fit *fit, dn_error *err);
    void *arg;
} dni_folds;

/* Makes the fits one after the other. The message of an error begins with the fold: "fold 3: ". */
DN_MUST_USE dn_status dni_folds_run(const dni_folds *folds, dn_error *err);

#endif
