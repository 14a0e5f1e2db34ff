/* Words of texts: ASCII and Unicode, case, invalid UTF-8, long words; hashes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "text/words.h"
#include <cmocka.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the words of a text, each followed by '|'. */
static const char *split(const char *text, size_t length, bool keep_case) {
    static char out[4096];
    size_t at = 0;
    dn_words words;
    char *copy = malloc(length + 1); /* no byte after the end may be read */
    assert_non_null(copy);
    memcpy(copy, text, length);
    copy = realloc(copy, length == 0 ? 1 : length);
    assert_non_null(copy);
    dn_words_begin(&words, length == 0 ? NULL : copy, length, keep_case);
    for (size_t n; (n = dn_words_next(&words)) > 0;) {
        assert_true(at + n + 2 < sizeof out);
        memcpy(out + at, words.word, n);
        at += n;
        out[at++] = '|';
    }
    assert_int_equal(dn_words_next(&words), 0); /* every further call returns 0 */
    out[at] = '\0';
    free(copy);
    return out;
}

static void what_is_a_word(void **state) {
    (void)state;
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"", ""},
        {" .,;!?-\t\n", ""},
        {"Hello, World_1 x", "hello|world_1|x|"},
        {"U.S.A. don't e-mail", "u|s|a|don|t|e|mail|"},
        {"3.14 1,000 0x1F", "3|14|1|000|0x1f|"},
        {"L'\xc3\x89t\xc3\xa9 D\xc3\x89J\xc3\x80", "l|\xc3\xa9t\xc3\xa9|d\xc3\xa9j\xc3\xa0|"},
        {"\xd0\x9c\xd0\x98\xd0\xa0 \xce\xa3\xce\x91\xce\xa3",
         "\xd0\xbc\xd0\xb8\xd1\x80|\xcf\x83\xce\xb1\xcf\x83|"}, /* МИР ΣΑΣ: no final sigma */
        {"\xc4\xb0stanbul", "istanbul|"},                       /* İ: simple case mapping */
        {"e\xcc\x81te", "e\xcc\x81te|"},                        /* a combining accent */
        {"I \xe2\x9d\xa4\xef\xb8\x8f you\xe2\x9d\xa4\xef\xb8\x8f",
         "i|you|"}, /* ❤️: a mark that does not follow a letter is not a word */
        {"1\xef\xb8\x8f\xe2\x83\xa3 \xcc\x81\xcc\x82 \xcc\x81"
         "a",
         "1\xef\xb8\x8f\xe2\x83\xa3|a|"}, /* 1️⃣ */
        {"\xe0\xa4\xb9\xe0\xa4\xbf\xe0\xa4\xa8\xe0\xa5\x8d\xe0\xa4\xa6\xe0\xa5\x80!",
         "\xe0\xa4\xb9\xe0\xa4\xbf\xe0\xa4\xa8\xe0\xa5\x8d\xe0\xa4\xa6\xe0\xa5\x80|"}, /* हिन्दी:
                                                                                          vowels are
                                                                                          marks */
        {"\xe4\xb8\xad\xe6\x96\x87\xef\xbc\x8c\xe5\xad\x97",
         "\xe4\xb8\xad\xe6\x96\x87|\xe5\xad\x97|"}, /* 中文，字 */
        {"\xd9\xa3\xd9\xa4 \xc2\xbd \xe2\x85\xa7",
         "\xd9\xa3\xd9\xa4|\xc2\xbd|\xe2\x85\xb7|"}, /* ٣٤ ½ Ⅷ */
        {"a\xf0\x9f\x98\x80"
         "b\xe2\x80\x94"
         "c\xc2\xa0"
         "d\xe2\x82\xac",
         "a|b|c|d|"},                                /* 😀, dash, no-break space, € */
        {"\xf0\x90\x90\x80x", "\xf0\x90\x90\xa8x|"}, /* 𐐀: beyond 16 bits */
        /* invalid UTF-8: stray and missing bytes, overlong, a surrogate, beyond U+10FFFF */
        {"ab\xff"
         "cd\xc3",
         "ab|cd|"},
        {"a\x80\x80"
         "b",
         "a|b|"},
        {"a\xc0\xaf"
         "b\xc1\x81"
         "c",
         "a|b|c|"},
        {"a\xed\xa0\x80"
         "b",
         "a|b|"},
        {"a\xf4\x90\x80\x80"
         "b",
         "a|b|"},
        {"\xe2\x82"
         "a",
         "a|"},
        {"x\xc3"
         "Y",
         "x|y|"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_string_equal(split(cases[i].text, strlen(cases[i].text), false), cases[i].words);
    }
    assert_string_equal(split("a\0b", 3, false), "a|b|");
    assert_string_equal(split("Hello \xc3\x89t\xc3\xa9 X_y", 15, true),
                        "Hello|\xc3\x89t\xc3\xa9|X_y|");
}

