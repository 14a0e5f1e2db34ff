/* Layers of units, one after the other. One x goes through plain loops over what of it is not 0; tiles of rows go through matrix products. */
#include "machine/network.h"
#include "linalg/layer.h"
#include "linalg/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- shape ---- */
size_t dni_layers_numbers(const dni_layers *layers) {
    size_t n = 0;
    for (size_t l = 0; l < layers->n_layers; l++) {
        const size_t rows = dni_layers_inputs(layers, l) + 1, units = layers->units[l];
        if (rows == 0 || (units != 0 && rows > (SIZE_MAX / 16 - n) / units)) {
            return SIZE_MAX;
        }
        n += rows * units;
    }
    return n;
}

size_t dni_layers_units(const dni_layers *layers) {
    size_t n = 0;
    for (size_t l = 0; l < layers->n_layers; l++) {
        n += layers->units[l];
    }
    return n;
}

size_t dni_layers_widest(const dni_layers *layers) {
    size_t n = 0;
    for (size_t l = 0; l < layers->n_layers; l++) {
        n = layers->units[l] > n ? layers->units[l] : n;
    }
    return n;
}

/* ---- activations ---- */
void dni_activate(dn_activation activation, double *z, size_t n) {
    switch (activation) {
    case DN_ACTIVATION_SIGMOID:
        for (size_t i = 0; i < n; i++) {
            z[i] = 1 / (1 + exp(-z[i]));
        }
        break;
    case DN_ACTIVATION_TANH:
        for (size_t i = 0; i < n; i++) {
            z[i] = tanh(z[i]);
        }
        break;
    case DN_ACTIVATION_RELU:
        for (size_t i = 0; i < n; i++) {
            z[i] = z[i] < 0 ? 0 : z[i]; /* NaN stays */
        }
        break;
    }
}

void dni_activation_slopes(dn_activation activation, const double *z, double *delta, size_t n) {
    switch (activation) {
    case DN_ACTIVATION_SIGMOID:
        for (size_t i = 0; i < n; i++) {
            delta[i] *= z[i] * (1 - z[i]);
        }
        break;
    case DN_ACTIVATION_TANH:
        for (size_t i = 0; i < n; i++) {
            delta[i] *= 1 - z[i] * z[i];
        }
        break;
    case DN_ACTIVATION_RELU:
        for (size_t i = 0; i < n; i++) {
            delta[i] = z[i] > 0 ? delta[i] : 0;
        }
        break;
    }
}

/* ---- life ---- */
dn_network *dni_network_new(const dni_layers *layers) {
    const size_t n = dni_layers_numbers(layers);
    dn_network *network = n == SIZE_MAX ? NULL : calloc(1, sizeof *network);
    if (network == NULL) {
        return NULL;
    }
    network->activation = layers->activation;
    network->n_layers = layers->n_layers;
    memcpy(network->units, layers->units, layers->n_layers * sizeof *network->units);
    network->w = calloc(n, sizeof *network->w);
    if (network->w == NULL) {
        free(network);
        return NULL;
    }
    return network;
}

void dni_network_free(dn_network *network) {
    if (network != NULL) {
        free(network->w);
    }
    free(network);
}

/* ---- one x ---- */
size_t dni_network_work(const dn_network *network) {
    const dni_layers layers = dni_network_layers(network, 0);
    return 2 * dni_layers_widest(&layers);
}

static inline void add_weights(double value, const double *restrict w, size_t n,
                               double *restrict z) {
    size_t k = 0;
    for (; k + 4 <= n; k += 4) { /* four at a time, which compilers make few operations of */
        z[k] += value * w[k];
        z[k + 1] += value * w[k + 1];
        z[k + 2] += value * w[k + 2];
        z[k + 3] += value * w[k + 3];
    }
    for (; k < n; k++) {
        z[k] += value * w[k];
    }
}

static void layer(const double *x, size_t inputs, const double *w, size_t units, double *z) {
    memcpy(z, w + inputs * units, units * sizeof *z);
    for (size_t j = 0; j < inputs; j++) {
        if (x[j] != 0) {
            add_weights(x[j], w + j * units, units, z);
        }
    }
}

/* Scores behind the first layer's sums z, which are in the first half of the work (a single layer: in `scores`). */
static void later_layers(const dn_network *network, size_t d, double *scores, double *work) {
    const dni_layers layers = dni_network_layers(network, d);
    double *z = work, *next = work + dni_layers_widest(&layers);
    const double *w = network->w + (d + 1) * network->units[0];
    for (size_t l = 1; l < network->n_layers; l++) {
        const size_t inputs = network->units[l - 1], units = network->units[l];
        dni_activate(network->activation, z, inputs);
        layer(z, inputs, w, units, l + 1 == network->n_layers ? scores : next);
        w += (inputs + 1) * units;
        double *old = z;
        z = next;
        next = old;
    }
}

void dni_network_scores(const dn_network *network, size_t d, const double *x, double *scores,
                        double *work) {
    layer(x, d, network->w, network->units[0], work);
    later_layers(network, d, scores, work);
}

void dni_network_scores_entries(const dn_network *network, size_t d, const dni_entry_part *parts,
                                size_t n_parts, double *scores, double *work) {
    const size_t units = network->units[0];
    memcpy(work, network->w + d * units, units * sizeof *work);
    for (const dni_entry_part *part = parts; part < parts + n_parts; part++) {
        for (size_t e = 0; e < part->n; e++) {
            add_weights(part->value[e], network->w + part->feature[e] * units, units, work);
        }
    }
    later_layers(network, d, scores, work);
}

/* ---- tiles of rows ---- */
dn_status dni_layers_forward(const dni_layers *layers, const double *w, dn_matrix x,
                             const dn_run *run, double *out, dn_error *err) {
    const size_t n = x.n_rows;
    for (size_t l = 0; l < layers->n_layers; l++) {
        const size_t units = layers->units[l];
        dn_status status = dn_run_stop(run, err);
        if (status != DN_OK) {
            return status;
        }
        dni_layer_forward(x, w, units, out);
        if (l + 1 < layers->n_layers) {
            dni_activate(layers->activation, out, n * units);
        }
        w += (x.n_cols + 1) * units;
        x = dn_matrix_dense(out, n, units);
        out += n * units;
    }
    return DN_OK;
}

/* ---- raw features ---- */
bool dni_network_to_raw(const dn_network *from, size_t d, const double *mean, const double *scale,
                        dn_network *to) {
    const dni_layers layers = dni_network_layers(from, d);
    const size_t n = dni_layers_numbers(&layers), units = from->units[0];
    double *bias = to->w + d * units;
    memcpy(to->w, from->w, n * sizeof *to->w);
    for (size_t j = 0; j < d; j++) {
        for (size_t k = 0; k < units; k++) {
            double *w = to->w + j * units + k;
            *w = scale == NULL ? *w : *w / scale[j];
            if (mean != NULL) {
                bias[k] -= *w * mean[j];
            }
        }
    }
    return dni_all_finite(to->w, n);
}
