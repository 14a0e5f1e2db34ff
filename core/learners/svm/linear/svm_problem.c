/* Rows of a linear support vector machine: their signs and boxes, and the passes over them that every solver needs. */
#include "learners/svm/linear/svm_problem.h"
#include "base/run_memory.h"
#include "linalg/tile.h"
#include "linalg/vector.h"

#include <limits.h>
#include <string.h>

enum { SUMS = 8 };
#define TINY_C 1e-100 /* whose inverses, and their products, are what leaves the numbers */

static bool interior(const dni_svm_options *o) {
    return o->solver == DNI_SVM_INTERIOR_POINT && isfinite(o->C);
}

/* Doubles of one slot. */
static double slot_doubles(double width, bool expands) {
    return DNI_TILE_ROWS * (4 + (expands ? 2 * width : 0));
}

double dni_svm_problem_memory(const dni_svm_options *options, size_t n_rows, size_t n_features,
                              size_t n_slots) {
    double n = (double)n_rows, width = (double)n_features + 1, slots = (double)n_slots;
    double blocks = ceil(n / DN_BLOCK_ROWS) + 1;
    return 8 * (4 * n + 5 * width + SUMS + slots * slot_doubles(width, interior(options))) +
           blocks * (double)sizeof(dn_matrix) + slots * (double)sizeof(dni_svm_slot) +
           fmax(dn_run_sum_memory(n_rows, n_slots, 2 * width + SUMS),
                dni_moments_memory(n_rows, n_features, 2, n_slots));
}

