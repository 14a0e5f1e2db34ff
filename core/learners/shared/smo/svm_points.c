/* Different rows, class after class. */
#include "learners/shared/smo/svm_points.h"
#include "base/tasks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POLL_ROWS = 4096 };

/* ---- rows and their numbers ---- */
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

/* −0 and 0 are the same number. */
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
/* What is known while rows are gone through. */
struct gathering {
    dni_svm_points *p;
    uint32_t *table; /* [size] hash table: different row + 1; NULL: none is merged */
    size_t size;     /* a power of two */
    double *weight, *count;
    uint32_t *row; /* [n] in the order of the rows */
};

/* The different row that is like `row`; `n` itself when it is new. */
static size_t find_or_add(struct gathering *g, size_t row, size_t n) {
    if (g->table == NULL) {
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

static dn_status find_different(struct gathering *g, size_t n_rows, size_t *out_n, dn_error *err) {
    size_t n = 0;
    for (size_t row = 0; row < n_rows; row++) {
        dn_status status = row % POLL_ROWS == 0 ? dn_run_stop(g->p->run, err) : DN_OK;
        if (status != DN_OK) {
            return status;
        }
        const double weight = weight_of(g->p, row);
        if (!(weight > 0)) {
            continue;
        }
        const size_t i = find_or_add(g, row, n);
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

/* By class, otherwise in their order. */
static void sort_by_class(const struct gathering *g, size_t n) {
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
    }
    for (size_t k = p->n_classes; k > 0; k--) {
        p->start[k] = p->start[k - 1];
    }
    p->start[0] = 0;
    p->n = n;
}

static dn_status look_at_blocks(const dn_fit_input *input, dni_svm_points *p, dn_error *err) {
    void *memory;
    dn_status status = dn_run_alloc(p->run, input->rows->n_blocks + 1, sizeof *p->blocks,
                                    "the blocks of the rows", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    p->blocks = memory;
    for (size_t b = 0; b < input->rows->n_blocks && status == DN_OK; b++) {
        status = dn_rows_block(input->rows, b, 0, &p->blocks[b], err);
    }
    p->sparse = input->rows->n_blocks > 0 && p->blocks[0].x.kind == DN_CSR;
    return status;
}

static dn_status get_lists(dni_svm_points *p, size_t n_rows, dn_error *err) {
    void *start, *numbers, *rows;
    dn_status status = dn_run_alloc(p->run, p->n_classes + 1, sizeof *p->start,
                                    "the classes of the points", &start, err);
    if (status != DN_OK) {
        return status;
    }
    p->start = start;
    status = dn_run_alloc(p->run, 2 * n_rows + 1, sizeof(double), "the weights of the points",
                          &numbers, err);
    if (status != DN_OK) {
        return status;
    }
    p->weight = numbers;
    p->count = p->weight + n_rows;
    status = dn_run_alloc(p->run, n_rows + 1, sizeof *p->row, "the rows of the points", &rows, err);
    if (status == DN_OK) {
        p->row = rows;
    }
    return status;
}

static dn_status gather(const dn_fit_input *input, bool merge, dni_svm_points *p, dn_error *err) {
    struct gathering g = {.p = p, .size = 16};
    const size_t n_rows = input->rows->n_rows;
    void *numbers = NULL, *rows = NULL, *table = NULL;
    size_t n = 0;
    while (g.size < 2 * n_rows) {
        g.size *= 2;
    }
    dn_status status = dn_run_alloc(p->run, 2 * n_rows + 1, sizeof(double),
                                    "the weights of different rows", &numbers, err);
    if (status == DN_OK) {
        status =
            dn_run_alloc(p->run, n_rows + 1, sizeof(uint32_t), "the different rows", &rows, err);
    }
    if (status == DN_OK && merge) {
        status = dn_run_alloc(p->run, g.size, sizeof(uint32_t), "the table of different rows",
                              &table, err);
    }
    g.weight = numbers;
    g.count = status == DN_OK ? g.weight + n_rows : NULL;
    g.row = rows;
    g.table = table;
    if (status == DN_OK) {
        status = find_different(&g, n_rows, &n, err);
    }
    if (status == DN_OK) {
        sort_by_class(&g, n);
    }
    dn_run_free(p->run, numbers);
    dn_run_free(p->run, rows);
    dn_run_free(p->run, table);
    return status;
}

dn_status dni_svm_points_gather(const dn_fit_input *input, bool merge, const dn_run *run,
                                dni_svm_points *out, dn_error *err) {
    const size_t n_rows = input->rows->n_rows;
    dni_svm_points p = {.run = run};
    if (n_rows >= UINT32_MAX / 2) {
        return dn_error_set(err, DN_ERR_DATA, "a kernel takes at most %u rows (there are %zu)",
                            UINT32_MAX / 2, n_rows);
    }
    dn_status status = look_at_blocks(input, &p, err);
    p.n_classes =
        n_rows > 0 && status == DN_OK && p.blocks[0].target != NULL ? input->n_classes : 1;
    if (status == DN_OK) {
        status = get_lists(&p, n_rows, err);
    }
    if (status == DN_OK) {
        status = gather(input, merge, &p, err);
    }
    if (status == DN_OK) {
        *out = p;
    } else {
        dni_svm_points_done(&p);
    }
    return status;
}

void dni_svm_points_done(dni_svm_points *p) {
    dni_points_free(p->points);
    dn_run_free(p->run, p->start);
    dn_run_free(p->run, p->weight);
    dn_run_free(p->run, p->row);
    dn_run_free(p->run, p->blocks);
    dn_run_free(p->run, p->given);
    dn_run_free(p->run, p->place);
    *p = (dni_svm_points){0};
}

/* Row r of those that take part, as a row of the table. */
static size_t origin_of(const dn_fit_input *input, size_t r) {
    if (input->role == NULL) {
        return r;
    }
    for (size_t i = 0; i < input->n_source_rows; i++) {
        if (input->role[i] == DN_ROW_TRAIN && r-- == 0) {
            return i;
        }
    }
    return r;
}

/* An error that names a point names the row instead. */
static dn_status blame_row(const dni_svm_points *p, const dn_fit_input *input, dn_status status,
                           dn_error *err) {
    if (status != DN_ERR_NUMERIC || err == NULL || err->row < 0) {
        return status;
    }
    const dn_error own = *err;
    const size_t row = origin_of(input, p->row[own.row]);
    dn_error_clear(err);
    dn_error_set(err, status, "row %zu: %s", row, own.message);
    dn_error_set_row(err, (int64_t)row);
    return status;
}

dn_status dni_svm_points_prepare(dni_svm_points *p, const dn_kernel *kernel,
                                 const dn_fit_input *input, dn_error *err) {
    dn_status status =
        dni_points_new(kernel, p->n, p->sparse ? p->n_entries : SIZE_MAX, p->run, &p->points, err);
    for (size_t i = 0; i < p->n && status == DN_OK; i++) {
        if (i % POLL_ROWS == 0) {
            status = dn_run_stop(p->run, err);
        }
        dni_points_add(p->points, dni_svm_point(p, i));
    }
    if (status == DN_OK) {
        status = dni_points_end(p->points, err);
    }
    return blame_row(p, input, status, err);
}

/* ---- a kernel that is given ---- */
/* Row r of those that take part is row origin[r] of the table. */
static dn_status find_places(dni_svm_points *p, const dn_fit_input *input, dn_error *err) {
    const size_t n_rows = input->rows->n_rows,
                 n_source = input->role == NULL ? n_rows : input->n_source_rows,
                 d = input->rows->n_cols;
    void *memory, *origins;
    if (n_source != d) {
        return dn_error_set(err, DN_ERR_DATA,
                            "kernel precomputed needs the matrix of the kernel between all rows, a "
                            "column for each: there are %zu rows and %zu "
                            "columns",
                            n_source, d);
    }
    dn_status status =
        dn_run_alloc(p->run, p->n + 1, sizeof *p->place, "the columns of the rows", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    p->place = memory;
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
        p->place[i] = origin[p->row[i]];
    }
    dn_run_free(p->run, origins);
    return DN_OK;
}

/* Entry `column` of a row. */
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

/* The error of a value K(x_i, x_j) that breaks a rule. */
static dn_status blame_value(const dni_svm_points *p, const dn_fit_input *input, size_t i, size_t j,
                             dn_status status, dn_error *err) {
    char column[DN_FIELD_SIZE];
    name_column(input, p->place[j], column);
    if (input->encoder != NULL) {
        dn_error_set_field(err, column);
    }
    dn_error_set_row(err, (int64_t)p->place[i]);
    return status;
}

/* Sums of a few million values are to be numbers too. */
static dn_status check_range(const dni_svm_points *p, const dn_fit_input *input, dn_error *err) {
    char column[DN_FIELD_SIZE];
    for (size_t i = 0; i < p->n; i++) {
        dn_status status = dn_run_stop(p->run, err);
        if (status != DN_OK) {
            return status;
        }
        for (size_t j = 0; j < p->n; j++) {
            const double value = p->given[i * p->n + j];
            if (fabs(value) <= DNI_GREATEST_SELF) {
                continue;
            }
            name_column(input, p->place[j], column);
            status = dn_error_set(err, DN_ERR_DATA,
                                  "kernel precomputed needs values from -1e37 to 1e37: row %zu has "
                                  "%.10g in column \"%.64s\"; divide all of them by a number",
                                  (size_t)p->place[i], value, column);
            return blame_value(p, input, i, j, status, err);
        }
    }
    return DN_OK;
}

static dn_status check_symmetric(const dni_svm_points *p, const dn_fit_input *input,
                                 dn_error *err) {
    char own[DN_FIELD_SIZE], other[DN_FIELD_SIZE];
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
            name_column(input, p->place[j], own);
            name_column(input, p->place[i], other);
            status = dn_error_set(err, DN_ERR_DATA,
                                  "kernel precomputed needs a symmetric matrix: row %zu has %.10g "
                                  "in column \"%.64s\", row %zu has %.10g in column \"%.64s\"",
                                  (size_t)p->place[i], a, own, (size_t)p->place[j], b, other);
            return blame_value(p, input, i, j, status, err);
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
        p->given[i * p->n + j] = value_at(row, p->place[j]);
    }
    return DN_OK;
}

dn_status dni_svm_points_given(dni_svm_points *p, const dn_fit_input *input, dn_error *err) {
    void *memory;
    dn_status status = find_places(p, input, err);
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
