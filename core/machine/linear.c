/* Linear machines. A tile is scored by one product with the weights of all machines. */
#include "machine/linear.h"
#include "linalg/tile.h"
#include "linalg/vector.h"
#include "machine/machine_kind.h"

#include <stdlib.h>

/* ---- memory ---- */
dni_linear_machine *dni_linear_machine_of(const dn_machine *machine) {
    return (dni_linear_machine *)(uintptr_t)machine;
}

dn_status dni_linear_machine_new(size_t n_classes, size_t n_features, bool densities,
                                 dn_machine **out, dn_error *err) {
    dni_linear_machine *m = dni_machine_alloc(&dni_linear_kind, sizeof *m, n_classes, n_features);
    if (m == NULL) {
        return dni_machine_no_memory(n_classes, n_features, err);
    }
    const size_t S = dn_machine_n_scores(&m->base);
    m->w = dni_machine_numbers_new(dni_machine_product(S, n_features));
    m->w0 = dni_machine_numbers_new(S);
    if (densities) {
        m->gaussians = dni_gaussians_new(DNI_COVARIANCE_SHARED, n_classes, n_features);
    }
    if (m->w == NULL || m->w0 == NULL || (densities && m->gaussians == NULL)) {
        dn_machine_free(&m->base);
        return dni_machine_no_memory(n_classes, n_features, err);
    }
    *out = &m->base;
    return DN_OK;
}

static void linear_free(dn_machine *machine) {
    dni_linear_machine *m = dni_linear_machine_of(machine);
    free(m->w);
    free(m->w0);
    dni_gaussians_free(m->gaussians);
}

static double linear_memory(const dn_machine *machine) {
    const dni_linear_machine *m = dni_linear_machine_of(machine);
    const double S = (double)dn_machine_n_scores(machine), d = (double)machine->n_features;
    return (double)sizeof *m + sizeof(double) * S * (d + 1) +
           (m->gaussians == NULL
                ? 0
                : dni_gaussians_memory(m->gaussians, machine->n_classes, machine->n_features));
}

/* ---- bytes ---- */
static void linear_write(const dn_machine *machine, const dn_machine *first, dni_writer *writer) {
    const dni_linear_machine *m = dni_linear_machine_of(machine);
    const size_t S = dn_machine_n_scores(machine);
    (void)first;
    dni_write_f64s(writer, m->w, S * machine->n_features);
    dni_write_f64s(writer, m->w0, S);
    dni_write_u8(writer, m->gaussians != NULL);
    if (m->gaussians != NULL) {
        dni_gaussians_write(m->gaussians, machine->n_classes, machine->n_features, writer);
    }
}

/* Reads ahead whether densities follow the weights. Their memory is allocated before the weights
 * are read. */
static dn_status read_ahead(const dni_reader *r, size_t n_weights, size_t d, bool *out_densities,
                            dn_error *err) {
    dni_reader ahead = *r;
    dni_covariance covariance = DNI_COVARIANCE_SHARED;
    dni_read_bytes(&ahead, 8 * n_weights);
    *out_densities = dni_read_u8(&ahead) == 1;
    if (*out_densities) {
        covariance = (dni_covariance)dni_read_u8(&ahead);
    }
    if (ahead.failed || covariance != DNI_COVARIANCE_SHARED ||
        (*out_densities && !dni_machine_fits(&ahead, d, d))) {
        return dni_machine_corrupt("its densities are none", err);
    }
    return DN_OK;
}

static dn_status linear_read_numbers(dni_reader *r, const dni_linear_machine *m, dn_error *err) {
    const size_t K = m->base.n_classes, d = m->base.n_features, S = dn_machine_n_scores(&m->base);
    if (!dni_read_f64s(r, m->w, S * d) || !dni_read_f64s(r, m->w0, S)) {
        return dni_machine_corrupt("its weights are cut short", err);
    }
    if (!dni_all_finite(m->w, S * d) || !dni_all_finite(m->w0, S)) {
        return dni_machine_corrupt("its weights are not finite", err);
    }
    dni_read_u8(r);
    if (m->gaussians == NULL) {
        return DN_OK;
    }
    dni_read_u8(r);
    return dni_gaussians_read(r, K, d, m->gaussians, err);
}

