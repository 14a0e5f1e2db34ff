/* Naive Bayes machines. The score of a class is a sum of logarithms (factors) over all features.
 *
 * dni_bayes_fold computes, once for a machine, everything that does not depend on x: the constant
 * terms of the score, ln P(C_k) − ½ Σ_j (ln 2π + ln σ²_jk) over the Gaussian features, and 1/σ_jk.
 * A row then costs no logarithm and no division.
 *
 * For a sparse x the sum starts from the sum at x = 0, which is computed once. For each entry the
 * term of x_j = 0 is subtracted and the term of x_j is added. The sum is compensated, so that the
 * other terms are not lost when a log density of −10¹² is added and subtracted. */
#include "machine/bayes.h"
#include "linalg/normals.h"
#include "machine/machine_kind.h"

#include <discern/encoder.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LN_2PI 1.8378770664093454835606594728112

struct bayes_machine {
    dn_machine base;
    dni_naive_bayes bayes;
};

/* ---- memory ---- */
dni_naive_bayes *dni_bayes_of(const dn_machine *machine) {
    return &((struct bayes_machine *)(uintptr_t)machine)->bayes;
}

dn_status dni_bayes_machine_new(size_t K, size_t d, dn_machine **out, dn_error *err) {
    struct bayes_machine *m = dni_machine_alloc(&dni_bayes_kind, sizeof *m, K, d);
    if (m == NULL) {
        return dni_machine_no_memory(K, d, err);
    }
    dni_naive_bayes *b = &m->bayes;
    const size_t n = dni_machine_product(K, d);
    b->prior = dni_machine_doubles(&m->base, K);
    b->factor = dni_machine_array(&m->base, d, sizeof *b->factor);
    b->a = dni_machine_doubles(&m->base, n);
    b->b = dni_machine_doubles(&m->base, n);
    b->at_zero = dni_machine_doubles(&m->base, 3 * K);
    b->constant = dni_machine_doubles(&m->base, K);
    return dni_machine_created(&m->base, out, err);
}

/* ---- one row ---- */
/* Returns x·weight, with 0·(−∞) = 0. */
static double times(double x, double weight) {
    return x == 0 ? 0 : x * weight;
}

double dni_bayes_factor(const dni_naive_bayes *b, size_t j, size_t k, size_t K, double x) {
    double p = b->a[j * K + k], q = b->b[j * K + k];
    switch ((dni_factor)b->factor[j]) {
    case DNI_FACTOR_GAUSSIAN:
        return -0.5 * (LN_2PI + log(q) + (x - p) * (x - p) / q);
    case DNI_FACTOR_BERNOULLI:
        return times(x, p) + times(1 - x, q);
    case DNI_FACTOR_PRESENCE:
        return x > 0 ? p : q;
    case DNI_FACTOR_COUNT:
        break;
    }
    return x > 0 ? x * p : 0;
}

/* Returns the part of dni_bayes_factor that depends on x: without −½ (ln 2π + ln σ²). */
static double varying_factor(const dni_naive_bayes *b, size_t j, size_t k, size_t K, double x) {
    if (b->factor[j] != DNI_FACTOR_GAUSSIAN) {
        return dni_bayes_factor(b, j, k, K, x);
    }
    const double z = (x - b->a[j * K + k]) / sqrt(b->b[j * K + k]);
    return -0.5 * z * z;
}

/* ---- sparse x ---- */
/* A compensated sum: the rounding errors of the additions are summed as well.
 *
 * Source: Knuth, The Art of Computer Programming, volume 2, section 4.2.2, theorem B. */
struct compensated_sum {
    double sum;
    double error;        /* sum of the rounding errors */
    double n_impossible; /* number of terms −∞ or NaN, which are not part of `sum` */
};

static void add(struct compensated_sum *s, double term, double sign) {
    if (!(term > -(double)INFINITY)) { /* −∞, or NaN after an overflow */
        s->n_impossible += sign;
        return;
    }
    double x = s->sum, y = sign * term, total = x + y, part = total - x;
    s->error += (x - (total - part)) + (y - part);
    s->sum = total;
}

