/* Stochastic gradient descent.
 *
 * A pass visits the blocks in a seeded random order, and the rows of each piece of a block in a
 * random order, in batches: a pass over streamed rows reads each block once. After a pass the
 * objective is evaluated on all rows. The rate grows by a tenth after a pass that decreased it (the
 * "bold driver"). After any other pass the rate is halved and the iterate returns to the best
 * point. Near the minimum only the noise of the batches is left, which is proportional to the rate,
 * so that halving it ends at the minimum (Bottou, Curtis and Nocedal, SIAM Review 60, 2018, section
 * 4.2).
 *
 * With l1 the penalty is applied to a weight after each batch, but never beyond 0. u is the sum of
 * rate·(weight of the batch) since the start of the pass; q_i is the sum of the changes that the
 * penalty has made to x_i:
 *
 *   x_i > 0:   x_i ← max(0, x_i − (l1_i u + q_i))
 *   x_i < 0:   x_i ← min(0, x_i + (l1_i u − q_i))
 *
 * The penalty is cumulative: a weight that the noise of a batch moves from 0 receives the penalty
 * not yet applied, so that the zeros are those of the whole pass, not of its last batch (Tsuruoka,
 * Tsujii and Ananiadou, ACL 2009, section 3). u and q start at 0 in each pass: penalty left from
 * the first passes, with large rates, would keep a weight at 0 at the small rates of the last. With
 * an L2 penalty u and q decay like the weights.
 *
 * Over sparse rows a batch reads only the weights of its entries (lazy.h): O(entries) per pass,
 * and O(n) at its start and end. */
#include "optimize/sgd.h"
#include "base/layout.h"
#include "base/random.h"
#include "linalg/vector.h"
#include "optimize/l1/l1.h"
#include "optimize/solver.h"

#include <assert.h>
#include <math.h>
#include <string.h>

struct sgd {
    double *gradient, *best, *start; /* [n] */
    double *paid;                    /* [n] q; NULL without l1 */
    size_t *blocks;                  /* [n_blocks] the order of a pass */
    size_t *order;                   /* [DN_BLOCK_ROWS] */
    dni_random random;
};

/* State of a pass. */
struct pass {
    const dni_objective *objective;
    const dni_sgd_settings *settings;
    double rate;
    double *x;     /* [n] */
    double due;    /* u */
    dni_lazy lazy; /* the point of step_lazily */
};

struct sgd_shape {
    size_t n, n_blocks;
    bool l1;
};

static void sgd_layout(dni_layout *layout, const void *shape, void *work) {
    const struct sgd_shape *s = shape;
    struct sgd *t = work;
    t->gradient = dni_layout_doubles(layout, s->n);
    t->best = dni_layout_doubles(layout, s->n);
    t->start = dni_layout_doubles(layout, s->n);
    t->paid = s->l1 ? dni_layout_doubles(layout, s->n) : NULL;
    t->blocks = dni_layout_array(layout, s->n_blocks, sizeof *t->blocks);
    t->order = dni_layout_array(layout, DN_BLOCK_ROWS, sizeof *t->order);
}

/* With l1, which takes more. */
static double bytes(size_t n, size_t n_blocks) {
    const struct sgd_shape shape = {n, n_blocks, true};
    struct sgd scratch;
    return dni_layout_bytes(sgd_layout, &shape, &scratch);
}

/* Decays `paid` (q) like the weights, and applies the penalty. `due` is u. */
static void collect(const double *l1, double due, double decayed, double *paid, double *x,
                    size_t n) {
    for (size_t i = 0; i < n; i++) {
        double before = x[i];
        paid[i] *= decayed;
        x[i] = dni_lazy_penalised(before, l1[i] * due, paid[i]);
        paid[i] += x[i] - before;
    }
}

static dn_status step(struct pass *p, struct sgd *t, const dn_block *block, const size_t *order,
                      size_t count, dn_error *err) {
    const dni_objective *o = p->objective;
    const dni_sgd_settings *s = p->settings;
    if (s->step == NULL) {
        return s->step_lazily(o->ctx, block, order, count, p->rate, &p->lazy, err);
    }
    double weight;
    dn_status status = s->step(o->ctx, block, order, count, p->rate, p->x, &weight, err);
    if (status != DN_OK || t->paid == NULL) {
        return status;
    }
    double decayed = fmax(0, 1 - p->rate * s->decay * weight);
    p->due = p->due * decayed + p->rate * weight;
    collect(o->l1, p->due, decayed, t->paid, p->x, o->n);
    return DN_OK;
}

static dn_status visit_piece(struct pass *p, struct sgd *t, const dn_block *block, dn_error *err) {
    const size_t most = p->settings->batch_rows, n = block->x.n_rows;
    dn_status status = DN_OK;
    for (size_t r = 0; r < n; r++) {
        t->order[r] = r;
    }
    dni_random_shuffle(&t->random, t->order, n);
    for (size_t first = 0; status == DN_OK && first < n; first += most) {
        status = step(p, t, block, t->order + first, n - first < most ? n - first : most, err);
    }
    return status;
}

