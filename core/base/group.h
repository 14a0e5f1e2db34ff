/* The exchanges of a group of ranks (dn_group). All functions that exchange do so on every
 * rank with the same arguments, but for the data of the rank and its status. Without a group, or
 * with one rank, they return `status` and exchange nothing.
 *
 *   status  how the work of this rank before the exchange ended. If a rank has failed, all ranks
 *           return the status and error of the first such rank */
#ifndef DNI_GROUP_H
#define DNI_GROUP_H

#include <discern/run.h>

/* Returns the group of a run; NULL: one process. */
dn_group *dni_group_of(const dn_run *run);
/* Returns a copy of the run that computes alone. */
dn_run dni_group_left(const dn_run *run);
/* The blocks of `rows` that this process owns; all without a group. */
void dni_group_own(const dn_run *run, size_t n_blocks, size_t *out_first, size_t *out_end);

/* Returns whether nothing more can be exchanged: a rank has ended or is not in step. */
bool dni_group_ended(const dn_run *run);

/* Compares how the ranks' work ended. */
DN_MUST_USE dn_status dni_group_agree(const dn_run *run, dn_status status, dn_error *err);
/* The last exchange of a computation. A rank that returns from the computation early, by an error
 * outside of an exchange, reaches it while the others are at another exchange: they then get its
 * error. */
DN_MUST_USE dn_status dni_group_end(const dn_run *run, dn_status status, dn_error *err);

/* Adds the totals of ranges of blocks of all ranks in the order of one process. The run must have
 * a group.
 *
 *   totals  [own ranges × n_out] changed
 *   out     [n_out] the sum over all blocks, the same on all ranks */
DN_MUST_USE dn_status dni_group_sum(const dn_run *run, dn_status status, size_t n_blocks,
                                    double *totals, size_t n_out, double *out, dn_error *err);
/* The ranges of this process: numbers first ... end - 1, of 2^level blocks. */
void dni_group_ranges(const dn_group *group, size_t n_blocks, unsigned *out_level,
                      size_t *out_first, size_t *out_end);

/* Replaces values[n] by the minima, the maxima, or the bitwise ors over all ranks. */
DN_MUST_USE dn_status dni_group_least(const dn_run *run, dn_status status, double *values, size_t n,
                                      dn_error *err);
DN_MUST_USE dn_status dni_group_most(const dn_run *run, dn_status status, double *values, size_t n,
                                     dn_error *err);
DN_MUST_USE dn_status dni_group_or(const dn_run *run, dn_status status, unsigned char *bytes,
                                   size_t n, dn_error *err);

/* Completes an array over rows, of which this rank has set those of its blocks.
 *
 *   rows  [n_rows × row_size] */
DN_MUST_USE dn_status dni_group_rows(const dn_run *run, dn_status status, size_t n_rows, void *rows,
                                     size_t row_size, dn_error *err);
/* Sends n bytes of rank `from` to all ranks. */
DN_MUST_USE dn_status dni_group_send(const dn_run *run, dn_status status, size_t from, void *bytes,
                                     size_t n, dn_error *err);
/* Sends size bytes of every rank to all ranks.
 *
 *   out       the bytes of all ranks one after the other; freed with dn_run_free
 *   out_size  their number */
DN_MUST_USE dn_status dni_group_join(const dn_run *run, dn_status status, const void *mine,
                                     size_t size, void **out, size_t *out_size, dn_error *err);

#endif
