/* Recognises bodies that are not text by their first bytes, so that the refusal can name the format
 * and a command that makes text of it. */
#ifndef FORMATS_FOREIGN_H
#define FORMATS_FOREIGN_H

#include <stddef.h>

#define FOREIGN_BYTES 512 /* first bytes of a body that are examined */

/* A static text about a body that begins with these bytes. NULL: the bytes are text, or the format
 * is not known. */
const char *foreign_body(const char *bytes, size_t n);

#endif
