/* Detects the delimiter of separated text, and whether the first row is a header, from a sample of
 * the first bytes.
 *
 * First row. The first row is the first that does not begin with #; if all rows begin with #, it is
 * the first of them. Other rows that begin with # are comments if their number of cells differs
 * from that of the first row. If a comment character is given, only lines that begin with that
 * character are comments.
 *
 * Delimiter. Candidates are comma, semicolon, tab and |, without the comment character. With a
 * candidate, the first row must have at least two cells. The candidate is chosen with which the
 * largest share of the rows has as many cells as the first row. Of equal candidates tab is chosen,
 * then the semicolon or | if it leaves commas only as decimal marks of numbers, then the candidate
 * with the most cells, then the first of that list. If there is no candidate, the
 * delimiter is CSV_BLANKS if it divides all rows into the same number of cells, at least two;
 * otherwise it is the comma, or the semicolon or | if it divides fewer rows than the comma.
 * CSV_BLANKS takes precedence over a candidate that leaves several numbers in one cell, or that
 * does not divide all rows equally, if no unquoted cell has a comma, a semicolon or |, except as
 * the decimal mark of a number.
 *
 * Title. The lines before the table are a title if they have fewer cells than all rows that follow,
 * of which there are at least two and which have equal numbers of cells. Several lines are a title
 * only if they have one cell each. A delimiter with which there is a title is chosen if the
 * candidate chosen by the rules above divides no other row as it divides the first one. CSV_BLANKS
 * is then chosen only if more than half of the cells below the title are numbers. First rows with
 * as many cells as the table are a title if at most the first half of their cells is not empty, the
 * row behind them has words only, and a column below that row has only numbers or only booleans.
 *
 * Header. A cell is a word if it is not empty and not a number, a boolean or a token for missing.
 *   1. A first row of words and empty cells is a header if a column below one of them has only
 *      numbers or only booleans; or if no cell is empty, no two are equal, and none occurs again in
 *      its column. A first row of different words and empty cells that is no header is doubtful.
 *   2. A first row with a number, a boolean or a token for missing is data, except in this case: it
 *      has a word above a column of only numbers or only booleans, its other cells are integers of
 *      at most nine digits ("id,2020,2021"), no two cells are equal, and none occurs again in its
 *      column. Then it is a header, but doubtful. A first row with words that misses one of these
 *      conditions may be a doubtful row of data, as is one of the numbers 0, 1, 2 … or 1, 2, 3 …, or
 *      one with a word that is not among the few categories below it.
 * The first L >= 2 rows look like header lines if no cell of them is a number or a boolean, and a
 * column has a word in the last of them and only numbers, booleans or tokens for missing below, of
 * which there are at least three rows.
 * Later rows equal to the first one are ignored if the first row has several cells and a word above
 * only numbers or only booleans: they are headers of tables that were concatenated. */
#ifndef FORMATS_CSV_SNIFF_H
#define FORMATS_CSV_SNIFF_H

#include "formats/csv/csv.h"
#include "formats/text/cell.h"
#include "formats/text/marks.h"
#include "formats/text/names.h"
#include <stdbool.h>
#include <stddef.h>

#define CSV_SNIFF_ROWS 1000 /* rows of the sample that are read */

struct csv_sample {
    const char *bytes;
    size_t n;
    bool whole; /* the sample is the whole body */
    /* lines that begin with this character are skipped; '\0': there is no comment character */
    char comment;
    int64_t skip; /* number of lines at the beginning that are skipped */
    /* reads the rows in place of struct csv, as csv_sample_read does; NULL: struct csv reads
     * them */
    bool (*rows)(const struct csv_sample *sample, const void *arg,
                 const struct csv_handler *handler, size_t *unfinished);
    const void *arg; /* argument of `rows` */
};
/* The lines before the table that look like a title. */
struct csv_title {
    int64_t line;  /* the first of these lines; 0: there is no title */
    int64_t table; /* the line in which the table begins */
    size_t cells;  /* largest number of cells of these lines */
    size_t below;  /* number of cells of the rows of the table */
    bool ended;    /* each row of the table ends with a delimiter */
    bool padded;   /* the lines have as many cells as the table, most of them empty */
};
struct csv_shape {
    size_t rows;  /* complete rows that do not begin with #, at most CSV_SNIFF_ROWS */
    size_t cells; /* number of cells of the first row; 0: there is no row */
    bool numbers; /* CSV_BLANKS: an unquoted cell is a number */
    /* ',' was detected, and runs of blanks divide all rows into so many numbers, of which some have
     * decimal commas; 0: not so */
    size_t blanks;
    bool no_memory; /* memory is exhausted: the other members are not valid */
    struct csv_title title;
};
/* Reads the rows of the sample. *unfinished: number of cells of the last row if it does not end in
 * the sample; NULL: not needed. Returns false if out of memory. */
bool csv_sample_read(const struct csv_sample *sample, char delimiter,
                     const struct csv_handler *handler, size_t *unfinished);
/* Returns the delimiter. *shape: the rows and cells found with this delimiter; NULL: not needed. */
char csv_sniff_delimiter(const struct csv_sample *sample, struct csv_shape *shape);
void csv_sniff_shape(const struct csv_sample *sample, char delimiter, struct csv_shape *shape);
/* Whether the first character of a row that is no blank is #. */
static inline bool csv_begins_sharp(const struct csv_row *row) {
    size_t at = 0;
    while (at < row->size && (row->bytes[at] == ' ' || row->bytes[at] == '\t')) {
        at++;
    }
    return at < row->size && row->bytes[at] == '#';
}
/* Whether a row is a comment by the rule above. n_cells: number of cells of the first row. */
static inline bool csv_is_comment(const struct csv_row *row, size_t n_cells, char comment) {
    return row->n_cells != n_cells && comment == '\0' && n_cells > 0 && csv_begins_sharp(row);
}
struct csv_header {
    bool header;   /* the first row is a header */
    bool doubtful; /* `header` may be wrong: the client is warned */
    bool typed; /* a cell of the first row is a word above a column of only numbers or booleans */
    int64_t lines; /* number of header lines; csv_sniff_header sets 1 */
    int64_t again; /* line of the first row that equals the header; 0: there is none */
    /* number of the first rows that look like header lines, at least 2; 0: there is at most one */
    size_t several;
    int64_t title_rows;     /* doubtful: number of lines that may be titles */
    struct csv_title title; /* lines with as many cells as the table */
    int64_t
        second; /* the first row has numbers, and the row in this line looks like the header; 0: not
                     * so */
};
/* Decides whether the first row is a header. cells: number of cells of the first row, from
 * csv_sniff_shape. marks: how numbers are written; NULL: no cell has a decimal comma. Returns false
 * if out of memory. */
bool csv_sniff_header(const struct csv_sample *sample, char delimiter, size_t cells,
                      const struct missing *missing, const struct marks *marks,
                      struct csv_header *out);

/* Adds the names of a header to `out`, each name once, without empty names. Returns false if out of
 * memory. */
bool csv_header_names(const struct csv_row *row, struct names *out);

#endif
