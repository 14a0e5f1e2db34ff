#include "unit/core/learners/shared/streams.h"

static dn_status stream_block(const dn_rows *rows, size_t i, size_t slot, dn_block *out,
                              dn_error *err) {
    struct stream *s = (struct stream *)(uintptr_t)rows;
    dn_block block;
    dn_status status = dn_rows_block(s->base, i, slot, &block, err);
    if (status != DN_OK) {
        return status;
    }
    size_t n = block.x.n_rows, first = block.x.kind == DN_CSR ? block.x.row_start[0] : 0;
    size_t entries = block.x.kind == DN_CSR ? block.x.row_start[n] - first : n * block.x.n_cols;
    free(s->slot[slot].values);
    free(s->slot[slot].cols);
    /* A new allocation of the exact size, so that the sanitisers detect reads past the block's end
     * and reads of an older block. */
    s->slot[slot].values = xcalloc(entries, sizeof(double));
    s->slot[slot].cols = xcalloc(entries, sizeof(uint32_t));
    for (size_t t = 0; t < n; t++) {
        s->slot[slot].target[t] = block.target[t];
        if (block.weight != NULL) {
            s->slot[slot].weight[t] = block.weight[t];
        }
    }
    if (block.x.kind == DN_CSR) {
        memcpy(s->slot[slot].values, block.x.values + first, entries * sizeof(double));
        memcpy(s->slot[slot].cols, block.x.cols + first, entries * sizeof(uint32_t));
        for (size_t t = 0; t <= n; t++) {
            s->slot[slot].start[t] = block.x.row_start[t] - first;
        }
        block.x = dn_matrix_csr(s->slot[slot].start, s->slot[slot].cols, s->slot[slot].values, n,
                                block.x.n_cols);
    } else {
        for (size_t t = 0; t < n; t++) {
            memcpy(s->slot[slot].values + t * block.x.n_cols, block.x.values + t * block.x.stride,
                   block.x.n_cols * sizeof(double));
        }
        block.x = dn_matrix_dense(s->slot[slot].values, n, block.x.n_cols);
    }
    block.target = s->slot[slot].target;
    block.weight = block.weight == NULL ? NULL : s->slot[slot].weight;
    *out = block;
    return DN_OK;
}

static void stream_free(dn_rows *rows) {
    struct stream *s = (struct stream *)rows;
    for (size_t i = 0; i < STREAM_SLOTS; i++) {
        free(s->slot[i].values);
        free(s->slot[i].cols);
        free(s->slot[i].target);
        free(s->slot[i].weight);
        free(s->slot[i].start);
    }
    free(s);
}

dn_rows *stream_of(const dn_rows *base) {
    struct stream *s = xcalloc(1, sizeof *s);
    s->rows = *base;
    s->rows.n_slots = STREAM_SLOTS;
    s->rows.block = stream_block;
    s->rows.free = stream_free;
    s->base = base;
    for (size_t i = 0; i < STREAM_SLOTS; i++) {
        s->slot[i].target = xcalloc(DN_BLOCK_ROWS, sizeof(double));
        s->slot[i].weight = xcalloc(DN_BLOCK_ROWS, sizeof(double));
        s->slot[i].start = xcalloc(DN_BLOCK_ROWS + 1, sizeof(size_t));
    }
    return &s->rows;
}
