/* Counting what is distinct, up to a limit: texts with how often each occurs, numbers without. */
#ifndef WIRE_TALLY_H
#define WIRE_TALLY_H

#include "base/hash.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TALLY_MAX 10000 /* distinct values that are counted exactly */

struct tally_entry {
    uint64_t hash;
    int64_t count;
    size_t start, length; /* in `bytes` */
};
struct tally {
    struct tally_entry *entry; /* [n], in order of first appearance */
    size_t n, capacity;
    uint32_t *slot; /* open addressing: index + 1, 0: free */
    size_t n_slots;
    struct hash_key key; /* drawn with the first slots: what collides is known to nobody, and what is counted does not depend on it */
    char *bytes;         /* the texts, one after the other */
    size_t size, bytes_capacity;
    bool over; /* there were too many, or no room: nothing is counted any longer, the memory is given back */
    bool many; /* with over: there were more than TALLY_MAX */
};
void tally_done(struct tally *t);
void tally_drop(struct tally *t); /* over from now on */
/* Counts a text `count` times more. false: no memory. */
bool tally_add(struct tally *t, const char *bytes, size_t n, int64_t count);
size_t tally_memory(const struct tally *t);
/* The k most frequent in order (count descending, then by bytes) into out; returns how many (at most k). */
size_t tally_top(const struct tally *t, struct tally_entry *out, size_t k);

struct number_set {
    uint64_t small[16]; /* bit v: the integer v (0 … 1023) was seen */
    double *slot;       /* open addressing of the others; NaN: free */
    size_t n_slots;     /* a power of two; 0: none yet */
    unsigned shift;     /* 64 less the binary logarithm of n_slots */
    uint64_t factor;    /* random and odd, drawn with the first slots */
    size_t n, n_small;  /* distinct ones in slot, in small */
    bool over, many;    /* as in a tally */
};
void number_set_done(struct number_set *s);
void number_set_drop(struct number_set *s);
/* Adds a number that is none of 0 … 1023 as an integer, nor NaN. false: no memory. */
bool number_set_add(struct number_set *s, double x);
static inline void number_set_add_small(struct number_set *s, unsigned v) {
    const uint64_t bit = UINT64_C(1) << (v & 63);
    s->n_small += (s->small[v >> 6] & bit) == 0;
    s->small[v >> 6] |= bit;
}
size_t number_set_memory(const struct number_set *s);

#endif
