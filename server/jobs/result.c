/* JSON of a finished training. */
#include "jobs/result.h"

#include "base/json_write.h"
#include "jobs/documents.h"
#include <stdlib.h>
#include <string.h>

static void details_write(const dn_train_result *r, struct json_writer *w) {
    json_begin_object(w);
    for (size_t i = 0; i < r->report.n_details; i++) {
        const dn_detail *d = &r->report.details[i];
        if (d->text[0])
            json_kv_string(w, d->name, d->text);
        else
            json_kv_double(w, d->name, d->number);
    }
    json_put_key(w, "seconds");
    json_begin_object(w);
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
    jobs_metrics_write(r->train, classes, w);
    json_put_key(w, "validation");
    if (r->validation)
        jobs_metrics_write(r->validation, classes, w);
    else
        json_put_null(w);
    json_end_object(w);
}

/* The members that result and model description share. */
static void fit_write(const dn_train_result *r, struct json_writer *w) {
    json_kv_bool(w, "converged", r->report.converged);
    json_kv_string(w, "stop_reason", r->report.stop_reason);
    json_kv_int(w, "iterations", (int64_t)r->report.iterations);
    json_kv_double(w, "objective", r->report.objective);
    json_kv_double(w, "gradient_norm", r->report.gradient_norm);
    json_put_key(w, "rows");
    rows_write(r, w);
    json_put_key(w, "details");
    details_write(r, w);
    json_put_key(w, "metrics");
    metrics_write(r, w);
}

void result_write(const dn_train_result *r, struct buf *out) {
    struct json_writer w;
    json_writer_init(&w, out);
    json_begin_object(&w);
    fit_write(r, &w);
    json_end_object(&w);
}

static void classes_write(const dn_classes *classes, struct json_writer *w) {
    json_begin_array(w);
    for (size_t k = 0; k < classes->n; k++)
        jobs_class_write(classes, k, w);
    json_end_array(w);
}

static void inputs_write(const dn_encoder *encoder, struct json_writer *w) {
    json_begin_array(w);
    for (size_t i = 0; i < dn_encoder_n_inputs(encoder); i++) {
        const dn_input *input = dn_encoder_input(encoder, i);
        json_begin_object(w);
        json_kv_string(w, "name", input->name);
        json_kv_string(w, "type", dn_column_type_name(input->type));
        if (input->type == DN_CATEGORICAL) {
            json_put_key(w, "levels");
            json_begin_array(w);
            for (size_t l = 0; l < input->levels.n; l++)
                json_put_stringn(w, input->levels.bytes + input->levels.start[l], input->levels.start[l + 1] - input->levels.start[l]);
            json_end_array(w);
            json_kv_bool(w, "missing_level", input->missing_level);
        } else {
            json_kv_double(w, "missing_value", input->fill);
        }
        json_end_object(w);
    }
    json_end_array(w);
}

static void features_write(const dn_encoder *encoder, struct json_writer *w) {
    struct buf name = {0};
    json_begin_array(w);
    for (size_t j = 0; j < dn_encoder_n_features(encoder); j++) {
        char small[256], *text = small;
        size_t n = dn_encoder_feature_name(encoder, j, small, sizeof small);
        if (n >= sizeof small) {
            buf_clear(&name);
            if (buf_reserve(&name, n + 1)) {
                text = name.data;
                dn_encoder_feature_name(encoder, j, text, n + 1);
            }
        }
        json_put_string(w, text);
    }
    json_end_array(w);
    buf_done(&name);
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

void result_model_info_write(const dn_train_result *r, const struct jobs_spec *spec, const struct store_dataset *dataset, int64_t job,
                             struct buf *out) {
    struct json_writer w;
    struct buf params = {0};
    jobs_params_write(dn_model_params(r->model), &params);
    json_writer_init(&w, out);
    json_begin_object(&w);
    json_kv_string(&w, "algorithm", spec->algorithm->id);
    json_kv_raw(&w, "params", buf_cstr(&params));
    json_kv_int(&w, "seed", (int64_t)spec->seed);
    json_kv_string(&w, "target", spec->target.name);
    json_put_key(&w, "classes");
    classes_write(dn_model_classes(r->model), &w);
    json_put_key(&w, "inputs");
    inputs_write(dn_model_encoder(r->model), &w);
    json_put_key(&w, "features");
    features_write(dn_model_encoder(r->model), &w);
    json_kv_bool(&w, "standardize", spec->standardize);
    if (spec->holdout > 0)
        json_kv_double(&w, "holdout", spec->holdout);
    json_put_key(&w, "dataset");
    dataset_write(dataset, &w);
    json_kv_int(&w, "job", job);
    fit_write(r, &w);
    json_kv_string(&w, "daemon_version", DISCERN_VERSION);
    json_end_object(&w);
    buf_done(&params);
}

void result_warnings_write(const dn_train_result *r, const char *before, struct buf *out) {
    size_t n = before ? strlen(before) : 0;
    if (n >= 2 && before[0] == '[' && before[n - 1] == ']')
        buf_append(out, before, n - 1);
    else
        buf_putc(out, '[');
    for (size_t i = 0; i < r->report.n_warnings; i++) {
        if (out->size > 1)
            buf_putc(out, ',');
        json_escape(out, r->report.warnings[i], strlen(r->report.warnings[i]));
    }
    buf_putc(out, ']');
}
