/* GET /v1/datasets/{dataset}/rows: rows of one version, written chunk by chunk while the client takes them. The version is pinned until the answer has ended. */
#include "api/handlers.h"
#include "api/support.h"
#include "base/log.h"
#include "wire/list_item.h"
#include "wire/wire.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* About what one step writes; what a cell is reckoned at; a longer link is left out, for the headers of an answer have little room. */
enum { SLICE_BYTES = 64 * 1024, CELL_BYTES = 12, LINK_BYTES = 8192 };

/* An answer being streamed. */
struct rows_stream {
    struct store *store;
    int64_t dataset_id; /* pinned */
    enum wire_row_format format;
    int64_t offset, end, at;    /* rows [offset, end) are wanted; `at` is the next one */
    int64_t n_rows;             /* of the dataset */
    size_t n;                   /* columns wanted */
    size_t *stored;             /* [n] their index in the dataset */
    const char **names;         /* [n] in the schema */
    dn_column_type *types;      /* [n] */
    dn_column_chunk **decoders; /* [n] */
    dn_column_view *views;      /* [n] of the present chunk */
    struct wire_schema schema;
    struct store_chunk *chunks; /* in row order */
    size_t n_chunks, chunk;     /* how many; the present one */
    bool decoded;               /* views show chunk `chunk` */
    struct buf blob;            /* one encoded column */
    bool begun;                 /* the head was written */
    const char *head;           /* JSON: what stands before the items; in the call's arena */
};

static void stream_free(void *state) {
    struct rows_stream *s = state;
    store_dataset_unpin(s->store, s->dataset_id);
    for (size_t i = 0; s->decoders && i < s->n; i++)
        dn_column_chunk_free(s->decoders[i]);
    wire_schema_done(&s->schema);
    buf_done(&s->blob);
    free(s->stored);
    free(s->names);
    free(s->types);
    free(s->decoders);
    free(s->views);
    free(s->chunks);
    free(s);
}

/* ---- which columns ---- */

static void take_column(struct rows_stream *s, size_t index) {
    const struct wire_column *c = &s->schema.columns[index];
    s->stored[s->n] = index;
    s->names[s->n] = c->name;
    s->types[s->n] = c->type;
    s->n++;
}

/* ?columns=a,b: a list as in list_item.h. */
static bool take_named(struct rows_stream *s, const char *list, struct problem *problem) {
    char name[WIRE_MAX_NAME + 1];
    for (;; list++) {
        size_t n = 0;
        struct text behind;
        list = list_item(list, name, WIRE_MAX_NAME, &n, &behind);
        if (!list || behind.n > 0)
            return problem_set(problem, PROBLEM_BAD_REQUEST,
                               "query parameter \"columns\": a name in quotes must end with a quote, then a comma or the end");
        if (n > WIRE_MAX_NAME)
            return problem_set(problem, PROBLEM_BAD_REQUEST, "query parameter \"columns\" has a name longer than %d bytes", WIRE_MAX_NAME);
        name[n] = '\0';
        ptrdiff_t index = wire_schema_find(&s->schema, name);
        if (index < 0)
            return problem_set(problem, PROBLEM_BAD_REQUEST, "query parameter \"columns\" names \"%s\", which is no column of the dataset",
                               name);
        for (size_t i = 0; i < s->n; i++)
            if (s->stored[i] == (size_t)index)
                return problem_set(problem, PROBLEM_BAD_REQUEST, "query parameter \"columns\" names \"%s\" twice", name);
        take_column(s, (size_t)index);
        if (!*list)
            return true;
    }
}

static bool take_columns(struct rows_stream *s, const char *list, struct problem *problem) {
    size_t room = s->schema.n ? s->schema.n : 1;
    s->stored = calloc(room, sizeof *s->stored);
    s->names = calloc(room, sizeof *s->names);
    s->types = calloc(room, sizeof *s->types);
    s->decoders = calloc(room, sizeof(dn_column_chunk *));
    s->views = calloc(room, sizeof *s->views);
    if (!s->stored || !s->names || !s->types || !s->decoders || !s->views)
        return problem_set(problem, PROBLEM_UNAVAILABLE, "no memory to read %zu columns", s->schema.n);
    if (list && !take_named(s, list, problem))
        return false;
    for (size_t i = 0; !list && i < s->schema.n; i++)
        take_column(s, i);
    return true;
}

