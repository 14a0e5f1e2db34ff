/* Reads JSON tables: an array of objects, {"columns": […], "rows": [[…]]}, or NDJSON with a row
 * on each line. A state machine over the tokens of the reader; table_json_rows.c reads the rows.
 *
 * "columns" must come before "rows". A column is a name, or an object with `name` and optionally
 * `type`; other members are ignored, so that a client can send the description of a dataset.
 * NDJSON: the first row determines whether all rows are objects or arrays. A line that is not JSON
 * is only a fault of its row: reading continues with the next line. */
#include "formats/json/table_json.h"
#include "base/json/json_write.h"
#include "formats/formats.h"
#include "formats/json/format_json.h"
#include "formats/json/json_sniff.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool fault_here(struct table *t, const char *what) {
    return table_fault(t, json_line(t), json_column(t), "%s", what);
}

static bool fatal_here(struct table *t, const char *what) {
    fault_here(t, what);
    t->refused = true;
    return false;
}

void table_json_skip(struct table *t, enum json_token_kind kind, enum json_state state) {
    json_of(t)->state = state;
    if (json_token_begins(kind)) {
        json_of(t)->skip_depth = 1;
        json_of(t)->after_skip = state;
        json_of(t)->state = AT_SKIP;
    }
}

/* ---- columns ---- */
static bool column_add(struct table *t, const char *name, size_t n) {
    const size_t i = t->builder.n_columns;
    if (t->append.on) {
        return table_append_name(t, text_trim(name, n), NULL, json_line(t), json_column(t)) &&
               (!json_of(t)->has_type || table_append_type(t, json_of(t)->type));
    }
    if (i == TABLE_MAX_COLUMNS) {
        return table_fatal(t, json_line(t), json_column(t), "the table has more than %d columns",
                           TABLE_MAX_COLUMNS);
    }
    const struct table_where where = {table_json_place, &json_of(t)->json};
    if (!table_add_column(t, name, n, i + 1, NULL, &where)) {
        return false;
    }
    if (json_of(t)->has_type) {
        table_declare_type(t, i, json_of(t)->type, DN_DATE_ANY);
    }
    return true;
}

static bool on_column(struct table *t, const struct json_token *token) {
    if (token->kind == JSON_TOKEN_END_ARRAY) {
        json_of(t)->state = AT_MEMBER;
        t->refused |= t->n_faults > 0; /* without valid names the rows cannot be read */
        return !t->refused;
    }
    json_of(t)->has_type = json_of(t)->has_name = false;
    if (token->kind == JSON_TOKEN_BEGIN_OBJECT) {
        json_of(t)->state = AT_COLUMN_KEY;
        return true;
    }
    return token->kind == JSON_TOKEN_STRING
               ? column_add(t, token->text, token->length)
               : fatal_here(t, "a column must be a name or an object with a name");
}

static bool on_column_key(struct table *t, const struct json_token *token) {
    if (token->kind == JSON_TOKEN_END_OBJECT) {
        json_of(t)->state = AT_COLUMNS;
        if (json_of(t)->name.failed) {
            problem_no_memory(&t->builder.problem);
            return table_stop(t);
        }
        return json_of(t)->has_name
                   ? column_add(t, json_of(t)->name.size > 0 ? json_of(t)->name.data : "",
                                json_of(t)->name.size)
                   : fatal_here(t, "a column object must have a name");
    }
    const struct text key = {token->text, token->length};
    json_of(t)->state = text_is(key, "name")   ? AT_COLUMN_NAME
                        : text_is(key, "type") ? AT_COLUMN_TYPE
                                               : AT_SKIP;
    json_of(t)->skip_depth = 0;
    json_of(t)->after_skip = AT_COLUMN_KEY;
    return true;
}

