/* Finds the distinct rows with a hash table, sorts them by class, and creates the points. */
#include "learners/shared/smo/svm_points.h"
#include "base/argument.h"
#include "base/layout.h"
#include "base/tasks.h"
#include "learners/shared/learner.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POLL_ROWS = 4096 };

/* ---- rows ---- */
static dn_matrix row_of(const dni_svm_points *p, size_t row) {
    return dn_matrix_rows(p->blocks[row / DN_BLOCK_ROWS].x, row % DN_BLOCK_ROWS, 1);
}

static double weight_of(const dni_svm_points *p, size_t row) {
    const double *weight = p->blocks[row / DN_BLOCK_ROWS].weight;
    return weight == NULL ? 1 : weight[row % DN_BLOCK_ROWS];
}

static size_t class_of(const dni_svm_points *p, size_t row) {
    const double *target = p->blocks[row / DN_BLOCK_ROWS].target;
    return target == NULL ? 0 : (size_t)target[row % DN_BLOCK_ROWS];
}

dn_matrix dni_svm_point(const dni_svm_points *p, size_t i) {
    return row_of(p, p->row[i]);
}

static size_t entries_of(dn_matrix row) {
    return row.kind == DN_CSR ? row.row_start[1] - row.row_start[0] : row.n_cols;
}

static const double *values_of(dn_matrix row) {
    return row.kind == DN_CSR ? row.values + row.row_start[0] : row.values;
}

