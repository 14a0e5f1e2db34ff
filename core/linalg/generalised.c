/* Generalised eigenproblem by one-sided Jacobi rotations. With y = Lᵀw and Y = M L⁻ᵀ the problem
 * is YᵀY y = ρ y: ρ are the squared singular values and y the right singular vectors of Y, which
 * has k rows. The rotations
 *
 *   y_i ← c y_i − s y_j,   y_j ← s y_i + c y_j,   tan 2θ = 2 y_iᵀy_j / (‖y_j‖² − ‖y_i‖²)
 *
 * with c = cos θ and s = sin θ, make all rows orthogonal; the norms of the rows are then √ρ. YᵀY
 * is never computed, so that small eigenvalues do not lose precision.
 *
 * Golub and Van Loan, Matrix Computations, 4th ed., sections 8.7.2 (generalised problem) and 8.6.3
 * (one-sided Jacobi). */
#include "linalg/generalised.h"
#include "linalg/cholesky.h"
#include "linalg/step.h"
#include "linalg/vector.h"

#include <assert.h>
#include <cblas.h>
#include <math.h>

#define MAX_SWEEPS 60
#define ORTHOGONAL 1e-15
/* A row whose norm is less than this fraction of the largest norm is a rounding error; its
 * direction is arbitrary. */
#define NEGLIGIBLE 1e-14
#define MIN_ROWS 8

/* rows ← rows L⁻ᵀ, or rows L⁻¹ */
static dn_status solve_rows(const dn_run *run, const double *l, size_t d, CBLAS_TRANSPOSE transpose,
                            double *rows, size_t k, dn_error *err) {
    size_t step = dni_step_rows(k, (double)d * (double)d, MIN_ROWS);
    for (size_t first = 0, n; d > 0 && first < k; first += n) {
        n = k - first < step ? k - first : step;
        dn_status status = dn_run_stop(run, err);
        if (status != DN_OK) {
            return status;
        }
        cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, transpose, CblasNonUnit, (int)n, (int)d,
                    1.0, l, (int)d, rows + first * d, (int)d);
    }
    return DN_OK;
}

/* Makes two rows orthogonal by a rotation. Returns false if the rows are already orthogonal or one
 * of them is negligible. */
static bool rotate(double *x, double *y, size_t d, double negligible) {
    double a = dni_norm(x, d), b = dni_norm(y, d), product = dni_dot(x, y, d);
    if (!(fabs(product) > ORTHOGONAL * a * b) || a <= negligible || b <= negligible) {
        return false;
    }
    double zeta = (b - a) * (b + a) / (2 * product);
    double t = (zeta < 0 ? -1 : 1) / (fabs(zeta) + sqrt(1 + zeta * zeta));
    double c = 1 / sqrt(1 + t * t), s = c * t;
    for (size_t j = 0; j < d; j++) {
        const double old = x[j];
        x[j] = c * old - s * y[j];
        y[j] = s * old + c * y[j];
    }
    return true;
}

static dn_status orthogonalise(const dn_run *run, double *rows, size_t k, size_t d, dn_error *err) {
    double longest = 0;
    for (size_t i = 0; i < k; i++) {
        longest = fmax(longest, dni_norm(rows + i * d, d));
    }
    for (int sweep = 0; sweep < MAX_SWEEPS; sweep++) {
        bool moved = false;
        for (size_t i = 0; i < k; i++) {
            dn_status status = dn_run_stop(run, err);
            if (status != DN_OK) {
                return status;
            }
            for (size_t j = i + 1; j < k; j++) {
                moved = rotate(rows + i * d, rows + j * d, d, NEGLIGIBLE * longest) || moved;
            }
        }
        if (!moved) {
            return DN_OK;
        }
    }
    return dn_error_set(err, DN_ERR_NUMERIC,
                        "the generalised eigenvalues of %zu rows could not be computed", k);
}

/* Sorts the rows by descending norm. values [k]: the norms, sorted with the rows. */
static void sort_rows(double *rows, size_t k, size_t d, double *values) {
    for (size_t i = 0; i < k; i++) {
        size_t best = i;
        for (size_t j = i + 1; j < k; j++) {
            if (values[j] > values[best]) {
                best = j;
            }
        }
        if (best == i) {
            continue;
        }
        double swap = values[i];
        values[i] = values[best];
        values[best] = swap;
        for (size_t j = 0; j < d; j++) {
            swap = rows[i * d + j];
            rows[i * d + j] = rows[best * d + j];
            rows[best * d + j] = swap;
        }
    }
}

dn_status dni_generalised_eigen(const dn_run *run, const double *l, size_t d, double *m, size_t k,
                                double *values, dn_error *err) {
    assert(d <= DNI_MAX_ORDER && k <= DNI_MAX_ORDER);
    dn_status status = solve_rows(run, l, d, CblasTrans, m, k, err);
    if (status == DN_OK && !dni_all_finite(m, k * d)) {
        status = dn_error_set(err, DN_ERR_NUMERIC,
                              "a generalised eigenproblem of order %zu is not finite", d);
    }
    if (status == DN_OK) {
        status = orthogonalise(run, m, k, d, err);
    }
    if (status != DN_OK) {
        return status;
    }
    for (size_t i = 0; i < k; i++) {
        values[i] = dni_norm(m + i * d, d);
    }
    sort_rows(m, k, d, values);
    for (size_t i = 0; i < k; i++) {
        for (size_t j = 0; values[i] > 0 && j < d; j++) {
            m[i * d + j] /= values[i];
        }
        values[i] *= values[i];
    }
    return solve_rows(run, l, d, CblasNoTrans, m, k, err);
}
