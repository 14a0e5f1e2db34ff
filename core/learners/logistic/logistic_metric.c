/* Uses of the correlation matrix R of the features.
 *
 * Rank (without a penalty): an eigenvector z of R with eigenvalue <= 1e-10·λmax is a combination of
 * centred, scaled columns that is 0 in every row. No score depends on weights along z. A curvature
 * of 1 along z makes Newton's system definite and keeps its steps orthogonal to z; removing the
 * span of z/s from the weights gives the minimiser of least norm.
 *
 * Metric (L-BFGS): M = a·R̃ + 2λ/s², with R̃ the matrix of [(x − m)/s, 1] and a typical value a of
 * p(1 − p). The metric reduces the number of passes to half or less. R̃ is computed from at most
 * eight blocks of rows. */
#include "catalogue/report.h"
#include "learners/logistic/logistic_fit.h"
#include "linalg/cholesky.h"
#include "linalg/eigen.h"
#include "linalg/qr.h"
#include "linalg/vector.h"

#include <math.h>
#include <string.h>

static void warn_of_rank(dni_logistic_fit *fit) {
    size_t d = fit->problem.width - 1, marked = 0;
    for (size_t j = 0; j < d; j++) {
        fit->arrays.growing[j] = false;
        for (size_t r = 0; r < fit->n_null; r++) {
            fit->arrays.growing[j] =
                fit->arrays.growing[j] || fabs(fit->null_basis[r * d + j]) > 1e-6;
        }
        marked += fit->arrays.growing[j];
    }
    char names[DNI_NAMES_SIZE];
    dni_feature_list(fit->input, fit->arrays.growing, 8, names);
    memset(fit->arrays.growing, 0, d * sizeof *fit->arrays.growing);
    dn_report_warn(fit->report, DN_WARNING_NOT_UNIQUE,
                   "with lambda = 0 the weights are not unique: %zu of the columns are constant or "
                   "linear combinations of others (%s): "
                   "the weights reported are those of least norm",
                   marked, names);
}

bool dni_logistic_decomposes(const dni_logistic_plan *plan) {
    return plan->method->centres && plan->l1 == 0 && plan->l2 == 0 &&
           plan->width <= DNI_LOGISTIC_MAX_RANK;
}

/* Two [width × width] matrices, and the working memory of the eigenvalue solver. */
double dni_logistic_rank_bytes(size_t width) {
    return 8 * (2 * (double)width + 80) * (double)width;
}

dn_status dni_logistic_find_rank(dni_logistic_fit *fit, dn_error *err) {
    size_t width = fit->problem.width, d = width - 1;
    const dn_run *run = fit->run;
    void *gram = NULL;
    dn_status status =
        dn_run_alloc(run, width * width, sizeof(double), "the matrix of the features", &gram, err);
    if (status != DN_OK) {
        return status;
    }
    status = dni_linear_gram(&fit->problem, 1, gram, err);
    if (status == DN_OK) {
        double *m = gram; /* [d × d]: the intercept is removed, rows become contiguous */
        for (size_t i = 1; i < d; i++) {
            memmove(m + i * d, m + i * width, (i + 1) * sizeof *m);
        }
        status =
            dni_symmetric_null(run, m, d, DNI_LOGISTIC_RANK, &fit->n_null, &fit->null_basis, err);
    }
    dn_run_free(run, gram);
    if (status != DN_OK || fit->n_null == 0) {
        return status;
    }
    if (fit->null_basis == NULL) {
        return dn_error_set(err, DN_ERR_NUMERIC,
                            "the weights are not unique, and the %zu combinations of columns "
                            "that no score depends on could not be computed: give lambda > 0",
                            fit->n_null);
    }
    fit->problem.null_basis = fit->null_basis;
    fit->problem.n_null = fit->n_null;
    warn_of_rank(fit);
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
    for (size_t r = 0; r < fit->n_null; r++) {
        for (size_t j = 0; j < d; j++) {
            fit->null_basis[r * d + j] /= problem->scale[j];
        }
    }
    dn_status status = dni_orthonormal_rows(fit->run, fit->null_basis, fit->n_null, d, err);
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
        diagonal[j] =
            typical + (j < d ? 2 * problem->lambda / (problem->scale[j] * problem->scale[j]) : 0);
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