static bool on_column_value(struct table *t, const struct json_token *token) {
    const bool is_name = json_of(t)->state == AT_COLUMN_NAME;
    char word[16] = "";
    json_of(t)->state = AT_COLUMN_KEY;
    if (token->kind != JSON_TOKEN_STRING) {
        return fatal_here(t, is_name
                                 ? "a column's name must be a string"
                                 : "a column's type must be numeric, boolean, categorical or text");
    }
    if (is_name) {
        buf_clear(&json_of(t)->name);
        buf_append(&json_of(t)->name, token->text, token->length);
        json_of(t)->has_name = true;
        return true;
    }
    if (token->length < sizeof word) {
        memcpy(word, token->text, token->length);
    }
    json_of(t)->has_type =
        dn_column_type_parse(word, &json_of(t)->type) && json_of(t)->type != DN_SPARSE;
    return json_of(t)->has_type ||
           fatal_here(t, "a column's type must be numeric, boolean, categorical or text");
}

/* ---- {"columns", "rows"} ---- */
static bool on_member(struct table *t, const struct json_token *token) {
    struct table_json *at = json_of(t);
    if (token->kind == JSON_TOKEN_END_OBJECT) {
        at->state = AT_END;
        return at->rows_seen || fatal_here(t, "the object must have \"columns\" and \"rows\"");
    }
    const struct text key = {token->text, token->length};
    if (text_is(key, "columns") && !at->columns_seen) {
        at->columns_seen = true;
        at->state = AT_COLUMNS_BEGIN;
        return true;
    }
    if (text_is(key, "rows") && !at->rows_seen) {
        at->rows_seen = true;
        at->state = AT_ROWS_BEGIN;
        return at->columns_seen || fatal_here(t, "\"columns\" must come before \"rows\"");
    }
    if (text_is(key, "items")) {
        return fatal_here(
            t, "the body is an answer of this server, with \"items\": send the array alone, or "
               "fetch the rows as CSV or NDJSON (Accept: text/csv) and send these");
    }
    return fatal_here(
        t, "the object must have the members \"columns\" and \"rows\", each once, "
           "and no others; rows that are objects are sent as an array, or one on each line "
           "(application/x-ndjson)");
}

/* ---- rows ---- */
/* Handles a token in the array of rows. wanted: the token with which a row must begin. */
static bool on_row(struct table *t, const struct json_token *token, enum json_token_kind wanted) {
    const bool array = wanted == JSON_TOKEN_BEGIN_ARRAY;
    if (token->kind == JSON_TOKEN_END_ARRAY) {
        json_of(t)->state = array ? AT_MEMBER : AT_END;
        return true;
    }
    table_json_row_begin(t);
    if (token->kind == wanted) {
        json_of(t)->state = array ? AT_CELL : AT_KEY;
        return true;
    }
    table_json_skip(t, token->kind, array ? AT_ROWS : AT_ITEMS);
    return table_row_fault(t, json_of(t)->row_line, json_of(t)->row_column,
                           "row %" PRId64 " must be an %s", json_of(t)->row,
                           array ? "array" : "object");
}

/* Handles the first token of a line. */
static bool on_line(struct table *t, enum json_token_kind kind) {
    struct table_json *at = json_of(t);
    const bool array = kind == JSON_TOKEN_BEGIN_ARRAY;
    table_json_row_begin(t);
    if (json_token_begins(kind) && !at->row_kind_known) {
        at->row_kind_known = true;
        at->arrays = array;
        if (array) {
            t->used |= TABLE_OPTION_LABEL | TABLE_OPTION_NAMES;
            table_append_by_position(t);
        }
    }
    if (json_token_begins(kind) && array == at->arrays) {
        at->state = array ? AT_CELL : AT_KEY;
        return true;
    }
    table_json_skip(t, kind, AT_LINE_END);
    return table_row_fault(t, at->row_line, at->row_column, "row %" PRId64 " must be an %s%s",
                           at->row,
                           !at->row_kind_known ? "object or an array"
                           : at->arrays        ? "array"
                                               : "object",
                           at->row_kind_known ? ", as the first one" : "");
}

/* Handles the end of a row's object or array. In NDJSON the row is added at the end of its line,
 * because another value on the line would be a fault. */
