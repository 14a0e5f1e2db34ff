/* A fit of a network: what was asked, what it costs, and who judges the iterates. */
#ifndef DNI_MLP_FIT_H
#define DNI_MLP_FIT_H

#include "learners/mlp/mlp_loss.h"
#include "optimize/objective.h"
#include <discern/algorithm.h>

/* What the parameters and the shape ask for. */
typedef struct dni_mlp_plan {
    dn_activation activation;
    size_t n_layers, units[DN_MAX_LAYERS]; /* with that of the scores */
    size_t n_features, n_scores;
    double n; /* numbers of the network */
    bool adam, fades, he;
    double lambda, rate, tolerance;
    double aside; /* share of the rows kept aside to stop by; 0: none */
    size_t batch_rows, max_iterations, patience, restarts;
} dni_mlp_plan;

/* Of checked params. */
dni_mlp_plan dni_mlp_make_plan(const dn_params *params, size_t n_rows, size_t n_features,
                               size_t n_classes);
static inline dni_layers dni_mlp_layers(const dni_mlp_plan *plan) {
    return (dni_layers){plan->activation, plan->n_features, plan->n_layers, plan->units};
}

/* Numbers drawn with a seed: the rows kept aside, and for each start its weights and the orders of its passes. */
enum { DNI_MLP_STREAM_ASIDE = 40, DNI_MLP_STREAM_STARTS = 41 };

/* aside [n_rows] ← which rows are kept aside: the share of each class, seeded, at least one row of every class (of those that weigh anything) stays. *out_n: how many. */
DN_MUST_USE dn_status dni_mlp_keep_aside(const dn_rows *rows, size_t n_classes, double share,
                                         const dn_run *run, bool *aside, size_t *out_n,
                                         dn_error *err);

/* Bytes of a fit beside the rows. */
double dni_mlp_fit_memory(const dni_mlp_plan *plan, size_t n_rows, size_t n_classes,
                          size_t n_slots);
/* dn_algorithm.fit */
dn_status dni_mlp_fit(const dn_fit_input *input, const dn_run *run, dn_machine *out,
                      dn_report *report, dn_error *err);

#endif
