/* Points, pair by pair. */
#include "kernels/points.h"
#include "data/tasks.h"
#include "kernels/kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct dni_points {
    const dn_run *run;
    dn_kernel kernel;
    dni_form form;
    bool dense;         /* rows are written out; otherwise CSR */
    size_t n, added, d; /* rows there is room for, rows there are, columns */
    size_t entries;     /* room */
    double *values;     /* [n × d], or [entries] */
    uint32_t *cols;     /* [entries] */
    size_t *row_start;  /* [n + 1] */
    double *self;       /* [n] K(x, x) before normalize */
    uint32_t *places;   /* [n] precomputed rows of the matrix; NULL: none */
};

/* One row of either kind. */
struct row {
    const double *values;
    const uint32_t *cols; /* NULL: all of them */
    size_t n;
};

dn_status dni_points_new(const dn_kernel *kernel, size_t n_rows, size_t n_entries, const dn_run *run, dni_points **out, dn_error *err) {
    void *memory = NULL, *values = NULL, *cols = NULL, *start = NULL, *self = NULL;
    bool dense = n_entries == SIZE_MAX || kernel->type == DN_KERNEL_MAHALANOBIS;
    size_t count = dense ? n_rows * kernel->n_features : n_entries;
    dn_status status = dn_run_alloc(run, 1, sizeof(dni_points), "the points", &memory, err);
    if (status == DN_OK)
        status = dn_run_alloc(run, count, sizeof(double), "the points", &values, err);
    if (status == DN_OK && !dense)
        status = dn_run_alloc(run, count, sizeof(uint32_t), "the points", &cols, err);
    if (status == DN_OK && !dense)
        status = dn_run_alloc(run, n_rows + 1, sizeof(size_t), "the points", &start, err);
    if (status == DN_OK)
        status = dn_run_alloc(run, n_rows, sizeof(double), "the points", &self, err);
    if (status != DN_OK) {
        dn_run_free(run, memory);
        dn_run_free(run, values);
        dn_run_free(run, cols);
        dn_run_free(run, start);
        return status;
    }
    dni_points *points = memory;
    *points = (dni_points){.run = run,
                           .kernel = *kernel,
                           .form = dni_kernel_form(kernel),
                           .dense = dense,
                           .n = n_rows,
                           .d = kernel->n_features,
                           .entries = count,
                           .values = values,
                           .cols = cols,
                           .row_start = start,
                           .self = self};
    *out = points;
    return DN_OK;
}

void dni_points_free(dni_points *points) {
    if (points == NULL)
        return;
    const dn_run *run = points->run;
    dn_run_free(run, points->values);
    dn_run_free(run, points->cols);
    dn_run_free(run, points->row_start);
    dn_run_free(run, points->self);
    dn_run_free(run, points->places);
    dn_run_free(run, points);
}

static struct row row_of(dn_matrix x, size_t i) {
    if (x.kind == DN_DENSE)
        return (struct row){x.values + i * x.stride, NULL, x.n_cols};
    return (struct row){x.values + x.row_start[i], x.cols + x.row_start[i], x.row_start[i + 1] - x.row_start[i]};
}

static struct row point(const dni_points *p, size_t i) {
    if (p->dense)
        return (struct row){p->values + i * p->d, NULL, p->d};
    return (struct row){p->values + p->row_start[i], p->cols + p->row_start[i], p->row_start[i + 1] - p->row_start[i]};
}

/* z [d] ← A x */
static void transform(const dni_points *p, struct row x, double *z) {
    memset(z, 0, p->d * sizeof *z);
    for (size_t e = 0; e < x.n; e++) {
        size_t j = x.cols == NULL ? e : x.cols[e];
        for (size_t i = j; i < p->d; i++)
            z[i] += p->kernel.factor[i * p->d + j] * x.values[e];
    }
}

