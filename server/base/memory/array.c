/* `array` points to a pointer of any type, so the pointer is copied as bytes. */
#include "base/memory/array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

bool array_resize(void *array, size_t n, size_t size) {
    void *elements = NULL;
    memcpy(&elements, array, sizeof elements);
    elements = n <= SIZE_MAX / size ? realloc(elements, n * size) : NULL;
    if (elements != NULL) {
        memcpy(array, &elements, sizeof elements);
    }
    return elements != NULL;
}

bool array_grow(void *array, size_t *capacity, size_t first, size_t size) {
    const size_t n = *capacity > 0 ? 2 * *capacity : first;
    const bool grown = *capacity <= SIZE_MAX / 2 && array_resize(array, n, size);
    *capacity = grown ? n : *capacity;
    return grown;
}
