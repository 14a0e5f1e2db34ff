/* Whether the bytes of a body are text, and what else they may be. Private to formats. */
#ifndef FORMATS_CSV_TEXT_H
#define FORMATS_CSV_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Length of the prefix that is valid UTF-8 without NUL. If something wrong follows it, *wrong
 * becomes a static text; a sequence cut by the end is wrong only if final. */
size_t csv_text_check(const char *bytes, size_t n, bool final, const char **wrong);
/* What is wrong with n bytes that do not begin with a UTF-8 character, as a static text: with a
 * hint when they look like Latin-1 or Windows-1252. */
const char *csv_text_wrong(const char *bytes, size_t n);
/* What a body that is no text is by its first four bytes, as a static text for a person; NULL:
 * unknown. */
const char *csv_text_foreign(const char head[4]);

#endif
