/* How much rows count: a column of weights, and weights of classes on top of it. */
#ifndef DNI_WEIGHTS_H
#define DNI_WEIGHTS_H

#include <discern/model.h>

/* Above 0, and not so large or small that sums of squares lose it. */
static inline bool dni_weight_counts(double weight) {
    return weight >= DN_MIN_WEIGHT && weight <= DN_MAX_WEIGHT;
}

/* weight[source->n_rows] ← the numeric column. Rows whose index is NaN are left out: their weight is 0, whatever the column says; a row of weight 0 gets the index NaN.
 * DN_ERR_DATA (field, row): the column is not numeric, a weight is missing, or neither 0 nor from DN_MIN_WEIGHT to DN_MAX_WEIGHT, or all are 0. */
DN_MUST_USE dn_status dni_weights_read(const dn_table_source *source, size_t column,
                                       const dn_run *run, double *index, double *weight,
                                       dn_error *err);

/* factor[n_classes] ← what the rows of each class count more. index, role [n_rows]: balanced looks at the rows with DN_ROW_TRAIN; weight: theirs, or NULL. */
void dni_class_factors(dn_class_weight kind, const double *given, size_t n_classes,
                       const double *index, const uint8_t *role, const double *weight,
                       size_t n_rows, double *factor);

#endif
