/* Strings of the incremental JSON reader: their end, escapes, UTF-8. Private to json_tokens.c. */
#ifndef FORMATS_JSON_STRING_H
#define FORMATS_JSON_STRING_H

#include <stdbool.h>
#include <stddef.h>

/* Returns the first closing quote or unescaped control character in p … limit - 1; otherwise
 * limit. *escaped, in and out: the byte before was a backslash that is not escaped itself. *decode:
 * set if there is a backslash. */
const char *json_text_end(const char *p, const char *limit, bool *escaped, bool *decode);
/* Decodes the escapes of text[0 … n - 1] in place (the result is not longer) and checks the
 * UTF-8. On success returns NULL; *out_n is the new length. Otherwise returns a description of the
 * fault, a static text, and sets *wrong to the offset of the fault in the original text. */
const char *json_text_unescape(char *text, size_t n, size_t *out_n, size_t *wrong);
/* Checks the UTF-8 of a string without escapes. Returns like json_text_unescape. */
const char *json_text_check_utf8(const char *text, size_t n, size_t *wrong);

#endif
