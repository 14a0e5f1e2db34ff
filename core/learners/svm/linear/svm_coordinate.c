/* Dual coordinate descent for the linear support vector machine, hinge and squared hinge loss.
 *
 *   min_α  ½αᵀ(Q + D)α − Σ α_i (1 − t_i b)    subject to  0 <= α_i <= U_i,   Q_ij = t_i t_j x_iᵀx_j
 *
 *   hinge          D = 0, U_i = C v_i
 *   squared hinge  D_ii = 1/(2 C v_i), U_i = ∞
 *   invariant      w = Σ α_i t_i x_i
 *   intercept      none: b = 0; penalised: b = 0 and a feature that is always 1; free: see below
 *
 * A pass visits the rows in a random order and minimises over one α_i at a time. If an α is at a
 * bound and will probably stay there, the following passes omit its row (shrinking) until the other
 * α have converged. Then the relative duality gap is computed from all rows. If the gap is above
 * the tolerance, epsilon, the tolerance of the passes, is lowered.
 *
 * Free intercept: let α(b) be the minimiser for a given b. The derivative of the primal minimum by
 * b is −h(b) with h(b) = Σ α_i(b) t_i. h decreases in b. The zero of h is bracketed and found by
 * regula falsi (Illinois); the descent for a new b starts from the previous α. The dual objective
 * is computed from the convex combination of the α of both ends for which Σ α t = 0, which is
 * feasible. Therefore it does not matter that h is inexact and has jumps. The primal objective is
 * computed from w of the last descent and the best intercept.
 *
 * Source: Hsieh, Chang, Lin, Keerthi and Sundararajan, A dual coordinate descent method for
 * large-scale linear SVM, ICML 2008, Algorithm 3; shrinking: section 3.2. Cost: O(nnz) per pass. */
#include "base/layout.h"
#include "base/random.h"
#include "learners/svm/linear/svm_certificate.h"
#include "linalg/step.h"
#include "linalg/vector.h"

#include <string.h>

static const double FIRST_EPSILON = 0.1, LAST_EPSILON = 1e-12;

struct coordinate {
    dni_svm_problem *svm;
    size_t *index;        /* [n_rows] indices of the rows with weight > 0; active rows first */
    double *q;            /* [n] diagonal of Q + D */
    double *alpha;        /* [n] at the current b */
    double *w;            /* [width] Σ α t x */
    double *left, *right; /* [n] α at the ends of the bracket: left: h > 0; right: h < 0 */
    double *work;         /* [2n] */
    double b;
    double epsilon; /* a descent ends if its projected gradients differ by at most this */
    double gap;     /* relative gap; NaN: not computed yet */
    double primal;  /* primal objective; NaN: not computed yet */
    dni_random random;
    dni_pace pace;
    dni_svm_solution *out;
};

struct coordinate_shape {
    size_t n, width;
};

static void coordinate_layout(dni_layout *layout, const void *shape, void *work) {
    const size_t n = ((const struct coordinate_shape *)shape)->n;
    struct coordinate *c = work;
    c->index = dni_layout_array(layout, n, sizeof *c->index);
    c->q = dni_layout_doubles(layout, n);
    c->alpha = dni_layout_doubles(layout, n);
    c->left = dni_layout_doubles(layout, n);
    c->right = dni_layout_doubles(layout, n);
    c->work = dni_layout_matrix(layout, 2, n);
    c->w = dni_layout_doubles(layout, ((const struct coordinate_shape *)shape)->width);
}

double dni_svm_coordinate_memory(size_t n_rows, size_t n_features) {
    const struct coordinate_shape shape = {n_rows, n_features + 1};
    struct coordinate scratch;
    return dni_layout_bytes(coordinate_layout, &shape, &scratch);
}

