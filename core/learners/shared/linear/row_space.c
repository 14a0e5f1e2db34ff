/* The row space of a table with at most as many rows as columns. Z is read in panels of columns;
 * each panel is used for all products before the next one is read. */
#include "learners/shared/linear/row_space.h"
#include "base/layout.h"
#include "base/tasks.h"
#include "learners/shared/linear/linear_rank.h"
#include "linalg/step.h"
#include "linalg/tiles.h"
#include "linalg/vector.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

enum {
    TILE = 64,       /* rows and columns of a tile of G */
    STRIP = 64,      /* maximum number of columns of `product` */
    PANEL = 1 << 22, /* numbers of a panel, unless MIN_PANEL columns need more */
    MIN_PANEL = 512  /* smallest number of columns of a panel */
};
/* Maximum number of passes that refine the weights, and the relative error at which they end. */
enum { MAX_PASSES = 5 };
static const double ACCURACY = 1e-13;

/* ---- memory ---- */
struct space_shape {
    size_t n, d, n_scores;
};

static size_t panel_columns(size_t n, size_t d) {
    const size_t most = PANEL / n > MIN_PANEL ? PANEL / n : MIN_PANEL;
    return most < d ? most : d;
}

static void space_layout(dni_layout *layout, const void *shape, void *space) {
    const struct space_shape *s = shape;
    dni_row_space *p = space;
    p->part = dni_layout_doubles(layout, s->d);
    p->factor = dni_layout_doubles(layout, s->d);
    p->root = dni_layout_doubles(layout, s->n);
    p->target = dni_layout_doubles(layout, s->n);
    p->weight = dni_layout_doubles(layout, s->n);
    p->gram = dni_layout_matrix(layout, s->n, s->n);
    p->values = dni_layout_doubles(layout, s->n);
    p->vectors = dni_layout_matrix(layout, s->n, s->n);
    p->panel = dni_layout_matrix(layout, s->n, panel_columns(s->n, s->d));
    p->product = dni_layout_matrix(layout, s->n, STRIP);
    p->coef = dni_layout_matrix(layout, s->n_scores, s->n);
    p->missing = dni_layout_matrix(layout, s->n_scores, s->n);
}

double dni_row_space_bytes(size_t n_rows, size_t n_cols, size_t n_scores) {
    const struct space_shape shape = {n_rows, n_cols, n_scores};
    dni_row_space unused;
    return n_rows == 0 ? 0
                       : dni_layout_bytes(space_layout, &shape, &unused) +
                             fmax(dni_symmetric_eigen_memory(n_rows),
                                  sizeof(double) * (double)n_scores * (double)n_cols);
}

/* ---- panels ---- */
/* Sets `weight`, `root` and `target` of the rows of a piece. */
static void copy_row_data(dni_row_space *s, const dn_block *block) {
    for (size_t i = 0; i < block->x.n_rows; i++) {
        const double v = block->weight == NULL ? 1 : block->weight[i];
        s->weight[block->first_row + i] = v;
        s->root[block->first_row + i] = sqrt(v / s->moments->weight);
        s->target[block->first_row + i] = block->target == NULL ? 0 : block->target[i];
    }
}

/* panel [n × n_cols] ← columns first … first + n_cols − 1 of Z, for the rows of a piece. */
static void copy_columns(dni_row_space *s, const dn_block *block, size_t first, size_t n_cols) {
    const double *mean = s->moments->mean + first, *factor = s->factor + first;
    const dn_matrix x = block->x;
    for (size_t i = 0; i < x.n_rows; i++) {
        const double root = s->root[block->first_row + i];
        double *out = s->panel + (block->first_row + i) * n_cols;
        if (x.kind == DN_DENSE) {
            const double *row = x.values + i * x.stride + first;
            for (size_t j = 0; j < n_cols; j++) {
                out[j] = factor[j] == 0 ? 0 : root * ((row[j] - mean[j]) * factor[j]);
            }
            continue;
        }
        for (size_t j = 0; j < n_cols; j++) {
            out[j] = -root * (mean[j] * factor[j]);
        }
        for (size_t e = x.row_start[i]; e < x.row_start[i + 1]; e++) {
            if (x.cols[e] >= first && x.cols[e] < first + n_cols) {
                const size_t j = x.cols[e] - first;
                out[j] = factor[j] == 0 ? 0 : root * ((x.values[e] - mean[j]) * factor[j]);
            }
        }
    }
}

