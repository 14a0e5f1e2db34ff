/* Finds the rule of RFC 8259 that a text violates. */
#ifndef BASE_JSON_SYNTAX_H
#define BASE_JSON_SYNTAX_H

#include <stddef.h>

/* Returns the first rule that a text violates, as a static text for messages. The text must have
 * been refused by a parser, must have no NUL bytes, and at most 64 containers may be open at a
 * time. */
const char *json_syntax_rule(const char *text, size_t size);

#endif
