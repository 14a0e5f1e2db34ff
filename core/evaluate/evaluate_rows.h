/* Metrics of a model on rows whose classes are known. */
#ifndef DNI_EVALUATE_ROWS_H
#define DNI_EVALUATE_ROWS_H

#include <discern/metrics.h>
#include <discern/model.h>
#include <discern/rows.h>
#include <discern/run.h>

/* Rows encoded by the model's encoder, with class indexes as targets; without targets each is taken for one of class 0. */
typedef struct dni_evaluate_input {
    const dn_rows *rows;
    const double *
        weight; /* of the source's rows, what the metrics weigh them by (the rows' own weights are the learner's); NULL: all 1 */
    const uint8_t
        *role; /* with weight: `rows` are the source's rows that have the role `wanted`, in order */
    uint8_t wanted;
    bool curves;
} dni_evaluate_input;

/* One pass, in order, on this thread; kernel machines score in all of the run's. */
DN_MUST_USE dn_status dni_evaluate_rows(const dni_evaluate_input *input, const dn_model *model,
                                        const dn_run *run, dn_metrics **out, dn_error *err);

/* The scores of rows encoded by the model's encoder, tile after tile in their order: scores [n × n_scores], truth [n] class indexes. Fails as dni_evaluate_rows. */
typedef void dni_scores_fn(void *arg, const double *scores, const size_t *truth, size_t n);
DN_MUST_USE dn_status dni_score_rows(const dn_rows *rows, const dn_model *model, const dn_run *run,
                                     dni_scores_fn *fn, void *arg, dn_error *err);

/* dn_model_evaluate's work. Without a target in the options or the model every row is taken for one of class 0. */
DN_MUST_USE dn_status dni_evaluate_table(const dn_model *model, const dn_table_source *source,
                                         const dn_evaluate_options *options, const dn_run *run,
                                         dn_metrics **out, dn_error *err);

/* Bytes that judging takes beside the rows, as far as it needs them; the ranking, which can be left out; both without a model. */
double dni_evaluate_memory(size_t n_scores, size_t n_features, size_t n_classes);
double dni_ranking_memory(size_t n_rows, size_t n_classes, bool weighted);

#endif
