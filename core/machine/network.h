/* A network of layers: its shape, its life, what it says of one x, and of a tile of rows. */
#ifndef DNI_NETWORK_H
#define DNI_NETWORK_H

#include "machine/bayes.h"
#include <discern/machine.h>
#include <discern/run.h>

/* A network without its numbers. */
typedef struct dni_layers {
    dn_activation activation;
    size_t n_inputs, n_layers;
    const size_t *units; /* [n_layers] */
} dni_layers;

static inline dni_layers dni_network_layers(const dn_network *network, size_t n_features) {
    return (dni_layers){network->activation, n_features, network->n_layers, network->units};
}

/* Numbers of all layers; SIZE_MAX: more than can be addressed. Units of all layers, and of the widest one. */
size_t dni_layers_numbers(const dni_layers *layers);
size_t dni_layers_units(const dni_layers *layers);
size_t dni_layers_widest(const dni_layers *layers);
/* Inputs of layer l. */
static inline size_t dni_layers_inputs(const dni_layers *layers, size_t l) {
    return l == 0 ? layers->n_inputs : layers->units[l - 1];
}

/* z [n] ← h(z) */
void dni_activate(dn_activation activation, double *z, size_t n);
/* delta_i ← delta_i·h′, of the units whose h is z [n] */
void dni_activation_slopes(dn_activation activation, const double *z, double *delta, size_t n);

/* Of that shape, all numbers 0; NULL: no memory for it. */
dn_network *dni_network_new(const dni_layers *layers);
void dni_network_free(dn_network *network); /* NULL and a half-built one are allowed */

/* Doubles of `work` for one x. */
size_t dni_network_work(const dn_network *network);
/* scores [n_scores] of x [d]; what is 0 costs nothing. */
void dni_network_scores(const dn_network *network, size_t d, const double *x, double *scores,
                        double *work);
/* … of an x that is 0 but for its entries. */
void dni_network_scores_entries(const dn_network *network, size_t d, const dni_entry_part *parts,
                                size_t n_parts, double *scores, double *work);

/* Of a tile of rows by matrix products: out ← what every layer says, layer after layer, [x.n_rows × units] each; the last are the scores. w: as dn_network has it. The run's stop is looked at before
 * each layer, and its code is the only failure. */
DN_MUST_USE dn_status dni_layers_forward(const dni_layers *layers, const double *w, dn_matrix x,
                                         const dn_run *run, double *out, dn_error *err);

/* Weights of x = (raw − mean)/scale as those of raw, into `to` of the same shape; NULL: 0 and 1. false: one is not finite. */
bool dni_network_to_raw(const dn_network *from, size_t d, const double *mean, const double *scale,
                        dn_network *to);

#endif
