/* Decides from the first bytes of a body that looks like JSON whether it is one document or NDJSON,
 * with a row on each line. Private to formats. */
#ifndef FORMATS_JSON_SNIFF_H
#define FORMATS_JSON_SNIFF_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the first byte, after spaces and a byte order mark, is [ or {. */
bool json_sniff_looks(const char *bytes, size_t n);
enum json_sniff {
    JSON_SNIFF_ONE, /* one document, or no JSON */
    /* NDJSON: the first line is an array or object that contains no other container, and another
     * value follows; or it is an object that cannot be a document with a table */
    JSON_SNIFF_LINES,
    JSON_SNIFF_UNSURE, /* more bytes are needed; at the end of the body it means ONE */
    JSON_SNIFF_NO_MEMORY
};
/* Decides whether the body is one document. whole: the bytes are the whole body. */
enum json_sniff json_sniff_lines(const char *bytes, size_t n, bool whole);

#endif