/* Returns the bits of a number; for −0 the bits of 0, because −0 equals 0. */
static uint64_t bits_of(double value) {
    uint64_t bits;
    value += 0.0;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t mix(uint64_t hash, uint64_t bits) {
    hash = (hash ^ bits) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static uint64_t hash_row(const dni_svm_points *p, size_t row) {
    const dn_matrix x = row_of(p, row);
    const double *values = values_of(x);
    const size_t n = entries_of(x);
    uint64_t hash = mix(UINT64_C(0x51ed270b7a2e1c35), class_of(p, row));
    for (size_t e = 0; e < n; e++) {
        if (x.kind == DN_CSR) {
            hash = mix(hash, x.cols[x.row_start[0] + e]);
        }
        hash = mix(hash, bits_of(values[e]));
    }
    return hash;
}

static bool same_row(const dni_svm_points *p, size_t i, size_t j) {
    const dn_matrix a = row_of(p, i), b = row_of(p, j);
    const size_t n = entries_of(a);
    if (class_of(p, i) != class_of(p, j) || entries_of(b) != n) {
        return false;
    }
    if (a.kind == DN_CSR && n > 0 &&
        memcmp(a.cols + a.row_start[0], b.cols + b.row_start[0], n * sizeof *a.cols) != 0) {
        return false;
    }
    const double *x = values_of(a), *z = values_of(b);
    for (size_t e = 0; e < n; e++) {
        if (!(x[e] == z[e])) {
            return false;
        }
    }
    return true;
}

/* ---- gathering ---- */
/* Working memory of dni_svm_points_gather. */
struct gathering {
    dni_svm_points *p;
    double *weight, *count; /* [n_rows] Σv and number of rows, for each distinct row */
    uint32_t *row;          /* [n_rows] index of the first equal row, for each distinct row */
    uint32_t *table;        /* [size] hash table: 1 + number of a distinct row, or 0 if empty */
    size_t size;            /* a power of two */
    bool merge;
};

static size_t table_size(size_t n_rows) {
    size_t size = 16;
    while (size < 2 * n_rows) {
        size *= 2;
    }
    return size;
}

static void gathering_layout(dni_layout *layout, const void *shape, void *work) {
    const size_t n_rows = *(const size_t *)shape;
    struct gathering *g = work;
    g->weight = dni_layout_doubles(layout, n_rows);
    g->count = dni_layout_doubles(layout, n_rows);
    g->row = dni_layout_array(layout, n_rows, sizeof *g->row);
    g->table = dni_layout_array(layout, table_size(n_rows), sizeof *g->table);
}

double dni_svm_points_gather_memory(size_t n_rows) {
    struct gathering scratch;
    return dni_layout_bytes(gathering_layout, &n_rows, &scratch);
}

struct points_shape {
    size_t n_rows, n_blocks, n_classes;
};

static void points_layout(dni_layout *layout, const void *shape, void *work) {
    const struct points_shape *s = shape;
    dni_svm_points *p = work;
    p->weight = dni_layout_doubles(layout, s->n_rows);
    p->count = dni_layout_doubles(layout, s->n_rows);
    p->row = dni_layout_array(layout, s->n_rows, sizeof *p->row);
    p->point = dni_layout_array(layout, s->n_rows, sizeof *p->point);
    p->start = dni_layout_array(layout, s->n_classes + 1, sizeof *p->start);
    p->blocks = dni_layout_array(layout, s->n_blocks, sizeof *p->blocks);
}

double dni_svm_points_memory(size_t n_rows, size_t n_classes) {
    const struct points_shape shape = {n_rows, n_rows / DN_BLOCK_ROWS + 1, n_classes};
    dni_svm_points scratch;
    return dni_layout_bytes(points_layout, &shape, &scratch);
}

/* Returns the number of the distinct row that is equal to `row`. If there is none, adds `row` as
 * distinct row n and returns n. */
static size_t find_or_add(struct gathering *g, size_t row, size_t n) {
    if (!g->merge) {
        return n;
    }
    size_t at = hash_row(g->p, row) & (g->size - 1);
    while (g->table[at] != 0 && !same_row(g->p, g->row[g->table[at] - 1], row)) {
        at = (at + 1) & (g->size - 1);
    }
    if (g->table[at] != 0) {
        return g->table[at] - 1;
    }
    g->table[at] = (uint32_t)n + 1;
    return n;
}

static dn_status find_distinct(struct gathering *g, size_t n_rows, size_t *out_n, dn_error *err) {
    size_t n = 0;
    for (size_t row = 0; row < n_rows; row++) {
        dn_status status = row % POLL_ROWS == 0 ? dn_run_stop(g->p->run, err) : DN_OK;
        if (status != DN_OK) {
            return status;
        }
        const double weight = weight_of(g->p, row);
        g->p->point[row] = UINT32_MAX;
        if (!(weight > 0)) {
            continue;
        }
        const size_t i = find_or_add(g, row, n);
        g->p->point[row] = (uint32_t)i;
        if (i == n) {
            g->row[n] = (uint32_t)row;
            g->weight[n] = g->count[n] = 0;
            n++;
        }
        g->weight[i] += weight;
        g->count[i]++;
    }
    *out_n = n;
    return DN_OK;
}

/* Sorts the distinct rows by class, and within a class by row index. */
static void sort_by_class(const struct gathering *g, size_t n_rows, size_t n) {
    dni_svm_points *p = g->p;
    for (size_t i = 0; i < n; i++) {
        p->start[class_of(p, g->row[i]) + 1]++;
    }
    for (size_t k = 0; k < p->n_classes; k++) {
        p->start[k + 1] += p->start[k];
    }
    for (size_t i = 0; i < n; i++) {
        const size_t to = p->start[class_of(p, g->row[i])]++;
        p->row[to] = g->row[i];
        p->weight[to] = g->weight[i];
        p->count[to] = g->count[i];
        p->n_entries += p->sparse ? entries_of(row_of(p, g->row[i])) : 0;
        g->row[i] = (uint32_t)to;
    }
    for (size_t r = 0; r < n_rows; r++) {
        p->point[r] = p->point[r] == UINT32_MAX ? UINT32_MAX : g->row[p->point[r]];
    }
    for (size_t k = p->n_classes; k > 0; k--) {
        p->start[k] = p->start[k - 1];
    }
    p->start[0] = 0;
    p->n = n;
}

static dn_status read_blocks(const dn_fit_input *input, dni_svm_points *p, dn_error *err) {
    for (size_t b = 0; b < input->rows->n_blocks; b++) {
        dn_status status = dn_rows_block(input->rows, b, 0, &p->blocks[b], err);
        if (status != DN_OK) {
            return status;
        }
    }
    p->sparse = input->rows->n_blocks > 0 && p->blocks[0].x.kind == DN_CSR;
    p->n_classes = input->rows->n_rows > 0 && p->blocks[0].target != NULL ? input->n_classes : 1;
    return DN_OK;
}

static dn_status gather(dni_svm_points *p, size_t n_rows, bool merge, dn_error *err) {
    struct gathering g = {.p = p, .size = table_size(n_rows), .merge = merge};
    void *memory;
    size_t n = 0;
    dn_status status =
        dni_layout_take(p->run, gathering_layout, &n_rows, &g, "the distinct rows", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    status = find_distinct(&g, n_rows, &n, err);
    if (status == DN_OK) {
        sort_by_class(&g, n_rows, n);
    }
    dn_run_free(p->run, memory);
    return status;
}

dn_status dni_svm_points_gather(const dn_fit_input *input, bool merge, const dn_run *run,
                                dni_svm_points *out, dn_error *err) {
    const size_t n_rows = input->rows->n_rows;
    const struct points_shape shape = {n_rows, input->rows->n_blocks,
                                       input->n_classes > 0 ? input->n_classes : 1};
    dni_svm_points p = {.run = run};
    if (n_rows > UINT32_MAX / 2) {
        return dn_error_set(err, DN_ERR_DATA,
                            "a method with a kernel accepts at most %u rows (got %zu)",
                            UINT32_MAX / 2, n_rows);
    }
    dn_status status = dni_layout_take(run, points_layout, &shape, &p,
                                       "the points of the training rows", &p.memory, err);
    if (status != DN_OK) {
        return status;
    }
    status = read_blocks(input, &p, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    status = gather(&p, n_rows, merge, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    *out = p;
    return DN_OK;
cleanup:
    dni_svm_points_done(&p);
    return status;
}

void dni_svm_points_drop_values(dni_svm_points *p) {
    dni_points_free(p->points);
    dn_run_free(p->run, p->given);
    p->points = NULL;
    p->given = NULL;
}

void dni_svm_points_done(dni_svm_points *p) {
    dni_svm_points_drop_values(p);
    dn_run_free(p->run, p->memory);
    dn_run_free(p->run, p->column);
    *p = (dni_svm_points){0};
}

/* If the row of *err is the index of a point, replaces it by the point's row of the table, also in
 * the message. Returns `status`. */
static dn_status name_row(const dni_svm_points *p, const dn_fit_input *input, dn_status status,
                          dn_error *err) {
    if (status != DN_ERR_NUMERIC || err == NULL || err->row < 0) {
        return status;
    }
    const dn_error point_error = *err;
    const size_t row = dni_table_row(input, p->row[point_error.row]);
    dn_error_clear(err);
    return dni_error_at(dn_error_set(err, status, "row %zu: %s", row, point_error.message), NULL,
                        (int64_t)row, err);
}

dn_status dni_svm_points_prepare(dni_svm_points *p, const dn_kernel *kernel,
                                 const dn_fit_input *input, dn_error *err) {
    dn_status status =
        dni_points_new(kernel, p->n, p->sparse ? p->n_entries : SIZE_MAX, p->run, &p->points, err);
    if (status != DN_OK) {
        return name_row(p, input, status, err);
    }
    for (size_t i = 0; i < p->n; i++) {
        if (i % POLL_ROWS == 0) {
            status = dn_run_stop(p->run, err);
            if (status != DN_OK) {
                return status;
            }
        }
        dni_points_add(p->points, dni_svm_point(p, i));
    }
    status = dni_points_end(p->points, err);
    return name_row(p, input, status, err);
}

/* ---- precomputed kernels ---- */
/* Sets column[i] to the row of the table that is point i. The kernel values of this row are in the
 * column with the same index. */
static dn_status find_columns(dni_svm_points *p, const dn_fit_input *input, dn_error *err) {
    const size_t n_rows = input->rows->n_rows,
                 n_source = input->role == NULL ? n_rows : input->n_source_rows,
                 d = input->rows->n_cols;
    void *memory, *origins;
    if (n_source != d) {
        return dn_error_set(err, DN_ERR_DATA,
                            "kernel precomputed needs a column for each row of the table (got %zu "
                            "rows and %zu columns)",
                            n_source, d);
    }
    dn_status status =
        dn_run_alloc(p->run, p->n + 1, sizeof *p->column, "the columns of the rows", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    p->column = memory;
    status =
        dn_run_alloc(p->run, n_rows + 1, sizeof(uint32_t), "the rows of the table", &origins, err);
    if (status != DN_OK) {
        return status;
    }
    uint32_t *origin = origins;
    for (size_t i = 0, row = 0; i < n_source && row < n_rows; i++) {
        if (input->role == NULL || input->role[i] == DN_ROW_TRAIN) {
            origin[row++] = (uint32_t)i;
        }
    }
    for (size_t i = 0; i < p->n; i++) {
        p->column[i] = origin[p->row[i]];
    }
    dn_run_free(p->run, origins);
    return DN_OK;
}

/* Returns the value of a row in column `column`. */
static double value_at(dn_matrix row, size_t column) {
    if (row.kind == DN_DENSE) {
        return row.values[column];
    }
    for (size_t e = row.row_start[0]; e < row.row_start[1]; e++) {
        if (row.cols[e] == column) {
            return row.values[e];
        }
    }
    return 0;
}

static void name_column(const dn_fit_input *input, size_t j, char name[DN_FIELD_SIZE]) {
    if (input->encoder != NULL) {
        dn_encoder_feature_name(input->encoder, j, name, DN_FIELD_SIZE);
    } else {
        (void)snprintf(name, DN_FIELD_SIZE, "%zu", j);
    }
}

/* Adds the field (column name) and the row of K(x_i, x_j) to an error. Returns `status`. */
static dn_status name_value(const dni_svm_points *p, const dn_fit_input *input, size_t i, size_t j,
                            dn_status status, dn_error *err) {
    char column[DN_FIELD_SIZE];
    name_column(input, p->column[j], column);
    if (input->encoder != NULL) {
        dn_error_set_field(err, column);
    }
    dn_error_set_row(err, (int64_t)p->column[i]);
    return status;
}

/* Fails if a value is so large that a sum of a few million such values could overflow. */
static dn_status check_range(const dni_svm_points *p, const dn_fit_input *input, dn_error *err) {
    char column[DN_FIELD_SIZE];
    for (size_t i = 0; i < p->n; i++) {
        dn_status status = dn_run_stop(p->run, err);
        if (status != DN_OK) {
            return status;
        }
        for (size_t j = 0; j < p->n; j++) {
            const double value = p->given[i * p->n + j];
            if (fabs(value) <= DNI_MAX_SELF) {
                continue;
            }
            name_column(input, p->column[j], column);
            status = dn_error_set(err, DN_ERR_DATA,
                                  "kernel precomputed needs values from -1e37 to 1e37: row %zu has "
                                  "%.10g in column \"%.64s\"; divide all values by the same number",
                                  (size_t)p->column[i], value, column);
            return name_value(p, input, i, j, status, err);
        }
    }
    return DN_OK;
}

static dn_status check_symmetric(const dni_svm_points *p, const dn_fit_input *input,
                                 dn_error *err) {
    char column[DN_FIELD_SIZE], row_column[DN_FIELD_SIZE];
    for (size_t i = 0; i < p->n; i++) {
        dn_status status = dn_run_stop(p->run, err);
        if (status != DN_OK) {
            return status;
        }
        for (size_t j = 0; j < i; j++) {
            const double a = p->given[i * p->n + j], b = p->given[j * p->n + i];
            const double size = fmax(fmax(fabs(a), fabs(b)),
                                     sqrt(fabs(p->given[i * p->n + i] * p->given[j * p->n + j])));
            if (fabs(a - b) <= 1e-8 * size) {
                continue;
            }
            name_column(input, p->column[j], column);
            name_column(input, p->column[i], row_column);
            status =
                dn_error_set(err, DN_ERR_DATA,
                             "kernel precomputed needs a symmetric matrix: row %zu has %.10g "
                             "in column \"%.64s\", row %zu has %.10g in column \"%.64s\"",
                             (size_t)p->column[i], a, column, (size_t)p->column[j], b, row_column);
            return name_value(p, input, i, j, status, err);
        }
    }
    return DN_OK;
}

static dn_status take_row(void *arg, size_t i, size_t slot, dn_error *err) {
    dni_svm_points *p = arg;
    (void)slot;
    (void)err;
    const dn_matrix row = dni_svm_point(p, i);
    for (size_t j = 0; j < p->n; j++) {
        p->given[i * p->n + j] = value_at(row, p->column[j]);
    }
    return DN_OK;
}

dn_status dni_svm_points_given(dni_svm_points *p, const dn_fit_input *input, dn_error *err) {
    void *memory;
    dn_status status = find_columns(p, input, err);
    if (status != DN_OK) {
        return status;
    }
    status = dn_run_alloc(p->run, p->n * p->n + 1, sizeof(double), "the matrix of the kernel",
                          &memory, err);
    if (status != DN_OK) {
        return status;
    }
    p->given = memory;
    status = dni_tasks_run(p->run, p->n, take_row, p, err);
    if (status == DN_OK) {
        status = check_range(p, input, err);
    }
    return status == DN_OK ? check_symmetric(p, input, err) : status;
}
