/* What a training knows of each row of its source, the same for every fit: class and weight. */
#ifndef DNI_LABELS_H
#define DNI_LABELS_H

#include "model/classes.h"
#include <discern/model.h>

typedef struct dni_labels {
    const dn_run *run;
    double *
        index; /* [n_rows] class, without a target that of inliers; NaN: the row does not count (target missing, weight 0) */
    double *weight; /* [n_rows] of the weight column; NULL: all 1 */
    double *
        value; /* [n_rows] room for weight · class weight; NULL when no class weighs more than another */
    uint8_t *role; /* [n_rows] dn_row_role, as the present fit needs it */
    dni_classes classes;
    char *names;             /* of the classes, each with its NUL */
    const char **class_name; /* [n_classes] into names */
    size_t *count; /* [n_classes] rows of each class, at least 1; without a target no outliers */
    size_t n_rows; /* all together */
} dni_labels;

/* DN_ERR_DATA and others as dn_train says. On failure too *labels is to be done. */
DN_MUST_USE dn_status dni_labels_read(const dn_train_request *request, const dn_run *run,
                                      dni_labels *labels, dn_error *err);
void dni_labels_done(dni_labels *labels); /* {0} is allowed */

/* Bytes of the run's allocator. */
double dni_labels_memory(const dn_train_request *request, size_t n_rows);

#endif
