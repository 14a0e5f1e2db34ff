/* Cross-validation of a training. */
#ifndef DNI_CROSSVAL_H
#define DNI_CROSSVAL_H

#include "training/fit.h"

/* Makes request->folds fits, each without one fold, and evaluates each on its fold.
 *
 *   labels  `role` and `value` are overwritten
 *   run     the fits are 1 ... folds of folds + 1; fit 0 is that of the model itself
 *   report  that of the model itself. Receives the folds' warnings, except those that it has
 *   out     [folds] allocated by malloc; see dni_crossval_free */
DN_MUST_USE dn_status dni_crossval(const dn_train_request *request, dni_labels *labels,
                                   const dn_run *run, dn_report *report, dni_evaluation **out,
                                   dn_error *err);
void dni_crossval_free(dni_evaluation *folds, size_t n_folds); /* NULL is allowed */

#endif
