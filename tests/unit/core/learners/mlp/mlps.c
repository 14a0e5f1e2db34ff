#include "unit/core/learners/mlp/mlps.h"

static double plain_unit(dni_activation h, double a) {
    return h == DNI_ACTIVATION_SIGMOID ? 1 / (1 + exp(-a))
           : h == DNI_ACTIVATION_TANH  ? tanh(a)
           : a > 0                     ? a
                                       : 0;
}

void plain_scores(const dni_network *net, size_t d, const double *x, double *scores) {
    double z[64], next[64];
    const double *w = net->w, *in = x;
    for (size_t l = 0; l < net->n_layers; l++) {
        for (size_t k = 0; k < net->units[l]; k++) {
            double a = w[d * net->units[l] + k];
            for (size_t j = 0; j < d; j++) {
                a += in[j] * w[j * net->units[l] + k];
            }
            next[k] = l + 1 < net->n_layers ? plain_unit(net->activation, a) : a;
        }
        w += (d + 1) * net->units[l];
        d = net->units[l];
        memcpy(z, next, d * sizeof *z);
        in = z;
    }
    memcpy(scores, z, d * sizeof *z);
}

static double plain_loss(const double *g, size_t S, size_t truth) {
    double sum = 0;
    if (S == 1) {
        return log(1 + exp(truth == 1 ? -g[0] : g[0]));
    }
    for (size_t k = 0; k < S; k++) {
        sum += exp(g[k] - g[truth]);
    }
    return log(sum);
}

double plain_objective(const struct problem *t, const dni_network *net, double lambda,
                       const bool *skip, bool wanted) {
    double sum = 0, total = 0, penalty = 0, g[64];
    for (size_t i = 0; i < t->n; i++) {
        const double v = skip != NULL && skip[i] != wanted ? 0
                         : t->weight == NULL               ? 1
                                                           : t->weight[i];
        plain_scores(net, t->d, t->x + i * t->d, g);
        sum += v * plain_loss(g, scores_of(t), (size_t)t->target[i]);
        total += v;
    }
    const double *w = net->w;
    for (size_t l = 0, inputs = t->d; l < net->n_layers; l++) {
        for (size_t i = 0; i < inputs * net->units[l]; i++) {
            penalty += w[i] * w[i];
        }
        w += (inputs + 1) * net->units[l];
        inputs = net->units[l];
    }
    return sum / total + lambda * penalty;
}

struct problem problem_curved(size_t n, size_t d, size_t K, bool weighted, bool sparse) {
    struct problem t = {.n = n, .d = d, .K = K};
    uint64_t state = 99;
    size_t entries = 0;
    t.x = xcalloc(n * d, sizeof(double));
    t.target = xcalloc(n, sizeof(double));
    t.weight = weighted ? xcalloc(n, sizeof(double)) : NULL;
    t.values = sparse ? xcalloc(n * d, sizeof(double)) : NULL;
    t.cols = xcalloc(n * d, sizeof(uint32_t));
    t.start = xcalloc(n + 1, sizeof(size_t));
    for (size_t i = 0; i < n; i++) {
        double square = 0;
        for (size_t j = 0; j < d; j++) {
            double value = logistic_random(&state) < 0.3 ? 0 : 4 * logistic_random(&state) - 2;
            value = j + 1 == d ? 3 : j == 0 ? 100 * value + 50 : value;
            square += j == 0 || j + 1 == d ? 0 : value * value;
            t.x[i * d + j] = value;
            if (sparse && value != 0) {
                t.cols[entries] = (uint32_t)j;
                t.values[entries++] = value;
            }
        }
        t.start[i + 1] = entries;
        t.target[i] = i < K ? (double)i : (double)((size_t)(square + logistic_random(&state)) % K);
        if (weighted) {
            t.weight[i] = i < K ? 1 : floor(4 * logistic_random(&state));
        }
    }
    const dn_matrix x =
        sparse ? dn_matrix_csr(t.start, t.cols, t.values, n, d) : dn_matrix_dense(t.x, n, d);
    OK(dn_rows_from_matrix(x, t.target, t.weight, &t.rows, NULL));
    return t;
}

dn_params *mlp_params(const char *solver, const double *layers, size_t n_layers) {
    dn_params *p;
    OK(dn_params_new(dn_algorithm_find("mlp"), &p, NULL));
    OK(dn_params_set_word(p, "solver", solver, NULL));
    OK(dn_params_set_number(p, "lambda", 1e-3, NULL));
    if (n_layers > 0) {
        OK(dn_params_set_list(p, "layers", layers, n_layers, NULL));
    }
    return p;
}
