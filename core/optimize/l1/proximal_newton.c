/* Proximal Newton.
 *
 *   z = argmin Q(z) = ∇f(x)ᵀ(z − x) + ½(z − x)ᵀH(z − x) + Σ l1_i |z_i|
 *   x ← x + α(z − x),   α = 1, ½, … until
 *   F(x + α(z − x)) ≤ F(x) + 1e-4·α·Δ,   Δ = ∇f(x)ᵀ(z − x) + Σ l1_i (|z_i| − |x_i|) < 0
 *
 * Lee, Sun and Saunders, Proximal Newton-type methods, SIAM J. Optim. 24, 2014. Near the minimum α
 * = 1 and the zeros of z are those of x.
 *
 * The model is minimised by sweeps of coordinate descent, with r = ∇f + H(z − x) kept:
 *   z_i ← shrink(H_ii z_i − r_i, l1_i)/H_ii
 * (Friedman, Hastie and Tibshirani, J. Statistical Software 33, 2010, section 2). Sweeps find the
 * zeros soon but converge slowly for correlated variables. When a sweep has changed no sign, and
 * every few sweeps, Q is therefore minimised over the nonzero variables with fixed signs, by a
 * linear system. Variables whose solution has the opposite sign become 0 if that decreases Q.
 * Otherwise z moves towards the solution until the first variable becomes 0, which decreases Q. The
 * accepted subgradient of Q is a fraction of the subgradient of F; the fraction decreases with the
 * subgradient of F, so that the convergence is superlinear. O(n²) per sweep, O(n³) per system; no
 * allocation in the loop. */
#include "linalg/vector.h"
#include "optimize/definite.h"
#include "optimize/descent.h"
#include "optimize/l1/l1.h"
#include "optimize/solver.h"

#include <math.h>
#include <string.h>

enum { MAX_SWEEPS = 1000, SWEEPS_A_SYSTEM = 8, MAX_TRIALS = 40 };

struct proximal {
    dni_descent base;                /* `step` is used for the solution of a system, then for z
                                      * − x */
    double *hessian;                 /* [n × n] symmetric; both triangles are filled */
    double *factor;                  /* [n × n] workspace of the linear systems */
    double *scale;                   /* [n] workspace of the linear systems */
    double *z;                       /* [n] current minimiser of the model Q */
    double *r;                       /* [n] ∇f + H(z − x) */
    double *right, *move, *response; /* [n] each, for a linear system: right-hand side, z' − z, H(z'
                                      * − z) */
    size_t *index;                   /* [n] variables of the linear system */
    double first;                    /* largest value so far of slope_max at the start of a step */
};

static void proximal_layout(dni_layout *layout, const void *shape, void *work) {
    const size_t n = ((const dni_descent_shape *)shape)->n;
    struct proximal *t = work;
    dni_descent_layout(layout, n, &t->base);
    t->hessian = dni_layout_matrix(layout, n, n);
    t->factor = dni_layout_matrix(layout, n, n);
    t->scale = dni_layout_doubles(layout, n);
    t->z = dni_layout_doubles(layout, n);
    t->r = dni_layout_doubles(layout, n);
    t->right = dni_layout_doubles(layout, n);
    t->move = dni_layout_doubles(layout, n);
    t->response = dni_layout_doubles(layout, n);
    t->index = dni_layout_array(layout, n, sizeof *t->index);
}

/* Returns the largest component of the minimum-norm subgradient at x, where gradient [n] is ∇f(x)
 * or the gradient of the smooth part of Q. */
static double slope_max(const double *l1, const double *x, const double *gradient, size_t n) {
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        double slope = fabs(dni_l1_slope(l1[i], x[i], gradient[i]));
        if (!(slope <= most)) {
            most = slope;
        }
    }
    return most;
}

static bool same_sign(double a, double b) {
    return (a > 0) == (b > 0) && (a < 0) == (b < 0);
}

/* Makes one sweep of coordinate descent over all variables. Returns true if a variable changed
 * sign, or became 0 or nonzero. */
