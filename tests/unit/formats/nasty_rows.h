/* Rows of cells that are hard to tell apart: spellings of numbers, booleans, missing cells, quotes.
 * For tests that read the same table in several ways. */
#ifndef TESTS_NASTY_ROWS_H
#define TESTS_NASTY_ROWS_H

#include "table_helper.h"

#define NASTY_HEADER "c1,c2,c3,c4,c5,c6\n"

static const char *const nasty[] = {"1",          "2",       "007",  "1.50", "-0",
                                    "1e2",        " 3",      "4 ",   "true", "FALSE",
                                    " True ",     "x",       "\"\"", "NA",   "",
                                    "?",          "\"a,b\"", "1e-9", "0.1",  "12345678901234567890",
                                    "\"q\"\"q\"", "null",    "+5",   ".5"};
enum { N_NASTY = sizeof nasty / sizeof nasty[0], NASTY_COLUMNS = 6 };

/* Appends a row. The cells of each column are drawn from a part of the list; after row 20, one of
 * `rarely` cells is drawn from the whole list. So all types occur, and a column can become a string
 * column late. */
void nasty_row(uint64_t *seed, int row, uint32_t rarely, struct buf *out);

#endif
