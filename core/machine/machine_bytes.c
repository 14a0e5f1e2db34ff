/* Machines as bytes. Reading checks counts against the bytes left before it allocates, and the rules of machine.h afterwards. */
#include "machine/machine_bytes.h"
#include "linalg/vector.h"
#include "machine/machine_impl.h"
#include "machine/support.h"
#include "machine/support_bytes.h"

#include <math.h>
#include <stdlib.h>

static size_t whiten_numbers(const dn_gaussians *g, size_t K, size_t d) {
    size_t each = g->covariance == DN_COVARIANCE_DIAGONAL ? d : d * d;
    return g->covariance == DN_COVARIANCE_SHARED ? each : K * each;
}

static size_t log_dets(const dn_gaussians *g, size_t K) {
    return g->covariance == DN_COVARIANCE_SHARED ? 1 : K;
}

static void write_gaussians(const dn_gaussians *g, size_t K, size_t d, dni_writer *writer) {
    dni_write_u8(writer, (uint8_t)g->covariance);
    dni_write_f64s(writer, g->prior, K);
    dni_write_f64s(writer, g->mean, K * d);
    dni_write_f64s(writer, g->whiten, whiten_numbers(g, K, d));
    dni_write_f64s(writer, g->log_det, log_dets(g, K));
}

static void write_network(const dn_network *network, size_t d, dni_writer *writer) {
    const dni_layers layers = dni_network_layers(network, d);
    dni_write_u8(writer, (uint8_t)network->activation);
    dni_write_u64(writer, network->n_layers);
    for (size_t l = 0; l < network->n_layers; l++) {
        dni_write_u64(writer, network->units[l]);
    }
    dni_write_f64s(writer, network->w, dni_layers_numbers(&layers));
}

static void write_kernel(const dn_kernel_machine *k, bool first, dni_writer *writer) {
    if (first) {
        dni_support_write(k->support, writer);
    }
    dni_write_u64(writer, k->n);
    dni_write_u32s(writer, k->index, k->n);
    dni_write_f64s(writer, k->coef, k->n);
    dni_write_f64(writer, k->w0);
    dni_write_f64(writer, k->norm);
}

void dni_machine_write(const dn_machine *m, const dn_machine *first, dni_writer *writer) {
    size_t K = m->n_classes, d = m->n_features, S = dn_machine_n_scores(m);
    dni_write_u8(writer, (uint8_t)m->kind);
    dni_write_u64(writer, K);
    if (m->kind == DN_MACHINE_LINEAR) {
        dni_write_f64s(writer, m->w, S * d);
        dni_write_f64s(writer, m->w0, S);
        dni_write_u8(writer, m->gaussians != NULL);
    }
    if (m->gaussians != NULL) {
        write_gaussians(m->gaussians, K, d, writer);
    }
    if (m->naive_bayes != NULL) {
        dni_write_f64s(writer, m->naive_bayes->prior, K);
        dni_write_bytes(writer, m->naive_bayes->factor, d);
        dni_write_f64s(writer, m->naive_bayes->a, d * K);
        dni_write_f64s(writer, m->naive_bayes->b, d * K);
    }
    if (m->network != NULL) {
        write_network(m->network, d, writer);
    }
    if (m->kernel != NULL) {
        write_kernel(m->kernel, first == NULL, writer);
    }
    dni_write_u64(writer, m->n_components);
    dni_write_f64s(writer, m->projection, m->n_components * d);
}

static dn_status corrupt(const char *what, dn_error *err) {
    return dn_error_set(err, DN_ERR_CORRUPT, "the model is damaged: %s", what);
}

/* Whether a × b doubles may still follow. */
static bool room_for(const dni_reader *r, size_t a, size_t b) {
    return !r->failed && (b == 0 || a <= r->left / 8 / b);
}

static bool priors_good(const double *prior, size_t K) {
    for (size_t k = 0; k < K; k++) {
        if (!(prior[k] > 0 && prior[k] <= 1)) {
            return false;
        }
    }
    return true;
}

static dn_status read_gaussians(dni_reader *r, size_t K, size_t d, const dn_gaussians *g,
                                dn_error *err) {
    size_t n = whiten_numbers(g, K, d);
    if (!dni_read_f64s(r, g->prior, K) || !dni_read_f64s(r, g->mean, K * d) ||
        !dni_read_f64s(r, g->whiten, n) || !dni_read_f64s(r, g->log_det, log_dets(g, K))) {
        return corrupt("its densities are cut short", err);
    }
    if (!priors_good(g->prior, K) || !dni_all_finite(g->mean, K * d) ||
        !dni_all_finite(g->whiten, n) || !dni_all_finite(g->log_det, log_dets(g, K))) {
        return corrupt("its densities are not finite", err);
    }
    return DN_OK;
}

