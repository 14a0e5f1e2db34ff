/* Stochastic gradient descent.
 *
 * A pass visits the blocks in a seeded random order, and the rows of each piece of a block in a
 * random order, in batches: a pass over streamed rows reads each block once. With given_order it
 * visits blocks and rows in their order. After a pass the objective is evaluated on all rows.
 *
 * dni_solver_sgd_constant keeps the rate. With batches of one row and given_order it is the online
 * gradient descent of the textbooks (Bishop, PRML, eq. 3.22).
 *
 * dni_solver_sgd: if the objective has decreased, the rate grows by 10 % (the "bold driver" rule).
 * Otherwise the rate is halved and the iterate returns to the best point. Near the minimum the
 * noise of the batches is proportional to the rate, so that halving the rate converges to the
 * minimum (Bottou, Curtis and Nocedal, SIAM Review 60, 2018, section 4.2).
 *
 * With l1 the penalty is applied to a variable after each batch, but never moves it beyond 0. u is
 * the sum of rate·(weight of the batch) since the start of the pass; q_i is the sum of the changes
 * that the penalty has made to x_i:
 *
 *   x_i > 0:   x_i ← max(0, x_i − (l1_i u + q_i))
 *   x_i < 0:   x_i ← min(0, x_i + (l1_i u − q_i))
 *
 * The penalty is cumulative: a variable that becomes nonzero by the noise of a batch receives the
 * penalty that was not applied to it yet. A variable is therefore 0 because of the whole pass, not
 * because of its last batch (Tsuruoka, Tsujii and Ananiadou, ACL 2009, section 3). u and q start
 * at 0 in each pass: penalty accumulated in the first passes, at large rates, would keep a
 * variable at 0 at the small rates of the last passes. With an L2 penalty u and q decay like the
 * variables.
 *
 * With sparse rows a batch reads only the variables of its entries (lazy.h). Cost: O(entries) per
 * pass, and O(n) at the start and end of the pass. */
#include "base/random.h"
#include "linalg/vector.h"
#include "optimize/descent.h"
#include "optimize/solver.h"

#include <assert.h>
#include <math.h>
#include <string.h>

struct sgd {
    dni_descent base; /* `step` is x minus x before the pass */
    const dni_sgd_settings *settings;
    const dn_rows *rows;
    double rate;
    double best;     /* F at best_x */
    double *best_x;  /* [n] */
    double *applied; /* [n] q, the applied penalties; NULL without l1 */
    double accrued;  /* u */
    dni_lazy lazy;   /* the point that step_lazily changes during a pass */
    size_t *blocks;  /* [n_blocks] order of the blocks in a pass */
    size_t *order;   /* [DN_BLOCK_ROWS] */
    dni_random random;
};

static void sgd_layout(dni_layout *layout, const void *shape, void *work) {
    const dni_descent_shape *s = shape;
    struct sgd *t = work;
    t->base.gradient = dni_layout_doubles(layout, s->n);
    t->base.step = dni_layout_doubles(layout, s->n);
    t->best_x = dni_layout_doubles(layout, s->n);
    t->applied = s->l1 ? dni_layout_doubles(layout, s->n) : NULL;
    t->blocks = dni_layout_array(layout, s->n_units, sizeof *t->blocks);
    t->order = dni_layout_array(layout, DN_BLOCK_ROWS, sizeof *t->order);
}

/* Multiplies q (`applied`) by `decayed`, like the variables, then applies the penalty to x.
 * `accrued` is u. */
static void apply_penalty(const double *l1, double accrued, double decayed, double *applied,
                          double *x, size_t n) {
    for (size_t i = 0; i < n; i++) {
        double before = x[i];
        applied[i] *= decayed;
        x[i] = dni_lazy_penalised(before, l1[i] * accrued, applied[i]);
        applied[i] += x[i] - before;
    }
}

static dn_status visit_batch(struct sgd *t, const dn_block *block, const size_t *order,
                             size_t n_rows, dn_error *err) {
    const dni_objective *o = t->base.objective;
    const dni_sgd_settings *s = t->settings;
    if (s->step == NULL) {
        return s->step_lazily(o->ctx, block, order, n_rows, t->rate, &t->lazy, err);
    }
    double weight;
    dn_status status = s->step(o->ctx, block, order, n_rows, t->rate, t->base.x, &weight, err);
    if (status != DN_OK || t->applied == NULL) {
        return status;
    }
    double decayed = fmax(0, 1 - t->rate * s->decay * weight);
    t->accrued = t->accrued * decayed + t->rate * weight;
    apply_penalty(o->l1, t->accrued, decayed, t->applied, t->base.x, o->n);
    return DN_OK;
}

