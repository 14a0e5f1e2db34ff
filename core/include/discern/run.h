/* Execution context of a computation.
 *
 * The library creates no threads, reads no clock and has no global state. A caller passes a dn_run
 * to every long computation. It provides the random seed, working memory, cancellation, progress
 * reports and parallel execution. dn_run_default() returns a context without limits that computes
 * on the calling thread.
 *
 * Terms
 *   row     one row of the training table, encoded as a feature vector
 *   block   DN_BLOCK_ROWS consecutive rows; the last block may be shorter. Block borders depend on
 *           row numbers only, so that results do not depend on files, memory or threads
 *   piece   consecutive rows of one block of wide dense rows (rows.h). Functions that receive a
 *           block receive its pieces one after the other
 *   slot    number of a worker thread, 0 ... n_slots - 1; it selects the workspace of the thread */
#ifndef DISCERN_RUN_H
#define DISCERN_RUN_H

#include <discern/api.h>
#include <discern/rows.h>
#include <discern/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

DN_BEGIN_DECLS

/* Source of working memory. All functions may be called from any worker thread. */
typedef struct dn_allocator {
    /* Returns `size` > 0 uninitialised bytes, aligned for any type, or NULL if memory is exhausted
     * or the budget would be exceeded. */
    void *(*allocate)(void *ctx, size_t size);

    /* Releases memory returned by `allocate`. NULL is allowed. */
    void (*release)(void *ctx, void *memory);

    /* Charges `size` bytes that were not allocated by `allocate` but belong to this run, such as
     * support vectors that will become part of the model. Returns false, and charges nothing, if
     * the budget would be exceeded. NULL: such memory is not charged. */
    bool (*charge)(void *ctx, size_t size);

    /* Reverses a charge. NULL if and only if `charge` is NULL. */
    void (*discharge)(void *ctx, size_t size);

    void *ctx;     /* passed to every function above */
    bool budgeted; /* true: a refused allocation is reported as DN_ERR_BUDGET; false: as
                    * DN_ERR_MEMORY */
} dn_allocator;

/* A progress report of a running training. */
typedef struct dn_progress {
    size_t fold;      /* fold of a cross-validation, from 1; 0: the fit of the model itself */
    size_t iteration; /* completed iterations */
    bool start;       /* reports of iteration 0: true: the start of a fit, with its loss; false:
                       * work that precedes iteration 1 */
    size_t max_iterations; /* 0: unknown */
    double fraction;       /* estimated fraction of the work that is done, 0 ... 1; never
                            * decreases */
    double loss;           /* current value of the minimised objective, including the penalty; NaN:
                            * unknown */
    double gradient_norm;  /* Euclidean norm of the gradient of the problem in raw features; NaN:
                            * unknown */
    double train_error;    /* fraction of misclassified training rows; NaN: not computed */

    /* w: current weights in the raw feature space, [n_scores x n_features] row-major. w0:
     * intercepts, [n_scores]. Set only in reports of iterations listed in dn_run.snapshots;
     * otherwise NULL. */
    const double *w;
    const double *w0;
    size_t n_scores, n_features;

    /* Reports of updates (dn_run.updates): the pass of the update, from 1, and the row of the table
     * at which the weights changed, from 0; SIZE_MAX: several rows. pass 0: a report of an
     * iteration. */
    size_t pass, row;

    /* The condition number of the Hessian with which the step of this iteration was computed;
     * INFINITY: singular; 0: not computed. */
    double condition;
} dn_progress;

/* Adds the contribution of one block to `out`.
 *
 * Must be pure: it may read `arg` and the block, and write only to out[0 ... n_out - 1] and to the
 * workspace of its slot, whose contents must not be used after the call. It may run in another
 * thread or in another process.
 *
 *   arg    the caller's argument, shared by all calls
 *   block  a block or a piece of a block; valid during the call
 *   slot   the slot of the worker thread
 *   out    [n_out]; zeroed before the first piece of a block */
typedef dn_status (*dn_sum_fn)(
    const void *arg, const dn_block *block, size_t slot, double *out, dn_error *err);

