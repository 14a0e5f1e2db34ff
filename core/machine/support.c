/* Support vectors that the machines of a model share, and their bytes. */
#include "machine/support.h"
#include "kernels/points.h"
#include "linalg/vector.h"
#include "machine/machine_kind.h"

#include <assert.h>
#include <discern/encoder.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A support with the arrays that its matrix and kernel refer to. */
struct owner {
    dni_support base; /* must be the first member (see owner_of) */
    double *values, *factor;
    size_t *row_start;
    uint32_t *cols;
    size_t capacity;       /* maximum number of rows */
    size_t entry_capacity; /* maximum number of entries of sparse rows */
    dn_run run;            /* its allocator is charged; allocator NULL: no charges */
    size_t charged;        /* number of bytes charged to the run */
};

static struct owner *owner_of(dni_support *support) {
    return (struct owner *)support;
}

static dn_status no_memory(size_t n, dn_error *err) {
    return dn_error_set(err, DN_ERR_MEMORY,
                        "%zu support vectors need memory which the system does not have", n);
}

static dn_status charge(struct owner *h, double bytes, dn_error *err) {
    const size_t size = bytes < (double)(SIZE_MAX / 2) ? (size_t)bytes : SIZE_MAX / 2;
    dn_status status = dn_run_charge(&h->run, size, "the support vectors", err);
    h->charged += status == DN_OK ? size : 0;
    return status;
}

/* Allocates a × b + 1 zeroed elements of `size` bytes. Returns NULL on overflow or if memory is
 * exhausted. */
static void *zeroes(size_t a, size_t b, size_t size) {
    return b != 0 && a > SIZE_MAX / 32 / b ? NULL : calloc(a * b + 1, size);
}

/* ---- a support ---- */
static bool make_arrays(struct owner *h, const dn_kernel *kernel, bool dense) {
    const size_t d = kernel->n_features;
    h->values = dense ? zeroes(h->capacity, d, sizeof *h->values)
                      : zeroes(h->entry_capacity, 1, sizeof *h->values);
    h->row_start = dense ? NULL : zeroes(h->capacity, 1, sizeof *h->row_start);
    h->cols = dense ? NULL : zeroes(h->entry_capacity, 1, sizeof *h->cols);
    h->factor = kernel->factor == NULL ? NULL : zeroes(d, d, sizeof *h->factor);
    if (h->values == NULL || (!dense && (h->row_start == NULL || h->cols == NULL)) ||
        (kernel->factor != NULL && h->factor == NULL)) {
        return false;
    }
    if (kernel->factor != NULL) {
        memcpy(h->factor, kernel->factor, d * d * sizeof *h->factor);
    }
    return true;
}

dn_status dni_support_new(const dn_kernel *kernel, size_t n, size_t n_entries, const dn_run *run,
                          dni_support **out, dn_error *err) {
    const bool dense = n_entries == SIZE_MAX ||
                       kernel->type == DN_KERNEL_MAHALANOBIS; /* its factor is a dense matrix */
    struct owner *h = calloc(1, sizeof *h);
    if (h == NULL) {
        return no_memory(n, err);
    }
    h->run.allocator = run == NULL ? NULL : run->allocator;
    h->capacity = n;
    h->entry_capacity = dense ? 0 : n_entries;
    dn_status status =
        charge(h, dni_support_estimate(kernel, n, dense ? (double)INFINITY : (double)n_entries),
               err);
    if (status == DN_OK && !make_arrays(h, kernel, dense)) {
        status = no_memory(n, err);
    }
    if (status != DN_OK) {
        dni_support_unref(&h->base);
        return status;
    }
    h->base.references = 1;
    h->base.kernel = *kernel;
    h->base.kernel.factor = h->factor;
    h->base.x = dense ? dn_matrix_dense(h->values, 0, kernel->n_features)
                      : dn_matrix_csr(h->row_start, h->cols, h->values, 0, kernel->n_features);
    *out = &h->base;
    return DN_OK;
}

