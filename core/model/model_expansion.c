/* The expansion of kernel machines with a polynomial kernel.
 *
 *   A = Σ c_i s_i s_i',   b = Σ c_i s_i,   C = Σ c_i   over the support vectors
 *   degree 2: g(x) = γ² x'A x + 2γc b'x + c² C + w0;   degree 1: g(x) = γ b'x + c C + w0
 *
 * x = (z − mean)/scale gives the polynomial in the raw features z. */
#include "machine/kernel_machine.h"
#include "machine/machine_kind.h"
#include "model/model_impl.h"
#include <discern/expansion.h>

#include <math.h>
#include <stdlib.h>

static const struct {
    const char *id, *text;
} reasons[] = {
    [DN_EXPANSION_AVAILABLE] = {"available", "there is an expansion"},
    [DN_EXPANSION_KERNEL] = {"kernel", "only models with a polynomial kernel have an expansion"},
    [DN_EXPANSION_DEGREE] = {"degree", "the degree of the polynomial kernel must be at most 2"},
    [DN_EXPANSION_NORMALIZED] = {"normalized", "a normalized kernel is not a polynomial"},
    [DN_EXPANSION_TOO_LARGE] = {"too_large",
                                "the expansion has more than 20000 terms, or takes more than 4e9 "
                                "multiplications (machines x support vectors x terms)"},
};
enum { N_REASONS = sizeof reasons / sizeof reasons[0] };

const char *dn_expansion_reason_id(dn_expansion_reason reason) {
    return (size_t)reason < N_REASONS ? reasons[reason].id : "unknown";
}

const char *dn_expansion_reason_text(dn_expansion_reason reason) {
    return (size_t)reason < N_REASONS ? reasons[reason].text : "unknown";
}

dn_expansion_reason dn_model_expands(const dn_model *model, unsigned *out_degree,
                                     size_t *out_n_terms) {
    if (model->machines[0]->kind != &dni_kernel_kind) {
        return DN_EXPANSION_KERNEL;
    }
    const dn_kernel *kernel = &dni_kernel_machine_of(model->machines[0])->support->kernel;
    if (kernel->type != DN_KERNEL_POLYNOMIAL) {
        return DN_EXPANSION_KERNEL;
    }
    if (kernel->degree > 2) {
        return DN_EXPANSION_DEGREE;
    }
    if (kernel->normalize) {
        return DN_EXPANSION_NORMALIZED;
    }
    const double d = (double)model->n_features,
                 n_terms = kernel->degree == 1 ? d : d + d * (d + 1) / 2;
    double cost = 0;
    for (size_t i = 0; i < model->n_machines; i++) {
        cost += (double)dni_kernel_machine_of(model->machines[i])->n * n_terms;
    }
    if (n_terms > DN_MAX_EXPANSION_TERMS || cost > DN_MAX_EXPANSION_COST) {
        return DN_EXPANSION_TOO_LARGE;
    }
    *out_degree = kernel->degree;
    *out_n_terms = (size_t)n_terms;
    return DN_EXPANSION_AVAILABLE;
}

/* row [d] ← row i of x. */
static void copy_row(dn_matrix x, size_t i, double *row) {
    for (size_t j = 0; j < x.n_cols; j++) {
        row[j] = x.kind == DN_DENSE ? x.values[i * x.stride + j] : 0;
    }
    for (size_t e = x.kind == DN_CSR ? x.row_start[i] : 0;
         x.kind == DN_CSR && e < x.row_start[i + 1]; e++) {
        row[x.cols[e]] = x.values[e];
    }
}

/* sums [n_terms] ← b, then the upper triangle of A. Returns C. row: [d] working memory. */
static double add_support(const dni_kernel_machine *m, bool quadratic, double *row, double *sums) {
    const size_t d = m->base.n_features;
    double sum = 0;
    for (size_t k = 0; k < m->n; k++) {
        double *product = sums + d;
        copy_row(m->support->x, m->index[k], row);
        sum += m->coef[k];
        for (size_t a = 0; a < d; a++) {
            const double value = m->coef[k] * row[a];
            sums[a] += value;
            for (size_t b = a; quadratic && b < d; b++) {
                *product++ += value * row[b];
            }
        }
    }
    return sum;
}

/* Converts the polynomial with the coefficients out->coef and out->constant in place, from encoded
 * features to raw features. mean, scale: [d]; NULL: 0 and 1. */
static void convert_to_raw(const double *mean, const double *scale, size_t d, bool quadratic,
                           dn_expansion *out) {
    double *product = out->coef + d;
    if (mean == NULL) {
        return;
    }
    for (size_t a = 0; a < d; a++) {
        out->coef[a] /= scale[a];
        out->constant -= out->coef[a] * mean[a];
    }
    for (size_t a = 0; a < d && quadratic; a++) {
        for (size_t b = a; b < d; b++, product++) {
            *product /= scale[a] * scale[b];
            out->coef[a] -= *product * mean[b];
            out->coef[b] -= *product * mean[a];
            out->constant += *product * mean[a] * mean[b];
        }
    }
}

dn_status dn_model_expand(const dn_model *model, size_t i, dn_expansion *out, dn_error *err) {
    const dni_kernel_machine *m = dni_kernel_machine_of(model->machines[i]);
    const dn_kernel *kernel = &m->support->kernel;
    const bool quadratic = kernel->degree == 2;
    const size_t d = model->n_features, n_terms = quadratic ? d + d * (d + 1) / 2 : d;
    const double gamma = kernel->gamma, c = kernel->coef0;
    double *row = calloc(d + 1, sizeof *row), *coef = calloc(n_terms + 1, sizeof *coef),
           *weight = calloc(n_terms + 1, sizeof *weight);
    if (row == NULL || coef == NULL || weight == NULL) {
        free(row);
        free(coef);
        free(weight);
        return dn_error_set(err, DN_ERR_MEMORY,
                            "an expansion of %zu terms needs memory which the system does not have",
                            n_terms);
    }
    const double sum = add_support(m, quadratic, row, coef),
                 linear = quadratic ? 2 * gamma * c : gamma;
    *out = (dn_expansion){.coef = coef,
                          .weight = weight,
                          .constant = (quadratic ? c * c : c) * sum + m->w0,
                          .constant_weight = (quadratic ? c : sqrt(c)) * sum};
    for (size_t a = 0; a < d; a++) {
        weight[a] = sqrt(linear) * coef[a];
        coef[a] *= linear;
    }
    for (size_t a = 0, k = d; a < d && quadratic; a++) {
        for (size_t b = a; b < d; b++, k++) {
            weight[k] = (a == b ? 1 : sqrt(2)) * gamma * coef[k];
            coef[k] *= (a == b ? 1 : 2) * gamma * gamma;
        }
    }
    convert_to_raw(dn_encoder_mean(model->encoder), dn_encoder_scale(model->encoder), d, quadratic,
                   out);
    free(row);
    return DN_OK;
}
