/* JSON documents that are parsed as a whole, as trees of Jansson: control messages and stored
 * documents. Writing: base/json/json_write.h. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/json/json_write.h"
#include "base/memory/buf.h"
#include "base/problem.h"
#include <jansson.h>

/* Parses a document (RFC 8259): a byte order mark is skipped, all numbers are reals, a repeated
 * member name and nesting deeper than 64 are refused. The caller frees the result with json_decref.
 * Returns NULL on failure and sets problem: PROBLEM_BAD_JSON with line and column,
 * PROBLEM_UNAVAILABLE if memory is short. Any thread. */
json_t *json_parse(const char *text, size_t size, struct problem *problem);
/* Like json_parse for the value that the text begins with. *used: the size up to its end. What
 * follows must be UTF-8 and is not read. */
json_t *json_parse_first(const char *text, size_t size, size_t *used, struct problem *problem);
/* Parses a document of the database. `what` names it in the message: "the stored WHAT is damaged".
 * Damage is PROBLEM_INTERNAL. */
json_t *json_parse_stored(const char *text, const char *what, struct problem *problem);
/* Returns the size of the byte order mark that a text begins with; 0: there is none. */
size_t json_mark_size(const char *text, size_t size);
/* Returns the first byte of a text that is neither a blank nor part of the byte order mark. The
 * text ends with a NUL. */
const char *json_first(const char *text, size_t size);
/* Writes a tree. */
void json_put_value(const json_t *value, struct json_writer *w);
/* Appends the JSON pointer of member `key` of the object at `parent` ("": the root). ~ and / are
 * escaped. */
void json_pointer(struct buf *out, const char *parent, const char *key);

#endif
