/* A table with text, sparse, numeric and categorical columns. */
#ifndef TESTS_LISTS_H
#define TESTS_LISTS_H

#include "unit/core/support.h"
#include "unit/core/table/chunked.h"

#define VECTORS_ROWS 9001
#define VECTORS_WIDTH 60 /* width of the sparse column */
#define VECTORS_WORDS 40 /* different words, "w00" …; the last three occur in one row each */
#define VECTORS_TEXT 64  /* bytes of a text */
#define VECTORS_MAX_ENTRIES 20 /* entries of a row of the sparse column, and words of a text */
enum vector_table_column { L_AGE, L_SPARSE, L_KIND, L_NOTE, L_CLASS, L_COLUMNS };

typedef struct vector_table {
    double age[VECTORS_ROWS];
    double dense[VECTORS_WIDTH]
                [VECTORS_ROWS]; /* the sparse column as a dense matrix: [feature][row] */
    size_t row_start[VECTORS_ROWS + 1];
    uint32_t index[VECTORS_ROWS * VECTORS_MAX_ENTRIES];
    double entry[VECTORS_ROWS * VECTORS_MAX_ENTRIES];
    const char *kind[VECTORS_ROWS], *note[VECTORS_ROWS], *class[VECTORS_ROWS];
    char text[VECTORS_ROWS][VECTORS_TEXT];
    /* number of times that each word occurs in the note */
    unsigned count[VECTORS_ROWS][VECTORS_WORDS];
    char words[VECTORS_WORDS][4];
    char sparse_names[VECTORS_WIDTH][8]; /* "f1" … */
    double target[VECTORS_ROWS], weight[VECTORS_ROWS];
    uint8_t role[VECTORS_ROWS];
    chunked_column columns[L_COLUMNS];
    /* dense columns with the names of the sparse column's features */
    chunked_column numbers[VECTORS_WIDTH];
    size_t borders[4][8]; /* chunk borders of each way of vector_table_source */
} vector_table;

uint64_t vector_table_random(uint64_t *state);

/* K classes that depend on both the sparse column and the words. */
vector_table *vector_table_new(size_t K);

/* The table cut into chunks in one of four ways; one chunk is empty. */
void vector_table_source(vector_table *t, const chunked_column *columns, size_t n, size_t way,
                         chunked *out);

/* The idf of a word or bucket that `df` of n rows have. */
double vector_table_idf(double n, double df);

#endif
