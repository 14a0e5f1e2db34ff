/* The objective of a network as a solver sees it: the mean cross-entropy over rows plus λ times the squares of the weights, in variables of the solver's choice.
 *
 *   stated variables:   those of dn_network.w, layer after layer
 *   solver's variables: the first layer's weights u_jk = s_j w_jk and biases c_k = b_k + Σ_j w_jk m_j, all others the same
 * with m and s the columns' means and deviations: columns are centred and scaled without ever being written, so that pixels 0 … 255 and 0 … 1 take the same steps, and units do not start where their
 * slope is 0. A constant column's s is infinite: its weights are 0 and stay so. */
#ifndef DNI_MLP_LOSS_H
#define DNI_MLP_LOSS_H

#include "learners/shared/moments.h"
#include "machine/network.h"
#include <discern/rows.h>
#include <discern/run.h>

/* What one thread needs for a tile of rows. */
typedef struct dni_mlp_slot {
    double *says;  /* [tile_rows × units of all layers] what each layer says, layer after layer */
    double *delta; /* likewise: the derivatives of the loss by the sums that go into each unit */
} dni_mlp_slot;

/* What a batch of rows needs, gathered from anywhere. */
typedef struct dni_mlp_batch {
    size_t most;          /* rows there is room for */
    size_t tile, n_tiles; /* rows of a tile of it that is one task, tiles of this batch */
    size_t n;             /* rows of this batch */
    const size_t *order;  /* [n] into `row` */
    const double *w;      /* the stated variables */
    double *gradient;     /* where it goes */
    double *x;            /* [most × n_cols] dense rows side by side; NULL: sparse */
    double *says, *delta; /* [most × units of all layers], tile after tile … */
    double *target;       /* [n_rows] class indexes of all rows … */
    double *weight;       /* [n_rows] … and their weights, 0 for those kept aside */
    size_t *row;          /* [n_used] rows of the table that a pass visits */
    size_t n_used;
    dn_matrix *blocks; /* [n_blocks] */
} dni_mlp_batch;

typedef struct dni_mlp {
    const dn_run *run; /* of the fit: its stop is polled within blocks too */
    const dn_rows *rows;
    dni_layers layers;
    size_t n_classes, n_scores;
    size_t n;            /* numbers of the network */
    size_t n_first;      /* weights of the first layer, biases apart */
    size_t n_units;      /* of all layers */
    bool sparse;         /* rows are CSR */
    double lambda;       /* of λ Σ w² */
    double weight;       /* Σv of the rows that are learned from */
    double aside_weight; /* Σv of those kept aside */
    const double *shift; /* [n_cols] m */
    double *scale;       /* [n_cols] s */
    const bool *aside;   /* [n_rows] kept aside; NULL: none */
    double *stated;      /* [n] the stated variables of the last evaluation */
    double *gradient;    /* [n] of the objective in the stated variables there */
    double *sums;        /* [DNI_MLP_SUMS + n] what a pass gives */
    double wrong;        /* weight of the rows misclassified there, those aside apart */
    double aside_loss;   /* mean cross-entropy of the rows aside there; NaN without */
    size_t tile_rows;    /* rows of a tile in a pass */
    dni_mlp_slot *slots; /* [n_slots] */
    dni_mlp_batch batch;
    void *memory, *slot_memory, *batch_memory, *row_memory; /* what all this points into */
} dni_mlp;

/* Sums of a pass before the gradient: Σvℓ, Σv of those misclassified, Σvℓ of the rows aside. */
#define DNI_MLP_SUMS 3

/* Sets up for rows whose moments are given; they, `layers` and `aside` are borrowed. batch_rows 0: dni_mlp_batch_gradient will not be called. *loss is to be freed with dni_mlp_done even after a failure. */
DN_MUST_USE dn_status dni_mlp_init(dni_mlp *loss, const dn_rows *rows, size_t n_classes,
                                   const dni_layers *layers, double lambda,
                                   const dni_moments *moments, const bool *aside, size_t batch_rows,
                                   const dn_run *run, dn_error *err);
void dni_mlp_done(dni_mlp *loss, const dn_run *run);
/* Bytes that dni_mlp_init takes, with what sums over blocks take beside. */
double dni_mlp_memory(const dni_layers *layers, size_t n_rows, size_t batch_rows, size_t n_slots);

/* Value and gradient at x (solver's variables), in a pass over all rows; ctx is the dni_mlp. */
dn_status dni_mlp_evaluate(void *ctx, const dn_run *run, const double *x, double *value,
                           double *gradient, dn_error *err);
/* stated ← the stated variables of x. */
void dni_mlp_state(const dni_mlp *loss, const double *x, double *stated);
/* A gradient in the stated variables becomes one in the solver's, as far as the inputs first … first + n - 1 of the first layer go; its biases' part, which stays, must be there. */
void dni_mlp_unstate_gradient(const dni_mlp *loss, size_t first, size_t n, double *gradient);

/* ---- mlp_tile.c: a tile of rows ---- */
/* What rows add to the sums. */
typedef struct dni_mlp_tally {
    double loss, wrong;
} dni_mlp_tally;
/* residual [n × n_scores] ← v ∂ℓ/∂g of rows with these scores, targets and weights. weight NULL: all 1. residual may be scores. */
void dni_mlp_residuals(const dni_mlp *loss, const double *scores, const double *target,
                       const double *weight, size_t n, double *residual, dni_mlp_tally *tally);
/* delta of all layers but the last, whose is there, of n rows and what their layers said. Polls as dni_layers_forward. */
DN_MUST_USE dn_status dni_mlp_backward(const dni_mlp *loss, const double *w, size_t n,
                                       const double *says, double *delta, dn_error *err);

/* ---- mlp_batch.c: mini-batches ---- */
DN_MUST_USE dn_status dni_mlp_batch_init(dni_mlp *loss, size_t batch_rows, const dn_run *run,
                                         dn_error *err);
double dni_mlp_batch_memory(const dni_layers *layers, size_t n_rows, size_t batch_rows);
/* As dni_adam_settings wants it. */
dn_status dni_mlp_batch_gradient(void *ctx, const dn_run *run, const size_t *order, size_t n_rows,
                                 const double *x, double *gradient, dn_error *err);

#endif
