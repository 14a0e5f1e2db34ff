/* A JSON document without some of its members: for items of lists. */
#ifndef BASE_JSON_BRIEF_H
#define BASE_JSON_BRIEF_H

#include "base/buf.h"

/* Appends `document`, JSON text of our own without spaces between tokens, complete and right, but
 * for the members of these names (NULL-terminated, without escapes), at any depth. No tree: O(its
 * length) time and what `out` grows by. No memory: `out` has failed. */
void json_brief(struct buf *out, const char *document, const char *const *names);

#endif