void dni_points_add(dni_points *p, dn_matrix x) {
    for (size_t i = 0; i < x.n_rows; i++, p->added++) {
        struct row row = row_of(x, i);
        if (p->kernel.type == DN_KERNEL_MAHALANOBIS) {
            transform(p, row, p->values + p->added * p->d);
        } else if (p->dense) {
            double *to = p->values + p->added * p->d;
            for (size_t e = 0; e < row.n; e++)
                to[row.cols == NULL ? e : row.cols[e]] = row.values[e];
        } else {
            size_t k = p->row_start[p->added];
            for (size_t e = 0; e < row.n; e++)
                if (row.values[e] != 0) {
                    p->values[k] = row.values[e];
                    p->cols[k++] = row.cols == NULL ? (uint32_t)e : row.cols[e];
                }
            p->row_start[p->added + 1] = k;
        }
    }
}

dn_status dni_points_places(dni_points *p, const uint32_t *places, dn_error *err) {
    void *copy;
    dn_status status =
        p->kernel.type == DN_KERNEL_PRECOMPUTED ? dn_run_alloc(p->run, p->n, sizeof *places, "the points", &copy, err) : DN_OK;
    if (status != DN_OK || p->kernel.type != DN_KERNEL_PRECOMPUTED)
        return status;
    p->places = memcpy(copy, places, p->n * sizeof *places);
    return DN_OK;
}

/* ---- pairs ------------------------------------------------------------------------------------------------------------------------------ */
static double combine(dni_form form, double sum, double x, double z) {
    if (form == DNI_FORM_SQUARE)
        return sum + (x - z) * (x - z);
    if (form == DNI_FORM_MANHATTAN)
        return sum + fabs(x - z);
    if (form == DNI_FORM_CHEBYSHEV)
        return fmax(sum, fabs(x - z));
    return sum + x * z;
}

/* The sum (or maximum) over the columns that one of the rows has. */
static double over_columns(dni_form form, struct row x, struct row z) {
    double sum = 0;
    for (size_t a = 0, b = 0; a < x.n || b < z.n;) {
        size_t i = a < x.n ? (x.cols == NULL ? a : x.cols[a]) : SIZE_MAX, j = b < z.n ? (z.cols == NULL ? b : z.cols[b]) : SIZE_MAX;
        sum = combine(form, sum, i <= j ? x.values[a] : 0, j <= i ? z.values[b] : 0);
        a += i <= j;
        b += j <= i;
    }
    return sum;
}

static size_t text_length(struct row x) {
    size_t n = 0;
    while (n < x.n && x.values[n] != 0)
        n++;
    return n;
}

/* Wagner and Fischer, with one line of the table: line [length of z + 1]. */
static double edits(struct row x, struct row z, double *line) {
    size_t m = text_length(x), n = text_length(z);
    for (size_t j = 0; j <= n; j++)
        line[j] = (double)j;
    for (size_t i = 1; i <= m; i++) {
        double corner = line[0];
        line[0] = (double)i;
        for (size_t j = 1; j <= n; j++) {
            double above = line[j], best = corner + (x.values[i - 1] != z.values[j - 1]);
            best = fmin(best, fmin(above, line[j - 1]) + 1);
            corner = above;
            line[j] = best;
        }
    }
    return line[n];
}

static double raw(const dni_points *p, struct row x, struct row z, double *work) {
    if (p->form == DNI_FORM_PRODUCT)
        return dni_kernel_of_product(&p->kernel, over_columns(p->form, x, z));
    double distance = p->form == DNI_FORM_COSINE
                          ? dni_cosine_distance(over_columns(p->form, x, z), over_columns(p->form, x, x), over_columns(p->form, z, z))
                      : p->form == DNI_FORM_EDIT ? edits(x, z, work)
                                                 : over_columns(p->form, x, z);
    return dni_kernel_of_distance(&p->kernel, distance);
}

