/* Scores, gradients and Gram matrices of a tile: BLAS for dense rows, loops over the entries for
 * sparse rows. */
#include "linalg/tile.h"
#include "base/cpu.h"
#include "linalg/few_scores.h"
#include "linalg/step.h"
#include "linalg/vector.h"

#include <assert.h>
#include <cblas.h>
#include <math.h>
#include <string.h>

static bool is_few(size_t n_scores) {
    return n_scores > 1 && n_scores <= DNI_FEW_SCORES && dni_few_scores_supported();
}

static void scores_dense(dn_matrix x, const double *table, size_t n_scores, double *scores) {
    size_t d = x.n_cols, width = d + 1;
    for (size_t t = 0; t < x.n_rows; t++) {
        for (size_t k = 0; k < n_scores; k++) {
            scores[t * n_scores + k] = table[k * width + d];
        }
    }
    if (x.n_rows == 0 || d == 0) {
        return;
    }
    if (n_scores == 1) {
        cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)x.n_rows, (int)d, 1.0, x.values,
                    (int)x.stride, table, 1, 1.0, scores, 1);
    } else if (is_few(n_scores)) {
        dni_few_scores(x, table, width, n_scores, scores);
    } else {
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)x.n_rows, (int)n_scores, (int)d,
                    1.0, x.values, (int)x.stride, table, (int)width, 1.0, scores, (int)n_scores);
    }
}

/* Computes one score per row, for two classes, without an inner loop over scores. */
static void score_sparse(dn_matrix x, const double *table, double *scores) {
    for (size_t t = 0; t < x.n_rows; t++) {
        double g = table[x.n_cols];
        for (size_t e = x.row_start[t]; e < x.row_start[t + 1]; e++) {
            g += x.values[e] * table[x.cols[e]];
        }
        scores[t] = g;
    }
}

/* y [n] += s·x [n], for a small n: two numbers at a time, so that compilers use vector
 * instructions. */
static inline void add_few(double s, const double *restrict x, double *restrict y, size_t n) {
    size_t i = 0;
    for (; i + 2 <= n; i += 2) {
        y[i] += s * x[i];
        y[i + 1] += s * x[i + 1];
    }
    if (i < n) {
        y[i] += s * x[i];
    }
}

/* Prefetches the numbers of the table for the entry that is ENTRIES entries ahead. */
static inline void look_ahead(dn_matrix x, size_t entry, const double *table, size_t n_scores) {
    enum { ENTRIES = 6 };
    if (entry + ENTRIES < x.row_start[x.n_rows]) {
        dni_prefetch(table + (size_t)x.cols[entry + ENTRIES] * n_scores, n_scores);
    }
}

static void scores_sparse(dn_matrix x, const double *table, size_t n_scores, double *scores) {
    const double *intercept = table + x.n_cols * n_scores;
    if (n_scores == 1) {
        score_sparse(x, table, scores);
        return;
    }
    for (size_t t = 0; t < x.n_rows; t++) {
        double *g = scores + t * n_scores;
        memcpy(g, intercept, n_scores * sizeof *g);
        for (size_t e = x.row_start[t]; e < x.row_start[t + 1]; e++) {
            look_ahead(x, e, table, n_scores);
            add_few(x.values[e], table + (size_t)x.cols[e] * n_scores, g, n_scores);
        }
    }
}

void dni_tile_scores(dn_matrix x, const double *table, size_t n_scores, double *scores) {
    if (x.kind == DN_DENSE) {
        scores_dense(x, table, n_scores, scores);
    } else {
        scores_sparse(x, table, n_scores, scores);
    }
}

static void gradient_dense(dn_matrix x, const double *residual, size_t n_scores, double *table) {
    size_t d = x.n_cols, width = d + 1;
    for (size_t t = 0; t < x.n_rows; t++) {
        for (size_t k = 0; k < n_scores; k++) {
            table[k * width + d] += residual[t * n_scores + k];
        }
    }
    if (x.n_rows == 0 || d == 0) {
        return;
    }
    if (n_scores == 1) {
        cblas_dgemv(CblasRowMajor, CblasTrans, (int)x.n_rows, (int)d, 1.0, x.values, (int)x.stride,
                    residual, 1, 1.0, table, 1);
    } else if (is_few(n_scores)) {
        dni_few_gradient(x, residual, n_scores, table, width);
    } else {
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)n_scores, (int)d, (int)x.n_rows,
                    1.0, residual, (int)n_scores, x.values, (int)x.stride, 1.0, table, (int)width);
    }
}

static void gradient_sparse_one(dn_matrix x, const double *residual, double *table) {
    for (size_t t = 0; t < x.n_rows; t++) {
        double r = residual[t];
        table[x.n_cols] += r;
        for (size_t e = x.row_start[t]; e < x.row_start[t + 1]; e++) {
            table[x.cols[e]] += x.values[e] * r;
        }
    }
}

static void gradient_sparse(dn_matrix x, const double *residual, size_t n_scores, double *table) {
    double *intercept = table + x.n_cols * n_scores;
    if (n_scores == 1) {
        gradient_sparse_one(x, residual, table);
        return;
    }
    for (size_t t = 0; t < x.n_rows; t++) {
        const double *r = residual + t * n_scores;
        for (size_t k = 0; k < n_scores; k++) {
            intercept[k] += r[k];
        }
        for (size_t e = x.row_start[t]; e < x.row_start[t + 1]; e++) {
            look_ahead(x, e, table, n_scores);
            add_few(x.values[e], r, table + (size_t)x.cols[e] * n_scores, n_scores);
        }
    }
}

void dni_tile_gradient(dn_matrix x, const double *residual, size_t n_scores, double *table) {
    if (x.kind == DN_DENSE) {
        gradient_dense(x, residual, n_scores, table);
    } else {
        gradient_sparse(x, residual, n_scores, table);
    }
}

