/* The incremental reader of separated text. Bytes are gathered in `data`, so that a row is always contiguous and words may be read past its end; a slice at a time is checked
 * to be text and then cut into cells. A number is parsed where its cell is found: the parse finds the cell's end on the way. */
#include "wire/syntax/csv.h"
#include "base/utf8.h"
#include "wire/syntax/csv_text.h"
#include "wire/syntax/scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLICE = 64 * 1024, SLACK = 64, FIRST_BYTES = 4096, FIRST_CELLS = 64 };

enum mode {
    MODE_CELL,   /* at the first byte of a cell: scan == cell */
    MODE_PLAIN,  /* within an unquoted cell, or in what follows a closing quote wrongly */
    MODE_QUOTED, /* within quotes */
    MODE_CLOSED, /* behind a quote that closes the cell or is the first of two */
    MODE_STRAY,  /* in the text after a closing quote, which was a fault */
    MODE_LF,     /* behind a CR: a LF belongs to it */
    MODE_COMMENT /* in a comment line */
};

void csv_init(struct csv *c, char delimiter, size_t max_cell, size_t max_cells, const struct csv_handler *handler) {
    *c = (struct csv){.handler = *handler,
                      .delimiter = delimiter,
                      .max_cell = max_cell,
                      .max_cells = max_cells,
                      .mode = MODE_CELL,
                      .line = 1,
                      .common = ~0u};
}

void csv_done(struct csv *c) {
    free(c->data);
    free(c->cells);
    buf_done(&c->aside);
}

/* ---- places and faults -------------------------------------------------------------------------------------------------------------- */
/* Line ends in a text; *last: offset behind the last one (0: none). A CR and LF are one. */
static int64_t line_ends(const char *text, size_t n, size_t *last) {
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

void csv_row_place(const struct csv_row *row, size_t offset, int64_t *line, int64_t *column) {
    size_t last = 0;
    *line = row->line + line_ends(row->bytes, offset, &last);
    *column = (int64_t)(offset - last) + 1;
}

void csv_cell_place(const struct csv_row *row, size_t i, int64_t *line, int64_t *column) {
    csv_row_place(row, i < row->n_cells ? row->cells[i].at : row->size, line, column);
}

static void fault(struct csv *c, size_t offset, bool fatal, const char *text) {
    const struct csv_row row = {.bytes = c->data + c->row, .line = c->line};
    int64_t line = 0, column = 0;
    csv_row_place(&row, offset - c->row, &line, &column);
    c->stopped |= fatal;
    if (c->handler.fault != NULL) {
        c->handler.fault(c->handler.arg, line, column, fatal, text);
    }
}

static void out_of_memory(struct csv *c) {
    c->stopped = true;
    c->no_memory = true;
}

_Static_assert(CSV_TEXT == 0 && (CSV_NUMBER & CSV_CANONICAL) == 0 && (CSV_PADDED & CSV_CANONICAL) == 0 && CSV_PADDED + 15 < CSV_KINDS,
               "kinds are computed");

/* ---- cells and rows ----------------------------------------------------------------------------------------------------------------- */
static bool cells_grow(struct csv *c) {
    const size_t capacity = c->cells_capacity > 0 ? 2 * c->cells_capacity : FIRST_CELLS;
    struct csv_cell *grown = realloc(c->cells, capacity * sizeof *grown);
    if (grown == NULL) {
        out_of_memory(c);
        return false;
    }
    c->cells = grown;
    c->cells_capacity = capacity;
    return true;
}

SCAN_INLINE struct csv_cell *cell_new(struct csv *c) {
    if (SCAN_UNLIKELY(c->n_cells == c->cells_capacity) && !cells_grow(c)) {
        return NULL;
    }
    return &c->cells[c->n_cells++];
}

/* A fault of the row at hand, told once a row: nothing more is read, unless the reader is lenient. */
static void row_fault(struct csv *c, size_t offset, const char *text) {
    if (!c->faulty) {
        c->faulty = c->lenient;
        fault(c, offset, !c->lenient, text);
    }
}

static void too_many(struct csv *c) {
    char text[80];
    snprintf(text, sizeof text, "row has more than %zu cells", c->max_cells);
    row_fault(c, c->cell, text);
    c->n_cells--; /* the next one takes its place */
}

/* The plain cell from c->cell to `end` is complete. */
static void plain_push(struct csv *c, size_t end) {
    struct csv_cell *cell = cell_new(c);
    if (cell == NULL) {
        return;
    }
    const uint32_t at = (uint32_t)(c->cell - c->row);
    *cell = (struct csv_cell){.start = at, .length = (uint32_t)(end - c->cell), .at = at, .kind = CSV_TEXT};
    unsigned written = 0;
    if (scan_number(c->data + c->cell, &cell->number, &written) == cell->length && cell->length > 0) {
        cell->kind = (uint8_t)written;
    }
    c->common &= cell->kind;
}

/* Likewise the quoted cell whose closing quote is at `quote`. */
static void quoted_push(struct csv *c, size_t quote) {
    struct csv_cell *cell = cell_new(c);
    if (cell == NULL) {
        return;
    }
    const char *text = c->data + c->cell + 1;
    size_t n = quote - c->cell - 1;
    const uint32_t at = (uint32_t)(c->cell - c->row);
    *cell = (struct csv_cell){.start = at + 1, .length = (uint32_t)n, .at = at, .kind = CSV_TEXT, .quoted = true};
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
        out_of_memory(c);
    }
}

