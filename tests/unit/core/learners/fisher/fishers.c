#include "unit/core/learners/fisher/fishers.h"

dn_params *fisher_params(void) {
    dn_params *p;
    OK(dn_params_new(dn_algorithm_find("fisher"), &p, NULL));
    return p;
}

struct fit fit_dense(const struct csv *t, const double *weight, const dn_params *given) {
    dn_params *p = given == NULL ? fisher_params() : NULL;
    dn_rows *rows;
    dn_run run = dn_run_default();
    struct fit fit = {0};
    OK(dn_rows_from_matrix(dn_matrix_dense(t->x, t->n, t->d), t->target, weight, &rows, NULL));
    OK(fit_rows(rows, t->K, given == NULL ? p : given, &run, &fit, NULL));
    dn_rows_free(rows);
    dn_params_free(p);
    return fit;
}

double fisher_detail(const struct fit *fit, const char *name) {
    for (size_t i = 0; i < fit->report.n_details; i++) {
        if (strcmp(fit->report.details[i].name, name) == 0) {
            return fit->report.details[i].number;
        }
    }
    fail_msg("no detail %s", name);
    return 0;
}

double eigenvalue(const struct fit *fit, size_t i) {
    for (size_t k = 0; k < fit->report.n_details; k++) {
        if (strcmp(fit->report.details[k].name, "eigenvalues") == 0 &&
            i < fit->report.details[k].n_list) {
            return fit->report.details[k].list[i];
        }
    }
    fail_msg("no eigenvalue %zu", i);
    return 0;
}

struct scatters scatters_of(const struct csv *t, const double *weight) {
    size_t d = t->d;
    struct scatters s = {.d = d, .K = t->K};
    s.mean = xcalloc(t->K * d, sizeof(double));
    s.overall = xcalloc(d, sizeof(double));
    s.within = xcalloc(d * d, sizeof(double));
    s.between = xcalloc(d * d, sizeof(double));
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < t->n; i++) {
            size_t k = (size_t)t->target[i];
            double v = weight == NULL ? 1 : weight[i];
            s.count[k] += pass == 0 ? v : 0;
            s.n += pass == 0 ? v : 0;
            for (size_t a = 0; a < d; a++) {
                const double *x = t->x + i * d, *m = s.mean + k * d;
                if (pass == 0) {
                    s.mean[k * d + a] += v * x[a];
                }
                for (size_t b = 0; pass == 1 && b < d; b++) {
                    s.within[a * d + b] +=
                        v * (x[a] - m[a] / s.count[k]) * (x[b] - m[b] / s.count[k]);
                }
            }
        }
    }
    for (size_t k = 0; k < t->K; k++) {
        for (size_t a = 0; a < d; a++) {
            s.overall[a] += s.mean[k * d + a] / s.n;
            s.mean[k * d + a] /= s.count[k];
        }
    }
    for (size_t k = 0; k < t->K; k++) {
        for (size_t a = 0; a < d; a++) {
            for (size_t b = 0; b < d; b++) {
                s.between[a * d + b] += s.count[k] * (s.mean[k * d + a] - s.overall[a]) *
                                        (s.mean[k * d + b] - s.overall[b]);
            }
        }
    }
    return s;
}

void scatters_done(struct scatters *s) {
    free(s->mean);
    free(s->overall);
    free(s->within);
    free(s->between);
}

double form(const double *matrix, size_t d, const double *x, const double *y) {
    double sum = 0;
    for (size_t a = 0; a < d; a++) {
        for (size_t b = 0; b < d; b++) {
            sum += x[a] * matrix[a * d + b] * y[b];
        }
    }
    return sum;
}

double dot(const double *a, const double *b, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}
