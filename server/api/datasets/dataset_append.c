/* POST /v1/datasets/{dataset}/rows: appends the rows of the body to the newest version. The new
 * version shares the chunks of that version, except short ones at its end, which are written again
 * with the new rows.
 *
 * The rows are read for the version that is the newest when the body begins. At the end of the body
 * the newest version is looked up again. If other calls have appended meanwhile, the rows are put
 * after theirs and added to the column summaries of that version. Only one append of a dataset does
 * this at a time; the others wait in a queue (store_append_enter) without a thread. A call takes a
 * place in the queue with its first rows: a client that sends only a header takes none. A call that
 * has a place is never refused because others append. */
#include "api/datasets/dataset_body.h"
#include "api/documents.h"
#include "api/handlers.h"
#include "api/support.h"
#include "base/log/log.h"

#include <string.h>

/* Options of the upload that also apply to appends, unless the call has them. header and delimiter
 * are detected for each body. */
static const char *const lasting[] = {"missing",   "comment", "duplicates", "decimal",
                                      "thousands", "strip",   NULL};

/* Maximum number of chunks that are merged with the new rows. Only old releases stored that many
 * short chunks. */
enum { TAIL_MOST = 1024 };

/* An append waits for its turn until its client disconnects or the daemon stops. */
#define WAIT_SECONDS 1e9

/* Whether chunk i is the only one of its part. */
static bool is_alone(const struct dataset_body *b, size_t i) {
    const struct store_chunk *c = b->onto_chunks;
    return (i == 0 || c[i - 1].part != c[i].part) &&
           (i + 1 == b->n_onto || c[i + 1].part != c[i].part);
}

/* Describes the stored version for the reader of the appended rows. Returns false if out of
 * memory. */
static bool stored_table(struct http_call *call, const struct dataset_body *b,
                         struct table_stored *out, struct problem *problem) {
    size_t n = 0;
    while (n < TAIL_MOST && n < b->n_onto && is_alone(b, b->n_onto - n - 1)) {
        n++;
    }
    int64_t *tail = arena_alloc(http_arena(call), (n + 1) * sizeof *tail);
    if (!tail) {
        return problem_no_memory(problem);
    }
    for (size_t i = 0; i < n; i++) {
        tail[i] = b->onto_chunks[b->n_onto - n + i].n_rows;
    }
    *out = (struct table_stored){.columns = b->onto.columns,
                                 .notes = b->onto.notes,
                                 .types = dataset_body_option(http_arena(call), b->onto.options,
                                                              "types"),
                                 .n_rows = b->onto.n_rows,
                                 .n_chunks = (int64_t)b->n_onto,
                                 .tail = tail,
                                 .n_tail = n,
                                 .summary = dataset_body_summary};
    return true;
}

static bool take_lasting(struct http_call *call, struct dataset_body *b, struct problem *problem) {
    b->reading.stored_marks = !http_query(call, "decimal") && !http_query(call, "thousands");
    for (size_t i = 0; lasting[i]; i++) {
        const char *value =
            http_query(call, lasting[i])
                ? NULL
                : dataset_body_option(http_arena(call), b->onto.options, lasting[i]);
        if (value && !table_option_parse(&b->reading, lasting[i], value, problem)) {
            return false;
        }
    }
    return true;
}

/* Looks up the newest version. Returns false if there is none, if it does not meet the conditions
 * of the request, or if the request has expires_in and the dataset does not expire. */
static bool find_newest(struct http_call *call, struct store_dataset *out,
                        struct problem *problem) {
    const struct dataset_body *b = http_state(call);
    const struct store_condition condition = api_condition(call);
    const char *name = http_path_param(call, "dataset");
    if (!store_dataset_get(api_app_of(call)->store, name, 0, out, problem)) {
        return false;
    }
    if (store_condition_check(&condition, out->etag, "dataset", name, problem) &&
        store_may_expire("dataset", name, out->expires_at, b->expires_in, problem)) {
        return true;
    }
    store_dataset_done(out);
    return false;
}

/* Holds the key of the call. Returns false if it has replied. */
static bool take_key(struct http_call *call, struct dataset_body *b) {
    if (!api_key_begin(call, &b->key)) {
        return false;
    }
    if (api_key_of(&b->key) == NULL) {
        return true;
    }
    b->key.key.write = dataset_body_keep;
    b->key.key.arg = b;
    b->sha256 = hash_sha256_new();
    if (b->sha256 == NULL) {
        dataset_body_release(b);
        http_fail(call, PROBLEM_UNAVAILABLE, "no memory for the rows");
    }
    return b->sha256 != NULL;
}

