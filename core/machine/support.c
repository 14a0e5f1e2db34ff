/* Support vectors that the machines of a model share. */
#include "machine/support.h"
#include "kernels/points.h"
#include "linalg/vector.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A support with the arrays that its matrix and kernel refer to. */
struct holder {
    dn_support shown; /* must be the first member (holder_of) */
    double *values, *factor;
    size_t *row_start;
    uint32_t *cols;
    size_t room, entry_room; /* capacity in rows and in entries */
    dn_run run;              /* its allocator is charged; NULL allocator: no charges */
    size_t held;             /* bytes charged */
};

static struct holder *holder_of(dn_support *support) {
    return (struct holder *)support;
}

static dn_status no_memory(size_t n, dn_error *err) {
    return dn_error_set(err, DN_ERR_MEMORY,
                        "%zu support vectors need memory which the system does not have", n);
}

static dn_status hold(struct holder *h, double bytes, dn_error *err) {
    const size_t size = bytes < (double)(SIZE_MAX / 2) ? (size_t)bytes : SIZE_MAX / 2;
    dn_status status = dn_run_charge(&h->run, size, "the support vectors", err);
    h->held += status == DN_OK ? size : 0;
    return status;
}

/* Allocates a × b + 1 zeroed elements of `size` bytes. Returns NULL on overflow. */
static void *zeroes(size_t a, size_t b, size_t size) {
    return b != 0 && a > SIZE_MAX / 32 / b ? NULL : calloc(a * b + 1, size);
}

/* ---- a support ---- */
static bool make_arrays(struct holder *h, const dn_kernel *kernel, bool dense) {
    const size_t d = kernel->n_features;
    h->values =
        dense ? zeroes(h->room, d, sizeof *h->values) : zeroes(h->entry_room, 1, sizeof *h->values);
    h->row_start = dense ? NULL : zeroes(h->room, 1, sizeof *h->row_start);
    h->cols = dense ? NULL : zeroes(h->entry_room, 1, sizeof *h->cols);
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
                          dn_support **out, dn_error *err) {
    const bool dense = n_entries == SIZE_MAX ||
                       kernel->type == DN_KERNEL_MAHALANOBIS; /* multiplies rows by a matrix */
    struct holder *h = calloc(1, sizeof *h);
    if (h == NULL) {
        return no_memory(n, err);
    }
    h->run.allocator = run == NULL ? NULL : run->allocator;
    h->room = n;
    h->entry_room = dense ? 0 : n_entries;
    dn_status status =
        hold(h, dni_support_foretold(kernel, n, dense ? (double)INFINITY : (double)n_entries), err);
    if (status == DN_OK && !make_arrays(h, kernel, dense)) {
        status = no_memory(n, err);
    }
    if (status != DN_OK) {
        dni_support_unref(&h->shown);
        return status;
    }
    h->shown.references = 1;
    h->shown.kernel = *kernel;
    h->shown.kernel.factor = h->factor;
    h->shown.x = dense ? dn_matrix_dense(h->values, 0, kernel->n_features)
                       : dn_matrix_csr(h->row_start, h->cols, h->values, 0, kernel->n_features);
    *out = &h->shown;
    return DN_OK;
}

/* Appends sparse rows to the `first` rows that the support has. */
static void add_entries(const struct holder *h, dn_matrix x, size_t first) {
    const size_t from = x.n_rows == 0 ? 0 : x.row_start[0],
                 n = x.n_rows == 0 ? 0 : x.row_start[x.n_rows] - from;
    const size_t at = h->row_start[first];
    assert(n <= h->entry_room - at);
    if (n > 0) {
        memcpy(h->values + at, x.values + from, n * sizeof *h->values);
        memcpy(h->cols + at, x.cols + from, n * sizeof *h->cols);
    }
    for (size_t i = 1; i <= x.n_rows; i++) {
        h->row_start[first + i] = at + (x.row_start[i] - from);
    }
}

void dni_support_add(dn_support *support, dn_matrix x) {
    struct holder *h = holder_of(support);
    const size_t d = support->x.n_cols, first = support->x.n_rows;
    assert(x.n_cols == d && x.n_rows <= h->room - first &&
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
    return x.kind == DN_DENSE ? SIZE_MAX : x.row_start[x.n_rows];
}

dn_status dni_support_end(dn_support *support, dn_error *err) {
    dni_points *points = NULL;
    if (support->x.n_rows == 0) {
        return DN_OK;
    }
    dn_status status = dni_points_new(&support->kernel, support->x.n_rows, n_entries_of(support->x),
                                      NULL, &points, err);
    if (status == DN_OK) {
        dni_points_add(points, support->x);
        status = dni_points_end(points, err);
    }
    if (status == DN_OK) {
        support->points = points;
    } else {
        dni_points_free(points);
    }
    return status;
}

dn_support *dni_support_ref(dn_support *support) {
    support->references++;
    return support;
}

void dni_support_unref(dn_support *support) {
    if (support == NULL || (support->references > 0 && --support->references > 0)) {
        return;
    }
    struct holder *h = holder_of(support);
    dni_support_settle(support);
    dni_points_free(support->points);
    free(h->values);
    free(h->factor);
    free(h->row_start);
    free(h->cols);
    free(h);
}

void dni_support_settle(dn_support *support) {
    struct holder *h = holder_of(support);
    dn_run_discharge(&h->run, h->held);
    h->held = 0;
    h->run.allocator = NULL;
}

/* Bytes of the holder and its arrays. */
static double arrays_memory(const dn_kernel *kernel, size_t n, double n_entries) {
    const double rows = (double)n, d = (double)kernel->n_features,
                 factor = kernel->type == DN_KERNEL_MAHALANOBIS ? d * d : 0;
    const double values = isinf(n_entries) ? sizeof(double) * (rows * d + 1)
                                           : (sizeof(double) + sizeof(uint32_t)) * (n_entries + 1) +
                                                 sizeof(size_t) * (rows + 1);
    return sizeof(struct holder) + values + sizeof(double) * (factor + 1);
}

double dni_support_foretold(const dn_kernel *kernel, size_t n, double n_entries) {
    const double entries = kernel->type == DN_KERNEL_MAHALANOBIS ? (double)INFINITY : n_entries;
    return arrays_memory(kernel, n, entries) +
           dni_points_memory(kernel, n, kernel->n_features, entries);
}

double dni_support_memory(const dn_support *support) {
    const dn_matrix x = support->x;
    return dni_support_foretold(&support->kernel, x.n_rows,
                                x.kind == DN_DENSE ? (double)INFINITY : (double)n_entries_of(x));
}

dn_status dni_support_charge(dn_support *support, double bytes, dn_error *err) {
    return hold(holder_of(support), bytes, err);
}