/* Sets at_zero: ln P(C_k) plus the sum of all factors at x = 0, as compensated sums. */
static void sum_at_zero(const dni_naive_bayes *b, size_t K, size_t d) {
    for (size_t k = 0; k < K; k++) {
        struct compensated_sum s = {.sum = log(b->prior[k])};
        for (size_t j = 0; j < d; j++) {
            if (b->factor[j] == DNI_FACTOR_GAUSSIAN) {
                add(&s, -0.5 * (LN_2PI + log(b->b[j * K + k])), 1);
            }
            if (b->factor[j] != DNI_FACTOR_COUNT) { /* a count factor is 0 at x = 0 */
                add(&s, varying_factor(b, j, k, K, 0), 1);
            }
        }
        b->at_zero[3 * k] = s.sum;
        b->at_zero[3 * k + 1] = s.error;
        b->at_zero[3 * k + 2] = s.n_impossible;
    }
}

static double class_joint_entries(const dni_naive_bayes *b, size_t k, size_t K,
                                  const dni_entry_part *parts, size_t n_parts) {
    struct compensated_sum s = {.sum = b->at_zero[3 * k],
                                .error = b->at_zero[3 * k + 1],
                                .n_impossible = b->at_zero[3 * k + 2]};
    for (const dni_entry_part *part = parts; part < parts + n_parts; part++) {
        for (size_t e = 0; e < part->n; e++) {
            const size_t j = part->feature[e];
            if (b->factor[j] != DNI_FACTOR_COUNT) {
                add(&s, varying_factor(b, j, k, K, 0), -1);
            }
            add(&s, varying_factor(b, j, k, K, part->value[e]), 1);
        }
    }
    return s.n_impossible > 0 ? -(double)INFINITY : s.sum + s.error;
}

/* ---- constants of a machine ---- */
/* Consecutive features with factors of one kind. */
struct dni_bayes_range {
    size_t first, n;
    dni_factor factor;
    size_t first_normal; /* number of Gaussian features before the range */
};

/* Counts the ranges, and stores them if out is not NULL. *out_normals: number of Gaussian
 * features. */
static size_t list_ranges(const dni_naive_bayes *b, size_t d, dni_bayes_range *out,
                          size_t *out_normals) {
    size_t n = 0, n_normals = 0;
    for (size_t j = 0, end; j < d; j = end) {
        for (end = j + 1; end < d && b->factor[end] == b->factor[j]; end++) {
        }
        if (out != NULL) {
            out[n] = (dni_bayes_range){j, end - j, (dni_factor)b->factor[j], n_normals};
        }
        n_normals += b->factor[j] == DNI_FACTOR_GAUSSIAN ? end - j : 0;
        n++;
    }
    *out_normals = n_normals;
    return n;
}

static void fold_constants(dni_naive_bayes *b, size_t K, size_t d) {
    const size_t N = b->n_normals;
    for (size_t k = 0; k < K; k++) {
        double constant = log(b->prior[k]);
        for (size_t j = 0, i = k * N; j < d; j++) {
            if (b->factor[j] == DNI_FACTOR_GAUSSIAN) {
                const double variance = b->b[j * K + k];
                constant -= 0.5 * (LN_2PI + log(variance));
                b->normal_mean[i] = b->a[j * K + k];
                b->normal_inverse[i++] = 1 / sqrt(variance);
            }
        }
        b->constant[k] = constant;
    }
}

dn_status dni_bayes_fold(dn_machine *machine, dn_error *err) {
    dni_naive_bayes *b = dni_bayes_of(machine);
    const size_t K = machine->n_classes, d = machine->n_features;
    b->n_ranges = list_ranges(b, d, NULL, &b->n_normals);
    b->ranges = dni_machine_array(machine, b->n_ranges, sizeof *b->ranges);
    b->normal_mean = dni_machine_doubles(machine, dni_machine_product(2 * K, b->n_normals));
    if (machine->incomplete) {
        return dni_machine_no_memory(K, d, err);
    }
    b->normal_inverse = b->normal_mean + K * b->n_normals;
    (void)list_ranges(b, d, b->ranges, &b->n_normals);
    fold_constants(b, K, d);
    sum_at_zero(b, K, d);
    return DN_OK;
}

