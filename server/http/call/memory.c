/* The budget of --body-memory. */
#include "http/call/memory.h"

static size_t counted(size_t bytes) {
    return bytes > MEMORY_UNCOUNTED ? bytes : 0;
}

bool memory_hold(struct http_memory *memory, size_t *share, size_t bytes) {
    const int64_t more = (int64_t)counted(bytes) - (int64_t)*share;
    if (more == 0) {
        return true;
    }
    int64_t held = atomic_load_explicit(&memory->held, memory_order_relaxed);
    do {
        if (more > 0 && held > memory->limit - more) {
            return false;
        }
    } while (!atomic_compare_exchange_weak(&memory->held, &held, held + more));
    *share = counted(bytes);
    return true;
}

void memory_hold_anyway(struct http_memory *memory, size_t *share, size_t bytes) {
    const int64_t more = (int64_t)counted(bytes) - (int64_t)*share;
    if (more != 0) {
        (void)atomic_fetch_add(&memory->held, more);
    }
    *share = counted(bytes);
}

bool memory_may_ever_hold(const struct http_memory *memory, size_t bytes) {
    return counted(bytes) <= (uint64_t)memory->limit;
}

bool memory_has_room(const struct http_memory *memory, int64_t bytes) {
    return bytes <= MEMORY_UNCOUNTED ||
           atomic_load_explicit(&memory->held, memory_order_relaxed) <= memory->limit - bytes;
}