/* Opens the reader. On a pool thread, before the body. */
static void append_open(struct http_call *call) {
    struct dataset_body *b = http_state(call);
    if (!take_key(call, b)) {
        return;
    }
    struct problem problem = {0};
    struct store_dataset newest;
    struct table_stored stored;
    bool good = api_key_find(&b->key, &problem);
    if (good && b->key.repeats) {
        return; /* the body is only hashed */
    }
    good = good && find_newest(call, &newest, &problem) &&
           dataset_body_onto(b, &newest, &problem) && take_lasting(call, b, &problem) &&
           stored_table(call, b, &stored, &problem);
    if (good) {
        const struct table_sink sink = dataset_body_sink(b);
        b->table = table_new_onto(&b->reading, &stored, &sink, &problem);
    }
    if (!b->table) {
        dataset_body_release(b);
        http_reply_problem(call, &problem);
    }
}

static void append_seen(struct http_call *call, const char *bytes, size_t n) {
    const struct dataset_body *b = http_state(call);
    if (b->sha256 != NULL) {
        hash_sha256_add(b->sha256, bytes, n);
    }
}

static bool append_begin(struct http_call *call) {
    struct table_options options = {0};
    struct dataset_options texts;
    if (!dataset_body_options(call, &options, &texts)) {
        return false;
    }
    struct dataset_body *b = dataset_body_new(call);
    if (!b) {
        return false;
    }
    b->reading = options;
    http_defer(call, append_open);
    return true;
}

/* Takes a place in the queue of appends. Returns false if it has replied. */
static bool take_place(struct http_call *call) {
    struct dataset_body *b = http_state(call);
    if (b->append == 0) {
        b->append = store_append_enter(b->store, http_path_param(call, "dataset"));
    }
    if (b->append == 0) {
        dataset_body_release(b);
        http_fail(
            call, PROBLEM_UNAVAILABLE,
            "too many appends are under way or waiting: at most %d to one dataset and %d to all "
            "datasets together; try again later",
            STORE_APPENDS_OF_ONE, STORE_APPENDS_OF_ALL);
    }
    return b->append != 0;
}

static enum http_sink_state append_data(struct http_call *call, const char *bytes, size_t n) {
    const struct dataset_body *b = http_state(call);
    if (b->key.repeats) {
        return HTTP_SINK_MORE;
    }
    return take_place(call) ? dataset_body_data(call, bytes, n) : HTTP_SINK_REFUSED;
}

/* Moves the rows to the newest version, if others have changed the dataset since the body began. */
static bool catch_up(struct http_call *call, struct dataset_body *b, struct problem *problem) {
    struct store_dataset newest;
    if (!find_newest(call, &newest, problem)) {
        return false;
    }
    if (newest.id == b->onto.id) {
        store_dataset_done(&newest);
        return true;
    }
    const bool same = strcmp(newest.options, b->onto.options) == 0;
    if (!same) {
        problem_set(
            problem, PROBLEM_CONFLICT,
            "the dataset was replaced by one with other options while the rows were read: send the "
            "rows again");
    }
    if (!same || !dataset_body_onto(b, &newest, problem)) {
        store_dataset_done(&newest);
        return false;
    }
    struct table_stored stored;
    return stored_table(call, b, &stored, problem) && table_rebase(b->table, &stored, problem);
}

static void append(struct http_call *call, struct dataset_body *b) {
    struct problem problem = {0};
    struct store_dataset_published published;
    struct store_dataset d;
    bool good =
        catch_up(call, b, &problem) && dataset_body_publish(call, b, &published, &d, &problem);
    dataset_body_release_data(b);
    if (!good) {
        api_key_reply_problem(call, &b->key, &problem);
        return;
    }
    log_info("dataset.appended", log_str("request", http_request_id(call)),
             log_str("dataset", d.name), log_int("version", d.version), log_int("rows", d.n_rows));
    if (api_key_of(&b->key) != NULL) {
        store_dataset_done(&d);
        api_key_reply(call, &b->key);
    } else {
        dataset_body_reply(call, b, 201, &d);
    }
}

/* Appends if it is this call's turn. last: the client has left, or the daemon stops. */
static bool append_try(struct http_call *call, bool last) {
    struct dataset_body *b = http_state(call);
    if (store_append_run(b->store, b->append)) {
        append(call, b);
        return true;
    }
    if (last) {
        dataset_body_release(b);
        http_fail(call, PROBLEM_UNAVAILABLE,
                  "the daemon is stopping and has not appended these rows; send them again");
    }
    return last;
}

static void append_end(struct http_call *call) {
    struct dataset_body *b = http_state(call);
    if (b->sha256 != NULL) {
        hash_sha256_hex(b->sha256, b->key.key.body);
    }
    if (b->key.repeats) {
        dataset_body_release_data(b);
        api_key_repeat(call, &b->key);
        return;
    }
    if (take_place(call)) { /* a call with an empty body has no place yet */
        http_watch(call, WAIT_SECONDS, append_try);
    }
}

const struct http_sink api_dataset_append = {.begin = append_begin,
                                             .seen = append_seen,
                                             .data = append_data,
                                             .end = append_end,
                                             .abort = dataset_body_abort,
                                             .holds = DATASET_BODY_HOLDS};
