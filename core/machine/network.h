/* Network machines: layers of units z_l = h(W_lᵀ z_{l−1} + b_l), z_0 = x. The outputs of the last
 * layer, which does not apply h, are the scores.
 *
 * Source: Bishop, PRML, section 5.1. */
#ifndef DNI_NETWORK_H
#define DNI_NETWORK_H

#include "machine/machine_dispatch.h"

typedef enum dni_activation {
    DNI_ACTIVATION_SIGMOID,
    DNI_ACTIVATION_TANH,
    DNI_ACTIVATION_RELU
} dni_activation;

#define DNI_MAX_LAYERS 17 /* 16 hidden layers and the output layer */

typedef struct dni_network {
    dni_activation activation;    /* h */
    size_t n_layers;              /* 2 … DNI_MAX_LAYERS, including the output layer */
    size_t units[DNI_MAX_LAYERS]; /* [n_layers] >= 1; the last is n_scores */
    /* For each layer the weights [inputs × units], then the biases [units]. The inputs of the first
     * layer are the features; those of any other layer are the units of the previous one. */
    double *w;
} dni_network;

/* The shape of a network. */
typedef struct dni_layers {
    dni_activation activation;
    size_t n_inputs, n_layers;
    const size_t *units; /* [n_layers] */
} dni_layers;

static inline dni_layers dni_network_layers(const dni_network *network, size_t n_features) {
    return (dni_layers){network->activation, n_features, network->n_layers, network->units};
}

/* Returns the number of weights and biases of all layers, or SIZE_MAX on overflow. */
size_t dni_layers_numbers(const dni_layers *layers);
/* Returns the number of units of all layers. */
size_t dni_layers_units(const dni_layers *layers);
/* Returns the number of units of the widest layer. */
size_t dni_layers_widest(const dni_layers *layers);
/* Returns the number of inputs of layer l. */
static inline size_t dni_layers_inputs(const dni_layers *layers, size_t l) {
    return l == 0 ? layers->n_inputs : layers->units[l - 1];
}

/* z [n] ← h(z) */
void dni_activate(dni_activation activation, double *z, size_t n);
/* delta_i ← delta_i · h′_i for i < n. h′_i is computed from the output z_i of unit i. */
void dni_activation_slopes(dni_activation activation, const double *z, double *delta, size_t n);

/* Creates a machine with all weights 0. The learner sets dni_network_of(machine)->w. Fails with
 * DN_ERR_MEMORY. */
DN_MUST_USE dn_status dni_network_machine_new(size_t n_classes, const dni_layers *layers,
                                              dn_machine **out, dn_error *err);
/* Returns the network of a machine. The machine must be of this kind. */
dni_network *dni_network_of(const dn_machine *machine);

/* out ← the outputs of every layer for a tile of rows, [x.n_rows × units] for each layer. The
 * outputs of the last layer are the scores. w has the layout of dni_network.w. Checks for
 * cancellation before each layer and fails only if the run was cancelled. run == NULL: never
 * cancelled. */
DN_MUST_USE dn_status dni_layers_forward(const dni_layers *layers, const double *w, dn_matrix x,
                                         const dn_run *run, double *out, dn_error *err);

#endif
