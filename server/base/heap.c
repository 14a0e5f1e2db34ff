/* glibc's malloc_trim; other libraries give memory back by themselves or not at all. */
#include "base/heap.h"

#include <stdlib.h> /* has __GLIBC__ */

#ifdef __GLIBC__
#include <malloc.h>
#endif

void heap_give_back(void) {
#ifdef __GLIBC__
    (void)malloc_trim(0);
#endif
}
