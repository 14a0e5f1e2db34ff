/* One budget of bytes (--body-memory) for what clients make the server hold: bodies in memory,
 * readers of streamed bodies, replies that are not sent yet. Each holder has a share, which begins
 * as 0, changes with the holder's size and is 0 again at its end. Any thread, no lock. */
#ifndef HTTP_MEMORY_H
#define HTTP_MEMORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MEMORY_UNCOUNTED                                                                           \
    16384 /* bytes; smaller holders are not counted, so that small calls go on when the budget is  \
             used up */

struct http_memory {
    _Atomic int64_t held; /* bytes of all shares */
    int64_t limit;        /* bytes; set before any thread */
};

/* Sets the share of a holder that has so many bytes. Returns false if there is no room: nothing has
 * changed. */
bool memory_hold(struct http_memory *memory, size_t *share, size_t bytes);
/* The same, whether there is room or not: for holders that cannot be refused. */
void memory_hold_anyway(struct http_memory *memory, size_t *share, size_t bytes);
/* Whether there is room for a new holder of so many bytes. */
bool memory_has_room(const struct http_memory *memory, int64_t bytes);

#endif
