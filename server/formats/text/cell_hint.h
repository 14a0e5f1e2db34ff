/* Hints why a text is not a number. Private to formats. */
#ifndef FORMATS_CELL_HINT_H
#define FORMATS_CELL_HINT_H

#include <stdbool.h>
#include <stddef.h>

/* A static text for messages, to be placed after a colon: about decimal commas, hexadecimal
 * numbers, numbers that are too large, dates, words for missing values. NULL: there is no hint. */
const char *cell_hint(const char *bytes, size_t n);
/* Whether other programs write this text for a missing value, while it is not a token here. The
 * hint of cell_hint for it names an option of uploads. */
bool cell_hint_missing(const char *bytes, size_t n);

#endif
