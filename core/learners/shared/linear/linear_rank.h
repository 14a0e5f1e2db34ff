/* The rank rule of the linear methods. All methods decide from the eigenvalues of the correlation
 * matrix of the columns, so that the weights of a table are unique for all of them or for none.
 * Constant columns are left out of the rule: their weight is 0. */
#ifndef DNI_LINEAR_RANK_H
#define DNI_LINEAR_RANK_H

#include "learners/shared/linear/linear_problem.h"

/* An eigenvalue of the correlation matrix up to this times the largest eigenvalue counts as 0: for
 * two columns with correlation r, if 1 − |r| <= 2e-13. The rounding errors of the eigenvalues are
 * some 1e-15 of the largest. */
#define DNI_RANK_SHARE 1e-13
/* Maximum width (columns and intercept) of a correlation matrix that is decomposed. */
#define DNI_RANK_MAX_WIDTH 2049

/* Computes orthonormal combinations of the standardised columns that are 0 in every row, and the
 * unit vectors of the constant columns.
 *
 *   problem   set up with DNI_LINEAR_STANDARDISE and DNI_LINEAR_GRAM; width <= DNI_RANK_MAX_WIDTH
 *   moments   of its columns
 *   out_null  [*out_n × n_cols]; to be released with dn_run_free. NULL if *out_n is 0
 *
 * Errors: DN_ERR_NUMERIC if the combinations could not be computed; those of dni_symmetric_null.
 * Cost: one pass of O(n d²) operations, and O(d³). */
DN_MUST_USE dn_status dni_linear_null_space(dni_linear_problem *problem, const dni_moments *moments,
                                            size_t *out_n, double **out_null, dn_error *err);
/* Upper bound of the bytes that dni_linear_null_space allocates. Half of it is an upper bound of
 * the bytes of *out_null. */
double dni_linear_null_space_bytes(size_t width);
/* Replaces combinations of standardised columns, null [n × d], by orthonormal combinations of
 * columns that are 0 in every row, up to a constant.
 *
 *   scale  [d] divisors of the standardised columns; the 0 of a constant column counts as 1
 *
 * The combinations of groups of columns that do not depend on each other are separated first,
 * because rounding errors would otherwise mix groups of very different scales.
 *
 * Errors: those of dn_run_stop. Cost: O(3 n² d). */
DN_MUST_USE dn_status dni_linear_raw_null(const dn_run *run, double *null, size_t n, size_t d,
                                          const double *scale, dn_error *err);
/* marked [d] ← the columns that depend on others: those that are not constant and have a nonzero
 * entry in a combination. */
void dni_linear_mark_dependent(const double *null, size_t n_null, const dni_moments *moments,
                               size_t d, bool *marked);

#endif
