/* Newton's method for the linear support vector machine with squared hinge loss.
 *
 *   F(v) = ½vᵀRv + Σ U s²,   s = max(0, 1 − m),   m = t x̃ᵀv,   x̃ = [x, 1]
 *   ∇F = Rv − Σ α t x̃,   α = 2 U s,   H = R + Σ_{s > 0} 2 U x̃ x̃ᵀ
 *
 * F is convex, piecewise quadratic and has a continuous gradient. H is a generalised Hessian. A
 * step goes from v in the direction −H⁻¹∇F to the minimum of F on this line, which is computed
 * exactly: the derivative along the line is piecewise linear. If the rows with s > 0 do not change
 * in a step of length 1, v is the minimiser. The method ends after a finite number of steps, mostly
 * 5 to 20.
 *
 * The gap between F and the dual objective of α is ½‖∇F‖² when Σ α t = 0, or without the free
 * intercept. The iteration ends when the relative gap is at most the tolerance and the rows with
 * s > 0 are the same in two steps, or when rounding errors prevent a decrease of F.
 *
 * Wide problems (dni_svm_is_wide) are solved in the coordinates of their rows (svm_wide.h), or by
 * conjugate gradients if the rows have few entries.
 *
 * Up to DNI_SVM_MAX_ORDER features H is formed from the rows with s > 0 and factorised. Otherwise
 * the system is solved by conjugate gradients, preconditioned with the diagonal of H, until the
 * residual is η‖∇F‖.
 *
 * Sources: Keerthi and DeCoste, A modified finite Newton method for fast solution of large scale
 * linear SVMs, JMLR 6, 2005; Lin, Weng and Keerthi, Trust region Newton method for logistic
 * regression, JMLR 9, 2008; Chapelle, Training a support vector machine in the primal, Neural
 * Computation 19, 2007. Cost of a step: O(n d²) + O(d³) or, for sparse rows, O(Σ (entries of the
 * row)²) + O(d³); by conjugate gradients O(entries) for each product. */
#include "base/layout.h"
#include "learners/svm/linear/svm_certificate.h"
#include "learners/svm/linear/svm_system.h"
#include "linalg/tile.h"
#include "linalg/vector.h"
#include "optimize/conjugate_gradients.h"

#include <string.h>

enum {
    MAX_PRODUCTS = 1000, /* maximum number of products of conjugate gradients in a step */
    MAX_TRIALS = 200,    /* maximum number of iterations of the search on a line */
    /* Number of steps without a decrease of F or of the gap after which the iteration ends. If
     * margins are close to 1, such steps still change the rows with s > 0. */
    STALLED = 8
};
static const double LARGEST_ETA = 1e-2, SMALLEST_ETA = 1e-5;

struct newton {
    dni_svm_problem *svm;
    bool factorised;       /* H is formed and factorised; false: conjugate gradients */
    dni_svm_system system; /* with conjugate gradients, only `svm` and `penalty` are set */
    double *margin;        /* [n] m */
    double *d_margin;      /* [n] change of m for d_v */
    unsigned char *active; /* [n] s > 0 in the current step */
    double *v, *d_v;       /* [width] weights, direction */
    double *residual;      /* [width] −∇F */
    double *diagonal;      /* [width] diagonal of H; NULL if factorised */
    double *right;         /* [width] right-hand side, which the solution overwrites */
    /* [n_sums] result of a pass: H − R, or with conjugate gradients its diagonal; then Σ α t x̃ */
    double *sums;
    size_t n_sums;
    double value, gap; /* F; estimate of the relative gap */
    size_t n_changed;  /* number of rows whose `active` changed in the last step */
};

/* ---- memory ---- */
struct newton_shape {
    size_t n, width;
    bool factorised;
};

static struct newton_shape newton_shape_of(size_t n_rows, size_t n_features) {
    return (struct newton_shape){n_rows, n_features + 1, n_features <= DNI_SVM_MAX_ORDER};
}

