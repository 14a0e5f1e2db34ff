/* JSON tables: an array of objects, or {"columns": […], "rows": [[…]]}. A machine over the reader's tokens.
 *
 * Objects: the columns are the keys in the order in which they first appear. A key may be new as long as the first chunk is open (see table_builder.h: at least the first 64 rows,
 * mostly some ten thousand), afterwards it is a fault: give "columns" and "rows" then. An absent key is a missing cell.
 * "columns" comes before "rows"; a column is a name or an object with `name` and perhaps `type` (what else it has is not read, so that a description can be sent back). */
#include "wire/table.h"
#include "wire/wire.h"

#include <inttypes.h>
#include <string.h>

enum state {
    AT_TOP,
    AT_ITEMS,         /* in the array of objects */
    AT_KEY,           /* in an object row */
    AT_VALUE,         /* behind its key */
    AT_MEMBER,        /* in {"columns", "rows"} */
    AT_COLUMNS_BEGIN, /* behind "columns" */
    AT_COLUMNS,       /* in its array */
    AT_COLUMN_KEY,    /* in a column object */
    AT_COLUMN_NAME,
    AT_COLUMN_TYPE,
    AT_ROWS_BEGIN, /* behind "rows" */
    AT_ROWS,       /* in its array */
    AT_CELL,       /* in an array row */
    AT_SKIP,       /* before or within a value that is not read */
    AT_END
};

static bool begins(enum wire_json_kind kind) {
    return kind == WIRE_JSON_BEGIN_ARRAY || kind == WIRE_JSON_BEGIN_OBJECT;
}

static bool fault_here(struct wire_table *t, const char *what) {
    int64_t line = 0, column = 0;
    wire_json_place(&t->json, &line, &column);
    return table_fault(t, line, column, "%s", what);
}

static bool fatal_here(struct wire_table *t, const char *what) {
    fault_here(t, what);
    t->refused = true;
    return false;
}

/* The token at hand begins a value that is not wanted: go on in `state` behind it. */
static void skip(struct wire_table *t, enum wire_json_kind kind, enum state state) {
    t->at.state = state;
    if (begins(kind)) {
        t->at.skip_depth = 1;
        t->at.after_skip = state;
        t->at.state = AT_SKIP;
    }
}

/* ---- rows --------------------------------------------------------------------------------------------------------------------------- */
static void row_begin(struct wire_table *t, enum state state) {
    t->at.state = state;
    t->at.row++;
    t->at.expected = 0;
    t->at.n_cells = 0;
    t->at.row_bytes = 0;
    wire_json_place(&t->json, &t->at.row_line, &t->at.row_column);
    t->builder.line = t->at.row_line;
}

static bool row_end(struct wire_table *t, enum state state) {
    t->at.state = state;
    if (t->builder.n_columns == 0) {
        return table_fault(t, t->at.row_line, t->at.row_column, "row %" PRId64 " has no cells, and no column is known yet", t->at.row);
    }
    return (builder_fill_row(&t->builder) == BUILDER_WELL && builder_row_end(&t->builder) == BUILDER_WELL) || table_stop(t);
}

/* A scalar into column i of the row at hand. */
static bool cell(struct wire_table *t, size_t i, const struct wire_json_token *token) {
    struct table_builder *b = &t->builder;
    const struct column *c = &b->column[i];
    enum builder_status status = BUILDER_WELL;
    char shown[TEXT_SHOWN];
    int64_t line = 0, column = 0;
    t->at.row_bytes += token->length;
    if (t->at.row_bytes > WIRE_MAX_ROW) {
        return table_fatal(t, t->at.row_line, t->at.row_column, "row %" PRId64 " is longer than %d bytes", t->at.row, WIRE_MAX_ROW);
    }
    if (token->kind == WIRE_JSON_NULL) {
        status = builder_missing(b, i);
    } else if (token->kind == WIRE_JSON_TRUE || token->kind == WIRE_JSON_FALSE) {
        status = builder_boolean(b, i, token->kind == WIRE_JSON_TRUE);
    } else if (token->length > WIRE_MAX_CELL) {
        wire_json_place(&t->json, &line, &column);
        return table_fault(t, line, column, "column \"%s\": cell is longer than %d bytes", c->name, WIRE_MAX_CELL);
    } else if (token->kind == WIRE_JSON_STRING) {
        status = builder_string(b, i, token->text, token->length);
    } else {
        status = token->finite ? builder_number(b, i, token->number, token->text, token->length)
                               : builder_text(b, i, token->text, token->length);
    }
    if (status == BUILDER_MISFIT) {
        wire_json_place(&t->json, &line, &column);
        text_show(token->text, token->length, shown);
        return table_fault(t, line, column, "row %" PRId64 ", column \"%s\": a cell must be %s (got %s)", t->at.row, c->name,
                           c->type == DN_BOOLEAN ? "a boolean" : "a number", shown);
    }
    return status == BUILDER_WELL || table_stop(t);
}