/* A sum over blocks. */
typedef struct dn_sum {
    dn_sum_fn fn;
    const void *arg; /* passed to fn; NULL is allowed */
    size_t arg_size; /* number of bytes of *arg, without memory to which *arg points; dn_run_sum
                      * checks that the calls of fn do not change the first 1,024 of them. 0: no
                      * check */
    size_t n_out;    /* number of elements of the sum; may be 0 */
} dn_sum;

/* Processes one block for its side effect on the memory of this process, for example to store the
 * score of each row. Different blocks are processed concurrently: two calls must not write to the
 * same location, except to the workspace of their slot.
 *
 *   arg, block, slot  as in dn_sum_fn */
typedef dn_status (*dn_each_fn)(void *arg, const dn_block *block, size_t slot, dn_error *err);

/* ---- one training by a group of processes (ranks) ---- */
/* A group of processes.
 *
 * Every rank of a group makes the same call of dn_train, with the same request, the same table and
 * a run that differs in `group` only, and gets the same model, whose bytes are those that one
 * process computes. The ranks differ in the rows that they process: the blocks of the training rows
 * are divided into aligned ranges of 2^level blocks, and every rank owns consecutive ranges. It
 * keeps the encoded rows of these blocks only.
 *
 *   sums over blocks   A rank adds the vectors of its blocks pairwise, as far as they are nodes of
 *                      the tree of additions of one process (dn_pairwise). The ranks exchange the
 *                      vectors of these nodes, and every element is added in the order of one
 *                      process.
 *   extremes, levels   Minima, maxima and sets of categories of the encoder are merged. They do not
 *                      depend on the order.
 *   scores             A rank scores its own rows. Scores and classes of a block are sent to all
 *                      ranks, which add them to their metrics in the order of the rows.
 *   everything else    Target, weights, groups, the division into training and validation rows,
 *                      validation tables, vocabularies and solvers: every rank reads and computes
 *                      the same. Encoded rows of other ranks that this needs are encoded again.
 *
 * The library calls the two functions below on the thread that called dn_train only, and on all
 * ranks in the same order. Before data are exchanged the ranks compare what they are about to do
 * and how their part ended. If one rank has failed (no memory, cancelled, out of time, damaged
 * data), all ranks end with its error. A rank that is ended by dn_run.stop is noticed by the
 * others at their next exchange, at the latest when they have processed their blocks.
 *
 * dn_train refuses methods whose fit is not made of sums over blocks (dn_params_alone). */
#define DN_MAX_RANKS 1024
typedef struct dn_group dn_group;
struct dn_group {
    size_t struct_size;   /* sizeof, or 0: see api.h */
    size_t rank, n_ranks; /* this process is number `rank` of 1 <= n_ranks <= DN_MAX_RANKS */

    /* Sends size[rank] bytes to all ranks, and receives size[r] bytes of every rank r into `all`,
     * one after the other. `size` [n_ranks] is the same on all ranks. `mine` is either outside
     * `all`, or the place in `all` that receives the bytes of this rank: the bytes then stay as
     * they are (MPI_IN_PLACE). Returns false if the ranks are no longer connected. */
    bool (*gather)(const dn_group *group, const void *mine, const size_t *size, void *all);

    /* Sends send_size[r] bytes to every rank r, one after the other from `send` on, and receives
     * receive_size[r] bytes of every rank r into `receive`, one after the other. `send` and
     * `receive` do not overlap. Returns false if the ranks are no longer connected. */
    bool (*exchange)(const dn_group *group,
                     const void *send,
                     const size_t *send_size,
                     void *receive,
                     const size_t *receive_size);

    void *ctx; /* not used by the library */

    /* Set by the library, initially {0}: the ranks are not in step or not connected, and nothing
     * more is exchanged; they are not connected, so others may wait for this rank; exchanges so
     * far, and bytes that this rank sent in them, counted once for all receivers of a gather. */
    bool broken, disconnected;
    uint64_t n_exchanges, n_bytes;
};

