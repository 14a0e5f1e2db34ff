/* The choice of the words that become features. */
#ifndef DNI_VOCABULARY_CHOICE_H
#define DNI_VOCABULARY_CHOICE_H

#include "text/vocabulary_tally.h"

/* A candidate word. */
typedef struct dni_candidate {
    uint64_t units;  /* its rows' weight */
    uint64_t prefix; /* its first eight bytes, big-endian: decides most comparisons */
    const dni_tally_word *word;
} dni_candidate;

/* Chooses among the words that at least min_rows rows have (values above UINT32_MAX count as
 * that), at most `most` (>= 1) words: those with the most units, among equals the first in byte
 * order. *out [*out_n] is in byte order, points into the tally and is released by dn_run_free.
 *
 * Cost: O(n + most log most); 48 bytes of the run for each of min(most, n) words.
 * Errors: DN_ERR_BUDGET, DN_ERR_MEMORY without a message; DN_ERR_STOPPED, DN_ERR_TIME. */
DN_MUST_USE dn_status dni_vocabulary_choose(const dni_tally *tally, size_t most, size_t min_rows,
                                            dni_candidate **out, size_t *out_n, dn_error *err);

#endif
