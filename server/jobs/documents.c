/* Writes metrics, classes and feature names as JSON, and converts core errors to problems. */
#include "jobs/documents.h"
#include "jobs/request/job_split.h"
#include "jobs/request/params.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void jobs_class_write(const dn_classes *classes, size_t k, struct json_writer *w) {
    if (classes->type == DN_NUMERIC) {
        json_put_double(w, classes->number[k]);
    } else if (classes->type == DN_BOOLEAN) {
        json_put_bool(w, classes->number[k] != 0);
    } else {
        json_put_stringn(w, classes->names.bytes + classes->names.start[k],
                         classes->names.start[k + 1] - classes->names.start[k]);
    }
}

void jobs_classes_write(const char *key, const dn_classes *classes, struct json_writer *w) {
    json_kv_begin_array(w, key);
    for (size_t k = 0; k < classes->n; k++) {
        jobs_class_write(classes, k, w);
    }
    json_end_array(w);
}

const char *jobs_decision_name(dn_decision decision) {
    switch (decision) {
    case DN_DECISION_ONE_VS_REST:
    case DN_DECISION_ONE_VS_REST_CLOSED:
        return "one_vs_rest";
    case DN_DECISION_ONE_VS_REST_STRICT:
    case DN_DECISION_ALL_BUT_ONE_VS_REST_STRICT:
        return "one_vs_rest_strict";
    case DN_DECISION_ONE_VS_ONE:
        return "one_vs_one";
    case DN_DECISION_ONE_VS_ONE_STRICT:
        return "one_vs_one_strict";
    case DN_DECISION_OUTLIER:
        return "outlier";
    case DN_DECISION_NATIVE:
        break;
    }
    return "native";
}

