/* What the two halves of the reader of JSON tables share: table_json.c (the document) and
 * table_json_rows.c (a row). Private to them. */
#ifndef FORMATS_TABLE_JSON_H
#define FORMATS_TABLE_JSON_H

#include "formats/json/json_reader.h"
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

/* A cell of a JSON row that is being read: it goes into the builder when the row is whole and well.
 */
struct json_cell {
    size_t column; /* a key that is new: the columns that are there, and its place among the row's
                      new ones */
    enum json_token_kind kind; /* STRING, NUMBER, TRUE, FALSE or NULL */
    bool finite;               /* NUMBER: `number` is it */
    double number;
    const char
        *text; /* [length] in the piece that is being read; NULL: in `bytes`, from `start` on */
    size_t start, length;
};

/* The state of the reader: of the document (table_json.c) and of its rows (table_json_rows.c). */
struct table_json {
    struct json_reader json;
    bool lines;          /* NDJSON */
    bool fed;            /* the first bytes were fed */
    unsigned state;      /* enum json_state */
    unsigned after_skip; /* the state that follows a skipped value */
    unsigned skip_depth; /* open containers of the value being skipped */
    bool columns_seen;   /* "columns" was read */
    bool rows_seen;      /* "rows" was read */
    bool has_type;       /* the column object at hand has a type */
    dn_column_type type; /* that type */
    struct buf name;     /* the column object's name */
    bool has_name;
    /* the row at hand */
    int64_t row; /* rows begun, this one included */
    int64_t row_line, row_column;
    size_t column;   /* of the value at hand; SIZE_MAX: it is not wanted (a fault was told) */
    size_t expected; /* object rows: the column after the last one, where the next key most likely
                        belongs */
    size_t n_values; /* array rows: values so far */
    struct json_cell *cells; /* [n_cells] of the row so far */
    size_t n_cells, cells_capacity;
    size_t size;            /* of their texts */
    struct buf bytes;       /* those of them that do not stay where they were read */
    struct names new_names; /* keys of the row that are no columns yet; their texts are in `keys` */
    char **keys;            /* [n_keys] malloc'ed */
    size_t n_keys, keys_capacity;
    bool arrays; /* NDJSON: rows are arrays, not objects; known with the first one (row_kind_known)
                  */
    bool row_kind_known;
    bool declared; /* columns that only the option `types` names were added, as the first chunk is
                      about to be closed */
};

/* The place of the present token, for table_where. */
static inline void table_json_place(const void *arg, size_t position, int64_t *line,
                                    int64_t *column) {
    (void)position;
    json_reader_place(arg, line, column);
}

static inline struct table_json *json_of(const struct table *t) {
    return t->state;
}

/* The line and the column of the present token, or of the fault. */
static inline int64_t json_line(const struct table *t) {
    return json_of(t)->json.line;
}
static inline int64_t json_column(const struct table *t) {
    return json_reader_column(&json_of(t)->json);
}

/* The token at hand begins a value that is not wanted: go on in `state` behind it. */
void table_json_skip(struct table *t, enum json_token_kind kind, enum json_state state);

/* ---- table_json_rows.c. Those that return bool: false: reading stops ---- */
/* A row begins at the token at hand. */
void table_json_row_begin(struct table *t);
/* A key of an object row: which column its value goes to. */
bool table_json_key(struct table *t, const struct json_token *token);
/* The value behind a key; the next value of an array row. An array or object is a fault, and
 * skipped: reading goes on in `state` behind it. */
bool table_json_keyed_value(struct table *t, const struct json_token *token, enum json_state state);
bool table_json_listed_value(struct table *t, const struct json_token *token,
                             enum json_state state);
/* The piece is used up: what the row at hand has of it is kept. */
bool table_json_piece_end(struct table *t);
/* The row is whole: into the builder with it, unless something is wrong. array: it was one. */
bool table_json_row_end(struct table *t, bool array);
/* The body is read: columns that only the option `types` names. */
bool table_json_rows_end(struct table *t);

/* Frees what the rows hold. */
void table_json_rows_done(struct table_json *at);

#endif
