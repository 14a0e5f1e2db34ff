/* The hard margin: the nearest points of the convex hulls of the two classes.
 *
 *   free intercept   min ‖p‖, p = Σ β_i t_i x_i, β >= 0, Σ β = 1 in each class;  w = 2p/‖p‖², the
 *                    boundary is halfway between the two points
 *   penalised, none  the point of the convex hull of t_i [x_i, 1], or t_i x_i, nearest to the
 *                    origin; w = p/‖p‖²
 *
 * The nearest points exist for any data. For any p of the above form ‖p‖ is an upper bound of the
 * distance of the hulls, and the smallest projections of the rows on p give a lower bound. The
 * classes are separated if the lower bound is positive. The difference of both bounds is the
 * duality gap. A row is added to the working set if its projection on p is smaller than that of its
 * group's point, and removed if its coefficient β would become negative.
 *
 * Sequential minimal optimisation solves the same problem, but with kernel values, whose
 * differences lose digits: it fails for hulls at a distance of 1e-8 times the length of the rows,
 * while this solver succeeds down to 1e-9. Measured on 6,000 rows of 20 features, sequential
 * minimal optimisation takes 150 times as long as this solver, with a gap of 3e-7 instead of 1e-15;
 * on 1,000 rows of 250 features it takes 32 times as long.
 *
 * A soft margin has the same solution if no α of the hard margin is above its upper bound
 * (dni_svm_try_hard).
 *
 * Sources: Wolfe, Mathematical Programming 11, 1976; Bennett and Bredensteiner, Duality and
 * geometry in SVM classifiers, ICML 2000. Cost: one pass over the rows per step. */
#include "base/layout.h"
#include "learners/svm/linear/svm_certificate.h"
#include "learners/svm/linear/svm_corral.h"
#include "linalg/step.h"
#include "linalg/vector.h"

#include <string.h>

enum { STEPS_PER_ITERATION = 50 };
#define MIN_DISTANCE 1e-9 /* hulls at a distance <= MIN_DISTANCE · max ‖x‖ touch */
#define ROUNDING 1e-14 /* violations up to ROUNDING · ‖p‖ · max(‖p‖, max ‖x‖) are ignored */

struct hard {
    dni_svm_problem *svm;
    dni_corral corral;
    bool two_hulls; /* true: two hulls (free intercept); false: one hull */
    /* [width] Σ β_i t_i (x_i − shift): the difference of the current points of both hulls, or the
     * current point of the hull; p[d] is the component of the intercept */
    double *p;
    double *z; /* [width] working memory of add_point */
    /* [width] vector that is subtracted from all rows: the means of the columns if there are two
     * hulls, whose distance does not change; otherwise 0 */
    double *shift;
    double *affine;  /* [capacity + 1] coefficients of the minimiser in the affine hull */
    double *linear;  /* [capacity + 1] working memory */
    double max_norm; /* max ‖x‖ */
    size_t *batch;   /* [capacity] rows to add in this step */
    size_t n_batch;
    double min_dot[2]; /* smallest t (x − shift)ᵀp over the rows of each group */
    size_t min_row[2]; /* the row of each group that has the value min_dot */
    double norm;       /* ‖p‖ */
    size_t first;      /* number of iterations of the solver that ran before; 0: none ran */
    size_t most;       /* maximum number of steps */
    double largest;    /* the search ends if the dual objective exceeds this value */
    /* used for a soft margin, otherwise NULL: [n] α and [width] w of the solution to improve; [2n]
     * working memory */
    double *kept_alpha, *kept_w, *work;
    dni_pace pace;
};

static size_t capacity_of(size_t n_rows, size_t n_features) {
    return n_rows < n_features + 2 ? n_rows : n_features + 2;
}

struct hard_shape {
    size_t width;
    size_t n_kept; /* soft margin: number of rows; hard margin: 0 */
    dni_corral_shape corral;
};

static struct hard_shape shape_of(size_t n_rows, size_t n_features, size_t n_kept) {
    return (struct hard_shape){.width = n_features + 1,
                               .n_kept = n_kept,
                               .corral.capacity = capacity_of(n_rows, n_features)};
}

