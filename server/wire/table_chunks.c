/* Columns into chunks: delivering, summing up, and the end of a table: settled types, columns read back, content hash. */
#include "wire/table_builder.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static enum builder_status out_of_memory(struct table_builder *b) {
    problem_set(&b->problem, PROBLEM_UNAVAILABLE, "no memory left");
    return BUILDER_STOP;
}

/* As which type the present state reads its chunks. Categorical and text differ in their summary only. */
static dn_column_type type_of_state(const struct column *c) {
    if (c->forced) {
        return c->type;
    }
    return c->state == COLUMN_STRINGS ? DN_CATEGORICAL : c->state == COLUMN_BOOLEANS ? DN_BOOLEAN : DN_NUMERIC;
}

/* ---- summaries ---------------------------------------------------------------------------------------------------------------------- */
/* A column and the memory of its counts. */
struct counts {
    size_t memory, column;
};

static int larger_first(const void *a, const void *b) {
    const struct counts *x = a, *y = b;
    return x->memory != y->memory ? (x->memory < y->memory) - (x->memory > y->memory) : (x->column > y->column) - (x->column < y->column);
}

/* Keeps the counts of distinct values within their memory: the largest go first. */
static enum builder_status counts_limit(struct table_builder *b) {
    if (b->counts_memory <= BUILDER_COUNTS_MEMORY) {
        return BUILDER_WELL;
    }
    struct counts *counts = malloc(b->n_columns * sizeof *counts);
    if (counts == NULL) {
        return out_of_memory(b);
    }
    for (size_t i = 0; i < b->n_columns; i++) {
        counts[i] = (struct counts){column_summary_counts_memory(&b->column[i].summary), i};
    }
    qsort(counts, b->n_columns, sizeof *counts, larger_first);
    for (size_t i = 0; i < b->n_columns && b->counts_memory > BUILDER_COUNTS_KEPT; i++) {
        struct column *c = &b->column[counts[i].column];
        column_summary_drop_counts(&c->summary);
        c->uncounted = true;
        b->counts_memory -= counts[i].memory;
    }
    free(counts);
    return BUILDER_WELL;
}

/* Adds an encoded chunk to the column's summary, read back from its bytes: what is summed up is what was stored. */
static enum builder_status column_sum_up(struct table_builder *b, struct column *c, const void *bytes, size_t size) {
    dn_column_view view;
    dn_error error;
    dn_error_clear(&error);
    const dn_column_type type = type_of_state(c);
    const dn_status status = dn_column_chunk_decode(b->chunk, bytes, size, type, &view, &error);
    if (status == DN_ERR_MEMORY) {
        return out_of_memory(b);
    }
    if (status != DN_OK) {
        problem_set(&b->problem, PROBLEM_INTERNAL, "column \"%s\": a chunk cannot be read back: %s", c->name, error.message);
        return BUILDER_STOP;
    }
    if (!c->summarised && c->missing_before > 0 && !column_summary_add_missing(&c->summary, type, c->missing_before)) {
        return out_of_memory(b);
    }
    c->summarised = true;
    const size_t before = column_summary_counts_memory(&c->summary);
    if (!column_summary_add(&c->summary, &view)) {
        return out_of_memory(b);
    }
    b->counts_memory += column_summary_counts_memory(&c->summary) - before;
    return counts_limit(b);
}

/* ---- delivering --------------------------------------------------------------------------------------------------------------------- */
static void blobs_free(struct table_builder *b, size_t n) {
    for (size_t i = 0; i < n; i++) {
        free(b->blobs[i].bytes);
    }
}

enum builder_status builder_deliver(struct table_builder *b) {
    if (builder_unstage(b) != BUILDER_WELL) {
        return BUILDER_STOP;
    }
    for (size_t i = 0; i < b->n_columns; i++) {
        struct column *c = &b->column[i];
        enum builder_status status = BUILDER_WELL;
        b->blobs[i] = (struct wire_blob){0};
        b->route[i] = c->state == COLUMN_STRINGS || c->state == COLUMN_BOOLEANS ? ROUTE_SLOW : ROUTE_FRESH;
        b->n_stage_routes = 0;
        if (dn_column_builder_encode(c->builder, &b->blobs[i].bytes, &b->blobs[i].size, NULL) != DN_OK) {
            status = out_of_memory(b);
        } else if (c->state == COLUMN_UNKNOWN) {
            c->missing_before += (int64_t)b->rows;
        } else if (!c->again) {
            status = column_sum_up(b, c, b->blobs[i].bytes, b->blobs[i].size);
        }
        if (status != BUILDER_WELL) {
            blobs_free(b, i + 1);
            return status;
        }
    }
    if (!b->sink.chunk(b->sink.arg, b->n_chunks, (int64_t)b->rows, b->blobs, b->n_columns, &b->problem)) {
        return BUILDER_STOP;
    }
    b->n_chunks++;
    b->rows = 0;
    b->string_bytes = 0;
    return BUILDER_WELL;
}

