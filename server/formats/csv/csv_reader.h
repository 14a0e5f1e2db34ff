/* Shared by the files of the reader of separated text: csv.c (input), csv_automaton.c (states),
 * csv_cells.c (cells and rows), csv_blanks.c (runs of blanks) and csv_faults.c (faults). Private to
 * them. */
#ifndef FORMATS_CSV_READER_H
#define FORMATS_CSV_READER_H

#include "formats/csv/csv.h"

enum csv_mode {
    MODE_CELL,    /* before the first byte of a cell: scan == cell */
    MODE_PLAIN,   /* in an unquoted cell */
    MODE_QUOTED,  /* in a quoted cell */
    MODE_CLOSED,  /* after a quote that closes the cell or is the first of two */
    MODE_STRAY,   /* in text after a closing quote; the fault was reported */
    MODE_LF,      /* after a CR: if a LF follows, it is part of the same line end */
    MODE_COMMENT, /* in a comment */
    MODE_SKIP     /* in one of the first lines, which are skipped */
};

/* Whether the byte separates two cells. */
SCAN_INLINE bool csv_is_delimiter(const struct csv *c, char t) {
    return t == c->delimiter || (t == '\t' && c->delimiter == CSV_BLANKS);
}

/* Returns the number of line ends in a text. *last: offset after the last one; 0: there is none. CR
 * LF counts as one. */
static inline int64_t csv_line_ends(const char *text, size_t n, size_t *last) {
    int64_t lines = 0;
    *last = 0;
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '\n' || (text[i] == '\r' && !(i + 1 < n && text[i + 1] == '\n'))) {
            lines++;
            *last = i + 1;
        }
    }
    return lines;
}

/* Whether a comment begins at the start of the current row. May read the slack after the data. */
SCAN_INLINE bool csv_is_comment(const struct csv *c) {
    return c->comment != '\0' && c->in.data[c->row] == c->comment;
}

/* ---- csv_automaton.c ---- */
/* Divides data[c->scan … limit - 1] into cells. */
void csv_parse(struct csv *c, size_t limit);
/* Ends the body: the remaining bytes are the last row. */
void csv_parse_end(struct csv *c);

/* ---- csv_cells.c ---- */
/* Reads unquoted cells in a fast loop over the marks (delimiters, line ends, quotes) of a block.
 * The loop finds the end of a cell independently of the parse of the previous one, so the processor
 * can overlap the two. Stops at a cell with a quote in it, and in the cell that contains the
 * limit. */
void csv_plain_cells(struct csv *c, size_t limit);
/* Completes the unquoted cell from c->cell to `end`. */
void csv_plain_push(struct csv *c, size_t end);
/* Completes the quoted cell whose closing quote is at `quote`. */
void csv_quoted_push(struct csv *c, size_t quote);
/* Handles the byte at `end`, which follows the completed cell: a delimiter or a line end. */
void csv_cell_end(struct csv *c, size_t end);
/* Completes the row that ends at `end`, which is the offset of its line end. Reading continues at
 * `next`. */
void csv_row_end(struct csv *c, size_t end, size_t next);

/* ---- csv_blanks.c ---- */
/* Delimiter CSV_BLANKS: skips blanks, and begins the cell or ends the row that follows them. */
void csv_blanks_skip(struct csv *c, size_t limit);

/* ---- csv_faults.c ---- */
/* Reports a fault at `offset` of the data. Reading stops after a fatal fault. */
void csv_fault(struct csv *c, size_t offset, bool fatal, const char *text);
/* Reports the first fault of a row. It is fatal unless the reader is lenient. */
void csv_row_fault(struct csv *c, size_t offset, const char *text);
void csv_row_too_long(struct csv *c);
void csv_cell_too_long(struct csv *c);
void csv_too_many_cells(struct csv *c);
void csv_out_of_memory(struct csv *c);

#endif
