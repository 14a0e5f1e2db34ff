/* POST /v1/datasets:preview: describes the dataset that an upload of this body would make, and
 * shows its first rows. The body is read and staged as that of an upload, up to --max-body bytes;
 * then the staged chunks are dropped, and the rest of a longer body is discarded. So the preview of
 * a body that is read to its end equals the upload. */
#include "api/datasets/dataset_body.h"
#include "api/handlers.h"
#include "api/support.h"
#include "base/json/json.h"

#include <stdlib.h>
#include <string.h>

enum { PREVIEW_ROWS = 20 };

/* ---- the answer ---- */

/* The columns of one chunk, decoded. */
struct decoded {
    size_t n; /* number of columns whose decoder was made */
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

/* Reads and decodes a staged chunk. */
static bool decode(struct dataset_body *b, const struct schema *schema, int64_t chunk,
                   struct decoded *d, struct problem *problem) {
    struct buf bytes = {0};
    *d = (struct decoded){.chunk = calloc(schema->n, sizeof(dn_column_chunk *)),
                          .view = calloc(schema->n, sizeof(dn_column_view))};
    bool good = d->chunk && d->view;
    for (size_t i = 0; good && i < schema->n; i++) {
        if (!store_part_read(b->store, b->part, chunk, i, &bytes, problem)) {
            buf_done(&bytes);
            return false;
        }
        good = dn_column_chunk_new(&d->chunk[i], NULL) == DN_OK;
        d->n += good;
        good = good && dn_column_chunk_decode(d->chunk[i], bytes.data, bytes.size,
                                              schema_shown_type(&schema->columns[i]), &d->view[i],
                                              NULL) == DN_OK;
    }
    buf_done(&bytes);
    /* a chunk that was just encoded can only fail for lack of memory */
    return good || problem_set(problem, PROBLEM_UNAVAILABLE, "no memory for the preview");
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

/* Writes the first rows as a JSON array. */
static bool write_first(struct dataset_body *b, const struct schema *schema,
                        const struct table_summary *s, struct buf *out, struct problem *problem) {
    const char **names = calloc(schema->n, sizeof *names);
    int64_t left = b->show;
    bool good = true;
    if (names == NULL) {
        return problem_set(problem, PROBLEM_UNAVAILABLE, "no memory for the preview");
    }
    for (size_t i = 0; i < schema->n; i++) {
        names[i] = schema->columns[i].name;
    }
    buf_putc(out, '[');
    for (int64_t c = 0; good && c < s->n_chunks && left > 0; c++) {
        struct decoded d;
        good = decode(b, schema, c, &d, problem);
        if (good) {
            const size_t n = d.view[0].n_rows;
            const size_t shown = (int64_t)n < left ? n : (size_t)left;
            write_rows(schema, &d, names, shown, c > 0, out);
            left -= (int64_t)shown;
        }
        decoded_done(&d);
    }
    buf_putc(out, ']');
    free(names);
    return good;
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

static bool write_preview(struct dataset_body *b, const struct table_summary *s, bool cut,
                          struct buf *out, struct problem *problem) {
    struct schema schema;
    struct buf rows = {0};
    if (!schema_parse(s->columns, &schema, problem)) {
        return false;
    }
    bool good = write_first(b, &schema, s, &rows, problem);
    schema_done(&schema);
    struct json_writer w = json_writer_of(out);
    json_begin_object(&w);
    good = good && write_notes(s->notes, &w, problem);
    (void)schema_columns_write(s->columns, s->n_rows, &w);
    json_put_key(&w, "rows");
    json_put_raw(&w, rows.data ? rows.data : "[]", rows.data ? rows.size : 2);
    json_kv_bool(&w, "truncated", cut || s->n_rows > b->show);
    json_kv_begin_object(&w, "judged");
    json_kv_int(&w, "rows", s->n_rows);
    json_kv_int(&w, "bytes", s->bytes);
    json_kv_bool(&w, "whole", !cut);
    json_end_object(&w);
    json_end_object(&w);
    if (good && (rows.failed || out->failed)) {
        good = problem_set(problem, PROBLEM_UNAVAILABLE, "no memory for the preview");
    }
    buf_done(&rows);
    return good;
}

/* Answers with what was read. cut: the body has more bytes. */
static void answer(struct http_call *call, bool cut) {
    struct dataset_body *b = http_state(call);
    struct problem problem = {0};
    struct table_summary s;
    struct buf body = {0};
    if (cut) {
        table_cut(b->table);
    }
    const bool good = dataset_body_read_end(call, b, &s, &problem) &&
                      dataset_body_settle(b, &problem) &&
                      write_preview(b, &s, cut, &body, &problem);
    dataset_body_release(b);
    if (good) {
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
    struct dataset_body *b = dataset_body_new(call);
    if (!b) {
        return false;
    }
    const struct table_sink sink = dataset_body_sink(b);
    b->show = options.rows;
    b->table = table_new(&options, &sink);
    if (!b->table) {
        http_fail(call, PROBLEM_UNAVAILABLE, "no memory for the preview");
        return false;
    }
    return true;
}

static enum http_sink_state preview_data(struct http_call *call, const char *bytes, size_t n) {
    struct dataset_body *b = http_state(call);
    const int64_t room = api_app_of(call)->max_body - b->bytes;
    const size_t take = (int64_t)n < room ? n : (size_t)room;
    b->bytes += (int64_t)take;
    const enum http_sink_state state = dataset_body_data(call, bytes, take);
    if (state == HTTP_SINK_REFUSED || take == n) {
        return state;
    }
    answer(call, true);
    return HTTP_SINK_REFUSED;
}

static void preview_end(struct http_call *call) {
    answer(call, false);
}

const struct http_sink api_dataset_preview = {.begin = preview_begin,
                                              .data = preview_data,
                                              .end = preview_end,
                                              .abort = dataset_body_abort,
                                              .holds = DATASET_BODY_HOLDS};