static dn_status read_panel(dni_row_space *s, size_t first, size_t n_cols, dn_error *err) {
    for (size_t b = 0; b < s->rows->n_blocks; b++) {
        for (size_t k = 0; k < dn_rows_n_pieces(s->rows, b); k++) {
            dn_block block;
            dn_status status = dn_run_stop(s->run, err);
            if (status == DN_OK) {
                status = dn_rows_piece(s->rows, b, k, 0, &block, err);
            }
            if (status != DN_OK) {
                return status;
            }
            copy_row_data(s, &block);
            copy_columns(s, &block, first, n_cols);
        }
    }
    return DN_OK;
}

static void report_progress(const dni_row_space *s, double fraction) {
    dn_progress progress = s->shown;
    progress.fraction = fraction;
    if (s->run != NULL && s->run->progress != NULL) {
        s->run->progress(s->run, &progress);
    }
}

/* ---- the decomposition ---- */
struct gram_task {
    const dni_row_space *space;
    size_t n_cols; /* number of columns of the panel */
};

static size_t rows_of_tile(size_t n, size_t k) {
    return n - k * TILE < TILE ? n - k * TILE : TILE;
}

/* Adds the products of the panel to tile (row, column) of G. task: row (row + 1)/2 + column. */
static dn_status gram_tile(void *arg, size_t task, size_t slot, dn_error *err) {
    const struct gram_task *t = arg;
    const dni_row_space *s = t->space;
    size_t row = 0;
    (void)slot;
    (void)err;
    while ((row + 1) * (row + 2) / 2 <= task) {
        row++;
    }
    const size_t column = task - row * (row + 1) / 2, p = t->n_cols;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows_of_tile(s->n, row),
                (int)rows_of_tile(s->n, column), (int)p, 1.0, s->panel + row * TILE * p, (int)p,
                s->panel + column * TILE * p, (int)p, 1.0,
                s->gram + row * TILE * s->n + column * TILE, (int)s->n);
    return DN_OK;
}

/* Computes Q, Λ and the rank for the current f. */
static dn_status decompose(dni_row_space *s, dn_error *err) {
    const size_t n = s->n, n_tiles = (n + TILE - 1) / TILE, width = panel_columns(n, s->d);
    memset(s->gram, 0, n * n * sizeof *s->gram);
    for (size_t first = 0; first < s->d; first += width) {
        const struct gram_task task = {s, s->d - first < width ? s->d - first : width};
        dn_status status = read_panel(s, first, task.n_cols, err);
        if (status == DN_OK) {
            status = dni_tasks_run(s->run, n_tiles * (n_tiles + 1) / 2, gram_tile,
                                   (void *)(uintptr_t)&task, err);
        }
        if (status != DN_OK) {
            return status;
        }
        report_progress(s, 0.5 * (double)(first + task.n_cols) / (double)s->d);
    }
    const dn_status status = dni_symmetric_eigen(s->run, s->gram, n, s->values, s->vectors, err);
    /* with centred columns G has the eigenvector r with eigenvalue 0 */
    const size_t most = s->centred ? n - 1 : n;
    for (s->rank = 0; status == DN_OK && s->rank < most; s->rank++) {
        if (!(s->values[n - 1 - s->rank] > DNI_RANK_SHARE * s->values[n - 1])) {
            break;
        }
    }
    return status;
}

dn_status dni_row_space_init(dni_row_space *space, const dn_rows *rows, const dni_moments *moments,
                             size_t n_scores, bool centred, const dn_run *run, dn_error *err) {
    const struct space_shape shape = {rows->n_rows, rows->n_cols, n_scores};
    *space = (dni_row_space){.run = run,
                             .rows = rows,
                             .moments = moments,
                             .n = rows->n_rows,
                             .d = rows->n_cols,
                             .n_scores = n_scores,
                             .centred = centred,
                             .shown = {.loss = (double)NAN,
                                       .gradient_norm = (double)NAN,
                                       .train_error = (double)NAN,
                                       .n_scores = n_scores,
                                       .n_features = rows->n_cols}};
    dn_status status =
        dni_layout_take_raw(run, space_layout, &shape, space, "the row space", &space->memory, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t j = 0; j < space->d; j++) {
        space->factor[j] = moments->deviation[j] > 0 ? 1 / moments->deviation[j] : 0;
    }
    status = decompose(space, err);
    if (status == DN_OK) {
        report_progress(space, 1);
    }
    return status;
}

void dni_row_space_done(dni_row_space *space) {
    dn_run_free(space->run, space->memory);
}