void jobs_feature_names_write(const dn_encoder *encoder, struct json_writer *w) {
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

static void class_metrics_write(const dn_class_metrics *m, struct json_writer *w) {
    json_kv_double(w, "precision", m->precision);
    json_kv_double(w, "recall", m->recall);
    json_kv_double(w, "f1", m->f1);
    json_kv_double(w, "support", m->support);
}

/* Writes the sum of the confusion matrices of n metrics. */
static void confusion_write(const dn_metrics *const *metrics, size_t n, const dn_classes *classes,
                            struct json_writer *w) {
    json_kv_begin_object(w, "confusion");
    jobs_classes_write("classes", classes, w);
    json_kv_begin_array(w, "matrix");
    for (size_t i = 0; i < classes->n; i++) {
        json_begin_array(w);
        for (size_t j = 0; j < classes->n; j++) {
            double sum = 0;
            for (size_t f = 0; f < n; f++) {
                sum += metrics[f]->confusion[i * classes->n + j];
            }
            json_put_double(w, sum);
        }
        json_end_array(w);
    }
    json_end_array(w);
    json_end_object(w);
}

static void curve_write(const dn_curve *c, const char *x, const char *y, struct json_writer *w) {
    json_kv_double(w, "area", c->area);
    json_kv_begin_array(w, "points");
    for (size_t i = 0; i < c->n_points; i++) {
        json_begin_object(w);
        json_kv_double(w, x, c->points[i].x);
        json_kv_double(w, y, c->points[i].y);
        json_kv_double(w, "threshold", c->points[i].threshold);
        json_end_object(w);
    }
    json_end_array(w);
}

/* Writes one object for each curve: class, threshold_of, area under the curve, points. */
static void curve_list_write(const dn_curves *curves, const dn_curve *list, const char *x,
                             const char *y, const dn_classes *classes, struct json_writer *w) {
    json_begin_array(w);
    for (size_t k = 0; list && k < curves->n_curves; k++) {
        json_begin_object(w);
        json_put_key(w, "class");
        jobs_class_write(classes, curves->n_curves == 1 ? classes->n - 1 : k, w);
        json_kv_string(w, "threshold_of", curves->of_probability ? "probability" : "score");
        curve_write(&list[k], x, y, w);
        json_end_object(w);
    }
    json_end_array(w);
}

static void curves_write(const dn_curves *curves, const dn_classes *classes,
                         struct json_writer *w) {
    json_put_key(w, "roc");
    curve_list_write(curves, curves->roc, "false_positive_rate", "true_positive_rate", classes, w);
    json_put_key(w, "precision_recall");
    curve_list_write(curves, curves->precision_recall, "recall", "precision", classes, w);
    json_put_key(w, "calibration");
    if (!curves->calibrated) {
        json_put_null(w);
        return;
    }
    json_begin_array(w);
    for (size_t i = 0; i < DN_CALIBRATION_BINS; i++) {
        const dn_calibration_bin *bin = &curves->calibration[i];
        json_begin_object(w);
        json_kv_double(w, "low", bin->low);
        json_kv_double(w, "high", bin->high);
        json_kv_double(w, "weight", bin->weight);
        json_kv_double(w, "confidence", bin->confidence);
        json_kv_double(w, "accuracy", bin->accuracy);
        json_end_object(w);
    }
    json_end_array(w);
}

/* Returns the metrics of class k. k = n_classes: the macro means; k = n_classes + 1: the weighted
 * means. */
static const dn_class_metrics *class_row(const dn_metrics *m, size_t k) {
    return k < m->n_classes ? &m->per_class[k] : k == m->n_classes ? &m->macro : &m->weighted;
}

/* Returns the mean of precision, recall and F1 of row k, each over those of the n metrics that
 * define it, and the sum of the support. */
static dn_class_metrics class_mean(const dn_metrics *const *metrics, size_t n, size_t k) {
    double sum[3] = {0}, defined[3] = {0}, support = 0;
    for (size_t f = 0; f < n; f++) {
        const dn_class_metrics *row = class_row(metrics[f], k);
        const double values[3] = {row->precision, row->recall, row->f1};
        support += row->support;
        for (size_t i = 0; i < 3; i++) {
            sum[i] += isnan(values[i]) ? 0 : values[i];
            defined[i] += isnan(values[i]) ? 0 : 1;
        }
    }
    for (size_t i = 0; i < 3; i++) {
        sum[i] = defined[i] > 0 ? sum[i] / defined[i] : (double)NAN;
    }
    return (
        dn_class_metrics){.precision = sum[0], .recall = sum[1], .f1 = sum[2], .support = support};
}

/* Writes the confusion matrix, per_class, macro and weighted: sums of the confusion matrices and
 * means of the other numbers over n metrics. */
static void tables_write(const dn_metrics *const *metrics, size_t n, const dn_classes *classes,
                         struct json_writer *w) {
    confusion_write(metrics, n, classes, w);
    json_kv_begin_array(w, "per_class");
    for (size_t k = 0; k < classes->n; k++) {
        const dn_class_metrics mean = class_mean(metrics, n, k);
        json_begin_object(w);
        json_put_key(w, "class");
        jobs_class_write(classes, k, w);
        class_metrics_write(&mean, w);
        json_end_object(w);
    }
    json_end_array(w);
    for (size_t k = 0; k < 2; k++) {
        const dn_class_metrics mean = class_mean(metrics, n, classes->n + k);
        json_kv_begin_object(w, k == 0 ? "macro" : "weighted");
        class_metrics_write(&mean, w);
        json_end_object(w);
    }
}

static void scalars_write(const dn_metrics *m, struct json_writer *w) {
    for (size_t i = 0; dn_metric_name(i); i++) {
        json_kv_double(w, dn_metric_name(i), dn_metric_value(m, i));
    }
}

/* Writes [lower, upper], or null. */
static void interval_write(const char *key, const double *interval, struct json_writer *w) {
    json_put_key(w, key);
    if (isnan(interval[0])) {
        json_put_null(w);
        return;
    }
    json_begin_array(w);
    json_put_double(w, interval[0]);
    json_put_double(w, interval[1]);
    json_end_array(w);
}

static void sets_write_of(const dn_set_metrics *s, struct json_writer *w) {
    json_kv_double(w, "coverage", s->coverage);
    json_kv_double(w, "size", s->size);
    json_kv_double(w, "empty", s->empty);
    json_kv_double(w, "single", s->single);
    json_kv_double(w, "support", s->weight);
}

/* Writes the metrics of sets of labels, of all rows and by class. */
static void sets_write(const dn_metrics *m, const dn_classes *classes, struct json_writer *w) {
    json_kv_begin_object(w, "sets");
    sets_write_of(&m->sets[m->n_classes], w);
    json_kv_begin_array(w, "per_class");
    for (size_t k = 0; k < m->n_classes; k++) {
        json_begin_object(w);
        json_put_key(w, "class");
        jobs_class_write(classes, k, w);
        sets_write_of(&m->sets[k], w);
        json_end_object(w);
    }
    json_end_array(w);
    json_end_object(w);
}

void jobs_metrics_write(const dn_metrics *m, const dn_classes *classes, struct json_writer *w) {
    json_begin_object(w);
    json_kv_double(w, "rows", m->rows);
    scalars_write(m, w);
    interval_write("accuracy_interval", m->accuracy_interval, w);
    interval_write("roc_auc_interval", m->roc_auc_interval, w);
    tables_write(&m, 1, classes, w);
    if (m->sets != NULL) {
        sets_write(m, classes, w);
    }
    if (m->curves) {
        curves_write(m->curves, classes, w);
    }
    if (m->warning[0]) {
        json_kv_string(w, "warning", m->warning);
    }
    json_end_object(w);
}

/* Returns the mean of metric i over the folds that define it, and its standard deviation in
 * *out_deviation; NaN if no fold defines the metric. */
static double fold_mean(const dn_metrics *const *folds, size_t n, size_t i, double *out_deviation) {
    double sum = 0, squares = 0, defined = 0;
    for (size_t f = 0; f < n; f++) {
        const double value = dn_metric_value(folds[f], i);
        sum += isnan(value) ? 0 : value;
        defined += isnan(value) ? 0 : 1;
    }
    const double mean = defined > 0 ? sum / defined : (double)NAN;
    for (size_t f = 0; f < n; f++) {
        const double value = dn_metric_value(folds[f], i);
        squares += isnan(value) ? 0 : (value - mean) * (value - mean);
    }
    *out_deviation = defined > 0 ? sqrt(squares / defined) : (double)NAN;
    return mean;
}

bool jobs_metric_read(const json_t *object, const char *parent, size_t *out,
                      struct problem *problem) {
    const char *names[32];
    size_t n = 0;
    while (n < sizeof names / sizeof *names - 1 && dn_metric_name(n) != NULL) {
        names[n] = dn_metric_name(n);
        n++;
    }
    names[n] = NULL;
    return json_read_choice(object, "metric", false, parent, names, out, problem);
}

double jobs_folds_mean(const dn_metrics *const *folds, size_t n, size_t metric) {
    double deviation;
    return fold_mean(folds, n, metric, &deviation);
}

/* Writes "counted": for each metric that is defined in some folds but not in all, the number of
 * folds that define the metric. The mean is over these folds. */
static void counted_write(const dn_metrics *const *folds, size_t n, struct json_writer *w) {
    json_kv_begin_object(w, "counted");
    for (size_t i = 0; dn_metric_name(i); i++) {
        size_t defined = 0;
        for (size_t f = 0; f < n; f++) {
            defined += isnan(dn_metric_value(folds[f], i)) ? 0 : 1;
        }
        if (defined > 0 && defined < n) {
            json_kv_int(w, dn_metric_name(i), (int64_t)defined);
        }
    }
    json_end_object(w);
}

void jobs_folds_write(const dn_metrics *const *folds, size_t n, const dn_metrics *pooled,
                      const dn_classes *classes, struct json_writer *w) {
    double rows = 0, deviation;
    for (size_t f = 0; f < n; f++) {
        rows += folds[f]->rows;
    }
    json_begin_object(w);
    json_kv_double(w, "rows", rows);
    for (size_t i = 0; dn_metric_name(i); i++) {
        json_kv_double(w, dn_metric_name(i), fold_mean(folds, n, i, &deviation));
    }
    tables_write(folds, n, classes, w);
    json_kv_begin_object(w, "std");
    for (size_t i = 0; dn_metric_name(i); i++) {
        (void)fold_mean(folds, n, i, &deviation);
        json_kv_double(w, dn_metric_name(i), deviation);
    }
    json_end_object(w);
    counted_write(folds, n, w);
    json_kv_begin_array(w, "folds");
    for (size_t f = 0; f < n; f++) {
        json_begin_object(w);
        json_kv_double(w, "rows", folds[f]->rows);
        scalars_write(folds[f], w);
        json_end_object(w);
    }
    json_end_array(w);
    if (pooled != NULL) {
        json_put_key(w, "pooled");
        jobs_metrics_write(pooled, classes, w);
    }
    json_end_object(w);
}

/* Returns the problem type for a status of the core. */
static enum problem_type problem_type_of(dn_status code) {
    switch (code) {
    case DN_ERR_ARGUMENT:
        return PROBLEM_INVALID;
    case DN_ERR_DATA:
        return PROBLEM_UNTRAINABLE;
    case DN_ERR_NUMERIC:
        return PROBLEM_JOB_NUMERIC;
    case DN_ERR_BUDGET:
        return PROBLEM_JOB_MEMORY;
    case DN_ERR_TIME:
        return PROBLEM_JOB_TIME;
    case DN_ERR_MEMORY:
        return PROBLEM_UNAVAILABLE;
    case DN_OK:
    case DN_ERR_STOPPED:
    case DN_ERR_CORRUPT:
    case DN_ERR_VERSION:
    case DN_ERR_SOURCE:
        break;
    }
    return PROBLEM_INTERNAL;
}

/* Writes the JSON pointer of the member of the job's body that the error is about; "": unknown. */
static void find_pointer(const dn_error *err, const struct jobs_request *r,
                         char out[JOBS_POINTER_SIZE]) {
    const char *pointer = "/features";
    if (err->field[0] == '\0') {
        pointer = "";
    } else if (r->target.name != NULL && strcmp(err->field, r->target.name) == 0) {
        pointer = "/target";
    } else if (r->weighted && strcmp(err->field, r->weight.name) == 0) {
        pointer = "/weight";
    } else if (jobs_split_pointer(r, err->field) != NULL) {
        pointer = jobs_split_pointer(r, err->field);
    } else if (r->conformal.coverage > 0 && strcmp(err->field, "coverage") == 0) {
        pointer = "/conformal/coverage";
    } else if (dn_params_has(r->params, err->field)) {
        jobs_param_pointer(err->field, out);
        return;
    }
    (void)snprintf(out, JOBS_POINTER_SIZE, "%s", pointer);
}

void jobs_problem_from_core(const dn_error *err, const struct jobs_request *r,
                            struct problem *out) {
    char pointer[JOBS_POINTER_SIZE] = "";
    if (r != NULL) {
        find_pointer(err, r, pointer);
    }
    if (pointer[0] != '\0') {
        problem_add(out, problem_type_of(err->code), pointer, "%s", err->message);
    } else if (r != NULL && err->code == DN_ERR_TIME) {
        problem_set(out, PROBLEM_JOB_TIME,
                    "the time limit of %g s was reached (limits.seconds, at most the daemon's "
                    "--job-seconds)",
                    r->limits.seconds);
    } else if (r != NULL && err->code == DN_ERR_BUDGET) {
        problem_set(out, PROBLEM_JOB_MEMORY,
                    "%s; the limit of the job is %lld MiB (limits.memory_mib, at most the daemon's "
                    "--job-memory)",
                    err->message, (long long)(r->limits.memory_bytes >> 20));
    } else {
        problem_set(out, problem_type_of(err->code), "%s", err->message);
    }
}
