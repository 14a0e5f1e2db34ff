/* GET /v1/datasets/{dataset}/rows: streams rows of one version, chunk by chunk. The version is
 * pinned until the reply has ended. */
#include "api/datasets/rows_columns.h"
#include "api/handlers.h"
#include "api/policy.h"
#include "api/support.h"
#include "base/log/log.h"
#include "formats/formats.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* SLICE_BYTES: approximate output of one step. CELL_BYTES: estimate for one cell. LINK_BYTES: a
 * longer Link header is left out, as the memory for headers is small. */
enum { SLICE_BYTES = 64 * 1024, CELL_BYTES = 12, LINK_BYTES = 8192 };

/* The state of a streamed reply. */
struct rows_stream {
    struct store *store;
    int64_t dataset_id; /* id of the version, which is pinned */
    const struct format *format;
    int64_t offset, end, at; /* the reply has rows [offset, end); `at` is the next row */
    int64_t n_rows;          /* number of rows of the dataset */
    struct rows_columns columns;
    struct rows_chunk present;  /* columns of the current chunk */
    const char **names;         /* [columns.n] */
    dn_column_view *views;      /* [columns.n] views of the slice that is written */
    double *features;           /* [columns.n_places × slice_rows] features of that slice */
    size_t slice_rows;          /* maximum number of rows of a slice */
    struct store_chunk *chunks; /* in row order */
    size_t n_chunks, chunk;     /* number of chunks; index of the current one */
    bool decoded;               /* `present` is chunk `chunk` */
    bool begun;                 /* the head was written */
    const char *head;           /* JSON before the items, in the arena of the call */
};

static void stream_free(void *state) {
    struct rows_stream *s = state;
    store_dataset_unpin(s->store, s->dataset_id);
    rows_chunk_done(&s->columns, &s->present);
    rows_columns_done(&s->columns);
    free(s->names);
    free(s->views);
    free(s->features);
    free(s->chunks);
    free(s);
}

/* ---- the stream ---- */

/* Reads the requested columns of the current chunk. */
static bool decode(struct rows_stream *s, struct problem *problem) {
    for (size_t i = 0; i < s->columns.n_read; i++) {
        if (!rows_chunk_read(&s->columns, s->store, &s->chunks[s->chunk], i, &s->present,
                             problem)) {
            return false;
        }
    }
    s->decoded = true;
    return true;
}

/* Sets the views to rows first … first + n - 1 of the chunk. Features are expanded from the entries
 * of the sparse column. */
static void cut_views(struct rows_stream *s, size_t first, size_t n) {
    const struct rows_columns *c = &s->columns;
    if (c->n_places > 0) {
        sparse_rows_expand(&s->present.views[c->sparse], first, n, c->places, c->n_places,
                           s->features);
    }
    for (size_t i = 0; i < c->n; i++) {
        const struct rows_column *column = &c->column[i];
        if (column->is_feature) {
            s->views[i] = (dn_column_view){.type = DN_NUMERIC,
                                           .n_rows = n,
                                           .number = s->features + column->nth_place * n};
            continue;
        }
        dn_column_view *view = &s->views[i];
        *view = s->present.views[column->read];
        view->n_rows = n;
        if (view->number) {
            view->number += first;
        }
        if (view->code) {
            view->code += first;
        }
    }
}

/* Returns the number of rows from `first` on, at most n, that fill a slice. Rows of a sparse column
 * differ in length. */
static size_t rows_of_slice(const struct rows_stream *s, size_t first, size_t n) {
    const size_t most = n < s->slice_rows ? n : s->slice_rows;
    if (!s->columns.all_places) {
        return most;
    }
    const size_t *start = s->present.views[s->columns.sparse].row_start + first;
    size_t i = 1;
    while (i < most && start[i] - start[0] < SLICE_BYTES / CELL_BYTES) {
        i++;
    }
    return i;
}

static void write_svmlight(struct rows_stream *s, size_t first, size_t n, struct buf *out) {
    const struct rows_columns *c = &s->columns;
    const bool sparse = c->sparse != SIZE_MAX;
    struct svmlight_rows lines = {.label = &s->present.views[c->label]};
    dn_column_view label = s->present.views[c->label];
    if (sparse) {
        lines.entries = &s->present.views[c->sparse];
        lines.first_index = c->schema.columns[c->read[c->sparse]].first_index;
        lines.places = c->all_places ? NULL : c->places;
        lines.n_places = c->n_places;
    } else { /* the views have the rows of the slice only, and the label with them */
        cut_views(s, first, n);
        if (label.number) {
            label.number += first;
        }
        if (label.code) {
            label.code += first;
        }
        lines.label = &label;
        lines.columns = s->views;
        lines.n_columns = c->n;
    }
    svmlight_rows_write(&lines, sparse ? first : 0, n, out);
}

