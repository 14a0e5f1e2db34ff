/* Scatter in two passes. The means m of the first are off by their rounding e; with r_k = Σ_{t ∈ k} v (x − m_k) of the second
 *
 *   m_k ← m_k + r_k / n_k,   S_k ← S_k − r_k r_kᵀ / n_k
 *
 * are what exact means would have given (Chan, Golub and LeVeque, The American Statistician 37, 1983: the corrected two-pass algorithm). */
#include "learners/shared/scatter.h"
#include "catalogue/report.h"
#include "linalg/tile.h"

#include <math.h>
#include <string.h>

/* Working memory of one thread; none of it for a diagonal. */
struct slot {
    double *z;       /* [DNI_TILE_ROWS × d] rows minus the means of their classes */
    double *scratch; /* [DNI_TILE_ROWS × d] of dni_tile_gram */
    double *weights; /* [DNI_TILE_ROWS] */
    size_t *order;   /* [DN_BLOCK_ROWS] rows of a block by class; NULL when pooled */
    size_t *start;   /* [n_classes + 1] where each class begins in order */
};

struct pass {
    const dn_run *run;
    const dn_fit_input *input;
    dni_scatter *s;
    bool sparse;          /* the blocks are CSR */
    struct slot *slots;   /* [n_slots] or NULL */
    double *slot_doubles; /* what the slots point into */
    size_t *slot_sizes;
};

static double weight_of(const dn_block *block, size_t t) {
    return block->weight == NULL ? 1 : block->weight[t];
}

/* out: number of sparse blocks, n_k, Σvx by class */
static dn_status sum_block(void *arg, const dn_block *block, size_t slot, double *out,
                           dn_error *err) {
    (void)slot;
    (void)err;
    const struct pass *pass = arg;
    dn_matrix x = block->x;
    double *weights = out + 1, *sums = weights + pass->s->n_classes;
    out[0] += x.kind == DN_CSR;
    for (size_t t = 0; t < x.n_rows; t++) {
        size_t k = (size_t)block->target[t];
        double v = weight_of(block, t), *sum = sums + k * x.n_cols;
        if (v == 0) {
            continue;
        }
        weights[k] += v;
        if (x.kind == DN_DENSE) {
            const double *row = x.values + t * x.stride;
            for (size_t j = 0; j < x.n_cols; j++) {
                sum[j] += v * row[j];
            }
        } else {
            for (size_t e = x.row_start[t]; e < x.row_start[t + 1]; e++) {
                sum[x.cols[e]] += v * x.values[e];
            }
        }
    }
    return DN_OK;
}

