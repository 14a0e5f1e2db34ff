/* How many different values there are, about, in little memory: HyperLogLog. Fed with hashes that
 * have no key, so that the same values give the same count everywhere; their order and how often
 * each comes do not matter. Private to formats.
 *
 * Flajolet, Fusy, Gandouet, Meunier, HyperLogLog, AofA 2007; the estimate is Ertl's, New
 * cardinality estimation algorithms for HyperLogLog sketches, arXiv:1702.01284, algorithm 6:
 * without bias from nothing to 2^64, no ranges to switch between. Standard error 1.04/√2^bits. */
#ifndef WIRE_DISTINCT_SKETCH_H
#define WIRE_DISTINCT_SKETCH_H

#include "formats/text/scan.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define DISTINCT_MIN_BITS 7
#define DISTINCT_MAX_BITS 12

struct distinct_sketch {
    uint8_t *rank;    /* [2^bits] the greatest rank of a hash that fell there; NULL: not begun, it
                         counts nothing */
    unsigned bits;    /* DISTINCT_MIN_BITS … DISTINCT_MAX_BITS */
    uint8_t least;    /* of the ranks */
    uint32_t n_least; /* how many ranks are no greater */
    uint64_t idle; /* a hash with one of these bits has no greater rank than the least: it changes
                      nothing, as most do in the end */
};

/* false: no memory. */
bool distinct_sketch_init(struct distinct_sketch *s, unsigned bits);
/* Of stored ranks, [2^bits], each at most distinct_max_rank(bits). false: no memory. */
bool distinct_sketch_load(struct distinct_sketch *s, unsigned bits, const uint8_t *rank);
static inline unsigned distinct_max_rank(unsigned bits) {
    return 65 - bits;
}
void distinct_sketch_done(struct distinct_sketch *s);
size_t distinct_sketch_memory(const struct distinct_sketch *s);

/* A hash that may have a greater rank than others had. */
void distinct_sketch_raise(struct distinct_sketch *s, uint64_t hash);

static inline void distinct_sketch_add(struct distinct_sketch *s, uint64_t hash) {
    if (SCAN_UNLIKELY((hash & s->idle) == 0)) {
        distinct_sketch_raise(s, hash);
    }
}

/* A bijection that leaves no pattern in the bits: the finish of MurmurHash3. */
static inline uint64_t distinct_mix(uint64_t x) {
    x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
    x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ x >> 33;
}

/* -0 is 0. */
static inline uint64_t distinct_hash_number(double x) {
    const double y = x + 0.0;
    uint64_t bits = 0;
    memcpy(&bits, &y, sizeof bits);
    return distinct_mix(bits);
}

/* Of a text of n bytes. It begins with distinct_hash_length(n), and is distinct_mix(that ^ the
 * bytes as a number, the first the least significant) for less than eight. */
uint64_t distinct_hash_bytes(const char *bytes, size_t n);
static inline uint64_t distinct_hash_length(size_t n) {
    return distinct_mix(n + UINT64_C(0x9e3779b97f4a7c15));
}

/* How many different hashes were added, about. */
int64_t distinct_sketch_estimate(const struct distinct_sketch *s);
/* The standard error of that, relative. */
double distinct_sketch_error(const struct distinct_sketch *s);

#endif
