/* Streams the answer for the rows of a stored dataset, chunk by chunk. The version of the dataset
 * is pinned and the version of the model is held until the reply has ended. A row that is refused
 * is answered with its problem, as a line of NDJSON is. */
#include "api/predictions/stored_rows.h"
#include "api/access.h"
#include "api/handlers.h"
#include "api/policy.h"
#include "api/predictions/charged_source.h"
#include "api/predictions/evaluation.h"
#include "api/predictions/instances.h"
#include "api/predictions/plan.h"
#include "api/support.h"
#include "base/json/json_read.h"
#include "base/log/log.h"
#include "jobs/source.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Multiplications after which the rows that are done are sent. */
#define AT_ONCE 5e8

/* The state of a reply. */
struct stored_rows {
    struct http_call *call;
    dn_allocator decoded_memory; /* counts decoded chunks against --body-memory */
    size_t held, refused;        /* bytes that are counted, and bytes for which there was no
                                    room; 0: none */
    struct serving *serving;
    const struct serving_model *m;
    const struct format *format;
    struct keep keep;
    struct jobs_source *source;
    struct charged_source charged; /* the table of `source` */
    struct instance_table *table;
    struct row_notes *notes; /* about all rows; NULL: none */
    struct api_answer answer;
    struct buf out; /* the part of the answer that is not sent */
    /* [n_columns] of the current chunk, by column of the dataset: the values, and those of kept
     * columns as they were written */
    dn_column_view *views, *spelled;
    size_t *from, *spelled_from; /* [n_columns] columns of the source; SIZE_MAX: not read */
    size_t n_columns;
    size_t chunk, at;     /* the next row to read: chunk, and row in it */
    bool decoded;         /* the views are those of chunk `chunk` */
    size_t next, scored;  /* next: index in the block of the row to score next; scored: number of
                             rows scored last */
    size_t written;       /* number of the rows scored last that are written */
    bool beyond;          /* the next row has no finite result */
    bool ended;           /* the end of the answer is written */
    double cost, work;    /* multiplications for one row, and since the last bytes were sent */
    int64_t line;         /* number of rows that are answered */
    struct problem fault; /* fault of the row after the block */
};

static void stored_rows_free(void *state) {
    struct stored_rows *s = state;
    api_answer_done(&s->answer);
    instance_table_free(s->table);
    row_notes_free(s->notes);
    jobs_source_close(s->source);
    keep_done(&s->keep);
    problem_done(&s->fault);
    buf_done(&s->out);
    free(s->views);
    free(s->spelled);
    free(s->from);
    free(s->spelled_from);
    serving_release(s->serving, s->m);
    free(s);
}

/* ---- memory ---- */

static void *rows_allocate(void *ctx, size_t size) {
    (void)ctx;
    return malloc(size);
}

static void rows_release(void *ctx, void *memory) {
    (void)ctx;
    free(memory);
}

static bool rows_charge(void *ctx, size_t size) {
    struct stored_rows *s = ctx;
    if (!http_hold(s->call, s->held + size)) {
        s->refused = s->held + size;
        return false;
    }
    s->held += size;
    return true;
}

/* Does not call http_hold: chunks are freed after the end of the call, which then counts
 * nothing. */
static void rows_discharge(void *ctx, size_t size) {
    struct stored_rows *s = ctx;
    s->held -= size;
}

/* ---- the stream. Pool thread ---- */

static bool read_failed(const struct stored_rows *s, const dn_error *err, struct problem *problem) {
    if (s->refused == 0) {
        const enum problem_type failed = jobs_source_failed(s->source);
        return problem_set(problem, failed != PROBLEM_NONE ? failed : PROBLEM_INTERNAL, "%s",
                           err->message);
    }
    if (http_may_ever_hold(s->call, s->refused)) {
        return problem_set(problem, PROBLEM_UNAVAILABLE,
                           "%zu MiB of the dataset do not fit in the memory that the bodies and "
                           "answers in flight leave of --body-memory; try again",
                           s->refused >> 20);
    }
    return json_fault(problem, "", "dataset",
                      "a chunk of its rows needs at least %zu MiB of memory, more than "
                      "--body-memory allows: raise it, or store fewer columns",
                      s->refused >> 20);
}

