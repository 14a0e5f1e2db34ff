/* The kinds of machine: memory, scores, contributions, and the change to raw features. */
#include "linalg/vector.h"
#include "machine/linear.h"
#include "machine/machine_impl.h"
#include "machine/support.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LN_2PI 1.8378770664093454835606594728112

/* ---- life ---- */
void dn_machine_free(dn_machine *machine) {
    if (machine == NULL) {
        return;
    }
    free(machine->w);
    free(machine->w0);
    free(machine->projection);
    if (machine->gaussians != NULL) {
        free(machine->gaussians->prior);
        free(machine->gaussians->mean);
        free(machine->gaussians->whiten);
        free(machine->gaussians->log_det);
        free(machine->gaussians);
    }
    dni_bayes_free(machine->naive_bayes);
    dni_kernel_machine_free(machine->kernel);
    dni_network_free(machine->network);
    free(machine);
}

static size_t product(size_t a, size_t b) {
    return b != 0 && a > SIZE_MAX / 16 / b ? SIZE_MAX : a * b;
}

/* Numbers of A. */
static size_t whiten_numbers(dn_covariance covariance, size_t K, size_t d) {
    size_t each = covariance == DN_COVARIANCE_DIAGONAL ? d : product(d, d);
    return covariance == DN_COVARIANCE_SHARED ? each : product(K, each);
}

static double *numbers(size_t n) {
    return n >= SIZE_MAX / 16 ? NULL : calloc(n + 1, sizeof(double));
}

static bool make_gaussians(dn_machine *m, dn_covariance covariance) {
    size_t K = m->n_classes, d = m->n_features;
    dn_gaussians *g = m->gaussians = calloc(1, sizeof *g);
    if (g == NULL) {
        return false;
    }
    g->covariance = covariance;
    g->prior = numbers(K);
    g->mean = numbers(product(K, d));
    g->whiten = numbers(whiten_numbers(covariance, K, d));
    g->log_det = numbers(covariance == DN_COVARIANCE_SHARED ? 1 : K);
    return g->prior != NULL && g->mean != NULL && g->whiten != NULL && g->log_det != NULL;
}

/* Gives *out the machine if `made`, frees it otherwise. */
static dn_status give(dn_machine *m, bool made, size_t n_classes, size_t n_features,
                      dn_machine **out, dn_error *err) {
    if (!made) {
        dn_machine_free(m);
        return dn_error_set(err, DN_ERR_MEMORY,
                            "a machine for %zu classes and %zu features needs memory which the "
                            "system does not have",
                            n_classes, n_features);
    }
    *out = m;
    return DN_OK;
}

static dn_machine *empty(dn_machine_kind kind, size_t n_classes, size_t n_features) {
    dn_machine *m = calloc(1, sizeof *m);
    if (m != NULL) {
        *m = (dn_machine){.kind = kind, .n_classes = n_classes, .n_features = n_features};
    }
    return m;
}

dn_status dni_linear_machine_new(size_t n_classes, size_t n_features, bool densities,
                                 dn_machine **out, dn_error *err) {
    dn_machine *m = empty(DN_MACHINE_LINEAR, n_classes, n_features);
    bool made = m != NULL;
    if (made) {
        m->w = numbers(product(dn_machine_n_scores(m), n_features));
        m->w0 = numbers(dn_machine_n_scores(m));
        made = m->w != NULL && m->w0 != NULL &&
               (!densities || make_gaussians(m, DN_COVARIANCE_SHARED));
    }
    return give(m, made, n_classes, n_features, out, err);
}

dn_status dni_gaussian_machine_new(size_t n_classes, size_t n_features, dn_covariance covariance,
                                   dn_machine **out, dn_error *err) {
    dn_machine *m = empty(DN_MACHINE_GAUSSIAN, n_classes, n_features);
    return give(m, m != NULL && make_gaussians(m, covariance), n_classes, n_features, out, err);
}

