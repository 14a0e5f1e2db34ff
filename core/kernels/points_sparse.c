/* Sparse rows, with their transpose in blocks of points. The products of a query and the points of
 * a block are accumulated column by column: for each entry of the query, a product is added for
 * every point that has an entry in the same column.
 *
 * The products of a pair are added in ascending order of columns, without zeros. The sum is bit for
 * bit that of dni_pair_measure. Rows are compared pair by pair for metrics that are not functions
 * of products, and if expanded distances are not exact enough because rows are far from the
 * origin. */
#include "kernels/points_kind.h"

#include <math.h>
#include <string.h>

/* Largest ‖x‖², in units of the squared width, for which expanded distances are exact enough. */
#define MAX_EXPANDED_SQUARE 1e6
enum { BLOCK = 4096 }; /* points of a block of the transpose */

struct sparse {
    void *memory;        /* allocated block that holds the rows */
    void *column_memory; /* allocated block that holds the transpose */
    size_t *row_start;   /* [n + 1] */
    uint32_t *cols;      /* [row_start[n]] */
    double *values;
    /* [n_blocks × (d + 1)] column j of block b has the entries start[j] … start[j + 1] − 1, where
     * start = col_start + b (d + 1). NULL: rows are compared pair by pair */
    size_t *col_start;
    uint16_t *members;     /* [row_start[n]] point of each entry, relative to its block */
    double *member_values; /* [row_start[n]] value of each entry of the transpose */
};

/* ---- memory ---- */
struct sparse_shape {
    size_t n, d, n_entries;
};

static size_t n_blocks(size_t n) {
    return (n + BLOCK - 1) / BLOCK;
}

static void rows_layout(dni_layout *layout, const void *shape, void *work) {
    const struct sparse_shape *s = shape;
    struct sparse *storage = work;
    storage->row_start = dni_layout_array(layout, s->n + 1, sizeof *storage->row_start);
    storage->cols = dni_layout_array(layout, s->n_entries, sizeof *storage->cols);
    storage->values = dni_layout_doubles(layout, s->n_entries);
}

static void columns_layout(dni_layout *layout, const void *shape, void *work) {
    const struct sparse_shape *s = shape;
    struct sparse *storage = work;
    storage->col_start =
        dni_layout_array(layout, n_blocks(s->n), (s->d + 1) * sizeof *storage->col_start);
    storage->members = dni_layout_array(layout, s->n_entries, sizeof *storage->members);
    storage->member_values = dni_layout_doubles(layout, s->n_entries);
}

/* Returns true if values of the form can be computed from inner products. */
static bool is_of_products(dni_form form) {
    return form != DNI_FORM_MANHATTAN && form != DNI_FORM_CHEBYSHEV;
}

/* Returns upper bounds. The rows are stored, and their transpose if values can be computed from
 * inner products. The points may be stored as bits instead. */
static dni_points_bytes memory(const dni_rows_shape *shape) {
    const struct sparse_shape sparse = {shape->n, shape->d, shape->n_entries};
    struct sparse storage;
    const double rows = sizeof storage + dni_layout_bytes(rows_layout, &sparse, &storage),
                 columns = is_of_products(shape->form)
                               ? dni_layout_bytes(columns_layout, &sparse, &storage)
                               : 0,
                 counts = sizeof(double) * (double)shape->d, bits = dni_bits_memory(shape);
    return (dni_points_bytes){.kept = fmax(rows + columns, bits),
                              .building = rows + fmax(fmax(columns, counts), bits)};
}

static double work_bound(const dni_rows_shape *shape, size_t n) {
    return fmax(BLOCK, dni_bits_work_bound(shape, n));
}

static void free_sparse(dni_points *p) {
    struct sparse *storage = p->storage;
    if (storage == NULL) {
        return;
    }
    dn_run_free(p->run, storage->memory);
    dn_run_free(p->run, storage->column_memory);
    dn_run_free(p->run, storage);
    p->storage = NULL;
}

static dn_status begin(dni_points *p, size_t n_entries, dn_error *err) {
    const struct sparse_shape shape = {p->n, p->d, n_entries};
    dn_status status =
        dn_run_alloc(p->run, 1, sizeof(struct sparse), "the points of a kernel", &p->storage, err);
    if (status != DN_OK) {
        return status;
    }
    struct sparse *storage = p->storage;
    return dni_layout_take(p->run, rows_layout, &shape, storage, "the points of a kernel",
                           &storage->memory, err);
}

