/* What the texts of a column are made of: words, how many of them are different, the longest text.
 * Words are those of <discern/text.h>, lower-cased. Private to formats. */
#ifndef WIRE_COLUMN_WORDS_H
#define WIRE_COLUMN_WORDS_H

#include "formats/summary/distinct_sketch.h"

struct column_words {
    int64_t n;                       /* words of all texts */
    size_t longest;                  /* bytes of the longest text */
    int64_t bytes;                   /* of all texts */
    struct distinct_sketch distinct; /* the words */
};

/* distinct_sketch_init's arguments; NULL: no memory. */
struct column_words *column_words_new(unsigned bits);
void column_words_free(struct column_words *words);
/* A text that occurs so many times. About 3 ns for a word of less than eight bytes of ASCII, which
 * most are. */
void column_words_add(struct column_words *words, const char *text, size_t n, int64_t times);

#endif
