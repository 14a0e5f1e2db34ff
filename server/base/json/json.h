/* JSON documents read whole: Jansson's wrapper for control messages (JSON_DECODE_INT_AS_REAL,
 * JSON_REJECT_DUPLICATES, depth <= 64). Writing: base/json/json_write.h. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/buf.h"
#include "base/problem.h"
#include <jansson.h>

/* Parses a whole control document. NULL: problem PROBLEM_BAD_JSON with line and column. A BOM is
 * skipped. The caller json_decrefs. */
json_t *json_parse(const char *text, size_t size, struct problem *problem);
/* Appends to out the JSON pointer of member `key` under `parent` ("" is the root): escapes ~ and /.
 */
void json_pointer(struct buf *out, const char *parent, const char *key);

#endif
