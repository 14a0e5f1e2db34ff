/* Prediction for an array of the caller. Each tile of rows is copied to raw rows of doubles. */
#include "base/argument.h"
#include "base/layout.h"
#include "encoder/encoder_impl.h"
#include "model/model_impl.h"
#include "number/number_text.h"
#include "table/array.h"

#include <math.h>

/* Number of rows per call of dn_model_predict, which reads the support vectors once per call. */
enum { TILE = 256 };

static dn_status refuse_result(const char *what, dn_error *err) {
    return dn_error_set(err, DN_ERR_ARGUMENT, "the model has no %s", what);
}

static dn_status check_results(const dn_model *m, const dn_prediction *out, dn_error *err) {
    dn_status status = dni_argument_not_null(out, "out", err);
    if (status != DN_OK) {
        return status;
    }
    if (out->probabilities != NULL && !dn_model_has_probabilities(m)) {
        return refuse_result("probabilities", err);
    }
    if ((out->log_density != NULL || out->class_log_density != NULL || out->posterior != NULL) &&
        !dn_model_has_density(m)) {
        return refuse_result("densities", err);
    }
    if (out->contributions != NULL && !dn_model_has_contributions(m)) {
        return refuse_result("contributions", err);
    }
    return dni_argument_struct(out->struct_size, sizeof *out, "out", err);
}

static dn_status check_inputs(const dn_model *m, const dn_array *x, dn_error *err) {
    if (x->n_cols != m->n_inputs) {
        return dn_error_set(err, DN_ERR_ARGUMENT,
                            "x must have %zu columns, one for each input of the model (got %zu)",
                            m->n_inputs, x->n_cols);
    }
    for (size_t j = 0; j < m->n_inputs; j++) {
        const dn_input *input = dn_encoder_input(m->encoder, j);
        if (input->type == DN_TEXT || input->type == DN_SPARSE) {
            return dni_error_at(
                dn_error_set(err, DN_ERR_ARGUMENT,
                             "input \"%.64s\" is a %s column, but an array has only numbers",
                             input->name, dn_column_type_name(input->type)),
                input->name, -1, err);
        }
    }
    return DN_OK;
}

/* Reports a value that is invalid for its input. */
static dn_status refuse_value(const dn_input *input, size_t row, double value, const char *rule,
                              dn_error *err) {
    char number[DN_NUMBER_SIZE];
    return dni_error_at(dn_error_set(err, DN_ERR_DATA, "row %zu, input \"%.64s\": %s (got %s)", row,
                                     input->name, rule, dni_number_text(value, number)),
                        input->name, (int64_t)row, err);
}

static dn_status check_value(const dn_model *m, size_t j, size_t row, double value, dn_error *err) {
    const dn_input *input = dn_encoder_input(m->encoder, j);
    if (isnan(value)) {
        const bool refused = input->type != DN_CATEGORICAL && m->encoder->refuse_missing;
        return refused ? refuse_value(input, row, value, "a value must not be missing", err)
                       : DN_OK;
    }
    if (isinf(value)) {
        return refuse_value(input, row, value, "a value must be finite", err);
    }
    if (input->type != DN_CATEGORICAL) {
        return DN_OK;
    }
    if (value == DN_UNSEEN) {
        return dn_encoder_refuses_unseen(m->encoder)
                   ? refuse_value(input, row, value,
                                  "the category must be one of the training rows", err)
                   : DN_OK;
    }
    return value >= 0 && value < (double)input->levels.n && value == floor(value)
               ? DN_OK
               : refuse_value(input, row, value, "the value must be the index of a category", err);
}

