/* Scatter matrices by the corrected two-pass algorithm (Chan, Golub and LeVeque, The American
 * Statistician 37, 1983). The means m_k of the first pass have rounding errors. With the residuals
 * r_k = Σ_{t ∈ k} v (x − m_k) of the second pass,
 *
 *   m_k ← m_k + r_k / n_k,   S_k ← S_k − r_k r_kᵀ / n_k
 *
 * corrects the mean, and gives the scatter around the corrected mean. */
#include "learners/shared/scatter.h"
#include "base/layout.h"
#include "learners/shared/data_errors.h"
#include "linalg/tiles.h"

#include <math.h>
#include <string.h>

/* Working memory of the passes. */
struct scatter_work {
    double *sums;    /* [1 + K + sum_rows × d] result of a pass */
    double *z;       /* [n_slots × DNI_TILE_ROWS × d] rows minus the means of their classes */
    double *scratch; /* [n_slots × DNI_TILE_ROWS × d] working memory of dni_tile_gram */
    double *weights; /* [n_slots × DNI_TILE_ROWS] weights of the rows of a tile */
    size_t *order;   /* [n_slots × DN_BLOCK_ROWS] rows of a block, grouped by class */
    size_t *start;   /* [n_slots × (K + 1)] index in `order` where each class starts */
};

struct scatter_pass {
    const dn_run *run;
    const dn_fit_input *input;
    dni_scatter *s;
    struct scatter_work work;
    bool sparse; /* the blocks are CSR */
};

/* ---- memory ---- */
struct scatter_shape {
    dni_scatter_kind kind;
    size_t K, d, n_slots;
};

/* Number of rows of dni_scatter.scatter, which has d columns. */
static size_t scatter_rows(dni_scatter_kind kind, size_t K, size_t d) {
    return kind == DNI_SCATTER_POOLED ? d : kind == DNI_SCATTER_CLASSES ? K * d : K;
}

/* The larger of the two sums has 1 + K + sum_rows·d numbers. */
static size_t sum_rows(const struct scatter_shape *s) {
    return s->K + scatter_rows(s->kind, s->K, s->d) + (s->kind == DNI_SCATTER_DIAGONAL ? s->K : 0);
}

static void result_layout(dni_layout *layout, const void *shape, void *work) {
    const struct scatter_shape *s = shape;
    dni_scatter *out = work;
    out->class_weight = dni_layout_doubles(layout, s->K);
    out->class_mean = dni_layout_matrix(layout, s->K, s->d);
    out->mean = dni_layout_doubles(layout, s->d);
    out->scatter = dni_layout_matrix(layout, scatter_rows(s->kind, s->K, s->d), s->d);
}

static void work_layout(dni_layout *layout, const void *shape, void *work) {
    const struct scatter_shape *s = shape;
    struct scatter_work *out = work;
    const size_t tiles = s->n_slots * DNI_TILE_ROWS;
    const bool matrix = s->kind != DNI_SCATTER_DIAGONAL, grouped = s->kind == DNI_SCATTER_CLASSES;
    out->sums = dni_layout_doubles(layout, 1 + s->K);
    (void)dni_layout_matrix(layout, sum_rows(s), s->d); /* the rest of sums */
    out->z = dni_layout_matrix(layout, matrix ? tiles : 0, s->d);
    out->scratch = dni_layout_matrix(layout, matrix ? tiles : 0, s->d);
    out->weights = dni_layout_doubles(layout, grouped ? tiles : 0);
    out->order = dni_layout_array(layout, grouped ? s->n_slots : 0, DN_BLOCK_ROWS * sizeof(size_t));
    out->start = dni_layout_array(layout, grouped ? s->n_slots : 0, (s->K + 1) * sizeof(size_t));
}

double dni_scatter_result_memory(dni_scatter_kind kind, size_t n_cols, size_t n_classes) {
    const struct scatter_shape shape = {kind, n_classes, n_cols, 0};
    dni_scatter unused;
    return dni_layout_bytes(result_layout, &shape, &unused);
}

/* An upper bound: with kind diagonal, dense rows need only two thirds of the sums, but it is not
 * yet known whether the rows are dense. */
