/* Reads weights of rows and computes weights of classes. */
#include "task/weights.h"
#include "base/argument.h"
#include "number/number_text.h"

#include <math.h>

static dn_status bad_column(const char *name, const char *what, dn_error *err) {
    return dni_error_at(dn_error_set(err, DN_ERR_DATA, "weight column \"%.64s\" %s", name, what),
                        name, -1, err);
}

static dn_status bad_row(const char *name, size_t row, double weight, dn_error *err) {
    char number[DN_NUMBER_SIZE];
    dn_status status;
    if (isnan(weight)) {
        status = dn_error_set(err, DN_ERR_DATA,
                              "weight column \"%.64s\", row %zu: the weight is missing; it must be "
                              "a number >= 0 (rows with weight 0 are ignored)",
                              name, row);
    } else if (!(weight >= 0) || isinf(weight)) {
        status = dn_error_set(
            err, DN_ERR_DATA,
            "weight column \"%.64s\", row %zu: a weight must be a finite number >= 0 (got %s)",
            name, row, dni_number_text(weight, number));
    } else {
        status = dn_error_set(err, DN_ERR_DATA,
                              "weight column \"%.64s\", row %zu: a weight must be 0 or from 1e-100 "
                              "to 1e100 (got %s): multiply all weights by "
                              "a number that brings them nearer to 1",
                              name, row, dni_number_text(weight, number));
    }
    return dni_error_at(status, name, (int64_t)row, err);
}

dn_status dni_weights_read(const dn_table_source *source, size_t column, const dn_run *run,
                           double *index, double *weight, dn_error *err) {
    const dn_table_column *from = &source->columns[column];
    double sum = 0;
    bool any = false;
    if (from->type != DN_NUMERIC) {
        return bad_column(from->name, "must be numeric", err);
    }
    for (size_t c = 0; c < source->n_chunks; c++) {
        dn_column_view view;
        dn_status status = dn_run_stop(run, err);
        if (status == DN_OK) {
            status = source->column(source, c, column, 0, &view, err);
        }
        if (status != DN_OK) {
            return status;
        }
        for (size_t i = 0, row = source->chunk_first_row[c]; i < view.n_rows; i++, row++) {
            weight[row] = 0;
            if (isnan(index[row])) {
                continue;
            }
            any = true;
            if (view.number[i] != 0 && !dni_weight_valid(view.number[i])) {
                return bad_row(from->name, row, view.number[i], err);
            }
            weight[row] = view.number[i];
            sum += weight[row];
            if (weight[row] == 0) {
                index[row] = (double)NAN;
            }
        }
    }
    if (any && sum == 0) {
        return bad_column(from->name, "is 0 in all rows: at least one weight must be > 0", err);
    }
    return DN_OK;
}

void dni_class_factors(dn_class_weight kind, const double *given, size_t n_classes,
                       const double *index, const uint8_t *role, const double *weight,
                       size_t n_rows, double *factor) {
    double total = 0;
    for (size_t k = 0; k < n_classes; k++) {
        factor[k] = kind == DN_CLASS_WEIGHT_GIVEN ? given[k] : kind == DN_CLASS_WEIGHT_NONE ? 1 : 0;
    }
    if (kind != DN_CLASS_WEIGHT_BALANCED) {
        return;
    }
    for (size_t i = 0; i < n_rows; i++) {
        if (role[i] != DN_ROW_TRAIN) {
            continue;
        }
        double v = weight == NULL ? 1 : weight[i];
        factor[(size_t)index[i]] += v;
        total += v;
    }
    for (size_t k = 0; k < n_classes; k++) {
        factor[k] = total / ((double)n_classes * factor[k]);
    }
}
