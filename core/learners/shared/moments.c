/* Means and standard deviations of the columns in two passes. */
#include "learners/shared/moments.h"
#include "base/layout.h"
#include "learners/shared/data_errors.h"
#include "linalg/tiles.h"

#include <math.h>
#include <string.h>

struct moments_shape {
    size_t n_cols, n_classes;
};

struct moments_pass {
    const dn_run *run;
    size_t n_classes, n_cols;
    const double *mean; /* [n_cols]; used in the second pass */
};

/* Size of the larger of the two sums in numbers. The second sum of sparse rows has two numbers for
 * each column. */
static double sum_numbers(const struct moments_shape *s) {
    const double d = (double)s->n_cols;
    return fmax(2 + (double)s->n_classes + d, 2 * d);
}

static void moments_layout(dni_layout *layout, const void *shape, void *work) {
    const struct moments_shape *s = shape;
    dni_moments *m = work;
    m->mean = dni_layout_doubles(layout, s->n_cols);
    m->deviation = dni_layout_doubles(layout, s->n_cols);
    m->class_weight = dni_layout_doubles(layout, s->n_classes);
}

double dni_moments_result_memory(size_t n_cols, size_t n_classes) {
    const struct moments_shape shape = {n_cols, n_classes};
    dni_moments unused;
    return dni_layout_bytes(moments_layout, &shape, &unused);
}

double dni_moments_memory(size_t n_rows, size_t n_cols, size_t n_classes, size_t n_slots) {
    const double numbers = sum_numbers(&(struct moments_shape){n_cols, n_classes});
    return dni_moments_result_memory(n_cols, n_classes) + numbers * sizeof(double) +
           dn_run_sum_memory(n_rows, n_slots, numbers);
}

/* out: Σv, the number of sparse blocks, [n_classes] Σv of each class, [n_cols] Σvx. */
static dn_status first_block(const void *arg, const dn_block *block, size_t slot, double *out,
                             dn_error *err) {
    (void)slot;
    const struct moments_pass *pass = arg;
    double *classes = out + 2, *columns = classes + pass->n_classes;
    dni_tiles tiles = dni_tiles_of(pass->run, block);
    out[1] += block->x.kind == DN_CSR;
    while (dni_tiles_next(&tiles, err)) {
        const dni_tile *tile = &tiles.tile;
        for (size_t t = 0; t < tile->x.n_rows; t++) {
            out[0] += tile->weight[t];
            if (tile->target != NULL) {
                classes[(size_t)tile->target[t]] += tile->weight[t];
            }
            dni_row_add(tile->x, t, tile->weight[t], columns);
        }
    }
    return tiles.status;
}

/* out: [n_cols] Σv(x − m)². For sparse rows the sum is over stored entries only, and [n_cols] Σv of
 * the stored entries follow: store_deviations adds v m² for each zero. */
static dn_status second_block(const void *arg, const dn_block *block, size_t slot, double *out,
                              dn_error *err) {
    (void)slot;
    const struct moments_pass *pass = arg;
    dni_tiles tiles = dni_tiles_of(pass->run, block);
    while (dni_tiles_next(&tiles, err)) {
        const dn_matrix x = tiles.tile.x;
        for (size_t t = 0; t < x.n_rows; t++) {
            const double v = tiles.tile.weight[t];
            if (x.kind == DN_DENSE) {
                const double *row = x.values + t * x.stride;
                for (size_t j = 0; j < x.n_cols; j++) {
                    double c = row[j] - pass->mean[j];
                    out[j] += v * c * c;
                }
                continue;
            }
            for (size_t e = x.row_start[t]; e < x.row_start[t + 1]; e++) {
                double c = x.values[e] - pass->mean[x.cols[e]];
                out[x.cols[e]] += v * c * c;
                out[pass->n_cols + x.cols[e]] += v;
            }
        }
    }
    return tiles.status;
}

