/* Exact counts of at most TALLY_MAX distinct texts. Private to formats. */
#ifndef FORMATS_TALLY_H
#define FORMATS_TALLY_H

#include "base/hash.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TALLY_MAX 10000 /* limit of the distinct values that are counted exactly */

struct tally_entry {
    uint64_t hash;
    int64_t count;
    size_t start, length; /* the text is bytes[start … start + length - 1] */
};
struct tally {
    struct tally_entry *entry; /* [n], in order of first appearance */
    size_t n, capacity;
    uint32_t *slot; /* [n_slots] hash table with open addressing: 1 + index of an entry; 0: free */
    size_t n_slots;
    /* random key of the hash, so that a client cannot choose texts that collide; the counts do not
     * depend on it */
    struct hash_key key;
    char *bytes; /* [size] the texts, one after the other */
    size_t size, bytes_capacity;
};
enum tally_status { TALLY_WELL, TALLY_FULL, TALLY_NO_MEMORY };

void tally_done(struct tally *t);
/* Adds `count` to the count of a text. FULL: the text is not counted, because it is new and
 * TALLY_MAX other texts are counted. */
enum tally_status tally_add(struct tally *t, const char *bytes, size_t n, int64_t count);
/* Reserves memory for at least `capacity` entries. Returns false if out of memory. */
bool tally_reserve(struct tally *t, size_t capacity);
/* Returns the text of an entry. */
static inline const char *tally_text(const struct tally *t, const struct tally_entry *entry) {
    return entry->length > 0 ? t->bytes + entry->start : "";
}
size_t tally_memory(const struct tally *t);
/* Copies the k most frequent entries to `out`, sorted by descending count, then by bytes. Returns
 * the number of entries copied, at most k. */
size_t tally_top(const struct tally *t, struct tally_entry *out, size_t k);

#endif
