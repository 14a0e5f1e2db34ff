/* Reads NDJSON and answers each line. A pool thread reads the lines as they arrive, scores them and
 * appends the answer to a spool: memory first, then a file without a name. So a slow client holds a
 * buffer but no thread, and a fast one at most a few hundred KiB. The answer is sent when the body
 * has ended, since HTTP clients do not read while they send. A line that is refused is answered
 * with its problem, and reading goes on. One version of the model answers all lines. */
#include "api/predictions/lines.h"
#include "api/access.h"
#include "api/handlers.h"
#include "api/policy.h"
#include "api/predictions/instances.h"
#include "api/predictions/plan.h"
#include "api/predictions/work.h"
#include "api/support.h"
#include "base/process/spool.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEPT_BYTES = 512 * 1024,     /* a buffer for an incomplete line that is larger is freed */
    READ_BYTES = 128 * 1024,     /* bytes of the file that are read at a time */
    BLOCK_NUMBERS = 32 * 1024,   /* numbers of the rows that are scored together */
    BLOCK_ROWS = 1024,           /* maximum number of these rows */
    MAX_LINE = 16 * 1024 * 1024, /* bytes */
    USUAL_BYTES = 512 * 1024,    /* memory that is counted for a call before lines_held knows it */
};

#define NOBODY_WAITS                                                                               \
    "the call was cancelled because the client has left or the daemon is shutting down"

/* One call. */
struct lines {
    struct serving *serving;
    const char *base_path;         /* prefix of links */
    const struct serving_model *m; /* NULL: not loaded yet, or released */
    enum api_answer_kind kind;
    dn_coordinates coordinates;
    const struct format *format;
    unsigned outputs;
    dn_labels labels;
    bool by_threshold;
    double threshold;
    struct api_explain explain;
    struct keep keep;
    struct instances_options options; /* how the lines are read */
    struct instance_lines *reader;    /* NULL: no line was read yet */
    struct api_answer answer;
    struct buf in;  /* an incomplete line */
    size_t work_at; /* size of `in` at which the line is parsed again: twice the last size, so that
                       a long line is not parsed for each piece of it */
    struct buf out; /* part of the answer that is not in the file */
    struct spool spool;
    int64_t n_rows, n_refused; /* number of lines that were answered, and of those among them
                                  that were refused */
    int64_t n_charged;         /* rows that were charged to the token */
    int64_t line;              /* number of the line answered last */
    int64_t sent;              /* bytes of the file that were sent */
};

/* Frees the members that are not needed when the answer is complete. */
static void let_go(struct lines *l) {
    instance_lines_free(l->reader);
    l->reader = NULL;
    api_answer_done(&l->answer);
    l->answer = (struct api_answer){0};
    buf_done(&l->in);
}

static void lines_free(void *state) {
    struct lines *l = state;
    let_go(l);
    buf_done(&l->out);
    keep_done(&l->keep);
    spool_done(&l->spool);
    serving_release(l->serving, l->m);
    free(l);
}

/* ---- lines to answers. Pool thread ---- */

static struct api_answer_options options_of(const struct lines *l) {
    return (struct api_answer_options){.kind = l->kind,
                                       .of = l->coordinates,
                                       .outputs = l->outputs,
                                       .labels = l->labels,
                                       .by_threshold = l->by_threshold,
                                       .threshold = l->threshold,
                                       .explain = l->explain,
                                       .format = l->format,
                                       .keep = l->options.keep,
                                       .refusal_base = l->base_path};
}

/* Makes the reader and begins the answer. */
static bool prepare(struct lines *l, struct problem *problem) {
    const size_t n_inputs = dn_encoder_n_inputs(dn_model_encoder(l->m->model));
    const struct api_answer_options options = options_of(l);
    size_t n = BLOCK_NUMBERS / (n_inputs > 0 ? n_inputs : 1);
    n = n < 1 ? 1 : n > BLOCK_ROWS ? BLOCK_ROWS : n;
    if (!api_answer_begin(&l->answer, l->m, &options, &l->out, problem)) {
        return false;
    }
    l->options.schema = predict_plan_of(l->m)->schema;
    l->reader = instance_lines_new(l->m->model, &l->options, n, MAX_LINE, problem);
    return l->reader != NULL;
}

static void refuse_line(struct lines *l, int64_t line, struct problem *why) {
    api_answer_refusal(&l->answer, line, why);
    problem_done(why);
    l->line = line;
    l->n_rows++;
    l->n_refused++;
}