static dn_status linear_read(dni_reader *r, size_t K, size_t d, const dn_machine *first,
                             dn_machine **out, dn_error *err) {
    const size_t S = K == 2 ? 1 : K;
    bool densities;
    dn_machine *m;
    (void)first;
    if (!dni_machine_fits(r, S, d + 1)) {
        return dni_machine_corrupt("its numbers are cut short", err);
    }
    dn_status status = read_ahead(r, S * (d + 1), d, &densities, err);
    if (status != DN_OK) {
        return status;
    }
    status = dni_linear_machine_new(K, d, densities, &m, err);
    if (status != DN_OK) {
        return status;
    }
    status = linear_read_numbers(r, dni_linear_machine_of(m), err);
    if (status != DN_OK) {
        dn_machine_free(m);
        return status;
    }
    *out = m;
    return DN_OK;
}

/* ---- raw features ---- */
void dni_linear_to_raw(const double *w, size_t stride, const double *w0, size_t w0_stride,
                       size_t n_scores, size_t n_features, const double *mean, const double *scale,
                       double *w_raw, double *w0_raw) {
    for (size_t k = 0; k < n_scores; k++) {
        double intercept = w0[k * w0_stride];
        for (size_t j = 0; j < n_features; j++) {
            double raw = scale == NULL ? w[k * stride + j] : w[k * stride + j] / scale[j];
            w_raw[k * n_features + j] = raw;
            if (mean != NULL) {
                intercept -= raw * mean[j];
            }
        }
        w0_raw[k] = intercept;
    }
}

static bool has_finite_weights(const dni_linear_machine *m) {
    const size_t S = dn_machine_n_scores(&m->base);
    return dni_all_finite(m->w, S * m->base.n_features) && dni_all_finite(m->w0, S);
}

static dn_status linear_raw(const dn_machine *machine, const double *mean, const double *scale,
                            dn_machine **out, dn_error *err) {
    const dni_linear_machine *from = dni_linear_machine_of(machine);
    const size_t K = machine->n_classes, d = machine->n_features;
    dn_machine *made;
    dn_status status = dni_linear_machine_new(K, d, from->gaussians != NULL, &made, err);
    if (status != DN_OK) {
        return status;
    }
    const dni_linear_machine *to = dni_linear_machine_of(made);
    dni_linear_to_raw(from->w, d, from->w0, 1, dn_machine_n_scores(machine), d, mean, scale, to->w,
                      to->w0);
    if (!has_finite_weights(to) ||
        (from->gaussians != NULL &&
         !dni_gaussians_to_raw(from->gaussians, K, d, mean, scale, to->gaussians))) {
        dn_machine_free(made);
        return dni_machine_not_finite(err);
    }
    *out = made;
    return DN_OK;
}

static bool linear_is_raw(const dn_machine *machine) {
    const dni_linear_machine *m = dni_linear_machine_of(machine);
    return m->gaussians == NULL && has_finite_weights(m);
}

/* ---- one row ---- */
static size_t linear_work(const dn_machine *machine) {
    const bool densities = dni_linear_machine_of(machine)->gaussians != NULL;
    return (densities ? 2 * machine->n_features : 0) + machine->n_classes;
}

static bool linear_scores(const dn_machine *machine, const double *x, double *scores,
                          double *work) {
    const dni_linear_machine *m = dni_linear_machine_of(machine);
    const size_t d = machine->n_features;
    (void)work;
    for (size_t k = 0; k < dn_machine_n_scores(machine); k++) {
        scores[k] = m->w0[k] + dni_dot(m->w + k * d, x, d);
    }
    return true;
}

static bool linear_joint(const dn_machine *machine, const double *x, double *joint, double *work) {
    return dni_gaussians_joint(dni_linear_machine_of(machine)->gaussians, machine->n_classes,
                               machine->n_features, x, joint, work);
}

static bool linear_has_densities(const dn_machine *machine) {
    return dni_linear_machine_of(machine)->gaussians != NULL;
}

