/* Arrays that grow. */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

/* Reallocates an array to n > 0 elements of `size` bytes. `array` is the address of the pointer to
 * its first element; that pointer is NULL for an array without elements. Returns false if out of
 * memory or if n × size overflows; the array is then unchanged. */
bool array_resize(void *array, size_t n, size_t size);

/* Doubles the capacity of an array, or makes it `first` if it is 0. Returns false if out of memory;
 * then nothing is changed. */
bool array_grow(void *array, size_t *capacity, size_t first, size_t size);

#endif
