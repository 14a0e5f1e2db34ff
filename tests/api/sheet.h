/* A table in memory whose rows, columns, units and classes can be exchanged, for tests of what must
 * not depend on them. Every function gives a new sheet that lives until the test ends. */
#ifndef TESTS_API_SHEET_H
#define TESTS_API_SHEET_H

#include "lib/api.h"

struct sheet {
    size_t n_rows, n_cols;
    const char **names;   /* [n_cols] */
    const char **cell;    /* [n_rows × n_cols] as written in the file; "" is missing */
    const char **label;   /* [n_rows] */
    const double *weight; /* [n_rows]; NULL: no such column */
};

const struct sheet *sheet_read(const char *file); /* of tests/data: numbers, the label last */
/* Made up: six numbers, a category and a boolean, some cells missing; classes that overlap: 2 and
 * 10, or "a", "b", … (at most 4). */
const struct sheet *sheet_made(size_t n_rows, size_t n_classes);
const struct sheet *sheet_without(const struct sheet *s,
                                  const char *label); /* the rows of the other classes */
const struct sheet *sheet_rows(const struct sheet *s, const size_t *rows,
                               size_t n); /* these, in this order */
const struct sheet *sheet_columns(const struct sheet *s,
                                  const size_t *order); /* column j is the old order[j] */
const struct sheet *sheet_moved(const struct sheet *s, const double *scale,
                                const double *shift); /* [n_cols] x becomes scale·x + shift */
const struct sheet *sheet_renamed(const struct sheet *s, const char *const *classes,
                                  size_t n); /* ascending; k gets the name of n−1−k */
const struct sheet *sheet_weighed(const struct sheet *s,
                                  const double *weight); /* with a column of weights */

size_t
sheet_classes(const struct sheet *s,
              const char *classes[]); /* the names, ascending by bytes; their number, at most 16 */
bool sheet_is_number(const struct sheet *s, size_t column);
double sheet_largest(const struct sheet *s, size_t column); /* of the |x| of a column of numbers */

/* CSV with a header. labelled: with "class" and, where there are weights, "weight". */
const char *sheet_csv(const struct sheet *s, bool labelled);
void sheet_upload(const struct sheet *s, const char *dataset);

/* The same numbers in every run: uniform in [0, 1). */
double next_uniform(uint64_t *state);
size_t *shuffled(size_t n, uint64_t seed); /* 0 … n−1 in another order */

#endif
