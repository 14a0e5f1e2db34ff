/* Short functions for the most common use: numbers in an array of the caller, an algorithm by
 * name.
 *
 *   dn_model *model;
 *   dn_status status = dn_fit(x, n_rows, n_cols, y, "svm", "C=10 kernel=rbf", NULL, &model, &err);
 *   dn_array more = dn_array_doubles(values, n, n_cols);
 *   status = dn_model_predict_rows(model, &more, &(dn_prediction){.label = labels}, NULL, &err);
 *
 * For tables with categories, texts or sparse columns, held-out rows and cross-validation use
 * dn_train (model.h). */
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
    const void *values; /* array of double or float, according to `type`; may be NULL if n_rows is
                         * 0 */
    dn_array_type type;
    size_t n_rows, n_cols;
    size_t row_stride; /* number of elements between the starts of consecutive rows; 0: n_cols */
    size_t col_stride; /* number of elements between consecutive columns; 0: 1 */
} dn_array;

/* Return views of row-major arrays without gaps. */
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
 * that of dn_train, plus a copy of 1,024 rows of x for each slot of the run. The model is equal to
 * the model that dn_train makes of a table with the same columns. Features are standardised if
 * dn_params_standardizes is true for the parameters. A fit that has not converged returns DN_OK;
 * use dn_fit_arrays to get the report. */
DN_MUST_USE dn_status dn_fit(const double *x,
                             size_t n_rows,
                             size_t n_cols,
                             const double *y,
                             const char *method,
                             const char *params,
                             const dn_run *run,
                             dn_model **out,
                             dn_error *err);

/* Like dn_fit, with the class of each row as a UTF-8 string: y [n_rows]; rows with NULL are
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

/* Data for dn_fit_arrays. A member that is NULL is not given. */
typedef struct dn_fit_data {
    size_t struct_size; /* sizeof, or 0: see api.h */
    dn_array x;
    const double *y;           /* [n_rows] classes as numbers; at most one of y and labels may be
                                * given */
    const char *const *labels; /* [n_rows] classes as strings */
    /* [n_cols] names of the features, all different; NULL: "x0", "x1", … */
    const char *const *names;
    const double *weight; /* [n_rows] 0 or DN_MIN_WEIGHT … DN_MAX_WEIGHT; NULL: all 1 */
    dn_weights weights;   /* meaning of `weight` */
} dn_fit_data;

/* Like dn_fit, for any dn_array, with names and weights. *out receives the model, the report and
 * the metrics on the training rows; the caller frees it with dn_train_result_done. */
DN_MUST_USE dn_status dn_fit_arrays(const dn_fit_data *data,
                                    const char *method,
                                    const char *params,
                                    const dn_run *run,
                                    dn_train_result *out,
                                    dn_error *err);

/* Sets parameters from a string of `name=value` separated by blanks: "C=10 kernel=rbf
 * kernel.width=0.5", "layers=8,4 activation=tanh". A value is a number, a word, true or false, or
 * a comma-separated list of numbers. "kernel.type" is a synonym of "kernel". NULL and "" set
 * nothing. Calls dn_params_check.
 *
 * DN_ERR_ARGUMENT (field: the parameter): the algorithm does not have the parameter, a value is
 * invalid, or a parameter is given twice or has no effect (dn_params_applies). On failure params is
 * unchanged. */
DN_MUST_USE dn_status dn_params_set_words(dn_params *params, const char *words, dn_error *err);

/* ---- prediction ---- */

/* Predicts rows of x; column j of x is input j of the model.
 *
 *   x     n_inputs columns of numbers: the value of a numeric input, 0 or 1 for a boolean, the
 *         index of the level (dn_encoder_level) or DN_UNSEEN for a categorical input
 *   out   arrays of the results to compute (model.h), each with x->n_rows rows
 *   run   memory and stop function; NULL: dn_run_default()
 *
 * DN_ERR_ARGUMENT: another number of columns; a text or sparse input; results that the model
 * cannot compute (probabilities, densities, contributions). DN_ERR_DATA (row, field): an infinite
 * value, a value that is not a level, a missing value that the model does not accept.
 * DN_ERR_NUMERIC (row): scores that are not finite. On failure the results of some rows may have
 * been written. Thread-safe. */
DN_MUST_USE dn_status dn_model_predict_rows(const dn_model *model,
                                            const dn_array *x,
                                            const dn_prediction *out,
                                            const dn_run *run,
                                            dn_error *err);

/* ---- streams ---- */

/* A function that reads at most size bytes (> 0) into buffer. Returns the number of bytes read,
 * which may be less than size; 0 at the end of the stream; a negative number on error. */
typedef ptrdiff_t (*dn_read_fn)(void *ctx, void *buffer, size_t size);
/* A function that writes at most size bytes (> 0). Returns the number of bytes written; 0 or a
 * negative number on error. */
typedef ptrdiff_t (*dn_write_fn)(void *ctx, const void *bytes, size_t size);

/* Writes the bytes of dn_model_write by calling `write` until all bytes are written.
 * DN_ERR_SOURCE: `write` failed. */
DN_MUST_USE dn_status dn_model_save(const dn_model *model,
                                    dn_write_fn write,
                                    void *ctx,
                                    dn_error *err);
/* Reads one model by calling `read`; does not read beyond the end of the model. Memory is
 * allocated as the bytes arrive. DN_ERR_SOURCE: `read` failed. DN_ERR_CORRUPT: the stream ends
 * early; other errors as in dn_model_read. The caller releases *out with dn_model_unref. */
DN_MUST_USE dn_status dn_model_load(dn_read_fn read, void *ctx, dn_model **out, dn_error *err);

DN_END_DECLS

#endif
