/* POST /v1/datasets:preview: describes the dataset that an upload of this body would make, from its
 * first rows. Nothing is stored. The reader of uploads gets bytes until it has the requested rows
 * or PREVIEW_BYTES; its chunks stay in memory. Then the call is answered, and the rest of the body
 * is received and discarded. */
#include "api/datasets/dataset_body.h"
#include "api/handlers.h"
#include "api/support.h"
#include "base/json/json.h"

#include <stdlib.h>
#include <string.h>

enum { PREVIEW_ROWS = 20, PREVIEW_BYTES = 1 << 20 };

/* A chunk as the reader delivered it. */
struct preview_chunk {
    int64_t n_rows;
    size_t n_columns;
    struct table_blob *blob; /* [n_columns] */
};

struct preview {
    struct table *table;
    struct preview_chunk *chunk; /* [n_chunks] */
    size_t n_chunks;
    size_t fed; /* bytes */
};

static void preview_free(void *state) {
    struct preview *p = state;
    for (size_t c = 0; c < p->n_chunks; c++) {
        for (size_t i = 0; i < p->chunk[c].n_columns; i++) {
            free(p->chunk[c].blob[i].bytes);
        }
        free(p->chunk[c].blob);
    }
    free(p->chunk);
    table_free(p->table);
    free(p);
}

/* ---- the reader's sink ---- */

static bool take_chunk(void *arg, int64_t chunk, int64_t n_rows, struct table_blob *blobs,
                       size_t n_columns, struct problem *problem) {
    struct preview *p = arg;
    struct preview_chunk *grown = realloc(p->chunk, ((size_t)chunk + 1) * sizeof *grown);
    struct table_blob *copy = malloc(n_columns * sizeof *copy);
    if (grown) {
        p->chunk = grown;
    }
    if (!grown || !copy) {
        for (size_t i = 0; i < n_columns; i++) {
            free(blobs[i].bytes);
        }
        free(copy);
        return problem_set(problem, PROBLEM_UNAVAILABLE, "no memory for the preview");
    }
    memcpy(copy, blobs, n_columns * sizeof *copy);
    p->chunk[p->n_chunks++] = (struct preview_chunk){n_rows, n_columns, copy};
    return true;
}

static bool reread_chunk(void *arg, int64_t chunk, size_t column, struct buf *out,
                         struct problem *problem) {
    const struct preview *p = arg;
    const struct table_blob *blob = &p->chunk[chunk].blob[column];
    (void)problem;
    buf_append(out, blob->bytes, blob->size);
    return true;
}

/* ---- the answer ---- */

/* The columns of one chunk, decoded. */
struct decoded {
    size_t n; /* columns begun */
    dn_column_chunk **chunk;
    dn_column_view *view;
};

static void decoded_done(struct decoded *d) {
    for (size_t i = 0; i < d->n; i++) {
        dn_column_chunk_free(d->chunk[i]);
    }
    free(d->chunk);
    free(d->view);
}

/* false: out of memory; a chunk that was just encoded has no other fault. */
static bool decode(const struct schema *schema, const struct preview_chunk *chunk,
                   struct decoded *d) {
    *d = (struct decoded){.chunk = calloc(schema->n, sizeof(dn_column_chunk *)),
                          .view = calloc(schema->n, sizeof(dn_column_view))};
    bool good = d->chunk && d->view;
    for (size_t i = 0; good && i < schema->n; i++) {
        const struct table_blob *blob = &chunk->blob[i];
        good = dn_column_chunk_new(&d->chunk[i], NULL) == DN_OK;
        d->n += good;
        good = good && dn_column_chunk_decode(d->chunk[i], blob->bytes, blob->size,
                                              schema->columns[i].type, &d->view[i], NULL) == DN_OK;
    }
    return good;
}

/* Writes the label and the features of a sparse table, or all columns of another table. */
static void write_rows(const struct schema *schema, const struct decoded *d,
                       const char *const *names, size_t n, bool begun, struct buf *out) {
    if (schema->n == 2 && schema->columns[1].type == DN_SPARSE) {
        const struct sparse_rows rows = {.label = &d->view[0],
                                         .entries = &d->view[1],
                                         .label_name = names[0],
                                         .name = names[1],
                                         .first_index = schema->columns[1].first_index};
        sparse_rows_write(&rows, n, begun, out);
    } else {
        format_json.rows->rows(d->view, names, schema->n, 0, n, begun, out);
    }
}

