/* Conjugate gradients for several right-hand sides. Each right-hand side has a separate recurrence;
 * one call of `product` multiplies the directions of all recurrences by A.
 *
 *   p ← z = M⁻¹r,   M = diag(scale) or 1
 *   repeat:  α = rᵀz/pᵀAp,  x += αp,  r −= αAp,  z' = M⁻¹r,  p ← z' + (r'ᵀz'/rᵀz) p
 *
 * From x = 0 with M = 1 every iterate is in the range of A. For a singular A the iterates converge
 * to the solution of least norm. Golub and Van Loan, Matrix Computations, 4th ed., section 11.3;
 * Björck, Numerical Methods for Least Squares Problems, section 7.4 (for the normal equations). */
#include "optimize/conjugate_gradients.h"
#include "linalg/step.h"
#include "linalg/vector.h"
#include "optimize/descent.h"

#include <math.h>
#include <string.h>

struct recurrences {
    const dni_systems *systems;
    double tolerance;
    double *x;              /* [n_systems × n] iterates; memory of the caller */
    double *r, *p, *q;      /* [n_systems × n] each: residuals, directions p, products Ap */
    double *rho;            /* [n_systems] rᵀz; 0: p is 0 and the system makes no step */
    double *right, *length; /* [n_systems] each: ‖b_k‖ and ‖r_k‖ */
};

struct recurrences_shape {
    size_t n_systems, n;
};

static void recurrences_layout(dni_layout *layout, const void *shape, void *work) {
    const struct recurrences_shape *s = shape;
    struct recurrences *t = work;
    t->r = dni_layout_matrix(layout, s->n_systems, s->n);
    t->p = dni_layout_matrix(layout, s->n_systems, s->n);
    t->q = dni_layout_matrix(layout, s->n_systems, s->n);
    t->rho = dni_layout_doubles(layout, s->n_systems);
    t->right = dni_layout_doubles(layout, s->n_systems);
    t->length = dni_layout_doubles(layout, s->n_systems);
}

double dni_conjugate_gradients_bytes(size_t n_systems, size_t n) {
    const struct recurrences_shape shape = {n_systems, n};
    struct recurrences scratch;
    return dni_layout_bytes(recurrences_layout, &shape, &scratch);
}

/* Returns √Σ r_i²/scale_i. The terms are divided by the largest |r_i|/√scale_i, so that the sum
 * does not overflow. */
static double length(const dni_systems *s, const double *r) {
    double largest = 0, sum = 0;
    for (size_t i = 0; i < s->n; i++) {
        double term = fabs(r[i]) / sqrt(s->scale[i]);
        if (isnan(term)) {
            return term;
        }
        largest = fmax(largest, term);
    }
    if (largest == 0 || isinf(largest)) {
        return largest;
    }
    for (size_t i = 0; i < s->n; i++) {
        sum += r[i] / largest * (r[i] / largest) / s->scale[i];
    }
    return largest * sqrt(sum);
}

/* Returns the relative residual ‖r_k‖/‖b_k‖ of system k; 0 if ‖r_k‖ is at most `rounding`. */
static double relative_residual(const struct recurrences *t, size_t k) {
    return t->length[k] <= t->systems->rounding ? 0 : t->length[k] / t->right[k];
}

/* Returns the largest relative residual of all systems; NaN if one is NaN. */
static double measure(const struct recurrences *t) {
    double largest = 0;
    for (size_t k = 0; k < t->systems->n_systems; k++) {
        double ratio = relative_residual(t, k);
        if (isnan(ratio)) {
            return ratio;
        }
        largest = fmax(largest, ratio);
    }
    return largest;
}

/* Computes the next direction of system k: z + (rᵀz/rho)·p, where rho is the previous rᵀz; the
 * direction is z in the first iteration (rho = 0), and 0 if the system is solved. */
static void update_direction(struct recurrences *t, size_t k) {
    const dni_systems *s = t->systems;
    const double *r = t->r + k * s->n;
    double *p = t->p + k * s->n, rho = 0;
    bool solved = relative_residual(t, k) <= t->tolerance;
    for (size_t i = 0; i < s->n && !solved; i++) {
        rho += s->preconditioned ? r[i] * r[i] / s->scale[i] : r[i] * r[i];
    }
    double beta = t->rho[k] > 0 ? rho / t->rho[k] : 0;
    for (size_t i = 0; i < s->n; i++) {
        p[i] = solved ? 0 : (s->preconditioned ? r[i] / s->scale[i] : r[i]) + beta * p[i];
    }
    t->rho[k] = rho;
}

/* Computes the residuals b_k − A x_k from the data. They replace the residuals of the
 * recurrences. */
