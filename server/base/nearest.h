/* The nearest of several names, for messages about misspelt ones. */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

#include <stddef.h>

/* Returns the Levenshtein distance of two names; SIZE_MAX if it is above 2, the most that a
 * misspelling may have, not below the length of one of them, or if one is longer than 60 bytes. */
size_t nearest_distance(const char *a, size_t n, const char *b, size_t m);

#endif
