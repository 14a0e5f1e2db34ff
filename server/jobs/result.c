/* Writes the JSON documents of a finished training. */
#include "jobs/result.h"

#include "base/json/json.h"
#include "base/json/json_write.h"
#include "formats/formats.h"
#include "jobs/documents.h"
#include "jobs/request/job_options.h"
#include "jobs/request/params.h"
#include <stdlib.h>
#include <string.h>

/* Limit of feature names, and of the numbers of a list, in a model's description. */
#define MAX_NAMES 16384

/* Writes details. A list of more than max_list numbers is null. */
static void list_write(const dn_detail *details, size_t n, size_t max_list, struct json_writer *w) {
    for (size_t i = 0; i < n; i++) {
        if (details[i].list && details[i].n_list > max_list) {
            json_kv_null(w, details[i].name);
        } else if (details[i].list) {
            json_put_vector(w, details[i].name, details[i].list, details[i].n_list);
        } else if (details[i].text[0]) {
            json_kv_string(w, details[i].name, details[i].text);
        } else if (details[i].boolean) {
            json_kv_bool(w, details[i].name, details[i].number != 0);
        } else {
            json_kv_double(w, details[i].name, details[i].number);
        }
    }
}

/* Writes the report of one of several machines. The machine separates one class from another or,
 * if part->negative is SIZE_MAX, from all others. */
static void part_write(const dn_report_part *part, const dn_classes *classes,
                       struct json_writer *w) {
    json_begin_object(w);
    if (part->negative == SIZE_MAX) {
        json_put_key(w, "class");
        jobs_class_write(classes, part->positive, w);
    } else {
        json_kv_begin_array(w, "classes");
        jobs_class_write(classes, part->negative, w);
        jobs_class_write(classes, part->positive, w);
        json_end_array(w);
    }
    json_kv_bool(w, "converged", part->converged);
    json_kv_string(w, "stop_reason", dn_stop_reason_name(part->stop_reason));
    json_kv_int(w, "iterations", (int64_t)part->iterations);
    json_kv_double(w, "objective", part->objective);
    list_write(part->details, part->n_details, MAX_NAMES, w);
    json_end_object(w);
}

static void parts_write(const dn_train_result *r, struct json_writer *w) {
    if (r->report.n_parts == 0) {
        return;
    }
    json_kv_begin_array(w, r->report.parts[0].negative == SIZE_MAX ? "machines" : "pairs");
    for (size_t i = 0; i < r->report.n_parts; i++) {
        part_write(&r->report.parts[i], dn_model_classes(r->model), w);
    }
    json_end_array(w);
}

static void details_write(const dn_train_result *r, size_t max_list, struct json_writer *w) {
    json_begin_object(w);
    list_write(r->report.details, r->report.n_details, max_list, w);
    parts_write(r, w);
    json_kv_begin_object(w, "seconds");
    json_kv_double(w, "load", r->seconds_load);
    json_kv_double(w, "encode", r->seconds_encode);
    json_kv_double(w, "fit", r->seconds_fit);
    json_kv_double(w, "evaluate", r->seconds_evaluate);
    json_end_object(w);
    json_end_object(w);
}

static void rows_write(const dn_train_result *r, struct json_writer *w) {
    json_begin_object(w);
    json_kv_int(w, "train", (int64_t)r->n_train);
    json_kv_int(w, "validation", (int64_t)r->n_validation);
    json_kv_int(w, "skipped", (int64_t)r->n_skipped);
    json_end_object(w);
}

static void metrics_write(const dn_train_result *r, struct json_writer *w) {
    const dn_classes *classes = dn_model_classes(r->model);
    json_begin_object(w);
    json_put_key(w, "train");
    if (r->train) {
        jobs_metrics_write(r->train, classes, w);
    } else {
        json_put_null(w); /* without a target there are no true classes */
    }
    json_put_key(w, "validation");
    if (r->n_folds > 0) {
        jobs_folds_write((const dn_metrics *const *)r->folds, r->n_folds, r->validation, classes,
                         w);
    } else if (r->validation) {
        jobs_metrics_write(r->validation, classes, w);
    } else {
        json_put_null(w);
    }
    json_end_object(w);
}

