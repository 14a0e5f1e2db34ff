/* Permutation importance (importance.h). */
#include "base/argument.h"
#include "evaluate/evaluate_table.h"
#include "evaluate/permuted_source.h"
#include <discern/importance.h>
#include <discern/metrics.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_REPEATS = 5 };

struct importance {
    const dn_model *model;
    const dn_run *run;
    const dn_importance_options *options;
    dn_evaluate_options evaluation;
    size_t metric; /* index of dn_metric_name */
    size_t repeats;
    size_t n_done; /* evaluations that are done */
    double sign;   /* 1: smaller is worse; −1: greater is worse */
    uint8_t *role;
    dn_importance *out;
};

static dn_status find_metric(struct importance *m, dn_error *err) {
    const char *name = m->options->metric == NULL ? "accuracy" : m->options->metric;
    while (dn_metric_name(m->metric) != NULL && strcmp(dn_metric_name(m->metric), name) != 0) {
        m->metric++;
    }
    if (dn_metric_name(m->metric) == NULL) {
        return dni_error_at(dn_error_set(err, DN_ERR_ARGUMENT, "there is no metric \"%.64s\"",
                                         name),
                            "metric", -1, err);
    }
    m->sign = dn_metric_is_loss(m->metric) ? -1 : 1;
    return DN_OK;
}

/* Reports the evaluations that are done. */
static void report(struct importance *m) {
    const size_t n = 1 + m->out->n_inputs * m->repeats;
    m->n_done++;
    if (m->run->progress != NULL) {
        const dn_progress progress = {.iteration = m->n_done,
                                      .max_iterations = n,
                                      .fraction = (double)m->n_done / (double)n,
                                      .loss = (double)NAN,
                                      .gradient_norm = (double)NAN,
                                      .train_error = (double)NAN};
        m->run->progress(m->run, &progress);
    }
}

static dn_status measure(struct importance *m, const dn_table_source *source, double *out,
                         dn_error *err) {
    dn_metrics *metrics = NULL;
    const dn_status status =
        dn_model_evaluate(m->model, source, &m->evaluation, m->run, &metrics, err);
    if (status == DN_OK) {
        *out = dn_metric_value(metrics, m->metric);
        report(m);
    }
    dn_metrics_free(metrics);
    return status;
}

/* Computes the mean and the deviation of the importance of input i. */
static dn_status measure_input(struct importance *m, const dn_table_source *source, size_t i,
                               dn_error *err) {
    const char *name = dn_encoder_input(dn_model_encoder(m->model), i)->name;
    dni_permuted permuted;
    double sum = 0, squares = 0, value = 0;
    dn_status status = dni_permuted_open(&permuted, source, dni_source_column(source, name),
                                         m->role, DN_ROW_VALIDATE, m->run, err);
    for (size_t r = 0; status == DN_OK && r < m->repeats; r++) {
        dni_random random;
        dni_random_init(&random, m->run->seed,
                        DNI_STREAM_PERMUTATION + ((uint64_t)i << 32) + (uint64_t)(r << 16));
        dni_permuted_shuffle(&permuted, &random);
        status = measure(m, &permuted.table, &value, err);
        const double worse = m->sign * (m->out->base - value);
        const double step = worse - sum; /* sum: the mean so far (Welford) */
        sum += step / (double)(r + 1);
        squares += step * (worse - sum);
    }
    dni_permuted_close(&permuted);
    m->out->mean[i] = sum;
    m->out->deviation[i] = sqrt(squares / (double)m->repeats);
    return status;
}

static dn_status measure_all(struct importance *m, const dn_table_source *source, dn_error *err) {
    dn_status status = measure(m, source, &m->out->base, err);
    if (status == DN_OK) {
        status = dni_labelled_roles(m->model, source, &m->evaluation, m->run, m->role, err);
    }
    for (size_t i = 0; status == DN_OK && i < m->out->n_inputs; i++) {
        status = measure_input(m, source, i, err);
    }
    return status;
}

static dn_importance *importance_new(size_t n_inputs) {
    dn_importance *out = calloc(1, sizeof *out);
    if (out != NULL) {
        out->n_inputs = n_inputs;
        out->mean = calloc(n_inputs + 1, sizeof *out->mean);
        out->deviation = calloc(n_inputs + 1, sizeof *out->deviation);
    }
    if (out == NULL || out->mean == NULL || out->deviation == NULL) {
        dn_importance_free(out);
        return NULL;
    }
    return out;
}

dn_status dn_model_importance(const dn_model *model, const dn_table_source *source,
                              const dn_importance_options *options, const dn_run *run,
                              dn_importance **out, dn_error *err) {
    const dn_importance_options plain = {0};
    const dn_run serial = dn_run_default();
    if (model == NULL || out == NULL) {
        return dni_argument_null(model == NULL ? "model" : "out", err);
    }
    dn_status status = dni_argument_call(source, run, options == NULL ? 0 : options->struct_size,
                                         sizeof *options, err);
    if (status != DN_OK) {
        return status;
    }
    struct importance m = {.model = model,
                           .run = run == NULL ? &serial : run,
                           .options = options == NULL ? &plain : options};
    m.evaluation = (dn_evaluate_options){.weight = m.options->weight, .target = m.options->target};
    m.repeats = m.options->repeats == 0 ? DEFAULT_REPEATS : m.options->repeats;
    status = find_metric(&m, err);
    if (status != DN_OK) {
        return status;
    }
    void *role = NULL;
    status = dn_run_alloc(m.run, source->n_rows + 1, sizeof *m.role, "the roles of the rows", &role,
                          err);
    if (status != DN_OK) {
        return status;
    }
    m.role = role;
    m.out = importance_new(dn_encoder_n_inputs(dn_model_encoder(model)));
    status = m.out == NULL ? dn_error_set(err, DN_ERR_MEMORY, "no memory for the importances")
                           : measure_all(&m, source, err);
    dn_run_free(m.run, role);
    if (status != DN_OK) {
        dn_importance_free(m.out);
        return status;
    }
    *out = m.out;
    return DN_OK;
}

void dn_importance_free(dn_importance *importance) {
    if (importance == NULL) {
        return;
    }
    free(importance->mean);
    free(importance->deviation);
    free(importance);
}
