/* Counts up to TALLY_MAX distinct texts by their 64-bit hashes, in 256 KiB. The result does not
 * depend on the order of the texts. Private to formats. */
#ifndef FORMATS_TEXT_SET_H
#define FORMATS_TEXT_SET_H

#include "formats/summary/tally.h"

struct text_set {
    uint64_t *slot; /* hash table with open addressing: the hash of a text; 0: free */
    struct hash_key key;
    size_t n;    /* number of distinct texts, at most TALLY_MAX */
    size_t size; /* bytes of the distinct texts */
    bool full;   /* there are more than TALLY_MAX distinct texts */
};

/* Returns false if out of memory. */
bool text_set_init(struct text_set *s);
void text_set_done(struct text_set *s);
/* Adds a text. The probability that any two different texts of the set are counted as one is at
 * most 10,000²/2^65; the key is random, so a client cannot increase it. */
void text_set_add(struct text_set *s, const char *bytes, size_t n);

#endif