/* ---- the end ------------------------------------------------------------------------------------------------------------------------ */
/* A column that fell after chunks had been summed up as numbers: all of it again, as strings. */
static enum builder_status column_again(struct table_builder *b, size_t i) {
    struct column *c = &b->column[i];
    struct buf bytes = {0};
    enum builder_status status = BUILDER_WELL;
    c->missing_before = 0;
    for (int64_t chunk = 0; chunk < b->n_chunks && status == BUILDER_WELL; chunk++) {
        buf_clear(&bytes);
        if (!b->sink.reread(b->sink.arg, chunk, i, &bytes, &b->problem)) {
            status = BUILDER_STOP;
        } else {
            status = bytes.failed ? out_of_memory(b) : column_sum_up(b, c, bytes.data, bytes.size);
        }
    }
    buf_done(&bytes);
    return status;
}

/* Categorical or text: API.md's rule over the whole column. */
static dn_column_type string_type(const struct column *c) {
    const int64_t distinct = column_summary_distinct(&c->summary, DN_CATEGORICAL);
    const int64_t present = c->summary.n_rows - c->summary.missing;
    return distinct < 0 || (distinct > 100 && 2 * distinct > present) ? DN_TEXT : DN_CATEGORICAL;
}

static enum builder_status column_settle(struct table_builder *b, size_t i) {
    struct column *c = &b->column[i];
    if (c->again) {
        const enum builder_status status = column_again(b, i);
        if (status != BUILDER_WELL) {
            return status;
        }
    }
    if (!c->summarised && !column_summary_add_missing(&c->summary, type_of_state(c), c->missing_before)) {
        return out_of_memory(b);
    }
    if (!c->forced) {
        c->type = c->state == COLUMN_STRINGS ? string_type(c) : type_of_state(c);
    }
    return BUILDER_WELL;
}

bool builder_finish(struct table_builder *b, struct problem *problem) {
    enum builder_status status = b->rows > 0 ? builder_deliver(b) : BUILDER_WELL;
    for (size_t i = 0; i < b->n_columns && status == BUILDER_WELL; i++) {
        status = column_settle(b, i);
    }
    if (status != BUILDER_WELL) {
        problem_move(problem, &b->problem);
    }
    return status == BUILDER_WELL;
}

void builder_write_columns(const struct table_builder *b, struct json_writer *w) {
    json_begin_array(w);
    for (size_t i = 0; i < b->n_columns; i++) {
        column_summary_write(&b->column[i].summary, b->column[i].name, b->column[i].type, w);
    }
    json_end_array(w);
}

/* BLAKE2b over: a name of the form, the numbers of rows and columns, and for each column its name, its type and the digest of its values. Lengths and numbers as u64, little-endian. */
static void add_u64(struct hash_blake2b *h, uint64_t x) {
    unsigned char form[8];
    for (size_t i = 0; i < 8; i++) {
        form[i] = (unsigned char)(x >> (8 * i));
    }
    hash_blake2b_add(h, form, sizeof form);
}

bool builder_content(struct table_builder *b, char out[80]) {
    static const char form[] = "discern table 1";
    uint8_t digest[HASH_BLAKE2B_SIZE];
    struct hash_blake2b *h = hash_blake2b_new();
    bool well = h != NULL;
    if (well) {
        hash_blake2b_add(h, form, sizeof form);
        add_u64(h, (uint64_t)b->n_rows);
        add_u64(h, b->n_columns);
    }
    for (size_t i = 0; well && i < b->n_columns; i++) {
        struct column *c = &b->column[i];
        well = column_summary_digest(&c->summary, digest);
        if (well) {
            add_u64(h, strlen(c->name));
            hash_blake2b_add(h, c->name, strlen(c->name));
            hash_blake2b_add(h, &(unsigned char){(unsigned char)c->type}, 1);
            hash_blake2b_add(h, digest, sizeof digest);
        }
    }
    if (well) {
        hash_blake2b_end(h, digest);
        memcpy(out, "b2:", 3);
        hash_hex(digest, sizeof digest, out + 3);
    }
    hash_blake2b_free(h);
    return well;
}

/* ---- notes -------------------------------------------------------------------------------------------------------------------------- */
static void warn(struct json_writer *w, struct buf *text, size_t *n) {
    if (++*n <= BUILDER_MAX_WARNINGS && !text->failed) {
        json_put_stringn(w, text->data, text->size);
    }
    buf_clear(text);
}

void builder_write_warnings(const struct table_builder *b, struct json_writer *w) {
    struct buf text = {0};
    size_t n = 0;
    for (size_t i = 0; i < b->n_columns; i++) {
        const struct column *c = &b->column[i];
        if (c->summary.missing == c->summary.n_rows) {
            buf_printf(&text, "column \"%s\": every cell is missing", c->name);
            warn(w, &text, &n);
        }
        if (c->fell_line > 0) {
            buf_printf(&text, "column \"%s\": %s because of line %" PRId64 " (%s)", c->name, dn_column_type_name(c->type), c->fell_line,
                       c->fell_text != NULL ? c->fell_text : "");
            warn(w, &text, &n);
        }
        if (c->uncounted) {
            buf_printf(&text, "column \"%s\": its distinct values take too much memory to count", c->name);
            warn(w, &text, &n);
        }
    }
    if (n > BUILDER_MAX_WARNINGS) {
        buf_printf(&text, "and %zu more", n - BUILDER_MAX_WARNINGS);
        json_put_stringn(w, text.data != NULL ? text.data : "", text.size);
    }
    buf_done(&text);
}
