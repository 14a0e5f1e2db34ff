/* Suggestions for misspelled words. */
#ifndef DNI_SUGGEST_H
#define DNI_SUGGEST_H

#include <discern/algorithm.h>

/* Returns the choice that is most similar to `word`. Only ASCII letters and digits are compared,
 * without case. In this order:
 *
 *   1. the choice of a synonym
 *   2. a choice with the same letters
 *   3. a choice that differs by one typing error: a letter changed, added, omitted or two exchanged
 *   4. a choice that begins with the word, or with which the word begins
 *
 *   choices   NULL-terminated
 *   synonyms  NULL: none
 *
 * NULL: no choice is similar, or several are equally similar. */
const char *dni_suggest(const char *const *choices, const dn_synonym *synonyms, const char *word);

#endif
