/* Evaluation of a model on a table: target, weights and inputs are found by name. */
#include "evaluate/evaluate_table.h"
#include "base/argument.h"
#include "base/layout.h"
#include "model/model_impl.h"
#include "task/target.h"
#include "task/weights.h"

#include <math.h>
#include <string.h>

size_t dni_source_column(const dn_table_source *source, const char *name) {
    for (size_t j = 0; j < source->n_cols; j++) {
        if (strcmp(source->columns[j].name, name) == 0) {
            return j;
        }
    }
    return SIZE_MAX;
}

static dn_status no_column(const char *name, const char *what, dn_error *err) {
    return dni_error_at(dn_error_set(err, DN_ERR_DATA, "the data have no column \"%.128s\", %s",
                                     name, what),
                        name, -1, err);
}

struct shape {
    size_t n_rows;
    bool weighted;
};

static void labels_layout(dni_layout *layout, const void *shape, void *out) {
    const struct shape *s = shape;
    dni_model_labels *l = out;
    l->index = dni_layout_doubles(layout, s->n_rows);
    l->weight = s->weighted ? dni_layout_doubles(layout, s->n_rows) : NULL;
    l->role = dni_layout_array(layout, s->n_rows, sizeof *l->role);
}

double dni_evaluate_table_memory(size_t n_rows, bool weighted) {
    const struct shape shape = {n_rows, weighted};
    dni_model_labels labels;
    return dni_layout_bytes(labels_layout, &shape, &labels);
}

dn_status dni_model_labels_read(const dn_model *model, const dn_table_source *source,
                                const char *truth, const char *weight, const dn_run *run,
                                dni_model_labels *l, dn_error *err) {
    const size_t target = truth == NULL ? SIZE_MAX : dni_source_column(source, truth),
                 column = weight == NULL ? SIZE_MAX : dni_source_column(source, weight);
    if (truth != NULL && target == SIZE_MAX) {
        return no_column(truth,
                         truth == dn_model_target(model) ? "the model's target"
                                                         : "the column of the true classes",
                         err);
    }
    if (weight != NULL && column == SIZE_MAX) {
        return no_column(weight, "the column of the row weights", err);
    }
    const struct shape shape = {source->n_rows, weight != NULL};
    dn_status status = dni_layout_take(run, labels_layout, &shape, l,
                                       "the class indexes and weights", &l->memory, err);
    if (status != DN_OK) {
        return status;
    }
    if (truth != NULL) {
        status = dni_target_match(source, target, &model->classes, run, l->index, err);
        if (status != DN_OK) {
            return status;
        }
    }
    if (weight != NULL) {
        status = dni_weights_read(source, column, run, l->index, l->weight, err);
        if (status != DN_OK) {
            return status;
        }
    }
    for (size_t i = 0; i < source->n_rows; i++) {
        l->role[i] = (uint8_t)(isnan(l->index[i]) ? DN_ROW_SKIP : DN_ROW_VALIDATE);
    }
    return DN_OK;
}

dn_status dni_labelled_roles(const dn_model *model, const dn_table_source *source,
                             const dn_evaluate_options *options, const dn_run *run, uint8_t *role,
                             dn_error *err) {
    dni_model_labels l = {0};
    const dn_status status =
        dni_model_labels_read(model, source,
                              options->target == NULL ? dn_model_target(model) : options->target,
                              options->weight, run, &l, err);
    if (status == DN_OK) {
        memcpy(role, l.role, source->n_rows * sizeof *role);
    }
    dn_run_free(run, l.memory);
    return status;
}

/* Computes the metrics if the rows have true classes (`truth` names their column); otherwise
 * counts the outliers. */
static dn_status evaluate(const dn_model *model, const dn_table_source *source, const char *truth,
                          const dn_evaluate_options *options, dni_row_sink *sink, const dn_run *run,
                          dn_metrics **out_metrics, dni_outlier_count *out_count, dn_error *err) {
    dni_model_labels l = {0};
    dn_rows *rows = NULL;
    dn_status status = dni_model_labels_read(model, source, truth, options->weight, run, &l, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    status = dn_rows_from_source(source, model->encoder, l.role, DN_ROW_VALIDATE,
                                 truth == NULL ? NULL : l.index, NULL, false, run, &rows, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    const dni_evaluate_input input = {.rows = rows,
                                      .weight = l.weight,
                                      .role = l.role,
                                      .wanted = DN_ROW_VALIDATE,
                                      .curves = options->curves,
                                      .labels = options->labels,
                                      .sink = sink,
                                      .rule = options->rule};
    status = truth == NULL ? dni_count_outliers(&input, model, run, out_count, err)
                           : dni_evaluate_rows(&input, model, run, out_metrics, err);
cleanup:
    dn_rows_free(rows);
    dn_run_free(run, l.memory);
    return status;
}

dn_status dni_count_outliers_table(const dn_model *model, const dn_table_source *source,
                                   const char *weight, const dn_run *run, dni_outlier_count *out,
                                   dn_error *err) {
    const dn_evaluate_options options = {.weight = weight};
    return evaluate(model, source, NULL, &options, NULL, run, NULL, out, err);
}

dn_status dn_model_evaluate(const dn_model *model, const dn_table_source *source,
                            const dn_evaluate_options *options, const dn_run *run, dn_metrics **out,
                            dn_error *err) {
    if (model == NULL || out == NULL) {
        return dni_argument_null(model == NULL ? "model" : "out", err);
    }
    dn_status status = dni_argument_call(source, run, options == NULL ? 0 : options->struct_size,
                                         sizeof *options, err);
    if (status != DN_OK) {
        return status;
    }
    const dn_evaluate_options plain = {0};
    options = options == NULL ? &plain : options;
    const char *truth = options->target == NULL ? dn_model_target(model) : options->target;
    if (truth == NULL) {
        return dn_error_set(err, DN_ERR_ARGUMENT,
                            "the model has no target: set the column of the true classes");
    }
    return evaluate(model, source, truth, options, NULL, run, out, NULL, err);
}

dn_status dni_model_evaluate_rows(const dn_model *model, const dn_table_source *source,
                                  const dn_evaluate_options *options, dni_row_sink *sink,
                                  const dn_run *run, dn_metrics **out, dn_error *err) {
    const char *truth = options->target == NULL ? dn_model_target(model) : options->target;
    return evaluate(model, source, truth, options, sink, run, out, NULL, err);
}
