/* Newton–Raphson.
 *
 *   H(x) p = −∇f(x),   x ← x + αp,   α from a line search that tries 1 first.
 *
 * The system is solved by an equilibrated Cholesky factorisation (definite.h).
 * Bishop, PRML, section 4.3.3; Nocedal and Wright, section 3.4. O(n³) an iteration plus
 * the Hessian; no allocation in the loop. */
#include "optimize/newton.h"
#include "base/layout.h"
#include "linalg/cholesky.h"
#include "linalg/vector.h"
#include "optimize/definite.h"
#include "optimize/descent.h"
#include "optimize/line_search.h"
#include "optimize/solver.h"

#include <math.h>

struct newton {
    double *hessian; /* [n × n] as computed */
    double *factor;  /* [n × n] its Cholesky factor */
    double *scale;   /* [n] D^−½ */
    double *gradient;
    double *step; /* [n] direction, then step */
    double *x_new;
    double *gradient_new;
};

static void newton_layout(dni_layout *layout, const void *shape, void *work) {
    const size_t n = *(const size_t *)shape;
    struct newton *t = work;
    t->hessian = dni_layout_matrix(layout, n, n);
    t->factor = dni_layout_matrix(layout, n, n);
    t->scale = dni_layout_doubles(layout, n);
    t->gradient = dni_layout_doubles(layout, n);
    t->step = dni_layout_doubles(layout, n);
    t->x_new = dni_layout_doubles(layout, n);
    t->gradient_new = dni_layout_doubles(layout, n);
}

double dni_newton_bytes(size_t n) {
    struct newton scratch;
    return dni_layout_bytes(newton_layout, &n, &scratch);
}

/* One step from x: *moved is false when none decreases the objective. */
static dn_status advance(void *solver, const dni_objective *o, const dn_run *run, const double *x,
                         double *value, bool *moved, dni_outcome *out, dn_error *err) {
    struct newton *t = solver;
    size_t n = o->n;
    bool solved;
    dn_status status = o->hessian(o->ctx, run, x, t->hessian, err);
    if (status != DN_OK) {
        return status;
    }
    out->hessians++;
    dni_definite system = {
        .matrix = t->hessian, .order = n, .n = n, .factor = t->factor, .scale = t->scale};
    for (size_t i = 0; i < n; i++) {
        t->x_new[i] = -t->gradient[i];
    }
    status = dni_definite_solve(&system, run, t->x_new, t->step, &solved, err);
    if (status != DN_OK) {
        return status;
    }
    if (!solved) {
        return dni_objective_not_finite(out->iterations + 1,
                                        "a Hessian with entries too large; standardise the columns",
                                        err);
    }
    dni_line_search search = {.x = x,
                              .direction = t->step,
                              .value = *value,
                              .slope = dni_dot(t->gradient, t->step, n),
                              .first_step = 1,
                              .x_new = t->x_new,
                              .gradient_new = t->gradient_new};
    if (!(search.slope < 0)) {
        return DN_OK;
    }
    status = dni_line_search_run(o, run, &search, moved, err);
    out->evaluations += search.evaluations;
    if (status == DN_OK && !*moved && -search.slope > 2 * fabs(*value)) {
        /* The model promised a decrease below 0: the curvature has vanished. */
        for (size_t i = 0; i < n; i++) {
            t->step[i] = -t->gradient[i];
        }
        search.slope = -dni_dot(t->gradient, t->gradient, n);
        search.evaluations = 0;
        status = dni_line_search_run(o, run, &search, moved, err);
        out->evaluations += search.evaluations;
    }
    *value = *moved ? search.value_new : *value;
    return status;
}

dn_status dni_newton(const dni_objective *objective, const dn_run *run, size_t max_iterations,
                     double *x, dni_outcome *out, dn_error *err) {
    size_t n = objective->n;
    struct newton t;
    void *memory = NULL;
    if (n > DNI_MAX_ORDER) {
        return dn_error_set(
            err, DN_ERR_BUDGET,
            "newton for %zu variables needs a Hessian of %.0f bytes; the most is %d variables", n,
            8.0 * (double)n * (double)n, DNI_MAX_ORDER);
    }
    dn_status status =
        dni_layout_take(run, newton_layout, &n, &t, "newton's Hessian", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    const dni_descent descent = {&t, advance, t.gradient, t.x_new, t.gradient_new, t.step};
    status = dni_descent_run(&descent, objective, run, max_iterations, x, out, err);
    dn_run_free(run, memory);
    return status;
}

static dn_status minimise(const dni_objective *objective, const dn_run *run,
                          const dni_solver_options *options, double *x, dni_outcome *out,
                          dn_error *err) {
    return dni_newton(objective, run, options->max_iterations, x, out, err);
}

static double bytes(size_t n, size_t n_blocks) {
    (void)n_blocks;
    return dni_newton_bytes(n);
}

const dni_solver dni_solver_newton = {.name = "newton",
                                      .needs = DNI_NEEDS_HESSIAN,
                                      .smooth = true,
                                      .bytes = bytes,
                                      .minimise = minimise};
