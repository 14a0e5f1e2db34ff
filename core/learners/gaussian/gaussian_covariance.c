/* Σ = D R D with deviations D and correlations R. The factor is taken of R, whatever the units of the columns:
 *
 *   R = L Lᵀ,   A = L⁻¹ D⁻¹,   ln|Σ| = 2 Σ_j (ln L_jj + ln D_jj)
 *
 * R counts as singular when an eigenvalue is at most 1e-10 of the greatest: the eigenvectors there say which columns depend on each other. They are asked for only
 * when a pivot L_jj² is small, for no pivot is below the least eigenvalue. A column that is constant in all rows has no density: R has a unit vector there, A zeros. */
#include "learners/gaussian/gaussian_covariance.h"
#include "catalogue/report.h"
#include "learners/shared/shrinkage.h"
#include "linalg/cholesky.h"
#include "linalg/eigen.h"
#include "linalg/triangle.h"

#include <math.h>
#include <stdio.h>

#define SINGULAR 1e-10
#define SMALL_PIVOT                                                                                \
    1e-5 /* the least eigenvalue lies below the least pivot, seldom by a factor of thousands */

static const double *matrix_of(const dni_covariance_task *task) {
    size_t d = task->scatter->n_cols;
    return task->scatter->kind == DNI_SCATTER_CLASSES ? task->scatter->scatter + task->k * d * d
                                                      : task->scatter->scatter;
}

/* ---- what the data forbid ---- */
/* "within the classes", or "of class "a"". */
static void whose(const dni_covariance_task *task, char out[DN_FIELD_SIZE + 16]) {
    char name[DN_FIELD_SIZE];
    if (task->k == SIZE_MAX) {
        snprintf(out, DN_FIELD_SIZE + 16, "%s",
                 task->whose == NULL ? "within the classes" : task->whose);
        return;
    }
    dni_class_name(task->input, task->k, name);
    snprintf(out, DN_FIELD_SIZE + 16, "of class \"%s\"", name);
}

/* Names the columns whose scatter is 0; the diagonal's entries are `stride` apart. */
static dn_status refuse_constants(const dni_covariance_task *task, const double *diagonal,
                                  size_t stride, bool *marked, dn_error *err) {
    size_t d = task->scatter->n_cols, constant = 0, used = 0;
    char columns[DNI_NAMES_SIZE], rows[DN_FIELD_SIZE + 16];
    for (size_t j = 0; j < d; j++) {
        marked[j] = !task->constant[j] && !(diagonal[j * stride] > 0);
        constant += marked[j];
        used += !task->constant[j];
    }
    if (constant == 0) {
        return DN_OK;
    }
    whose(task, rows);
    if (constant == used && task->k != SIZE_MAX) {
        return dn_error_set(err, DN_ERR_DATA,
                            "the covariance %s is 0, for its rows are a single one or all the "
                            "same: choose covariance shared, or leave "
                            "the class out",
                            rows);
    }
    if (constant == used) {
        return dn_error_set(err, DN_ERR_DATA,
                            "no column varies within the classes: each class has a single row, or "
                            "rows that are all the same; classes need "
                            "more rows");
    }
    dni_feature_list(task->input, marked, 4, columns);
    return dn_error_set(err, DN_ERR_DATA,
                        "columns are constant %s%s, a variance of 0 (%s): exclude their columns%s",
                        task->k == SIZE_MAX ? "" : "in the rows ", rows, columns,
                        task->k == SIZE_MAX ? "" : ", or choose covariance shared");
}

static const char *remedy(const dni_covariance_task *task) {
    if (task->remedy != NULL) {
        return task->remedy;
    }
    return task->shrinkage > 0 ? "raise shrinkage" : "set shrinkage above 0";
}

static dn_status refuse_singular(const dni_covariance_task *task, const double *null, size_t n_null,
                                 bool *marked, dn_error *err) {
    size_t d = task->scatter->n_cols, dependent = 0;
    char columns[DNI_NAMES_SIZE], rows[DN_FIELD_SIZE + 16];
    for (size_t j = 0; j < d; j++) {
        marked[j] = null == NULL && !task->constant[j]; /* nobody could say which */
        for (size_t r = 0; null != NULL && r < n_null; r++) {
            marked[j] = marked[j] || fabs(null[r * d + j]) > 1e-6;
        }
        dependent += marked[j];
    }
    whose(task, rows);
    dni_feature_list(task->input, marked, 4, columns);
    return dn_error_set(err, DN_ERR_DATA,
                        "the covariance %s is singular, of rank %zu instead of %zu: %zu columns "
                        "are linear combinations of others (%s): "
                        "exclude some, or %s",
                        rows, d - n_null, d, dependent, columns, remedy(task));
}

