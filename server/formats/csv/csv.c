/* The incremental reader of separated text. Bytes are gathered in `data`, so that a row is always
 * contiguous and 8-byte words may be read past its end. A slice at a time is checked to be UTF-8
 * and then divided into cells (csv_automaton.c). */
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

/* Stores the first bytes and skips a byte order mark. false: more bytes are needed to recognise it.
 */
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

/* Divides the checked bytes into cells. A row is parsed at most up to TABLE_MAX_ROW bytes, so that
 * the faults found do not depend on how the body is divided into pieces. */
static void parse_checked(struct csv *c) {
    while (!c->stopped && c->scan < c->checked) {
        const size_t most = c->row + TABLE_MAX_ROW + 1, row = c->row;
        csv_parse(c, c->checked < most ? c->checked : most);
        if (!c->stopped && c->row == row && c->checked >= most) {
            csv_row_too_long(c);
        }
    }
}

/* The byte after the checked ones is not valid text. A lenient reader reports it as a fault of its
 * row, or ignores it in a comment. A body with a NUL byte is refused as a whole. */
static void wrong_byte(struct csv *c, const char *wrong) {
    const char *foreign = csv_text_foreign(c->head);
    if (foreign != NULL || c->data[c->checked] == '\0') {
        csv_fault(c, c->checked, true, foreign != NULL ? foreign : wrong);
    } else if (c->mode != MODE_COMMENT || !c->lenient) {
        csv_row_fault(c, c->checked, wrong);
    }
    c->checked++;
}

/* Checks the new bytes, divides them into cells, and moves the rest of the last row to the front.
 */
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
