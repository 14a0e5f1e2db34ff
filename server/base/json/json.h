/* JSON documents that are parsed as a whole: Jansson for control messages (JSON_DECODE_INT_AS_REAL,
 * JSON_REJECT_DUPLICATES, depth <= 64). Writing: base/json/json_write.h. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/buf.h"
#include "base/problem.h"
#include <jansson.h>

/* Parses a control document; a byte order mark is skipped. The caller frees the result with
 * json_decref. Returns NULL on failure and sets problem, PROBLEM_BAD_JSON with line and column. */
json_t *json_parse(const char *text, size_t size, struct problem *problem);
/* Returns the size of the byte order mark that a text begins with; 0: there is none. */
size_t json_mark_size(const char *text, size_t size);
/* Returns the first byte of a text that is neither a blank nor part of the byte order mark. The
 * text ends with a NUL. */
const char *json_first(const char *text, size_t size);
/* Appends the JSON pointer of member `key` of the object at `parent` ("": the root). ~ and / are
 * escaped. */
void json_pointer(struct buf *out, const char *parent, const char *key);

#endif