static bool decode_column(struct stored_rows *s, size_t from, dn_column_view *out,
                          struct problem *problem) {
    const dn_table_source *table = &s->charged.table;
    dn_error err;
    dn_error_clear(&err);
    return from == SIZE_MAX || table->column(table, s->chunk, from, 0, out, &err) == DN_OK ||
           read_failed(s, &err, problem);
}

/* Decodes the columns of the current chunk. */
static bool decode(struct stored_rows *s, struct problem *problem) {
    for (size_t j = 0; j < s->n_columns; j++) {
        if (!decode_column(s, s->from[j], &s->views[j], problem) ||
            !decode_column(s, s->spelled_from[j], &s->spelled[j], problem)) {
            return false;
        }
    }
    s->decoded = true;
    return true;
}

/* Reads rows into the empty block, or ends the answer. */
static bool read_block(struct stored_rows *s, struct problem *problem) {
    const dn_table_source *table = &s->charged.table;
    size_t used = 0;
    instance_table_clear(s->table);
    s->next = s->scored = s->written = 0;
    if (s->chunk == table->n_chunks) {
        api_answer_end(&s->answer, s->notes);
        if (s->format->answers->document) {
            buf_putc(&s->out, '\n');
        }
        s->ended = true;
        return true;
    }
    if (!s->decoded && !decode(s, problem)) {
        return false;
    }
    const size_t n = table->chunk_first_row[s->chunk + 1] - table->chunk_first_row[s->chunk];
    const enum instance_lines_state state =
        instance_table_read(s->table, s->views, s->spelled, s->at, n - s->at, &used, &s->fault);
    if (state == INSTANCE_LINES_FAILED) {
        problem_move(problem, &s->fault);
        return false;
    }
    s->at += used;
    if (s->at == n) {
        s->chunk++;
        s->at = 0;
        s->decoded = false;
    }
    return true;
}

static void refuse_row(struct stored_rows *s, struct problem *why) {
    api_answer_refusal(&s->answer, ++s->line, why);
    problem_done(why);
}

/* Writes, scores or reads some rows. */
static bool step(struct stored_rows *s, struct problem *problem) {
    const struct instance_rows *block = instance_table_block(s->table);
    if (s->written < s->scored) {
        const size_t n = api_answer_write(&s->answer, s->written, s->scored);
        s->written += n;
        s->line += (int64_t)n;
    } else if (s->beyond) {
        struct problem why = {0};
        char text[DN_MESSAGE_SIZE];
        api_answer_why_beyond(&s->answer, block, s->next++, text);
        problem_set(&why, PROBLEM_INVALID_INSTANCES, "the row %s", text);
        refuse_row(s, &why);
        s->beyond = false;
    } else if (s->next < block->n) {
        s->scored = api_answer_score(&s->answer, block, s->next, block->n - s->next, &s->beyond);
        s->next += s->scored;
        s->written = 0;
        s->work += s->cost * (double)s->scored;
    } else if (s->fault.type != PROBLEM_NONE) {
        refuse_row(s, &s->fault);
    } else {
        return read_block(s, problem);
    }
    return true;
}

static enum http_stream_state stream_next(struct http_call *call, struct buf *out, bool idle,
                                          bool draining) {
    struct stored_rows *s = http_state(call);
    struct problem problem = {0};
    (void)idle;
    (void)draining; /* the drain waits for replies until --drain-timeout */
    while (!s->ended && s->out.size < API_ANSWER_BYTES && !s->out.failed &&
           (s->work < AT_ONCE || s->out.size == 0)) {
        if (!step(s, &problem)) {
            log_error("stored_rows.read", log_str("request", http_request_id(call)),
                      log_str("detail", problem.detail));
            problem_done(&problem);
            return HTTP_STREAM_ABORT;
        }
    }
    if (s->out.failed) {
        return HTTP_STREAM_ABORT;
    }
    s->work = 0;
    buf_append(out, s->out.data, s->out.size);
    buf_clear(&s->out);
    return s->ended ? HTTP_STREAM_END : HTTP_STREAM_MORE;
}

/* ---- the beginning ---- */

bool api_stored_rows_named(const struct http_call *call) {
    size_t size;
    const char *body = http_body_bytes(call, &size), *type = http_content_type(call),
               *at = json_first(body, size), *end = body + size;
    static const char member[] = "\"dataset\"";
    if ((type[0] != '\0' && strcmp(type, API_JSON) != 0) || *at != '{') {
        return false;
    }
    at++;
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n')) {
        at++;
    }
    return (size_t)(end - at) >= sizeof member - 1 && memcmp(at, member, sizeof member - 1) == 0;
}

