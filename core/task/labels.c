/* Reading target and weights of the training table. */
#include "task/labels.h"
#include "task/target.h"
#include "task/weights.h"
#include "training/outliers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_MAX_CLASSES = 1000 };

/* The classes' names as C strings. */
static dn_status name_classes(dni_labels *l, dn_error *err) {
    const dn_strings *from = &l->classes.shown.names;
    size_t n = l->classes.shown.n;
    l->names = malloc(from->start[n] + n + 1);
    l->class_name = malloc((n + 1) * sizeof *l->class_name);
    l->count = calloc(n + 1, sizeof *l->count);
    if (l->names == NULL || l->class_name == NULL || l->count == NULL) {
        dn_error_set(err, DN_ERR_MEMORY, "no memory for the names of %zu classes", n);
        return DN_ERR_MEMORY;
    }
    char *at = l->names;
    for (size_t k = 0; k < n; k++) {
        size_t length = from->start[k + 1] - from->start[k];
        memcpy(at, from->bytes + from->start[k], length);
        at[length] = '\0';
        l->class_name[k] = at;
        at += length + 1;
    }
    return DN_OK;
}

static bool weighs_classes(const dn_train_request *r) {
    return r->class_weight != DN_CLASS_WEIGHT_NONE;
}

static dn_status take_memory(const dn_train_request *r, dni_labels *l, dn_error *err) {
    size_t n = r->source->n_rows;
    void *memory = NULL;
    dn_status status = dn_run_alloc(l->run, n, sizeof(double), "the class indexes", &memory, err);
    l->index = memory;
    if (status == DN_OK) {
        status = dn_run_alloc(l->run, n, 1, "the roles of the rows", &memory, err);
        l->role = status == DN_OK ? memory : NULL;
    }
    if (status == DN_OK && r->weighted) {
        status = dn_run_alloc(l->run, n, sizeof(double), "the weights", &memory, err);
        l->weight = status == DN_OK ? memory : NULL;
    }
    if (status == DN_OK && weighs_classes(r)) {
        status = dn_run_alloc(l->run, n, sizeof(double), "the weights by class", &memory, err);
        l->value = status == DN_OK ? memory : NULL;
    }
    return status;
}

/* Without a target every row counts, as an inlier. */
static dn_status take_all(const dn_train_request *r, dni_labels *l, dn_error *err) {
    for (size_t i = 0; i < r->source->n_rows; i++) {
        l->index[i] = 0;
    }
    if (r->source->n_rows == 0) {
        return dn_error_set(err, DN_ERR_DATA, "the table has no rows");
    }
    return dni_outlier_classes(&l->classes, err);
}

/* Rows that count of a class: none is no class. */
static dn_status count_rows(const dn_train_request *r, dni_labels *l, dn_error *err) {
    for (size_t i = 0; i < r->source->n_rows; i++) {
        if (!isnan(l->index[i])) {
            l->count[(size_t)l->index[i]]++;
            l->n_rows++;
        }
    }
    for (size_t k = 0; r->target != DN_NO_TARGET && k < l->classes.shown.n; k++) {
        if (l->count[k] == 0) {
            const char *weight = r->source->columns[r->weight].name;
            dn_status status = dn_error_set(err, DN_ERR_DATA,
                                            "class \"%.64s\" has no row with a weight above 0 in "
                                            "column \"%.64s\": give it one, or take its rows out",
                                            l->class_name[k], weight);
            dn_error_set_field(err, weight);
            return status;
        }
    }
    return DN_OK;
}

static dn_status check_class_weights(const dn_train_request *r, const dni_labels *l,
                                     dn_error *err) {
    size_t K = l->classes.shown.n;
    dn_status status = DN_OK;
    if (r->class_weight != DN_CLASS_WEIGHT_GIVEN) {
        return DN_OK;
    }
    if (r->n_class_weights != K) {
        status = dn_error_set(err, DN_ERR_ARGUMENT, "there are %zu class weights for %zu classes",
                              r->n_class_weights, K);
    }
    for (size_t k = 0; status == DN_OK && k < K; k++) {
        double own = r->class_weights[k];
        if (!(own > 0)) {
            status = dn_error_set(err, DN_ERR_DATA,
                                  "class \"%.64s\" has class weight 0, so that none of its rows "
                                  "counts: weigh it more, or take its rows out",
                                  l->class_name[k]);
        } else if (!dni_weight_counts(own)) {
            status = dn_error_set(
                err, DN_ERR_DATA,
                "class \"%.64s\" has class weight %g; a class weight must be from 1e-100 to 1e100",
                l->class_name[k], own);
        }
    }
    if (status != DN_OK) {
        dn_error_set_field(err, "class_weight");
    }
    return status;
}

dn_status dni_labels_read(const dn_train_request *r, const dn_run *run, dni_labels *l,
                          dn_error *err) {
    *l = (dni_labels){.run = run};
    dn_status status = take_memory(r, l, err);
    if (status == DN_OK && r->target == DN_NO_TARGET) {
        status = take_all(r, l, err);
    } else if (status == DN_OK) {
        status = dni_target_read(r->source, r->target,
                                 r->max_classes == 0 ? DEFAULT_MAX_CLASSES : r->max_classes, run,
                                 l->index, &l->classes, err);
    }
    if (status == DN_OK) {
        status = dn_params_check_classes(r->params, l->classes.shown.n, err);
    }
    if (status == DN_OK) {
        status = name_classes(l, err);
    }
    if (status == DN_OK && r->weighted) {
        status = dni_weights_read(r->source, r->weight, run, l->index, l->weight, err);
    }
    if (status == DN_OK) {
        status = count_rows(r, l, err);
    }
    return status == DN_OK ? check_class_weights(r, l, err) : status;
}

void dni_labels_done(dni_labels *l) {
    dni_classes_done(&l->classes);
    free(l->names);
    free((void *)l->class_name);
    free(l->count);
    dn_run_free(l->run, l->role);
    dn_run_free(l->run, l->value);
    dn_run_free(l->run, l->weight);
    dn_run_free(l->run, l->index);
    *l = (dni_labels){0};
}

double dni_labels_memory(const dn_train_request *r, size_t n_rows) {
    return (double)n_rows * (9 + (r->weighted ? 8 : 0) + (weighs_classes(r) ? 8 : 0));
}