/* Reads the chunk of the next row. */
static bool read_next(struct rows_stream *s, struct problem *problem) {
    while (s->at >= s->chunks[s->chunk].first_row + s->chunks[s->chunk].n_rows) {
        s->chunk++;
        s->decoded = false;
    }
    return s->decoded || decode(s, problem);
}

/* Writes the next slice of rows. */
static bool write_slice(struct rows_stream *s, struct buf *out, struct problem *problem) {
    if (!read_next(s, problem)) {
        return false;
    }
    const struct store_chunk *chunk = &s->chunks[s->chunk];
    const size_t first = (size_t)(s->at - chunk->first_row);
    const int64_t in_chunk = chunk->first_row + chunk->n_rows - s->at, wanted = s->end - s->at;
    const size_t n = rows_of_slice(s, first, (size_t)(in_chunk < wanted ? in_chunk : wanted));
    if (s->format->rows->entries) {
        write_svmlight(s, first, n, out);
    } else {
        cut_views(s, first, n);
        s->format->rows->rows(s->views, s->names, s->columns.n, 0, n, s->at > s->offset, out);
    }
    s->at += (int64_t)n;
    return true;
}

static void write_head(const struct rows_stream *s, struct buf *out) {
    if (s->format->rows->header != NULL) {
        s->format->rows->header(s->names, s->columns.n, out);
    } else if (s->format->rows->document) {
        buf_puts(out, s->head);
    }
}

static void write_tail(const struct rows_stream *s, struct buf *out) {
    if (!s->format->rows->document) {
        return;
    }
    if (s->end < s->n_rows) {
        buf_printf(out, "],\"next\":%" PRId64 "}", s->end);
    } else {
        buf_puts(out, "],\"next\":null}");
    }
}

static enum http_stream_state stream_next(struct http_call *call, struct buf *out, bool idle,
                                          bool draining) {
    struct rows_stream *s = http_state(call);
    struct problem problem = {0};
    (void)idle;
    (void)draining; /* the drain waits for replies until --drain-timeout */
    if (!s->begun) {
        write_head(s, out);
    }
    s->begun = true;
    while (s->at < s->end && out->size < SLICE_BYTES && !out->failed) {
        if (!write_slice(s, out, &problem)) {
            log_error("rows.read", log_str("request", http_request_id(call)),
                      log_int("dataset_id", s->dataset_id), log_str("detail", problem.detail));
            problem_done(&problem);
            return HTTP_STREAM_ABORT;
        }
    }
    if (s->at < s->end) {
        return HTTP_STREAM_MORE;
    }
    write_tail(s, out);
    return HTTP_STREAM_END;
}

/* ---- the call ---- */

/* Allocates the names and the memory of a slice. */
static bool stream_room(struct rows_stream *s, struct problem *problem) {
    const struct rows_columns *c = &s->columns;
    s->slice_rows = SLICE_BYTES / (CELL_BYTES * (c->n + 1)) + 1;
    s->names = calloc(c->n + 1, sizeof *s->names);
    s->views = calloc(c->n + 1, sizeof *s->views);
    s->features = malloc((c->n_places * s->slice_rows + 1) * sizeof *s->features);
    if (!s->names || !s->views || !s->features) {
        return problem_set(problem, PROBLEM_UNAVAILABLE, "no memory to read %zu columns", c->n);
    }
    for (size_t i = 0; i < c->n; i++) {
        s->names[i] = c->column[i].name;
    }
    return rows_chunk_new(c, &s->present, problem);
}

