/* A hash of byte strings for hash tables in memory. The seed is secret, so that a client cannot
 * choose strings that collide. Hashes differ between machines and must not affect results. */
#ifndef DNI_STRING_HASH_H
#define DNI_STRING_HASH_H

#include "base/cpu.h"
#include <stddef.h>
#include <string.h>

/* Returns the xor of the high and the low half of the 128-bit product. */
static inline uint64_t dni_hash_fold(uint64_t a, uint64_t b) {
    dni_wide product = dni_wide_product(a, b);
    return product.high ^ product.low;
}

/* Maps fewer than eight bytes to a number that is unique among strings of the same length. It has
 * no loop, because most words are this short. */
static inline uint64_t dni_hash_short(const char *text, size_t length) {
    uint32_t first = 0, last = 0;
    if (length >= 4) {
        memcpy(&first, text, 4);
        memcpy(&last, text + length - 4, 4);
        return (uint64_t)first << 32 | last;
    }
    if (length == 0) {
        return 0;
    }
    return (uint64_t)(unsigned char)text[0] << 16 | (uint64_t)(unsigned char)text[length / 2] << 8 |
           (unsigned char)text[length - 1];
}

/* Hashes eight bytes per step: each step combines them with the hash by a 128-bit product with
 * secret operands. */
static inline uint32_t dni_string_hash(uint64_t seed, const char *text, size_t length) {
    const uint64_t k1 = UINT64_C(0x9e3779b97f4a7c15), k2 = UINT64_C(0xd6e8feb86659fd93);
    uint64_t h = seed ^ (k1 * ((uint64_t)length + 1));
    uint64_t word;
    for (; length >= 8; text += 8, length -= 8) {
        memcpy(&word, text, 8);
        h = dni_hash_fold(h ^ word ^ k2, seed | k1) + k1;
    }
    return (uint32_t)dni_hash_fold(h ^ dni_hash_short(text, length) ^ k2, (seed ^ k2) | 1);
}

#endif
