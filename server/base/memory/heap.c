/* The functions are for glibc's malloc; with other C libraries they do nothing. */
#include "base/memory/heap.h"

#include <stdlib.h> /* has __GLIBC__ */

#ifdef __GLIBC__
#include <malloc.h>
#endif

enum { ARENAS = 2 };

void heap_share(void) {
#ifdef __GLIBC__
    (void)mallopt(M_ARENA_MAX, ARENAS);
#endif
}

void heap_give_back(void) {
#ifdef __GLIBC__
    (void)malloc_trim(0);
#endif
}
