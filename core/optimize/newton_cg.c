/* Truncated Newton.
 *
 *   H(x) p ≈ −v   until   ‖Hp + v‖_D ≤ η‖v‖_D,   η = min(0.5, √(‖v‖_D/‖v_0‖_D))
 *   ‖u‖_D² = Σ u_i²/D_i,   D the diagonal of H
 *
 * by conjugate gradients preconditioned with D, from 0; then a line search that tries 1 first. v is
 * ∇f. The sequence η makes convergence superlinear and the first steps, which need no precision,
 * cheap. The iteration ends when a direction has no curvature. Nocedal and Wright, Numerical
 * Optimization, section 7.1 (Algorithm 7.1, equation 7.3).
 *
 * With l1, v is the minimum-norm subgradient, the system is that of the free variables (x_i ≠ 0 or
 * v_i ≠ 0), and the search is that of orthant.c: Byrd, Chin, Nocedal and Oztoprak, A family of
 * second-order methods for convex l1-regularized optimization, Mathematical Programming 159, 2016,
 * section 3. With more free variables than rows H is singular and v is not in its range: p would be
 * very long, and most of it would be cut off at the orthant's border. The system is therefore that
 * of H + μD, with μ ten times as large when neither the step nor an eighth of it helps, and a tenth
 * when the whole step does (Levenberg and Marquardt; Nocedal and Wright, section 10.3). At the
 * minimum the free variables are those that are not 0, μ vanishes, and the steps are Newton's. One
 * pass over the data a product; O(n) memory; no allocation in the loop. */
#include "optimize/newton_cg.h"
#include "base/layout.h"
#include "linalg/vector.h"
#include "optimize/descent.h"
#include "optimize/l1/l1.h"
#include "optimize/l1/orthant.h"
#include "optimize/line_search.h"
#include "optimize/solver.h"

#include <math.h>
#include <string.h>

/* μ: the first; the least above 0; the greatest, with which a step is nearly steepest descent. */
#define FIRST_DAMPING 1e-2
#define LEAST_DAMPING 1e-6
#define MOST_DAMPING 1e6
enum { MAX_PRODUCTS = 250, DAMPED_TRIALS = 4 }; /* products and trials for one step */

struct truncated {
    double *gradient, *subgradient,
        *diagonal; /* [n]; a variable that may not move has diagonal INFINITY */
    double *step, *residual, *conjugate, *image; /* [n] p, −v − Hp, the direction and H times it */
    double *x_new, *gradient_new;                /* [n] */
    double damping;                              /* μ; only with l1 */
    double first;                                /* ‖v‖_D at the start */
};

static void truncated_layout(dni_layout *layout, const void *shape, void *work) {
    const size_t n = *(const size_t *)shape;
    struct truncated *t = work;
    t->gradient = dni_layout_doubles(layout, n);
    t->subgradient = dni_layout_doubles(layout, n);
    t->diagonal = dni_layout_doubles(layout, n);
    t->step = dni_layout_doubles(layout, n);
    t->residual = dni_layout_doubles(layout, n);
    t->conjugate = dni_layout_doubles(layout, n);
    t->image = dni_layout_doubles(layout, n);
    t->x_new = dni_layout_doubles(layout, n);
    t->gradient_new = dni_layout_doubles(layout, n);
}

double dni_newton_cg_bytes(size_t n) {
    struct truncated scratch;
    return dni_layout_bytes(truncated_layout, &n, &scratch);
}

/* Σ a_i b_i/D_i */
static double metric_dot(const struct truncated *t, const double *a, const double *b, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += a[i] * b[i] / t->diagonal[i];
    }
    return sum;
}