/* Returns x_iᵀx_i, plus 1 for a penalised intercept. */
static double square_of(const dni_svm_problem *svm, size_t i) {
    const dn_matrix *x = &svm->block[i / DN_BLOCK_ROWS];
    const size_t t = i % DN_BLOCK_ROWS;
    const double *v = x->values + (x->kind == DN_DENSE ? t * x->stride : x->row_start[t]);
    return dni_dot(v, v, dni_svm_row_entries(svm, i)) +
           (svm->options->intercept == DNI_SVM_PENALISED);
}

static void prepare(struct coordinate *c) {
    const dni_svm_problem *svm = c->svm;
    size_t n = 0;
    for (size_t i = 0; i < svm->n; i++) {
        if (!(svm->upper[i] > 0)) {
            continue;
        }
        c->index[n++] = i;
        c->q[i] = square_of(svm, i) + (svm->options->squared ? 1 / (2 * svm->upper[i]) : 0);
    }
    dni_random_init(&c->random, svm->run->seed, DNI_STREAM_COORDINATES);
    c->pace.run = svm->run;
    c->gap = c->primal = (double)NAN;
}

/* ---- descent ---- */
/* The active rows of a descent, and the bounds of the gradient: a row with α at a bound and a
 * gradient outside these bounds becomes inactive. */
struct active {
    size_t n;
    double high, low; /* bounds: extreme projected gradients of the previous pass; infinite: none */
    double greatest, least; /* extreme projected gradients of the current pass */
};

/* Minimises over α_i. Returns true, without a step, if row i becomes inactive. */
static bool minimise_row(struct coordinate *c, struct active *active, size_t i) {
    dni_svm_problem *svm = c->svm;
    const bool squared = svm->options->squared;
    const double t = svm->sign[i], a = c->alpha[i], u = squared ? (double)INFINITY : svm->upper[i];
    double g = t * (dni_svm_row_dot(svm, i, c->w) + c->b) - 1, projected = 0;
    if (svm->options->intercept == DNI_SVM_PENALISED) {
        g += t * c->w[svm->d];
    }
    if (squared) {
        g += a / (2 * svm->upper[i]);
    }
    if (a == 0) {
        if (g > active->high) {
            return true;
        }
        projected = g < 0 ? g : 0;
    } else if (a == u) {
        if (g < active->low) {
            return true;
        }
        projected = g > 0 ? g : 0;
    } else {
        projected = g;
    }
    active->greatest = projected > active->greatest ? projected : active->greatest;
    active->least = projected < active->least ? projected : active->least;
    if (!(fabs(projected) > 1e-14)) {
        return false;
    }
    double next = c->q[i] > 0 ? a - g / c->q[i] : g < 0 ? u : 0;
    next = next > u ? u : next > 0 ? next : 0;
    if (next != a) {
        c->alpha[i] = next;
        dni_svm_row_add(svm, i, t * (next - a), c->w);
        c->w[svm->d] += t * (next - a);
    }
    return false;
}

static dn_status pass(struct coordinate *c, struct active *active, dn_error *err) {
    active->greatest = -(double)INFINITY;
    active->least = (double)INFINITY;
    dni_random_shuffle(&c->random, c->index, active->n);
    for (size_t k = 0; k < active->n;) {
        const size_t i = c->index[k];
        dn_status status =
            dni_pace_poll(&c->pace, 4 * (double)dni_svm_row_entries(c->svm, i) + 20, err);
        if (status != DN_OK) {
            return status;
        }
        if (!minimise_row(c, active, i)) {
            k++;
            continue;
        }
        active->n--;
        c->index[k] = c->index[active->n];
        c->index[active->n] = i;
    }
    c->svm->iterations++;
    if (!dni_all_finite(c->w, c->svm->width)) {
        return dni_svm_not_finite(c->svm, c->svm->iterations, err);
    }
    return dni_svm_progress(c->svm, c->svm->iterations, c->svm->options->max_iterations, c->gap,
                            c->primal, err);
}

static bool is_exhausted(const struct coordinate *c) {
    return c->svm->iterations >= c->svm->options->max_iterations;
}

/* Makes passes until the projected gradients of all rows differ by at most epsilon, or until
 * max_iterations is reached. */
