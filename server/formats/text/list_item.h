/* Items of a comma-separated list in a query parameter: "columns", "types" and "missing". */
#ifndef FORMATS_LIST_ITEM_H
#define FORMATS_LIST_ITEM_H

#include "formats/text/cell.h"
#include <stddef.h>

/* Reads the item at `list`. Returns its end: a comma or the NUL.
 *
 * An item that begins with '"' ends at the closing quote; two quotes within it mean one, as in CSV.
 * *behind is the text from the closing quote to the comma. Any other item ends at the comma, and
 * *behind is empty. At most `room` bytes are written to `out`, without a NUL; *n is the length of
 * the whole item. NULL: a quote is not closed. */
const char *list_item(const char *list, char *out, size_t room, size_t *n, struct text *behind);

#endif
