/* Finds the structure of separated text that may be broken, from a sample of the first bytes: the
 * dialect, the lines before the table, the number of columns, and what the cells of each column
 * look like. For on_error=repair; private to formats.
 *
 * Columns. The width of the table is the most frequent number of cells of a row, at least two. If
 * rows of another number, at least a fifth of all, or at least four of which the first has words
 * only and the second a number, precede them all, the table is those rows: what follows is a second
 * table.
 * Preamble. The table begins with the first row of two that have the width and are at most two
 * rows apart. Lines before it, and rows of which only the first cell is not empty, above a row with
 * more, are the preamble. The row before is part of the table if it has no number, and more cells
 * than the width or one less; or if a blank, : ^ or ~ divides it into as many different words as the
 * table has columns, and the rows below have numbers.
 * The columns are described by the rows of the width below the header, up to a row that begins
 * another table. */
#ifndef FORMATS_CSV_PLAN_H
#define FORMATS_CSV_PLAN_H

#include "formats/csv/repair/csv_align.h"
#include "formats/csv/repair/csv_dialect.h"
#include "formats/csv/repair/csv_raw.h"

struct csv_plan {
    struct csv_dialect dialect;
    size_t width;        /* number of columns; 0: there is no row */
    int64_t line;        /* the first line of the table */
    char head_delimiter; /* of the first row, if it is another one; '\0': it is the same */
    size_t head_cells;   /* number of cells of the first row of the table */
    bool faultless;      /* the sample is read without a fault and with the usual delimiter */
    bool named;          /* the first row is a header: it has words, and another number of cells */
    size_t head;    /* number of rows at the top that have no number, if the table has numbers; 1 */
    size_t least;   /* the least number of cells of a row that are not empty */
    size_t numbers; /* number of columns of numbers */
    struct csv_trait *trait; /* [width] */
    char comment;            /* as in the sample */
    int64_t skip;
};
/* width: number of columns, if the body has no header and is appended to a table; 0: unknown.
 * given: the delimiter; '\0': it is detected. known: the dialect; NULL: it is detected. Returns false
 * if out of memory. */
bool csv_plan_make(const struct csv_sample *sample, char given, const struct csv_dialect *known,
                   size_t width, struct csv_plan *out);
void csv_plan_done(struct csv_plan *p);

/* Whether a row, which has `width` cells, has a word in each column of numbers and no number. */
bool csv_plan_is_heading(const struct csv_plan *p, const struct csv_raw_row *row);
/* The number of columns of numbers or dates, if the row is a heading of the table: it has a word
 * that is no date in each column, and no word twice. Otherwise 0. */
size_t csv_plan_heading(const struct csv_plan *p, const struct csv_raw_row *row);
static inline bool csv_plan_is_comment(const struct csv_plan *p, const struct csv_raw_row *row) {
    return p->comment == '\0' && row->bytes[0] == '#' && row->split->n != p->width;
}

#endif
