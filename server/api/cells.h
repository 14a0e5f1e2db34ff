/* JSON objects as cells: CSV or TSV. The path to a value names it: its keys, joined by ".". */
#ifndef API_CELLS_H
#define API_CELLS_H

#include "base/memory/buf.h"
#include <stddef.h>

/* Appends a header line with the paths of all objects, in the order in which they first occur, and
 * a line for each object. Values are written as in JSON, texts without quotes, null and absent
 * members as empty cells, arrays as JSON. If out of memory, `out` fails.
 *
 *   objects  [n] JSON text; an object that is not valid makes `out` fail */
void api_cells_table(const char *const *objects, size_t n, char delimiter, struct buf *out);
/* Appends the header line "name", "value" and a line for each value of the object. The index of an
 * item of an array, from 0, is a part of its path. */
void api_cells_pairs(const char *object, char delimiter, struct buf *out);

#endif
