/* Assigns the cells of a row to the columns of a table if their numbers differ, for
 * on_error=repair: by what the cells of each column look like in the sample. Private to formats.
 *
 * A cell misfits its column if it is no number in a column of numbers, if it is a number in a
 * column of texts, if its shape (digits, letters and other characters) is not that of all other
 * cells of its column, or if it is empty and no other is. The place is chosen at which the fewest
 * cells misfit.
 *   - A row that misses one cell gets an empty cell there; of equal places, and if it misses more
 *     cells, at its end.
 *   - Surplus cells that are empty are left out. Others are joined, with the delimiters between
 *     them, to the cell of a text column: of equal places that of a column whose cells contain the
 *     delimiter in the sample, then of one whose cells contain blanks, then the first. In a table
 *     without text columns the last cells of the row are left out. */
#ifndef FORMATS_CSV_ALIGN_H
#define FORMATS_CSV_ALIGN_H

#include "formats/csv/repair/csv_split.h"

/* What the cells of a column look like in the sample. */
struct csv_trait {
    uint32_t cells; /* number of cells */
    uint32_t empty, numbers, dates, quoted;
    uint32_t holds;  /* quoted cells with a delimiter, a line end or a quote */
    uint32_t blanks; /* cells with a blank between two words */
    uint32_t marks;  /* cells without quotes around them, with a quote that has no partner */
    uint64_t shape;  /* shape of the first cell; 0: the cells differ in shape */
};
void csv_trait_add(struct csv_trait *t, const struct csv_dialect *d, const char *bytes,
                   const struct csv_piece *piece);
static inline bool csv_trait_is_number(const struct csv_trait *t) {
    return t->numbers > 0 && 10 * t->numbers >= 9 * (t->cells - t->empty);
}
static inline bool csv_trait_is_date(const struct csv_trait *t) {
    return t->dates > 0 && 10 * t->dates >= 9 * (t->cells - t->empty);
}
/* Whether more than `percent` of the cells that are not empty are quoted. */
static inline bool csv_trait_is_quoted(const struct csv_trait *t, uint32_t percent) {
    return (uint64_t)100 * t->quoted > (uint64_t)percent * (t->cells - t->empty);
}
/* Whether an unquoted cell has a quote that has no partner. */
bool csv_piece_is_marked(const struct csv_dialect *d, const char *bytes,
                         const struct csv_piece *piece);
/* Whether the text is a number. */
bool csv_is_value(struct text t);
/* Whether the text is a date or a time. */
bool csv_is_date(struct text t);
/* Whether the text is empty or a common token for missing. */
bool csv_is_nothing(struct text t);

enum csv_align_how {
    CSV_ALIGN_EVEN,  /* the row has as many cells as the table has columns */
    CSV_ALIGN_ADD,   /* empty cells are added before cell `at` */
    CSV_ALIGN_EMPTY, /* n empty cells from `at` on are left out */
    CSV_ALIGN_JOIN,  /* the n + 1 cells from `at` on become one cell */
    CSV_ALIGN_DROP   /* the last n cells, from `at` on, are left out */
};
struct csv_align {
    enum csv_align_how how;
    size_t at, n; /* n: number of missing or surplus cells */
    size_t cost;  /* 0: all cells fit their columns; at least CSV_ALIGN_MISFIT: one does not */
};
#define CSV_ALIGN_MISFIT 8
/* Whether the `width` cells of a row fit their columns, and at least one of them, and a third of
 * those that are not empty, has digits in a column of numbers, dates or texts of one shape. */
bool csv_align_fits(const struct csv_trait *trait, size_t width, const char *bytes,
                    const struct csv_split *row);
/* trait: [width]; sums: [2 × (width + 1)] room. */
struct csv_align csv_align_row(const struct csv_dialect *d, const struct csv_trait *trait,
                               size_t width, const char *bytes, const struct csv_split *row,
                               size_t *sums);

#endif