static void linear_contributions(const dn_machine *machine, const double *x, double *out,
                                 double *work) {
    const dni_linear_machine *m = dni_linear_machine_of(machine);
    const size_t d = machine->n_features;
    (void)work;
    for (size_t k = dn_machine_n_scores(machine); k-- > 0;) { /* x may be row 0 */
        for (size_t j = 0; j < d; j++) {
            out[k * d + j] = m->w[k * d + j] * x[j];
        }
    }
}

static void linear_intercept(const dn_machine *machine, double *out, double *work) {
    const dni_linear_machine *m = dni_linear_machine_of(machine);
    (void)work;
    for (size_t k = 0; k < dn_machine_n_scores(machine); k++) {
        out[k] = m->w0[k];
    }
}

static void linear_weights(const dn_machine *machine, double **out_w, double **out_w0) {
    *out_w = dni_linear_machine_of(machine)->w;
    *out_w0 = dni_linear_machine_of(machine)->w0;
}

/* ---- tiles ---- */
/* `work` is the matrix of all weights [n_scores × (n_features + 1)], with the intercepts in the
 * last column. It is transposed for sparse tiles. */
static size_t count_scores(dn_machine *const *machines, size_t n) {
    size_t S = 0;
    for (size_t i = 0; i < n; i++) {
        S += dn_machine_n_scores(machines[i]);
    }
    return S;
}

static size_t linear_tile_work(dn_machine *const *machines, size_t n, size_t n_slots) {
    (void)n_slots;
    return count_scores(machines, n) * (machines[0]->n_features + 1);
}

static void linear_tile_prepare(dn_machine *const *machines, size_t n, bool sparse, double *work) {
    const size_t d = machines[0]->n_features, S = count_scores(machines, n), step = sparse ? S : 1;
    for (size_t i = 0, row = 0; i < n; i++) {
        const dni_linear_machine *m = dni_linear_machine_of(machines[i]);
        for (size_t s = 0; s < dn_machine_n_scores(machines[i]); s++, row++) {
            double *to = sparse ? work + row : work + row * (d + 1);
            for (size_t j = 0; j < d; j++) {
                to[j * step] = m->w[s * d + j];
            }
            to[d * step] = m->w0[s];
        }
    }
}

static dn_status linear_score_tile(dn_machine *const *machines, size_t n, dn_matrix x,
                                   const dn_run *run, double *scores, double *work, dn_error *err) {
    (void)run;
    (void)err;
    dni_tile_scores(x, work, count_scores(machines, n), scores);
    return DN_OK;
}

static double linear_cost(dn_machine *const *machines, size_t n) {
    return (double)count_scores(machines, n) * (double)machines[0]->n_features;
}

/* ---- description ---- */
static double linear_matrix_numbers(const dn_machine *machine) {
    const dni_linear_machine *m = dni_linear_machine_of(machine);
    return m->gaussians == NULL ? 0
                                : dni_gaussians_matrix_numbers(m->gaussians, machine->n_classes,
                                                               machine->n_features);
}

static dn_status linear_describe(const dn_machine *machine, const dn_encoder *encoder,
                                 const dn_visitor *visitor, dn_error *err) {
    const dni_linear_machine *m = dni_linear_machine_of(machine);
    (void)encoder;
    return m->gaussians == NULL ? DN_OK
                                : dni_gaussians_describe(m->gaussians, machine->n_classes,
                                                         machine->n_features, visitor, err);
}

const dni_machine_kind dni_linear_kind = {
    .id = DNI_KIND_LINEAR,
    .name = "linear",
    .matrices = "covariances",
    .flags = DNI_MACHINE_FINITE | DNI_MACHINE_SUMS,
    .free_parts = linear_free,
    .memory = linear_memory,
    .write = linear_write,
    .read = linear_read,
    .to_raw = linear_raw,
    .is_raw = linear_is_raw,
    .work = linear_work,
    .scores = linear_scores,
    .joint = linear_joint,
    .has_densities = linear_has_densities,
    .needs_all = linear_has_densities,
    .contributions = linear_contributions,
    .intercept = linear_intercept,
    .linear = linear_weights,
    .tile_work = linear_tile_work,
    .tile_prepare = linear_tile_prepare,
    .score_tile = linear_score_tile,
    .cost = linear_cost,
    .matrix_numbers = linear_matrix_numbers,
    .describe = linear_describe,
    .describes = linear_has_densities,
};