static dn_status visit(struct pass *p, struct sgd *t, const dn_rows *rows, const dn_run *run,
                       dn_error *err) {
    for (size_t i = 0; i < rows->n_blocks; i++) {
        for (size_t k = 0; k < dn_rows_n_pieces(rows, t->blocks[i]); k++) {
            dn_block block;
            dn_status status = dn_run_stop(run, err);
            if (status == DN_OK) {
                status = dn_rows_piece(rows, t->blocks[i], k, 0, &block, err);
            }
            if (status == DN_OK) {
                status = visit_piece(p, t, &block, err);
            }
            if (status != DN_OK) {
                return status;
            }
        }
    }
    return DN_OK;
}

static dn_status pass(const dni_objective *o, const dn_rows *rows, const dn_run *run,
                      const dni_sgd_settings *settings, double rate, struct sgd *t, double *x,
                      dn_error *err) {
    struct pass p = {.objective = o, .settings = settings, .rate = rate, .x = x};
    for (size_t i = 0; i < rows->n_blocks; i++) {
        t->blocks[i] =
            i; /* from the same order every time: a pass depends on the generator's state only */
    }
    for (size_t i = 0; t->paid != NULL && i < o->n; i++) {
        t->paid[i] = 0;
    }
    dni_random_shuffle(&t->random, t->blocks, rows->n_blocks);
    if (settings->step == NULL) {
        p.lazy = (dni_lazy){.x = t->gradient, /* free between evaluations */
                            .paid = t->paid,
                            .n_held = settings->n_held,
                            .l1 = t->paid == NULL ? 0 : dni_max_abs(o->l1, o->n),
                            .scale = 1};
        settings->lay_out(o->ctx, x, p.lazy.x);
    }
    dn_status status = visit(&p, t, rows, run, err);
    if (status == DN_OK && settings->step == NULL) {
        dni_lazy_apply_all(&p.lazy);
        settings->read_back(o->ctx, p.lazy.x, x);
    }
    return status;
}

static dn_status iterate(const dni_objective *o, const dn_rows *rows, const dn_run *run,
                         const dni_sgd_settings *settings, struct sgd *t, double *x,
                         dni_outcome *out, dn_error *err) {
    double rate = settings->rate, best = (double)INFINITY;
    for (;;) {
        double value;
        dn_status status = o->evaluate(o->ctx, run, x, &value, t->gradient, err);
        if (status != DN_OK) {
            return status;
        }
        out->evaluations++;
        value += dni_l1_value(o->l1, x, o->n);
        bool finite = isfinite(value) && dni_all_finite(t->gradient, o->n);
        if (!finite && !(out->iterations > 0 && isfinite(best))) {
            return dni_objective_not_finite(out->iterations,
                                            "inputs too large; standardise the columns", err);
        }
        if (finite) {
            for (size_t i = 0; i < o->n; i++) {
                t->start[i] = x[i] - t->start[i];
            }
            dni_iterate point = {out->iterations, x, out->iterations == 0 ? NULL : t->start, value,
                                 t->gradient};
            status = o->accepted(o->ctx, run, &point, &out->reason, err);
            out->value = value;
            if (status != DN_OK || out->reason != DN_STOP_NONE) {
                return status;
            }
        }
        if (finite && value < best) {
            memcpy(t->best, x, o->n * sizeof *x);
            if (isfinite(best)) { /* not for the start */
                rate *= 1.1;
            }
            best = value;
        } else {
            memcpy(x, t->best, o->n * sizeof *x);
            rate /= 2;
        }
        out->value = best;
        if (rate < 1e-12 * settings->rate) {
            out->reason = DN_STOP_NO_PROGRESS;
            return DN_OK;
        }
        if (out->iterations == settings->max_passes) {
            out->reason = DN_STOP_MAX_ITERATIONS;
            return DN_OK;
        }
        memcpy(t->start, x, o->n * sizeof *x);
        status = pass(o, rows, run, settings, rate, t, x, err);
        if (status != DN_OK) {
            return status;
        }
        out->iterations++;
    }
}

dn_status dni_sgd(const dni_objective *objective, const dn_rows *rows, const dn_run *run,
                  const dni_sgd_settings *settings, double *x, dni_outcome *out, dn_error *err) {
    assert(settings->batch_rows > 0 && settings->batch_rows <= DN_BLOCK_ROWS);
    const struct sgd_shape shape = {objective->n, rows->n_blocks, objective->l1 != NULL};
    struct sgd t;
    void *memory = NULL;
    dni_outcome outcome = {0};
    dn_status status =
        dni_layout_take(run, sgd_layout, &shape, &t, "the vectors of the descent", &memory, err);
    if (status == DN_OK) {
        dni_random_init(&t.random, settings->seed, 2);
        status = iterate(objective, rows, run, settings, &t, x, &outcome, err);
    }
    dn_run_free(run, memory);
    if (status == DN_OK) {
        *out = outcome;
    }
    return status;
}

static dn_status minimise(const dni_objective *objective, const dn_run *run,
                          const dni_solver_options *options, double *x, dni_outcome *out,
                          dn_error *err) {
    dni_sgd_settings settings = *options->sgd;
    settings.max_passes = options->max_iterations;
    return dni_sgd(objective, options->rows, run, &settings, x, out, err);
}

const dni_solver dni_solver_sgd = {.name = "sgd",
                                   .needs = DNI_NEEDS_BATCHES,
                                   .smooth = true,
                                   .l1 = true,
                                   .bytes = bytes,
                                   .minimise = minimise};
