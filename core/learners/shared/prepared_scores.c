/* Kernel values of held-out rows: a row of values for each point, so that a score is added for many
 * rows at once. */
#include "learners/shared/prepared_scores.h"
#include "base/run_memory.h"
#include "base/tasks.h"
#include "learners/shared/prepared.h"
#include "learners/shared/smo/smo_passes.h"
#include "machine/kernel_machine.h"
#include "machine/machine_kind.h"

enum { TILE = DNI_POINTS_QUERIES, SQUARE = 8 /* side of the squares that are transposed */ };

static bool refused(dn_status status) {
    return status == DN_ERR_BUDGET || status == DN_ERR_MEMORY;
}

/* ---- kernel values ---- */
struct filling {
    const dni_prepared *problem;
    const dn_block *block;
    double *values; /* [n_points × n_rows] */
    size_t n_rows, n_work;
    double *work; /* [n_slots × n_work] values of a tile [TILE × n_points], scratch */
    const dn_run *run;
};

/* Copies k [n × n_points], the values of n rows, to the columns from `to` on. */
static void transpose(const double *k, size_t n, size_t n_points, double *to, size_t stride) {
    for (size_t first = 0; first < n_points; first += SQUARE) {
        const size_t end = n_points - first < SQUARE ? n_points : first + SQUARE;
        for (size_t r = 0; r < n; r++) {
            for (size_t i = first; i < end; i++) {
                to[i * stride + r] = k[r * n_points + i];
            }
        }
    }
}

/* Computes the values of a tile of rows of the block. */
static dn_status fill_tile(void *arg, size_t tile, size_t slot, dn_error *err) {
    const struct filling *f = arg;
    const dni_points *points = f->problem->points.points;
    const size_t n_points = f->problem->points.n, first = tile * TILE,
                 left = f->block->x.n_rows - first, n = left < TILE ? left : TILE;
    double *k = f->work + slot * f->n_work;
    dn_status status = dni_points_query(points, dn_matrix_rows(f->block->x, first, n), false,
                                        f->run, k, k + TILE * n_points, err);
    if (status == DN_OK) {
        transpose(k, n, n_points, f->values + f->block->first_row + first, f->n_rows);
    }
    return status;
}

static dn_status fill(const dni_prepared *p, const dn_rows *rows, double *values, const dn_run *run,
                      dn_error *err) {
    struct filling f = {.problem = p,
                        .values = values,
                        .n_rows = rows->n_rows,
                        .n_work = TILE * p->points.n + dni_points_query_work(p->points.points),
                        .run = run};
    void *memory;
    dn_status status = dn_run_alloc(run, run->n_slots * f.n_work, sizeof *f.work,
                                    "the kernel values of held-out rows", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    f.work = memory;
    for (size_t b = 0; b < rows->n_blocks && status == DN_OK; b++) {
        dn_block block;
        status = dn_rows_block(rows, b, 0, &block, err);
        f.block = &block;
        if (status == DN_OK) {
            status = dni_tasks_run(run, (block.x.n_rows + TILE - 1) / TILE, fill_tile, &f, err);
        }
    }
    dn_run_free(run, memory);
    return status;
}

/* Computes the values of the rows, unless they are known. They stay NULL if they take too much
 * memory. */
static dn_status keep_values(dni_prepared *p, const dn_rows *rows, const dn_run *run,
                             dn_error *err) {
    dni_held_values *held = &p->held;
    void *memory = NULL;
    dn_error why;
    if (held->rows == rows) {
        return DN_OK;
    }
    dn_run_free(p->run, held->values);
    *held = (dni_held_values){.rows = rows};
    if ((double)p->points.n * (double)rows->n_rows * sizeof(double) > p->key.cache_bytes) {
        return DN_OK;
    }
    dn_error_clear(&why);
    dn_status status = dni_run_alloc_raw(p->run, p->points.n * rows->n_rows, sizeof *held->values,
                                         "the kernel values of held-out rows", &memory, &why);
    if (status == DN_OK) {
        status = fill(p, rows, memory, run, &why);
    }
    if (status == DN_OK) {
        held->values = memory;
        return DN_OK;
    }
    dn_run_free(p->run, memory);
    if (refused(status)) {
        return DN_OK;
    }
    held->rows = NULL;
    if (err != NULL) {
        *err = why;
    }
    return status;
}

/* ---- scores ---- */
struct scoring {
    const dni_prepared *problem;
    dn_machine *const *machines;
    size_t n, n_rows;
    double *columns; /* [n × n_rows] scores of each machine */
};

/* Adds up the scores of machine i. */
static dn_status score_machine(void *arg, size_t i, size_t slot, dn_error *err) {
    const struct scoring *s = arg;
    const dni_kernel_machine *m = dni_kernel_machine_of(s->machines[i]);
    double *column = s->columns + i * s->n_rows;
    (void)slot;
    (void)err;
    for (size_t r = 0; r < s->n_rows; r++) {
        column[r] = 0;
    }
    for (size_t k = 0; k < m->n; k++) {
        const size_t point = s->problem->support[m->index[k]];
        dni_smo_add(column, s->problem->held.values + point * s->n_rows, m->coef[k], s->n_rows);
    }
    for (size_t r = 0; r < s->n_rows; r++) {
        column[r] += m->w0;
    }
    return DN_OK;
}

/* Allocates the scores and the columns. Both stay NULL if memory is refused. */
static dn_status take_scores(const dn_run *run, size_t n, void **scores, void **columns,
                             dn_error *err) {
    const char *what = "the scores of held-out rows";
    dn_error why;
    dn_error_clear(&why);
    dn_status status = dn_run_alloc(run, n, sizeof(double), what, scores, &why);
    if (status == DN_OK) {
        status = dn_run_alloc(run, n, sizeof(double), what, columns, &why);
    }
    if (status == DN_OK) {
        return DN_OK;
    }
    dn_run_free(run, *scores);
    *scores = NULL;
    if (refused(status)) {
        return DN_OK;
    }
    if (err != NULL) {
        *err = why;
    }
    return status;
}

dn_status dni_prepared_scores(dn_prepared *p, const dn_rows *rows, dn_machine *const *machines,
                              size_t n, const dn_run *run, double **out, dn_error *err) {
    void *memory = NULL, *columns = NULL;
    *out = NULL;
    if (p == NULL || p->gram_memory == NULL || p->support == NULL ||
        machines[0]->kind != &dni_kernel_kind) {
        return DN_OK;
    }
    dn_status status = keep_values(p, rows, run, err);
    if (status != DN_OK || p->held.values == NULL) {
        return status;
    }
    status = take_scores(run, rows->n_rows * n, &memory, &columns, err);
    if (status != DN_OK || memory == NULL) {
        return status;
    }
    struct scoring s = {p, machines, n, rows->n_rows, columns};
    status = dni_tasks_run(run, n, score_machine, &s, err);
    if (status == DN_OK) {
        *out = memory;
        transpose(columns, n, rows->n_rows, *out, n);
    } else {
        dn_run_free(run, memory);
    }
    dn_run_free(run, columns);
    return status;
}

bool dni_prepared_drop_scores(dn_prepared *p) {
    if (p == NULL || p->held.values == NULL) {
        return false;
    }
    dn_run_free(p->run, p->held.values);
    p->held.values = NULL;
    return true;
}
