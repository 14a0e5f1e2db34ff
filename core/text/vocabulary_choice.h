/* The choice of the words that become features. */
#ifndef DNI_VOCABULARY_CHOICE_H
#define DNI_VOCABULARY_CHOICE_H

#include "text/vocabulary_tally.h"

/* A candidate word. */
typedef struct dni_candidate {
    uint64_t units;  /* total weight of the rows that contain the word, in integer units */
    uint64_t prefix; /* first eight bytes of the word, big-endian; they decide most comparisons */
    const dni_tally_word *word;
} dni_candidate;

/* Chooses words for the vocabulary. Candidates are the words that occur in at least min_rows rows
 * (a larger value than UINT32_MAX is treated as UINT32_MAX). Of these, the `most` (>= 1) words
 * with the most units are chosen; of words with equal units the first in byte order is preferred.
 * *out [*out_n] is in byte order, points into the tally and is freed by dn_run_free.
 *
 * Cost: O(n + most log most); 48 bytes of the run's memory for each of min(most, n) words. Errors:
 * DN_ERR_BUDGET, DN_ERR_MEMORY without a message; DN_ERR_STOPPED, DN_ERR_TIME. */
DN_MUST_USE dn_status dni_vocabulary_choose(const dni_tally *tally, size_t most, size_t min_rows,
                                            dni_candidate **out, size_t *out_n, dn_error *err);

#endif
