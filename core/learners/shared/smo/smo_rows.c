/* Kernel rows of the active variables: copied from a Gram matrix, or computed from points and
 * cached. */
#include "learners/shared/smo/smo_rows.h"
#include "base/layout.h"
#include "base/tasks.h"
#include "learners/shared/smo/row_cache.h"
#include "learners/shared/smo/smo_passes.h"

#include <string.h>

enum { BUFFERS = 2 };

struct dni_smo_rows {
    const dn_run *run;
    void *memory, *cache_memory; /* allocated blocks that hold the arrays */
    dni_gram gram;
    uint32_t *list;   /* [n] point of each variable */
    uint32_t *active; /* [n_active] active variables */
    uint32_t *point;  /* [n_active] point of each active variable */
    /* [n_active] number of active variables from each one on whose points follow each other: the
     * points of a class do, until variables become inactive */
    uint32_t *run_length;
    uint32_t *place;   /* [n] position of each variable in `active`, or DNI_NO_PLACE */
    uint32_t *support; /* [n] working memory: variables with a nonzero coefficient */
    size_t n, n_active;
    bool exact;
    bool identity; /* variable k is point k, and all points are variables */
    /* used without a Gram matrix: */
    const dni_points *all_points;
    dni_points *variable_copy; /* copy of the variables' points; NULL: use `all_points` */
    dni_points *active_copy;   /* copy of the active points; NULL: all variables are active */
    double *work;              /* working memory of dni_points_row */
    dni_row_cache cache;       /* rows in single precision */
    float *uncached_row;       /* [n] a row that is not cached; NULL if the cache can hold a row */
    double *buffer[BUFFERS];   /* [n] */
    unsigned next_buffer;      /* index of the buffer to fill next, modulo BUFFERS */
    size_t n_unpolled;         /* kernel values computed since the last poll of the stop flag */
};

/* ---- memory ---- */
struct rows_shape {
    size_t n;
};

static void rows_layout(dni_layout *layout, const void *shape, void *work) {
    const size_t n = ((const struct rows_shape *)shape)->n;
    dni_smo_rows *rows = work;
    rows->list = dni_layout_array(layout, n, sizeof *rows->list);
    rows->active = dni_layout_array(layout, n, sizeof *rows->active);
    rows->point = dni_layout_array(layout, n, sizeof *rows->point);
    rows->run_length = dni_layout_array(layout, n, sizeof *rows->run_length);
    rows->place = dni_layout_array(layout, n, sizeof *rows->place);
    rows->support = dni_layout_array(layout, n, sizeof *rows->support);
    for (size_t b = 0; b < BUFFERS; b++) {
        rows->buffer[b] = dni_layout_doubles(layout, n);
    }
}

/* Shape of the memory without a Gram matrix: working memory of dni_points_row, cached rows, and a
 * row that is not cached. */
struct cache_shape {
    size_t n, work; /* number of variables; doubles of working memory */
    dni_row_cache_shape cache;
    bool uncached_row;
};

static void cache_layout(dni_layout *layout, const void *shape, void *work) {
    const struct cache_shape *s = shape;
    dni_smo_rows *rows = work;
    rows->work = dni_layout_doubles(layout, s->work + 1);
    rows->uncached_row =
        s->uncached_row ? dni_layout_array(layout, s->n, sizeof *rows->uncached_row) : NULL;
    dni_row_cache_layout(layout, &s->cache, &rows->cache);
}

double dni_smo_rows_memory(size_t n, double cache_bytes) {
    const struct rows_shape shape = {n};
    const struct cache_shape cache = {n, 0, dni_row_cache_shape_of(n, cache_bytes), true};
    dni_smo_rows scratch;
    return dni_layout_bytes(rows_layout, &shape, &scratch) +
           dni_layout_bytes(cache_layout, &cache, &scratch);
}

void dni_smo_rows_free(dni_smo_rows *rows) {
    if (rows == NULL) {
        return;
    }
    const dn_run *run = rows->run;
    dni_points_free(rows->variable_copy);
    dni_points_free(rows->active_copy);
    dn_run_free(run, rows->memory);
    dn_run_free(run, rows->cache_memory);
    dn_run_free(run, rows);
}

