/* Pages of lists: rows of a query become items of an array. */
#ifndef STORE_PAGE_H
#define STORE_PAGE_H

#include "store/sqlite/engine/readers.h"

/* How a row becomes an item. */
struct store_item {
    size_t size;
    bool (*load)(struct store_query *q, void *item); /* false: the query's problem; *item is {0} */
    void (*done)(void *item);
};
/* Loads a page from the query, and ends the query and the read. The LIMIT of the query must be
 * store_page_rows. On failure out is untouched. */
bool store_page_end(struct store_read *r, struct store_query *q, const struct store_item *kind,
                    const struct store_limit *limit, struct store_page *out);
/* The number of rows for a page: its items and one more, which shows whether items follow. */
struct store_value store_page_rows(const struct store_limit *limit);

#endif
