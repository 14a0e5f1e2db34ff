/* Finding out how separated text is written, from its first bytes: the delimiter and whether there is a header.
 *
 * Delimiter: of ',', ';', tab and '|' the one by which the largest share of the rows has as many cells as the first row (at least two); between equals tab, then the one with the
 * most cells, then in that order. None: ','.
 * Header: a first row of words (and empty cells: tables are written with an unnamed index) is one, unless no column has only numbers or only booleans below it, and either a cell of the
 * first row is empty, two are equal, or one occurs again in its column. So numbers under words are a header whatever the words; words over words are one unless they repeat.
 * A first row with a number, a boolean or a token for missing is data, but for one case: some of its cells are words, at least one of them over only numbers or only booleans, and the others
 * are whole numbers of up to nine digits ("id,2020,2021"), no two cells equal and none occurring again in its column. That is a header, but doubtful; so is taking such a row for data
 * because no word of it stands over numbers, or because a cell is empty or a token for missing. */
#ifndef WIRE_CSV_SNIFF_H
#define WIRE_CSV_SNIFF_H

#include "wire/cell.h"
#include <stdbool.h>
#include <stddef.h>

#define CSV_SNIFF_ROWS 1000 /* rows looked at, at most */

/* whole: these bytes are the whole body. *n_rows (NULL: not wanted): complete rows seen, at most CSV_SNIFF_ROWS. */
char csv_sniff_delimiter(const char *bytes, size_t n, bool whole, size_t *n_rows);
struct csv_header {
    bool header;   /* the first row is one */
    bool doubtful; /* it may be otherwise: whoever sent the table should be told */
};
/* false: no memory. */
bool csv_sniff_header(const char *bytes, size_t n, bool whole, char delimiter, const struct missing *missing, struct csv_header *out);

#endif
