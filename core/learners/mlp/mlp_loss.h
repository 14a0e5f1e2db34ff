/* The training objective of a network: mean cross-entropy over the rows plus λ times the sum of the
 * squared weights, with its gradient by backpropagation.
 *
 *   network weights       w_jk and b_k of dni_network.w, layer after layer
 *   standardised weights  in the first layer u_jk = s_j w_jk and c_k = b_k + Σ_j w_jk m_j,
 *                         in all other layers the same numbers
 *
 * m_j and s_j are the mean and the standard deviation of column j. The solver works on standardised
 * weights: this standardises the columns without writing a standardised copy of the rows, so that
 * the units of the columns do not change the steps. The deviation of a constant column is set to
 * infinity: its weights stay 0. */
#ifndef DNI_MLP_LOSS_H
#define DNI_MLP_LOSS_H

#include "learners/shared/moments.h"
#include "machine/network.h"
#include <discern/rows.h>
#include <discern/run.h>

typedef struct dni_mlp_loss {
    const dn_run *run; /* run of the fit; its stop flag is also polled within blocks */
    const dn_rows *rows;
    dni_layers layers;
    size_t n_classes, n_scores;
    size_t n;                 /* weights and biases of the network */
    size_t n_first;           /* weights of the first layer, without its biases */
    size_t n_units;           /* number of units of all layers */
    size_t tile_rows;         /* rows of a tile in a pass over all rows */
    bool sparse;              /* the rows are CSR */
    double lambda;            /* λ of λ Σ w² */
    double training_weight;   /* Σv of the training rows */
    double validation_weight; /* Σv of the validation rows */
    const double *mean;       /* [n_cols] m; belongs to the moments */
    const bool *validation;   /* [n_rows] true for validation rows; NULL: there are none */
    double *deviation;        /* [n_cols] s */
    double *w;                /* [n] network weights of the last evaluation */
    double *gradient;         /* [n] derivatives of the objective by the network weights */
    double *sums;             /* [DNI_MLP_SUMS + n] sums of a pass over all rows */
    double *outputs; /* [n_slots × tile_rows × n_units] activations of a tile, layer by layer */
    double *delta;   /* same shape: derivatives of vℓ by the weighted sums of the units */
    double misclassified;   /* weight of the training rows that were misclassified */
    double validation_loss; /* mean cross-entropy of the validation rows; NaN if there are none */
    void *memory;
} dni_mlp_loss;

/* Sums of a pass that precede the gradient in `sums`: Σvℓ and the misclassified weight of the
 * training rows, then Σvℓ of the validation rows. */
#define DNI_MLP_SUMS 3

/* Prepares the objective.
 *
 *   loss        the caller releases it with dni_mlp_loss_done, also after a failure
 *   rows        dense or sparse, with targets; borrowed
 *   n_classes   K >= 2
 *   layers      shape of the network; borrowed
 *   lambda      λ >= 0
 *   moments     of the columns of `rows`; borrowed
 *   validation  [n_rows] rows that only contribute to validation_loss; NULL: none. Borrowed
 *   run         borrowed
 *
 * Errors: those of dn_run_alloc and dn_run_sum. */
DN_MUST_USE dn_status dni_mlp_loss_init(dni_mlp_loss *loss, const dn_rows *rows, size_t n_classes,
                                        const dni_layers *layers, double lambda,
                                        const dni_moments *moments, const bool *validation,
                                        const dn_run *run, dn_error *err);
void dni_mlp_loss_done(dni_mlp_loss *loss);
/* Bytes of working memory that dni_mlp_loss_init and dni_mlp_loss_evaluate need. */
double dni_mlp_loss_memory(const dni_layers *layers, size_t n_rows, size_t n_slots);

/* Implements dni_objective.evaluate: computes objective and gradient in one pass over all rows.
 *
 *   ctx       the dni_mlp_loss; its w, gradient, misclassified and validation_loss are set
 *   x         [n] standardised weights
 *   gradient  [n] derivatives by the standardised weights */
dn_status dni_mlp_loss_evaluate(void *ctx, const dn_run *run, const double *x, double *value,
                                double *gradient, dn_error *err);

/* w [n] ← the network weights that correspond to the standardised weights x [n]. */
void dni_mlp_network_weights(const dni_mlp_loss *loss, const double *x, double *w);
/* Converts a gradient, in place, from derivatives by the network weights to derivatives by the
 * standardised weights, for inputs first … first + n − 1 of the first layer. Reads the derivatives
 * by the biases, which are the same for both. */
void dni_mlp_standardise_gradient(const dni_mlp_loss *loss, size_t first, size_t n,
                                  double *gradient);

/* Totals over rows. */
typedef struct dni_mlp_totals {
    double loss;          /* Σvℓ */
    double misclassified; /* Σv of the misclassified rows */
} dni_mlp_totals;

/* residual [n × n_scores] ← v ∂ℓ/∂g of n rows; adds to *totals.
 *
 *   scores    [n × n_scores] g; may be `residual`
 *   target    [n] class indices
 *   weight    [n] v */
void dni_mlp_residuals(const dni_mlp_loss *loss, const double *scores, const double *target,
                       const double *weight, size_t n, double *residual, dni_mlp_totals *totals);

/* Backpropagates n rows: fills `delta` of all layers but the last one, which the caller has set.
 *
 *   w        [n] network weights
 *   outputs  [n × n_units] of dni_layers_forward
 *   delta    [n × n_units]
 *
 * Polls the run's stop flag before each layer. Errors: those of dn_run_stop. */
DN_MUST_USE dn_status dni_mlp_backward(const dni_mlp_loss *loss, const double *w, size_t n,
                                       const double *outputs, double *delta, dn_error *err);

#endif
