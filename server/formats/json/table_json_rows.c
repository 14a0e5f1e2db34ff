/* Reads the rows of JSON tables. The cells of a row are collected, and added to the builder when
 * the row is complete and has no fault, so that a faulty row can be left out.
 *
 * Objects: the columns are the keys in the order of their first occurrence; an absent key is a
 * missing cell. A new key is accepted only while the first chunk is open (at least 64 rows, often
 * some ten thousand: table_builder.h), because a column cannot be added to a delivered chunk. The
 * columns of the option `types` are added before the first chunk is closed, so their keys may first
 * occur later.
 *
 * Arrays: with "columns" a row has as many values as there are columns; in NDJSON as many as the
 * first row. */
#include "base/memory/array.h"
#include "formats/formats.h"
#include "formats/json/table_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void row_clear(struct table_json *at) {
    at->n_cells = 0;
    at->n_values = 0;
    at->size = at->bytes.size = 0;
    names_clear(&at->new_names);
    for (size_t i = 0; i < at->n_keys; i++) {
        free(at->keys[i]);
    }
    at->n_keys = 0;
}

void table_json_rows_done(struct table_json *at) {
    row_clear(at);
    names_done(&at->new_names);
    free(at->keys);
    free(at->cells);
    buf_done(&at->bytes);
    buf_done(&at->name);
}

void table_json_row_begin(struct table *t) {
    row_clear(json_of(t));
    json_of(t)->row++;
    json_of(t)->expected = 0;
    json_reader_place(&json_of(t)->json, &json_of(t)->row_line, &json_of(t)->row_column);
    table_row_begin(t, json_of(t)->row_line);
}

/* Returns the name of a column or of a new key, for messages. */
static const char *name_of(const struct table *t, size_t i, char made[TEXT_SHOWN]) {
    const struct table_builder *b = &t->builder;
    if (i < b->n_columns) {
        return b->column[i].name;
    }
    if (i - b->n_columns < json_of(t)->new_names.n) {
        const struct text name = json_of(t)->new_names.text[i - b->n_columns];
        snprintf(made, TEXT_SHOWN, "%.*s", (int)(name.n < 40 ? name.n : 40), name.bytes);
    } else {
        snprintf(made, TEXT_SHOWN, "c%zu", i + 1);
    }
    return made;
}

/* ---- cells ---- */
static const char *text_of(const struct table_json *at, const struct json_cell *cell) {
    return cell->text != NULL       ? cell->text
           : at->bytes.data != NULL ? at->bytes.data + cell->start
                                    : "";
}

/* Whether a date fits a column that is not added yet, whose type the option `types` gives. */
static bool new_date_fits(const struct table *t, const struct json_cell *cell) {
    const struct table_builder *b = &t->builder;
    const struct text text = text_trim(text_of(json_of(t), cell), cell->length);
    const struct text *names = json_of(t)->new_names.text;
    const size_t i = cell->column - b->n_columns;
    const unsigned orders = builder_given_orders_of(b, names[i].bytes, names[i].n);
    return builder_date_fits(NULL, orders, text) ==
           builder_date_fits(NULL, DN_DATE_ANY | DN_DATE_COMPACT, text);
}

static bool fits(const struct table *t, dn_column_type given, const struct json_cell *cell) {
    const struct table_builder *b = &t->builder;
    const struct column *c = cell->column < b->n_columns ? &b->column[cell->column] : NULL;
    const char *text = text_of(json_of(t), cell);
    switch (cell->kind) {
    case JSON_TOKEN_NULL:
        return true;
    case JSON_TOKEN_TRUE:
    case JSON_TOKEN_FALSE:
        return builder_boolean_fits(&t->builder, given, cell->kind == JSON_TOKEN_TRUE);
    case JSON_TOKEN_NUMBER:
        return cell->finite ? builder_number_fits(b, c, given, cell->number, text, cell->length)
                            : builder_text_fits(b, c, given, text, cell->length);
    default:
        return builder_text_fits(b, c, given, text, cell->length) &&
               (c != NULL || given != DN_DATETIME || new_date_fits(t, cell));
    }
}

/* Reports a cell that does not fit the given type. Returns false if reading stops. */
static bool check(struct table *t, dn_column_type given, const struct json_cell *cell, int64_t line,
                  int64_t column) {
    char shown[TEXT_SHOWN], made[TEXT_SHOWN], rule[BUILDER_RULE_SIZE];
    if (!builder_checks(given) || fits(t, given, cell)) {
        return true;
    }
    const char *text = text_of(json_of(t), cell),
               *hint = table_cell_hint(t, cell->column, text, cell->length);
    return table_row_fault(t, line, column,
                           "row %" PRId64 ", column \"%s\": a cell must be %s (got %s)%s%s%s",
                           json_of(t)->row, name_of(t, cell->column, made),
                           builder_rule(&t->builder, cell->column, given, rule),
                           text_show(text, cell->length, shown), hint != NULL ? ": " : "",
                           hint != NULL ? hint : "", table_type_hint(t, cell->column));
}

