/* Linear machines. A tile is scored by one product with the weights of all machines. */
#include "machine/linear.h"
#include "linalg/tile.h"
#include "linalg/vector.h"
#include "machine/machine_kind.h"

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
    m->w = dni_machine_doubles(&m->base, dni_machine_product(S, n_features));
    m->w0 = dni_machine_doubles(&m->base, S);
    m->gaussians = densities ? dni_gaussians_new(&m->base, DNI_COVARIANCE_SHARED) : NULL;
    return dni_machine_created(&m->base, out, err);
}

static bool has_finite_weights(const dni_linear_machine *m) {
    const size_t S = dn_machine_n_scores(&m->base);
    return dni_all_finite(m->w, S * m->base.n_features) && dni_all_finite(m->w0, S);
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

static dn_status linear_read(dni_reader *r, size_t K, size_t d, const dn_machine *first,
                             dn_machine **out, dn_error *err) {
    const size_t S = K == 2 ? 1 : K;
    (void)first;
    if (!dni_machine_fits(r, S, d + 1)) {
        return dni_machine_corrupt("the weights of a machine are truncated", err);
    }
    dn_status status = dni_linear_machine_new(K, d, false, out, err);
    if (status != DN_OK) {
        return status;
    }
    dni_linear_machine *m = dni_linear_machine_of(*out);
    if (!dni_read_f64s(r, m->w, S * d) || !dni_read_f64s(r, m->w0, S) || !has_finite_weights(m)) {
        return dni_machine_corrupt("the weights of a machine are not finite", err);
    }
    const bool densities = dni_read_u8(r) == 1;
    if (r->failed || (densities && (dni_read_u8(r) != DNI_COVARIANCE_SHARED || r->failed ||
                                    !dni_machine_fits(r, d, d)))) {
        return dni_machine_corrupt("the densities of a linear machine are invalid", err);
    }
    if (!densities) {
        return DN_OK;
    }
    m->gaussians = dni_gaussians_new(&m->base, DNI_COVARIANCE_SHARED);
    return m->base.incomplete ? dni_machine_no_memory(K, d, err)
                              : dni_gaussians_read(r, K, d, m->gaussians, err);
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

void dni_linear_to_encoded(const double *raw, size_t n_scores, size_t n_features,
                           const double *mean, const double *scale, double *table) {
    const size_t width = n_features + 1;
    for (size_t k = 0; k < n_scores; k++) {
        const double *from = raw + k * width;
        double *to = table + k * width;
        to[n_features] = from[n_features];
        for (size_t j = 0; j < n_features; j++) {
            to[j] = scale == NULL ? from[j] : from[j] * scale[j];
            if (mean != NULL) {
                to[n_features] += from[j] * mean[j];
            }
        }
    }
}

static dn_status linear_raw(const dn_machine *machine, const double *mean, const double *scale,
                            dn_machine **out, dn_error *err) {
    const dni_linear_machine *from = dni_linear_machine_of(machine);
    const size_t K = machine->n_classes, d = machine->n_features;
    dn_status status = dni_linear_machine_new(K, d, from->gaussians != NULL, out, err);
    if (status != DN_OK) {
        return status;
    }
    const dni_linear_machine *to = dni_linear_machine_of(*out);
    dni_linear_to_raw(from->w, d, from->w0, 1, dn_machine_n_scores(machine), d, mean, scale, to->w,
                      to->w0);
    if (!has_finite_weights(to) ||
        (from->gaussians != NULL &&
         !dni_gaussians_to_raw(from->gaussians, K, d, mean, scale, to->gaussians))) {
        return dni_machine_not_finite(err);
    }
    return DN_OK;
}

static bool linear_is_raw(const dn_machine *machine) {
    const dni_linear_machine *m = dni_linear_machine_of(machine);
    return m->gaussians == NULL && has_finite_weights(m);
}

/* ---- one row ---- */
static size_t linear_work(const dn_machine *machine) {
    return dni_linear_machine_of(machine)->gaussians != NULL ? 2 * machine->n_features : 0;
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

static const double *linear_prior(const dn_machine *machine) {
    return dni_linear_machine_of(machine)->gaussians->prior;
}

static void linear_contributions(const dn_machine *machine, const double *x, double *out,
                                 double *work) {
    const dni_linear_machine *m = dni_linear_machine_of(machine);
    const size_t d = machine->n_features;
    (void)work;
    for (size_t k = dn_machine_n_scores(machine);
         k-- > 0;) { /* descending: x may be row 0 of `out` */
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
/* `work` is the matrix of the weights of all machines [n_scores × (n_features + 1)]. The last
 * column has the intercepts. For sparse tiles the matrix is transposed. */
static size_t linear_tile_work(dn_machine *const *machines, size_t n, size_t n_slots) {
    (void)n_slots;
    return dni_machines_n_scores(machines, n) * (machines[0]->n_features + 1);
}

static void linear_tile_prepare(dn_machine *const *machines, size_t n, bool sparse, double *work) {
    const size_t d = machines[0]->n_features,
                 step = sparse ? dni_machines_n_scores(machines, n) : 1;
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
                                   const dn_run *run, size_t slot, double *scores, double *work,
                                   dn_error *err) {
    (void)run;
    (void)slot;
    (void)err;
    dni_tile_scores(x, work, dni_machines_n_scores(machines, n), scores);
    return DN_OK;
}

static double linear_cost(dn_machine *const *machines, size_t n) {
    return (double)dni_machines_n_scores(machines, n) * (double)machines[0]->n_features;
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
    .write = linear_write,
    .read = linear_read,
    .to_raw = linear_raw,
    .is_raw = linear_is_raw,
    .work = linear_work,
    .scores = linear_scores,
    .joint = linear_joint,
    .has_densities = linear_has_densities,
    .prior = linear_prior,
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
