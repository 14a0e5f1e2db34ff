/* What a machine holds beside linear weights, as JSON. */
#include "api/densities.h"
#include "api/kernel_weights.h"

#include <math.h>
#include <stdlib.h>

bool api_machine_has_more(const dn_machine *machine) {
    return machine->gaussians || machine->naive_bayes || machine->network || machine->kernel ||
           machine->n_components > 0;
}

void api_put_vector(struct json_writer *w, const char *key, const double *v, size_t n) {
    if (key) {
        json_put_key(w, key);
    }
    json_begin_array(w);
    for (size_t j = 0; j < n; j++) {
        json_put_double(w, v[j]);
    }
    json_end_array(w);
}

void api_put_matrix(struct json_writer *w, const char *key, const double *m, size_t n_rows,
                    size_t n_cols) {
    if (key) {
        json_put_key(w, key);
    }
    json_begin_array(w);
    for (size_t i = 0; i < n_rows; i++) {
        api_put_vector(w, NULL, m + i * n_cols, n_cols);
    }
    json_end_array(w);
}

/* ---- class densities ---- */
static size_t n_covariances(const dn_machine *m) {
    return m->gaussians->covariance == DN_COVARIANCE_SHARED ? 1 : m->n_classes;
}

/* Numbers of one covariance. */
static size_t covariance_size(const dn_machine *m) {
    return m->gaussians->covariance == DN_COVARIANCE_DIAGONAL ? m->n_features
                                                              : m->n_features * m->n_features;
}

static double network_numbers(const dn_machine *machine) {
    double inputs = (double)machine->n_features, numbers = 0;
    for (size_t l = 0; l < machine->network->n_layers; l++) {
        const double units = (double)machine->network->units[l];
        numbers += (inputs + 1) * units;
        inputs = units;
    }
    return numbers;
}

double api_machine_matrix_numbers(const dn_machine *machine) {
    if (machine->network) {
        return network_numbers(machine);
    }
    if (machine->kernel) {
        return 2 * (double)machine->kernel->n;
    }
    if (!machine->gaussians || machine->gaussians->covariance == DN_COVARIANCE_DIAGONAL) {
        return 0;
    }
    const double d = (double)machine->n_features, once = (double)n_covariances(machine) * d * d;
    return machine->kind == DN_MACHINE_GAUSSIAN ? once + (double)machine->n_classes * d * d : once;
}

/* A covariance or the W of a quadratic discriminant: a matrix, or its diagonal when there is no more to it. */
static void put_square(struct json_writer *w, const dn_machine *m, const double *values) {
    if (m->gaussians->covariance == DN_COVARIANCE_DIAGONAL) {
        api_put_vector(w, NULL, values, m->n_features);
    } else {
        api_put_matrix(w, NULL, values, m->n_features, m->n_features);
    }
}

static void put_covariances(struct json_writer *w, const dn_machine *m, double *room,
                            double *work) {
    json_put_key(w, "covariances");
    json_begin_array(w);
    for (size_t k = 0; k < n_covariances(m) && !w->out->failed; k++) {
        dn_machine_covariance(m, k, room, work);
        put_square(w, m, room);
    }
    json_end_array(w);
}

/* g_k(x) = xᵀW x + wᵀx + w0. `lines` [K × (d + 1)] keeps w and w0 while the W are written. */
static void put_quadratic(struct json_writer *w, const dn_machine *m, bool matrices, double *room,
                          double *work, double *lines) {
    const size_t d = m->n_features, K = m->n_classes;
    double *w0 = lines + K * d;
    if (matrices) {
        json_put_key(w, "W");
        json_begin_array(w);
    }
    for (size_t k = 0; k < K && !w->out->failed; k++) {
        dn_machine_quadratic(m, k, room, lines + k * d, w0 + k, work);
        if (matrices) {
            put_square(w, m, room);
        }
    }
    if (matrices) {
        json_end_array(w);
    }
    api_put_matrix(w, "w", lines, K, d);
    api_put_vector(w, "w0", w0, K);
}

static void put_gaussians(struct json_writer *w, const dn_machine *m, bool matrices) {
    static const char *const names[] = {[DN_COVARIANCE_SHARED] = "shared",
                                        [DN_COVARIANCE_FULL] = "full",
                                        [DN_COVARIANCE_DIAGONAL] = "diagonal"};
    const dn_gaussians *g = m->gaussians;
    const size_t d = m->n_features, K = m->n_classes, square = covariance_size(m);
    double *room = calloc(2 * square + 2 * d + K * (d + 1) + 1, sizeof *room);
    if (!room) {
        w->out->failed = true;
        return;
    }
    double *work = room + square, *lines = work + square + 2 * d;
    matrices = matrices || g->covariance == DN_COVARIANCE_DIAGONAL;
    json_kv_string(w, "covariance", names[g->covariance]);
    api_put_vector(w, "priors", g->prior, K);
    api_put_matrix(w, "means", g->mean, K, d);
    api_put_vector(w, "log_determinants", g->log_det, n_covariances(m));
    if (matrices) {
        put_covariances(w, m, room, work);
    }
    if (m->kind == DN_MACHINE_GAUSSIAN) {
        put_quadratic(w, m, matrices, room, work, lines);
    }
    free(room);
}

/* ---- naive Bayes ---- */
/* e to the power of the logarithms, for each class. */
static void put_shares(struct json_writer *w, const char *key, const double *logarithm, size_t K) {
    json_put_key(w, key);
    json_begin_array(w);
    for (size_t k = 0; k < K; k++) {
        json_put_double(w, exp(logarithm[k]));
    }
    json_end_array(w);
}

