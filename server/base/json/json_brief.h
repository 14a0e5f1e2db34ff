/* Removes members from a JSON document, or selects members, to make it an item of a list. */
#ifndef BASE_JSON_BRIEF_H
#define BASE_JSON_BRIEF_H

#include "base/memory/buf.h"

/* Appends `document` without the members of these names (NULL-terminated list; the names need no
 * escapes), at any depth. A name that ends in "[" or "{", such as "folds[", means only members
 * whose value is an array or an object. document: valid JSON text written by this server, without
 * spaces between tokens. Takes O(length) time and builds no tree. If out of memory, `out` fails. */
void json_brief(struct buf *out, const char *document, const char *const *names);
/* Appends the object `document` with only those of its members that have one of the names, in the
 * order of the names. Otherwise as json_brief; takes O(length) time for each name. */
void json_pick(struct buf *out, const char *document, const char *const *names);

#endif
