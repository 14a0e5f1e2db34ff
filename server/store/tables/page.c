/* Loads and frees pages of lists. */
#include "store/tables/page.h"
#include <stdlib.h>

void store_page_done(struct store_page *page) {
    if (page != NULL && page->items != NULL) {
        for (size_t i = 0; i < page->n; i++) {
            page->kind->done((char *)page->items + i * page->kind->size);
        }
        free(page->items);
        *page = (struct store_page){0};
    }
}

struct store_value store_page_rows(const struct store_limit *limit) {
    return store_int(limit->items == 0 || limit->items >= INT64_MAX ? INT64_MAX
                                                                    : (int64_t)limit->items + 1);
}

/* Appends the current row. */
static void add_item(struct store_page *page, size_t *capacity, struct store_query *q) {
    const size_t size = page->kind->size;
    if (page->n == *capacity) {
        const size_t more = *capacity == 0 ? 16 : 2 * *capacity;
        void *items = realloc(page->items, more * size);
        if (items == NULL) {
            problem_no_memory(q->problem);
            return;
        }
        page->items = items;
        *capacity = more;
    }
    page->n += page->kind->load(q, (char *)page->items + page->n * size);
}

bool store_page_end(struct store_read *r, struct store_query *q, const struct store_item *kind,
                    const struct store_limit *limit, struct store_page *out) {
    struct store_page page = {.kind = kind};
    size_t capacity = 0, bytes = 0;
    while (store_query_row(q)) {
        page.more = (limit->items > 0 && page.n == limit->items) ||
                    (limit->bytes > 0 && page.n > 0 && bytes >= limit->bytes);
        if (page.more) {
            break;
        }
        bytes += store_query_text_size(q);
        add_item(&page, &capacity, q);
    }
    store_query_end(q);
    if (!store_read_end(r)) {
        store_page_done(&page);
        return false;
    }
    *out = page;
    return true;
}
