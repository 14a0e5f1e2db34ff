/* Joins the names of columns that are written in several header lines. */
#include "formats/csv/csv_heading.h"

#include <stdlib.h>
#include <string.h>

void csv_heading_done(struct csv_heading *h) {
    for (size_t i = 0; i < h->n; i++) {
        buf_done(&h->name[i]);
    }
    free(h->name);
    free(h->cells);
    buf_done(&h->text);
    *h = (struct csv_heading){0};
}

bool csv_heading_add(struct csv_heading *h, const struct csv_row *row) {
    if (row->n_cells > h->n) {
        struct buf *grown = realloc(h->name, row->n_cells * sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        memset(grown + h->n, 0, (row->n_cells - h->n) * sizeof *grown);
        h->name = grown;
        h->n = row->n_cells;
    }
    bool well = true;
    for (size_t i = 0; i < row->n_cells; i++) {
        const struct text text = csv_cell_trimmed(row, i);
        struct buf *name = &h->name[i];
        if (text.n > 0 && name->size > 0) {
            buf_putc(name, ' ');
        }
        buf_append(name, text.bytes, text.n);
        well = well && !name->failed;
    }
    h->lines++;
    return well;
}

static bool is_control(char c) {
    return (unsigned char)c < ' ' || c == 0x7f;
}

bool csv_heading_is_broken(const struct csv_row *row) {
    for (size_t i = 0; i < row->n_cells; i++) {
        const struct text text = csv_cell_trimmed(row, i);
        for (size_t k = 0; k < text.n; k++) {
            if (is_control(text.bytes[k])) {
                return true;
            }
        }
    }
    return false;
}

size_t csv_heading_mend(struct csv_heading *h) {
    size_t changed = 0;
    for (size_t i = 0; i < h->n; i++) {
        struct buf *name = &h->name[i];
        size_t n = 0;
        bool after = false, any = false; /* after: the last byte is a blank in place of controls */
        for (size_t k = 0; k < name->size; k++) {
            const char c = name->data[k];
            const bool control = is_control(c);
            any = any || control;
            if (!after || (!control && c != ' ')) {
                name->data[n++] = control ? ' ' : c;
                after = control;
            }
        }
        name->size = n;
        changed += any;
    }
    return changed;
}

bool csv_heading_row(struct csv_heading *h, const struct csv_row *last, struct csv_row *out) {
    h->cells = calloc(h->n, sizeof *h->cells);
    if (h->cells == NULL) {
        return false;
    }
    for (size_t i = 0; i < h->n; i++) {
        h->cells[i] = (struct csv_cell){.start = (uint32_t)h->text.size,
                                        .length = (uint32_t)h->name[i].size,
                                        .at = last->cells[i].at,
                                        .is_aside = true};
        if (h->name[i].size > 0) {
            buf_append(&h->text, h->name[i].data, h->name[i].size);
        }
    }
    *out = *last;
    out->aside = h->text.size > 0 ? h->text.data : "";
    out->cells = h->cells;
    out->n_cells = h->n;
    return !h->text.failed;
}