/* Copies the text of a cell, because the memory where it was read will not stay valid. */
static void keep_text(struct table_json *at, struct json_cell *cell, const char *text) {
    cell->text = NULL;
    cell->start = at->bytes.size;
    buf_append(&at->bytes, text, cell->length);
}

bool table_json_piece_end(struct table *t) {
    struct table_json *at = json_of(t);
    for (size_t k = 0; k < at->n_cells; k++) {
        if (at->cells[k].text != NULL) {
            keep_text(at, &at->cells[k], at->cells[k].text);
        }
    }
    return !at->bytes.failed || table_no_memory(t);
}

/* Adds a scalar of column i to the cells of the row. */
static bool keep(struct table *t, size_t i, const struct json_token *token) {
    struct table_json *at = json_of(t);
    if (at->n_cells == at->cells_capacity &&
        !array_grow(&at->cells, &at->cells_capacity, 64, sizeof *at->cells)) {
        return table_no_memory(t);
    }
    const bool bare = token->kind == JSON_TOKEN_NULL; /* null has no text */
    struct json_cell *cell = &at->cells[at->n_cells++];
    *cell = (struct json_cell){.column = i,
                               .kind = token->kind,
                               .finite = token->kind == JSON_TOKEN_NUMBER && token->finite,
                               .number = token->kind == JSON_TOKEN_NUMBER && token->finite
                                             ? token->number
                                             : 0,
                               .text = token->text,
                               .length = bare ? 0 : token->length};
    if (!json_token_is_of_piece(&json_of(t)->json, token)) {
        keep_text(at, cell, token->text);
    }
    at->size += cell->length;
    if (at->bytes.failed) {
        return table_no_memory(t);
    }
    return at->size <= TABLE_MAX_ROW ||
           table_fatal(t, at->row_line, at->row_column, "row %" PRId64 " is longer than %d bytes",
                       at->row, TABLE_MAX_ROW);
}

/* Checks a scalar and adds it to the row. */
static bool take(struct table *t, size_t i, dn_column_type given, const struct json_token *token) {
    char made[TEXT_SHOWN];
    if (token->kind == JSON_TOKEN_STRING || token->kind == JSON_TOKEN_NUMBER) {
        if (token->length > TABLE_MAX_CELL) {
            return table_row_fault(t, json_line(t), json_column(t),
                                   "column \"%s\": cell is longer than %d bytes",
                                   name_of(t, i, made), TABLE_MAX_CELL);
        }
    }
    if (!keep(t, i, token)) {
        return false;
    }
    if (builder_checks(given)) {
        return check(t, given, &json_of(t)->cells[json_of(t)->n_cells - 1], json_line(t),
                     json_column(t));
    }
    return true;
}

/* Reports a value that is an array or an object. */
static bool nested(struct table *t, size_t i, enum json_token_kind kind, enum json_state state) {
    char made[TEXT_SHOWN];
    table_json_skip(t, kind, state);
    return table_row_fault(
        t, json_line(t), json_column(t),
        "row %" PRId64
        ", column \"%s\": a cell must be a number, a string, a boolean or null, not %s",
        json_of(t)->row, i != SIZE_MAX ? name_of(t, i, made) : "",
        kind == JSON_TOKEN_BEGIN_ARRAY ? "an array" : "an object");
}

/* ---- rows that are objects ---- */
/* Whether a column may be added. Its cells in all rows of the open chunk must be set, so many late
 * keys would cost much time and memory. */
static bool may_add(const struct table *t) {
    const struct table_builder *b = &t->builder;
    return b->n_chunks == 0 &&
           (b->rows + 1) * (b->n_columns + json_of(t)->new_names.n + 1) * 8 <= BUILDER_CHUNK_BYTES;
}

/* Copies a new key of the row. */
static bool key_keep(struct table_json *at, struct text name) {
    if (at->n_keys == at->keys_capacity &&
        !array_grow(&at->keys, &at->keys_capacity, 16, sizeof *at->keys)) {
        return false;
    }
    char *copy = malloc(name.n + 1);
    if (copy == NULL) {
        return false;
    }
    memcpy(copy, name.bytes, name.n);
    at->keys[at->n_keys++] = copy;
    return names_add(&at->new_names, copy, name.n);
}

