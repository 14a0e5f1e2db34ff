/* An arena: many small allocations, one release. A request has one. One thread at a time. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

struct arena_block;
struct arena {
    struct arena_block *blocks; /* newest first */
    size_t total;               /* bytes handed out */
    size_t limit;               /* more than this is refused; 0: no limit */
};

void arena_init(struct arena *a, size_t limit);
void arena_done(struct arena *a);
void arena_reset(struct arena *a); /* empty, keeps the first block */
void *arena_alloc(
    struct arena *a,
    size_t
        size); /* aligned for any type, uninitialised; NULL when out of memory or over the limit */
char *arena_strndup(struct arena *a, const char *s, size_t n); /* NUL-terminated */
char *arena_strdup(struct arena *a, const char *s);
char *arena_printf(struct arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
