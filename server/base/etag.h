/* Entity tags: If-Match and If-None-Match lists. */
#ifndef BASE_ETAG_H
#define BASE_ETAG_H

#include "base/buf.h"
#include <stdbool.h>

/* Does the header value `list` ("*" or entity tags, comma-separated) name `etag` (quotes included;
 * NULL: the resource does not exist, then only a list matches nothing)? weak: W/ prefixes are
 * ignored (If-None-Match); otherwise a weak tag never matches (If-Match). */
bool etag_list_matches(const char *list, const char *etag, bool weak);
/* Likewise for the state of a resource: a tag of any of its forms names it (see etag_form). */
bool etag_list_names(const char *list, const char *state, bool weak);
/* The tag of one form of a resource in this state: strong tags must differ between content codings
 * and between releases, which may render the same state differently. coding: NULL for identity. The
 * state's tag, a hyphen and the name of the form. */
void etag_form(struct buf *out, const char *state, const char *coding);

#endif
