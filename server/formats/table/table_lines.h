/* Table readers of formats that are read line by line. The state of such a reader is a struct whose
 * first member is a struct text_lines. Private to formats. */
#ifndef FORMATS_TABLE_LINES_H
#define FORMATS_TABLE_LINES_H

#include "formats/table/table.h"
#include "formats/text/text_lines.h"

/* Begins reading with an allocated state, which becomes t->state; NULL: the allocation failed.
 *
 *   line   takes a line; `arg` is t. Returns false if reading stops
 *   wrong  takes a line that is not valid text; used only with on_error=skip */
enum table_begin table_lines_begin(struct table *t, void *state,
                                   bool (*line)(void *arg, const char *bytes, size_t n,
                                                int64_t line),
                                   bool (*wrong)(void *arg, const char *bytes, size_t n,
                                                 int64_t line, int64_t column, const char *text));
/* `feed` and `end` of the table reader. */
bool table_lines_feed(struct table *t, const char *bytes, size_t n);
bool table_lines_end(struct table *t);

#endif
