/* Suggestions for misspelled words. */
#include "catalogue/suggest.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum {
    MAX_LETTERS = 32, /* number of letters that are compared */
    /* minimum length of a matching prefix, and of a word that is compared for typing errors */
    MIN_LETTERS = 3
};

struct letters {
    char text[MAX_LETTERS + 1];
    size_t n;
};

/* Returns the first MAX_LETTERS ASCII letters and digits of a word, in lower case. */
static struct letters letters_of(const char *word) {
    struct letters out = {.n = 0};
    for (; *word != '\0' && out.n < MAX_LETTERS; word++) {
        const bool large = *word >= 'A' && *word <= 'Z';
        if (large || (*word >= 'a' && *word <= 'z') || (*word >= '0' && *word <= '9')) {
            out.text[out.n++] = (char)(large ? *word - 'A' + 'a' : *word);
        }
    }
    out.text[out.n] = '\0';
    return out;
}

static bool begins(const struct letters *whole, const struct letters *beginning) {
    return beginning->n >= MIN_LETTERS && beginning->n <= whole->n &&
           memcmp(whole->text, beginning->text, beginning->n) == 0;
}

/* Returns true if the words differ by one typing error: one letter changed, added or omitted, or
 * two adjacent letters exchanged. */
static bool is_slip(const struct letters *a, const struct letters *b) {
    size_t same = 0, end = 0;
    if (a->n > b->n) {
        return is_slip(b, a);
    }
    if (a->n < MIN_LETTERS || b->n - a->n > 1) {
        return false;
    }
    while (same < a->n && a->text[same] == b->text[same]) {
        same++;
    }
    while (end < a->n - same && a->text[a->n - 1 - end] == b->text[b->n - 1 - end]) {
        end++;
    }
    const size_t left = b->n - same - end; /* number of letters of the longer word between the
                                            * common prefix and the common suffix */
    return left <= 1 || (left == 2 && a->n == b->n && a->text[same] == b->text[same + 1] &&
                         a->text[same + 1] == b->text[same]);
}

/* Returns the similarity: 3 × MAX_LETTERS if all letters are equal, 2 × MAX_LETTERS for one typing
 * error, the length of the shorter word if it is a prefix of the other word, otherwise 0. */
static size_t similarity(const struct letters *choice, const struct letters *given) {
    if (strcmp(choice->text, given->text) == 0) {
        return 3 * MAX_LETTERS;
    }
    if (is_slip(choice, given)) {
        return 2 * MAX_LETTERS;
    }
    return begins(choice, given) ? given->n : begins(given, choice) ? choice->n : 0;
}

const char *dni_suggest(const char *const *choices, const dn_synonym *synonyms, const char *word) {
    const struct letters given = letters_of(word);
    const char *found = NULL;
    size_t best = 0;
    bool unique = false;
    for (size_t i = 0; synonyms != NULL && synonyms[i].word != NULL; i++) {
        if (strcmp(synonyms[i].word, given.text) == 0) {
            return synonyms[i].choice;
        }
    }
    for (size_t i = 0; given.n > 0 && choices[i] != NULL; i++) {
        const struct letters choice = letters_of(choices[i]);
        const size_t here = similarity(&choice, &given);
        if (here == 0 || here < best) {
            continue;
        }
        unique = here > best;
        best = here;
        found = choices[i];
    }
    for (size_t i = 0; found == NULL && synonyms != NULL && synonyms[i].word != NULL; i++) {
        const struct letters synonym = letters_of(synonyms[i].word);
        if (is_slip(&synonym, &given)) {
            return synonyms[i].choice;
        }
    }
    return unique ? found : NULL;
}
