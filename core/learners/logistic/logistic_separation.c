/* The check whether the classes are separable. a_tj are the vectors of the pairs of a row and a
 * wrong class (linear_support.h). A minimum without a penalty exists if and only if no direction β
 * has a_tjᵀβ >= 0 for all pairs and > 0 for some. Complete separation: > 0 for all pairs.
 * Quasi-complete separation: = 0 for some. Albert and Anderson, On the existence of maximum
 * likelihood estimates in logistic regression models, Biometrika 71, 1984.
 *
 * Overlap is proved by positive numbers u with Σ u a = 0 (Stiemke's lemma). At a point x, the pairs
 * with p > θ are the support O, r = Σ_O v p a, M = Σ_O v a aᵀ, and δ = −M⁻¹r on the span of O. Then
 *
 *   u = v (p + aᵀδ),   Σ_O u a = 0,   u > 0 if |aᵀδ| < p for all pairs of O
 *
 * proves that every separating direction is orthogonal to the span of O. If O spans all directions,
 * the classes overlap. Otherwise the projection β of x on the null space of M is tested with all
 * pairs. If no margin is negative and some margin is positive, β separates the classes
 * quasi-completely. Margins of at most 1e-10 of the typical margin count as 0.
 *
 * Newton iterates on separable classes divide the p of the separated pairs by e in each step, and
 * the other p converge. θ is therefore chosen in the widest gap of the values ln p. */
#include "learners/logistic/logistic_separation.h"
#include "base/layout.h"
#include "learners/shared/linear/linear_rank.h"
#include "learners/shared/linear/linear_support.h"
#include "linalg/cholesky.h"
#include "linalg/eigen.h"
#include "linalg/vector.h"

#include <math.h>
#include <string.h>

#define MARGIN 1e-10 /* margins up to this times the typical margin count as 0 */

struct work {
    double *matrix; /* [n × n] M */
    double *delta;  /* [n] δ */
    void (*report)(void *ctx);
    void *ctx; /* argument of `report` */
};

static void work_layout(dni_layout *layout, const void *shape, void *work) {
    const size_t n = *(const size_t *)shape;
    struct work *w = work;
    w->matrix = dni_layout_matrix(layout, n, n);
    w->delta = dni_layout_doubles(layout, n);
}

double dni_separation_bytes(size_t n) {
    struct work scratch;
    return dni_layout_bytes(work_layout, &n, &scratch) + dni_symmetric_null_memory(n);
}

/* floors[0] ← the middle of the widest gap in the values of ln p; then two fixed floors. */
static dn_status choose_floors(dni_linear_problem *problem, const double *x, double floors[3],
                               dn_error *err) {
    double counts[DNI_LINEAR_BINS];
    const dn_status status = dni_linear_histogram(problem, x, counts, err);
    size_t best = 0, width = 0, last = 0;
    for (size_t b = 0; status == DN_OK && b < DNI_LINEAR_BINS; b++) {
        if (counts[b] > 0) {
            if (b - last > width) {
                width = b - last;
                best = last;
            }
            last = b;
        }
    }
    floors[0] = exp2(-(double)best - (double)(width + 1) / 2);
    floors[1] = 1e-4;
    floors[2] = 1e-8;
    return status;
}

/* *proved ← true if the u of the file header are positive on the support. null [n_null × n] spans
 * the null space of M. */
static dn_status prove_support(dni_linear_problem *problem, double floor, const double *x,
                               const struct work *w, const double *null, size_t n_null,
                               bool *proved, dn_error *err) {
    const size_t n = problem->n;
    dni_linear_margins margins;
    *proved = false;
    dn_status status = dni_linear_support_matrix(problem, floor, x, w->matrix, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t r = 0; r < n_null; r++) {
        status = dn_run_stop(problem->run, err);
        if (status != DN_OK) {
            return status;
        }
        for (size_t i = 0; i < n; i++) {
            dni_axpy(null[r * n + i], null + r * n, w->matrix + i * n, i + 1);
        }
    }
    bool definite;
    status = dni_cholesky(problem->run, w->matrix, n, &definite, err);
    if (status != DN_OK || !definite) {
        return status;
    }
    status = dni_linear_support_sum(problem, floor, x, w->delta, err);
    if (status != DN_OK) {
        return status;
    }
    dni_cholesky_solve(w->matrix, n, w->delta, 1);
    status = dni_linear_count_margins(problem, floor, 0, x, w->delta, &margins, err);
    *proved = status == DN_OK && margins.inside > 0 && margins.unproved == 0;
    return status;
}

