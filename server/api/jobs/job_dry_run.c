/* Writes the answer of POST /v1/jobs?dry_run=true: the job with all defaults filled in. */
#include "api/jobs/job_dry_run.h"
#include "base/json/json_write.h"
#include "jobs/request/job_options.h"
#include "jobs/request/job_promotion.h"
#include "jobs/request/params.h"
#include "jobs/request/search/job_search.h"

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

static const char *encoding_name(const struct jobs_request *r, size_t i) {
    switch (r->inputs[i].type) {
    case DN_CATEGORICAL:
        return r->features.categorical == DN_DROP_FIRST ? "drop_first" : "one_hot";
    case DN_TEXT:
        return text_name(&r->features.text);
    case DN_SPARSE:
        return "sparse";
    case DN_NUMERIC:
    case DN_BOOLEAN:
    case DN_DATETIME:
        break;
    }
    return r->encodings[i].taken ? "basis" : "number";
}

static void write_column(const struct jobs_request *r, size_t i, struct json_writer *w) {
    const struct jobs_column *c = &r->inputs[i];
    const struct jobs_encoding *e = &r->encodings[i];
    json_begin_object(w);
    json_kv_string(w, "name", c->name);
    json_kv_string(w, "type", dn_column_type_name(c->type));
    json_kv_string(w, "encoding", encoding_name(r, i));
    json_kv_int(w, "features", (int64_t)e->n_features);
    if (c->type == DN_TEXT || c->part != DN_PART_NONE) {
        /* upper bound: the exact number is known after the training has counted the words or the
         * parts of dates */
        json_kv_bool(w, "at_most", true);
    }
    json_kv_bool(w, "standardized",
                 (r->features.standardize && dn_column_type_is_real(c->type) && !e->taken) ||
                     (r->features.standardize && r->features.standardize_sparse &&
                      c->type == DN_SPARSE));
    if (c->type == DN_CATEGORICAL) {
        json_kv_bool(w, "missing_level", e->missing_level);
    } else if (dn_column_type_is_real(c->type) || c->type == DN_BOOLEAN) {
        json_kv_bool(w, "indicator", e->indicator);
    }
    json_end_object(w);
}

static void write_features(const struct jobs_request *r, struct json_writer *w) {
    json_kv_begin_object(w, "features");
    jobs_features_write(&r->features, r->inputs, r->n_inputs, w);
    json_kv_begin_array(w, "basis_features");
    for (size_t i = 0; i < r->features.n_bases; i++) {
        json_put_int(w, (int64_t)jobs_basis_features(r, i));
    }
    json_end_array(w);
    json_kv_int(w, "count", (int64_t)r->n_features);
    json_put_key(w, "names");
    job_names_write(r, w);
    json_kv_begin_array(w, "columns");
    for (size_t i = 0; i < r->n_inputs; i++) {
        write_column(r, i, w);
    }
    json_end_array(w);
    json_end_object(w);
}

static void write_data(const struct jobs_request *r, struct json_writer *w) {
    json_kv_begin_object(w, "dataset");
    json_kv_string(w, "name", r->dataset);
    json_kv_int(w, "version", r->dataset_version);
    json_kv_int(w, "rows", r->data.n_rows);
    json_end_object(w);
    json_put_key(w, "target");
    if (r->targetless) {
        json_put_null(w);
        return;
    }
    json_begin_object(w);
    json_kv_string(w, "name", r->target.name);
    json_kv_string(w, "type", dn_column_type_name(r->target.type));
    json_kv_int(w, "classes", (int64_t)r->n_classes);
    json_end_object(w);
}

/* Writes the parameters with "auto" resolved for the number of training rows: rows with a target
 * that are not held out. */
static void write_params(const struct jobs_request *r, struct buf *out) {
    dn_params *used = NULL;
    dn_error err;
    dn_error_clear(&err);
    const double rows = (double)(r->data.n_rows - r->target_missing) * (1 - r->holdout);
    const size_t n_classes = dn_params_decision(r->params) == DN_DECISION_NATIVE ? r->n_classes : 2;
    if (dn_params_copy(r->params, &used, &err) == DN_OK &&
        dn_params_resolve(used, (size_t)rows, r->n_features, n_classes, &err) == DN_OK) {
        jobs_params_write(used, out);
    } else {
        out->failed = true;
    }
    dn_params_free(used);
}

void job_dry_run_write(const struct jobs_request *r, struct buf *out) {
    struct buf params = {0};
    struct json_writer w = json_writer_of(out);
    json_begin_object(&w);
    json_kv_bool(&w, "dry_run", true);
    json_kv_string(&w, "model", r->model);
    write_data(r, &w);
    if (r->search != NULL) {
        jobs_search_write(r, false, &w);
        json_kv_int(&w, "combinations", (int64_t)r->search->n);
    } else {
        json_kv_string(&w, "algorithm", r->algorithm->id);
        write_params(r, &params);
        json_kv_raw(&w, "params", buf_cstr(&params));
        write_features(r, &w);
    }
    jobs_options_write(r, true, &w);
    jobs_promotion_write(&r->promotion, &w);
    jobs_limits_write(r, &w);
    if (r->search == NULL) {
        jobs_snapshots_write(r, &w);
    } else {
        jobs_learning_curve_write(r, &w);
    }
    json_kv_int(&w, "memory_bytes", (int64_t)ceil(r->memory));
    json_kv_begin_array(&w, "warnings");
    if (r->warnings.size > 0) {
        json_put_raw(&w, r->warnings.data, r->warnings.size);
    }
    json_end_array(&w);
    json_end_object(&w);
    out->failed = out->failed || params.failed;
    buf_done(&params);
}
