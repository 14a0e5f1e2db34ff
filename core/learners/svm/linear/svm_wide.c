/* The coordinates of the rows of a wide problem: the Gram matrix in tiles, and its Cholesky
 * factorisation with diagonal pivoting, which ends at the numerical rank.
 *
 * Higham, Accuracy and Stability of Numerical Algorithms, section 10.3. */
#include "learners/svm/linear/svm_wide.h"
#include "base/layout.h"
#include "base/tasks.h"
#include "learners/svm/linear/svm_certificate.h"
#include "linalg/step.h"
#include "linalg/vector.h"

#include <cblas.h>
#include <float.h>
#include <string.h>

enum {
    TILE = 64,   /* rows and columns of a tile of the Gram matrix */
    PANEL = 1024 /* number of features that are copied and centred at a time */
};

/* ---- memory ---- */
struct wide_shape {
    size_t n, d, n_slots;
};

/* Returns the number of doubles of a slot: two panels of a tile, or an expanded sparse row. */
static size_t vector_size(size_t d) {
    const size_t panels = 2 * (size_t)TILE * PANEL;
    return d > panels ? d : panels;
}

static void wide_layout(dni_layout *layout, const void *shape, void *wide) {
    const struct wide_shape *s = shape;
    dni_svm_wide *w = wide;
    w->gram = dni_layout_matrix(layout, s->n, s->n);
    w->factor = dni_layout_matrix(layout, s->n, s->n);
    w->diagonal = dni_layout_doubles(layout, s->n);
    w->chosen = dni_layout_array(layout, s->n, sizeof *w->chosen);
    w->pivot = dni_layout_array(layout, s->n, sizeof *w->pivot);
    w->coef = dni_layout_doubles(layout, s->n);
    w->v = dni_layout_doubles(layout, s->d + 1);
    w->target = dni_layout_doubles(layout, s->n);
    w->weight = dni_layout_doubles(layout, s->n);
    w->vectors = dni_layout_matrix(layout, s->n_slots, vector_size(s->d));
    w->work = dni_layout_matrix(layout, 2, s->n);
}

double dni_svm_wide_memory(size_t n_rows, size_t n_features, size_t n_slots) {
    const struct wide_shape shape = {n_rows, n_features, n_slots};
    dni_svm_wide scratch;
    return dni_layout_bytes(wide_layout, &shape, &scratch);
}

/* ---- the Gram matrix ---- */
static const double *dense_row(const dni_svm_problem *svm, size_t i) {
    const dn_matrix *x = &svm->block[i / DN_BLOCK_ROWS];
    return x->values + i % DN_BLOCK_ROWS * x->stride;
}

/* True if the Gram matrix is that of centred columns. With a free intercept the solution is the
 * same, without the loss of digits by large means. */
static bool is_centred(const dni_svm_problem *svm) {
    return svm->options->intercept == DNI_SVM_FREE && !svm->moments.sparse;
}

/* out [n × n_cols] ← columns first … first + n_cols − 1 of rows from … from + n − 1. */
static void copy_panel(const dni_svm_problem *svm, size_t from, size_t n, size_t first,
                       size_t n_cols, double *out) {
    const bool centred = is_centred(svm);
    for (size_t i = 0; i < n; i++) {
        const double *row = dense_row(svm, from + i) + first;
        for (size_t j = 0; j < n_cols; j++) {
            out[i * n_cols + j] = row[j] - (centred ? svm->moments.mean[first + j] : 0);
        }
    }
}

/* Returns the number of rows of tile k. */
static size_t rows_of_tile(size_t n, size_t k) {
    return n - k * TILE < TILE ? n - k * TILE : TILE;
}

