/* What a training knows of each row of its source: class, weight, and the part the row takes in the
 * present fit. */
#ifndef DNI_LABELS_H
#define DNI_LABELS_H

#include "model/classes.h"
#include "task/split.h"
#include "task/task.h"

struct dni_labels {
    const dni_task *task;
    const dn_run *run;
    double *stratum; /* [n_rows] the rows of a stratum are split evenly: the class index; 0 without
                        classes; NaN: the row is ignored (target missing, weight 0) */
    double *weight;  /* [n_rows] of the weight column; NULL: all 1 */
    double
        *value; /* [n_rows] weight × class weight in the present fit; NULL without class weights */
    uint8_t *role;             /* [n_rows] dn_row_role in the present fit */
    size_t n_strata;           /* number of classes; 1 without */
    dni_classes outcomes;      /* what the model answers: the classes, or "inlier" and "outlier" */
    char *names;               /* of the outcomes, each ending with NUL */
    const char **outcome_name; /* [n_outcomes] into names */
    size_t *count;             /* [n_strata] rows of each stratum, at least 1 with a target */
    void *memory;              /* of stratum, weight, value and role */
};

/* Reads target and weights. Errors: those of dn_train. Call dni_labels_done after a failure too. */
DN_MUST_USE dn_status dni_labels_read(const dn_train_request *request, const dn_run *run,
                                      dni_labels *labels, dn_error *err);
void dni_labels_done(dni_labels *labels); /* {0} is allowed */

static inline size_t dni_labels_n_outcomes(const dni_labels *labels) {
    return labels->outcomes.shown.n;
}

/* The targets of encoder and learner, [n_rows]; NULL if the task has none. */
static inline const double *dni_labels_target(const dni_labels *labels) {
    return labels->task->has_truth ? labels->stratum : NULL;
}

/* Checks that each stratum has a row for each of n_folds folds. DN_ERR_DATA. */
DN_MUST_USE dn_status dni_labels_check_folds(const dni_labels *labels, size_t n_folds,
                                             dn_error *err);

/* Bytes of the arrays above that are as long as the rows. */
double dni_labels_memory(const dn_train_request *request, size_t n_rows);

#endif
