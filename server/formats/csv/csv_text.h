/* Checks that the bytes of a body are text. Private to formats. */
#ifndef FORMATS_CSV_TEXT_H
#define FORMATS_CSV_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Returns the length of the longest prefix that is UTF-8 without NUL. *wrong: set to a static text
 * if a fault follows the prefix. A sequence that is cut off at the end is a fault only if
 * `final`. */
size_t csv_text_check(const char *bytes, size_t n, bool final, const char **wrong);
/* Returns a static text that describes the fault at the beginning of the n bytes, which is no UTF-8
 * character. The text has a hint if the bytes look like Latin-1 or Windows-1252. */
const char *csv_text_wrong(const char *bytes, size_t n);

#endif