static dn_status visit_piece(struct sgd *t, const dn_block *block, dn_error *err) {
    const size_t most = t->settings->batch_rows, n = block->x.n_rows;
    dn_status status = DN_OK;
    for (size_t r = 0; r < n; r++) {
        t->order[r] = r;
    }
    if (!t->settings->given_order) {
        dni_random_shuffle(&t->random, t->order, n);
    }
    for (size_t first = 0; status == DN_OK && first < n; first += most) {
        status = visit_batch(t, block, t->order + first, n - first < most ? n - first : most, err);
    }
    return status;
}

static dn_status visit_rows(struct sgd *t, dn_error *err) {
    for (size_t i = 0; i < t->rows->n_blocks; i++) {
        for (size_t k = 0; k < dn_rows_n_pieces(t->rows, t->blocks[i]); k++) {
            dn_block block;
            dn_status status = dn_run_stop(t->base.run, err);
            if (status == DN_OK) {
                status = dn_rows_piece(t->rows, t->blocks[i], k, 0, &block, err);
            }
            if (status == DN_OK) {
                status = visit_piece(t, &block, err);
            }
            if (status != DN_OK) {
                return status;
            }
        }
    }
    return DN_OK;
}

/* Makes one pass over the rows. */
static dn_status sgd_advance(dni_descent *d, bool *moved, dn_error *err) {
    struct sgd *t = (struct sgd *)d;
    const dni_sgd_settings *s = t->settings;
    const dni_objective *o = d->objective;
    memcpy(d->step, d->x, d->n * sizeof *d->x);
    for (size_t i = 0; i < t->rows->n_blocks; i++) {
        t->blocks[i] = i; /* reset, so that the shuffle depends only on the state of the
                           * generator */
    }
    if (!s->given_order) {
        dni_random_shuffle(&t->random, t->blocks, t->rows->n_blocks);
    }
    t->accrued = 0;
    if (t->applied != NULL) {
        memset(t->applied, 0, d->n * sizeof *t->applied);
    }
    if (s->step == NULL) {
        t->lazy = (dni_lazy){.x = d->gradient, /* x of the pass is stored in `gradient`, which is
                                                * unused during a pass */
                             .applied = t->applied,
                             .n_penalised = s->n_penalised,
                             .l1 = t->applied == NULL ? 0 : dni_max_abs(o->l1, d->n),
                             .scale = 1};
        s->to_ordered(o->ctx, d->x, t->lazy.x);
    }
    dn_status status = visit_rows(t, err);
    if (status != DN_OK) {
        return status;
    }
    if (s->step == NULL) {
        dni_lazy_apply_all(&t->lazy);
        s->from_ordered(o->ctx, t->lazy.x, d->x);
    }
    for (size_t i = 0; i < d->n; i++) {
        d->step[i] = d->x[i] - d->step[i];
    }
    *moved = true;
    return DN_OK;
}

/* If the point is better than the best point, stores it and raises the rate; otherwise returns to
 * the best point and halves the rate. Returns false if the rate is too small to continue. */
static bool sgd_adjust(dni_descent *d, bool finite) {
    struct sgd *t = (struct sgd *)d;
    if (finite && d->value < t->best) {
        memcpy(t->best_x, d->x, d->n * sizeof *d->x);
        if (isfinite(t->best)) { /* false after the evaluation of the start */
            t->rate *= 1.1;
        }
        t->best = d->value;
    } else {
        memcpy(d->x, t->best_x, d->n * sizeof *d->x);
        t->rate /= 2;
    }
    d->value = t->best;
    return !(t->rate < 1e-12 * t->settings->rate);
}

static dn_status sgd_start(dni_descent *d, const dni_solver_options *options, dn_error *err) {
    struct sgd *t = (struct sgd *)d;
    (void)err;
    assert(options->sgd->batch_rows > 0 && options->sgd->batch_rows <= DN_BLOCK_ROWS);
    t->settings = options->sgd;
    t->rows = options->rows;
    t->rate = options->sgd->rate;
    t->best = (double)INFINITY;
    dni_random_init(&t->random, options->sgd->seed, DNI_STREAM_ORDER);
    return DN_OK;
}

const dni_solver dni_solver_sgd = {.name = "sgd",
                                   .needs = DNI_NEEDS_BATCHES,
                                   .smooth = true,
                                   .l1 = true,
                                   .memory = "the vectors of the descent",
                                   .state_size = sizeof(struct sgd),
                                   .layout = sgd_layout,
                                   .start = sgd_start,
                                   .advance = sgd_advance,
                                   .adjust = sgd_adjust};

const dni_solver dni_solver_sgd_constant = {
    .name = "sgd with a constant rate",
    .needs = DNI_NEEDS_BATCHES,
    .smooth = true,
    .l1 = true,
    .memory = "the vectors of the descent",
    .divergence = "a learning_rate too large, or inputs too large; standardise the columns",
    .state_size = sizeof(struct sgd),
    .layout = sgd_layout,
    .start = sgd_start,
    .advance = sgd_advance};
