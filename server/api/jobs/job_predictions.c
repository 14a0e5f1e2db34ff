/* GET /v1/jobs/{id}/predictions: streams the predictions for the rows that the job held out. */
#include "api/handlers.h"
#include "api/policy.h"
#include "api/support.h"
#include "base/json/json_read.h"
#include "base/log/log.h"
#include "formats/formats.h"
#include "jobs/held_out_chunks.h"
#include "serving/model_rule.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Approximate output of one step. */
enum { SLICE_BYTES = 64 * 1024 };

static const char *const media_types[] = {"text/csv", "application/x-ndjson", NULL};

/* The state of a streamed reply. */
struct held_out_stream {
    struct store *store;
    int64_t job;
    bool csv;
    struct store_chunk *chunks; /* in row order */
    size_t n_chunks, chunk;     /* number of chunks; index of the current one */
    struct buf bytes;           /* the current chunk */
    struct held_out_chunk rows;
    size_t at; /* next row of the chunk */
    size_t n_classes;
    struct buf *classes; /* [n_classes] each class as it is written in this format */
    struct buf columns;  /* CSV: the header of the label and the values, without its line end */
    bool ruled;          /* `rule` is set: that of the job's result */
    dn_rule rule;
    double *cost; /* of the rule */
    double *p;    /* [n_classes] the probabilities of a row */
    bool begun;   /* the header was written */
};

static void stream_free(void *state) {
    struct held_out_stream *s = state;
    for (size_t k = 0; k < s->n_classes; k++) {
        buf_done(&s->classes[k]);
    }
    free(s->classes);
    free(s->cost);
    free(s->p);
    buf_done(&s->columns);
    buf_done(&s->bytes);
    free(s->chunks);
    free(s);
}

/* ---- reading ---- */

static bool read_chunk(struct held_out_stream *s, struct problem *problem) {
    const struct store_chunk *c = &s->chunks[s->chunk];
    s->at = 0;
    if (!store_chunk_read(s->store, c, 0, &s->bytes, problem) ||
        !held_out_chunk_read(s->bytes.data, s->bytes.size, &s->rows, problem)) {
        return false;
    }
    return (int64_t)s->rows.n == c->n_rows ||
           problem_set(problem, PROBLEM_INTERNAL,
                       "stored data is damaged: a chunk of predictions has %zu rows, not %" PRId64,
                       s->rows.n, c->n_rows);
}

/* Writes a class as a CSV cell or as JSON. */
static void put_class(const json_t *class, bool csv, struct buf *out) {
    struct json_writer w = json_writer_of(out);
    if (json_is_string(class) && csv) {
        csv_text_write(json_string_value(class), json_string_length(class), ',', out);
    } else if (json_is_string(class)) {
        json_put_stringn(&w, json_string_value(class), json_string_length(class));
    } else if (json_is_boolean(class)) {
        json_put_bool(&w, json_is_true(class));
    } else if (csv) {
        char number[DN_NUMBER_SIZE];
        buf_append(out, number, dn_number_format(json_number_value(class), number));
    } else {
        json_put_double(&w, json_number_value(class));
    }
}

/* Reads the head of the first chunk: the classes and the columns. */
static bool read_head(struct held_out_stream *s, struct problem *problem) {
    struct problem own = {0};
    json_t *head = json_parse(s->rows.head, s->rows.head_size, &own);
    const json_t *classes = json_object_get(head, "classes");
    const char *columns = json_string_value(json_object_get(head, "columns"));
    const size_t n = json_array_size(classes);
    const struct store_chunk *last = &s->chunks[s->n_chunks - 1];
    problem_done(&own);
    bool good =
        n > 0 && columns != NULL && s->rows.n_all == (uint64_t)(last->first_row + last->n_rows);
    if (!good) {
        problem_set(problem, PROBLEM_INTERNAL,
                    "stored data is damaged: the chunks of predictions are incomplete");
    }
    s->classes = good ? calloc(n, sizeof *s->classes) : NULL;
    if (s->classes != NULL) {
        s->n_classes = n;
        buf_append(&s->columns, columns, strcspn(columns, "\r\n"));
        bool failed = s->columns.failed;
        for (size_t k = 0; k < n; k++) {
            put_class(json_array_get(classes, k), s->csv, &s->classes[k]);
            failed = failed || s->classes[k].failed;
        }
        good = !failed || problem_no_memory(problem);
    } else if (good) {
        good = problem_no_memory(problem);
    }
    json_decref(head);
    return good;
}

