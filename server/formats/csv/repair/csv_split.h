/* Divides rows of separated text into cells for on_error=repair. Unlike struct csv, the delimiter
 * may have several characters, the quote may be any character, quotes may be escaped, and broken
 * quotes are read by the rules below. Private to formats.
 *
 * A row is read strictly, by RFC 4180, if that is possible. Otherwise it is read in several ways:
 * a quoted cell may span lines or not; a quote that looks like the first of a cell may or may not
 * be part of an open cell before it; a quote before a delimiter may close an inner quotation; a
 * cell whose quote is not closed may end at the next delimiter or take its line. In all these ways,
 * a quote that is not followed by a delimiter is part of its cell. The way is taken that gives the
 * number of cells nearest to the expected one; of these, that with the fewest open quotes, then
 * with the fewest quotes within cells. A quoted cell is searched for its end in TABLE_MAX_CELL
 * bytes.
 */
#ifndef FORMATS_CSV_SPLIT_H
#define FORMATS_CSV_SPLIT_H

#include "formats/csv/csv.h"

#define CSV_DIALECT_DELIMITER 3 /* limit of the characters of a delimiter */

struct csv_dialect {
    char delimiter[CSV_DIALECT_DELIMITER + 1];
    uint8_t n; /* number of characters of the delimiter */
    bool run;  /* the delimiter is a run of spaces and tabs */
    char quote;
    char escape; /* before a quote that is part of a cell; '\0': such quotes are doubled */
};

struct csv_piece {
    size_t at;       /* offset of the first byte of the cell, with its quote */
    size_t from, to; /* the text of the cell, without quotes */
    bool quoted;
    bool escaped; /* doubled quotes or escape characters are to be removed */
    bool stray;   /* a quote is part of the text although it is not escaped */
    bool open;    /* the opening quote is not closed */
    bool lines;   /* spans lines */
    bool over;    /* a quote within the text looks like the first of a cell */
};

struct csv_split {
    struct csv_piece *piece; /* [n] */
    size_t n, capacity;
    size_t size;              /* number of bytes of the row without its line end */
    size_t next;              /* offset of the next row */
    size_t stray, open, over; /* number of such pieces */
};
void csv_split_done(struct csv_split *s);

#define CSV_SPLIT_CELLS (4 * TABLE_MAX_COLUMNS) /* limit of the cells of a row */
enum csv_split_status {
    CSV_SPLIT_WHOLE,
    CSV_SPLIT_MORE, /* the row does not end in the n bytes */
    CSV_SPLIT_TOO_MANY,
    CSV_SPLIT_NO_MEMORY
};
/* Divides the row at the beginning of the n bytes, after which TEXT_INPUT_SLACK bytes may be read.
 * final: the body ends after them. width: the expected number of cells; 0: unknown. *work: number
 * of bytes that may be searched for closing quotes, which decreases; quotes are open when it is
 * used up. spare: room for another way of reading. */
enum csv_split_status csv_split_row(const struct csv_dialect *d, const char *bytes, size_t n,
                                    bool final, size_t width, size_t *work, struct csv_split *out,
                                    struct csv_split *spare);
/* Divides the row in another way: each quote opens or closes a part of a cell, which may contain
 * delimiters and line ends. So `a"b, c"` is one cell, whose text has the quotes; `stray` counts such
 * cells. out->n is 0 if a quote is not closed, or if there are more than `width` cells. */
enum csv_split_status csv_split_joined(const struct csv_dialect *d, const char *bytes, size_t n,
                                       bool final, size_t width, size_t *work,
                                       struct csv_split *out);
#define CSV_SPLIT_WORK ((size_t)2 << 20) /* for the first rows of a body */
#define CSV_SPLIT_WORK_BYTE 32           /* more for each byte of a row */
/* Length of the delimiter at the offset `at`; 0: there is none. */
size_t csv_split_delimiter(const struct csv_dialect *d, const char *bytes, size_t n, size_t at);
/* Appends the text of a piece without the quotes and escape characters that mark quotes. */
void csv_split_text(const struct csv_dialect *d, const char *bytes, const struct csv_piece *piece,
                    struct buf *out);
/* The text of a piece without the blanks at its ends. */
struct text csv_split_trimmed(const char *bytes, const struct csv_piece *piece);

#endif
