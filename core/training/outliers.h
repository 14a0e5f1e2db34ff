/* Training without a target (DN_NO_TARGET): every row is taken for an inlier, and what is told of the model is how many it calls outliers. */
#ifndef DNI_OUTLIERS_H
#define DNI_OUTLIERS_H

#include "model/classes.h"
#include <discern/model.h>

/* The classes "inlier" and "outlier". */
DN_MUST_USE dn_status dni_outlier_classes(dni_classes *out, dn_error *err);

/* Metrics of such rows know no truth. Those of *result, which take every row for an inlier, become the details outliers (weights of the rows added up) and outlier_share of its report, and
 * validation_outliers and validation_outlier_share of the rows held out; with folds these are of all folds together, and fold_outlier_shares has each fold's. The metrics are freed. */
void dni_outliers_tell(dn_train_result *result, dn_report *report);

#endif
