/* Report of the task "outliers": numbers of rows that the model classifies as outliers. */
#ifndef DNI_OUTLIER_REPORT_H
#define DNI_OUTLIER_REPORT_H

#include "training/fit.h"

/* Adds these details to the report:
 *
 *   outliers, outlier_share                         of the training rows; sums of weights
 *   validation_outliers, validation_outlier_share   of the validation rows, or of all folds
 *   fold_outlier_shares                             of each fold
 *
 *   validation  NULL: there are no validation rows
 *   folds       [n_folds]; n_folds 0: no cross-validation */
void dni_report_outliers(const dni_outlier_count *train, const dni_outlier_count *validation,
                         const dni_evaluation *folds, size_t n_folds, dn_report *report);

#endif
