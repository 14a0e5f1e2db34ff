/* Counts up to TALLY_MAX distinct texts by their 64-bit hashes, in 256 KiB. The result does not
 * depend on their order. Private to formats. */
#ifndef FORMATS_TEXT_SET_H
#define FORMATS_TEXT_SET_H

#include "formats/summary/tally.h"

struct text_set {
    uint64_t *slot; /* hash table, open addressing: a hash; 0: free */
    struct hash_key key;
    size_t n;    /* distinct texts, at most TALLY_MAX */
    size_t size; /* bytes of the distinct texts */
    bool full;   /* there are more than TALLY_MAX */
};

/* false: no memory. */
bool text_set_init(struct text_set *s);
void text_set_done(struct text_set *s);
/* Adds a text. Two different texts are counted as one with a probability of 10,000²/2^65 for the
 * whole set; the key is random, so a sender cannot raise it. */
void text_set_add(struct text_set *s, const char *bytes, size_t n);

#endif
