/* Uses of the correlation matrix R of the features.
 *
 * Rank (without a penalty): an eigenvector z of R whose eigenvalue is 0 by the rank rule
 * (linear_rank.h) is a combination of centred, scaled columns that is 0 in every row. No score
 * depends on weights along z. A curvature of 1 along z makes Newton's system definite and keeps its
 * steps orthogonal to z; removing the span of z/s from the weights gives the minimiser of least
 * norm.
 *
 * Metric (L-BFGS): M = a·R̃ + 2λ/s², with R̃ the matrix of [(x − m)/s, 1] and a typical value a of
 * p(1 − p). The metric reduces the number of passes to half or less. R̃ is computed from at most
 * eight blocks of rows. */
#include "catalogue/report.h"
#include "learners/logistic/logistic_fit.h"
#include "learners/shared/linear/linear_rank.h"
#include "linalg/cholesky.h"
#include "linalg/vector.h"

#include <math.h>
#include <string.h>

void dni_logistic_warn_of_rank(dni_logistic_fit *fit, const bool *marked) {
    const size_t d = fit->problem.width - 1;
    size_t n_marked = 0;
    for (size_t j = 0; j < d; j++) {
        n_marked += marked[j];
    }
    if (n_marked == 0) {
        return;
    }
    char names[DNI_NAMES_SIZE];
    dni_feature_list(fit->input, marked, 8, names);
    dn_report_warn(fit->report, DN_WARNING_NOT_UNIQUE,
                   "with lambda = 0 the weights are not unique, because %zu of the columns are "
                   "linear combinations of others (%s); the weights of least norm are reported",
                   n_marked, names);
}

static void warn_of_null_basis(dni_logistic_fit *fit) {
    const size_t d = fit->problem.width - 1;
    bool *marked = fit->arrays.growing;
    dni_linear_mark_dependent(fit->null_basis, fit->n_null, &fit->moments, d, marked);
    dni_logistic_warn_of_rank(fit, marked);
    memset(marked, 0, d * sizeof *marked);
}

bool dni_logistic_decomposes(const dni_logistic_plan *plan) {
    return plan->method->centres && plan->l1 == 0 && plan->l2 == 0 && !plan->wide &&
           !plan->independent && plan->width <= DNI_RANK_MAX_WIDTH;
}

dn_status dni_logistic_find_rank(dni_logistic_fit *fit, dn_error *err) {
    const dn_status status =
        dni_linear_null_space(&fit->problem, &fit->moments, &fit->n_null, &fit->null_basis, err);
    if (status != DN_OK || fit->n_null == 0) {
        return status;
    }
    fit->problem.null_basis = fit->null_basis;
    fit->problem.n_null = fit->n_null;
    warn_of_null_basis(fit);
    return DN_OK;
}

dn_status dni_logistic_least_norm(dni_logistic_fit *fit, double *x, dn_error *err) {
    dni_linear_problem *problem = &fit->problem;
    size_t d = problem->width - 1;
    if (fit->n_null == 0) {
        return DN_OK;
    }
    problem->null_basis = NULL; /* fit->null_basis is changed to original weights */
    problem->n_null = 0;
    const dn_status status =
        dni_linear_raw_null(fit->run, fit->null_basis, fit->n_null, d, problem->scale, err);
    if (status != DN_OK) {
        return status;
    }
    double *w = problem->original; /* used as working memory until the next evaluation */
    for (size_t k = 0; k < problem->n_scores; k++) {
        double *u = x + k * problem->width;
        for (size_t j = 0; j < d; j++) {
            w[j] = u[j] / problem->scale[j];
        }
        for (size_t r = 0; r < fit->n_null; r++) {
            dni_axpy(-dni_dot(w, fit->null_basis + r * d, d), fit->null_basis + r * d, w, d);
        }
        for (size_t j = 0; j < d; j++) {
            u[j] = w[j] * problem->scale[j];
        }
    }
    return DN_OK;
}

dn_status dni_logistic_make_metric(dni_logistic_fit *fit, dn_error *err) {
    dni_linear_problem *problem = &fit->problem;
    const size_t width = problem->width, d = width - 1;
    const double typical = problem->n_scores == 1 ? 0.1 : 0.2 / (double)problem->n_scores;
    double *diagonal = fit->arrays.diagonal, *m = fit->arrays.metric;
    for (size_t j = 0; j < width; j++) {
        const double s = j < d                                           ? problem->scale[j]
                         : problem->intercept == DNI_INTERCEPT_PENALISED ? 1
                                                                         : (double)INFINITY;
        diagonal[j] = typical + 2 * problem->lambda / (s * s);
    }
    if (m == NULL) {
        return DN_OK;
    }
    const size_t n_blocks = problem->rows->n_blocks, stride = n_blocks > 4 ? n_blocks / 4 : 1;
    dn_status status = dni_linear_gram(problem, stride, m, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t i = 0; i < width; i++) {
        for (size_t j = 0; j <= i; j++) {
            m[i * width + j] *= typical;
        }
        m[i * width + i] += diagonal[i] - typical * (1 - 1e-6);
    }
    bool definite = false;
    status = dni_cholesky(fit->run, m, width, &definite, err);
    if (!definite) {
        fit->arrays.metric = NULL;
    }
    return status;
}

void dni_logistic_precondition(void *ctx, double *v) {
    const dni_logistic_fit *fit = ctx;
    size_t width = fit->problem.width;
    if (fit->arrays.metric != NULL) {
        dni_cholesky_solve(fit->arrays.metric, width, v, fit->problem.n_scores);
        return;
    }
    for (size_t k = 0; k < fit->problem.n_scores; k++) {
        for (size_t j = 0; j < width; j++) {
            v[k * width + j] /= fit->arrays.diagonal[j];
        }
    }
}
