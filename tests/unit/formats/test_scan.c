/* Compares the fast number scanners with the library's grammar, values and canonical form. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "formats/text/scan.h"
#include <discern/table.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t next(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

/* Returns the expected SCAN_WRITTEN flag of a number's text, by comparing it with the canonical
 * form. */
static unsigned written_as(const char *text, double value) {
    char form[DN_NUMBER_SIZE + 40];
    const char *point = strchr(text, '.');
    const size_t n = strlen(text), decimals = point != NULL ? strlen(point + 1) : 0;
    size_t formed = dn_number_format(value, form);
    if (strcmp(form, text) == 0) {
        return SCAN_CANONICAL + (unsigned)decimals;
    }
    if (strchr(form, 'e') != NULL || formed >= n) {
        return SCAN_OTHERWISE;
    }
    if (strchr(form, '.') == NULL) {
        form[formed++] = '.';
    }
    memset(form + formed, '0', n - formed);
    form[n] = '\0';
    return strcmp(form, text) == 0 ? SCAN_PADDED + (unsigned)decimals : SCAN_OTHERWISE;
}

/* Compares both scanners with the library for the text, which the byte `after` follows. */
static void check(const char *text, char after) {
    char memory[128];
    const size_t n = strlen(text);
    assert_true(n + SCAN_NUMBER_READS + 1 < sizeof memory);
    memset(memory, after, sizeof memory);
    memcpy(memory, text, n);
    double value = 0, expected = 0, brief = 0;
    unsigned written = 0, written_brief = 0;
    const size_t length = scan_number(memory, &value, &written);
    if (length > 0 && length == n) {
        assert_true(dn_number_parse(text, n, &expected));
        assert_memory_equal(&value, &expected, sizeof value);
        assert_int_equal(written, written_as(text, value));
    }
    if (n <= 9 && scan_short(memory, n, &brief, &written_brief)) {
        assert_int_equal(length, n);
        assert_memory_equal(&brief, &value, sizeof value);
        assert_int_equal(written, written_brief);
    } else if (n <= 8 && n > 0) {
        assert_false(length == n && strspn(text, "-0123456789.") == n);
    }
}

static void test_numbers_made(void **state) {
    static const char digits[] = "0123456789";
    (void)state;
    uint64_t seed = 1;
    for (int i = 0; i < 300000; i++) {
        char text[40];
        size_t n = 0;
        const size_t whole = next(&seed) % 10, part = next(&seed) % 9;
        if (next(&seed) % 3 == 0) {
            text[n++] = '-';
        }
        for (size_t k = 0; k < whole; k++) {
            text[n++] = digits[next(&seed) % (next(&seed) % 2 ? 10 : 1)];
        }
        if (part > 0) {
            text[n++] = '.';
            for (size_t k = 1; k < part; k++) {
                text[n++] = digits[next(&seed) % (next(&seed) % 2 ? 10 : 1)];
            }
        }
        text[n] = '\0';
        check(text, ",\n x;\te-"[next(&seed) % 8]);
    }
}

static void test_numbers_by_hand(void **state) {
    static const char *const texts[] = {"0",
                                        "-0",
                                        "7",
                                        "007",
                                        "-7.5",
                                        "1.50",
                                        "0.000001",
                                        "0.0000001",
                                        "123456789012345",
                                        "1e5",
                                        "",
                                        "-",
                                        ".",
                                        ".5",
                                        "5.",
                                        "-.5",
                                        "1.2.3",
                                        "12345678",
                                        "--1",
                                        "1-2",
                                        "+1",
                                        "1,5",
                                        "999999.9",
                                        "9999999",
                                        "0.1234567890123",
                                        "0.000000",
                                        "0.00000010",
                                        "-0.50000000000",
                                        "123456789012.340",
                                        "12.00000000000",
                                        "0.000000000000000",
                                        "-12345678",
                                        "00.10",
                                        "0.0",
                                        "-0.0",
                                        "100000",
                                        "1.0e3",
                                        "12345.6",
                                        "0x10",
                                        "1_000",
                                        "\x00"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        check(texts[i], ',');
        check(texts[i], '\n');
        check(texts[i], 'e');
    }
}

static void test_canonical_is_found(void **state) {
    /* the usual numbers must be recognised as canonical, or every cell would keep its text */
    static const char *const texts[] = {
        "0",       "-0",       "5",   "5.1", "-1.35289",       "1001",
        "0.00391", "123456.5", "255", "1e",  "0.1234567890123"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char memory[64] = "";
        snprintf(memory, sizeof memory, "%s", texts[i]);
        double value = 0;
        unsigned written = 0;
        const size_t n = scan_number(memory, &value, &written);
        assert_int_equal(n == strlen(texts[i]) && written >= SCAN_CANONICAL &&
                             written < SCAN_PADDED,
                         strcmp(texts[i], "1e") != 0);
    }
}

static void test_marks(void **state) {
    (void)state;
    uint64_t seed = 2;
    for (int i = 0; i < 20000; i++) {
        char block[64];
        uint64_t expected = 0;
        for (size_t k = 0; k < sizeof block; k++) {
            block[k] =
                (char)(next(&seed) % 3 == 0 ? ",\n\r\""[next(&seed) % 4] : (char)next(&seed));
            const char c = block[k];
            expected |= (uint64_t)(c == ',' || c == '\n' || c == '\r' || c == '"') << k;
        }
        assert_int_equal(scan_marks(block, ',', '\n', '\r', '"'), expected);
    }
}

static void test_words(void **state) {
    (void)state;
    uint64_t seed = 3;
    for (int i = 0; i < 50000; i++) {
        char bytes[8];
        size_t digits = 8, equal = 8, control = 8;
        for (size_t k = 8; k-- > 0;) {
            bytes[k] = (char)(next(&seed) % 2 ? '0' + next(&seed) % 10 : next(&seed));
            digits = bytes[k] >= '0' && bytes[k] <= '9' ? digits : k;
            equal = bytes[k] == '7' ? k : equal;
            control = (unsigned char)bytes[k] < 0x20 ? k : control;
        }
        const uint64_t word = scan_load(bytes);
        assert_int_equal(scan_digits(word), digits);
        const uint64_t sevens = scan_equal(word, scan_repeat('7')), controls = scan_control(word);
        assert_int_equal(sevens != 0 ? scan_first(sevens) : 8, equal);
        assert_int_equal(controls != 0 ? scan_first(controls) : 8, control);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_numbers_made),
                                       cmocka_unit_test(test_numbers_by_hand),
                                       cmocka_unit_test(test_canonical_is_found),
                                       cmocka_unit_test(test_marks), cmocka_unit_test(test_words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
