/* Permutation importance: how much worse a model becomes if the cells of one column are in random
 * order, so that the column is not related to the classes.
 *
 * Breiman, Random Forests, Machine Learning 45, 2001, section 10; Fisher, Rudin and Dominici,
 * Journal of Machine Learning Research 20, 2019. */
#ifndef DISCERN_IMPORTANCE_H
#define DISCERN_IMPORTANCE_H

#include <discern/api.h>
#include <discern/model.h>
#include <discern/run.h>
#include <discern/status.h>
#include <discern/table.h>
#include <stddef.h>

DN_BEGIN_DECLS

/* Options. NULL and {0}: five repeats of the accuracy, all weights 1, the target of the model. */
typedef struct dn_importance_options {
    size_t struct_size; /* sizeof, or 0: see api.h */
    size_t repeats;     /* number of random orders for each column; 0: 5 */
    const char *metric; /* a name of dn_metric_name; NULL: "accuracy" */
    const char *weight; /* as in dn_evaluate_options */
    const char *target; /* as in dn_evaluate_options */
} dn_importance_options;

/* Results, for the inputs of the model's encoder in order (dn_encoder_input). Made by the library;
 * may grow at its end. */
typedef struct dn_importance {
    double base; /* the metric of the unchanged rows; NaN: undefined */
    size_t n_inputs;
    double *mean; /* [n_inputs] by how much the metric became worse, as mean over the repeats: its
                   * decrease, or the increase of a loss. Positive: the model uses the column. NaN:
                   * undefined */
    double *deviation; /* [n_inputs] standard deviation over the repeats, divisor `repeats` */
} dn_importance;

/* Computes the importance of each input on a labelled table. The cells of the rows that have a
 * class are permuted; the column is permuted as a whole, before it is encoded. The orders depend on
 * run->seed, the number of the input and the repeat only, so the result does not depend on the
 * number of threads.
 *
 *   run  NULL is allowed
 *   out  set on success; free it with dn_importance_free
 *
 * Errors: those of dn_model_evaluate; DN_ERR_ARGUMENT (field "metric"): the metric is unknown.
 * Cost: 1 + n_inputs · repeats evaluations. Memory: that of dn_model_evaluate and the decoded cells
 * of one column. Polls run->stop as dn_model_evaluate does. Calls
 * run->progress after each evaluation: `iteration` is the number of evaluations that are done. */
DN_MUST_USE dn_status dn_model_importance(const dn_model *model,
                                          const dn_table_source *source,
                                          const dn_importance_options *options,
                                          const dn_run *run,
                                          dn_importance **out,
                                          dn_error *err);
void dn_importance_free(dn_importance *importance); /* NULL is allowed */

DN_END_DECLS

#endif
