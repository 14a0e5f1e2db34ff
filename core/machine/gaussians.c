/* Gaussian class densities and Gaussian machines.
 *
 * A machine stores A, lower triangular with AᵀA = Σ⁻¹:
 *
 *   ln N(x; m, Σ) = −½(‖A(x − m)‖² + ln|Σ| + d ln 2π)
 *
 * The conventional parameters are computed from A:
 *
 *   Σ = L Lᵀ with L = A⁻¹; row i of L is (e_i − Σ_{j<i} A_ij L_j) / A_ii
 *   g_k(x) = ln P(C_k) + ln N(x; m_k, Σ_k) = xᵀW x + wᵀx + w₀
 *   W = −½Σ⁻¹, w = Σ⁻¹m, w₀ = g_k(0)
 *
 * Source: Bishop, PRML, equations (4.64)–(4.67) without the common covariance; Duda, Hart and
 * Stork, section 2.6.3. */
#include "machine/gaussians.h"
#include "linalg/tile.h"
#include "linalg/vector.h"
#include "machine/gaussian_tiles.h"
#include "machine/machine_kind.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LN_2PI 1.8378770664093454835606594728112

/* ---- densities ---- */
/* Returns the length of `whiten`, or SIZE_MAX on overflow. */
static size_t whiten_size(dni_covariance covariance, size_t K, size_t d) {
    const size_t each = covariance == DNI_COVARIANCE_DIAGONAL ? d : dni_machine_product(d, d);
    return covariance == DNI_COVARIANCE_SHARED ? each : dni_machine_product(K, each);
}

/* Returns the length of `log_det`. */
static size_t n_log_dets(dni_covariance covariance, size_t K) {
    return covariance == DNI_COVARIANCE_SHARED ? 1 : K;
}

/* The arrays of the densities, in the order of their bytes. */
enum { N_FIELDS = 4 };
struct field {
    double **values;
    size_t n; /* length of *values */
};

static void list_fields(dni_gaussians *g, size_t K, size_t d, struct field out[N_FIELDS]) {
    out[0] = (struct field){&g->prior, K};
    out[1] = (struct field){&g->mean, dni_machine_product(K, d)};
    out[2] = (struct field){&g->whiten, whiten_size(g->covariance, K, d)};
    out[3] = (struct field){&g->log_det, n_log_dets(g->covariance, K)};
}

dni_gaussians *dni_gaussians_new(dn_machine *machine, dni_covariance covariance) {
    dni_gaussians *g = dni_machine_array(machine, 1, sizeof *g);
    struct field fields[N_FIELDS];
    if (g == NULL) {
        return NULL;
    }
    g->covariance = covariance;
    list_fields(g, machine->n_classes, machine->n_features, fields);
    for (size_t i = 0; i < N_FIELDS; i++) {
        *fields[i].values = dni_machine_doubles(machine, fields[i].n);
    }
    return g;
}

static const double *whiten_of(const dni_gaussians *g, size_t k, size_t d) {
    if (g->covariance == DNI_COVARIANCE_SHARED) {
        return g->whiten;
    }
    return g->whiten + k * (g->covariance == DNI_COVARIANCE_FULL ? d * d : d);
}

static double log_det_of(const dni_gaussians *g, size_t k) {
    return g->log_det[g->covariance == DNI_COVARIANCE_SHARED ? 0 : k];
}

/* Returns ‖A(x − m)‖² of class k. centred [d] is scratch. */
static double mahalanobis(const dni_gaussians *g, size_t k, const double *x, size_t d,
                          double *centred) {
    const double *m = g->mean + k * d, *a = whiten_of(g, k, d);
    double sum = 0;
    if (g->covariance == DNI_COVARIANCE_DIAGONAL) {
        for (size_t j = 0; j < d; j++) {
            double z = a[j] * (x[j] - m[j]);
            sum += z * z;
        }
        return sum;
    }
    for (size_t j = 0; j < d; j++) {
        centred[j] = x[j] - m[j];
    }
    for (size_t i = 0; i < d; i++) {
        double z = dni_dot(a + i * d, centred, i + 1);
        sum += z * z;
    }
    return sum;
}