static bool sweep(struct proximal *t) {
    const size_t n = t->base.n;
    const double *l1 = t->base.objective->l1;
    bool changed = false;
    for (size_t i = 0; i < n; i++) {
        const double *row = t->hessian + i * n;
        double z = dni_l1_shrink(row[i] * t->z[i] - t->r[i], l1[i]) / row[i], moved = z - t->z[i];
        if (moved == 0 || !isfinite(moved)) {
            continue;
        }
        changed = changed || !same_sign(z, t->z[i]);
        t->z[i] = z;
        dni_axpy(moved, row, t->r, n);
    }
    return changed;
}

/* response ← H·move. Returns Q(z + move) − Q(z). */
static double model_change(struct proximal *t) {
    const size_t n = t->base.n;
    const double *l1 = t->base.objective->l1;
    double change = 0;
    memset(t->response, 0, n * sizeof *t->response);
    for (size_t i = 0; i < n; i++) {
        if (t->move[i] != 0) {
            dni_axpy(t->move[i], t->hessian + i * n, t->response, n);
        }
    }
    for (size_t i = 0; i < n; i++) {
        change += t->move[i] * (t->r[i] + t->response[i] / 2) +
                  l1[i] * (fabs(t->z[i] + t->move[i]) - fabs(t->z[i]));
    }
    return change;
}

/* move [n] ← `share` times the solution of the system; 0 for variables that are not in the system.
 * A variable that would cross 0 moves to 0. */
static void cut_at_zero(struct proximal *t, size_t n_free, double share) {
    const double *l1 = t->base.objective->l1, *solution = t->base.step;
    memset(t->move, 0, t->base.n * sizeof *t->move);
    for (size_t k = 0; k < n_free; k++) {
        size_t i = t->index[k];
        double move = share * solution[k], rest = t->z[i] + move;
        if (l1[i] > 0 && (!same_sign(rest, t->z[i]) ||
                          fabs(rest) <= 1e-15 * fabs(t->z[i]))) { /* the sum is 0 up to rounding */
            move = -t->z[i];
        }
        t->move[i] = move;
    }
}

/* Returns the smallest fraction of the solution at which a variable becomes 0; 1 if none does. */
static double first_crossing(const struct proximal *t, size_t n_free) {
    const double *l1 = t->base.objective->l1, *solution = t->base.step;
    double share = 1;
    for (size_t k = 0; k < n_free; k++) {
        size_t i = t->index[k];
        if (l1[i] > 0 && solution[k] * t->z[i] < 0) {
            share = fmin(share, -t->z[i] / solution[k]);
        }
    }
    return share;
}

/* z ← the minimiser of Q over the nonzero variables, with their signs fixed. */
static dn_status solve_free(struct proximal *t, dn_error *err) {
    const size_t n = t->base.n;
    const double *l1 = t->base.objective->l1;
    size_t n_free = 0;
    for (size_t i = 0; i < n; i++) {
        if (t->z[i] == 0 && l1[i] > 0) {
            continue;
        }
        t->right[n_free] = -dni_l1_slope(l1[i], t->z[i], t->r[i]);
        t->index[n_free++] = i;
    }
    if (n_free == 0) {
        return DN_OK;
    }
    bool solved;
    const dni_definite system = {.matrix = t->hessian,
                                 .order = n,
                                 .index = t->index,
                                 .n = n_free,
                                 .factor = t->factor,
                                 .scale = t->scale};
    dn_status status =
        dni_definite_solve(&system, t->base.run, t->right, t->base.step, &solved, err);
    if (status != DN_OK || !solved) {
        return status;
    }
    cut_at_zero(t, n_free, 1);
    if (!(model_change(t) < 0)) {
        cut_at_zero(t, n_free, first_crossing(t, n_free));
        if (!(model_change(t) < 0)) { /* rounding */
            return DN_OK;
        }
    }
    for (size_t i = 0; i < n; i++) {
        t->z[i] += t->move[i];
        t->r[i] += t->response[i];
    }
    return DN_OK;
}

/* z ← the minimiser of Q. Ends when the subgradient of Q is at most `tolerance`, or after
 * MAX_SWEEPS sweeps. */