static bool to_file(struct lines *l, struct problem *problem) {
    if (spool_write(&l->spool, &l->out, problem)) {
        return true;
    }
    if (problem->type == PROBLEM_ANSWER_TOO_LONG) {
        problem->type = PROBLEM_NONE;
        problem_set(problem, PROBLEM_ANSWER_TOO_LONG,
                    "the answer has grown beyond the %" PRId64
                    " bytes that --max-spool allows at line %" PRId64
                    ": send the lines in parts, or ask for less of each",
                    l->spool.limit, l->line);
    }
    return false;
}

/* Called between two rows of the answer: moves the answer to the file if it is too long for memory.
 * Returns false with a problem; one reason is that the client has left. */
static bool spill(struct lines *l, struct http_call *call, struct problem *problem) {
    if (l->out.size >= API_ANSWER_BYTES && !to_file(l, problem)) {
        return false;
    }
    return http_go_on(call) || problem_set(problem, PROBLEM_UNAVAILABLE, NOBODY_WAITS);
}

/* Writes the results of n scored rows, from row `first` of the block on. The answer to a short line
 * can be long, so a few rows at a time go to the file. */
static bool answer_scored(struct lines *l, struct http_call *call, size_t first, size_t n,
                          struct problem *problem) {
    for (size_t i = 0; i < n;) {
        const size_t written = api_answer_write(&l->answer, i, n);
        l->n_rows += (int64_t)written;
        i += written;
        l->line = instance_lines_line_of(l->reader, first + i - 1);
        if (!spill(l, call, problem)) {
            return false;
        }
    }
    return true;
}

/* Scores and answers the rows that were read. */
static bool answer_block(struct lines *l, struct http_call *call, struct problem *problem) {
    const struct instance_rows *block = instance_lines_block(l->reader);
    for (size_t i = 0; i < block->n;) {
        bool beyond = false;
        const size_t scored = api_answer_score(&l->answer, block, i, block->n - i, &beyond);
        if (!answer_scored(l, call, i, scored, problem)) {
            return false;
        }
        i += scored;
        if (beyond) {
            struct problem why = {0};
            char text[DN_MESSAGE_SIZE];
            api_answer_why_beyond(&l->answer, block, i, text);
            problem_set(&why, PROBLEM_INVALID_INSTANCES, "the instance %s", text);
            refuse_line(l, instance_lines_line_of(l->reader, i++), &why);
        }
    }
    instance_lines_clear(l->reader);
    return true;
}

/* Charges the rows since the last time. They are charged while the body arrives: a client may leave
 * before its end. */
static void charge(struct lines *l, struct http_call *call) {
    api_charge_rows(call, l->n_rows - l->n_charged);
    l->n_charged = l->n_rows;
}

/* Reads and answers the complete lines in bytes[n]; last: also an incomplete line at the end.
 * *used: bytes of these lines. Returns false with a problem. */
static bool take_lines(struct lines *l, struct http_call *call, const char *bytes, size_t n,
                       bool last, size_t *used, struct problem *problem) {
    enum instance_lines_state state = INSTANCE_LINES_FULL;
    size_t at = 0;
    if (!l->reader && !prepare(l, problem)) {
        return false;
    }
    while (state != INSTANCE_LINES_MORE) {
        struct problem why = {0};
        size_t read = 0;
        state = instance_lines_read(l->reader, bytes + at, n - at, last, &read, &why);
        at += read;
        if (state == INSTANCE_LINES_FAILED) {
            problem_move(problem, &why);
            return false;
        }
        const bool answered = answer_block(l, call, problem);
        if (answered && state == INSTANCE_LINES_FAULT) {
            refuse_line(l, instance_lines_at(l->reader), &why);
        }
        problem_done(&why);
        charge(l, call);
        if (!answered || !spill(l, call, problem)) {
            return false;
        }
    }
    *used = at;
    return true;
}

/* Keeps bytes[n], the beginning of a line. These bytes may be a part of l->in. */
static void keep(struct lines *l, const char *bytes, size_t n) {
    struct buf fresh = {0};
    l->work_at = 2 * n;
    /* frees the memory of a long line */
    if (l->in.capacity > KEPT_BYTES && l->in.capacity > 4 * n) {
        buf_append(&fresh, bytes, n);
        buf_done(&l->in);
        l->in = fresh;
        return;
    }
    if (l->in.size > 0) {
        memmove(l->in.data, bytes, n);
    } else {
        buf_append(&l->in, bytes, n);
    }
    l->in.size = n;
}

