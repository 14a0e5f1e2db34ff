/* Network machines. A single x is scored by loops over its non-zero features, a tile of rows by
 * matrix products. */
#include "machine/network.h"
#include "linalg/layer.h"
#include "linalg/tile.h"
#include "linalg/vector.h"
#include "machine/machine_kind.h"

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
void dni_activate(dni_activation activation, double *z, size_t n) {
    switch (activation) {
    case DNI_ACTIVATION_SIGMOID:
        for (size_t i = 0; i < n; i++) {
            z[i] = 1 / (1 + exp(-z[i]));
        }
        break;
    case DNI_ACTIVATION_TANH:
        for (size_t i = 0; i < n; i++) {
            z[i] = tanh(z[i]);
        }
        break;
    case DNI_ACTIVATION_RELU:
        for (size_t i = 0; i < n; i++) {
            z[i] = z[i] < 0 ? 0 : z[i]; /* preserves NaN */
        }
        break;
    }
}

void dni_activation_slopes(dni_activation activation, const double *z, double *delta, size_t n) {
    switch (activation) {
    case DNI_ACTIVATION_SIGMOID:
        for (size_t i = 0; i < n; i++) {
            delta[i] *= z[i] * (1 - z[i]);
        }
        break;
    case DNI_ACTIVATION_TANH:
        for (size_t i = 0; i < n; i++) {
            delta[i] *= 1 - z[i] * z[i];
        }
        break;
    case DNI_ACTIVATION_RELU:
        for (size_t i = 0; i < n; i++) {
            delta[i] = z[i] > 0 ? delta[i] : 0;
        }
        break;
    }
}

/* ---- memory ---- */
struct network_machine {
    dn_machine base;
    dni_network network;
};

dni_network *dni_network_of(const dn_machine *machine) {
    return &((struct network_machine *)(uintptr_t)machine)->network;
}

dn_status dni_network_machine_new(size_t n_classes, const dni_layers *layers, dn_machine **out,
                                  dn_error *err) {
    struct network_machine *m =
        dni_machine_alloc(&dni_network_kind, sizeof *m, n_classes, layers->n_inputs);
    if (m == NULL) {
        return dni_machine_no_memory(n_classes, layers->n_inputs, err);
    }
    m->network.activation = layers->activation;
    m->network.n_layers = layers->n_layers;
    memcpy(m->network.units, layers->units, layers->n_layers * sizeof *m->network.units);
    m->network.w = dni_machine_doubles(&m->base, dni_layers_numbers(layers));
    return dni_machine_created(&m->base, out, err);
}

static dni_layers layers_of(const dn_machine *machine) {
    return dni_network_layers(dni_network_of(machine), machine->n_features);
}

/* ---- one x ---- */
static size_t network_work(const dn_machine *machine) {
    const dni_layers layers = layers_of(machine);
    return 2 * dni_layers_widest(&layers);
}

static inline void add_weights(double value, const double *restrict w, size_t n,
                               double *restrict z) {
    size_t k = 0;
    for (; k + 4 <= n; k += 4) { /* unrolled for vector instructions */
        z[k] += value * w[k];
        z[k + 1] += value * w[k + 1];
        z[k + 2] += value * w[k + 2];
        z[k + 3] += value * w[k + 3];
    }
    for (; k < n; k++) {
        z[k] += value * w[k];
    }
}

/* z [units] ← Wᵀx + b for x [inputs], without h. w: the weights, then the biases. */
static void layer_sums(const double *x, size_t inputs, const double *w, size_t units, double *z) {
    memcpy(z, w + inputs * units, units * sizeof *z);
    for (size_t j = 0; j < inputs; j++) {
        if (x[j] != 0) {
            add_weights(x[j], w + j * units, units, z);
        }
    }
}

/* Computes the outputs of the last hidden layer from the sums z of the first layer, which are in
 * the first half of `work`. Returns the outputs, in `work`. *out_w: the weights of the output
 * layer. */
static const double *hidden_layers(const dn_machine *machine, double *work, const double **out_w) {
    const dni_network *network = dni_network_of(machine);
    const dni_layers layers = layers_of(machine);
    double *z = work, *next = work + dni_layers_widest(&layers);
    const double *w = network->w + (machine->n_features + 1) * network->units[0];
    dni_activate(network->activation, z, network->units[0]);
    for (size_t l = 1; l + 1 < network->n_layers; l++) {
        const size_t inputs = network->units[l - 1], units = network->units[l];
        layer_sums(z, inputs, w, units, next);
        dni_activate(network->activation, next, units);
        w += (inputs + 1) * units;
        double *previous = z;
        z = next;
        next = previous;
    }
    *out_w = w;
    return z;
}

/* Computes the scores from the sums of the first layer. `work`: as in hidden_layers. */
static void later_layers(const dn_machine *machine, double *scores, double *work) {
    const dni_network *network = dni_network_of(machine);
    const size_t last = network->n_layers - 1;
    const double *w, *z = hidden_layers(machine, work, &w);
    layer_sums(z, network->units[last - 1], w, network->units[last], scores);
}

