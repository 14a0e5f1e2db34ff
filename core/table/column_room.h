/* Arrays of column chunks that grow: of a builder, which keeps what it has, and of a decoded chunk, which does not. */
#ifndef DNI_COLUMN_ROOM_H
#define DNI_COLUMN_ROOM_H

#include <discern/status.h>
#include <stddef.h>
#include <stdlib.h>

/* Makes *array [*room × size] hold at least `need` elements; what is in it stays. */
DN_MUST_USE static inline dn_status dni_column_grow(void *array, size_t *room, size_t need,
                                                    size_t size, dn_error *err) {
    if (need <= *room) {
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
    *room = more;
    return DN_OK;
}

/* Makes *array hold at least `need` elements (and one, so that it is never NULL); the contents may be lost. */
DN_MUST_USE static inline dn_status dni_column_make_room(void *array, size_t *room, size_t need,
                                                         size_t size, dn_error *err) {
    if (need < *room) {
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
    *room = need + 1;
    return DN_OK;
}

#endif