static struct rows_stream *stream_new(struct http_call *call, const struct store_dataset *d,
                                      const struct format *format, int64_t offset, int64_t limit,
                                      struct problem *problem) {
    struct rows_stream *s = calloc(1, sizeof *s);
    if (!s) {
        problem_set(problem, PROBLEM_UNAVAILABLE, "no memory to read rows");
        return NULL;
    }
    s->store = api_app_of(call)->store;
    s->n_rows = d->n_rows;
    s->format = format;
    s->offset = s->at = offset;
    s->end = offset >= d->n_rows ? offset : d->n_rows - offset < limit ? d->n_rows : offset + limit;
    if (!store_dataset_pin(s->store, d->id, problem)) {
        stream_free(s);
        return NULL;
    }
    s->dataset_id = d->id;
    if (rows_columns_choose(d->columns, format, http_query(call, "columns"),
                            http_query(call, "label"), &s->columns, problem) &&
        stream_room(s, problem) &&
        store_dataset_chunks(s->store, d->id, &s->chunks, &s->n_chunks, problem) &&
        (!format->rows->entries ||
         rows_columns_check_svmlight(&s->columns, s->store, s->chunks, s->n_chunks, s->offset,
                                     s->end, problem)) &&
        /* damage of the first chunk is a problem, not the end of a stream */
        (s->at >= s->end || read_next(s, problem))) {
        return s;
    }
    stream_free(s);
    return NULL;
}

/* Returns the hash of all that determines the reply: the table, its name and version (which the
 * JSON has), the format, the rows and the columns. */
static const char *rows_etag(struct http_call *call, const struct rows_stream *s,
                             const struct store_dataset *d) {
    struct buf text = {0};
    buf_printf(&text, "%s %s %" PRId64 " %s %s %" PRId64 " %" PRId64, DISCERN_VERSION, d->name,
               d->version, d->content, format_media_type(s->format), s->offset, s->end);
    for (size_t i = 0; i < s->columns.n_read; i++) {
        buf_printf(&text, " %zu", s->columns.read[i]);
    }
    for (size_t i = 0; i < s->columns.n; i++) {
        buf_printf(&text, " %zu:%" PRIu32, s->columns.column[i].read, s->columns.column[i].place);
    }
    const char *etag = text.failed ? NULL : api_etag(call, text.data, text.size);
    buf_done(&text);
    return etag;
}

/* Sets the headers Discern-Rows and Link, as CSV and NDJSON cannot hold the number of rows and the
 * next page. The link has the version, so that all pages are of the same table. */
static void put_page_headers(struct http_call *call, const struct rows_stream *s,
                             const char *dataset, int64_t version, int64_t limit) {
    char rows[24];
    static const char *const kept[] = {"columns", "label"};
    struct buf link = {0};
    (void)snprintf(rows, sizeof rows, "%" PRId64, s->n_rows);
    http_reply_header(call, "Discern-Rows", rows);
    if (s->end >= s->n_rows) {
        return;
    }
    buf_printf(&link, "<%s?version=%" PRId64 "&offset=%" PRId64 "&limit=%" PRId64,
               http_link(call, "/v1/datasets/%s/rows", dataset), version, s->end, limit);
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        const char *value = http_query(call, kept[i]);
        if (!value) {
            continue;
        }
        buf_printf(&link, "&%s=", kept[i]);
        api_put_escaped(&link, value);
    }
    buf_puts(&link, ">; rel=\"next\"");
    const char *text = buf_cstr(&link);
    if (text && link.size <= LINK_BYTES) {
        http_reply_header(call, "Link", text);
    }
    buf_done(&link);
}

void api_dataset_rows(struct http_call *call) {
    struct problem problem = {0};
    struct store_dataset d;
    int64_t offset = 0, limit = 100;
    if (!api_query_int(call, "offset", 0, API_NUMBER_MAX, &offset) ||
        !api_query_int(call, "limit", 1, API_NUMBER_MAX, &limit)) {
        return;
    }
    const struct format *format = api_reply_format(call, &format_json);
    if (!api_dataset_find(call, &d)) {
        return;
    }
    struct rows_stream *s = stream_new(call, &d, format, offset, limit, &problem);
    if (!s) {
        store_dataset_done(&d);
        http_reply_problem(call, &problem);
        return;
    }
    s->head = arena_printf(http_arena(call),
                           "{\"dataset\":\"%s\",\"version\":%" PRId64 ",\"rows\":%" PRId64
                           ",\"offset\":%" PRId64 ",\"items\":[",
                           d.name, d.version, d.n_rows, offset);
    const char *etag = rows_etag(call, s, &d);
    put_page_headers(call, s, d.name, d.version, limit);
    store_dataset_done(&d);
    if (etag) {
        http_etag(call, etag);
    }
    http_set_state(call, s);
    http_on_done(call, stream_free);
    if (s->head) {
        http_stream(call, 200, format_media_type(format), 0, stream_next);
    } else {
        http_fail(call, PROBLEM_UNAVAILABLE, "no memory to read rows");
    }
}
