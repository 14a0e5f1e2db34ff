/* Reads the body of a table, stages its chunks in the store and publishes them. */
#include "api/datasets/dataset_body.h"
#include "api/access.h"
#include "api/documents.h"
#include "api/policy.h"
#include "api/support.h"
#include "base/process/clock.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- the object ---- */

static void body_free(struct dataset_body *b) {
    problem_done(&b->failure);
    hash_sha256_free(b->sha256);
    api_key_leave(&b->key);
    pthread_cond_destroy(&b->settled);
    pthread_mutex_destroy(&b->lock);
    free(b);
}

static void forget_onto(struct dataset_body *b) {
    if (b->onto.id != 0) {
        store_dataset_unpin(b->store, b->onto.id);
    }
    store_dataset_done(&b->onto);
    free(b->onto_chunks);
    b->onto_chunks = NULL;
    b->n_onto = 0;
}

/* Gives up the place in the queue of appends. */
static void leave_queue(struct dataset_body *b) {
    if (b->append != 0) {
        store_append_leave(b->store, b->append);
        b->append = 0;
        http_poke(b->server, 0); /* another append may run now */
    }
}

void dataset_body_release_data(struct dataset_body *b) {
    table_free(b->table);
    b->table = NULL;
    if (b->part != 0) {
        store_part_drop(b->store, b->part);
    }
    b->part = 0;
    forget_onto(b);
    leave_queue(b);
}

void dataset_body_release(struct dataset_body *b) {
    dataset_body_release_data(b);
    api_key_leave(&b->key);
}

/* Called when the call is over, whether or not it was answered. */
static void body_over(void *state) {
    struct dataset_body *b = state;
    dataset_body_release(b);
    pthread_mutex_lock(&b->lock);
    b->call = NULL;
    bool last = b->waiting == 0;
    pthread_mutex_unlock(&b->lock);
    if (last) {
        body_free(b);
    }
}

struct dataset_body *dataset_body_new(struct http_call *call) {
    int64_t expires_in = 0;
    if (!api_query_int(call, "expires_in", STORE_EXPIRES_MIN, STORE_EXPIRES_MAX, &expires_in)) {
        return NULL;
    }
    struct dataset_body *b = calloc(1, sizeof *b);
    if (!b) {
        http_fail(call, PROBLEM_UNAVAILABLE, "no memory for the upload");
        return NULL;
    }
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->settled, NULL);
    b->store = api_app_of(call)->store;
    b->server = api_app_of(call)->server;
    b->max_staged = api_quota(call).max_bytes;
    b->expires_in = expires_in;
    b->call = call;
    b->resume_at = SIZE_MAX;
    b->began = clock_monotonic_ns();
    b->part = store_part_begin(b->store, NULL);
    http_set_state(call, b);
    http_on_done(call, body_over);
    return b;
}

bool dataset_body_onto(struct dataset_body *b, struct store_dataset *onto,
                       struct problem *problem) {
    forget_onto(b);
    b->onto = *onto;
    *onto = (struct store_dataset){0};
    if (!store_dataset_pin(b->store, b->onto.id, problem)) {
        store_dataset_done(&b->onto);
        return false;
    }
    if (store_dataset_chunks(b->store, b->onto.id, &b->onto_chunks, &b->n_onto, problem)) {
        return true;
    }
    forget_onto(b);
    return false;
}

/* ---- chunks ---- */

/* Called on the writer thread when a chunk is committed, or has failed (problem is not NULL). */
static void chunk_done(void *arg, const struct problem *problem) {
    struct dataset_body *b = arg;
    pthread_mutex_lock(&b->lock);
    b->waiting--;
    if (problem) {
        problem_copy(&b->failure, problem);
    }
    /* http_resume_body is called with the lock held: `call` is valid only then. */
    if (b->call && b->resume_at != SIZE_MAX && (b->waiting <= b->resume_at || problem)) {
        b->resume_at = SIZE_MAX;
        http_resume_body(b->call);
    }
    bool last = !b->call && b->waiting == 0;
    pthread_cond_broadcast(&b->settled);
    pthread_mutex_unlock(&b->lock);
    if (last) {
        body_free(b);
    }
}

