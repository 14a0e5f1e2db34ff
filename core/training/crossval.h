/* Cross-validation. */
#ifndef DNI_CROSSVAL_H
#define DNI_CROSSVAL_H

#include "training/fit.h"

/* Makes request->folds fits, each without the rows of one fold, and evaluates each on its fold.
 *
 *   labels  `role` and `value` are overwritten
 *   run     the fits are parts 1 ... folds of folds + 1 equal parts of the run; part 0 is the
 *           fit of the model
 *   report  report of the model. Receives the warnings of the folds, except those it already has
 *   out     [folds] evaluations, allocated by malloc; see dni_crossval_free */
DN_MUST_USE dn_status dni_crossval(const dn_train_request *request, dni_labels *labels,
                                   const dn_run *run, dn_report *report, dni_evaluation **out,
                                   dn_error *err);
void dni_crossval_free(dni_evaluation *folds, size_t n_folds); /* NULL is allowed */

#endif