bool dni_gaussians_joint(const dni_gaussians *g, size_t K, size_t d, const double *x, double *joint,
                         double *work) {
    const double log_2pi = (double)dni_gaussians_n_used(g, d) * LN_2PI;
    for (size_t k = 0; k < K; k++) {
        joint[k] =
            log(g->prior[k]) - 0.5 * (mahalanobis(g, k, x, d, work) + log_det_of(g, k) + log_2pi);
    }
    return dni_machine_joint_or_priors(g->prior, K, joint);
}

/* Returns ln P(C_k) + ln N(0; m_k, Σ_k). work [2d]. */
static double value_at_zero(const dni_gaussians *g, size_t k, size_t d, double *work) {
    memset(work, 0, d * sizeof *work);
    const double square = mahalanobis(g, k, work, d, work + d);
    return log(g->prior[k]) -
           0.5 * (square + log_det_of(g, k) + (double)dni_gaussians_n_used(g, d) * LN_2PI);
}

/* ---- bytes ---- */
void dni_gaussians_write(dni_gaussians *g, size_t K, size_t d, dni_writer *writer) {
    struct field fields[N_FIELDS];
    list_fields(g, K, d, fields);
    dni_write_u8(writer, (uint8_t)g->covariance);
    for (size_t i = 0; i < N_FIELDS; i++) {
        dni_write_f64s(writer, *fields[i].values, fields[i].n);
    }
}

dn_status dni_gaussians_read(dni_reader *r, size_t K, size_t d, dni_gaussians *g, dn_error *err) {
    struct field fields[N_FIELDS];
    bool valid = true;
    list_fields(g, K, d, fields);
    for (size_t i = 0; i < N_FIELDS && valid; i++) {
        valid = dni_read_f64s(r, *fields[i].values, fields[i].n) &&
                dni_all_finite(*fields[i].values, fields[i].n);
    }
    for (size_t k = 0; k < K && valid; k++) {
        valid = g->prior[k] > 0 && g->prior[k] <= 1;
    }
    return valid ? DN_OK : dni_machine_corrupt("the densities of a machine are invalid", err);
}

/* ---- raw features ---- */
bool dni_gaussians_to_raw(const dni_gaussians *from, size_t K, size_t d, const double *mean,
                          const double *scale, const dni_gaussians *to) {
    const size_t rows = from->covariance == DNI_COVARIANCE_DIAGONAL ? 1 : d,
                 n = n_log_dets(from->covariance, K);
    double log_scale = 0;
    for (size_t j = 0; j < d; j++) {
        log_scale += scale != NULL && dni_gaussians_use(from, d, j) ? log(scale[j]) : 0;
    }
    memcpy(to->prior, from->prior, K * sizeof *to->prior);
    for (size_t k = 0; k < K; k++) {
        for (size_t j = 0; j < d; j++) {
            const double m = from->mean[k * d + j];
            to->mean[k * d + j] = scale == NULL ? m : mean[j] + scale[j] * m;
        }
    }
    for (size_t i = 0; i < n * rows; i++) {
        for (size_t j = 0; j < d; j++) {
            const double a = from->whiten[i * d + j];
            to->whiten[i * d + j] = scale == NULL ? a : a / scale[j];
        }
    }
    for (size_t k = 0; k < n; k++) {
        to->log_det[k] = from->log_det[k] + 2 * log_scale;
    }
    return dni_all_finite(to->mean, K * d) &&
           dni_all_finite(to->whiten, whiten_size(to->covariance, K, d));
}

/* ---- conventional parameters ---- */
/* Copies the triangle below the diagonal of s [d × d] to the triangle above. */
static void mirror(double *s, size_t d) {
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j < i; j++) {
            s[j * d + i] = s[i * d + j];
        }
    }
}

