/* Counting numbers exactly while not too many are different: how often each occurs. Private to
 * formats. */
#ifndef WIRE_NUMBER_TALLY_H
#define WIRE_NUMBER_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NUMBER_SMALL 1024 /* the integers below are counted by themselves */

struct number_count {
    double value;
    int64_t count;
};

struct number_tally {
    uint32_t *small; /* [n_small] how often the integer v occurs; what it holds is below 2^32: the
                        caller sees to it */
    size_t n_small;  /* 0, 16, 64, 256 or NUMBER_SMALL */
    struct number_count *slot; /* [n_slots] open addressing of the others; count 0: free */
    size_t n_slots;            /* a power of two; 0: none yet */
    unsigned shift;            /* 64 less the binary logarithm of n_slots */
    uint64_t factor; /* random and odd, drawn with the first slots; what is counted does not depend
                        on it */
    size_t n;        /* in slot */
};
enum number_tally_status { NUMBER_TALLY_WELL, NUMBER_TALLY_FULL, NUMBER_TALLY_NO_MEMORY };

void number_tally_done(struct number_tally *t);
/* Counts a number (no NaN). FULL: it is new, and TALLY_MAX are there; it was not counted. */
enum number_tally_status number_tally_add(struct number_tally *t, double x);
/* Sets the count of a number that was not counted before, 0 < count; below 2^32 for a small
 * integer. */
enum number_tally_status number_tally_set(struct number_tally *t, double x, int64_t count);
/* At least n_slots slots, a power of two. false: no memory. */
bool number_tally_reserve(struct number_tally *t, size_t n_slots);
/* Room for the small integers up to v < NUMBER_SMALL, which may then be counted in `small`
 * directly. false: no memory. */
bool number_tally_reach(struct number_tally *t, unsigned v);
size_t number_tally_memory(const struct number_tally *t);
size_t number_tally_distinct(const struct number_tally *t);
/* All of them, ascending, malloc'ed, *n of them; NULL: no memory. */
struct number_count *number_tally_list(const struct number_tally *t, size_t *n);

#endif