static void newton_layout(dni_layout *layout, const void *shape, void *work) {
    const struct newton_shape *s = shape;
    struct newton *t = work;
    t->margin = dni_layout_doubles(layout, s->n);
    t->d_margin = dni_layout_doubles(layout, s->n);
    t->active = dni_layout_array(layout, s->n, sizeof *t->active);
    t->v = dni_layout_doubles(layout, s->width);
    t->d_v = dni_layout_doubles(layout, s->width);
    t->residual = dni_layout_doubles(layout, s->width);
    t->right = dni_layout_doubles(layout, s->width);
    if (s->factorised) {
        t->diagonal = NULL;
        t->sums = dni_layout_matrix(layout, s->width + 1, s->width);
        dni_svm_system_layout(layout, &s->width, &t->system);
    } else {
        t->diagonal = dni_layout_doubles(layout, s->width);
        t->sums = dni_layout_matrix(layout, 2, s->width);
    }
}

double dni_svm_newton_memory(size_t n_rows, size_t n_features, size_t n_slots) {
    const struct newton_shape shape = newton_shape_of(n_rows, n_features);
    const double width = (double)shape.width;
    struct newton scratch;
    return dni_layout_bytes(newton_layout, &shape, &scratch) +
           (shape.factorised ? dn_run_sum_memory(n_rows, n_slots, width * width + width)
                             : dn_run_sum_memory(n_rows, n_slots, 2 * width) +
                                   dni_conjugate_gradients_bytes(1, shape.width));
}

/* ---- passes over the rows ---- */
static size_t tile_rows(const dn_block *block, size_t first) {
    const size_t left = block->x.n_rows - first;
    return left < DNI_TILE_ROWS ? left : DNI_TILE_ROWS;
}

/* margin ← t (⟨w, x⟩ + w0) for v = [w, w0]. */
static dn_status compute_margins(struct newton *t, const double *v, double *margin, dn_error *err) {
    dn_status status = dni_svm_scores(t->svm, v, margin, err);
    for (size_t i = 0; i < t->svm->n; i++) {
        margin[i] *= t->svm->sign[i];
    }
    return status;
}

/* sum [width] += Σ c x̃_j² over the rows of a tile. */
static void add_squares(dn_matrix x, const double *c, double *sum) {
    for (size_t i = 0; i < x.n_rows; i++) {
        if (c[i] == 0) {
            continue;
        }
        const size_t n = x.kind == DN_DENSE ? x.n_cols : x.row_start[i + 1] - x.row_start[i];
        const double *values = x.values + (x.kind == DN_DENSE ? i * x.stride : x.row_start[i]);
        const uint32_t *cols = x.kind == DN_DENSE ? NULL : x.cols + x.row_start[i];
        for (size_t j = 0; j < n; j++) {
            sum[cols == NULL ? j : cols[j]] += c[i] * values[j] * values[j];
        }
        sum[x.n_cols] += c[i];
    }
}

/* out: H − R or its diagonal, then Σ α t x̃. */
static dn_status form_block(const void *arg, const dn_block *block, size_t slot_number, double *out,
                            dn_error *err) {
    const struct newton *t = arg;
    const dni_svm_problem *svm = t->svm;
    const dni_svm_slot *slot = &svm->slots[slot_number];
    double *vector = out + t->n_sums - svm->width;
    for (size_t first = 0; first < block->x.n_rows; first += DNI_TILE_ROWS) {
        const size_t n = tile_rows(block, first), base = block->first_row + first;
        const dn_matrix x = dn_matrix_rows(block->x, first, n);
        dn_status status = dn_run_stop(svm->run, err);
        if (status != DN_OK) {
            return status;
        }
        for (size_t k = 0; k < n; k++) {
            const size_t i = base + k;
            slot->omega[k] = t->active[i] ? 2 * svm->upper[i] : 0;
            slot->coef[k] = t->active[i] ? svm->sign[i] * slot->omega[k] * (1 - t->margin[i]) : 0;
        }
        dni_tile_gradient(x, slot->coef, 1, vector);
        if (!t->factorised) {
            add_squares(x, slot->omega, out);
            continue;
        }
        status = dni_svm_system_add(&t->system, x, slot, out, err);
        if (status != DN_OK) {
            return status;
        }
    }
    return DN_OK;
}