/* Reads and answers the lines that are complete with the next n bytes. */
static bool turn(struct lines *l, struct http_call *call, const char *bytes, size_t n, bool last,
                 struct problem *problem) {
    size_t used = 0;
    if (l->in.size > 0) {
        buf_append(&l->in, bytes, n);
        bytes = l->in.data;
        n = l->in.size;
    }
    if (!l->in.failed && n < l->work_at && !last) {
        return true;
    }
    if (!l->in.failed && !take_lines(l, call, bytes, n, last, &used, problem)) {
        return false;
    }
    if (!l->in.failed) {
        keep(l, bytes + used, n - used);
    }
    if (l->in.failed) {
        return problem_set(problem, PROBLEM_UNAVAILABLE, "no memory left for the lines");
    }
    /* A call that has a file keeps no part of its answer in memory between two calls of `turn`. */
    return l->spool.fd < 0 || l->out.size == 0 || to_file(l, problem);
}

/* ---- the answer ---- */

static enum http_stream_state next_piece(struct http_call *call, struct buf *out, bool idle,
                                         bool draining) {
    struct lines *l = http_state(call);
    const int64_t left = l->spool.size - l->sent, n = left < READ_BYTES ? left : READ_BYTES;
    (void)idle;
    (void)draining; /* a request in flight may end within the time limit of the shutdown */
    if (!spool_read(&l->spool, l->sent, (size_t)n, out)) {
        return HTTP_STREAM_ABORT;
    }
    l->sent += n;
    return l->sent < l->spool.size ? HTTP_STREAM_MORE : HTTP_STREAM_END;
}

static void reply_count(struct http_call *call, const char *name, int64_t n) {
    char text[24];
    (void)snprintf(text, sizeof text, "%" PRId64, n);
    http_reply_header(call, name, text);
}

/* Replies after the whole body was read. Returns false with a problem. */
static bool finish(struct lines *l, struct http_call *call, struct problem *problem) {
    if (l->n_rows == 0) {
        return problem_add(problem, PROBLEM_INVALID_INSTANCES, NULL,
                           "there are no instances: at least one is needed");
    }
    if (!instance_lines_check_columns(l->reader, problem)) {
        return false;
    }
    const struct row_notes *notes = instance_lines_notes(l->reader);
    api_answer_end(&l->answer, notes);
    api_instances_notes(call, l->m->name, l->m->model, notes);
    if (l->format->answers->document) {
        buf_putc(&l->out, '\n');
    }
    if (l->spool.fd >= 0 && l->out.size > 0 && !to_file(l, problem)) {
        return false;
    }
    if ((int64_t)l->out.size > l->spool.limit &&
        !to_file(l, problem)) { /* the answer is short, but longer than the limit */
        return false;
    }
    let_go(l);
    reply_count(call, "Discern-Rows", l->n_rows);
    reply_count(call, "Discern-Refused", l->n_refused);
    if (l->spool.fd < 0) {
        http_reply(call, 200, format_media_type(l->format), &l->out);
    } else {
        (void)http_takes(call, HTTP_SHORT); /* the stream reads a file */
        http_stream_sized(call, 200, format_media_type(l->format), (uint64_t)l->spool.size,
                          next_piece);
    }
    return true;
}

/* ---- the sink ---- */

static bool lines_want(const struct http_call *call) {
    const struct format *format;
    return format_find(http_content_type(call), FORMAT_INSTANCES, &format) && format != NULL &&
           format->instances->lines;
}

/* Reads the query. Returns NULL if it has replied. */
static struct lines *lines_new(struct http_call *call, enum api_answer_kind kind) {
    const struct api_app *app = api_app_of(call);
    unsigned outputs = 0;
    dn_labels labels = DN_LABELS_OF_MODEL;
    bool by_threshold = false;
    double threshold = 0;
    dn_coordinates coordinates = DN_COORDINATES_DIRECTIONS;
    struct api_explain explain = {0};
    const char *encoding = NULL;
    bool zero_based = false; /* accepted, but without effect on NDJSON */
    struct instances_options options = {0};
    if (!api_instances_encoding(call, &encoding) || !api_instances_utf8(call, encoding) ||
        !api_query_bool(call, "zero_based", &zero_based) ||
        !api_instances_extra(call, &options.refuse_extra) ||
        !api_instances_separated(call, &format_ndjson) || !api_instances_reading(call, &options) ||
        (kind == API_COORDINATES && !api_coordinates_read(call, &coordinates)) ||
        (kind == API_PREDICTIONS &&
         (!api_outputs_read(call, &outputs) || !api_decision_read(call, &labels) ||
          !api_threshold_read(call, http_query(call, "decision") != NULL, &by_threshold,
                              &threshold) ||
          !api_explain_read(call, outputs, &explain)))) {
        return NULL;
    }
    struct lines *l = calloc(1, sizeof *l);
    if (!l) {
        http_fail(call, PROBLEM_UNAVAILABLE, "no memory for the lines");
        return NULL;
    }
    l->serving = app->serving;
    l->base_path = app->base_path;
    l->kind = kind;
    l->coordinates = coordinates;
    l->format = api_reply_format(call, &format_ndjson);
    l->outputs = outputs;
    l->labels = labels;
    l->by_threshold = by_threshold;
    l->threshold = threshold;
    l->explain = explain;
    l->options = options;
    if (!api_instances_keep(call, &l->keep, &l->options.keep)) {
        free(l);
        return NULL;
    }
    spool_init(&l->spool, app->spool_dir, app->max_spool);
    http_set_state(call, l);
    http_on_done(call, lines_free);
    return l;
}