/* step ← −(H + damping·D)⁻¹ subgradient on the free variables, nearly. */
static dn_status solve(const dni_objective *o, const dn_run *run, const double *x, double damping,
                       struct truncated *t, dni_outcome *out, dn_error *err) {
    size_t n = o->n;
    memset(t->step, 0, n * sizeof *t->step);
    for (size_t i = 0; i < n; i++) {
        bool moves = o->l1 == NULL || x[i] != 0 || t->subgradient[i] != 0;
        t->residual[i] = -t->subgradient[i];
        t->diagonal[i] = moves ? t->diagonal[i] : (double)INFINITY;
        t->conjugate[i] = t->residual[i] / t->diagonal[i];
    }
    double rho = metric_dot(t, t->residual, t->residual, n), size = sqrt(rho);
    t->first = t->first > 0 ? t->first : size;
    double enough = size * fmin(0.5, sqrt(size / t->first));
    for (size_t k = 0; k < MAX_PRODUCTS && sqrt(rho) > enough; k++) {
        dn_status status = dn_run_stop(run, err);
        if (status == DN_OK) {
            status = o->product(o->ctx, run, x, t->conjugate, t->image, err);
        }
        if (status != DN_OK) {
            return status;
        }
        out->inner++;
        for (size_t i = 0; damping > 0 && i < n; i++) {
            t->image[i] += isinf(t->diagonal[i]) ? 0 : damping * t->diagonal[i] * t->conjugate[i];
        }
        double curvature = dni_dot(t->conjugate, t->image, n);
        if (!(curvature > 1e-14 * rho) ||
            !isfinite(curvature)) { /* rho: what the diagonal predicts */
            break;
        }
        double alpha = rho / curvature;
        dni_axpy(alpha, t->conjugate, t->step, n);
        for (size_t i = 0; i < n; i++) {
            t->residual[i] -= isinf(t->diagonal[i]) ? 0 : alpha * t->image[i];
        }
        double next = metric_dot(t, t->residual, t->residual, n);
        for (size_t i = 0; i < n; i++) {
            t->conjugate[i] = t->residual[i] / t->diagonal[i] + next / rho * t->conjugate[i];
        }
        rho = next;
    }
    if (dni_dot(t->step, t->subgradient, n) < 0 && dni_all_finite(t->step, n)) {
        return DN_OK;
    }
    for (size_t i = 0; i < n; i++) { /* no curvature: steepest descent */
        t->step[i] = -t->subgradient[i] / t->diagonal[i];
    }
    return DN_OK;
}

/* With l1: increases the damping until a step decreases F; decreases it for the next step if the
 * first trial did. */
static dn_status advance_in_orthant(const dni_objective *o, const dn_run *run, const double *x,
                                    struct truncated *t, double *value, bool *moved,
                                    dni_outcome *out, dn_error *err) {
    for (;;) {
        bool last = t->damping >= MOST_DAMPING;
        dn_status status = solve(o, run, x, t->damping, t, out, err);
        if (status != DN_OK) {
            return status;
        }
        dni_orthant_align(x, t->subgradient, o->n, t->step);
        dni_orthant_search search = {.x = x,
                                     .subgradient = t->subgradient,
                                     .direction = t->step,
                                     .value = *value,
                                     .first_step = 1,
                                     .most_trials = last ? DNI_ORTHANT_TRIALS : DAMPED_TRIALS,
                                     .x_new = t->x_new,
                                     .gradient_new = t->gradient_new};
        status = dni_orthant_search_run(o, run, &search, moved, err);
        if (status != DN_OK) {
            return status;
        }
        out->evaluations += search.evaluations;
        if (*moved) {
            *value = search.value_new;
            if (search.evaluations != 2) {
                t->damping *= search.evaluations == 1 ? 0.1 : 10;
            }
            return DN_OK;
        }
        if (last) {
            return DN_OK;
        }
        t->damping = fmin(fmax(t->damping * 10, LEAST_DAMPING), MOST_DAMPING);
    }
}

/* One step from x: *moved is false when none decreases F. */
static dn_status advance(void *solver, const dni_objective *o, const dn_run *run, const double *x,
                         double *value, bool *moved, dni_outcome *out, dn_error *err) {
    struct truncated *t = solver;
    size_t n = o->n;
    dn_status status = o->diagonal(o->ctx, run, x, t->diagonal, err);
    if (status != DN_OK) {
        return status;
    }
    if (!dni_all_finite(t->diagonal, n)) {
        return dni_objective_not_finite(out->iterations + 1,
                                        "a Hessian with entries too large; standardise the columns",
                                        err);
    }
    dni_l1_subgradient(o->l1, x, t->gradient, n, t->subgradient);
    if (o->l1 != NULL) {
        return advance_in_orthant(o, run, x, t, value, moved, out, err);
    }
    status = solve(o, run, x, 0, t, out, err);
    if (status != DN_OK) {
        return status;
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
    *value = *moved ? search.value_new : *value;
    return status;
}

dn_status dni_newton_cg(const dni_objective *objective, const dn_run *run, size_t max_iterations,
                        double *x, dni_outcome *out, dn_error *err) {
    size_t n = objective->n;
    struct truncated t = {.damping = FIRST_DAMPING};
    void *memory = NULL;
    dn_status status = dni_layout_take(run, truncated_layout, &n, &t,
                                       "the vectors of the conjugate gradients", &memory, err);
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
    return dni_newton_cg(objective, run, options->max_iterations, x, out, err);
}

static double bytes(size_t n, size_t n_blocks) {
    (void)n_blocks;
    return dni_newton_cg_bytes(n);
}

const dni_solver dni_solver_newton_cg = {.name = "newton_cg",
                                         .needs = DNI_NEEDS_PRODUCT,
                                         .smooth = true,
                                         .l1 = true,
                                         .inner = "conjugate_gradients",
                                         .bytes = bytes,
                                         .minimise = minimise};
