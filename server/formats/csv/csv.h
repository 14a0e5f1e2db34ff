/* The incremental reader of separated text. It is fed a body in pieces and delivers rows of cells.
 * The rows do not depend on how the body is divided into pieces.
 *
 * Quoting follows RFC 4180; lines end in LF, CRLF or CR; empty lines are skipped. A quote within an
 * unquoted cell is an ordinary character. Tab-separated text has no quoting in its definition
 * (IANA), but many programs write quotes: a quoted cell of tab-separated text must end on its line,
 * with the closing quote as its last character; otherwise it is plain text. Lines that begin with
 * the comment character, if one is set, are skipped before anything in them is parsed.
 *
 * Faults: an unclosed quote, text after a closing quote, NUL, invalid UTF-8, too long cells and
 * rows, too many cells. Reading continues after text that follows a closing quote; a lenient reader
 * also continues after the faults listed at `lenient`. */
#ifndef FORMATS_CSV_H
#define FORMATS_CSV_H

#include "base/buf.h"
#include "formats/formats.h"
#include "formats/text/scan.h"
#include "formats/text/text_input.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The kind of a cell. A plain decimal number is parsed by the reader, and its kind says how it is
 * written (scan_written). All other cells are texts. */
enum csv_kind {
    CSV_TEXT = 0, /* anything */
    /* this kind and those below have `number`. The number of digits after the point is added to
     * these two: */
    CSV_NUMBER = SCAN_OTHERWISE,
    CSV_CANONICAL = SCAN_CANONICAL,
    CSV_PADDED = SCAN_PADDED,
    CSV_KINDS = 48
};
/* The bit of a kind in a set of kinds. */
#define CSV_KIND_BIT(kind) (UINT64_C(1) << (kind))

struct csv_cell {
    double number;   /* the value, unless the kind is CSV_TEXT */
    uint32_t start;  /* first byte of the text: an offset in the row's bytes, or in `aside` */
    uint32_t length; /* bytes of the text, without quotes */
    uint32_t at;     /* offset of the cell in the row, its opening quote included */
    uint8_t kind;    /* enum csv_kind */
    bool quoted;     /* the cell was written in quotes */
    bool is_aside;   /* the cell has doubled quotes: its text is in the row's `aside` */
};

/* A row, valid during the call of the handler. It has at least one cell. */
struct csv_row {
    const char *bytes;            /* the row as written, without its line end */
    const char *aside;            /* the texts of the cells with doubled quotes */
    const struct csv_cell *cells; /* [n_cells] */
    size_t n_cells;
    unsigned common; /* bits that all kinds have: CSV_CANONICAL if all cells are canonical */
    size_t size;     /* of bytes */
    int64_t line;    /* line of the first byte, from 1 */
};

static inline const char *csv_cell_text(const struct csv_row *row, const struct csv_cell *cell) {
    return (cell->is_aside ? row->aside : row->bytes) + cell->start;
}
/* The text of cell i without the spaces and tabs around it. */
static inline struct text csv_cell_trimmed(const struct csv_row *row, size_t i) {
    return text_trim(csv_cell_text(row, &row->cells[i]), row->cells[i].length);
}
/* Sets the line and the column (in bytes), both from 1, of the byte `offset` of the row. */
void csv_row_place(const struct csv_row *row, size_t offset, int64_t *line, int64_t *column);
/* Sets the line and the column of cell i, or of the row's end if i == n_cells. */
void csv_cell_place(const struct csv_row *row, size_t i, int64_t *line, int64_t *column);

struct csv_handler {
    bool (*row)(void *arg, const struct csv_row *row); /* false: stop reading */
    /* Reports a fault. The text is valid during the call. Nothing is delivered after a fatal fault.
     * NULL: faults are not reported. */
    void (*fault)(void *arg, int64_t line, int64_t column, bool fatal, const char *text);
    void *arg; /* of both */
};

/* All members but `comment` and `lenient` are private. Offsets count from the start of in.data. */
struct csv {
    struct csv_handler handler;
    char delimiter;
    /* set after init: lines that begin with it are comments; '\0': there is no comment character */
    char comment;
    int64_t comments; /* such lines */
    /* set after init: a row with invalid UTF-8, a too long cell or too many cells is reported and
     * delivered, and reading continues */
    bool lenient;
    bool faulty;            /* such a fault of the present row was reported */
    size_t max_cell;        /* limit of the bytes of a cell */
    size_t max_cells;       /* of one row */
    int mode;               /* enum csv_mode of csv_reader.h: the state of the automaton */
    struct text_input in;   /* the present row and the bytes after it */
    size_t row;             /* start of the present row */
    size_t cell;            /* start of the present cell */
    size_t scan;            /* scanning continues here */
    bool doubled;           /* the present cell has doubled quotes */
    bool quotes;            /* the present row has a quoted cell */
    bool stopped;           /* after a fatal fault, or because the handler returned false */
    bool no_memory;         /* stopped because memory is exhausted */
    int64_t line;           /* line of the first byte of the present row */
    struct csv_cell *cells; /* cells of the present row so far */
    unsigned common;        /* `common` of these cells */
    size_t n_cells, cells_capacity;
    struct buf aside; /* unescaped texts of the present row */
};

void csv_init(struct csv *c, char delimiter, size_t max_cell, size_t max_cells,
              const struct csv_handler *handler);
void csv_done(struct csv *c);
/* false: stopped by a fatal fault, the handler, or a lack of memory. A byte order mark is skipped.
 */
bool csv_feed(struct csv *c, const char *bytes, size_t n);
/* Ends the body. The last row needs no line end. */
bool csv_end(struct csv *c);

#endif
