/* Counts the words of texts, and adds them to a sketch of distinct words. Words are those of
 * <discern/text.h>. Most words are short and ASCII: they are found, converted to lower case and
 * hashed in a register, without dn_words_next. */
#include "formats/summary/column_words.h"
#include "formats/text/scan.h"

#include <discern/text.h>
#include <stdlib.h>

/* bytes that are read at once; a short word has fewer, so the byte after it is read too */
enum { SHORT = 8 };

/* Sets the top bit of each byte in first … last. All eight bytes must be below 0x80. */
SCAN_INLINE uint64_t within(uint64_t bytes, unsigned first, unsigned last) {
    return (bytes + SCAN_ONES * (0x80 - first)) & ~(bytes + SCAN_ONES * (0x7f - last)) & SCAN_HIGHS;
}

/* Returns the length of the ASCII word at the beginning of eight bytes; 0: there is none; SHORT:
 * the word has at least SHORT bytes, or is not ASCII. *lower: the word in lower case. */
SCAN_INLINE size_t short_word(uint64_t bytes, uint64_t *lower) {
    const uint64_t low = bytes & ~SCAN_HIGHS, letters = low | SCAN_ONES * 0x20;
    const uint64_t in_word =
        (within(letters, 'a', 'z') | within(low, '0', '9') | within(low, '_', '_')) & ~bytes;
    /* `first` is the top bit of the first byte after the word */
    const uint64_t others = in_word ^ SCAN_HIGHS, first = others & (~others + 1);
    if (SCAN_UNLIKELY(others == 0 || (bytes & first) != 0)) {
        return SHORT;
    }
    const uint64_t capitals = within(low, 'A', 'Z');
    /* 0x80 >> 2 is 0x20, the bit in which 'a' and 'A' differ. The mask keeps the bytes before
     * `first`. */
    *lower = (bytes | capitals >> 2) & ((first >> 7) - 1);
    return scan_first(first);
}

struct column_words *column_words_new(unsigned bits) {
    struct column_words *words = calloc(1, sizeof *words);
    if (words != NULL && !distinct_sketch_init(&words->distinct, bits)) {
        free(words);
        words = NULL;
    }
    return words;
}

void column_words_free(struct column_words *words) {
    if (words != NULL) {
        distinct_sketch_done(&words->distinct);
        free(words);
    }
}

void column_words_add(struct column_words *words, const char *text, size_t n, int64_t times) {
    uint64_t begun[SHORT], lower = 0;
    dn_words reader;
    int64_t found = 0;
    words->longest = n > words->longest ? n : words->longest;
    words->bytes += (int64_t)n * times;
    for (size_t length = 0; length < SHORT; length++) {
        begun[length] = distinct_hash_length(length);
    }
    dn_words_begin(&reader, text, n, false);
    while (reader.next < reader.end) {
        size_t length =
            reader.end - reader.next >= SHORT ? short_word(scan_load(reader.next), &lower) : SHORT;
        if (SCAN_LIKELY(length < SHORT)) {
            reader.next += length + 1; /* skips the word and the byte after it */
            if (SCAN_LIKELY(length > 0)) {
                distinct_sketch_add(&words->distinct, distinct_mix(begun[length] ^ lower));
                found++;
            }
            continue;
        }
        length = dn_words_next(&reader);
        if (length > 0) {
            distinct_sketch_add(&words->distinct, distinct_hash_bytes(reader.word, length));
            found++;
        }
    }
    words->n += found * times;
}