/* Appends sparse rows. `first` is the number of rows that the support has. */
static void add_entries(const struct owner *h, dn_matrix x, size_t first) {
    if (x.n_rows == 0) {
        return;
    }
    assert(h->row_start != NULL);
    const size_t from = x.row_start[0], n = x.row_start[x.n_rows] - from;
    const size_t at = h->row_start[first];
    assert(n <= h->entry_capacity - at);
    if (n > 0) {
        memcpy(h->values + at, x.values + from, n * sizeof *h->values);
        memcpy(h->cols + at, x.cols + from, n * sizeof *h->cols);
    }
    for (size_t i = 1; i <= x.n_rows; i++) {
        h->row_start[first + i] = at + (x.row_start[i] - from);
    }
}

void dni_support_add(dni_support *support, dn_matrix x) {
    struct owner *h = owner_of(support);
    const size_t d = support->x.n_cols, first = support->x.n_rows;
    assert(x.n_cols == d && x.n_rows <= h->capacity - first &&
           (support->x.kind == DN_DENSE || x.kind == DN_CSR));
    if (support->x.kind == DN_CSR) {
        add_entries(h, x, first);
    } else if (x.kind == DN_DENSE) {
        for (size_t i = 0; i < x.n_rows; i++) {
            memcpy(h->values + (first + i) * d, x.values + i * x.stride, d * sizeof *h->values);
        }
    } else {
        for (size_t i = 0; i < x.n_rows; i++) {
            for (size_t e = x.row_start[i]; e < x.row_start[i + 1]; e++) {
                h->values[(first + i) * d + x.cols[e]] = x.values[e];
            }
        }
    }
    support->x.n_rows += x.n_rows;
}

static size_t n_entries_of(dn_matrix x) {
    return x.row_start == NULL ? SIZE_MAX : x.row_start[x.n_rows];
}

dn_status dni_support_end(dni_support *support, dn_error *err) {
    dni_points *points = NULL;
    if (support->x.n_rows == 0) {
        return DN_OK;
    }
    dn_status status = dni_points_new(&support->kernel, support->x.n_rows, n_entries_of(support->x),
                                      NULL, &points, err);
    if (status != DN_OK) {
        return status;
    }
    dni_points_add(points, support->x);
    support->points = points;
    return dni_points_end(points, err);
}

dni_support *dni_support_ref(dni_support *support) {
    support->references++;
    return support;
}

void dni_support_unref(dni_support *support) {
    if (support == NULL || (support->references > 0 && --support->references > 0)) {
        return;
    }
    struct owner *h = owner_of(support);
    dni_support_leave_run(support);
    dni_points_free(support->points);
    free(h->values);
    free(h->factor);
    free(h->row_start);
    free(h->cols);
    free(h);
}

void dni_support_leave_run(dni_support *support) {
    struct owner *h = owner_of(support);
    dn_run_discharge(&h->run, h->charged);
    h->charged = 0;
    h->run.allocator = NULL;
}

/* Returns the bytes of struct owner and its arrays. */
static double arrays_memory(const dn_kernel *kernel, size_t n, double n_entries) {
    const double rows = (double)n, d = (double)kernel->n_features,
                 factor = kernel->type == DN_KERNEL_MAHALANOBIS ? d * d : 0;
    const double values = isinf(n_entries) ? sizeof(double) * (rows * d + 1)
                                           : (sizeof(double) + sizeof(uint32_t)) * (n_entries + 1) +
                                                 sizeof(size_t) * (rows + 1);
    return sizeof(struct owner) + values + sizeof(double) * (factor + 1);
}

double dni_support_estimate(const dn_kernel *kernel, size_t n, double n_entries) {
    const double entries = kernel->type == DN_KERNEL_MAHALANOBIS ? (double)INFINITY : n_entries;
    return arrays_memory(kernel, n, entries) +
           dni_points_memory(kernel, n, kernel->n_features, entries).building;
}

