/* What the two halves of the reader of JSON tables share: table_json.c (the document) and
 * table_json_rows.c (a row). Private to them. */
#ifndef WIRE_TABLE_JSON_H
#define WIRE_TABLE_JSON_H

#include "formats/table/table.h"

enum json_state {
    AT_TOP,
    AT_ITEMS,    /* in the array of objects */
    AT_LINE,     /* NDJSON: at a line's beginning */
    AT_LINE_END, /* NDJSON: behind its row */
    AT_KEY,      /* in an object row */
    AT_VALUE,    /* behind its key */
    AT_MEMBER,   /* in {"columns", "rows"} */
    AT_COLUMNS_BEGIN,
    AT_COLUMNS, /* in its array */
    AT_COLUMN_KEY,
    AT_COLUMN_NAME,
    AT_COLUMN_TYPE,
    AT_ROWS_BEGIN,
    AT_ROWS, /* in its array */
    AT_CELL, /* in an array row */
    AT_SKIP, /* before or within a value that is not read */
    AT_END
};

static inline bool table_json_begins(enum wire_json_kind kind) {
    return kind == WIRE_JSON_BEGIN_ARRAY || kind == WIRE_JSON_BEGIN_OBJECT;
}
/* The token at hand begins a value that is not wanted: go on in `state` behind it. */
void table_json_skip(struct wire_table *t, enum wire_json_kind kind, enum json_state state);

/* ---- table_json_rows.c. Those that return bool: false: reading stops ---- */
/* A row begins at the token at hand. */
void table_json_row_begin(struct wire_table *t);
/* A key of an object row: which column its value goes to. */
bool table_json_key(struct wire_table *t, const struct wire_json_token *token);
/* The value behind a key; the next value of an array row. An array or object is a fault, and
 * skipped: reading goes on in `state` behind it. */
bool table_json_keyed_value(struct wire_table *t, const struct wire_json_token *token,
                            enum json_state state);
bool table_json_listed_value(struct wire_table *t, const struct wire_json_token *token,
                             enum json_state state);
/* The piece is used up: what the row at hand has of it is kept. */
bool table_json_piece_end(struct wire_table *t);
/* The row is whole: into the builder with it, unless something is wrong. array: it was one. */
bool table_json_row_end(struct wire_table *t, bool array);
/* The body is read: columns that only the option `types` names. */
bool table_json_rows_end(struct wire_table *t);

#endif
