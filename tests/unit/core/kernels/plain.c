#include "unit/core/kernels/plain.h"

void rows_index(struct rows *r) {
    r->row_start = xcalloc(r->n + 1, sizeof *r->row_start);
    r->cols = xcalloc(r->n * r->d, sizeof *r->cols);
    r->values = xcalloc(r->n * r->d, sizeof *r->values);
    for (size_t i = 0; i < r->n; i++) {
        for (size_t j = 0; j < r->d; j++) {
            if (r->x[i * r->d + j] != 0) {
                r->cols[r->n_entries] = (uint32_t)j;
                r->values[r->n_entries++] = r->x[i * r->d + j];
            }
        }
        r->row_start[i + 1] = r->n_entries;
    }
}

struct rows rows_make(enum rows_kind kind, size_t n, size_t d, uint64_t seed) {
    struct rows r = {.n = n, .d = d, .x = xcalloc(n * d, sizeof(double))};
    dni_random random;
    dni_random_init(&random, seed, 0);
    for (size_t i = 0; i < n; i++) {
        size_t length = dni_random_below(&random, d + 1);
        for (size_t j = 0; j < d; j++) {
            double *x = &r.x[i * d + j];
            if (kind == ROWS_MARGINS) {
                *x = j < d / 4 || j % 5 == 0 ? 0 : dni_random_uniform(&random, -2, 2);
            } else if (kind == ROWS_DENSE) {
                *x = 5 + dni_random_uniform(&random, -2, 2) * (double)(1 + j % 3);
            } else if (kind == ROWS_TEXT) {
                *x = j >= length ? 0
                     : dni_random_below(&random, 8) == 0
                         ? 0x1F600 + (double)dni_random_below(&random, 3)
                         : 97 + (double)dni_random_below(&random, 4);
            } else if (dni_random_below(&random, 4) == 0) {
                *x = kind == ROWS_BITS ? 1 : dni_random_uniform(&random, -2, 2);
            }
        }
    }
    if (n > 4) {
        memcpy(r.x + 3 * d, r.x + 1 * d, d * sizeof(double));
        memset(r.x + 4 * d, 0, d * sizeof(double));
    }
    rows_index(&r);
    return r;
}

void rows_free(struct rows *r) {
    free(r->x);
    free(r->row_start);
    free(r->cols);
    free(r->values);
}

dn_matrix rows_dense(const struct rows *r) {
    return dn_matrix_dense(r->x, r->n, r->d);
}

dn_matrix rows_csr(const struct rows *r) {
    return dn_matrix_csr(r->row_start, r->cols, r->values, r->n, r->d);
}

dn_kernel plain_kernel(size_t k, size_t d, double *factor) {
    const dn_kernel kernels[PLAIN_KERNELS] = {
        {.type = DN_KERNEL_LINEAR},
        {.type = DN_KERNEL_LINEAR, .normalize = true},
        {.type = DN_KERNEL_POLYNOMIAL, .gamma = 0.3, .coef0 = 1, .degree = 3},
        {.type = DN_KERNEL_POLYNOMIAL, .gamma = 0.3, .coef0 = 1, .degree = 2, .normalize = true},
        {.type = DN_KERNEL_RBF, .width = 3.5},
        {.type = DN_KERNEL_SIGMOID, .scale = 0.01, .coef0 = -0.5},
        {.type = DN_KERNEL_MAHALANOBIS},
        {.type = DN_KERNEL_DISTANCE, .metric = DN_METRIC_EUCLIDEAN, .width = 2},
        {.type = DN_KERNEL_DISTANCE, .metric = DN_METRIC_MANHATTAN, .width = 4},
        {.type = DN_KERNEL_DISTANCE, .metric = DN_METRIC_CHEBYSHEV, .width = 1.5},
        {.type = DN_KERNEL_DISTANCE, .metric = DN_METRIC_COSINE, .width = 0.5},
        {.type = DN_KERNEL_SHARED_WORDS},
        {.type = DN_KERNEL_SHARED_PATHS, .normalize = true},
        {.type = DN_KERNEL_RBF, .width = 40, .normalize = true},
    };
    dn_kernel kernel = kernels[k];
    kernel.n_features = d;
    kernel.factor = kernel.type == DN_KERNEL_MAHALANOBIS ? factor : NULL;
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j < d; j++) {
            factor[i * d + j] = i < j ? 0 : i == j ? 0.2 : 0.05 * cos((double)(3 * i + j));
        }
    }
    return kernel;
}

