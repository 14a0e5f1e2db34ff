/* Cells of stored columns, and other values, as text. */
#ifndef FORMATS_VIEW_CELL_H
#define FORMATS_VIEW_CELL_H

#include "base/memory/buf.h"
#include "formats/text/cell.h"
#include <discern/table.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns string i of a list; it is valid as long as the list is. */
static inline struct text strings_text(const dn_strings *strings, size_t i) {
    const uint32_t from = strings->start[i];
    const size_t n = strings->start[i + 1] - from;
    return (struct text){n > 0 ? strings->bytes + from : "", n};
}
/* Writes the shortest decimal text of a number; "null" if it is not finite. */
void number_write(double x, struct buf *out);

/* Sets *out to the text of a cell: a decimal number, true or false, or the string, which stays in
 * the view. `room` is memory for the text of a number. Returns false if the cell is missing or the
 * column is sparse. */
bool view_cell(const dn_column_view *view, size_t row, char room[DN_NUMBER_SIZE], struct text *out);
/* Whether the cell is missing or the column is sparse. */
static inline bool view_missing(const dn_column_view *view, size_t row) {
    switch (view->type) {
    case DN_NUMERIC:
    case DN_DATETIME:
    case DN_BOOLEAN:
        return isnan(view->number[row]);
    case DN_CATEGORICAL:
    case DN_TEXT:
        return view->code[row] == DN_CODE_MISSING;
    case DN_SPARSE:
        break;
    }
    return true;
}
static inline bool view_has_strings(const dn_column_view *view) {
    return view->type == DN_CATEGORICAL || view->type == DN_TEXT;
}

#endif
