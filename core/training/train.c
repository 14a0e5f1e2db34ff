/* Training from a table: target and weights, split, one fit, metrics, and the fits of a cross-validation. */
#include "base/share.h"
#include "evaluate/evaluate_rows.h"
#include "model/model_impl.h"
#include "task/split.h"
#include "training/constant_inputs.h"
#include "training/crossval.h"
#include "training/fit.h"
#include "training/outliers.h"

#include <math.h>
#include <string.h>

enum { FEW_CLASSES = 10 }; /* with more, most of them of one row, a warning */

struct whole {
    const dn_train_request *request; /* its features as the method asks for them */
    const dn_run *run;
    dni_labels labels;
    dni_split split;
    dni_fit training;
    dni_share share; /* the model's part of the run, when there are folds */
    dn_train_result result;
};

/* ---- what can be said before anything is read ---- */
static dn_status refuse(const char *field, const char *message, dn_error *err) {
    dn_status status = dn_error_set(err, DN_ERR_ARGUMENT, "%s", message);
    dn_error_set_field(err, field);
    return status;
}

static bool has_target(const dn_train_request *r) {
    return r->target != DN_NO_TARGET;
}

static dn_status check_target(const dn_train_request *r, dn_error *err) {
    const bool wanted = (r->params->algorithm->flags & DN_ALGORITHM_TARGET) != 0;
    if (has_target(r) && !wanted) {
        return refuse("target", "the algorithm has no target", err);
    }
    if (wanted && r->target >= r->source->n_cols) {
        return refuse("target", "the target is no column of the table", err);
    }
    if (!has_target(r) && r->class_weight != DN_CLASS_WEIGHT_NONE) {
        return refuse("class_weight", "without a target there are no classes to be weighed", err);
    }
    if (!has_target(r) && r->curves) {
        return refuse("curves", "without a target there is no truth, and no curves", err);
    }
    return DN_OK;
}

static dn_status check_columns(const dn_train_request *r, dn_error *err) {
    if (r->weighted && r->weight >= r->source->n_cols) {
        return refuse("weight", "the weight is no column of the table", err);
    }
    const char *target = has_target(r) ? r->source->columns[r->target].name : "";
    const char *weight = r->weighted ? r->source->columns[r->weight].name : "";
    if (r->weighted && r->weight == r->target) {
        return refuse(weight, "the target cannot be the weight too", err);
    }
    if (r->features.n_columns == 0) {
        return refuse("inputs", "training needs at least one input column", err);
    }
    for (size_t i = 0; i < r->features.n_columns; i++) {
        if (r->features.columns[i] >= r->source->n_cols) {
            return refuse("inputs", "an input is no column of the table", err);
        }
        if (r->features.columns[i] == r->target) {
            return refuse(target, "the target cannot be an input too", err);
        }
        if (r->weighted && r->features.columns[i] == r->weight) {
            return refuse(weight, "the weight cannot be an input too", err);
        }
    }
    return DN_OK;
}

static dn_status check_class_weights(const dn_train_request *r, dn_error *err) {
    dn_status status = DN_OK;
    for (size_t k = 0;
         r->class_weight == DN_CLASS_WEIGHT_GIVEN && status == DN_OK && k < r->n_class_weights;
         k++) {
        if (!(r->class_weights[k] >= 0 && isfinite(r->class_weights[k]))) {
            status = dn_error_set(err, DN_ERR_ARGUMENT,
                                  "a class weight must be a finite number >= 0 (got %g)",
                                  r->class_weights[k]);
        }
    }
    if (status != DN_OK) {
        dn_error_set_field(err, "class_weight");
    }
    return status;
}

