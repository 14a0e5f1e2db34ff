/* Prefetching memory, where the compiler supports it: sparse rows access tables that are larger
 * than a cache in random order. */
#ifndef DNI_PREFETCH_H
#define DNI_PREFETCH_H

#include <stddef.h>

/* Prefetches the first of the n numbers at x. Any address is allowed. */
static inline void dni_prefetch(const double *x, size_t n) {
#if defined(__GNUC__)
    enum { LINE = 8, MOST = 32 }; /* numbers */
    for (size_t i = 0; i < n && i < MOST; i += LINE) {
        __builtin_prefetch(x + i, 1);
    }
#else
    (void)x;
    (void)n;
#endif
}

#endif