/* z ← row t minus the mean of its class; residual += v z. Nothing of a row without weight. */
static void centre_row(const struct pass *pass, const dn_block *block, size_t t, double *z,
                       double *residual) {
    dn_matrix x = block->x;
    size_t d = x.n_cols, k = (size_t)block->target[t];
    const double *m = pass->s->class_mean + k * d;
    double v = weight_of(block, t);
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

/* Rows order[0 … n-1] of the block (NULL: first … first + n-1) into a Gram matrix. */
static dn_status add_tile(const struct pass *pass, const dn_block *block, const size_t *order,
                          size_t first, size_t n, struct slot *slot, double *residual, double *gram,
                          dn_error *err) {
    size_t d = block->x.n_cols;
    for (size_t i = 0; i < n; i++) {
        size_t t = order == NULL ? first + i : order[i];
        slot->weights[i] = weight_of(block, t);
        centre_row(pass, block, t, slot->z + i * d, residual);
    }
    return dni_tile_gram(pass->run, slot->z, n, d, slot->weights, 1, slot->scratch, gram, err);
}

/* out: Σv(x − m) by class, then Σv(x − m)(x − m)ᵀ */
static dn_status pooled_block(void *arg, const dn_block *block, size_t slot, double *out,
                              dn_error *err) {
    const struct pass *pass = arg;
    double *gram = out + pass->s->n_classes * pass->s->n_cols;
    for (size_t first = 0; first < block->x.n_rows; first += DNI_TILE_ROWS) {
        size_t left = block->x.n_rows - first, n = left < DNI_TILE_ROWS ? left : DNI_TILE_ROWS;
        dn_status status =
            add_tile(pass, block, NULL, first, n, &pass->slots[slot], out, gram, err);
        if (status != DN_OK) {
            return status;
        }
    }
    return DN_OK;
}

/* Rows of the block by class, each class in order. */
static void sort_rows(const struct pass *pass, const dn_block *block, struct slot *slot) {
    size_t K = pass->s->n_classes, n = block->x.n_rows, *start = slot->start;
    memset(start, 0, (K + 1) * sizeof *start);
    for (size_t t = 0; t < n; t++) {
        start[(size_t)block->target[t] + 1]++;
    }
    for (size_t k = 0; k < K; k++) {
        start[k + 1] += start[k];
    }
    for (size_t t = 0; t < n; t++) { /* moves each start to its end … */
        slot->order[start[(size_t)block->target[t]]++] = t;
    }
    memmove(start + 1, start, K * sizeof *start); /* … which is the start of the next */
    start[0] = 0;
}

static dn_status classes_block(void *arg, const dn_block *block, size_t i, double *out,
                               dn_error *err) {
    const struct pass *pass = arg;
    size_t K = pass->s->n_classes, d = pass->s->n_cols;
    struct slot *slot = &pass->slots[i];
    sort_rows(pass, block, slot);
    for (size_t k = 0; k < K; k++) {
        double *gram = out + K * d + k * d * d;
        for (size_t first = slot->start[k], end = slot->start[k + 1], n; first < end; first += n) {
            n = end - first < DNI_TILE_ROWS ? end - first : DNI_TILE_ROWS;
            dn_status status =
                add_tile(pass, block, slot->order + first, 0, n, slot, out, gram, err);
            if (status != DN_OK) {
                return status;
            }
        }
    }
    return DN_OK;
}

/* out: Σv(x − m), Σv(x − m)², and for sparse rows Σv, by class over their entries: the zeros follow from them */
static dn_status diagonal_block(void *arg, const dn_block *block, size_t slot, double *out,
                                dn_error *err) {
    (void)slot;
    (void)err;
    const struct pass *pass = arg;
    dn_matrix x = block->x;
    size_t d = x.n_cols, n = pass->s->n_classes * d;
    for (size_t t = 0; t < x.n_rows; t++) {
        size_t k = (size_t)block->target[t];
        const double *m = pass->s->class_mean + k * d;
        double v = weight_of(block, t), *residual = out + k * d, *square = residual + n,
               *present = square + n;
        if (v == 0) {
            continue;
        }
        if (x.kind == DN_DENSE) {
            const double *row = x.values + t * x.stride;
            for (size_t j = 0; j < d; j++) {
                double c = row[j] - m[j];
                residual[j] += v * c;
                square[j] += v * c * c;
            }
        } else {
            for (size_t e = x.row_start[t]; e < x.row_start[t + 1]; e++) {
                size_t j = x.cols[e];
                double c = x.values[e] - m[j];
                residual[j] += v * c;
                square[j] += v * c * c;
                present[j] += v;
            }
        }
    }
    return DN_OK;
}

/* ---- memory ---- */
static size_t scatter_numbers(dni_scatter_kind kind, size_t K, size_t d) {
    return kind == DNI_SCATTER_POOLED ? d * d : kind == DNI_SCATTER_CLASSES ? K * d * d : K * d;
}

double dni_scatter_memory(dni_scatter_kind kind, size_t n_rows, size_t n_cols, size_t n_classes,
                          size_t n_slots) {
    double d = (double)n_cols, K = (double)n_classes, slots = (double)n_slots;
    double numbers = kind == DNI_SCATTER_POOLED    ? d * d
                     : kind == DNI_SCATTER_CLASSES ? K * d * d
                                                   : 2 * K * d;
    double sum = 1 + K + K * d + numbers;
    double slot =
        kind == DNI_SCATTER_DIAGONAL ? 0 : DNI_TILE_ROWS * (2 * d + 1) + DN_BLOCK_ROWS + K + 6;
    return 8 * (K + K * d + d + numbers + sum + slots * slot) +
           dn_run_sum_memory(n_rows, n_slots, sum);
}

static dn_status slots_alloc(struct pass *pass, dn_error *err) {
    size_t d = pass->s->n_cols, K = pass->s->n_classes, n = pass->run->n_slots;
    size_t doubles = DNI_TILE_ROWS * (2 * d + 1), sizes = DN_BLOCK_ROWS + K + 1;
    bool sorted = pass->s->kind == DNI_SCATTER_CLASSES;
    void *slots = NULL, *own = NULL, *orders = NULL;
    dn_status status =
        dn_run_alloc(pass->run, n, sizeof *pass->slots, "the threads' work areas", &slots, err);
    pass->slots = slots;
    if (status == DN_OK) {
        status = dn_run_alloc(pass->run, n, doubles * sizeof(double), "the threads' tiles of rows",
                              &own, err);
    }
    pass->slot_doubles = own;
    if (status == DN_OK && sorted) {
        status = dn_run_alloc(pass->run, n, sizes * sizeof(size_t), "the threads' orders of rows",
                              &orders, err);
    }
    pass->slot_sizes = orders;
    for (size_t i = 0; status == DN_OK && i < n; i++) {
        struct slot *slot = &pass->slots[i];
        slot->z = pass->slot_doubles + i * doubles;
        slot->scratch = slot->z + DNI_TILE_ROWS * d;
        slot->weights = slot->scratch + DNI_TILE_ROWS * d;
        slot->order = sorted ? pass->slot_sizes + i * sizes : NULL;
        slot->start = sorted ? slot->order + DN_BLOCK_ROWS : NULL;
    }
    return status;
}

/* ---- the sums' results ---- */
static dn_status not_finite(const struct pass *pass, size_t j, dn_error *err) {
    char name[DN_FIELD_SIZE];
    dni_feature_name(pass->input, j, name);
    return dn_error_set(err, DN_ERR_NUMERIC,
                        "feature \"%s\" has values so large that their squares leave the finite "
                        "numbers: standardise the columns, or "
                        "divide it by a power of ten",
                        name);
}

static dn_status take_means(struct pass *pass, const double *sums, dn_error *err) {
    dni_scatter *s = pass->s;
    size_t K = s->n_classes, d = s->n_cols, n_blocks = pass->input->rows->n_blocks;
    memcpy(s->class_weight, sums + 1, K * sizeof *sums);
    for (size_t k = 0; k < K; k++) {
        s->weight += s->class_weight[k];
    }
    if (!(s->weight > 0) || !isfinite(s->weight)) {
        return dn_error_set(err, DN_ERR_DATA,
                            "the weights of the rows must have a positive, finite sum (got %g)",
                            s->weight);
    }
    pass->sparse = sums[0] > 0;
    if (pass->sparse && sums[0] < (double)n_blocks) {
        return dn_error_set(err, DN_ERR_SOURCE, "the rows mix dense and sparse blocks");
    }
    for (size_t k = 0; k < K; k++) {
        for (size_t j = 0; j < d; j++) {
            s->class_mean[k * d + j] = sums[1 + K + k * d + j] / s->class_weight[k];
            if (!isfinite(s->class_mean[k * d + j])) {
                return not_finite(pass, j, err);
            }
        }
    }
    return DN_OK;
}

/* What the zeros of sparse rows add to Σv(x − m) and Σv(x − m)²; not for what is only a rounding remainder of a column that is everywhere. */
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

/* The corrections of the file's head. */
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

/* Column j as good as constant: deviation below the rounding of its mean. */
static bool is_rounding(double scatter, double weight, double mean) {
    return !(sqrt(fmax(scatter, 0) / weight) > 1e-13 * fabs(mean));
}

/* Zeros for column j of one matrix. */
static void clear_column(double *matrix, size_t d, size_t j) {
    memset(matrix + j * d, 0, (j + 1) * sizeof *matrix);
    for (size_t i = j; i < d; i++) {
        matrix[i * d + j] = 0;
    }
}

static dn_status finish(const struct pass *pass, dn_error *err) {
    dni_scatter *s = pass->s;
    size_t K = s->n_classes, d = s->n_cols;
    for (size_t j = 0; j < d; j++) {
        double largest = 0;
        for (size_t k = 0; k < K; k++) {
            double m = s->class_mean[k * d + j];
            s->mean[j] += m * (s->class_weight[k] / s->weight);
            largest = fmax(largest, fabs(m));
            if (s->kind == DNI_SCATTER_POOLED) {
                continue;
            }
            double *matrix = s->scatter + k * d * d;
            double *square =
                s->kind == DNI_SCATTER_CLASSES ? matrix + j * d + j : s->scatter + k * d + j;
            if (!isfinite(*square)) {
                return not_finite(pass, j, err);
            }
            if (!is_rounding(*square, s->class_weight[k], m)) {
                continue;
            }
            if (s->kind == DNI_SCATTER_CLASSES) {
                clear_column(matrix, d, j);
            } else {
                *square = 0;
            }
        }
        if (s->kind != DNI_SCATTER_POOLED) {
            continue;
        }
        if (!isfinite(s->scatter[j * d + j])) {
            return not_finite(pass, j, err);
        }
        if (is_rounding(s->scatter[j * d + j], s->weight, largest)) {
            clear_column(s->scatter, d, j);
        }
    }
    return DN_OK;
}

static dn_status compute(struct pass *pass, double *sums, dn_error *err) {
    dni_scatter *s = pass->s;
    const dn_rows *rows = pass->input->rows;
    size_t K = s->n_classes, d = s->n_cols, numbers = scatter_numbers(s->kind, K, d);
    dn_status status = dn_run_sum(pass->run, rows, sum_block, pass, 1 + K + K * d, sums, err);
    if (status == DN_OK) {
        status = take_means(pass, sums, err);
    }
    if (status != DN_OK || d == 0) {
        return status;
    }
    bool diagonal = s->kind == DNI_SCATTER_DIAGONAL;
    dn_block_fn fn = diagonal                         ? diagonal_block
                     : s->kind == DNI_SCATTER_CLASSES ? classes_block
                                                      : pooled_block;
    status = dn_run_sum(pass->run, rows, fn, pass,
                        K * d + numbers + (diagonal && pass->sparse ? K * d : 0), sums, err);
    if (status != DN_OK) {
        return status;
    }
    if (diagonal && pass->sparse) {
        add_zeros(s, sums);
    }
    memcpy(s->scatter, sums + K * d, numbers * sizeof *sums);
    correct(s, sums);
    return finish(pass, err);
}

dn_status dni_scatter_compute(const dn_fit_input *input, dni_scatter_kind kind, const dn_run *run,
                              dni_scatter *out, dn_error *err) {
    size_t K = input->n_classes, d = input->rows->n_cols;
    bool diagonal = kind == DNI_SCATTER_DIAGONAL;
    if (!diagonal && d > DNI_SCATTER_MAX_COLS) {
        return dn_error_set(err, DN_ERR_BUDGET,
                            "%zu features are too many for a matrix of them, at most %d: use fewer "
                            "columns, or logistic, which needs none",
                            d, DNI_SCATTER_MAX_COLS);
    }
    if (K > SIZE_MAX / 64 / (d + 1) || (!diagonal && K * d > SIZE_MAX / 64 / (d + 1))) {
        return dn_error_set(err, DN_ERR_BUDGET,
                            "%zu features of %zu classes are more than can be addressed", d, K);
    }
    dni_scatter s = {.kind = kind, .n_classes = K, .n_cols = d};
    struct pass pass = {.run = run, .input = input, .s = &s};
    size_t numbers = scatter_numbers(kind, K, d);
    void *memory = NULL, *sums = NULL;
    dn_status status = dn_run_alloc(run, K + K * d + d + numbers, sizeof(double),
                                    "the scatter of the classes", &memory, err);
    if (status == DN_OK) {
        status = dn_run_alloc(run, 1 + K + 2 * K * d + numbers, sizeof(double),
                              "the sums of the classes", &sums, err);
    }
    if (status == DN_OK && !diagonal) {
        status = slots_alloc(&pass, err);
    }
    if (status == DN_OK) {
        s.class_weight = memory;
        s.class_mean = s.class_weight + K;
        s.mean = s.class_mean + K * d;
        s.scatter = s.mean + d;
        status = compute(&pass, sums, err);
    }
    dn_run_free(run, pass.slots);
    dn_run_free(run, pass.slot_doubles);
    dn_run_free(run, pass.slot_sizes);
    dn_run_free(run, sums);
    if (status == DN_OK) {
        *out = s;
    } else {
        dn_run_free(run, memory);
    }
    return status;
}

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

void dni_scatter_done(dni_scatter *scatter, const dn_run *run) {
    dn_run_free(run, scatter->class_weight);
    *scatter = (dni_scatter){0};
}