/* The value is an array or an object. */
static bool nested(struct wire_table *t, size_t i, enum wire_json_kind kind, enum state state) {
    int64_t line = 0, column = 0;
    wire_json_place(&t->json, &line, &column);
    skip(t, kind, state);
    return table_fault(t, line, column, "row %" PRId64 ", column \"%s\": a cell must be a number, a string, a boolean or null, not %s",
                       t->at.row, i < t->builder.n_columns ? t->builder.column[i].name : "",
                       kind == WIRE_JSON_BEGIN_ARRAY ? "an array" : "an object");
}

/* ---- rows that are objects ---------------------------------------------------------------------------------------------------------- */
static bool new_key(struct wire_table *t, const struct wire_json_token *token) {
    int64_t line = 0, column = 0;
    char shown[TEXT_SHOWN];
    wire_json_place(&t->json, &line, &column);
    t->at.column = SIZE_MAX;
    if (t->builder.broken) {
        return true;
    }
    /* A new column is filled up for all rows of the open chunk: many keys that come late would be a bomb. */
    if (t->builder.n_chunks > 0 || (t->builder.rows + 1) * (t->builder.n_columns + 1) * 8 > BUILDER_CHUNK_BYTES) {
        return table_fault(t, line, column, "row %" PRId64 ": key %s was not in the first rows: name all columns in \"columns\"", t->at.row,
                           text_show(token->text, token->length, shown));
    }
    if (t->builder.n_columns == WIRE_MAX_COLUMNS) {
        return table_fatal(t, line, column, "the table has more than %d columns", WIRE_MAX_COLUMNS);
    }
    t->at.column = t->builder.n_columns;
    return table_add_column(t, token->text, token->length, t->builder.n_columns + 1, NULL, NULL);
}

static bool on_key(struct wire_table *t, const struct wire_json_token *token) {
    const struct names *names = &t->builder.names;
    const size_t guess = t->at.expected;
    const struct text name = text_trim(token->text, token->length);
    char shown[TEXT_SHOWN];
    t->at.state = AT_VALUE;
    if (guess < names->n && names->text[guess].n == name.n && memcmp(names->text[guess].bytes, name.bytes, name.n) == 0) {
        t->at.column = guess;
    } else {
        const ptrdiff_t found = names_find(names, name.bytes, name.n);
        if (found < 0) {
            t->at.expected = names->n + 1;
            return new_key(t, token);
        }
        t->at.column = (size_t)found;
    }
    t->at.expected = t->at.column + 1;
    if (builder_is_filled(&t->builder, t->at.column)) {
        int64_t line = 0, column = 0;
        wire_json_place(&t->json, &line, &column);
        t->at.column = SIZE_MAX;
        return table_fault(t, line, column, "row %" PRId64 ": key %s comes twice", t->at.row, text_show(name.bytes, name.n, shown));
    }
    return true;
}

