/* Tasks: the kind of output of a model, and its requirements on the training rows.
 *
 * A task is separate from the decision rule (decision.h), which computes an output from scores. The
 * task reads the target, checks that there are enough rows for folds, and lists its metrics. A new
 * task is one file and one line in dni_task_of.
 *
 *   classes    the target column has a class for each row. The output is one of the classes
 *   outliers   there is no target. The output is "inlier" or "outlier" */
#ifndef DNI_TASK_H
#define DNI_TASK_H

#include "base/argument.h"
#include <discern/model.h>

typedef struct dni_labels dni_labels; /* labels.h */

typedef struct dni_task {
    const char *name;
    bool has_truth;             /* true: rows have a true class, which is the target of the encoder
                                 * and the learner */
    const char *const *metrics; /* names of the metrics; NULL-terminated */

    /* Checks target, class weights and curves of a request. DN_ERR_ARGUMENT (field). */
    dn_status (*check)(const dn_train_request *request, dn_error *err);

    /* Fills labels->stratum, n_strata and classes. Errors: those of dn_train. */
    dn_status (*read)(const dn_train_request *request, dni_labels *labels, dn_error *err);

    /* Sets the error for too many folds and returns DN_ERR_DATA. n < n_folds is the number of rows
     * that folds can hold out. */
    dn_status (*refuse_folds)(size_t n, size_t n_folds, dn_error *err);
} dni_task;

extern const dni_task dni_task_classes, dni_task_outliers;

/* Sets the error for a field of a request and returns DN_ERR_ARGUMENT. */
static inline dn_status dni_request_refuse(const char *field, const char *message, dn_error *err) {
    return dni_error_at(dn_error_set(err, DN_ERR_ARGUMENT, "%s", message), field, -1, err);
}

/* Returns the task of a request: outliers if the request has no target. */
const dni_task *dni_task_of(const dn_train_request *request);

#endif
