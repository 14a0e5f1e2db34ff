/* Lines and columns in the body, and the texts of faults. */
#include "formats/csv/csv_reader.h"

#include <stdio.h>

void csv_row_place(const struct csv_row *row, size_t offset, int64_t *line, int64_t *column) {
    size_t last = 0;
    *line = row->line + csv_line_ends(row->bytes, offset, &last);
    *column = (int64_t)(offset - last) + 1;
}

void csv_cell_place(const struct csv_row *row, size_t i, int64_t *line, int64_t *column) {
    csv_row_place(row, i < row->n_cells ? row->cells[i].at : row->size, line, column);
}

void csv_fault(struct csv *c, size_t offset, bool fatal, const char *text) {
    const char *bytes = c->in.data + c->row;
    struct csv_place *p = &c->place;
    const size_t at = offset - c->row;
    size_t last = 0;
    c->stopped |= fatal;
    if (c->handler.fault == NULL) {
        return;
    }
    /* a row may have many faults: each is counted from the one before */
    if (p->row_line != c->line || at < p->at) {
        *p = (struct csv_place){.row_line = c->line, .line = c->line};
    }
    p->line += csv_line_ends(bytes + p->at, at - p->at, &last);
    p->line_start = last > 0 ? p->at + last : p->line_start;
    p->at = at;
    c->handler.fault(c->handler.arg, p->line, (int64_t)(at - p->line_start) + 1, fatal, text);
}

void csv_out_of_memory(struct csv *c) {
    c->stopped = true;
    c->no_memory = true;
}

void csv_row_fault(struct csv *c, size_t offset, const char *text) {
    if (!c->faulty) {
        c->faulty = c->lenient;
        csv_fault(c, offset, !c->lenient, text);
    }
}

void csv_too_many_cells(struct csv *c) {
    char text[80];
    snprintf(text, sizeof text, "row has more than %zu cells", c->max_cells);
    csv_row_fault(c, c->cell, text);
    c->n_cells--; /* the next cell will replace the last one */
}

void csv_row_too_long(struct csv *c) {
    const bool quoted = c->mode == MODE_QUOTED || c->mode == MODE_CLOSED;
    csv_fault(c, c->row, true,
              quoted ? "row is longer than 16 MiB: perhaps a quote is not closed"
                     : "row is longer than 16 MiB");
}

void csv_cell_too_long(struct csv *c) {
    char text[160];
    snprintf(text, sizeof text, "cell is longer than %zu bytes%s", c->max_cell,
             c->mode == MODE_QUOTED || c->mode == MODE_CLOSED ? ": perhaps its quote is not closed"
                                                              : "");
    csv_row_fault(c, c->cell, text);
}
