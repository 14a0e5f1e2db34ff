/* Comparison of models on the same labelled rows.
 *
 *   dn_comparison_new     sets the number of models and of bootstrap samples
 *   dn_comparison_add     evaluates a model and keeps its results for each row
 *   dn_comparison_finish  computes the intervals and tests
 *
 * Intervals are bootstrap percentile intervals: a sample draws as many rows as there are, with
 * replacement, and all models are measured on the same samples. So the interval of a difference is
 * that of paired values. A metric is undefined in a sample that lacks a class that it needs; such
 * samples are left out, and if they are more than half, there is no interval. The percentiles are
 * interpolated linearly between the ordered values. Efron and Tibshirani, An Introduction to the
 * Bootstrap, 1993, chapters 8 (pairs of values) and 13 (percentile intervals).
 *
 * The test is McNemar's, of the null hypothesis that two models are wrong equally often: b rows are
 * classified correctly by the first model only, c by the second only. McNemar, Psychometrika 12,
 * 1947.
 *   b + c < DN_MCNEMAR_EXACT   exact: two-sided binomial test of b among b + c with probability ½
 *   otherwise                  chi-square with one degree of freedom of max(|b − c| − 1, 0)²/(b + c),
 *                              with the correction of Edwards, Psychometrika 13, 1948
 *
 * Results depend on the rows, the models and the seed only, not on the number of threads.
 *
 * Terms: K is the number of classes, B the number of bootstrap samples, n the number of rows that
 * have a class and a weight > 0. A comparison may be used by one thread at a time. */
#ifndef DISCERN_COMPARE_H
#define DISCERN_COMPARE_H

#include <discern/api.h>
#include <discern/metrics.h>
#include <discern/model.h>
#include <discern/run.h>
#include <discern/status.h>
#include <discern/table.h>
#include <stdbool.h>
#include <stddef.h>

DN_BEGIN_DECLS

typedef struct dn_comparison dn_comparison;

#define DN_MCNEMAR_EXACT 25
#define DN_MAX_COMPARED 100 /* models */

typedef struct dn_comparison_options {
    size_t struct_size; /* sizeof, or 0: see api.h */
    size_t n_models;    /* 2 … DN_MAX_COMPARED */
    size_t n_samples;   /* B; 0: no intervals */
    double confidence;  /* of the intervals, 0 < confidence < 1; 0: 0.95 */
    size_t max_rows;    /* limit of the rows that are listed because the models disagree */
    const char *target; /* as in dn_evaluate_options */
    const char *weight; /* as in dn_evaluate_options: weights of the metrics. McNemar's test and the
                          * numbers of rows do not use them */
} dn_comparison_options;

/* Creates a comparison; free it with dn_comparison_free.
 *
 *   options  copied, with the names
 *   run      its memory is used until dn_comparison_free; its seed determines the samples; its
 *            threads draw them, and its stop function ends dn_comparison_finish. Must be valid until
 *            then. NULL is allowed
 *
 * DN_ERR_ARGUMENT, DN_ERR_VERSION, DN_ERR_MEMORY. */
DN_MUST_USE dn_status dn_comparison_new(const dn_comparison_options *options,
                                        const dn_run *run,
                                        dn_comparison **out,
                                        dn_error *err);
void dn_comparison_free(dn_comparison *comparison); /* NULL is allowed */

/* Evaluates the next model. All calls must pass the same rows: those of the first call that have a
 * class must have the same class again. Keeps a reference to the model.
 *
 *   source  the table, with the columns that the model needs
 *   run     of the evaluation; NULL is allowed
 *
 * Errors: those of dn_model_evaluate. DN_ERR_ARGUMENT: all models were added, or the classes of the
 * model are not those of the first one (field "classes"). DN_ERR_DATA: another number of rows, other
 * rows have a class, or no row has one. DN_ERR_BUDGET, DN_ERR_MEMORY. After an error the only
 * allowed call is dn_comparison_free.
 * Memory per row, until dn_comparison_free: 4 bytes, with probabilities 32, with class scores 24,
 * and 4 for each score column that is ranked (metrics.h). */
DN_MUST_USE dn_status dn_comparison_add(dn_comparison *comparison,
                                        const dn_model *model,
                                        const dn_table_source *source,
                                        const dn_run *run,
                                        dn_error *err);

/* Computes the results. Call it once, after the last model. O(B n) for each model and score column.
 * DN_ERR_ARGUMENT: a model is missing. DN_ERR_STOPPED, DN_ERR_TIME, DN_ERR_BUDGET, DN_ERR_MEMORY. */
DN_MUST_USE dn_status dn_comparison_finish(dn_comparison *comparison, dn_error *err);

/* ---- results, valid after dn_comparison_finish. Models are numbered from 0 ---- */
/* Returns the name of compared metric i: those of dn_metric_name, then "macro_f1". NULL: i is too
 * large. */
const char *dn_compared_metric_name(size_t i);

size_t dn_comparison_rows(const dn_comparison *comparison);    /* n */
size_t dn_comparison_skipped(const dn_comparison *comparison); /* the other rows */
/* Returns the metrics of a model, as dn_model_evaluate computes them. */
const dn_metrics *dn_comparison_metrics(const dn_comparison *comparison, size_t model);
/* Returns the value of a compared metric; NaN: undefined. *out [2]: the ends of its interval; NaN:
 * there is none. */
double
dn_comparison_value(const dn_comparison *comparison, size_t model, size_t metric, double *out);

/* McNemar's test. */
typedef struct dn_mcnemar {
    bool exact;
    double statistic; /* chi-square; NaN if exact */
    double p_value;   /* two-sided */
} dn_mcnemar;
/* Tests two models by the numbers of rows that only one of them classifies correctly. */
dn_mcnemar dn_mcnemar_test(size_t first_right, size_t second_right);

/* A pair of models. Pair (i, j), i < j; the pairs are ordered by i, then j. */
typedef struct dn_compared_pair {
    size_t first, second;
    size_t both_right, first_right, second_right, both_wrong; /* numbers of rows; first_right: the
                                                               * second model is wrong */
    size_t disagreements;                                     /* rows with other labels */
    dn_mcnemar mcnemar;
} dn_compared_pair;
size_t dn_comparison_n_pairs(const dn_comparison *comparison);
const dn_compared_pair *dn_comparison_pair(const dn_comparison *comparison, size_t pair);
/* Returns the value of the first model minus that of the second; NaN: one is undefined. out: as in
 * dn_comparison_value. */
double
dn_comparison_difference(const dn_comparison *comparison, size_t pair, size_t metric, double *out);

/* Rows in which at least two models have other labels. */
size_t dn_comparison_disagreements(const dn_comparison *comparison);
/* The first of them, at most max_rows. */
size_t dn_comparison_n_listed(const dn_comparison *comparison);
typedef struct dn_disagreement {
    size_t row;   /* number of the row in the table, from 0 */
    size_t truth; /* class index */
} dn_disagreement;
dn_disagreement dn_comparison_disagreement(const dn_comparison *comparison, size_t i);
/* Returns the label of a model for listed row i: a class index or DN_AMBIGUOUS. *out_probability: its
 * probability; NaN: the model has none. */
size_t dn_comparison_label(const dn_comparison *comparison,
                           size_t i,
                           size_t model,
                           double *out_probability);

DN_END_DECLS

#endif
