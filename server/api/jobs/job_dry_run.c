/* Writes the answer of POST /v1/jobs?dry_run=true: the job with all defaults filled in. */
#include "api/jobs/job_spec.h"
#include "base/json/json_write.h"
#include "jobs/request/job_options.h"
#include "jobs/request/params.h"

#include <math.h>

static const char *text_name(const dn_text_spec *text) {
    switch (text->weighting) {
    case DN_TEXT_COUNTS:
    case DN_TEXT_BINARY:
    case DN_TEXT_TFIDF:
        break;
    case DN_TEXT_SET:
        return "set_of_words";
    case DN_TEXT_PATHS:
        return "paths";
    case DN_TEXT_CHARACTERS:
        return "characters";
    }
    return text->buckets > 0 ? "hashed_words" : "words";
}

static const char *encoding_name(const struct job_request *r, size_t i) {
    switch (r->spec.inputs[i].type) {
    case DN_CATEGORICAL:
        return r->spec.features.categorical == DN_DROP_FIRST ? "drop_first" : "one_hot";
    case DN_TEXT:
        return text_name(&r->spec.features.text);
    case DN_SPARSE:
        return "sparse";
    case DN_NUMERIC:
    case DN_BOOLEAN:
        break;
    }
    return r->encodings[i].taken ? "basis" : "number";
}

static void write_column(const struct job_request *r, size_t i, struct json_writer *w) {
    const struct jobs_column *c = &r->spec.inputs[i];
    const struct job_encoding *e = &r->encodings[i];
    json_begin_object(w);
    json_kv_string(w, "name", c->name);
    json_kv_string(w, "type", dn_column_type_name(c->type));
    json_kv_string(w, "encoding", encoding_name(r, i));
    json_kv_int(w, "features", (int64_t)e->n_features);
    if (c->type == DN_TEXT) {
        json_kv_bool(w, "at_most", true); /* the training counts the words */
    }
    json_kv_bool(w, "standardized",
                 (r->spec.features.standardize && c->type == DN_NUMERIC && !e->taken) ||
                     (r->spec.features.standardize && r->spec.features.standardize_sparse &&
                      c->type == DN_SPARSE));
    if (c->type == DN_CATEGORICAL) {
        json_kv_bool(w, "missing_level", e->missing_level);
    } else if (c->type == DN_NUMERIC || c->type == DN_BOOLEAN) {
        json_kv_bool(w, "indicator", e->indicator);
    }
    json_end_object(w);
}

static void write_features(const struct job_request *r, struct json_writer *w) {
    json_put_key(w, "features");
    json_begin_object(w);
    jobs_features_write(&r->spec.features, r->spec.inputs, r->spec.n_inputs, w);
    json_put_key(w, "basis_features");
    json_begin_array(w);
    for (size_t i = 0; i < r->spec.features.n_bases; i++) {
        json_put_int(w, (int64_t)job_basis_features(r, i));
    }
    json_end_array(w);
    json_kv_int(w, "count", (int64_t)r->n_features);
    json_put_key(w, "names");
    job_names_write(r, w);
    json_put_key(w, "columns");
    json_begin_array(w);
    for (size_t i = 0; i < r->spec.n_inputs; i++) {
        write_column(r, i, w);
    }
    json_end_array(w);
    json_end_object(w);
}

static void write_limits(const struct job_request *r, struct json_writer *w) {
    json_put_key(w, "limits");
    json_begin_object(w);
    json_kv_double(w, "seconds", r->spec.seconds > 0 ? r->spec.seconds : (double)NAN);
    json_kv_int(w, "memory_mib", r->spec.memory_bytes >> 20);
    json_kv_int(w, "threads", r->spec.threads);
    json_end_object(w);
}

static void write_data(const struct job_request *r, struct json_writer *w) {
    json_put_key(w, "dataset");
    json_begin_object(w);
    json_kv_string(w, "name", r->spec.dataset);
    json_kv_int(w, "version", r->spec.dataset_version);
    json_kv_int(w, "rows", r->dataset.n_rows);
    json_end_object(w);
    json_put_key(w, "target");
    if (r->targetless) {
        json_put_null(w);
        return;
    }
    json_begin_object(w);
    json_kv_string(w, "name", r->spec.target.name);
    json_kv_string(w, "type", dn_column_type_name(r->spec.target.type));
    json_kv_int(w, "classes", (int64_t)r->n_classes);
    json_end_object(w);
}

/* Writes the parameters with "auto" resolved for the number of training rows: rows with a target
 * that are not held out. */
static void write_params(const struct job_request *r, struct buf *out) {
    dn_params *used = NULL;
    dn_error err;
    dn_error_clear(&err);
    const double rows = (double)(r->dataset.n_rows - r->target_missing) * (1 - r->spec.holdout);
    const size_t n_classes =
        dn_params_decision(r->spec.params) == DN_DECISION_NATIVE ? r->n_classes : 2;
    if (dn_params_copy(r->spec.params, &used, &err) == DN_OK &&
        dn_params_resolve(used, (size_t)rows, r->n_features, n_classes, &err) == DN_OK) {
        jobs_params_write(used, out);
    } else {
        out->failed = true;
    }
    dn_params_free(used);
}

void job_request_write(const struct job_request *r, struct buf *out) {
    struct json_writer w;
    struct buf params = {0};
    json_writer_init(&w, out);
    json_begin_object(&w);
    json_kv_bool(&w, "dry_run", true);
    json_kv_string(&w, "model", r->spec.model);
    write_data(r, &w);
    json_kv_string(&w, "algorithm", r->spec.algorithm->id);
    write_params(r, &params);
    json_kv_raw(&w, "params", buf_cstr(&params));
    write_features(r, &w);
    jobs_options_write(&r->spec, &w);
    write_limits(r, &w);
    jobs_snapshots_write(&r->spec, &w);
    json_kv_int(&w, "memory_bytes", (int64_t)ceil(r->memory));
    json_put_key(&w, "warnings");
    json_begin_array(&w);
    if (r->warnings.size > 0) {
        json_put_raw(&w, r->warnings.data, r->warnings.size);
    }
    json_end_array(&w);
    json_end_object(&w);
    out->failed = out->failed || params.failed;
    buf_done(&params);
}
