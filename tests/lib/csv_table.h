/* A table of tests/data in memory, with its statistics, for recomputing results of the daemon. */
#ifndef TESTS_LIB_CSV_TABLE_H
#define TESTS_LIB_CSV_TABLE_H

#include <stddef.h>

/* The last column of the file is the label, all others are numbers. */
struct table {
    size_t n_rows, n_cols; /* n_cols: without the label */
    const char **names;    /* [n_cols + 1] */
    double *x;             /* [n_rows × n_cols] */
    const char **label;    /* [n_rows] */
    double *mean, *std;    /* [n_cols] std with divisor n */
    const char **classes;  /* [n_classes] ascending: numbers by value, strings by bytes */
    size_t n_classes;
    size_t *y; /* [n_rows] index of the class */
};
/* Lives until the test ends. */
const struct table *table_read(const char *path);

#endif
