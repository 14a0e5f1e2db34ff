/* Suggestions for misspelled words. */
#ifndef DNI_SUGGEST_H
#define DNI_SUGGEST_H

#include <discern/algorithm.h>

/* Returns the choice that is most similar to `word`. Only ASCII letters and digits are compared,
 * without case. In this order of preference:
 *
 *   1. the choice of which `word` is a synonym
 *   2. a choice with the same letters
 *   3. a choice that differs by one typing error: a letter changed, added or omitted, or two
 *      adjacent letters exchanged
 *   4. a choice of which the word is a prefix, or that is a prefix of the word
 *
 *   choices   NULL-terminated
 *   synonyms  NULL: none
 *
 * Returns NULL if no choice is similar, or if several are equally similar. */
const char *dni_suggest(const char *const *choices, const dn_synonym *synonyms, const char *word);

#endif
