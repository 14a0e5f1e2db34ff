/* Scores of raw rows by machines that stay in the encoded space. */
#include "model/encoded_scores.h"
#include "encoder/encoder_apply.h"
#include "machine/machine_dispatch.h"

#include <assert.h>

/* A tile of sparse rows receives another row only while it has at most this many entries. The last
 * row may add one entry per feature. */
enum { TILE_ENTRIES = 16384 };

/* Capacity of a tile in entries. One more than needed: encoding writes one entry past the end. */
static size_t entry_room(const dn_model *m) {
    return TILE_ENTRIES + m->n_features + 1;
}

static size_t doubles_of(size_t n, size_t size) {
    return (n * size + sizeof(double) - 1) / sizeof(double);
}

/* Doubles of workspace of an encoded tile. */
static size_t tile_work(const dn_model *m) {
    if (!dn_encoder_is_sparse(m->encoder)) {
        return DNI_ENCODED_ROWS * m->n_features;
    }
    return entry_room(m) + doubles_of(entry_room(m), sizeof(uint32_t)) +
           doubles_of(DNI_ENCODED_ROWS + 1, sizeof(size_t)) + dni_raw_entries_work(m->encoder);
}

size_t dni_encoded_scores_work(const dn_model *m) {
    return tile_work(m) + dni_machines_work(m->machines, m->n_machines, 1);
}

/* Encodes as many of n sparse rows as fit, at least one. */
static dn_matrix encode_entries(const dn_model *m, dn_raw_rows rows, size_t n, double *work) {
    const size_t room = entry_room(m);
    double *values = work, *bases;
    uint32_t *cols = (uint32_t *)(void *)(values + room);
    size_t *row_start = (size_t *)(void *)(values + room + doubles_of(room, sizeof *cols)),
           done = 0;
    bases = values + room + doubles_of(room, sizeof *cols) +
            doubles_of(DNI_ENCODED_ROWS + 1, sizeof *row_start);
    row_start[0] = 0;
    for (; done < n && room - row_start[done] > m->n_features; done++) {
        const size_t at = row_start[done];
        row_start[done + 1] =
            at + dni_encode_raw_entries(m->encoder, rows, done, cols + at, values + at, bases);
    }
    return dn_matrix_csr(row_start, cols, values, done, m->n_features);
}

size_t dni_encoded_scores(const dn_model *m, dn_raw_rows rows, size_t first, double *scores,
                          double *work) {
    const size_t n = rows.n - first < DNI_ENCODED_ROWS ? rows.n - first : DNI_ENCODED_ROWS;
    const dn_raw_rows part = dn_raw_part(rows, m->n_inputs, first, n);
    dn_matrix x;
    if (dn_encoder_is_sparse(m->encoder)) {
        x = encode_entries(m, part, n, work);
    } else {
        dn_encoder_apply(m->encoder, part, work);
        x = dn_matrix_dense(work, n, m->n_features);
    }
    dn_status status =
        dni_machines_score(m->machines, m->n_machines, x, NULL, scores, work + tile_work(m), NULL);
    assert(status == DN_OK); /* without a run it cannot be cancelled */
    (void)status;
    return x.n_rows;
}