static double plain_dot(const double *x, const double *z, size_t d) {
    double sum = 0;
    for (size_t j = 0; j < d; j++) {
        sum += x[j] * z[j];
    }
    return sum;
}

double plain_square(const double *x, const double *z, size_t d, const double *factor) {
    double sum = 0;
    for (size_t i = 0; i < d; i++) {
        double part = factor == NULL ? x[i] - z[i] : 0;
        for (size_t j = 0; factor != NULL && j < d; j++) {
            part += factor[i * d + j] * (x[j] - z[j]);
        }
        sum += part * part;
    }
    return sum;
}

double plain_metric(const dn_kernel *kernel, const double *x, const double *z, size_t d) {
    double sum = 0, most = 0, xx = plain_dot(x, x, d), zz = plain_dot(z, z, d);
    for (size_t j = 0; j < d; j++) {
        sum += fabs(x[j] - z[j]);
        most = fmax(most, fabs(x[j] - z[j]));
    }
    switch (kernel->metric) {
    case DN_METRIC_EUCLIDEAN:
        return sqrt(plain_square(x, z, d, NULL));
    case DN_METRIC_MANHATTAN:
        return sum;
    case DN_METRIC_CHEBYSHEV:
        return most;
    case DN_METRIC_COSINE:
        return xx == 0 && zz == 0   ? 0
               : xx == 0 || zz == 0 ? 1
                                    : 1 - plain_dot(x, z, d) / sqrt(xx) / sqrt(zz);
    case DN_METRIC_EDIT:
        break;
    }
    fail();
    return 0;
}

static double plain_raw(const dn_kernel *kernel, const double *x, const double *z, size_t d) {
    switch (kernel->type) {
    case DN_KERNEL_POLYNOMIAL:
        return pow(kernel->gamma * plain_dot(x, z, d) + kernel->coef0, kernel->degree);
    case DN_KERNEL_SIGMOID:
        return tanh(kernel->scale * plain_dot(x, z, d) + kernel->coef0);
    case DN_KERNEL_RBF:
        return exp(-plain_square(x, z, d, NULL) / (2 * kernel->width * kernel->width));
    case DN_KERNEL_MAHALANOBIS:
        return exp(-plain_square(x, z, d, kernel->factor) / 2);
    case DN_KERNEL_DISTANCE:
        return exp(-plain_metric(kernel, x, z, d) / (2 * kernel->width * kernel->width));
    case DN_KERNEL_LINEAR:
    case DN_KERNEL_SHARED_WORDS:
    case DN_KERNEL_SHARED_PATHS:
    case DN_KERNEL_PRECOMPUTED:
        break;
    }
    return plain_dot(x, z, d);
}

double plain_value(const dn_kernel *kernel, const double *x, const double *z, size_t d) {
    if (!kernel->normalize) {
        return plain_raw(kernel, x, z, d);
    }
    double xx = plain_raw(kernel, x, x, d), zz = plain_raw(kernel, z, z, d);
    return xx > 0 && zz > 0 ? plain_raw(kernel, x, z, d) / sqrt(xx) / sqrt(zz) : 0;
}

dni_points *points_of(const dn_kernel *kernel, dn_matrix x, const dn_run *run) {
    dni_points *points;
    OK(dni_points_new(kernel, x.n_rows,
                      x.kind == DN_DENSE ? SIZE_MAX : x.row_start[x.n_rows] - x.row_start[0], run,
                      &points, NULL));
    for (size_t i = 0, n; i < x.n_rows; i += n) { /* 7 rows in one call */
        n = x.n_rows - i < 7 ? x.n_rows - i : 7;
        dni_points_add(points, dn_matrix_rows(x, i, n));
    }
    OK(dni_points_end(points, NULL));
    return points;
}

void assert_value(double got, double expected, double size, double tolerance) {
    if (!(fabs(got - expected) <= tolerance * fmax(1, size))) {
        fail_msg("%.17g instead of %.17g", got, expected);
    }
}