static void put_feature_name(struct json_writer *w, const dn_encoder *encoder, size_t j) {
    const size_t n = dn_encoder_feature_name(encoder, j, NULL, 0);
    char *name = malloc(n + 1);
    if (name) {
        dn_encoder_feature_name(encoder, j, name, n + 1);
    } else {
        w->out->failed = true;
    }
    json_put_string(w, name);
    free(name);
}

static void put_factor(struct json_writer *w, const dn_machine *m, const dn_encoder *encoder,
                       size_t j) {
    const dn_naive_bayes *b = m->naive_bayes;
    const size_t K = m->n_classes;
    json_begin_object(w);
    json_put_key(w, "feature");
    put_feature_name(w, encoder, j);
    switch ((dn_factor)b->factor[j]) {
    case DN_FACTOR_GAUSSIAN:
        json_kv_string(w, "distribution", "gaussian");
        api_put_vector(w, "mean", b->a + j * K, K);
        api_put_vector(w, "variance", b->b + j * K, K);
        break;
    case DN_FACTOR_BERNOULLI:
    case DN_FACTOR_PRESENCE:
        json_kv_string(w, "distribution", "bernoulli");
        put_shares(w, "probability", b->a + j * K, K);
        break;
    case DN_FACTOR_COUNT:
        json_kv_string(w, "distribution", "multinomial");
        put_shares(w, "probability", b->a + j * K, K);
        break;
    }
    json_end_object(w);
}

/* A category whose levels are all features: one distribution over them. */
static void put_levels(struct json_writer *w, const dn_machine *m, const dn_input *input) {
    const size_t K = m->n_classes;
    json_begin_object(w);
    json_kv_string(w, "column", input->name);
    json_kv_string(w, "distribution", "categorical");
    json_put_key(w, "levels");
    json_begin_array(w);
    for (size_t l = 0; l < input->n_features; l++) {
        json_begin_object(w);
        json_put_key(w, "level");
        if (l < input->levels.n) {
            json_put_stringn(w, input->levels.bytes + input->levels.start[l],
                             input->levels.start[l + 1] - input->levels.start[l]);
        } else {
            json_put_null(w);
        }
        put_shares(w, "probability", m->naive_bayes->a + (input->first_feature + l) * K, K);
        json_end_object(w);
    }
    json_end_array(w);
    json_end_object(w);
}

static bool is_distribution(const dn_machine *m, const dn_input *input) {
    bool counts = input->type == DN_CATEGORICAL && input->n_features > 0 &&
                  input->n_features == input->levels.n + input->missing_level;
    for (size_t l = 0; counts && l < input->n_features; l++) {
        counts = m->naive_bayes->factor[input->first_feature + l] == DN_FACTOR_COUNT;
    }
    return counts;
}

static void put_bayes(struct json_writer *w, const dn_machine *m, const dn_encoder *encoder) {
    size_t j = 0;
    api_put_vector(w, "priors", m->naive_bayes->prior, m->n_classes);
    json_put_key(w, "factors");
    json_begin_array(w);
    for (size_t i = 0; i < dn_encoder_n_inputs(encoder); i++) {
        const dn_input *input = dn_encoder_input(encoder, i);
        if (is_distribution(m, input)) {
            put_levels(w, m, input);
            j += input->n_features;
            continue;
        }
        for (size_t l = 0; l < input->n_features; l++) {
            put_factor(w, m, encoder, j++);
        }
    }
    while (j < m->n_features) { /* of bases: functions of several columns */
        put_factor(w, m, encoder, j++);
    }
    json_end_array(w);
}

/* ---- networks ---- */
/* The weights of one layer, a row for each unit as those of a discriminant are, and its biases. */
static void put_layer(struct json_writer *w, const double *table, size_t inputs, size_t units,
                      bool matrices) {
    json_begin_object(w);
    json_kv_int(w, "units", (int64_t)units);
    if (matrices) {
        json_put_key(w, "w");
        json_begin_array(w);
        for (size_t k = 0; k < units && !w->out->failed; k++) {
            json_begin_array(w);
            for (size_t j = 0; j < inputs; j++) {
                json_put_double(w, table[j * units + k]);
            }
            json_end_array(w);
        }
        json_end_array(w);
        api_put_vector(w, "w0", table + inputs * units, units);
    }
    json_end_object(w);
}

static void put_network(struct json_writer *w, const dn_machine *machine, bool matrices) {
    static const char *const names[] = {[DN_ACTIVATION_SIGMOID] = "sigmoid",
                                        [DN_ACTIVATION_TANH] = "tanh",
                                        [DN_ACTIVATION_RELU] = "relu"};
    const dn_network *network = machine->network;
    const double *table = network->w;
    size_t inputs = machine->n_features;
    json_kv_string(w, "activation", names[network->activation]);
    json_put_key(w, "layers");
    json_begin_array(w);
    for (size_t l = 0; l < network->n_layers; l++) {
        put_layer(w, table, inputs, network->units[l], matrices);
        table += (inputs + 1) * network->units[l];
        inputs = network->units[l];
    }
    json_end_array(w);
}

void api_machine_write(const dn_machine *machine, const dn_encoder *encoder, bool matrices,
                       struct json_writer *w) {
    if (machine->gaussians) {
        put_gaussians(w, machine, matrices);
    }
    if (machine->naive_bayes) {
        put_bayes(w, machine, encoder);
    }
    if (machine->network) {
        put_network(w, machine, matrices);
    }
    if (machine->kernel) {
        api_kernel_machine_write(machine->kernel, matrices, w);
    }
    if (machine->n_components > 0) {
        api_put_matrix(w, "directions", machine->projection, machine->n_components,
                       machine->n_features);
    }
}