static dn_status reserve_cache(dni_smo_rows *rows, double cache_bytes, dn_error *err) {
    const size_t n = rows->n;
    /* Rows in double precision are not cached. */
    const dni_row_cache_shape cache = dni_row_cache_shape_of(n, rows->exact ? 0 : cache_bytes);
    const struct cache_shape shape = {n, dni_points_work(rows->all_points), cache,
                                      !rows->exact && cache.n_floats < n};
    if (!rows->identity) {
        dn_status status = dni_points_select(rows->all_points, rows->list, n, rows->run,
                                             &rows->variable_copy, err);
        if (status != DN_OK) {
            return status;
        }
    }
    dn_status status =
        dni_layout_take(rows->run, cache_layout, &shape, rows,
                        "the cache of kernel rows (cache_mib)", &rows->cache_memory, err);
    if (status != DN_OK) {
        return status;
    }
    dni_row_cache_init(&rows->cache, &cache);
    return DN_OK;
}

/* Returns the number of points from point[0] on, of n, that follow each other. */
static size_t run_of(const uint32_t *point, size_t n) {
    size_t length = 1;
    while (length < n && point[length] == point[length - 1] + 1) {
        length++;
    }
    return length;
}

static void find_runs(dni_smo_rows *rows) {
    for (size_t k = 0; k < rows->n_active;) {
        for (size_t length = run_of(rows->point + k, rows->n_active - k); length > 0; length--) {
            rows->run_length[k++] = (uint32_t)length;
        }
    }
}

static dn_status set_up(dni_smo_rows *rows, const uint32_t *list, double cache_bytes,
                        dn_error *err) {
    const struct rows_shape shape = {rows->n};
    dn_status status = dni_layout_take(rows->run, rows_layout, &shape, rows, "the rows of a kernel",
                                       &rows->memory, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t k = 0; k < rows->n; k++) {
        rows->identity = rows->identity && list[k] == k;
        rows->list[k] = rows->point[k] = list[k];
        rows->active[k] = rows->place[k] = (uint32_t)k;
    }
    rows->n_active = rows->n;
    find_runs(rows);
    return rows->gram.single != NULL || rows->gram.exact != NULL
               ? DN_OK
               : reserve_cache(rows, cache_bytes, err);
}

