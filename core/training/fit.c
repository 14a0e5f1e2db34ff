/* The steps of one fit: encoder, rows, machines, model and evaluation. */
#include "training/fit.h"
#include "base/argument.h"
#include "machine/machine_dispatch.h"
#include "model/calibration.h"
#include "model/model_impl.h"
#include "number/number_text.h"
#include "statistics/feature_means.h"
#include "statistics/fit_statistics.h"
#include "task/weights.h"
#include "training/constant_inputs.h"
#include "training/fit_machines.h"
#include "training/training_memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void dni_evaluation_done(dni_evaluation *evaluation) {
    dn_metrics_free(evaluation->metrics);
    *evaluation = (dni_evaluation){0};
}

static dn_status refuse_product(size_t row, double weight, const char *class_name, double factor,
                                dn_error *err) {
    char of_row[DN_NUMBER_SIZE], of_class[DN_NUMBER_SIZE];
    return dni_error_at(
        dn_error_set(err, DN_ERR_DATA,
                     "row %zu: its weight %s times the weight %s of class \"%.64s\" must be from "
                     "1e-100 to 1e100",
                     row, dni_number_text(weight, of_row), dni_number_text(factor, of_class),
                     class_name),
        "class_weight", (int64_t)row, err);
}

/* Sets labels->value to weight × class weight in training rows and to 0 in other rows. Without
 * class weights it has no effect. */
static dn_status set_values(const dni_fit *fit, dn_error *err) {
    const dn_train_request *r = fit->request;
    const dni_labels *l = fit->labels;
    const size_t n = r->source->n_rows, K = l->n_strata;
    if (l->value == NULL) {
        return DN_OK;
    }
    double *factor = malloc(K * sizeof *factor);
    if (factor == NULL) {
        return dn_error_set(err, DN_ERR_MEMORY, "no memory for the weights of %zu classes", K);
    }
    dni_class_factors(r->class_weight, r->class_weights, K, l->stratum, l->role, l->weight, n,
                      factor);
    dn_status status = DN_OK;
    for (size_t i = 0; i < n && status == DN_OK; i++) {
        l->value[i] = 0;
        if (l->role[i] != DN_ROW_TRAIN) {
            continue;
        }
        const size_t k = (size_t)l->stratum[i];
        const double weight = l->weight == NULL ? 1 : l->weight[i];
        l->value[i] = weight * factor[k];
        if (!dni_weight_valid(l->value[i])) {
            status = refuse_product(i, weight, l->class_name[k], factor[k], err);
        }
    }
    free(factor);
    return status;
}

/* Returns the number of bytes that must remain available when the rows are in memory. */
static double reserve_of(const dni_fit *fit, const dni_prepared *p) {
    const dni_labels *l = fit->labels;
    const double ranking =
        l->task->has_truth ? dni_ranking_memory(p->n_rows, p->n_classes, l->weight != NULL) : 0;
    return ranking +
           dni_fit_reserve(fit->request, p->n_rows, p->encoder, p->n_classes, fit->run->n_slots);
}

/* Returns dn_fit_input.rows_per_weight: n_rows/Σv of the training rows; 1 without weights and with
 * DN_WEIGHTS_FREQUENCIES. */
static double rows_per_weight(dn_weights meaning, const dni_prepared *p) {
    double sum = 0;
    if (p->weight == NULL || meaning == DN_WEIGHTS_FREQUENCIES) {
        return 1;
    }
    for (size_t i = 0; i < p->source->n_rows; i++) {
        sum += p->role[i] == DN_ROW_TRAIN ? p->weight[i] : 0;
    }
    return sum > 0 ? (double)p->n_rows / sum : 1;
}

static dn_status prepare(const dni_fit *fit, dni_prepared *prepared, dn_error *err) {
    const dn_train_request *r = fit->request;
    const dni_labels *l = fit->labels;
    dn_encoder_spec spec = r->features;
    spec.target = dni_labels_target(l);
    spec.n_classes = l->n_strata;
    prepared->source = r->source;
    prepared->role = l->role;
    prepared->index = spec.target;
    prepared->weight = l->value == NULL ? l->weight : l->value;
    prepared->n_classes = dni_labels_n_classes(l);
    prepared->class_names = l->class_name;
    for (size_t i = 0; i < r->source->n_rows; i++) {
        prepared->n_rows += l->role[i] == DN_ROW_TRAIN;
    }
    prepared->rows_per_weight = rows_per_weight(r->weights, prepared);
    dn_status status = dn_encoder_fit(r->source, &spec, l->role, prepared->weight, fit->run,
                                      &prepared->encoder, err);
    if (status != DN_OK) {
        return status;
    }
    prepared->reserve = reserve_of(fit, prepared);
    return dni_prepared_rows(prepared, r->params, fit->run, err);
}

