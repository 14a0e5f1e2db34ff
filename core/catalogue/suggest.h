/* What a word that is none of the choices was probably meant to be. */
#ifndef DNI_SUGGEST_H
#define DNI_SUGGEST_H

#include <discern/algorithm.h>

/* The choice (NULL-terminated) that the word is but for its case, for what is no letter or digit, for its end, or for a slip of the pen; before that what `synonyms` say (NULL: none).
 * NULL: nothing is near, or several are equally so. */
const char *dni_suggest(const char *const *choices, const dn_synonym *synonyms, const char *word);

#endif