dn_status dni_smo_rows_new(const dni_points *points, const dni_gram *gram, const uint32_t *list,
                           size_t n, double cache_bytes, const dn_run *run, dni_smo_rows **out,
                           dn_error *err) {
    void *memory;
    dn_status status =
        dn_run_alloc(run, 1, sizeof(dni_smo_rows), "the rows of a kernel", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    dni_smo_rows *rows = memory;
    *rows = (dni_smo_rows){.run = run,
                           .gram = *gram,
                           .n = n,
                           .all_points = points,
                           .exact = gram->exact != NULL || gram->exact_rows,
                           .identity = n == (points == NULL ? gram->n : dni_points_n(points))};
    status = set_up(rows, list, cache_bytes, err);
    if (status != DN_OK) {
        dni_smo_rows_free(rows);
        return status;
    }
    *out = rows;
    return DN_OK;
}

/* ---- values ---- */
static const dni_points *variables_of(const dni_smo_rows *rows) {
    return rows->variable_copy != NULL ? rows->variable_copy : rows->all_points;
}

static const dni_points *active_points(const dni_smo_rows *rows) {
    return rows->active_copy != NULL ? rows->active_copy : variables_of(rows);
}

double dni_smo_rows_self(const dni_smo_rows *rows, size_t i) {
    const size_t p = rows->list[i];
    return rows->gram.exact != NULL ? rows->gram.exact[p * rows->gram.n + p]
                                    : dni_points_self(rows->all_points, p);
}

bool dni_smo_rows_exact(const dni_smo_rows *rows) {
    return rows->exact;
}

dn_status dni_smo_rows_make_exact(dni_smo_rows *rows, dn_error *err) {
    rows->exact = true;
    if (rows->gram.single == NULL || rows->work != NULL) {
        return DN_OK;
    }
    rows->gram.single = NULL; /* rows are computed from the points from now on */
    return reserve_cache(rows, 0, err);
}

static const double *gather(dni_smo_rows *rows, size_t i, double *to) {
    const size_t p = rows->list[i], n = rows->gram.n;
    if (rows->gram.exact != NULL) {
        const double *row = rows->gram.exact + p * n;
        if (rows->identity && rows->n_active == n) {
            return row;
        }
        for (size_t k = 0; k < rows->n_active; k += rows->run_length[k]) {
            memcpy(to + k, row + rows->point[k], rows->run_length[k] * sizeof *to);
        }
        return to;
    }
    const float *row = rows->gram.single + p * n;
    for (size_t k = 0; k < rows->n_active; k++) {
        to[k] = (double)row[rows->point[k]];
    }
    return to;
}

/* Computes the row of point i in single precision, or in double precision if `single` is NULL.
 * Polls the stop flag. */
static dn_status compute_row(dni_smo_rows *rows, const dni_points *points, size_t i, float *single,
                             double *exact, dn_error *err) {
    const size_t step = dni_points_step(points), n_all = dni_points_n(points);
    for (size_t first = 0, n; first < n_all; first += n) {
        n = n_all - first < step ? n_all - first : step;
        rows->n_unpolled += n;
        if (rows->n_unpolled >= step) {
            dn_status status = dn_run_stop(rows->run, err);
            if (status != DN_OK) {
                return status;
            }
            rows->n_unpolled = 0;
        }
        if (single != NULL) {
            dni_points_row(points, i, first, n, single + first, rows->work);
        } else {
            dni_points_row_exact(points, i, first, n, exact + first, rows->work);
        }
    }
    return DN_OK;
}

/* *out ← the row of variable i in single precision, from the cache or computed. */
static dn_status single_row(dni_smo_rows *rows, size_t i, const float **out, dn_error *err) {
    bool known = false;
    float *row = dni_row_cache_get(&rows->cache, i, &known);
    if (row == NULL) {
        row = rows->uncached_row;
    }
    *out = row;
    return known ? DN_OK : compute_row(rows, active_points(rows), rows->place[i], row, NULL, err);
}

dn_status dni_smo_rows_get(dni_smo_rows *rows, size_t i, const double **out, dn_error *err) {
    double *to = rows->buffer[rows->next_buffer++ % BUFFERS];
    if (rows->gram.exact != NULL || rows->gram.single != NULL) {
        *out = gather(rows, i, to);
        return DN_OK;
    }
    *out = to;
    if (rows->exact) {
        return compute_row(rows, active_points(rows), rows->place[i], NULL, to, err);
    }
    const float *row = NULL;
    dn_status status = single_row(rows, i, &row, err);
    for (size_t k = 0; status == DN_OK && k < rows->n_active; k++) {
        to[k] = (double)row[k];
    }
    return status;
}

/* ---- active variables ---- */
/* True if every variable of active [n_active] is active now. */
static bool are_active(const dni_smo_rows *rows, const uint32_t *active, size_t n_active) {
    for (size_t k = 0; k < n_active; k++) {
        if (rows->place[active[k]] == DNI_NO_PLACE) {
            return false;
        }
    }
    return true;
}

static void set_active(dni_smo_rows *rows, const uint32_t *active, size_t n_active) {
    for (size_t k = 0; k < rows->n; k++) {
        rows->place[k] = DNI_NO_PLACE;
    }
    for (size_t k = 0; k < n_active; k++) {
        rows->active[k] = active[k];
        rows->point[k] = rows->list[active[k]];
        rows->place[active[k]] = (uint32_t)k;
    }
    rows->n_active = n_active;
    find_runs(rows);
}

dn_status dni_smo_rows_activate(dni_smo_rows *rows, const uint32_t *active, size_t n_active,
                                dn_error *err) {
    const bool of_points = rows->work != NULL, still_active = are_active(rows, active, n_active);
    dni_points *chosen = NULL;
    /* The old copy is freed before the new one is made, because both may be large. */
    dni_points_free(rows->active_copy);
    rows->active_copy = NULL;
    if (of_points && n_active < rows->n) {
        dn_status status =
            dni_points_select(variables_of(rows), active, n_active, rows->run, &chosen, err);
        if (status != DN_OK) {
            return status;
        }
    }
    if (of_points && still_active) {
        dni_row_cache_narrow(&rows->cache, active, n_active, rows->place);
    }
    set_active(rows, active, n_active);
    if (!of_points) {
        return DN_OK;
    }
    if (still_active) {
        dni_row_cache_drop(&rows->cache, rows->place);
    } else {
        dni_row_cache_clear(&rows->cache, n_active);
    }
    rows->active_copy = chosen;
    return DN_OK;
}

/* ---- sums ---- */
enum { SUM_ROWS = 64 }; /* rows per task */

struct gram_sums {
    const dni_smo_rows *rows;
    size_t n_list; /* length of rows->support: the variables with a[i] != 0 */
    const double *a;
    double *sums;
};

/* sum [n] ← the sums of the variables with points first … first + n − 1. The matrix is symmetric, so
 * the rows of the variables with a[i] != 0 are read: there may be few of them. */
static void sum_run(const struct gram_sums *s, uint32_t first, size_t n, double *sum) {
    const dni_gram *gram = &s->rows->gram;
    for (size_t e = 0; e < s->n_list; e++) {
        const uint32_t i = s->rows->support[e];
        const size_t at = (size_t)s->rows->list[i] * gram->n + first;
        if (gram->exact != NULL) {
            dni_smo_add(sum, gram->exact + at, s->a[i], n);
        } else {
            dni_smo_add_single(sum, gram->single + at, s->a[i], n);
        }
    }
}

/* Sums of SUM_ROWS variables. */
static dn_status sum_rows(void *arg, size_t task, size_t slot, dn_error *err) {
    const struct gram_sums *s = arg;
    (void)slot;
    (void)err;
    const size_t first = task * SUM_ROWS, left = s->rows->n - first,
                 n = left < SUM_ROWS ? left : SUM_ROWS;
    const uint32_t *point = s->rows->list + first;
    double sum[SUM_ROWS] = {0};
    for (size_t k = 0, length; k < n; k += length) {
        length = run_of(point + k, n - k);
        sum_run(s, point[k], length, sum + k);
    }
    memcpy(s->sums + first, sum, n * sizeof *sum);
    return DN_OK;
}

/* sums [n] += Σ_i K_ki a_i, one row after another. Bit-for-bit the same result as sum_rows. */
static dn_status add_rows(dni_smo_rows *rows, size_t n_list, const double *a, double *sums,
                          dn_error *err) {
    double *exact = rows->buffer[0];
    float *row = (float *)(void *)rows->buffer[0];
    dn_status status = DN_OK;
    for (size_t e = 0; e < n_list && status == DN_OK; e++) {
        const uint32_t i = rows->support[e];
        status = compute_row(rows, variables_of(rows), i, rows->exact ? NULL : row, exact, err);
        for (size_t k = 0; status == DN_OK && k < rows->n; k++) {
            sums[k] += (rows->exact ? exact[k] : (double)row[k]) * a[i];
        }
    }
    return status;
}

dn_status dni_smo_rows_sums(dni_smo_rows *rows, const double *a, bool exact, const dn_run *run,
                            double *sums, dn_error *err) {
    size_t n_list = 0;
    for (size_t k = 0; k < rows->n; k++) {
        sums[k] = 0;
        if (a[k] != 0) {
            rows->support[n_list++] = (uint32_t)k;
        }
    }
    if (n_list == 0) {
        return DN_OK;
    }
    if (rows->gram.exact != NULL || (!exact && rows->gram.single != NULL)) {
        struct gram_sums s = {rows, n_list, a, sums};
        return dni_tasks_run(run, (rows->n + SUM_ROWS - 1) / SUM_ROWS, sum_rows, &s, err);
    }
    if (rows->gram.exact_rows || (!exact && !rows->exact)) {
        return add_rows(rows, n_list, a, sums, err);
    }
    dni_points *chosen = NULL;
    dn_status status = DN_OK;
    /* With a Gram matrix the points of the variables have not been copied yet. */
    if (rows->variable_copy == NULL && !rows->identity) {
        status = dni_points_select(rows->all_points, rows->list, rows->n, rows->run, &chosen, err);
    }
    if (status == DN_OK) {
        status = dni_points_sums(chosen != NULL ? chosen : variables_of(rows), rows->support,
                                 n_list, a, 1, run, sums, err);
    }
    dni_points_free(chosen);
    return status;
}
