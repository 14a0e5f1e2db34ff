/* The nearest of several names, for messages about misspelt ones. */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

#define NEAREST_LONGEST 60 /* bytes of a name that is compared */

/* Returns the Levenshtein distance of two names. SIZE_MAX: the distance is above 2 (more than a
 * misspelling) or not below the length of one of the names, or a name is longer than
 * NEAREST_LONGEST. */
size_t nearest_distance(const char *a, size_t n, const char *b, size_t m);
/* Whether two names are equal but for the case of ASCII letters. */
bool nearest_same(const char *a, size_t n, const char *b, size_t m);

/* The nearest of the names that are offered for an unknown one. Names that differ only in the case
 * of ASCII letters are nearest of all. */
struct nearest {
    const char *name; /* [n] the unknown name */
    size_t n;
    size_t distance;
    /* "; did you mean \"x\"?" with the nearest name so far; "" if none is near, or the name itself
     * was offered */
    char hint[NEAREST_LONGEST + 24];
};
struct nearest nearest_to(const char *name, size_t n);
void nearest_offer(struct nearest *nearest, const char *name, size_t n);

#endif
