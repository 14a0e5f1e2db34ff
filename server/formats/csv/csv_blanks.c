/* Separated text whose cells are separated by runs of blanks (spaces and tabs). */
#include "formats/csv/csv_reader.h"

/* Ends the line at `end`. A line without cells is empty and is not delivered. */
static void end_line(struct csv *c, size_t end) {
    const bool lf = c->in.data[end] == '\n';
    if (c->n_cells == 0) {
        c->row = end;
    }
    csv_row_end(c, end, end + 1);
    if (!lf) {
        c->mode = MODE_LF;
    }
}

void csv_blanks_skip(struct csv *c, size_t limit) {
    const char *data = c->in.data;
    size_t at = c->cell;
    while (at < limit && (data[at] == ' ' || data[at] == '\t')) {
        at++;
    }
    c->cell = c->scan = at;
    if (at == limit) {
        return;
    }
    if (data[at] == '\n' || data[at] == '\r') {
        end_line(c, at);
    } else if (c->n_cells == 0 && c->comment != '\0' && data[at] == c->comment) {
        c->comments++;
        c->mode = MODE_COMMENT;
    } else {
        if (c->n_cells >= c->max_cells) {
            csv_too_many_cells(c);
        }
        c->mode = data[at] == '"' ? MODE_QUOTED : MODE_PLAIN;
        c->scan = at + (data[at] == '"');
    }
}
