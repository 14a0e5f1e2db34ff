/* Kernel values of many pairs of points, in tiles of rows: a Gram matrix, and sums over it. */
#include "base/tasks.h"
#include "kernels/points_kind.h"

#include <string.h>

enum {
    TILE = DNI_QUERIES, /* maximum number of rows of a tile */
    CHUNK =
        DNI_POINTS_SUMS / TILE, /* maximum number of points between two polls of the stop flag */
    SQUARE = 8                  /* columns that are copied at a time */
};

static size_t n_tiles(size_t n) {
    return (n + TILE - 1) / TILE;
}

/* Returns the number of points that are compared with a tile of rows between two polls of the stop
 * flag. */
static size_t chunk_of(const dni_points *points) {
    const size_t step = dni_points_step(points) / 8;
    return step == 0 ? 1 : step < CHUNK ? step : CHUNK;
}

/* *queries ← the points of tile i of `from`, as queries of `points`. */
static void set_queries(const dni_points *points, const dni_points *from, size_t i, bool single,
                        dni_queries *queries, double *work) {
    queries->n = 0;
    queries->work = work;
    for (size_t k = i * TILE; k < from->n && k < (i + 1) * TILE; k++) {
        points->kind->add_point(points, from, k, single, queries);
    }
}

/* Allocates for each slot of the run the scratch of the points and `more` doubles. *n_work ← number
 * of doubles per slot. */
static dn_status work_for(const dni_points *points, const dn_run *run, size_t more, size_t *n_work,
                          double **out, dn_error *err) {
    void *memory;
    *n_work = points->kind->work(points, TILE) + more;
    dn_status status = dn_run_alloc(run, *n_work * (run == NULL ? 1 : run->n_slots), sizeof(double),
                                    "the work of kernel rows", &memory, err);
    if (status == DN_OK) {
        *out = memory;
    }
    return status;
}

/* ---- the Gram matrix ---- */
struct gram {
    const dni_points *points;
    const dn_run *run;
    float *single; /* [n × n]; NULL: the matrix is `exact` */
    double *exact; /* [n × n] */
    double *work;  /* [n_slots × n_work] */
    size_t n_work;
};

/* Copies the elements below the diagonal in rows start … end − 1 to their places above the diagonal,
 * SQUARE columns at a time. */
static void mirror(const struct gram *g, size_t start, size_t end) {
    const size_t n = g->points->n;
    for (size_t at = 0; at < end; at += SQUARE) {
        const size_t stop = end - at < SQUARE ? end : at + SQUARE;
        for (size_t i = start; i < end; i++) {
            for (size_t j = at; j < stop && j < i; j++) {
                if (g->single != NULL) {
                    g->single[j * n + i] = g->single[i * n + j];
                } else {
                    g->exact[j * n + i] = g->exact[i * n + j];
                }
            }
        }
    }
}

/* Computes the rows of tile i of the Gram matrix, up to the last column of the tile, and the
 * elements above the diagonal that are equal to them. */
static dn_status lower(const struct gram *g, size_t i, double *work, dn_error *err) {
    const size_t n = g->points->n, start = i * TILE, end = n - start < TILE ? n : start + TILE;
    dni_queries queries;
    set_queries(g->points, g->points, i, g->single != NULL, &queries, work);
    for (size_t first = 0, some; first < end; first += some) {
        some = end - first < chunk_of(g->points) ? end - first : chunk_of(g->points);
        dn_status status = dn_run_stop(g->run, err);
        if (status != DN_OK) {
            return status;
        }
        const size_t at = start * n + first;
        g->points->kind->values(g->points, &queries, first, some,
                                (dni_output){.single = g->single == NULL ? NULL : g->single + at,
                                             .exact = g->exact == NULL ? NULL : g->exact + at,
                                             .stride = n});
    }
    mirror(g, start, end);
    return DN_OK;
}