/* Writes all rows as a JSON array. */
static void write_chunks(const struct preview *p, const struct schema *schema, struct buf *out) {
    const char **names = calloc(schema->n, sizeof *names);
    if (!names) {
        out->failed = true;
        return;
    }
    for (size_t i = 0; i < schema->n; i++) {
        names[i] = schema->columns[i].name;
    }
    buf_putc(out, '[');
    for (size_t c = 0; c < p->n_chunks && !out->failed; c++) {
        struct decoded d;
        if (decode(schema, &p->chunk[c], &d)) {
            write_rows(schema, &d, names, (size_t)p->chunk[c].n_rows, c > 0, out);
        } else {
            out->failed = true;
        }
        decoded_done(&d);
    }
    buf_putc(out, ']');
    free(names);
}

/* Writes the notes, and their format and warnings as separate members. */
static bool write_notes(const char *notes, struct json_writer *w, struct problem *problem) {
    json_t *root = json_parse(notes, strlen(notes), problem);
    char *warnings = root ? json_dumps(json_object_get(root, "warnings"), JSON_COMPACT) : NULL;
    if (root) {
        json_kv_string(w, "format", json_string_value(json_object_get(root, "format")));
    }
    json_kv_raw(w, "warnings", warnings);
    json_kv_raw(w, "notes", notes);
    free(warnings);
    json_decref(root);
    return root &&
           (warnings || problem_set(problem, PROBLEM_UNAVAILABLE, "no memory for the preview"));
}

static bool write_preview(const struct preview *p, const struct table_summary *s, bool truncated,
                          struct buf *out, struct problem *problem) {
    struct schema schema;
    struct buf rows = {0};
    if (!schema_parse(s->columns, &schema, problem)) {
        return false;
    }
    write_chunks(p, &schema, &rows);
    schema_done(&schema);
    struct json_writer w = json_writer_of(out);
    json_begin_object(&w);
    bool good = write_notes(s->notes, &w, problem);
    schema_columns_write(s->columns, s->n_rows, &w);
    json_put_key(&w, "rows");
    json_put_raw(&w, rows.data ? rows.data : "[]", rows.data ? rows.size : 2);
    json_kv_bool(&w, "truncated", truncated);
    json_end_object(&w);
    if (good && (rows.failed || out->failed)) {
        good = problem_set(problem, PROBLEM_UNAVAILABLE, "no memory for the preview");
    }
    buf_done(&rows);
    return good;
}

/* Answers with the rows that were read. cut: the body has more bytes. */
static void answer(struct http_call *call, bool cut) {
    struct preview *p = http_state(call);
    struct problem problem = {0};
    struct table_summary s;
    struct buf body = {0};
    if (cut) {
        table_cut(p->table);
    }
    if (table_end(p->table, &s, &problem) &&
        write_preview(p, &s, cut || table_is_full(p->table), &body, &problem)) {
        api_reply_json(call, 200, &body);
    } else {
        buf_done(&body);
        http_reply_problem(call, &problem);
    }
}

/* ---- the call's sink ---- */

static bool preview_begin(struct http_call *call) {
    struct table_options options = {.rows = PREVIEW_ROWS};
    struct dataset_options texts;
    if (!dataset_body_options(call, &options, &texts)) {
        return false;
    }
    struct preview *p = calloc(1, sizeof *p);
    if (p) {
        p->table =
            table_new(&options,
                      &(struct table_sink){.chunk = take_chunk, .reread = reread_chunk, .arg = p});
    }
    if (!p || !p->table) {
        free(p);
        http_fail(call, PROBLEM_UNAVAILABLE, "no memory for the preview");
        return false;
    }
    http_set_state(call, p);
    http_on_done(call, preview_free);
    return true;
}

static enum http_sink_state preview_data(struct http_call *call, const char *bytes, size_t n) {
    struct preview *p = http_state(call);
    struct problem problem = {0};
    const size_t room = PREVIEW_BYTES - p->fed, take = n < room ? n : room;
    p->fed += take;
    if (!table_feed(p->table, bytes, take, &problem)) {
        http_reply_problem(call, &problem);
        return HTTP_SINK_REFUSED;
    }
    if (take == n && !table_is_full(p->table)) {
        return HTTP_SINK_MORE;
    }
    answer(call, take < n);
    return HTTP_SINK_REFUSED;
}

static void preview_end(struct http_call *call) {
    answer(call, false);
}

static void preview_abort(struct http_call *call) {
    (void)call; /* preview_free frees the state when the call is over */
}

const struct http_sink api_dataset_preview = {.begin = preview_begin,
                                              .data = preview_data,
                                              .end = preview_end,
                                              .abort = preview_abort,
                                              .holds = DATASET_BODY_HOLDS};