/* ---- coordinates and weights ---- */
void dni_row_space_coordinates(const dni_row_space *s, double *out) {
    for (size_t i = 0; i < s->rank; i++) {
        const size_t k = s->n - s->rank + i;
        const double root = sqrt(s->values[k]);
        for (size_t t = 0; t < s->n; t++) {
            out[t * s->rank + i] =
                s->root[t] > 0 ? root * s->vectors[k * s->n + t] / s->root[t] : 0;
        }
    }
}

dn_status dni_row_space_scores(dni_row_space *s, const double *w, size_t n_scores, double *out,
                               dn_error *err) {
    const size_t n = s->n, width = panel_columns(n, s->d);
    memset(out, 0, n_scores * n * sizeof *out);
    for (size_t first = 0; first < s->d; first += width) {
        const size_t n_cols = s->d - first < width ? s->d - first : width;
        const dn_status status = read_panel(s, first, n_cols, err);
        if (status != DN_OK) {
            return status;
        }
        for (size_t i = 0; i < n_scores * n; i++) {
            const double *row = s->panel + i % n * n_cols, *of_score = w + i / n * s->d + first;
            for (size_t j = 0; j < n_cols; j++) {
                out[i] +=
                    s->factor[first + j] > 0 ? row[j] * (of_score[j] / s->factor[first + j]) : 0;
            }
        }
    }
    for (size_t i = 0; i < n_scores * n; i++) {
        out[i] = s->root[i % n] > 0 ? out[i] / s->root[i % n] : 0;
    }
    return DN_OK;
}

/* coef += Q Λ⁻¹ Qᵀ missing, for one score. Returns the largest absolute component of Qᵀ missing. */
static double add_solution(const dni_row_space *s, const double *missing, double *coef) {
    double most = 0;
    for (size_t k = s->n - s->rank; k < s->n; k++) {
        const double *q = s->vectors + k * s->n, part = dni_dot(q, missing, s->n);
        dni_axpy(part / s->values[k], q, coef, s->n);
        most = fmax(most, fabs(part));
    }
    return most;
}

/* w ← f Zᵀ coef; missing −= Z Zᵀ coef */
static dn_status apply_rows(dni_row_space *s, size_t n_scores, double *w, dn_error *err) {
    const size_t n = s->n, width = panel_columns(n, s->d);
    for (size_t first = 0; first < s->d; first += width) {
        const size_t n_cols = s->d - first < width ? s->d - first : width;
        const dn_status status = read_panel(s, first, n_cols, err);
        if (status != DN_OK) {
            return status;
        }
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)n_scores, (int)n_cols, (int)n,
                    1.0, s->coef, (int)n, s->panel, (int)n_cols, 0.0, w + first, (int)s->d);
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)n_scores, (int)n, (int)n_cols,
                    -1.0, w + first, (int)s->d, s->panel, (int)n_cols, 1.0, s->missing, (int)n);
        for (size_t k = 0; k < n_scores; k++) {
            for (size_t j = first; j < first + n_cols; j++) {
                w[k * s->d + j] *= s->factor[j];
            }
        }
    }
    return DN_OK;
}

/* missing ← r (scores − their weighted mean, if the space is centred) */
static void centre_scores(const dni_row_space *s, const double *scores, size_t n_scores) {
    for (size_t k = 0; k < n_scores; k++) {
        double mean = 0;
        for (size_t t = 0; t < s->n && s->centred; t++) {
            mean += s->root[t] > 0 ? s->root[t] * s->root[t] * scores[k * s->n + t] : 0;
        }
        for (size_t t = 0; t < s->n; t++) {
            s->missing[k * s->n + t] =
                s->root[t] > 0 ? s->root[t] * (scores[k * s->n + t] - mean) : 0;
        }
    }
}

void dni_row_space_project(dni_row_space *s, const double *scores, size_t n_scores, double *out) {
    centre_scores(s, scores, n_scores);
    for (size_t i = 0; i < n_scores * s->rank; i++) {
        const size_t k = s->n - s->rank + i % s->rank;
        out[i] = dni_dot(s->vectors + k * s->n, s->missing + i / s->rank * s->n, s->n) /
                 sqrt(s->values[k]);
    }
}

/* w ← as in dni_row_space_weights. *out_error ← max r|error of a score| / max r|score|. */
static dn_status find_weights(dni_row_space *s, const double *scores, size_t n_scores, double *w,
                              double *out_error, dn_error *err) {
    const size_t size = n_scores * s->n;
    centre_scores(s, scores, n_scores);
    const double most = dni_max_abs(s->missing, size);
    double before = (double)INFINITY;
    memset(s->coef, 0, size * sizeof *s->coef);
    for (int pass = 0; pass < MAX_PASSES; pass++) {
        double part = 0;
        for (size_t k = 0; k < n_scores; k++) {
            part = fmax(part, add_solution(s, s->missing + k * s->n, s->coef + k * s->n));
        }
        if (pass > 0 && (!(part > ACCURACY * most) || part > before / 4)) {
            break; /* w does not include this correction of coef */
        }
        before = part;
        centre_scores(s, scores, n_scores);
        const dn_status status = apply_rows(s, n_scores, w, err);
        if (status != DN_OK) {
            return status;
        }
    }
    *out_error = most > 0 ? dni_max_abs(s->missing, size) / most : 0;
    return DN_OK;
}

