/* Estimates the number of distinct values with HyperLogLog. Private to formats.
 *
 * Hashes of the values are added. The hash function has no key, so the same set of values always
 * gives the same estimate, in any order and with any counts.
 *
 * Source: Flajolet, Fusy, Gandouet, Meunier, HyperLogLog, AofA 2007. The estimate is algorithm 6 of
 * Ertl, New cardinality estimation algorithms for HyperLogLog sketches, arXiv:1702.01284, which has
 * no bias from 0 to 2^64. Standard error: 1.04/√2^bits. */
#ifndef FORMATS_DISTINCT_SKETCH_H
#define FORMATS_DISTINCT_SKETCH_H

#include "formats/text/scan.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define DISTINCT_MIN_BITS 7
#define DISTINCT_MAX_BITS 12

struct distinct_sketch {
    /* [2^bits] registers: the largest rank of the hashes with this index; NULL: no sketch */
    uint8_t *rank;
    unsigned bits;    /* log2 of the number of registers: DISTINCT_MIN_BITS … DISTINCT_MAX_BITS */
    uint8_t least;    /* smallest value of a register */
    uint32_t n_least; /* number of registers with the value `least` */
    /* a hash in which one of these bits is set has a rank of at most `least`, so it changes no
     * register */
    uint64_t idle;
};

/* Returns false if out of memory. */
bool distinct_sketch_init(struct distinct_sketch *s, unsigned bits);
/* Makes a sketch from stored registers rank[2^bits], each at most distinct_max_rank(bits). Returns
 * false if out of memory. */
bool distinct_sketch_load(struct distinct_sketch *s, unsigned bits, const uint8_t *rank);
static inline unsigned distinct_max_rank(unsigned bits) {
    return 65 - bits;
}
void distinct_sketch_done(struct distinct_sketch *s);
size_t distinct_sketch_memory(const struct distinct_sketch *s);

/* Adds a hash to its register. */
void distinct_sketch_raise(struct distinct_sketch *s, uint64_t hash);

static inline void distinct_sketch_add(struct distinct_sketch *s, uint64_t hash) {
    if (SCAN_UNLIKELY((hash & s->idle) == 0)) {
        distinct_sketch_raise(s, hash);
    }
}

/* The finalizer of MurmurHash3: a bijection. If one bit of x changes, each bit of the result
 * changes with a probability of about 1/2. */
static inline uint64_t distinct_mix(uint64_t x) {
    x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
    x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ x >> 33;
}

/* Returns the hash of a number; 0 and -0 have the same hash. */
static inline uint64_t distinct_hash_number(double x) {
    const double y = x + 0.0;
    uint64_t bits = 0;
    memcpy(&bits, &y, sizeof bits);
    return distinct_mix(bits);
}

/* Returns the hash of n bytes. For n < 8 it is distinct_mix(distinct_hash_length(n) ^ w), where w
 * is the little-endian number of the bytes. */
uint64_t distinct_hash_bytes(const char *bytes, size_t n);
static inline uint64_t distinct_hash_length(size_t n) {
    return distinct_mix(n + UINT64_C(0x9e3779b97f4a7c15));
}

/* Returns the estimated number of distinct hashes. */
int64_t distinct_sketch_estimate(const struct distinct_sketch *s);
/* Returns the relative standard error of the estimate. */
double distinct_sketch_error(const struct distinct_sketch *s);

#endif
