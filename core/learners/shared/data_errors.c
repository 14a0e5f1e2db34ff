/* Errors about the training rows. */
#include "learners/shared/data_errors.h"
#include "catalogue/report.h"
#include "linalg/tiles.h"

#include <math.h>

dn_status dni_error_weight_sum(double weight, dn_error *err) {
    return dn_error_set(err, DN_ERR_DATA,
                        "the weights of the rows must have a positive, finite sum (got %g)",
                        weight);
}

dn_status dni_error_mixed_blocks(dn_error *err) {
    return dn_error_set(err, DN_ERR_SOURCE, "the rows mix dense and sparse blocks");
}

dn_status dni_error_square_overflow(const dn_fit_input *input, size_t j, dn_error *err) {
    char name[DN_FIELD_SIZE];
    dni_feature_name(input, j, name);
    return dn_error_set(err, DN_ERR_NUMERIC,
                        "feature \"%s\" has values so large that their squares overflow: "
                        "standardise the columns, or divide the feature by a power of ten",
                        name);
}

dn_status dni_error_square_underflow(const dn_fit_input *input, size_t j, dn_error *err) {
    char name[DN_FIELD_SIZE];
    dni_feature_name(input, j, name);
    return dn_error_set(
        err, DN_ERR_NUMERIC,
        "feature \"%s\" has values so near to each other that the squares of their "
        "differences underflow: standardise the columns, or multiply the feature by a power of ten",
        name);
}

dn_status dni_error_all_constant(dn_error *err) {
    return dn_error_set(err, DN_ERR_DATA,
                        "every column is constant in the training rows: no method can separate the "
                        "classes");
}

/* ---- underflow ---- */
struct pass {
    const dn_run *run;
    const double *mean; /* [n_means × n_cols] */
    size_t n_means, n_cols;
};

/* out: [n_cols] Σ v|x − m| over the stored entries, then [n_cols] Σ v|m| over the zeros that sparse
 * rows do not store. */
static dn_status add_block(const void *arg, const dn_block *block, size_t slot, double *out,
                           dn_error *err) {
    (void)slot;
    const struct pass *pass = arg;
    dni_tiles tiles = dni_tiles_of(pass->run, block);
    while (dni_tiles_next(&tiles, err)) {
        const dni_tile *tile = &tiles.tile;
        const dn_matrix x = tile->x;
        for (size_t t = 0; t < x.n_rows; t++) {
            const double v = tile->weight[t],
                         *m = pass->mean +
                              (pass->n_means > 1 ? (size_t)tile->target[t] * x.n_cols : 0);
            double *absent = out + x.n_cols;
            for (size_t j = 0; v != 0 && j < x.n_cols; j++) {
                if (x.kind == DN_DENSE) {
                    out[j] += v * fabs(x.values[t * x.stride + j] - m[j]);
                } else {
                    absent[j] += v * fabs(m[j]);
                }
            }
            for (size_t e = x.kind == DN_CSR && v != 0 ? x.row_start[t] : 0,
                        end = x.kind == DN_CSR && v != 0 ? x.row_start[t + 1] : 0;
                 e < end; e++) {
                const size_t j = x.cols[e];
                out[j] += v * fabs(x.values[e] - m[j]);
                absent[j] -= v * fabs(m[j]);
            }
        }
    }
    return tiles.status;
}

dn_status dni_refuse_underflow(const dn_fit_input *input, const dn_run *run, const double *mean,
                               size_t n_means, double weight, double *sums, dn_error *err) {
    const size_t d = input->rows->n_cols;
    const struct pass pass = {run, mean, n_means, d};
    const double least = sqrt(DNI_LEAST_SQUARE);
    dn_status status =
        dn_run_sum(run, input->rows, &(dn_sum){add_block, &pass, sizeof pass, 2 * d}, sums, err);
    for (size_t j = 0; status == DN_OK && j < d; j++) {
        const double deviation = (sums[j] + fmax(0, sums[d + j])) / weight;
        double largest = 0;
        for (size_t k = 0; k < n_means; k++) {
            largest = fmax(largest, fabs(mean[k * d + j]));
        }
        if (deviation < least && deviation > 1e-12 * largest) {
            status = dni_error_square_underflow(input, j, err);
        }
    }
    return status;
}
