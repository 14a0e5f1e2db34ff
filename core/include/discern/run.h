/* What a computation gets from its caller: seed, stop, progress, time, memory and parallel sums.
 *
 * The library creates no thread, reads no clock and has no globals: everything of that kind comes in through one dn_run. */
#ifndef DISCERN_RUN_H
#define DISCERN_RUN_H

#include <discern/api.h>
#include <discern/rows.h>
#include <discern/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

DN_BEGIN_DECLS

/* Where working memory comes from. Functions may be called from any thread that the run's `sum` uses. */
typedef struct dn_allocator {
    void *(*allocate)(
        void *ctx,
        size_t
            size); /* aligned for any type, uninitialised; NULL: no memory, or over the budget. size > 0 */
    void (*release)(void *ctx, void *memory); /* NULL is allowed */
    void *ctx;
    bool budgeted; /* a refusal is reported as DN_ERR_BUDGET instead of DN_ERR_MEMORY */
    /* Counts memory that does not come from here but belongs to the run's work: a model's, which outlives it. false: over the budget. Then: it is gone, or a result that is the caller's. From any
     * thread. NULL, both of them: such memory is not counted. */
    bool (*hold)(void *ctx, size_t size);
    void (*let_go)(void *ctx, size_t size);
} dn_allocator;

/* One report of a running training. */
typedef struct dn_progress {
    size_t
        fold; /* of a cross-validation, counted from 1, whose fit this is; 0: the model's own. History is the model's own alone */
    size_t iteration; /* of max_iterations, counted from 1; 0 before the first is done */
    size_t max_iterations;
    double fraction;      /* 0 … 1, an estimate that never decreases */
    double loss;          /* the objective minimised, penalty included; NaN when unknown */
    double gradient_norm; /* Euclidean, of the problem as stated; NaN when the method has none */
    double train_error;   /* share of training rows misclassified; NaN when not computed */
    const double *
        w; /* the present weights in the raw feature space, [n_scores × n_features] row-major, only in a snapshot; else NULL */
    const double *w0; /* [n_scores], with w */
    size_t n_scores, n_features;
} dn_progress;

/* A function from one block, or a piece of one, to a vector that is added up: adds its contribution to `out` (n_out doubles, zeroed by the caller before a block's first piece).
 * `slot` tells threads apart (0 … n_slots - 1), so that arg can hold a workspace for each. Called from several threads at once. */
typedef dn_status (*dn_block_fn)(void *arg, const dn_block *block, size_t slot, double *out,
                                 dn_error *err);

typedef struct dn_run dn_run;
struct dn_run {
    uint64_t seed;
    const dn_allocator *allocator; /* NULL: malloc and free, no budget */
    size_t n_slots;                /* how many threads `sum` may use at once; at least 1 */

    /* Calls fn for every block of rows (dn_run_sum_block: its pieces in order, with one `out`) and writes to out[n_out] the sum over the blocks, added pairwise in the order of the block number as
     * dn_pairwise does: the same bytes whatever the number of threads. Polls `stop` between blocks. NULL: the library's serial one. */
    dn_status (*sum)(const dn_run *run, const dn_rows *rows, dn_block_fn fn, void *arg,
                     size_t n_out, double *out, dn_error *err);

    /* Polled at least once a block and once an iteration, in long matrix computations every 2 * 10^9 operations, in other work on wide rows every 10^7 or every row, from any thread: DN_OK goes on, DN_ERR_STOPPED or DN_ERR_TIME ends the training
     * with that code. NULL: never stops. */
    dn_status (*stop)(const dn_run *run);

    /* Seconds since the run began; used for history only. NULL: 0. */
    double (*elapsed)(const dn_run *run);

    /* Told once an iteration, on the thread that called. NULL: nobody listens. */
    void (*progress)(const dn_run *run, const dn_progress *progress);

    /* Iterations (ascending) at which progress->w is wanted: the history's snapshots. */
    const size_t *snapshots;
    size_t n_snapshots;

    void *ctx; /* the caller's */
};

