/* Finding names: a set of distinct texts, numbered in the order they were added. */
#ifndef FORMATS_NAMES_H
#define FORMATS_NAMES_H

#include "base/hash.h"
#include "formats/text/cell.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct names {
    struct text *text; /* [n], the caller's memory */
    size_t n, capacity;
    uint32_t *slot;      /* open addressing: index + 1, 0: free */
    size_t n_slots;      /* a power of two, at least twice n; 0: none yet */
    struct hash_key key; /* drawn with the first slots */
};
void names_done(struct names *names);
void names_clear(
    struct names *names); /* forgets all, keeps its memory; costs as much as adding them did */
/* Adds a name that is not there yet; the bytes must stay. false: no memory. */
bool names_add(struct names *names, const char *bytes, size_t n);
ptrdiff_t names_find(const struct names *names, const char *bytes, size_t n); /* -1: none */

#endif
