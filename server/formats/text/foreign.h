/* Recognises bodies that are not tables by their first bytes, so that the error message can name
 * the format and a command that converts it to text. */
#ifndef FORMATS_FOREIGN_H
#define FORMATS_FOREIGN_H

#include <stddef.h>

#define FOREIGN_BYTES 512 /* number of bytes at the beginning of a body that are examined */

/* Returns a static text about a body that begins with these bytes; NULL if they may begin a table
 * or the format is unknown. Text is refused only if it begins as HTML, XML and the like do. */
const char *foreign_body(const char *bytes, size_t n);

#endif