static bool failed(struct dataset_body *b, struct problem *problem) {
    pthread_mutex_lock(&b->lock);
    bool bad = b->failure.type != PROBLEM_NONE;
    if (bad) {
        problem_copy(problem, &b->failure);
    }
    pthread_mutex_unlock(&b->lock);
    return bad;
}

static bool take_chunk(void *arg, int64_t chunk, int64_t n_rows, struct table_blob *blobs,
                       size_t n_columns, struct problem *problem) {
    struct dataset_body *b = arg;
    struct store_blob *copy = malloc(n_columns * sizeof *copy);
    for (size_t i = 0; i < n_columns; i++) {
        b->staged += (int64_t)blobs[i].size;
    }
    bool stop = failed(b, problem);
    if (!stop && b->max_staged > 0 && b->staged > b->max_staged) {
        problem_set(problem, PROBLEM_QUOTA_EXCEEDED,
                    "the rows take more than the %lld bytes that the token may store",
                    (long long)b->max_staged);
        stop = true;
    }
    if (stop || !copy) {
        for (size_t i = 0; i < n_columns; i++) {
            free(blobs[i].bytes);
        }
        free(copy);
        return stop ? false
                    : problem_set(problem, PROBLEM_UNAVAILABLE,
                                  "no memory for a chunk of %zu columns", n_columns);
    }
    for (size_t i = 0; i < n_columns; i++) {
        copy[i] = (struct store_blob){.bytes = blobs[i].bytes, .size = blobs[i].size};
    }
    pthread_mutex_lock(&b->lock);
    b->waiting++;
    pthread_mutex_unlock(&b->lock);
    if (!store_part_append(b->store, b->part, chunk, n_rows, copy, n_columns, chunk_done, b)) {
        b->crowded = true;
    }
    free(copy);
    return true;
}

bool dataset_body_settle(struct dataset_body *b, struct problem *problem) {
    pthread_mutex_lock(&b->lock);
    while (b->waiting > 0 && b->failure.type == PROBLEM_NONE) {
        pthread_cond_wait(&b->settled, &b->lock);
    }
    pthread_mutex_unlock(&b->lock);
    return !failed(b, problem);
}

/* Reads a chunk of the table. For an append, the chunks of the stored version come first, and the
 * chunks of the body are numbered from 1 in their part; for an upload, from 0. */
static bool reread_chunk(void *arg, int64_t chunk, size_t column, struct buf *out,
                         struct problem *problem) {
    struct dataset_body *b = arg;
    const int64_t own = chunk - (int64_t)b->n_onto;
    if (own >= 0) {
        return dataset_body_settle(b, problem) &&
               store_part_read(b->store, b->part, own + (b->onto.id != 0), column, out, problem);
    }
    if (http_gone(b->call)) {
        return problem_set(problem, PROBLEM_UNAVAILABLE, "the client has closed the connection");
    }
    return store_chunk_read(b->store, &b->onto_chunks[chunk], column, out, problem);
}

bool dataset_body_summary(void *arg, size_t column, struct buf *out, struct problem *problem) {
    const struct dataset_body *b = arg;
    return store_dataset_summary(b->store, b->onto.id, column, out, problem);
}

struct table_sink dataset_body_sink(struct dataset_body *b) {
    return (struct table_sink){.chunk = take_chunk, .reread = reread_chunk, .arg = b};
}

void dataset_body_seen(struct http_call *call, const char *bytes, size_t n) {
    struct dataset_body *b = http_state(call);
    hash_sha256_add(b->sha256, bytes, n);
}

/* Charges the rows that were read since the last time: an upload that fails has read them too. */
static void charge_rows(struct http_call *call, struct dataset_body *b) {
    const int64_t n = table_rows_read(b->table);
    api_charge_rows(call, n - b->n_charged);
    b->n_charged = n;
}

