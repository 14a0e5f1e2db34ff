/* An arena: many small allocations that are freed together. Each request has one. Used by one
 * thread at a time. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

struct arena_block;
struct arena {
    struct arena_block *blocks; /* newest first */
    size_t total;               /* allocated bytes */
    size_t limit;               /* limit of `total`; 0: no limit */
};

void arena_init(struct arena *a, size_t limit);
void arena_done(struct arena *a);
void arena_reset(struct arena *a); /* frees all allocations, keeps one block */
/* Returns memory aligned for any type, uninitialised; NULL if out of memory or over the limit. */
void *arena_alloc(struct arena *a, size_t size);
char *arena_strndup(struct arena *a, const char *s, size_t n); /* the copy is NUL-terminated */
char *arena_strdup(struct arena *a, const char *s);
char *arena_printf(struct arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
