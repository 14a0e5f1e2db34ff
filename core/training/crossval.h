/* Cross-validation. */
#ifndef DNI_CROSSVAL_H
#define DNI_CROSSVAL_H

#include "training/fit.h"

/* Makes the fits of all repeats, each without the rows of one fold, and evaluates each on its
 * fold.
 * Adds warnings about classes that some folds do not have.
 *
 *   labels  `role` and `value` are overwritten
 *   run     the run is divided into dni_division_fits + 1 equal parts: part 0 for the fit of the
 *           model, the others for the folds
 *   report  report of the model; warnings of the folds are added that the report does not contain
 *   pool    NULL: each fold has an evaluation. Otherwise (leave-one-out) *pool is NULL before the
 *           call and receives the metrics of the rows of all folds, also after a failure; the
 *           evaluations are empty
 *   out     [dni_division_fits] evaluations, allocated by malloc; see dni_crossval_free */
DN_MUST_USE dn_status dni_crossval(const dn_train_request *request, dni_labels *labels,
                                   const dn_run *run, dn_report *report, dn_metrics **pool,
                                   dni_evaluation **out, dn_error *err);
void dni_crossval_free(dni_evaluation *folds, size_t n_folds); /* NULL is allowed */

#endif
