/* Random splits that keep the rows of a group together. */
#ifndef DNI_SPLIT_GROUPS_H
#define DNI_SPLIT_GROUPS_H

#include "task/split.h"

/* The rows to split. Every class keeps a training row: a group is not held out if its rows and those
 * of the groups that are held out with it are all rows of a class. */
typedef struct dni_grouped {
    const double *stratum; /* [n_rows] class index; NaN: the row is ignored */
    const uint32_t *group; /* [n_rows] from dni_row_groups_read */
    size_t n_rows, n_strata, n_groups;
} dni_grouped;

/* Assigns a role to each row, as dni_split_holdout. Groups are visited in random order. A group is
 * held out if this brings the shares of held-out rows of the classes, and of all rows, nearer to
 * `holdout` (least squares). If this holds for no group, one group is held out. */
DN_MUST_USE dn_status dni_split_groups_holdout(const dni_grouped *rows, double holdout,
                                               const dn_run *run, uint8_t *role, dni_split *out,
                                               dn_error *err);

/* Assigns a fold to each row, as dni_split_folds. Groups are assigned in descending order of size,
 * each to the fold in which the shares of its classes, and of all rows, are smallest. Groups of
 * equal size are in random order.
 *
 *   stream    random stream of the run's seed
 *   out_held  receives the number of groups that are held out by a fold. If it is less than
 *             n_folds, some folds are empty
 *
 * Cost: n_rows · n_folds. */
DN_MUST_USE dn_status dni_split_groups_folds(const dni_grouped *rows, size_t n_folds,
                                             uint64_t stream, const dn_run *run, uint16_t *fold,
                                             size_t *out_held, dn_error *err);

/* Returns the bytes of working memory. */
double dni_split_groups_memory(size_t n_rows, size_t n_strata, size_t n_folds);

#endif