static dn_status descend(struct coordinate *c, dn_error *err) {
    struct active active = {c->svm->n_rows, (double)INFINITY, -(double)INFINITY, 0, 0};
    while (!is_exhausted(c)) {
        dn_status status = pass(c, &active, err);
        if (status != DN_OK) {
            return status;
        }
        const bool done = active.n == 0 || active.greatest - active.least <= c->epsilon;
        if (done && active.n == c->svm->n_rows) {
            return DN_OK;
        }
        active.high = !done && active.greatest > 0 ? active.greatest : (double)INFINITY;
        active.low = !done && active.least < 0 ? active.least : -(double)INFINITY;
        if (done) {
            active.n = c->svm->n_rows;
        }
    }
    return DN_OK;
}

/* Computes the duality gap of svm->alpha from all rows. With a free intercept the primal objective
 * is computed from the current w, not from svm->alpha: making α feasible would change w much more
 * than the best intercept does. */
static dn_status certify(struct coordinate *c, dn_error *err) {
    const double *v = c->svm->options->intercept == DNI_SVM_FREE ? c->w : NULL;
    dn_status status = dni_svm_certify(c->svm, v, c->work, c->out, err);
    if (status != DN_OK) {
        return status;
    }
    c->gap = c->out->gap;
    c->primal = c->out->primal;
    return DN_OK;
}

/* Multiplies epsilon by tolerance/(2 gap), limited to 0.01 … 0.3. */
static void lower_epsilon(struct coordinate *c) {
    const double tolerance = c->svm->options->tolerance;
    c->epsilon *= fmax(0.01, fmin(0.3, tolerance / (2 * c->gap)));
}

/* Solves the problem with a penalised intercept or without an intercept. */
static dn_status solve_fixed(struct coordinate *c, dn_error *err) {
    dni_svm_problem *svm = c->svm;
    for (;;) {
        dn_status status = descend(c, err);
        if (status != DN_OK) {
            return status;
        }
        memcpy(svm->alpha, c->alpha, svm->n * sizeof *svm->alpha);
        status = certify(c, err);
        if (status != DN_OK || c->out->certified || is_exhausted(c) || c->epsilon < LAST_EPSILON) {
            return status;
        }
        memcpy(c->w, svm->w, svm->width * sizeof *c->w); /* removes accumulated rounding errors */
        lower_epsilon(c);
    }
}

/* ---- free intercept ---- */
static double imbalance(const struct coordinate *c) {
    double sum = 0;
    for (size_t i = 0; i < c->svm->n; i++) {
        sum += c->alpha[i] * c->svm->sign[i];
    }
    return sum;
}

/* The bracket of the zero of h. */
struct bracket {
    double low, high;               /* ends: h(low) > 0, h(high) < 0; infinite: unknown */
    double at_low, at_high;         /* h at low, h at high */
    double scaled_low, scaled_high; /* at_low, at_high after the halvings of the Illinois rule */
};

/* Replaces one end of the bracket by the current b. h: value at b; its sign selects the end. */
static void replace_end(struct coordinate *c, struct bracket *z, double h) {
    if (h > 0) {
        memcpy(c->left, c->alpha, c->svm->n * sizeof *c->left);
        z->scaled_high /= z->low > -(double)INFINITY ? 2 : 1;
        z->low = c->b;
        z->at_low = z->scaled_low = h;
    } else {
        memcpy(c->right, c->alpha, c->svm->n * sizeof *c->right);
        z->scaled_low /= z->high < (double)INFINITY ? 2 : 1;
        z->high = c->b;
        z->at_high = z->scaled_high = h;
    }
}

/* svm->alpha ← a feasible α: the convex combination of the α at both ends of the bracket with Σ α t
 * = 0. If only one end is known: the current α, balanced by dni_svm_balance. */