/* Writes the thresholds of sets of labels, if the model has sets. */
static void conformal_write(const dn_model *model, struct json_writer *w) {
    const dn_conformal *c = dn_model_conformal(model);
    const dn_classes *classes = dn_model_classes(model);
    if (c == NULL) {
        return;
    }
    size_t rows = c->rows[0];
    for (size_t k = 1; c->by_class && k < c->n_classes; k++) {
        rows += c->rows[k];
    }
    json_kv_begin_object(w, "conformal");
    json_kv_double(w, "coverage", c->coverage);
    json_kv_bool(w, "by_class", c->by_class);
    json_kv_string(w, "by", c->folds ? "folds" : "holdout");
    json_kv_int(w, "rows", (int64_t)rows);
    json_kv_begin_array(w, "thresholds");
    for (size_t k = 0; k < c->n_classes; k++) {
        json_begin_object(w);
        json_put_key(w, "class");
        jobs_class_write(classes, k, w);
        json_kv_int(w, "rows", (int64_t)c->rows[k]);
        json_kv_double(w, "threshold", c->threshold[k]);
        json_end_object(w);
    }
    json_end_array(w);
    json_end_object(w);
}

/* Writes the members that the job's result and the model's description have in common. Lists of
 * more than max_list numbers are null. */
static void fit_write(const dn_train_result *r, size_t max_list, struct json_writer *w) {
    json_kv_bool(w, "converged", r->report.converged);
    json_kv_string(w, "stop_reason", dn_stop_reason_name(r->report.stop_reason));
    json_kv_int(w, "iterations", (int64_t)r->report.iterations);
    json_kv_double(w, "objective", r->report.objective);
    json_kv_double(w, "gradient_norm", r->report.gradient_norm);
    json_put_key(w, "rows");
    rows_write(r, w);
    json_put_key(w, "details");
    details_write(r, max_list, w);
    json_put_key(w, "metrics");
    metrics_write(r, w);
}

/* Writes the parameters that the training used. */
static void params_write(const dn_model *model, struct json_writer *w) {
    struct buf params = {0};
    jobs_params_write(dn_model_params(model), &params);
    json_kv_raw(w, "params", buf_cstr(&params));
    w->out->failed = w->out->failed || params.failed;
    buf_done(&params);
}

static void predictions_write(const struct result_predictions *p, struct json_writer *w) {
    if (p->n == 0) {
        json_kv_null(w, "predictions");
        return;
    }
    json_kv_begin_object(w, "predictions");
    json_kv_int(w, "rows", (int64_t)p->n);
    json_kv_string(w, "values", p->probabilities ? "probabilities" : "scores");
    json_end_object(w);
}

static void means_write(const char *key, const double *values, struct json_writer *w) {
    json_kv_begin_object(w, key);
    for (size_t i = 0; dn_metric_name(i) != NULL; i++) {
        json_kv_double(w, dn_metric_name(i), values[i]);
    }
    json_end_object(w);
}

void result_curve_write(const dn_learning_point *points, size_t n, struct json_writer *w) {
    json_begin_array(w);
    for (size_t i = 0; i < n; i++) {
        const dn_learning_point *p = &points[i];
        json_begin_object(w);
        json_kv_double(w, "share", p->share);
        json_kv_double(w, "rows", p->rows);
        json_kv_int(w, "fits", (int64_t)p->n_fits);
        json_kv_bool(w, "converged", p->n_unconverged == 0);
        means_write("train", p->train, w);
        means_write("validation", p->validation, w);
        if (p->n_fits > 1) {
            means_write("std", p->deviation, w);
        }
        json_end_object(w);
    }
    json_end_array(w);
}

