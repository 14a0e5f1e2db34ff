/* The loop that all solvers of solver.h share. */
#include "optimize/descent.h"
#include "linalg/vector.h"
#include "optimize/adam.h"
#include "optimize/l1/l1.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

dn_status dni_objective_not_finite(size_t iteration, const char *cause, dn_error *err) {
    return dn_error_set(
        err, DN_ERR_NUMERIC,
        "the objective or its gradient is not finite at iteration %zu; likely cause: %s", iteration,
        cause);
}

dn_status dni_hessian_not_finite(const dni_descent *d, dn_error *err) {
    return dni_objective_not_finite(d->out.iterations + 1,
                                    "a Hessian with entries too large; standardise the columns",
                                    err);
}

void dni_descent_layout(dni_layout *layout, size_t n, dni_descent *d) {
    d->gradient = dni_layout_doubles(layout, n);
    d->x_new = dni_layout_doubles(layout, n);
    d->gradient_new = dni_layout_doubles(layout, n);
    d->step = dni_layout_doubles(layout, n);
}

/* Evaluates the value and the gradient at x. *finite: both are finite. A value that is not finite
 * is an error at the start, and afterwards unless the solver has an `adjust` function. */
static dn_status evaluate(dni_descent *d, bool *finite, dn_error *err) {
    const dni_objective *o = d->objective;
    dn_status status = o->evaluate(o->ctx, d->run, d->x, &d->value, d->gradient, err);
    if (status != DN_OK) {
        return status;
    }
    d->out.evaluations++;
    d->value += dni_l1_value(o->l1, d->x, d->n);
    *finite = isfinite(d->value) && dni_all_finite(d->gradient, d->n);
    if (*finite || (d->solver->adjust != NULL && d->out.iterations > 0)) {
        return DN_OK;
    }
    return dni_objective_not_finite(
        d->out.iterations,
        d->out.iterations == 0
            ? "inputs or a lambda so large that their squares overflow; standardise the columns"
            : d->solver->divergence,
        err);
}

/* Moves to x_new: x, gradient and `step` are updated. */
static void move_to_new(dni_descent *d) {
    for (size_t i = 0; i < d->n; i++) {
        d->step[i] = d->x_new[i] - d->x[i];
    }
    memcpy(d->x, d->x_new, d->n * sizeof *d->x);
    memcpy(d->gradient, d->gradient_new, d->n * sizeof *d->x);
}

static dn_status iterate(dni_descent *d, size_t max_iterations, dn_error *err) {
    const dni_objective *o = d->objective;
    dni_outcome *out = &d->out;
    bool finite;
    dn_status status = evaluate(d, &finite, err);
    while (status == DN_OK) {
        if (finite) {
            const dni_iterate point = {out->iterations, d->x, out->iterations == 0 ? NULL : d->step,
                                       d->value, d->gradient};
            status = o->accepted(o->ctx, d->run, &point, &out->reason, err);
            if (status != DN_OK || out->reason != DN_STOP_NONE) {
                return status;
            }
        }
        bool moved = false;
        if (d->solver->adjust != NULL && !d->solver->adjust(d, finite)) {
            out->reason = DN_STOP_NO_PROGRESS;
            return DN_OK;
        }
        if (out->iterations == max_iterations) {
            out->reason = DN_STOP_MAX_ITERATIONS;
            return DN_OK;
        }
        status = d->solver->advance(d, &moved, err);
        if (status != DN_OK) {
            return status;
        }
        if (!moved) {
            out->reason = DN_STOP_NO_PROGRESS;
            return DN_OK;
        }
        out->iterations++;
        if (d->x_new != NULL) {
            move_to_new(d);
        } else {
            status = evaluate(d, &finite, err);
        }
    }
    return status;
}

double dni_solver_bytes(const dni_solver *solver, size_t n, size_t n_units) {
    const dni_descent_shape shape = {n, n_units, true};
    _Alignas(max_align_t) unsigned char state[DNI_MAX_SOLVER_STATE];
    assert(solver->state_size <= sizeof state);
    return dni_layout_bytes(solver->layout, &shape, state);
}

dn_status dni_solver_minimise(const dni_solver *solver, const dni_objective *objective,
                              const dn_run *run, const dni_solver_options *options, double *x,
                              dni_outcome *out, dn_error *err) {
    const size_t n_units = options->adam != NULL   ? options->adam->n_rows
                           : options->rows != NULL ? options->rows->n_blocks
                                                   : 0;
    const dni_descent_shape shape = {objective->n, n_units, objective->l1 != NULL};
    _Alignas(max_align_t) unsigned char state[DNI_MAX_SOLVER_STATE] = {0};
    dni_descent *d = (dni_descent *)state;
    void *memory = NULL;
    assert(solver->state_size <= sizeof state);
    *d = (dni_descent){
        .solver = solver, .objective = objective, .run = run, .n = objective->n, .x = x};
    dn_status status = solver->start == NULL ? DN_OK : solver->start(d, options, err);
    if (status != DN_OK) {
        return status;
    }
    status = dni_layout_take(run, solver->layout, &shape, d, solver->memory, &memory, err);
    if (status != DN_OK) {
        return status;
    }
    status = iterate(d, options->max_iterations, err);
    dn_run_free(run, memory);
    if (status == DN_OK) {
        *out = d->out;
        out->value = d->value;
    }
    return status;
}
