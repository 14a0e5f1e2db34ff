/* The network kind: layers of units z_l = h(W_lᵀ z_{l−1} + b_l), z_0 = x; the last layer gives the
 * scores, without h. Source: Bishop, PRML, section 5.1. */
#ifndef DNI_NETWORK_H
#define DNI_NETWORK_H

#include "machine/machine_impl.h"

typedef enum dn_activation {
    DN_ACTIVATION_SIGMOID,
    DN_ACTIVATION_TANH,
    DN_ACTIVATION_RELU
} dn_activation;

#define DN_MAX_LAYERS 17 /* 16 of units and that of the scores */

typedef struct dn_network {
    dn_activation activation;    /* h */
    size_t n_layers;             /* 2 … DN_MAX_LAYERS, the layer of the scores included */
    size_t units[DN_MAX_LAYERS]; /* [n_layers] >= 1; the last is n_scores */
    double *w; /* layer after layer: the weights [inputs × units], input after input, and the biases
                * [units]; inputs: n_features, then the units of the layer before */
} dn_network;

/* The shape of a network. */
typedef struct dni_layers {
    dn_activation activation;
    size_t n_inputs, n_layers;
    const size_t *units; /* [n_layers] */
} dni_layers;

static inline dni_layers dni_network_layers(const dn_network *network, size_t n_features) {
    return (dni_layers){network->activation, n_features, network->n_layers, network->units};
}

/* Weights and biases of all layers; SIZE_MAX: more than can be addressed. Units of all layers, and
 * of the widest one. */
size_t dni_layers_numbers(const dni_layers *layers);
size_t dni_layers_units(const dni_layers *layers);
size_t dni_layers_widest(const dni_layers *layers);
/* Inputs of layer l. */
static inline size_t dni_layers_inputs(const dni_layers *layers, size_t l) {
    return l == 0 ? layers->n_inputs : layers->units[l - 1];
}

/* z [n] ← h(z) */
void dni_activate(dn_activation activation, double *z, size_t n);
/* delta_i ← delta_i·h′ for units whose outputs h are z [n] */
void dni_activation_slopes(dn_activation activation, const double *z, double *delta, size_t n);

/* All numbers 0, for the learner to fill in through dni_network_of. DN_ERR_MEMORY. */
DN_MUST_USE dn_status dni_network_machine_new(size_t n_classes, const dni_layers *layers,
                                              dn_machine **out, dn_error *err);
/* The layers of a machine that dni_network_machine_new made. */
dn_network *dni_network_of(const dn_machine *machine);

/* out ← the outputs of every layer for a tile of rows, layer after layer, [x.n_rows × units] each; the
 * last are the scores. w: as in dn_network. Polls the run's stop before each layer, if there is a
 * run, and fails only then. */
DN_MUST_USE dn_status dni_layers_forward(const dni_layers *layers, const double *w, dn_matrix x,
                                         const dn_run *run, double *out, dn_error *err);

#endif