/* ---- columns ------------------------------------------------------------------------------------------------------------------------ */
static bool column_add(struct wire_table *t, const char *name, size_t n) {
    int64_t line = 0, column = 0;
    wire_json_place(&t->json, &line, &column);
    const size_t i = t->builder.n_columns;
    if (i == WIRE_MAX_COLUMNS) {
        return table_fatal(t, line, column, "the table has more than %d columns", WIRE_MAX_COLUMNS);
    }
    if (!table_add_column(t, name, n, i + 1, NULL, NULL)) {
        return false;
    }
    if (t->at.has_type) {
        builder_force(&t->builder, i, t->at.type);
    }
    return true;
}

static bool on_column(struct wire_table *t, const struct wire_json_token *token) {
    if (token->kind == WIRE_JSON_END_ARRAY) {
        t->at.state = AT_MEMBER;
        t->refused |= t->n_faults > 0; /* without names the rest cannot be judged */
        return !t->refused;
    }
    t->at.has_type = t->at.has_name = false;
    if (token->kind == WIRE_JSON_BEGIN_OBJECT) {
        t->at.state = AT_COLUMN_KEY;
        return true;
    }
    return token->kind == WIRE_JSON_STRING ? column_add(t, token->text, token->length)
                                           : fatal_here(t, "a column must be a name or an object with a name");
}

static bool on_column_key(struct wire_table *t, const struct wire_json_token *token) {
    if (token->kind == WIRE_JSON_END_OBJECT) {
        t->at.state = AT_COLUMNS;
        if (t->at.name.failed) {
            problem_set(&t->builder.problem, PROBLEM_UNAVAILABLE, "no memory left");
            return table_stop(t);
        }
        return t->at.has_name ? column_add(t, t->at.name.size > 0 ? t->at.name.data : "", t->at.name.size)
                              : fatal_here(t, "a column object must have a name");
    }
    const struct text key = {token->text, token->length};
    t->at.state = text_is(key, "name") ? AT_COLUMN_NAME : text_is(key, "type") ? AT_COLUMN_TYPE : AT_SKIP;
    t->at.skip_depth = 0;
    t->at.after_skip = AT_COLUMN_KEY;
    return true;
}

static bool on_column_value(struct wire_table *t, const struct wire_json_token *token) {
    const bool is_name = t->at.state == AT_COLUMN_NAME;
    char word[16] = "";
    t->at.state = AT_COLUMN_KEY;
    if (token->kind != WIRE_JSON_STRING) {
        return fatal_here(t,
                          is_name ? "a column's name must be a string" : "a column's type must be numeric, boolean, categorical or text");
    }
    if (is_name) {
        buf_clear(&t->at.name);
        buf_append(&t->at.name, token->text, token->length);
        t->at.has_name = true;
        return true;
    }
    if (token->length < sizeof word) {
        memcpy(word, token->text, token->length);
    }
    t->at.has_type = dn_column_type_parse(word, &t->at.type);
    return t->at.has_type || fatal_here(t, "a column's type must be numeric, boolean, categorical or text");
}