static bool on_row_closed(struct table *t, bool array) {
    json_of(t)->state = json_of(t)->lines ? AT_LINE_END : array ? AT_ROWS : AT_ITEMS;
    return json_of(t)->lines || table_json_row_end(t, array);
}

static bool on_line_end(struct table *t) {
    json_of(t)->state = AT_LINE;
    return table_json_row_end(t, json_of(t)->arrays);
}

static void on_skip(struct table *t, enum json_token_kind kind) {
    if (json_token_begins(kind)) {
        json_of(t)->skip_depth++;
    } else if (kind == JSON_TOKEN_END_ARRAY || kind == JSON_TOKEN_END_OBJECT) {
        json_of(t)->skip_depth--;
    }
    if (json_of(t)->skip_depth == 0 && kind != JSON_TOKEN_KEY) {
        json_of(t)->state = json_of(t)->after_skip;
    }
}

static bool on_top(struct table *t, enum json_token_kind kind) {
    json_of(t)->state = kind == JSON_TOKEN_BEGIN_ARRAY ? AT_ITEMS : AT_MEMBER;
    return json_token_begins(kind) ||
           fatal_here(
               t,
               "the body must be an array of objects or an object with \"columns\" and \"rows\"");
}

static bool on_token(struct table *t, const struct json_token *token) {
    switch ((enum json_state)json_of(t)->state) {
    case AT_TOP:
        return on_top(t, token->kind);
    case AT_ITEMS:
        return on_row(t, token, JSON_TOKEN_BEGIN_OBJECT);
    case AT_LINE:
        return on_line(t, token->kind);
    case AT_LINE_END:
        return on_line_end(t);
    case AT_KEY:
        json_of(t)->state = AT_VALUE;
        return token->kind == JSON_TOKEN_END_OBJECT ? on_row_closed(t, false)
                                                    : table_json_key(t, token);
    case AT_VALUE:
        return table_json_keyed_value(t, token, AT_KEY);
    case AT_MEMBER:
        return on_member(t, token);
    case AT_COLUMNS_BEGIN:
        json_of(t)->state = AT_COLUMNS;
        table_append_list(t);
        return token->kind == JSON_TOKEN_BEGIN_ARRAY ||
               fatal_here(t, "\"columns\" must be an array");
    case AT_COLUMNS:
        return on_column(t, token);
    case AT_COLUMN_KEY:
        return on_column_key(t, token);
    case AT_COLUMN_NAME:
    case AT_COLUMN_TYPE:
        return on_column_value(t, token);
    case AT_ROWS_BEGIN:
        json_of(t)->state = AT_ROWS;
        return token->kind == JSON_TOKEN_BEGIN_ARRAY || fatal_here(t, "\"rows\" must be an array");
    case AT_ROWS:
        return on_row(t, token, JSON_TOKEN_BEGIN_ARRAY);
    case AT_CELL:
        return token->kind == JSON_TOKEN_END_ARRAY ? on_row_closed(t, true)
                                                   : table_json_listed_value(t, token, AT_CELL);
    case AT_SKIP:
        on_skip(t, token->kind);
        return true;
    case AT_END:
        return true;
    }
    return true;
}

/* ---- faults of the JSON reader ---- */
/* Refuses the whole body because of a fault of the JSON reader. */
static bool refuse(struct table *t) {
    t->refused = true;
    t->n_faults++;
    return json_reader_problem(&json_of(t)->json, &t->problem);
}

/* Reports a line that is not JSON as a fault of its row. If the body ends within a value, or memory
 * is exhausted, the whole body is refused. */
static bool bad_line(struct table *t) {
    int64_t line = 0, column = 0;
    const char *fault = json_of(t)->json.fault;
    json_reader_place(&json_of(t)->json, &line, &column);
    if (json_of(t)->state == AT_LINE) {
        table_json_row_begin(t);
    }
    if (!json_reader_next_line(&json_of(t)->json)) {
        return refuse(t);
    }
    json_of(t)->state = AT_LINE;
    return table_row_fault(t, line, column, "row %" PRId64 " is not JSON: %s", json_of(t)->row,
                           fault);
}

