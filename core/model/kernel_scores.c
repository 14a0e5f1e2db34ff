/* Scores over support vectors. */
#include "model/kernel_scores.h"
#include "encoder/encoder_apply.h"
#include "machine/support.h"

#include <assert.h>
#include <math.h>

/* Values in float are off by some 2.5e-7, a score by that times Σ|c|, less by luck: at most 1e-3 of the margin. And so many numbers of support vectors that it pays. */
#define MOST_COEFFICIENTS 4000
#define MANY_NUMBERS 1e6
enum {
    TILE_ENTRIES =
        16384, /* that a tile of sparse rows may have before its last row, which may have as many as there are features */
    MOST_STEPS = 100 /* of 10 ms (dni_points_step) between two looks at a stop */
};

static size_t n_points(const dn_model *m) {
    return m->support->x.n_rows;
}

bool dni_kernel_scores_single(const dn_support *support, dn_machine *const *machines,
                              size_t n_machines) {
    bool single = (double)support->x.n_rows * (double)support->x.n_cols > MANY_NUMBERS;
    for (size_t i = 0; i < n_machines; i++) {
        double sum = 0;
        for (size_t k = 0; k < machines[i]->kernel->n; k++) {
            sum += fabs(machines[i]->kernel->coef[k]);
        }
        single = single && sum <= MOST_COEFFICIENTS;
    }
    return single;
}

size_t dni_kernel_scores_work(const dn_model *m) {
    return n_points(m) == 0
               ? 0
               : DNI_POINTS_QUERIES * n_points(m) + dni_points_query_work(m->support->points);
}

dn_status dni_kernel_scores(const dn_model *m, dn_matrix x, const dn_run *run, double *scores,
                            double *work, dn_error *err) {
    const size_t n = n_points(m), S = m->n_scores;
    double *own = work + DNI_POINTS_QUERIES * n;
    for (size_t first = 0; first < x.n_rows; first += DNI_POINTS_QUERIES) {
        const size_t rows =
            x.n_rows - first < DNI_POINTS_QUERIES ? x.n_rows - first : DNI_POINTS_QUERIES;
        dn_status status =
            n == 0 ? DN_OK
                   : dni_points_query(m->support->points, dn_matrix_rows(x, first, rows), m->single,
                                      run, work, own, err);
        if (status != DN_OK) {
            return status;
        }
        for (size_t k = 0; k < m->n_machines; k++) {
            dni_kernel_machine_scores(m->machines[k]->kernel, work, n, rows, scores + first * S + k,
                                      S);
        }
    }
    return DN_OK;
}

size_t dni_kernel_scores_rows(const dn_model *m) {
    const size_t n = n_points(m), rows = n == 0
                                             ? DNI_POINTS_QUERIES
                                             : MOST_STEPS * dni_points_step(m->support->points) / n;
    return rows == 0 ? 1 : rows < DNI_POINTS_QUERIES ? rows : DNI_POINTS_QUERIES;
}

/* ---- raw rows ---- */
/* Entries that a tile has room for; one more is written than there are. */
static size_t entry_room(const dn_model *m) {
    return TILE_ENTRIES + m->n_features + 1;
}

static size_t doubles_of(size_t n, size_t size) {
    return (n * size + sizeof(double) - 1) / sizeof(double);
}

/* What an encoded tile takes. */
static size_t tile_work(const dn_model *m) {
    if (!dn_encoder_is_sparse(m->encoder)) {
        return DNI_POINTS_QUERIES * m->n_features;
    }
    return entry_room(m) + doubles_of(entry_room(m), sizeof(uint32_t)) +
           doubles_of(DNI_POINTS_QUERIES + 1, sizeof(size_t)) + dni_raw_entries_work(m->encoder);
}

size_t dni_kernel_scores_raw_work(const dn_model *m) {
    return tile_work(m) + dni_kernel_scores_work(m);
}

/* As many of n sparse rows as there is room for, at least one. */
static dn_matrix encode_entries(const dn_model *m, dn_raw_rows rows, size_t n, double *work) {
    const size_t room = entry_room(m);
    double *values = work, *bases;
    uint32_t *cols = (uint32_t *)(void *)(values + room);
    size_t *row_start = (size_t *)(void *)(values + room + doubles_of(room, sizeof *cols)),
           done = 0;
    bases = values + room + doubles_of(room, sizeof *cols) +
            doubles_of(DNI_POINTS_QUERIES + 1, sizeof *row_start);
    row_start[0] = 0;
    for (; done < n && room - row_start[done] > m->n_features; done++) {
        const size_t at = row_start[done];
        row_start[done + 1] =
            at + dni_encode_raw_entries(m->encoder, rows, done, cols + at, values + at, bases);
    }
    return dn_matrix_csr(row_start, cols, values, done, m->n_features);
}

size_t dni_kernel_scores_raw(const dn_model *m, dn_raw_rows rows, size_t first, double *scores,
                             double *work) {
    const size_t n = rows.n - first < DNI_POINTS_QUERIES ? rows.n - first : DNI_POINTS_QUERIES;
    const dn_raw_rows part = dn_raw_part(rows, m->n_inputs, first, n);
    dn_matrix x;
    if (dn_encoder_is_sparse(m->encoder)) {
        x = encode_entries(m, part, n, work);
    } else {
        dn_encoder_apply(m->encoder, part, work);
        x = dn_matrix_dense(work, n, m->n_features);
    }
    dn_status status = dni_kernel_scores(m, x, NULL, scores, work + tile_work(m), NULL);
    assert(status == DN_OK); /* there is no run that could stop */
    (void)status;
    return x.n_rows;
}