static bool new_key(struct table *t, struct text name) {
    const struct table_where where = {table_json_place, &json_of(t)->json};
    struct table_json *at = json_of(t);
    char shown[TEXT_SHOWN];
    at->column = SIZE_MAX;
    if (t->append.on) {
        return table_append_unknown(t, name, json_line(t), json_column(t));
    }
    if (t->builder.broken) { /* after a fault, earlier new keys may not have been added as
                              * columns */
        return true;
    }
    text_show(name.bytes, name.n, shown);
    if (!may_add(t)) {
        return table_row_fault(
            t, json_line(t), json_column(t),
            "row %" PRId64 ": key %s occurs first here, when no column can be added any more: give "
            "the first row every key (null for missing), or name this one in the option \"types\"",
            at->row, shown);
    }
    if (t->builder.n_columns + at->new_names.n >= TABLE_MAX_COLUMNS) {
        return table_fatal(t, json_line(t), json_column(t), "the table has more than %d columns",
                           TABLE_MAX_COLUMNS);
    }
    if (!table_key_check(t, name, &where) || !table_row_is_well(t)) {
        return !t->refused;
    }
    if (!key_keep(at, name)) {
        return table_no_memory(t);
    }
    at->column = t->builder.n_columns + at->new_names.n - 1;
    return true;
}

static bool key_twice(struct table *t, struct text name) {
    char shown[TEXT_SHOWN];
    json_of(t)->column = SIZE_MAX;
    return table_row_fault(t, json_line(t), json_column(t), "row %" PRId64 ": key %s comes twice",
                           json_of(t)->row, text_show(name.bytes, name.n, shown));
}

bool table_json_key(struct table *t, const struct json_token *token) {
    const struct names *names = &t->builder.names;
    const size_t guess = json_of(t)->expected;
    const struct text name = text_trim(token->text, token->length);
    if (guess < names->n && names->text[guess].n == name.n &&
        memcmp(names->text[guess].bytes, name.bytes, name.n) == 0) {
        json_of(t)->column = guess;
    } else {
        const ptrdiff_t found = names_find(names, name.bytes, name.n);
        if (found < 0) {
            json_of(t)->expected = names->n + 1;
            return names_find(&json_of(t)->new_names, name.bytes, name.n) >= 0 ? key_twice(t, name)
                                                                               : new_key(t, name);
        }
        json_of(t)->column = (size_t)found;
    }
    json_of(t)->expected = json_of(t)->column + 1;
    struct column *c = &t->builder.column[json_of(t)->column];
    if (c->seen == json_of(t)->row) {
        return key_twice(t, name);
    }
    c->seen = json_of(t)->row;
    table_append_note(&t->append, json_of(t)->column);
    return true;
}

bool table_json_keyed_value(struct table *t, const struct json_token *token,
                            enum json_state state) {
    const size_t i = json_of(t)->column;
    json_of(t)->state = state;
    if (json_token_begins(token->kind)) {
        return nested(t, i, token->kind, state);
    }
    if (i == SIZE_MAX) {
        return true;
    }
    if (i < t->builder.n_columns) {
        return take(t, i, builder_given_type(&t->builder, i), token);
    }
    const struct text name = json_of(t)->new_names.text[i - t->builder.n_columns];
    return take(t, i, builder_given_type_of(&t->builder, name.bytes, name.n), token);
}

/* ---- rows that are arrays ---- */
/* Returns the number of values that a row must have; SIZE_MAX: the first row determines it. */
static size_t width(const struct table *t) {
    return t->builder.n_columns > 0 ? table_append_width(&t->append, &t->builder) : SIZE_MAX;
}

bool table_json_listed_value(struct table *t, const struct json_token *token,
                             enum json_state state) {
    const size_t n = width(t), i = json_of(t)->n_values++;
    const bool wanted = i < n && i < TABLE_MAX_COLUMNS;
    const size_t column = n == SIZE_MAX ? i : table_append_column(&t->append, i);
    if (json_token_begins(token->kind)) {
        return nested(t, wanted ? column : SIZE_MAX, token->kind, state);
    }
    return !wanted ||
           take(t, column, n == SIZE_MAX ? DN_TEXT : builder_given_type(&t->builder, column),
                token);
}

/* Adds the columns c1, c2, … after the first array of NDJSON, and checks the cells of that
 * row. */
static bool columns_numbered(struct table *t) {
    const struct table_where where = {table_json_place, &json_of(t)->json};
    const size_t n = json_of(t)->n_values;
    if (n > TABLE_MAX_COLUMNS) {
        return table_fatal(t, json_of(t)->row_line, json_of(t)->row_column,
                           "the table has more than %d columns", TABLE_MAX_COLUMNS);
    }
    if (!table_add_numbered(t, n, &where)) {
        return false;
    }
    for (size_t k = 0; k < json_of(t)->n_cells; k++) {
        const struct json_cell *cell = &json_of(t)->cells[k];
        if (!check(t, builder_given_type(&t->builder, cell->column), cell, json_of(t)->row_line,
                   json_of(t)->row_column)) {
            return false;
        }
    }
    return true;
}