/* Sets `active`, n_changed and F from the margins. */
static void find_active(struct newton *t) {
    const dni_svm_problem *svm = t->svm;
    double loss = 0, square = 0;
    t->n_changed = 0;
    for (size_t i = 0; i < svm->n; i++) {
        const bool active = svm->upper[i] > 0 && t->margin[i] < 1;
        t->n_changed += active != t->active[i];
        t->active[i] = active;
        loss += active ? svm->upper[i] * (1 - t->margin[i]) * (1 - t->margin[i]) : 0;
    }
    for (size_t j = 0; j < svm->width; j++) {
        square += (j < svm->d ? 1 : t->system.penalty) * t->v[j] * t->v[j];
    }
    t->value = square / 2 + loss;
}

/* Computes F, −∇F, H and the gap at v. */
static dn_status form(struct newton *t, dn_error *err) {
    dni_svm_problem *svm = t->svm;
    const size_t width = svm->width, d = svm->d;
    dn_status status = compute_margins(t, t->v, t->margin, err);
    if (status != DN_OK) {
        return status;
    }
    find_active(t);
    status = dn_run_sum(svm->run, svm->input->rows, &(dn_sum){form_block, t, sizeof *t, t->n_sums},
                        t->sums, err);
    if (status != DN_OK) {
        return status;
    }
    dni_svm_system_residual(&t->system, t->sums + t->n_sums - width, t->v, t->residual);
    const double free_part =
        svm->options->intercept == DNI_SVM_FREE ? fabs(t->residual[d]) * (1 + fabs(t->v[d])) : 0;
    double square = 0;
    for (size_t j = 0; j < width; j++) {
        square += (j < d ? 1 : t->system.penalty) * t->residual[j] * t->residual[j];
    }
    t->gap = (square / 2 + free_part) / fmax(t->value, 1e-300);
    return DN_OK;
}

/* ---- the direction by conjugate gradients ---- */
struct product {
    const struct newton *t;
    const double *v; /* [width] */
};

static dn_status product_block(const void *arg, const dn_block *block, size_t slot_number,
                               double *out, dn_error *err) {
    const struct product *product = arg;
    const struct newton *t = product->t;
    const dni_svm_problem *svm = t->svm;
    const dni_svm_slot *slot = &svm->slots[slot_number];
    for (size_t first = 0; first < block->x.n_rows; first += DNI_TILE_ROWS) {
        const size_t n = tile_rows(block, first), base = block->first_row + first;
        const dn_matrix x = dn_matrix_rows(block->x, first, n);
        dn_status status = dn_run_stop(svm->run, err);
        if (status != DN_OK) {
            return status;
        }
        dni_tile_scores(x, product->v, 1, slot->scores);
        for (size_t k = 0; k < n; k++) {
            slot->coef[k] = t->active[base + k] ? 2 * svm->upper[base + k] * slot->scores[k] : 0;
        }
        dni_tile_gradient(x, slot->coef, 1, out);
    }
    return DN_OK;
}

/* Implements dni_systems.product: out ← H v. */
static dn_status multiply(void *ctx, const dn_run *run, const double *v, double *out,
                          dn_error *err) {
    const struct newton *t = ctx;
    const dni_svm_problem *svm = t->svm;
    const struct product product = {t, v};
    dn_status status =
        dn_run_sum(run, svm->input->rows,
                   &(dn_sum){product_block, &product, sizeof product, svm->width}, out, err);
    if (status != DN_OK) {
        return status;
    }
    dni_axpy(1, v, out, svm->d);
    out[svm->d] = svm->options->intercept == DNI_SVM_NONE
                      ? v[svm->d]
                      : out[svm->d] + t->system.penalty * v[svm->d];
    return DN_OK;
}

