/* Joins short chunks at the end of a stored table. */
#include "formats/table/table_builder.h"

#include <stdlib.h>
#include <string.h>

bool table_tail_set(struct table_tail *tail, const int64_t *rows, size_t n) {
    table_tail_done(tail);
    tail->rows = n > 0 ? malloc(n * sizeof *rows) : NULL;
    if (n > 0 && tail->rows == NULL) {
        return false;
    }
    if (n > 0) {
        memcpy(tail->rows, rows, n * sizeof *rows);
    }
    tail->n = n;
    return true;
}

void table_tail_done(struct table_tail *tail) {
    free(tail->rows);
    tail->rows = NULL;
    tail->n = 0;
}

/* The rows that are joined into one chunk. */
struct join {
    size_t first; /* index in the tail of the first joined chunk; all chunks after it are joined */
    bool own;     /* the new rows are joined too */
    int64_t rows;
    size_t room; /* bytes of all cells, at most BUILDER_CHUNK_BYTES */
};

/* Reads a column of chunk i of the tail. */
static bool read_tail(struct table_builder *b, size_t i, size_t column, struct buf *out) {
    const int64_t chunk = b->stored_chunks - (int64_t)(b->tail.n - i);
    buf_clear(out);
    if (!b->sink.reread(b->sink.arg, chunk, column, out, &b->problem)) {
        return false;
    }
    return !out->failed || problem_no_memory(&b->problem);
}

/* ---- choosing the chunks ---- */
/* Returns the bytes of all cells of a chunk of strings or entries, counted as the builder counts
 * them. */
static size_t cells_bytes(const dn_column_view *view) {
    size_t bytes = 0;
    if (view->type == DN_SPARSE) {
        return 2 * view->row_start[view->n_rows] * (sizeof *view->index + sizeof *view->number);
    }
    for (size_t i = 0; i < view->n_rows; i++) {
        if (view->code[i] != DN_CODE_MISSING) {
            bytes += view->strings.start[view->code[i] + 1] - view->strings.start[view->code[i]];
        }
    }
    return bytes;
}

/* Sets *bytes to the bytes of all cells of chunk i of the tail, where a number counts 8 bytes.
 * Stops counting when *bytes exceeds `left`. Returns false on failure and sets b->problem. */
static bool weigh(struct table_builder *b, size_t i, size_t left, size_t *bytes) {
    struct buf blob = {0};
    bool well = true;
    *bytes = (size_t)b->tail.rows[i] * b->n_columns * 8;
    for (size_t k = 0; k < b->n_columns && well && *bytes <= left; k++) {
        const struct column *c = &b->column[k];
        dn_column_view view;
        dn_error error;
        dn_error_clear(&error);
        if (c->state != COLUMN_STRINGS && c->state != COLUMN_SPARSE && c->state != COLUMN_DATES) {
            continue;
        }
        well = read_tail(b, i, k, &blob);
        if (well) {
            const dn_column_type type = c->state == COLUMN_SPARSE ? DN_SPARSE : DN_TEXT;
            const dn_status status =
                dn_column_chunk_decode(b->chunk, blob.data, blob.size, type, &view, &error);
            well = status == DN_OK || builder_unreadable(b, c, status, &error) == BUILDER_WELL;
            *bytes += well ? cells_bytes(&view) : 0;
        }
    }
    buf_done(&blob);
    return well;
}

/* Chooses the chunks that are joined, with or without the new rows. Returns false on failure and
 * sets b->problem. */
static bool choose(struct table_builder *b, bool own, struct join *out) {
    const struct table_tail *tail = &b->tail;
    struct join j = {.first = tail->n,
                     .own = own,
                     .rows = own ? tail->own : 0,
                     .room = own ? tail->own_room : 0};
    for (int64_t behind = b->n_rows; j.first > 0; behind += tail->rows[j.first]) {
        const int64_t rows = tail->rows[j.first - 1];
        size_t bytes = 0;
        if (rows > 2 * behind || (size_t)(j.rows + rows) > b->chunk_rows ||
            j.room > BUILDER_CHUNK_BYTES) {
            break;
        }
        const size_t left = BUILDER_CHUNK_BYTES - j.room;
        if (!weigh(b, j.first - 1, left, &bytes)) {
            return false;
        }
        if (bytes > left) {
            break;
        }
        j.first--;
        j.rows += rows;
        j.room += bytes;
    }
    *out = j;
    return true;
}

/* ---- joining ---- */
static bool add(struct table_builder *b, const struct column *c, const void *bytes, size_t size) {
    dn_error error;
    dn_error_clear(&error);
    const dn_status status = dn_column_builder_chunk(c->builder, b->chunk, bytes, size, &error);
    return status == DN_OK || builder_unreadable(b, c, status, &error) == BUILDER_WELL;
}

/* Joins the chunks of one column into b->blobs. */
static bool join_column(struct table_builder *b, const struct join *j, size_t column,
                        struct buf *blob) {
    const struct column *c = &b->column[column];
    struct table_blob joined = {0};
    for (size_t i = j->first; i < b->tail.n; i++) {
        if (!read_tail(b, i, column, blob) || !add(b, c, blob->data, blob->size)) {
            return false;
        }
    }
    if (j->own && !add(b, c, b->blobs[column].bytes, b->blobs[column].size)) {
        return false;
    }
    if (dn_column_builder_encode(c->builder, &joined.bytes, &joined.size, NULL) != DN_OK) {
        return problem_no_memory(&b->problem);
    }
    if (j->own) {
        free(b->blobs[column].bytes);
    } else {
        b->n_blobs = column + 1;
    }
    b->blobs[column] = joined;
    return true;
}

static bool join(struct table_builder *b, const struct join *j) {
    struct buf blob = {0};
    bool well = true;
    for (size_t i = 0; i < b->n_columns && well; i++) {
        well = join_column(b, j, i, &blob);
    }
    buf_done(&blob);
    b->tail.n_taken = (int64_t)(b->tail.n - j->first);
    return well && builder_hand_over(b, 0, j->rows) == BUILDER_WELL;
}

/* ---- the end ---- */
bool table_tail_end(struct table_builder *b) {
    struct table_tail *tail = &b->tail;
    struct join j = {.first = tail->n};
    if (tail->held && !choose(b, true, &j)) {
        return false;
    }
    if (j.first == tail->n && !choose(b, false, &j)) {
        return false;
    }
    if (tail->held && !j.own) {
        if (builder_hand_over(b, 1, tail->own) != BUILDER_WELL) {
            return false;
        }
    }
    const size_t n = tail->n - j.first + j.own;
    return n < 2 || join(b, &j); /* a single chunk is not written again */
}
