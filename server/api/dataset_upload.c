/* PUT /v1/datasets/{dataset}: the body flows through a table reader into a staged part of the store, which is published at the end.
 *
 * Who touches an upload: the call (an I/O thread in begin and data, a pool thread in end) and the store's writer thread, which says when a chunk is committed. The call may be over
 * while chunks are still queued, so the object is freed by the last of them. The reader is the call's alone. */
#include "api/documents.h"
#include "api/handlers.h"
#include "api/support.h"
#include "base/log.h"
#include "wire/wire.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct upload {
    struct store *store;
    struct wire_table *table; /* the call's; NULL once it has let go */
    int64_t part;             /* staged chunks; 0 once published or dropped */
    const char *options;      /* what of the query changes the reading, canonical; in the call's arena */
    bool crowded;             /* the store asked for a pause while the present bytes were read */

    pthread_mutex_t lock;   /* guards what follows; a leaf, but for http_resume_body */
    pthread_cond_t settled; /* a chunk was committed or failed */
    struct http_call *call; /* NULL: the call is over */
    size_t waiting;         /* chunks handed to the store whose end we have not heard of */
    size_t resume_at;       /* paused: go on when no more than this many are waiting; SIZE_MAX: not paused */
    struct problem failure; /* of the first chunk that could not be stored */
};

static void upload_free(struct upload *u) {
    problem_done(&u->failure);
    pthread_cond_destroy(&u->settled);
    pthread_mutex_destroy(&u->lock);
    free(u);
}

/* The call needs the staged chunks and the reader no more (published, refused or gone). */
static void upload_let_go(struct upload *u) {
    wire_table_free(u->table);
    u->table = NULL;
    if (u->part != 0)
        store_part_drop(u->store, u->part);
    u->part = 0;
}

/* The call is over, whatever its end. */
static void upload_over(void *state) {
    struct upload *u = state;
    upload_let_go(u);
    pthread_mutex_lock(&u->lock);
    u->call = NULL;
    bool last = u->waiting == 0;
    pthread_mutex_unlock(&u->lock);
    if (last)
        upload_free(u);
}

/* On the writer thread: a chunk is committed, or could not be. */
static void chunk_done(void *arg, const struct problem *problem) {
    struct upload *u = arg;
    pthread_mutex_lock(&u->lock);
    u->waiting--;
    if (problem)
        problem_copy(&u->failure, problem);
    /* http_resume_body is called under our lock: `call` is valid only while we hold it. */
    if (u->call && u->resume_at != SIZE_MAX && (u->waiting <= u->resume_at || problem)) {
        u->resume_at = SIZE_MAX;
        http_resume_body(u->call);
    }
    bool last = !u->call && u->waiting == 0;
    pthread_cond_broadcast(&u->settled);
    pthread_mutex_unlock(&u->lock);
    if (last)
        upload_free(u);
}

/* ---- the reader's sink ---- */

static bool failed(struct upload *u, struct problem *problem) {
    pthread_mutex_lock(&u->lock);
    bool bad = u->failure.type != PROBLEM_NONE;
    if (bad)
        problem_copy(problem, &u->failure);
    pthread_mutex_unlock(&u->lock);
    return bad;
}

static bool take_chunk(void *arg, int64_t chunk, int64_t n_rows, struct wire_blob *blobs, size_t n_columns, struct problem *problem) {
    struct upload *u = arg;
    struct store_blob *copy = malloc(n_columns * sizeof *copy);
    bool stop = failed(u, problem);
    if (stop || !copy) {
        for (size_t i = 0; i < n_columns; i++)
            free(blobs[i].bytes);
        free(copy);
        return stop ? false : problem_set(problem, PROBLEM_UNAVAILABLE, "no memory for a chunk of %zu columns", n_columns);
    }
    for (size_t i = 0; i < n_columns; i++)
        copy[i] = (struct store_blob){.bytes = blobs[i].bytes, .size = blobs[i].size};
    pthread_mutex_lock(&u->lock);
    u->waiting++;
    pthread_mutex_unlock(&u->lock);
    if (!store_part_append(u->store, u->part, chunk, n_rows, copy, n_columns, chunk_done, u))
        u->crowded = true;
    free(copy);
    return true;
}

