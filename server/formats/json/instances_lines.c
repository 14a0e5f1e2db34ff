/* Reads instances as NDJSON: an array or an object on each line. A stream is read in blocks of
 * rows, where a fault refuses one line only. A body is read as a whole, where a fault refuses the
 * body. */
#include "formats/instances/row_notes.h"
#include "formats/json/format_json.h"
#include "formats/json/instances_json.h"

#include <stdlib.h>
#include <string.h>

struct instance_lines {
    struct instances in;
    struct json_reading r;
    struct problem problem; /* faults of the current line */
    size_t max_rows, max_line;
    int64_t *line_of; /* [max_rows] line number of each row of the block */
    int64_t n_taken;  /* lines that were not refused */
    bool begun;       /* the first line was read; a byte order mark was skipped */
    bool skipping;    /* the rest of a line is skipped that was refused as too long */
};

/* ---- one line ---- */
static bool is_blank(const char *bytes, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] != ' ' && bytes[i] != '\t' && bytes[i] != '\r') {
            return false;
        }
    }
    return true;
}

/* Reports a fault of the reader: the line is not JSON, or memory is exhausted. */
static void fault(struct json_reading *r) {
    int64_t line = 0, column = 0;
    const char *text = r->json.fault;
    /* The texts of the JSON reader are about the body; these are about the line. */
    switch (r->json.fault_code) {
    case JSON_READER_NO_MEMORY:
        instances_no_memory(r->in);
        return;
    case JSON_READER_EMPTY:
        text = "the line is empty";
        break;
    case JSON_READER_ENDS_IN_CONTAINER:
        text = "the line ends within an array or object";
        break;
    case JSON_READER_ENDS_IN_STRING:
        text = "the line ends within a string";
        break;
    case JSON_READER_SYNTAX:
        break;
    }
    json_reader_place(&r->json, &line, &column);
    instances_fault(r->in, NULL, r->line, column, "%s", text);
}

/* Reads the value of a line as a row. The `slack` bytes after the line may be read; the first of
 * them is the line end. Faults are added to the problem of r->in. */
static void read_line(struct json_reading *r, const char *bytes, size_t n, size_t slack) {
    json_reader_reset(&r->json);
    /* NaN and Infinity are reported as faults of their values, not as faults of JSON */
    r->json.allow_not_finite = true;
    json_reader_feed(&r->json, bytes, n);
    r->json.slack = slack;
    json_reader_close(&r->json);
    json_next(r);
    if (!json_over(r)) {
        json_row(r);
    }
    if (!json_over(r)) {
        json_next(r); /* reads the end of the line, or a fault */
    }
    if (r->token.kind == JSON_TOKEN_FAULT) {
        fault(r);
    }
}

/* Refuses an object that names no column of the model, because it was probably sent to the wrong
 * model. If all inputs are sparse, such an object is a row of zeros. If an object names at least
 * one column, the columns that it lacks are missing values. */
static void judge_names(struct json_reading *r) {
    const struct instances *in = r->in;
    size_t dense = 0;
    while (dense < in->n_inputs && in->schema->type[dense] == DN_SPARSE) {
        dense++;
    }
    if (r->nameless && dense < in->n_inputs && in->problem->type == PROBLEM_NONE) {
        instances_fault(r->in, NULL, r->line, 1,
                        "the instance names no column of the model, such as \"%s\"",
                        instances_name(in, dense));
    }
}

/* ---- a stream ---- */
struct instance_lines *instance_lines_new(const dn_model *model,
                                          const struct instances_options *options, size_t max_rows,
                                          size_t max_line, struct problem *problem) {
    struct instance_lines *l = calloc(1, sizeof *l);
    int64_t *line_of = calloc(max_rows, sizeof *line_of);
    if (l == NULL || line_of == NULL ||
        !instances_init(&l->in, model, options->schema, false, &l->problem) ||
        (options->keep != NULL && !instances_keep(&l->in, options->keep))) {
        free(line_of);
        if (l != NULL) {
            instances_done(&l->in);
            problem_done(&l->problem);
        }
        free(l);
        problem_no_memory(problem);
        return NULL;
    }
    l->in.takes_extra = !options->refuse_extra;
    l->in.missing = options->missing != NULL ? options->missing : l->in.missing;
    l->r.in = &l->in;
    json_reader_init(&l->r.json);
    l->max_rows = max_rows;
    l->max_line = max_line;
    l->line_of = line_of;
    return l;
}

void instance_lines_free(struct instance_lines *l) {
    if (l == NULL) {
        return;
    }
    json_reading_done(&l->r);
    instances_done(&l->in);
    problem_done(&l->problem);
    free(l->line_of);
    free(l);
}

/* If the line has faults, moves them to `problem` and removes its row. Returns the state after the
 * line. */
static enum instance_lines_state judge(struct instance_lines *l, size_t n_before,
                                       struct problem *problem) {
    if (l->problem.type == PROBLEM_NONE) {
        l->line_of[n_before] = l->r.line;
        l->n_taken++;
        return l->in.rows.n == l->max_rows || instances_is_full(&l->in) ? INSTANCE_LINES_FULL
                                                                        : INSTANCE_LINES_MORE;
    }
    while (l->in.rows.n > n_before) {
        instances_row_drop(&l->in);
    }
    const bool failed = l->problem.type == PROBLEM_UNAVAILABLE;
    problem_move(problem, &l->problem);
    l->in.stopped = failed;
    return failed ? INSTANCE_LINES_FAILED : INSTANCE_LINES_FAULT;
}