/* Refuses a model without the coordinates or outputs before the body is sent. Returns false if it
 * has replied. */
static bool judge_model(struct http_call *call, struct lines *l) {
    struct problem problem = {0};
    const struct api_answer_options options = options_of(l);
    if (api_answer_check(l->m, &options, &problem)) {
        return true;
    }
    http_reply_problem(call, &problem);
    return false;
}

/* Takes the model and checks it. Runs on a pool thread before the body arrives. */
static void load(struct http_call *call) {
    struct lines *l = http_state(call);
    l->m = api_model_take(call);
    if (l->m) {
        (void)judge_model(call, l);
    }
}

static bool begin(struct http_call *call, enum api_answer_kind kind) {
    struct lines *l = lines_new(call, kind);
    if (!l) {
        return false;
    }
    l->m = serving_try(l->serving, http_path_param(call, "model"), api_path_number(call, "version"),
                       http_change(call));
    if (!l->m) {
        http_defer(call, load);
    }
    return !l->m || judge_model(call, l);
}

static bool begin_predictions(struct http_call *call) {
    return begin(call, API_PREDICTIONS);
}

static bool begin_coordinates(struct http_call *call) {
    return begin(call, API_COORDINATES);
}

static enum http_sink_state lines_data(struct http_call *call, const char *bytes, size_t n) {
    struct lines *l = http_state(call);
    struct problem problem = {0};
    if (turn(l, call, bytes, n, false, &problem)) {
        return HTTP_SINK_MORE;
    }
    let_go(l);
    spool_done(&l->spool);
    http_reply_problem(call, &problem);
    return HTTP_SINK_REFUSED;
}

static void lines_end(struct http_call *call) {
    struct lines *l = http_state(call);
    struct problem problem = {0};
    if (!turn(l, call, "", 0, true, &problem) || !finish(l, call, &problem)) {
        http_reply_problem(call, &problem);
    }
}

static void lines_abort(struct http_call *call) {
    struct lines *l = http_state(call);
    let_go(l);
    spool_done(&l->spool);
}

static int64_t lines_held(const struct http_call *call) {
    const struct lines *l = http_state(call);
    return (int64_t)(l->in.capacity + l->out.capacity + api_answer_memory(&l->answer) +
                     (l->reader ? instance_lines_memory(l->reader) : 0));
}

static enum http_load lines_load(const struct http_call *call, const char *bytes, size_t n) {
    const struct lines *l = http_state(call);
    return api_load_of(api_rows_work(l->m, bytes, n));
}

#define LINES_SINK(begin_)                                                                         \
    {                                                                                              \
        .wants = lines_want, .limit = &api_max_upload, .begin = begin_, .data = lines_data,        \
        .end = lines_end, .abort = lines_abort, .load = lines_load, .holds = USUAL_BYTES,          \
        .held = lines_held                                                                         \
    }
const struct http_sink api_predict_lines = LINES_SINK(begin_predictions);
const struct http_sink api_transform_lines = LINES_SINK(begin_coordinates);

/* ---- a body in memory ---- */

void api_lines_answer(struct http_call *call, const struct serving_model *m,
                      enum api_answer_kind kind) {
    struct problem problem = {0};
    size_t size, used;
    const char *body = http_body_bytes(call, &size);
    struct lines *l = lines_new(call, kind);
    if (!l) {
        return;
    }
    l->m = m;
    if (!take_lines(l, call, body, size, true, &used, &problem) || !finish(l, call, &problem)) {
        http_reply_problem(call, &problem);
    }
    let_go(l);
    l->m = NULL; /* the caller's */
}
