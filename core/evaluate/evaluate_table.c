/* A model against a labelled table: target, weights and inputs by name. */
#include "evaluate/evaluate_rows.h"
#include "model/model_impl.h"
#include "task/target.h"
#include "task/weights.h"

#include <math.h>
#include <string.h>

static size_t find_column(const dn_table_source *source, const char *name) {
    for (size_t j = 0; j < source->n_cols; j++) {
        if (strcmp(source->columns[j].name, name) == 0) {
            return j;
        }
    }
    return SIZE_MAX;
}

static dn_status no_column(const char *name, const char *what, dn_error *err) {
    dn_status status =
        dn_error_set(err, DN_ERR_DATA, "the data have no column \"%.128s\", %s", name, what);
    dn_error_set_field(err, name);
    return status;
}

/* What is known of each row of the source. */
struct labels {
    double *index;  /* class, NaN: the row is none */
    double *weight; /* NULL: all 1 */
    uint8_t *role;
};

static void labels_done(struct labels *l, const dn_run *run) {
    dn_run_free(run, l->role);
    dn_run_free(run, l->weight);
    dn_run_free(run, l->index);
}

static dn_status read_labels(const dn_model *model, const dn_table_source *source,
                             const char *truth, const char *weight, const dn_run *run,
                             struct labels *l, dn_error *err) {
    size_t target = truth == NULL ? SIZE_MAX : find_column(source, truth),
           column = weight == NULL ? SIZE_MAX : find_column(source, weight);
    if (truth != NULL && target == SIZE_MAX) {
        return no_column(truth,
                         truth == dn_model_target(model) ? "the model's target"
                                                         : "which has the true classes",
                         err);
    }
    if (weight != NULL && column == SIZE_MAX) {
        return no_column(weight, "which has the rows' weights", err);
    }
    void *index = NULL, *role = NULL, *weights = NULL;
    dn_status status =
        dn_run_alloc(run, source->n_rows, sizeof(double), "the class indexes", &index, err);
    l->index = index;
    if (status == DN_OK) {
        status = dn_run_alloc(run, source->n_rows, 1, "the roles of the rows", &role, err);
    }
    l->role = role;
    if (status == DN_OK && weight != NULL) {
        status = dn_run_alloc(run, source->n_rows, sizeof(double), "the weights", &weights, err);
    }
    l->weight = weights;
    for (size_t i = 0; status == DN_OK && truth == NULL && i < source->n_rows; i++) {
        l->index[i] = 0;
    }
    if (status == DN_OK && truth != NULL) {
        status = dni_target_match(source, target, &model->classes, run, l->index, err);
    }
    if (status == DN_OK && weight != NULL) {
        status = dni_weights_read(source, column, run, l->index, l->weight, err);
    }
    for (size_t i = 0; status == DN_OK && i < source->n_rows; i++) {
        l->role[i] = (uint8_t)(isnan(l->index[i]) ? DN_ROW_SKIP : DN_ROW_VALIDATE);
    }
    return status;
}

dn_status dni_evaluate_table(const dn_model *model, const dn_table_source *source,
                             const dn_evaluate_options *options, const dn_run *run,
                             dn_metrics **out, dn_error *err) {
    struct labels l = {0};
    dn_rows *rows = NULL;
    const char *truth = options->target == NULL ? dn_model_target(model) : options->target;
    dn_status status = read_labels(model, source, truth, options->weight, run, &l, err);
    if (status == DN_OK) {
        status = dn_rows_from_source(source, model->encoder, l.role, DN_ROW_VALIDATE, l.index, NULL,
                                     false, run, &rows, err);
    }
    if (status == DN_OK) {
        const dni_evaluate_input input = {rows, l.weight, l.role, DN_ROW_VALIDATE, options->curves};
        status = dni_evaluate_rows(&input, model, run, out, err);
    }
    dn_rows_free(rows);
    labels_done(&l, run);
    return status;
}

dn_status dn_model_evaluate(const dn_model *model, const dn_table_source *source,
                            const dn_evaluate_options *options, const dn_run *run, dn_metrics **out,
                            dn_error *err) {
    const dn_evaluate_options plain = {0};
    options = options == NULL ? &plain : options;
    if (options->target == NULL && dn_model_target(model) == NULL) {
        return dn_error_set(err, DN_ERR_ARGUMENT,
                            "the model has no target: say which column has the true classes");
    }
    return dni_evaluate_table(model, source, options, run, out, err);
}
