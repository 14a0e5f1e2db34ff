/* The words of a text, one after the other.
 *
 * A word is a maximal run of letters (L), marks (M), numbers (N) of Unicode and "_" that does not begin with a mark: the \w of regular expressions. Marks belong to it so that words of scripts
 * that write vowels as marks (and letters with combining accents) stay whole; Python's re, which leaves them out, divides there and agrees elsewhere. A mark behind something else, as in an
 * emoji that is to be shown in colour, belongs to that and to no word. Words of one character count. Each character is lower-cased by
 * itself (Unicode's simple mapping: "İ" becomes "i", "Σ" becomes "σ" at the end of a word too) unless case is kept. Bytes that are no UTF-8 stand between words.
 * A word of more than DN_MAX_WORD_BYTES bytes counts once, as the characters at its beginning that fit. */
#ifndef DISCERN_TEXT_H
#define DISCERN_TEXT_H

#include <discern/api.h>
#include <stdbool.h>
#include <stddef.h>

DN_BEGIN_DECLS

#define DN_MAX_WORD_BYTES 255

/* Where a reader of words is. The caller's, of one thread; nothing in it is freed. */
typedef struct dn_words {
    const char *next, *end; /* of the text not yet read, which must outlive it */
    bool keep_case;
    char word[DN_MAX_WORD_BYTES + 1]; /* the word found last, no NUL */
} dn_words;

/* The words of text [length], from the first; text may be NULL when length is 0. */
static inline void
dn_words_begin(dn_words *words, const char *text, size_t length, bool keep_case) {
    words->next = text;
    words->end = length == 0 ? text : text + length;
    words->keep_case = keep_case;
}
/* The next word: its length in bytes, at least 1, and its bytes in words->word, UTF-8. 0: there is none. About 5 ns for a word of ASCII. Different dn_words may be read at the same time. */
size_t dn_words_next(dn_words *words);

DN_END_DECLS

#endif
