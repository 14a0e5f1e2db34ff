/* The items of a comma-separated list in a query parameter: "columns", "types" and "missing" all
 * follow this rule. */
#ifndef FORMATS_LIST_ITEM_H
#define FORMATS_LIST_ITEM_H

#include "formats/text/cell.h"
#include <stddef.h>

/* Takes the item that begins at `list`; returns where it ends, a comma or the NUL.
 *
 * An item that begins with '"' has what stands up to the quote that closes it, two quotes within
 * being one, as in CSV; *behind is the text from there to the comma. Any other item goes to the
 * comma, and *behind is empty. At most `room` bytes are written to `out` (without NUL); *n: how
 * many there are. NULL: a quote is not closed. */
const char *list_item(const char *list, char *out, size_t room, size_t *n, struct text *behind);

#endif
