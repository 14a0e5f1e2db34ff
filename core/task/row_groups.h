/* Groups of rows: the rows with the same value of a column. */
#ifndef DNI_ROW_GROUPS_H
#define DNI_ROW_GROUPS_H

#include <discern/run.h>
#include <discern/table.h>

/* Numbers the values of a column in the order of their first rows. The column may have any type
 * except DN_SPARSE; −0 equals 0.
 *
 *   stratum  [n_rows] NaN: the row is ignored, and its value may be missing
 *   group    [n_rows] receives 0 … *out_n − 1; 0 for rows that are ignored
 *
 * DN_ERR_DATA: the column is sparse, or the value of a row is missing. */
DN_MUST_USE dn_status dni_row_groups_read(const dn_table_source *source, size_t column,
                                          const double *stratum, const dn_run *run, uint32_t *group,
                                          size_t *out_n, dn_error *err);

#endif