static void row_too_long(struct csv *c) {
    const bool quoted = c->mode == MODE_QUOTED || c->mode == MODE_CLOSED;
    fault(c, c->row, true, quoted ? "row is longer than 16 MiB: is a quote never closed?" : "row is longer than 16 MiB");
}

/* The row ends at `end` (its line end excluded); reading goes on at `next`. */
static void row_end(struct csv *c, size_t end, size_t next) {
    const struct csv_row row = {.bytes = c->data + c->row,
                                .aside = c->aside.data != NULL ? c->aside.data : "",
                                .cells = c->cells,
                                .n_cells = c->n_cells,
                                .common = c->common,
                                .size = end - c->row,
                                .line = c->line};
    if (row.size > WIRE_MAX_ROW) {
        row_too_long(c);
    }
    if (end > c->row && !c->stopped && !c->handler.row(c->handler.arg, &row)) {
        c->stopped = true;
    }
    size_t last = 0;
    c->line += 1 + (c->quotes ? line_ends(row.bytes, row.size, &last) : 0);
    c->row = c->cell = c->scan = next;
    c->n_cells = 0;
    c->common = ~0u;
    c->aside.size = 0;
    c->quotes = c->faulty = false;
    c->mode = MODE_CELL;
}

/* The cell just pushed is followed by the byte at `end`: delimiter or line end. */
static void cell_end(struct csv *c, size_t end) {
    const char t = c->data[end];
    if (t == c->delimiter) {
        c->cell = c->scan = end + 1;
        c->mode = MODE_CELL;
        if (c->n_cells >= c->max_cells) {
            too_many(c);
        }
        return;
    }
    row_end(c, end, end + 1);
    if (t == '\r') {
        c->mode = MODE_LF;
    }
}

/* The row that begins here is a comment. May look into the slack. */
SCAN_INLINE bool is_comment(const struct csv *c) {
    return c->comment != '\0' && c->data[c->row] == c->comment;
}

/* ---- the automaton ------------------------------------------------------------------------------------------------------------------ */
/* Room for the cells that a block of 64 bytes may end, so that the hot loop need not ask. */
static bool cells_reserve(struct csv *c) {
    while (c->cells_capacity < c->n_cells + 64) {
        if (!cells_grow(c)) {
            return false;
        }
    }
    return true;
}

