/* The mean training row in raw features. */
#include "statistics/feature_means.h"
#include "linalg/tiles.h"

/* Adds a block. out: Σv, then [n_features] Σvx of the encoded features. */
static dn_status add_block(const void *arg, const dn_block *block, size_t slot, double *out,
                           dn_error *err) {
    (void)slot;
    const dn_run *const *run = arg;
    dni_tiles tiles = dni_tiles_of(*run, block);
    while (dni_tiles_next(&tiles, err)) {
        for (size_t t = 0; t < tiles.tile.x.n_rows; t++) {
            out[0] += tiles.tile.weight[t];
            dni_row_add(tiles.tile.x, t, tiles.tile.weight[t], out + 1);
        }
    }
    return tiles.status;
}

static dn_status sum_rows(const dn_rows *rows, const dn_encoder *encoder, const dn_run *run,
                          double *sums, double *out, dn_error *err) {
    const double *mean = dn_encoder_mean(encoder), *scale = dn_encoder_scale(encoder);
    const dn_sum sum = {add_block, &run, sizeof run, 1 + rows->n_cols};
    const dn_status status = dn_run_sum(run, rows, &sum, sums, err);
    for (size_t j = 0; status == DN_OK && j < rows->n_cols; j++) {
        out[j] = sums[1 + j] / sums[0];
        if (mean != NULL) {
            out[j] = mean[j] + scale[j] * out[j];
        }
    }
    return status;
}

/* Copies the means of the numeric inputs. Returns false if there are other features. */
static bool copy_means(const dn_encoder *encoder, double *out) {
    size_t n = 0;
    for (size_t i = 0; i < dn_encoder_n_inputs(encoder); i++) {
        const dn_input *input = dn_encoder_input(encoder, i);
        if ((!dn_column_type_is_real(input->type) && input->type != DN_BOOLEAN) ||
            input->indicator || input->n_features != 1) {
            return false;
        }
        out[input->first_feature] = input->fill;
        n++;
    }
    return n == dn_encoder_n_features(encoder);
}

dn_status dni_feature_means_compute(const dn_rows *rows, const dn_encoder *encoder, bool mean_fills,
                                    const dn_run *run, double *out, dn_error *err) {
    void *sums = NULL;
    if (mean_fills && copy_means(encoder, out)) {
        return DN_OK;
    }
    dn_status status =
        dn_run_alloc(run, 1 + rows->n_cols, sizeof(double), "the sums of the features", &sums, err);
    if (status == DN_OK) {
        status = sum_rows(rows, encoder, run, sums, out, err);
        dn_run_free(run, sums);
    }
    return status;
}

double dni_feature_means_memory(size_t n_rows, size_t n_features, size_t n_slots) {
    const double numbers = 1 + (double)n_features;
    return numbers * sizeof(double) + dn_run_sum_memory(n_rows, n_slots, numbers);
}
