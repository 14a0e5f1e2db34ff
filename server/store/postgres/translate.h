/* Statements of the store as PostgreSQL reads them. */
#ifndef STORE_TRANSLATE_H
#define STORE_TRANSLATE_H

#include "base/memory/buf.h"

/* Appends the statement to `out`: the parameters ? and ?N become $N, and the places of
 * engine/dialect.h get their text for PostgreSQL. Quoted text is not changed. */
void store_translate(const char *sql, struct buf *out);

#endif