double dni_scatter_memory(dni_scatter_kind kind, size_t n_rows, size_t n_cols, size_t n_classes,
                          size_t n_slots) {
    const struct scatter_shape shape = {kind, n_classes, n_cols, n_slots};
    struct scatter_work unused;
    return dni_scatter_result_memory(kind, n_cols, n_classes) +
           dni_layout_bytes(work_layout, &shape, &unused) +
           dn_run_sum_memory(n_rows, n_slots,
                             1 + (double)n_classes + (double)sum_rows(&shape) * (double)n_cols);
}

/* ---- sums over a block ---- */
/* out: the number of sparse blocks, [K] n_k, [K × d] Σvx */
static dn_status sum_block(const void *arg, const dn_block *block, size_t slot, double *out,
                           dn_error *err) {
    (void)slot;
    const struct scatter_pass *pass = arg;
    double *weights = out + 1, *sums = weights + pass->s->n_classes;
    dni_tiles tiles = dni_tiles_of(pass->run, block);
    out[0] += block->x.kind == DN_CSR;
    while (dni_tiles_next(&tiles, err)) {
        const dni_tile *tile = &tiles.tile;
        for (size_t t = 0; t < tile->x.n_rows; t++) {
            const size_t k = (size_t)tile->target[t];
            if (tile->weight[t] != 0) {
                weights[k] += tile->weight[t];
                dni_row_add(tile->x, t, tile->weight[t], sums + k * tile->x.n_cols);
            }
        }
    }
    return tiles.status;
}

/* z [d] ← row t minus the mean of its class k; residual of class k += v z, with the row weight v.
 * If v is 0, the row is ignored: z ← 0. */
static void centre_row(const struct scatter_pass *pass, dn_matrix x, size_t t, size_t k, double v,
                       double *z, double *residual) {
    const size_t d = x.n_cols;
    const double *m = pass->s->class_mean + k * d;
    if (v == 0) {
        memset(z, 0, d * sizeof *z);
        return;
    }
    if (x.kind == DN_DENSE) {
        const double *row = x.values + t * x.stride;
        for (size_t j = 0; j < d; j++) {
            z[j] = row[j] - m[j];
        }
    } else {
        for (size_t j = 0; j < d; j++) {
            z[j] = -m[j];
        }
        for (size_t e = x.row_start[t]; e < x.row_start[t + 1]; e++) {
            z[x.cols[e]] += x.values[e];
        }
    }
    for (size_t j = 0; j < d; j++) {
        residual[k * d + j] += v * z[j];
    }
}

/* Adds Σ v z zᵀ of n <= DNI_TILE_ROWS centred rows to gram [d × d]. */
static dn_status add_gram(const struct scatter_pass *pass, size_t n, const double *weight,
                          size_t slot, double *gram, dn_error *err) {
    const size_t d = pass->s->n_cols, first = slot * DNI_TILE_ROWS * d;
    return dni_tile_gram(pass->run, pass->work.z + first, n, d, weight, 1,
                         pass->work.scratch + first, gram, err);
}

/* out: [K × d] Σv(x − m), then [d × d] Σv(x − m)(x − m)ᵀ. */
static dn_status pooled_block(const void *arg, const dn_block *block, size_t slot, double *out,
                              dn_error *err) {
    const struct scatter_pass *pass = arg;
    const size_t d = pass->s->n_cols;
    double *gram = out + pass->s->n_classes * d, *z = pass->work.z + slot * DNI_TILE_ROWS * d;
    dni_tiles tiles = dni_tiles_of(pass->run, block);
    while (dni_tiles_next(&tiles, err)) {
        const dni_tile *tile = &tiles.tile;
        for (size_t t = 0; t < tile->x.n_rows; t++) {
            centre_row(pass, tile->x, t, (size_t)tile->target[t], tile->weight[t], z + t * d, out);
        }
        dn_status status = add_gram(pass, tile->x.n_rows, tile->weight, slot, gram, err);
        if (status != DN_OK) {
            return status;
        }
    }
    return tiles.status;
}

/* order ← the rows of the block grouped by class, each class in the order of the rows. */
static void group_by_class(const dn_block *block, size_t K, size_t *order, size_t *start) {
    const size_t n = block->x.n_rows;
    memset(start, 0, (K + 1) * sizeof *start);
    for (size_t t = 0; t < n; t++) {
        start[(size_t)block->target[t] + 1]++;
    }
    for (size_t k = 0; k < K; k++) {
        start[k + 1] += start[k];
    }
    for (size_t t = 0; t < n; t++) { /* start[k] moves from the start of class k to its end */
        order[start[(size_t)block->target[t]]++] = t;
    }
    memmove(start + 1, start, K * sizeof *start); /* the end of class k is the start of k + 1 */
    start[0] = 0;
}

