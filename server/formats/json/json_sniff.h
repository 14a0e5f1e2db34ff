/* Finds from the first bytes of a body that looks like JSON whether it is one document or NDJSON,
 * with a line for each row. Private to formats. */
#ifndef FORMATS_JSON_SNIFF_H
#define FORMATS_JSON_SNIFF_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the first byte after spaces and a byte order mark is [ or {. */
bool json_sniff_looks(const char *bytes, size_t n);
enum json_sniff {
    JSON_SNIFF_ONE, /* one document, or not JSON */
    /* the first line is an array or object without a container in it and another value follows; or
     * it is an object that cannot be a document with a table */
    JSON_SNIFF_LINES,
    JSON_SNIFF_UNSURE, /* more bytes are needed; if there are none, as ONE */
    JSON_SNIFF_NO_MEMORY
};
enum json_sniff json_sniff_lines(const char *bytes, size_t n,
                                 bool whole); /* the bytes are the whole body */

#endif
