/* Shared by the files of the reader of JSON tables: table_json.c (the document) and
 * table_json_rows.c (the rows). Private to them. */
#ifndef FORMATS_TABLE_JSON_H
#define FORMATS_TABLE_JSON_H

#include "formats/json/json_reader.h"
#include "formats/table/table.h"

enum json_state {
    AT_TOP,
    AT_ITEMS,    /* in the array of objects */
    AT_LINE,     /* NDJSON: before a row */
    AT_LINE_END, /* NDJSON: after a row, before the end of its line */
    AT_KEY,      /* in a row that is an object, before a key */
    AT_VALUE,    /* after a key of a row */
    AT_MEMBER,   /* in the object {"columns", "rows"}, before a key */
    AT_COLUMNS_BEGIN,
    AT_COLUMNS, /* in the array "columns" */
    AT_COLUMN_KEY,
    AT_COLUMN_NAME,
    AT_COLUMN_TYPE,
    AT_ROWS_BEGIN,
    AT_ROWS, /* in the array "rows" */
    AT_CELL, /* in a row that is an array */
    AT_SKIP, /* before or in a value that is skipped */
    AT_END
};

/* A cell of the current row. It is added to the builder when the row is complete and has no
 * fault. */
struct json_cell {
    /* index of the column; for a new key: number of columns so far + index among the new keys of
     * the row */
    size_t column;
    enum json_token_kind kind; /* STRING, NUMBER, TRUE, FALSE or NULL */
    bool finite;               /* NUMBER: the value is in the range of a double */
    double number;
    /* [length] points into the current piece; NULL: the text is in table_json.bytes, from `start`
     * on */
    const char *text;
    size_t start, length;
};

/* The state of the reader. */
struct table_json {
    struct json_reader json;
    bool lines;          /* NDJSON */
    bool fed;            /* the first piece was fed */
    unsigned state;      /* enum json_state */
    unsigned after_skip; /* the state after a skipped value */
    unsigned skip_depth; /* number of open containers of the skipped value */
    bool columns_seen;   /* "columns" was read */
    bool rows_seen;      /* "rows" was read */
    bool has_type;       /* the current column object has a type */
    dn_column_type type; /* the type, if has_type */
    struct buf name;     /* the name in the current column object, if has_name */
    bool has_name;
    /* the members from here to n_keys describe the current row */
    int64_t row; /* number of the row, from 1 */
    int64_t row_line, row_column;
    /* column of the current value; SIZE_MAX: the value is skipped because its key has a fault */
    size_t column;
    /* objects: the column to which the next key is compared first: the one after the previous
     * key */
    size_t expected;
    size_t n_values;         /* arrays: number of values so far */
    struct json_cell *cells; /* [n_cells] the cells of the row so far */
    size_t n_cells, cells_capacity;
    size_t size;      /* bytes of the texts of the cells */
    struct buf bytes; /* texts of cells that are not in the current piece */
    /* keys of the row for which there is no column yet; their texts are in `keys` */
    struct names new_names;
    char **keys; /* [n_keys] malloc'ed texts */
    size_t n_keys, keys_capacity;
    /* NDJSON: rows are arrays, not objects; valid after the first row (row_kind_known) */
    bool arrays;
    bool row_kind_known;
    /* the columns that only the option `types` names were added, which happens before the first
     * chunk is closed */
    bool declared;
};

/* Sets the line and the column of the current token; for struct table_where. */
static inline void table_json_place(const void *arg, size_t position, int64_t *line,
                                    int64_t *column) {
    (void)position;
    json_reader_place(arg, line, column);
}

static inline struct table_json *json_of(const struct table *t) {
    return t->state;
}

/* The line and the column of the current token, or of the fault. */
static inline int64_t json_line(const struct table *t) {
    return json_of(t)->json.line;
}
static inline int64_t json_column(const struct table *t) {
    return json_reader_column(&json_of(t)->json);
}

/* Skips the value that begins with the current token; `state` is the state after it. */
void table_json_skip(struct table *t, enum json_token_kind kind, enum json_state state);

/* ---- table_json_rows.c. Functions of type bool return false if reading stops ---- */
/* Begins a row at the current token. */
void table_json_row_begin(struct table *t);
/* Finds the column of a key of an object. */
bool table_json_key(struct table *t, const struct json_token *token);
/* Takes the value of a key, or the next value of an array. A container is a fault and is skipped.
 * `state` is the state after the value. */
bool table_json_keyed_value(struct table *t, const struct json_token *token, enum json_state state);
bool table_json_listed_value(struct table *t, const struct json_token *token,
                             enum json_state state);
/* Copies the texts of the current row that are in the current piece, because that piece ends. */
bool table_json_piece_end(struct table *t);
/* Ends the row: adds its cells to the builder, unless it has a fault. array: whether the row is an
 * array. */
bool table_json_row_end(struct table *t, bool array);
/* At the end of the body: reports columns of the option `types` for which there are no cells. */
bool table_json_rows_end(struct table *t);

/* Frees the memory of the rows. */
void table_json_rows_done(struct table_json *at);

#endif