void result_write(const dn_train_result *r, const struct promotion *promotion,
                  const struct result_predictions *predictions, const char *rule, const char *curve,
                  const char *search, const char *ranks, struct buf *out) {
    struct json_writer w = json_writer_of(out);
    json_begin_object(&w);
    params_write(r->model, &w);
    promotion_write(promotion, &w);
    predictions_write(predictions, &w);
    if (rule != NULL) {
        json_kv_raw(&w, "decision_rule", rule);
    }
    conformal_write(r->model, &w);
    fit_write(r, SIZE_MAX, &w);
    if (curve != NULL) {
        json_kv_raw(&w, "learning_curve", curve);
    }
    if (search != NULL) {
        json_kv_raw(&w, "search", search);
    }
    if (ranks != NULL) {
        json_kv_raw(&w, "ranks", ranks);
    }
    json_end_object(&w);
}

static void level_put(const dn_input *input, size_t level, struct json_writer *w) {
    if (level < input->levels.n) {
        json_put_stringn(w, input->levels.bytes + input->levels.start[level],
                         input->levels.start[level + 1] - input->levels.start[level]);
    } else {
        json_put_null(w);
    }
}

/* Writes the levels of categorical input i; the levels that replace missing and unseen values
 * (null: missing values are a level of their own, unseen values become zeros); and the level
 * without a feature. */
static void levels_write(const dn_encoder *encoder, size_t i, struct json_writer *w) {
    const dn_input *input = dn_encoder_input(encoder, i);
    json_kv_begin_array(w, "levels");
    for (size_t l = 0; l < input->levels.n; l++) {
        level_put(input, l, w);
    }
    json_end_array(w);
    json_kv_bool(w, "missing_level", input->missing_level);
    json_put_key(w, "missing_as");
    level_put(input, input->missing_as, w);
    json_put_key(w, "unseen_as");
    level_put(input, input->unseen_as, w);
    json_put_key(w, "dropped_level");
    level_put(input, dn_encoder_dropped_level(encoder, i, NULL, 0) > 0 ? 0 : SIZE_MAX, w);
}

static void inputs_write(const dn_encoder *encoder, struct json_writer *w) {
    json_begin_array(w);
    for (size_t i = 0; i < dn_encoder_n_inputs(encoder); i++) {
        const dn_input *input = dn_encoder_input(encoder, i);
        json_begin_object(w);
        json_kv_string(w, "name", input->name);
        json_kv_string(w, "type", dn_column_type_name(input->type));
        if (input->part != DN_PART_NONE) {
            json_kv_string(w, "column", input->column);
            json_kv_string(w, "part", dn_date_part_name(input->part));
        }
        if (dn_datetime_is_form(&input->form)) {
            char form[DN_DATETIME_FORM_SIZE];
            json_put_key(w, "form");
            json_put_stringn(w, form, dn_datetime_form_write(&input->form, form));
        }
        if (input->type == DN_CATEGORICAL) {
            levels_write(encoder, i, w);
        } else if (input->type == DN_TEXT || input->type == DN_SPARSE) {
            json_kv_int(w, "n_features", (int64_t)input->n_features);
            if (input->type == DN_SPARSE) {
                json_kv_int(w, "n_places", (int64_t)input->width);
            }
        } else {
            json_kv_double(w, "missing_value", input->fill);
            json_kv_bool(w, "missing_indicator", input->indicator);
            json_kv_bool(w, "in_basis", input->in_basis_only);
        }
        json_end_object(w);
    }
    json_end_array(w);
}

/* Writes the number and the names of the features. With more than MAX_NAMES features the names are
 * null, to limit the size of lists of models; GET /v1/models/{model}/weights has all names. */
static void features_write(const dn_encoder *encoder, struct json_writer *w) {
    const size_t n = dn_encoder_n_features(encoder);
    json_kv_int(w, "n_features", (int64_t)n);
    json_put_key(w, "features");
    if (n <= MAX_NAMES) {
        jobs_feature_names_write(encoder, w);
    } else {
        json_put_null(w);
    }
}

static void dataset_write(const struct store_dataset *d, struct json_writer *w) {
    json_begin_object(w);
    json_kv_string(w, "name", d->name);
    json_kv_int(w, "version", d->version);
    json_kv_int(w, "rows", d->n_rows);
    json_kv_string(w, "sha256", d->sha256);
    json_kv_string(w, "content", d->content);
    json_end_object(w);
}

