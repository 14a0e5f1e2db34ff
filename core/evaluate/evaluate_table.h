/* Evaluation of a model on a table; the model's columns are found by name. */
#ifndef DNI_EVALUATE_TABLE_H
#define DNI_EVALUATE_TABLE_H

#include "evaluate/evaluate_rows.h"

/* Counts the outliers in a table. `weight` names the column of weights; NULL: all 1. Rows with
 * weight 0 are ignored. */
DN_MUST_USE dn_status dni_count_outliers_table(const dn_model *model, const dn_table_source *source,
                                               const char *weight, const dn_run *run,
                                               dni_outlier_count *out, dn_error *err);

/* Bytes for the labels of a table with n_rows rows; dn_model_evaluate needs them in addition to the
 * encoded rows and dni_evaluate_memory. */
double dni_evaluate_table_memory(size_t n_rows, bool weighted);

#endif