/* ---- one matrix ---- */
/* a ← the shrunk correlations, lower triangle. */
static void correlations(const dni_covariance_task *task, double *a) {
    size_t d = task->scatter->n_cols;
    const double *s = matrix_of(task);
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j < i; j++) {
            a[i * d + j] = task->constant[i] || task->constant[j]
                               ? 0
                               : s[i * d + j] / sqrt(s[i * d + i]) / sqrt(s[j * d + j]);
        }
        a[i * d + i] = 1;
    }
    dni_shrinkage_apply(a, d, task->shrinkage);
}

/* a is spoilt. */
static dn_status check_rank(const dni_covariance_task *task, double *a, bool *marked,
                            dn_error *err) {
    size_t n_null = 0;
    double *null = NULL;
    correlations(task, a);
    dn_status status =
        dni_symmetric_null(task->run, a, task->scatter->n_cols, SINGULAR, &n_null, &null, err);
    if (status == DN_OK && n_null > 0) {
        status = refuse_singular(task, null, n_null, marked, err);
    }
    dn_run_free(task->run, null);
    return status;
}

/* a ← L */
static dn_status factor(const dni_covariance_task *task, double *a, bool *marked, dn_error *err) {
    size_t d = task->scatter->n_cols;
    bool definite = false, small = false;
    correlations(task, a);
    dn_status status = dni_cholesky(task->run, a, d, &definite, err);
    for (size_t j = 0; status == DN_OK && definite && j < d; j++) {
        small = small || !(a[j * d + j] * a[j * d + j] > SMALL_PIVOT);
    }
    if (status != DN_OK || (definite && !small)) {
        return status;
    }
    status = check_rank(task, a, marked, err);
    if (status != DN_OK) {
        return status;
    }
    correlations(task, a);
    status = dni_cholesky(task->run, a, d, &definite, err);
    if (status == DN_OK && !definite) {
        status = dn_error_set(err, DN_ERR_NUMERIC,
                              "the covariance is not positive definite to working precision: %s",
                              remedy(task));
    }
    return status;
}

dn_status dni_covariance_whiten(const dni_covariance_task *task, double *whiten, double *log_det,
                                dn_error *err) {
    size_t d = task->scatter->n_cols;
    const double *s = matrix_of(task);
    void *marked = NULL;
    dn_status status =
        dn_run_alloc(task->run, d, sizeof(bool), "the marks of the columns", &marked, err);
    if (status == DN_OK) {
        status = refuse_constants(task, s, d + 1, marked, err);
    }
    if (status == DN_OK) {
        status = factor(task, whiten, marked, err);
    }
    dn_run_free(task->run, marked);
    if (status != DN_OK) {
        return status;
    }
    double log_root = 0;
    for (size_t j = 0; j < d; j++) {
        log_root += task->constant[j]
                        ? 0
                        : log(whiten[j * d + j]) + 0.5 * log(s[j * d + j] / task->divisor);
    }
    status = dni_lower_invert(task->run, whiten, d, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j <= i; j++) {
            whiten[i * d + j] =
                task->constant[j] ? 0 : whiten[i * d + j] / sqrt(s[j * d + j] / task->divisor);
        }
    }
    *log_det = 2 * log_root;
    return DN_OK;
}

dn_status dni_covariance_whiten_diagonal(const dni_covariance_task *task, double *whiten,
                                         double *log_det, dn_error *err) {
    size_t d = task->scatter->n_cols;
    const double *s = task->scatter->scatter + task->k * d;
    void *marked = NULL;
    dn_status status =
        dn_run_alloc(task->run, d, sizeof(bool), "the marks of the columns", &marked, err);
    if (status == DN_OK) {
        status = refuse_constants(task, s, 1, marked, err);
    }
    dn_run_free(task->run, marked);
    if (status != DN_OK) {
        return status;
    }
    *log_det = 0;
    for (size_t j = 0; j < d; j++) {
        whiten[j] = task->constant[j] ? 0 : 1 / sqrt(s[j] / task->divisor);
        *log_det += task->constant[j] ? 0 : log(s[j] / task->divisor);
    }
    return DN_OK;
}

double dni_covariance_memory(dni_scatter_kind kind, size_t n_features) {
    double d = (double)n_features;
    return kind == DNI_SCATTER_DIAGONAL
               ? d
               : d + 8 * (d + 80) *
                         d; /* the inverse's panel; eigenvectors when singular, and their work */
}
