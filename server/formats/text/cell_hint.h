/* Hints why a text is not a number. Private to formats. */
#ifndef FORMATS_CELL_HINT_H
#define FORMATS_CELL_HINT_H

#include <stdbool.h>
#include <stddef.h>

/* Returns a static text for messages, to be placed after a colon: about decimal commas, hexadecimal
 * numbers, numbers that are too large, dates, words for missing values and others. Returns NULL if
 * there is no hint. */
const char *cell_hint(const char *bytes, size_t n);
/* The same for a string of JSON, to which the options of separated text do not apply. */
const char *cell_hint_json(const char *bytes, size_t n);
/* Whether the trimmed text is a date or a time of day. */
bool cell_hint_time(const char *bytes, size_t n);
/* Whether the text is one that other programs write for a missing value, but not a standard token.
 * (The hint of cell_hint for such a text names an option of uploads.) */
bool cell_hint_missing(const char *bytes, size_t n);

#endif
