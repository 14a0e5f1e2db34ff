/* A table of tests/data in memory, with its statistics. Tests use it to compute the results of the
 * daemon again. */
#ifndef TESTS_LIB_CSV_TABLE_H
#define TESTS_LIB_CSV_TABLE_H

#include <stddef.h>

/* The last column of the file is the label, all other columns are numbers. */
struct table {
    size_t n_rows, n_cols; /* n_cols does not count the label */
    const char **names;    /* [n_cols + 1] */
    double *x;             /* [n_rows × n_cols] */
    const char **label;    /* [n_rows] */
    double *mean, *std;    /* [n_cols] each; std has the divisor n */
    const char **classes;  /* [n_classes] ascending: numbers by value, strings by their bytes */
    size_t n_classes;
    size_t *y; /* [n_rows] index of the row's class */
};
/* Reads a file. The table lives until the test ends. */
const struct table *table_read(const char *path);

#endif
