/* Words of the texts of a column: the number of words, a sketch of the distinct words, the longest
 * text. Words are those of <discern/text.h>, in lower case. Private to formats. */
#ifndef FORMATS_COLUMN_WORDS_H
#define FORMATS_COLUMN_WORDS_H

#include "formats/summary/distinct_sketch.h"

struct column_words {
    int64_t n;                       /* number of words */
    size_t longest;                  /* length of the longest text in bytes */
    int64_t bytes;                   /* bytes of all texts */
    struct distinct_sketch distinct; /* sketch of the distinct words */
};

/* bits: of the sketch. Returns NULL if out of memory. */
struct column_words *column_words_new(unsigned bits);
void column_words_free(struct column_words *words);
/* Adds a text that occurs `times` times. Cost: about 3 ns for an ASCII word of fewer than 8 bytes.
 */
void column_words_add(struct column_words *words, const char *text, size_t n, int64_t times);

#endif
