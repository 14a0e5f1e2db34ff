/* The task "outliers": there is no target. The model describes the training rows and separates
 * inliers from outliers. All rows form one stratum. */
#include "task/labels.h"

static dn_status outlier_check(const dn_train_request *r, dn_error *err) {
    if ((r->params->algorithm->flags & DN_ALGORITHM_TARGET) != 0) {
        return dni_request_refuse(
            "target", "the algorithm needs a target, which must be a column of the table", err);
    }
    if (r->class_weight != DN_CLASS_WEIGHT_NONE) {
        return dni_request_refuse("class_weight",
                                  "class weights need a target, and the algorithm has none", err);
    }
    if (r->curves) {
        return dni_request_refuse("curves", "curves need a target, and the algorithm has none",
                                  err);
    }
    return DN_OK;
}

static dn_status outlier_read(const dn_train_request *r, dni_labels *l, dn_error *err) {
    static const uint32_t start[] = {0, 6, 13};
    const dn_strings names = {.n = 2, .start = start, .bytes = "inlieroutlier"};
    l->n_strata = 1; /* l->stratum of all rows is 0, because the layout is zeroed */
    if (r->source->n_rows == 0) {
        return dn_error_set(err, DN_ERR_DATA, "the table has no rows");
    }
    return dni_classes_from_strings(DN_CATEGORICAL, names, &l->classes, err);
}

static dn_status outlier_refuse_folds(size_t n, size_t n_folds, dn_error *err) {
    return dn_error_set(err, DN_ERR_DATA, "%zu folds need at least %zu rows, but there %s %zu: %s",
                        n_folds, n_folds, n == 1 ? "is" : "are", n,
                        n < 2 ? "use another validation" : "use fewer folds");
}

static const char *const outlier_metrics[] = {"outliers", "outlier_share", NULL};

const dni_task dni_task_outliers = {"outliers",    false,        outlier_metrics,
                                    outlier_check, outlier_read, outlier_refuse_folds};