dn_status dni_row_space_weights(dni_row_space *s, const double *scores, size_t n_scores, double *w,
                                dn_error *err) {
    double error;
    return find_weights(s, scores, n_scores, w, &error, err);
}

/* Returns the largest deviation of the columns that vary. *least ← the smallest one. */
static double largest_deviation(const dni_row_space *s, double *least) {
    double largest = 0;
    *least = (double)INFINITY;
    for (size_t j = 0; j < s->d; j++) {
        if (s->moments->deviation[j] > 0) {
            largest = fmax(largest, s->moments->deviation[j]);
            *least = fmin(*least, s->moments->deviation[j]);
        }
    }
    return largest;
}

dn_status dni_row_space_least_norm(dni_row_space *s, const double *scores, size_t n_scores,
                                   double *w, dn_error *err) {
    double least, error;
    const double largest = largest_deviation(s, &least);
    if (!(largest > least * (1 + 1e-9))) {
        return DN_OK;
    }
    const size_t rank = s->rank;
    for (size_t j = 0; j < s->d; j++) {
        s->factor[j] = s->moments->deviation[j] > 0 ? 1 / largest : 0;
    }
    dn_status status = decompose(s, err);
    if (status != DN_OK || s->rank < rank) { /* a smaller rank cannot represent the scores */
        return status;
    }
    void *found = NULL;
    status = dn_run_alloc(s->run, n_scores * s->d, sizeof *w, "the weights", &found, err);
    if (status == DN_OK) {
        status = find_weights(s, scores, n_scores, found, &error, err);
    }
    if (status == DN_OK && error <= 1e-9) {
        memcpy(w, found, n_scores * s->d * sizeof *w);
        report_progress(s, 1);
    }
    dn_run_free(s->run, found);
    return status;
}

/* ---- dependent columns ---- */
/* If there are more varying columns than the rank, marks those whose `part` is more than a rounding
 * error. */
static void mark_parts(const dni_row_space *s, bool *marked) {
    size_t varying = 0;
    double most = 0;
    for (size_t j = 0; j < s->d; j++) {
        marked[j] = false;
        varying += s->factor[j] > 0;
        most = fmax(most, s->factor[j] > 0 ? s->part[j] : 0);
    }
    if (s->rank == varying) {
        return;
    }
    const double rounding =
        s->rank > 0 ? 1e-14 * s->values[s->n - 1] / s->values[s->n - s->rank] : 0;
    const double least = fmin(1e-10 + rounding, most / 2);
    for (size_t j = 0; j < s->d; j++) {
        marked[j] = s->factor[j] > 0 && s->part[j] > least;
    }
}

dn_status dni_row_space_dependent(dni_row_space *s, bool *marked, dn_error *err) {
    const size_t n = s->n, width = panel_columns(n, s->d);
    for (size_t first = 0; first < s->d; first += width) {
        const size_t n_cols = s->d - first < width ? s->d - first : width;
        dn_status status = read_panel(s, first, n_cols, err);
        for (size_t at = 0; at < n_cols; at += STRIP) {
            const size_t m = n_cols - at < STRIP ? n_cols - at : STRIP;
            double square[STRIP] = {0};
            if (status == DN_OK) {
                status = dn_run_stop(s->run, err);
            }
            if (status != DN_OK) {
                return status;
            }
            if (s->rank > 0) {
                cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)s->rank, (int)m, (int)n,
                            1.0, s->vectors + (n - s->rank) * n, (int)n, s->panel + at, (int)n_cols,
                            0.0, s->product, (int)m);
            }
            for (size_t i = 0; i < s->rank; i++) {
                for (size_t j = 0; j < m; j++) {
                    const double p = s->product[i * m + j];
                    square[j] += p * p / s->values[n - s->rank + i];
                }
            }
            for (size_t j = 0; j < m; j++) {
                s->part[first + at + j] = 1 - square[j];
            }
            report_progress(s, (double)(first + at + m) / (double)s->d);
        }
    }
    mark_parts(s, marked);
    return DN_OK;
}
