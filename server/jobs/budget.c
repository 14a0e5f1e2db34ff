/* A counting allocator: a header before each block has the size of the block. */
#include "jobs/budget.h"

#include <stdalign.h>
#include <stddef.h>
#include <stdlib.h>

/* The header before each block. Its size keeps the block aligned for any type. */
union header {
    size_t size;
    max_align_t align;
};

/* Adds n bytes to `used` unless that would exceed the limit. */
static bool take(struct budget *b, int64_t n) {
    int64_t used = atomic_load(&b->used);
    do {
        if (n > b->limit - used) {
            return false;
        }
    } while (!atomic_compare_exchange_weak(&b->used, &used, used + n));
    used += n;
    int64_t highest = atomic_load(&b->highest);
    while (used > highest && !atomic_compare_exchange_weak(&b->highest, &highest, used))
        ;
    return true;
}

static void *budget_allocate(void *ctx, size_t size) {
    struct budget *b = ctx;
    if (size > (size_t)INT64_MAX - sizeof(union header)) {
        return NULL;
    }
    int64_t n = (int64_t)(size + sizeof(union header));
    if (!take(b, n)) {
        return NULL;
    }
    union header *h = malloc((size_t)n);
    if (!h) {
        atomic_fetch_sub(&b->used, n);
        return NULL;
    }
    h->size = (size_t)n;
    return h + 1;
}

static void budget_release(void *ctx, void *memory) {
    struct budget *b = ctx;
    if (!memory) {
        return;
    }
    union header *h = (union header *)memory - 1;
    atomic_fetch_sub(&b->used, (int64_t)h->size);
    free(h);
}

static bool budget_charge(void *ctx, size_t size) {
    struct budget *b = ctx;
    return size <= INT64_MAX && take(b, (int64_t)size);
}

static void budget_discharge(void *ctx, size_t size) {
    struct budget *b = ctx;
    atomic_fetch_sub(&b->used, (int64_t)size);
}

void budget_init(struct budget *b, int64_t limit) {
    b->allocator = (dn_allocator){.allocate = budget_allocate,
                                  .release = budget_release,
                                  .ctx = b,
                                  .budgeted = true,
                                  .charge = budget_charge,
                                  .discharge = budget_discharge};
    b->limit = limit;
    atomic_init(&b->used, 0);
    atomic_init(&b->highest, 0);
}
