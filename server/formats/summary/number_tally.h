/* Exact counts of at most TALLY_MAX distinct numbers, small integers apart. Private to formats. */
#ifndef FORMATS_NUMBER_TALLY_H
#define FORMATS_NUMBER_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NUMBER_SMALL 1024 /* integers 0 … NUMBER_SMALL - 1 have counters of their own */

struct number_count {
    double value;
    int64_t count;
};

struct number_tally {
    /* [n_small] count of the integer v; the caller ensures that it stays below 2^32 */
    uint32_t *small;
    size_t n_small; /* 0, 16, 64, 256 or NUMBER_SMALL */
    /* [n_slots] hash table of other numbers, open addressing; count 0: free */
    struct number_count *slot;
    size_t n_slots;  /* a power of two; 0: none yet */
    unsigned shift;  /* 64 - log2(n_slots) */
    uint64_t factor; /* random odd factor of the hash; the counts do not depend on it */
    size_t n;        /* used slots */
};
enum number_tally_status { NUMBER_TALLY_WELL, NUMBER_TALLY_FULL, NUMBER_TALLY_NO_MEMORY };

void number_tally_done(struct number_tally *t);
/* Counts a number, which is not NaN. FULL: it is not counted, since it is new and there are
 * TALLY_MAX others. */
enum number_tally_status number_tally_add(struct number_tally *t, double x);
/* Sets the count, above 0, of a number that has none; below 2^32 for a small integer. */
enum number_tally_status number_tally_set(struct number_tally *t, double x, int64_t count);
/* Grows the hash table to at least n_slots slots, a power of two. false: no memory. */
bool number_tally_reserve(struct number_tally *t, size_t n_slots);
/* Grows `small` to hold v < NUMBER_SMALL, so that the caller may count in it. false: no memory. */
bool number_tally_reach(struct number_tally *t, unsigned v);
size_t number_tally_memory(const struct number_tally *t);
size_t number_tally_distinct(const struct number_tally *t);
/* All numbers, ascending; malloc'ed, *n of them. NULL: no memory. */
struct number_count *number_tally_list(const struct number_tally *t, size_t *n);

#endif
