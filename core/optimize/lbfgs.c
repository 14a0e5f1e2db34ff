/* Limited-memory BFGS.
 *
 *   p = −B⁻¹∇f by the two-loop recursion over the last pairs s = x' − x, y = ∇f' − ∇f
 *   B₀ = γM,   γ = yᵀM⁻¹y / sᵀy of the newest pair,   M the preconditioner of the objective
 *
 * Nocedal and Wright, Numerical Optimization, Algorithm 7.4; Liu and Nocedal, Mathematical
 * Programming 45, 1989. A pair enters only when sᵀy > 1e-14·‖s‖·‖y‖, so B stays positive definite.
 * O(pairs·n) per iteration plus evaluations; no allocation in the loop. */
#include "optimize/lbfgs.h"
#include "linalg/vector.h"
#include "optimize/line_search.h"
#include "optimize/solver.h"

#include <math.h>
#include <string.h>

/* Returns the number of pairs for n variables: 2·10⁶/n, but at least 20 and at most 100; if n >
 * 8·10⁵, 16·10⁶/n, but at least 5. The number is limited because an iteration reads all pairs
 * twice. */
static size_t pairs_for(size_t n) {
    const size_t fast = 2000000, most = 16000000, usual = 20, least = 5;
    if (n <= fast / DNI_LBFGS_PAIRS) {
        return DNI_LBFGS_PAIRS;
    }
    if (n <= fast / usual) {
        return fast / n;
    }
    return n <= most / usual ? usual : n <= most / least ? most / n : least;
}

void dni_pairs_layout(dni_layout *layout, size_t n, size_t max_pairs, dni_pairs *pairs) {
    const size_t fit = pairs_for(n);
    pairs->capacity = fit < max_pairs ? fit : max_pairs;
    pairs->s = dni_layout_matrix(layout, pairs->capacity, n);
    pairs->y = dni_layout_matrix(layout, pairs->capacity, n);
}

double dni_pairs_write(dni_pairs *pairs, const dni_descent *d) {
    double *s = pairs->s + pairs->next * d->n, *y = pairs->y + pairs->next * d->n;
    for (size_t i = 0; i < d->n; i++) {
        s[i] = d->x_new[i] - d->x[i];
        y[i] = d->gradient_new[i] - d->gradient[i];
    }
    return dni_dot(s, y, d->n);
}

void dni_pairs_keep(dni_pairs *pairs) {
    pairs->next = (pairs->next + 1) % pairs->capacity;
    if (pairs->count < pairs->capacity) {
        pairs->count++;
    }
}

struct lbfgs {
    dni_descent base;
    dni_pairs pairs;
    double sy[DNI_LBFGS_PAIRS];
    double gamma;      /* B₀⁻¹ = M⁻¹/gamma */
    double *direction; /* [n] */
};

static void lay_out(dni_layout *layout, const void *shape, size_t max_pairs, struct lbfgs *t) {
    const size_t n = ((const dni_descent_shape *)shape)->n;
    dni_descent_layout(layout, n, &t->base);
    dni_pairs_layout(layout, n, max_pairs, &t->pairs);
    t->direction = dni_layout_doubles(layout, n);
}

static void lbfgs_layout(dni_layout *layout, const void *shape, void *work) {
    lay_out(layout, shape, DNI_LBFGS_PAIRS, work);
}

static void lbfgs_20_layout(dni_layout *layout, const void *shape, void *work) {
    lay_out(layout, shape, 20, work);
}

/* direction ← −B⁻¹ gradient */
static void lbfgs_direction(struct lbfgs *t) {
    const dni_objective *o = t->base.objective;
    const dni_pairs *pairs = &t->pairs;
    const size_t n = o->n;
    double alpha[DNI_LBFGS_PAIRS];
    double *q = t->direction;
    for (size_t i = 0; i < n; i++) {
        q[i] = -t->base.gradient[i];
    }
    for (size_t age = 0; age < pairs->count; age++) {
        size_t i = dni_pairs_at(pairs, age);
        alpha[i] = dni_dot(pairs->s + i * n, q, n) / t->sy[i];
        dni_axpy(-alpha[i], pairs->y + i * n, q, n);
    }
    if (o->precondition != NULL) {
        o->precondition(o->ctx, q);
    }
    for (size_t i = 0; i < n; i++) {
        q[i] /= t->gamma;
    }
    for (size_t age = pairs->count; age-- > 0;) {
        size_t i = dni_pairs_at(pairs, age);
        double beta = dni_dot(pairs->y + i * n, q, n) / t->sy[i];
        dni_axpy(alpha[i] - beta, pairs->s + i * n, q, n);
    }
}

/* Stores the pair (s, y) of the last step if its curvature sᵀy is positive. */
static void lbfgs_keep_pair(struct lbfgs *t) {
    const dni_objective *o = t->base.objective;
    dni_pairs *pairs = &t->pairs;
    const size_t n = o->n;
    double sy = dni_pairs_write(pairs, &t->base), *scratch = t->base.step;
    const double *s = pairs->s + pairs->next * n, *y = pairs->y + pairs->next * n;
    if (!(sy > 1e-14 * dni_norm(s, n) * dni_norm(y, n)) || !isfinite(sy)) {
        return;
    }
    memcpy(scratch, y, n * sizeof *y);
    if (o->precondition != NULL) {
        o->precondition(o->ctx, scratch);
    }
    double gamma = dni_dot(y, scratch, n) / sy;
    if (!(gamma > 0) || !isfinite(gamma)) {
        return;
    }
    t->gamma = gamma;
    t->sy[pairs->next] = sy;
    dni_pairs_keep(pairs);
}

static dn_status lbfgs_advance(dni_descent *d, bool *moved, dn_error *err) {
    struct lbfgs *t = (struct lbfgs *)d;
    for (;;) {
        lbfgs_direction(t);
        const double slope = dni_dot(t->direction, d->gradient, d->n);
        if (slope < 0) {
            /* The first step, without pairs: its length in the norm of M is at most 1. */
            double length = sqrt(-slope);
            double first_step = t->pairs.count == 0 && length > 1 ? 1 / length : 1;
            dn_status status = dni_line_search_run(d, t->direction, slope, first_step, moved, err);
            if (status != DN_OK) {
                return status;
            }
        }
        if (*moved) {
            lbfgs_keep_pair(t);
            return DN_OK;
        }
        if (t->pairs.count == 0) {
            return DN_OK;
        }
        t->pairs.count = 0; /* no decrease: retry with the preconditioned gradient */
        t->gamma = 1;
    }
}

static dn_status lbfgs_start(dni_descent *d, const dni_solver_options *options, dn_error *err) {
    (void)options, (void)err;
    ((struct lbfgs *)d)->gamma = 1;
    return DN_OK;
}

const dni_solver dni_solver_lbfgs = {.name = "lbfgs",
                                     .needs = DNI_NEEDS_METRIC,
                                     .smooth = true,
                                     .memory = "the pairs and vectors of L-BFGS",
                                     .state_size = sizeof(struct lbfgs),
                                     .layout = lbfgs_layout,
                                     .start = lbfgs_start,
                                     .advance = lbfgs_advance};

const dni_solver dni_solver_lbfgs_20 = {.name = "lbfgs",
                                        .needs = DNI_NEEDS_METRIC,
                                        .smooth = true,
                                        .memory = "the pairs and vectors of L-BFGS",
                                        .state_size = sizeof(struct lbfgs),
                                        .layout = lbfgs_20_layout,
                                        .start = lbfgs_start,
                                        .advance = lbfgs_advance};
