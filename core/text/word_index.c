/* Builds the index of a list of words. The final size is known, so that the table does not grow. */
#include "text/word_index.h"

#include <stdlib.h>

#define WORDS_A_POLL ((size_t)1 << 16)

void dni_word_index_done(dni_word_index *index) {
    free(index->slots);
    *index = (dni_word_index){0};
}

dn_status dni_word_index_make(dni_word_index *index, dn_strings words, const dn_run *run,
                              dn_error *err) {
    size_t n_slots = 16;
    while (n_slots / 2 < words.n) {
        n_slots *= 2;
    }
    dni_word_slot *slots = malloc(n_slots * sizeof *slots);
    if (slots == NULL) {
        return dn_error_set(
            err, DN_ERR_MEMORY,
            "a vocabulary of %zu words needs %zu bytes of memory, which the system does not have",
            words.n, n_slots * sizeof *slots);
    }
    memset(slots, 0xff, n_slots * sizeof *slots);
    dni_word_index made = {.slots = slots, .n_slots = n_slots};
    made.seed = (uint64_t)(uintptr_t)slots * UINT64_C(0xd6e8feb86659fd93) ^
                (uint64_t)(uintptr_t)index; /* random seed, unknown to clients */
    for (size_t i = 0; i < words.n; i++) {
        dn_status status = i % WORDS_A_POLL == WORDS_A_POLL - 1 ? dn_run_stop(run, err) : DN_OK;
        if (status != DN_OK) {
            free(slots);
            return status;
        }
        dni_word_key key = dni_word_key_of(&made, words.bytes + words.start[i],
                                           words.start[i + 1] - words.start[i]);
        size_t at = key.hash & (n_slots - 1);
        while (slots[at].word != DNI_UNKNOWN_WORD) {
            at = (at + 1) & (n_slots - 1);
        }
        slots[at] = (dni_word_slot){.prefix = key.prefix, .word = (uint32_t)i, .tail = key.tail};
    }
    *index = made;
    return DN_OK;
}
