/* Training from a table: reads target and weights, splits the rows, makes one fit, evaluates the
 * model, and cross-validates. */
#include "base/argument.h"
#include "base/group.h"
#include "base/share.h"
#include "evaluate/evaluate_table.h"
#include "model/conformal.h"
#include "model/model_impl.h"
#include "number/number_text.h"
#include "task/division.h"
#include "task/target.h"
#include "task/weights.h"
#include "training/calibration/calibrate.h"
#include "training/constant_inputs.h"
#include "training/crossval.h"
#include "training/fold_classes.h"
#include "training/folds.h"
#include "training/outlier_report.h"
#include "training/train_members.h"
#include "training/unseen_categories.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A warning is given if there are more classes than this, and more than half as many classes as
 * training rows: the target is probably the wrong column. */
enum { FEW_CLASSES = 10 };

/* The phases of a training whose durations are reported. */
enum phase { LOAD, ENCODE, FIT, EVALUATE, N_PHASES };

/* Predictions for the rows of the validation table, from which sets of labels are calibrated. */
struct table_rows {
    size_t n, n_classes;
    double *p;       /* [n × n_classes] */
    uint32_t *truth; /* [n] */
    void *memory;
};

struct training {
    /* the caller's request with the encoding that the algorithm requires and, instead of
     * DN_LEAVE_ONE_OUT, the number of folds */
    dn_train_request request_used;
    const dn_train_request *request; /* &request_used */
    bool leave_one_out;
    const dn_run *run;
    dni_labels labels;
    dni_split split;
    dni_fit fit;
    dni_share share; /* the part of the run for the fit of the model; used if there are folds */
    dni_calibrated calibrated;
    dni_evaluation train, validation;
    bool has_validation;
    dni_evaluation *folds; /* [dni_division_fits] */
    dni_pool pool;         /* of the rows of all folds */
    dn_held_out *held_out; /* NULL: the predictions of held-out rows are not kept */
    struct table_rows table;
    double seconds[N_PHASES];
    dn_train_result result;
};

/* ---- checks of the request, before the source is read ---- */
static dn_status check_columns(const dn_train_request *r, dn_error *err) {
    if (r->weighted && r->weight >= r->source->n_cols) {
        return dni_request_refuse("weight", "the weight must be a column of the table", err);
    }
    const char *target = r->target == DN_NO_TARGET ? "" : r->source->columns[r->target].name;
    const char *weight = r->weighted ? r->source->columns[r->weight].name : "";
    if (r->weighted && r->weight == r->target) {
        return dni_request_refuse(weight, "the target must not be the weight column", err);
    }
    if (r->features.n_columns == 0) {
        return dni_request_refuse("inputs", "training needs at least one input column", err);
    }
    for (size_t i = 0; i < r->features.n_columns; i++) {
        if (r->features.columns[i] >= r->source->n_cols) {
            return dni_request_refuse("inputs", "an input must be a column of the table", err);
        }
        if (r->features.columns[i] == r->target) {
            return dni_request_refuse(target, "the target must not be an input", err);
        }
        if (r->weighted && r->features.columns[i] == r->weight) {
            return dni_request_refuse(weight, "the weight column must not be an input", err);
        }
    }
    return DN_OK;
}

static dn_status check_class_weights(const dn_train_request *r, dn_error *err) {
    if (r->class_weight != DN_CLASS_WEIGHT_GIVEN) {
        return DN_OK;
    }
    for (size_t k = 0; k < r->n_class_weights; k++) {
        if (r->class_weights[k] >= 0 && isfinite(r->class_weights[k])) {
            continue;
        }
        char number[DN_NUMBER_SIZE];
        return dni_error_at(dn_error_set(err, DN_ERR_ARGUMENT,
                                         "a class weight must be a finite number >= 0 (got %s)",
                                         dni_number_text(r->class_weights[k], number)),
                            "class_weight", -1, err);
    }
    return DN_OK;
}