/* ---- {"columns", "rows"} ------------------------------------------------------------------------------------------------------------ */
static bool on_member(struct wire_table *t, const struct wire_json_token *token) {
    struct table_json *at = &t->at;
    if (token->kind == WIRE_JSON_END_OBJECT) {
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
    return fatal_here(t, "the object must have the members \"columns\" and \"rows\", each once, and no other");
}

static bool on_array_row_value(struct wire_table *t, const struct wire_json_token *token) {
    struct table_json *at = &t->at;
    if (token->kind == WIRE_JSON_END_ARRAY) {
        if (at->n_cells != t->builder.n_columns) {
            at->state = AT_ROWS;
            return table_fault(t, at->row_line, at->row_column, "row %" PRId64 " has %zu cell%s, expected %zu", at->row, at->n_cells,
                               at->n_cells == 1 ? "" : "s", t->builder.n_columns);
        }
        return row_end(t, AT_ROWS);
    }
    const size_t i = at->n_cells++;
    if (begins(token->kind)) {
        return nested(t, i, token->kind, AT_CELL);
    }
    return i >= t->builder.n_columns || cell(t, i, token);
}

static bool on_row(struct wire_table *t, const struct wire_json_token *token, enum wire_json_kind wanted) {
    if (token->kind == WIRE_JSON_END_ARRAY) {
        t->at.state = wanted == WIRE_JSON_BEGIN_ARRAY ? AT_MEMBER : AT_END;
        return true;
    }
    row_begin(t, wanted == WIRE_JSON_BEGIN_ARRAY ? AT_CELL : AT_KEY);
    if (token->kind == wanted) {
        return true;
    }
    skip(t, token->kind, wanted == WIRE_JSON_BEGIN_ARRAY ? AT_ROWS : AT_ITEMS);
    return table_fault(t, t->at.row_line, t->at.row_column, "row %" PRId64 " must be an %s", t->at.row,
                       wanted == WIRE_JSON_BEGIN_ARRAY ? "array" : "object");
}

static void on_skip(struct wire_table *t, enum wire_json_kind kind) {
    if (begins(kind)) {
        t->at.skip_depth++;
    } else if (kind == WIRE_JSON_END_ARRAY || kind == WIRE_JSON_END_OBJECT) {
        t->at.skip_depth--;
    }
    if (t->at.skip_depth == 0 && kind != WIRE_JSON_KEY) {
        t->at.state = t->at.after_skip;
    }
}

static bool on_top(struct wire_table *t, enum wire_json_kind kind) {
    t->at.state = kind == WIRE_JSON_BEGIN_ARRAY ? AT_ITEMS : AT_MEMBER;
    return begins(kind) || fatal_here(t, "the body must be an array of objects or an object with \"columns\" and \"rows\"");
}

static bool on_token(struct wire_table *t, const struct wire_json_token *token) {
    switch ((enum state)t->at.state) {
    case AT_TOP:
        return on_top(t, token->kind);
    case AT_ITEMS:
        return on_row(t, token, WIRE_JSON_BEGIN_OBJECT);
    case AT_KEY:
        return token->kind == WIRE_JSON_END_OBJECT ? row_end(t, AT_ITEMS) : on_key(t, token);
    case AT_VALUE:
        if (begins(token->kind)) {
            return nested(t, t->at.column, token->kind, AT_KEY);
        }
        t->at.state = AT_KEY;
        return t->at.column == SIZE_MAX || cell(t, t->at.column, token);
    case AT_MEMBER:
        return on_member(t, token);
    case AT_COLUMNS_BEGIN:
        t->at.state = AT_COLUMNS;
        return token->kind == WIRE_JSON_BEGIN_ARRAY || fatal_here(t, "\"columns\" must be an array");
    case AT_COLUMNS:
        return on_column(t, token);
    case AT_COLUMN_KEY:
        return on_column_key(t, token);
    case AT_COLUMN_NAME:
    case AT_COLUMN_TYPE:
        return on_column_value(t, token);
    case AT_ROWS_BEGIN:
        t->at.state = AT_ROWS;
        return token->kind == WIRE_JSON_BEGIN_ARRAY || fatal_here(t, "\"rows\" must be an array");
    case AT_ROWS:
        return on_row(t, token, WIRE_JSON_BEGIN_ARRAY);
    case AT_CELL:
        return on_array_row_value(t, token);
    case AT_SKIP:
        on_skip(t, token->kind);
        return true;
    case AT_END:
        return true;
    }
    return true;
}

static bool drain(struct wire_table *t) {
    struct wire_json_token token;
    for (;;) {
        switch (wire_json_next(&t->json, &token)) {
        case WIRE_JSON_MORE:
        case WIRE_JSON_END:
            return true;
        case WIRE_JSON_FAULT:
            t->refused = true;
            t->n_faults++;
            return wire_json_problem(&t->json, &t->problem);
        default:
            if (!on_token(t, &token) || t->refused) {
                t->refused = true;
                return false;
            }
        }
    }
}

bool table_json_feed(struct wire_table *t, const char *bytes, size_t n) {
    wire_json_feed(&t->json, bytes, n);
    return drain(t);
}

bool table_json_end(struct wire_table *t) {
    wire_json_close(&t->json);
    return drain(t);
}
