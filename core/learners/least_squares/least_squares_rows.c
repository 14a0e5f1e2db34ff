/* Σ v ‖T − g‖² over rows with its gradient: each tile is read once, for scores, residuals and products. */
#include "learners/least_squares/least_squares_fit.h"
#include "linalg/tile.h"

#include <limits.h>
#include <math.h>
#include <string.h>

double dni_squares_memory(size_t n_rows, size_t n_cols, size_t n_classes, size_t n_slots,
                          bool expanded) {
    double width = (double)n_cols + 1, scores = n_classes == 2 ? 1 : (double)n_classes,
           slots = (double)n_slots;
    double n = width * scores;
    return 8 * (3 * n + 2 + slots * DNI_TILE_ROWS * (scores + (expanded ? width : 0))) +
           dn_run_sum_memory(n_rows, n_slots, 2 + n);
}

dn_status dni_squares_init(dni_squares *squares, const dn_rows *rows, size_t n_classes,
                           bool expanded, const dn_run *run, dn_error *err) {
    size_t width = rows->n_cols + 1, S = n_classes == 2 ? 1 : n_classes;
    *squares =
        (dni_squares){.run = run, .rows = rows, .n_scores = S, .width = width, .n = S * width};
    if (width > (expanded ? INT_MAX / (2 * DNI_TILE_ROWS) : INT_MAX) || S > INT_MAX / width) {
        return dn_error_set(
            err, DN_ERR_BUDGET,
            "%zu features for %zu classes are more weights than can be computed with", rows->n_cols,
            n_classes);
    }
    void *memory;
    dn_status status = dn_run_alloc(run, 3 * squares->n + 2, sizeof(double),
                                    "the weights and the gradient", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    squares->table = memory;
    squares->gradient = squares->table + squares->n;
    squares->sums = squares->gradient + squares->n;
    squares->slot_doubles = DNI_TILE_ROWS * (S + (expanded ? width : 0));
    status = dn_run_alloc(run, run->n_slots, squares->slot_doubles * sizeof(double),
                          "the threads' tiles of rows", &memory, err);
    if (status == DN_OK) {
        squares->slot_memory = memory;
    }
    return status;
}

void dni_squares_done(dni_squares *squares) {
    dn_run_free(squares->run, squares->slot_memory);
    dn_run_free(squares->run, squares->table);
    *squares = (dni_squares){0};
}

/* g → v(g − T); adds the squares and the weight of the misclassified to out. */
static void residuals(double *g, size_t S, bool targets, const double *target, const double *weight,
                      size_t n_rows, double *out) {
    for (size_t t = 0; t < n_rows; t++, g += S) {
        double v = weight == NULL ? 1 : weight[t], sum = 0;
        size_t truth = (size_t)target[t], best = S == 1 && g[0] > 0;
        for (size_t k = 1; k < S; k++) {
            if (g[k] > g[best]) {
                best = k;
            }
        }
        for (size_t k = 0; k < S; k++) {
            double e = v == 0 ? 0 : targets ? g[k] - dni_squares_target(S, k, truth) : g[k];
            sum += e * e;
            g[k] = v * e;
        }
        out[0] += v * sum;
        out[1] += best != truth ? v : 0;
    }
}

static dn_status pass_block(const void *arg, const dn_block *block, size_t slot, double *out,
                            dn_error *err) {
    const dni_squares *q = arg;
    size_t S = q->n_scores, d = q->width - 1;
    double *scores = q->slot_memory + slot * q->slot_doubles, *z = scores + DNI_TILE_ROWS * S;
    for (size_t first = 0; first < block->x.n_rows; first += DNI_TILE_ROWS) {
        dn_status status = dn_run_stop(q->run, err);
        if (status != DN_OK) {
            return status;
        }
        size_t left = block->x.n_rows - first, n = left < DNI_TILE_ROWS ? left : DNI_TILE_ROWS;
        dn_matrix x = dn_matrix_rows(block->x, first, n);
        if (q->mean != NULL) {
            dni_tile_expand(x, q->mean, q->scale, z);
            x = (dn_matrix){
                .kind = DN_DENSE, .n_rows = n, .n_cols = d, .stride = q->width, .values = z};
        }
        dni_tile_scores(x, q->table, S, scores);
        residuals(scores, S, q->targets, block->target + first,
                  block->weight == NULL ? NULL : block->weight + first, n, out);
        dni_tile_gradient(x, scores, S, out + 2);
    }
    return DN_OK;
}

dn_status dni_squares_pass(dni_squares *q, const double *variables, bool targets, dn_error *err) {
    bool transposed = q->sparse && q->mean == NULL;
    q->targets = targets;
    if (transposed) {
        dni_transpose(variables, q->n_scores, q->width, q->table);
    } else {
        memcpy(q->table, variables, q->n * sizeof *variables);
    }
    dn_status status =
        dn_run_sum(q->run, q->rows, &(dn_sum){pass_block, q, sizeof *q, 2 + q->n}, q->sums, err);
    if (status != DN_OK) {
        return status;
    }
    q->squares = q->sums[0];
    q->wrong = q->sums[1];
    if (transposed) {
        dni_transpose(q->sums + 2, q->width, q->n_scores, q->gradient);
    } else {
        memcpy(q->gradient, q->sums + 2, q->n * sizeof *q->gradient);
    }
    return DN_OK;
}