dn_status dni_bayes_machine_new(size_t n_classes, size_t n_features, dn_machine **out,
                                dn_error *err) {
    dn_machine *m = empty(DN_MACHINE_NAIVE_BAYES, n_classes, n_features);
    const bool made = m != NULL && (m->naive_bayes = dni_bayes_new(n_classes, n_features)) != NULL;
    return give(m, made, n_classes, n_features, out, err);
}

dn_status dni_network_machine_new(size_t n_classes, const dni_layers *layers, dn_machine **out,
                                  dn_error *err) {
    dn_machine *m = empty(DN_MACHINE_NETWORK, n_classes, layers->n_inputs);
    if (m == NULL || (m->network = dni_network_new(layers)) == NULL) {
        dn_machine_free(m);
        return dn_error_set(
            err, DN_ERR_MEMORY,
            "a network of %zu layers over %zu features needs memory which the system does not have",
            layers->n_layers, layers->n_inputs);
    }
    *out = m;
    return DN_OK;
}

dn_status dni_machine_new_projection(dn_machine *machine, size_t n_components, double **out,
                                     dn_error *err) {
    machine->projection = numbers(product(n_components, machine->n_features));
    if (machine->projection == NULL) {
        return dn_error_set(err, DN_ERR_MEMORY,
                            "a projection needs memory which the system does not have");
    }
    machine->n_components = n_components;
    *out = machine->projection;
    return DN_OK;
}

void dni_machine_set_threshold(dn_machine *machine, double threshold) {
    machine->threshold = threshold;
}

void dni_machine_clear_feature(dn_machine *m, size_t feature) {
    for (size_t k = 0; m->w != NULL && k < dn_machine_n_scores(m); k++) {
        m->w[k * m->n_features + feature] = 0;
    }
}

size_t dni_machine_numbers(const dn_machine *m) {
    size_t K = m->n_classes, d = m->n_features, n = m->n_components * d;
    if (m->w != NULL) {
        n += dn_machine_n_scores(m) * (d + 1);
    }
    if (m->gaussians != NULL) {
        n += K * (d + 2) + whiten_numbers(m->gaussians->covariance, K, d);
    }
    if (m->naive_bayes != NULL) {
        n += K * (2 * d + 1) + d;
    }
    if (m->network != NULL) {
        const dni_layers layers = dni_network_layers(m->network, d);
        n += dni_layers_numbers(&layers);
    }
    if (m->kernel != NULL) {
        n += m->kernel->n + m->kernel->n / 2 + 1; /* indexes are half as long as numbers */
    }
    return n;
}

/* ---- scores ---- */
/* Densities want two vectors; behind them lie the logarithms of two classes. */
static size_t density_work(const dn_machine *machine) {
    return machine->gaussians == NULL ? 0 : 2 * machine->n_features;
}

size_t dni_machine_work(const dn_machine *machine) {
    return machine->network != NULL ? dni_network_work(machine->network)
                                    : density_work(machine) + machine->n_classes;
}

static const double *whiten_of(const dn_gaussians *g, size_t k, size_t d) {
    return g->covariance == DN_COVARIANCE_SHARED
               ? g->whiten
               : g->whiten + k * (g->covariance == DN_COVARIANCE_FULL ? d * d : d);
}

static double log_det_of(const dn_gaussians *g, size_t k) {
    return g->log_det[g->covariance == DN_COVARIANCE_SHARED ? 0 : k];
}

size_t dni_gaussians_n_used(const dn_gaussians *g, size_t d) {
    size_t n = 0;
    for (size_t j = 0; j < d; j++) {
        n += dni_gaussians_use(g, d, j);
    }
    return n;
}

