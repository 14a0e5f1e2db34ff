/* Scores of rows that several fits with one prepared problem evaluate. The kernel values of the
 * rows and all points are computed once and kept in the problem. */
#ifndef DNI_PREPARED_SCORES_H
#define DNI_PREPARED_SCORES_H

#include <discern/algorithm.h>

/* Computes the scores of the machines of the last fit that used the problem.
 *
 *   problem   kept by the caller of the fits (dn_fit_input.prepared); NULL: there is none
 *   rows      encoded, in memory, not NULL; the same for all fits, and valid as long as the problem
 *   machines  [n] of the last fit
 *   run       its threads compute; the scores are charged to it
 *   out       [rows->n_rows × n] the scores, up to rounding those of the machines; free them with
 *             dn_run_free. NULL: there are none, and the machines score the rows. This is so for
 *             machines without support vectors, for precomputed kernels, if the kernel values would
 *             exceed the size of the cache, and if memory is refused
 *
 * Errors: those of dn_rows_block and dn_run_stop. */
DN_MUST_USE dn_status dni_prepared_scores(dn_prepared *problem, const dn_rows *rows,
                                          dn_machine *const *machines, size_t n, const dn_run *run,
                                          double **out, dn_error *err);

/* Frees the kernel values of the rows. The problem does not keep values of the same rows again.
 * Returns false if there are none. problem: may be NULL. */
bool dni_prepared_drop_scores(dn_prepared *problem);

#endif
