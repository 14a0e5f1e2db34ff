/* The texts of the incremental JSON reader's tokens: a string's end, escapes and UTF-8, a number's
 * grammar. Private to json_tokens.c. */
#ifndef FORMATS_JSON_STRING_H
#define FORMATS_JSON_STRING_H

#include <stdbool.h>
#include <stddef.h>

/* From p to the first closing quote, unescaped control character, or limit, whichever comes first.
 * *escaped: on entry and exit, whether the byte before was a lone backslash. *decode is set when a
 * backslash was seen. */
const char *json_text_end(const char *p, const char *limit, bool *escaped, bool *decode);
/* Replaces the escapes of text[0 … n - 1] in place (the result is never longer) and checks the
 * UTF-8. NULL: well, *out_n is the new length. Otherwise what is wrong, a static text, and *wrong
 * the offset in the raw text. */
const char *json_text_unescape(char *text, size_t n, size_t *out_n, size_t *wrong);
/* UTF-8 of a string without escapes; as above. */
const char *json_text_check_utf8(const char *text, size_t n, size_t *wrong);
/* RFC 8259 section 6: -? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)? */
bool json_text_is_number(const char *s, size_t n);

#endif
