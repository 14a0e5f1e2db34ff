/* What the files of the reader of separated text share: csv.c (bytes in), csv_automaton.c (where it
 * stands), csv_cells.c (cells and rows) and csv_faults.c. Private to them. */
#ifndef FORMATS_CSV_READER_H
#define FORMATS_CSV_READER_H

#include "formats/csv/csv.h"

enum csv_mode {
    MODE_CELL,   /* at the first byte of a cell: scan == cell */
    MODE_PLAIN,  /* within an unquoted cell, or in what follows a closing quote wrongly */
    MODE_QUOTED, /* within quotes */
    MODE_CLOSED, /* behind a quote that closes the cell or is the first of two */
    MODE_STRAY,  /* in the text after a closing quote, which was a fault */
    MODE_LF,     /* behind a CR: a LF belongs to it */
    MODE_COMMENT /* in a comment line */
};

/* Line ends in a text; *last: offset behind the last one (0: none). A CR and LF are one. */
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

/* The row that begins here is a comment. May look into the slack. */
SCAN_INLINE bool csv_is_comment(const struct csv *c) {
    return c->comment != '\0' && c->data[c->row] == c->comment;
}

/* ---- csv_automaton.c ---- */
/* Cuts data[c->scan … limit - 1] into cells, as far as that is decided. */
void csv_parse(struct csv *c, size_t limit);
/* The body is complete: what is left is the last row. */
void csv_parse_end(struct csv *c);

/* ---- csv_cells.c ---- */
/* Unquoted cells, one after the other: the hot loop. Goes from mark to mark, so that no cell waits
 * for the parse of the one before. Leaves the reader at the first cell with a quote in it, or in
 * the cell that the limit cuts. */
void csv_plain_cells(struct csv *c, size_t limit);
/* The plain cell from c->cell to `end` is complete. */
void csv_plain_push(struct csv *c, size_t end);
/* Likewise the quoted cell whose closing quote is at `quote`. */
void csv_quoted_push(struct csv *c, size_t quote);
/* The cell just pushed is followed by the byte at `end`: delimiter or line end. */
void csv_cell_end(struct csv *c, size_t end);
/* The row ends at `end` (its line end excluded); reading goes on at `next`. */
void csv_row_end(struct csv *c, size_t end, size_t next);

/* ---- csv_faults.c ---- */
/* Something is wrong `offset` bytes into the data. After a fatal fault nothing more is read. */
void csv_fault(struct csv *c, size_t offset, bool fatal, const char *text);
/* A fault of the row at hand, told once a row: nothing more is read, unless the reader is lenient.
 */
void csv_row_fault(struct csv *c, size_t offset, const char *text);
void csv_row_too_long(struct csv *c);
void csv_cell_too_long(struct csv *c);
void csv_too_many_cells(struct csv *c);
void csv_out_of_memory(struct csv *c);

#endif
