/* A counting allocator: each block carries its size in a header before it. */
#include "jobs/budget.h"

#include <stdalign.h>
#include <stddef.h>
#include <stdlib.h>

/* Before each block; keeps the block aligned for any type. */
union header {
    size_t size;
    max_align_t align;
};

static void *budget_allocate(void *ctx, size_t size) {
    struct budget *b = ctx;
    if (size > (size_t)INT64_MAX - sizeof(union header))
        return NULL;
    int64_t n = (int64_t)(size + sizeof(union header));
    int64_t used = atomic_fetch_add(&b->used, n) + n;
    union header *h = used <= b->limit ? malloc((size_t)n) : NULL;
    if (!h) {
        atomic_fetch_sub(&b->used, n);
        return NULL;
    }
    int64_t highest = atomic_load(&b->highest);
    while (used > highest && !atomic_compare_exchange_weak(&b->highest, &highest, used))
        ;
    h->size = (size_t)n;
    return h + 1;
}

static void budget_release(void *ctx, void *memory) {
    struct budget *b = ctx;
    if (!memory)
        return;
    union header *h = (union header *)memory - 1;
    atomic_fetch_sub(&b->used, (int64_t)h->size);
    free(h);
}

void budget_init(struct budget *b, int64_t limit) {
    b->allocator = (dn_allocator){.allocate = budget_allocate, .release = budget_release, .ctx = b, .budgeted = true};
    b->limit = limit;
    atomic_init(&b->used, 0);
    atomic_init(&b->highest, 0);
}
