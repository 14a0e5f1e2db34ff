/* Numbers of outliers as details of a report. */
#include "training/outlier_report.h"

#include <math.h>
#include <stdlib.h>

static double all(const dni_outlier_count *count) {
    return count->inliers + count->outliers;
}

static double share(double outliers, double rows) {
    return rows > 0 ? outliers / rows : (double)NAN;
}

/* Adds the outlier share of each fold. If memory is exhausted, the detail is omitted. */
static void report_folds(const dni_evaluation *folds, size_t n_folds, dn_report *report) {
    double *shares = malloc(n_folds * sizeof *shares);
    if (shares == NULL) {
        return;
    }
    for (size_t f = 0; f < n_folds; f++) {
        shares[f] = share(folds[f].outliers.outliers, all(&folds[f].outliers));
    }
    dn_report_list(report, "fold_outlier_shares", shares, n_folds);
    free(shares);
}

void dni_report_outliers(const dni_outlier_count *train, const dni_outlier_count *validation,
                         const dni_evaluation *folds, size_t n_folds, dn_report *report) {
    const char *const *names = dni_task_outliers.metrics;
    dn_report_number(report, names[0], train->outliers);
    dn_report_number(report, names[1], share(train->outliers, all(train)));
    if (validation == NULL && n_folds == 0) {
        return;
    }
    double outliers = 0, rows = 0;
    if (validation != NULL) {
        outliers = validation->outliers;
        rows = all(validation);
    }
    for (size_t f = 0; f < n_folds; f++) {
        outliers += folds[f].outliers.outliers;
        rows += all(&folds[f].outliers);
    }
    if (n_folds > 0) {
        report_folds(folds, n_folds, report);
    }
    dn_report_number(report, "validation_outliers", outliers);
    dn_report_number(report, "validation_outlier_share", share(outliers, rows));
}