static void hard_layout(dni_layout *layout, const void *shape, void *work) {
    const struct hard_shape *s = shape;
    struct hard *h = work;
    h->p = dni_layout_doubles(layout, s->width);
    h->z = dni_layout_doubles(layout, s->width);
    h->shift = dni_layout_doubles(layout, s->width);
    h->affine = dni_layout_doubles(layout, s->corral.capacity + 1);
    h->linear = dni_layout_doubles(layout, s->corral.capacity + 1);
    h->batch = dni_layout_array(layout, s->corral.capacity, sizeof *h->batch);
    dni_corral_layout(layout, &s->corral, &h->corral);
    if (s->n_kept > 0) {
        h->kept_alpha = dni_layout_doubles(layout, s->n_kept);
        h->kept_w = dni_layout_doubles(layout, s->width);
        h->work = dni_layout_matrix(layout, 2, s->n_kept);
    }
}

double dni_svm_hard_memory(size_t n_rows, size_t n_features) {
    const struct hard_shape shape = shape_of(n_rows, n_features, 0);
    struct hard scratch;
    return dni_layout_bytes(hard_layout, &shape, &scratch);
}

double dni_svm_try_hard_memory(size_t n_rows, size_t n_features) {
    const struct hard_shape shape = shape_of(n_rows, n_features, n_rows);
    struct hard scratch;
    return dni_layout_bytes(hard_layout, &shape, &scratch);
}

static unsigned group_of(const struct hard *h, size_t i) {
    return h->two_hulls && h->svm->sign[i] > 0;
}

static bool has_one(const struct hard *h) {
    return h->svm->options->intercept == DNI_SVM_PENALISED;
}

/* Returns a_iᵀv for the point a_i = t (x − shift), or a_i = t [x, 1] for a penalised intercept.
 * shift_dot: shiftᵀv. Dense rows are shifted before the multiplication. */
static double point_dot(const struct hard *h, size_t i, const double *v, double shift_dot) {
    const dni_svm_problem *svm = h->svm;
    const dn_matrix *x = &svm->block[i / DN_BLOCK_ROWS];
    double sum = 0;
    if (h->two_hulls && x->kind == DN_DENSE) {
        const double *row = x->values + i % DN_BLOCK_ROWS * x->stride;
        for (size_t j = 0; j < svm->d; j++) {
            sum += (row[j] - h->shift[j]) * v[j];
        }
    } else {
        sum = dni_svm_row_dot(svm, i, v) - shift_dot + (has_one(h) ? v[svm->d] : 0);
    }
    return svm->sign[i] * sum;
}

/* v ← v + s a_i */
static void point_add(const struct hard *h, size_t i, double s, double *v) {
    const dni_svm_problem *svm = h->svm;
    const double t = svm->sign[i];
    dni_svm_row_add(svm, i, s * t, v);
    if (h->two_hulls) {
        dni_axpy(-s * t, h->shift, v, svm->d);
    }
    if (has_one(h)) {
        v[svm->d] += s * t;
    }
}

static double shift_dot(const struct hard *h, const double *v) {
    return h->two_hulls ? dni_dot(h->shift, v, h->svm->d) : 0;
}

/* p ← Σ coef[k] a_k over the points a_k of the working set. */
static dn_status combine_points(struct hard *h, const double *coef, dn_error *err) {
    dn_status status = DN_OK;
    memset(h->p, 0, h->svm->width * sizeof *h->p);
    for (size_t k = 0; k < h->corral.n && status == DN_OK; k++) {
        point_add(h, h->corral.index[k], coef[k], h->p);
        status = dni_pace_poll(&h->pace, 4 * (double)h->svm->width, err);
    }
    for (size_t j = 0; j < h->svm->d; j++) {
        if (h->two_hulls && h->svm->moments.deviation[j] == 0) {
            h->p[j] = 0;
        }
    }
    return status;
}

/* Sets h->min_dot and h->min_row: the smallest inner product with `direction` in each group, and
 * its row. */
static dn_status project(struct hard *h, const double *direction, dn_error *err) {
    dni_svm_problem *svm = h->svm;
    double *v = svm->table;
    memcpy(v, direction, svm->d * sizeof *v);
    v[svm->d] = has_one(h) ? direction[svm->d] : -shift_dot(h, direction);
    dn_status status = dni_svm_scores(svm, v, svm->score, err);
    h->min_dot[0] = h->min_dot[1] = (double)INFINITY;
    for (size_t i = 0; status == DN_OK && i < svm->n; i++) {
        const double value = svm->sign[i] * svm->score[i];
        const unsigned g = group_of(h, i);
        if (svm->upper[i] > 0 && value < h->min_dot[g]) {
            h->min_dot[g] = value;
            h->min_row[g] = i;
        }
    }
    return status;
}

