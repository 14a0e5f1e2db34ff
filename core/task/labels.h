/* Class, weight and role of each row of the training source. Class and weight are read once; role
 * and effective weight are set for each fit. */
#ifndef DNI_LABELS_H
#define DNI_LABELS_H

#include "model/classes.h"
#include "task/split.h"
#include "task/task.h"

struct dni_labels {
    const dni_task *task;
    const dn_run *run;

    /* [n_rows] class index; 0 without a target. Used to stratify the holdout and the folds. NaN:
     * the row is ignored (missing target or weight 0) */
    double *stratum;

    /* [n_rows] values of the weight column; NULL: all 1 */
    double *weight;

    /* [n_rows] effective weight in the current fit: weight × class weight in its training rows, 0
     * in other rows; NULL without class weights */
    double *value;

    uint8_t *role;           /* [n_rows] dn_row_role in the current fit */
    size_t n_strata;         /* number of classes; 1 without a target */
    dni_classes classes;     /* outputs of the model: the classes, or "inlier" and "outlier" */
    char *names;             /* names of the classes, each NUL-terminated */
    const char **class_name; /* [n_classes] pointers into `names` */
    size_t *count;           /* [n_strata] number of rows of each stratum; at least 1 with a
                                * target */
    void *memory;            /* the allocation that contains stratum, weight, value and role */
};

/* Reads the target and the weights. Errors: those of dn_train. The caller must call
 * dni_labels_done, also after a failure. */
DN_MUST_USE dn_status dni_labels_read(const dn_train_request *request, const dn_run *run,
                                      dni_labels *labels, dn_error *err);
void dni_labels_done(dni_labels *labels); /* labels may be zero-initialised */

static inline size_t dni_labels_n_classes(const dni_labels *labels) {
    return labels->classes.view.n;
}

/* Returns [n_rows] the targets for the encoder and the learner; NULL if the task has no target. */
static inline const double *dni_labels_target(const dni_labels *labels) {
    return labels->task->has_truth ? labels->stratum : NULL;
}

/* Returns the number of rows that folds can hold out: those of strata with at least two rows. */
size_t dni_labels_fold_rows(const dni_labels *labels);
/* Checks that each of n_folds folds has a row. DN_ERR_DATA otherwise. */
DN_MUST_USE dn_status dni_labels_check_folds(const dni_labels *labels, size_t n_folds,
                                             dn_error *err);

/* Returns the bytes of the arrays of dni_labels that have n_rows elements. */
double dni_labels_memory(const dn_train_request *request, size_t n_rows);

#endif
