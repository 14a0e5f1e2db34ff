/* The incremental reader of separated text. Bytes are collected in c->in, so that a row is always
 * contiguous and 8-byte words may be read past its end. The bytes are processed in slices: each
 * slice is checked to be UTF-8 and then divided into cells (csv_automaton.c). */
#include "formats/csv/csv_reader.h"
#include "formats/csv/csv_text.h"

#include <stdlib.h>
#include <string.h>

void csv_init(struct csv *c, char delimiter, size_t max_cell, size_t max_cells,
              const struct csv_handler *handler) {
    *c = (struct csv){.handler = *handler,
                      .delimiter = delimiter,
                      .max_cell = max_cell,
                      .max_cells = max_cells,
                      .mode = MODE_CELL,
                      .line = 1,
                      .common = ~0u};
}

void csv_skip(struct csv *c, int64_t n) {
    c->skip = n;
    c->mode = n > 0 ? MODE_SKIP : MODE_CELL;
}

void csv_done(struct csv *c) {
    text_input_done(&c->in);
    free(c->cells);
    buf_done(&c->aside);
}

/* ---- input ---- */
/* Divides the checked bytes into cells. At most TABLE_MAX_ROW bytes of a row are parsed, so that
 * the faults found do not depend on how the body is divided into pieces. */
static void parse_checked(struct csv *c) {
    while (!c->stopped && c->scan < c->in.checked) {
        const size_t most = c->row + TABLE_MAX_ROW + 1, row = c->row;
        csv_parse(c, c->in.checked < most ? c->in.checked : most);
        if (!c->stopped && c->row == row && c->in.checked >= most) {
            csv_row_too_long(c);
        }
    }
}

/* Handles the byte at c->in.checked, which is not valid text. A lenient reader reports it as a
 * fault of its row, or ignores it if it is in a comment or a skipped line. A body with a NUL byte
 * is refused. */
static void wrong_byte(struct csv *c, const char *wrong) {
    if (c->in.data[c->in.checked] == '\0') {
        csv_fault(c, c->in.checked, true, wrong);
    } else if ((c->mode != MODE_COMMENT && c->mode != MODE_SKIP) || !c->lenient) {
        csv_row_fault(c, c->in.checked, wrong);
    }
    c->in.checked++;
}

/* Checks the new bytes, divides them into cells, and moves the bytes of the incomplete last row to
 * the start of the buffer. */
static void digest(struct csv *c, bool final) {
    const char *wrong = NULL;
    if (!c->in.started) {
        if (!text_input_start(&c->in, final)) {
            return;
        }
        c->row = c->cell = c->scan = c->in.checked;
    }
    do {
        wrong = text_input_check(&c->in, final);
        parse_checked(c);
        if (!c->stopped && wrong != NULL) {
            wrong_byte(c, wrong);
        }
    } while (!c->stopped && wrong != NULL);
    if (c->row > 0 && !c->stopped) {
        text_input_drop(&c->in, c->row);
        c->cell -= c->row;
        c->scan -= c->row;
        c->row = 0;
    }
}

/* Appends bytes and reads the complete rows. */
static void take(struct csv *c, const char *bytes, size_t n, bool final) {
    if (text_input_append(&c->in, bytes, n)) {
        digest(c, final);
    } else {
        csv_out_of_memory(c);
    }
}

bool csv_feed(struct csv *c, const char *bytes, size_t n) {
    while (n > 0 && !c->stopped) {
        const size_t size = n < TEXT_INPUT_SLICE ? n : TEXT_INPUT_SLICE;
        take(c, bytes, size, false);
        bytes += size;
        n -= size;
    }
    return !c->stopped;
}

bool csv_end(struct csv *c) {
    if (!c->stopped) {
        take(c, "", 0, true);
    }
    csv_parse_end(c);
    return !c->stopped;
}
