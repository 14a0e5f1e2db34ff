/* Splits a text into words.
 *
 * A word is a maximal run of letters (L), marks (M) and numbers (N) of Unicode and "_" that does
 * not begin with a mark: \w of regular expressions. Marks belong to words, so that words of
 * scripts that write vowels as marks, and letters with combining accents, are not split.
 * (Python's re does not include marks and splits there; otherwise it gives the same words.) A
 * mark that follows another character, as in coloured emoji, belongs to no word. Words may have
 * one character. Bytes that are not UTF-8 separate words.
 *
 * Each character is converted to lower case unless case is kept. The mapping is Unicode's simple
 * one: "İ" becomes "i", and "Σ" becomes "σ", also at the end of a word. A word of more than
 * DN_MAX_WORD_BYTES bytes is one word, cut after the last character that fits. */
#ifndef DISCERN_TEXT_H
#define DISCERN_TEXT_H

#include <discern/api.h>
#include <stdbool.h>
#include <stddef.h>

DN_BEGIN_DECLS

#define DN_MAX_WORD_BYTES 255

/* A reader of the words of a text. Used by one thread; it does not own memory. */
typedef struct dn_words {
    const char *next, *end; /* rest of the text, in memory of the caller */
    bool keep_case;
    char word[DN_MAX_WORD_BYTES + 1]; /* the word that was read last, not NUL-terminated */
} dn_words;

/* Starts reading text [length]. text may be NULL if length is 0. */
static inline void
dn_words_begin(dn_words *words, const char *text, size_t length, bool keep_case) {
    words->next = text;
    words->end = length == 0 ? text : text + length;
    words->keep_case = keep_case;
}
/* Reads the next word into words->word, as UTF-8. Returns its length in bytes; 0: no word is left.
 * About 5 ns for an ASCII word. Different readers may be used concurrently. */
size_t dn_words_next(dn_words *words);

DN_END_DECLS

#endif