static bool array_is_whole(struct table *t) {
    const size_t n = json_of(t)->n_values;
    if (width(t) == SIZE_MAX && n > 0 && table_row_is_well(t)) {
        return columns_numbered(t);
    }
    const size_t expected = width(t) == SIZE_MAX ? 0 : width(t);
    return n == expected || !table_row_is_well(t) ||
           table_row_fault(t, json_of(t)->row_line, json_of(t)->row_column,
                           "row %" PRId64 " has %zu cell%s, expected %zu", json_of(t)->row, n,
                           n == 1 ? "" : "s", expected);
}

/* ---- the row is complete ---- */
static bool put(struct table_builder *b, const struct table_json *at,
                const struct json_cell *cell) {
    const char *text = text_of(at, cell);
    switch (cell->kind) {
    case JSON_TOKEN_NULL:
        return builder_missing(b, cell->column) == BUILDER_WELL;
    case JSON_TOKEN_TRUE:
    case JSON_TOKEN_FALSE:
        return builder_boolean(b, cell->column, cell->kind == JSON_TOKEN_TRUE) == BUILDER_WELL;
    case JSON_TOKEN_NUMBER:
        return (cell->finite ? builder_number(b, cell->column, cell->number, text, cell->length)
                             : builder_text(b, cell->column, text, cell->length)) == BUILDER_WELL;
    default:
        return builder_string(b, cell->column, text, cell->length) == BUILDER_WELL;
    }
}

static bool add_new_columns(struct table *t) {
    const struct table_where where = {table_json_place, &json_of(t)->json};
    for (size_t i = 0; i < json_of(t)->new_names.n; i++) {
        const struct text name = json_of(t)->new_names.text[i];
        const size_t column = t->builder.n_columns;
        if (!table_add_column(t, name.bytes, name.n, column + 1, &json_of(t)->new_names, &where)) {
            return false;
        }
        t->builder.column[column].seen = json_of(t)->row;
    }
    return true;
}

/* Adds the columns of the option `types` that no row has named. Called before the first chunk is
 * closed. */
static bool declare(struct table *t) {
    const struct table_where where = {table_json_place, &json_of(t)->json};
    const struct type_override *type = NULL;
    json_of(t)->declared = true;
    for (size_t i = 0; (type = builder_unused_type(&t->builder, &i)) != NULL &&
                       t->builder.n_columns < TABLE_MAX_COLUMNS;) {
        if (!table_add_column(t, type->name, type->length, t->builder.n_columns + 1, NULL,
                              &where)) {
            return false;
        }
    }
    return true;
}

bool table_json_row_end(struct table *t, bool array) {
    struct table_builder *b = &t->builder;
    if (array && !json_of(t)->columns_seen) {
        table_append_by_position(t);
    }
    if (array && !array_is_whole(t)) {
        return false;
    }
    if (b->n_columns + json_of(t)->new_names.n == 0 && table_row_is_well(t) && !b->broken) {
        return table_row_fault(t, json_of(t)->row_line, json_of(t)->row_column,
                               "row %" PRId64 " has no cells, and no column is known yet",
                               json_of(t)->row);
    }
    if (!table_row_is_well(t) || b->broken) {
        return true;
    }
    if (!add_new_columns(t)) {
        return false;
    }
    for (size_t k = 0; k < json_of(t)->n_cells; k++) {
        if (!put(b, json_of(t), &json_of(t)->cells[k])) {
            return table_stop(t);
        }
    }
    if (!array && !t->append.on && !json_of(t)->declared && builder_closes_first(b) &&
        !declare(t)) {
        return false;
    }
    return (builder_fill_row(b) == BUILDER_WELL && builder_row_end(b) == BUILDER_WELL) ||
           table_stop(t);
}

bool table_json_rows_end(struct table *t) {
    const struct table_builder *b = &t->builder;
    char shown[TEXT_SHOWN];
    for (size_t i = 0; json_of(t)->declared && i < b->n_types; i++) {
        const ptrdiff_t column = names_find(&b->names, b->types[i].name, b->types[i].length);
        if (column >= 0 && b->column[column].seen == 0 &&
            !table_fault(t, 0, 0, "option \"types\" names %s, which is not a column of the table",
                         text_show(b->types[i].name, b->types[i].length, shown))) {
            return false;
        }
    }
    return true;
}
