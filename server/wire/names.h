/* Finding names: a set of distinct texts, numbered in the order they were added. And the hash that wire's tables of texts use. */
#ifndef WIRE_NAMES_H
#define WIRE_NAMES_H

#include "wire/cell.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Not for secrets: tables built on it are small or bounded, so that crafted collisions cost little. */
uint64_t names_hash(const char *bytes, size_t n);

struct names {
    struct text *text; /* [n], the caller's memory */
    size_t n, capacity;
    uint32_t *slot; /* open addressing: index + 1, 0: free */
    size_t n_slots; /* a power of two, at least twice n; 0: none yet */
};
void names_done(struct names *names);
/* Adds a name that is not there yet; the bytes must stay. false: no memory. */
bool names_add(struct names *names, const char *bytes, size_t n);
ptrdiff_t names_find(const struct names *names, const char *bytes, size_t n); /* -1: none */

#endif
