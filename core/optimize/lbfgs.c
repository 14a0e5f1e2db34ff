/* Limited-memory BFGS.
 *
 *   p = −B⁻¹∇f by the two-loop recursion over the last pairs s = x' − x, y = ∇f' − ∇f
 *   B₀ = γM,   γ = yᵀM⁻¹y / sᵀy of the newest pair,   M the preconditioner of the objective
 *
 * Nocedal and Wright, Numerical Optimization, Algorithm 7.4; Liu and Nocedal, Mathematical
 * Programming 45, 1989. A pair enters only when sᵀy > 1e-14·‖s‖·‖y‖, so B stays positive definite.
 * O(pairs·n) per iteration plus evaluations; no allocation in the loop. */
#include "optimize/lbfgs.h"
#include "base/layout.h"
#include "linalg/vector.h"
#include "optimize/descent.h"
#include "optimize/line_search.h"
#include "optimize/solver.h"

#include <math.h>
#include <string.h>

size_t dni_lbfgs_pairs(size_t n) {
    const size_t least = 5, numbers = 16000000;
    size_t pairs = n == 0 ? DNI_LBFGS_PAIRS : numbers / n;
    return pairs > DNI_LBFGS_PAIRS ? DNI_LBFGS_PAIRS : pairs < least ? least : pairs;
}

struct lbfgs {
    double *s, *y; /* [pairs × n] rings */
    double sy[DNI_LBFGS_PAIRS];
    size_t pairs;         /* capacity */
    size_t n_pairs, next; /* number of pairs, position of the next */
    double gamma;         /* M⁻¹ is divided by it: B₀⁻¹ = M⁻¹/γ */
    double *direction, *gradient, *x_new, *gradient_new, *scratch;
};

static void lbfgs_layout(dni_layout *layout, const void *shape, void *work) {
    const size_t n = *(const size_t *)shape, pairs = dni_lbfgs_pairs(n);
    struct lbfgs *t = work;
    t->s = dni_layout_matrix(layout, pairs, n);
    t->y = dni_layout_matrix(layout, pairs, n);
    t->direction = dni_layout_doubles(layout, n);
    t->gradient = dni_layout_doubles(layout, n);
    t->x_new = dni_layout_doubles(layout, n);
    t->gradient_new = dni_layout_doubles(layout, n);
    t->scratch = dni_layout_doubles(layout, n);
}

double dni_lbfgs_bytes(size_t n) {
    struct lbfgs scratch;
    return dni_layout_bytes(lbfgs_layout, &n, &scratch);
}

/* direction ← −B⁻¹ gradient */
static void two_loops(const dni_objective *o, struct lbfgs *t) {
    size_t n = o->n;
    double alpha[DNI_LBFGS_PAIRS];
    double *q = t->direction;
    for (size_t i = 0; i < n; i++) {
        q[i] = -t->gradient[i];
    }
    for (size_t k = 0; k < t->n_pairs; k++) {
        size_t i = (t->next + t->pairs - 1 - k) % t->pairs;
        alpha[i] = dni_dot(t->s + i * n, q, n) / t->sy[i];
        dni_axpy(-alpha[i], t->y + i * n, q, n);
    }
    if (o->precondition != NULL) {
        o->precondition(o->ctx, q);
    }
    for (size_t i = 0; i < n; i++) {
        q[i] /= t->gamma;
    }
    for (size_t k = t->n_pairs; k-- > 0;) {
        size_t i = (t->next + t->pairs - 1 - k) % t->pairs;
        double beta = dni_dot(t->y + i * n, q, n) / t->sy[i];
        dni_axpy(alpha[i] - beta, t->s + i * n, q, n);
    }
}

/* Stores the pair of the last step, if its curvature is positive. */
static void remember(const dni_objective *o, struct lbfgs *t, const double *x) {
    size_t n = o->n;
    double *s = t->s + t->next * n, *y = t->y + t->next * n;
    for (size_t i = 0; i < n; i++) {
        s[i] = t->x_new[i] - x[i];
        y[i] = t->gradient_new[i] - t->gradient[i];
    }
    double sy = dni_dot(s, y, n);
    if (!(sy > 1e-14 * dni_norm(s, n) * dni_norm(y, n)) || !isfinite(sy)) {
        return;
    }
    memcpy(t->scratch, y, n * sizeof *y);
    if (o->precondition != NULL) {
        o->precondition(o->ctx, t->scratch);
    }
    double gamma = dni_dot(y, t->scratch, n) / sy;
    if (!(gamma > 0) || !isfinite(gamma)) {
        return;
    }
    t->gamma = gamma;
    t->sy[t->next] = sy;
    t->next = (t->next + 1) % t->pairs;
    if (t->n_pairs < t->pairs) {
        t->n_pairs++;
    }
}

/* One step from x: *moved is false when none decreases the objective. */
static dn_status advance(void *solver, const dni_objective *o, const dn_run *run, const double *x,
                         double *value, bool *moved, dni_outcome *out, dn_error *err) {
    struct lbfgs *t = solver;
    size_t n = o->n;
    for (;;) {
        two_loops(o, t);
        double slope = dni_dot(t->direction, t->gradient, n);
        dni_line_search search = {.x = x,
                                  .direction = t->direction,
                                  .value = *value,
                                  .slope = slope,
                                  .first_step = 1,
                                  .x_new = t->x_new,
                                  .gradient_new = t->gradient_new};
        if (slope < 0) {
            if (t->n_pairs == 0) { /* no curvature is known: change x by at most 1 in the metric */
                double length = sqrt(-slope);
                if (length > 1) {
                    search.first_step = 1 / length;
                }
            }
            dn_status status = dni_line_search_run(o, run, &search, moved, err);
            if (status != DN_OK) {
                return status;
            }
            out->evaluations += search.evaluations;
        }
        if (*moved) {
            *value = search.value_new;
            remember(o, t, x);
            return DN_OK;
        }
        if (t->n_pairs == 0) {
            return DN_OK;
        }
        t->n_pairs = 0; /* the pairs do not help: try the preconditioned gradient */
        t->gamma = 1;
    }
}

dn_status dni_lbfgs(const dni_objective *objective, const dn_run *run, size_t max_iterations,
                    double *x, dni_outcome *out, dn_error *err) {
    const size_t n = objective->n;
    struct lbfgs t = {.pairs = dni_lbfgs_pairs(n), .gamma = 1};
    void *memory = NULL;
    dn_status status =
        dni_layout_take(run, lbfgs_layout, &n, &t, "the pairs and vectors of L-BFGS", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    const dni_descent descent = {&t, advance, t.gradient, t.x_new, t.gradient_new, t.scratch};
    status = dni_descent_run(&descent, objective, run, max_iterations, x, out, err);
    dn_run_free(run, memory);
    return status;
}

static dn_status minimise(const dni_objective *objective, const dn_run *run,
                          const dni_solver_options *options, double *x, dni_outcome *out,
                          dn_error *err) {
    return dni_lbfgs(objective, run, options->max_iterations, x, out, err);
}

static double bytes(size_t n, size_t n_blocks) {
    (void)n_blocks;
    return dni_lbfgs_bytes(n);
}

const dni_solver dni_solver_lbfgs = {.name = "lbfgs",
                                     .needs = DNI_NEEDS_METRIC,
                                     .smooth = true,
                                     .bytes = bytes,
                                     .minimise = minimise};
