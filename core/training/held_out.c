/* Evaluation of a model on the validation rows of another training. The validation rows are
 * selected from the request and the seed in the same way as in dn_train. */
#include "base/argument.h"
#include "evaluate/evaluate_table.h"
#include "model/model_impl.h"
#include "task/division.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static dn_status check_classes(const dn_model *model, const dn_train_request *r,
                               const dni_labels *labels, dn_error *err) {
    const char *target = r->source->columns[r->target].name;
    const dn_classes *own = dn_model_classes(model), *wanted = &labels->classes.view;
    if (dni_classes_equal(own, wanted)) {
        return DN_OK;
    }
    if ((own->number == NULL) != (wanted->number == NULL)) {
        return dni_error_at(dn_error_set(err, DN_ERR_DATA,
                                         "its classes are %s, but those of \"%.64s\" are %s",
                                         dn_column_type_name(own->type), target,
                                         dn_column_type_name(wanted->type)),
                            target, -1, err);
    }
    for (size_t k = 0; k < wanted->n; k++) {
        const char *name = labels->class_name[k];
        if (dni_classes_find_text(&model->classes, name, strlen(name)) == SIZE_MAX) {
            return dni_error_at(dn_error_set(err, DN_ERR_DATA,
                                             "it has no class \"%.64s\" (column \"%.64s\")", name,
                                             target),
                                target, -1, err);
        }
    }
    return dni_error_at(
        dn_error_set(err, DN_ERR_DATA,
                     "it has %zu classes, but column \"%.64s\" has only %zu of them", own->n,
                     target, wanted->n),
        target, -1, err);
}

static dn_status check(const dn_model *model, const dn_train_request *r,
                       const dn_table_source *source, const dn_run *run, dn_error *err) {
    if (model == NULL || r == NULL) {
        return dni_argument_null(model == NULL ? "model" : "request", err);
    }
    dn_status status = dni_argument_struct(r->struct_size, sizeof *r, "request", err);
    if (status == DN_OK) {
        status = dni_argument_source(r->source, "request->source", err);
    }
    if (status == DN_OK) {
        status = dni_argument_source(source, "source", err);
    }
    if (status == DN_OK) {
        status = dni_argument_run(run, err);
    }
    if (status != DN_OK) {
        return status;
    }
    if (r->target == DN_NO_TARGET ||
        (r->holdout == 0 && r->folds == 0 && r->validation == NULL && !r->marked)) {
        return dn_error_set(err, DN_ERR_ARGUMENT, "the training has no %s",
                            r->target == DN_NO_TARGET ? "target" : "validation rows");
    }
    if (source->n_rows != (r->validation == NULL ? r->source : r->validation)->n_rows) {
        return dn_error_set(err, DN_ERR_ARGUMENT, "the source must have the rows of the training");
    }
    const char *own = dn_model_target(model), *target = r->source->columns[r->target].name;
    if (own == NULL || strcmp(own, target) != 0) {
        return dni_error_at(own == NULL
                                ? dn_error_set(err, DN_ERR_DATA, "it was trained without a target")
                                : dn_error_set(err, DN_ERR_DATA,
                                               "its target is \"%.64s\", not \"%.64s\"", own,
                                               target),
                            target, -1, err);
    }
    return DN_OK;
}

/* Evaluates the model on the rows with DN_ROW_VALIDATE. */
static dn_status evaluate(const dn_model *model, const dni_labels *l, const dn_table_source *source,
                          const dn_run *run, dn_metrics **out, dn_error *err) {
    dn_rows *rows = NULL;
    dn_status status = dn_rows_from_source(source, model->encoder, l->role, DN_ROW_VALIDATE,
                                           l->stratum, NULL, false, run, &rows, err);
    if (status != DN_OK) {
        return status;
    }
    const dni_evaluate_input input = {.rows = rows,
                                      .weight = l->weight,
                                      .role = l->role,
                                      .wanted = DN_ROW_VALIDATE};
    status = dni_evaluate_rows(&input, model, run, out, err);
    dn_rows_free(rows);
    return status;
}