bool dataset_body_read_end(struct http_call *call, struct dataset_body *b,
                           struct table_summary *out, struct problem *problem) {
    const bool good = table_end(b->table, out, problem);
    charge_rows(call, b);
    return good;
}

enum http_sink_state dataset_body_data(struct http_call *call, const char *bytes, size_t n) {
    struct dataset_body *b = http_state(call);
    struct problem problem = {0};
    b->crowded = false;
    const bool good = !failed(b, &problem) && table_feed(b->table, bytes, n, &problem);
    charge_rows(call, b);
    if (!good) {
        dataset_body_release(b);
        http_reply_problem(call, &problem);
        return HTTP_SINK_REFUSED;
    }
    if (!b->crowded) {
        return HTTP_SINK_MORE;
    }
    pthread_mutex_lock(&b->lock);
    bool pause = b->waiting > 0 && b->failure.type == PROBLEM_NONE;
    if (pause) {
        b->resume_at = b->waiting / 2;
    }
    pthread_mutex_unlock(&b->lock);
    return pause ? HTTP_SINK_PAUSE : HTTP_SINK_MORE;
}

/* Sets *out to the document with the types that the body declares, in the form of the option
 * `types`. Returns false if out of memory. */
static bool with_declared(const char *document, const struct table_summary *s, struct buf *out) {
    buf_puts(out, document);
    if (s->declared[0] != '\0') {
        buf_printf(out, "declared=%zu:%s;", strlen(s->declared), s->declared);
    }
    return buf_cstr(out) != NULL;
}

bool dataset_body_publish(struct http_call *call, struct dataset_body *b,
                          struct store_dataset_published *out, struct store_dataset *dataset,
                          struct problem *problem) {
    struct table_summary s;
    const bool alone = b->onto.id == 0;
    struct store_blob *summaries = NULL;
    char sha256[HASH_SHA256_TEXT];
    if (!dataset_body_read_end(call, b, &s, problem) || !dataset_body_settle(b, problem)) {
        return false;
    }
    summaries = arena_alloc(http_arena(call), (size_t)s.n_columns * sizeof *summaries);
    for (size_t i = 0; summaries != NULL && i < (size_t)s.n_columns; i++) {
        summaries[i] = (struct store_blob){s.saved[i].bytes, s.saved[i].size};
    }
    struct buf options = {0}, given = {0};
    if (summaries == NULL || (alone && !(with_declared(b->given.all, &s, &options) &&
                                         with_declared(b->given.given, &s, &given)))) {
        buf_done(&options);
        buf_done(&given);
        return problem_no_memory(problem);
    }
    if (alone) {
        hash_sha256_hex(b->sha256, sha256);
    }
    b->rows = s.n_rows - b->onto.n_rows;
    b->bytes = s.bytes;
    const struct store_dataset_new d = {
        .name = http_path_param(call, "dataset"),
        .part = b->part,
        .n_rows = s.n_rows,
        .n_cols = s.n_columns,
        .bytes = b->onto.bytes + s.bytes,
        .sha256 = alone ? sha256 : NULL,
        .content = s.content,
        .columns = s.columns,
        .notes = s.notes,
        .options = alone ? buf_cstr(&options) : b->onto.options,
        .options_format_1 = alone ? buf_cstr(&given) : NULL,
        .onto = b->onto.id,
        .taken = s.n_taken,
        .summaries = summaries,
        .n_summaries = (size_t)s.n_columns,
        .expires_in = b->expires_in,
        .quota = api_quota(call),
        .by = api_actor(call),
        .condition = api_condition(call),
        .key = api_key_of(&b->key),
    };
    const bool published = store_dataset_publish(b->store, &d, out, dataset, problem);
    buf_done(&options);
    buf_done(&given);
    if (!published) {
        return false;
    }
    b->part = 0; /* the part belongs to the version, or was dropped by the store */
    return true;
}

