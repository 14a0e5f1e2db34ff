/* Entity tags in the headers If-Match and If-None-Match. */
#ifndef BASE_ETAG_H
#define BASE_ETAG_H

#include "base/memory/buf.h"
#include <stdbool.h>

/* Whether the header value `list` ("*" or comma-separated entity tags) contains `etag`, given with
 * its quotes. etag NULL: the resource does not exist, and the result is false. weak: W/ prefixes
 * are ignored (If-None-Match); otherwise a weak tag never matches (If-Match). */
bool etag_list_matches(const char *list, const char *etag, bool weak);
/* Whether the header value is "*" or a list of entity tags. A value that is neither matches nothing
 * or a part of what was meant, so requests with it are refused. */
bool etag_list_valid(const char *list);
/* Like etag_list_matches, for the state of a resource: the tag of any form of the resource in this
 * state matches (see etag_form). */
bool etag_list_names(const char *list, const char *state, bool weak);
/* Appends the tag of one form of a resource: the tag of its state, a hyphen, and the name of the
 * form. Strong tags must differ between content codings, and between releases, which may render the
 * same state differently. coding: NULL for identity. */
void etag_form(struct buf *out, const char *state, const char *coding);

#endif
