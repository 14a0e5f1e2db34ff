/* Adam.
 *
 *   g ← gradient of the batch;   m ← β₁m + (1 − β₁)g;   v ← β₂v + (1 − β₂)g²
 *   x ← x − η·(m/(1 − β₁ᵗ))/(√(v/(1 − β₂ᵗ)) + ε)
 *   β₁ = 0.9, β₂ = 0.999, ε = 1e-8
 *
 * Kingma and Ba, Adam: a method for stochastic optimization, ICLR 2015, algorithm 1. Each pass
 * visits all rows in a new random order. If η decreases to 0, so does the noise of the batches
 * (Bottou, Curtis and Nocedal, SIAM Review 60, 2018, section 4.2). The steps of the variables are
 * independent and run as tasks over ranges of variables. O(n) per batch plus its gradient; no
 * allocation in the loop. */
#include "optimize/adam.h"
#include "base/random.h"
#include "base/tasks.h"
#include "optimize/descent.h"

#include <assert.h>
#include <math.h>

enum { RANGE = 16384 }; /* number of variables of one task; a task takes about 0.1 ms */

static const double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;

struct adam {
    dni_descent base;
    const dni_adam_settings *settings;
    double *m, *v;         /* [n] */
    double rate;           /* η/(1 − β₁ᵗ) of the current step */
    double root;           /* 1/√(1 − β₂ᵗ) */
    double power1, power2; /* β₁ᵗ, β₂ᵗ */
    size_t *order;         /* [n_rows] */
    dni_random random;
};

static void adam_layout(dni_layout *layout, const void *shape, void *work) {
    const dni_descent_shape *s = shape;
    struct adam *t = work;
    t->base.gradient = dni_layout_doubles(layout, s->n);
    t->m = dni_layout_doubles(layout, s->n);
    t->v = dni_layout_doubles(layout, s->n);
    t->order = dni_layout_array(layout, s->n_units, sizeof *t->order);
}

/* Makes one Adam step for the variables RANGE·i … RANGE·(i + 1) − 1. */
static dn_status step_range(void *arg, size_t i, size_t slot, dn_error *err) {
    const struct adam *t = arg;
    const size_t first = i * RANGE, end = t->base.n - first < RANGE ? t->base.n : first + RANGE;
    (void)slot;
    (void)err;
    for (size_t k = first; k < end; k++) {
        const double g = t->base.gradient[k];
        t->m[k] = beta1 * t->m[k] + (1 - beta1) * g;
        t->v[k] = beta2 * t->v[k] + (1 - beta2) * g * g;
        t->base.x[k] -= t->rate * t->m[k] / (t->root * sqrt(t->v[k]) + epsilon);
    }
    return DN_OK;
}

static dn_status step(struct adam *t, double rate, dn_error *err) {
    t->power1 *= beta1;
    t->power2 *= beta2;
    t->rate = rate / (1 - t->power1);
    t->root = 1 / sqrt(1 - t->power2);
    const size_t n_ranges = (t->base.n + RANGE - 1) / RANGE;
    return n_ranges > 1 ? dni_tasks_run(t->base.run, n_ranges, step_range, t, err)
                        : step_range(t, 0, 0, err);
}

/* Makes one pass over the rows. */
static dn_status adam_advance(dni_descent *d, bool *moved, dn_error *err) {
    struct adam *t = (struct adam *)d;
    const dni_adam_settings *s = t->settings;
    const size_t n_batches = (s->n_rows + s->batch_rows - 1) / s->batch_rows;
    const double steps = (double)n_batches * (double)s->max_passes;
    const double before = (double)d->out.iterations * (double)n_batches;
    for (size_t i = 0; d->out.iterations == 0 && i < s->n_rows; i++) {
        t->order[i] = i;
    }
    dni_random_shuffle(&t->random, t->order, s->n_rows);
    for (size_t b = 0; b < n_batches; b++) {
        const size_t first = b * s->batch_rows,
                     n = s->n_rows - first < s->batch_rows ? s->n_rows - first : s->batch_rows;
        const double left = 1 - (before + (double)b) / steps;
        dn_status status = dn_run_stop(d->run, err);
        if (status == DN_OK) {
            status =
                s->batch(d->objective->ctx, d->run, t->order + first, n, d->x, d->gradient, err);
        }
        if (status == DN_OK) {
            status = step(t, s->linear_decay ? s->rate * left : s->rate, err);
        }
        if (status != DN_OK) {
            return status;
        }
    }
    *moved = true;
    return DN_OK;
}

static dn_status adam_start(dni_descent *d, const dni_solver_options *options, dn_error *err) {
    struct adam *t = (struct adam *)d;
    (void)err;
    t->settings = options->adam;
    t->power1 = t->power2 = 1;
    dni_random_init(&t->random, options->adam->seed, options->adam->stream);
    return DN_OK;
}

const dni_solver dni_solver_adam = {.name = "adam",
                                    .needs = DNI_NEEDS_BATCHES,
                                    .smooth = true,
                                    .memory = "the moments of the gradient",
                                    .divergence =
                                        "a learning_rate too large, or inputs too large: try a "
                                        "smaller learning_rate, or standardise the columns",
                                    .state_size = sizeof(struct adam),
                                    .layout = adam_layout,
                                    .start = adam_start,
                                    .advance = adam_advance};

dn_status dni_adam(const dni_objective *objective, const dn_run *run,
                   const dni_adam_settings *settings, double *x, dni_outcome *out, dn_error *err) {
    assert(settings->n_rows > 0 && settings->batch_rows > 0 && objective->l1 == NULL);
    const dni_solver_options options = {.max_iterations = settings->max_passes, .adam = settings};
    return dni_solver_minimise(&dni_solver_adam, objective, run, &options, x, out, err);
}