/* The members of a combination; other models have none. */
static void members_write(const dn_model *model, struct json_writer *w) {
    double share = 0;
    if (dn_model_member(model, 0, &share) == NULL) {
        return;
    }
    json_kv_begin_array(w, "members");
    for (size_t i = 0; dn_model_member(model, i, &share) != NULL; i++) {
        const dn_model *member = dn_model_member(model, i, &share);
        json_begin_object(w);
        json_kv_string(w, "algorithm", dn_model_algorithm(member)->id);
        json_kv_double(w, "share", share);
        params_write(member, w);
        json_end_object(w);
    }
    json_end_array(w);
}

void result_model_info_write(const dn_train_result *r, const struct jobs_request *request,
                             const struct store_dataset *dataset, int64_t job, struct buf *out) {
    struct json_writer w = json_writer_of(out);
    json_begin_object(&w);
    json_kv_string(&w, "algorithm", request->algorithm->id);
    params_write(r->model, &w);
    members_write(r->model, &w);
    json_kv_string(&w, "target", request->target.name);
    json_kv_int(&w, "n_classes", (int64_t)dn_model_classes(r->model)->n);
    jobs_classes_write("classes", dn_model_classes(r->model), &w);
    json_put_key(&w, "inputs");
    inputs_write(dn_model_encoder(r->model), &w);
    features_write(dn_model_encoder(r->model), &w);
    json_kv_bool(&w, "standardize", request->features.standardize);
    json_kv_begin_object(&w, "encoding");
    jobs_features_write(&request->features, request->inputs, request->n_inputs, &w);
    json_end_object(&w);
    jobs_options_write(request, false, &w); /* "decision" is the kind of the machines */
    if (request->holdout > 0 && request->split.by == JOBS_SPLIT_NONE) {
        json_kv_string(&w, "holdout_rows", JOBS_HOLDOUT_ROWS);
    }
    json_kv_string(&w, "decision", jobs_decision_name(dn_model_decision(r->model)));
    json_kv_int(&w, "n_machines", (int64_t)dn_model_n_machines(r->model));
    json_put_key(&w, "dataset");
    dataset_write(dataset, &w);
    json_put_key(&w, "reading");
    table_reading_write(dataset->notes, dataset->columns, &w);
    json_kv_int(&w, "job", job);
    conformal_write(r->model, &w);
    fit_write(r, MAX_NAMES, &w);
    json_kv_string(&w, "daemon_version", DISCERN_VERSION);
    json_end_object(&w);
}

/* Whether the training has a warning about the whole model (not one machine or fold) with the code
 * of warning i of the POST. */
static bool is_reported(const dn_report *report, const struct jobs_request *request, size_t i) {
    const char *code = i < request->n_warnings ? request->warning_codes[i] : "";
    bool found = false;
    for (size_t k = 0; k < report->n_warnings; k++) {
        const dn_warning *w = &report->warnings[k];
        found = found || (w->machine == DN_WARNING_WHOLE && w->fold == DN_WARNING_WHOLE &&
                          strcmp(jobs_warning_code(w->code), code) == 0);
    }
    return found && code[0] != '\0';
}

void result_warnings_write(const dn_train_result *r, const struct jobs_request *request,
                           const char *before, struct buf *out) {
    struct problem ignored = {0};
    json_t *posted = before != NULL ? json_parse(before, strlen(before), &ignored) : NULL;
    struct json_writer w = json_writer_of(out);
    json_begin_array(&w);
    for (size_t i = 0; i < json_array_size(posted); i++) {
        const json_t *text = json_array_get(posted, i);
        if (!is_reported(&r->report, request, i)) {
            json_put_stringn(&w, json_string_value(text), json_string_length(text));
        }
    }
    for (size_t i = 0; i < r->report.n_warnings; i++) {
        json_put_string(&w, r->report.warnings[i].text);
    }
    json_end_array(&w);
    out->failed = out->failed || (before != NULL && posted == NULL);
    problem_done(&ignored);
    json_decref(posted);
}