/* Waits until the store has settled all chunks, or one has failed. Pool thread. */
static bool settle(struct upload *u, struct problem *problem) {
    pthread_mutex_lock(&u->lock);
    while (u->waiting > 0 && u->failure.type == PROBLEM_NONE)
        pthread_cond_wait(&u->settled, &u->lock);
    pthread_mutex_unlock(&u->lock);
    return !failed(u, problem);
}

static bool reread_chunk(void *arg, int64_t chunk, size_t column, struct buf *out, struct problem *problem) {
    struct upload *u = arg;
    return settle(u, problem) && store_part_read(u->store, u->part, chunk, column, out, problem);
}

/* ---- the call's sink ---- */

/* Reads the query into reader options and their canonical text. */
static bool read_options(struct http_call *call, struct wire_table_options *options, const char **canonical) {
    static const char *const known[] = {"header", "delimiter", "missing", "types", "label", NULL};
    struct problem problem = {0};
    const char *text = "";
    if (!api_query_known(call, known))
        return false;
    for (size_t i = 0; known[i] && text; i++) {
        const char *value = http_query(call, known[i]);
        if (value && !wire_table_option(options, known[i], value, &problem)) {
            http_reply_problem(call, &problem);
            return false;
        }
        if (value)
            text = arena_printf(http_arena(call), "%s%s=%zu:%s;", text, known[i], strlen(value), value);
    }
    if (!text)
        http_fail(call, PROBLEM_UNAVAILABLE, "no memory for the upload");
    *canonical = text;
    return text != NULL;
}

static bool sent_as_form(struct http_call *call) {
    static const char form[] = "application/x-www-form-urlencoded";
    const char *type = http_header(call, "Content-Type");
    return type && strncasecmp(type, form, sizeof form - 1) == 0;
}

static struct upload *upload_new(struct http_call *call, const struct wire_table_options *options) {
    struct upload *u = calloc(1, sizeof *u);
    if (!u)
        return NULL;
    pthread_mutex_init(&u->lock, NULL);
    pthread_cond_init(&u->settled, NULL);
    u->store = api_app_of(call)->store;
    u->call = call;
    u->resume_at = SIZE_MAX;
    u->table = wire_table_new(options, &(struct wire_table_sink){.chunk = take_chunk, .reread = reread_chunk, .arg = u});
    if (!u->table) {
        upload_free(u);
        return NULL;
    }
    u->part = store_part_begin(u->store);
    return u;
}

/* On a pool thread, before the body: what cannot be stored under its condition need not be sent. It is judged again in the transaction that publishes. */
static void upload_judge(struct http_call *call) {
    const struct store_condition condition = api_condition(call);
    const char *name = http_path_param(call, "dataset");
    struct problem problem = {0};
    struct store_dataset now;
    bool there = store_dataset_get(api_app_of(call)->store, name, 0, &now, &problem);
    bool good = there;
    if (!there && problem.type == PROBLEM_UNKNOWN_DATASET) {
        problem_done(&problem);
        good = true;
    }
    good = good && store_condition_check(&condition, there ? now.etag : NULL, "dataset", name, &problem);
    if (there)
        store_dataset_done(&now);
    if (!good)
        http_reply_problem(call, &problem);
}

