/* A table in memory whose rows, columns, units and classes can be exchanged, for tests of
 * invariance. Each function returns a new sheet that is valid until the test ends. */
#ifndef TESTS_API_SHEET_H
#define TESTS_API_SHEET_H

#include "lib/api.h"

struct sheet {
    size_t n_rows, n_cols;
    const char **names;   /* [n_cols] */
    const char **cell;    /* [n_rows × n_cols] text in the file; "" if missing */
    const char **label;   /* [n_rows] */
    const double *weight; /* [n_rows]; NULL: no column of weights */
};

/* file of tests/data: columns of numbers, then the label */
const struct sheet *sheet_read(const char *file);
/* Generated table: six columns of numbers, a categorical and a boolean one, some cells missing; 2
 * to 4 classes named "a", "b", …, or 10 named by digits. The classes overlap. */
const struct sheet *sheet_made(size_t n_rows, size_t n_classes);
const struct sheet *sheet_without(const struct sheet *s,
                                  const char *label); /* the rows of all classes but `label` */
const struct sheet *sheet_rows(const struct sheet *s, const size_t *rows,
                               size_t n); /* the rows with these numbers, in this order */
const struct sheet *sheet_columns(const struct sheet *s,
                                  const size_t *order); /* column j is the old column order[j] */
const struct sheet *sheet_moved(const struct sheet *s, const double *scale,
                                const double *shift); /* [n_cols] x becomes scale·x + shift */
/* classes [n] ascending; class k gets the name of class n − 1 − k */
const struct sheet *sheet_renamed(const struct sheet *s, const char *const *classes, size_t n);
const struct sheet *sheet_weighed(const struct sheet *s,
                                  const double *weight); /* adds a column of weights */

/* Writes the names of the classes in ascending order of bytes; returns their number, at most 16. */
size_t sheet_classes(const struct sheet *s, const char *classes[]);
bool sheet_is_number(const struct sheet *s, size_t column);
/* the largest |x| of a column of numbers */
double sheet_largest(const struct sheet *s, size_t column);

/* CSV with a header. labelled: with column "class" and, if the sheet has weights, "weight". */
const char *sheet_csv(const struct sheet *s, bool labelled);
void sheet_upload(const struct sheet *s, const char *dataset);

/* A number in [0, 1) from a generator with a fixed sequence. */
double next_uniform(uint64_t *state);
size_t *shuffled(size_t n, uint64_t seed); /* the numbers 0 … n − 1 in random order */

#endif