/* ‖A(x − m)‖²; centred [d] is scratch. */
static double mahalanobis(const dn_gaussians *g, size_t k, const double *x, size_t d,
                          double *centred) {
    const double *m = g->mean + k * d, *a = whiten_of(g, k, d);
    double sum = 0;
    if (g->covariance == DN_COVARIANCE_DIAGONAL) {
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

/* Where every class is impossible the priors are all that is known. */
static bool or_priors(const dn_machine *m, double *joint) {
    const double *prior = m->gaussians != NULL ? m->gaussians->prior : m->naive_bayes->prior;
    for (size_t k = 0; k < m->n_classes; k++) {
        if (joint[k] > -(double)INFINITY) {
            return true;
        }
    }
    for (size_t k = 0; k < m->n_classes; k++) {
        joint[k] = log(prior[k]);
    }
    return false;
}

bool dni_machine_joint(const dn_machine *m, const double *x, double *joint, double *work) {
    size_t K = m->n_classes, d = m->n_features;
    const double turns =
        m->gaussians == NULL ? 0 : (double)dni_gaussians_n_used(m->gaussians, d) * LN_2PI;
    for (size_t k = 0; k < K; k++) {
        if (m->gaussians == NULL) {
            joint[k] = dni_bayes_joint(m->naive_bayes, k, K, x, d);
            continue;
        }
        double g = log(m->gaussians->prior[k]) - 0.5 * (mahalanobis(m->gaussians, k, x, d, work) +
                                                        log_det_of(m->gaussians, k) + turns);
        joint[k] = isnan(g) ? -(double)INFINITY : g;
    }
    return or_priors(m, joint);
}

bool dni_machine_joint_entries(const dn_machine *m, const dni_entry_part *parts, size_t n_parts,
                               double *joint) {
    for (size_t k = 0; k < m->n_classes; k++) {
        joint[k] = dni_bayes_joint_entries(m->naive_bayes, k, m->n_classes, parts, n_parts);
    }
    return or_priors(m, joint);
}

bool dni_machine_scores(const dn_machine *m, const double *x, double *scores, double *work) {
    size_t S = dn_machine_n_scores(m), d = m->n_features;
    if (m->kind == DN_MACHINE_LINEAR) {
        for (size_t k = 0; k < S; k++) {
            scores[k] = m->w0[k] + dni_dot(m->w + k * d, x, d);
        }
        return true;
    }
    if (m->kind == DN_MACHINE_NETWORK) {
        dni_network_scores(m->network, d, x, scores, work);
        return true;
    }
    double *joint = S == 1 ? work + density_work(m) : scores;
    bool possible = dni_machine_joint(m, x, joint, work);
    if (S == 1) {
        scores[0] = joint[1] - joint[0];
    }
    return possible;
}

bool dni_machine_scores_entries(const dn_machine *m, const dni_entry_part *parts, size_t n_parts,
                                double *scores, double *work) {
    if (m->kind == DN_MACHINE_NETWORK) {
        dni_network_scores_entries(m->network, m->n_features, parts, n_parts, scores, work);
        return true;
    }
    bool difference = dn_machine_n_scores(m) == 1;
    double *joint = difference ? work : scores;
    bool possible = dni_machine_joint_entries(m, parts, n_parts, joint);
    if (difference) {
        scores[0] = joint[1] - joint[0];
    }
    return possible;
}

bool dni_machine_takes_entries(const dn_machine *machine) {
    return machine->naive_bayes != NULL;
}

double dni_log_sum(const double *joint, size_t n) {
    double greatest = joint[0], sum = 0;
    for (size_t k = 1; k < n; k++) {
        if (joint[k] > greatest) {
            greatest = joint[k];
        }
    }
    if (isinf(greatest)) {
        return greatest;
    }
    for (size_t k = 0; k < n; k++) {
        sum += exp(joint[k] - greatest);
    }
    return greatest + log(sum);
}

/* ---- contributions ---- */
/* out ← AᵀA v = Σ_k⁻¹ v; scratch [d] */
static void precision_times(const dn_gaussians *g, size_t k, const double *v, size_t d,
                            double *scratch, double *out) {
    const double *a = whiten_of(g, k, d);
    if (g->covariance == DN_COVARIANCE_DIAGONAL) {
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

/* Feature j's part of class k's score: x_j (Σ⁻¹(m − ½x))_j. */
static void gaussian_parts(const dn_machine *m, size_t k, const double *x, double sign, double *out,
                           double *work) {
    size_t d = m->n_features;
    const dn_gaussians *g = m->gaussians;
    double *v = work, *scratch = work + d;
    for (size_t j = 0; j < d; j++) {
        v[j] = g->mean[k * d + j] - 0.5 * x[j];
    }
    precision_times(g, k, v, d, scratch, v);
    for (size_t j = 0; j < d; j++) {
        out[j] += sign * x[j] * v[j];
    }
}

/* Of class k, less those of class `other` unless it is SIZE_MAX. x may be out. */
static void bayes_parts(const dn_machine *m, size_t k, size_t other, const double *x, double *out) {
    const size_t K = m->n_classes;
    for (size_t j = 0; j < m->n_features; j++) {
        const double own = dni_bayes_factor(m->naive_bayes, j, k, K, x[j]);
        out[j] =
            other == SIZE_MAX ? own : own - dni_bayes_factor(m->naive_bayes, j, other, K, x[j]);
    }
}

void dni_machine_contributions(const dn_machine *m, const double *x, double *out, double *work) {
    size_t S = dn_machine_n_scores(m), d = m->n_features;
    for (size_t k = S; k-- > 0;) { /* backwards: x may be where the first are written */
        double *to = out + k * d;
        if (m->kind == DN_MACHINE_LINEAR) {
            for (size_t j = 0; j < d; j++) {
                to[j] = m->w[k * d + j] * x[j];
            }
        } else if (m->kind == DN_MACHINE_NAIVE_BAYES) {
            bayes_parts(m, S == 1 ? 1 : k, S == 1 ? 0 : SIZE_MAX, x, to);
        } else {
            memset(to, 0, d * sizeof *to);
            gaussian_parts(m, S == 1 ? 1 : k, x, 1, to, work);
            if (S == 1) {
                gaussian_parts(m, 0, x, -1, to, work);
            }
        }
    }
}

double dni_class_intercept(const dn_machine *m, size_t k, double *work) {
    size_t d = m->n_features;
    if (m->kind == DN_MACHINE_NAIVE_BAYES) {
        return log(m->naive_bayes->prior[k]);
    }
    const dn_gaussians *g = m->gaussians;
    memset(work, 0, d * sizeof *work);
    double length = mahalanobis(g, k, work, d, work + d);
    return log(g->prior[k]) -
           0.5 * (length + log_det_of(g, k) + (double)dni_gaussians_n_used(g, d) * LN_2PI);
}

void dni_machine_intercept(const dn_machine *m, double *intercept, double *work) {
    size_t S = dn_machine_n_scores(m);
    for (size_t k = 0; k < S; k++) {
        if (m->kind == DN_MACHINE_LINEAR) {
            intercept[k] = m->w0[k];
        } else if (m->kind == DN_MACHINE_NETWORK) {
            intercept[k] = (double)NAN;
        } else if (m->kind == DN_MACHINE_KERNEL) {
            intercept[k] = m->kernel->w0;
        } else {
            intercept[k] = S == 1
                               ? dni_class_intercept(m, 1, work) - dni_class_intercept(m, 0, work)
                               : dni_class_intercept(m, k, work);
        }
    }
}

/* ---- raw features ---- */
static void gaussians_to_raw(const dn_gaussians *from, size_t K, size_t d, const double *mean,
                             const double *scale, dn_gaussians *to) {
    size_t rows = from->covariance == DN_COVARIANCE_DIAGONAL ? 1 : d,
           n = from->covariance == DN_COVARIANCE_SHARED ? 1 : K;
    double log_scale = 0;
    for (size_t j = 0; j < d; j++) {
        log_scale += scale != NULL && dni_gaussians_use(from, d, j) ? log(scale[j]) : 0;
    }
    memcpy(to->prior, from->prior, K * sizeof *to->prior);
    for (size_t k = 0; k < K; k++) {
        for (size_t j = 0; j < d; j++) {
            to->mean[k * d + j] =
                scale == NULL ? from->mean[k * d + j] : mean[j] + scale[j] * from->mean[k * d + j];
        }
    }
    for (size_t i = 0; i < n * rows; i++) {
        for (size_t j = 0; j < d; j++) {
            to->whiten[i * d + j] =
                scale == NULL ? from->whiten[i * d + j] : from->whiten[i * d + j] / scale[j];
        }
    }
    for (size_t k = 0; k < n; k++) {
        to->log_det[k] = from->log_det[k] + 2 * log_scale;
    }
}

static dn_status not_finite(dn_error *err) {
    return dn_error_set(err, DN_ERR_NUMERIC,
                        "the weights in the scale of the raw columns are not finite: the columns "
                        "are too small; multiply them by powers of ten");
}

/* Fills `to`, made with the shape of `from`. */
static dn_status convert(const dn_machine *from, const double *mean, const double *scale,
                         dn_machine *to, dn_error *err) {
    size_t K = from->n_classes, d = from->n_features, S = dn_machine_n_scores(from);
    if (from->kind == DN_MACHINE_LINEAR) {
        dni_linear_to_raw(from->w, d, from->w0, 1, S, d, mean, scale, to->w, to->w0);
        if (!dni_all_finite(to->w, d * S) || !dni_all_finite(to->w0, S)) {
            return not_finite(err);
        }
    }
    if (from->gaussians != NULL && to->gaussians != NULL) {
        gaussians_to_raw(from->gaussians, K, d, mean, scale, to->gaussians);
        if (!dni_all_finite(to->gaussians->mean, K * d) ||
            !dni_all_finite(to->gaussians->whiten,
                            whiten_numbers(from->gaussians->covariance, K, d))) {
            return not_finite(err);
        }
    }
    if (from->naive_bayes != NULL && to->naive_bayes != NULL &&
        !dni_bayes_to_raw(from->naive_bayes, K, d, mean, scale, to->naive_bayes)) {
        return dn_error_set(err, DN_ERR_NUMERIC,
                            "a variance in the scale of the raw columns is not a number above 0: "
                            "the columns are too large or too "
                            "small; multiply them by powers of ten");
    }
    if (from->network != NULL && to->network != NULL &&
        !dni_network_to_raw(from->network, d, mean, scale, to->network)) {
        return not_finite(err);
    }
    if (from->n_components == 0) {
        return DN_OK;
    }
    double *projection;
    dn_status status = dni_machine_new_projection(to, from->n_components, &projection, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t i = 0; i < to->n_components; i++) {
        for (size_t j = 0; j < d; j++) {
            projection[i * d + j] = scale == NULL ? from->projection[i * d + j]
                                                  : from->projection[i * d + j] / scale[j];
        }
    }
    return DN_OK;
}

/* A machine of the shape of `from`. */
static dn_status make_alike(const dn_machine *from, dn_machine **out, dn_error *err) {
    const size_t K = from->n_classes, d = from->n_features;
    if (from->kind == DN_MACHINE_NETWORK) {
        const dni_layers layers = dni_network_layers(from->network, d);
        return dni_network_machine_new(K, &layers, out, err);
    }
    if (from->kind == DN_MACHINE_LINEAR) {
        return dni_linear_machine_new(K, d, from->gaussians != NULL, out, err);
    }
    return from->kind == DN_MACHINE_GAUSSIAN
               ? dni_gaussian_machine_new(K, d, from->gaussians->covariance, out, err)
               : dni_bayes_machine_new(K, d, out, err);
}

dn_status dni_machine_to_raw(const dn_machine *from, const double *mean, const double *scale,
                             dn_machine **out, dn_error *err) {
    dn_machine *to;
    dn_status status = make_alike(from, &to, err);
    if (status != DN_OK) {
        return status;
    }
    to->threshold = from->threshold;
    status = convert(from, mean, scale, to, err);
    if (status != DN_OK) {
        dn_machine_free(to);
        return status;
    }
    *out = to;
    return DN_OK;
}