/* ---- densities and scores ---- */
/* Adds the factors of a range that is not Gaussian to joint [K]. */
static void add_range(const dni_naive_bayes *b, const dni_bayes_range *range, size_t K,
                      const double *x, double *joint) {
    for (size_t j = range->first; j < range->first + range->n; j++) {
        const double *p = b->a + j * K, *q = b->b + j * K, v = x[j];
        for (size_t k = 0; k < K; k++) {
            switch (range->factor) {
            case DNI_FACTOR_BERNOULLI:
                joint[k] += times(v, p[k]) + times(1 - v, q[k]);
                break;
            case DNI_FACTOR_PRESENCE:
                joint[k] += v > 0 ? p[k] : q[k];
                break;
            case DNI_FACTOR_GAUSSIAN:
            case DNI_FACTOR_COUNT:
                joint[k] += v > 0 ? v * p[k] : 0;
                break;
            }
        }
    }
}

static bool bayes_joint(const dn_machine *machine, const double *x, double *joint, double *work) {
    const dni_naive_bayes *b = dni_bayes_of(machine);
    const size_t K = machine->n_classes;
    (void)work;
    memcpy(joint, b->constant, K * sizeof *joint);
    for (const dni_bayes_range *r = b->ranges; r < b->ranges + b->n_ranges; r++) {
        if (r->factor == DNI_FACTOR_GAUSSIAN) {
            dni_subtract_half_squares(x + r->first, b->normal_mean + r->first_normal,
                                      b->normal_inverse + r->first_normal, r->n, b->n_normals, K,
                                      joint);
        } else {
            add_range(b, r, K, x, joint);
        }
    }
    return dni_machine_joint_or_priors(b->prior, K, joint);
}

static bool bayes_joint_entries(const dn_machine *machine, const dni_entry_part *parts,
                                size_t n_parts, double *joint) {
    const dni_naive_bayes *b = dni_bayes_of(machine);
    const size_t K = machine->n_classes;
    for (size_t k = 0; k < K; k++) {
        joint[k] = class_joint_entries(b, k, K, parts, n_parts);
    }
    return dni_machine_joint_or_priors(b->prior, K, joint);
}

static const double *bayes_prior(const dn_machine *machine) {
    return dni_bayes_of(machine)->prior;
}

/* The contribution of feature j is ln p(x_j | C_k); for two classes ln p(x_j | C_2) − ln p(x_j |
 * C_1). */
static void bayes_contributions(const dn_machine *machine, const double *x, double *out,
                                double *work) {
    const dni_naive_bayes *b = dni_bayes_of(machine);
    const size_t K = machine->n_classes, S = dn_machine_n_scores(machine), d = machine->n_features;
    (void)work;
    for (size_t s = S; s-- > 0;) { /* descending: x may be row 0 of `out` */
        for (size_t j = 0; j < d; j++) {
            const double factor = dni_bayes_factor(b, j, S == 1 ? 1 : s, K, x[j]);
            out[s * d + j] = S == 1 ? factor - dni_bayes_factor(b, j, 0, K, x[j]) : factor;
        }
    }
}

static void bayes_intercept(const dn_machine *machine, double *out, double *work) {
    const dni_naive_bayes *b = dni_bayes_of(machine);
    const size_t S = dn_machine_n_scores(machine);
    (void)work;
    for (size_t k = 0; k < S; k++) {
        out[k] = S == 1 ? log(b->prior[1]) - log(b->prior[0]) : log(b->prior[k]);
    }
}

static double bayes_cost(dn_machine *const *machines, size_t n) {
    double cost = 0;
    for (size_t i = 0; i < n; i++) { /* a factor costs 2 multiplications */
        cost += 2 * (double)machines[i]->n_classes * (double)machines[i]->n_features;
    }
    return cost;
}

/* ---- raw features ---- */
/* Returns whether the means are finite, and the variances finite and > 0. A variance is multiplied
 * by the square of the scale, which can overflow or underflow. */
static bool gaussian_factors_valid(const dni_naive_bayes *b, size_t K, size_t d) {
    for (size_t j = 0; j < d; j++) {
        for (size_t k = 0; b->factor[j] == DNI_FACTOR_GAUSSIAN && k < K; k++) {
            if (!isfinite(b->a[j * K + k]) || !isfinite(b->b[j * K + k]) ||
                !(b->b[j * K + k] > 0)) {
                return false;
            }
        }
    }
    return true;
}

static void factors_to_raw(const dni_naive_bayes *from, size_t K, size_t d, const double *mean,
                           const double *scale, dni_naive_bayes *to) {
    memcpy(to->prior, from->prior, K * sizeof *to->prior);
    memcpy(to->factor, from->factor, d * sizeof *to->factor);
    memcpy(to->a, from->a, d * K * sizeof *to->a);
    memcpy(to->b, from->b, d * K * sizeof *to->b);
    for (size_t j = 0; scale != NULL && j < d; j++) {
        for (size_t k = 0; from->factor[j] == DNI_FACTOR_GAUSSIAN && k < K; k++) {
            to->a[j * K + k] = mean[j] + scale[j] * from->a[j * K + k];
            to->b[j * K + k] = scale[j] * scale[j] * from->b[j * K + k];
        }
    }
}