void dni_tile_expand(dn_matrix x, const double *mean, const double *scale, double *out) {
    size_t d = x.n_cols, width = d + 1;
    assert((mean == NULL) == (scale == NULL));
    for (size_t t = 0; t < x.n_rows; t++) {
        double *z = out + t * width;
        if (x.kind == DN_DENSE) {
            memcpy(z, x.values + t * x.stride, d * sizeof *z);
        } else {
            memset(z, 0, d * sizeof *z);
            for (size_t e = x.row_start[t]; e < x.row_start[t + 1]; e++) {
                z[x.cols[e]] = x.values[e];
            }
        }
        if (mean != NULL) {
            for (size_t j = 0; j < d; j++) {
                z[j] = (z[j] - mean[j]) / scale[j];
            }
        }
        z[d] = 1;
    }
}

void dni_tile_centre(dn_matrix x, const double *mean, double *out) {
    const size_t d = x.n_cols;
    for (size_t t = 0; t < x.n_rows; t++, out += d) {
        if (x.kind == DN_DENSE) {
            const double *row = x.values + t * x.stride;
            for (size_t j = 0; j < d; j++) {
                out[j] = row[j] - mean[j];
            }
            continue;
        }
        for (size_t j = 0; j < d; j++) {
            out[j] = 0 - mean[j];
        }
        for (size_t e = x.row_start[t]; e < x.row_start[t + 1]; e++) {
            out[x.cols[e]] = x.values[e] - mean[x.cols[e]];
        }
    }
}

dn_status dni_tile_gram(const dn_run *run, const double *z, size_t n_rows, size_t width,
                        const double *c, double sign, double *scratch, double *gram,
                        dn_error *err) {
    if (n_rows == 0) {
        return DN_OK;
    }
    for (size_t t = 0; t < n_rows; t++) {
        double root = sqrt(c[t]);
        for (size_t j = 0; j < width; j++) {
            scratch[t * width + j] = root * z[t * width + j];
        }
    }
    size_t step = dni_step_rows(width, 2 * (double)n_rows * (double)width, DNI_TILE_ROWS);
    for (size_t i = 0, n; i < width; i += n) {
        /* rows i … of the lower triangle: first the part left of the diagonal block, then the
         * diagonal block */
        n = width - i < step ? width - i : step;
        dn_status status = dn_run_stop(run, err);
        if (status != DN_OK) {
            return status;
        }
        if (i > 0) {
            cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)n, (int)i, (int)n_rows, sign,
                        scratch + i, (int)width, scratch, (int)width, 1.0, gram + i * width,
                        (int)width);
        }
        cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, (int)n, (int)n_rows, sign, scratch + i,
                    (int)width, 1.0, gram + i * width + i, (int)width);
    }
    return DN_OK;
}

/* gram (lower triangle) += c z zᵀ, where z = [x, 1] for row t, whose columns ascend. Two rows of
 * `gram` are updated at a time: the second row has one column more than the first. */
static void add_square(dn_matrix x, size_t t, double c, double *gram) {
    const size_t width = x.n_cols + 1, first = x.row_start[t], end = x.row_start[t + 1];
    const uint32_t *cols = x.cols;
    const double *values = x.values;
    double *last = gram + x.n_cols * width;
    size_t e = first;
    for (; e + 2 <= end; e += 2) {
        const double u = c * values[e], v = c * values[e + 1];
        double *row = gram + (size_t)cols[e] * width, *next = gram + (size_t)cols[e + 1] * width;
        for (size_t f = first; f <= e; f++) {
            row[cols[f]] += u * values[f];
            next[cols[f]] += v * values[f];
        }
        next[cols[e + 1]] += v * values[e + 1];
        last[cols[e]] += u;
        last[cols[e + 1]] += v;
    }
    if (e < end) {
        const double u = c * values[e];
        double *row = gram + (size_t)cols[e] * width;
        for (size_t f = first; f <= e; f++) {
            row[cols[f]] += u * values[f];
        }
        last[cols[e]] += u;
    }
    last[x.n_cols] += c;
}

/* Number of scattered additions between two polls. One costs as much as about eight operations of
 * a matrix product. */
#define SCATTERED (DNI_STEP_FLOPS / 16)

dn_status dni_tile_gram_sparse(const dn_run *run, dn_matrix x, const double *c, double sign,
                               double *gram, dn_error *err) {
    double done = SCATTERED;
    assert(x.kind == DN_CSR);
    for (size_t t = 0; t < x.n_rows; t++) {
        double entries = (double)(x.row_start[t + 1] - x.row_start[t]);
        if (c[t] == 0) {
            continue;
        }
        done += entries * entries / 2;
        if (done >= SCATTERED) {
            dn_status status = dn_run_stop(run, err);
            if (status != DN_OK) {
                return status;
            }
            done = 0;
        }
        add_square(x, t, sign * c[t], gram);
    }
    return DN_OK;
}

int dni_tile_gram_sparse_is_cheaper(dn_matrix x) {
    if (x.kind != DN_CSR) {
        return 0;
    }
    double entries = 0, width = (double)x.n_cols + 1;
    for (size_t t = 0; t < x.n_rows; t++) {
        double n = (double)(x.row_start[t + 1] - x.row_start[t]) + 1;
        entries += n * n;
    }
    return entries * 8 <=
           (double)x.n_rows * width *
               width; /* a scattered addition costs as much as about eight operations of a matrix
                       * product */
}

void dni_transpose(const double *from, size_t a, size_t b, double *to) {
    for (size_t i = 0; i < a; i++) {
        for (size_t j = 0; j < b; j++) {
            to[j * a + i] = from[i * b + j];
        }
    }
}