static void add(dni_points *p, size_t first, dn_matrix x) {
    struct sparse *storage = p->storage;
    for (size_t i = 0; i < x.n_rows; i++) {
        const dni_row row = dni_row_of(x, i);
        size_t k = storage->row_start[first + i];
        for (size_t e = 0; e < row.n; e++) {
            if (row.values[e] != 0) {
                storage->cols[k] = row.cols == NULL ? (uint32_t)e : row.cols[e];
                storage->values[k++] = row.values[e];
            }
        }
        storage->row_start[first + i + 1] = k;
    }
}

static dni_row row_at(const dni_points *p, size_t i) {
    const struct sparse *storage = p->storage;
    const size_t k = storage->row_start[i];
    return (dni_row){storage->values + k, storage->cols + k, storage->row_start[i + 1] - k};
}

/* ---- the transpose ---- */
/* Transposes block b by a counting sort. In the last loop start[j] is the index of the next entry
 * of column j; after the loop it is the index at which column j + 1 starts. */
static void sort_block(const dni_points *p, size_t b) {
    struct sparse *storage = p->storage;
    const size_t first = b * BLOCK, last = p->n - first < BLOCK ? p->n : first + BLOCK;
    size_t *start = storage->col_start + b * (p->d + 1), at = storage->row_start[first];
    memset(start, 0, p->d * sizeof *start);
    for (size_t k = storage->row_start[first]; k < storage->row_start[last]; k++) {
        start[storage->cols[k]]++;
    }
    for (size_t j = 0; j < p->d; j++) {
        const size_t count = start[j];
        start[j] = at;
        at += count;
    }
    for (size_t i = first; i < last; i++) {
        for (size_t k = storage->row_start[i]; k < storage->row_start[i + 1]; k++) {
            const size_t to = start[storage->cols[k]]++;
            storage->members[to] = (uint16_t)(i - first);
            storage->member_values[to] = storage->values[k];
        }
    }
    memmove(start + 1, start, p->d * sizeof *start);
    start[0] = storage->row_start[first];
}

static dn_status sort_columns(dni_points *p, dn_error *err) {
    struct sparse *storage = p->storage;
    const struct sparse_shape shape = {p->n, p->d, storage->row_start[p->n]};
    dn_status status =
        dni_layout_take(p->run, columns_layout, &shape, storage,
                        "the points of a kernel by columns", &storage->column_memory, err);
    for (size_t b = 0; status == DN_OK && b < n_blocks(p->n); b++) {
        sort_block(p, b);
        status = dn_run_stop(p->run, err);
    }
    return status;
}

/* ---- rows of 0 and 1 ---- */
/* *binary ← true if all entries are 1. *n_common ← the mean number of common columns of two
 * rows. */
