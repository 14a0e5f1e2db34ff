/* The rows of a linear support vector machine: signs, upper bounds, and the passes that all solvers
 * use. */
#include "learners/svm/linear/svm_problem.h"
#include "base/layout.h"
#include "linalg/tile.h"
#include "linalg/vector.h"

#include <limits.h>
#include <string.h>

#define TINY_C 1e-100 /* if C is smaller, an overflow is caused by 1/C, not by the features */

/* Number of arrays of a slot: vectors of DNI_TILE_ROWS doubles, matrices of [DNI_TILE_ROWS ×
 * width]. */
enum { SLOT_VECTORS = 4, SLOT_MATRICES = 2 };

struct problem_shape {
    size_t n, width, n_blocks, n_slots;
    bool expands; /* slots have matrices for expanded rows */
};

bool dni_svm_is_wide(const dni_svm_options *options, size_t n_rows, size_t n_features) {
    return options->solver != DNI_SVM_DUAL_COORDINATE_DESCENT && isfinite(options->C) &&
           n_features > DNI_SVM_MAX_ORDER && n_rows <= DNI_SVM_MAX_ORDER;
}

/* True if the solver forms a matrix of features x features. */
static bool forms_matrix(const dni_svm_options *options, size_t n_rows, size_t n_features) {
    if (!isfinite(options->C) || dni_svm_is_wide(options, n_rows, n_features)) {
        return false;
    }
    return options->solver == DNI_SVM_INTERIOR_POINT ||
           (options->solver == DNI_SVM_NEWTON && n_features <= DNI_SVM_MAX_ORDER);
}

static struct problem_shape shape_of(const dni_svm_options *options, size_t n_rows,
                                     size_t n_features, size_t n_slots) {
    return (struct problem_shape){.n = n_rows,
                                  .width = n_features + 1,
                                  .n_blocks = n_rows / DN_BLOCK_ROWS + 1,
                                  .n_slots = n_slots,
                                  .expands = forms_matrix(options, n_rows, n_features)};
}

static void problem_layout(dni_layout *layout, const void *shape, void *work) {
    const struct problem_shape *s = shape;
    dni_svm_problem *svm = work;
    svm->sign = dni_layout_doubles(layout, s->n);
    svm->upper = dni_layout_doubles(layout, s->n);
    svm->alpha = dni_layout_doubles(layout, s->n);
    svm->score = dni_layout_doubles(layout, s->n);
    svm->w = dni_layout_doubles(layout, s->width);
    svm->table = dni_layout_doubles(layout, s->width);
    svm->sums = dni_layout_doubles(layout, s->width);
    svm->block = dni_layout_array(layout, s->n_blocks, sizeof *svm->block);
    svm->slots = dni_layout_array(layout, s->n_slots, sizeof *svm->slots);
    svm->tile_vectors = dni_layout_matrix(layout, s->n_slots, SLOT_VECTORS * DNI_TILE_ROWS);
    svm->tile_matrices =
        s->expands ? dni_layout_matrix(layout, s->n_slots * SLOT_MATRICES * DNI_TILE_ROWS, s->width)
                   : NULL;
}

double dni_svm_problem_memory(const dni_svm_options *options, size_t n_rows, size_t n_features,
                              size_t n_slots) {
    const struct problem_shape shape = shape_of(options, n_rows, n_features, n_slots);
    dni_svm_problem scratch;
    return dni_layout_bytes(problem_layout, &shape, &scratch) +
           fmax(dn_run_sum_memory(n_rows, n_slots, (double)n_features + 1),
                dni_moments_memory(n_rows, n_features, 2, n_slots));
}

/* ---- setup ---- */
static void set_slots(dni_svm_problem *svm) {
    const size_t tile = DNI_TILE_ROWS;
    for (size_t i = 0; i < svm->run->n_slots; i++) {
        double *vectors = svm->tile_vectors + i * SLOT_VECTORS * tile,
               *matrices = svm->tile_matrices == NULL
                               ? NULL
                               : svm->tile_matrices + i * SLOT_MATRICES * tile * svm->width;
        svm->slots[i] =
            (dni_svm_slot){.scores = vectors,
                           .omega = vectors + tile,
                           .coef = vectors + 2 * tile,
                           .z = matrices,
                           .work = matrices == NULL ? NULL : matrices + tile * svm->width};
    }
}

static dn_status get_memory(dni_svm_problem *svm, dn_error *err) {
    const struct problem_shape shape = shape_of(svm->options, svm->n, svm->d, svm->run->n_slots);
    if (svm->n > SIZE_MAX / 64 || svm->width > (size_t)INT_MAX / (2 * DNI_TILE_ROWS)) {
        return dn_error_set(err, DN_ERR_BUDGET, "%zu rows of %zu features are too many to address",
                            svm->n, svm->d);
    }
    dn_status status = dni_layout_take(svm->run, problem_layout, &shape, svm,
                                       "the linear support vector machine", &svm->memory, err);
    if (status != DN_OK) {
        return status;
    }
    set_slots(svm);
    return DN_OK;
}

/* Sets the signs, the upper bounds and the class weights, and stores views of the blocks. */
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
        return dn_error_set(
            err, DN_ERR_NUMERIC,
            "C times the weight of a class overflows (C is %g, the weights of all rows sum to %g)",
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
    if (status != DN_OK) {
        return status;
    }
    status = get_memory(svm, err);
    return status == DN_OK ? read_rows(svm, err) : status;
}

void dni_svm_problem_done(dni_svm_problem *svm) {
    dn_run_free(svm->run, svm->memory);
    dni_moments_done(&svm->moments, svm->run);
}

/* ---- passes ---- */
struct pass {
    dni_svm_problem *svm;
    const double *in; /* dni_svm_scores: [w, w0]; dni_svm_combine: α */
    double *score;
};

static size_t tile_rows(const dn_block *block, size_t first) {
    const size_t left = block->x.n_rows - first;
    return left < DNI_TILE_ROWS ? left : DNI_TILE_ROWS;
}

static dn_status score_block(void *arg, const dn_block *block, size_t slot, dn_error *err) {
    const struct pass *pass = arg;
    (void)slot;
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
    return dn_run_each(svm->run, svm->input->rows, score_block, &pass, err);
}

static dn_status combine_block(const void *arg, const dn_block *block, size_t slot, double *out,
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
    return dn_run_sum(svm->run, svm->input->rows,
                      &(dn_sum){combine_block, &pass, sizeof pass, svm->width}, out, err);
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

/* ---- progress ---- */
dn_status dni_svm_progress(dni_svm_problem *svm, size_t iteration, size_t most, double gap,
                           double objective, dn_error *err) {
    const double tolerance = svm->options->tolerance;
    double fraction = (double)iteration / (double)most;
    /* The fraction is linear in ln(gap): 0 for a gap of 1, 1 for the tolerance. */
    if (gap > 0 && gap < 1 && tolerance < 1) {
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
    return dn_error_set(
        err, DN_ERR_NUMERIC,
        "iteration %zu computed numbers that are not finite: the features are too large, or C "
        "is too %s for them (C is %g); standardise the columns, or set a %s C",
        iteration, tiny ? "small" : "large", svm->options->C, tiny ? "larger" : "smaller");
}