/* out: [K × d] Σv(x − m), then [K × d × d] Σv(x − m)(x − m)ᵀ. */
static dn_status classes_block(const void *arg, const dn_block *block, size_t slot, double *out,
                               dn_error *err) {
    const struct scatter_pass *pass = arg;
    const size_t K = pass->s->n_classes, d = pass->s->n_cols;
    size_t *order = pass->work.order + slot * DN_BLOCK_ROWS,
           *start = pass->work.start + slot * (K + 1);
    double *weights = pass->work.weights + slot * DNI_TILE_ROWS,
           *z = pass->work.z + slot * DNI_TILE_ROWS * d;
    group_by_class(block, K, order, start);
    for (size_t k = 0; k < K; k++) {
        double *gram = out + K * d + k * d * d;
        for (size_t first = start[k], n; first < start[k + 1]; first += n) {
            const size_t left = start[k + 1] - first;
            n = left < DNI_TILE_ROWS ? left : DNI_TILE_ROWS;
            for (size_t i = 0; i < n; i++) {
                const size_t t = order[first + i];
                weights[i] = block->weight == NULL ? 1 : block->weight[t];
                centre_row(pass, block->x, t, k, weights[i], z + i * d, out);
            }
            dn_status status = add_gram(pass, n, weights, slot, gram, err);
            if (status != DN_OK) {
                return status;
            }
        }
    }
    return DN_OK;
}

/* Adds row t with weight v to three arrays of its class: the residuals, the squares at residual +
 * n, and, if the row is sparse, the weights of its entries at residual + 2n. */
static void add_squares(dn_matrix x, size_t t, double v, const double *m, size_t n,
                        double *residual) {
    double *square = residual + n, *present = square + n;
    if (x.kind == DN_DENSE) {
        const double *row = x.values + t * x.stride;
        for (size_t j = 0; j < x.n_cols; j++) {
            double c = row[j] - m[j];
            residual[j] += v * c;
            square[j] += v * c * c;
        }
        return;
    }
    for (size_t e = x.row_start[t]; e < x.row_start[t + 1]; e++) {
        size_t j = x.cols[e];
        double c = x.values[e] - m[j];
        residual[j] += v * c;
        square[j] += v * c * c;
        present[j] += v;
    }
}

/* out: [K × d] Σv(x − m), [K × d] Σv(x − m)² and, for sparse rows, [K × d] Σv. The sums of sparse
 * rows are over stored entries only; add_zeros adds the zeros. */
static dn_status diagonal_block(const void *arg, const dn_block *block, size_t slot, double *out,
                                dn_error *err) {
    (void)slot;
    const struct scatter_pass *pass = arg;
    const size_t d = pass->s->n_cols, n = pass->s->n_classes * d;
    dni_tiles tiles = dni_tiles_of(pass->run, block);
    while (dni_tiles_next(&tiles, err)) {
        const dni_tile *tile = &tiles.tile;
        for (size_t t = 0; t < tile->x.n_rows; t++) {
            const size_t k = (size_t)tile->target[t];
            if (tile->weight[t] != 0) {
                add_squares(tile->x, t, tile->weight[t], pass->s->class_mean + k * d, n,
                            out + k * d);
            }
        }
    }
    return tiles.status;
}

/* ---- results of the sums ---- */
/* Computes the weights and the class means from the first sum. */
static dn_status store_means(struct scatter_pass *pass, const double *sums, dn_error *err) {
    dni_scatter *s = pass->s;
    size_t K = s->n_classes, d = s->n_cols, n_blocks = pass->input->rows->n_blocks;
    memcpy(s->class_weight, sums + 1, K * sizeof *sums);
    for (size_t k = 0; k < K; k++) {
        s->weight += s->class_weight[k];
    }
    if (!(s->weight > 0) || !isfinite(s->weight)) {
        return dni_error_weight_sum(s->weight, err);
    }
    pass->sparse = sums[0] > 0;
    if (pass->sparse && sums[0] < (double)n_blocks) {
        return dni_error_mixed_blocks(err);
    }
    for (size_t k = 0; k < K; k++) {
        for (size_t j = 0; j < d; j++) {
            s->class_mean[k * d + j] = sums[1 + K + k * d + j] / s->class_weight[k];
            if (!isfinite(s->class_mean[k * d + j])) {
                return dni_error_square_overflow(pass->input, j, err);
            }
        }
    }
    return DN_OK;
}