static dn_status check_arguments(const dn_train_request *r, const dn_run *run, dn_error *err) {
    dn_status status = dni_argument_not_null(r, "request", err);
    if (status != DN_OK) {
        return status;
    }
    status = dni_argument_struct(r->struct_size, sizeof *r, "request", err);
    if (status != DN_OK) {
        return status;
    }
    status = dni_argument_not_null(r->params, "request->params", err);
    if (status != DN_OK) {
        return status;
    }
    status = dni_argument_source(r->source, "request->source", err);
    if (status == DN_OK && r->validation != NULL) {
        status = dni_argument_source(r->validation, "request->validation", err);
    }
    if (status != DN_OK) {
        return status;
    }
    if (r->features.columns == NULL && r->features.n_columns > 0) {
        return dni_request_refuse("inputs", "request->features.columns must not be NULL", err);
    }
    if (r->class_weight == DN_CLASS_WEIGHT_GIVEN && r->class_weights == NULL) {
        return dni_request_refuse("class_weight", "request->class_weights must not be NULL", err);
    }
    return dni_argument_run(run, err);
}

static dn_status check_validation(const dn_train_request *r, dn_error *err) {
    if (!(r->holdout >= 0 && r->holdout < 1)) {
        char number[DN_NUMBER_SIZE];
        return dn_error_set(err, DN_ERR_ARGUMENT, "holdout must be a number >= 0 and < 1 (got %s)",
                            dni_number_text(r->holdout, number));
    }
    if (r->folds == 1 || (r->folds > DN_MAX_FOLDS && r->folds != DN_LEAVE_ONE_OUT)) {
        return dn_error_set(err, DN_ERR_ARGUMENT,
                            "folds must be an integer >= 2 and <= %d, or 0 for none (got %zu)",
                            DN_MAX_FOLDS, r->folds);
    }
    if ((r->holdout > 0) + (r->folds > 0) + (r->validation != NULL) > 1) {
        return dn_error_set(
            err, DN_ERR_ARGUMENT,
            "validation must be a holdout, folds or another table, only one of them");
    }
    return dni_division_check(r, err);
}

static dn_status check_coverage(const dn_train_request *r, dn_error *err) {
    char number[DN_NUMBER_SIZE];
    if (r->coverage == 0) {
        return DN_OK;
    }
    if (!(r->coverage > 0 && r->coverage < 1)) {
        return dni_error_at(dn_error_set(err, DN_ERR_ARGUMENT,
                                         "coverage must be > 0 and < 1 (got %s)",
                                         dni_number_text(r->coverage, number)),
                            "coverage", -1, err);
    }
    if (r->target == DN_NO_TARGET ||
        !(r->holdout > 0 || r->folds > 0 || r->marked || r->validation != NULL)) {
        return dni_request_refuse("coverage",
                                  "sets of labels need a target, and rows held out by a holdout, "
                                  "marks or folds, or a validation table",
                                  err);
    }
    return DN_OK;
}

/* Refuses what the ranks of a group cannot divide. */
static dn_status check_group(const dn_train_request *r, const dn_run *run, dn_error *err) {
    const bool combined = dni_has_members(r);
    const char *why =
        combined ? "its members are trained one after the other" : dn_params_alone(r->params);
    if (dni_group_of(run) == NULL || why == NULL) {
        return DN_OK;
    }
    return dn_error_set(err, DN_ERR_ARGUMENT, "%s cannot be trained by several ranks: %s",
                        combined ? "a combination" : r->params->algorithm->id, why);
}

static dn_status check_request(const dn_train_request *r, dn_error *err) {
    dn_status status = check_validation(r, err);
    if (status != DN_OK) {
        return status;
    }
    status = check_coverage(r, err);
    if (status != DN_OK) {
        return status;
    }
    status = dni_task_of(r)->check(r, err);
    if (status != DN_OK) {
        return status;
    }
    status = check_columns(r, err);
    if (status != DN_OK) {
        return status;
    }
    status = check_class_weights(r, err);
    if (status == DN_OK) {
        status = dni_members_check(r, err);
    }
    if (status == DN_OK) {
        status = dn_params_check(r->params, err);
    }
    if (status == DN_OK && r->folds == DN_LEAVE_ONE_OUT && !dn_params_is_linear(r->params)) {
        status = dni_request_refuse("folds", "DN_LEAVE_ONE_OUT is for linear methods only", err);
    }
    return status;
}