dn_kept_memory dni_support_kept_memory(const dn_kernel *kernel, const dn_fit_shape *shape) {
    const double n = (double)shape->n_rows, entries = shape->n_entries,
                 work = dni_points_memory(kernel, shape->n_rows, kernel->n_features, entries)
                            .query_work;
    return (dn_kept_memory){.machine = dni_support_estimate(kernel, shape->n_rows, entries) + 8 * n,
                            .scoring =
                                (double)shape->n_slots * (8.0 * DNI_POINTS_QUERIES * n + work)};
}

double dni_support_memory(const dni_support *support) {
    const dn_matrix x = support->x;
    return dni_support_estimate(&support->kernel, x.n_rows,
                                x.kind == DN_DENSE ? (double)INFINITY : (double)n_entries_of(x));
}

dn_status dni_support_charge(dni_support *support, double bytes, dn_error *err) {
    return charge(owner_of(support), bytes, err);
}

enum { LAST_CODE_POINT = 0x10FFFF };

static size_t padding(size_t d) {
    return d > DN_MAX_DENSE_FEATURES ? d : 0;
}

/* ---- writing ---- */
static void write_kernel(const dn_kernel *k, dni_writer *writer) {
    const double numbers[] = {k->gamma, k->coef0, k->scale, k->width};
    dni_write_u8(writer, (uint8_t)k->type);
    dni_write_u8(writer, (uint8_t)k->metric);
    dni_write_f64s(writer, numbers, 4);
    dni_write_u32(writer, k->degree);
    dni_write_u32(writer, k->length);
    dni_write_u8(writer, k->normalize);
    if (k->type == DN_KERNEL_MAHALANOBIS) {
        dni_write_f64s(writer, k->factor, k->n_features * k->n_features);
    }
}

void dni_support_write(const dni_support *support, dni_writer *writer) {
    const dn_matrix x = support->x;
    write_kernel(&support->kernel, writer);
    dni_write_u8(writer, (uint8_t)x.kind);
    dni_write_u64(writer, x.n_rows);
    for (size_t i = 0; x.kind == DN_DENSE && i < x.n_rows; i++) {
        dni_write_f64s(writer, x.values + i * x.stride, x.n_cols);
    }
    if (x.kind == DN_CSR) {
        const size_t first = x.row_start[0], n = x.row_start[x.n_rows] - first;
        for (size_t i = 0; i < x.n_rows; i++) {
            dni_write_u32(writer, (uint32_t)(x.row_start[i + 1] - x.row_start[i]));
        }
        dni_write_u64(writer, n);
        dni_write_u32s(writer, x.cols + first, n);
        dni_write_f64s(writer, x.values + first, n);
    }
    for (size_t i = padding(x.n_cols); i > 0; i--) {
        dni_write_u8(writer, 0);
    }
}

/* ---- reading ---- */
static bool factor_valid(const double *factor, size_t d) {
    for (size_t i = 0; i < d; i++) {
        for (size_t j = i + 1; j < d; j++) {
            if (factor[i * d + j] != 0) {
                return false;
            }
        }
    }
    return dni_all_finite(factor, d * d);
}

/* Reads all parameters of the kernel except the factor. */
static bool read_kernel(dni_reader *r, size_t d, dn_kernel *out) {
    const uint8_t type = dni_read_u8(r), metric = dni_read_u8(r);
    double numbers[4] = {0};
    const bool whole = dni_read_f64s(r, numbers, 4);
    const uint32_t degree = dni_read_u32(r), length = dni_read_u32(r);
    const uint8_t normalize = dni_read_u8(r);
    if (!whole || r->failed || type > DN_KERNEL_PRECOMPUTED || metric > DN_METRIC_EDIT ||
        normalize > 1 || !dni_all_finite(numbers, 4)) {
        return false;
    }
    *out = (dn_kernel){.type = (dn_kernel_type)type,
                       .metric = (dn_metric)metric,
                       .gamma = numbers[0],
                       .coef0 = numbers[1],
                       .scale = numbers[2],
                       .width = numbers[3],
                       .degree = degree,
                       .length = length,
                       .normalize = normalize == 1,
                       .n_features = d};
    if ((type == DN_KERNEL_RBF || type == DN_KERNEL_DISTANCE) && !(out->width > 0)) {
        return false;
    }
    return type != DN_KERNEL_POLYNOMIAL || degree >= 1;
}

