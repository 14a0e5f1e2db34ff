/* Reads one instance of JSON: an array in the order of the inputs, or an object with names. Private
 * to the readers of JSON and NDJSON instances. */
#ifndef FORMATS_INSTANCES_JSON_H
#define FORMATS_INSTANCES_JSON_H

#include "formats/instances/instances.h"
#include "formats/json/json_reader.h"

/* The state of reading one body, or lines one after the other. */
struct json_reading {
    struct instances *in;
    struct json_reader json;
    struct json_token token; /* the last one */
    /* NDJSON: number of the present line, from 1; 0: a document, in which places are JSON pointers
     */
    int64_t line;
    const char *prefix;  /* document: the pointer of the array: "", "/instances" or "/rows" */
    struct slot *column; /* [n_columns] slots of the values of a row of "rows" */
    size_t n_columns, columns_capacity;
    bool nameless; /* the present row is an object that names no column of the model */
    struct buf pointer;
};
void json_reading_done(struct json_reading *r);

/* Reads the next token. The body is complete, so JSON_TOKEN_MORE does not occur. */
static inline enum json_token_kind json_next(struct json_reading *r) {
    return json_reader_next(&r->json, &r->token);
}
/* Whether reading ends: after a fault of JSON, or stopped. */
static inline bool json_over(const struct json_reading *r) {
    return r->token.kind == JSON_TOKEN_FAULT || r->in->stopped;
}
/* Reads to the end of the value that begins with the present token. */
void json_skip(struct json_reading *r);
/* Reads an instance that begins with the present token, and reports its faults. */
void json_row(struct json_reading *r);
/* As json_row, for an array of values in the order of r->column. */
void json_listed_row(struct json_reading *r);

/* Whether a body that begins with { or [ is NDJSON: its first line is a complete value, and more
 * than blanks follows. */
bool instances_json_is_lines(const char *body, size_t size);

#endif
