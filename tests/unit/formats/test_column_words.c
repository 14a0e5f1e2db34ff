/* Tests that the fast path of column_words_add for short ASCII words finds the same words as
 * <discern/text.h>. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "formats/summary/column_words.h"

#include <discern/text.h>
#include <string.h>

enum { BITS = 10, LONGEST = 60 };

static uint32_t next(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

/* Appends a random piece: characters of words, their neighbours in ASCII, other characters, parts
 * of characters, or invalid bytes. */
static size_t put_piece(uint64_t *state, char *out) {
    static const char *const pieces[] = {"a",        "z",         "A",
                                         "Z",        "m",         "Q",
                                         "0",        "9",         "_",
                                         "@",        "[",         "`",
                                         "{",        "/",         ":",
                                         "^",        " ",         "  ",
                                         "\t",       "\n",        ".",
                                         "\x7f",     "\x01",      "-",
                                         "é",        "É",         "ß",
                                         "\x80",     "\xff",      "\xc3",
                                         "日",       "本",        "–",
                                         "word",     "Word",      "seven77",
                                         "eight888", "ninenine9", "WORD_AND_MORE_OF_IT"};
    const char *piece = pieces[next(state) % (sizeof pieces / sizeof pieces[0])];
    memcpy(out, piece, strlen(piece));
    return strlen(piece);
}

static void add_slowly(struct column_words *words, const char *text, size_t n, int64_t times) {
    dn_words reader;
    dn_words_begin(&reader, text, n, false);
    for (size_t length = 0; (length = dn_words_next(&reader)) > 0;) {
        distinct_sketch_add(&words->distinct, distinct_hash_bytes(reader.word, length));
        words->n += times;
    }
}

static void check(struct column_words *quick, struct column_words *slow, const char *text, size_t n,
                  int64_t times) {
    column_words_add(quick, text, n, times);
    add_slowly(slow, text, n, times);
    assert_int_equal(quick->n, slow->n);
    assert_memory_equal(quick->distinct.rank, slow->distinct.rank, 1 << BITS);
}

static void test_same_words(void **state) {
    (void)state;
    uint64_t seed = 5;
    struct column_words *quick = NULL, *slow = NULL;
    for (int i = 0; i < 50000; i++) {
        char text[LONGEST + 32];
        size_t n = 0;
        if (i % 100 == 0) { /* new sketches: one more word changes them more often */
            column_words_free(quick);
            column_words_free(slow);
            quick = column_words_new(BITS);
            slow = column_words_new(BITS);
            assert_non_null(quick);
            assert_non_null(slow);
        }
        for (const size_t upto = next(&seed) % LONGEST; n < upto;) {
            n += put_piece(&seed, text + n);
        }
        check(quick, slow, text, n, 1 + i % 3);
    }
    column_words_free(quick);
    column_words_free(slow);
}

/* Tests each byte at each position of a text, where it is a part of a word or ends one. */
static void test_every_byte(void **state) {
    (void)state;
    for (int byte = 0; byte < 256; byte++) {
        for (size_t at = 0; at < 10; at++) {
            char text[12] = "abcdefghijk";
            struct column_words *quick = column_words_new(BITS), *slow = column_words_new(BITS);
            assert_non_null(quick);
            assert_non_null(slow);
            text[at] = (char)byte;
            check(quick, slow, text, 11, 1);
            column_words_free(quick);
            column_words_free(slow);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_words),
                                       cmocka_unit_test(test_every_byte)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
