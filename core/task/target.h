/* Reads a target column as class indices. */
#ifndef DNI_TARGET_H
#define DNI_TARGET_H

#include "model/classes.h"
#include <discern/run.h>

/* Reads the classes of the column in one pass.
 *
 *   index  [source->n_rows] class index of each row; NaN: the value is missing
 *   out    the classes in ascending order
 *
 * DN_ERR_DATA (field = name of the column): the column has more than max_classes classes or fewer
 * than two, or class names of more than DN_MAX_LEVEL_BYTES bytes in total. */
DN_MUST_USE dn_status dni_target_read(const dn_table_source *source, size_t column,
                                      size_t max_classes, const dn_run *run, double *index,
                                      dni_classes *out, dn_error *err);

/* Reads the class index of each row of a column whose classes are known.
 *
 *   index  [source->n_rows]; NaN: the value is missing
 *
 * DN_ERR_DATA: the column has another type, or a value that is not one of the classes (row = the
 * first such row). */
DN_MUST_USE dn_status dni_target_match(const dn_table_source *source, size_t column,
                                       const dni_classes *classes, const dn_run *run, double *index,
                                       dn_error *err);

#endif
