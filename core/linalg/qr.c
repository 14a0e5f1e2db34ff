/* Least squares by Householder QR. Golub and Van Loan, Matrix Computations, 4th ed., sections 5.2
 * (QR), 5.4.2 (column pivoting), 5.5.3 (least norm), 6.5.3 (appending rows).
 *
 *   appending   [R; X] = Q [R'; 0], by LAPACK's dtpqrt, which keeps the zeros below R
 *   solving     Z P = Q [R11 R12; 0 0],  R11 x = QᵀT, and x = 0 for the other columns
 *   null space  P [−R11⁻¹ R12; I] */
#include "linalg/qr.h"
#include "linalg/cholesky.h"
#include "linalg/step.h"
#include "linalg/vector.h"

#include <assert.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

#define BLOCK 32 /* columns of a block reflector */
#define MIN_ROWS 16

size_t dni_qr_work(size_t p) {
    return 2 * BLOCK * p;
}

dn_status dni_qr_append(const dn_run *run, double *r, size_t p, double *rows, size_t n_rows,
                        double *work, dn_error *err) {
    assert(p <= DNI_MAX_ORDER && n_rows <= DNI_MAX_ORDER);
    lapack_int n = (lapack_int)p, block = n < BLOCK ? n : BLOCK;
    if (p == 0 || n_rows == 0) {
        return DN_OK;
    }
    size_t step = dni_step_rows(n_rows, 2 * (double)p * (double)p, MIN_ROWS);
    for (size_t first = 0, m; first < n_rows; first += m) {
        m = n_rows - first < step ? n_rows - first : step;
        dn_status status = dn_run_stop(run, err);
        if (status != DN_OK) {
            return status;
        }
        lapack_int info =
            LAPACKE_dtpqrt_work(LAPACK_COL_MAJOR, (lapack_int)m, n, 0, block, r, n, rows + first,
                                (lapack_int)n_rows, work, block, work + (size_t)block * p);
        assert(info == 0); /* info < 0 would be an invalid argument */
        (void)info;
    }
    return DN_OK;
}

/* ---- pivoting ---- */
struct pivoting {
    double *r;     /* column-major; columns are `stride` numbers apart */
    size_t stride; /* p */
    size_t d, k;   /* number of columns of Z, and of T */
    size_t *order; /* [d] the column of Z at each position after pivoting */
};

static size_t longest_column(const struct pivoting *q, size_t s, double *length) {
    size_t best = s;
    *length = -1;
    for (size_t j = s; j < q->d; j++) {
        double norm = dni_norm(q->r + j * q->stride + s, q->d - s);
        if (norm > *length || isnan(norm)) { /* a column that is not finite ends the search */
            *length = norm;
            best = j;
        }
    }
    return best;
}

static void swap_columns(struct pivoting *q, size_t a, size_t b) {
    if (a == b) {
        return;
    }
    double *x = q->r + a * q->stride, *y = q->r + b * q->stride;
    for (size_t i = 0; i < q->d; i++) {
        double swap = x[i];
        x[i] = y[i];
        y[i] = swap;
    }
    size_t column = q->order[a];
    q->order[a] = q->order[b];
    q->order[b] = column;
}

/* Applies a Householder reflection that maps column s onto ±length times the first unit vector, to
 * column s and all later columns. */
static void reflect(struct pivoting *q, size_t s, double length) {
    double *v = q->r + s * q->stride + s, alpha = v[0] > 0 ? -length : length;
    size_t n = q->d - s;
    v[0] -= alpha;
    double beta = -1 / (alpha * v[0]); /* 2/vᵀv */
    for (size_t j = s + 1; j < q->d + q->k; j++) {
        double *column = q->r + j * q->stride + s;
        dni_axpy(-beta * dni_dot(v, column, n), v, column, n);
    }
    v[0] = alpha;
    memset(v + 1, 0, (n - 1) * sizeof *v);
}

/* y [rank] ← R11⁻¹ y */
static void back_substitute(const struct pivoting *q, size_t rank, double *y) {
    for (size_t j = rank; j-- > 0;) {
        const double *column = q->r + j * q->stride;
        y[j] /= column[j];
        dni_axpy(-y[j], column, y, j);
    }
}

