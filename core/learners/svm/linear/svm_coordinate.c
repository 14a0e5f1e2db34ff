/* Dual coordinate descent for the linear support vector machine, hinge and squared hinge.
 *
 *   min_α  ½αᵀ(Q + D)α − Σ α_i (1 − t_i b)    subject to  0 <= α_i <= U_i,   Q_ij = t_i t_j x_iᵀx_j
 *   hinge: D = 0, U_i = C v_i;   squared hinge: D_ii = 1/(2 C v_i), U_i = ∞.   Kept throughout: w = Σ α_i t_i x_i.
 *   intercept: none b = 0; penalised a feature that is always 1, b = 0; free: b is fixed here, and found outside.
 * A pass visits the rows in a random order and puts each α_i where its own derivative vanishes; α at a border that will probably stay there are left out of the
 * passes (shrinking) until the others are done. Then the relative gap is computed from all rows, and the others' tolerance is lowered until it is small enough.
 *
 * Free intercept: the derivative of the minimum in b is −h(b), h(b) = Σ α_i t_i, which falls with b. Its zero is bracketed and closed in upon by regula falsi
 * (Illinois); each b begins with the α of the last. Of the α of both ends that mixture is feasible whose Σ α t is 0: it is what the dual is computed of, so that it
 * does not matter where h jumps or how exactly it is known; the primal is that of the last descent's w and the best intercept for it.
 *
 * Hsieh, Chang, Lin, Keerthi and Sundararajan, A dual coordinate descent method for large-scale linear SVM, ICML 2008, Algorithm 3, shrinking section 3.2. O(nnz) a pass. */
#include "base/random.h"
#include "learners/svm/linear/svm_certificate.h"
#include "linalg/step.h"
#include "linalg/vector.h"

#include <string.h>

enum { ROW_ARRAYS = 6, RANDOM_STREAM = 31 };
static const double FIRST_EPSILON = 0.1, LAST_EPSILON = 1e-12;

struct coordinate {
    dni_svm_problem *svm;
    size_t *index;        /* [n_rows] rows with a weight, the active ones first */
    double *q;            /* [n] diagonal of Q + D */
    double *alpha;        /* [n] at the present b */
    double *w;            /* [width] of them */
    double *left, *right; /* [n] α where h > 0, and where h < 0 */
    double *work;         /* [2n] */
    double b;
    double epsilon;     /* range of the projected gradient at which a descent ends */
    double gap, primal; /* last computed; NaN before */
    dni_random random;
    dni_pace pace;
    dni_svm_solution *out;
};

double dni_svm_coordinate_memory(const dni_svm_options *options, size_t n_rows, size_t n_features) {
    (void)options;
    return (8.0 * ROW_ARRAYS + (double)sizeof(size_t)) * (double)n_rows +
           8.0 * ((double)n_features + 1);
}

static dn_status get_memory(struct coordinate *c, void **out_memory, void **out_index,
                            dn_error *err) {
    const size_t n = c->svm->n;
    dn_status status = dn_run_alloc(c->svm->run, c->svm->n_rows, sizeof *c->index,
                                    "the order of the rows", out_index, err);
    if (status == DN_OK) {
        status = dn_run_alloc(c->svm->run, ROW_ARRAYS * n + c->svm->width, sizeof(double),
                              "coordinate descent", out_memory, err);
    }
    if (status != DN_OK) {
        return status;
    }
    c->index = *out_index;
    c->q = *out_memory;
    c->alpha = c->q + n;
    c->left = c->alpha + n;
    c->right = c->left + n;
    c->work = c->right + n;
    c->w = c->work + 2 * n;
    return DN_OK;
}

/* x_iᵀx_i; with a penalised intercept 1 more. */
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
    dni_random_init(&c->random, svm->run->seed, RANDOM_STREAM);
    c->pace.run = svm->run;
    c->gap = c->primal = (double)NAN;
}

/* ---- descent ---- */
/* Of a descent: which rows take part, and the borders of the last pass beyond which a row is left out. */
struct active {
    size_t n;
    double high, low;       /* of the last pass */
    double greatest, least; /* projected gradients of this pass */
};

