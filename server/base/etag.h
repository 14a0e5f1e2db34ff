/* Entity tags: If-Match and If-None-Match lists. */
#ifndef BASE_ETAG_H
#define BASE_ETAG_H

#include <stdbool.h>

/* Does the header value `list` ("*" or entity tags, comma-separated) name `etag` (quotes included; NULL: the resource does not exist, then only a list matches nothing)?
 * weak: W/ prefixes are ignored (If-None-Match); otherwise a weak tag never matches (If-Match). */
bool etag_list_matches(const char *list, const char *etag, bool weak);

#endif