/* ---- the run ---- */
typedef struct dn_run dn_run;
struct dn_run {
    size_t struct_size; /* sizeof, or 0: see api.h */
    uint64_t seed;
    const dn_allocator *allocator; /* NULL: malloc and free, without a budget */
    size_t n_slots;                /* number of worker threads, >= 1 */

    /* Sums sum->fn over all blocks of `rows` into out[0 ... n_out - 1].
     *
     * The vectors of the blocks are added pairwise in the order of the block number (see
     * dn_pairwise), so that the result is bitwise equal for any number of threads. Polls `stop`
     * before each piece. NULL: the library's implementation, which runs on the threads of
     * `each`. */
    dn_status (*sum)(
        const dn_run *run, const dn_rows *rows, const dn_sum *sum, double *out, dn_error *err);

    /* Calls fn once for every block, in any order. The pieces of a block are passed in order and
     * with the same slot. Slot 0 is the calling thread. Polls `stop` before each piece. Should
     * pass consecutive blocks to the same thread: this thread then opens fewer chunks of a table.
     * NULL: serial, in order. In a group, every rank is asked for all blocks that it needs. */
    dn_status (*each)(
        const dn_run *run, const dn_rows *rows, dn_each_fn fn, void *arg, dn_error *err);

    /* Cancellation check. Returns DN_OK to continue; DN_ERR_STOPPED or DN_ERR_TIME ends the
     * computation with this status. May be called from any worker thread.
     *
     * Called at least
     *   - before every piece of a block, and every iteration,
     *   - every 2e9 floating-point operations in dense linear algebra,
     *   - every 1e7 operations, or every row, in other code.
     * NULL: never cancelled. */
    dn_status (*stop)(const dn_run *run);

    /* Returns the seconds since the run began, used only to record times. NULL: 0. */
    double (*elapsed)(const dn_run *run);

    /* Receives one report per iteration, or per update, on the thread that started the computation.
     * NULL: no reports. */
    void (*progress)(const dn_run *run, const dn_progress *progress);

    /* [n_snapshots] ascending numbers of the iterations whose reports include the weights. */
    const size_t *snapshots;
    size_t n_snapshots;

    void *ctx; /* not used by the library */

    /* true: a method that updates the weights after single rows reports every update. Each report
     * costs a pass over the rows. Reports and `snapshots` are then numbered by update, not by
     * iteration. No effect on methods that update the weights once in an iteration. */
    bool updates;

    /* The processes that make the same training together; NULL: this process alone. With
     * a group `sum` must be NULL. */
    dn_group *group;
};

/* Initialises *run as a run without limits: seed 1, one slot, malloc, no callbacks.
 *
 *   struct_size  sizeof *run */
void dn_run_init(dn_run *run, size_t struct_size);
/* Returns a run initialised by dn_run_init. Inline, because sizeof dn_run depends on the caller's
 * version of the headers. */
static inline dn_run dn_run_default(void) {
    dn_run run;
    dn_run_init(&run, sizeof run);
    return run;
}

/* Sets *first and *end to the blocks first ... end - 1 that a rank owns, of n_blocks. Rank r has
 * none if first == end, which happens with more ranks than blocks. */
void dn_group_blocks(
    size_t n_ranks, size_t rank, size_t n_blocks, size_t *out_first, size_t *out_end);

/* ---- the functions of a run; a function that is NULL has its default; `run` may be NULL ---- */
/* Calls run->sum. DN_ERR_ARGUMENT: the calls of sum->fn changed one of the first sum->arg_size
 * bytes of *sum->arg, of which at most 1,024 are checked. */
DN_MUST_USE dn_status
dn_run_sum(const dn_run *run, const dn_rows *rows, const dn_sum *sum, double *out, dn_error *err);
DN_MUST_USE dn_status
dn_run_each(const dn_run *run, const dn_rows *rows, dn_each_fn fn, void *arg, dn_error *err);
DN_MUST_USE dn_status dn_run_stop(const dn_run *run, dn_error *err);
double dn_run_elapsed(const dn_run *run);
/* Returns true if the report of this iteration must include the weights. */
bool dn_run_wants_snapshot(const dn_run *run, size_t iteration);

