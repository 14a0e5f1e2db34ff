/* Variance inflation factors from the correlation matrix R of the columns.
 *
 *   one column j   VIF = (R⁻¹)_jj
 *   columns 1      GVIF = det R_11 det R_22/det R = det R_11 det (R⁻¹)_11
 *
 * because det R = det R_22/det (R⁻¹)_11 (Schur complement). Fox and Monette, JASA 87, 1992.
 *
 * Left out of R: constant columns, and the first level of a category all of whose levels have a
 * column, because these columns sum to 1. If other columns depend on each other, 1 is added to R
 * along an orthonormal basis of the combinations that vanish; this does not change the factors of
 * the columns that are orthogonal to the basis, and the other columns have no factor. */
#include "statistics/inflation.h"
#include "learners/shared/linear/linear_rank.h"
#include "linalg/cholesky.h"
#include "linalg/eigen.h"
#include "linalg/step.h"
#include "linalg/triangle.h"

#include <math.h>
#include <string.h>

/* If the sum of the factors of all columns is below this limit, which is an upper bound of
 * 1/(least eigenvalue), no column depends on others. */
#define SAFE_SUM 1e8
/* A column with a larger component in the null space depends on others. */
#define DEPENDENT 1e-6

void dni_inflation_layout(dni_layout *layout, const void *n_cols, void *work) {
    const size_t d = *(const size_t *)n_cols;
    dni_inflation_work *w = work;
    w->correlation = dni_layout_matrix(layout, d, d);
    w->inverse = dni_layout_matrix(layout, d, d);
    w->omitted = dni_layout_array(layout, d, sizeof *w->omitted);
    w->dependent = dni_layout_array(layout, d, sizeof *w->dependent);
}

/* Sets `omitted` and `correlation`: omitted columns become rows of the identity. */
static void prepare(const double *gram, const double *deviation, const dni_statistics *s,
                    dni_inflation_work *w) {
    const size_t d = s->view.n_features;
    for (size_t j = 0; j < d; j++) {
        w->omitted[j] = !(deviation[j] > 0);
    }
    for (size_t i = 0; i < s->view.n_terms; i++) {
        const dn_inflation *term = &s->terms[i];
        if (term->df < (double)term->n_features) {
            w->omitted[term->first_feature] = true;
        }
    }
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j < i; j++) {
            w->correlation[i * d + j] = w->omitted[i] || w->omitted[j] ? 0 : gram[i * (d + 1) + j];
        }
        w->correlation[i * d + i] = w->omitted[i] ? 1 : gram[i * (d + 1) + i];
    }
}

/* inverse ← L⁻¹ with L L' = correlation. *out_sum: the trace of the inverse matrix; INFINITY: not
 * positive definite. */
static dn_status invert(dni_inflation_work *w, size_t d, const dn_run *run, double *out_sum,
                        dn_error *err) {
    bool definite = false;
    memcpy(w->inverse, w->correlation, d * d * sizeof *w->inverse);
    dn_status status = dni_cholesky(run, w->inverse, d, &definite, err);
    *out_sum = (double)INFINITY;
    if (status != DN_OK || !definite) {
        return status;
    }
    status = dni_lower_invert(run, w->inverse, d, err);
    if (status == DN_OK) {
        *out_sum = 0;
        for (size_t i = 0; i < d * d; i++) {
            *out_sum += w->inverse[i] * w->inverse[i];
        }
    }
    return status;
}

/* Adds 1 along the null space of the correlation matrix and sets `dependent`. */
static dn_status remove_null(dni_inflation_work *w, size_t d, const dn_run *run, dn_error *err) {
    size_t n_null = 0;
    double *null = NULL;
    memcpy(w->inverse, w->correlation, d * d * sizeof *w->inverse);
    dn_status status = dni_symmetric_null(run, w->inverse, d, DNI_RANK_SHARE, &n_null, &null, err);
    if (status != DN_OK || null == NULL) {
        return status;
    }
    dni_pace pace = {.run = run};
    for (size_t r = 0; r < n_null && status == DN_OK; r++) {
        const double *v = null + r * d;
        for (size_t i = 0; i < d; i++) {
            w->dependent[i] = w->dependent[i] || fabs(v[i]) > DEPENDENT;
            for (size_t j = 0; j <= i; j++) {
                w->correlation[i * d + j] += v[i] * v[j];
            }
        }
        status = dni_pace_poll(&pace, (double)d * (double)d, err);
    }
    dn_run_free(run, null);
    return status;
}

/* Returns the determinant of a small positive definite matrix [n × n], lower triangle, which is
 * overwritten. */
static double determinant(double *a, size_t n) {
    double product = 1;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            for (size_t k = 0; k < j; k++) {
                a[i * n + j] -= a[i * n + k] * a[j * n + k];
            }
            if (j < i) {
                a[i * n + j] /= a[j * n + j];
            }
        }
        product *= a[i * n + i];
        a[i * n + i] = sqrt(a[i * n + i]);
    }
    return product;
}

static double factor_of(const dni_inflation_work *w, size_t d, const dn_inflation *term) {
    double block[DNI_MAX_TERM * DNI_MAX_TERM], inverse[DNI_MAX_TERM * DNI_MAX_TERM];
    const size_t skipped = term->df < (double)term->n_features ? 1 : 0,
                 n = term->n_features - skipped, first = term->first_feature + skipped;
    if (n == 0 || n > DNI_MAX_TERM) {
        return (double)NAN;
    }
    for (size_t i = 0; i < n; i++) {
        if (w->omitted[first + i] || w->dependent[first + i]) {
            return (double)NAN;
        }
        for (size_t j = 0; j <= i; j++) {
            double sum = 0;
            for (size_t r = first + i; r < d; r++) {
                sum += w->inverse[r * d + first + i] * w->inverse[r * d + first + j];
            }
            inverse[i * n + j] = sum;
            block[i * n + j] = w->correlation[(first + i) * d + first + j];
        }
    }
    const double factor = determinant(block, n) * determinant(inverse, n);
    return isfinite(factor) ? factor : (double)NAN;
}

dn_status dni_inflation_compute(const double *gram, const double *deviation,
                                dni_statistics *statistics, dni_inflation_work *work,
                                const dn_run *run, bool *out_independent, dn_error *err) {
    const size_t d = statistics->view.n_features, n_terms = statistics->view.n_terms;
    double sum;
    prepare(gram, deviation, statistics, work);
    dn_status status = invert(work, d, run, &sum, err);
    bool independent = sum <= SAFE_SUM;
    if (status == DN_OK && !independent) {
        status = remove_null(work, d, run, err);
        if (status == DN_OK) {
            status = invert(work, d, run, &sum, err);
        }
    }
    dni_pace pace = {.run = run};
    for (size_t i = 0; i < n_terms && status == DN_OK; i++) {
        const dn_inflation *term = &statistics->terms[i];
        const double n = (double)term->n_features;
        statistics->inflation[i] = isfinite(sum) ? factor_of(work, d, term) : (double)NAN;
        status = dni_pace_poll(&pace, n * n * (double)d, err);
    }
    for (size_t j = 0; j < d; j++) {
        independent = independent && !work->omitted[j];
    }
    *out_independent = independent;
    return status;
}
