/* A table with numeric, boolean and categorical columns; some are constant, empty or have missing
 * values. */
#ifndef TESTS_TABLE_H
#define TESTS_TABLE_H

#include "unit/core/table/chunked.h"

#define TABLE_ROWS 9000
enum table_column {
    T_PLAIN,
    T_HOLES,
    T_STAMP,
    T_CONSTANT,
    T_EMPTY,
    T_FLAG,
    T_COLOUR,
    T_CITY,
    T_WHOLE,
    T_LAST,
    T_COLUMNS
};

typedef struct table {
    double number[T_COLUMNS][TABLE_ROWS];
    const char *text[T_COLUMNS][TABLE_ROWS];
    char names[200][24];
    chunked_column columns[T_COLUMNS];
    double target[TABLE_ROWS], weight[TABLE_ROWS];
    uint8_t role[TABLE_ROWS];
} table;

uint64_t mixed_table_random(uint64_t *state);

/* `cities`: number of different values of the column "city", up to 200. */
table *mixed_table_new(size_t cities);

/* Four kinds of chunk borders: one chunk, chunks of DN_BLOCK_ROWS, chunks of odd sizes, some chunks
 * empty. */
#define TABLE_CUTS 4
size_t mixed_table_cut(size_t kind, size_t *borders);
#define TABLE_MAX_CHUNKS 100

#endif
