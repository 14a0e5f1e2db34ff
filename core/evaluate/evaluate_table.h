/* Evaluation of a model on a table; the model's columns are found by name. */
#ifndef DNI_EVALUATE_TABLE_H
#define DNI_EVALUATE_TABLE_H

#include "evaluate/evaluate_rows.h"

/* Classes and weights of the rows of a source. */
typedef struct dni_model_labels {
    double *index;  /* [n_rows] class; 0 without true classes; NaN: the row is ignored */
    double *weight; /* [n_rows]; NULL: all 1 */
    uint8_t *role;  /* [n_rows] DN_ROW_VALIDATE; DN_ROW_SKIP if the row is ignored */
    void *memory;   /* freed by dn_run_free, also after a failure */
} dni_model_labels;
/* Returns the index of the column with this name; SIZE_MAX if there is none. */
size_t dni_source_column(const dn_table_source *source, const char *name);

/* Reads the labels of a source. `truth` and `weight` name columns or are NULL. *labels must be {0}.
 * Errors: those of dn_model_evaluate. */
DN_MUST_USE dn_status dni_model_labels_read(const dn_model *model, const dn_table_source *source,
                                            const char *truth, const char *weight,
                                            const dn_run *run, dni_model_labels *labels,
                                            dn_error *err);

/* Counts the outliers in a table. `weight` names the column of weights; NULL: all 1. Rows with
 * weight 0 are ignored. */
DN_MUST_USE dn_status dni_count_outliers_table(const dn_model *model, const dn_table_source *source,
                                               const char *weight, const dn_run *run,
                                               dni_outlier_count *out, dn_error *err);

/* role [n_rows] ← DN_ROW_VALIDATE for the rows that dn_model_evaluate uses, otherwise DN_ROW_SKIP.
 * Errors: those of dn_model_evaluate. */
DN_MUST_USE dn_status dni_labelled_roles(const dn_model *model, const dn_table_source *source,
                                         const dn_evaluate_options *options, const dn_run *run,
                                         uint8_t *role, dn_error *err);

/* dn_model_evaluate that also passes the results of the rows to `sink`. options->target is not
 * NULL, or the model has a target. */
DN_MUST_USE dn_status dni_model_evaluate_rows(const dn_model *model, const dn_table_source *source,
                                              const dn_evaluate_options *options,
                                              dni_row_sink *sink, const dn_run *run,
                                              dn_metrics **out, dn_error *err);

/* Returns the bytes for the labels of a table with n_rows rows; dn_model_evaluate needs them in
 * addition to the encoded rows and dni_evaluate_memory. */
double dni_evaluate_table_memory(size_t n_rows, bool weighted);

#endif
