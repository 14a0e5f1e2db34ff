/* The hash of a word that selects its bucket. */
#ifndef DNI_WORDS_H
#define DNI_WORDS_H

#include <discern/text.h>
#include <stdint.h>

/* Returns the 64-bit FNV-1a hash of the bytes of a word: h = 14695981039346656037; for each byte h
 * = (h xor byte) × 1099511628211 modulo 2^64. It has no seed and must never change: models depend
 * on it. */
static inline uint64_t dni_word_hash(const char *word, size_t length) {
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < length; i++) {
        hash = (hash ^ (unsigned char)word[i]) * UINT64_C(1099511628211);
    }
    return hash;
}

#endif
