/* One budget of bytes for what clients make the server hold: bodies in memory, readers of streamed
 * bodies, answers that wait to be taken. A holder has a share of it, which it changes as it grows
 * and gives back at its end; what is refused is answered 503. Any thread, no lock. */
#ifndef HTTP_MEMORY_H
#define HTTP_MEMORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MEMORY_UNCOUNTED                                                                           \
    16384 /* holders up to this are not counted: small calls go on when the budget is used up, and \
             connections bound them */

struct http_memory {
    _Atomic int64_t held; /* bytes of all shares */
    int64_t limit;        /* bytes; set before any thread */
};

/* *share becomes what a holder of so many bytes is counted with. false: there is no room for more,
 * nothing has changed. A share begins as 0. */
bool memory_hold(struct http_memory *memory, size_t *share, size_t bytes);
/* … whether there is room or not: for what cannot be refused any more. */
void memory_hold_anyway(struct http_memory *memory, size_t *share, size_t bytes);
/* Would a new holder of so many bytes find room now? */
bool memory_has_room(const struct http_memory *memory, int64_t bytes);

#endif