/* ---- the stream ---- */

/* Decodes the wanted columns of the present chunk. */
static bool decode(struct rows_stream *s, struct problem *problem) {
    const struct store_chunk *chunk = &s->chunks[s->chunk];
    dn_error err;
    dn_error_clear(&err);
    for (size_t i = 0; i < s->n; i++) {
        if (!s->decoders[i] && dn_column_chunk_new(&s->decoders[i], &err) != DN_OK)
            return problem_set(problem, PROBLEM_UNAVAILABLE, "%s", err.message);
        if (!store_chunk_read(s->store, chunk, s->stored[i], &s->blob, problem))
            return false;
        if (dn_column_chunk_decode(s->decoders[i], s->blob.data, s->blob.size, s->types[i], &s->views[i], &err) != DN_OK)
            return problem_set(problem, PROBLEM_INTERNAL, "column \"%s\": %s", s->names[i], err.message);
        if ((int64_t)s->views[i].n_rows != chunk->n_rows)
            return problem_set(problem, PROBLEM_INTERNAL, "column \"%s\" has a chunk of %zu rows, expected %" PRId64, s->names[i],
                               s->views[i].n_rows, chunk->n_rows);
    }
    s->decoded = true;
    return true;
}

/* Writes the next slice of rows. */
static bool write_slice(struct rows_stream *s, struct buf *out, struct problem *problem) {
    while (s->at >= s->chunks[s->chunk].first_row + s->chunks[s->chunk].n_rows) {
        s->chunk++;
        s->decoded = false;
    }
    if (!s->decoded && !decode(s, problem))
        return false;
    const struct store_chunk *chunk = &s->chunks[s->chunk];
    int64_t n = chunk->first_row + chunk->n_rows - s->at, most = (int64_t)(SLICE_BYTES / (CELL_BYTES * (s->n + 1))) + 1;
    if (n > s->end - s->at)
        n = s->end - s->at;
    if (n > most)
        n = most;
    wire_rows_write(s->format, s->views, s->names, s->n, (size_t)(s->at - chunk->first_row), (size_t)n, s->at > s->offset, out);
    s->at += n;
    return true;
}

static void write_head(const struct rows_stream *s, struct buf *out) {
    if (s->format == WIRE_ROWS_CSV)
        wire_csv_header(s->names, s->n, out);
    else if (s->format == WIRE_ROWS_JSON)
        buf_puts(out, s->head);
}

static void write_tail(const struct rows_stream *s, struct buf *out) {
    if (s->format != WIRE_ROWS_JSON)
        return;
    if (s->end < s->n_rows)
        buf_printf(out, "],\"next\":%" PRId64 "}", s->end);
    else
        buf_puts(out, "],\"next\":null}");
}

static enum http_stream_state stream_next(struct http_call *call, struct buf *out, bool idle, bool draining) {
    struct rows_stream *s = http_state(call);
    struct problem problem = {0};
    (void)idle;
    (void)draining; /* a request in flight has the drain's time-out to end in */
    if (!s->begun)
        write_head(s, out);
    s->begun = true;
    while (s->at < s->end && out->size < SLICE_BYTES && !out->failed) {
        if (!write_slice(s, out, &problem)) {
            log_error("rows.read", log_str("request", http_request_id(call)), log_int("dataset_id", s->dataset_id),
                      log_str("detail", problem.detail));
            problem_done(&problem);
            return HTTP_STREAM_ABORT;
        }
    }
    if (s->at < s->end)
        return HTTP_STREAM_MORE;
    write_tail(s, out);
    return HTTP_STREAM_END;
}

/* ---- the call ---- */

static struct rows_stream *stream_new(struct http_call *call, const struct store_dataset *d, struct problem *problem) {
    struct rows_stream *s = calloc(1, sizeof *s);
    if (!s) {
        problem_set(problem, PROBLEM_UNAVAILABLE, "no memory to read rows");
        return NULL;
    }
    s->store = api_app_of(call)->store;
    s->dataset_id = d->id;
    s->n_rows = d->n_rows;
    store_dataset_pin(s->store, s->dataset_id);
    if (wire_schema_parse(d->columns, &s->schema, problem) && take_columns(s, http_query(call, "columns"), problem) &&
        store_dataset_chunks(s->store, d->id, &s->chunks, &s->n_chunks, problem))
        return s;
    stream_free(s);
    return NULL;
}