/* ---- the steps ---- */
/* Sets the number of folds of DN_LEAVE_ONE_OUT: the number of rows. */
static dn_status count_folds(struct training *t, dn_error *err) {
    const size_t n = dni_labels_fold_rows(&t->labels);
    if (!t->leave_one_out) {
        return DN_OK;
    }
    if (n > DN_MAX_LEAVE_ONE_OUT) {
        return dn_error_set(
            err, DN_ERR_DATA,
            "there are %zu rows to leave out one by one, but at most %d are allowed", n,
            DN_MAX_LEAVE_ONE_OUT);
    }
    t->request_used.folds = n > 1 ? n : 2;
    return DN_OK;
}

/* Sets the class index of validation rows with weight 0 to NaN: they are not evaluated. */
static dn_status ignore_weightless(const struct training *t, const dn_table_source *table,
                                   double *index, dn_error *err) {
    const dn_train_request *r = t->request;
    const size_t column =
        r->weighted ? dni_source_column(table, r->source->columns[r->weight].name) : SIZE_MAX;
    void *weight = NULL;
    if (column == SIZE_MAX) {
        return DN_OK;
    }
    dn_status status = dn_run_alloc(t->run, table->n_rows, sizeof(double),
                                    "the weights of the validation rows", &weight, err);
    if (status == DN_OK) {
        status = dni_weights_read(table, column, t->run, index, weight, err);
    }
    dn_run_free(t->run, weight);
    return status;
}

/* Refuses classes of the validation table that training does not have, before the fit.
 *
 *   count  [n_classes] adds the rows of each class; NULL: not counted */
static dn_status check_validation_classes(struct training *t, size_t *count, dn_error *err) {
    const dn_table_source *table = t->request->validation;
    const char *target = t->request->source->columns[t->request->target].name;
    const size_t column = dni_source_column(table, target);
    void *index = NULL;
    if (column == SIZE_MAX) {
        return DN_OK; /* the evaluation reports it */
    }
    dn_error error;
    dn_error_clear(&error);
    dn_status status =
        dn_run_alloc(t->run, table->n_rows, sizeof(double), "the class indexes", &index, &error);
    if (status == DN_OK) {
        status = dni_target_match(table, column, &t->labels.classes, t->run, index, &error);
    }
    if (status == DN_OK && count != NULL) {
        status = ignore_weightless(t, table, index, &error);
    }
    const double *class = index;
    for (size_t i = 0; status == DN_OK && count != NULL && i < table->n_rows; i++) {
        if (!isnan(class[i])) {
            count[(size_t) class[i]]++;
        }
    }
    dn_run_free(t->run, index);
    return status == DN_OK ? DN_OK : dni_error_prefixed(&error, status, "validation", err);
}

static dni_conformal_spec conformal_spec(const struct training *t) {
    return (dni_conformal_spec){.coverage = t->request->coverage,
                                .by_class = t->request->coverage_by_class,
                                .folds = t->request->folds > 0,
                                .n_classes = dni_labels_n_classes(&t->labels),
                                .class_name = t->labels.class_name};
}

/* Refuses sets of labels without probabilities, or with too few rows, before the fit. The folds can
 * hold out fewer rows than are counted here. */
