/* The inverse of a lower triangular matrix by panels of columns: L X = I. The columns j … of X
 * start at row j and depend only on the part of L below and to the right of entry (j, j). X can
 * therefore overwrite L from left to right. */
#include "linalg/triangle.h"
#include "linalg/cholesky.h"
#include "linalg/step.h"

#include <assert.h>
#include <cblas.h>
#include <string.h>

#define MIN_COLUMNS 32
#define MIN_ROWS 8

/* Returns the number of columns of a panel. */
static size_t panel_columns(size_t n) {
    return n == 0 ? 0 : dni_step_rows(n, (double)n * (double)n, MIN_COLUMNS);
}

double dni_lower_invert_memory(size_t n) {
    return (double)n * (double)panel_columns(n) * sizeof(double);
}

dn_status dni_lower_invert(const dn_run *run, double *l, size_t n, dn_error *err) {
    assert(n <= DNI_MAX_ORDER);
    const size_t most = panel_columns(n);
    void *memory = NULL;
    dn_status status = dn_run_alloc(run, n * most, sizeof(double),
                                    "the inverse of a triangular matrix", &memory, err);
    double *x = memory;
    for (size_t j = 0, width; status == DN_OK && j < n; j += width) {
        size_t left = n - j;
        width = left < most ? left : most;
        status = dn_run_stop(run, err);
        if (status != DN_OK) {
            break;
        }
        memset(x, 0, left * width * sizeof *x);
        for (size_t i = 0; i < width; i++) {
            x[i * width + i] = 1;
        }
        cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, (int)left,
                    (int)width, 1.0, l + j * n + j, (int)n, x, (int)width);
        for (size_t i = 0; i < left; i++) {
            memcpy(l + (j + i) * n + j, x + i * width, width * sizeof *x);
        }
    }
    for (size_t i = 0; status == DN_OK && i + 1 < n; i++) {
        memset(l + i * n + i + 1, 0, (n - i - 1) * sizeof *l);
    }
    dn_run_free(run, memory);
    return status;
}

dn_status dni_lower_times_rows(const dn_run *run, const double *a, size_t n, double *rows,
                               size_t n_rows, size_t stride, dn_error *err) {
    assert(n <= DNI_MAX_ORDER && stride >= n);
    if (n == 0 || n_rows == 0) {
        return DN_OK;
    }
    size_t step = dni_step_rows(n_rows, (double)n * (double)n, MIN_ROWS);
    for (size_t first = 0, count; first < n_rows; first += count) {
        count = n_rows - first < step ? n_rows - first : step;
        dn_status status = dn_run_stop(run, err);
        if (status != DN_OK) {
            return status;
        }
        cblas_dtrmm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (int)count,
                    (int)n, 1.0, a, (int)n, rows + first * stride, (int)stride);
    }
    return DN_OK;
}