static dn_status solve_model(struct proximal *t, double tolerance, dn_error *err) {
    dni_descent *d = &t->base;
    const double *l1 = d->objective->l1;
    memcpy(t->z, d->x, d->n * sizeof *t->z);
    memcpy(t->r, d->gradient, d->n * sizeof *t->r);
    for (size_t i = 1; i <= MAX_SWEEPS; i++) {
        dn_status status = dn_run_stop(d->run, err);
        if (status != DN_OK) {
            return status;
        }
        bool changed = sweep(t);
        d->out.inner++;
        if (slope_max(l1, t->z, t->r, d->n) <= tolerance) {
            return DN_OK;
        }
        if (changed && i % SWEEPS_A_SYSTEM != 0) {
            continue;
        }
        status = solve_free(t, err);
        if (status != DN_OK || slope_max(l1, t->z, t->r, d->n) <= tolerance) {
            return status;
        }
    }
    return DN_OK;
}

/* Backtracking: x_new ← x + α(z − x), where F(x_new) is sufficiently below F(x). *found stays
 * false if no α succeeds. */
static dn_status search(struct proximal *t, bool *found, dn_error *err) {
    dni_descent *d = &t->base;
    const dni_objective *o = d->objective;
    const size_t n = d->n;
    const double rounding = 1e-13 * fabs(d->value) + 1e-300;
    const double before = slope_max(o->l1, d->x, d->gradient, n);
    double promised = dni_l1_value(o->l1, t->z, n) - dni_l1_value(o->l1, d->x, n), alpha = 1;
    for (size_t i = 0; i < n; i++) {
        d->step[i] = t->z[i] - d->x[i];
        promised += d->gradient[i] * d->step[i];
    }
    for (int trial = 0; trial < MAX_TRIALS; trial++, alpha /= 2) {
        double now;
        for (size_t i = 0; i < n; i++) {
            /* α = 1: copies z, because x + (z − x) may not be exactly 0 */
            d->x_new[i] = trial == 0 ? t->z[i] : d->x[i] + alpha * d->step[i];
        }
        dn_status status = o->evaluate(o->ctx, d->run, d->x_new, &now, d->gradient_new, err);
        if (status != DN_OK) {
            return status;
        }
        d->out.evaluations++;
        now += dni_l1_value(o->l1, d->x_new, n);
        bool finite = isfinite(now) && dni_all_finite(d->gradient_new, n);
        bool decreased = finite && promised < 0 && now <= d->value + 1e-4 * alpha * promised;
        bool level = finite && now <= d->value + rounding &&
                     slope_max(o->l1, d->x_new, d->gradient_new, n) <= 0.9 * before;
        if (decreased || level) {
            d->value = now;
            *found = true;
            return DN_OK;
        }
    }
    return DN_OK;
}

/* Copies the lower triangle of h [n × n] to the upper triangle. */
static void mirror(double *h, size_t n) {
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++) {
            h[j * n + i] = h[i * n + j];
        }
    }
}

static dn_status proximal_advance(dni_descent *d, bool *moved, dn_error *err) {
    struct proximal *t = (struct proximal *)d;
    const dni_objective *o = d->objective;
    const size_t n = d->n;
    dn_status status = o->hessian(o->ctx, d->run, d->x, t->hessian, err);
    if (status != DN_OK) {
        return status;
    }
    d->out.hessians++;
    if (!dni_all_finite(t->hessian, n * n)) {
        return dni_hessian_not_finite(d, err);
    }
    mirror(t->hessian, n);
    const double slope = slope_max(o->l1, d->x, d->gradient, n);
    t->first = fmax(t->first, slope);
    status = solve_model(t, slope * fmin(0.1, slope / t->first), err);
    return status == DN_OK ? search(t, moved, err) : status;
}

const dni_solver dni_solver_proximal_newton = {.name = "proximal_newton",
                                               .needs = DNI_NEEDS_HESSIAN,
                                               .l1 = true,
                                               .inner = "coordinate_descent",
                                               .memory = "newton's Hessian",
                                               .state_size = sizeof(struct proximal),
                                               .layout = proximal_layout,
                                               .advance = proximal_advance};
