/* Bodies that struct csv reads without a fault, for on_error=repair. They are read as without
 * repair, unless the sample has strong evidence of another dialect. Private to formats.
 *
 * Delimiter. With the usual delimiters the table has one column, and another one divides at least
 * three rows, which are all, into equally many cells, at least three; the first row has a word, the
 * cells of a column differ in length, and no column has the same text in all rows. So dates, times,
 * paths and addresses are not divided. Or the delimiter always occurs twice, between cells of the
 * first row that are not empty.
 * Or the table has one column, but at least half of its lines are a row of words, and rows with
 * numbers below it, between commas, semicolons, tabs or |.
 * Quote. All cells below the first row of a column that are not empty, at least three, are in
 * quotes of another character, and no cell has only one of its two quotes. */
#ifndef FORMATS_CSV_FAULTLESS_H
#define FORMATS_CSV_FAULTLESS_H

#include "formats/csv/csv_sniff.h"
#include "formats/csv/repair/csv_split.h"

/* *cells: the number of cells of each row of the sample; 0: struct csv finds a fault, the rows have
 * different numbers of cells, or another usual delimiter shows a table in one column. This and the next two return false if out of
 * memory. */
bool csv_faultless_check(const struct csv_sample *sample, char delimiter, size_t *cells);
/* Whether the evidence for the delimiter of `d` is strong. cells: from csv_faultless_check. */
bool csv_faultless_delimiter(const struct csv_sample *sample, const struct csv_dialect *d,
                             size_t cells, bool *strong);
/* Whether the evidence for the quote of `d` is strong, with which rows have `cells` cells; 0: any number. */
bool csv_faultless_quote(const struct csv_sample *sample, const struct csv_dialect *d, size_t cells,
                         bool *strong);

#endif