/* A run with no limits: seed 1, one slot, malloc, silent. */
dn_run dn_run_default(void);

/* The calls through a run with its NULLs resolved. */
DN_MUST_USE dn_status dn_run_sum(const dn_run *run, const dn_rows *rows, dn_block_fn fn, void *arg,
                                 size_t n_out, double *out, dn_error *err);
DN_MUST_USE dn_status dn_run_stop(const dn_run *run, dn_error *err);
/* One block's vector, for whoever implements `sum`: fn of its pieces. Polls stop before each. */
DN_MUST_USE dn_status dn_run_sum_block(const dn_run *run, const dn_rows *rows, size_t i,
                                       size_t slot, dn_block_fn fn, void *arg, double *out,
                                       dn_error *err);
double dn_run_elapsed(const dn_run *run);
/* Whether the progress of this iteration is to come with weights. */
bool dn_run_wants_snapshot(const dn_run *run, size_t iteration);

/* count × size bytes of working memory; overflow, refusal and exhaustion are errors that name `what` and the bytes. Zeroed. From 32 MiB on the run's stop is looked at
 * first: several such arrays one after the other take their time. */
DN_MUST_USE dn_status dn_run_alloc(const dn_run *run, size_t count, size_t size, const char *what,
                                   void **out, dn_error *err);
void dn_run_free(const dn_run *run, void *memory);
/* Counts bytes that the caller is about to take from elsewhere (dn_allocator.hold): a refusal is an error as of dn_run_alloc. */
DN_MUST_USE dn_status dn_run_hold(const dn_run *run, size_t bytes, const char *what, dn_error *err);
void dn_run_let_go(const dn_run *run, size_t bytes);

/* The one order in which partial sums are added: a binary counter. Leaves 0, 1, 2 … are pushed in order; equal levels are merged at once,
 * what remains is merged from the last to the first at the end. Level l of leaf i covers blocks [i·2^l, (i+1)·2^l). A parallel sum computes
 * aligned ranges of 2^l blocks on any thread, each with a dn_pairwise of its own, and pushes their totals at level l: the additions are the same ones.
 *
 * Memory: `partials` holds DN_PAIRWISE_LEVELS vectors of n doubles lazily: the caller gives room for dn_pairwise_room(n_leaves, n) doubles. */
#define DN_PAIRWISE_LEVELS 48
typedef struct dn_pairwise {
    size_t n;                           /* length of a vector */
    double *partials;                   /* the caller's memory, dn_pairwise_room doubles */
    size_t depth;                       /* vectors on the stack */
    unsigned level[DN_PAIRWISE_LEVELS]; /* of each vector on the stack, strictly descending */
} dn_pairwise;

/* How the blocks are to be shared: ranges of 2^level blocks, a few for each of n_slots threads so that none waits long, or of wide vectors one, for memory. */
unsigned dn_run_sum_level(size_t n_blocks, size_t n_slots, size_t n_out);
/* Bytes of working memory that a sum of n_out numbers over n_rows rows takes when it is shared so: a total of each range (none when there is but one) and a
 * dn_pairwise for each thread. What dn_algorithm.memory and dn_train_memory reckon with. */
double dn_run_sum_memory(size_t n_rows, size_t n_slots, double n_out);

/* Doubles that summing n_leaves vectors of n needs; SIZE_MAX on overflow. */
size_t dn_pairwise_room(size_t n_leaves, size_t n);
void dn_pairwise_init(dn_pairwise *sum, size_t n, double *partials);
/* The zeroed vector that the next leaf adds its contribution to; valid until dn_pairwise_push. */
double *dn_pairwise_next(dn_pairwise *sum);
/* Says that the vector of dn_pairwise_next is complete and stands for 2^level blocks; merges equal levels. */
void dn_pairwise_push(dn_pairwise *sum, unsigned level);
/* Writes the total to out[n] (zeros when nothing was pushed). */
void dn_pairwise_total(dn_pairwise *sum, double *out);

DN_END_DECLS

#endif