/* Computes tile (row, column) of the Gram matrix. task: row (row + 1)/2 + column. */
static dn_status dense_tile(void *arg, size_t task, size_t slot, dn_error *err) {
    const dni_svm_wide *w = arg;
    const dni_svm_problem *svm = w->svm;
    size_t row = 0;
    while ((row + 1) * (row + 2) / 2 <= task) {
        row++;
    }
    const size_t column = task - row * (row + 1) / 2, n = svm->n, d = svm->d,
                 n_row = rows_of_tile(n, row), n_column = rows_of_tile(n, column);
    double *left = w->vectors + slot * vector_size(d), *right = left + (size_t)TILE * PANEL;
    for (size_t first = 0; first < d; first += PANEL) {
        const size_t n_cols = d - first < PANEL ? d - first : PANEL;
        dn_status status = dn_run_stop(svm->run, err);
        if (status != DN_OK) {
            return status;
        }
        copy_panel(svm, row * TILE, n_row, first, n_cols, left);
        copy_panel(svm, column * TILE, n_column, first, n_cols, right);
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)n_row, (int)n_column, (int)n_cols,
                    1.0, left, (int)n_cols, right, (int)n_cols, 1.0,
                    w->gram + row * TILE * n + column * TILE, (int)n);
    }
    return DN_OK;
}

/* Computes row i of the Gram matrix of sparse rows, up to the diagonal. */
static dn_status sparse_row(void *arg, size_t i, size_t slot, dn_error *err) {
    const dni_svm_wide *w = arg;
    const dni_svm_problem *svm = w->svm;
    double *row = w->vectors + slot * vector_size(svm->d);
    dni_pace pace = {.run = svm->run};
    memset(row, 0, svm->d * sizeof *row);
    dni_svm_row_add(svm, i, 1, row);
    for (size_t j = 0; j <= i; j++) {
        dn_status status = dni_pace_poll(&pace, 4 * (double)dni_svm_row_entries(svm, j) + 20, err);
        if (status != DN_OK) {
            return status;
        }
        w->gram[i * svm->n + j] = dni_svm_row_dot(svm, j, row);
    }
    return DN_OK;
}

static dn_status form_gram(dni_svm_wide *w, dn_error *err) {
    const dni_svm_problem *svm = w->svm;
    const size_t n_tiles = (svm->n + TILE - 1) / TILE;
    return svm->moments.sparse
               ? dni_tasks_run(svm->run, svm->n, sparse_row, w, err)
               : dni_tasks_run(svm->run, n_tiles * (n_tiles + 1) / 2, dense_tile, w, err);
}

/* ---- the factorisation ---- */
/* Returns the row with the largest diagonal entry among those that are not chosen. */
static size_t next_pivot(const dni_svm_wide *w) {
    size_t best = 0;
    double largest = -(double)INFINITY;
    for (size_t i = 0; i < w->svm->n; i++) {
        if (!w->chosen[i] && w->diagonal[i] > largest) {
            largest = w->diagonal[i];
            best = i;
        }
    }
    return best;
}

/* Computes column k of L with the pivot row p. */
static void add_column(dni_svm_wide *w, size_t k, size_t p) {
    const size_t n = w->svm->n;
    const double root = sqrt(w->diagonal[p]), *pivot = w->factor + p * n;
    w->chosen[p] = true;
    w->pivot[k] = p;
    for (size_t i = 0; i < n; i++) {
        double *row = w->factor + i * n;
        if (w->chosen[i]) {
            continue;
        }
        const double product = i > p ? w->gram[i * n + p] : w->gram[p * n + i];
        row[k] = (product - dni_dot(row, pivot, k)) / root;
        w->diagonal[i] -= row[k] * row[k];
    }
    w->factor[p * n + k] = root;
}

/* Computes L and its rank. Rows with weight 0 are not factorised. */
static dn_status factorise(dni_svm_wide *w, dn_error *err) {
    const size_t n = w->svm->n;
    dni_pace pace = {.run = w->svm->run};
    double largest = 0;
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        w->chosen[i] = !(w->svm->upper[i] > 0);
        w->diagonal[i] = w->chosen[i] ? 0 : w->gram[i * n + i];
        largest = fmax(largest, w->diagonal[i]);
    }
    for (; k < n; k++) {
        const size_t p = next_pivot(w);
        if (!(w->diagonal[p] > (double)n * DBL_EPSILON * largest)) {
            break;
        }
        dn_status status = dni_pace_poll(&pace, 2 * (double)n * (double)k, err);
        if (status != DN_OK) {
            return status;
        }
        add_column(w, k, p);
    }
    w->rank = k;
    return DN_OK;
}