/* The unquoted cells of a block: data[block … block + 63], `marks` its delimiters, line ends and quotes. Stops behind the last one, and where something else must decide (a quote, a
 * long cell, a CR, too many cells); false then. c->cell is the start of the next cell. */
static bool block_cells(struct csv *c, size_t block, uint64_t marks) {
    const char *data = c->data;
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
        *cell++ = (struct csv_cell){.number = number, .start = at, .length = (uint32_t)n, .at = at, .kind = (uint8_t)kind};
        start = end + 1;
        if (SCAN_LIKELY(mark == delimiter) && SCAN_LIKELY(--left > 0)) {
            continue;
        }
        c->n_cells = (size_t)(cell - c->cells);
        c->common = common;
        cell_end(c, end);
        if (mark != '\n' || c->stopped || SCAN_UNLIKELY(is_comment(c))) {
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

/* Unquoted cells, one after the other: the hot loop. Goes from mark to mark, so that no cell waits for the parse of the one before. Leaves the reader at the first cell with
 * a quote in it, or in the cell that the limit cuts. */
static void plain_cells(struct csv *c, size_t limit) {
    size_t block = c->cell;
    bool go_on = true;
    while (go_on && block < limit && c->cell - c->row <= WIRE_MAX_ROW) {
        uint64_t marks = scan_marks(c->data + block, c->delimiter, '\n', '\r', '"'); /* may look into the slack */
        if (limit - block < 64) {
            marks &= (UINT64_C(1) << (limit - block)) - 1;
        }
        if (block - c->cell > c->max_cell || !cells_reserve(c)) {
            break;
        }
        go_on = block_cells(c, block, marks);
        block += 64;
    }
    if (go_on && !c->stopped && c->cell < limit) { /* nothing but plain text up to here */
        c->mode = MODE_PLAIN;
        c->scan = block < limit ? block : limit;
        return;
    }
    c->scan = c->cell;
}

/* Offset of the next delimiter or line end in data[from … limit - 1], or limit. */
static size_t plain_scan(const struct csv *c, size_t from, size_t limit) {
    const uint64_t delimiter = scan_repeat(c->delimiter), lf = scan_repeat('\n'), cr = scan_repeat('\r');
    for (size_t at = from; at < limit; at += 8) { /* may look into the slack */
        const uint64_t w = scan_load(c->data + at);
        const uint64_t marks = scan_equal(w, delimiter) | scan_equal(w, lf) | scan_equal(w, cr);
        if (marks != 0) {
            const size_t found = at + scan_first(marks);
            return found < limit ? found : limit;
        }
    }
    return limit;
}

/* Offset of the next quote, in tab-separated text also of the next line end; or limit. */
static size_t quoted_scan(const struct csv *c, size_t from, size_t limit) {
    if (c->delimiter != '\t') {
        const char *quote = memchr(c->data + from, '"', limit - from);
        return quote != NULL ? (size_t)(quote - c->data) : limit;
    }
    size_t at = from;
    while (at < limit && c->data[at] != '"' && c->data[at] != '\n' && c->data[at] != '\r') {
        at++;
    }
    return at;
}

static void cell_too_long(struct csv *c) {
    char text[160];
    snprintf(text, sizeof text, "cell is longer than %zu bytes%s", c->max_cell,
             c->mode == MODE_QUOTED || c->mode == MODE_CLOSED ? ": is its quote never closed?" : "");
    row_fault(c, c->cell, text);
}

/* A cell of tab-separated text that begins with a quote and turns out not to be quoted: read it again as plain text. */
static void as_plain(struct csv *c) {
    c->mode = MODE_PLAIN;
    c->scan = c->cell;
}

static void step_cell(struct csv *c, size_t limit) {
    c->doubled = false;
    if (c->cell == c->row && is_comment(c)) {
        c->comments++;
        c->mode = MODE_COMMENT;
        return;
    }
    if (c->data[c->cell] == '"') {
        c->mode = MODE_QUOTED;
        c->scan = c->cell + 1;
        return;
    }
    plain_cells(c, limit);
    const bool comment = c->cell == c->row && is_comment(c);
    if (!c->stopped && c->mode == MODE_CELL && c->cell < limit && c->data[c->cell] != '"' && !comment) {
        c->mode = MODE_PLAIN; /* a quote within it */
    }
}

static void step_plain(struct csv *c, size_t limit) {
    c->scan = plain_scan(c, c->scan, limit);
    if (c->scan - c->cell > c->max_cell) {
        cell_too_long(c);
    }
    if (c->scan < limit && !c->stopped) {
        plain_push(c, c->scan);
        cell_end(c, c->scan);
    }
}

static void step_quoted(struct csv *c, size_t limit) {
    c->scan = quoted_scan(c, c->scan, limit);
    if (c->scan - c->cell > c->max_cell + 1) {
        cell_too_long(c);
    }
    if (c->scan < limit && !c->stopped) {
        if (c->data[c->scan] != '"') {
            as_plain(c);
            return;
        }
        c->scan++;
        c->mode = MODE_CLOSED;
    }
}

static void step_closed(struct csv *c) {
    const char t = c->data[c->scan];
    if (t == '"') {
        c->doubled = true;
        c->scan++;
        c->mode = MODE_QUOTED;
    } else if (t == c->delimiter || t == '\n' || t == '\r') {
        quoted_push(c, c->scan - 1);
        cell_end(c, c->scan);
    } else if (c->delimiter == '\t') {
        as_plain(c);
    } else {
        fault(c, c->scan, false, "text after a closing quote: quotes within a quoted cell are doubled");
        c->mode = MODE_STRAY;
    }
}

static void step_stray(struct csv *c, size_t limit) {
    c->scan = plain_scan(c, c->scan, limit);
    if (c->scan - c->cell > c->max_cell) {
        cell_too_long(c);
    }
    if (c->scan < limit && !c->stopped) {
        c->quotes = true;
        plain_push(c, c->scan);
        cell_end(c, c->scan);
    }
}

static void step_lf(struct csv *c) {
    if (c->data[c->scan] == '\n') {
        c->scan++;
    }
    c->row = c->cell = c->scan;
    c->mode = MODE_CELL;
}

/* Nothing of the line is kept, however long it is. */
static void step_comment(struct csv *c, size_t limit) {
    size_t at = c->scan;
    while (at < limit && c->data[at] != '\n' && c->data[at] != '\r') {
        at++;
    }
    if (at < limit) {
        c->mode = c->data[at] == '\r' ? MODE_LF : MODE_CELL;
        c->line++;
        at++;
    }
    c->row = c->cell = c->scan = at;
}

/* Cuts data[c->scan … limit - 1] into cells, as far as that is decided. */
static void parse(struct csv *c, size_t limit) {
    while (!c->stopped && c->scan < limit) {
        switch ((enum mode)c->mode) {
        case MODE_CELL:
            step_cell(c, limit);
            break;
        case MODE_PLAIN:
            step_plain(c, limit);
            break;
        case MODE_QUOTED:
            step_quoted(c, limit);
            break;
        case MODE_CLOSED:
            step_closed(c);
            break;
        case MODE_STRAY:
            step_stray(c, limit);
            break;
        case MODE_LF:
            step_lf(c);
            break;
        case MODE_COMMENT:
            step_comment(c, limit);
            break;
        }
    }
}

/* ---- bytes in ----------------------------------------------------------------------------------------------------------------------- */
static bool data_append(struct csv *c, const char *bytes, size_t n) {
    if (c->size + n + SLACK > c->capacity) {
        size_t capacity = c->capacity > 0 ? c->capacity : FIRST_BYTES;
        while (capacity < c->size + n + SLACK) {
            capacity *= 2;
        }
        char *grown = realloc(c->data, capacity);
        if (grown == NULL) {
            out_of_memory(c);
            return false;
        }
        c->data = grown;
        c->capacity = capacity;
    }
    memcpy(c->data + c->size, bytes, n);
    c->size += n;
    memset(c->data + c->size, 0, SLACK);
    return true;
}

/* Keeps the first bytes in mind and skips a byte order mark. false: too few bytes to tell. */
static bool start(struct csv *c, bool final) {
    static const char mark[3] = "\xEF\xBB\xBF";
    const size_t n = c->size < sizeof c->head ? c->size : sizeof c->head;
    memcpy(c->head, c->data, n);
    if (!final && c->size < sizeof c->head) {
        return false;
    }
    if (c->size >= sizeof mark && memcmp(c->data, mark, sizeof mark) == 0) {
        c->row = c->cell = c->scan = c->checked = sizeof mark;
    }
    c->started = true;
    return true;
}

/* Cuts what is checked into cells, each row no further than it may go: what is found beyond must not hang on the cuts. */
static void parse_checked(struct csv *c) {
    while (!c->stopped && c->scan < c->checked) {
        const size_t most = c->row + WIRE_MAX_ROW + 1, row = c->row;
        parse(c, c->checked < most ? c->checked : most);
        if (!c->stopped && c->row == row && c->checked >= most) {
            row_too_long(c);
        }
    }
}

/* The byte behind what is checked is no text. Of a lenient reader it is one of a row with a fault, or of a comment; but a body with NUL is no text at all. */
static void wrong_byte(struct csv *c, const char *wrong) {
    const char *foreign = csv_text_foreign(c->head);
    if (foreign != NULL || c->data[c->checked] == '\0') {
        fault(c, c->checked, true, foreign != NULL ? foreign : wrong);
    } else if (c->mode != MODE_COMMENT || !c->lenient) {
        row_fault(c, c->checked, wrong);
    }
    c->checked++;
}

/* Checks what has come to be text, cuts it into cells as far as it is, and moves the rest of the last row to the front. */
static void digest(struct csv *c, bool final) {
    if (!c->started && !start(c, final)) {
        return;
    }
    const char *wrong = NULL;
    do {
        wrong = NULL;
        c->checked += csv_text_check(c->data + c->checked, c->size - c->checked, final, &wrong);
        parse_checked(c);
        if (!c->stopped && wrong != NULL) {
            wrong_byte(c, wrong);
        }
    } while (!c->stopped && wrong != NULL);
    if (c->row > 0 && !c->stopped) {
        const size_t used = c->row;
        memmove(c->data, c->data + used, c->size - used + SLACK);
        c->size -= used;
        c->checked -= used;
        c->cell -= used;
        c->scan -= used;
        c->row = 0;
    }
}

bool csv_feed(struct csv *c, const char *bytes, size_t n) {
    while (n > 0 && !c->stopped) {
        const size_t take = n < SLICE ? n : SLICE;
        if (data_append(c, bytes, take)) {
            digest(c, false);
        }
        bytes += take;
        n -= take;
    }
    return !c->stopped;
}

/* The last cell, which no delimiter or line end follows. */
static void last_cell(struct csv *c) {
    switch ((enum mode)c->mode) {
    case MODE_LF:
    case MODE_COMMENT:
        return;
    case MODE_QUOTED:
        fault(c, c->cell, true, "quote is never closed");
        return;
    case MODE_CELL:
        if (c->n_cells == 0) {
            return;
        }
        plain_push(c, c->size); /* the line ends with a delimiter: an empty cell */
        break;
    case MODE_PLAIN:
    case MODE_STRAY:
        plain_push(c, c->size);
        break;
    case MODE_CLOSED:
        quoted_push(c, c->size - 1);
        break;
    }
    row_end(c, c->size, c->size);
}

bool csv_end(struct csv *c) {
    if (!c->stopped && data_append(c, "", 0)) {
        digest(c, true);
    }
    while (!c->stopped && c->mode == MODE_QUOTED && c->delimiter == '\t') {
        as_plain(c);
        parse(c, c->size);
    }
    if (!c->stopped) {
        last_cell(c);
    }
    return !c->stopped;
}