dn_status dni_fit_encode(dni_fit *fit, dn_error *err) {
    dni_prepared *prepared;
    if (fit->prepared != NULL) {
        return DN_OK;
    }
    dn_status status = set_values(fit, err);
    if (status != DN_OK) {
        return status;
    }
    status = dni_prepared_new(&prepared, err);
    if (status != DN_OK) {
        return status;
    }
    status = prepare(fit, prepared, err);
    if (status != DN_OK) {
        dni_prepared_unref(prepared);
        return status;
    }
    fit->prepared = prepared;
    return DN_OK;
}

/* Creates the model from the machines. Its parameters are resolved: "auto" is replaced by a
 * number. */
static dn_status make_model(dni_fit *fit, dn_machine **machines, size_t n_machines,
                            dni_statistics *statistics, double *feature_mean, dn_error *err) {
    const dn_train_request *r = fit->request;
    const char *target = fit->labels->task->has_truth ? r->source->columns[r->target].name : "";
    const dn_decision decision = dn_params_decision(r->params);
    dni_classes classes = {0};
    dn_params *used = NULL;
    dn_status status = dn_params_copy(r->params, &used, err);
    if (status != DN_OK) {
        return status;
    }
    status = dn_params_resolve(used, fit->prepared->rows->n_rows, fit->prepared->rows->n_cols,
                               decision == DN_DECISION_NATIVE ? fit->prepared->n_classes : 2, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    status = dni_classes_copy(&fit->labels->classes, &classes, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    const dni_model_parts parts = {.params = used,
                                   .seed = fit->run->seed,
                                   .target = target,
                                   .target_length = strlen(target),
                                   .classes = &classes,
                                   .encoder = dn_encoder_ref(fit->prepared->encoder),
                                   .decision = decision,
                                   .machines = machines,
                                   .n_machines = n_machines,
                                   .calibration = fit->calibration,
                                   .statistics = statistics,
                                   .feature_mean = feature_mean};
    status = dni_model_new(&parts, &fit->model, err);
    if (status == DN_OK) {
        fit->calibration = NULL; /* the model owns it */
    } else {
        dn_encoder_unref(parts.encoder);
    }
cleanup:
    dn_params_free(used);
    if (status != DN_OK) {
        dni_classes_done(&classes);
    }
    return status;
}

/* *out ← the statistics of the weights; NULL: the method has none, or the caller wants none. */
static dn_status compute_statistics(const dni_fit *fit, dn_machine *const *machines,
                                    dni_statistics **out, dn_error *err) {
    const dni_prepared *p = fit->prepared;
    const dn_fit_input input = {.rows = p->rows,
                                .n_classes = p->n_classes,
                                .params = fit->request->params,
                                .mean = dn_encoder_mean(p->encoder),
                                .scale = dn_encoder_scale(p->encoder),
                                .encoder = p->encoder,
                                .class_names = p->class_names};
    bool separable = false;
    for (size_t i = 0; i < fit->report.n_warnings; i++) {
        separable = separable || fit->report.warnings[i].code == DN_WARNING_SEPARABLE;
    }
    *out = NULL;
    return fit->statistics
               ? dni_statistics_compute(&input, machines[0], separable, fit->run, out, err)
               : DN_OK;
}

/* *out ← the means of the raw features; NULL: the machines have no contributions, or the caller
 * wants no statistics. */
static dn_status compute_means(const dni_fit *fit, const dn_machine *machine, double **out,
                               dn_error *err) {
    const dni_prepared *p = fit->prepared;
    const size_t d = p->rows->n_cols;
    *out = NULL;
    if (!fit->statistics || !dni_machine_has_contributions(machine)) {
        return DN_OK;
    }
    *out = malloc((d + 1) * sizeof **out);
    if (*out == NULL) {
        return dn_error_set(err, DN_ERR_MEMORY, "no memory for the means of %zu features", d);
    }
    return dni_feature_means_compute(p->rows, p->encoder,
                                     fit->request->features.missing_number !=
                                         DN_MISSING_FREQUENT_NUMBER,
                                     fit->run, *out, err);
}

dn_status dni_fit_train(dni_fit *fit, dn_error *err) {
    dn_machine **machines;
    size_t n_machines;
    dni_statistics *statistics = NULL;
    double *feature_mean = NULL;
    const dni_fit_reuse reuse = {.start = fit->start == NULL ? NULL : fit->start->machines,
                                 .kernel = fit->kernel,
                                 .quick = fit->quick};
    dn_status status = dni_fit_machines(fit->prepared, fit->request->params, &reuse, fit->run,
                                        &machines, &n_machines, &fit->report, err);
    if (status != DN_OK) {
        return status;
    }
    dni_clear_constant_weights(fit->prepared->encoder, machines, n_machines);
    dn_report_text(&fit->report, "rows", fit->prepared->streamed ? "streamed" : "in memory");
    status = compute_statistics(fit, machines, &statistics, err);
    if (status == DN_OK) {
        status = compute_means(fit, machines[0], &feature_mean, err);
    }
    if (status == DN_OK) {
        status = make_model(fit, machines, n_machines, statistics, feature_mean, err);
    }
    if (status != DN_OK) {
        free(feature_mean);
        dni_statistics_free(statistics);
        dni_machines_free(machines, n_machines);
    }
    return status;
}

dn_status dni_fit_model(dni_fit *fit, dn_error *err) {
    dn_status status = dni_fit_encode(fit, err);
    if (status != DN_OK) {
        return status;
    }
    status = dni_fit_train(fit, err);
    dni_fit_release_rows(fit);
    return status;
}

/* *out ← the rows with a role, encoded from the source. */
static dn_status encode_rows(const dni_fit *fit, enum dn_row_role role, dn_rows **out,
                             dn_error *err) {
    const dni_labels *l = fit->labels;
    return dn_rows_from_source(fit->request->source, fit->model->encoder, l->role, role,
                               dni_labels_target(l), NULL, false, fit->run, out, err);
}

static dni_evaluate_input evaluated(const dni_fit *fit, const dn_rows *rows, enum dn_row_role role,
                                    bool curves) {
    const bool held_out = role == DN_ROW_VALIDATE;
    return (dni_evaluate_input){.rows = rows,
                                .weight = fit->labels->weight,
                                .role = fit->labels->role,
                                .wanted = (uint8_t)role,
                                .curves = curves,
                                .held_out = held_out ? fit->held_out : NULL,
                                .pool = held_out ? fit->pool : NULL,
                                .pool_curves = fit->request->curves};
}

dn_status dni_fit_evaluate(const dni_fit *fit, enum dn_row_role role, bool curves,
                           dni_evaluation *out, dn_error *err) {
    dn_rows *encoded = NULL;
    const bool prepared = role == DN_ROW_TRAIN && fit->prepared != NULL;
    if (!prepared) {
        dn_status status = encode_rows(fit, role, &encoded, err);
        if (status != DN_OK) {
            return status;
        }
    }
    const dni_evaluate_input input =
        evaluated(fit, prepared ? fit->prepared->rows : encoded, role, curves);
    *out = (dni_evaluation){0};
    dn_status status = fit->labels->task->has_truth
                           ? dni_evaluate_rows(&input, fit->model, fit->run, &out->metrics, err)
                           : dni_count_outliers(&input, fit->model, fit->run, &out->outliers, err);
    dn_rows_free(encoded);
    return status;
}

dn_status dni_fit_add_held_out(const dni_fit *fit, dn_error *err) {
    dn_rows *held_out = NULL;
    dn_status status = encode_rows(fit, DN_ROW_VALIDATE, &held_out, err);
    if (status != DN_OK) {
        return status;
    }
    const dni_evaluate_input input = evaluated(fit, held_out, DN_ROW_VALIDATE, false);
    status = dni_evaluate_add(&input, fit->model, fit->run, err);
    dn_rows_free(held_out);
    return status;
}

void dni_fit_release_rows(dni_fit *fit) {
    dni_prepared_unref(fit->prepared);
    fit->prepared = NULL;
}

void dni_fit_done(dni_fit *fit) {
    dni_fit_release_rows(fit);
    dn_model_unref(fit->model);
    dni_calibration_free(fit->calibration);
    dn_report_done(&fit->report);
    *fit = (dni_fit){0};
}
