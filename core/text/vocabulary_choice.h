/* Which of the words counted become features. */
#ifndef DNI_VOCABULARY_CHOICE_H
#define DNI_VOCABULARY_CHOICE_H

#include "text/vocabulary_tally.h"

/* A word that may be chosen. */
typedef struct dni_candidate {
    uint64_t units; /* the word's */
    uint64_t
        front; /* its first eight bytes, the first the most significant: what most comparisons need */
    const dni_tally_word *word;
} dni_candidate;

/* The words of a tally that have at least min_rows rows (beyond UINT32_MAX that many), at most `most` (>= 1) of them: those of greatest units, among equals the first by bytes. In the order of their
 * bytes. *out [*out_n] points into the tally and is freed by dn_run_free. 48 bytes for each of the fewer of `most` and the tally's words, of the run; O(n + most·log most). DN_ERR_BUDGET,
 * DN_ERR_MEMORY without a message; DN_ERR_STOPPED, DN_ERR_TIME. */
DN_MUST_USE dn_status dni_vocabulary_choose(const dni_tally *tally, size_t most, size_t min_rows,
                                            dni_candidate **out, size_t *out_n, dn_error *err);

#endif