/* Allocates count * size bytes of zeroed working memory. Freed by dn_run_free.
 *
 * Polls `stop` first if count * size is 32 MiB or more, because the operating system takes time to
 * provide so much memory. DN_ERR_BUDGET or DN_ERR_MEMORY if the memory is refused or count * size
 * overflows; the message contains `what`, which names the memory ("the distances"), and the number
 * of bytes. */
DN_MUST_USE dn_status dn_run_alloc(
    const dn_run *run, size_t count, size_t size, const char *what, void **out, dn_error *err);
void dn_run_free(const dn_run *run, void *memory); /* NULL is allowed */

/* Charges bytes that the caller is about to allocate without dn_run_alloc (see
 * dn_allocator.charge). Errors: those of dn_run_alloc. */
DN_MUST_USE dn_status dn_run_charge(const dn_run *run,
                                    size_t bytes,
                                    const char *what,
                                    dn_error *err);
void dn_run_discharge(const dn_run *run, size_t bytes);

/* ---- for implementations of dn_run.sum and dn_run.each ---- */
/* Calls sum->fn for the pieces of block i in order, with the same `out`, which the caller has set
 * to 0. Polls `stop` before each piece. */
DN_MUST_USE dn_status dn_run_sum_block(const dn_run *run,
                                       const dn_rows *rows,
                                       size_t i,
                                       size_t slot,
                                       const dn_sum *sum,
                                       double *out,
                                       dn_error *err);
/* Calls fn for the pieces of block i in order. Polls `stop` before each piece. */
DN_MUST_USE dn_status dn_run_each_block(const dn_run *run,
                                        const dn_rows *rows,
                                        size_t i,
                                        size_t slot,
                                        dn_each_fn fn,
                                        void *arg,
                                        dn_error *err);

/* Returns the level of the ranges into which the blocks are divided: each range has 2^level blocks
 * and begins at a multiple of 2^level. A slot gets about four ranges, to balance the load; with
 * large n_out one range, to save memory. n_blocks >= 1. */
unsigned dn_run_sum_level(size_t n_blocks, size_t n_slots, size_t n_out);

/* Returns the bytes of working memory for a sum of n_out numbers over n_rows rows: one vector for
 * each range, if there is more than one range, and a dn_pairwise for each thread. Included in
 * dn_algorithm.memory and dn_train_memory. */
double dn_run_sum_memory(size_t n_rows, size_t n_slots, double n_out);

/* ---- pairwise summation ---- */
/* Pairwise summation of vectors: defines the order in which partial sums are added (a binary
 * counter).
 *
 * Leaves 0, 1, 2, ... are pushed in order. Two vectors of the same level are merged immediately;
 * the vectors that remain at the end are merged from the last to the first. A vector of level l is
 * the sum of 2^l blocks. A parallel sum computes aligned ranges of 2^l blocks on any thread, each
 * with its own dn_pairwise, and pushes the totals of the ranges at level l: the additions are the
 * same as in a serial sum. */
#define DN_PAIRWISE_LEVELS 48
typedef struct dn_pairwise {
    size_t n;                           /* length of a vector */
    double *partials;                   /* [dn_pairwise_capacity] memory of the caller */
    size_t depth;                       /* number of vectors on the stack */
    unsigned level[DN_PAIRWISE_LEVELS]; /* of each vector on the stack, strictly descending */
} dn_pairwise;

/* Returns the number of doubles needed to sum n_leaves vectors of length n; SIZE_MAX on
 * overflow. */
size_t dn_pairwise_capacity(size_t n_leaves, size_t n);
void dn_pairwise_init(dn_pairwise *sum, size_t n, double *partials);
/* Returns a zeroed vector for the next leaf; valid until the next dn_pairwise_push. */
double *dn_pairwise_next(dn_pairwise *sum);
/* Pushes the vector of dn_pairwise_next, which is the sum of 2^level blocks, and merges vectors of
 * equal levels. */
void dn_pairwise_push(dn_pairwise *sum, unsigned level);
/* Writes the total to out[n]; zeros if nothing was pushed. */
void dn_pairwise_total(dn_pairwise *sum, double *out);

DN_END_DECLS

#endif