/* ---- the problem ---- */
/* Makes the rows of wide->input from the columns of the factor; at least one column. */
static dn_status make_rows(dni_svm_wide *w, dn_error *err) {
    const dni_svm_problem *svm = w->svm;
    const size_t rank = w->rank > 0 ? w->rank : 1;
    for (size_t i = 0; i < svm->n; i++) {
        w->target[i] = svm->sign[i] > 0;
        w->weight[i] = svm->upper[i] / svm->options->C;
        memmove(w->factor + i * rank, w->factor + i * svm->n, rank * sizeof *w->factor);
    }
    dn_status status = dn_rows_from_matrix(dn_matrix_dense(w->factor, svm->n, rank), w->target,
                                           w->weight, &w->rows, err);
    w->input = (dn_fit_input){.rows = w->rows, .n_classes = 2, .params = svm->input->params};
    return status;
}

dn_status dni_svm_wide_init(dni_svm_wide *wide, dni_svm_problem *svm, dn_error *err) {
    const struct wide_shape shape = {svm->n, svm->d, svm->run->n_slots};
    *wide = (dni_svm_wide){.svm = svm};
    dn_status status = dni_layout_take(svm->run, wide_layout, &shape, wide, "the rows' coordinates",
                                       &wide->memory, err);
    if (status == DN_OK) {
        status = form_gram(wide, err);
    }
    if (status == DN_OK) {
        status = factorise(wide, err);
    }
    return status == DN_OK ? make_rows(wide, err) : status;
}

/* wide->v ← [w, w0] of the rows x_i for [w, w0] of the rows l_i: w = Σ β_p x_p over the pivot rows,
 * where Σ β_p l_p is the w of the rows l_i. The sum Σ α t x would be less accurate: for a large C
 * the loss depends strongly on w. */
static dn_status restore(dni_svm_wide *w, const double *v, dn_error *err) {
    dni_svm_problem *svm = w->svm;
    const size_t rank = w->rank;
    memset(w->coef, 0, svm->n * sizeof *w->coef);
    for (size_t k = rank; k-- > 0;) {
        const double *row = w->factor + w->pivot[k] * rank;
        double sum = v[k];
        for (size_t j = k + 1; j < rank; j++) {
            sum -= w->factor[w->pivot[j] * rank + k] * w->coef[w->pivot[j]];
        }
        w->coef[w->pivot[k]] = sum / row[k];
    }
    for (size_t i = 0; i < svm->n; i++) {
        w->coef[i] *= svm->sign[i];
    }
    dn_status status = dni_svm_combine(svm, w->coef, w->v, err);
    for (size_t j = 0; is_centred(svm) && j < svm->d; j++) {
        w->v[j] -= w->v[svm->d] * svm->moments.mean[j];
    }
    w->v[svm->d] = v[w->input.rows->n_cols];
    return status;
}

dn_status dni_svm_wide_take(dni_svm_wide *wide, const dni_svm_problem *inner, dni_svm_solution *out,
                            dn_error *err) {
    dni_svm_problem *svm = wide->svm;
    const bool solved = out->certified;
    memcpy(svm->alpha, inner->alpha, svm->n * sizeof *svm->alpha);
    svm->iterations = inner->iterations;
    svm->reason = solved ? DN_STOP_NO_PROGRESS : inner->reason; /* used only if not certified */
    dn_status status = restore(wide, inner->w, err);
    return status == DN_OK ? dni_svm_certify_rounded(svm, wide->v, wide->work, out, err) : status;
}

void dni_svm_wide_done(dni_svm_wide *wide) {
    dn_rows_free(wide->rows);
    dn_run_free(wide->svm->run, wide->memory);
}
