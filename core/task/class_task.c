/* The task "classes": a target column has the class of each row. */
#include "task/class_metrics.h"
#include "task/labels.h"
#include "task/target.h"

enum { DEFAULT_MAX_CLASSES = 1000 };

static dn_status class_check(const dn_train_request *r, dn_error *err) {
    if ((r->params->algorithm->flags & DN_ALGORITHM_TARGET) == 0) {
        return dni_request_refuse("target", "the algorithm has no target", err);
    }
    if (r->target >= r->source->n_cols) {
        return dni_request_refuse("target", "the target must be a column of the table", err);
    }
    return DN_OK;
}

static dn_status class_read(const dn_train_request *r, dni_labels *l, dn_error *err) {
    const size_t max_classes = r->max_classes == 0 ? DEFAULT_MAX_CLASSES : r->max_classes;
    dn_status status =
        dni_target_read(r->source, r->target, max_classes, l->run, l->stratum, &l->classes, err);
    l->n_strata = l->classes.view.n;
    return status;
}

static dn_status class_refuse_folds(size_t n, size_t n_folds, dn_error *err) {
    return dn_error_set(
        err, DN_ERR_DATA,
        "%zu folds need at least %zu rows in classes with 2 rows or more (got %zu): %s", n_folds,
        n_folds, n, n < 2 ? "use another validation" : "use fewer folds");
}

#define NAME(member, loss, of) #member,
static const char *const class_metrics[] = {DNI_CLASS_METRICS(NAME) NULL};

const dni_task dni_task_classes = {"classes",   true,       class_metrics,
                                   class_check, class_read, class_refuse_folds};
