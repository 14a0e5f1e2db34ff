/* What tests of machines with kernels share: K by the plainest formulas, and the optimality of a machine recomputed from its rows. */
#ifndef TESTS_CORE_LEARNERS_SVM_H
#define TESTS_CORE_LEARNERS_SVM_H

#include "../support.h"

static inline double plain_distance(const dn_kernel *kernel, const double *x, const double *z, size_t d) {
    double sum = 0, most = 0, square = 0, xz = 0, xx = 0, zz = 0;
    for (size_t j = 0; j < d; j++) {
        const double step = fabs(x[j] - z[j]);
        sum += step;
        most = fmax(most, step);
        square += step * step;
        xz += x[j] * z[j];
        xx += x[j] * x[j];
        zz += z[j] * z[j];
    }
    switch (kernel->metric) {
    case DN_METRIC_EUCLIDEAN:
        return sqrt(square);
    case DN_METRIC_MANHATTAN:
        return sum;
    case DN_METRIC_CHEBYSHEV:
        return most;
    case DN_METRIC_COSINE:
        return 1 - xz / sqrt(xx * zz);
    case DN_METRIC_EDIT:
        break;
    }
    fail_msg("no plain formula");
    return 0;
}

static inline double plain_value(const dn_kernel *kernel, const double *x, const double *z, size_t d) {
    double product = 0, square = 0, mahalanobis = 0;
    for (size_t j = 0; j < d; j++) {
        product += x[j] * z[j];
        square += (x[j] - z[j]) * (x[j] - z[j]);
    }
    for (size_t i = 0; kernel->factor != NULL && i < d; i++) {
        double sum = 0;
        for (size_t j = 0; j < d; j++)
            sum += kernel->factor[i * d + j] * (x[j] - z[j]);
        mahalanobis += sum * sum;
    }
    switch (kernel->type) {
    case DN_KERNEL_POLYNOMIAL:
        return pow(kernel->gamma * product + kernel->coef0, kernel->degree);
    case DN_KERNEL_RBF:
        return exp(-square / (2 * kernel->width * kernel->width));
    case DN_KERNEL_SIGMOID:
        return tanh(kernel->scale * product + kernel->coef0);
    case DN_KERNEL_MAHALANOBIS:
        return exp(-0.5 * mahalanobis);
    case DN_KERNEL_DISTANCE:
        return exp(-plain_distance(kernel, x, z, d) / (2 * kernel->width * kernel->width));
    default:
        return product;
    }
}

static inline double plain_kernel(const dn_kernel *kernel, const double *x, const double *z, size_t d) {
    const double value = plain_value(kernel, x, z, d);
    if (!kernel->normalize)
        return value;
    const double root = plain_value(kernel, x, x, d) * plain_value(kernel, z, z, d);
    return root > 0 ? value / sqrt(root) : 0;
}

/* Row i of a support, dense. */
static inline void support_row(const dn_support *support, size_t i, double *x) {
    const dn_matrix row = dn_matrix_rows(support->x, i, 1);
    memset(x, 0, row.n_cols * sizeof *x);
    if (row.kind == DN_DENSE)
        memcpy(x, row.values, row.n_cols * sizeof *x);
    else
        for (size_t e = row.row_start[0]; e < row.row_start[1]; e++)
            x[row.cols[e]] = row.values[e];
}

/* Σ c_i K(s_i, x), without w0. */
static inline double plain_sum(const dn_machine *machine, const double *x) {
    const dn_kernel_machine *m = machine->kernel;
    const size_t d = machine->n_features;
    double sum = 0, *s = xcalloc(d, sizeof *s);
    for (size_t i = 0; i < m->n; i++) {
        support_row(m->support, m->index[i], s);
        sum += m->coef[i] * plain_kernel(&m->support->kernel, s, x, d);
    }
    free(s);
    return sum;
}

static inline double detail(const dn_report *report, const char *name) {
    for (size_t i = 0; i < report->n_details; i++)
        if (strcmp(report->details[i].name, name) == 0)
            return report->details[i].number;
    fail_msg("no detail %s", name);
    return 0;
}

/* Rows of a pair of classes, 0 and 1. */
struct pair {
    size_t n, d;
    double *x, *target;
};

/* The first two classes of a golden data set, its columns standardised over all rows. */
static inline struct pair first_pair(const char *name) {
    struct csv *t = csv_named(name);
    struct pair p = {0};
    if (t == NULL)
        return p;
    double *z = standardised(t->x, t->n, t->d, NULL, NULL);
    p.d = t->d;
    p.x = xcalloc(t->n * t->d, sizeof *p.x);
    p.target = xcalloc(t->n, sizeof *p.target);
    for (size_t i = 0; i < t->n; i++) {
        if (t->target[i] >= 2)
            continue;
        memcpy(p.x + p.n * p.d, z + i * t->d, t->d * sizeof *z);
        p.target[p.n++] = t->target[i];
    }
    free(z);
    csv_free(t);
    return p;
}

static inline void pair_free(struct pair *p) {
    free(p->x);
    free(p->target);
}

#endif
