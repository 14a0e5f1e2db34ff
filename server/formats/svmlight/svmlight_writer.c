/* Writes rows of stored tables as svmlight, and expands sparse rows to columns of numbers. */
#include "formats/formats.h"
#include "formats/text/view_cell.h"

#include <math.h>
#include <string.h>

bool svmlight_label(const dn_column_view *view, size_t row, struct text *out) {
    if (!view_has_strings(view) || view->code[row] == DN_CODE_MISSING) {
        return true;
    }
    *out = strings_text(&view->strings, view->code[row]);
    for (size_t i = 0; i < out->n; i++) {
        const char c = out->bytes[i];
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',' || c == ':' || c == '#') {
            return false;
        }
    }
    return out->n > 0;
}

static void put_label(const dn_column_view *view, size_t row, struct buf *out) {
    char room[DN_NUMBER_SIZE];
    struct text text;
    if (!view_cell(view, row, room, &text)) {
        buf_putc(out, '?');
    } else if (!view_has_strings(view)) {
        number_write(view->number[row], out); /* a boolean is written as 0 or 1 */
    } else if (svmlight_label(view, row, &text)) {
        buf_append(out, text.bytes, text.n);
    } else {
        out->failed = true;
    }
}

/* Writes an entry unless its value is +0, because absent entries are 0. */
static void put_entry(uint64_t index, double value, struct buf *out) {
    char text[24];
    size_t at = sizeof text;
    if (value == 0 && !signbit(value)) {
        return;
    }
    text[--at] = ':';
    do {
        text[--at] = (char)('0' + index % 10);
        index /= 10;
    } while (index > 0);
    text[--at] = ' ';
    buf_append(out, text + at, sizeof text - at);
    number_write(value, out);
}

static void put_entries(const struct svmlight_rows *s, size_t row, struct buf *out) {
    const dn_column_view *view = s->entries;
    size_t p = 0;
    for (size_t k = view->row_start[row]; k < view->row_start[row + 1]; k++) {
        while (s->places != NULL && p < s->n_places && s->places[p] < view->index[k]) {
            p++;
        }
        if (s->places == NULL || (p < s->n_places && s->places[p] == view->index[k])) {
            put_entry((uint64_t)s->first_index + view->index[k], view->number[k], out);
        }
    }
}

void svmlight_rows_write(const struct svmlight_rows *s, size_t first, size_t n, struct buf *out) {
    for (size_t i = first; i < first + n; i++) {
        put_label(s->label, i, out);
        for (size_t j = 0; j < s->n_columns; j++) {
            put_entry(j + 1, s->columns[j].number[i], out);
        }
        if (s->entries != NULL) {
            put_entries(s, i, out);
        }
        buf_putc(out, '\n');
    }
}

void sparse_rows_expand(const dn_column_view *view, size_t first, size_t n, const uint32_t *places,
                        size_t n_places, double *out) {
    memset(out, 0, n * n_places * sizeof *out);
    for (size_t i = 0; i < n; i++) {
        const size_t end = view->row_start[first + i + 1];
        size_t k = view->row_start[first + i];
        for (size_t p = 0; p < n_places && k < end; p++) {
            while (k < end && view->index[k] < places[p]) {
                k++;
            }
            if (k < end && view->index[k] == places[p]) {
                out[p * n + i] = view->number[k];
            }
        }
    }
}
