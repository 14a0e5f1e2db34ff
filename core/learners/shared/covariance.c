/* Σ = D R D with standard deviations D (diagonal) and correlations R. R is factored instead of Σ,
 * so that the result does not depend on the units of the columns:
 *
 *   R = L Lᵀ,   A = L⁻¹ D⁻¹,   ln|Σ| = 2 Σ_j (ln L_jj + ln D_jj)
 *
 * The eigenvectors of R whose eigenvalue is 0 show which columns depend on each other. The
 * eigenvectors are computed only if a pivot L_jj² is small: every pivot is at least the smallest
 * eigenvalue. A column that is constant in all rows is left out: its row and column of R are those
 * of the identity, and those of A are 0. */
#include "learners/shared/covariance.h"
#include "base/layout.h"
#include "catalogue/report.h"
#include "learners/shared/shrinkage.h"
#include "linalg/cholesky.h"
#include "linalg/eigen.h"
#include "linalg/triangle.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SINGULAR 1e-10
/* With more columns than this, a matrix with at most as many rows as columns is reported as
 * singular without computing its null vectors, which costs several times a factorisation. */
#define MAX_SEARCHED 256
/* If a pivot is below SMALL_PIVOT, R may be singular. The smallest eigenvalue is less than the
 * smallest pivot, but rarely thousands of times less. */
#define SMALL_PIVOT 1e-5
/* A column belongs to a linear combination if its entry of the unit eigenvector exceeds
 * SMALL_ENTRY. */
#define SMALL_ENTRY 1e-6

enum { ROWS_SIZE = DN_FIELD_SIZE + 16, MATRIX_SIZE = ROWS_SIZE + 16 };

/* ---- correlations ---- */
/* r [d × d] ← the shrunk correlation matrix, lower triangle. */
static void correlate(const dni_correlation *c, double *r) {
    const size_t d = c->d;
    const double *s = c->scatter;
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j < i; j++) {
            r[i * d + j] = c->constant[i] || c->constant[j]
                               ? 0
                               : s[i * d + j] / sqrt(s[i * d + i]) / sqrt(s[j * d + j]);
        }
        r[i * d + i] = 1;
    }
    dni_shrinkage_apply(r, d, c->shrinkage);
}

static const char *remedy_of(const dni_correlation *c) {
    if (c->remedy != NULL) {
        return c->remedy;
    }
    return c->shrinkage > 0 ? "raise shrinkage" : "set shrinkage above 0";
}

/* Reports that R is singular: fills c->singular and returns DN_OK, or sets an error if c->singular
 * is NULL. null: [n_null × d] eigenvectors with the eigenvalue 0; NULL: they are not known, and the
 * message names all columns. */
static dn_status refuse_singular(const dni_correlation *c, const double *null, size_t n_null,
                                 dn_error *err) {
    const size_t d = c->d;
    size_t dependent = 0;
    char columns[DNI_NAMES_SIZE];
    for (size_t j = 0; j < d; j++) {
        c->marked[j] = null == NULL && !c->constant[j];
        for (size_t r = 0; null != NULL && r < n_null; r++) {
            c->marked[j] = c->marked[j] || fabs(null[r * d + j]) > SMALL_ENTRY;
        }
        dependent += c->marked[j];
    }
    dni_feature_list(c->input, c->marked, 4, columns);
    char reason[sizeof c->singular->reason];
    snprintf(reason, sizeof reason,
             "%.120s is singular, of rank %s%zu instead of %zu, because %zu columns are linear "
             "combinations of others (%.256s)",
             c->matrix, null == NULL ? "at most " : "", d - n_null, d, dependent, columns);
    if (c->singular != NULL) {
        c->singular->found = true;
        memcpy(c->singular->reason, reason, sizeof reason);
        return DN_OK;
    }
    return dn_error_set(err, DN_ERR_DATA, "%s: exclude some, or %s", reason, remedy_of(c));
}

/* Calls refuse_singular if an eigenvalue of R is 0. Overwrites r. */
static dn_status check_rank(const dni_correlation *c, double *r, dn_error *err) {
    size_t n_null = 0;
    double *null = NULL;
    correlate(c, r);
    dn_status status = dni_symmetric_null(c->run, r, c->d, SINGULAR, &n_null, &null, err);
    if (status == DN_OK && n_null > 0) {
        status = refuse_singular(c, null, n_null, err);
    }
    dn_run_free(c->run, null);
    return status;
}

dn_status dni_correlation_factor(const dni_correlation *c, double *r, dn_error *err) {
    const size_t d = c->d;
    bool definite = false, small = false;
    if (c->shrinkage == 0 && c->n_rows > 0 && c->n_rows <= d && d > MAX_SEARCHED) {
        const dn_status singular = refuse_singular(c, NULL, d - c->n_rows + 1, err);
        if (singular != DN_OK || c->singular != NULL) {
            return singular;
        }
    }
    correlate(c, r);
    dn_status status = dni_cholesky(c->run, r, d, &definite, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t j = 0; definite && j < d; j++) {
        small = small || !(r[j * d + j] * r[j * d + j] > SMALL_PIVOT);
    }
    if (definite && !small) {
        return DN_OK;
    }
    status = check_rank(c, r, err);
    if (status != DN_OK || (c->singular != NULL && c->singular->found)) {
        return status;
    }
    correlate(c, r);
    status = dni_cholesky(c->run, r, d, &definite, err);
    if (status == DN_OK && !definite) {
        status = dn_error_set(err, DN_ERR_NUMERIC,
                              "%s is not positive definite to working precision: %s", c->matrix,
                              remedy_of(c));
    }
    return status;
}

double dni_correlation_memory(size_t d) {
    return dni_symmetric_null_memory(d);
}

