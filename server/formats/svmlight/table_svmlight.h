/* Where the reader of svmlight bodies stands: its lines, its row, and what it told. The table has
 * two columns: the label, and the sparse one of all features. Private to formats. */
#ifndef WIRE_TABLE_SVMLIGHT_H
#define WIRE_TABLE_SVMLIGHT_H

#include "formats/svmlight/svmlight.h"
#include "formats/text/text_lines.h"

/* The sparse column, whose place j is the feature "f<first + j>". */
#define TABLE_SPARSE_NAME "f"
#define TABLE_LABEL_NAME "label" /* unless the option says another */
enum { TABLE_LABEL, TABLE_SPARSE };

struct table_svmlight {
    struct text_lines lines;
    struct svmlight_row row;
    struct svmlight_options options;
    int64_t comments;     /* lines that are nothing else */
    int64_t qid_line;     /* the first with a "qid:N"; 0: none */
    int64_t inexact_line; /* the first with a value that is rounded; 0: none */
};

struct wire_table;
/* Is the table that rows are appended to one of svmlight? Before the body is read. */
bool table_svmlight_is_stored(const struct wire_table *t);
/* Adds the columns, or checks those that rows are appended to. false: the table is refused. */
bool table_svmlight_begin(struct wire_table *t);
bool table_svmlight_feed(struct wire_table *t, const char *bytes, size_t n);
bool table_svmlight_end(struct wire_table *t);
void table_svmlight_done(struct wire_table *t);

#endif
