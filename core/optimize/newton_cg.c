/* Truncated Newton (Newton-CG).
 *
 *   H(x) p ≈ −v   until   ‖Hp + v‖_D ≤ η‖v‖_D,   η = min(0.5, √(‖v‖_D/‖v_0‖_D))
 *   ‖u‖_D² = Σ u_i²/D_i,   D the diagonal of H,   v_0 = v at the start
 *
 * The system is solved by conjugate gradients preconditioned with D, from p = 0. Then a line search
 * begins at α = 1. Without l1, v is ∇f. With this η the convergence is superlinear, and the first
 * steps need few iterations. Conjugate gradients end early if a direction has no positive
 * curvature. Nocedal and Wright, Numerical Optimization, section 7.1 (Algorithm 7.1, equation 7.3).
 *
 * With l1, v is the minimum-norm subgradient, the system contains only the free variables (x_i ≠ 0
 * or v_i ≠ 0), and the line search is that of orthant.c: Byrd, Chin, Nocedal and Oztoprak, A
 * family of second-order methods for convex l1-regularized optimization, Mathematical Programming
 * 159, 2016, section 3. With more free variables than rows, H is singular and v is not in the
 * range of H: p would be very long, and the projection onto the orthant would discard most of p.
 * The solver therefore uses H + μD. μ is multiplied by ten if none of the trials α = 1, ½, ¼, ⅛
 * decreases F, and divided by ten if α = 1 does (Levenberg and Marquardt; Nocedal and Wright,
 * section 10.3). At the minimum the free variables are the nonzero variables, μ becomes 0, and the
 * steps are Newton steps. One pass over the data per product with H; O(n) memory; no allocation in
 * the loop. */
#include "linalg/vector.h"
#include "optimize/l1/l1.h"
#include "optimize/l1/orthant.h"
#include "optimize/line_search.h"
#include "optimize/solver.h"

#include <math.h>
#include <string.h>

/* Values of the damping μ: the first; the smallest above 0; the largest, with which a step is
 * nearly steepest descent. */
#define FIRST_DAMPING 1e-2
#define MIN_DAMPING 1e-6
#define MAX_DAMPING 1e6
/* Maximum numbers of products with H and of line search trials per step. */
enum { MAX_PRODUCTS = 250, DAMPED_TRIALS = 4 };

struct truncated {
    dni_descent base; /* step: p */
    double *subgradient;
    double *diagonal;                     /* [n] D; INFINITY for variables that are not free */
    double *residual, *conjugate, *image; /* [n] each: −v − Hp, the direction of conjugate
                                           * gradients, H times this direction */
    double damping;                       /* μ; only with l1 */
    double first;                         /* ‖v‖_D at the start */
};

static void truncated_layout(dni_layout *layout, const void *shape, void *work) {
    const size_t n = ((const dni_descent_shape *)shape)->n;
    struct truncated *t = work;
    dni_descent_layout(layout, n, &t->base);
    t->subgradient = dni_layout_doubles(layout, n);
    t->diagonal = dni_layout_doubles(layout, n);
    t->residual = dni_layout_doubles(layout, n);
    t->conjugate = dni_layout_doubles(layout, n);
    t->image = dni_layout_doubles(layout, n);
}

/* Returns Σ a_i b_i/D_i. */
static double metric_dot(const struct truncated *t, const double *a, const double *b, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += a[i] * b[i] / t->diagonal[i];
    }
    return sum;
}