static dn_status read_factor(dni_reader *r, dn_kernel *kernel, double **out, dn_error *err) {
    const size_t d = kernel->n_features;
    if (kernel->type != DN_KERNEL_MAHALANOBIS) {
        return DN_OK;
    }
    if (!dni_machine_fits(r, d, d)) {
        return dni_machine_corrupt("the factor of a kernel is truncated", err);
    }
    kernel->factor = *out = malloc((d * d + 1) * sizeof **out);
    if (*out == NULL) {
        return dn_error_set(err, DN_ERR_MEMORY, "no memory for the factor of a kernel");
    }
    return dni_read_f64s(r, *out, d * d) && factor_valid(*out, d)
               ? DN_OK
               : dni_machine_corrupt("the factor of a kernel is invalid", err);
}

/* Checks the values of a row. Edit distance: 0 or code points. Precomputed kernel: a single 1 and
 * otherwise 0. Other kernels: finite numbers. */
static bool row_valid(const dn_kernel *kernel, const double *values, size_t n) {
    size_t ones = 0, others = 0;
    for (size_t j = 0; j < n; j++) {
        const double v = values[j];
        if (!isfinite(v) ||
            (kernel->type == DN_KERNEL_DISTANCE && kernel->metric == DN_METRIC_EDIT && v != 0 &&
             (!(v >= 1 && v <= LAST_CODE_POINT) || v != floor(v)))) {
            return false;
        }
        ones += v == 1;
        others += v != 0 && v != 1;
    }
    return kernel->type != DN_KERNEL_PRECOMPUTED || (ones == 1 && others == 0);
}

static dn_status read_dense(dni_reader *r, const dn_kernel *kernel, size_t n, dni_support **out,
                            dn_error *err) {
    const size_t d = kernel->n_features;
    double *row;
    if (!dni_machine_fits(r, n, d) || n > r->left) {
        return dni_machine_corrupt("the support vectors are truncated", err);
    }
    dn_status status = dni_support_new(kernel, n, SIZE_MAX, NULL, out, err);
    if (status != DN_OK) {
        return status;
    }
    row = malloc((d + 1) * sizeof *row);
    if (row == NULL) {
        status = no_memory(n, err);
    }
    for (size_t i = 0; i < n && status == DN_OK; i++) {
        if (!dni_read_f64s(r, row, d) || !row_valid(kernel, row, d)) {
            status = dni_machine_corrupt("a value of a support vector is out of range", err);
        } else {
            dni_support_add(*out, dn_matrix_dense(row, 1, d));
        }
    }
    free(row);
    return status;
}

/* CSR rows as read, before validation. */
struct sparse {
    uint32_t *length; /* [n] */
    uint32_t *cols;   /* [n_entries] */
    double *values;   /* [n_entries] */
    size_t n, n_entries;
};

static dn_status add_sparse(const struct sparse *s, const dn_kernel *kernel, dni_support *support,
                            dn_error *err) {
    size_t at = 0;
    for (size_t i = 0; i < s->n; i++) {
        const size_t row_start[2] = {at, at + s->length[i]};
        if (s->length[i] > s->n_entries - at || !row_valid(kernel, s->values + at, s->length[i])) {
            return dni_machine_corrupt("a value of a support vector is out of range", err);
        }
        for (size_t e = at; e < row_start[1]; e++) {
            if (s->cols[e] >= kernel->n_features || (e > at && s->cols[e] <= s->cols[e - 1])) {
                return dni_machine_corrupt(
                    "the columns of a support vector are not in ascending order", err);
            }
        }
        dni_support_add(support,
                        dn_matrix_csr(row_start, s->cols, s->values, 1, kernel->n_features));
        at = row_start[1];
    }
    return at == s->n_entries
               ? DN_OK
               : dni_machine_corrupt("the number of entries of the support vectors is wrong", err);
}

