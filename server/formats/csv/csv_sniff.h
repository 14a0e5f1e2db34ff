/* Finding out how separated text is written, from its first bytes: the delimiter and whether there
 * is a header.
 *
 * The first row of a sample is the first that does not begin with # (if all do, the first of them):
 * the others that begin with # are rows if they have as many cells as it, otherwise comments
 * (unless there is another comment character). A comment character is no delimiter. Delimiter: of
 * ',', ';', tab and '|' the one by which the largest share of the rows has as many cells as the
 * first row (at least two); between equals tab, then the one with the most cells, then in that
 * order. None: ','. Header: a first row of words (and empty cells: tables are written with an
 * unnamed index) is one, unless no column has only numbers or only booleans below it, and either a
 * cell of the first row is empty, two are equal, or one occurs again in its column. So numbers
 * under words are a header whatever the words; words over words are one unless they repeat. A first
 * row with a number, a boolean or a token for missing is data, but for one case: some of its cells
 * are words, at least one of them over only numbers or only booleans, and the others are whole
 * numbers of up to nine digits ("id,2020,2021"), no two cells equal and none occurring again in its
 * column. That is a header, but doubtful; so is taking such a row for data because no word of it
 * stands over numbers, or because a cell is empty or a token for missing. Rows that are the same as
 * the first do not count, if it has several cells and a word over only numbers or only booleans:
 * tables that were put together have their header again. */
#ifndef FORMATS_CSV_SNIFF_H
#define FORMATS_CSV_SNIFF_H

#include "formats/csv/csv.h"
#include "formats/text/cell.h"
#include "formats/text/names.h"
#include <stdbool.h>
#include <stddef.h>

#define CSV_SNIFF_ROWS 1000 /* rows looked at, at most */

struct csv_sample {
    const char *bytes;
    size_t n;
    bool whole;   /* they are the whole body */
    char comment; /* lines that begin with it are skipped; '\0': see above */
};
struct csv_shape {
    size_t rows;    /* complete rows seen that do not begin with #, at most CSV_SNIFF_ROWS */
    size_t cells;   /* of the first row; 0: none was seen */
    bool no_memory; /* what was found is worth nothing */
};
/* shape: by the delimiter found; NULL: not wanted. */
char csv_sniff_delimiter(const struct csv_sample *sample, struct csv_shape *shape);
void csv_sniff_shape(const struct csv_sample *sample, char delimiter, struct csv_shape *shape);
/* Whether a row is a comment in a table of rows of n_cells: see above. */
static inline bool csv_is_comment(const struct csv_row *row, size_t n_cells, char comment) {
    return row->n_cells != n_cells && comment == '\0' && n_cells > 0 && row->size > 0 &&
           row->bytes[0] == '#';
}
struct csv_header {
    bool header;   /* the first row is one */
    bool doubtful; /* it may be otherwise: whoever sent the table should be told */
    int64_t again; /* a header: the line of the first row that is the same; 0: there is none */
};
/* cells: of the table's first row, by csv_sniff_shape. false: no memory. */
bool csv_sniff_header(const struct csv_sample *sample, char delimiter, size_t cells,
                      const struct missing *missing, struct csv_header *out);

/* Adds the names of a header to `out`, each once and without the empty ones. false: no memory. */
bool csv_header_names(const struct csv_row *row, struct names *out);

#endif