/* Implements dni_systems.residual: out ← −∇F − H v. */
static dn_status residual_of(void *ctx, const dn_run *run, const double *v, double *out,
                             dn_error *err) {
    const struct newton *t = ctx;
    dn_status status = multiply(ctx, run, v, out, err);
    for (size_t j = 0; j < t->svm->width; j++) {
        out[j] = t->residual[j] - out[j];
    }
    return status;
}

static dn_status ignore(void *ctx, const dn_run *run, size_t iteration, const double *x,
                        double measure, dn_error *err) {
    (void)ctx;
    (void)iteration;
    (void)x;
    (void)measure;
    return dn_run_stop(run, err);
}

/* d_v ← an approximation of −H⁻¹∇F. The tolerance η is proportional to √gap, which is proportional
 * to ‖∇F‖: the convergence is then quadratic near the minimum. */
static dn_status solve_by_products(struct newton *t, dn_error *err) {
    const dni_svm_problem *svm = t->svm;
    const size_t d = svm->d;
    const double eta = fmax(SMALLEST_ETA, fmin(LARGEST_ETA, sqrt(t->gap)));
    dni_systems_outcome outcome;
    memcpy(t->diagonal, t->sums, svm->width * sizeof *t->diagonal);
    for (size_t j = 0; j < d; j++) {
        t->diagonal[j] += 1;
    }
    t->diagonal[d] += t->system.penalty;
    if (svm->options->intercept == DNI_SVM_NONE || !(t->diagonal[d] > 0)) {
        t->diagonal[d] = 1;
    }
    const dni_systems systems = {.n_systems = 1,
                                 .n = svm->width,
                                 .ctx = t,
                                 .product = multiply,
                                 .residual = residual_of,
                                 .scale = t->diagonal,
                                 .preconditioned = true,
                                 .accepted = ignore};
    return dni_conjugate_gradients(&systems, svm->run, eta, MAX_PRODUCTS, t->d_v, &outcome, err);
}

/* d_v ← −H⁻¹∇F */
static dn_status find_direction(struct newton *t, dn_error *err) {
    const size_t width = t->svm->width;
    if (!t->factorised) {
        return solve_by_products(t, err);
    }
    double *gram = t->system.gram;
    memcpy(gram, t->sums, width * width * sizeof *gram);
    dni_svm_system_penalise(&t->system);
    if (!(gram[width * width - 1] > 0)) { /* no row with s > 0 */
        gram[width * width - 1] = 1;
    }
    memcpy(t->right, t->residual, width * sizeof *t->right);
    return dni_svm_system_solve(&t->system, t->right, t->d_v, false, err);
}

/* ---- the search on the line ---- */
/* Returns the derivative of F(v + a d_v) by a. *curvature ← the second derivative. */
static double slope_at(const struct newton *t, double a, double *curvature) {
    const dni_svm_problem *svm = t->svm;
    double slope = 0, square = 0;
    for (size_t j = 0; j < svm->width; j++) {
        const double r = j < svm->d ? 1 : t->system.penalty, step = t->d_v[j];
        slope += r * (t->v[j] + a * step) * step;
        square += r * step * step;
    }
    for (size_t i = 0; i < svm->n; i++) {
        const double by = t->d_margin[i], s = 1 - t->margin[i] - a * by;
        if (s > 0) {
            slope -= 2 * svm->upper[i] * s * by;
            square += 2 * svm->upper[i] * by * by;
        }
    }
    *curvature = square;
    return slope;
}

/* Returns the step length that minimises F on the line, by Newton's method within a bracket; 0 if F
 * does not decrease in the direction. */