/* Adds row i with the coefficient `coef` to the working set. *out_added ← false if the set is
 * full or the row depends affinely on its points. */
static dn_status add_point(struct hard *h, size_t i, double coef, bool *out_added, dn_error *err) {
    dn_status status = DN_OK;
    memset(h->z, 0, h->svm->width * sizeof *h->z);
    point_add(h, i, 1, h->z);
    const double along = shift_dot(h, h->z);
    for (size_t k = 0; k < h->corral.n && status == DN_OK; k++) {
        h->linear[k] = point_dot(h, h->corral.index[k], h->z, along);
        status =
            dni_pace_poll(&h->pace,
                          4 * (double)dni_svm_row_entries(h->svm, h->corral.index[k]) + (double)k,
                          err);
    }
    if (status == DN_OK) {
        *out_added = dni_corral_add(&h->corral, i, group_of(h, i), h->linear,
                                    dni_dot(h->z, h->z, h->svm->width), coef);
    }
    return status;
}

/* ---- setup ---- */
static void find_largest(struct hard *h) {
    const dni_svm_problem *svm = h->svm;
    for (size_t i = 0; i < svm->n; i++) {
        const dn_matrix *x = &svm->block[i / DN_BLOCK_ROWS];
        const size_t t = i % DN_BLOCK_ROWS;
        const double *v = x->values + (x->kind == DN_DENSE ? t * x->stride : x->row_start[t]);
        if (svm->upper[i] > 0) {
            h->max_norm = fmax(h->max_norm, dni_norm(v, dni_svm_row_entries(svm, i)));
        }
    }
}

static dn_status set_up(struct hard *h, size_t n_kept, void **out_memory, dn_error *err) {
    dni_svm_problem *svm = h->svm;
    const struct hard_shape shape = shape_of(svm->n_rows, svm->d, n_kept);
    double spread = 0;
    dn_status status = dni_layout_take(svm->run, hard_layout, &shape, h,
                                       "the nearest points of a hard margin", out_memory, err);
    if (status != DN_OK) {
        return status;
    }
    if (h->two_hulls) {
        memcpy(h->shift, svm->moments.mean, svm->d * sizeof *h->shift);
    }
    for (size_t j = 0; j < svm->d; j++) {
        const double m = svm->moments.mean[j], s = svm->moments.deviation[j];
        spread += s * s + (h->two_hulls ? 0 : m * m);
    }
    find_largest(h);
    dni_corral_init(&h->corral, shape.corral.capacity, h->two_hulls ? 2 : 1,
                    spread > 0 ? spread : 1);
    return DN_OK;
}

/* Initialises the working set: from each group the row with the smallest projection on the
 * difference of the class means. */
static dn_status start(struct hard *h, dn_error *err) {
    dni_svm_problem *svm = h->svm;
    bool added = true;
    for (size_t i = 0; i < svm->n; i++) {
        svm->alpha[i] = 1 / svm->weight[svm->sign[i] > 0] * (svm->upper[i] > 0);
    }
    dn_status status = dni_svm_combine(svm, svm->alpha, h->z, err);
    if (status == DN_OK) {
        status = project(h, h->z, err);
    }
    for (size_t g = 0; g < (h->two_hulls ? 2 : 1) && status == DN_OK && added; g++) {
        status = add_point(h, h->min_row[g], 1, &added, err);
    }
    if (status == DN_OK) {
        status = combine_points(h, h->corral.coef, err);
    }
    return status;
}

/* ---- steps ---- */
/* h->affine ← the coefficients of the point of the affine hull that is nearest to the origin. If
 * all are positive, improves them by one step of iterative refinement. *out_ok ← false if the
 * result is not finite. */