/* ---- set-up ---- */
static dn_status init_slots(dni_svm_problem *svm, dn_error *err) {
    const bool expands = interior(svm->options);
    const size_t tile = DNI_TILE_ROWS, each = tile * (4 + (expands ? 2 * svm->width : 0));
    void *slots, *memory;
    dn_status status = dn_run_alloc(svm->run, svm->run->n_slots, sizeof *svm->slots,
                                    "the threads' work areas", &slots, err);
    if (status != DN_OK) {
        return status;
    }
    svm->slots = slots;
    if (each > SIZE_MAX / svm->run->n_slots) {
        return dn_error_set(err, DN_ERR_MEMORY,
                            "the work areas of %zu threads are more than can be addressed",
                            svm->run->n_slots);
    }
    status = dn_run_alloc(svm->run, svm->run->n_slots * each, sizeof(double),
                          "the threads' tiles of rows", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    svm->slot_memory = memory;
    for (size_t i = 0; i < svm->run->n_slots; i++) {
        double *next = (double *)memory + i * each;
        svm->slots[i] =
            (dni_svm_slot){.scores = next,
                           .omega = next + tile,
                           .coef = next + 2 * tile,
                           .z = expands ? next + 4 * tile : NULL,
                           .work = expands ? next + 4 * tile + tile * svm->width : NULL};
    }
    return DN_OK;
}

static dn_status init_vectors(dni_svm_problem *svm, dn_error *err) {
    const size_t n = svm->n, width = svm->width, n_blocks = svm->input->rows->n_blocks;
    void *memory;
    if (n > SIZE_MAX / 64 || width > (size_t)INT_MAX / (2 * DNI_TILE_ROWS)) {
        return dn_error_set(err, DN_ERR_BUDGET,
                            "%zu rows of %zu features are more than can be computed with", n,
                            svm->d);
    }
    dn_status status = dn_run_alloc(svm->run, 4 * n + 5 * width + SUMS, sizeof(double),
                                    "the dual variables", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    svm->memory = memory;
    svm->sign = memory;
    svm->upper = svm->sign + n;
    svm->alpha = svm->upper + n;
    svm->score = svm->alpha + n;
    svm->w = svm->score + n;
    svm->table = svm->w + width;
    svm->sums = svm->table + 2 * width;
    status =
        dn_run_alloc(svm->run, n_blocks, sizeof *svm->block, "the blocks of rows", &memory, err);
    if (status == DN_OK) {
        svm->block = memory;
    }
    return status;
}

/* Signs and boxes; every block's rows stay where they are. */
static dn_status read_rows(dni_svm_problem *svm, dn_error *err) {
    const dn_rows *rows = svm->input->rows;
    const bool hard = !isfinite(svm->options->C);
    for (size_t k = 0; k < rows->n_blocks; k++) {
        dn_block block;
        dn_status status = dn_run_stop(svm->run, err);
        if (status == DN_OK) {
            status = dn_rows_block(rows, k, 0, &block, err);
        }
        if (status != DN_OK) {
            return status;
        }
        svm->block[k] = block.x;
        for (size_t i = 0; i < block.x.n_rows; i++) {
            const double v = block.weight == NULL ? 1 : block.weight[i];
            const bool second = block.target[i] > 0.5;
            svm->sign[block.first_row + i] = second ? 1 : -1;
            svm->upper[block.first_row + i] = hard ? (v > 0) : svm->options->C * v;
            svm->weight[second] += v;
            svm->n_rows += v > 0;
        }
    }
    const double most = fmax(svm->weight[0], svm->weight[1]);
    if (!hard && !isfinite(svm->options->C * most)) {
        return dn_error_set(err, DN_ERR_NUMERIC,
                            "C times the weights of the rows leaves the finite numbers (C is %g, "
                            "the weights' sum %g)",
                            svm->options->C, svm->weight[0] + svm->weight[1]);
    }
    return DN_OK;
}

dn_status dni_svm_problem_init(dni_svm_problem *svm, const dn_fit_input *input,
                               const dni_svm_options *options, const dn_run *run, dn_error *err) {
    *svm = (dni_svm_problem){.input = input,
                             .options = options,
                             .run = run,
                             .n = input->rows->n_rows,
                             .d = input->rows->n_cols,
                             .width = input->rows->n_cols + 1,
                             .reason = DN_STOP_MAX_ITERATIONS};
    dn_status status = dni_moments_compute(input, run, &svm->moments, err);
    if (status == DN_OK) {
        status = init_vectors(svm, err);
    }
    if (status == DN_OK) {
        status = init_slots(svm, err);
    }
    return status == DN_OK ? read_rows(svm, err) : status;
}

void dni_svm_problem_done(dni_svm_problem *svm) {
    dn_run_free(svm->run, svm->slot_memory);
    dn_run_free(svm->run, svm->slots);
    dn_run_free(svm->run, svm->block);
    dn_run_free(svm->run, svm->memory);
    dni_moments_done(&svm->moments, svm->run);
}

/* ---- passes ---- */
struct pass {
    dni_svm_problem *svm;
    const double *in; /* scores: the table; combine: α */
    double *score;
};

static size_t tile_rows(const dn_block *block, size_t first) {
    const size_t left = block->x.n_rows - first;
    return left < DNI_TILE_ROWS ? left : DNI_TILE_ROWS;
}

static dn_status score_block(void *arg, const dn_block *block, size_t slot, double *out,
                             dn_error *err) {
    const struct pass *pass = arg;
    (void)slot;
    (void)out;
    for (size_t first = 0; first < block->x.n_rows; first += DNI_TILE_ROWS) {
        dn_status status = dn_run_stop(pass->svm->run, err);
        if (status != DN_OK) {
            return status;
        }
        dni_tile_scores(dn_matrix_rows(block->x, first, tile_rows(block, first)), pass->in, 1,
                        pass->score + block->first_row + first);
    }
    return DN_OK;
}

dn_status dni_svm_scores(dni_svm_problem *svm, const double *v, double *score, dn_error *err) {
    struct pass pass = {svm, v, score};
    double none;
    return dn_run_sum(svm->run, svm->input->rows, score_block, &pass, 1, &none, err);
}

static dn_status combine_block(void *arg, const dn_block *block, size_t slot, double *out,
                               dn_error *err) {
    const struct pass *pass = arg;
    const dni_svm_problem *svm = pass->svm;
    double *coef = svm->slots[slot].coef;
    for (size_t first = 0; first < block->x.n_rows; first += DNI_TILE_ROWS) {
        const size_t n = tile_rows(block, first), base = block->first_row + first;
        dn_status status = dn_run_stop(svm->run, err);
        if (status != DN_OK) {
            return status;
        }
        for (size_t i = 0; i < n; i++) {
            coef[i] = svm->upper[base + i] > 0 ? pass->in[base + i] * svm->sign[base + i] : 0;
        }
        dni_tile_gradient(dn_matrix_rows(block->x, first, n), coef, 1, out);
    }
    return DN_OK;
}

dn_status dni_svm_combine(dni_svm_problem *svm, const double *alpha, double *out, dn_error *err) {
    struct pass pass = {svm, alpha, NULL};
    return dn_run_sum(svm->run, svm->input->rows, combine_block, &pass, svm->width, out, err);
}

/* ---- one row ---- */
double dni_svm_row_dot(const dni_svm_problem *svm, size_t i, const double *v) {
    const dn_matrix *x = &svm->block[i / DN_BLOCK_ROWS];
    const size_t t = i % DN_BLOCK_ROWS;
    if (x->kind == DN_DENSE) {
        return dni_dot(x->values + t * x->stride, v, x->n_cols);
    }
    double sum = 0;
    for (size_t e = x->row_start[t]; e < x->row_start[t + 1]; e++) {
        sum += x->values[e] * v[x->cols[e]];
    }
    return sum;
}

void dni_svm_row_add(const dni_svm_problem *svm, size_t i, double s, double *v) {
    const dn_matrix *x = &svm->block[i / DN_BLOCK_ROWS];
    const size_t t = i % DN_BLOCK_ROWS;
    if (x->kind == DN_DENSE) {
        dni_axpy(s, x->values + t * x->stride, v, x->n_cols);
        return;
    }
    for (size_t e = x->row_start[t]; e < x->row_start[t + 1]; e++) {
        v[x->cols[e]] += s * x->values[e];
    }
}

size_t dni_svm_row_entries(const dni_svm_problem *svm, size_t i) {
    const dn_matrix *x = &svm->block[i / DN_BLOCK_ROWS];
    const size_t t = i % DN_BLOCK_ROWS;
    return x->kind == DN_DENSE ? x->n_cols : x->row_start[t + 1] - x->row_start[t];
}

/* ---- telling ---- */
dn_status dni_svm_progress(dni_svm_problem *svm, size_t iteration, size_t most, double gap,
                           double objective, dn_error *err) {
    const double tolerance = svm->options->tolerance;
    double fraction = (double)iteration / (double)most;
    if (gap > 0 && gap < 1 && tolerance < 1) { /* from 1 to the tolerance in the logarithm */
        fraction = fmax(fraction, log(gap) / log(tolerance));
    }
    svm->fraction = fmin(fmax(svm->fraction, fraction), 1);
    dn_status status = dn_run_stop(svm->run, err);
    if (status != DN_OK || svm->run->progress == NULL || iteration == 0) {
        return status;
    }
    const dn_progress progress = {.iteration = iteration,
                                  .max_iterations = most,
                                  .fraction = svm->fraction,
                                  .loss = objective,
                                  .gradient_norm = (double)NAN,
                                  .train_error = (double)NAN};
    svm->run->progress(svm->run, &progress);
    return DN_OK;
}

dn_status dni_svm_not_finite(const dni_svm_problem *svm, size_t iteration, dn_error *err) {
    const bool tiny = svm->options->C < TINY_C;
    return dn_error_set(err, DN_ERR_NUMERIC,
                        "iteration %zu left the finite numbers: features too large, or too %s a C "
                        "for them; standardise the columns or "
                        "give a %s C (it is %g)",
                        iteration, tiny ? "small" : "large", tiny ? "larger" : "smaller",
                        svm->options->C);
}
