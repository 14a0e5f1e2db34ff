/* Weights of rows, read from a column, and weights of classes, by which the weights of their rows
 * are multiplied. */
#ifndef DNI_WEIGHTS_H
#define DNI_WEIGHTS_H

#include <discern/model.h>

/* Returns true if a weight is in the range DN_MIN_WEIGHT … DN_MAX_WEIGHT. Sums of squares of such
 * weights neither overflow nor underflow. */
static inline bool dni_weight_valid(double weight) {
    return weight >= DN_MIN_WEIGHT && weight <= DN_MAX_WEIGHT;
}

/* Reads the weights from a numeric column.
 *
 *   index   [source->n_rows] NaN: the row is ignored; its weight is set to 0 and its value in the
 *           column is not checked. The index of a row with weight 0 is set to NaN
 *   weight  [source->n_rows]
 *
 * DN_ERR_DATA (field, row): the column is not numeric; a weight is missing, or is neither 0 nor
 * from DN_MIN_WEIGHT to DN_MAX_WEIGHT; or all weights are 0. */
DN_MUST_USE dn_status dni_weights_read(const dn_table_source *source, size_t column,
                                       const dn_run *run, double *index, double *weight,
                                       dn_error *err);

/* Computes the factor by which the weights of the rows of each class are multiplied.
 *
 *   given   [n_classes] the factors of DN_CLASS_WEIGHT_GIVEN; not read otherwise
 *   index   [n_rows] class index
 *   role    [n_rows] DN_CLASS_WEIGHT_BALANCED uses the rows with DN_ROW_TRAIN
 *   weight  [n_rows]; NULL: all 1
 *   factor  [n_classes] balanced: Σ v / (n_classes · Σ v of the class), v the weights */
void dni_class_factors(dn_class_weight kind, const double *given, size_t n_classes,
                       const double *index, const uint8_t *role, const double *weight,
                       size_t n_rows, double *factor);

#endif
