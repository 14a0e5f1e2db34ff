/* The incremental reader of separated text: fed bytes in any cuts, gives rows of cells, and they
 * depend on the bytes only.
 *
 * RFC 4180 quoting; lines end in LF, CRLF or CR; empty lines are skipped. A quote within an
 * unquoted cell is an ordinary character. Tab-separated text has, by its own rule (IANA), no
 * quoting, but much of it is written with: there a quoted cell counts as one only if its closing
 * quote ends the cell on the same line, otherwise it is plain text. Lines that begin with a comment
 * character, if one is set, are passed over before anything in them counts. Faults: unclosed quote,
 * text after a closing quote, NUL, invalid UTF-8 (UTF-16 and compressed bodies are told by their
 * first bytes), too long cells and rows, too many cells. After a text behind a quote reading goes
 * on; a lenient reader goes on after some others, too. */
#ifndef FORMATS_CSV_H
#define FORMATS_CSV_H

#include "base/buf.h"
#include "formats/formats.h"
#include "formats/text/scan.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a cell is. A plain decimal is known as a number, and by how it is written (scan_written);
 * the others are texts to the reader. */
enum csv_kind {
    CSV_TEXT = 0,                /* anything */
    CSV_NUMBER = SCAN_OTHERWISE, /* `number` holds it, here and below. The number of digits behind
                                    the point is added to these two: */
    CSV_CANONICAL = SCAN_CANONICAL,
    CSV_PADDED = SCAN_PADDED,
    CSV_KINDS = 48
};
/* A set of kinds has this bit for one. */
#define CSV_KIND_BIT(kind) (UINT64_C(1) << (kind))

struct csv_cell {
    double number;   /* of all kinds but CSV_TEXT */
    uint32_t start;  /* of the text: in the row's bytes, or in `aside` */
    uint32_t length; /* of the text, without quotes */
    uint32_t at;     /* of the cell's first byte in the row, its quote included: its place */
    uint8_t kind;    /* enum csv_kind */
    bool quoted;     /* was written in quotes */
    bool is_aside;   /* had doubled quotes: its text is in the row's `aside` */
};

/* A row as the handler gets it; valid during the call. At least one cell. */
struct csv_row {
    const char *bytes;            /* as written, without the line's end */
    const char *aside;            /* texts of the cells that had doubled quotes */
    const struct csv_cell *cells; /* [n_cells] */
    size_t n_cells;
    unsigned
        common;  /* the bits that all their kinds have: CSV_CANONICAL is one if all are canonical */
    size_t size; /* of bytes */
    int64_t line; /* of its first byte, counted from 1 */
};

static inline const char *csv_cell_text(const struct csv_row *row, const struct csv_cell *cell) {
    return (cell->is_aside ? row->aside : row->bytes) + cell->start;
}
/* The text of cell i without the spaces and tabs around it. */
static inline struct text csv_cell_trimmed(const struct csv_row *row, size_t i) {
    return text_trim(csv_cell_text(row, &row->cells[i]), row->cells[i].length);
}
/* Line and column (bytes, from 1) of the place `offset` bytes into the row. */
void csv_row_place(const struct csv_row *row, size_t offset, int64_t *line, int64_t *column);
/* Place of cell i, or of the row's end when i == n_cells. */
void csv_cell_place(const struct csv_row *row, size_t i, int64_t *line, int64_t *column);

struct csv_handler {
    bool (*row)(void *arg, const struct csv_row *row); /* false: stop reading */
    /* Something is wrong at this place; text lives as long as the call. After a fatal fault nothing
     * more comes. NULL: not wanted. */
    void (*fault)(void *arg, int64_t line, int64_t column, bool fatal, const char *text);
    void *arg; /* of both */
};

/* Fields are the reader's own. Offsets count from the start of `data`. */
struct csv {
    struct csv_handler handler;
    char delimiter;
    char comment;     /* set after init: lines that begin with it are no rows; '\0': all are */
    int64_t comments; /* such lines */
    bool lenient; /* set after init: a row with invalid UTF-8, a too long cell or too many cells is
                     told and given, and reading goes on */
    bool faulty;  /* such a fault of the row at hand was told */
    size_t max_cell;  /* bytes of one cell */
    size_t max_cells; /* of one row */
    int mode;         /* enum csv_mode of csv_reader.h: where the automaton stands */
    char *data; /* the row being read and what came after it; SLACK readable bytes behind `size` */
    size_t size, capacity;  /* of data */
    size_t checked;         /* bytes of data known to be text */
    size_t row;             /* start of the row */
    size_t cell;            /* start of the cell */
    size_t scan;            /* where scanning goes on within the cell */
    bool doubled;           /* the cell has doubled quotes */
    bool quotes;            /* the row has a quoted cell */
    bool started;           /* the byte order mark is behind us, or there is none */
    char head[4];           /* the first bytes of the body, to tell what it is if it is no text */
    bool stopped;           /* fatal fault, or the handler said stop */
    bool no_memory;         /* why it stopped */
    int64_t line;           /* of the row's first byte */
    struct csv_cell *cells; /* of the row so far */
    unsigned common;        /* of the row so far */
    size_t n_cells, cells_capacity;
    struct buf aside; /* unescaped texts of the row */
};

void csv_init(struct csv *c, char delimiter, size_t max_cell, size_t max_cells,
              const struct csv_handler *handler);
void csv_done(struct csv *c);
/* false: stopped (a fatal fault, the handler, no memory). A byte order mark is skipped. */
bool csv_feed(struct csv *c, const char *bytes, size_t n);
/* The body is complete: the last row, which needs no line end. */
bool csv_end(struct csv *c);

#endif