/* Visits one row. true: it is left out from now on. */
static bool visit(struct coordinate *c, struct active *active, size_t i) {
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
        if (!visit(c, active, i)) {
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

static bool spent(const struct coordinate *c) {
    return c->svm->iterations >= c->svm->options->max_iterations;
}

/* Passes until all rows' projected gradients are within epsilon. */
static dn_status descend(struct coordinate *c, dn_error *err) {
    struct active active = {c->svm->n_rows, (double)INFINITY, -(double)INFINITY, 0, 0};
    while (!spent(c)) {
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

/* The gap of svm->alpha on all rows. With a free intercept the primal is that of the present w, whose own intercept was not quite right: what makes α feasible moves w much farther. */
static dn_status judge(struct coordinate *c, dn_error *err) {
    const double *v = c->svm->options->intercept == DNI_SVM_FREE ? c->w : NULL;
    dn_status status = dni_svm_certify(c->svm, v, c->work, c->out, err);
    if (status != DN_OK) {
        return status;
    }
    c->gap = c->out->gap;
    c->primal = c->out->primal;
    return DN_OK;
}

/* An epsilon that is lower, and as low as the gap asks for. */
static void lower_epsilon(struct coordinate *c) {
    const double tolerance = c->svm->options->tolerance;
    c->epsilon *= fmax(0.01, fmin(0.3, tolerance / (2 * c->gap)));
}

/* Penalised or no intercept. */
static dn_status solve_fixed(struct coordinate *c, dn_error *err) {
    dni_svm_problem *svm = c->svm;
    for (;;) {
        dn_status status = descend(c, err);
        if (status != DN_OK) {
            return status;
        }
        memcpy(svm->alpha, c->alpha, svm->n * sizeof *svm->alpha);
        status = judge(c, err);
        if (status != DN_OK || c->out->certified || spent(c) || c->epsilon < LAST_EPSILON) {
            return status;
        }
        memcpy(c->w, svm->w, svm->width * sizeof *c->w); /* without the rounding of many steps */
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

/* Where h changes its sign. */
struct bracket {
    double low, high;           /* b with h > 0, and with h < 0; infinite: not found */
    double at_low, at_high;     /* h there */
    double held_low, held_high; /* the same, halved by Illinois where an end does not move */
};

/* The present b becomes an end of the bracket. */
static void take_end(struct coordinate *c, struct bracket *z, double h) {
    if (h > 0) {
        memcpy(c->left, c->alpha, c->svm->n * sizeof *c->left);
        z->held_high /= z->low > -(double)INFINITY ? 2 : 1;
        z->low = c->b;
        z->at_low = z->held_low = h;
    } else {
        memcpy(c->right, c->alpha, c->svm->n * sizeof *c->right);
        z->held_low /= z->high < (double)INFINITY ? 2 : 1;
        z->high = c->b;
        z->at_high = z->held_high = h;
    }
}

/* svm->alpha ← what is feasible of what there is: the mixture of both ends, or one end with its heavier class made lighter. */
static void mix(struct coordinate *c, const struct bracket *z) {
    dni_svm_problem *svm = c->svm;
    const bool both = isfinite(z->low) && isfinite(z->high);
    const double share = both ? -z->at_high / (z->at_low - z->at_high) : 0;
    for (size_t i = 0; i < svm->n; i++) {
        const double l = c->left[i], r = c->right[i];
        svm->alpha[i] = !both ? c->alpha[i] : l == r ? l : share * l + (1 - share) * r;
    }
    dni_svm_balance(svm, svm->alpha);
}

/* Looks for the zero of h from b on, in steps of `step` until it is bracketed; ends with the certificate, or when the bracket is narrower than what epsilon tells. */
static dn_status close_in(struct coordinate *c, double step, dn_error *err) {
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
        take_end(c, &z, h);
        mix(c, &z);
        if (h == 0) {
            memcpy(c->svm->alpha, c->alpha, c->svm->n * sizeof *c->alpha);
        }
        status = judge(c, err);
        if (status != DN_OK || c->out->certified || spent(c) || h == 0) {
            return status;
        }
        const double width = z.high - z.low;
        if (width <= fmin(0.1, c->epsilon) * fmax(1, fabs(c->b)) || width <= 1e-14 * fabs(c->b)) {
            return DN_OK;
        }
        if (isfinite(width)) {
            const double next =
                (z.low * -z.held_high + z.high * z.held_low) / (z.held_low - z.held_high);
            c->b = fmin(fmax(next, z.low + 0.01 * width), z.high - 0.01 * width);
        } else {
            c->b += h > 0 ? step : -step;
            step *= 4;
        }
    }
}

/* The first b, α and epsilon are those of a penalised intercept, which is found without a search and is seldom far. */
static dn_status find_start(struct coordinate *c, dn_error *err) {
    dni_svm_problem *svm = c->svm;
    const dni_svm_options *own = svm->options;
    dni_svm_options penalised = *own;
    penalised.intercept = DNI_SVM_PENALISED;
    svm->options = &penalised;
    prepare(c);
    dn_status status = solve_fixed(c, err);
    svm->options = own;
    prepare(c);
    if (status != DN_OK) {
        return status;
    }
    dni_svm_balance(svm, svm->alpha);
    status = judge(c, err);
    c->b = c->out->w0;
    return status;
}

static dn_status solve_free(struct coordinate *c, dn_error *err) {
    dn_status status = find_start(c, err);
    while (status == DN_OK && !c->out->certified && !spent(c) && c->epsilon > LAST_EPSILON) {
        status = close_in(c, c->epsilon, err);
        c->b = c->out->w0;
        lower_epsilon(c);
    }
    return status;
}

dn_status dni_svm_coordinate(dni_svm_problem *svm, dni_svm_solution *out, dn_error *err) {
    struct coordinate c = {.svm = svm, .epsilon = FIRST_EPSILON, .out = out};
    void *memory = NULL, *index = NULL;
    dn_status status = get_memory(&c, &memory, &index, err);
    if (status == DN_OK && svm->options->intercept == DNI_SVM_FREE) {
        status = solve_free(&c, err);
    } else if (status == DN_OK) {
        prepare(&c);
        status = solve_fixed(&c, err);
    }
    svm->reason = spent(&c) ? DN_STOP_MAX_ITERATIONS
                            : DN_STOP_NO_PROGRESS; /* unless the certificate says otherwise */
    dn_run_free(svm->run, memory);
    dn_run_free(svm->run, index);
    return status;
}
