/* Why a text that was perhaps meant as a number is none. Private to formats. */
#ifndef FORMATS_CELL_HINT_H
#define FORMATS_CELL_HINT_H

#include <stdbool.h>
#include <stddef.h>

/* A static text for a person, as it follows a colon: decimal commas, hexadecimal numbers, numbers
 * too large, dates, words for missing values …; NULL: nothing is known of it. */
const char *cell_hint(const char *bytes, size_t n);
/* Is it what other programs write for a missing value, and no token for it here? Those hints name
 * an option of uploads. */
bool cell_hint_missing(const char *bytes, size_t n);

#endif
