/* The rule of RFC 8259 that a text breaks. */
#ifndef BASE_JSON_SYNTAX_H
#define BASE_JSON_SYNTAX_H

#include <stddef.h>

/* The first rule that a text refused by a parser breaks: a static text for people. At most 64
 * containers are open at once, and there are no NUL bytes. */
const char *json_syntax_rule(const char *text, size_t size);

#endif
