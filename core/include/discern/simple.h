/* The common case in few calls: numbers in an array of the caller, a method by its name.
 *
 *   dn_model *model;
 *   dn_status status = dn_fit(x, n_rows, n_cols, y, "svm", "C=10 kernel=rbf", NULL, &model, &err);
 *   dn_array more = dn_array_doubles(values, n, n_cols);
 *   status = dn_model_predict_rows(model, &more, &(dn_prediction){.label = labels}, NULL, &err);
 *
 * Tables with categories, texts or sparse columns, held-out rows and cross-validation: dn_train
 * (model.h). */
#ifndef DISCERN_SIMPLE_H
#define DISCERN_SIMPLE_H

#include <discern/algorithm.h>
#include <discern/api.h>
#include <discern/model.h>
#include <discern/run.h>
#include <discern/status.h>
#include <stddef.h>

DN_BEGIN_DECLS

typedef enum dn_array_type { DN_ARRAY_DOUBLE, DN_ARRAY_FLOAT } dn_array_type;

/* A view of [n_rows × n_cols] numbers. Element (i, j) is values[i * row_stride + j * col_stride].
 * NaN is a missing value; an infinite value is an error. */
typedef struct dn_array {
    const void *values; /* double or float, as `type` says; NULL is allowed without rows */
    dn_array_type type;
    size_t n_rows, n_cols;
    size_t row_stride; /* elements from a row to the next; 0: n_cols */
    size_t col_stride; /* elements from a column to the next; 0: 1 */
} dn_array;

/* Views of row-major arrays without gaps. */
dn_array dn_array_doubles(const double *values, size_t n_rows, size_t n_cols);
dn_array dn_array_floats(const float *values, size_t n_rows, size_t n_cols);

/* ---- training ---- */

/* Trains a model on row-major doubles.
 *
 *   x        [n_rows × n_cols]; NaN: missing, replaced by the mean of the column. The features are
 *            named "x0", "x1", …
 *   y        [n_rows] the class of each row as any finite number; rows with NaN are skipped. NULL
 *            for a method without a target ("one_class_svm")
 *   method   id of an algorithm (dn_algorithm_find)
 *   params   parameters for dn_params_set_words, or NULL for the defaults
 *   run      seed, memory, threads, stop (run.h); NULL: dn_run_default()
 *   out      the caller releases it with dn_model_unref
 *
 * Errors: DN_ERR_ARGUMENT for a method or a parameter, with suggestions; those of dn_train. Memory:
 * that of dn_train, and a copy of 1,024 rows of x for each slot of the run. The model is the one
 * that dn_train makes of a table with the same columns. Features are standardised if the method's
 * catalogue entry says so (DN_ALGORITHM_STANDARDIZE). A fit that has not converged is a success:
 * dn_fit_arrays returns the report. */
DN_MUST_USE dn_status dn_fit(const double *x,
                             size_t n_rows,
                             size_t n_cols,
                             const double *y,
                             const char *method,
                             const char *params,
                             const dn_run *run,
                             dn_model **out,
                             dn_error *err);

/* The same with the class of each row as a string in UTF-8: y [n_rows]; rows with NULL are
 * skipped. */
DN_MUST_USE dn_status dn_fit_strings(const double *x,
                                     size_t n_rows,
                                     size_t n_cols,
                                     const char *const *y,
                                     const char *method,
                                     const char *params,
                                     const dn_run *run,
                                     dn_model **out,
                                     dn_error *err);

/* Rows for dn_fit_arrays. Members that are NULL are not given. */
typedef struct dn_fit_data {
    size_t struct_size; /* sizeof, or 0: see api.h */
    dn_array x;
    const double *y;           /* [n_rows] classes as numbers; or: */
    const char *const *labels; /* [n_rows] classes as strings; at most one of the two */
    const char *const
        *names;           /* [n_cols] names of the features, all different; NULL: "x0", "x1", … */
    const double *weight; /* [n_rows] 0 or DN_MIN_WEIGHT … DN_MAX_WEIGHT; NULL: all 1 */
} dn_fit_data;

/* Like dn_fit, for any dn_array, with names and weights. *out has the model, the report and the
 * metrics on the training rows; the caller releases it with dn_train_result_done. */
DN_MUST_USE dn_status dn_fit_arrays(const dn_fit_data *data,
                                    const char *method,
                                    const char *params,
                                    const dn_run *run,
                                    dn_train_result *out,
                                    dn_error *err);

/* Sets parameters from a text of `name=value` separated by blanks: "C=10 kernel=rbf
 * kernel.width=0.5", "layers=8,4 activation=tanh". A value is a number, a word, true or false, or a
 * list of numbers with commas. "kernel.type" is the same as "kernel". NULL and "" set nothing.
 * Calls dn_params_check.
 *
 * DN_ERR_ARGUMENT (field: the parameter): a parameter that the algorithm does not have, a value
 * that breaks its rule, a parameter given twice or without effect on this method. On failure params
 * is unchanged. */
DN_MUST_USE dn_status dn_params_set_words(dn_params *params, const char *words, dn_error *err);

/* ---- prediction ---- */

/* Predicts rows of x; column j of x is input j of the model.
 *
 *   x     numbers of the model's n_inputs columns. A numeric input takes its value, a boolean 0 or
 *         1, a categorical the index of its level (dn_encoder_level) or DN_UNSEEN
 *   out   which results are wanted (model.h), each with x->n_rows rows
 *   run   memory and stop; NULL: dn_run_default()
 *
 * DN_ERR_ARGUMENT: another number of columns; a text or sparse input; results that the model does
 * not have (probabilities, densities, contributions). DN_ERR_DATA (row, field): an infinite value,
 * a value that is no level, a missing value that the model does not accept. DN_ERR_NUMERIC (row):
 * scores that are no finite numbers. On failure some rows may have been written. Thread safe. */
DN_MUST_USE dn_status dn_model_predict_rows(const dn_model *model,
                                            const dn_array *x,
                                            const dn_prediction *out,
                                            const dn_run *run,
                                            dn_error *err);

/* ---- streams ---- */

/* A function that reads at most size bytes (> 0) into buffer and returns how many, 0 at the end of
 * the stream, or a negative number for an error. Fewer bytes than size are no error. */
typedef ptrdiff_t (*dn_read_fn)(void *ctx, void *buffer, size_t size);
/* A function that writes at most size bytes (> 0) and returns how many; 0 and below are errors. */
typedef ptrdiff_t (*dn_write_fn)(void *ctx, const void *bytes, size_t size);

/* Writes the bytes of dn_model_write through `write`, which is called until all are written.
 * DN_ERR_SOURCE: `write` failed. */
DN_MUST_USE dn_status dn_model_save(const dn_model *model,
                                    dn_write_fn write,
                                    void *ctx,
                                    dn_error *err);
/* Reads one model through `read`, and no byte that follows it. Memory is taken as the bytes arrive.
 * DN_ERR_SOURCE: `read` failed. DN_ERR_CORRUPT: the stream ends early, or as dn_model_read. The
 * caller releases *out with dn_model_unref. */
DN_MUST_USE dn_status dn_model_load(dn_read_fn read, void *ctx, dn_model **out, dn_error *err);

DN_END_DECLS

#endif