static bool factor_good(const dn_naive_bayes *b, size_t j, size_t K) {
    for (size_t k = 0; k < K; k++) {
        double p = b->a[j * K + k], q = b->b[j * K + k];
        if (b->factor[j] == DN_FACTOR_GAUSSIAN ? !isfinite(p) || !isfinite(q) || !(q > 0)
                                               : !(p <= 0) || !(q <= 0)) {
            return false;
        }
    }
    return b->factor[j] <= DN_FACTOR_PRESENCE;
}

static dn_status read_naive_bayes(dni_reader *r, size_t K, size_t d, const dn_naive_bayes *b,
                                  dn_error *err) {
    bool whole = dni_read_f64s(r, b->prior, K);
    const unsigned char *factor = dni_read_bytes(r, d);
    for (size_t j = 0; factor != NULL && j < d; j++) {
        b->factor[j] = factor[j];
    }
    if (!whole || factor == NULL || !dni_read_f64s(r, b->a, d * K) ||
        !dni_read_f64s(r, b->b, d * K)) {
        return corrupt("its factors are cut short", err);
    }
    for (size_t j = 0; j < d; j++) {
        if (!factor_good(b, j, K)) {
            return corrupt("a factor breaks its rule", err);
        }
    }
    return priors_good(b->prior, K) ? DN_OK : corrupt("its priors are none", err);
}

static dn_status read_projection(dni_reader *r, size_t d, dn_machine *m, dn_error *err) {
    uint64_t n = dni_read_u64(r);
    if (r->failed || n > d || !room_for(r, (size_t)n, d)) {
        return corrupt("its projection is cut short", err);
    }
    if (n == 0) {
        return DN_OK;
    }
    double *projection;
    dn_status status = dni_machine_new_projection(m, (size_t)n, &projection, err);
    if (status != DN_OK) {
        return status;
    }
    if (!dni_read_f64s(r, projection, (size_t)n * d) ||
        !dni_all_finite(projection, (size_t)n * d)) {
        return corrupt("its projection is cut short or not finite", err);
    }
    return DN_OK;
}

static dn_status read_linear(dni_reader *r, const dn_machine *m, dn_error *err) {
    size_t d = m->n_features, S = dn_machine_n_scores(m);
    if (!dni_read_f64s(r, m->w, S * d) || !dni_read_f64s(r, m->w0, S)) {
        return corrupt("its weights are cut short", err);
    }
    return dni_all_finite(m->w, S * d) && dni_all_finite(m->w0, S)
               ? DN_OK
               : corrupt("its weights are not finite", err);
}

/* Shape and numbers. What is allocated has been seen to follow. */
static dn_status read_network(dni_reader *r, size_t K, size_t d, dn_machine **out, dn_error *err) {
    size_t units[DN_MAX_LAYERS] = {0};
    dni_layers layers = {.n_inputs = d, .units = units};
    const uint8_t activation = dni_read_u8(r);
    const uint64_t n_layers = dni_read_u64(r);
    if (r->failed || activation > DN_ACTIVATION_RELU || n_layers < 2 || n_layers > DN_MAX_LAYERS) {
        return corrupt("its layers are none", err);
    }
    layers.activation = (dn_activation)activation;
    layers.n_layers = (size_t)n_layers;
    for (size_t l = 0; l < layers.n_layers; l++) {
        const uint64_t n = dni_read_u64(r);
        if (r->failed || n == 0 || n > r->left) {
            return corrupt("the units of a layer are none", err);
        }
        units[l] = (size_t)n;
    }
    const size_t n = dni_layers_numbers(&layers);
    if (units[layers.n_layers - 1] != (K == 2 ? 1 : K) || n == SIZE_MAX || !room_for(r, n, 1)) {
        return corrupt("its layers are cut short", err);
    }
    dn_status status = dni_network_machine_new(K, &layers, out, err);
    if (status != DN_OK) {
        return status;
    }
    if (!dni_read_f64s(r, (*out)->network->w, n) || !dni_all_finite((*out)->network->w, n)) {
        return corrupt("its weights are cut short or not finite", err);
    }
    return DN_OK;
}

static bool kernel_good(const dn_kernel_machine *k) {
    for (size_t i = 0; i < k->n; i++) {
        if (k->index[i] >= k->support->x.n_rows || (i > 0 && k->index[i] <= k->index[i - 1])) {
            return false;
        }
    }
    return dni_all_finite(k->coef, k->n) && isfinite(k->w0) &&
           (isnan(k->norm) || (isfinite(k->norm) && k->norm >= 0));
}