static dn_status bayes_to_raw(const dn_machine *machine, const double *mean, const double *scale,
                              dn_machine **out, dn_error *err) {
    const size_t K = machine->n_classes, d = machine->n_features;
    dn_status status = dni_bayes_machine_new(K, d, out, err);
    if (status != DN_OK) {
        return status;
    }
    factors_to_raw(dni_bayes_of(machine), K, d, mean, scale, dni_bayes_of(*out));
    if (!gaussian_factors_valid(dni_bayes_of(*out), K, d)) {
        return dn_error_set(err, DN_ERR_NUMERIC,
                            "a variance in the scale of the raw columns is not a number above 0: "
                            "the columns are too large or too "
                            "small; multiply them by powers of ten");
    }
    return dni_bayes_fold(*out, err);
}

/* ---- bytes ---- */
static void bayes_write(const dn_machine *machine, const dn_machine *first, dni_writer *writer) {
    const dni_naive_bayes *b = dni_bayes_of(machine);
    const size_t K = machine->n_classes, d = machine->n_features;
    (void)first;
    dni_write_f64s(writer, b->prior, K);
    dni_write_bytes(writer, b->factor, d);
    dni_write_f64s(writer, b->a, d * K);
    dni_write_f64s(writer, b->b, d * K);
}

static bool factor_valid(const dni_naive_bayes *b, size_t j, size_t K) {
    for (size_t k = 0; k < K; k++) {
        double p = b->a[j * K + k], q = b->b[j * K + k];
        if (b->factor[j] == DNI_FACTOR_GAUSSIAN ? !isfinite(p) || !isfinite(q) || !(q > 0)
                                                : !(p <= 0) || !(q <= 0)) {
            return false;
        }
    }
    return b->factor[j] <= DNI_FACTOR_PRESENCE;
}

static dn_status read_factors(dni_reader *r, size_t K, size_t d, const dni_naive_bayes *b,
                              dn_error *err) {
    const bool whole = dni_read_f64s(r, b->prior, K);
    const unsigned char *factor = dni_read_bytes(r, d);
    if (factor != NULL) {
        memcpy(b->factor, factor, d);
    }
    if (!whole || factor == NULL || !dni_read_f64s(r, b->a, d * K) ||
        !dni_read_f64s(r, b->b, d * K)) {
        return dni_machine_corrupt("the parameters of a naive Bayes machine are truncated", err);
    }
    for (size_t j = 0; j < d; j++) {
        if (!factor_valid(b, j, K)) {
            return dni_machine_corrupt("a parameter of a naive Bayes machine is out of range", err);
        }
    }
    for (size_t k = 0; k < K; k++) {
        if (!(b->prior[k] > 0 && b->prior[k] <= 1)) {
            return dni_machine_corrupt("a class prior is out of range", err);
        }
    }
    return DN_OK;
}

static dn_status bayes_read(dni_reader *r, size_t K, size_t d, const dn_machine *first,
                            dn_machine **out, dn_error *err) {
    (void)first;
    if (!dni_machine_fits(r, K == 2 ? 1 : K, d + 1)) {
        return dni_machine_corrupt("the parameters of a naive Bayes machine are truncated", err);
    }
    dn_status status = dni_bayes_machine_new(K, d, out, err);
    if (status == DN_OK) {
        status = read_factors(r, K, d, dni_bayes_of(*out), err);
    }
    return status == DN_OK ? dni_bayes_fold(*out, err) : status;
}

/* ---- description ---- */
/* Passes the array "probability": exp(logarithm [K]). */
static void visit_probabilities(const dn_visitor *v, const double *logarithm, size_t K) {
    v->begin_array(v->ctx, "probability");
    for (size_t k = 0; k < K; k++) {
        v->number(v->ctx, NULL, exp(logarithm[k]));
    }
    v->end_array(v->ctx);
}

static void visit_text(const dn_visitor *v, const char *name, const char *text) {
    v->text(v->ctx, name, text, strlen(text));
}