/* out [d × d] ← Σ = L Lᵀ, computed from A [d × d]. work [d × d] receives L. */
static void covariance_of(const double *a, size_t d, double *out, double *work) {
    memset(work, 0, d * d * sizeof *work);
    for (size_t i = 0; i < d; i++) {
        double *row = work + i * d;
        if (a[i * d + i] == 0) { /* a column that the densities leave out */
            continue;
        }
        row[i] = 1;
        for (size_t j = 0; j < i; j++) {
            dni_axpy(-a[i * d + j], work + j * d, row, j + 1);
        }
        for (size_t j = 0; j <= i; j++) {
            row[j] /= a[i * d + i];
        }
    }
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j <= i; j++) {
            out[i * d + j] = dni_dot(work + i * d, work + j * d, j + 1);
        }
    }
    mirror(out, d);
}

void dni_gaussians_covariance(const dni_gaussians *g, size_t d, size_t k, double *out,
                              double *work) {
    const double *a = whiten_of(g, k, d);
    if (g->covariance != DNI_COVARIANCE_DIAGONAL) {
        covariance_of(a, d, out, work);
        return;
    }
    for (size_t j = 0; j < d; j++) {
        out[j] = a[j] == 0 ? 0 : 1 / (a[j] * a[j]);
    }
}

void dn_kernel_covariance(const dn_kernel *kernel, double *out, double *work) {
    covariance_of(kernel->factor, kernel->n_features, out, work);
}

void dni_gaussians_quadratic(const dni_gaussians *g, size_t d, size_t k, double *W, double *w,
                             double *w0, double *work) {
    const double *a = whiten_of(g, k, d), *mean = g->mean + k * d;
    *w0 = value_at_zero(g, k, d, work);
    if (g->covariance == DNI_COVARIANCE_DIAGONAL) {
        for (size_t j = 0; j < d; j++) {
            W[j] = -0.5 * a[j] * a[j];
            w[j] = a[j] * a[j] * mean[j];
        }
        return;
    }
    memset(W, 0, d * d * sizeof *W);
    memset(w, 0, d * sizeof *w);
    for (size_t i = 0; i < d; i++) { /* adds the terms of row i of A to W and w */
        const double *row = a + i * d;
        for (size_t r = 0; r <= i; r++) {
            dni_axpy(-0.5 * row[r], row, W + r * d, r + 1);
        }
        dni_axpy(dni_dot(row, mean, i + 1), row, w, i + 1);
    }
    mirror(W, d);
}

/* ---- description ---- */
double dni_gaussians_matrix_numbers(const dni_gaussians *g, size_t K, size_t d) {
    return g->covariance == DNI_COVARIANCE_DIAGONAL
               ? 0
               : (double)n_log_dets(g->covariance, K) * (double)d * (double)d;
}

/* Passes a covariance matrix, or the matrix W of a quadratic discriminant. Diagonal covariances:
 * passes the diagonal of the matrix. */
static void visit_square(const dn_visitor *v, const dni_gaussians *g, size_t d,
                         const double *values) {
    if (g->covariance == DNI_COVARIANCE_DIAGONAL) {
        dn_visit_vector(v, NULL, values, d);
    } else {
        dn_visit_matrix(v, NULL, values, d, d);
    }
}

/* Returns the number of values that visit_square passes. */
static size_t square_size(const dni_gaussians *g, size_t d) {
    return g->covariance == DNI_COVARIANCE_DIAGONAL ? d : d * d;
}