/* Opens the columns of the dataset that the model needs or that are kept. */
static bool open_columns(struct stored_rows *s, struct http_call *call,
                         const struct store_dataset *d, const struct schema *schema,
                         struct problem *problem) {
    const dn_encoder *encoder = dn_model_encoder(s->m->model);
    struct jobs_column *columns = calloc(2 * schema->n + 1, sizeof *columns);
    size_t n = 0;
    if (columns == NULL) {
        return problem_set(problem, PROBLEM_UNAVAILABLE, "no memory to read rows");
    }
    for (size_t j = 0; j < schema->n; j++) {
        const size_t input = instance_table_input(s->table, j);
        s->from[j] = s->spelled_from[j] = SIZE_MAX;
        if (input != SIZE_MAX) {
            columns[n] = jobs_column_of(&schema->columns[j], j);
            const dn_column_type type = dn_encoder_input(encoder, input)->type;
            if (columns[n].type != DN_SPARSE && (type == DN_TEXT || type == DN_CATEGORICAL)) {
                columns[n].type = type; /* every column of cells can be read with its spelling */
            } else if (columns[n].type == DN_DATETIME) {
                columns[n].type = DN_TEXT; /* dates are read as those of a body */
            }
            s->from[j] = n++;
        }
        if (instance_table_keeps(s->table, j)) {
            columns[n] = jobs_column_of(&schema->columns[j], j);
            columns[n].type = DN_TEXT;
            s->spelled_from[j] = n++;
        }
    }
    dn_run run = dn_run_default();
    run.allocator = &s->decoded_memory;
    const bool good = jobs_source_open(api_app_of(call)->store, d->id, columns, n, 1, 0, &run,
                                       &s->source, problem);
    free(columns);
    if (good) {
        charged_source_init(&s->charged, call, jobs_source_table(s->source));
    }
    return good;
}

static bool find_columns(struct stored_rows *s, const struct schema *schema,
                         const struct instances_options *options, struct problem *problem) {
    dn_table_column *columns = calloc(schema->n + 1, sizeof *columns);
    s->n_columns = schema->n;
    s->views = calloc(schema->n + 1, sizeof *s->views);
    s->spelled = calloc(schema->n + 1, sizeof *s->spelled);
    s->from = calloc(schema->n + 1, sizeof *s->from);
    s->spelled_from = calloc(schema->n + 1, sizeof *s->spelled_from);
    if (columns == NULL || s->views == NULL || s->spelled == NULL || s->from == NULL ||
        s->spelled_from == NULL) {
        free(columns);
        return problem_set(problem, PROBLEM_UNAVAILABLE, "no memory to read rows");
    }
    for (size_t j = 0; j < schema->n; j++) {
        columns[j].name = schema->columns[j].name;
        columns[j].type = schema->columns[j].type;
        columns[j].form = schema->columns[j].form;
    }
    s->table = instance_table_new(s->m->model, predict_plan_of(s->m)->schema, options, columns,
                                  schema->n, problem);
    free(columns);
    return s->table != NULL;
}

/* Notes the unseen categories of all rows before the answer begins: headers come first. */
static bool note_unseen(struct stored_rows *s, struct http_call *call, struct problem *problem) {
    const dn_encoder *encoder = dn_model_encoder(s->m->model);
    const dn_table_source *table = &s->charged.table;
    dn_error err;
    dn_error_clear(&err);
    s->notes = instance_table_take_notes(s->table);
    for (size_t j = 0; j < s->n_columns; j++) {
        const size_t input = instance_table_input(s->table, j);
        const bool read = s->from[j] != SIZE_MAX && input != SIZE_MAX &&
                          (dn_encoder_input(encoder, input)->type == DN_CATEGORICAL ||
                           dn_encoder_input(encoder, input)->type == DN_DATETIME);
        for (size_t c = 0; read && c < table->n_chunks; c++) {
            dn_column_view view;
            if (!http_go_on(call)) {
                return problem_set(problem, PROBLEM_UNAVAILABLE,
                                   "the call was cancelled because the client has left or the "
                                   "daemon is shutting down");
            }
            if (table->column(table, c, s->from[j], 0, &view, &err) != DN_OK) {
                return read_failed(s, &err, problem);
            }
            const bool dates = dn_encoder_input(encoder, input)->part != DN_PART_NONE ||
                               dn_encoder_input(encoder, input)->type == DN_DATETIME;
            if (!(dates ? instance_table_note_dates(s->table, &s->notes, j, &view)
                        : instance_table_note_levels(s->table, &s->notes, j, &view))) {
                return problem_set(problem, PROBLEM_UNAVAILABLE, "no memory to read rows");
            }
        }
    }
    return true;
}

