/* The fit of a network from its resolved parameters. */
#ifndef DNI_MLP_FIT_H
#define DNI_MLP_FIT_H

#include "machine/network.h"
#include <discern/algorithm.h>

/* The parameters of a fit with every "auto" resolved. */
typedef struct dni_mlp_plan {
    dni_activation activation;
    size_t n_layers;              /* hidden layers and the layer of the scores */
    size_t units[DNI_MAX_LAYERS]; /* [n_layers] */
    size_t n_features, n_scores;
    double n;             /* weights and biases of the network */
    bool adam;            /* solver: adam if true, lbfgs if false */
    bool linear_schedule; /* adam: the learning rate falls linearly to 0 */
    const double *start;  /* [n] the list of init; NULL: weights drawn from the seed */
    bool he;              /* initial weights: He et al. if true, Glorot and Bengio if false */
    double lambda;
    double rate; /* adam: learning rate */
    double tolerance;
    double validation_share; /* share of the rows used as validation rows; 0: none */
    size_t batch_rows;       /* adam: maximum number of rows of a batch */
    size_t max_iterations;   /* maximum number of iterations of one start */
    size_t patience;
    size_t restarts; /* number of starts, >= 1 */
} dni_mlp_plan;

/* Returns the layers of the plan; they borrow plan->units. */
static inline dni_layers dni_mlp_layers(const dni_mlp_plan *plan) {
    return (dni_layers){plan->activation, plan->n_features, plan->n_layers, plan->units};
}

/* Chooses the validation rows at random: from each class the fraction `share` of the rows with a
 * weight above 0. At least one such row of every class remains for training.
 *
 *   rows        with targets
 *   n_classes   K
 *   share       0 … 1
 *   run         gives the seed
 *   validation  [n_rows] false on entry; set to true for the rows chosen
 *   out_n       number of rows chosen
 *
 * Errors: those of dn_run_alloc, dn_run_stop and dn_rows_block. */
DN_MUST_USE dn_status dni_mlp_choose_validation(const dn_rows *rows, size_t n_classes, double share,
                                                const dn_run *run, bool *validation, size_t *out_n,
                                                dn_error *err);

/* Fits a network: runs the starts one after another and returns the best iterate of all starts.
 * plan: the resolved input->params. The other arguments are those of dn_algorithm.fit. */
DN_MUST_USE dn_status dni_mlp_fit(const dni_mlp_plan *plan, const dn_fit_input *input,
                                  const dn_run *run, dn_machine **out, dn_report *report,
                                  dn_error *err);
/* Bytes of working memory that dni_mlp_fit needs for a shape. */
double dni_mlp_fit_memory(const dni_mlp_plan *plan, const dn_fit_shape *shape);

#endif
