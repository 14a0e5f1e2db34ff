/* Describes the encoded rows that a machine stores, in the scale of the columns. */
#include "machine/stored_rows.h"
#include "machine/machine_kind.h"

#include <discern/encoder.h>
#include <stdlib.h>

/* Returns the number of features with a mean other than 0. Without standardisation the value of
 * such a feature is not 0 in a sparse row that has no entry for the feature. */
static size_t n_means(const dn_encoder *encoder) {
    const double *mean = dn_encoder_mean(encoder);
    size_t n = 0;
    for (size_t j = 0; mean != NULL && j < dn_encoder_n_features(encoder); j++) {
        n += mean[j] != 0;
    }
    return n;
}

double dni_rows_numbers(dn_matrix x, const dn_encoder *encoder) {
    const double n = (double)x.n_rows;
    if (x.kind == DN_DENSE) {
        return n * (double)x.n_cols;
    }
    return 2 * ((double)x.row_start[x.n_rows] + n * (double)n_means(encoder));
}

static double raw_value(const dn_encoder *encoder, size_t j, double x) {
    const double *mean = dn_encoder_mean(encoder), *scale = dn_encoder_scale(encoder);
    return mean == NULL ? x : mean[j] + scale[j] * x;
}

static dn_status describe_dense(dn_matrix x, const dn_encoder *encoder, const dn_visitor *v,
                                dn_error *err) {
    double *row = dni_machine_numbers_new(x.n_cols);
    if (row == NULL) {
        return dn_error_set(err, DN_ERR_MEMORY, "no memory for a row");
    }
    for (size_t i = 0; i < x.n_rows; i++) {
        for (size_t j = 0; j < x.n_cols; j++) {
            row[j] = raw_value(encoder, j, x.values[i * x.stride + j]);
        }
        dn_visit_vector(v, NULL, row, x.n_cols);
    }
    free(row);
    return DN_OK;
}

/* Merges the entries of each row with the features that have a mean other than 0. */
static dn_status describe_sparse(dn_matrix x, const dn_encoder *encoder, const dn_visitor *v,
                                 dn_error *err) {
    const double *mean = dn_encoder_mean(encoder);
    size_t n = 0;
    uint32_t *with_mean = calloc(n_means(encoder) + 1, sizeof *with_mean);
    if (with_mean == NULL) {
        return dn_error_set(err, DN_ERR_MEMORY, "no memory for a row");
    }
    for (size_t j = 0; mean != NULL && j < x.n_cols; j++) {
        if (mean[j] != 0) {
            with_mean[n++] = (uint32_t)j;
        }
    }
    for (size_t i = 0; i < x.n_rows; i++) {
        size_t e = x.row_start[i], m = 0;
        const size_t end = x.row_start[i + 1];
        v->begin_array(v->ctx, NULL);
        while (e < end || m < n) {
            const size_t a = e < end ? x.cols[e] : SIZE_MAX, b = m < n ? with_mean[m] : SIZE_MAX,
                         j = a <= b ? a : b;
            v->begin_array(v->ctx, NULL);
            v->integer(v->ctx, NULL, (int64_t)j);
            v->number(v->ctx, NULL, raw_value(encoder, j, a <= b ? x.values[e] : 0));
            v->end_array(v->ctx);
            e += a <= b;
            m += b <= a;
        }
        v->end_array(v->ctx);
    }
    free(with_mean);
    return DN_OK;
}

dn_status dni_rows_describe(dn_matrix x, const dn_encoder *encoder, const char *name,
                            const dn_visitor *v, dn_error *err) {
    v->begin_array(v->ctx, name);
    const dn_status status = x.kind == DN_DENSE ? describe_dense(x, encoder, v, err)
                                                : describe_sparse(x, encoder, v, err);
    v->end_array(v->ctx);
    return status;
}
