#include "unit/core/learners/logistic/logistics.h"

size_t scores_of(const struct problem *t) {
    return t->K == 2 ? 1 : t->K;
}

void logistic_problem_done(struct problem *t) {
    dn_rows_free(t->rows);
    free(t->x);
    free(t->target);
    free(t->weight);
    free(t->values);
    free(t->cols);
    free(t->start);
}

struct problem problem_named(const char *name, bool standardise) {
    struct csv *csv = csv_named(name);
    struct problem t = {.n = csv->n, .d = csv->d, .K = csv->K};
    t.x = standardised(csv->x, t.n, t.d, NULL, NULL);
    t.target = xcalloc(t.n, sizeof(double));
    if (!standardise) {
        memcpy(t.x, csv->x, t.n * t.d * sizeof(double));
    }
    memcpy(t.target, csv->target, t.n * sizeof(double));
    csv_free(csv);
    OK(dn_rows_from_matrix(dn_matrix_dense(t.x, t.n, t.d), t.target, NULL, &t.rows, NULL));
    return t;
}

double logistic_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

struct problem problem_sparse(size_t n, size_t d, size_t K, size_t words) {
    struct problem t = {.n = n, .d = d, .K = K};
    uint64_t state = 4711;
    size_t entries = 0;
    double *effect = xcalloc(d * K, sizeof *effect);
    t.x = xcalloc(n * d, sizeof(double));
    t.target = xcalloc(n, sizeof(double));
    t.values = xcalloc(n * words, sizeof(double));
    t.cols = xcalloc(n * words, sizeof(uint32_t));
    t.start = xcalloc(n + 1, sizeof(size_t));
    for (size_t i = 0; i < d * K; i++) {
        effect[i] = logistic_random(&state) < 0.2 ? 4 * logistic_random(&state) - 2 : 0;
    }
    for (size_t i = 0; i < n; i++) {
        double best = -(double)INFINITY;
        for (size_t w = 0; w < words; w++) {
            t.x[i * d + (size_t)(pow(logistic_random(&state), 2) * (double)d)] += 1;
        }
        for (size_t k = 0; k < K; k++) {
            double g = -log(-log(logistic_random(&state) + 1e-12));
            for (size_t j = 0; j < d; j++) {
                g += effect[j * K + k] * t.x[i * d + j];
            }
            if (g > best) {
                best = g;
                t.target[i] = (double)k;
            }
        }
        for (size_t j = 0; j < d; j++) {
            if (t.x[i * d + j] != 0) {
                t.cols[entries] = (uint32_t)j;
                t.values[entries++] = t.x[i * d + j];
            }
        }
        t.start[i + 1] = entries;
    }
    free(effect);
    OK(dn_rows_from_matrix(dn_matrix_csr(t.start, t.cols, t.values, n, d), t.target, NULL, &t.rows,
                           NULL));
    return t;
}

struct fit fit_problem(const struct problem *t, const dn_params *p) {
    dn_run run = dn_run_default();
    struct fit fit;
    dn_error err = {0};
    if (fit_rows(t->rows, t->K, p, &run, &fit, &err) != DN_OK) {
        fail_msg("%s", err.message);
    }
    return fit;
}

dn_params *params_with(const char *solver, const char *penalty, double lambda) {
    dn_params *p = params_of(solver, lambda);
    OK(dn_params_set_word(p, "penalty", penalty, NULL));
    return p;
}

double logistic_detail(const dn_report *report, const char *name) {
    for (size_t i = 0; i < report->n_details; i++) {
        if (strcmp(report->details[i].name, name) == 0) {
            return report->details[i].number;
        }
    }
    fail_msg("no detail %s", name);
    return 0;
}

bool logistic_warned(const dn_report *report, const char *words) {
    for (size_t i = 0; i < report->n_warnings; i++) {
        if (strstr(report->warnings[i].text, words) != NULL) {
            return true;
        }
    }
    return false;
}

