/* A set of hashes in a hash table with open addressing. */
#include "formats/summary/text_set.h"

#include <stdlib.h>

enum { SLOTS = 32768 }; /* at most a third of the slots is used */

bool text_set_init(struct text_set *s) {
    *s = (struct text_set){.slot = calloc(SLOTS, sizeof *s->slot)};
    if (s->slot == NULL) {
        return false;
    }
    hash_key_make(&s->key);
    return true;
}

void text_set_done(struct text_set *s) {
    free(s->slot);
    *s = (struct text_set){0};
}

void text_set_add(struct text_set *s, const char *bytes, size_t n) {
    const uint64_t drawn = hash_keyed(&s->key, bytes, n), hash = drawn > 0 ? drawn : 1;
    size_t at = hash % SLOTS;
    while (s->slot[at] != 0 && s->slot[at] != hash) {
        at = (at + 1) % SLOTS;
    }
    if (s->slot[at] == hash) {
        return;
    }
    if (s->n == TALLY_MAX) {
        s->full = true;
        return;
    }
    s->slot[at] = hash;
    s->n++;
    s->size += n;
}
