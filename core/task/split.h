/* Stratified random splits of the training rows: a validation set, or folds. */
#ifndef DNI_SPLIT_H
#define DNI_SPLIT_H

#include <discern/encoder.h>
#include <discern/run.h>

typedef struct dni_split {
    size_t n_train, n_validation, n_skipped; /* number of rows of each role */
} dni_split;

/* Assigns a role to each row.
 *
 *   target   [n_rows] class index; NaN: the row gets DN_ROW_SKIP
 *   holdout  fraction of the rows that get DN_ROW_VALIDATE, rounded to the nearest row. The rows
 *            are allotted to the classes by largest remainder, so that the number of rows of a
 *            class differs from its share by less than one. The other rows get DN_ROW_TRAIN. Every
 *            class keeps at least one training row
 *   role     [n_rows]
 *
 * The result depends only on target, holdout and run->seed. */
DN_MUST_USE dn_status dni_split_holdout(const double *target, size_t n_rows, size_t n_classes,
                                        double holdout, const dn_run *run, uint8_t *role,
                                        dni_split *out, dn_error *err);

/* Assigns a fold to each row: fold[i] = 0 ... n_folds - 1, n_folds < UINT16_MAX. The row of a class
 * with one row gets n_folds, which means that no fold holds it out: every class then has rows
 * outside of each fold.
 *
 * The rows of each class are shuffled and assigned to the folds in turn, one class after the
 * other. The numbers of rows of two folds differ by at most one, in each class and in total. Rows
 * whose target is NaN get n_folds. The result depends only on target, n_folds, run->seed and
 * `stream`, a random stream of the seed. Working memory: 8 bytes per row. */
DN_MUST_USE dn_status dni_split_folds(const double *target, size_t n_rows, size_t n_classes,
                                      size_t n_folds, uint64_t stream, const dn_run *run,
                                      uint16_t *fold, dn_error *err);

/* Returns the peak memory in bytes: the array `fold` of dni_split_folds, and the greater of the
 * working memory of dni_split_folds and `later`. later: bytes that the caller allocates
 * afterwards. */
double dni_split_folds_memory(size_t n_rows, double later);

#endif