static bool upload_begin(struct http_call *call) {
    struct wire_table_options options = {0};
    const char *canonical;
    if (!api_path_name(call, "dataset", PROBLEM_BAD_REQUEST))
        return false;
    if (!wire_table_format(http_content_type(call), &options.format)) {
        http_fail(
            call, PROBLEM_UNSUPPORTED_MEDIA_TYPE,
            "a dataset is text/csv, text/tab-separated-values or application/json (or no Content-Type: then it is found out), got \"%s\"",
            http_content_type(call));
        return false;
    }
    options.form = sent_as_form(call);
    if (!read_options(call, &options, &canonical))
        return false;
    struct upload *u = upload_new(call, &options);
    if (!u) {
        http_fail(call, PROBLEM_UNAVAILABLE, "no memory for the upload");
        return false;
    }
    u->options = canonical;
    http_set_state(call, u);
    http_on_done(call, upload_over);
    if (http_header(call, "If-Match") || http_header(call, "If-None-Match"))
        http_defer(call, upload_judge);
    return true;
}

static enum http_sink_state upload_data(struct http_call *call, const char *bytes, size_t n) {
    struct upload *u = http_state(call);
    struct problem problem = {0};
    u->crowded = false;
    if (failed(u, &problem) || !wire_table_feed(u->table, bytes, n, &problem)) {
        upload_let_go(u);
        http_reply_problem(call, &problem);
        return HTTP_SINK_REFUSED;
    }
    if (!u->crowded)
        return HTTP_SINK_MORE;
    pthread_mutex_lock(&u->lock);
    bool pause = u->waiting > 0 && u->failure.type == PROBLEM_NONE;
    if (pause)
        u->resume_at = u->waiting / 2;
    pthread_mutex_unlock(&u->lock);
    return pause ? HTTP_SINK_PAUSE : HTTP_SINK_MORE;
}

/* Publishes what was read. */
static bool publish(struct http_call *call, struct upload *u, struct store_dataset_published *out, struct store_dataset *dataset,
                    struct problem *problem) {
    struct wire_table_summary s;
    if (!wire_table_end(u->table, &s, problem) || !settle(u, problem))
        return false;
    const struct store_dataset_new d = {
        .name = http_path_param(call, "dataset"),
        .part = u->part,
        .n_rows = s.n_rows,
        .n_cols = s.n_columns,
        .bytes = s.bytes,
        .sha256 = s.sha256,
        .content = s.content,
        .columns = s.columns,
        .notes = s.notes,
        .options = u->options,
        .condition = api_condition(call),
    };
    if (!store_dataset_publish(u->store, &d, out, dataset, problem))
        return false;
    u->part = 0; /* the version's now, or dropped by the store */
    return true;
}

static void upload_end(struct http_call *call) {
    struct upload *u = http_state(call);
    struct problem problem = {0};
    struct store_dataset_published published;
    struct store_dataset d;
    bool good = publish(call, u, &published, &d, &problem);
    upload_let_go(u);
    if (!good) {
        http_reply_problem(call, &problem);
        return;
    }
    log_info("dataset.stored", log_str("request", http_request_id(call)), log_str("dataset", d.name), log_int("version", d.version),
             log_int("rows", d.n_rows), log_int("columns", d.n_cols), log_int("unchanged", published.unchanged));
    const char *link = http_link(call, "/v1/datasets/%s?version=%lld", d.name, (long long)d.version);
    if (link)
        http_reply_header(call, "Location", link);
    http_reply_header(call, "ETag", d.etag);
    if (published.unchanged)
        http_reply_header(call, "Discern-Unchanged", "true");
    api_dataset_reply(call, published.created ? 201 : 200, &d);
}

/* The client left. What is staged goes at once; the rest when the call is over. */
static void upload_abort(struct http_call *call) {
    upload_let_go(http_state(call));
}

/* An open chunk and its columns' builders, and a share of the counts of distinct values, which seldom come to their limit; what waits for the store is
 * bounded there. */
#define READER_BYTES (32 << 20)
const struct http_sink api_dataset_upload = {
    .begin = upload_begin, .data = upload_data, .end = upload_end, .abort = upload_abort, .holds = READER_BYTES};
