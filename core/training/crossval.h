/* Cross-validation of a training. */
#ifndef DNI_CROSSVAL_H
#define DNI_CROSSVAL_H

#include "task/labels.h"

/* Folds that the classes have rows for. DN_ERR_DATA names the class that has too few. */
DN_MUST_USE dn_status dni_folds_check(const dn_train_request *request, const dni_labels *labels,
                                      dn_error *err);

/* Trains request->folds times, each time without one fold, and judges on that: *out [folds] malloc'ed. The fits count as 1 … folds of folds + 1. Overwrites role and value of the labels.
 * What the folds warn of is added to `report` unless it is there already. */
DN_MUST_USE dn_status dni_folds_run(const dn_train_request *request, dni_labels *labels,
                                    const dn_run *run, dn_report *report, dn_metrics ***out,
                                    dn_error *err);
/* An error that says in which fold ("fold 3: …", "calibration fold 3: …") it came up; a stop does not. */
dn_status dni_fold_error(const dn_error *own, dn_status status, const char *what, size_t fold,
                         dn_error *err);
void dni_folds_free(dn_metrics **folds, size_t n);

#endif