static void write_answer(const struct dataset_body *b, const struct store_dataset *d,
                         struct buf *out) {
    const double seconds = (double)(clock_monotonic_ns() - b->began + 1) / 1e9; /* + 1: never 0 */
    struct json_writer w = json_writer_of(out);
    json_begin_object(&w);
    api_dataset_write_members(d, &w);
    json_kv_begin_object(&w, "upload");
    json_kv_double(&w, "seconds", seconds);
    json_kv_double(&w, "rows_per_second", (double)b->rows / seconds);
    json_kv_double(&w, "bytes_per_second", (double)b->bytes / seconds);
    json_end_object(&w);
    json_end_object(&w);
}

void dataset_body_keep(void *arg, const void *made, struct store_answer *out) {
    const struct store_dataset *d = made;
    struct buf location = {0};
    out->status = 201;
    buf_printf(&location, "/v1/datasets/%s?version=%lld", d->name, (long long)d->version);
    out->location = buf_take(&location, NULL);
    buf_done(&location);
    memcpy(out->etag, d->etag, sizeof out->etag);
    write_answer(arg, d, &out->body);
    buf_putc(&out->body, '\n');
}

void dataset_body_reply(struct http_call *call, const struct dataset_body *b, int status,
                        struct store_dataset *d) {
    const char *link =
        http_link(call, "/v1/datasets/%s?version=%lld", d->name, (long long)d->version);
    if (link) {
        http_reply_header(call, "Location", link);
    }
    http_etag(call, d->etag);
    struct buf body = {0};
    write_answer(b, d, &body);
    api_reply_json(call, status, &body);
    store_dataset_done(d);
}

/* The client has left: drops the staged chunks. The object is freed when the call is over. */
void dataset_body_abort(struct http_call *call) {
    dataset_body_release(http_state(call));
}

/* ---- options ---- */

static bool sent_as_form(struct http_call *call) {
    static const char form[] = "application/x-www-form-urlencoded";
    const char *type = http_header(call, "Content-Type");
    return type && strncasecmp(type, form, sizeof form - 1) == 0;
}

static const char *add_option(struct arena *arena, const char *document, const char *name,
                              const char *value) {
    return document ? arena_printf(arena, "%s%s=%zu:%s;", document, name, strlen(value), value)
                    : NULL;
}

bool dataset_body_options(struct http_call *call, struct table_options *options,
                          struct dataset_options *texts) {
    const char *const *known = http_route_of(call)->query;
    struct arena *arena = http_arena(call);
    struct problem problem = {0};
    struct dataset_options out = {"", ""};
    options->format = api_body_format(call);
    options->encoding = api_body_encoding(call);
    options->form = sent_as_form(call);
    for (size_t i = 0; known[i]; i++) {
        const char *value = http_query(call, known[i]);
        if (!table_option_exists(known[i])) { /* dataset_body_new reads it */
            continue;
        }
        if (value && !table_option_parse(options, known[i], value, &problem)) {
            http_reply_problem(call, &problem);
            return false;
        }
        if (value) {
            out.given = add_option(arena, out.given, known[i], value);
        }
        const char *stored = value ? value : table_option_initial(known[i]);
        if (stored) {
            out.all = add_option(arena, out.all, known[i], stored);
        }
    }
    if (!out.given || !out.all) {
        http_fail(call, PROBLEM_UNAVAILABLE, "no memory for the upload");
        return false;
    }
    *texts = out;
    return true;
}

const char *dataset_body_option(struct arena *arena, const char *document, const char *name) {
    const size_t n = strlen(name);
    for (const char *at = document; *at != '\0';) { /* name=length:value; */
        const char *equals = strchr(at, '=');
        char *colon = NULL;
        const size_t length = equals ? (size_t)strtoull(equals + 1, &colon, 10) : 0;
        if (!equals || *colon != ':' || strlen(colon + 1) <= length) {
            return NULL;
        }
        if ((size_t)(equals - at) == n && memcmp(at, name, n) == 0) {
            return length > 0 ? arena_strndup(arena, colon + 1, length) : NULL;
        }
        at = colon + 1 + length + 1;
    }
    return NULL;
}
