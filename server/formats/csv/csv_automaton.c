/* The states of the reader of separated text (enum csv_mode) and the transitions between them. */
#include "formats/csv/csv_reader.h"
#include "formats/text/scan.h"

#include <string.h>

/* Returns the offset of the next delimiter or line end in data[from … limit - 1]; limit if there
 * is none. A tab is a blank as well. */
static size_t plain_scan(const struct csv *c, size_t from, size_t limit) {
    const uint64_t delimiter = scan_repeat(c->delimiter), lf = scan_repeat('\n'),
                   cr = scan_repeat('\r'),
                   blank = c->delimiter == CSV_BLANKS ? scan_repeat('\t') : delimiter;
    /* scan_load may read the slack after the data */
    for (size_t at = from; at < limit; at += 8) {
        const uint64_t w = scan_load(c->in.data + at);
        const uint64_t marks =
            scan_equal(w, delimiter) | scan_equal(w, blank) | scan_equal(w, lf) | scan_equal(w, cr);
        if (marks != 0) {
            const size_t found = at + scan_first(marks);
            return found < limit ? found : limit;
        }
    }
    return limit;
}

/* Returns the offset of the next quote, or in tab-separated text of the next quote or line end;
 * limit if there is none. */
static size_t quoted_scan(const struct csv *c, size_t from, size_t limit) {
    if (c->delimiter != '\t') {
        const char *quote = memchr(c->in.data + from, '"', limit - from);
        return quote != NULL ? (size_t)(quote - c->in.data) : limit;
    }
    size_t at = from;
    while (at < limit && c->in.data[at] != '"' && c->in.data[at] != '\n' &&
           c->in.data[at] != '\r') {
        at++;
    }
    return at;
}

/* Reads a cell of tab-separated text again as plain text: it begins with a quote but is not a
 * quoted cell. */
static void as_plain(struct csv *c) {
    c->mode = MODE_PLAIN;
    c->scan = c->cell;
}

static void step_cell(struct csv *c, size_t limit) {
    c->doubled = false;
    if (c->cell == c->row && csv_is_comment(c)) {
        c->comments++;
        c->mode = MODE_COMMENT;
        return;
    }
    if (c->delimiter == CSV_BLANKS) {
        csv_blanks_skip(c, limit);
        return;
    }
    if (c->in.data[c->cell] == '"') {
        c->mode = MODE_QUOTED;
        c->scan = c->cell + 1;
        return;
    }
    csv_plain_cells(c, limit);
    const bool comment = c->cell == c->row && csv_is_comment(c);
    if (!c->stopped && c->mode == MODE_CELL && c->cell < limit && c->in.data[c->cell] != '"' &&
        !comment) {
        c->mode = MODE_PLAIN; /* the fast loop stopped at a quote within the cell */
    }
}

static void step_plain(struct csv *c, size_t limit) {
    c->scan = plain_scan(c, c->scan, limit);
    if (c->scan - c->cell > c->max_cell) {
        csv_cell_too_long(c);
    }
    if (c->scan < limit && !c->stopped) {
        csv_plain_push(c, c->scan);
        csv_cell_end(c, c->scan);
    }
}

static void step_quoted(struct csv *c, size_t limit) {
    c->scan = quoted_scan(c, c->scan, limit);
    if (c->scan - c->cell > c->max_cell + 1) {
        csv_cell_too_long(c);
    }
    if (c->scan < limit && !c->stopped) {
        if (c->in.data[c->scan] != '"') {
            as_plain(c);
            return;
        }
        c->scan++;
        c->mode = MODE_CLOSED;
    }
}

static void step_closed(struct csv *c) {
    const char t = c->in.data[c->scan];
    if (t == '"') {
        c->doubled = true;
        c->scan++;
        c->mode = MODE_QUOTED;
    } else if (csv_is_delimiter(c, t) || t == '\n' || t == '\r') {
        csv_quoted_push(c, c->scan - 1);
        csv_cell_end(c, c->scan);
    } else if (c->delimiter == '\t') {
        as_plain(c);
    } else {
        csv_fault(c, c->scan, false,
                  "text after a closing quote: quotes within a quoted cell are doubled");
        c->mode = MODE_STRAY;
    }
}

static void step_stray(struct csv *c, size_t limit) {
    c->scan = plain_scan(c, c->scan, limit);
    if (c->scan - c->cell > c->max_cell) {
        csv_cell_too_long(c);
    }
    if (c->scan < limit && !c->stopped) {
        c->quotes = true;
        csv_plain_push(c, c->scan);
        csv_cell_end(c, c->scan);
    }
}

static void step_lf(struct csv *c) {
    if (c->in.data[c->scan] == '\n') {
        c->scan++;
    }
    c->row = c->cell = c->scan;
    c->mode = c->skip > 0 ? MODE_SKIP : MODE_CELL;
}

/* Skips a comment, or one of the first lines. The bytes of the line are not kept, so its length has
 * no limit. */
static void step_line(struct csv *c, size_t limit) {
    size_t at = c->scan;
    while (at < limit && c->in.data[at] != '\n' && c->in.data[at] != '\r') {
        at++;
    }
    if (at < limit) {
        c->skip -= c->mode == MODE_SKIP;
        c->mode = c->in.data[at] == '\r' ? MODE_LF : c->skip > 0 ? MODE_SKIP : MODE_CELL;
        c->line++;
        at++;
    }
    c->row = c->cell = c->scan = at;
}

void csv_parse(struct csv *c, size_t limit) {
    while (!c->stopped && c->scan < limit) {
        switch ((enum csv_mode)c->mode) {
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
        case MODE_SKIP:
            step_line(c, limit);
            break;
        }
    }
}

/* Completes the last cell of a body that does not end with a line end. */
static void last_cell(struct csv *c) {
    switch ((enum csv_mode)c->mode) {
    case MODE_LF:
    case MODE_COMMENT:
    case MODE_SKIP:
        return;
    case MODE_QUOTED:
        csv_fault(c, c->cell, true, "the quote is not closed");
        return;
    case MODE_CELL:
        if (c->n_cells == 0) {
            return;
        }
        if (c->delimiter != CSV_BLANKS) {
            /* the line ends with a delimiter: the last cell is empty */
            csv_plain_push(c, c->in.size);
        }
        break;
    case MODE_PLAIN:
    case MODE_STRAY:
        csv_plain_push(c, c->in.size);
        break;
    case MODE_CLOSED:
        csv_quoted_push(c, c->in.size - 1);
        break;
    }
    csv_row_end(c, c->in.size, c->in.size);
}

void csv_parse_end(struct csv *c) {
    while (!c->stopped && c->mode == MODE_QUOTED && c->delimiter == '\t') {
        as_plain(c);
        csv_parse(c, c->in.size);
    }
    if (!c->stopped) {
        last_cell(c);
    }
}