/* A machine over the support vectors of the first, or those that come here. */
static dn_status read_kernel(dni_reader *r, size_t d, const dn_machine *first, dn_machine **out,
                             dn_error *err) {
    dn_support *support = NULL;
    dn_status status = DN_OK;
    if (first == NULL) {
        status = dni_support_read(r, d, &support, err);
    } else {
        support = dni_support_ref(first->kernel->support);
    }
    if (status != DN_OK) {
        return status;
    }
    const size_t n = dni_read_count(r, sizeof(uint32_t) + sizeof(double));
    if (!r->failed) {
        status = dni_kernel_machine_new(support, n, out, err);
    }
    dni_support_unref(support); /* the machine has its own */
    if (r->failed) {
        return corrupt("a machine has no support vectors", err);
    }
    if (status != DN_OK) {
        return status;
    }
    dn_kernel_machine *k = (*out)->kernel;
    const bool whole = dni_read_u32s(r, k->index, n) && dni_read_f64s(r, k->coef, n);
    k->w0 = dni_read_f64(r);
    k->norm = dni_read_f64(r);
    return whole && !r->failed && kernel_good(k)
               ? DN_OK
               : corrupt("a machine of support vectors breaks its rule", err);
}

/* The kind's own numbers, into a machine made for them. Densities of a linear machine are announced behind its weights, but its memory is made before: `densities`
 * peeks at that byte. */
static dn_status read_kind(dni_reader *r, dn_machine_kind kind, size_t K, size_t d,
                           dn_machine **made, dn_error *err) {
    size_t S = K == 2 ? 1 : K;
    dn_covariance covariance = DN_COVARIANCE_SHARED;
    bool densities = false;
    if (kind == DN_MACHINE_NETWORK) {
        return read_network(r, K, d, made, err);
    }
    if (!room_for(r, S, d + 1)) {
        return corrupt("its numbers are cut short", err);
    }
    if (kind == DN_MACHINE_LINEAR) {
        dni_reader ahead = *r;
        dni_read_bytes(&ahead, 8 * S * (d + 1));
        densities = dni_read_u8(&ahead) == 1;
        covariance = densities ? (dn_covariance)dni_read_u8(&ahead) : covariance;
        if (ahead.failed || covariance != DN_COVARIANCE_SHARED ||
            (densities && !room_for(&ahead, d, d))) {
            return corrupt("its densities are none", err);
        }
    } else if (kind == DN_MACHINE_GAUSSIAN) {
        covariance = (dn_covariance)dni_read_u8(r);
        if (r->failed || covariance > DN_COVARIANCE_DIAGONAL ||
            (covariance != DN_COVARIANCE_DIAGONAL && !room_for(r, d, d)) ||
            (covariance == DN_COVARIANCE_FULL && !room_for(r, K, d * d))) {
            return corrupt("its densities are none", err);
        }
    }
    dn_status status =
        kind == DN_MACHINE_LINEAR     ? dni_linear_machine_new(K, d, densities, made, err)
        : kind == DN_MACHINE_GAUSSIAN ? dni_gaussian_machine_new(K, d, covariance, made, err)
                                      : dni_bayes_machine_new(K, d, made, err);
    if (status != DN_OK) {
        return status;
    }
    dn_machine *out = *made;
    if (kind == DN_MACHINE_LINEAR) {
        status = read_linear(r, out, err);
        dni_read_u8(r);
        if (densities) {
            dni_read_u8(r);
        }
    }
    if (status == DN_OK && out->gaussians != NULL) {
        status = read_gaussians(r, K, d, out->gaussians, err);
    }
    if (status == DN_OK && kind == DN_MACHINE_NAIVE_BAYES) {
        status = read_naive_bayes(r, K, d, out->naive_bayes, err);
    }
    return status;
}

dn_status dni_machine_read(dni_reader *r, size_t n_classes, size_t n_features,
                           const dn_machine *first, dn_machine **out, dn_error *err) {
    uint8_t kind = dni_read_u8(r);
    uint64_t K = dni_read_u64(r);
    if (r->failed || kind > DN_MACHINE_NETWORK) {
        return corrupt("the kind of a machine is unknown", err);
    }
    const bool kernel = kind == DN_MACHINE_KERNEL;
    if ((kernel && n_classes != 2) || (first != NULL && kernel != (first->kernel != NULL))) {
        return corrupt("the kind of a machine does not fit the others", err);
    }
    if (K != n_classes) {
        return corrupt("the number of its scores does not fit its classes", err);
    }
    dn_machine *m = NULL;
    dn_status status = kernel ? read_kernel(r, n_features, first, &m, err)
                              : read_kind(r, (dn_machine_kind)kind, n_classes, n_features, &m, err);
    if (status == DN_OK) {
        status = read_projection(r, n_features, m, err);
    }
    if (status == DN_OK) {
        *out = m;
    } else {
        dn_machine_free(m);
    }
    return status;
}
