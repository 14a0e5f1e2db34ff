/* Columns that an answer repeats beside the results of each row, as in ?keep=id,region: their
 * names, and their values in some rows. */
#ifndef FORMATS_KEEP_H
#define FORMATS_KEEP_H

#include "base/memory/buf.h"
#include "base/problem.h"
#include "formats/text/names.h"

#define KEEP_MAX 256 /* limit of the columns of one answer */

struct keep {
    struct names names; /* of the columns, in the order of the answer */
    char *bytes;        /* their texts */
};
/* Parses a comma-separated list (list_item) of distinct names. Returns false if the list is invalid
 * and sets PROBLEM_BAD_REQUEST. keep_done frees in any case. */
bool keep_parse(const char *list, struct keep *out, struct problem *problem);
/* Makes a keep of one column. Returns false if out of memory. keep_done frees in any case. */
bool keep_one(const char *name, struct keep *out);
void keep_done(struct keep *keep); /* {0} is allowed */

enum kept_kind {
    KEPT_NULL,    /* the value is missing: null, or an empty cell */
    KEPT_LITERAL, /* a number, true or false, as JSON and cells write it */
    KEPT_TEXT
};
struct kept_value {
    size_t start, length; /* in kept_rows.text */
    enum kept_kind kind;
};
/* The values of a block of rows. */
struct kept_rows {
    const struct keep *keep;  /* NULL: there are none */
    struct kept_value *value; /* [rows × keep->names.n] */
    struct buf text;
    bool found; /* at least one row had one of the columns */
};
/* Allocates the values of n_rows rows. Returns false if out of memory. */
bool kept_rows_resize(struct kept_rows *rows, size_t n_rows);
/* Sets the values of a row to null. */
void kept_rows_begin(struct kept_rows *rows, size_t row);
/* Stores the value of column k of a row; the last one stays. Returns false if out of memory. */
bool kept_rows_put(struct kept_rows *rows, size_t row, size_t k, enum kept_kind kind,
                   const char *text, size_t n);
/* *out ← a value as a number. Returns false if it is not a number. */
bool kept_number(const struct kept_rows *rows, size_t row, size_t k, double *out);
/* Removes the texts of all rows. A large buffer is freed. */
void kept_rows_clear(struct kept_rows *rows);
size_t kept_rows_memory(const struct kept_rows *rows, size_t n_rows);
void kept_rows_done(struct kept_rows *rows);
/* Limit of the bytes of a block: with so many bytes it is full. */
#define KEPT_BLOCK_BYTES (1024 * 1024)

/* Writes "keep":{"id":7,…} of a row. */
void kept_write_json(const struct kept_rows *rows, size_t row, struct buf *out);
/* Writes the values of a row as cells. Each one has a delimiter before it. */
void kept_write_cells(const struct kept_rows *rows, size_t row, char delimiter, struct buf *out);

#endif
