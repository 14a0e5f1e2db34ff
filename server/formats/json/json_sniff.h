/* Finding out from its first bytes whether a body that begins like JSON is one document or a line
 * for each row (NDJSON). Private to formats. */
#ifndef FORMATS_JSON_SNIFF_H
#define FORMATS_JSON_SNIFF_H

#include <stdbool.h>
#include <stddef.h>

/* The first byte but spaces and a byte order mark is [ or {. */
bool json_sniff_looks(const char *bytes, size_t n);
enum json_sniff {
    JSON_SNIFF_ONE,    /* one document, or nothing that is JSON */
    JSON_SNIFF_LINES,  /* the first line is an array or object without another in it, and the next
                          one begins one, too; or it is an object that is no table, whatever comes
                          behind it */
    JSON_SNIFF_UNSURE, /* the bytes end before that is known: as ONE if there are no more */
    JSON_SNIFF_NO_MEMORY
};
enum json_sniff json_sniff_lines(const char *bytes, size_t n,
                                 bool whole); /* whole: these bytes are all of the body */

#endif