static dn_status check_request(const dn_train_request *r, dn_error *err) {
    if (!(r->holdout >= 0 && r->holdout < 1)) {
        return dn_error_set(err, DN_ERR_ARGUMENT, "holdout must be at least 0 and below 1 (got %g)",
                            r->holdout);
    }
    if (r->folds == 1 || r->folds > DN_MAX_FOLDS) {
        return dn_error_set(err, DN_ERR_ARGUMENT, "folds must be 2 … %d, or 0 for none (got %zu)",
                            DN_MAX_FOLDS, r->folds);
    }
    if ((r->holdout > 0) + (r->folds > 0) + (r->validation != NULL) > 1) {
        return dn_error_set(
            err, DN_ERR_ARGUMENT,
            "validation is by a holdout, by folds or by another table, only one of them");
    }
    dn_status status = check_target(r, err);
    if (status == DN_OK) {
        status = check_columns(r, err);
    }
    if (status == DN_OK) {
        status = check_class_weights(r, err);
    }
    return status == DN_OK ? dn_params_check(r->params, err) : status;
}

/* ---- the steps ---- */
static dn_status load(struct whole *t, dn_error *err) {
    const dn_train_request *r = t->request;
    dn_status status = dni_labels_read(r, t->run, &t->labels, err);
    if (status == DN_OK && r->folds > 0) {
        status = dni_folds_check(r, &t->labels, err);
    }
    return status == DN_OK
               ? dni_split_holdout(t->labels.index, r->source->n_rows, t->labels.classes.shown.n,
                                   r->holdout, t->run, t->labels.role, &t->split, err)
               : status;
}

static dn_status calibrate(struct whole *t, dn_error *err) {
    const dn_run *run = t->run;
    if (t->request->folds > 0) {
        dni_share_init(&t->share, run, 0, t->request->folds + 1);
        run = &t->share.run;
    }
    t->training = (dni_fit){.request = t->request, .run = run, .labels = &t->labels};
    return dni_training_calibrate(&t->training, err);
}

static dn_status encode(struct whole *t, dn_error *err) {
    return dni_fit_encode(&t->training, err);
}

static dn_status fit(struct whole *t, dn_error *err) {
    size_t n_classes = t->labels.classes.shown.n, n = t->split.n_train;
    dn_status status = dni_fit_train(&t->training, err);
    if (status == DN_OK) {
        dni_warn_of_constant_inputs(t->training.model, t->request->features.text.min_rows,
                                    &t->training.report);
    }
    if (status == DN_OK && n_classes > FEW_CLASSES && n_classes > n / 2) {
        dn_report_warn(&t->training.report,
                       "there are %zu classes in %zu rows, most with one row only: is \"%.64s\" "
                       "the target that was meant?",
                       n_classes, n, t->request->source->columns[t->request->target].name);
    }
    return status;
}

static void warn_of(struct whole *t, const char *rows, const dn_metrics *metrics) {
    if (metrics != NULL && metrics->warning[0] != '\0') {
        dn_report_warn(&t->training.report, "on the %s rows, %s", rows, metrics->warning);
    }
}

/* The other table's rows weigh what its column of the weight's name says. */
static dn_status validate_table(struct whole *t, dn_error *err) {
    const dn_train_request *r = t->request;
    const char *weight = r->weighted ? r->source->columns[r->weight].name : NULL;
    bool found = false;
    for (size_t j = 0; weight != NULL && j < r->validation->n_cols; j++) {
        found = found || strcmp(r->validation->columns[j].name, weight) == 0;
    }
    if (weight != NULL && !found) {
        dn_report_warn(&t->training.report,
                       "the validation rows have no column \"%.128s\": each of them counts 1",
                       weight);
    }
    const dn_evaluate_options options = {.curves = r->curves, .weight = found ? weight : NULL};
    dn_error why;
    dn_error_clear(&why);
    dn_status status = dni_evaluate_table(t->training.model, r->validation, &options, t->run,
                                          &t->result.validation, &why);
    if (status == DN_OK) {
        t->split.n_validation = (size_t)t->result.validation->rows;
        if (t->split.n_validation == 0) {
            dn_report_warn(
                &t->training.report,
                "no row of the validation data has a %s: there is nothing to validate with",
                has_target(r) ? "class" : "weight above 0");
        }
        return DN_OK;
    }
    bool ours = status == DN_ERR_STOPPED || status == DN_ERR_TIME;
    dn_error_set(err, status, "%s%s", ours ? "" : "validation: ", why.message);
    dn_error_set_field(err, why.field);
    if (why.row >= 0) {
        dn_error_set_row(err, why.row);
    }
    return status;
}

