/* What training leaves, as JSON and as problems. */
#include "jobs/documents.h"

#include <stdio.h>

void jobs_class_write(const dn_classes *classes, size_t k, struct json_writer *w) {
    if (classes->type == DN_NUMERIC)
        json_put_double(w, classes->number[k]);
    else if (classes->type == DN_BOOLEAN)
        json_put_bool(w, classes->number[k] != 0);
    else
        json_put_stringn(w, classes->names.bytes + classes->names.start[k], classes->names.start[k + 1] - classes->names.start[k]);
}

static void class_metrics_write(const dn_class_metrics *m, struct json_writer *w) {
    json_kv_double(w, "precision", m->precision);
    json_kv_double(w, "recall", m->recall);
    json_kv_double(w, "f1", m->f1);
    json_kv_double(w, "support", m->support);
}

static void confusion_write(const dn_metrics *m, const dn_classes *classes, struct json_writer *w) {
    json_begin_object(w);
    json_put_key(w, "classes");
    json_begin_array(w);
    for (size_t k = 0; k < m->n_classes; k++)
        jobs_class_write(classes, k, w);
    json_end_array(w);
    json_put_key(w, "matrix");
    json_begin_array(w);
    for (size_t i = 0; i < m->n_classes; i++) {
        json_begin_array(w);
        for (size_t j = 0; j < m->n_classes; j++)
            json_put_double(w, m->confusion[i * m->n_classes + j]);
        json_end_array(w);
    }
    json_end_array(w);
    json_end_object(w);
}

void jobs_metrics_write(const dn_metrics *m, const dn_classes *classes, struct json_writer *w) {
    json_begin_object(w);
    json_kv_double(w, "rows", m->rows);
    json_kv_double(w, "accuracy", m->accuracy);
    json_kv_double(w, "error", m->error);
    json_kv_double(w, "balanced_accuracy", m->balanced_accuracy);
    json_kv_double(w, "log_loss", m->log_loss);
    json_put_key(w, "confusion");
    confusion_write(m, classes, w);
    json_put_key(w, "per_class");
    json_begin_array(w);
    for (size_t k = 0; k < m->n_classes; k++) {
        json_begin_object(w);
        json_put_key(w, "class");
        jobs_class_write(classes, k, w);
        class_metrics_write(&m->per_class[k], w);
        json_end_object(w);
    }
    json_end_array(w);
    json_put_key(w, "macro");
    json_begin_object(w);
    class_metrics_write(&m->macro, w);
    json_end_object(w);
    json_put_key(w, "weighted");
    json_begin_object(w);
    class_metrics_write(&m->weighted, w);
    json_end_object(w);
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

void jobs_problem_from_core(const dn_error *err, struct problem *out) {
    if (err->code == DN_ERR_ARGUMENT && err->field[0]) {
        char pointer[sizeof err->field + 16];
        snprintf(pointer, sizeof pointer, "/params/%s", err->field);
        problem_add(out, PROBLEM_INVALID, pointer, "%s", err->message);
    } else {
        problem_set(out, problem_type_of(err->code), "%s", err->message);
    }
}