dn_status dni_gaussians_describe(const dni_gaussians *g, size_t K, size_t d, const dn_visitor *v,
                                 dn_error *err) {
    static const char *const names[] = {[DNI_COVARIANCE_SHARED] = "shared",
                                        [DNI_COVARIANCE_FULL] = "full",
                                        [DNI_COVARIANCE_DIAGONAL] = "diagonal"};
    const size_t square = square_size(g, d), n = n_log_dets(g->covariance, K);
    double *out = dni_machine_numbers_new(2 * square);
    if (out == NULL) {
        return dni_machine_no_memory(K, d, err);
    }
    v->text(v->ctx, "covariance", names[g->covariance], strlen(names[g->covariance]));
    dn_visit_vector(v, "priors", g->prior, K);
    dn_visit_matrix(v, "means", g->mean, K, d);
    dn_visit_vector(v, "log_determinants", g->log_det, n);
    if (v->matrices || g->covariance == DNI_COVARIANCE_DIAGONAL) {
        v->begin_array(v->ctx, "covariances");
        for (size_t k = 0; k < n; k++) {
            dni_gaussians_covariance(g, d, k, out, out + square);
            visit_square(v, g, d, out);
        }
        v->end_array(v->ctx);
    }
    free(out);
    return DN_OK;
}

/* ---- the kind ---- */
struct gaussian_machine {
    dn_machine base;
    dni_gaussians *gaussians; /* an array of the machine (dni_machine_array) */
};

dni_gaussians *dni_gaussians_of(const dn_machine *machine) {
    return ((const struct gaussian_machine *)(const void *)machine)->gaussians;
}

dn_status dni_gaussian_machine_new(size_t n_classes, size_t n_features, dni_covariance covariance,
                                   dn_machine **out, dn_error *err) {
    struct gaussian_machine *m =
        dni_machine_alloc(&dni_gaussian_kind, sizeof *m, n_classes, n_features);
    if (m == NULL) {
        return dni_machine_no_memory(n_classes, n_features, err);
    }
    m->gaussians = dni_gaussians_new(&m->base, covariance);
    return dni_machine_created(&m->base, out, err);
}

static void gaussian_write(const dn_machine *machine, const dn_machine *first, dni_writer *writer) {
    (void)first;
    dni_gaussians_write(dni_gaussians_of(machine), machine->n_classes, machine->n_features, writer);
}

static dn_status gaussian_read(dni_reader *r, size_t K, size_t d, const dn_machine *first,
                               dn_machine **out, dn_error *err) {
    (void)first;
    if (!dni_machine_fits(r, K == 2 ? 1 : K, d + 1)) {
        return dni_machine_corrupt("the densities of a machine are truncated", err);
    }
    const dni_covariance covariance = (dni_covariance)dni_read_u8(r);
    if (r->failed || covariance > DNI_COVARIANCE_DIAGONAL ||
        (covariance != DNI_COVARIANCE_DIAGONAL && !dni_machine_fits(r, d, d)) ||
        (covariance == DNI_COVARIANCE_FULL && !dni_machine_fits(r, K, d * d))) {
        return dni_machine_corrupt("the densities of a machine are invalid", err);
    }
    dn_status status = dni_gaussian_machine_new(K, d, covariance, out, err);
    return status == DN_OK ? dni_gaussians_read(r, K, d, dni_gaussians_of(*out), err) : status;
}

static dn_status gaussian_to_raw(const dn_machine *machine, const double *mean, const double *scale,
                                 dn_machine **out, dn_error *err) {
    const dni_gaussians *from = dni_gaussians_of(machine);
    const size_t K = machine->n_classes, d = machine->n_features;
    dn_status status = dni_gaussian_machine_new(K, d, from->covariance, out, err);
    if (status != DN_OK) {
        return status;
    }
    return dni_gaussians_to_raw(from, K, d, mean, scale, dni_gaussians_of(*out))
               ? DN_OK
               : dni_machine_not_finite(err);
}

/* Returns the number of doubles of two vectors [d]. */
static size_t gaussian_work(const dn_machine *machine) {
    return 2 * machine->n_features;
}

