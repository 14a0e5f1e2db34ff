/* Cholesky factorisation by panels of columns, left-looking: the products of all previous columns
 * are subtracted from a panel, then the panel is factored.
 *
 *   C ← A[j…, panel] − L[j…, 0…j) L[panel, 0…j)ᵀ
 *   L_jj L_jjᵀ = C_jj,   L[below, panel] = C[below] L_jj⁻ᵀ
 *
 * LAPACK's dpotrf computes the same sums in nearly the same time, but cannot be interrupted, for
 * seconds with large matrices. It is called for matrices of one panel. LAPACK is column-major: the
 * row-major lower triangle is an upper triangle for LAPACK, so that nothing is transposed. */
#include "linalg/cholesky.h"
#include "linalg/step.h"
#include "linalg/vector.h"

#include <assert.h>
#include <cblas.h>
#include <lapacke.h>

#define PANEL 1024 /* number of columns; narrower panels are slower than dpotrf */

/* C ← C − L[rows, 0…j) L[panel, 0…j)ᵀ for n_rows rows below the diagonal block, PANEL columns of L
 * at a time. */
static dn_status subtract_products(const dn_run *run, double *a, size_t n, size_t j, size_t width,
                                   size_t first, size_t n_rows, dn_error *err) {
    for (size_t k = 0; k < j; k += PANEL) { /* j is a multiple of PANEL */
        dn_status status = dn_run_stop(run, err);
        if (status != DN_OK) {
            return status;
        }
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)n_rows, (int)width, PANEL, -1.0,
                    a + first * n + k, (int)n, a + j * n + k, (int)n, 1.0, a + first * n + j,
                    (int)n);
    }
    return DN_OK;
}

/* Computes the rows below the diagonal block of the panel that begins at column j. */
static dn_status panel_below(const dn_run *run, double *a, size_t n, size_t j, size_t width,
                             dn_error *err) {
    size_t first = j + width, step = dni_step_rows(n - first, 2.0 * PANEL * PANEL, PANEL / 2);
    for (size_t n_rows; first < n; first += n_rows) {
        n_rows = n - first < step ? n - first : step;
        dn_status status = subtract_products(run, a, n, j, width, first, n_rows, err);
        if (status == DN_OK) {
            status = dn_run_stop(run, err);
        }
        if (status != DN_OK) {
            return status;
        }
        cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (int)n_rows,
                    (int)width, 1.0, a + j * n + j, (int)n, a + first * n + j, (int)n);
    }
    return DN_OK;
}

static bool panel_diagonal(double *a, size_t n, size_t j, size_t width) {
    double *block = a + j * n + j;
    if (j > 0) {
        cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, (int)width, (int)j, -1.0, a + j * n,
                    (int)n, 1.0, block, (int)n);
    }
    return LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', (lapack_int)width, block, (lapack_int)n) == 0;
}

dn_status dni_cholesky(const dn_run *run, double *a, size_t n, bool *out, dn_error *err) {
    assert(n <= DNI_MAX_ORDER);
    bool definite = true;
    for (size_t i = 0; i < n && definite; i++) {
        definite = dni_all_finite(a + i * n, i + 1);
    }
    for (size_t j = 0; j < n && definite; j += PANEL) {
        size_t width = n - j < PANEL ? n - j : PANEL;
        dn_status status = dn_run_stop(run, err);
        if (status != DN_OK) {
            return status;
        }
        definite = panel_diagonal(a, n, j, width);
        if (definite) {
            status = panel_below(run, a, n, j, width, err);
        }
        if (status != DN_OK) {
            return status;
        }
    }
    *out = definite;
    return DN_OK;
}

void dni_cholesky_solve(const double *l, size_t n, double *x, size_t n_rhs) {
    assert(n <= DNI_MAX_ORDER && n_rhs <= DNI_MAX_ORDER);
    if (n == 0 || n_rhs == 0) {
        return;
    }
    lapack_int info = LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'U', (lapack_int)n, (lapack_int)n_rhs,
                                          l, (lapack_int)n, x, (lapack_int)n);
    assert(info == 0); /* info < 0 would be an invalid argument */
    (void)info;
}
