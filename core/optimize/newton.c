/* Newton–Raphson.
 *
 *   H(x) p = −∇f(x),   x ← x + αp,   α from a line search that tries 1 first.
 *
 * H is equilibrated, D^−½ H D^−½ with D its diagonal, so that units of the variables do not matter, and factored by Cholesky. When rounding
 * has made it indefinite, a multiple of the identity is added until it is not: 1e-12, 1e-10 … of its (unit) diagonal. The factorisation polls the run's stop.
 * Bishop, PRML, section 4.3.3; Nocedal and Wright, section 3.4. O(n³) an iteration beside the Hessian; no allocation in the loop. */
#include "optimize/newton.h"
#include "linalg/cholesky.h"
#include "linalg/vector.h"
#include "optimize/line_search.h"

#include <math.h>
#include <string.h>

double dni_newton_memory(size_t n) {
    double m = (double)n;
    return 2 * m * m + 6 * m;
}

struct newton {
    double *hessian;  /* [n × n] as computed */
    double *factor;   /* [n × n] its Cholesky factor */
    double *scale;    /* [n] D^−½ */
    double *gradient; /* [n] */
    double *step;     /* [n] direction, then step */
    double *x_new;    /* [n] */
    double *gradient_new;
};

/* factor ← D^−½ H D^−½ + shift, lower triangle */
static void equilibrate(struct newton *t, size_t n, double shift) {
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++)
            t->factor[i * n + j] = t->hessian[i * n + j] * t->scale[i] * t->scale[j];
        t->factor[i * n + i] += shift;
    }
}

/* step ← −H⁻¹ gradient. *solved is false when no positive shift makes H definite, which only happens when it is not finite. */
static dn_status solve(const dn_run *run, struct newton *t, size_t n, bool *solved, dn_error *err) {
    *solved = false;
    for (size_t i = 0; i < n; i++) {
        double h = t->hessian[i * n + i];
        t->scale[i] = h > 0 ? 1 / sqrt(h) : 1;
    }
    for (double shift = 0; shift < 1e3; shift = shift == 0 ? 1e-12 : shift * 100) {
        bool definite;
        equilibrate(t, n, shift);
        dn_status status = dni_cholesky(run, t->factor, n, &definite, err);
        if (status != DN_OK)
            return status;
        if (!definite)
            continue;
        for (size_t i = 0; i < n; i++)
            t->step[i] = -t->gradient[i] * t->scale[i];
        dni_cholesky_solve(t->factor, n, t->step, 1);
        for (size_t i = 0; i < n; i++)
            t->step[i] *= t->scale[i];
        if (dni_all_finite(t->step, n) && dni_dot(t->step, t->gradient, n) <= 0) {
            *solved = true;
            break;
        }
    }
    return DN_OK;
}

static dn_status iterate(const dni_objective *o, const dn_run *run, size_t max_iterations, double *x, struct newton *t, dni_outcome *out,
                         dn_error *err) {
    size_t n = o->n;
    double value;
    dn_status status = o->evaluate(o->ctx, run, x, &value, t->gradient, err);
    if (status != DN_OK)
        return status;
    out->evaluations = 1;
    if (!isfinite(value) || !dni_all_finite(t->gradient, n))
        return dni_objective_not_finite(0, "inputs too large for their squares; standardise the columns", err);
    dni_iterate point = {0, x, NULL, value, t->gradient};
    for (;;) {
        out->value = value;
        status = o->accepted(o->ctx, run, &point, &out->reason, err);
        if (status != DN_OK || out->reason != NULL)
            return status;
        if (out->iterations == max_iterations) {
            out->reason = "max_iterations";
            return DN_OK;
        }
        status = o->hessian(o->ctx, run, x, t->hessian, err);
        if (status != DN_OK)
            return status;
        out->hessians++;
        bool solved;
        status = solve(run, t, n, &solved, err);
        if (status != DN_OK)
            return status;
        if (!solved)
            return dni_objective_not_finite(out->iterations + 1, "a Hessian with entries too large; standardise the columns", err);
        dni_line_search search = {.x = x,
                                  .direction = t->step,
                                  .value = value,
                                  .slope = dni_dot(t->gradient, t->step, n),
                                  .first_step = 1,
                                  .x_new = t->x_new,
                                  .gradient_new = t->gradient_new};
        bool found = false;
        if (search.slope < 0) {
            status = dni_line_search_run(o, run, &search, &found, err);
            if (status != DN_OK)
                return status;
            out->evaluations += search.evaluations;
        }
        if (!found) {
            out->reason = "no_progress";
            return DN_OK;
        }
        for (size_t i = 0; i < n; i++)
            t->step[i] = t->x_new[i] - x[i];
        memcpy(x, t->x_new, n * sizeof *x);
        memcpy(t->gradient, t->gradient_new, n * sizeof *x);
        value = search.value_new;
        out->iterations++;
        point = (dni_iterate){out->iterations, x, t->step, value, t->gradient};
    }
}

dn_status dni_newton(const dni_objective *objective, const dn_run *run, size_t max_iterations, double *x, dni_outcome *out, dn_error *err) {
    size_t n = objective->n;
    void *matrices = NULL, *vectors = NULL;
    dni_outcome outcome = {0};
    if (n > DNI_MAX_ORDER)
        return dn_error_set(err, DN_ERR_BUDGET, "newton for %zu variables needs a Hessian of %.0f bytes; the most is %d variables", n,
                            8.0 * (double)n * (double)n, DNI_MAX_ORDER);
    dn_status status = dn_run_alloc(run, 2 * n * n, sizeof(double), "newton's Hessian", &matrices, err);
    if (status == DN_OK)
        status = dn_run_alloc(run, 5 * n, sizeof(double), "newton's vectors", &vectors, err);
    if (status == DN_OK) {
        double *m = matrices, *v = vectors;
        struct newton t = {m, m + n * n, v, v + n, v + 2 * n, v + 3 * n, v + 4 * n};
        status = iterate(objective, run, max_iterations, x, &t, &outcome, err);
    }
    dn_run_free(run, vectors);
    dn_run_free(run, matrices);
    if (status == DN_OK)
        *out = outcome;
    return status;
}
