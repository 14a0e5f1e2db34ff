/* Warnings about classes that have no row in a fold, or no validation row. */
#ifndef DNI_FOLD_CLASSES_H
#define DNI_FOLD_CLASSES_H

#include "task/labels.h"

#include <discern/metrics.h>

/* What is known of the classes of a fold. */
enum dni_fold_classes {
    DNI_FOLDS_STRATIFIED, /* a class with at least as many rows as there are folds is in all folds */
    DNI_FOLDS_ANY,        /* nothing */
    DNI_FOLDS_OF_ONE_ROW  /* each fold has one row: the folds without a class are not named */
};

/* Adds warnings (DN_WARNING_FOLD_CLASSES): one names the folds that have no row of some classes,
 * with the names of these classes; another names the classes with one row, which no fold holds out.
 *
 *   fold  [source rows] from dni_division_folds */
DN_MUST_USE dn_status dni_warn_of_fold_classes(const dni_labels *labels, size_t n_rows,
                                               const uint16_t *fold, size_t n_folds,
                                               enum dni_fold_classes kind, dn_report *report,
                                               dn_error *err);

/* Adds a warning (DN_WARNING_VALIDATION_CLASSES) that names the classes without a validation row.
 *
 *   metrics  of the validation rows
 *   rows     names them: "held-out" or "validation" */
void dni_warn_of_validation_classes(const dni_labels *labels, const dn_metrics *metrics,
                                    const char *rows, dn_report *report);

#endif