static enum instance_lines_state refuse_long(struct instance_lines *l, struct problem *problem) {
    instances_fault(&l->in, NULL, l->r.line, 1, "the line is longer than %zu bytes", l->max_line);
    return judge(l, l->in.rows.n, problem);
}

static enum instance_lines_state take_line(struct instance_lines *l, const char *bytes, size_t n,
                                           size_t slack, struct problem *problem) {
    const bool first = !l->begun;
    l->begun = true;
    /* this is the rest of a line that was refused as too long */
    if (l->skipping) {
        l->skipping = false;
        return INSTANCE_LINES_MORE;
    }
    l->r.line++;
    if (first && n >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0) {
        bytes += 3;
        n -= 3;
    }
    if (n > l->max_line) {
        return refuse_long(l, problem);
    }
    if (is_blank(bytes, n)) {
        return INSTANCE_LINES_MORE;
    }
    const size_t n_before = l->in.rows.n;
    read_line(&l->r, bytes, n, slack);
    judge_names(&l->r);
    return judge(l, n_before, problem);
}

enum instance_lines_state instance_lines_read(struct instance_lines *l, const char *bytes, size_t n,
                                              bool last, size_t *used, struct problem *problem) {
    enum instance_lines_state state = INSTANCE_LINES_MORE;
    size_t at = 0;
    while (state == INSTANCE_LINES_MORE && at < n) {
        const char *end = memchr(bytes + at, '\n', n - at);
        const size_t length = end != NULL ? (size_t)(end - bytes) - at : n - at;
        if (end != NULL || last) {
            state = take_line(l, bytes + at, length, n - at - length, problem);
            at += length + (end != NULL);
            continue;
        }
        if (l->skipping) {
            at = n;
        } else if (length > l->max_line + 3) { /* 3: the length of a byte order mark */
            l->begun = true;
            l->skipping = true;
            l->r.line++;
            at = n;
            state = refuse_long(l, problem);
        }
        break;
    }
    *used = at;
    return state;
}

const struct instance_rows *instance_lines_block(const struct instance_lines *l) {
    return &l->in.rows;
}

const struct row_notes *instance_lines_notes(struct instance_lines *l) {
    if (l->in.rows.notes != NULL) {
        row_notes_row_end(l->in.rows.notes); /* of the last row */
    }
    return l->in.rows.notes;
}

void instance_lines_clear(struct instance_lines *l) {
    instances_clear(&l->in);
}

bool instance_lines_check_columns(struct instance_lines *l, struct problem *problem) {
    if (l->n_taken > 0) {
        instances_check_named(&l->in, NULL);
        instances_check_keep(&l->in, NULL);
    }
    problem_move(problem, &l->problem);
    return problem->type == PROBLEM_NONE;
}

int64_t instance_lines_at(const struct instance_lines *l) {
    return l->r.line;
}

int64_t instance_lines_line_of(const struct instance_lines *l, size_t row) {
    return l->line_of[row];
}

size_t instance_lines_memory(const struct instance_lines *l) {
    const struct instance_rows *rows = &l->in.rows;
    const size_t row = rows->n_inputs * sizeof(double) + sizeof(size_t),
                 entry = sizeof(double) + sizeof(uint32_t);
    return sizeof *l + l->max_rows * sizeof(int64_t) + rows->capacity * row +
           rows->entry_capacity * entry + kept_rows_memory(&rows->kept, rows->capacity) +
           (rows->n_inputs + l->in.names.capacity) * 64 + l->r.json.scratch.capacity;
}

/* ---- a whole body ---- */
static bool read_ndjson(struct instances *in, const char *body, size_t size,
                        struct instance_rows *out) {
    struct json_reading r = {.in = in};
    json_reader_init(&r.json);
    for (size_t at = 0; at < size && !in->stopped;) {
        const char *end = memchr(body + at, '\n', size - at);
        const size_t n = end != NULL ? (size_t)(end - body) - at : size - at;
        r.line++;
        if (!is_blank(body + at, n)) {
            read_line(&r, body + at, n, size - at - n);
        }
        at += n + (end != NULL);
    }
    const bool well = instances_finish(in, NULL, out);
    json_reading_done(&r);
    return well;
}

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Whether the line, which begins with a bracket, contains the closing bracket for each opening one.
 * Then the line may be a complete value. */
static bool is_whole(const char *line, size_t n) {
    size_t depth = 0;
    bool quoted = false;
    for (size_t i = 0; i < n; i++) {
        const char c = line[i];
        if (quoted) {
            quoted = c != '"';
            i += c == '\\';
            continue;
        }
        quoted = c == '"';
        depth += c == '[' || c == '{';
        if ((c == ']' || c == '}') && depth-- == 0) {
            return false;
        }
    }
    return depth == 0 && !quoted;
}

/* The body must begin with '{' or '['. */
bool instances_json_is_lines(const char *body, size_t size) {
    const char *end = memchr(body, '\n', size);
    while (size > 0 && is_space(body[size - 1])) {
        size--;
    }
    return end != NULL && (size_t)(end - body) < size && is_whole(body, (size_t)(end - body));
}

static bool sniff(const char *body, size_t size) {
    return size > 0 && (body[0] == '{' || body[0] == '[') && instances_json_is_lines(body, size);
}

const struct instances_reader ndjson_instances = {.lines = true,
                                                  .sniff = sniff,
                                                  .read = read_ndjson};
