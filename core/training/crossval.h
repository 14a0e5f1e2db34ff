/* Cross-validation. */
#ifndef DNI_CROSSVAL_H
#define DNI_CROSSVAL_H

#include "training/fit.h"

/* What receives the rows of all folds. */
typedef struct dni_crossval_rows {
    dni_pool *pool;        /* NULL: no metrics of all rows */
    dn_held_out *held_out; /* NULL: the predictions are not kept */
    bool only_pool;        /* leave-one-out: the folds have no metrics, only the pool has */
} dni_crossval_rows;

/* Makes the fits of all repeats, each without the rows of one fold, and evaluates each on its
 * fold.
 * Adds warnings about classes that some folds do not have.
 *
 *   labels  `role` and `value` are overwritten
 *   run     the run is divided into dni_division_fits + 1 equal parts: part 0 for the fit of the
 *           model, the others for the folds
 *   report  report of the model; warnings of the folds are added that the report does not contain
 *   rows    receive the rows of all folds
 *   out     [dni_division_fits] evaluations, allocated by malloc; see dni_crossval_free. Empty with
 *           rows->only_pool */
DN_MUST_USE dn_status dni_crossval(const dn_train_request *request, dni_labels *labels,
                                   const dn_run *run, dn_report *report,
                                   const dni_crossval_rows *rows, dni_evaluation **out,
                                   dn_error *err);
void dni_crossval_free(dni_evaluation *folds, size_t n_folds); /* NULL is allowed */

#endif
