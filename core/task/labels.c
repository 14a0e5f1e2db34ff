/* Target and weights of the training rows. */
#include "task/labels.h"
#include "base/argument.h"
#include "base/layout.h"
#include "number/number_text.h"
#include "task/weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Copies the names of the classes to NUL-terminated strings and allocates l->count. */
static dn_status name_classes(dni_labels *l, dn_error *err) {
    const dn_strings *from = &l->classes.view.names;
    size_t n = l->classes.view.n;
    l->names = malloc(from->start[n] + n + 1);
    l->class_name = calloc(n + 1, sizeof *l->class_name);
    l->count = calloc(n + 1, sizeof *l->count);
    if (l->names == NULL || l->class_name == NULL || l->count == NULL) {
        return dn_error_set(err, DN_ERR_MEMORY, "no memory for the names of %zu classes", n);
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

struct shape {
    size_t n_rows;
    bool weighted, class_weighted;
};

static struct shape shape_of(const dn_train_request *r, size_t n_rows) {
    return (struct shape){n_rows, r->weighted, r->class_weight != DN_CLASS_WEIGHT_NONE};
}

static void labels_layout(dni_layout *layout, const void *shape, void *out) {
    const struct shape *s = shape;
    dni_labels *l = out;
    l->stratum = dni_layout_doubles(layout, s->n_rows);
    l->weight = s->weighted ? dni_layout_doubles(layout, s->n_rows) : NULL;
    l->value = s->class_weighted ? dni_layout_doubles(layout, s->n_rows) : NULL;
    l->role = dni_layout_array(layout, s->n_rows, sizeof *l->role);
}

/* Counts the rows of each stratum. DN_ERR_DATA: all rows of a class have weight 0. */
static dn_status count_rows(const dn_train_request *r, dni_labels *l, dn_error *err) {
    for (size_t i = 0; i < r->source->n_rows; i++) {
        if (!isnan(l->stratum[i])) {
            l->count[(size_t)l->stratum[i]]++;
        }
    }
    for (size_t k = 0; l->task->has_truth && k < l->n_strata; k++) {
        if (l->count[k] == 0) {
            const char *weight = r->source->columns[r->weight].name;
            return dni_error_at(
                dn_error_set(err, DN_ERR_DATA,
                             "class \"%.64s\" has no row with a weight above 0 in column "
                             "\"%.64s\": set a weight above 0, or remove the rows of the class",
                             l->class_name[k], weight),
                weight, -1, err);
        }
    }
    return DN_OK;
}

static dn_status check_class_weights(const dn_train_request *r, const dni_labels *l,
                                     dn_error *err) {
    size_t K = l->n_strata;
    dn_status status = DN_OK;
    if (r->class_weight != DN_CLASS_WEIGHT_GIVEN) {
        return DN_OK;
    }
    if (r->n_class_weights != K) {
        status = dn_error_set(err, DN_ERR_ARGUMENT, "there are %zu class weights for %zu classes",
                              r->n_class_weights, K);
    }
    for (size_t k = 0; status == DN_OK && k < K; k++) {
        char number[DN_NUMBER_SIZE];
        const double weight = r->class_weights[k];
        if (!(weight > 0)) {
            status = dn_error_set(err, DN_ERR_DATA,
                                  "class \"%.64s\" has class weight 0: set a weight above 0, or "
                                  "remove the rows of the class",
                                  l->class_name[k]);
        } else if (!dni_weight_valid(weight)) {
            status =
                dn_error_set(err, DN_ERR_DATA,
                             "the weight of class \"%.64s\" must be from 1e-100 to 1e100 (got %s)",
                             l->class_name[k], dni_number_text(weight, number));
        }
    }
    return status == DN_OK ? DN_OK : dni_error_at(status, "class_weight", -1, err);
}

dn_status dni_labels_read(const dn_train_request *r, const dn_run *run, dni_labels *l,
                          dn_error *err) {
    const struct shape shape = shape_of(r, r->source->n_rows);
    *l = (dni_labels){.run = run, .task = dni_task_of(r)};
    dn_status status = dni_layout_take(run, labels_layout, &shape, l,
                                       "the class indexes and weights", &l->memory, err);
    if (status != DN_OK) {
        return status;
    }
    status = l->task->read(r, l, err);
    if (status != DN_OK) {
        return status;
    }
    status = dn_params_check_classes(r->params, dni_labels_n_classes(l), err);
    if (status != DN_OK) {
        return status;
    }
    status = name_classes(l, err);
    if (status != DN_OK) {
        return status;
    }
    if (r->weighted) {
        status = dni_weights_read(r->source, r->weight, run, l->stratum, l->weight, err);
        if (status != DN_OK) {
            return status;
        }
    }
    status = count_rows(r, l, err);
    return status == DN_OK ? check_class_weights(r, l, err) : status;
}

void dni_labels_done(dni_labels *l) {
    dni_classes_done(&l->classes);
    free(l->names);
    free((void *)l->class_name);
    free(l->count);
    if (l->run != NULL) {
        dn_run_free(l->run, l->memory);
    }
    *l = (dni_labels){0};
}

size_t dni_labels_fold_rows(const dni_labels *l) {
    size_t n = 0;
    for (size_t k = 0; k < l->n_strata; k++) {
        n += l->count[k] > 1 ? l->count[k] : 0;
    }
    return n;
}

dn_status dni_labels_check_folds(const dni_labels *l, size_t n_folds, dn_error *err) {
    const size_t n = dni_labels_fold_rows(l);
    return n_folds <= n ? DN_OK : l->task->refuse_folds(n, n_folds, err);
}

double dni_labels_memory(const dn_train_request *r, size_t n_rows) {
    const struct shape shape = shape_of(r, n_rows);
    dni_labels labels;
    return dni_layout_bytes(labels_layout, &shape, &labels);
}