/* Reads the decision rule in the result of the job, if it has one. */
static bool read_rule(struct held_out_stream *s, const struct store_job *j,
                      struct problem *problem) {
    struct problem ignored = {0};
    json_t *result = j->result != NULL ? json_parse(j->result, strlen(j->result), &ignored) : NULL;
    const json_t *rule = json_object_get(result, "decision_rule");
    bool good = true;
    problem_done(&ignored);
    if (rule != NULL && s->rows.probabilities && s->rows.n_values == s->n_classes) {
        s->p = calloc(s->n_classes, sizeof *s->p);
        if (s->p == NULL) {
            good = problem_no_memory(problem);
        } else if (!model_rule_read(rule, s->n_classes, &s->rule, &s->cost)) {
            problem_set(
                problem, PROBLEM_INTERNAL,
                "the decision rule in the result of the job is damaged, or memory is short");
            good = false;
        } else {
            s->ruled = true;
        }
    }
    json_decref(result);
    return good;
}

/* ---- writing ---- */

static void write_header(const struct held_out_stream *s, struct buf *out) {
    buf_puts(out, "row,fold,truth,");
    buf_append(out, s->columns.data, s->columns.size);
    buf_puts(out, s->rows.repeated ? ",repeat" : "");
    buf_puts(out, s->rows.weighted ? ",weight" : "");
    buf_puts(out, s->ruled ? ",decided\n" : "\n");
}

static void put_name(const struct held_out_stream *s, uint32_t class, struct buf *out) {
    if (class < s->n_classes) {
        buf_append(out, s->classes[class].data, s->classes[class].size);
    } else {
        buf_puts(out, s->csv ? "" : "null");
    }
}

/* Writes the label that the rule of the job chooses for row i. */
static void put_decided(const struct held_out_stream *s, size_t i, struct buf *out) {
    for (size_t k = 0; k < s->n_classes; k++) {
        s->p[k] = held_out_chunk_value(&s->rows, i, k);
    }
    const size_t label = dn_rule_label(&s->rule, s->p);
    put_name(s, label < s->n_classes ? (uint32_t)label : UINT32_MAX, out);
}

static void put_number(double value, struct buf *out) {
    char number[DN_NUMBER_SIZE];
    buf_append(out, number, dn_number_format(value, number));
}

static void write_csv_row(const struct held_out_stream *s, size_t i, struct buf *out) {
    const struct held_out_row row = held_out_chunk_row(&s->rows, i);
    buf_printf(out, "%" PRIu64 ",%" PRIu32 ",", row.row, row.fold);
    put_name(s, row.truth, out);
    buf_putc(out, ',');
    put_name(s, row.label, out);
    for (size_t k = 0; k < s->rows.n_values; k++) {
        buf_putc(out, ',');
        put_number(held_out_chunk_value(&s->rows, i, k), out);
    }
    if (s->rows.repeated) {
        buf_printf(out, ",%" PRIu32, row.repeat);
    }
    if (s->rows.weighted) {
        buf_putc(out, ',');
        put_number(row.weight, out);
    }
    if (s->ruled) {
        buf_putc(out, ',');
        put_decided(s, i, out);
    }
    buf_putc(out, '\n');
}

static void write_json_row(const struct held_out_stream *s, size_t i, struct buf *out) {
    const struct held_out_row row = held_out_chunk_row(&s->rows, i);
    struct json_writer w = json_writer_of(out);
    buf_printf(out, "{\"row\":%" PRIu64 ",\"fold\":%" PRIu32 ",\"truth\":", row.row, row.fold);
    put_name(s, row.truth, out);
    buf_puts(out, ",\"label\":");
    put_name(s, row.label, out);
    if (s->ruled) {
        buf_puts(out, ",\"decided\":");
        put_decided(s, i, out);
    }
    buf_puts(out, s->rows.probabilities ? ",\"probabilities\":" : ",\"scores\":");
    json_begin_array(&w);
    for (size_t k = 0; k < s->rows.n_values; k++) {
        json_put_double(&w, held_out_chunk_value(&s->rows, i, k));
    }
    json_end_array(&w);
    if (s->rows.repeated) {
        buf_printf(out, ",\"repeat\":%" PRIu32, row.repeat);
    }
    if (s->rows.weighted) {
        buf_puts(out, ",\"weight\":");
        json_double_write(row.weight, out);
    }
    buf_puts(out, "}\n");
}