static dn_status compute_residuals(struct recurrences *t, const dn_run *run,
                                   dni_systems_outcome *out, dn_error *err) {
    const dni_systems *s = t->systems;
    dn_status status = s->residual(s->ctx, run, t->x, t->r, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t k = 0; k < s->n_systems; k++) {
        t->length[k] = length(s, t->r + k * s->n);
        t->right[k] = out->residuals == 0 ? t->length[k] : t->right[k];
    }
    out->residuals++;
    out->measure = measure(t);
    return isfinite(out->measure)
               ? DN_OK
               : dni_objective_not_finite(out->iterations,
                                          "inputs too large; standardise the columns", err);
}

/* Computes the products A p and makes one step in each unsolved system. *n_unsolved ← the number of
 * systems that are still unsolved. */
static dn_status advance(struct recurrences *t, const dn_run *run, size_t *n_unsolved,
                         dn_error *err) {
    const dni_systems *s = t->systems;
    dni_pace pace = {.run = run};
    dn_status status = s->product(s->ctx, run, t->p, t->q, err);
    if (status != DN_OK) {
        return status;
    }
    *n_unsolved = 0;
    for (size_t k = 0; k < s->n_systems; k++) {
        double *p = t->p + k * s->n, *q = t->q + k * s->n;
        if (t->rho[k] == 0) {
            continue;
        }
        status = dni_pace_poll(&pace, 20 * (double)s->n, err);
        if (status != DN_OK) {
            return status;
        }
        double curvature = dni_dot(p, q, s->n);
        if (!(curvature > 0)) {
            /* pᵀAp ≤ 0 is a rounding error: the system makes no step until the next restart */
            memset(p, 0, s->n * sizeof *p);
            t->rho[k] = 0;
            continue;
        }
        double alpha = t->rho[k] / curvature;
        dni_axpy(alpha, p, t->x + k * s->n, s->n);
        dni_axpy(-alpha, q, t->r + k * s->n, s->n);
        t->length[k] = length(s, t->r + k * s->n);
        update_direction(t, k);
        *n_unsolved += t->rho[k] > 0;
    }
    return DN_OK;
}

/* Iterates from residuals computed from the data, until all systems are solved according to the
 * residuals of the recurrences. */
static dn_status iterate(struct recurrences *t, const dn_run *run, size_t max_iterations,
                         dni_systems_outcome *out, dn_error *err) {
    const dni_systems *s = t->systems;
    for (size_t k = 0; k < s->n_systems; k++) {
        t->rho[k] = 0;
        update_direction(t, k);
    }
    for (size_t n_unsolved = 1; n_unsolved > 0 && out->iterations < max_iterations;) {
        dn_status status = dn_run_stop(run, err);
        if (status == DN_OK) {
            status = advance(t, run, &n_unsolved, err);
        }
        if (status != DN_OK) {
            return status;
        }
        out->iterations++;
        double now = measure(t);
        if (!isfinite(now)) {
            return dni_objective_not_finite(out->iterations,
                                            "inputs too large; standardise the columns", err);
        }
        status = s->accepted(s->ctx, run, out->iterations, t->x, now, err);
        if (status != DN_OK) {
            return status;
        }
    }
    return DN_OK;
}

static dn_status solve(struct recurrences *t, const dn_run *run, size_t max_iterations,
                       dni_systems_outcome *out, dn_error *err) {
    dn_status status = compute_residuals(t, run, out, err);
    if (status != DN_OK) {
        return status;
    }
    while (out->reason == DN_STOP_NONE) {
        double before = out->measure;
        if (before > t->tolerance && out->iterations < max_iterations) {
            status = iterate(t, run, max_iterations, out, err);
            if (status != DN_OK) {
                return status;
            }
            status = compute_residuals(t, run, out, err);
            if (status != DN_OK) {
                return status;
            }
        }
        if (out->measure <= t->tolerance) {
            out->reason = DN_STOP_TOLERANCE;
        } else if (out->iterations >= max_iterations) {
            out->reason = DN_STOP_MAX_ITERATIONS;
        } else if (!(out->measure <= before / 2)) {
            out->reason = DN_STOP_NO_PROGRESS;
        }
    }
    return DN_OK;
}

dn_status dni_conjugate_gradients(const dni_systems *systems, const dn_run *run, double tolerance,
                                  size_t max_iterations, double *x, dni_systems_outcome *out,
                                  dn_error *err) {
    const struct recurrences_shape shape = {systems->n_systems, systems->n};
    struct recurrences t = {.systems = systems, .tolerance = tolerance, .x = x};
    void *memory = NULL;
    dni_systems_outcome outcome = {0};
    dn_status status = dni_layout_take(run, recurrences_layout, &shape, &t,
                                       "the vectors of the conjugate gradients", &memory, err);
    if (status == DN_OK) {
        memset(x, 0, systems->n_systems * systems->n * sizeof *x);
        status = solve(&t, run, max_iterations, &outcome, err);
    }
    dn_run_free(run, memory);
    if (status == DN_OK) {
        *out = outcome;
    }
    return status;
}
