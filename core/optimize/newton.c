/* Newton–Raphson.
 *
 *   H(x) p = −∇f(x),   x ← x + αp,   α from a line search that tries 1 first.
 *
 * The system is solved by an equilibrated Cholesky factorisation (definite.h).
 * dni_solver_newton_full takes α = 1 in each iteration and adds nothing to H: the iteration of the
 * textbooks, which diverges from some starts. It ends with no progress if H is singular, or F(x +
 * p) or its gradient not finite.
 *
 * Bishop, PRML, section 4.3.3; Nocedal and Wright, section 3.4. Cost: O(n³) per iteration plus the
 * Hessian; no allocation in the loop. */
#include "linalg/cholesky.h"
#include "linalg/vector.h"
#include "optimize/definite.h"
#include "optimize/descent.h"
#include "optimize/line_search.h"
#include "optimize/solver.h"

#include <math.h>

struct newton {
    dni_descent base; /* `step` is used for the direction, then for the step */
    double *hessian;  /* [n × n] as computed */
    double *factor;   /* [n × n] Cholesky factor of the Hessian */
    double *scale;    /* [n] D^−½ */
};

static void newton_layout(dni_layout *layout, const void *shape, void *work) {
    const size_t n = ((const dni_descent_shape *)shape)->n;
    struct newton *t = work;
    dni_descent_layout(layout, n, &t->base);
    t->hessian = dni_layout_matrix(layout, n, n);
    t->factor = dni_layout_matrix(layout, n, n);
    t->scale = dni_layout_doubles(layout, n);
}

/* Largest rounding error of a value, relative to the value. It occurs if columns are nearly
 * dependent, so that scores are differences of large numbers. */
#define ROUNDING 1e-10
/* A Hessian scaled to diagonal 1 with a squared pivot of at most this is singular. */
#define SINGULAR 1e-14

/* Tries the whole step where the decrease is less than the rounding error of the value, so that a
 * line search may fail. Accepts the step if it halves the gradient and the value grows by rounding
 * errors only. */
static dn_status try_whole_step(dni_descent *d, bool *moved, dn_error *err) {
    double value;
    for (size_t i = 0; i < d->n; i++) {
        d->x_new[i] = d->x[i] + d->step[i];
    }
    const dn_status status =
        d->objective->evaluate(d->objective->ctx, d->run, d->x_new, &value, d->gradient_new, err);
    if (status != DN_OK) {
        return status;
    }
    d->out.evaluations++;
    *moved = isfinite(value) && value <= d->value + ROUNDING * fabs(d->value) &&
             dni_max_abs(d->gradient_new, d->n) <= 0.5 * dni_max_abs(d->gradient, d->n);
    if (*moved) {
        d->value = value;
    }
    return DN_OK;
}

/* step ← p; least_pivot, *solved: see dni_definite. Overwrites x_new. */
static dn_status find_step(dni_descent *d, double least_pivot, bool *solved, dn_error *err) {
    const struct newton *t = (const struct newton *)d;
    const dni_objective *o = d->objective;
    const size_t n = d->n;
    const dn_status status = o->hessian(o->ctx, d->run, d->x, t->hessian, err);
    if (status != DN_OK) {
        return status;
    }
    d->out.hessians++;
    const dni_definite system = {.matrix = t->hessian,
                                 .order = n,
                                 .n = n,
                                 .least_pivot = least_pivot,
                                 .factor = t->factor,
                                 .scale = t->scale};
    for (size_t i = 0; i < n; i++) {
        d->x_new[i] = -d->gradient[i];
    }
    return dni_definite_solve(&system, d->run, d->x_new, d->step, solved, err);
}

static dn_status full_advance(dni_descent *d, bool *moved, dn_error *err) {
    const dni_objective *o = d->objective;
    double value;
    bool solved;
    dn_status status = find_step(d, SINGULAR, &solved, err);
    if (status != DN_OK || !solved) {
        return status;
    }
    for (size_t i = 0; i < d->n; i++) {
        d->x_new[i] = d->x[i] + d->step[i];
    }
    status = o->evaluate(o->ctx, d->run, d->x_new, &value, d->gradient_new, err);
    if (status != DN_OK) {
        return status;
    }
    d->out.evaluations++;
    *moved =
        dni_all_finite(d->x_new, d->n) && isfinite(value) && dni_all_finite(d->gradient_new, d->n);
    if (*moved) {
        d->value = value;
        return DN_OK;
    }
    /* evaluates x again: after the solver, the state of the objective must be that of the result */
    return o->evaluate(o->ctx, d->run, d->x, &value, d->gradient_new, err);
}

static dn_status newton_advance(dni_descent *d, bool *moved, dn_error *err) {
    const size_t n = d->n;
    bool solved;
    dn_status status = find_step(d, 0, &solved, err);
    if (status != DN_OK) {
        return status;
    }
    if (!solved) {
        return dni_hessian_not_finite(d, err);
    }
    const double slope = dni_dot(d->gradient, d->step, n);
    if (!(slope < 0)) {
        return DN_OK;
    }
    if (-slope <= ROUNDING * fabs(d->value)) {
        status = try_whole_step(d, moved, err);
        if (status != DN_OK || *moved) {
            return status;
        }
    }
    status = dni_line_search_run(d, d->step, slope, 1, moved, err);
    if (status == DN_OK && !*moved && -slope > 2 * fabs(d->value)) {
        /* The quadratic model predicts a negative objective: its curvature is too small. Retry with
         * the gradient. */
        for (size_t i = 0; i < n; i++) {
            d->step[i] = -d->gradient[i];
        }
        status =
            dni_line_search_run(d, d->step, -dni_dot(d->gradient, d->gradient, n), 1, moved, err);
    }
    return status;
}

static dn_status newton_start(dni_descent *d, const dni_solver_options *options, dn_error *err) {
    (void)options;
    if (d->n > DNI_MAX_ORDER) {
        return dn_error_set(err, DN_ERR_BUDGET,
                            "newton for %zu variables needs a Hessian of %.0f bytes; at most %d "
                            "variables are allowed",
                            d->n, 8.0 * (double)d->n * (double)d->n, DNI_MAX_ORDER);
    }
    return DN_OK;
}

const dni_solver dni_solver_newton = {.name = "newton",
                                      .needs = DNI_NEEDS_HESSIAN,
                                      .smooth = true,
                                      .memory = "newton's Hessian",
                                      .state_size = sizeof(struct newton),
                                      .layout = newton_layout,
                                      .start = newton_start,
                                      .advance = newton_advance};

const dni_solver dni_solver_newton_full = {.name = "newton with full steps",
                                           .needs = DNI_NEEDS_HESSIAN,
                                           .smooth = true,
                                           .memory = "newton's Hessian",
                                           .state_size = sizeof(struct newton),
                                           .layout = newton_layout,
                                           .start = newton_start,
                                           .advance = full_advance};
