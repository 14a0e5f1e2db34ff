/* Householder tridiagonalisation from the last row upwards, a panel of rows at a time. Golub and
 * Van Loan, Matrix Computations, 4th ed., section 8.3.1; panels: Dongarra, Sorensen and
 * Hammarling, Block reduction of matrices to condensed forms, 1989.
 *
 * H = I − τ v vᵀ reflects row i of the lower triangle onto its last entry before the diagonal. The
 * rows above are changed by a matrix of rank two:
 *
 *   H A H = A − v wᵀ − w vᵀ,   w = p − ½ τ (pᵀv) v,   p = τ A v
 *
 * Within a panel this change is deferred: the current matrix is A − VᵀW − WᵀV, and the terms are
 * added only to the row and to the product A v that are needed. When the panel is complete, the
 * rows above are updated by matrix products. LAPACK's dsytrd does the same, but cannot be
 * interrupted, for minutes with large matrices. dsytrd reduces the small matrix that remains at
 * the end. */
#include "linalg/tridiagonal.h"
#include "linalg/cholesky.h"
#include "linalg/step.h"

#include <assert.h>
#include <cblas.h>
#include <lapacke.h>

#define PANEL 32
#define LAST 128 /* largest order of the remaining matrix that dsytrd reduces */
#define MIN_ROWS 256

/* Rows low … high - 1 of a. The vector v of row k is in the first k entries of that row; the
 * vector w of row k is row k - low of the array w. */
struct panel {
    double *a, *w; /* rows n apart */
    size_t n, low, high;
};

static size_t last_order(size_t n) {
    while (n > LAST) {
        n -= PANEL;
    }
    return n;
}

static size_t lapack_work(size_t n) {
    double size = 0;
    lapack_int info = LAPACKE_dsytrd_work(LAPACK_COL_MAJOR, 'U', (lapack_int)n, NULL, (lapack_int)n,
                                          NULL, NULL, NULL, &size, -1);
    assert(info == 0);
    (void)info;
    return (size_t)size;
}

size_t dni_tridiagonal_work(size_t n) {
    size_t panel = n > LAST ? PANEL * n : 0, last = lapack_work(last_order(n));
    return panel > last ? panel : last;
}

/* y ← y − Σ_k (c_k v_k + e_k w_k) over the rows k of the panel after row i, n entries; entries of c
 * and e are `step` apart. */
static void subtract_terms(const struct panel *p, size_t i, const double *c, const double *e,
                           size_t step, size_t n, double *y) {
    int m = (int)(p->high - i - 1), stride = (int)p->n;
    cblas_dgemv(CblasRowMajor, CblasTrans, m, (int)n, -1.0, p->a + (i + 1) * p->n, stride, c,
                (int)step, 1.0, y, 1);
    cblas_dgemv(CblasRowMajor, CblasTrans, m, (int)n, -1.0, p->w + (i + 1 - p->low) * p->n, stride,
                e, (int)step, 1.0, y, 1);
}

/* Computes the vector w of row i from its vector v. */
static void make_w(const struct panel *p, size_t i, double tau) {
    const double *v = p->a + i * p->n;
    double *w = p->w + (i - p->low) * p->n, of_w[PANEL], of_v[PANEL];
    int n = (int)i, m = (int)(p->high - i - 1), stride = (int)p->n;
    cblas_dsymv(CblasRowMajor, CblasLower, n, 1.0, p->a, stride, v, 1, 0.0, w, 1);
    if (m > 0) {
        cblas_dgemv(CblasRowMajor, CblasNoTrans, m, n, 1.0, p->w + (i + 1 - p->low) * p->n, stride,
                    v, 1, 0.0, of_w, 1);
        cblas_dgemv(CblasRowMajor, CblasNoTrans, m, n, 1.0, p->a + (i + 1) * p->n, stride, v, 1,
                    0.0, of_v, 1);
        subtract_terms(p, i, of_w, of_v, 1, i, w);
    }
    cblas_dscal(n, tau, w, 1);
    cblas_daxpy(n, -0.5 * tau * cblas_ddot(n, w, 1, v, 1), v, 1, w, 1);
}

/* Reduces the rows of the panel to reflections, the last row first. The last entry of each
 * reflection is set to 1. */
static dn_status reduce_panel(const dn_run *run, const struct panel *p, double *subdiagonal,
                              double *tau, dn_error *err) {
    dni_pace pace = {.run = run};
    for (size_t i = p->high; i-- > p->low;) {
        double *row = p->a + i * p->n;
        if (i + 1 < p->high) {
            subtract_terms(p, i, p->w + (i + 1 - p->low) * p->n + i, p->a + (i + 1) * p->n + i,
                           p->n, i + 1, row);
        }
        lapack_int info = LAPACKE_dlarfg_work((lapack_int)i, row + i - 1, row, 1, tau + i - 1);
        assert(info == 0);
        (void)info;
        subdiagonal[i - 1] = row[i - 1];
        row[i - 1] = 1;
        make_w(p, i, tau[i - 1]);
        dn_status status = dni_pace_poll(&pace, 2 * (double)i * (double)i, err);
        if (status != DN_OK) {
            return status;
        }
    }
    return DN_OK;
}

/* A ← A − VᵀW − WᵀV for the rows above the panel, several rows at a time, each up to its
 * diagonal. */
static dn_status update_above(const dn_run *run, const struct panel *p, dn_error *err) {
    size_t n = p->low, step = dni_step_rows(n, 4.0 * PANEL * (double)n, MIN_ROWS);
    const double *v = p->a + p->low * p->n;
    int stride = (int)p->n;
    for (size_t first = 0, m; first < n; first += m) {
        m = n - first < step ? n - first : step;
        dn_status status = dn_run_stop(run, err);
        if (status != DN_OK) {
            return status;
        }
        double *rows = p->a + first * p->n;
        cblas_dsyr2k(CblasRowMajor, CblasLower, CblasTrans, (int)m, PANEL, -1.0, v + first, stride,
                     p->w + first, stride, 1.0, rows + first, stride);
        if (first == 0) {
            continue;
        }
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)m, (int)first, PANEL, -1.0,
                    v + first, stride, p->w, stride, 1.0, rows, stride);
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)m, (int)first, PANEL, -1.0,
                    p->w + first, stride, v, stride, 1.0, rows, stride);
    }
    return DN_OK;
}

dn_status dni_tridiagonal(const dn_run *run, double *a, size_t n, double *diagonal,
                          double *subdiagonal, double *tau, double *work, dn_error *err) {
    assert(n > 0 && n <= DNI_MAX_ORDER);
    size_t left = n;
    for (; left > LAST; left -= PANEL) {
        struct panel panel = {.a = a, .w = work, .n = n, .low = left - PANEL, .high = left};
        dn_status status = reduce_panel(run, &panel, subdiagonal, tau, err);
        if (status == DN_OK) {
            status = update_above(run, &panel, err);
        }
        if (status != DN_OK) {
            return status;
        }
        for (size_t i = panel.low; i < panel.high; i++) {
            a[i * n + i - 1] = subdiagonal[i - 1];
            diagonal[i] = a[i * n + i];
        }
    }
    dn_status status = dn_run_stop(run, err);
    if (status != DN_OK) {
        return status;
    }
    lapack_int info =
        LAPACKE_dsytrd_work(LAPACK_COL_MAJOR, 'U', (lapack_int)left, a, (lapack_int)n, diagonal,
                            subdiagonal, tau, work, (lapack_int)lapack_work(left));
    assert(info == 0);
    (void)info;
    return DN_OK;
}
