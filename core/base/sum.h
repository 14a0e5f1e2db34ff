/* Sums that run on the threads of dn_run.each. */
#ifndef DNI_SUM_H
#define DNI_SUM_H

#include <discern/run.h>

/* Adds the contribution of one block to out[n_out], like dn_sum_fn. Like dn_each_fn it may have
 * side effects: it may write results of its rows to memory of this process, or update the extremes
 * of its slot's rows. */
typedef dn_status (*dni_each_sum_fn)(void *arg, const dn_block *block, size_t slot, double *out,
                                     dn_error *err);

/* Calls fn for every block as dn_run_each does, and writes the sum of the vectors to out[n_out] as
 * dn_run_sum does: the result is bitwise equal for any number of threads. For functions that need
 * a sum and side effects in one pass; for a function without side effects use dn_run_sum.
 *
 * In a group of ranks fn is called for the blocks of this rank only; the caller merges the side
 * effects (base/group.h). */
DN_MUST_USE dn_status dni_each_sum(const dn_run *run, const dn_rows *rows, dni_each_sum_fn fn,
                                   void *arg, size_t n_out, double *out, dn_error *err);

#endif