/* What the answer depends on: the table, its name and version (they stand in the JSON), the form, the rows and the columns. */
static const char *rows_etag(struct http_call *call, const struct rows_stream *s, const struct store_dataset *d) {
    struct buf text = {0};
    buf_printf(&text, "%s %s %" PRId64 " %s %d %" PRId64 " %" PRId64, DISCERN_VERSION, d->name, d->version, d->content, (int)s->format,
               s->offset, s->end);
    for (size_t i = 0; i < s->n; i++)
        buf_printf(&text, " %zu", s->stored[i]);
    const char *etag = text.failed ? NULL : api_etag(call, text.data, text.size);
    buf_done(&text);
    return etag;
}

/* Text as a value in a query: all but what RFC 3986 calls unreserved is escaped. */
static void put_escaped(struct buf *out, const char *text) {
    for (; *text; text++) {
        const char c = *text;
        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr("-._~", c)))
            buf_putc(out, c);
        else
            buf_printf(out, "%%%02X", (unsigned)(unsigned char)c);
    }
}

/* How many rows there are, and where those are that come after these: CSV and NDJSON have no place for it. The link names the version, so that all pages are of one table. */
static void put_page_headers(struct http_call *call, const struct rows_stream *s, const char *dataset, int64_t version, int64_t limit) {
    char rows[24];
    const char *columns = http_query(call, "columns");
    struct buf link = {0};
    (void)snprintf(rows, sizeof rows, "%" PRId64, s->n_rows);
    http_reply_header(call, "Discern-Rows", rows);
    if (s->end >= s->n_rows)
        return;
    buf_printf(&link, "<%s?version=%" PRId64 "&offset=%" PRId64 "&limit=%" PRId64, http_link(call, "/v1/datasets/%s/rows", dataset),
               version, s->end, limit);
    if (columns) {
        buf_puts(&link, "&columns=");
        put_escaped(&link, columns);
    }
    buf_puts(&link, ">; rel=\"next\"");
    const char *value = buf_cstr(&link);
    if (value && link.size <= LINK_BYTES)
        http_reply_header(call, "Link", value);
    buf_done(&link);
}

void api_dataset_rows(struct http_call *call) {
    static const char *const known[] = {"version", "offset", "limit", "columns", NULL};
    static const char *const offered[] = {API_JSON, "text/csv", "application/x-ndjson", NULL};
    static const enum wire_row_format formats[] = {WIRE_ROWS_JSON, WIRE_ROWS_CSV, WIRE_ROWS_NDJSON};
    struct problem problem = {0};
    struct store_dataset d;
    int64_t offset = 0, limit = 100;
    if (!api_query_known(call, known) || !api_query_int(call, "offset", 0, API_NUMBER_MAX, &offset) ||
        !api_query_int(call, "limit", 1, API_NUMBER_MAX, &limit))
        return;
    int format = http_accepts(call, offered);
    if (format < 0) {
        http_fail(call, PROBLEM_NOT_ACCEPTABLE, "rows come as application/json, text/csv or application/x-ndjson");
        return;
    }
    if (!api_dataset_find(call, &d))
        return;
    struct rows_stream *s = stream_new(call, &d, &problem);
    if (!s) {
        store_dataset_done(&d);
        http_reply_problem(call, &problem);
        return;
    }
    s->format = formats[format];
    s->offset = s->at = offset;
    s->end = offset >= d.n_rows ? offset : d.n_rows - offset < limit ? d.n_rows : offset + limit;
    s->head = arena_printf(http_arena(call),
                           "{\"dataset\":\"%s\",\"version\":%" PRId64 ",\"rows\":%" PRId64 ",\"offset\":%" PRId64 ",\"items\":[", d.name,
                           d.version, d.n_rows, offset);
    const char *etag = rows_etag(call, s, &d);
    put_page_headers(call, s, d.name, d.version, limit);
    store_dataset_done(&d);
    if (etag && http_not_modified(call, etag)) {
        stream_free(s);
        return;
    }
    http_set_state(call, s);
    http_on_done(call, stream_free);
    if (s->head)
        http_stream(call, 200, offered[format], 0, stream_next);
    else
        http_fail(call, PROBLEM_UNAVAILABLE, "no memory to read rows");
}