static dn_status read_csr(dni_reader *r, const dn_kernel *kernel, size_t n, dni_support **out,
                          dn_error *err) {
    struct sparse s = {.n = n};
    dn_status status = DN_OK;
    if (n > r->left / sizeof(uint32_t) ||
        kernel->type == DN_KERNEL_MAHALANOBIS) { /* requires dense rows */
        return dni_machine_corrupt(
            "the support vectors are truncated, or sparse with kernel mahalanobis", err);
    }
    s.length = calloc(n + 1, sizeof *s.length);
    const bool counted = s.length != NULL && dni_read_u32s(r, s.length, n);
    s.n_entries = counted ? dni_read_count(r, sizeof(uint32_t) + sizeof(double)) : 0;
    s.cols = calloc(s.n_entries + 1, sizeof *s.cols);
    s.values = calloc(s.n_entries + 1, sizeof *s.values);
    if (s.length == NULL || s.cols == NULL || s.values == NULL) {
        status = no_memory(n, err);
    } else if (!counted || r->failed || !dni_read_u32s(r, s.cols, s.n_entries) ||
               !dni_read_f64s(r, s.values, s.n_entries)) {
        status = dni_machine_corrupt("the support vectors are truncated", err);
    }
    if (status == DN_OK) {
        status = dni_support_new(kernel, n, s.n_entries, NULL, out, err);
    }
    if (status == DN_OK) {
        status = add_sparse(&s, kernel, *out, err);
    }
    free(s.length);
    free(s.cols);
    free(s.values);
    return status;
}

static dn_status read_padding(dni_reader *r, size_t d, dn_error *err) {
    const unsigned char *zeroes = dni_read_bytes(r, padding(d));
    for (size_t i = 0; zeroes != NULL && i < padding(d); i++) {
        if (zeroes[i] != 0) {
            return dni_machine_corrupt("the bytes after the support vectors are not 0", err);
        }
    }
    return zeroes != NULL ? DN_OK : dni_machine_corrupt("the support vectors are truncated", err);
}

static dn_status read_vectors(dni_reader *r, const dn_kernel *kernel, dni_support **out,
                              dn_error *err) {
    const uint8_t kind = dni_read_u8(r);
    const uint64_t n = dni_read_u64(r);
    if (r->failed || kind > DN_CSR || n > UINT32_MAX) {
        return dni_machine_corrupt("the number of support vectors is out of range", err);
    }
    dn_status status = kind == DN_DENSE ? read_dense(r, kernel, (size_t)n, out, err)
                                        : read_csr(r, kernel, (size_t)n, out, err);
    if (status == DN_OK) {
        status = read_padding(r, kernel->n_features, err);
    }
    if (status != DN_OK) {
        return status;
    }
    assert(*out != NULL);
    return dni_support_end(*out, err);
}

dn_status dni_support_read(dni_reader *r, size_t n_features, dni_support **out, dn_error *err) {
    dn_kernel kernel;
    dni_support *support = NULL;
    double *factor = NULL;
    dn_error error = {0};
    if (!read_kernel(r, n_features, &kernel)) {
        return dni_machine_corrupt("the kernel is invalid", err);
    }
    dn_status status = read_factor(r, &kernel, &factor, &error);
    if (status == DN_OK) {
        status = read_vectors(r, &kernel, &support, &error);
    }
    free(factor);
    if (status == DN_OK) {
        *out = support;
        return DN_OK;
    }
    dni_support_unref(support);
    if (status == DN_ERR_NUMERIC) { /* K(x, x) of a row is not finite */
        return dni_machine_corrupt("K(x, x) of a support vector is not finite", err);
    }
    return dn_error_set(err, status, "%s", error.message);
}