/* Adds the zeros of sparse rows to Σv(x − m) and Σv(x − m)². If the weight of a column's zeros is
 * below 1e-12 of the class weight, it is a rounding error: the column has no zeros. */
static void add_zeros(const dni_scatter *s, double *sums) {
    size_t d = s->n_cols, n = s->n_classes * d;
    for (size_t i = 0; i < n; i++) {
        double absent = s->class_weight[i / d] - sums[2 * n + i], m = s->class_mean[i];
        if (absent > 1e-12 * s->class_weight[i / d]) {
            sums[i] -= absent * m;
            sums[n + i] += absent * m * m;
        }
    }
}

/* Applies the corrections at the top of this file. */
static void correct(dni_scatter *s, const double *residual) {
    size_t d = s->n_cols;
    for (size_t k = 0; k < s->n_classes; k++) {
        const double *r = residual + k * d;
        double *matrix = s->scatter + (s->kind == DNI_SCATTER_CLASSES ? k * d * d : 0);
        for (size_t i = 0; i < d; i++) {
            s->class_mean[k * d + i] += r[i] / s->class_weight[k];
            if (s->kind == DNI_SCATTER_DIAGONAL) {
                s->scatter[k * d + i] -= r[i] * (r[i] / s->class_weight[k]);
            } else {
                for (size_t j = 0; j <= i; j++) {
                    matrix[i * d + j] -= r[i] * (r[j] / s->class_weight[k]);
                }
            }
        }
    }
}

/* True if the deviation is within the rounding error of the mean: the column is constant. */
static bool is_rounding(double scatter, double weight, double mean) {
    return !(sqrt(fmax(scatter, 0) / weight) > 1e-13 * fabs(mean));
}

/* Sets row and column j of a lower triangle [d × d] to 0. */
static void clear_column(double *matrix, size_t d, size_t j) {
    memset(matrix + j * d, 0, (j + 1) * sizeof *matrix);
    for (size_t i = j; i < d; i++) {
        matrix[i * d + j] = 0;
    }
}

/* Computes s->mean, and sets the scatter of constant columns to exactly 0. Fails if the squares of
 * a column overflow or underflow. */
static dn_status finish(const struct scatter_pass *pass, dn_error *err) {
    dni_scatter *s = pass->s;
    const size_t K = s->n_classes, d = s->n_cols;
    const bool pooled = s->kind == DNI_SCATTER_POOLED, diagonal = s->kind == DNI_SCATTER_DIAGONAL;
    bool underflow = false;
    for (size_t j = 0; j < d; j++) {
        double largest = 0;
        for (size_t k = 0; k < K; k++) {
            const double m = s->class_mean[k * d + j];
            s->mean[j] += m * (s->class_weight[k] / s->weight);
            largest = fmax(largest, fabs(m));
        }
        for (size_t k = 0; k < (pooled ? 1 : K); k++) {
            double *matrix = s->scatter + (diagonal ? k * d : k * d * d),
                   *square = matrix + (diagonal ? j : j * d + j);
            if (!isfinite(*square)) {
                return dni_error_square_overflow(pass->input, j, err);
            }
            underflow =
                underflow || *square < DNI_LEAST_SQUARE * (pooled ? s->weight : s->class_weight[k]);
            if (!is_rounding(*square, pooled ? s->weight : s->class_weight[k],
                             pooled ? largest : s->class_mean[k * d + j])) {
                continue;
            }
            if (diagonal) {
                *square = 0;
            } else {
                clear_column(matrix, d, j);
            }
        }
    }
    return underflow ? dni_refuse_underflow(pass->input, pass->run, s->class_mean, K, s->weight,
                                            pass->work.sums, err)
                     : DN_OK;
}

