/* The target column as class indexes. */
#ifndef DNI_TARGET_H
#define DNI_TARGET_H

#include "model/classes.h"
#include <discern/run.h>

/* One pass over the column: its classes, ascending, and index[source->n_rows], NaN where missing. DN_ERR_DATA (field = the column's name) with more than
 * max_classes classes or fewer than two. */
DN_MUST_USE dn_status dni_target_read(const dn_table_source *source, size_t column,
                                      size_t max_classes, const dn_run *run, double *index,
                                      dni_classes *out, dn_error *err);

/* index[source->n_rows] of a column whose classes are known. DN_ERR_DATA: another type, or a class that is not known (row = the first). */
DN_MUST_USE dn_status dni_target_match(const dn_table_source *source, size_t column,
                                       const dni_classes *classes, const dn_run *run, double *index,
                                       dn_error *err);

#endif