static void combine_ends(struct coordinate *c, const struct bracket *z) {
    dni_svm_problem *svm = c->svm;
    const bool both = isfinite(z->low) && isfinite(z->high);
    const double left_share = both ? -z->at_high / (z->at_low - z->at_high) : 0;
    for (size_t i = 0; i < svm->n; i++) {
        const double l = c->left[i], r = c->right[i];
        svm->alpha[i] = !both ? c->alpha[i] : l == r ? l : left_share * l + (1 - left_share) * r;
    }
    dni_svm_balance(svm, svm->alpha);
}

/* Searches for the zero of h, starting at the current b with steps of `step` until the zero is
 * bracketed. Stops at h = 0, at max_iterations, when the gap is below the tolerance, or when the
 * bracket is so narrow that a smaller epsilon is needed. */
static dn_status find_zero(struct coordinate *c, double step, dn_error *err) {
    struct bracket z = {.low = -(double)INFINITY, .high = (double)INFINITY};
    for (;;) {
        dn_status status = descend(c, err);
        if (status != DN_OK) {
            return status;
        }
        const double h = imbalance(c);
        if (h == 0) {
            memcpy(c->left, c->alpha, c->svm->n * sizeof *c->left);
        }
        replace_end(c, &z, h);
        combine_ends(c, &z);
        if (h == 0) {
            memcpy(c->svm->alpha, c->alpha, c->svm->n * sizeof *c->alpha);
        }
        status = certify(c, err);
        if (status != DN_OK || c->out->certified || is_exhausted(c) || h == 0) {
            return status;
        }
        const double width = z.high - z.low;
        if (width <= fmin(0.1, c->epsilon) * fmax(1, fabs(c->b)) || width <= 1e-14 * fabs(c->b)) {
            return DN_OK;
        }
        if (isfinite(width)) {
            const double next =
                (z.low * -z.scaled_high + z.high * z.scaled_low) / (z.scaled_low - z.scaled_high);
            c->b = fmin(fmax(next, z.low + 0.01 * width), z.high - 0.01 * width);
        } else {
            c->b += h > 0 ? step : -step;
            step *= 4;
        }
    }
}

/* Sets the first b, α and epsilon: solves the problem with a penalised intercept, which has a
 * similar solution and needs no search for b. */
static dn_status find_start(struct coordinate *c, dn_error *err) {
    dni_svm_problem *svm = c->svm;
    const dni_svm_options *options = svm->options;
    dni_svm_options penalised = *options;
    penalised.intercept = DNI_SVM_PENALISED;
    svm->options = &penalised;
    prepare(c);
    dn_status status = solve_fixed(c, err);
    svm->options = options;
    prepare(c);
    if (status != DN_OK) {
        return status;
    }
    dni_svm_balance(svm, svm->alpha);
    status = certify(c, err);
    c->b = c->out->w0;
    return status;
}

static dn_status solve_free(struct coordinate *c, dn_error *err) {
    dn_status status = find_start(c, err);
    while (status == DN_OK && !c->out->certified && !is_exhausted(c) && c->epsilon > LAST_EPSILON) {
        status = find_zero(c, c->epsilon, err);
        c->b = c->out->w0;
        lower_epsilon(c);
    }
    return status;
}

dn_status dni_svm_coordinate(dni_svm_problem *svm, dni_svm_solution *out, dn_error *err) {
    const struct coordinate_shape shape = {svm->n, svm->width};
    struct coordinate c = {.svm = svm, .epsilon = FIRST_EPSILON, .out = out};
    void *memory;
    dn_status status = dni_layout_take(svm->run, coordinate_layout, &shape, &c,
                                       "coordinate descent", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    if (svm->options->intercept == DNI_SVM_FREE) {
        status = solve_free(&c, err);
    } else {
        prepare(&c);
        status = solve_fixed(&c, err);
    }
    /* The report uses the reason only if the solution is not certified. */
    svm->reason = is_exhausted(&c) ? DN_STOP_MAX_ITERATIONS : DN_STOP_NO_PROGRESS;
    dn_run_free(svm->run, memory);
    return status;
}
