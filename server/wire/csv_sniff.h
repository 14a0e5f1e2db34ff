/* Finding out how separated text is written, from its first bytes: the delimiter and whether there is a header.
 *
 * Delimiter: of ',', ';', tab and '|' the one by which the largest share of the rows has as many cells as the first row (at least two); between equals tab, then the one with the
 * most cells, then in that order. None: ','.
 * Header: the first row is one, unless
 *   - a cell of it reads as a number, a boolean or a token for missing (an empty cell does not count: tables are written with an unnamed index), or
 *   - no column has only numbers or only booleans below, and either a cell of the first row is empty, two are equal, or one occurs again in its column.
 * So numbers under words are a header whatever the words; words over words are one unless they repeat. */
#ifndef WIRE_CSV_SNIFF_H
#define WIRE_CSV_SNIFF_H

#include "wire/cell.h"
#include <stdbool.h>
#include <stddef.h>

#define CSV_SNIFF_ROWS 1000 /* rows looked at, at most */

/* whole: these bytes are the whole body. *n_rows (NULL: not wanted): complete rows seen, at most CSV_SNIFF_ROWS. */
char csv_sniff_delimiter(const char *bytes, size_t n, bool whole, size_t *n_rows);
/* false: no memory. */
bool csv_sniff_header(const char *bytes, size_t n, bool whole, char delimiter, const struct missing *missing, bool *out);

#endif