static bool gaussian_joint(const dn_machine *machine, const double *x, double *joint,
                           double *work) {
    return dni_gaussians_joint(dni_gaussians_of(machine), machine->n_classes, machine->n_features,
                               x, joint, work);
}

static const double *gaussian_prior(const dn_machine *machine) {
    return dni_gaussians_of(machine)->prior;
}

/* ---- tiles ---- */
/* Returns the number of doubles of one slot: work of dni_gaussians_joint_tile, and joint
 * [DNI_TILE_ROWS × K]. */
static size_t slot_work(dn_machine *const *machines, size_t n) {
    bool whitened = false;
    for (size_t i = 0; i < n; i++) {
        whitened = whitened || dni_gaussians_of(machines[i])->covariance != DNI_COVARIANCE_DIAGONAL;
    }
    return dni_gaussians_tile_work(whitened, machines[0]->n_features) +
           DNI_TILE_ROWS * machines[0]->n_classes;
}

static size_t gaussian_tile_work(dn_machine *const *machines, size_t n, size_t n_slots) {
    return n_slots * slot_work(machines, n);
}

static dn_status gaussian_score_tile(dn_machine *const *machines, size_t n, dn_matrix x,
                                     const dn_run *run, size_t slot, double *scores, double *work,
                                     dn_error *err) {
    const size_t K = machines[0]->n_classes, d = machines[0]->n_features,
                 S = dn_machine_n_scores(machines[0]);
    double *joint = work + slot * slot_work(machines, n), *tile_work = joint + DNI_TILE_ROWS * K;
    for (size_t i = 0; i < n; i++) {
        const dni_gaussians *g = dni_gaussians_of(machines[i]);
        dn_status status = dni_gaussians_joint_tile(g, K, d, NULL, x, run, tile_work, joint, err);
        if (status != DN_OK) {
            return status;
        }
        for (size_t t = 0; t < x.n_rows; t++) {
            double *of_row = joint + t * K, *out = scores + (t * n + i) * S;
            (void)dni_machine_joint_or_priors(g->prior, K, of_row);
            if (K == 2) {
                *out = of_row[1] - of_row[0];
            } else {
                memcpy(out, of_row, K * sizeof *out);
            }
        }
    }
    return DN_OK;
}

static bool gaussian_needs_all(const dn_machine *machine) {
    (void)machine;
    return true;
}

/* out ← AᵀA v = Σ_k⁻¹ v. scratch [d]; out may be v. */
static void precision_times(const dni_gaussians *g, size_t k, const double *v, size_t d,
                            double *scratch, double *out) {
    const double *a = whiten_of(g, k, d);
    if (g->covariance == DNI_COVARIANCE_DIAGONAL) {
        for (size_t j = 0; j < d; j++) {
            out[j] = a[j] * a[j] * v[j];
        }
        return;
    }
    for (size_t i = 0; i < d; i++) {
        scratch[i] = dni_dot(a + i * d, v, i + 1);
    }
    memset(out, 0, d * sizeof *out);
    for (size_t i = 0; i < d; i++) {
        dni_axpy(scratch[i], a + i * d, out, i + 1);
    }
}

/* out_j += sign · x_j (Σ_k⁻¹(m_k − ½x))_j, the contribution of feature j to the score of class k.
 * work [2d]. */
static void add_contributions(const dni_gaussians *g, size_t d, size_t k, const double *x,
                              double sign, double *out, double *work) {
    double *v = work, *scratch = work + d;
    for (size_t j = 0; j < d; j++) {
        v[j] = g->mean[k * d + j] - 0.5 * x[j];
    }
    precision_times(g, k, v, d, scratch, v);
    for (size_t j = 0; j < d; j++) {
        out[j] += sign * x[j] * v[j];
    }
}

