/* The incremental reader of separated text. Bytes are gathered in `data`, so that a row is always
 * contiguous and words may be read past its end; a slice at a time is checked to be text and then
 * cut into cells (csv_automaton.c). */
#include "base/array.h"
#include "formats/csv/csv_reader.h"
#include "formats/csv/csv_text.h"

#include <stdlib.h>
#include <string.h>

enum { SLICE = 64 * 1024, SLACK = 64, FIRST_BYTES = 4096 };

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

void csv_done(struct csv *c) {
    free(c->data);
    free(c->cells);
    buf_done(&c->aside);
}

/* ---- bytes in ---- */
static bool data_append(struct csv *c, const char *bytes, size_t n) {
    while (c->size + n + SLACK > c->capacity) {
        if (!array_grow(&c->data, &c->capacity, FIRST_BYTES, 1)) {
            csv_out_of_memory(c);
            return false;
        }
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

/* Cuts what is checked into cells, each row no further than it may go: what is found beyond must
 * not hang on the cuts. */
static void parse_checked(struct csv *c) {
    while (!c->stopped && c->scan < c->checked) {
        const size_t most = c->row + TABLE_MAX_ROW + 1, row = c->row;
        csv_parse(c, c->checked < most ? c->checked : most);
        if (!c->stopped && c->row == row && c->checked >= most) {
            csv_row_too_long(c);
        }
    }
}

/* The byte behind what is checked is no text. Of a lenient reader it is one of a row with a fault,
 * or of a comment; but a body with NUL is no text at all. */
static void wrong_byte(struct csv *c, const char *wrong) {
    const char *foreign = csv_text_foreign(c->head);
    if (foreign != NULL || c->data[c->checked] == '\0') {
        csv_fault(c, c->checked, true, foreign != NULL ? foreign : wrong);
    } else if (c->mode != MODE_COMMENT || !c->lenient) {
        csv_row_fault(c, c->checked, wrong);
    }
    c->checked++;
}

/* Checks what has come to be text, cuts it into cells as far as it is, and moves the rest of the
 * last row to the front. */
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

bool csv_end(struct csv *c) {
    if (!c->stopped && data_append(c, "", 0)) {
        digest(c, true);
    }
    csv_parse_end(c);
    return !c->stopped;
}