/* Copies rows first … first + n - 1 of x to raw [n × n_inputs]. */
static dn_status copy_rows(const dn_model *m, const dn_array *x, size_t first, size_t n,
                           double *raw, dn_error *err) {
    for (size_t i = 0; i < n; i++) {
        double *row = raw + i * m->n_inputs;
        (void)dni_array_row(x, first + i, row);
        for (size_t j = 0; j < m->n_inputs; j++) {
            dn_status status = check_value(m, j, first + i, row[j], err);
            if (status != DN_OK) {
                return status;
            }
        }
    }
    return DN_OK;
}

/* Returns the result arrays, starting at row `first`. */
static dn_prediction results_from(const dn_model *m, const dn_prediction *out, size_t first) {
    const size_t K = m->classes.view.n, S = m->n_scores;
    dn_prediction part = *out;
#define FROM(member, width)                                                                        \
    if (part.member != NULL) {                                                                     \
        part.member += first * (width);                                                            \
    }
    FROM(label, 1)
    FROM(probabilities, K)
    FROM(scores, S)
    FROM(candidates, K)
    FROM(distance, 1)
    FROM(contributions, S * m->n_features)
    FROM(log_density, 1)
    FROM(out_of_support, 1)
    FROM(class_log_density, K)
    FROM(posterior, K)
#undef FROM
    return part;
}

static dn_status predict_tile(const dn_model *m, const double *raw, size_t first, size_t n,
                              double *workspace, const dn_prediction *out, dn_error *err) {
    const dn_prediction part = results_from(m, out, first);
    const dn_raw_rows rows = dn_raw_numbers(raw, n);
    const size_t done = dn_model_predict(m, rows, workspace, &part);
    if (done == n) {
        return DN_OK;
    }
    char why[DN_MESSAGE_SIZE];
    dn_model_predict_why(m, rows, done, why);
    return dni_error_at(dn_error_set(err, DN_ERR_NUMERIC, "row %zu %.400s", first + done, why),
                        NULL, (int64_t)(first + done), err);
}

static dn_status check_arguments(const dn_model *m, const dn_array *x, const dn_prediction *out,
                                 const dn_run *run, dn_error *err) {
    dn_status status = dni_argument_not_null(m, "model", err);
    if (status != DN_OK) {
        return status;
    }
    status = dni_array_check(x, err);
    if (status != DN_OK) {
        return status;
    }
    status = check_results(m, out, err);
    if (status != DN_OK) {
        return status;
    }
    status = check_inputs(m, x, err);
    return status == DN_OK ? dni_argument_run(run, err) : status;
}

struct work {
    double *raw; /* [tile × n_inputs] */
    double *workspace;
};

struct shape {
    size_t tile, n_inputs, workspace;
};

static void work_layout(dni_layout *layout, const void *shape, void *out) {
    const struct shape *s = shape;
    struct work *w = out;
    w->raw = dni_layout_matrix(layout, s->tile, s->n_inputs);
    w->workspace = dni_layout_doubles(layout, s->workspace);
}

dn_status dn_model_predict_rows(const dn_model *m, const dn_array *x, const dn_prediction *out,
                                const dn_run *run, dn_error *err) {
    dn_status status = check_arguments(m, x, out, run, err);
    if (status != DN_OK) {
        return status;
    }
    const size_t tile = x->n_rows < TILE ? x->n_rows : TILE;
    const struct shape shape = {tile, m->n_inputs, dn_model_workspace(m)};
    struct work work;
    void *memory = NULL;
    status = dni_layout_take(run, work_layout, &shape, &work, "the prediction", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t first = 0; first < x->n_rows; first += tile) {
        const size_t n = x->n_rows - first < tile ? x->n_rows - first : tile;
        status = dn_run_stop(run, err);
        if (status != DN_OK) {
            goto cleanup;
        }
        status = copy_rows(m, x, first, n, work.raw, err);
        if (status != DN_OK) {
            goto cleanup;
        }
        status = predict_tile(m, work.raw, first, n, work.workspace, out, err);
        if (status != DN_OK) {
            goto cleanup;
        }
    }
cleanup:
    dn_run_free(run, memory);
    return status;
}
