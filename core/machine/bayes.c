/* Naive Bayes machines: factors, and their sum over all features or over the entries of a sparse x.
 *
 * The sum for a sparse x starts from the sum at x = 0, which is computed once, and replaces the
 * terms of the entries. Both sums have twice the precision of a double, so that adding and
 * subtracting a log density of −10¹² does not lose the other terms. */
#include "machine/bayes.h"
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
    b->prior = dni_machine_numbers_new(K);
    b->factor = calloc(d + 1, sizeof *b->factor);
    b->a = dni_machine_numbers_new(n);
    b->b = dni_machine_numbers_new(n);
    b->at_zero = dni_machine_numbers_new(3 * K);
    if (b->prior == NULL || b->factor == NULL || b->a == NULL || b->b == NULL ||
        b->at_zero == NULL) {
        dn_machine_free(&m->base);
        return dni_machine_no_memory(K, d, err);
    }
    *out = &m->base;
    return DN_OK;
}

static void bayes_free(dn_machine *machine) {
    const dni_naive_bayes *b = dni_bayes_of(machine);
    free(b->prior);
    free(b->factor);
    free(b->a);
    free(b->b);
    free(b->at_zero);
}

static double bayes_memory(const dn_machine *machine) {
    const double K = (double)machine->n_classes, d = (double)machine->n_features;
    return (double)sizeof(struct bayes_machine) + sizeof(double) * K * (2 * d + 4) + d;
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

/* Returns ln P(C_k) + Σ_j ln p(x_j | C_k), or −∞ if x is impossible in class k. */
static double class_joint(const dni_naive_bayes *b, size_t k, size_t K, const double *x, size_t d) {
    double sum = log(b->prior[k]);
    for (size_t j = 0; j < d; j++) {
        sum += dni_bayes_factor(b, j, k, K, x[j]);
    }
    return isnan(sum) ? -(double)INFINITY : sum;
}

/* ---- sparse x ---- */
/* A sum of terms that cancel: the rounded sum, the sum of the rounding errors, and the number of
 * terms that are −∞ or NaN.
 *
 * Source: Knuth, The Art of Computer Programming, volume 2, section 4.2.2, theorem B. */
struct long_sum {
    double lead, rest, impossible;
};

static void add(struct long_sum *sum, double term, double sign) {
    if (!(term > -(double)INFINITY)) { /* −∞, or NaN after an overflow */
        sum->impossible += sign;
        return;
    }
    double x = sum->lead, y = sign * term, total = x + y, part = total - x;
    sum->rest += (x - (total - part)) + (y - part);
    sum->lead = total;
}

void dni_bayes_precompute(dni_naive_bayes *b, size_t K, size_t d) {
    for (size_t k = 0; k < K; k++) {
        struct long_sum sum = {.lead = log(b->prior[k])};
        for (size_t j = 0; j < d; j++) {
            if (b->factor[j] != DNI_FACTOR_COUNT) { /* a count factor is 0 at x = 0 */
                add(&sum, dni_bayes_factor(b, j, k, K, 0), 1);
            }
        }
        b->at_zero[3 * k] = sum.lead;
        b->at_zero[3 * k + 1] = sum.rest;
        b->at_zero[3 * k + 2] = sum.impossible;
    }
}

static double class_joint_entries(const dni_naive_bayes *b, size_t k, size_t K,
                                  const dni_entry_part *parts, size_t n_parts) {
    struct long_sum sum = {.lead = b->at_zero[3 * k],
                           .rest = b->at_zero[3 * k + 1],
                           .impossible = b->at_zero[3 * k + 2]};
    for (const dni_entry_part *part = parts; part < parts + n_parts; part++) {
        for (size_t e = 0; e < part->n; e++) {
            const size_t j = part->feature[e];
            if (b->factor[j] != DNI_FACTOR_COUNT) {
                add(&sum, dni_bayes_factor(b, j, k, K, 0), -1);
            }
            add(&sum, dni_bayes_factor(b, j, k, K, part->value[e]), 1);
        }
    }
    return sum.impossible > 0 ? -(double)INFINITY : sum.lead + sum.rest;
}

/* ---- densities and scores ---- */
/* If every class is impossible, sets joint to the log priors and returns false. */
static bool or_priors(const dni_naive_bayes *b, size_t K, double *joint) {
    for (size_t k = 0; k < K; k++) {
        if (joint[k] > -(double)INFINITY) {
            return true;
        }
    }
    for (size_t k = 0; k < K; k++) {
        joint[k] = log(b->prior[k]);
    }
    return false;
}

static bool bayes_joint(const dn_machine *machine, const double *x, double *joint, double *work) {
    const dni_naive_bayes *b = dni_bayes_of(machine);
    const size_t K = machine->n_classes;
    (void)work;
    for (size_t k = 0; k < K; k++) {
        joint[k] = class_joint(b, k, K, x, machine->n_features);
    }
    return or_priors(b, K, joint);
}

static bool bayes_joint_entries(const dn_machine *machine, const dni_entry_part *parts,
                                size_t n_parts, double *joint) {
    const dni_naive_bayes *b = dni_bayes_of(machine);
    const size_t K = machine->n_classes;
    for (size_t k = 0; k < K; k++) {
        joint[k] = class_joint_entries(b, k, K, parts, n_parts);
    }
    return or_priors(b, K, joint);
}

/* The log densities of all classes. */
static size_t bayes_work(const dn_machine *machine) {
    return machine->n_classes;
}

static bool bayes_scores(const dn_machine *machine, const double *x, double *scores, double *work) {
    if (machine->n_classes != 2) {
        return bayes_joint(machine, x, scores, work);
    }
    const bool possible = bayes_joint(machine, x, work, NULL);
    scores[0] = work[1] - work[0];
    return possible;
}

static bool bayes_scores_entries(const dn_machine *machine, const dni_entry_part *parts,
                                 size_t n_parts, double *scores, double *work) {
    if (machine->n_classes != 2) {
        return bayes_joint_entries(machine, parts, n_parts, scores);
    }
    const bool possible = bayes_joint_entries(machine, parts, n_parts, work);
    scores[0] = work[1] - work[0];
    return possible;
}

/* The contribution of feature j is ln p(x_j | C_k); for two classes the difference. */
static void bayes_contributions(const dn_machine *machine, const double *x, double *out,
                                double *work) {
    const dni_naive_bayes *b = dni_bayes_of(machine);
    const size_t K = machine->n_classes, S = dn_machine_n_scores(machine), d = machine->n_features;
    (void)work;
    for (size_t s = S; s-- > 0;) { /* descending: x may be row 0 of `out` */
        for (size_t j = 0; j < d; j++) {
            const double own = dni_bayes_factor(b, j, S == 1 ? 1 : s, K, x[j]);
            out[s * d + j] = S == 1 ? own - dni_bayes_factor(b, j, 0, K, x[j]) : own;
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

static void bayes_finish(dn_machine *const *machines, size_t n) {
    for (size_t i = 0; i < n; i++) {
        dni_bayes_precompute(dni_bayes_of(machines[i]), machines[i]->n_classes,
                             machines[i]->n_features);
    }
}

static double bayes_cost(dn_machine *const *machines, size_t n) {
    double cost = 0;
    for (size_t i = 0; i < n; i++) { /* a factor, with its logarithm, counts as 8 */
        cost += 8 * (double)machines[i]->n_classes * (double)machines[i]->n_features;
    }
    return cost;
}

/* ---- raw features ---- */
/* Checks that means are finite and variances finite and > 0. A variance can overflow or underflow
 * when the scale does not, because it is a square. */
static bool gaussian_factors_good(const dni_naive_bayes *b, size_t K, size_t d) {
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
    dni_bayes_precompute(to, K, d);
}

static dn_status bayes_to_raw(const dn_machine *machine, const double *mean, const double *scale,
                              dn_machine **out, dn_error *err) {
    const size_t K = machine->n_classes, d = machine->n_features;
    dn_machine *to;
    dn_status status = dni_bayes_machine_new(K, d, &to, err);
    if (status != DN_OK) {
        return status;
    }
    factors_to_raw(dni_bayes_of(machine), K, d, mean, scale, dni_bayes_of(to));
    if (!gaussian_factors_good(dni_bayes_of(to), K, d)) {
        dn_machine_free(to);
        return dn_error_set(err, DN_ERR_NUMERIC,
                            "a variance in the scale of the raw columns is not a number above 0: "
                            "the columns are too large or too "
                            "small; multiply them by powers of ten");
    }
    *out = to;
    return DN_OK;
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

static bool factor_good(const dni_naive_bayes *b, size_t j, size_t K) {
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
        return dni_machine_corrupt("its factors are cut short", err);
    }
    for (size_t j = 0; j < d; j++) {
        if (!factor_good(b, j, K)) {
            return dni_machine_corrupt("a factor breaks its rule", err);
        }
    }
    for (size_t k = 0; k < K; k++) {
        if (!(b->prior[k] > 0 && b->prior[k] <= 1)) {
            return dni_machine_corrupt("its priors are none", err);
        }
    }
    return DN_OK;
}

static dn_status bayes_read(dni_reader *r, size_t K, size_t d, const dn_machine *first,
                            dn_machine **out, dn_error *err) {
    dn_machine *m;
    (void)first;
    if (!dni_machine_fits(r, K == 2 ? 1 : K, d + 1)) {
        return dni_machine_corrupt("its numbers are cut short", err);
    }
    dn_status status = dni_bayes_machine_new(K, d, &m, err);
    if (status != DN_OK) {
        return status;
    }
    status = read_factors(r, K, d, dni_bayes_of(m), err);
    if (status != DN_OK) {
        dn_machine_free(m);
        return status;
    }
    *out = m;
    return DN_OK;
}

/* ---- description ---- */
static double bayes_matrix_numbers(const dn_machine *machine) {
    (void)machine;
    return 0;
}

/* Passes "probability", exp of the logarithm for each class. */
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
    .free_parts = bayes_free,
    .memory = bayes_memory,
    .finish = bayes_finish,
    .write = bayes_write,
    .read = bayes_read,
    .to_raw = bayes_to_raw,
    .work = bayes_work,
    .scores = bayes_scores,
    .scores_entries = bayes_scores_entries,
    .joint = bayes_joint,
    .joint_entries = bayes_joint_entries,
    .contributions = bayes_contributions,
    .intercept = bayes_intercept,
    .cost = bayes_cost,
    .matrix_numbers = bayes_matrix_numbers,
    .describe = bayes_describe,
};
