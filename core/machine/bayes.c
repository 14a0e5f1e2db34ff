/* Naive Bayes: factors, their sum over all features or over the entries of a sparse x, the change to raw features. */
#include "machine/bayes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LN_2PI 1.8378770664093454835606594728112

static double *numbers(size_t n) {
    return n >= SIZE_MAX / 16 ? NULL : calloc(n + 1, sizeof(double));
}

dn_naive_bayes *dni_bayes_new(size_t K, size_t d) {
    dn_naive_bayes *b = calloc(1, sizeof *b);
    if (b == NULL) {
        return NULL;
    }
    size_t n = d != 0 && K > SIZE_MAX / 16 / d ? SIZE_MAX : K * d;
    b->prior = numbers(K);
    b->factor = calloc(d + 1, sizeof *b->factor);
    b->a = numbers(n);
    b->b = numbers(n);
    b->at_zero = numbers(3 * K);
    if (b->prior != NULL && b->factor != NULL && b->a != NULL && b->b != NULL &&
        b->at_zero != NULL) {
        return b;
    }
    dni_bayes_free(b);
    return NULL;
}

void dni_bayes_free(dn_naive_bayes *b) {
    if (b == NULL) {
        return;
    }
    free(b->prior);
    free(b->factor);
    free(b->a);
    free(b->b);
    free(b->at_zero);
    free(b);
}

/* x·weight where nothing of an impossible thing is possible. */
static double times(double x, double weight) {
    return x == 0 ? 0 : x * weight;
}

double dni_bayes_factor(const dn_naive_bayes *b, size_t j, size_t k, size_t K, double x) {
    double p = b->a[j * K + k], q = b->b[j * K + k];
    switch ((dn_factor)b->factor[j]) {
    case DN_FACTOR_GAUSSIAN:
        return -0.5 * (LN_2PI + log(q) + (x - p) * (x - p) / q);
    case DN_FACTOR_BERNOULLI:
        return times(x, p) + times(1 - x, q);
    case DN_FACTOR_PRESENCE:
        return x > 0 ? p : q;
    case DN_FACTOR_COUNT:
        break;
    }
    return x > 0 ? x * p : 0;
}

double dni_bayes_joint(const dn_naive_bayes *b, size_t k, size_t K, const double *x, size_t d) {
    double sum = log(b->prior[k]);
    for (size_t j = 0; j < d; j++) {
        sum += dni_bayes_factor(b, j, k, K, x[j]);
    }
    return isnan(sum) ? -(double)INFINITY : sum;
}

/* ---- x with few entries ---- */
/* A sum of many terms that cancel: its leading part, what rounding left, and how many terms were −∞. Knuth's exact sum of two numbers (The Art of Computer Programming, volume 2,
 * section 4.2.2, theorem B). */
struct long_sum {
    double lead, rest, impossible;
};

static void add(struct long_sum *sum, double term, double sign) {
    if (!(term >
          -(double)INFINITY)) { /* or is none: an x far away, whose square left the numbers */
        sum->impossible += sign;
        return;
    }
    double x = sum->lead, y = sign * term, total = x + y, part = total - x;
    sum->rest += (x - (total - part)) + (y - part);
    sum->lead = total;
}

void dni_bayes_settle(dn_naive_bayes *b, size_t K, size_t d) {
    for (size_t k = 0; k < K; k++) {
        struct long_sum sum = {.lead = log(b->prior[k])};
        for (size_t j = 0; j < d; j++) {
            if (b->factor[j] != DN_FACTOR_COUNT) { /* 0 at 0 */
                add(&sum, dni_bayes_factor(b, j, k, K, 0), 1);
            }
        }
        b->at_zero[3 * k] = sum.lead;
        b->at_zero[3 * k + 1] = sum.rest;
        b->at_zero[3 * k + 2] = sum.impossible;
    }
}

double dni_bayes_joint_entries(const dn_naive_bayes *b, size_t k, size_t K,
                               const dni_entry_part *parts, size_t n_parts) {
    struct long_sum sum = {.lead = b->at_zero[3 * k],
                           .rest = b->at_zero[3 * k + 1],
                           .impossible = b->at_zero[3 * k + 2]};
    for (const dni_entry_part *part = parts; part < parts + n_parts; part++) {
        for (size_t e = 0; e < part->n; e++) {
            const size_t j = part->feature[e];
            if (b->factor[j] != DN_FACTOR_COUNT) {
                add(&sum, dni_bayes_factor(b, j, k, K, 0), -1);
            }
            add(&sum, dni_bayes_factor(b, j, k, K, part->value[e]), 1);
        }
    }
    return sum.impossible > 0 ? -(double)INFINITY : sum.lead + sum.rest;
}

/* ---- raw features ---- */
/* Variances are squares: they leave the numbers sooner than what they are of. */
static bool good(const dn_naive_bayes *b, size_t K, size_t d) {
    for (size_t j = 0; j < d; j++) {
        for (size_t k = 0; b->factor[j] == DN_FACTOR_GAUSSIAN && k < K; k++) {
            if (!isfinite(b->a[j * K + k]) || !isfinite(b->b[j * K + k]) ||
                !(b->b[j * K + k] > 0)) {
                return false;
            }
        }
    }
    return true;
}

bool dni_bayes_to_raw(const dn_naive_bayes *from, size_t K, size_t d, const double *mean,
                      const double *scale, dn_naive_bayes *to) {
    memcpy(to->prior, from->prior, K * sizeof *to->prior);
    memcpy(to->factor, from->factor, d * sizeof *to->factor);
    memcpy(to->a, from->a, d * K * sizeof *to->a);
    memcpy(to->b, from->b, d * K * sizeof *to->b);
    for (size_t j = 0; scale != NULL && j < d; j++) {
        for (size_t k = 0; from->factor[j] == DN_FACTOR_GAUSSIAN && k < K; k++) {
            to->a[j * K + k] = mean[j] + scale[j] * from->a[j * K + k];
            to->b[j * K + k] = scale[j] * scale[j] * from->b[j * K + k];
        }
    }
    dni_bayes_settle(to, K, d);
    return good(to, K, d);
}
