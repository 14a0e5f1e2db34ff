/* Pages of lists: the rows of a query become items of an array. */
#ifndef STORE_PAGE_H
#define STORE_PAGE_H

#include "store/engine/readers.h"

/* How a row of a query becomes an item. */
struct store_item {
    size_t size;
    /* Returns false after setting the query's problem; *item is then {0} */
    bool (*load)(struct store_query *q, void *item);
    void (*done)(void *item);
};
/* Loads a page from the query, then ends the query and the read. The LIMIT of the query must be
 * store_page_rows. On failure `out` is untouched. */
bool store_page_end(struct store_read *r, struct store_query *q, const struct store_item *kind,
                    const struct store_limit *limit, struct store_page *out);
/* Returns the number of rows to select for a page: its items and one more, which shows whether
 * items follow. */
struct store_value store_page_rows(const struct store_limit *limit);

#endif
