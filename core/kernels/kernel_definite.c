/* The smallest and the largest eigenvalue of a kernel matrix. */
#include "kernels/kernel_definite.h"
#include "base/random.h"
#include "base/run_memory.h"
#include "linalg/eigen.h"

bool dni_kernel_is_definite(const dn_kernel *kernel, size_t d) {
    switch (kernel->type) {
    case DN_KERNEL_SIGMOID:
    case DN_KERNEL_PRECOMPUTED:
        return false;
    case DN_KERNEL_POLYNOMIAL:
        return kernel->coef0 >= 0;
    case DN_KERNEL_DISTANCE:
        return kernel->metric != DN_METRIC_EDIT &&
               (kernel->metric != DN_METRIC_CHEBYSHEV || d <= 2);
    case DN_KERNEL_LINEAR:
    case DN_KERNEL_RBF:
    case DN_KERNEL_MAHALANOBIS:
    case DN_KERNEL_SHARED_WORDS:
    case DN_KERNEL_SHARED_PATHS:
        break;
    }
    return true;
}

/* list [m] ← m of the numbers 0 … n − 1, drawn without replacement, in ascending order. */
static void draw(uint64_t seed, size_t n, size_t m, uint32_t *list) {
    dni_random random;
    dni_random_init(&random, seed, DNI_STREAM_DEFINITE);
    for (size_t i = 0, k = 0; k < m; i++) {
        if (dni_random_draws(&random, m - k, n - i)) {
            list[k++] = (uint32_t)i;
        }
    }
}

static size_t sample_size(size_t n) {
    return n < DNI_DEFINITE_ROWS ? n : DNI_DEFINITE_ROWS;
}

double dni_definite_memory(size_t n_points, double work_bytes) {
    const double n = (double)sample_size(n_points);
    return sizeof(double) * n * n + work_bytes;
}

static dn_status extremes(const dni_points *points, const dn_run *run, double *least,
                          double *greatest, dn_error *err) {
    const size_t n = dni_points_n(points);
    void *matrix;
    dn_status status =
        dni_run_alloc_raw(run, n * n, sizeof(double), "the kernel's matrix", &matrix, err);
    if (status != DN_OK) {
        return status;
    }
    status = dni_points_gram(points, run, NULL, matrix, err);
    if (status == DN_OK) {
        status = dni_symmetric_extremes(run, matrix, n, least, greatest, err);
    }
    dn_run_free(run, matrix);
    return status;
}

dn_status dni_matrix_extreme_eigenvalues(const double *matrix, size_t n, const dn_run *run,
                                         double *least, double *greatest, dn_error *err) {
    uint32_t list[DNI_DEFINITE_ROWS];
    void *memory = NULL;
    const size_t m = sample_size(n);
    dn_status status =
        dni_run_alloc_raw(run, m * m, sizeof(double), "the kernel's matrix", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    draw(run == NULL ? 1 : run->seed, n, m, list);
    double *part = memory;
    for (size_t i = 0; i < m; i++) {
        for (size_t j = 0; j <= i; j++) {
            part[i * m + j] = matrix[list[i] * n + list[j]];
        }
    }
    status = dni_symmetric_extremes(run, part, m, least, greatest, err);
    dn_run_free(run, memory);
    return status;
}

dn_status dni_kernel_extreme_eigenvalues(const dni_points *points, const dn_run *run, double *least,
                                         double *greatest, size_t *rows, dn_error *err) {
    const size_t n = dni_points_n(points);
    uint32_t list[DNI_DEFINITE_ROWS];
    dni_points *some = NULL;
    dn_status status;
    if (n > DNI_DEFINITE_ROWS) {
        draw(run == NULL ? 1 : run->seed, n, DNI_DEFINITE_ROWS, list);
        status = dni_points_select(points, list, DNI_DEFINITE_ROWS, run, &some, err);
        if (status != DN_OK) {
            return status;
        }
    }
    status = extremes(some == NULL ? points : some, run, least, greatest, err);
    if (status == DN_OK) {
        *rows = sample_size(n);
    }
    dni_points_free(some);
    return status;
}