static bool drain(struct table *t) {
    struct json_token token;
    for (;;) {
        switch (json_reader_next(&json_of(t)->json, &token)) {
        case JSON_TOKEN_MORE:
            return table_json_piece_end(t);
        case JSON_TOKEN_END:
            return true;
        case JSON_TOKEN_FAULT:
            if (!json_of(t)->lines) {
                return refuse(t);
            }
            if (!bad_line(t)) {
                t->refused = true;
                return false;
            }
            break;
        default:
            if (!on_token(t, &token) || t->refused) {
                t->refused = true;
                return false;
            }
        }
    }
}

/* ---- begin and end ---- */
static enum table_begin begin(struct table *t, bool lines) {
    struct table_json *at = calloc(1, sizeof *at);
    if (at == NULL) {
        table_no_memory(t);
        return TABLE_BEGIN_REFUSED;
    }
    json_reader_init(&at->json);
    at->json.lines = at->lines = lines;
    at->state = lines ? AT_LINE : AT_TOP;
    t->state = at;
    return TABLE_BEGUN;
}

static enum table_begin json_begin(struct table *t, const struct table_sample *sample,
                                   bool may_look) {
    (void)sample;
    (void)may_look;
    return begin(t, false);
}

static enum table_begin ndjson_begin(struct table *t, const struct table_sample *sample,
                                     bool may_look) {
    (void)sample;
    (void)may_look;
    return begin(t, true);
}

/* Reads a piece. The first piece is the sample, which contains the whole byte order mark if there
 * is one. */
static bool feed(struct table *t, const char *bytes, size_t n) {
    struct table_json *at = t->state;
    const size_t mark = !at->fed && n >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    at->fed = true;
    json_reader_feed(&at->json, bytes + mark, n - mark);
    return drain(t);
}

static bool end(struct table *t) {
    json_reader_close(&json_of(t)->json);
    return drain(t) && table_json_rows_end(t);
}

static bool has_names(const struct table *t) {
    return json_of(t)->columns_seen;
}

static void done(struct table *t) {
    struct table_json *at = t->state;
    if (at != NULL) {
        table_json_rows_done(at);
        json_reader_done(&at->json);
        free(at);
    }
}

static enum table_sniff sniff(const struct table_sample *sample, bool lines) {
    if (!json_sniff_looks(sample->bytes, sample->n)) {
        return TABLE_SNIFF_NO;
    }
    switch (json_sniff_lines(sample->bytes, sample->n, sample->whole)) {
    case JSON_SNIFF_NO_MEMORY:
        return TABLE_SNIFF_NO_MEMORY;
    case JSON_SNIFF_UNSURE:
        return TABLE_SNIFF_MORE;
    case JSON_SNIFF_LINES:
        return lines ? TABLE_SNIFF_YES : TABLE_SNIFF_NO;
    case JSON_SNIFF_ONE:
        return lines ? TABLE_SNIFF_NO : TABLE_SNIFF_YES;
    }
    return TABLE_SNIFF_NO;
}

static enum table_sniff json_sniff(const struct table *t, const struct table_sample *sample) {
    (void)t;
    return sniff(sample, false);
}

static enum table_sniff ndjson_sniff(const struct table *t, const struct table_sample *sample) {
    (void)t;
    return sniff(sample, true);
}

const struct table_reader json_table_reader = {
    .name = "json",
    .title = "JSON",
    .keyed = true,
    .sniff = json_sniff,
    .begin = json_begin,
    .feed = feed,
    .end = end,
    .has_names = has_names,
    .done = done,
};
const struct table_reader ndjson_table_reader = {
    .name = "ndjson",
    .title = "NDJSON",
    .keyed = true,
    .sniff = ndjson_sniff,
    .begin = ndjson_begin,
    .feed = feed,
    .end = end,
    .has_names = has_names,
    .done = done,
};
