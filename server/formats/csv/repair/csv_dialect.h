/* Detects the delimiter, the quote character and the escape character of separated text that may be
 * broken, from a sample of the first bytes, for on_error=repair. Private to formats.
 *
 * If struct csv reads the sample without a fault, its dialect is taken, unless there is strong
 * evidence of another one (csv_faultless.h). Otherwise, if the delimiter that csv_sniff_delimiter
 * finds divides all rows into the same number of cells, it is taken. If not, each candidate is tried, and that of the highest score is taken:
 *
 *   score = share of typed cells × sum over numbers of cells L of n_L (L - 1) / L / number of L
 *
 * n_L is the number of rows that have L cells. A cell is typed if it is empty, a number, closed in
 * quotes, or a text without quotes at its ends and without characters that often are delimiters.
 * Source: van den Burg, Nazabal, Sutton, Data Mining and Knowledge Discovery 33 (2019), section 3.
 * Characters other than comma, semicolon, tab and | are delimiters only of at least three cells in
 * most rows and the first one. A quote character other than " is taken if its score is higher; an
 * escape character if it leaves fewer quotes unexplained. */
#ifndef FORMATS_CSV_DIALECT_H
#define FORMATS_CSV_DIALECT_H

#include "formats/csv/csv_sniff.h"
#include "formats/csv/repair/csv_split.h"

/* given: the delimiter; '\0': it is detected. *cells: the number of cells of each row, if the sample
 * is read without a fault and with the usual delimiter; otherwise 0. Returns false if out of
 * memory. */
bool csv_dialect_find(const struct csv_sample *sample, char given, struct csv_dialect *out,
                      size_t *cells);
/* The delimiter as one character: that of `, ` is the comma. */
static inline char csv_dialect_char(const struct csv_dialect *d) {
    return d->n > 1 && d->delimiter[0] == ' ' ? d->delimiter[1] : d->delimiter[0];
}

#endif
