/* How many texts are different, up to TALLY_MAX, by their hashes only: 256 KiB however long they
 * are. What is found is the same in whatever order they come. Private to formats. */
#ifndef WIRE_TEXT_SET_H
#define WIRE_TEXT_SET_H

#include "formats/summary/tally.h"

struct text_set {
    uint64_t *slot; /* open addressing: a hash, 0: free */
    struct hash_key key;
    size_t n;    /* different texts, TALLY_MAX at most */
    size_t size; /* bytes of them */
    bool full;   /* there are more: they are not counted */
};

/* false: no memory. */
bool text_set_init(struct text_set *s);
void text_set_done(struct text_set *s);
/* Two texts are taken for one with a probability of 10,000²/2^65 in all, which nobody can raise. */
void text_set_add(struct text_set *s, const char *bytes, size_t n);

#endif