void dni_points_distances(const dni_points *p, size_t i, size_t first, size_t n, double *out, double *work) {
    for (size_t k = 0; k < n; k++) {
        struct row x = point(p, i), z = point(p, first + k);
        out[k] = p->form == DNI_FORM_COSINE
                     ? dni_cosine_distance(over_columns(p->form, x, z), over_columns(p->form, x, x), over_columns(p->form, z, z))
                 : p->form == DNI_FORM_EDIT ? edits(x, z, work)
                                            : over_columns(p->form, x, z);
        out[k] = p->form == DNI_FORM_SQUARE && p->kernel.type == DN_KERNEL_DISTANCE ? sqrt(out[k]) : out[k];
    }
}

static double value(const dni_points *p, struct row x, double self, size_t j, double *work) {
    double k = raw(p, x, point(p, j), work);
    return p->kernel.normalize ? dni_kernel_normalized(k, self, p->self[j]) : k;
}

static double entry(struct row x, size_t place) {
    for (size_t e = 0; e < x.n; e++)
        if ((x.cols == NULL ? e : x.cols[e]) == place)
            return x.values[e];
    return 0;
}

static double pair(const dni_points *p, size_t i, size_t j, double *work) {
    if (p->places != NULL)
        return (entry(point(p, i), p->places[j]) + entry(point(p, j), p->places[i])) / 2;
    return value(p, point(p, i), p->self[i], j, work);
}

/* ---- what is asked ---------------------------------------------------------------------------------------------------------------------- */
dn_status dni_points_end(dni_points *p, dn_error *err) {
    for (size_t i = 0; i < p->n; i++) {
        struct row x = point(p, i);
        p->self[i] = p->form == DNI_FORM_EDIT ? 1 : p->places != NULL ? entry(x, p->places[i]) : raw(p, x, x, NULL);
        if (!isfinite(p->self[i])) {
            dn_status status = dn_error_set(err, DN_ERR_NUMERIC, "the kernel has no finite K(x, x) for row %zu", i + 1);
            dn_error_set_row(err, (int64_t)i);
            return status;
        }
    }
    return DN_OK;
}

double dni_points_memory(const dn_kernel *kernel, size_t n_rows, size_t n_features, double n_entries) {
    (void)kernel;
    return 64 + (double)n_rows * 24 + fmax((double)n_rows * (double)n_features * 8, n_entries * 12);
}

size_t dni_points_n(const dni_points *p) {
    return p->n;
}

double dni_points_self(const dni_points *p, size_t i) {
    return p->kernel.normalize ? (p->self[i] > 0 ? 1 : 0) : p->self[i];
}

double dni_points_pair(const dni_points *p, size_t i, size_t j) {
    if (p->form != DNI_FORM_EDIT)
        return pair(p, i, j, NULL);
    double *line = malloc((point(p, j).n + 1) * sizeof *line), k = line == NULL ? 0 : pair(p, i, j, line);
    free(line);
    return k;
}

size_t dni_points_work(const dni_points *p) {
    size_t longest = 0;
    for (size_t i = 0; i < p->n; i++)
        longest = point(p, i).n > longest ? point(p, i).n : longest;
    return longest + 1;
}

void dni_points_row(const dni_points *p, size_t i, size_t first, size_t n, float *out, double *work) {
    for (size_t k = 0; k < n; k++)
        out[k] = (float)pair(p, i, first + k, work);
}

void dni_points_row_exact(const dni_points *p, size_t i, size_t first, size_t n, double *out, double *work) {
    for (size_t k = 0; k < n; k++)
        out[k] = pair(p, i, first + k, work);
}