static bool network_scores(const dn_machine *machine, const double *x, double *scores,
                           double *work) {
    const dni_network *network = dni_network_of(machine);
    layer_sums(x, machine->n_features, network->w, network->units[0], work);
    later_layers(machine, scores, work);
    return true;
}

/* work [units] ← the sums of the first layer. */
static void first_sums(const dn_machine *machine, const dni_entry_part *parts, size_t n_parts,
                       double *work) {
    const dni_network *network = dni_network_of(machine);
    const size_t units = network->units[0];
    memcpy(work, network->w + machine->n_features * units, units * sizeof *work);
    for (const dni_entry_part *part = parts; part < parts + n_parts; part++) {
        for (size_t e = 0; e < part->n; e++) {
            add_weights(part->value[e], network->w + part->feature[e] * units, units, work);
        }
    }
}

static bool network_scores_entries(const dn_machine *machine, const dni_entry_part *parts,
                                   size_t n_parts, double *scores, double *work) {
    first_sums(machine, parts, n_parts, work);
    later_layers(machine, scores, work);
    return true;
}

static size_t network_n_hidden(const dn_machine *machine) {
    const dni_network *network = dni_network_of(machine);
    return network->units[network->n_layers - 2];
}

static void network_hidden(const dn_machine *machine, const dni_entry_part *parts, size_t n_parts,
                           double *out, double *work) {
    const double *w;
    first_sums(machine, parts, n_parts, work);
    memcpy(out, hidden_layers(machine, work, &w), network_n_hidden(machine) * sizeof *out);
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

/* Returns the number of doubles of one slot: the outputs of all layers for a tile, for the machine
 * with the most units. */
static size_t slot_work(dn_machine *const *machines, size_t n) {
    size_t max_units = 0;
    for (size_t i = 0; i < n; i++) {
        const dni_layers layers = layers_of(machines[i]);
        const size_t units = dni_layers_units(&layers);
        max_units = units > max_units ? units : max_units;
    }
    return DNI_TILE_ROWS * max_units;
}

static size_t network_tile_work(dn_machine *const *machines, size_t n, size_t n_slots) {
    return n_slots * slot_work(machines, n);
}

static dn_status network_score_tile(dn_machine *const *machines, size_t n, dn_matrix x,
                                    const dn_run *run, size_t slot, double *scores, double *work,
                                    dn_error *err) {
    const size_t n_scores = dni_machines_n_scores(machines, n);
    size_t first = 0; /* the first score of machine i */
    work += slot * slot_work(machines, n);
    for (size_t i = 0; i < n; i++) {
        const dni_layers layers = layers_of(machines[i]);
        const size_t S = dn_machine_n_scores(machines[i]);
        dn_status status =
            dni_layers_forward(&layers, dni_network_of(machines[i])->w, x, run, work, err);
        if (status != DN_OK) {
            return status;
        }
        const double *last = work + x.n_rows * (dni_layers_units(&layers) - S);
        for (size_t r = 0; r < x.n_rows; r++) {
            memcpy(scores + r * n_scores + first, last + r * S, S * sizeof *last);
        }
        first += S;
    }
    return DN_OK;
}

static double network_cost(dn_machine *const *machines, size_t n) {
    double cost = 0;
    for (size_t i = 0; i < n; i++) {
        const dni_layers layers = layers_of(machines[i]);
        for (size_t l = 0; l < layers.n_layers; l++) { /* an activation costs 16 multiplications */
            const double units = (double)layers.units[l];
            cost += (double)dni_layers_inputs(&layers, l) * units + 16 * units;
        }
    }
    return cost;
}

/* ---- raw features ---- */
static dn_status network_to_raw(const dn_machine *machine, const double *mean, const double *scale,
                                dn_machine **out, dn_error *err) {
    const dni_layers layers = layers_of(machine);
    const size_t d = machine->n_features, n = dni_layers_numbers(&layers), units = layers.units[0];
    dn_status status = dni_network_machine_new(machine->n_classes, &layers, out, err);
    if (status != DN_OK) {
        return status;
    }
    const dni_network *to = dni_network_of(*out);
    double *bias = to->w + d * units;
    memcpy(to->w, dni_network_of(machine)->w, n * sizeof *to->w);
    for (size_t j = 0; j < d; j++) {
        for (size_t k = 0; k < units; k++) {
            double *w = to->w + j * units + k;
            *w = scale == NULL ? *w : *w / scale[j];
            if (mean != NULL) {
                bias[k] -= *w * mean[j];
            }
        }
    }
    return dni_all_finite(to->w, n) ? DN_OK : dni_machine_not_finite(err);
}

/* ---- bytes ---- */
static void network_write(const dn_machine *machine, const dn_machine *first, dni_writer *writer) {
    const dni_network *network = dni_network_of(machine);
    const dni_layers layers = layers_of(machine);
    (void)first;
    dni_write_u8(writer, (uint8_t)network->activation);
    dni_write_u64(writer, network->n_layers);
    for (size_t l = 0; l < network->n_layers; l++) {
        dni_write_u64(writer, network->units[l]);
    }
    dni_write_f64s(writer, network->w, dni_layers_numbers(&layers));
}

/* Reads the shape and checks that enough bytes are left for its weights. */
static dn_status read_shape(dni_reader *r, size_t K, size_t units[DNI_MAX_LAYERS],
                            dni_layers *layers, dn_error *err) {
    const uint8_t activation = dni_read_u8(r);
    const uint64_t n_layers = dni_read_u64(r);
    if (r->failed || activation > DNI_ACTIVATION_RELU || n_layers < 2 ||
        n_layers > DNI_MAX_LAYERS) {
        return dni_machine_corrupt("the layers of a network are invalid", err);
    }
    layers->activation = (dni_activation)activation;
    layers->n_layers = (size_t)n_layers;
    for (size_t l = 0; l < layers->n_layers; l++) {
        const uint64_t n = dni_read_u64(r);
        if (r->failed || n == 0 || n > r->left) {
            return dni_machine_corrupt("the number of units of a layer is invalid", err);
        }
        units[l] = (size_t)n;
    }
    const size_t n = dni_layers_numbers(layers);
    if (units[layers->n_layers - 1] != (K == 2 ? 1 : K) || n == SIZE_MAX ||
        !dni_machine_fits(r, n, 1)) {
        return dni_machine_corrupt("the layers of a network are truncated", err);
    }
    return DN_OK;
}

static dn_status network_read(dni_reader *r, size_t K, size_t d, const dn_machine *first,
                              dn_machine **out, dn_error *err) {
    size_t units[DNI_MAX_LAYERS] = {0};
    dni_layers layers = {.n_inputs = d, .units = units};
    (void)first;
    dn_status status = read_shape(r, K, units, &layers, err);
    if (status == DN_OK) {
        status = dni_network_machine_new(K, &layers, out, err);
    }
    if (status != DN_OK) {
        return status;
    }
    double *w = dni_network_of(*out)->w;
    const size_t n = dni_layers_numbers(&layers);
    return dni_read_f64s(r, w, n) && dni_all_finite(w, n)
               ? DN_OK
               : dni_machine_corrupt("the weights of a network are not finite", err);
}

/* ---- description ---- */
static double network_matrix_numbers(const dn_machine *machine) {
    const dni_layers layers = layers_of(machine);
    return (double)dni_layers_numbers(&layers);
}

/* Passes a layer. The matrix "w" has a row for each unit. */
static void visit_layer(const dn_visitor *v, const double *w, size_t inputs, size_t units) {
    v->begin_object(v->ctx, NULL);
    v->integer(v->ctx, "units", (int64_t)units);
    if (v->matrices) {
        v->begin_array(v->ctx, "w");
        for (size_t k = 0; k < units; k++) {
            const dn_number_array column = {.values = w + k,
                                            .shape = {inputs},
                                            .n_dims = 1,
                                            .stride = units};
            v->array(v->ctx, NULL, &column);
        }
        v->end_array(v->ctx);
        dn_visit_vector(v, "w0", w + inputs * units, units);
    }
    v->end_object(v->ctx);
}

static dn_status network_describe(const dn_machine *machine, const dn_encoder *encoder,
                                  const dn_visitor *v, dn_error *err) {
    static const char *const names[] = {[DNI_ACTIVATION_SIGMOID] = "sigmoid",
                                        [DNI_ACTIVATION_TANH] = "tanh",
                                        [DNI_ACTIVATION_RELU] = "relu"};
    const dni_layers layers = layers_of(machine);
    const double *w = dni_network_of(machine)->w;
    const char *activation = names[layers.activation];
    (void)encoder;
    (void)err;
    v->text(v->ctx, "activation", activation, strlen(activation));
    v->begin_array(v->ctx, "layers");
    for (size_t l = 0; l < layers.n_layers; l++) {
        const size_t inputs = dni_layers_inputs(&layers, l);
        visit_layer(v, w, inputs, layers.units[l]);
        w += (inputs + 1) * layers.units[l];
    }
    v->end_array(v->ctx);
    return DN_OK;
}

const dni_machine_kind dni_network_kind = {
    .id = DNI_KIND_NETWORK,
    .name = "network",
    .matrices = "layers",
    .flags = DNI_MACHINE_FINITE,
    .write = network_write,
    .read = network_read,
    .to_raw = network_to_raw,
    .work = network_work,
    .scores = network_scores,
    .scores_entries = network_scores_entries,
    .n_hidden = network_n_hidden,
    .hidden = network_hidden,
    .tile_work = network_tile_work,
    .score_tile = network_score_tile,
    .cost = network_cost,
    .matrix_numbers = network_matrix_numbers,
    .describe = network_describe,
};
