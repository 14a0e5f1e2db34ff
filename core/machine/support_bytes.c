/* Reads and writes support vectors as bytes. The reader checks counts against the bytes left before
 * it allocates. It then checks the rules of kernel.h and machine.h. */
#include "machine/support_bytes.h"
#include "linalg/vector.h"
#include "machine/support.h"

#include <discern/encoder.h>
#include <math.h>
#include <stdlib.h>

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

void dni_support_write(const dn_support *support, dni_writer *writer) {
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
static dn_status corrupt(const char *what, dn_error *err) {
    dn_error_set(err, DN_ERR_CORRUPT, "the model is damaged: %s", what);
    return DN_ERR_CORRUPT;
}

static dn_status no_memory(size_t n, dn_error *err) {
    dn_error_set(err, DN_ERR_MEMORY,
                 "%zu support vectors need memory which the system does not have", n);
    return DN_ERR_MEMORY;
}

/* Returns whether at least a × b doubles are left. */
static bool room_for(const dni_reader *r, size_t a, size_t b) {
    return !r->failed && (b == 0 || a <= r->left / 8 / b);
}

static bool factor_good(const double *factor, size_t d) {
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
    if (!room_for(r, d, d)) {
        return corrupt("the factor of its kernel is cut short", err);
    }
    kernel->factor = *out = malloc((d * d + 1) * sizeof **out);
    if (*out == NULL) {
        return dn_error_set(err, DN_ERR_MEMORY, "no memory for the factor of a kernel");
    }
    return dni_read_f64s(r, *out, d * d) && factor_good(*out, d)
               ? DN_OK
               : corrupt("the factor of its kernel is none", err);
}

/* Checks the values of a row. Edit distance: 0 or code points. Precomputed kernel: a single 1 and
 * otherwise 0. Other kernels: finite numbers. */
static bool row_good(const dn_kernel *kernel, const double *values, size_t n) {
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

static dn_status read_dense(dni_reader *r, const dn_kernel *kernel, size_t n, dn_support **out,
                            dn_error *err) {
    const size_t d = kernel->n_features;
    double *row;
    if (!room_for(r, n, d) || n > r->left) {
        return corrupt("its support vectors are cut short", err);
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
        if (!dni_read_f64s(r, row, d) || !row_good(kernel, row, d)) {
            status = corrupt("a support vector breaks its rule", err);
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

static dn_status add_sparse(const struct sparse *s, const dn_kernel *kernel, dn_support *support,
                            dn_error *err) {
    size_t at = 0;
    for (size_t i = 0; i < s->n; i++) {
        const size_t row_start[2] = {at, at + s->length[i]};
        if (s->length[i] > s->n_entries - at || !row_good(kernel, s->values + at, s->length[i])) {
            return corrupt("a support vector breaks its rule", err);
        }
        for (size_t e = at; e < row_start[1]; e++) {
            if (s->cols[e] >= kernel->n_features || (e > at && s->cols[e] <= s->cols[e - 1])) {
                return corrupt("the columns of a support vector are none", err);
            }
        }
        dni_support_add(support,
                        dn_matrix_csr(row_start, s->cols, s->values, 1, kernel->n_features));
        at = row_start[1];
    }
    return at == s->n_entries ? DN_OK : corrupt("its support vectors do not add up", err);
}

static dn_status read_csr(dni_reader *r, const dn_kernel *kernel, size_t n, dn_support **out,
                          dn_error *err) {
    struct sparse s = {.n = n};
    dn_status status = DN_OK;
    if (n > r->left / sizeof(uint32_t) ||
        kernel->type == DN_KERNEL_MAHALANOBIS) { /* requires dense rows */
        return corrupt("its support vectors are cut short", err);
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
        status = corrupt("its support vectors are cut short", err);
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
            return corrupt("its support vectors are followed by something else", err);
        }
    }
    return zeroes != NULL ? DN_OK : corrupt("its support vectors are cut short", err);
}

static dn_status read_vectors(dni_reader *r, const dn_kernel *kernel, dn_support **out,
                              dn_error *err) {
    const uint8_t kind = dni_read_u8(r);
    const uint64_t n = dni_read_u64(r);
    if (r->failed || kind > DN_CSR || n > UINT32_MAX) {
        return corrupt("it has no support vectors", err);
    }
    dn_status status = kind == DN_DENSE ? read_dense(r, kernel, (size_t)n, out, err)
                                        : read_csr(r, kernel, (size_t)n, out, err);
    if (status == DN_OK) {
        status = read_padding(r, kernel->n_features, err);
    }
    if (status == DN_OK) {
        status = dni_support_end(*out, err);
    }
    return status;
}

dn_status dni_support_read(dni_reader *r, size_t n_features, dn_support **out, dn_error *err) {
    dn_kernel kernel;
    dn_support *support = NULL;
    double *factor = NULL;
    dn_error own = {0};
    if (!read_kernel(r, n_features, &kernel)) {
        return corrupt("its kernel is none", err);
    }
    dn_status status = read_factor(r, &kernel, &factor, &own);
    if (status == DN_OK) {
        status = read_vectors(r, &kernel, &support, &own);
    }
    free(factor);
    if (status == DN_OK) {
        *out = support;
        return DN_OK;
    }
    dni_support_unref(support);
    if (status == DN_ERR_NUMERIC) { /* K(x, x) of a row is not finite */
        return corrupt("a support vector is not finite in the kernel's space", err);
    }
    return dn_error_set(err, status, "%s", own.message);
}
