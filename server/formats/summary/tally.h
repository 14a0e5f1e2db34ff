/* Counting texts exactly while not too many are different: how often each occurs. Private to
 * formats. */
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
    struct hash_key key; /* drawn with the first slots: what collides is known to nobody, and what
                            is counted does not depend on it */
    char *bytes;         /* the texts, one after the other */
    size_t size, bytes_capacity;
};
enum tally_status { TALLY_WELL, TALLY_FULL, TALLY_NO_MEMORY };

void tally_done(struct tally *t);
/* Counts a text `count` times more. FULL: it is new, and TALLY_MAX are there; it was not counted.
 */
enum tally_status tally_add(struct tally *t, const char *bytes, size_t n, int64_t count);
/* Room for at least `capacity` entries. false: no memory. */
bool tally_reserve(struct tally *t, size_t capacity);
/* The text of an entry. */
static inline const char *tally_text(const struct tally *t, const struct tally_entry *entry) {
    return entry->length > 0 ? t->bytes + entry->start : "";
}
size_t tally_memory(const struct tally *t);
/* The k most frequent in order (count descending, then by bytes) into out; returns how many (at
 * most k). */
size_t tally_top(const struct tally *t, struct tally_entry *out, size_t k);

#endif
