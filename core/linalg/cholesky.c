/* Cholesky and symmetric eigenvalues. LAPACK is column-major: our row-major lower triangle is its upper one, so nothing is ever transposed. */
#include "linalg/cholesky.h"
#include "linalg/vector.h"

#include <assert.h>
#include <lapacke.h>

bool dni_cholesky(double *a, size_t n) {
    assert(n <= DNI_MAX_ORDER);
    if (n == 0)
        return true;
    for (size_t i = 0; i < n; i++)
        if (!dni_all_finite(a + i * n, i + 1))
            return false;
    return LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', (lapack_int)n, a, (lapack_int)n) == 0;
}

void dni_cholesky_solve(const double *l, size_t n, double *x, size_t n_rhs) {
    assert(n <= DNI_MAX_ORDER && n_rhs <= DNI_MAX_ORDER);
    if (n == 0 || n_rhs == 0)
        return;
    lapack_int info = LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'U', (lapack_int)n, (lapack_int)n_rhs, l, (lapack_int)n, x, (lapack_int)n);
    assert(info == 0); /* only a wrong argument could fail */
    (void)info;
}

dn_status dni_symmetric_eigen(const dn_run *run, double *a, size_t n, double *values, dn_error *err) {
    assert(n <= DNI_MAX_ORDER);
    if (n == 0)
        return DN_OK;
    for (size_t i = 0; i < n; i++)
        if (!dni_all_finite(a + i * n, i + 1))
            return dn_error_set(err, DN_ERR_NUMERIC, "a matrix of order %zu whose eigenvalues are needed is not finite", n);
    double best = 0;
    lapack_int info = LAPACKE_dsyev_work(LAPACK_COL_MAJOR, 'V', 'U', (lapack_int)n, a, (lapack_int)n, values, &best, -1);
    assert(info == 0);
    void *work;
    dn_status status = dn_run_alloc(run, (size_t)best, sizeof(double), "the eigenvalue solver", &work, err);
    if (status != DN_OK)
        return status;
    info = LAPACKE_dsyev_work(LAPACK_COL_MAJOR, 'V', 'U', (lapack_int)n, a, (lapack_int)n, values, work, (lapack_int)best);
    dn_run_free(run, work);
    if (info != 0)
        return dn_error_set(err, DN_ERR_NUMERIC, "the eigenvalues of a matrix of order %zu could not be computed", n);
    return DN_OK;
}
