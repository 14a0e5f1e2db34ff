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
 * move in both directions within the orthant. With both differences Σ v_i p_i < 0 still holds. A
 * pair is used if its curvature on the free variables is above 1e-14·‖s‖·‖y‖. O(pairs·n) per
 * iteration plus evaluations; no allocation in the loop. */
#include "linalg/vector.h"
#include "optimize/l1/l1.h"
#include "optimize/l1/orthant.h"
#include "optimize/lbfgs.h"
#include "optimize/solver.h"

#include <math.h>

struct owlqn {
    dni_descent base;
    dni_pairs pairs;
    double *free;                    /* [n] 1: the variable is free; 0: it stays 0 */
    double *subgradient, *direction; /* [n] */
};

static void owlqn_layout(dni_layout *layout, const void *shape, void *work) {
    const size_t n = ((const dni_descent_shape *)shape)->n;
    struct owlqn *t = work;
    dni_descent_layout(layout, n, &t->base);
    dni_pairs_layout(layout, n, DNI_LBFGS_PAIRS, &t->pairs);
    t->free = dni_layout_doubles(layout, n);
    t->subgradient = dni_layout_doubles(layout, n);
    t->direction = dni_layout_doubles(layout, n);
}

/* Returns Σ a_i b_i over the free variables. */
static double free_dot(const struct owlqn *t, const double *a, const double *b) {
    double sum = 0;
    for (size_t i = 0; i < t->base.n; i++) {
        sum += t->free[i] * a[i] * b[i];
    }
    return sum;
}

/* q ← M⁻¹q. M is the objective's approximation of the Hessian. */
static void precondition(const dni_objective *o, double *q) {
    if (o->precondition != NULL) {
        o->precondition(o->ctx, q);
    }
}

/* direction ← −B⁻¹ subgradient by the two-loop recursion. */
static void owlqn_direction(struct owlqn *t) {
    const dni_objective *o = t->base.objective;
    const dni_pairs *pairs = &t->pairs;
    const size_t n = o->n;
    double alpha[DNI_LBFGS_PAIRS], sy[DNI_LBFGS_PAIRS], gamma = 0;
    double *q = t->direction, *scratch = t->base.step;
    for (size_t i = 0; i < n; i++) {
        q[i] = -t->subgradient[i];
    }
    for (size_t age = 0; age < pairs->count; age++) {
        const size_t i = dni_pairs_at(pairs, age);
        const double *s = pairs->s + i * n, *y = pairs->y + i * n;
        const double length = sqrt(free_dot(t, s, s) * free_dot(t, y, y));
        sy[i] = free_dot(t, s, y);
        if (!(sy[i] > 1e-14 * length)) {
            sy[i] = 0;
            continue;
        }
        if (gamma == 0) { /* newest pair with positive curvature: it determines gamma */
            for (size_t j = 0; j < n; j++) {
                scratch[j] = t->free[j] * y[j];
            }
            precondition(o, scratch);
            gamma = free_dot(t, y, scratch) / sy[i];
        }
        alpha[i] = free_dot(t, s, q) / sy[i];
        for (size_t j = 0; j < n; j++) {
            q[j] -= alpha[i] * t->free[j] * y[j];
        }
    }
    precondition(o, q);
    for (size_t i = 0; i < n && gamma > 0; i++) {
        q[i] /= gamma;
    }
    for (size_t age = pairs->count; age-- > 0;) {
        const size_t i = dni_pairs_at(pairs, age);
        if (sy[i] == 0) {
            continue;
        }
        const double beta = free_dot(t, pairs->y + i * n, q) / sy[i];
        for (size_t j = 0; j < n; j++) {
            q[j] += (alpha[i] - beta) * t->free[j] * pairs->s[i * n + j];
        }
    }
}

static dn_status owlqn_advance(dni_descent *d, bool *moved, dn_error *err) {
    struct owlqn *t = (struct owlqn *)d;
    for (;;) {
        dni_l1_subgradient(d->objective->l1, d->x, d->gradient, d->n, t->subgradient);
        for (size_t i = 0; i < d->n; i++) {
            t->free[i] = d->x[i] != 0 || t->subgradient[i] != 0;
        }
        owlqn_direction(t);
        dni_orthant_align(d->x, t->subgradient, d->n, t->direction);
        const double slope = dni_dot(t->direction, t->subgradient, d->n);
        if (slope < 0) {
            /* The first step has the same length as in L-BFGS. */
            double first_step = t->pairs.count == 0 && slope < -1 ? 1 / sqrt(-slope) : 1;
            size_t trials = DNI_ORTHANT_TRIALS;
            dn_status status = dni_orthant_search_run(d, t->subgradient, t->direction, first_step,
                                                      &trials, moved, err);
            if (status != DN_OK) {
                return status;
            }
        }
        if (*moved) {
            if (dni_pairs_write(&t->pairs, d) > 0) {
                dni_pairs_keep(&t->pairs);
            }
            return DN_OK;
        }
        if (t->pairs.count == 0) {
            return DN_OK;
        }
        t->pairs.count = 0; /* no decrease: retry with the subgradient as direction */
    }
}

const dni_solver dni_solver_owlqn = {.name = "owlqn",
                                     .needs = DNI_NEEDS_METRIC,
                                     .l1 = true,
                                     .memory = "the pairs and vectors of L-BFGS",
                                     .state_size = sizeof(struct owlqn),
                                     .layout = owlqn_layout,
                                     .advance = owlqn_advance};