/* x [d] ← the solution for a column of T (sign 1); or the null vector of a column of Z at or after
 * position `rank` (sign −1; x is 1 at that column). */
static void spread(const struct pivoting *q, size_t rank, size_t column, double sign, double *y,
                   double *x) {
    memcpy(y, q->r + column * q->stride, rank * sizeof *y);
    back_substitute(q, rank, y);
    memset(x, 0, q->d * sizeof *x);
    for (size_t i = 0; i < rank; i++) {
        x[q->order[i]] = sign * y[i];
    }
    if (column < q->d) {
        x[q->order[column]] = 1;
    }
}

static dn_status factor(const dn_run *run, struct pivoting *q, double tolerance, size_t max_rank,
                        size_t *rank, dn_error *err) {
    double first = 0, length;
    for (size_t s = 0; s < q->d; s++) {
        dn_status status = dn_run_stop(run, err);
        if (status != DN_OK) {
            return status;
        }
        size_t column = longest_column(q, s, &length);
        if (s == 0) {
            first = length;
        }
        if (!isfinite(length)) {
            return dn_error_set(err, DN_ERR_NUMERIC,
                                "the triangular factor of %zu columns is not finite", q->d);
        }
        *rank = s;
        if (!(length > tolerance * first) || s == max_rank) {
            return DN_OK;
        }
        swap_columns(q, s, column);
        reflect(q, s, length);
    }
    *rank = q->d;
    return DN_OK;
}

dn_status dni_qr_solve(const dn_run *run, double *r, size_t d, size_t k, double tolerance,
                       size_t max_rank, double *x, size_t *out_n_null, double **out_null,
                       dn_error *err) {
    struct pivoting q = {.r = r, .stride = d + k, .d = d, .k = k};
    void *order = NULL, *work = NULL, *null = NULL;
    size_t rank = 0;
    dn_status status =
        dn_run_alloc(run, d, sizeof *q.order, "the order of the columns", &order, err);
    if (status != DN_OK) {
        return status;
    }
    status = dn_run_alloc(run, d, sizeof(double), "a column of the triangle", &work, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    q.order = order;
    for (size_t j = 0; j < d; j++) {
        q.order[j] = j;
    }
    status = factor(run, &q, tolerance, max_rank, &rank, err);
    if (status == DN_OK && rank < d) {
        status = dn_run_alloc(run, (d - rank) * d, sizeof(double), "the combinations of columns",
                              &null, err);
    }
    if (status != DN_OK) {
        goto cleanup;
    }
    for (size_t j = rank; j < d; j++) {
        status = dn_run_stop(run, err);
        if (status != DN_OK) {
            dn_run_free(run, null);
            goto cleanup;
        }
        spread(&q, rank, j, -1, work, (double *)null + (j - rank) * d);
    }
    for (size_t i = 0; i < k; i++) {
        spread(&q, rank, d + i, 1, work, x + i * d);
    }
    *out_n_null = d - rank;
    *out_null = null;
cleanup:
    dn_run_free(run, work);
    dn_run_free(run, order);
    return status;
}

/* Applies Gram-Schmidt orthogonalisation twice, to remove rounding errors. */
dn_status dni_orthonormal_rows(const dn_run *run, double *rows, size_t n, size_t d, dn_error *err) {
    for (size_t r = 0; r < n; r++) {
        dn_status status = dn_run_stop(run, err);
        if (status != DN_OK) {
            return status;
        }
        double *row = rows + r * d;
        double before = dni_norm(row, d);
        for (int again = 0; again < 2; again++) {
            for (size_t q = 0; q < r; q++) {
                dni_axpy(-dni_dot(row, rows + q * d, d), rows + q * d, row, d);
            }
        }
        double norm = dni_norm(row, d);
        double factor = norm > 1e-12 * before && norm > 0 ? 1 / norm : 0;
        for (size_t j = 0; j < d; j++) {
            row[j] *= factor;
        }
    }
    return DN_OK;
}