/* Reads the name of the dataset from the body, into the arena of the call. */
static const char *read_reference(struct http_call *call, struct problem *problem) {
    static const char *const known[] = {"dataset", NULL};
    size_t size;
    const char *body = http_body_bytes(call, &size), *text = NULL, *copy = NULL;
    json_t *root = json_parse(body, size, problem);
    if (root == NULL) {
        return NULL;
    }
    json_refuse_unknown(root, known, "", problem);
    if (json_read_string(root, "dataset", true, "", &text, problem)) {
        copy = arena_strdup(http_arena(call), text);
        if (copy == NULL) {
            problem_set(problem, PROBLEM_UNAVAILABLE, "no memory to read rows");
        }
    }
    json_decref(root);
    return problem->type != PROBLEM_NONE ? NULL : copy;
}

static bool open_dataset(struct stored_rows *s, struct http_call *call, const char *reference,
                         const struct instances_options *options, struct problem *problem) {
    struct store_dataset d;
    struct schema schema = {0};
    if (!api_take_heavy(call, problem) || !api_dataset_referenced(call, reference, &d, problem)) {
        return false;
    }
    const bool good = schema_parse(d.columns, &schema, problem) &&
                      find_columns(s, &schema, options, problem) &&
                      open_columns(s, call, &d, &schema, problem) && note_unseen(s, call, problem);
    schema_done(&schema);
    store_dataset_done(&d);
    return good;
}

static bool begin(struct stored_rows *s, struct http_call *call, struct api_answer_options *how,
                  const struct instances_options *options, struct problem *problem) {
    const char *reference = read_reference(call, problem);
    how->refusal_base = api_app_of(call)->base_path;
    s->cost = api_outputs_cost(s->m->model, how->kind == API_PREDICTIONS
                                                ? api_outputs_of(s->m->model, how->outputs)
                                                : ANSWER_SCORES);
    return reference != NULL && api_answer_check(s->m, how, problem) &&
           open_dataset(s, call, reference, options, problem) &&
           (s->charged.table.n_chunks == 0 || decode(s, problem)) &&
           api_answer_begin(&s->answer, s->m, how, &s->out, problem);
}

void api_stored_rows(struct http_call *call, const struct serving_model *m,
                     const struct api_answer_options *asked) {
    struct api_app *app = api_app_of(call);
    struct api_answer_options how = *asked;
    struct instances_options options = {0};
    struct problem problem = {0};
    char rows[24];
    struct stored_rows *s = calloc(1, sizeof *s);
    if (s == NULL) {
        http_fail(call, PROBLEM_UNAVAILABLE, "no memory to read rows");
        return;
    }
    http_set_state(call, s);
    http_on_done(call, stored_rows_free);
    s->serving = app->serving;
    s->call = call;
    s->decoded_memory = (dn_allocator){.allocate = rows_allocate,
                                       .release = rows_release,
                                       .charge = rows_charge,
                                       .discharge = rows_discharge,
                                       .ctx = s,
                                       .budgeted = true};
    if (!api_instances_keep(call, &s->keep, &how.keep) || !api_instances_stored(call, &options)) {
        return;
    }
    options.keep = how.keep;
    how.format = s->format = api_reply_format(call, &format_ndjson);
    s->m = serving_get(app->serving, m->name, m->version, http_change(call), &problem);
    if (s->m == NULL || !begin(s, call, &how, &options, &problem)) {
        http_reply_problem(call, &problem);
        return;
    }
    (void)snprintf(rows, sizeof rows, "%zu", s->charged.table.n_rows);
    http_reply_header(call, "Discern-Rows", rows);
    api_instances_notes(call, m->name, m->model, s->notes);
    http_stream(call, 200, format_media_type(s->format), 0, stream_next);
}
