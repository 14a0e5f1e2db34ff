/* Orthant-wise limited-memory quasi-Newton.
 *
 *   v = the minimum-norm subgradient of F;   free variables: x_i ≠ 0 or v_i ≠ 0
 *   p = −B⁻¹v on the free variables, by the two-loop recursion over pairs s, y = ∇f' − ∇f
 *   p_i = 0 where x_i = 0 and p_i has the wrong sign
 *   x ← π(x + αp), the step projected onto the orthant (orthant.c)
 *
 * Andrew and Gao, Scalable training of L1-regularized log-linear models, ICML 2007. There are two
 * differences. The recursion uses the free variables only, so that it is L-BFGS in the remaining
 * space once the zeros are found; the recursion of the paper includes the curvature of variables
 * that cannot move. The sign of p is checked only for variables that are 0, because the others may
 * move in both directions within the orthant. Both keep Σ v_i p_i < 0. A pair is used if its
 * curvature on the free variables is above 1e-14·‖s‖·‖y‖. O(pairs·n) per iteration plus
 * evaluations; no allocation in the loop. */
#include "optimize/l1/owlqn.h"
#include "base/layout.h"
#include "linalg/vector.h"
#include "optimize/descent.h"
#include "optimize/l1/l1.h"
#include "optimize/l1/orthant.h"
#include "optimize/lbfgs.h"
#include "optimize/solver.h"

#include <math.h>

struct owlqn {
    double *s, *y;        /* [pairs × n] rings */
    size_t pairs;         /* capacity */
    size_t n_pairs, next; /* number of pairs, position of the next */
    double *free;         /* [n] 1: the variable may move; 0 */
    double *subgradient, *direction, *gradient, *x_new, *gradient_new, *scratch; /* [n] */
};

static void owlqn_layout(dni_layout *layout, const void *shape, void *work) {
    const size_t n = *(const size_t *)shape, pairs = dni_lbfgs_pairs(n);
    struct owlqn *t = work;
    t->s = dni_layout_matrix(layout, pairs, n);
    t->y = dni_layout_matrix(layout, pairs, n);
    t->free = dni_layout_doubles(layout, n);
    t->subgradient = dni_layout_doubles(layout, n);
    t->direction = dni_layout_doubles(layout, n);
    t->gradient = dni_layout_doubles(layout, n);
    t->x_new = dni_layout_doubles(layout, n);
    t->gradient_new = dni_layout_doubles(layout, n);
    t->scratch = dni_layout_doubles(layout, n);
}

double dni_owlqn_bytes(size_t n) {
    struct owlqn scratch;
    return dni_layout_bytes(owlqn_layout, &n, &scratch);
}

/* Σ a_i b_i over the free variables */
static double free_dot(const struct owlqn *t, const double *a, const double *b, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += t->free[i] * a[i] * b[i];
    }
    return sum;
}

/* q ← M⁻¹q, M the objective's diagonal approximation of the Hessian. */
static void precondition(const dni_objective *o, double *q) {
    if (o->precondition != NULL) {
        o->precondition(o->ctx, q);
    }
}

/* direction ← −B⁻¹ subgradient */
static void two_loops(const dni_objective *o, struct owlqn *t) {
    size_t n = o->n;
    double alpha[DNI_LBFGS_PAIRS], sy[DNI_LBFGS_PAIRS], gamma = 0;
    double *q = t->direction;
    for (size_t i = 0; i < n; i++) {
        q[i] = -t->subgradient[i];
    }
    for (size_t k = 0; k < t->n_pairs; k++) {
        size_t i = (t->next + t->pairs - 1 - k) % t->pairs;
        const double *s = t->s + i * n, *y = t->y + i * n;
        double length = sqrt(free_dot(t, s, s, n) * free_dot(t, y, y, n));
        sy[i] = free_dot(t, s, y, n);
        if (!(sy[i] > 1e-14 * length)) {
            sy[i] = 0;
            continue;
        }
        if (gamma == 0) { /* the newest usable pair gives the scale of M */
            for (size_t j = 0; j < n; j++) {
                t->scratch[j] = t->free[j] * y[j];
            }
            precondition(o, t->scratch);
            gamma = free_dot(t, y, t->scratch, n) / sy[i];
        }
        alpha[i] = free_dot(t, s, q, n) / sy[i];
        for (size_t j = 0; j < n; j++) {
            q[j] -= alpha[i] * t->free[j] * y[j];
        }
    }
    precondition(o, q);
    for (size_t i = 0; i < n && gamma > 0; i++) {
        q[i] /= gamma;
    }
    for (size_t k = t->n_pairs; k-- > 0;) {
        size_t i = (t->next + t->pairs - 1 - k) % t->pairs;
        if (sy[i] == 0) {
            continue;
        }
        double beta = free_dot(t, t->y + i * n, q, n) / sy[i];
        for (size_t j = 0; j < n; j++) {
            q[j] += (alpha[i] - beta) * t->free[j] * t->s[i * n + j];
        }
    }
}

