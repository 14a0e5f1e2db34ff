/* Whether the bytes of a body are text, and what else they may be. Private to the readers of separated text. */
#ifndef WIRE_CSV_TEXT_H
#define WIRE_CSV_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Length of the prefix that is valid UTF-8 without NUL. If something wrong follows it, *wrong becomes a static text; a sequence cut by the end is wrong only if final. */
size_t csv_text_check(const char *bytes, size_t n, bool final, const char **wrong);
/* What a body that is no text is by its first four bytes, as a static text for a person; NULL: unknown. */
const char *csv_text_foreign(const char head[4]);

#endif
