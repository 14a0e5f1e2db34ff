/* Escapes and numbers in JSON texts: RFC 8259, sections 6 and 7. */
#ifndef BASE_JSON_LEXICAL_H
#define BASE_JSON_LEXICAL_H

#include <stddef.h>

/* Decodes the escape that begins with the backslash at *at; `end` is the end of the text. Appends
 * its character to *out in UTF-8, in fewer bytes than the escape has, so that a text can be decoded
 * in place. Moves *at after the escape and *out after the character. Returns NULL, or the violated
 * rule, a static text; then nothing is moved. \u0000 is refused. */
const char *json_unescape(const char **at, const char *end, char **out);
/* Returns the size of the number that the text s[0 … n - 1] begins with: -? (0 | [1-9][0-9]*)
 * (. [0-9]+)? ([eE] [+-]? [0-9]+)?. 0: there is none, or it is malformed, as 01, 1. and 1e are. */
size_t json_number_size(const char *s, size_t n);

#endif