static enum http_stream_state stream_next(struct http_call *call, struct buf *out, bool idle,
                                          bool draining) {
    struct held_out_stream *s = http_state(call);
    struct problem problem = {0};
    (void)idle;
    (void)draining; /* the drain waits for replies until --drain-timeout */
    if (!s->begun && s->csv) {
        write_header(s, out);
    }
    s->begun = true;
    while (out->size < SLICE_BYTES && !out->failed) {
        if (s->at < s->rows.n) {
            (s->csv ? write_csv_row : write_json_row)(s, s->at++, out);
        } else if (s->chunk + 1 == s->n_chunks) {
            return HTTP_STREAM_END;
        } else {
            s->chunk++;
            if (!read_chunk(s, &problem)) {
                log_error("predictions.read", log_str("request", http_request_id(call)),
                          log_int("job", s->job), log_str("detail", problem.detail));
                problem_done(&problem);
                return HTTP_STREAM_ABORT;
            }
        }
    }
    return HTTP_STREAM_MORE;
}

/* ---- the call ---- */

/* Refuses a job that has no predictions. Returns false after setting the problem. */
static bool check_job(const struct store_job *j, struct problem *problem) {
    if (!store_job_ended(j->state)) {
        return problem_set(problem, PROBLEM_CONFLICT,
                           "job %" PRId64 " is %s: its predictions exist when it has succeeded",
                           j->id, store_job_state_name(j->state));
    }
    if (j->state != STORE_JOB_SUCCEEDED) {
        return problem_set(problem, PROBLEM_CONFLICT, "job %" PRId64 " %s: it has no predictions",
                           j->id, j->state == STORE_JOB_FAILED ? "failed" : "was cancelled");
    }
    return true;
}

static bool refuse_without(const struct store_job *j, struct problem *problem) {
    return problem_set(
        problem, PROBLEM_NOT_FOUND,
        "job %" PRId64
        " has no predictions: it held no rows out (a validation by holdout, folds or "
        "a column holds rows out), its algorithm has no target, a warning of the job "
        "has the reason, or an earlier release ran it",
        j->id);
}

static struct held_out_stream *stream_new(struct http_call *call, const struct store_job *j,
                                          struct problem *problem) {
    struct held_out_stream *s = calloc(1, sizeof *s);
    if (s == NULL) {
        (void)problem_no_memory(problem);
        return NULL;
    }
    s->store = api_app_of(call)->store;
    s->job = j->id;
    s->csv = http_accepts(call, media_types) <= 0;
    bool good =
        store_model_predictions(s->store, j->model, j->version, &s->chunks, &s->n_chunks, problem);
    if (!good && problem->type == PROBLEM_UNKNOWN_MODEL) {
        problem_done(problem);
        problem_set(problem, PROBLEM_NOT_FOUND,
                    "the predictions of job %" PRId64 " were deleted with version %" PRId64
                    " of model \"%s\"",
                    j->id, j->version, j->model);
    }
    if (good && s->n_chunks == 0) {
        good = refuse_without(j, problem);
    }
    if (good && read_chunk(s, problem) && read_head(s, problem) && read_rule(s, j, problem)) {
        return s;
    }
    stream_free(s);
    return NULL;
}

void api_job_predictions(struct http_call *call) {
    struct problem problem = {0};
    struct store_job j;
    struct held_out_stream *s = NULL;
    if (!api_job_find(call, &j)) {
        return;
    }
    if (check_job(&j, &problem)) {
        s = stream_new(call, &j, &problem);
    }
    if (s == NULL) {
        store_job_done(&j);
        http_reply_problem(call, &problem);
        return;
    }
    const char *text = arena_printf(http_arena(call), "%s %" PRId64 " %s %" PRId64 " %s",
                                    DISCERN_VERSION, j.id, j.model, j.version,
                                    media_types[s->csv ? 0 : 1]),
               *etag = text != NULL ? api_etag(call, text, strlen(text)) : NULL;
    store_job_done(&j);
    if (etag != NULL) {
        http_etag(call, etag);
    }
    http_set_state(call, s);
    http_on_done(call, stream_free);
    http_stream(call, 200, media_types[s->csv ? 0 : 1], 0, stream_next);
}
