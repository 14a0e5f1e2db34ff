/* Exact counts of at most TALLY_MAX distinct numbers, not counting small integers. Private to
 * formats. */
#ifndef FORMATS_NUMBER_TALLY_H
#define FORMATS_NUMBER_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NUMBER_SMALL 1024 /* each integer in 0 … NUMBER_SMALL - 1 has a counter */

struct number_count {
    double value;
    int64_t count;
};

struct number_tally {
    /* [n_small] count of each integer; the caller ensures that it stays below 2^32 */
    uint32_t *small;
    size_t n_small; /* 0, 16, 64, 256 or NUMBER_SMALL */
    /* [n_slots] hash table of the other numbers, with open addressing; count 0: free */
    struct number_count *slot;
    size_t n_slots;  /* a power of two; 0: not allocated */
    unsigned shift;  /* 64 - log2(n_slots) */
    uint64_t factor; /* random odd factor of the hash; the counts do not depend on it */
    size_t n;        /* number of used slots */
};
enum number_tally_status { NUMBER_TALLY_WELL, NUMBER_TALLY_FULL, NUMBER_TALLY_NO_MEMORY };

void number_tally_done(struct number_tally *t);
/* Counts a number, which must not be NaN. FULL: the number is not counted, because it is new and
 * TALLY_MAX other numbers are counted. */
enum number_tally_status number_tally_add(struct number_tally *t, double x);
/* Sets the count of a number that has none. The count must be above 0, and below 2^32 for a small
 * integer. */
enum number_tally_status number_tally_set(struct number_tally *t, double x, int64_t count);
/* Grows the hash table to at least n_slots slots, a power of two. Returns false if out of
 * memory. */
bool number_tally_reserve(struct number_tally *t, size_t n_slots);
/* Grows `small` to more than v elements, v < NUMBER_SMALL. Returns false if out of memory. */
bool number_tally_reach(struct number_tally *t, unsigned v);
size_t number_tally_memory(const struct number_tally *t);
size_t number_tally_distinct(const struct number_tally *t);
/* Whether some numbers are not whole. */
bool number_tally_has_fractions(const struct number_tally *t);
/* Returns all numbers in ascending order, malloc'ed; *n: their number. Returns NULL if out of
 * memory. */
struct number_count *number_tally_list(const struct number_tally *t, size_t *n);

#endif