static dn_status validate(struct whole *t, dn_error *err) {
    const dn_train_request *r = t->request;
    if (r->validation != NULL) {
        return validate_table(t, err);
    }
    if (r->holdout == 0) {
        return DN_OK;
    }
    if (t->split.n_validation == 0) {
        dn_report_warn(&t->training.report,
                       "no row was held out: %s too few rows for a holdout of %g",
                       has_target(r) ? "the classes have" : "there are", r->holdout);
        return DN_OK;
    }
    return dni_fit_evaluate(&t->training, DN_ROW_VALIDATE, r->curves, &t->result.validation, err);
}

static dn_status evaluate(struct whole *t, dn_error *err) {
    const dn_train_request *r = t->request;
    dn_status status =
        dni_fit_evaluate(&t->training, DN_ROW_TRAIN, r->curves, &t->result.train, err);
    dni_fit_release_rows(&t->training);
    if (status == DN_OK) {
        status = validate(t, err);
    }
    if (has_target(r)) {
        warn_of(t, "training", t->result.train);
        warn_of(t, "validation", t->result.validation);
    }
    if (status == DN_OK && r->folds > 0) {
        status = dni_folds_run(r, &t->labels, t->run, &t->training.report, &t->result.folds, err);
    }
    if (status == DN_OK) {
        t->result.n_folds = r->folds;
    }
    if (status == DN_OK && !has_target(r)) {
        dni_outliers_tell(&t->result, &t->training.report);
    }
    return status;
}

/* Runs a step and notes how long it took. */
static dn_status timed(struct whole *t, dn_status (*step)(struct whole *, dn_error *),
                       double *seconds, dn_error *err) {
    double start = dn_run_elapsed(t->run);
    dn_status status = step(t, err);
    *seconds = dn_run_elapsed(t->run) - start;
    return status;
}

dn_status dn_train(const dn_train_request *request, const dn_run *run, dn_train_result *out,
                   dn_error *err) {
    dn_train_request own = *request;
    struct whole t = {.request = &own, .run = run};
    double seconds = 0; /* of the calibration, which is part of the fit */
    dn_status status = check_request(request, err);
    if (status == DN_OK) {
        status = dn_params_encoding(request->params, request->source->columns,
                                    request->source->n_rows, &own.features, err);
    }
    if (status != DN_OK) {
        return status;
    }
    status = timed(&t, load, &t.result.seconds_load, err);
    if (status == DN_OK) {
        status = timed(&t, calibrate, &seconds, err);
    }
    if (status == DN_OK) {
        status = timed(&t, encode, &t.result.seconds_encode, err);
    }
    if (status == DN_OK) {
        status = timed(&t, fit, &t.result.seconds_fit, err);
    }
    t.result.seconds_fit += seconds;
    if (status == DN_OK) {
        status = timed(&t, evaluate, &t.result.seconds_evaluate, err);
    }
    if (status == DN_OK) {
        t.result.n_train = t.split.n_train;
        t.result.n_validation = t.split.n_validation;
        t.result.n_skipped = t.split.n_skipped;
        dni_model_settle(t.training.model);
        t.result.model = t.training.model;
        t.result.report = t.training.report;
        t.training.model = NULL;
        t.training.report = (dn_report){0};
        *out = t.result;
    } else {
        dn_train_result_done(&t.result);
    }
    dni_fit_done(&t.training);
    dni_labels_done(&t.labels);
    return status;
}

void dn_train_result_done(dn_train_result *result) {
    dn_model_unref(result->model);
    dn_metrics_free(result->train);
    dn_metrics_free(result->validation);
    dni_folds_free(result->folds, result->n_folds);
    dn_report_done(&result->report);
    result->model = NULL;
    result->train = result->validation = NULL;
    result->folds = NULL;
    result->n_folds = 0;
}
