/* Gradient descent as in Alpaydın, section 10.7: one rate, no line search.
 *
 * With l1 it is the proximal gradient method, x ← shrink(x − step·∇f(x), step·l1): Beck and
 * Teboulle, SIAM J. Imaging Sciences 2, 2009, section 1 (ISTA). It decreases F for step <= 1/L, as
 * plain descent does, and its zeros are exact. */
#include "optimize/gradient_descent.h"
#include "base/layout.h"
#include "linalg/vector.h"
#include "optimize/l1/l1.h"
#include "optimize/solver.h"

#include <math.h>

static dn_status iterate(const dni_objective *o, const dn_run *run, size_t max_iterations,
                         double step, double *x, double *gradient, double *change, dni_outcome *out,
                         dn_error *err) {
    for (;;) {
        double value;
        dn_status status = o->evaluate(o->ctx, run, x, &value, gradient, err);
        if (status != DN_OK) {
            return status;
        }
        out->evaluations++;
        if (!isfinite(value) || !dni_all_finite(gradient, o->n)) {
            return dni_objective_not_finite(
                out->iterations,
                out->iterations == 0
                    ? "inputs too large; standardise the columns"
                    : "a learning_rate too large, or inputs too large; standardise the columns",
                err);
        }
        value += dni_l1_value(o->l1, x, o->n);
        out->value = value;
        dni_iterate point = {out->iterations, x, out->iterations == 0 ? NULL : change, value,
                             gradient};
        status = o->accepted(o->ctx, run, &point, &out->reason, err);
        if (status != DN_OK || out->reason != DN_STOP_NONE) {
            return status;
        }
        if (out->iterations == max_iterations) {
            out->reason = DN_STOP_MAX_ITERATIONS;
            return DN_OK;
        }
        for (size_t i = 0; i < o->n; i++) {
            change[i] = -step * gradient[i];
            if (o->l1 != NULL) {
                change[i] = dni_l1_shrink(x[i] + change[i], step * o->l1[i]) - x[i];
            }
            x[i] += change[i];
        }
        out->iterations++;
    }
}

struct descent {
    double *gradient, *change; /* [n] */
};

static void descent_layout(dni_layout *layout, const void *shape, void *work) {
    const size_t n = *(const size_t *)shape;
    struct descent *t = work;
    t->gradient = dni_layout_doubles(layout, n);
    t->change = dni_layout_doubles(layout, n);
}

static double bytes(size_t n, size_t n_blocks) {
    struct descent scratch;
    (void)n_blocks;
    return dni_layout_bytes(descent_layout, &n, &scratch);
}

dn_status dni_gradient_descent(const dni_objective *objective, const dn_run *run,
                               size_t max_iterations, double step, double *x, dni_outcome *out,
                               dn_error *err) {
    struct descent t;
    void *memory = NULL;
    dni_outcome outcome = {0};
    dn_status status = dni_layout_take(run, descent_layout, &objective->n, &t,
                                       "the gradient and the step", &memory, err);
    if (status == DN_OK) {
        status =
            iterate(objective, run, max_iterations, step, x, t.gradient, t.change, &outcome, err);
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
    return dni_gradient_descent(objective, run, options->max_iterations, options->step, x, out,
                                err);
}

const dni_solver dni_solver_gradient_descent = {
    .name = "gradient_descent", .smooth = true, .l1 = true, .bytes = bytes, .minimise = minimise};