static dn_status affine_minimiser(struct hard *h, bool *out_ok, dn_error *err) {
    static const double ones[DNI_CORRAL_GROUPS] = {1, 1};
    double rest[DNI_CORRAL_GROUPS] = {1, 1};
    dni_corral *c = &h->corral;
    *out_ok = dni_corral_minimise(c, NULL, ones, h->affine);
    for (size_t k = 0; k < c->n && *out_ok; k++) {
        if (!(h->affine[k] > 0)) {
            return DN_OK; /* the point is outside the convex hull: no refinement */
        }
    }
    dn_status status = *out_ok ? combine_points(h, h->affine, err) : DN_OK;
    if (status != DN_OK || !*out_ok) {
        return status;
    }
    const double along = shift_dot(h, h->p);
    for (size_t k = 0; k < c->n && status == DN_OK; k++) {
        h->linear[k] = point_dot(h, c->index[k], h->p, along);
        rest[c->group[k]] -= h->affine[k];
        status = dni_pace_poll(&h->pace, 4 * (double)h->svm->width, err);
    }
    if (status == DN_OK && dni_corral_minimise(c, h->linear, rest, h->linear)) {
        dni_axpy(1, h->linear, h->affine, c->n);
    }
    return status;
}

/* Wolfe's minor cycle: moves the coefficients of the working set towards h->affine until the first
 * one becomes 0. Removes each point whose coefficient is 0 and whose h->affine is not positive.
 * Returns true if the coefficients reached h->affine, that is, if none would become negative. */
static bool minor_cycle(struct hard *h) {
    dni_corral *c = &h->corral;
    double step = 1;
    size_t first = c->n;
    for (size_t k = 0; k < c->n; k++) {
        const double b = c->coef[k], s = h->affine[k];
        if (!(s > 0) && (b > 0 ? b / (b - s) : 0) <= step) {
            step = b > 0 ? b / (b - s) : 0;
            first = k;
        }
    }
    for (size_t k = 0; k < c->n; k++) {
        c->coef[k] = k == first ? 0 : c->coef[k] + step * (h->affine[k] - c->coef[k]);
    }
    if (first == c->n) {
        return true;
    }
    for (size_t k = c->n; k-- > 0;) {
        if (!(c->coef[k] > 0) && !(h->affine[k] > 0)) {
            dni_corral_remove(c, k);
        }
    }
    return false;
}

/* Wolfe's major cycle: adds the rows of the batch, then makes minor cycles until all coefficients
 * of h->affine are positive. *out_ok ← false if rounding errors prevent progress. */
static dn_status major_cycle(struct hard *h, bool *out_ok, dn_error *err) {
    dn_status status = DN_OK;
    size_t n_added = 0;
    for (size_t i = 0; i < h->n_batch && status == DN_OK; i++) {
        bool added = true;
        for (size_t k = 0; k < h->corral.n; k++) {
            added = added && h->corral.index[k] != h->batch[i];
        }
        if (added) {
            status = add_point(h, h->batch[i], 0, &added, err);
        }
        n_added += added;
    }
    *out_ok = n_added > 0;
    for (bool reached = false; status == DN_OK && *out_ok && !reached;) {
        status = affine_minimiser(h, out_ok, err);
        if (status == DN_OK && *out_ok) {
            reached = minor_cycle(h);
        }
        if (status == DN_OK) {
            status = dni_pace_poll(&h->pace, 4 * (double)h->corral.n * (double)h->corral.n, err);
        }
    }
    if (status == DN_OK) {
        status = combine_points(h, h->corral.coef, err);
    }
    if (status != DN_OK) {
        return status;
    }
    /* If ‖p‖ has not decreased, rounding errors dominate. */
    *out_ok = *out_ok && dni_norm(h->p, h->svm->width) < h->norm;
    return DN_OK;
}

/* Returns a lower bound of the distance between the two hulls, or between the hull and the
 * origin. */
static double lower_bound(const struct hard *h) {
    return (h->min_dot[0] + (h->two_hulls ? h->min_dot[1] : 0)) / h->norm;
}

/* Sets the batch of rows to add, at most `most`. The violation of a row is the amount by which its
 * inner product with p is below that of the current point of its hull. The batch has the row with
 * the largest violation, and other rows with more than half of this violation. Violations of the
 * size of rounding errors are ignored. */