/* Takes the pair of the step just made. */
static void remember(struct owlqn *t, const double *x, size_t n) {
    double *s = t->s + t->next * n, *y = t->y + t->next * n;
    for (size_t i = 0; i < n; i++) {
        s[i] = t->x_new[i] - x[i];
        y[i] = t->gradient_new[i] - t->gradient[i];
    }
    if (!(dni_dot(s, y, n) > 0)) { /* curvature that is not positive teaches nothing */
        return;
    }
    t->next = (t->next + 1) % t->pairs;
    if (t->n_pairs < t->pairs) {
        t->n_pairs++;
    }
}

/* One step from x: *moved is false when none decreases F. */
static dn_status advance(void *solver, const dni_objective *o, const dn_run *run, const double *x,
                         double *value, bool *moved, dni_outcome *out, dn_error *err) {
    struct owlqn *t = solver;
    size_t n = o->n;
    for (;;) {
        dni_l1_subgradient(o->l1, x, t->gradient, n, t->subgradient);
        for (size_t i = 0; i < n; i++) {
            t->free[i] = x[i] != 0 || t->subgradient[i] != 0;
        }
        two_loops(o, t);
        dni_orthant_align(x, t->subgradient, n, t->direction);
        double slope = dni_dot(t->direction, t->subgradient, n);
        if (slope < 0) {
            dni_orthant_search search = {.x = x,
                                         .subgradient = t->subgradient,
                                         .direction = t->direction,
                                         .value = *value,
                                         .first_step = t->n_pairs == 0 && slope < -1
                                                           ? 1 / sqrt(-slope)
                                                           : 1, /* as L-BFGS begins */
                                         .most_trials = DNI_ORTHANT_TRIALS,
                                         .x_new = t->x_new,
                                         .gradient_new = t->gradient_new};
            dn_status status = dni_orthant_search_run(o, run, &search, moved, err);
            if (status != DN_OK) {
                return status;
            }
            out->evaluations += search.evaluations;
            *value = *moved ? search.value_new : *value;
        }
        if (*moved) {
            remember(t, x, n);
            return DN_OK;
        }
        if (t->n_pairs == 0) {
            return DN_OK;
        }
        t->n_pairs = 0; /* the pairs do not help: try the subgradient */
    }
}

dn_status dni_owlqn(const dni_objective *objective, const dn_run *run, size_t max_iterations,
                    double *x, dni_outcome *out, dn_error *err) {
    const size_t n = objective->n;
    struct owlqn t = {.pairs = dni_lbfgs_pairs(n)};
    void *memory = NULL;
    dn_status status =
        dni_layout_take(run, owlqn_layout, &n, &t, "the pairs and vectors of L-BFGS", &memory, err);
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
    return dni_owlqn(objective, run, options->max_iterations, x, out, err);
}

static double bytes(size_t n, size_t n_blocks) {
    (void)n_blocks;
    return dni_owlqn_bytes(n);
}

const dni_solver dni_solver_owlqn = {
    .name = "owlqn", .needs = DNI_NEEDS_METRIC, .l1 = true, .bytes = bytes, .minimise = minimise};
