/* Completes cells and rows of separated text, and reads unquoted cells in a fast loop. A number is
 * parsed at once, because the parser also finds the end of the cell. */
#include "base/memory/array.h"
#include "formats/csv/csv_reader.h"
#include "formats/text/scan.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CELLS = 64 };

_Static_assert(CSV_TEXT == 0 && (CSV_NUMBER & CSV_CANONICAL) == 0 &&
                   (CSV_PADDED & CSV_CANONICAL) == 0 && CSV_PADDED + 15 < CSV_KINDS,
               "kinds are computed");

/* ---- cells and rows ---- */
static bool cells_grow(struct csv *c) {
    const bool grown = array_grow(&c->cells, &c->cells_capacity, FIRST_CELLS, sizeof *c->cells);
    if (!grown) {
        csv_out_of_memory(c);
    }
    return grown;
}

SCAN_INLINE struct csv_cell *cell_new(struct csv *c) {
    if (SCAN_UNLIKELY(c->n_cells == c->cells_capacity) && !cells_grow(c)) {
        return NULL;
    }
    return &c->cells[c->n_cells++];
}

void csv_plain_push(struct csv *c, size_t end) {
    struct csv_cell *cell = cell_new(c);
    if (cell == NULL) {
        return;
    }
    const uint32_t at = (uint32_t)(c->cell - c->row);
    *cell = (struct csv_cell){.start = at,
                              .length = (uint32_t)(end - c->cell),
                              .at = at,
                              .kind = CSV_TEXT};
    unsigned written = 0;
    if (scan_number(c->in.data + c->cell, &cell->number, &written) == cell->length &&
        cell->length > 0) {
        cell->kind = (uint8_t)written;
    }
    c->common &= cell->kind;
}

void csv_quoted_push(struct csv *c, size_t quote) {
    struct csv_cell *cell = cell_new(c);
    if (cell == NULL) {
        return;
    }
    const char *text = c->in.data + c->cell + 1;
    size_t n = quote - c->cell - 1;
    const uint32_t at = (uint32_t)(c->cell - c->row);
    *cell = (struct csv_cell){
        .start = at + 1, .length = (uint32_t)n, .at = at, .kind = CSV_TEXT, .quoted = true};
    c->quotes = true;
    c->common = CSV_TEXT;
    if (!c->doubled) {
        return;
    }
    cell->is_aside = true;
    cell->start = (uint32_t)c->aside.size;
    while (n > 0) {
        const char *two = memchr(text, '"', n);
        const size_t upto = two != NULL ? (size_t)(two - text) + 1 : n;
        buf_append(&c->aside, text, upto);
        const size_t used = two != NULL ? upto + 1 : upto;
        text += used;
        n -= used;
    }
    cell->length = (uint32_t)c->aside.size - cell->start;
    if (c->aside.failed) {
        csv_out_of_memory(c);
    }
}

void csv_row_end(struct csv *c, size_t end, size_t next) {
    const struct csv_row row = {.bytes = c->in.data + c->row,
                                .aside = c->aside.data != NULL ? c->aside.data : "",
                                .cells = c->cells,
                                .n_cells = c->n_cells,
                                .common = c->common,
                                .size = end - c->row,
                                .line = c->line};
    if (end > c->row && !c->stopped && !c->handler.row(c->handler.arg, &row)) {
        c->stopped = true;
    }
    size_t last = 0;
    c->line += 1 + (c->quotes ? csv_line_ends(row.bytes, row.size, &last) : 0);
    c->row = c->cell = c->scan = next;
    c->n_cells = 0;
    c->common = ~0u;
    c->aside.size = 0;
    c->quotes = c->faulty = false;
    c->mode = MODE_CELL;
}

void csv_cell_end(struct csv *c, size_t end) {
    const char t = c->in.data[end];
    if (csv_is_delimiter(c, t)) {
        c->cell = c->scan = end + 1;
        c->mode = MODE_CELL;
        /* after blanks the line may end */
        if (c->n_cells >= c->max_cells && c->delimiter != CSV_BLANKS) {
            csv_too_many_cells(c);
        }
        return;
    }
    csv_row_end(c, end, end + 1);
    if (t == '\r') {
        c->mode = MODE_LF;
    }
}

/* ---- the fast loop ---- */
/* Reserves room for 64 more cells, the most that can end in a block of 64 bytes. So the fast loop
 * needs no check. */
static bool cells_reserve(struct csv *c) {
    while (c->cells_capacity < c->n_cells + 64) {
        if (!cells_grow(c)) {
            return false;
        }
    }
    return true;
}

/* Reads the unquoted cells that end in the block data[block … block + 63]. marks: bit k is set if
 * byte k of the block is a delimiter, a line end or a quote. Returns false if it stopped before the
 * last mark: at a quote, a long cell, a CR, too many cells, or because the handler stopped the
 * reader. c->cell is then the start of the next cell. */
static bool block_cells(struct csv *c, size_t block, uint64_t marks) {
    const char *data = c->in.data;
    const char delimiter = c->delimiter;
    const size_t max_cell = c->max_cell;
    struct csv_cell *cell = c->cells + c->n_cells;
    size_t start = c->cell, row = c->row, left = c->max_cells - c->n_cells;
    unsigned common = c->common;
    for (; marks != 0; marks &= marks - 1) {
        const size_t end = block + scan_lowest(marks), n = end - start;
        const char mark = data[end];
        if (SCAN_UNLIKELY(mark == '"' || n > max_cell)) {
            break;
        }
        double number = 0;
        unsigned kind = CSV_CANONICAL;
        if (n == 1 && (unsigned)(data[start] - '0') <= 9) {
            number = data[start] - '0';
        } else if (n - (data[start] == '-') <= 8) {
            kind = scan_short(data + start, n, &number, &kind) ? kind : CSV_TEXT;
        } else if (scan_number(data + start, &number, &kind) != n) {
            kind = CSV_TEXT;
        }
        const uint32_t at = (uint32_t)(start - row);
        common &= kind;
        *cell++ = (struct csv_cell){
            .number = number, .start = at, .length = (uint32_t)n, .at = at, .kind = (uint8_t)kind};
        start = end + 1;
        if (SCAN_LIKELY(mark == delimiter) && SCAN_LIKELY(--left > 0)) {
            continue;
        }
        c->n_cells = (size_t)(cell - c->cells);
        c->common = common;
        csv_cell_end(c, end);
        if (mark != '\n' || c->stopped || SCAN_UNLIKELY(csv_is_comment(c))) {
            return false;
        }
        row = start;
        cell = c->cells;
        left = c->max_cells;
        common = ~0u;
    }
    c->n_cells = (size_t)(cell - c->cells);
    c->common = common;
    c->cell = start;
    return marks == 0;
}

void csv_plain_cells(struct csv *c, size_t limit) {
    size_t block = c->cell;
    bool go_on = true;
    while (go_on && block < limit && c->cell - c->row <= TABLE_MAX_ROW) {
        uint64_t marks =
            /* scan_marks may read the slack after the data */
            scan_marks(c->in.data + block, c->delimiter, '\n', '\r', '"');
        if (limit - block < 64) {
            marks &= (UINT64_C(1) << (limit - block)) - 1;
        }
        if (block - c->cell > c->max_cell || !cells_reserve(c)) {
            break;
        }
        go_on = block_cells(c, block, marks);
        block += 64;
    }
    /* the cell that contains the limit is unquoted and incomplete */
    if (go_on && !c->stopped && c->cell < limit) {
        c->mode = MODE_PLAIN;
        c->scan = block < limit ? block : limit;
        return;
    }
    c->scan = c->cell;
}