static dn_status visit_factor(const dn_visitor *v, const dn_machine *machine,
                              const dn_encoder *encoder, size_t j, dn_error *err) {
    const dni_naive_bayes *b = dni_bayes_of(machine);
    const size_t K = machine->n_classes, n = dn_encoder_feature_name(encoder, j, NULL, 0);
    char *name = malloc(n + 1);
    if (name == NULL) {
        return dni_machine_no_memory(K, machine->n_features, err);
    }
    dn_encoder_feature_name(encoder, j, name, n + 1);
    v->begin_object(v->ctx, NULL);
    visit_text(v, "feature", name);
    switch ((dni_factor)b->factor[j]) {
    case DNI_FACTOR_GAUSSIAN:
        visit_text(v, "distribution", "gaussian");
        dn_visit_vector(v, "mean", b->a + j * K, K);
        dn_visit_vector(v, "variance", b->b + j * K, K);
        break;
    case DNI_FACTOR_BERNOULLI:
    case DNI_FACTOR_PRESENCE:
        visit_text(v, "distribution", "bernoulli");
        visit_probabilities(v, b->a + j * K, K);
        break;
    case DNI_FACTOR_COUNT:
        visit_text(v, "distribution", "multinomial");
        visit_probabilities(v, b->a + j * K, K);
        break;
    }
    v->end_object(v->ctx);
    free(name);
    return DN_OK;
}

/* Passes a categorical column with one feature per level as one distribution over the levels. */
static void visit_levels(const dn_visitor *v, const dn_machine *machine, const dn_input *input) {
    const size_t K = machine->n_classes;
    v->begin_object(v->ctx, NULL);
    visit_text(v, "column", input->name);
    visit_text(v, "distribution", "categorical");
    v->begin_array(v->ctx, "levels");
    for (size_t l = 0; l < input->n_features; l++) {
        v->begin_object(v->ctx, NULL);
        if (l < input->levels.n) {
            const uint32_t start = input->levels.start[l], end = input->levels.start[l + 1];
            v->text(v->ctx, "level", input->levels.bytes + start, end - start);
        } else {
            v->text(v->ctx, "level", NULL, 0);
        }
        visit_probabilities(v, dni_bayes_of(machine)->a + (input->first_feature + l) * K, K);
        v->end_object(v->ctx);
    }
    v->end_array(v->ctx);
    v->end_object(v->ctx);
}

static bool is_distribution(const dni_naive_bayes *b, const dn_input *input) {
    bool counts = input->type == DN_CATEGORICAL && input->n_features > 0 &&
                  input->n_features == input->levels.n + input->missing_level;
    for (size_t l = 0; counts && l < input->n_features; l++) {
        counts = b->factor[input->first_feature + l] == DNI_FACTOR_COUNT;
    }
    return counts;
}

static dn_status bayes_describe(const dn_machine *machine, const dn_encoder *encoder,
                                const dn_visitor *v, dn_error *err) {
    const dni_naive_bayes *b = dni_bayes_of(machine);
    dn_status status = DN_OK;
    size_t j = 0;
    dn_visit_vector(v, "priors", b->prior, machine->n_classes);
    v->begin_array(v->ctx, "factors");
    for (size_t i = 0; i < dn_encoder_n_inputs(encoder) && status == DN_OK; i++) {
        const dn_input *input = dn_encoder_input(encoder, i);
        if (is_distribution(b, input)) {
            visit_levels(v, machine, input);
            j += input->n_features;
            continue;
        }
        for (size_t l = 0; l < input->n_features && status == DN_OK; l++) {
            status = visit_factor(v, machine, encoder, j++, err);
        }
    }
    while (j < machine->n_features && status == DN_OK) { /* features of basis functions */
        status = visit_factor(v, machine, encoder, j++, err);
    }
    v->end_array(v->ctx);
    return status;
}

const dni_machine_kind dni_bayes_kind = {
    .id = DNI_KIND_BAYES,
    .name = "naive_bayes",
    .matrices = "covariances",
    .flags = DNI_MACHINE_SUMS,
    .write = bayes_write,
    .read = bayes_read,
    .to_raw = bayes_to_raw,
    .joint = bayes_joint,
    .joint_entries = bayes_joint_entries,
    .prior = bayes_prior,
    .contributions = bayes_contributions,
    .intercept = bayes_intercept,
    .cost = bayes_cost,
    .describe = bayes_describe,
};