/* Task i computes tile i and tile n_tiles − 1 − i, so that all tasks have the same cost. */
static dn_status lower_task(void *arg, size_t i, size_t slot, dn_error *err) {
    const struct gram *g = arg;
    const size_t other = n_tiles(g->points->n) - 1 - i;
    dn_status status = lower(g, i, g->work + slot * g->n_work, err);
    return status == DN_OK && other != i ? lower(g, other, g->work + slot * g->n_work, err)
                                         : status;
}

dn_status dni_points_gram(const dni_points *points, const dn_run *run, float *single, double *exact,
                          dn_error *err) {
    struct gram g = {.points = points, .run = run, .single = single, .exact = exact};
    dn_status status = work_for(points, run, 0, &g.n_work, &g.work, err);
    if (status != DN_OK) {
        return status;
    }
    status = dni_tasks_run(run, (n_tiles(points->n) + 1) / 2, lower_task, &g, err);
    dn_run_free(run, g.work);
    return status;
}

/* ---- sums ---- */
struct sums {
    const dni_points *points, *listed; /* points: K's rows; listed: K's columns */
    const double *coef;                /* [n_sums × listed] */
    size_t n_sums, n_work;
    double *sums; /* [n × n_sums] */
    double *work; /* [n_slots × n_work] for each slot: scratch of the points, TILE × CHUNK values */
    const dn_run *run;
};

static dn_status sums_task(void *arg, size_t tile, size_t slot, dn_error *err) {
    const struct sums *s = arg;
    double *work = s->work + slot * s->n_work, *values = work + s->n_work - DNI_POINTS_SUMS,
           *sums = s->sums + tile * TILE * s->n_sums;
    dni_queries queries;
    set_queries(s->listed, s->points, tile, false, &queries, work);
    memset(sums, 0, queries.n * s->n_sums * sizeof *sums);
    for (size_t first = 0, n; first < s->listed->n; first += n) {
        n = s->listed->n - first < chunk_of(s->listed) ? s->listed->n - first : chunk_of(s->listed);
        dn_status status = dn_run_stop(s->run, err);
        if (status != DN_OK) {
            return status;
        }
        s->listed->kind->values(s->listed, &queries, first, n,
                                (dni_output){.exact = values, .stride = CHUNK});
        for (size_t q = 0; q < queries.n; q++) {
            for (size_t m = 0; m < s->n_sums; m++) {
                sums[q * s->n_sums + m] +=
                    s->points->lanes->dot(values + q * CHUNK, s->coef + m * s->listed->n + first,
                                          n);
            }
        }
    }
    return DN_OK;
}

/* out [n_sums × n] ← the transposed coefficients of the points list [n]. NULL: all points. */
static const double *gather(const uint32_t *list, size_t n, const double *coef, size_t n_sums,
                            double *out) {
    for (size_t k = 0; k < n; k++) {
        for (size_t m = 0; m < n_sums; m++) {
            out[m * n + k] = coef[(list == NULL ? k : list[k]) * n_sums + m];
        }
    }
    return out;
}

dn_status dni_points_sums(const dni_points *points, const uint32_t *list, size_t n_list,
                          const double *coef, size_t n_sums, const dn_run *run, double *sums,
                          dn_error *err) {
    struct sums s = {
        .points = points, .listed = points, .n_sums = n_sums, .sums = sums, .run = run};
    dni_points *listed = NULL;
    void *memory = NULL;
    dn_status status = DN_OK;
    if (list != NULL) {
        status = dni_points_select(points, list, n_list, run, &listed, err);
        if (status != DN_OK) {
            return status;
        }
        s.listed = listed;
    }
    status = dn_run_alloc(run, s.listed->n * n_sums, sizeof(double),
                          "the coefficients of a kernel's sums", &memory, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    s.coef = gather(list, s.listed->n, coef, n_sums, memory);
    status = work_for(points, run, DNI_POINTS_SUMS, &s.n_work, &s.work, err);
    if (status == DN_OK) {
        status = dni_tasks_run(run, n_tiles(points->n), sums_task, &s, err);
    }
cleanup:
    dn_run_free(run, s.work);
    dn_run_free(run, memory);
    dni_points_free(listed);
    return status;
}