static void find_rows(struct hard *h, size_t most) {
    const dni_svm_problem *svm = h->svm;
    const double along = shift_dot(h, h->p);
    double worst = ROUNDING * h->norm * fmax(h->norm, h->max_norm), nearest_dot[2] = {0, 0};
    h->n_batch = 0;
    for (size_t k = 0; k < h->corral.n; k++) {
        nearest_dot[h->corral.group[k]] +=
            h->corral.coef[k] * point_dot(h, h->corral.index[k], h->p, along);
    }
    for (size_t g = 0; g < (h->two_hulls ? 2 : 1); g++) {
        if (nearest_dot[g] - h->min_dot[g] > worst) {
            worst = nearest_dot[g] - h->min_dot[g];
            h->batch[0] = h->min_row[g];
            h->n_batch = 1;
        }
    }
    if (h->n_batch == 0 || most == 1) {
        return;
    }
    for (size_t i = 0; i < svm->n && h->n_batch < most; i++) {
        if (svm->upper[i] > 0 && i != h->batch[0] &&
            nearest_dot[group_of(h, i)] - svm->sign[i] * svm->score[i] > worst / 2) {
            h->batch[h->n_batch++] = i;
        }
    }
}

static double gap_of(const struct hard *h) {
    const double ratio = lower_bound(h) / h->norm;
    return ratio > 0 ? 1 - ratio * ratio : (double)INFINITY;
}

/* Returns the dual objective: a lower bound of ½‖w‖². */
static double dual_of(const struct hard *h) {
    return (h->two_hulls ? 2 : 0.5) / (h->norm * h->norm);
}

static dn_status iterate(struct hard *h, dn_error *err) {
    dni_svm_problem *svm = h->svm;
    const size_t most = h->most;
    bool one_row = false;
    for (size_t k = 0;; k++) {
        h->norm = dni_norm(h->p, svm->width);
        svm->iterations = h->first + k;
        if (!isfinite(h->norm)) {
            return dni_svm_not_finite(svm, svm->iterations, err);
        }
        if (h->norm <= MIN_DISTANCE * h->max_norm || dual_of(h) > h->largest) {
            return DN_OK;
        }
        dn_status status = project(h, h->p, err);
        if (status == DN_OK && k > 0) {
            status =
                dni_svm_progress(svm, h->first + k, h->first + most, gap_of(h), dual_of(h), err);
        }
        if (status != DN_OK) {
            return status;
        }
        if (k == most) {
            return DN_OK;
        }
        find_rows(h, one_row ? 1 : 1 + h->corral.n / 8);
        bool progress = h->n_batch > 0;
        if (progress) {
            status = major_cycle(h, &progress, err);
        }
        if (status != DN_OK) {
            return status;
        }
        /* Adding several rows failed: retry with one row. */
        if (!progress && !one_row && h->n_batch > 1) {
            one_row = true;
            continue;
        }
        if (!progress) {
            svm->reason = DN_STOP_NO_PROGRESS; /* only used if the solution is not certified */
            h->norm = dni_norm(h->p, svm->width);
            return h->norm > 0 ? project(h, h->p, err) : DN_OK;
        }
        one_row = false;
    }
}

/* ---- the end ---- */
static dn_status refuse(const struct hard *h, dn_error *err) {
    if (h->svm->reason == DN_STOP_MAX_ITERATIONS && h->norm > MIN_DISTANCE * h->max_norm) {
        return dn_error_set(err, DN_ERR_DATA,
                            "no boundary that separates the classes was found in %zu steps (C is "
                            "null): set C to a finite cost of slack, or try more max_iterations",
                            h->svm->iterations);
    }
    return dn_error_set(err, DN_ERR_DATA,
                        "the classes cannot be separated by a plane, which C null requires: the "
                        "distance of their convex hulls is at most %.3g, while rows have norms up "
                        "to %.3g; set C to a finite cost of slack",
                        h->norm, h->max_norm);
}

static void make_solution(struct hard *h, dni_svm_solution *out) {
    dni_svm_problem *svm = h->svm;
    const double least = h->min_dot[0] + (h->two_hulls ? h->min_dot[1] : 0),
                 scale = (h->two_hulls ? 2 : 1) / least;
    for (size_t j = 0; j < svm->d; j++) {
        svm->w[j] = scale * h->p[j];
    }
    svm->w[svm->d] = h->two_hulls
                         ? scale * ((h->min_dot[0] - h->min_dot[1]) / 2 - shift_dot(h, h->p))
                         : scale * h->p[svm->d];
    const double w0 = svm->w[svm->d], norm = dni_norm(svm->w, svm->d);
    *out = (dni_svm_solution){.kkt_violation = (double)NAN,
                              .w0 = w0,
                              .w0_low = w0,
                              .w0_high = w0,
                              .norm = norm,
                              .spread = 2};
    out->primal = (norm * norm + (has_one(h) ? w0 * w0 : 0)) / 2;
    out->dual = dual_of(h);
    out->gap = (out->primal - out->dual) / fmax(out->primal, 1e-300);
    out->certified = out->gap <= svm->options->tolerance;
    memset(svm->alpha, 0, svm->n * sizeof *svm->alpha);
    for (size_t k = 0; k < h->corral.n; k++) {
        out->n_support += h->corral.coef[k] > 0;
        svm->alpha[h->corral.index[k]] = scale * h->corral.coef[k]; /* w = Σ α t x */
    }
    out->margin = norm > 0 ? 1 / norm : (double)NAN;
    out->margin_raw = dni_svm_raw_margin(svm->w, svm->input->scale, svm->d);
}