/* direction ← the projection of `from` on the span of the rows of `null`. *separates ← true if no
 * pair has a negative margin along `direction` and some pair has a positive one. */
static dn_status try_direction(dni_linear_problem *problem, double floor, const double *x,
                               const double *from, const double *null, size_t n_null,
                               double *direction, bool *separates, dn_error *err) {
    const size_t n = problem->n;
    dni_linear_margins margins;
    memset(direction, 0, n * sizeof *direction);
    for (size_t r = 0; r < n_null; r++) {
        dni_axpy(dni_dot(from, null + r * n, n), null + r * n, direction, n);
    }
    *separates = false;
    dn_status status = dni_linear_count_margins(problem, floor, 0, x, direction, &margins, err);
    if (status != DN_OK || margins.outside == 0) {
        return status;
    }
    const double tolerance = MARGIN * sqrt(margins.square / margins.outside);
    status = dni_linear_count_margins(problem, floor, tolerance, x, direction, &margins, err);
    *separates = status == DN_OK && margins.negative == 0 && margins.positive > 0;
    return status;
}

static dn_status check_floor(dni_linear_problem *problem, double floor, const double *x,
                             const double *step, struct work *w, double *direction,
                             dni_separation *out, dn_error *err) {
    double *null = NULL;
    size_t n_null = 0;
    bool proved = false, separates = false;
    w->report(w->ctx);
    dn_status status = dni_linear_support_matrix(problem, floor, x, w->matrix, err);
    if (status != DN_OK) {
        return status;
    }
    w->report(w->ctx);
    status = dni_symmetric_null(problem->run, w->matrix, problem->n, DNI_RANK_SHARE, &n_null, &null,
                                err);
    if (status != DN_OK || (n_null > 0 && null == NULL)) {
        return status;
    }
    w->report(w->ctx);
    status = prove_support(problem, floor, x, w, null, n_null, &proved, err);
    if (status != DN_OK || !proved) {
        goto cleanup;
    }
    if (n_null == 0) {
        *out = DNI_SEPARATION_NONE;
        goto cleanup;
    }
    w->report(w->ctx);
    status = try_direction(problem, floor, x, x, null, n_null, direction, &separates, err);
    if (status == DN_OK && !separates && step != NULL) {
        status = try_direction(problem, floor, x, step, null, n_null, direction, &separates, err);
    }
    if (status == DN_OK && separates) {
        *out = DNI_SEPARATION_QUASI;
    }
cleanup:
    dn_run_free(problem->run, null);
    return status;
}

dn_status dni_separation_check(dni_linear_problem *problem, const double *x, const double *step,
                               void (*report)(void *ctx), void *ctx, double *direction,
                               dni_separation *out, dn_error *err) {
    struct work w = {.report = report, .ctx = ctx};
    void *memory = NULL;
    double floors[3];
    *out = DNI_SEPARATION_UNKNOWN;
    if (problem->sums.unseparated == 0) {
        memcpy(direction, x, problem->n * sizeof *x);
        *out = DNI_SEPARATION_COMPLETE;
        return DN_OK;
    }
    dn_status status = dni_layout_take_raw(problem->run, work_layout, &problem->n, &w,
                                           "the check of separation", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    status = choose_floors(problem, x, floors, err);
    for (size_t i = 0; status == DN_OK && *out == DNI_SEPARATION_UNKNOWN && i < 3; i++) {
        status = check_floor(problem, floors[i], x, step, &w, direction, out, err);
    }
    dni_linear_to_original(problem, x, problem->original);
    dn_run_free(problem->run, memory);
    return status;
}
