/* Reading one instance of JSON: an array in input order, or an object by names. Private to the
 * readers of JSON and NDJSON instances. */
#ifndef FORMATS_INSTANCES_JSON_H
#define FORMATS_INSTANCES_JSON_H

#include "formats/instances/instances.h"
#include "formats/json/json_reader.h"

/* The reading of one body, or of one line after the other. */
struct json_reading {
    struct instances *in;
    struct json_reader json;
    struct json_token token; /* the last one */
    int64_t line;       /* NDJSON: the line at hand, from 1; 0: one document, places are pointers */
    const char *prefix; /* one document: pointer of the array, "", "/instances" or "/rows" */
    struct slot *column; /* [n_columns] where the values of a row of "rows" belong */
    size_t n_columns, columns_capacity;
    bool nameless; /* the row at hand is an object that names no column of the model's */
    struct buf pointer;
};
void json_reading_done(struct json_reading *r);

/* The next token; the body is whole, so MORE does not come. */
static inline enum json_token_kind json_next(struct json_reading *r) {
    return json_reader_next(&r->json, &r->token);
}
/* Nothing more to read: not JSON, or stopped. */
static inline bool json_over(const struct json_reading *r) {
    return r->token.kind == JSON_TOKEN_FAULT || r->in->stopped;
}
/* Reads to the end of the value that the last token begins. */
void json_skip(struct json_reading *r);
/* The value that the last token begins is an instance: makes a row of it, with every fault. */
void json_row(struct json_reading *r);
/* … is an array of values in the order of r->column. */
void json_listed_row(struct json_reading *r);

/* Whether a body that begins with { or [ is NDJSON: its first line is a complete value, and more
 * than blanks follow it. */
bool instances_json_is_lines(const char *body, size_t size);

#endif