static void gaussian_contributions(const dn_machine *machine, const double *x, double *out,
                                   double *work) {
    const dni_gaussians *g = dni_gaussians_of(machine);
    const size_t S = dn_machine_n_scores(machine), d = machine->n_features;
    memset(out, 0, S * d * sizeof *out);
    for (size_t k = 0; k < S; k++) {
        add_contributions(g, d, S == 1 ? 1 : k, x, 1, out + k * d, work);
    }
    if (S == 1) {
        add_contributions(g, d, 0, x, -1, out, work);
    }
}

static void gaussian_intercept(const dn_machine *machine, double *out, double *work) {
    const dni_gaussians *g = dni_gaussians_of(machine);
    const size_t S = dn_machine_n_scores(machine), d = machine->n_features;
    for (size_t k = 0; k < S; k++) {
        out[k] = S == 1 ? value_at_zero(g, 1, d, work) - value_at_zero(g, 0, d, work)
                        : value_at_zero(g, k, d, work);
    }
}

static double gaussian_cost(dn_machine *const *machines, size_t n) {
    double cost = 0;
    for (size_t i = 0; i < n; i++) {
        const double d = (double)machines[i]->n_features, K = (double)machines[i]->n_classes;
        const bool diagonal = dni_gaussians_of(machines[i])->covariance == DNI_COVARIANCE_DIAGONAL;
        cost += K * d * (diagonal ? 1 : d);
    }
    return cost;
}

/* Returns the number of elements of the covariance matrices and of the matrices W. */
static double gaussian_matrix_numbers(const dn_machine *machine) {
    const dni_gaussians *g = dni_gaussians_of(machine);
    const double d = (double)machine->n_features, K = (double)machine->n_classes;
    return dni_gaussians_matrix_numbers(g, machine->n_classes, machine->n_features) +
           (g->covariance == DNI_COVARIANCE_DIAGONAL ? 0 : K * d * d);
}

/* Passes the densities, then the quadratic discriminants g_k(x) = xᵀW x + wᵀx + w0. */
static dn_status gaussian_describe(const dn_machine *machine, const dn_encoder *encoder,
                                   const dn_visitor *v, dn_error *err) {
    const dni_gaussians *g = dni_gaussians_of(machine);
    const size_t d = machine->n_features, K = machine->n_classes, square = square_size(g, d);
    const bool matrices = v->matrices || g->covariance == DNI_COVARIANCE_DIAGONAL;
    (void)encoder;
    dn_status status = dni_gaussians_describe(g, K, d, v, err);
    if (status != DN_OK) {
        return status;
    }
    double *W = dni_machine_numbers_new(square + 2 * d + K * (d + 1));
    if (W == NULL) {
        return dni_machine_no_memory(K, d, err);
    }
    double *work = W + square, *w = work + 2 * d, *w0 = w + K * d;
    if (matrices) {
        v->begin_array(v->ctx, "W");
    }
    for (size_t k = 0; k < K; k++) {
        dni_gaussians_quadratic(g, d, k, W, w + k * d, w0 + k, work);
        if (matrices) {
            visit_square(v, g, d, W);
        }
    }
    if (matrices) {
        v->end_array(v->ctx);
    }
    dn_visit_matrix(v, "w", w, K, d);
    dn_visit_vector(v, "w0", w0, K);
    free(W);
    return DN_OK;
}

const dni_machine_kind dni_gaussian_kind = {
    .id = DNI_KIND_GAUSSIAN,
    .name = "gaussian",
    .matrices = "covariances",
    .flags = DNI_MACHINE_SUMS,
    .write = gaussian_write,
    .read = gaussian_read,
    .to_raw = gaussian_to_raw,
    .work = gaussian_work,
    .joint = gaussian_joint,
    .prior = gaussian_prior,
    .needs_all = gaussian_needs_all,
    .contributions = gaussian_contributions,
    .intercept = gaussian_intercept,
    .tile_work = gaussian_tile_work,
    .score_tile = gaussian_score_tile,
    .cost = gaussian_cost,
    .matrix_numbers = gaussian_matrix_numbers,
    .describe = gaussian_describe,
};
