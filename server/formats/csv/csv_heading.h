/* The names of columns that are written in several header lines, joined by blanks, or with line
 * ends, which are replaced by blanks. Private to
 * formats. */
#ifndef FORMATS_CSV_HEADING_H
#define FORMATS_CSV_HEADING_H

#include "formats/csv/csv.h"

struct csv_heading {
    int64_t lines;    /* number of lines that were added */
    size_t n;         /* number of columns: cells of the longest line */
    struct buf *name; /* [n] the names so far */
    struct buf text;  /* all names, one after the other */
    struct csv_cell *cells;
};
void csv_heading_done(struct csv_heading *h);
/* Adds a header line: the text of each cell that is not empty is appended to the name of its
 * column, after a blank. Returns false if out of memory. */
bool csv_heading_add(struct csv_heading *h, const struct csv_row *row);
/* Whether a cell has a control character, as a line end, which no name may have. */
bool csv_heading_is_broken(const struct csv_row *row);
/* Replaces runs of control characters in the names by one blank. Returns the number of names that
 * were changed. */
size_t csv_heading_mend(struct csv_heading *h);
/* Sets *out to a row whose cells are the names, with the places of the cells of `last`, which is
 * the last line that was added and the longest. `last` and h must stay valid. Returns false if out
 * of memory. */
bool csv_heading_row(struct csv_heading *h, const struct csv_row *last, struct csv_row *out);

#endif
