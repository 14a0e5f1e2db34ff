#include "unit/formats/table_helper.h"

bool table_sink_chunk(void *arg, int64_t chunk, int64_t n_rows, struct table_blob *blobs,
                      size_t n_columns, struct problem *problem) {
    struct table_copy *t = arg;
    (void)problem;
    assert_int_equal(chunk, t->n_chunks);
    assert_true(n_rows > 0);
    assert_true(t->n_columns == 0 || t->n_columns == n_columns);
    t->n_columns = n_columns;
    t->blobs = realloc(t->blobs, (t->n_chunks + 1) * n_columns * sizeof *t->blobs);
    t->rows = realloc(t->rows, (t->n_chunks + 1) * sizeof *t->rows);
    assert_non_null(t->blobs);
    assert_non_null(t->rows);
    memcpy(t->blobs + t->n_chunks * n_columns, blobs, n_columns * sizeof *blobs);
    t->rows[t->n_chunks++] = n_rows;
    return true;
}

bool table_sink_forget(void *arg, int64_t chunk, int64_t n_rows, struct table_blob *blobs,
                       size_t n_columns, struct problem *problem) {
    size_t *chunks = arg;
    (void)chunk;
    (void)n_rows;
    (void)problem;
    for (size_t i = 0; i < n_columns; i++) {
        free(blobs[i].bytes);
    }
    if (chunks != NULL) {
        ++*chunks;
    }
    return true;
}

bool table_sink_reread(void *arg, int64_t chunk, size_t column, struct buf *out,
                       struct problem *problem) {
    struct table_copy *t = arg;
    (void)problem;
    assert_true((size_t)chunk < t->n_chunks && column < t->n_columns);
    const struct table_blob *blob = &t->blobs[(size_t)chunk * t->n_columns + column];
    t->n_reread++;
    buf_append(out, blob->bytes, blob->size);
    return true;
}

struct table_blob *table_copy_saved(const struct table_summary *sum, size_t *n) {
    *n = (size_t)sum->n_columns;
    struct table_blob *saved = calloc(*n, sizeof *saved);
    assert_non_null(saved);
    for (size_t i = 0; i < *n; i++) {
        saved[i] = (struct table_blob){malloc(sum->saved[i].size), sum->saved[i].size};
        assert_true(saved[i].bytes != NULL && saved[i].size > 0);
        memcpy(saved[i].bytes, sum->saved[i].bytes, saved[i].size);
    }
    return saved;
}

void table_free_saved(struct table_blob *saved, size_t n) {
    for (size_t i = 0; i < n; i++) {
        free(saved[i].bytes);
    }
    free(saved);
}

struct table_copy table_read_cut(const struct table_options *options, const char *body, size_t size,
                                 const size_t *cut, size_t n_cuts) {
    struct table_copy t = {0};
    struct problem early = {0};
    const struct table_sink sink = {table_sink_chunk, table_sink_reread, &t};
    struct table *reader = table_new(options, &sink);
    assert_non_null(reader);
    size_t at = 0;
    bool go_on = true;
    for (size_t i = 0; i <= n_cuts && go_on; i++) {
        const size_t upto = i < n_cuts ? cut[i] : size;
        /* a separate block for each piece, so that the sanitizer reports a read beyond its end */
        char *piece = malloc(upto - at + 1);
        assert_non_null(piece);
        memcpy(piece, body + at, upto - at);
        go_on = table_feed(reader, piece, upto - at, &early);
        free(piece);
        at = upto;
    }
    t.well = table_end(reader, &t.sum, &t.problem);
    assert_true(go_on || !t.well);
    if (t.well) {
        t.columns = strdup(t.sum.columns);
        t.notes = strdup(t.sum.notes);
        t.saved = table_copy_saved(&t.sum, &t.n_saved);
    } else {
        assert_int_not_equal(t.problem.type, PROBLEM_NONE);
        problem_write(&t.problem, "", NULL, &t.problem_text);
        if (!go_on) { /* table_feed and table_end must report the same problem */
            struct buf text = {0};
            problem_write(&early, "", NULL, &text);
            assert_string_equal(buf_cstr(&text), buf_cstr(&t.problem_text));
            buf_done(&text);
        }
    }
    problem_done(&early);
    table_free(reader);
    return t;
}

struct table_copy table_read_options(const struct table_options *options, const char *body) {
    return table_read_cut(options, body, strlen(body), NULL, 0);
}

struct table_copy cells_read(const char *body) {
    return table_read_options(&(struct table_options){0}, body);
}

void table_done(struct table_copy *t) {
    for (size_t i = 0; i < t->n_chunks * t->n_columns; i++) {
        free(t->blobs[i].bytes);
    }
    free(t->blobs);
    free(t->rows);
    free(t->columns);
    free(t->notes);
    table_free_saved(t->saved, t->n_saved);
    problem_done(&t->problem);
    buf_done(&t->problem_text);
}

void table_rows(const struct table_copy *t, const struct format *format, bool as_text,
                struct buf *out) {
    struct schema schema = {0};
    struct problem problem = {0};
    assert_true(schema_parse(t->columns, &schema, &problem));
    assert_int_equal(schema.n, t->n_columns);
    const char **names = calloc(schema.n, sizeof *names);
    dn_column_chunk **chunk = calloc(schema.n, sizeof *chunk);
    dn_column_view *view = calloc(schema.n, sizeof *view);
    assert_true(names != NULL && chunk != NULL && view != NULL);
    for (size_t j = 0; j < schema.n; j++) {
        names[j] = schema.columns[j].name;
        assert_int_equal(dn_column_chunk_new(&chunk[j], NULL), DN_OK);
    }
    if (format->rows->header != NULL) {
        format->rows->header(names, schema.n, out);
    }
    bool begun = false;
    for (size_t c = 0; c < t->n_chunks; c++) {
        for (size_t j = 0; j < schema.n; j++) {
            const struct table_blob *blob = &t->blobs[c * t->n_columns + j];
            dn_error error;
            dn_error_clear(&error);
            const dn_column_type type = as_text ? DN_TEXT : schema.columns[j].type;
            if (dn_column_chunk_decode(chunk[j], blob->bytes, blob->size, type, &view[j], &error) !=
                DN_OK) {
                fail_msg("column %s: %s", names[j], error.message);
            }
            assert_int_equal(view[j].n_rows, t->rows[c]);
        }
        format->rows->rows(view, names, schema.n, 0, (size_t)t->rows[c], begun, out);
        begun = true;
    }
    for (size_t j = 0; j < schema.n; j++) {
        dn_column_chunk_free(chunk[j]);
    }
    free(names);
    free(chunk);
    free(view);
    schema_done(&schema);
}

uint32_t cells_random(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}
