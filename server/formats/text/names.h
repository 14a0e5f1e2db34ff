/* A set of distinct names, numbered in the order of addition. */
#ifndef FORMATS_NAMES_H
#define FORMATS_NAMES_H

#include "base/hash.h"
#include "formats/text/cell.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct names {
    struct text *text; /* [n] the names, in memory of the caller */
    size_t n, capacity;
    uint32_t *slot;      /* [n_slots] hash table, open addressing: index + 1 of a name; 0: free */
    size_t n_slots;      /* a power of two, at least twice n; 0: not allocated */
    struct hash_key key; /* random, made with the first slots */
};
void names_done(struct names *names);
void names_clear(
    /* Removes all names and keeps the memory. Cost: as that of adding them. */
    struct names *names);
/* Adds a name that is not in the set. Its bytes must stay valid. false: no memory. */
bool names_add(struct names *names, const char *bytes, size_t n);
ptrdiff_t names_find(const struct names *names, const char *bytes, size_t n); /* -1: none */

#endif