/* Computes the weights and the means from the first sum. */
static dn_status store_means(const dn_rows *rows, size_t n_classes, const double *sums,
                             dni_moments *m, dn_error *err) {
    m->weight = sums[0];
    if (!(m->weight > 0) || !isfinite(m->weight)) {
        return dni_error_weight_sum(m->weight, err);
    }
    m->sparse = sums[1] > 0;
    if (m->sparse && sums[1] < (double)rows->n_blocks) {
        return dni_error_mixed_blocks(err);
    }
    memcpy(m->class_weight, sums + 2, n_classes * sizeof(double));
    for (size_t j = 0; j < rows->n_cols; j++) {
        m->mean[j] = sums[2 + n_classes + j] / m->weight;
    }
    return DN_OK;
}

/* Computes the deviations from the second sum. */
static dn_status store_deviations(const dn_fit_input *input, const dn_run *run, double *sums,
                                  dni_moments *m, dn_error *err) {
    const size_t d = input->rows->n_cols;
    bool underflow = false;
    for (size_t j = 0; j < d; j++) {
        double sum = sums[j];
        if (m->sparse) {
            const double zeros = m->weight - sums[d + j];
            const double rounding = 1e-12 * m->weight; /* a smaller `zeros` counts as 0 */
            sum += zeros > rounding ? zeros * m->mean[j] * m->mean[j] : 0;
        }
        m->deviation[j] = sqrt(sum / m->weight);
        underflow = underflow || sum < DNI_LEAST_SQUARE * m->weight;
        if (!isfinite(m->mean[j]) || !isfinite(m->deviation[j])) {
            return dni_error_square_overflow(input, j, err);
        }
        if (m->deviation[j] <= 1e-13 * fabs(m->mean[j])) { /* rounding error of the mean */
            m->deviation[j] = 0;
        }
    }
    return underflow ? dni_refuse_underflow(input, run, m->mean, 1, m->weight, sums, err) : DN_OK;
}

static dn_status compute(const dn_fit_input *input, const dn_run *run, double *sums, dni_moments *m,
                         dn_error *err) {
    const dn_rows *rows = input->rows;
    const size_t d = rows->n_cols, n_classes = input->n_classes;
    struct moments_pass pass = {run, n_classes, d, m->mean};
    dn_status status =
        dn_run_sum(run, rows, &(dn_sum){first_block, &pass, sizeof pass, 2 + n_classes + d}, sums,
                   err);
    if (status != DN_OK) {
        return status;
    }
    status = store_means(rows, n_classes, sums, m, err);
    if (status != DN_OK) {
        return status;
    }
    status =
        dn_run_sum(run, rows, &(dn_sum){second_block, &pass, sizeof pass, m->sparse ? 2 * d : d},
                   sums, err);
    return status == DN_OK ? store_deviations(input, run, sums, m, err) : status;
}

dn_status dni_moments_compute(const dn_fit_input *input, const dn_run *run, dni_moments *out,
                              dn_error *err) {
    const struct moments_shape shape = {input->rows->n_cols, input->n_classes};
    dni_moments m = {0};
    void *sums = NULL;
    dn_status status = dni_layout_take(run, moments_layout, &shape, &m,
                                       "the moments of the columns", &m.memory, err);
    if (status != DN_OK) {
        return status;
    }
    status = dn_run_alloc(run, (size_t)sum_numbers(&shape), sizeof(double),
                          "the sums of the columns", &sums, err);
    if (status == DN_OK) {
        status = compute(input, run, sums, &m, err);
        dn_run_free(run, sums);
    }
    if (status != DN_OK) {
        dni_moments_done(&m, run);
        return status;
    }
    *out = m;
    return DN_OK;
}

void dni_moments_done(dni_moments *moments, const dn_run *run) {
    dn_run_free(run, moments->memory);
    *moments = (dni_moments){0};
}

void dni_moments_about_zero(dni_moments *moments, size_t n_cols) {
    for (size_t j = 0; j < n_cols; j++) {
        moments->deviation[j] = hypot(moments->deviation[j], moments->mean[j]);
        moments->mean[j] = 0;
    }
}
