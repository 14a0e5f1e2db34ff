/* Growth of arrays. Arrays of column builders keep their contents; arrays of decoded chunks do
 * not. */
#ifndef DNI_COLUMN_MEMORY_H
#define DNI_COLUMN_MEMORY_H

#include <discern/status.h>
#include <stddef.h>
#include <stdlib.h>

/* Reallocates *array, [*capacity × size] bytes, for at least `need` elements. The contents are
 * kept. */
DN_MUST_USE static inline dn_status dni_column_grow(void *array, size_t *capacity, size_t need,
                                                    size_t size, dn_error *err) {
    if (need <= *capacity) {
        return DN_OK;
    }
    size_t more = need + need / 2 + 64;
    void *memory = realloc(*(void **)array, more * size);
    if (memory == NULL) {
        return dn_error_set(
            err, DN_ERR_MEMORY,
            "a column chunk needs %zu bytes of memory, which the system does not have",
            more * size);
    }
    *(void **)array = memory;
    *capacity = more;
    return DN_OK;
}

/* Reallocates *array for at least `need` elements, and for one more, so that it is never NULL. The
 * contents are lost. */
DN_MUST_USE static inline dn_status dni_column_reserve(void *array, size_t *capacity, size_t need,
                                                       size_t size, dn_error *err) {
    if (need < *capacity) {
        return DN_OK;
    }
    void *memory = malloc((need + 1) * size);
    if (memory == NULL) {
        return dn_error_set(
            err, DN_ERR_MEMORY,
            "a decoded column chunk needs %zu bytes of memory, which the system does not have",
            (need + 1) * size);
    }
    free(*(void **)array);
    *(void **)array = memory;
    *capacity = need + 1;
    return DN_OK;
}

#endif