static dn_status check_calibration_rows(struct training *t, dn_error *err) {
    const dni_conformal_spec spec = conformal_spec(t);
    void *memory = NULL;
    if (!dn_params_have_probabilities(t->request->params, spec.n_classes)) {
        return dni_request_refuse("coverage", "sets of labels need probabilities", err);
    }
    dn_status status = dn_run_alloc(t->run, spec.n_classes, sizeof(size_t),
                                    "the rows of the classes", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    size_t *count = memory;
    if (t->request->validation != NULL) {
        status = check_validation_classes(t, count, err);
    }
    for (size_t i = 0; t->request->validation == NULL && i < t->request->source->n_rows; i++) {
        const bool held = t->request->folds > 0 ? !isnan(t->labels.stratum[i])
                                                : t->labels.role[i] == DN_ROW_VALIDATE;
        if (held) {
            count[(size_t)t->labels.stratum[i]]++;
        }
    }
    status = status == DN_OK ? dni_conformal_check(&spec, count, err) : status;
    dn_run_free(t->run, memory);
    return status;
}

static dn_status load(struct training *t, dn_error *err) {
    const dn_train_request *r = t->request;
    dn_status status = dni_labels_read(r, t->run, &t->labels, err);
    if (status != DN_OK) {
        return status;
    }
    status = count_folds(t, err);
    if (status != DN_OK) {
        return status;
    }
    if (r->validation != NULL && t->labels.task->has_truth) {
        status = check_validation_classes(t, NULL, err);
        if (status != DN_OK) {
            return status;
        }
    }
    if (r->folds > 0) {
        status = dni_labels_check_folds(&t->labels, r->folds, err);
        if (status != DN_OK) {
            return status;
        }
    }
    status = dni_division_holdout(r, t->run, &t->labels, &t->split, err);
    return status == DN_OK && r->coverage > 0 ? check_calibration_rows(t, err) : status;
}

static dn_status calibrate(struct training *t, dn_error *err) {
    const dn_run *run = t->run;
    if (t->request->folds > 0) {
        dni_share_init(&t->share, run, 0, dni_division_fits(t->request) + 1);
        run = &t->share.run;
    }
    t->fit = (dni_fit){.request = t->request, .run = run, .labels = &t->labels, .statistics = true};
    return dni_has_members(t->request) ? DN_OK : dni_calibrate(&t->fit, &t->calibrated, err);
}

static dn_status encode(struct training *t, dn_error *err) {
    return dni_has_members(t->request) ? DN_OK : dni_fit_encode(&t->fit, err);
}

static dn_status fit(struct training *t, dn_error *err) {
    const size_t n_classes = dni_labels_n_classes(&t->labels), n = t->split.n_train;
    const bool combined = dni_has_members(t->request);
    dn_status status = combined ? dni_fit_members(&t->fit, err) : dni_fit_train(&t->fit, err);
    if (status != DN_OK) {
        return status;
    }
    if (!combined) {
        dni_calibrated_report(&t->calibrated, &t->fit);
        dni_warn_of_constant_inputs(t->fit.model, t->request->features.text.min_rows,
                                    &t->fit.report);
    }
    if (n_classes > FEW_CLASSES && n_classes > n / 2) {
        dn_report_warn(&t->fit.report, DN_WARNING_MANY_CLASSES,
                       "target \"%.64s\" has %zu classes in %zu rows, most of them with one row: "
                       "check that it is the right column",
                       t->request->source->columns[t->request->target].name, n_classes, n);
    }
    return DN_OK;
}

static void add_metrics_warning(struct training *t, const char *rows,
                                const dni_evaluation *evaluation) {
    if (evaluation->metrics != NULL && evaluation->metrics->warning[0] != '\0') {
        dn_report_warn(&t->fit.report, DN_WARNING_RANKING, "on the %s rows, %s", rows,
                       evaluation->metrics->warning);
    }
}

/* Adds the warnings about classes and categories of the validation rows.
 *
 *   role  of the rows of the source; NULL: all of them are validation rows */
static dn_status warn_of_validation(struct training *t, const dn_table_source *source,
                                    const uint8_t *role, const char *rows, dn_error *err) {
    dni_unseen unseen = {0};
    const dn_metrics *metrics = t->validation.metrics;
    const dn_status status =
        dni_unseen_count(dn_model_encoder(t->fit.model), source, role, t->run, &unseen, err);
    if (status != DN_OK) {
        return status;
    }
    dni_unseen_warn(&unseen, rows, &t->fit.report);
    if (metrics != NULL && metrics->rows > 0) {
        dni_warn_of_validation_classes(&t->labels, metrics, rows, &t->fit.report);
    }
    return DN_OK;
}

/* Returns true if the validation table has the weight column. Adds a warning otherwise. */
static bool has_weights(struct training *t, const char *weight) {
    const dn_table_source *table = t->request->validation;
    for (size_t j = 0; j < table->n_cols; j++) {
        if (strcmp(table->columns[j].name, weight) == 0) {
            return true;
        }
    }
    dn_report_warn(&t->fit.report, DN_WARNING_VALIDATION_WEIGHTS,
                   "the validation rows have no column \"%.128s\": all their weights are 1",
                   weight);
    return false;
}

static void take_table_rows(void *arg, size_t first, const dn_metrics_rows *rows) {
    struct table_rows *to = arg;
    const size_t K = to->n_classes;
    to->n = first + rows->n;
    memcpy(to->p + first * K, rows->probabilities, rows->n * K * sizeof *to->p);
    for (size_t i = 0; i < rows->n; i++) {
        to->truth[first + i] = (uint32_t)rows->truth[i];
    }
}

/* Makes room for the predictions of the validation table, if sets of labels are asked for. */
static dn_status keep_table_rows(struct training *t, dn_error *err) {
    struct table_rows *to = &t->table;
    const size_t n = t->request->validation->n_rows, K = dni_labels_n_classes(&t->labels);
    if (t->request->coverage == 0) {
        return DN_OK;
    }
    const dn_status status =
        dn_run_alloc(t->run, n + 1, K * sizeof *to->p + sizeof *to->truth,
                     "the predictions of the validation rows", &to->memory, err);
    if (status == DN_OK) {
        to->n_classes = K;
        to->p = to->memory;
        to->truth = (uint32_t *)(void *)(to->p + (n + 1) * K);
    }
    return status;
}

static dn_status validate_table(struct training *t, dn_error *err) {
    const dn_train_request *r = t->request;
    const bool has_truth = t->labels.task->has_truth;
    const char *weight = r->weighted ? r->source->columns[r->weight].name : NULL;
    if (weight != NULL && !has_weights(t, weight)) {
        weight = NULL;
    }
    const dn_evaluate_options options = {.curves = r->curves, .weight = weight};
    dni_row_sink sink = {.take = take_table_rows, .arg = &t->table};
    dn_error error;
    dn_error_clear(&error);
    dn_status status = keep_table_rows(t, err);
    if (status != DN_OK) {
        return status;
    }
    status = has_truth ? dni_model_evaluate_rows(t->fit.model, r->validation, &options,
                                                 r->coverage > 0 ? &sink : NULL, t->run,
                                                 &t->validation.metrics, &error)
                       : dni_count_outliers_table(t->fit.model, r->validation, weight, t->run,
                                                  &t->validation.outliers, &error);
    if (status != DN_OK) {
        return dni_error_prefixed(&error, status, "validation", err);
    }
    t->has_validation = true;
    t->split.n_validation =
        has_truth ? (size_t)t->validation.metrics->rows : t->validation.outliers.rows;
    if (t->split.n_validation == 0) {
        dn_report_warn(&t->fit.report, DN_WARNING_VALIDATION_ROWS,
                       "no row of the validation data has a %s: there are no validation metrics",
                       has_truth ? "class" : "weight above 0");
    }
    return warn_of_validation(t, r->validation, NULL, "validation", err);
}

/* Makes room for the predictions of n_rows held-out rows. Without memory they are not kept. */
static dn_status keep_held_out(struct training *t, size_t n_rows, dn_error *err) {
    const size_t n_classes = dni_labels_n_classes(&t->labels);
    const dni_held_out_shape shape = {.n_rows = n_rows,
                                      .n_values = dn_held_out_values(t->request->params, n_classes),
                                      .probabilities =
                                          dn_params_have_probabilities(t->request->params,
                                                                       n_classes),
                                      .weighted = t->labels.weight != NULL};
    dn_error why;
    if ((t->request->held_out == NULL && t->request->coverage == 0) || !t->labels.task->has_truth) {
        return DN_OK;
    }
    dn_error_clear(&why);
    const dn_status status = dni_held_out_new(&shape, t->run, &t->held_out, &why);
    if ((status == DN_ERR_BUDGET || status == DN_ERR_MEMORY) && t->request->coverage == 0) {
        dn_report_warn(&t->fit.report, DN_WARNING_HELD_OUT,
                       "the predictions of the held-out rows are not kept: %.300s", why.message);
        return DN_OK;
    }
    if (status != DN_OK && err != NULL) {
        *err = why;
    }
    return status;
}

static dn_status validate(struct training *t, dn_error *err) {
    const dn_train_request *r = t->request;
    if (r->validation != NULL) {
        return validate_table(t, err);
    }
    if (r->holdout == 0 && !r->marked) {
        return DN_OK;
    }
    if (t->split.n_validation == 0) {
        char number[DN_NUMBER_SIZE];
        dn_report_warn(&t->fit.report, DN_WARNING_VALIDATION_ROWS,
                       "no row was held out: %s too few rows for a holdout of %s",
                       t->labels.task->has_truth ? "the classes have" : "there are",
                       dni_number_text(r->holdout, number));
        return DN_OK;
    }
    t->has_validation = true;
    dn_status status = keep_held_out(t, t->split.n_validation, err);
    if (status != DN_OK) {
        return status;
    }
    t->fit.held_out = t->held_out;
    status = dni_fit_evaluate(&t->fit, DN_ROW_VALIDATE, r->curves, &t->validation, err);
    return status == DN_OK ? warn_of_validation(t, r->source, t->labels.role, "held-out", err)
                           : status;
}

/* Evaluates the folds. The metrics of the rows of all folds are the validation metrics of
 * DN_LEAVE_ONE_OUT, and with curves. */
static dn_status cross_validate(struct training *t, dn_error *err) {
    const dn_train_request *r = t->request;
    const size_t n_rows = dni_labels_fold_rows(&t->labels) * (r->repeats > 1 ? r->repeats : 1);
    dn_status status = keep_held_out(t, n_rows, err);
    if (status != DN_OK) {
        return status;
    }
    const bool pooled = t->leave_one_out || (r->curves && t->labels.task->has_truth);
    const dni_crossval_rows rows = {.pool = pooled ? &t->pool : NULL,
                                    .held_out = t->held_out,
                                    .only_pool = t->leave_one_out};
    t->pool = (dni_pool){.n_rows = n_rows, .run = t->run};
    status = dni_crossval(r, &t->labels, t->run, &t->fit.report, &rows, &t->folds, err);
    t->validation.metrics = t->pool.metrics;
    if (status != DN_OK) {
        return status;
    }
    if (t->pool.lost) {
        dn_report_warn(&t->fit.report, DN_WARNING_RANKING,
                       "there are no metrics and curves of the rows of all folds together: out of "
                       "memory");
    }
    if (t->leave_one_out) {
        t->split.n_validation = n_rows;
    }
    return t->validation.metrics != NULL ? dn_metrics_finish(t->validation.metrics, err) : DN_OK;
}

/* Computes the thresholds of sets of labels from the rows of the validation table, or from the
 * held-out rows, which are sorted by repeat; of several repeats from the first. */
static dn_status calibrate_sets(struct training *t, dn_error *err) {
    const dni_conformal_spec spec = conformal_spec(t);
    const dn_held_out *rows = t->held_out;
    size_t n = 0;
    if (t->request->validation != NULL) {
        return dni_conformal_fit(&spec, t->table.n, t->table.p, t->table.truth, t->run,
                                 &t->fit.model->conformal, err);
    }
    while (rows != NULL && n < rows->n && rows->repeat[n] == 0) {
        n++;
    }
    return dni_conformal_fit(&spec, n, n > 0 ? rows->values : NULL, n > 0 ? rows->truth : NULL,
                             t->run, &t->fit.model->conformal, err);
}

static dn_status evaluate(struct training *t, dn_error *err) {
    const dn_train_request *r = t->request;
    dn_status status = dni_fit_evaluate(&t->fit, DN_ROW_TRAIN, r->curves, &t->train, err);
    if (status != DN_OK) {
        return status;
    }
    dni_fit_release_rows(&t->fit);
    status = validate(t, err);
    if (status != DN_OK) {
        return status;
    }
    add_metrics_warning(t, "training", &t->train);
    if (r->folds > 0) {
        status = cross_validate(t, err);
        if (status != DN_OK) {
            return status;
        }
    }
    add_metrics_warning(t, "validation", &t->validation);
    if (t->held_out != NULL) {
        status = dni_held_out_sort(t->held_out, t->run, err);
        if (status != DN_OK) {
            return status;
        }
    }
    if (r->coverage > 0) {
        status = calibrate_sets(t, err);
        if (status != DN_OK) {
            return status;
        }
    }
    if (!t->labels.task->has_truth) {
        dni_report_outliers(&t->train.outliers, t->has_validation ? &t->validation.outliers : NULL,
                            t->folds, dni_division_fits(r), &t->fit.report);
    }
    return DN_OK;
}

/* Runs the steps in order and adds their durations to t->seconds. */
static dn_status run_steps(struct training *t, dn_error *err) {
    const dn_train_request *r = t->request;
    dn_status status = dn_params_encoding(r->params, r->source->columns, r->source->n_rows,
                                          &t->request_used.features, err);
    if (status != DN_OK) {
        return status;
    }
    static const struct {
        dn_status (*run)(struct training *, dn_error *);
        enum phase phase;
    } steps[] = {
        {load, LOAD}, {calibrate, FIT}, {encode, ENCODE}, {fit, FIT}, {evaluate, EVALUATE}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        const double start = dn_run_elapsed(t->run);
        status = steps[i].run(t, err);
        t->seconds[steps[i].phase] += dn_run_elapsed(t->run) - start;
        if (status != DN_OK) {
            return status;
        }
    }
    return DN_OK;
}

/* Moves the metrics of the folds to the result. */
static dn_status take_fold_metrics(struct training *t, dn_error *err) {
    const size_t n = dni_division_fits(t->request);
    if (n == 0 || t->leave_one_out || !t->labels.task->has_truth) {
        return DN_OK;
    }
    t->result.folds = malloc(n * sizeof(*t->result.folds));
    if (t->result.folds == NULL) {
        return dn_error_set(err, DN_ERR_MEMORY, "no memory for the metrics of %zu folds", n);
    }
    for (size_t f = 0; f < n; f++) {
        t->result.folds[f] = t->folds[f].metrics;
        t->folds[f].metrics = NULL;
    }
    t->result.n_folds = n;
    return DN_OK;
}

static void take_result(struct training *t, dn_train_result *out) {
    t->result.seconds_load = t->seconds[LOAD];
    t->result.seconds_encode = t->seconds[ENCODE];
    t->result.seconds_fit = t->seconds[FIT];
    t->result.seconds_evaluate = t->seconds[EVALUATE];
    t->result.n_train = t->split.n_train;
    t->result.n_validation = t->split.n_validation;
    t->result.n_skipped = t->split.n_skipped;
    t->result.train = t->train.metrics;
    t->result.validation = t->validation.metrics;
    t->train.metrics = t->validation.metrics = NULL;
    dni_model_leave_run(t->fit.model);
    t->result.model = t->fit.model;
    t->result.report = t->fit.report;
    t->fit.model = NULL;
    t->fit.report = (dn_report){0};
    if (t->request->held_out != NULL) {
        *t->request->held_out = t->held_out;
        t->held_out = NULL;
    }
    *out = t->result;
}

dn_status dn_train(const dn_train_request *request, const dn_run *run, dn_train_result *out,
                   dn_error *err) {
    dn_status status = check_arguments(request, run, err);
    if (status == DN_OK) {
        status = dni_argument_not_null(out, "out", err);
    }
    if (status != DN_OK) {
        return status;
    }
    const dn_run fallback = dn_run_default();
    struct training t = {.request_used = *request,
                         .leave_one_out = request->folds == DN_LEAVE_ONE_OUT,
                         .run = run == NULL ? &fallback : run};
    t.request = &t.request_used;
    status = check_request(request, err);
    if (status == DN_OK) {
        status = check_group(request, t.run, err);
    }
    if (status != DN_OK) {
        return status;
    }
    status = dni_group_end(t.run, run_steps(&t, err), err);
    if (status == DN_OK) {
        status = take_fold_metrics(&t, err);
    }
    if (status == DN_OK) {
        take_result(&t, out);
    }
    dni_evaluation_done(&t.train);
    dni_evaluation_done(&t.validation);
    dni_crossval_free(t.folds, dni_division_fits(t.request));
    dn_held_out_free(t.held_out);
    dn_run_free(t.run, t.table.memory);
    dni_fit_done(&t.fit);
    dni_labels_done(&t.labels);
    return status;
}

void dn_train_result_done(dn_train_result *result) {
    dn_model_unref(result->model);
    dn_metrics_free(result->train);
    dn_metrics_free(result->validation);
    for (size_t f = 0; f < result->n_folds; f++) {
        dn_metrics_free(result->folds[f]);
    }
    free(result->folds);
    dn_report_done(&result->report);
    result->model = NULL;
    result->train = result->validation = NULL;
    result->folds = NULL;
    result->n_folds = 0;
}