static double step_length(const struct newton *t) {
    double low = 0, high = (double)INFINITY, a = 1, curvature;
    if (!(slope_at(t, 0, &curvature) < 0)) {
        return 0;
    }
    for (size_t k = 0; k < MAX_TRIALS; k++) {
        const double slope = slope_at(t, a, &curvature);
        if (slope == 0 || !(curvature > 0)) {
            break;
        }
        if (slope < 0) {
            low = a;
        } else {
            high = a;
        }
        double next = a - slope / curvature;
        if (!(next > low && next < high)) {
            next = isfinite(high) ? low + (high - low) / 2 : 2 * a;
        }
        if (fabs(next - a) <= 1e-12 * a) {
            break;
        }
        a = next;
    }
    return a;
}

/* ---- the iteration ---- */
static dn_status certify(struct newton *t, dni_svm_solution *out, dn_error *err) {
    dni_svm_problem *svm = t->svm;
    for (size_t i = 0; i < svm->n; i++) {
        svm->alpha[i] = t->active[i] ? 2 * svm->upper[i] * (1 - t->margin[i]) : 0;
    }
    dni_svm_balance(svm, svm->alpha);
    return dni_svm_certify(svm, t->v, NULL, out, err);
}

/* v ← v + a d_v for the best a. *moved ← false if F does not decrease in the direction. */
static dn_status advance(struct newton *t, bool *moved, dn_error *err) {
    dn_status status = find_direction(t, err);
    if (status == DN_OK) {
        status = compute_margins(t, t->d_v, t->d_margin, err);
    }
    if (status != DN_OK) {
        return status;
    }
    const double a = step_length(t);
    *moved = a > 0;
    dni_axpy(a, t->d_v, t->v, t->svm->width);
    return DN_OK;
}

static dn_status iterate(struct newton *t, dni_svm_solution *out, dn_error *err) {
    dni_svm_problem *svm = t->svm;
    const size_t most = svm->options->max_iterations;
    double least = (double)INFINITY, best = (double)INFINITY; /* smallest F and gap so far */
    size_t n_stalled = 0;
    bool moved = true;
    for (size_t k = 0;; k++) {
        dn_status status = form(t, err);
        if (status == DN_OK) {
            svm->iterations = k;
            status = dni_svm_progress(svm, k, most, t->gap, t->value, err);
        }
        if (status != DN_OK) {
            return status;
        }
        if (!isfinite(t->gap)) {
            return dni_svm_not_finite(svm, k, err);
        }
        n_stalled = t->value < least || t->gap < best ? 0 : n_stalled + 1;
        least = fmin(least, t->value);
        best = fmin(best, t->gap);
        const bool stalled = !moved || n_stalled == STALLED,
                   solved = t->gap <= svm->options->tolerance / 2 &&
                            (t->n_changed == 0 || !t->factorised);
        if (stalled || solved || k == most) {
            svm->reason = stalled ? DN_STOP_NO_PROGRESS : DN_STOP_MAX_ITERATIONS;
            return certify(t, out, err);
        }
        status = advance(t, &moved, err);
        if (status != DN_OK) {
            return status;
        }
    }
}

dn_status dni_svm_newton(dni_svm_problem *svm, dni_svm_solution *out, dn_error *err) {
    const struct newton_shape shape = newton_shape_of(svm->n, svm->d);
    struct newton t = {0};
    void *memory;
    dn_status status =
        dni_layout_take(svm->run, newton_layout, &shape, &t, "Newton's method", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    t.svm = svm;
    t.factorised = shape.factorised;
    t.n_sums = (shape.factorised ? svm->width + 1 : 2) * svm->width;
    if (t.factorised) {
        dni_svm_system_init(&t.system, svm);
    } else {
        t.system.svm = svm;
        t.system.penalty = svm->options->intercept == DNI_SVM_PENALISED ? 1 : 0;
    }
    status = iterate(&t, out, err);
    dn_run_free(svm->run, memory);
    return status;
}