/* Evaluates the model on the rows that DN_LEAVE_ONE_OUT holds out, one after the other. */
static dn_status evaluate_each(const dn_model *model, dni_labels *l, const dn_table_source *source,
                               const dn_run *run, dn_metrics **out, dn_error *err) {
    for (size_t i = 0; i < source->n_rows; i++) {
        const bool held_out = !isnan(l->stratum[i]) && l->count[(size_t)l->stratum[i]] > 1;
        l->role[i] = (uint8_t)(held_out ? DN_ROW_VALIDATE : DN_ROW_SKIP);
    }
    return evaluate(model, l, source, run, out, err);
}

/* Evaluates the model on each fold. out [dni_division_fits]: NULL on entry; receives the
 * metrics. */
static dn_status evaluate_folds(const dn_model *model, const dn_train_request *r, dni_labels *l,
                                const dn_table_source *source, const dn_run *run, dn_metrics **out,
                                dn_error *err) {
    const size_t n = r->source->n_rows;
    void *memory = NULL;
    dn_status status =
        dn_run_alloc(run, n, sizeof(uint16_t), "the folds of the rows", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    uint16_t *fold = memory;
    for (size_t f = 0; f < dni_division_fits(r) && status == DN_OK; f++) {
        if (f % r->folds == 0) {
            status = dni_division_folds(r, f / r->folds, run, l, fold, err);
        }
        for (size_t i = 0; i < n; i++) {
            l->role[i] =
                (uint8_t)(isnan(l->stratum[i]) || fold[i] != f % r->folds ? DN_ROW_SKIP
                                                                          : DN_ROW_VALIDATE);
        }
        if (status == DN_OK) {
            status = evaluate(model, l, source, run, &out[f], err);
        }
    }
    dn_run_free(run, memory);
    return status;
}

static dn_status evaluate_table(const dn_model *model, const dn_train_request *r,
                                const dn_table_source *source, const dn_run *run, dn_metrics **out,
                                dn_error *err) {
    const char *weight = r->weighted ? r->source->columns[r->weight].name : NULL;
    if (weight != NULL && dni_source_column(r->validation, weight) == SIZE_MAX) {
        weight = NULL;
    }
    const dn_evaluate_options options = {.weight = weight};
    return dn_model_evaluate(model, source, &options, run, out, err);
}

dn_status dn_model_evaluate_held_out(const dn_model *model, const dn_train_request *r,
                                     const dn_table_source *source, const dn_run *run,
                                     dn_metrics **out, dn_error *err) {
    const dn_run fallback = dn_run_default();
    dni_labels l = {0};
    dni_split split;
    dn_status status = check(model, r, source, run, err);
    if (status == DN_OK) {
        status = dni_argument_not_null(out, "out", err);
    }
    if (status != DN_OK) {
        return status;
    }
    const size_t n_out = r->folds > 0 && r->folds != DN_LEAVE_ONE_OUT ? dni_division_fits(r) : 1;
    run = run == NULL ? &fallback : run;
    dn_metrics **metrics = calloc(n_out, sizeof *metrics);
    if (metrics == NULL) {
        return dn_error_set(err, DN_ERR_MEMORY, "no memory for the metrics of %zu folds", n_out);
    }
    status = dni_labels_read(r, run, &l, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    status = check_classes(model, r, &l, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    if (r->validation != NULL) {
        status = evaluate_table(model, r, source, run, &metrics[0], err);
    } else if (r->folds == DN_LEAVE_ONE_OUT) {
        status = evaluate_each(model, &l, source, run, &metrics[0], err);
    } else if (r->folds > 0) {
        status = evaluate_folds(model, r, &l, source, run, metrics, err);
    } else {
        status = dni_division_holdout(r, run, &l, &split, err);
        status = status == DN_OK ? evaluate(model, &l, source, run, &metrics[0], err) : status;
    }
cleanup:
    dni_labels_done(&l);
    for (size_t i = 0; i < n_out; i++) {
        if (status == DN_OK) {
            out[i] = metrics[i];
        } else {
            dn_metrics_free(metrics[i]);
        }
    }
    free(metrics);
    return status;
}
