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
    /* [n_slots] hash table with open addressing: 1 + index of a name; 0: free */
    uint32_t *slot;
    size_t n_slots;      /* a power of two, at least 2 n; 0: not allocated */
    struct hash_key key; /* random key, made when the slots are first allocated */
};
void names_done(struct names *names);
/* Removes all names and keeps the memory. Costs as much as adding the names. */
void names_clear(

    struct names *names);
/* Adds a name that is not in the set. Its bytes must stay valid. Returns false if out of memory. */
bool names_add(struct names *names, const char *bytes, size_t n);
/* Returns the index of the name; -1 if it is not in the set. */
ptrdiff_t names_find(const struct names *names, const char *bytes, size_t n);
#define NAMES_COPY (255 + 12) /* room for a name of 255 bytes and the number of a copy */
/* Makes another name for a repeated name: name_2, name_3 … *last: number of the last copy of this
 * name, from 1; the search goes on there, so that many equal names cost linear time. taken: whether
 * a name is used. Returns the length. */
size_t names_copy(struct text name, uint32_t *last,
                  bool (*taken)(const void *arg, const char *bytes, size_t n), const void *arg,
                  char out[NAMES_COPY]);

#endif