dn_status dni_points_select(const dni_points *p, const uint32_t *list, size_t n, const dn_run *run, dni_points **out, dn_error *err) {
    size_t entries = 0;
    dni_points *some = NULL;
    dn_kernel kernel = p->kernel;
    for (size_t k = 0; k < n; k++)
        entries += point(p, list[k]).n;
    kernel.type = kernel.type == DN_KERNEL_MAHALANOBIS ? DN_KERNEL_RBF : kernel.type; /* the rows are transformed already */
    dn_status status = dni_points_new(&kernel, n, p->dense ? SIZE_MAX : entries, run, &some, err);
    if (status == DN_OK && p->places != NULL)
        status = dni_points_places(some, p->places, err);
    if (status != DN_OK) {
        dni_points_free(some);
        return status;
    }
    for (size_t k = 0; k < n; k++) {
        struct row x = point(p, list[k]);
        size_t start[2] = {0, x.n};
        dni_points_add(some, p->dense ? dn_matrix_dense(x.values, 1, p->d) : dn_matrix_csr(start, x.cols, x.values, 1, p->d));
        some->self[k] = p->self[list[k]];
        if (some->places != NULL)
            some->places[k] = p->places[list[k]];
    }
    some->kernel = p->kernel;
    *out = some;
    return DN_OK;
}

struct task {
    const dni_points *points;
    const uint32_t *list;
    const double *coef;
    size_t n_list, n_sums, room;
    float *gram;
    double *sums, *work; /* work [n_slots × room] */
};

static dn_status gram_task(void *arg, size_t i, size_t slot, dn_error *err) {
    const struct task *task = arg;
    (void)err;
    dni_points_row(task->points, i, 0, task->points->n, task->gram + i * task->points->n, task->work + slot * task->room);
    return DN_OK;
}

static dn_status sums_task(void *arg, size_t i, size_t slot, dn_error *err) {
    const struct task *task = arg;
    double *sums = task->sums + i * task->n_sums;
    (void)err;
    memset(sums, 0, task->n_sums * sizeof *sums);
    for (size_t k = 0; k < task->n_list; k++) {
        size_t j = task->list == NULL ? k : task->list[k];
        double value_ij = pair(task->points, i, j, task->work + slot * task->room);
        for (size_t s = 0; s < task->n_sums; s++)
            sums[s] += value_ij * task->coef[j * task->n_sums + s];
    }
    return DN_OK;
}

static dn_status over_rows(struct task *task, dni_task_fn fn, const dn_run *run, dn_error *err) {
    void *work = NULL;
    task->room = dni_points_work(task->points);
    dn_status status = dn_run_alloc(run, task->room * (run == NULL ? 1 : run->n_slots), sizeof(double), "rows of the kernel", &work, err);
    task->work = work;
    if (status == DN_OK)
        status = dni_tasks_run(run, task->points->n, fn, task, err);
    dn_run_free(run, work);
    return status;
}

dn_status dni_points_gram(const dni_points *p, const dn_run *run, float *gram, dn_error *err) {
    struct task task = {.points = p, .gram = gram};
    return over_rows(&task, gram_task, run, err);
}

dn_status dni_points_sums(const dni_points *p, const uint32_t *list, size_t n_list, const double *coef, size_t n_sums, const dn_run *run,
                          double *sums, dn_error *err) {
    struct task task = {.points = p, .list = list, .n_list = list == NULL ? p->n : n_list, .coef = coef, .n_sums = n_sums, .sums = sums};
    return over_rows(&task, sums_task, run, err);
}

size_t dni_points_query_work(const dni_points *p) {
    return dni_points_work(p) + p->d;
}

void dni_points_query(const dni_points *p, dn_matrix q, double *k, double *work) {
    for (size_t i = 0; i < q.n_rows; i++) {
        struct row x = row_of(q, i);
        double *line = work + p->d;
        if (p->kernel.type == DN_KERNEL_MAHALANOBIS) {
            transform(p, x, work);
            x = (struct row){work, NULL, p->d};
        }
        double self = p->kernel.normalize ? raw(p, x, x, line) : 1;
        for (size_t j = 0; j < p->n; j++)
            k[i * p->n + j] = value(p, x, self, j, line);
    }
}