size_t count_nonzero(const struct problem *t, const struct fit *fit) {
    size_t n = 0;
    for (size_t i = 0; i < scores_of(t) * t->d; i++) {
        n += fit->out.w[i] != 0;
    }
    return n;
}

void *meter_allocate(void *ctx, size_t size) {
    struct meter *m = ctx;
    max_align_t *p = malloc(size + sizeof *p);
    if (p == NULL) {
        return NULL;
    }
    memcpy(p, &size, sizeof size);
    m->now += size;
    m->most = m->now > m->most ? m->now : m->most;
    return p + 1;
}

void meter_release(void *ctx, void *memory) {
    struct meter *m = ctx;
    size_t size;
    if (memory == NULL) {
        return;
    }
    memcpy(&size, (max_align_t *)memory - 1, sizeof size);
    m->now -= size;
    free((max_align_t *)memory - 1);
}

void moments(const struct problem *t, double *mean, double *deviation) {
    for (size_t j = 0; j < t->d; j++) {
        double m = 0, s = 0, total = 0;
        for (size_t i = 0; i < t->n; i++) {
            double v = t->weight == NULL ? 1 : t->weight[i];
            m += v * t->x[i * t->d + j];
            total += v;
        }
        m /= total;
        for (size_t i = 0; i < t->n; i++) {
            s += (t->weight == NULL ? 1 : t->weight[i]) * (t->x[i * t->d + j] - m) *
                 (t->x[i * t->d + j] - m);
        }
        mean[j] = m;
        deviation[j] = sqrt(s / total);
    }
}

double optimality(const struct problem *t, const struct fit *fit, double l1, double l2,
                  double *value) {
    size_t S = scores_of(t), d = t->d;
    double *gradient = xcalloc(S * (d + 1), sizeof *gradient), *mean = xcalloc(2 * d, sizeof *mean),
           *deviation = mean + d, worst = 0;
    *value = reference_objective(t->x, t->target, t->weight, t->n, d, t->K, fit->out.w, fit->out.w0,
                                 l2, gradient);
    moments(t, mean, deviation);
    for (size_t k = 0; k < S; k++) {
        const double *g = gradient + k * (d + 1);
        worst = fmax(worst, fabs(g[d]));
        for (size_t j = 0; j < d; j++) {
            double w = fit->out.w[k * d + j];
            *value += l1 * fabs(w);
            /* Only the penalty depends on the weight of a constant column. */
            if (deviation[j] < 1e-12 * (1 + fabs(mean[j]))) {
                assert_true(w == 0);
                continue;
            }
            double h = (g[j] - mean[j] * g[d]) / deviation[j], l = l1 / deviation[j];
            worst = fmax(worst, w == 0 ? fmax(0, fabs(h) - l) : fabs(h + (w > 0 ? l : -l)));
        }
    }
    free(gradient);
    free(mean);
    return worst;
}

double squared_error(const struct problem *t, const double *table, double l2) {
    size_t S = scores_of(t), d = t->d;
    double sum = 0, total = 0, penalty = 0, g[64];
    for (size_t i = 0; i < t->n; i++) {
        double v = t->weight == NULL ? 1 : t->weight[i], e = 0, norm = 0;
        for (size_t k = 0; k < S; k++) {
            g[k] = table[k * (d + 1) + d];
            for (size_t j = 0; j < d; j++) {
                g[k] += table[k * (d + 1) + j] * t->x[i * d + j];
            }
            norm += exp(g[k]);
        }
        for (size_t k = 0; k < S; k++) {
            double p = S == 1 ? 1 / (1 + exp(-g[0])) : exp(g[k]) / norm;
            double r = S == 1 ? t->target[i] : (double)((size_t)t->target[i] == k);
            e += (p - r) * (p - r) / 2;
        }
        sum += v * e;
        total += v;
    }
    for (size_t k = 0; k < S; k++) {
        for (size_t j = 0; j < d; j++) {
            penalty += table[k * (d + 1) + j] * table[k * (d + 1) + j];
        }
    }
    return sum / total + l2 * penalty;
}