/* ---- the two passes ---- */
static dn_status compute(struct scatter_pass *pass, dn_error *err) {
    dni_scatter *s = pass->s;
    const dn_rows *rows = pass->input->rows;
    double *sums = pass->work.sums;
    const size_t K = s->n_classes, d = s->n_cols, means = K * d;
    const bool diagonal = s->kind == DNI_SCATTER_DIAGONAL;
    const size_t numbers = scatter_rows(s->kind, K, d) * d;
    dn_status status =
        dn_run_sum(pass->run, rows, &(dn_sum){sum_block, pass, sizeof *pass, 1 + K + means}, sums,
                   err);
    if (status != DN_OK) {
        return status;
    }
    status = store_means(pass, sums, err);
    if (status != DN_OK || d == 0) {
        return status;
    }
    dn_sum_fn fn = diagonal                         ? diagonal_block
                   : s->kind == DNI_SCATTER_CLASSES ? classes_block
                                                    : pooled_block;
    const bool add = diagonal && pass->sparse;
    const size_t n_sums = means + numbers + (add ? means : 0);
    status = dn_run_sum(pass->run, rows, &(dn_sum){fn, pass, sizeof *pass, n_sums}, sums, err);
    if (status != DN_OK) {
        return status;
    }
    if (add) {
        add_zeros(s, sums);
    }
    memcpy(s->scatter, sums + means, numbers * sizeof *sums);
    correct(s, sums);
    return finish(pass, err);
}

dn_status dni_scatter_compute(const dn_fit_input *input, dni_scatter_kind kind, const dn_run *run,
                              dni_scatter *out, dn_error *err) {
    const size_t K = input->n_classes, d = input->rows->n_cols;
    const bool diagonal = kind == DNI_SCATTER_DIAGONAL;
    if (!diagonal && d > DNI_SCATTER_MAX_COLS) {
        return dn_error_set(err, DN_ERR_BUDGET,
                            "%zu features are too many for a covariance matrix (at most %d): use "
                            "fewer columns, or logistic, which needs no such matrix",
                            d, DNI_SCATTER_MAX_COLS);
    }
    if (K > SIZE_MAX / 64 / (d + 1) || (!diagonal && K * d > SIZE_MAX / 64 / (d + 1))) {
        return dn_error_set(err, DN_ERR_BUDGET,
                            "%zu features of %zu classes are more than can be addressed", d, K);
    }
    const struct scatter_shape shape = {kind, K, d, run->n_slots};
    dni_scatter s = {.kind = kind, .n_classes = K, .n_cols = d};
    struct scatter_pass pass = {.run = run, .input = input, .s = &s};
    void *memory = NULL;
    dn_status status = dni_layout_take(run, result_layout, &shape, &s, "the scatter of the classes",
                                       &s.memory, err);
    if (status != DN_OK) {
        return status;
    }
    status = dni_layout_take(run, work_layout, &shape, &pass.work,
                             "the sums and tiles of the scatter", &memory, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    status = compute(&pass, err);
    if (status == DN_OK) {
        *out = s;
    }
cleanup:
    dn_run_free(run, memory);
    if (status != DN_OK) {
        dni_scatter_done(&s, run);
    }
    return status;
}

void dni_scatter_done(dni_scatter *scatter, const dn_run *run) {
    dn_run_free(run, scatter->memory);
    *scatter = (dni_scatter){0};
}

/* ---- constant columns ---- */
static double scatter_within(const dni_scatter *s, size_t k, size_t j) {
    size_t d = s->n_cols;
    if (s->kind == DNI_SCATTER_DIAGONAL) {
        return s->scatter[k * d + j];
    }
    return s->scatter[(s->kind == DNI_SCATTER_CLASSES ? k * d * d : 0) + j * d + j];
}

size_t dni_scatter_constants(const dni_scatter *s, bool *constant) {
    size_t d = s->n_cols, n = 0;
    for (size_t j = 0; j < d; j++) {
        constant[j] = true;
        for (size_t k = 0; k < s->n_classes; k++) {
            constant[j] = constant[j] && !(scatter_within(s, k, j) > 0) &&
                          !(fabs(s->class_mean[k * d + j] - s->mean[j]) > 1e-13 * fabs(s->mean[j]));
        }
        n += constant[j];
    }
    return n;
}

double dni_scatter_variance(const dni_scatter *s, size_t j) {
    double sum = 0;
    for (size_t k = 0; k < s->n_classes; k++) {
        const double away = s->class_mean[k * s->n_cols + j] - s->mean[j];
        if (s->kind != DNI_SCATTER_POOLED || k == 0) {
            sum += scatter_within(s, k, j);
        }
        sum += s->class_weight[k] * away * away;
    }
    return sum / s->weight;
}