/* Solves (H + damping·D) step ≈ −subgradient on the free variables, to the accuracy η. */
static dn_status solve(struct truncated *t, double damping, dn_error *err) {
    dni_descent *d = &t->base;
    const dni_objective *o = d->objective;
    const size_t n = d->n;
    memset(d->step, 0, n * sizeof *d->step);
    for (size_t i = 0; i < n; i++) {
        bool moves = o->l1 == NULL || d->x[i] != 0 || t->subgradient[i] != 0;
        t->residual[i] = -t->subgradient[i];
        t->diagonal[i] = moves ? t->diagonal[i] : (double)INFINITY;
        t->conjugate[i] = t->residual[i] / t->diagonal[i];
    }
    double rho = metric_dot(t, t->residual, t->residual, n), size = sqrt(rho);
    t->first = t->first > 0 ? t->first : size;
    double enough = size * fmin(0.5, sqrt(size / t->first));
    for (size_t k = 0; k < MAX_PRODUCTS && sqrt(rho) > enough; k++) {
        dn_status status = dn_run_stop(d->run, err);
        if (status == DN_OK) {
            status = o->product(o->ctx, d->run, d->x, t->conjugate, t->image, err);
        }
        if (status != DN_OK) {
            return status;
        }
        d->out.inner++;
        for (size_t i = 0; damping > 0 && i < n; i++) {
            t->image[i] += isinf(t->diagonal[i]) ? 0 : damping * t->diagonal[i] * t->conjugate[i];
        }
        double curvature = dni_dot(t->conjugate, t->image, n);
        if (!(curvature > 1e-14 * rho) || !isfinite(curvature)) {
            /* rho is the curvature with D in place of H */
            break;
        }
        double alpha = rho / curvature;
        dni_axpy(alpha, t->conjugate, d->step, n);
        for (size_t i = 0; i < n; i++) {
            t->residual[i] -= isinf(t->diagonal[i]) ? 0 : alpha * t->image[i];
        }
        double next = metric_dot(t, t->residual, t->residual, n);
        for (size_t i = 0; i < n; i++) {
            t->conjugate[i] = t->residual[i] / t->diagonal[i] + next / rho * t->conjugate[i];
        }
        rho = next;
    }
    if (dni_dot(d->step, t->subgradient, n) < 0 && dni_all_finite(d->step, n)) {
        return DN_OK;
    }
    for (size_t i = 0; i < n; i++) {
        /* no positive curvature in the first product: steepest descent */
        d->step[i] = -t->subgradient[i] / t->diagonal[i];
    }
    return DN_OK;
}

/* With l1: multiplies the damping by ten until a step decreases F; divides it by ten if the first
 * trial of a step succeeds. */
static dn_status advance_in_orthant(struct truncated *t, bool *moved, dn_error *err) {
    dni_descent *d = &t->base;
    for (;;) {
        const bool last = t->damping >= MAX_DAMPING;
        dn_status status = solve(t, t->damping, err);
        if (status != DN_OK) {
            return status;
        }
        dni_orthant_align(d->x, t->subgradient, d->n, d->step);
        size_t trials = last ? DNI_ORTHANT_TRIALS : DAMPED_TRIALS;
        status = dni_orthant_search_run(d, t->subgradient, d->step, 1, &trials, moved, err);
        if (status != DN_OK) {
            return status;
        }
        if (*moved && trials != 2) {
            t->damping *= trials == 1 ? 0.1 : 10;
        }
        if (*moved || last) {
            return DN_OK;
        }
        t->damping = fmin(fmax(t->damping * 10, MIN_DAMPING), MAX_DAMPING);
    }
}

static dn_status truncated_advance(dni_descent *d, bool *moved, dn_error *err) {
    struct truncated *t = (struct truncated *)d;
    const dni_objective *o = d->objective;
    dn_status status = o->diagonal(o->ctx, d->run, d->x, t->diagonal, err);
    if (status != DN_OK) {
        return status;
    }
    if (!dni_all_finite(t->diagonal, d->n)) {
        return dni_hessian_not_finite(d, err);
    }
    dni_l1_subgradient(o->l1, d->x, d->gradient, d->n, t->subgradient);
    if (o->l1 != NULL) {
        return advance_in_orthant(t, moved, err);
    }
    status = solve(t, 0, err);
    if (status != DN_OK) {
        return status;
    }
    const double slope = dni_dot(d->gradient, d->step, d->n);
    return slope < 0 ? dni_line_search_run(d, d->step, slope, 1, moved, err) : DN_OK;
}

static dn_status truncated_start(dni_descent *d, const dni_solver_options *options, dn_error *err) {
    (void)options, (void)err;
    ((struct truncated *)d)->damping = FIRST_DAMPING;
    return DN_OK;
}

const dni_solver dni_solver_newton_cg = {.name = "newton_cg",
                                         .needs = DNI_NEEDS_PRODUCT,
                                         .smooth = true,
                                         .l1 = true,
                                         .inner = "conjugate_gradients",
                                         .memory = "the vectors of the conjugate gradients",
                                         .state_size = sizeof(struct truncated),
                                         .layout = truncated_layout,
                                         .start = truncated_start,
                                         .advance = truncated_advance};