/* ---- the covariance ---- */
static const double *matrix_of(const dni_covariance_task *task) {
    const size_t d = task->scatter->n_cols;
    if (task->matrix != NULL) {
        return task->matrix;
    }
    return task->scatter->kind == DNI_SCATTER_CLASSES ? task->scatter->scatter + task->k * d * d
                                                      : task->scatter->scatter;
}

/* out ← the words that follow "the covariance" in messages: task->whose, "within the classes" or
 * "of class "a"". */
static void name_rows(const dni_covariance_task *task, char out[ROWS_SIZE]) {
    char name[DN_FIELD_SIZE];
    if (task->k == SIZE_MAX) {
        snprintf(out, ROWS_SIZE, "%s", task->whose == NULL ? "within the classes" : task->whose);
        return;
    }
    dni_class_name(task->input, task->k, name);
    snprintf(out, ROWS_SIZE, "of class \"%s\"", name);
}

/* Fails, or for the covariance of a class fills task->singular if it is not NULL, if a column that
 * is not left out has the scatter 0. diagonal: the scatter of column j is diagonal[j·stride]. */
static dn_status refuse_constants(const dni_covariance_task *task, const double *diagonal,
                                  size_t stride, bool *marked, dn_error *err) {
    const bool pooled = task->k == SIZE_MAX;
    const size_t d = task->scatter->n_cols;
    size_t constant = 0, used = 0;
    char columns[DNI_NAMES_SIZE], rows[ROWS_SIZE];
    for (size_t j = 0; j < d; j++) {
        marked[j] = !task->constant[j] && !(diagonal[j * stride] > 0);
        constant += marked[j];
        used += !task->constant[j];
    }
    if (constant == 0) {
        return DN_OK;
    }
    name_rows(task, rows);
    if (constant == used && !pooled && task->singular != NULL) {
        task->singular->found = true;
        snprintf(task->singular->reason, sizeof task->singular->reason,
                 "the covariance %.120s is 0, because the class has a single row or all its rows "
                 "are equal",
                 rows);
        return DN_OK;
    }
    if (constant == used && !pooled) {
        return dn_error_set(err, DN_ERR_DATA,
                            "the covariance %s is 0, because the class has a single row or all its "
                            "rows are equal: choose covariance shared, or leave the class out",
                            rows);
    }
    if (constant == used) {
        return dn_error_set(err, DN_ERR_DATA,
                            "no column varies within the classes, because each class has a single "
                            "row or all its rows are equal: add rows");
    }
    dni_feature_list(task->input, marked, 4, columns);
    if (task->singular != NULL && !pooled) {
        task->singular->found = true;
        snprintf(task->singular->reason, sizeof task->singular->reason,
                 "the covariance %.120s has columns with variance 0 (%.256s)", rows, columns);
        return DN_OK;
    }
    return dn_error_set(err, DN_ERR_DATA,
                        "the covariance %s has columns with variance 0 (%s): exclude them%s", rows,
                        columns, pooled ? "" : ", or choose covariance shared");
}

dn_status dni_covariance_whiten(const dni_covariance_task *task, double *whiten, double *log_det,
                                dn_error *err) {
    const size_t d = task->scatter->n_cols;
    const double *s = matrix_of(task);
    double log_root = 0;
    char rows[ROWS_SIZE], matrix[MATRIX_SIZE];
    void *marked = NULL;
    dn_status status =
        dn_run_alloc(task->run, d, sizeof(bool), "the marks of the columns", &marked, err);
    if (status != DN_OK) {
        return status;
    }
    status = refuse_constants(task, s, d + 1, marked, err);
    if (status != DN_OK || (task->singular != NULL && task->singular->found)) {
        goto cleanup;
    }
    name_rows(task, rows);
    snprintf(matrix, sizeof matrix, "the covariance %s", rows);
    status = dni_correlation_factor(&(dni_correlation){.input = task->input,
                                                       .run = task->run,
                                                       .scatter = s,
                                                       .d = d,
                                                       .constant = task->constant,
                                                       .marked = marked,
                                                       .shrinkage = task->shrinkage,
                                                       .n_rows = task->n_rows,
                                                       .matrix = matrix,
                                                       .remedy = task->remedy,
                                                       .singular = task->singular},
                                    whiten, err);
    if (status != DN_OK || (task->singular != NULL && task->singular->found)) {
        goto cleanup;
    }
    for (size_t j = 0; j < d; j++) {
        log_root += task->constant[j]
                        ? 0
                        : log(whiten[j * d + j]) + 0.5 * log(s[j * d + j] / task->divisor);
    }
    status = dni_lower_invert(task->run, whiten, d, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j <= i; j++) {
            whiten[i * d + j] =
                task->constant[j] ? 0 : whiten[i * d + j] / sqrt(s[j * d + j] / task->divisor);
        }
    }
    *log_det = 2 * log_root;
cleanup:
    dn_run_free(task->run, marked);
    return status;
}

dn_status dni_covariance_whiten_diagonal(const dni_covariance_task *task, double *whiten,
                                         double *log_det, dn_error *err) {
    const size_t d = task->scatter->n_cols;
    const double *s = task->scatter->scatter + task->k * d;
    void *marked = NULL;
    dn_status status =
        dn_run_alloc(task->run, d, sizeof(bool), "the marks of the columns", &marked, err);
    if (status != DN_OK) {
        return status;
    }
    status = refuse_constants(task, s, 1, marked, err);
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
    const double marks = (double)n_features * sizeof(bool);
    return kind == DNI_SCATTER_DIAGONAL ? marks
                                        : marks + fmax(dni_correlation_memory(n_features),
                                                       dni_lower_invert_memory(n_features));
}
