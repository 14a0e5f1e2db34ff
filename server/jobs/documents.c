/* What training leaves, as JSON and as problems. */
#include "jobs/documents.h"
#include "jobs/request/params.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void jobs_numbers_put(const double *numbers, size_t n, struct json_writer *w) {
    json_begin_array(w);
    for (size_t i = 0; i < n; i++) {
        json_put_double(w, numbers[i]);
    }
    json_end_array(w);
}

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

const char *jobs_decision_name(dn_decision decision) {
    switch (decision) {
    case DN_DECISION_ONE_VS_REST:
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

/* The sum of the confusion matrices of n metrics. */
static void confusion_write(const dn_metrics *const *metrics, size_t n, const dn_classes *classes,
                            struct json_writer *w) {
    json_put_key(w, "confusion");
    json_begin_object(w);
    json_put_key(w, "classes");
    json_begin_array(w);
    for (size_t k = 0; k < classes->n; k++) {
        jobs_class_write(classes, k, w);
    }
    json_end_array(w);
    json_put_key(w, "matrix");
    json_begin_array(w);
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
    json_put_key(w, "points");
    json_begin_array(w);
    for (size_t i = 0; i < c->n_points; i++) {
        json_begin_object(w);
        json_kv_double(w, x, c->points[i].x);
        json_kv_double(w, y, c->points[i].y);
        json_kv_double(w, "threshold", c->points[i].threshold);
        json_end_object(w);
    }
    json_end_array(w);
}

/* One object for each curve: the class, what is under it, its points. */
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

/* Row k of per_class; beyond the classes macro, then weighted. */
static const dn_class_metrics *class_row(const dn_metrics *m, size_t k) {
    return k < m->n_classes ? &m->per_class[k] : k == m->n_classes ? &m->macro : &m->weighted;
}

/* Means over n metrics where they are defined; support is added up. */
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

/* The members of metrics but the single numbers; of several, means. */
static void tables_write(const dn_metrics *const *metrics, size_t n, const dn_classes *classes,
                         struct json_writer *w) {
    confusion_write(metrics, n, classes, w);
    json_put_key(w, "per_class");
    json_begin_array(w);
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
        json_put_key(w, k == 0 ? "macro" : "weighted");
        json_begin_object(w);
        class_metrics_write(&mean, w);
        json_end_object(w);
    }
}

static void scalars_write(const dn_metrics *m, struct json_writer *w) {
    for (size_t i = 0; dn_metric_name(i); i++) {
        json_kv_double(w, dn_metric_name(i), dn_metric_value(m, i));
    }
}

void jobs_metrics_write(const dn_metrics *m, const dn_classes *classes, struct json_writer *w) {
    json_begin_object(w);
    json_kv_double(w, "rows", m->rows);
    scalars_write(m, w);
    tables_write(&m, 1, classes, w);
    if (m->curves) {
        curves_write(m->curves, classes, w);
    }
    if (m->warning[0]) {
        json_kv_string(w, "warning", m->warning);
    }
    json_end_object(w);
}

/* Mean and deviation of the single number i over the folds where it is defined; NaN where it is in
 * none. */
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

/* Of single numbers that are defined in some folds and not in all, in how many: the mean is theirs.
 */
static void counted_write(const dn_metrics *const *folds, size_t n, struct json_writer *w) {
    json_put_key(w, "counted");
    json_begin_object(w);
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

void jobs_folds_write(const dn_metrics *const *folds, size_t n, const dn_classes *classes,
                      struct json_writer *w) {
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
    json_put_key(w, "std");
    json_begin_object(w);
    for (size_t i = 0; dn_metric_name(i); i++) {
        (void)fold_mean(folds, n, i, &deviation);
        json_kv_double(w, dn_metric_name(i), deviation);
    }
    json_end_object(w);
    counted_write(folds, n, w);
    json_put_key(w, "folds");
    json_begin_array(w);
    for (size_t f = 0; f < n; f++) {
        json_begin_object(w);
        json_kv_double(w, "rows", folds[f]->rows);
        scalars_write(folds[f], w);
        json_end_object(w);
    }
    json_end_array(w);
    json_end_object(w);
}

/* Where a core status belongs among the problems. */
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

/* Writes the JSON pointer of the member of the job's body that the error is about; "" if unknown. */
static void find_pointer(const dn_error *err, const struct jobs_spec *spec,
                         char out[JOBS_POINTER_SIZE]) {
    const char *pointer = "/features";
    if (err->field[0] == '\0') {
        pointer = "";
    } else if (spec->target.name != NULL && strcmp(err->field, spec->target.name) == 0) {
        pointer = "/target";
    } else if (spec->weighted && strcmp(err->field, spec->weight.name) == 0) {
        pointer = "/weight";
    } else if (dn_params_has(spec->params, err->field)) {
        jobs_param_pointer(err->field, out);
        return;
    }
    (void)snprintf(out, JOBS_POINTER_SIZE, "%s", pointer);
}

void jobs_problem_from_core(const dn_error *err, const struct jobs_spec *spec,
                            struct problem *out) {
    char pointer[JOBS_POINTER_SIZE] = "";
    if (spec != NULL) {
        find_pointer(err, spec, pointer);
    }
    if (pointer[0] != '\0') {
        problem_add(out, problem_type_of(err->code), pointer, "%s", err->message);
    } else {
        problem_set(out, problem_type_of(err->code), "%s", err->message);
    }
}
