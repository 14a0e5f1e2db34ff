/* The loop of the solvers that decrease the objective at every step. */
#include "optimize/descent.h"
#include "linalg/vector.h"
#include "optimize/l1/l1.h"

#include <math.h>
#include <string.h>

static dn_status iterate(const dni_descent *t, const dni_objective *o, const dn_run *run,
                         size_t max_iterations, double *x, dni_outcome *out, dn_error *err) {
    size_t n = o->n;
    double value;
    dn_status status = o->evaluate(o->ctx, run, x, &value, t->gradient, err);
    if (status != DN_OK) {
        return status;
    }
    out->evaluations = 1;
    value += dni_l1_value(o->l1, x, n);
    if (!isfinite(value) || !dni_all_finite(t->gradient, n)) {
        return dni_objective_not_finite(
            0, "inputs or a lambda too large for their squares; standardise the columns", err);
    }
    dni_iterate point = {0, x, NULL, value, t->gradient};
    for (;;) {
        out->value = value;
        status = o->accepted(o->ctx, run, &point, &out->reason, err);
        if (status != DN_OK || out->reason != DN_STOP_NONE) {
            return status;
        }
        if (out->iterations == max_iterations) {
            out->reason = DN_STOP_MAX_ITERATIONS;
            return DN_OK;
        }
        bool moved = false;
        status = t->advance(t->solver, o, run, x, &value, &moved, out, err);
        if (status != DN_OK) {
            return status;
        }
        if (!moved) {
            out->reason = DN_STOP_NO_PROGRESS;
            return DN_OK;
        }
        for (size_t i = 0; i < n; i++) {
            t->step[i] = t->x_new[i] - x[i];
        }
        memcpy(x, t->x_new, n * sizeof *x);
        memcpy(t->gradient, t->gradient_new, n * sizeof *x);
        out->iterations++;
        point = (dni_iterate){out->iterations, x, t->step, value, t->gradient};
    }
}

dn_status dni_descent_run(const dni_descent *descent, const dni_objective *objective,
                          const dn_run *run, size_t max_iterations, double *x, dni_outcome *out,
                          dn_error *err) {
    dni_outcome outcome = {0};
    dn_status status = iterate(descent, objective, run, max_iterations, x, &outcome, err);
    if (status == DN_OK) {
        *out = outcome;
    }
    return status;
}
