/* Splits that a column determines: rows in the order of its values, or marks of the training
 * rows. */
#ifndef DNI_SPLIT_COLUMN_H
#define DNI_SPLIT_COLUMN_H

#include "task/labels.h"

/* Holds out the last rows in the order of a column: the fraction `holdout` of the rows, rounded so
 * that rows with equal values stay together. Sets labels->role.
 *
 * DN_ERR_DATA: the column is neither numeric nor a datetime, the value of a row is missing, all
 * values are equal, or a class has no training row. */
DN_MUST_USE dn_status dni_split_order_holdout(const dn_table_source *source, size_t column,
                                              double holdout, const dn_run *run, dni_labels *labels,
                                              dni_split *out, dn_error *err);

/* Divides the rows, in the order of a column, into n_folds + 1 blocks of sizes as equal as rows
 * with equal values allow, which are in one block. fold[i] = f for the rows of block f + 1; n_folds
 * for those of block 0 and for ignored rows. The rows of fold f are predicted by a fit to the
 * blocks before them.
 *
 * DN_ERR_DATA: as dni_split_order_holdout; there are fewer values than blocks; or a class has no
 * row in block 0. */
DN_MUST_USE dn_status dni_split_order_folds(const dn_table_source *source, size_t column,
                                            size_t n_folds, const dn_run *run,
                                            const dni_labels *labels, uint16_t *fold,
                                            dn_error *err);

/* Sets labels->role by a column that marks the training rows: true, 1, "train" or "training"; the
 * validation rows have false, 0, "test", "valid", "validation" or "holdout". Texts may have upper
 * case.
 *
 * DN_ERR_DATA: another or a missing value, no row of one kind, or a class has no training row. */
DN_MUST_USE dn_status dni_split_marks(const dn_table_source *source, size_t column,
                                      const dn_run *run, dni_labels *labels, dni_split *out,
                                      dn_error *err);

/* Returns the bytes of working memory. */
double dni_split_order_memory(size_t n_rows);

#endif
