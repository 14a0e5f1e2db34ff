/* The correlation matrix of the features, used twice.
 *
 * Rank (lambda = 0): an eigenvector z of R with eigenvalue ≤ 1e-10·λmax is a combination of centred, scaled columns that is 0 in every row. No score sees
 * weights along it. A curvature of 1 along z keeps Newton's system definite and its steps free of z; taking the span of z/s out of the weights gives the
 * minimiser of least norm.
 *
 * Metric (L-BFGS): M = a·R̃ + 2λ/s², with R̃ the matrix of [(x − m)/s, 1] and a a typical p(1 − p): half the passes or fewer. Some rows are enough for it. */
#include "catalogue/report.h"
#include "learners/logistic/logistic_fit.h"
#include "linalg/cholesky.h"
#include "linalg/eigen.h"
#include "linalg/qr.h"
#include "linalg/vector.h"

#include <math.h>
#include <string.h>

static void warn_of_rank(dni_logistic_fit *fit) {
    size_t d = fit->loss.width - 1, marked = 0;
    for (size_t j = 0; j < d; j++) {
        fit->growing[j] = false;
        for (size_t r = 0; r < fit->n_null; r++) {
            fit->growing[j] = fit->growing[j] || fabs(fit->null_basis[r * d + j]) > 1e-6;
        }
        marked += fit->growing[j];
    }
    char names[DNI_NAMES_SIZE];
    dni_feature_list(fit->input, fit->growing, 8, names);
    memset(fit->growing, 0, d * sizeof *fit->growing);
    dn_report_warn(fit->report,
                   "with lambda = 0 the weights are not unique: %zu of the columns are constant or "
                   "linear combinations of others (%s): "
                   "the weights reported are those of least norm",
                   marked, names);
}

dn_status dni_logistic_find_rank(dni_logistic_fit *fit, dn_error *err) {
    size_t width = fit->loss.width, d = width - 1;
    const dn_run *run = fit->run;
    void *gram = NULL;
    dn_status status =
        dn_run_alloc(run, width * width, sizeof(double), "the matrix of the features", &gram, err);
    if (status == DN_OK) {
        status = dni_logistic_gram(&fit->loss, run, 1, gram, err);
    }
    if (status == DN_OK) {
        double *m = gram; /* without the intercept: d × d, rows moved together */
        for (size_t i = 1; i < d; i++) {
            memmove(m + i * d, m + i * width, (i + 1) * sizeof *m);
        }
        status = dni_symmetric_null(run, m, d, 1e-10, &fit->n_null, &fit->null_basis, err);
    }
    dn_run_free(run, gram);
    if (status == DN_OK && fit->n_null > 0 && fit->null_basis == NULL) {
        status = dn_error_set(err, DN_ERR_NUMERIC,
                              "the weights are not unique, and the %zu combinations of columns "
                              "that no row tells apart could not be "
                              "computed: give lambda > 0",
                              fit->n_null);
    }
    if (status == DN_OK && fit->n_null > 0 && fit->null_basis != NULL) {
        fit->loss.null_basis = fit->null_basis;
        fit->loss.n_null = fit->n_null;
        warn_of_rank(fit);
    }
    return status;
}

dn_status dni_logistic_least_norm(dni_logistic_fit *fit, double *x, dn_error *err) {
    dni_logistic *loss = &fit->loss;
    size_t d = loss->width - 1;
    if (fit->n_null == 0) {
        return DN_OK;
    }
    loss->null_basis = NULL; /* from here on it is the basis in the stated weights */
    loss->n_null = 0;
    for (size_t r = 0; r < fit->n_null; r++) {
        for (size_t j = 0; j < d; j++) {
            fit->null_basis[r * d + j] /= loss->scale[j];
        }
    }
    dn_status status = dni_orthonormal_rows(fit->run, fit->null_basis, fit->n_null, d, err);
    if (status != DN_OK) {
        return status;
    }
    double *w = loss->stated; /* scratch: the next evaluation fills it */
    for (size_t k = 0; k < loss->n_scores; k++) {
        double *u = x + k * loss->width;
        for (size_t j = 0; j < d; j++) {
            w[j] = u[j] / loss->scale[j];
        }
        for (size_t r = 0; r < fit->n_null; r++) {
            dni_axpy(-dni_dot(w, fit->null_basis + r * d, d), fit->null_basis + r * d, w, d);
        }
        for (size_t j = 0; j < d; j++) {
            u[j] = w[j] * loss->scale[j];
        }
    }
    return DN_OK;
}

dn_status dni_logistic_make_metric(dni_logistic_fit *fit, dn_error *err) {
    dni_logistic *loss = &fit->loss;
    size_t width = loss->width, d = width - 1;
    double typical = loss->n_scores == 1 ? 0.1 : 0.2 / (double)loss->n_scores;
    void *memory;
    dn_status status =
        dn_run_alloc(fit->run, width, sizeof(double), "the metric of L-BFGS", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    fit->diagonal = memory;
    for (size_t j = 0; j < width; j++) {
        fit->diagonal[j] =
            typical + (j < d ? 2 * loss->lambda / (loss->scale[j] * loss->scale[j]) : 0);
    }
    if (width > DNI_LOGISTIC_MAX_METRIC ||
        loss->l1 > 0) { /* orthant-wise steps take a diagonal only */
        return DN_OK;
    }
    status =
        dn_run_alloc(fit->run, width * width, sizeof(double), "the metric of L-BFGS", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    double *m = memory;
    size_t stride = loss->rows->n_blocks > 4 ? loss->rows->n_blocks / 4 : 1;
    status = dni_logistic_gram(loss, fit->run, stride, m, err);
    if (status == DN_OK) {
        for (size_t i = 0; i < width; i++) {
            for (size_t j = 0; j <= i; j++) {
                m[i * width + j] *= typical;
            }
            m[i * width + i] += fit->diagonal[i] - typical * (1 - 1e-6);
        }
    }
    bool definite = false;
    if (status == DN_OK) {
        status = dni_cholesky(fit->run, m, width, &definite, err);
    }
    if (definite) {
        fit->metric = m;
    } else {
        dn_run_free(fit->run, m); /* the diagonal alone is a metric too */
    }
    return status;
}

void dni_logistic_precondition(void *ctx, double *v) {
    const dni_logistic_fit *fit = ctx;
    size_t width = fit->loss.width;
    if (fit->metric != NULL) {
        dni_cholesky_solve(fit->metric, width, v, fit->loss.n_scores);
        return;
    }
    for (size_t k = 0; k < fit->loss.n_scores; k++) {
        for (size_t j = 0; j < width; j++) {
            v[k * width + j] /= fit->diagonal[j];
        }
    }
}
