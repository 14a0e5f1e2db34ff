/* Reads one JSON instance: an array in the order of the inputs, or an object with names. Private to
 * the readers of JSON and NDJSON instances. */
#ifndef FORMATS_INSTANCES_JSON_H
#define FORMATS_INSTANCES_JSON_H

#include "formats/instances/instances.h"
#include "formats/json/json_reader.h"

/* The state of reading one body, or consecutive lines. */
struct json_reading {
    struct instances *in;
    struct json_reader json;
    struct json_token token; /* the last token that was read */
    /* NDJSON: number of the current line, from 1. 0: a document, where places are given as JSON
     * pointers */
    int64_t line;
    /* document: JSON pointer of the array of rows: "", "/instances" or "/rows" */
    const char *prefix;
    struct slot *column; /* [n_columns] slot of each value in a row of "rows" */
    size_t n_columns, columns_capacity;
    bool nameless; /* the current row is an object that names no column of the model */
    struct buf pointer;
};
void json_reading_done(struct json_reading *r);

/* Reads the next token. JSON_TOKEN_MORE does not occur, because the whole body was fed. */
static inline enum json_token_kind json_next(struct json_reading *r) {
    return json_reader_next(&r->json, &r->token);
}
/* Whether reading has ended: the text is not JSON, or there were too many faults, or memory is
 * exhausted. */
static inline bool json_over(const struct json_reading *r) {
    return r->token.kind == JSON_TOKEN_FAULT || r->in->stopped;
}
/* Reads to the end of the value that begins with the current token. */
void json_skip(struct json_reading *r);
/* Reads an instance that begins with the current token, and reports its faults. */
void json_row(struct json_reading *r);
/* Like json_row, for an array of values in the order of r->column. */
void json_listed_row(struct json_reading *r);

/* Whether a body that begins with { or [ is NDJSON: its first line is a complete value, and
 * anything but blanks follows. */
bool instances_json_is_lines(const char *body, size_t size);

#endif
