/* Scores of raw rows by machines that need encoded rows. */
#include "model/encoded_scores.h"
#include "base/layout.h"
#include "encoder/encoder_apply.h"
#include "machine/machine_dispatch.h"

#include <assert.h>

/* A row is added to a tile of sparse rows only if the tile has at most this many entries. The row
 * may have one entry for each feature. */
enum { TILE_ENTRIES = 16384 };

/* Workspace for a tile of encoded rows. */
struct tile {
    size_t n_entries;     /* capacity of cols and values */
    double *values;       /* [n_entries], or dense: [DNI_ENCODED_ROWS × n_features] */
    uint32_t *cols;       /* [n_entries]; sparse rows only, like row_start and bases */
    size_t *row_start;    /* [DNI_ENCODED_ROWS + 1] */
    double *bases;        /* [dni_raw_entries_work] */
    double *machine_work; /* [dni_machines_work] */
};

static void tile_layout(dni_layout *layout, const void *model, void *out) {
    const dn_model *m = model;
    struct tile *t = out;
    *t = (struct tile){0};
    if (dn_encoder_is_sparse(m->encoder)) {
        t->n_entries = TILE_ENTRIES + m->n_features + 1; /* + 1: encoding writes one entry past the
                                                          * end */
        t->values = dni_layout_doubles(layout, t->n_entries);
        t->cols = dni_layout_array(layout, t->n_entries, sizeof *t->cols);
        t->row_start = dni_layout_array(layout, DNI_ENCODED_ROWS + 1, sizeof *t->row_start);
        t->bases = dni_layout_doubles(layout, dni_raw_entries_work(m->encoder));
    } else {
        t->values = dni_layout_matrix(layout, DNI_ENCODED_ROWS, m->n_features);
    }
    t->machine_work = dni_layout_doubles(layout, dni_machines_work(m->machines, m->n_machines, 1));
}

size_t dni_encoded_scores_bytes(const dn_model *m) {
    struct tile tile;
    return (size_t)dni_layout_bytes(tile_layout, m, &tile);
}

/* Encodes sparse rows into the tile: as many of the n rows as fit, at least one. */
static dn_matrix encode_entries(const dn_model *m, dn_raw_rows rows, size_t n,
                                const struct tile *t) {
    size_t done = 0;
    t->row_start[0] = 0;
    for (; done < n && t->n_entries - t->row_start[done] > m->n_features; done++) {
        const size_t at = t->row_start[done];
        t->row_start[done + 1] = at + dni_encode_raw_entries(m->encoder, rows, done, t->cols + at,
                                                             t->values + at, t->bases);
    }
    return dn_matrix_csr(t->row_start, t->cols, t->values, done, m->n_features);
}

size_t dni_encoded_scores(const dn_model *m, dn_raw_rows rows, size_t first, double *scores,
                          void *work) {
    const size_t n = rows.n - first < DNI_ENCODED_ROWS ? rows.n - first : DNI_ENCODED_ROWS;
    const dn_raw_rows part = dn_raw_part(rows, m->n_inputs, first, n);
    struct tile t;
    dn_matrix x;
    dni_layout_carve(work, tile_layout, m, &t);
    if (dn_encoder_is_sparse(m->encoder)) {
        x = encode_entries(m, part, n, &t);
    } else {
        dn_encoder_apply(m->encoder, part, t.values);
        x = dn_matrix_dense(t.values, n, m->n_features);
    }
    dn_status status =
        dni_machines_score(m->machines, m->n_machines, x, NULL, 0, scores, t.machine_work, NULL);
    assert(status == DN_OK); /* dni_machines_score cannot fail without a run */
    (void)status;
    return x.n_rows;
}