static struct hard hard_of(dni_svm_problem *svm) {
    return (struct hard){.svm = svm,
                         .two_hulls = svm->options->intercept == DNI_SVM_FREE,
                         .largest = (double)INFINITY,
                         .pace = {.run = svm->run}};
}

dn_status dni_svm_hard(dni_svm_problem *svm, dni_svm_solution *out, dn_error *err) {
    struct hard h = hard_of(svm);
    const size_t most = svm->options->max_iterations;
    h.most = most < SIZE_MAX / STEPS_PER_ITERATION ? most * STEPS_PER_ITERATION : most;
    void *memory;
    dn_status status = set_up(&h, 0, &memory, err);
    if (status != DN_OK) {
        return status;
    }
    status = start(&h, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    status = iterate(&h, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    if (h.norm <= MIN_DISTANCE * h.max_norm || !(lower_bound(&h) > 0)) {
        status = refuse(&h, err);
        goto cleanup;
    }
    make_solution(&h, out);
    memcpy(svm->table, svm->w, svm->d * sizeof *svm->table);
    svm->table[svm->d] = 0;
    status = dni_svm_scores(svm, svm->table, svm->score, err);
cleanup:
    dn_run_free(svm->run, memory);
    return status;
}

/* ---- soft margins ---- */
/* Returns true if no α of the working set is above its upper bound. */
static bool is_within_bounds(const struct hard *h) {
    const double least = h->min_dot[0] + (h->two_hulls ? h->min_dot[1] : 0),
                 scale = (h->two_hulls ? 2 : 1) / least;
    for (size_t k = 0; k < h->corral.n; k++) {
        if (!(scale * h->corral.coef[k] <= h->svm->upper[h->corral.index[k]])) {
            return false;
        }
    }
    return true;
}

dn_status dni_svm_try_hard(dni_svm_problem *svm, dni_svm_solution *out, dn_error *err) {
    struct hard h = hard_of(svm);
    const dn_stop_reason reason = svm->reason;
    const double gap = out->gap;
    dni_svm_solution hard;
    void *memory;
    h.first = svm->iterations;
    h.most = 4 * capacity_of(svm->n_rows, svm->d) + 100;
    h.largest = out->primal * (1 + 1e-9);
    dn_status status = set_up(&h, svm->n, &memory, err);
    if (status != DN_OK) {
        return status;
    }
    memcpy(h.kept_alpha, svm->alpha, svm->n * sizeof *svm->alpha);
    memcpy(h.kept_w, svm->w, svm->width * sizeof *svm->w);
    status = start(&h, err);
    if (status == DN_OK) {
        status = iterate(&h, err);
    }
    if (status != DN_OK) {
        goto cleanup;
    }
    svm->reason = reason;
    if (h.norm > MIN_DISTANCE * h.max_norm && dual_of(&h) <= h.largest && lower_bound(&h) > 0 &&
        is_within_bounds(&h)) {
        make_solution(&h, &hard);
        dni_svm_balance(svm, svm->alpha);
        memcpy(h.p, svm->w, svm->width * sizeof *h.p);
        status = dni_svm_certify_rounded(svm, h.p, h.work, out, err);
        if (status != DN_OK || out->gap < gap) {
            goto cleanup;
        }
    }
    memcpy(svm->alpha, h.kept_alpha, svm->n * sizeof *svm->alpha);
    memcpy(svm->w, h.kept_w, svm->width * sizeof *svm->w);
    status = dni_svm_certify(svm, svm->w, h.work, out, err);
cleanup:
    dn_run_free(svm->run, memory);
    return status;
}
