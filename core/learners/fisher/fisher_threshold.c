/* The threshold with the least training error. The threshold moves up through the sorted
 * projections. Each row that it passes is then assigned to the first class: the misclassified
 * weight grows by the row's weight if the row belongs to the second class, and shrinks by it
 * otherwise. */
#include "learners/fisher/fisher_threshold.h"
#include "base/group.h"
#include "base/sum.h"
#include "linalg/tiles.h"

#include <math.h>
#include <stdlib.h>

struct projection {
    double at;     /* wᵀx */
    double weight; /* row weight v in the second class, −v in the first */
};

struct projection_pass {
    const dn_run *run;
    const double *w;
    struct projection *rows; /* [n_rows] */
};

/* Returns wᵀx of row t. */
static double project_row(dn_matrix x, size_t t, const double *w) {
    double at = 0;
    if (x.kind == DN_DENSE) {
        const double *row = x.values + t * x.stride;
        for (size_t j = 0; j < x.n_cols; j++) {
            at += w[j] * row[j];
        }
        return at;
    }
    for (size_t e = x.row_start[t]; e < x.row_start[t + 1]; e++) {
        at += w[x.cols[e]] * x.values[e];
    }
    return at;
}

/* Stores the projections of the block's rows. Adds Σv to out[0], and Σv of the first class to
 * out[1]. */
static dn_status project_block(void *arg, const dn_block *block, size_t slot, double *out,
                               dn_error *err) {
    (void)slot;
    const struct projection_pass *p = arg;
    dni_tiles tiles = dni_tiles_of(p->run, block);
    while (dni_tiles_next(&tiles, err)) {
        const dni_tile *tile = &tiles.tile;
        for (size_t t = 0; t < tile->x.n_rows; t++) {
            const double v = tile->weight[t], at = project_row(tile->x, t, p->w);
            const bool second = tile->target[t] > 0.5;
            if (!isfinite(at) && v > 0) {
                return dn_error_set(err, DN_ERR_NUMERIC,
                                    "the projection of a row is not finite, because its values "
                                    "are too large: standardise the columns");
            }
            p->rows[tile->first_row + t] = (struct projection){at, second ? v : -v};
            out[0] += v;
            out[1] += second ? 0 : v;
        }
    }
    return tiles.status;
}

/* Comparison for qsort: rows of weight 0 come last, the others are ordered by projection, then by
 * weight. Sums over equal projections therefore do not depend on the order of the rows. */
static int compare_projections(const void *a, const void *b) {
    const struct projection *x = a, *y = b;
    if ((x->weight == 0) != (y->weight == 0)) {
        return x->weight == 0 ? 1 : -1;
    }
    if (x->at != y->at) {
        return x->at < y->at ? -1 : 1;
    }
    return (x->weight > y->weight) - (x->weight < y->weight);
}

/* Returns the midpoint of low < high, or `low` if the midpoint is rounded up to `high`. */
static double middle_of(double low, double high) {
    double middle = low + (high - low) / 2;
    return middle < high ? middle : low;
}

/* Finds the best threshold for n sorted projections with weights != 0. Returns the misclassified
 * weight, or INFINITY if all projections are equal.
 *
 *   total  weight of all rows
 *   first  weight of the first class, which is the error of a threshold below all projections */
static double search(const struct projection *rows, size_t n, double total, double first,
                     double midpoint, double *out_threshold) {
    const double tie = 1e-12 * total;
    double error = first, least = (double)INFINITY, best = 0;
    for (size_t i = 0; i + 1 < n; i++) {
        error += rows[i].weight;
        if (rows[i].at == rows[i + 1].at) {
            continue;
        }
        const double threshold = middle_of(rows[i].at, rows[i + 1].at);
        const bool nearer = fabs(threshold - midpoint) < fabs(best - midpoint);
        if (error < least - tie || (fabs(error - least) <= tie && nearer)) {
            least = error;
            best = threshold;
        }
    }
    *out_threshold = best;
    return least;
}

dn_status dni_fisher_threshold(const dn_fit_input *input, const dn_run *run, const double *w,
                               double midpoint, double *out_threshold, double *out_error,
                               dn_error *err) {
    size_t n = input->rows->n_rows;
    void *memory = NULL;
    double sums[2], threshold, error;
    dn_status status = dn_run_alloc(run, n, sizeof(struct projection),
                                    "the projections of the rows", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    struct projection_pass pass = {run, w, memory};
    status = dni_each_sum(run, input->rows, project_block, &pass, 2, sums, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    status = dni_group_rows(run, dn_run_stop(run, err), n, pass.rows, sizeof *pass.rows, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    qsort(pass.rows, n, sizeof *pass.rows, compare_projections);
    status = dn_run_stop(run, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    while (n > 0 && pass.rows[n - 1].weight == 0) {
        n--;
    }
    error = search(pass.rows, n, sums[0], sums[1], midpoint, &threshold);
    if (isinf(error)) {
        status = dn_error_set(err, DN_ERR_DATA,
                              "all rows have the same projection: no threshold separates them");
        goto cleanup;
    }
    *out_threshold = threshold;
    *out_error = fmax(error, 0) / sums[0];
cleanup:
    dn_run_free(run, memory);
    return status;
}

double dni_fisher_threshold_memory(size_t n_rows, size_t n_slots) {
    return (double)n_rows * (double)sizeof(struct projection) +
           dn_run_sum_memory(n_rows, n_slots, 2);
}
