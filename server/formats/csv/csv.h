/* The incremental reader of separated text. The caller passes a body in pieces; the reader delivers
 * rows of cells. The rows do not depend on how the body is divided into pieces.
 *
 * Quoting follows RFC 4180; lines end in LF, CRLF or CR; empty lines are skipped. A quote within an
 * unquoted cell is an ordinary character. The definition of tab-separated text (IANA) has no
 * quoting, but many programs write quotes: a quoted cell of tab-separated text must end on its
 * line, with the closing quote as its last character; otherwise it is read as plain text. Lines
 * that begin with the comment character, if one is set, are skipped before their cells are parsed.
 *
 * With the delimiter CSV_BLANKS cells are separated by runs of blanks (spaces and tabs). Blanks at
 * the beginning and at the end of a line are no cells, and a line of blanks is an empty line.
 * Blanks before a comment character are ignored.
 *
 * Faults: an unclosed quote, text after a closing quote, NUL, invalid UTF-8, too long cells and
 * rows, too many cells. Reading continues after text that follows a closing quote; a lenient reader
 * also continues after the faults listed at `lenient`. */
#ifndef FORMATS_CSV_H
#define FORMATS_CSV_H

#include "base/memory/buf.h"
#include "formats/formats.h"
#include "formats/text/scan.h"
#include "formats/text/text_input.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The delimiter that stands for runs of blanks. */
#define CSV_BLANKS ' '

/* The kind of a cell. The reader parses plain decimal numbers; their kind tells how the number is
 * written (scan_written). All other cells are texts. */
enum csv_kind {
    CSV_TEXT = 0, /* a text; `number` is not set */
    /* a number, as are all kinds below. CSV_CANONICAL and CSV_PADDED are base values, to which the
     * number of digits after the decimal point is added */
    CSV_NUMBER = SCAN_OTHERWISE,
    CSV_CANONICAL = SCAN_CANONICAL,
    CSV_PADDED = SCAN_PADDED,
    CSV_KINDS = 48
};
/* The bit of a kind in a set of kinds. */
#define CSV_KIND_BIT(kind) (UINT64_C(1) << (kind))

struct csv_cell {
    double number; /* value of the number, unless the kind is CSV_TEXT */
    /* first byte of the text: an offset in row->bytes or, if is_aside, in row->aside */
    uint32_t start;
    uint32_t length; /* length of the text in bytes, without quotes */
    uint32_t at;     /* offset in row->bytes at which the cell begins, with its opening quote */
    uint8_t kind;    /* enum csv_kind */
    bool quoted;     /* the cell was written in quotes */
    bool is_aside;   /* the cell has doubled quotes: its text is in row->aside */
};

/* A row, valid during the call of the handler. It has at least one cell. */
struct csv_row {
    const char *bytes;            /* the row as written, without its line end */
    const char *aside;            /* the texts of the cells with doubled quotes */
    const struct csv_cell *cells; /* [n_cells] */
    size_t n_cells;
    /* bitwise AND of the kinds of all cells: has the bit CSV_CANONICAL if all cells are
     * canonical */
    unsigned common;
    size_t size;  /* length of `bytes` */
    int64_t line; /* line of the first byte, from 1 */
};

static inline const char *csv_cell_text(const struct csv_row *row, const struct csv_cell *cell) {
    return (cell->is_aside ? row->aside : row->bytes) + cell->start;
}
/* Returns the text of cell i without the spaces and tabs at its ends. */
static inline struct text csv_cell_trimmed(const struct csv_row *row, size_t i) {
    return text_trim(csv_cell_text(row, &row->cells[i]), row->cells[i].length);
}
/* Sets the line and the column (in bytes), both from 1, of the byte at `offset` in the row. */
void csv_row_place(const struct csv_row *row, size_t offset, int64_t *line, int64_t *column);
/* Sets the line and the column of cell i, or of the row's end if i == n_cells. */
void csv_cell_place(const struct csv_row *row, size_t i, int64_t *line, int64_t *column);

struct csv_handler {
    /* Takes a row. Returns false to stop reading. */
    bool (*row)(void *arg, const struct csv_row *row);
    /* Reports a fault. The text is valid during the call. No row is delivered after a fatal fault.
     * NULL: faults are not reported. */
    void (*fault)(void *arg, int64_t line, int64_t column, bool fatal, const char *text);
    void *arg; /* argument of `row` and `fault` */
};

/* The place of a fault. */
struct csv_place {
    int64_t row_line;  /* line of the row; 0: there was no fault */
    int64_t line;      /* line of the fault */
    size_t at;         /* offset of the fault in the row */
    size_t line_start; /* offset of its line in the row */
};

/* All members but `comment` and `lenient` are private. Offsets count from the start of in.data. */
struct csv {
    struct csv_handler handler;
    struct csv_place place; /* of the last fault */
    char delimiter;         /* CSV_BLANKS: runs of blanks */
    /* set after csv_init: lines that begin with this character are comments; '\0': there is no
     * comment character */
    char comment;
    int64_t comments; /* number of lines that begin with `comment` */
    /* set by csv_skip: number of lines at the beginning that are still to be skipped */
    int64_t skip;
    /* set after csv_init: a row with invalid UTF-8, a too long cell or too many cells is reported
     * and delivered, and reading continues */
    bool lenient;
    bool faulty;            /* a fault listed at `lenient` was reported for the current row */
    size_t max_cell;        /* limit of the length of a cell in bytes */
    size_t max_cells;       /* limit of the number of cells in a row */
    int mode;               /* enum csv_mode of csv_reader.h: the state of the automaton */
    struct text_input in;   /* the current row and the bytes after it */
    size_t row;             /* start of the current row */
    size_t cell;            /* start of the current cell */
    size_t scan;            /* the next byte to scan */
    bool doubled;           /* the current cell has doubled quotes */
    bool quotes;            /* the current row has a quoted cell */
    bool stopped;           /* after a fatal fault, or because the handler returned false */
    bool no_memory;         /* stopped because memory is exhausted */
    int64_t line;           /* line of the first byte of the current row */
    struct csv_cell *cells; /* cells of the current row so far */
    unsigned common;        /* bitwise AND of the kinds of these cells */
    size_t n_cells, cells_capacity;
    struct buf aside; /* unescaped texts of the current row */
};

void csv_init(struct csv *c, char delimiter, size_t max_cell, size_t max_cells,
              const struct csv_handler *handler);
void csv_done(struct csv *c);
/* Skips the first n lines of the body. Quotes have no meaning in them. Call it before csv_feed. */
void csv_skip(struct csv *c, int64_t n);
/* Return false if reading stopped: because of a fatal fault, the handler, or a lack of memory. A
 * byte order mark is skipped. */
bool csv_feed(struct csv *c, const char *bytes, size_t n);
/* Ends the body. The last row may lack a line end. */
bool csv_end(struct csv *c);

#endif
