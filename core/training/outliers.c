/* Rows that are all taken for inliers. */
#include "training/outliers.h"
#include "training/crossval.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

dn_status dni_outlier_classes(dni_classes *out, dn_error *err) {
    static const uint32_t start[] = {0, 6, 13};
    const dn_strings names = {.n = 2, .start = start, .bytes = "inlieroutlier"};
    return dni_classes_from_strings(DN_CATEGORICAL, names, out, err);
}

/* Of rows whose truth is class 0: how much those weigh that are called outliers, and all. */
static void add_up(const dn_metrics *metrics, double *outliers, double *all) {
    *outliers += metrics->confusion[1];
    *all += metrics->confusion[0] + metrics->confusion[1];
}

static double share(double outliers, double all) {
    return all > 0 ? outliers / all : (double)NAN;
}

static void tell_folds(const dn_train_result *result, dn_report *report, double *outliers,
                       double *all) {
    double *shares = malloc((result->n_folds + 1) * sizeof *shares);
    for (size_t f = 0; f < result->n_folds; f++) {
        double own = 0, rows = 0;
        add_up(result->folds[f], &own, &rows);
        *outliers += own;
        *all += rows;
        if (shares != NULL) {
            shares[f] = share(own, rows);
        }
    }
    if (shares != NULL) {
        dn_report_list(report, "fold_outlier_shares", shares, result->n_folds);
    }
    free(shares);
}

void dni_outliers_tell(dn_train_result *result, dn_report *report) {
    double outliers = 0, all = 0;
    add_up(result->train, &outliers, &all);
    dn_report_number(report, "outliers", outliers);
    dn_report_number(report, "outlier_share", share(outliers, all));
    outliers = all = 0;
    if (result->validation != NULL) {
        add_up(result->validation, &outliers, &all);
    }
    if (result->n_folds > 0) {
        tell_folds(result, report, &outliers, &all);
    }
    if (result->validation != NULL || result->n_folds > 0) {
        dn_report_number(report, "validation_outliers", outliers);
        dn_report_number(report, "validation_outlier_share", share(outliers, all));
    }
    dn_metrics_free(result->train);
    dn_metrics_free(result->validation);
    dni_folds_free(result->folds, result->n_folds);
    result->train = result->validation = NULL;
    result->folds = NULL;
    result->n_folds = 0;
}
