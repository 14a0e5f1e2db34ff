/* Tests of the hints about a cell that was perhaps meant as a number, and of the integers that a
 * double cannot represent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "formats/text/cell.h"
#include "formats/text/cell_hint.h"
#include <discern/table.h>

#include <stdio.h>
#include <string.h>

/* Calls cell_hint with a copy in a block of exactly n bytes, so that the sanitizer reports a read
 * beyond its end. */
static const char *hint_of(const char *text) {
    const size_t n = strlen(text);
    char *copy = test_malloc(n > 0 ? n : 1);
    memcpy(copy, text, n);
    const char *hint = cell_hint(copy, n);
    test_free(copy);
    return hint;
}

static void check(const char *hint, const char *const *texts) {
    for (size_t i = 0; texts[i] != NULL; i++) {
        const char *found = hint_of(texts[i]);
        if (hint == NULL ? found != NULL : found == NULL || strstr(found, hint) == NULL) {
            fail_msg("\"%s\": %s", texts[i], found != NULL ? found : "nothing");
        }
    }
}
#define CHECK(hint, ...) check(hint, (const char *const[]){__VA_ARGS__, NULL})

static void test_hints(void **state) {
    (void)state;
    CHECK("with a point", "1,5", "-0,25", "+3,0", " 12,75 ", "1.234,5", "1.234.567,89", "1,234",
          ",5");
    CHECK("thousands separators", "1,234,567", "1,234.5", "-12,345,678.25");
    CHECK("thousands=space", "1 234", "1 234 567,5",
          "-12\xC2\xA0"
          "345.25");
    CHECK("thousands='", "1'234", "1'234'567.50");
    CHECK("hexadecimal", "0x1F", "0Xff", "-0x0");
    CHECK("beyond the largest", "1e400", "-1E+400", "1.5e999", "2e309");
    CHECK("like a date", "2024-01-31", "31.01.2024", "1/31/24", "2024/01/31",
          "2024-01-31T12:00:00Z", "2024-01-31 12:00", "1.2.99");
    CHECK("like a time of day", "12:30", "9:05:00", "23:59:59.5");
    CHECK("in digits", "31 Jan 2024", "January 31, 2024", "1-feb-24", "Dec. 5 1999");
    CHECK("00:00 to 23:59", "10:00 AM", "2:30pm", "12:05:30 PM");
    CHECK(NULL, "Mark 1 2", "may", "june 5", "10:00 XM", "1 2 3", "5 of 6", "31 Jam 2024");
    CHECK("percentages", "5%", "12.5 %", "-3%");
    CHECK("infinite", "inf", "-Infinity", "+INF");
    CHECK("missing=", "n/a", "none", "-", "nan", "#N/A", ".");
    CHECK(NULL, "", "setosa", "1,2,3,4", "a,b", "0x", "0xzz", "1e", "e400", "1-2", "1.2.3", "2024-",
          "12:3", "%", "x%", "1 2", "192.168.1.1", "1.5", "1e5", "555-1234", "1.23,4",
          "12345.678,9", "--5");
    char digits[401];
    memset(digits, '9', 400);
    digits[400] = '\0';
    CHECK("beyond the largest", digits);
}

static void test_exact_integers(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool exact;
    } cases[] = {{"9007199254740992", true},
                 {"9007199254740993", false},
                 {"-9007199254740993", false},
                 {"+9007199254740994", true},
                 {"000000000000000000000000017", true},
                 /* 2^60; the shortest text of this double has other digits */
                 {"1152921504606846976", true},
                 {"1152921504606846977", false},
                 {"18446744073709551616", true}, /* 2^64 */
                 {"18446744073709551615", false},
                 {"100000000000000000000000", false},
                 {"99999999999999991611392", true}, /* the double nearest to 10^23 */
                 {"0.1000000000000000000001", true},
                 {"1e300", true},
                 {"1e23", true},
                 {"6.02214076e23", true},
                 {"-1.989000000000000E+30", true},
                 {"9007199254740993e-0", true},
                 {"1e-400", false},
                 {"-0.001E-999", false},
                 {"0.000e-400", true},
                 {"4e-320", true},
                 {"123456789012345", true},
                 {"9007199254740993.0", false},
                 {"9007199254740992.0", true},
                 {"9007199254740993.5", false},
                 {"9999999999999999", false}, /* becomes 10^16, which has a digit more */
                 {"99999999999999999999", false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double number = 0;
        assert_true(dn_number_parse(cases[i].text, strlen(cases[i].text), &number));
        if (number_is_exact(cases[i].text, strlen(cases[i].text), number) != cases[i].exact) {
            fail_msg("%s", cases[i].text);
        }
    }
    /* as they are written with separators of thousands and signs around */
    assert_false(number_is_exact("9.007.199.254.740.993", 21, 9007199254740992.0));
    assert_true(number_is_exact("9.007.199.254.740.992,00", 24, 9007199254740992.0));
    assert_false(number_is_exact("EUR 9007199254740993", 20, 9007199254740992.0));
    assert_false(number_is_exact("9007199254740993 EUR", 20, 9007199254740992.0));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_hints),
                                       cmocka_unit_test(test_exact_integers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