/* A long word counts once and is cut after the last character that fits. */
static void long_words(void **state) {
    (void)state;
    char text[2000], want[600];
    for (size_t n = DN_MAX_WORD_BYTES - 10; n < DN_MAX_WORD_BYTES + 300;
         n += n < DN_MAX_WORD_BYTES + 10 ? 1 : 97) {
        memset(text, 'A', n);
        memcpy(text + n, " End", 4);
        size_t kept = n < DN_MAX_WORD_BYTES ? n : DN_MAX_WORD_BYTES;
        memset(want, 'a', kept);
        memcpy(want + kept, "|end|", 6);
        assert_string_equal(split(text, n + 4, false), want);
    }
    memset(text, 'a',
           DN_MAX_WORD_BYTES - 1); /* é does not fit, and what follows it is not appended */
    memcpy(text + DN_MAX_WORD_BYTES - 1, "\xc3\xa9zz", 4);
    memset(want, 'a', DN_MAX_WORD_BYTES - 1);
    memcpy(want + DN_MAX_WORD_BYTES - 1, "|", 2);
    assert_string_equal(split(text, DN_MAX_WORD_BYTES + 3, false), want);
    for (size_t i = 0; i < 200; i++) { /* Ⱥ has two bytes, ⱥ three: 85 of them fit */
        memcpy(text + 2 * i, "\xc8\xba", 2);
    }
    for (size_t i = 0; i < 85; i++) {
        memcpy(want + 3 * i, "\xe2\xb1\xa5", 3);
    }
    memcpy(want + 255, "|", 2);
    assert_string_equal(split(text, 400, false), want);
}

static void by_eights_is_one_by_one(void **state) {
    (void)state;
    static const char letters[] = "abcxyzABCXYZ0189_@[`{/: ,.~\x7f\x01";
    uint64_t s = 7;
    for (size_t turn = 0; turn < 3000; turn++) {
        char text[64], want[200];
        size_t length = turn % 60, at = 0;
        bool keep_case = turn % 2 == 1, inside = false;
        for (size_t i = 0; i < length; i++) {
            s = s * 6364136223846793005u + 1442695040888963407u;
            text[i] = letters[(s >> 33) % (turn % 3 == 0 ? 15 : sizeof letters - 1)];
            bool part = isalnum((unsigned char)text[i]) || text[i] == '_';
            if (part) {
                want[at++] = (char)(keep_case ? text[i] : tolower((unsigned char)text[i]));
            } else if (inside) {
                want[at++] = '|';
            }
            inside = part;
        }
        if (inside) {
            want[at++] = '|';
        }
        want[at] = '\0';
        assert_string_equal(split(text, length, keep_case), want);
    }
}

/* The published values of 64-bit FNV-1a. */
static void the_hash(void **state) {
    (void)state;
    assert_true(dni_word_hash("", 0) == UINT64_C(0xcbf29ce484222325));
    assert_true(dni_word_hash("a", 1) == UINT64_C(0xaf63dc4c8601ec8c));
    assert_true(dni_word_hash("foobar", 6) == UINT64_C(0x85944171f73967e8));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_a_word),
        cmocka_unit_test(long_words),
        cmocka_unit_test(by_eights_is_one_by_one),
        cmocka_unit_test(the_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
