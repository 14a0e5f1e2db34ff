#include "formats/text/view_cell.h"

#include <math.h>

void number_write(double x, struct buf *out) {
    if (buf_reserve(out, DN_NUMBER_SIZE)) {
        out->size += dn_number_format(x, out->data + out->size);
    }
}

bool view_cell(const dn_column_view *view, size_t row, char room[DN_NUMBER_SIZE],
               struct text *out) {
    if (view_missing(view, row)) {
        return false;
    }
    switch (view->type) {
    case DN_NUMERIC:
    case DN_DATETIME: /* columns of dates that are shown are read as strings */
        *out = (struct text){room, dn_number_format(view->number[row], room)};
        return true;
    case DN_BOOLEAN:
        *out = view->number[row] != 0 ? (struct text){"true", 4} : (struct text){"false", 5};
        return true;
    case DN_CATEGORICAL:
    case DN_TEXT:
        *out = strings_text(&view->strings, view->code[row]);
        return true;
    case DN_SPARSE:
        break;
    }
    return false;
}