static dn_status count_columns(const dni_points *p, bool *binary, double *n_common, dn_error *err) {
    const struct sparse *storage = p->storage;
    void *memory;
    dn_status status =
        dn_run_alloc(p->run, p->d, sizeof(double), "the points of a kernel", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    double *count = memory;
    *binary = true;
    *n_common = 0;
    for (size_t k = 0; k < storage->row_start[p->n]; k++) {
        *binary = *binary && storage->values[k] == 1;
        count[storage->cols[k]] += 1 / (double)p->n;
    }
    for (size_t j = 0; j < p->d; j++) {
        *n_common += count[j] * count[j];
    }
    dn_run_free(p->run, memory);
    return DN_OK;
}

static dn_status become_bits(dni_points *p, dn_error *err) {
    const struct sparse *storage = p->storage;
    struct dni_bits *bits;
    dn_status status = dni_bits_new(p, &bits, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t i = 0; i < p->n; i++) {
        for (size_t k = storage->row_start[i]; k < storage->row_start[i + 1]; k++) {
            dni_bits_set(bits, i, storage->cols[k]);
        }
    }
    free_sparse(p);
    return dni_bits_become(p, bits, err);
}

static bool by_products(const dni_points *p) {
    return is_of_products(p->form) && (p->form != DNI_FORM_SQUARE || p->expanded);
}

static dn_status end(dni_points *p, dn_error *err) {
    bool binary;
    double n_common, largest = 0,
                     unit = p->kernel.type == DN_KERNEL_RBF ? p->kernel.width * p->kernel.width : 1;
    dn_status status = count_columns(p, &binary, &n_common, err);
    if (status != DN_OK) {
        return status;
    }
    if (binary && dni_bits_are_faster(p, n_common)) {
        return become_bits(p, err);
    }
    p->expanded = p->form == DNI_FORM_SQUARE;
    status = dni_points_reserve(p, err);
    for (size_t i = 0; status == DN_OK && i < p->n; i++) {
        const double square =
            by_products(p) ? dni_pair_measure(DNI_FORM_PRODUCT, row_at(p, i), row_at(p, i)) : 0;
        status = dni_points_check(p, i, square, err);
        largest = square > largest ? square : largest;
    }
    p->expanded = p->expanded && largest / unit <= MAX_EXPANDED_SQUARE;
    return status == DN_OK && by_products(p) ? sort_columns(p, err) : status;
}

/* ---- queries ---- */
static size_t work(const dni_points *p, size_t n) {
    (void)p;
    (void)n;
    return BLOCK;
}

static void add_point(const dni_points *p, const dni_points *from, size_t i, bool single,
                      dni_queries *queries) {
    (void)p;
    (void)single;
    queries->of[queries->n++] = (dni_query){.row = row_at(from, i),
                                            .square = from->square == NULL ? 0 : from->square[i],
                                            .self = from->self == NULL ? 1 : from->self[i]};
}

static void add_row(const dni_points *p, dni_row row, bool single, dni_queries *queries) {
    dni_query *query = &queries->of[queries->n++];
    (void)single;
    *query = (dni_query){.row = row, .square = dni_pair_measure(DNI_FORM_PRODUCT, row, row)};
    query->self =
        p->form == DNI_FORM_PRODUCT ? dni_kernel_of_product(&p->kernel, query->square) : 1;
}

/* measure [BLOCK] ← the inner products of x and the points of block b. */
static void multiply(const dni_points *p, dni_row x, size_t b, double *measure) {
    const struct sparse *storage = p->storage;
    const size_t *start = storage->col_start + b * (p->d + 1);
    memset(measure, 0, BLOCK * sizeof *measure);
    for (size_t e = 0; e < x.n; e++) {
        const double value = x.values[e];
        const size_t j = x.cols == NULL ? e : x.cols[e];
        for (size_t k = start[j]; value != 0 && k < start[j + 1]; k++) {
            measure[storage->members[k]] += value * storage->member_values[k];
        }
    }
}

static void values(const dni_points *p, const dni_queries *queries, size_t first, size_t n,
                   dni_output output) {
    const struct sparse *storage = p->storage;
    double *measure = queries->work;
    for (size_t b = first / BLOCK; b * BLOCK < first + n; b++) {
        const size_t start = b * BLOCK, low = start < first ? first - start : 0,
                     high = first + n - start < BLOCK ? first + n - start : BLOCK;
        for (size_t q = 0; q < queries->n; q++) {
            /* all queries use the block while it is in the cache */
            const dni_query *query = &queries->of[q];
            if (storage->col_start != NULL) {
                multiply(p, query->row, b, measure);
            } else {
                for (size_t k = low; k < high; k++) {
                    measure[k] = dni_pair_measure(p->form, query->row, row_at(p, start + k));
                }
            }
            dni_values_of(p, query, start + low, high - low, measure + low, &output,
                          q * output.stride + start + low - first);
        }
    }
}

static dn_status select_points(dni_points *p, const dni_points *from, const uint32_t *list,
                               dn_error *err) {
    const struct sparse *source = from->storage;
    size_t n_entries = 0;
    for (size_t k = 0; k < p->n; k++) {
        n_entries += row_at(from, list[k]).n;
    }
    dn_status status = begin(p, n_entries, err);
    if (status != DN_OK) {
        return status;
    }
    struct sparse *storage = p->storage;
    for (size_t k = 0; k < p->n; k++) {
        const dni_row x = row_at(from, list[k]);
        const size_t at = storage->row_start[k];
        if (x.n > 0) {
            memcpy(storage->values + at, x.values, x.n * sizeof *x.values);
            memcpy(storage->cols + at, x.cols, x.n * sizeof *x.cols);
        }
        storage->row_start[k + 1] = at + x.n;
    }
    return source->col_start == NULL ? DN_OK : sort_columns(p, err);
}

const dni_points_kind dni_points_kind_sparse = {.memory = memory,
                                                .work_bound = work_bound,
                                                .begin = begin,
                                                .add = add,
                                                .end = end,
                                                .free = free_sparse,
                                                .select = select_points,
                                                .work = work,
                                                .add_point = add_point,
                                                .add_row = add_row,
                                                .values = values,
                                                .block = BLOCK};
