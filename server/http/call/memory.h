/* One budget of bytes (--body-memory) for what clients make the server hold: bodies in memory,
 * readers of streamed bodies, replies that are not sent yet. Each holder has a share, which begins
 * as 0, changes with the holder's size and is 0 again at its end. Any thread, no lock. */
#ifndef HTTP_MEMORY_H
#define HTTP_MEMORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* bytes; smaller holders are not counted, so that small calls run even when the budget is used
 * up */
#define MEMORY_UNCOUNTED 16384

struct http_memory {
    _Atomic int64_t held; /* bytes of all shares */
    int64_t limit;        /* bytes; set before any thread */
};

/* Sets the share of a holder that now has `bytes` bytes. Returns false, and changes nothing, if
 * there is no room. */
bool memory_hold(struct http_memory *memory, size_t *share, size_t bytes);
/* Like memory_hold, but succeeds without room too: for holders that cannot be refused. */
void memory_hold_anyway(struct http_memory *memory, size_t *share, size_t bytes);
/* Returns true if there would be room for a holder of that many bytes if there were no other. */
bool memory_may_ever_hold(const struct http_memory *memory, size_t bytes);
/* Returns true if there is room for a new holder of that many bytes. */
bool memory_has_room(const struct http_memory *memory, int64_t bytes);

#endif
