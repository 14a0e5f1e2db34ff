/* An index of a list of words: a hash table that maps a word to its position in the list. Words of
 * up to eight bytes are compared with the slot only, without access to the list. */
#ifndef DNI_WORD_INDEX_H
#define DNI_WORD_INDEX_H

#include "base/string_hash.h"
#include <discern/run.h>
#include <discern/table.h>

#define DNI_UNKNOWN_WORD UINT32_MAX

typedef struct dni_word_slot {
    uint64_t prefix; /* first eight bytes of the word; a shorter word is encoded as a number that
                      * is unique */
    uint32_t word;   /* position in the list; DNI_UNKNOWN_WORD: the slot is empty */
    uint32_t tail;   /* length of the word in the low bits, 24 bits of its hash in the high bits */
} dni_word_slot;

/* The index; {0} has no words. Memory is allocated by malloc. */
typedef struct dni_word_index {
    dni_word_slot *slots;
    size_t n_slots; /* a power of two, at least twice the number of words; or 0 */
    /* random, so that no client can choose words that collide; results of lookups do not depend on
     * it */
    uint64_t seed;
} dni_word_index;

/* Builds the index of `words`, which are different and have 1 … 255 bytes each. The stop function
 * of `run` is polled; run NULL: not polled. Errors: DN_ERR_MEMORY, DN_ERR_STOPPED, DN_ERR_TIME. */
DN_MUST_USE dn_status dni_word_index_make(dni_word_index *index, dn_strings words,
                                          const dn_run *run, dn_error *err);
void dni_word_index_done(dni_word_index *index);

/* The members of a slot that a lookup compares. */
typedef struct dni_word_key {
    uint64_t prefix;
    uint32_t tail;
    uint32_t hash;
} dni_word_key;

static inline dni_word_key dni_word_key_of(const dni_word_index *index, const char *word,
                                           size_t length) {
    dni_word_key key = {0};
    if (length >= 8) {
        memcpy(&key.prefix, word, 8);
    } else {
        key.prefix = dni_hash_short(word, length);
    }
    key.hash = length > 8 ? dni_string_hash(index->seed, word, length)
                          : (uint32_t)dni_hash_fold(key.prefix ^ index->seed,
                                                    (index->seed << 8 | length) * 2 + 1);
    key.tail = (key.hash & ~(uint32_t)0xff) | (uint32_t)length;
    return key;
}

/* Returns the position of a word in `words`, the list from which the index was built;
 * DNI_UNKNOWN_WORD: the word is not in the list. Thread-safe. */
static inline uint32_t dni_word_index_find(const dni_word_index *index, dn_strings words,
                                           const char *word, size_t length) {
    if (index->n_slots == 0) {
        return DNI_UNKNOWN_WORD;
    }
    dni_word_key key = dni_word_key_of(index, word, length);
    for (size_t at = key.hash & (index->n_slots - 1);; at = (at + 1) & (index->n_slots - 1)) {
        dni_word_slot slot = index->slots[at];
        if (slot.word == DNI_UNKNOWN_WORD) {
            return DNI_UNKNOWN_WORD;
        }
        if (slot.prefix == key.prefix && slot.tail == key.tail &&
            (length <= 8 || memcmp(words.bytes + words.start[slot.word], word, length) == 0)) {
            return slot.word;
        }
    }
}

#endif
