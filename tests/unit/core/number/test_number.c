/* Numbers as text: the grammar, exact rounding against strtod, shortest output that reads back. */
#include "number/power10.h"
#include <discern/table.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t state = 0x853c49e6748fea9b;

static uint64_t next_random(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double double_of(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void check_parse(const char *text, size_t length) {
    double got = 12345, want = strtod(text, NULL);
    bool good = dn_number_parse(text, length, &got);
    if (good != (bool)isfinite(want) || (good && bits_of(got) != bits_of(want))) {
        fail_msg("\"%.60s\": %d %a, strtod %a", text, good, got, want);
    }
}

static void grammar(void **unused) {
    (void)unused;
    static const struct {
        const char *text;
        bool good;
        double value;
    } cases[] = {
        {"0", true, 0},
        {"-0", true, -0.0},
        {"+0", true, 0},
        {"5", true, 5},
        {"007", true, 7},
        {"+3", true, 3},
        {"5.", true, 5},
        {".5", true, 0.5},
        {"-.5", true, -0.5},
        {"1e2", true, 100},
        {"1E+2", true, 100},
        {"1.e-1", true, 0.1},
        {"0e999999999999999999999999", true, 0},
        {"1e-999999999999999999999999", true, 0},
        {"-1e-400", true, -0.0},
        {"1e308", true, 1e308},
        {"1.7976931348623157e308", true, 1.7976931348623157e308},
        {"", false, 0},
        {"+", false, 0},
        {"-", false, 0},
        {".", false, 0},
        {"-.", false, 0},
        {"e5", false, 0},
        {".e5", false, 0},
        {"1e", false, 0},
        {"1e+", false, 0},
        {"1e5.0", false, 0},
        {"--1", false, 0},
        {"+-1", false, 0},
        {" 1", false, 0},
        {"1 ", false, 0},
        {"1_000", false, 0},
        {"1,5", false, 0},
        {"0x10", false, 0},
        {"inf", false, 0},
        {"nan", false, 0},
        {"Infinity", false, 0},
        {"1e999", false, 0},
        {"-1e309", false, 0},
        {"1.8e308", false, 0},
        {"1e99999999999999999999999", false, 0},
        {"1..2", false, 0},
        {"1.2.3", false, 0},
        {"1d5", false, 0},
        {"\xd9\xa1", false, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value = 77;
        bool good = dn_number_parse(cases[i].text, strlen(cases[i].text), &value);
        if (good != cases[i].good || bits_of(value) != bits_of(good ? cases[i].value : 77)) {
            fail_msg("\"%s\": %d %a", cases[i].text, good, value);
        }
    }
    double value;
    assert_true(dn_number_parse("123456", 3,
                                &value)); /* the text ends after `length` bytes, not at a NUL */
    assert_true(value == 123);
    assert_false(dn_number_parse("1\0", 2, &value));
}

static void nasty(void **unused) {
    (void)unused;
    static const char *const cases[] = {
        "9007199254740991",
        "9007199254740992",
        "9007199254740993",
        "9007199254740995",
        "900719925474099300000000000000000001",
        "4503599627370496.5",
        "4503599627370497.5",
        "4503599627370497.50000000000000000000000000000000000001",
        "18446744073709551615",
        "18446744073709551616",
        "99999999999999999999",
        "1e22",
        "1e23",
        "123456789012345678e22",
        "9007199254740992e22",
        "9007199254740991e22",
        "9007199254740991e-22",
        "2.2250738585072011e-308",
        "2.2250738585072012e-308",
        "2.2250738585072014e-308",
        "2."
        "225073858507201136057409796709131975934819546351645648023426109724822222021076945516529523"
        "9081350879141491589130396211068700864386"
        "945946455276572074078206217433799881410632673292535522868813721490129811224514518898490572"
        "2230728525513315575501591439747639798341"
        "180199932396254828901710708185069063066665599493827577257201576306269066333264756530000924"
        "5888316433037779791869612049497390377829"
        "704905051080609940730262937128958950003583799967207254304360284078895771796150945516748243"
        "4710307026091446215722898802581825451803"
        "257070188608721131280795122334262883686223215037756666225039825343359745688844239002654981"
        "9838548794829220689472168983109969836584"
        "681402285424333066033985088644580400103493397042756718644338377048603786162277173854562306"
        "5874679014086723327636718749999999999999"
        "999999999999999999999999e-308",
        "5e-324",
        "4.9406564584124654e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "2.47032822920623272088284396434110686182e-324",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "179769313486231580793728971405303415079934132710037826936173778980444968292764750946649017"
        "9775872070963302864166928879109465555478"
        "51"
        "940402630657488671505820681908902000708383676273854845817711531764475730270069855571366959"
        "6228429148198608349364752927190741684443"
        "65"
        "510704342711559699508093042880",
        "179769313486231580793728971405303415079934132710037826936173778980444968292764750946649017"
        "9775872070963302864166928879109465555478"
        "51"
        "940402630657488671505820681908902000708383676273854845817711531764475730270069855571366959"
        "6228429148198608349364752927190741684443"
        "65"
        "510704342711559699508093042879",
        "7.2057594037927933e16",
        "0.1",
        "0.3",
        "1e-5",
        "8.5e-6",
        "6929495644600919.5",
        "3.4028234664e38",
        "1e-323",
        "000000000000000000000000000000000000000000000000001.5",
        "0.000000000000000000000000000000000000000000000000000000000000000000001234567890123456789",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check_parse(cases[i], strlen(cases[i]));
    }
}

/* Megabytes of digits: no buffer may be too small, no exponent may overflow. */
static void long_texts(void **unused) {
    (void)unused;
    size_t n = 1000000;
    char *text = malloc(n + 40);
    assert_non_null(text);
    double value;
    memset(text, '0', n);
    text[1] = '.';
    memcpy(text + n, "1e999999", 8);
    assert_true(dn_number_parse(text, n + 8, &value)); /* 0.0…01, 999,999 decimals */
    assert_true(value == 1);
    memset(text, '0', n);
    text[0] = '1';
    memcpy(text + n, "e-1000000", 9);
    assert_true(dn_number_parse(text, n + 9, &value));
    assert_true(value == 0.1);
    memcpy(text + n, "e0", 2);
    assert_false(dn_number_parse(text, n + 2, &value));
    memset(text, '9', n);
    memcpy(text + n, "e-999999", 8);
    assert_true(dn_number_parse(text, n + 8, &value));
    assert_true(value == 10);
    /* exactly between two doubles, with a distant digit 1 that decides the rounding */
    memset(text, '0', n);
    memcpy(text, "9007199254740993.", 17);
    assert_true(dn_number_parse(text, n, &value));
    assert_true(value == 9007199254740992.0);
    text[n - 1] = '1';
    assert_true(dn_number_parse(text, n, &value));
    assert_true(value == 9007199254740994.0);
    free(text);
}

static void random_against_strtod(void **unused) {
    (void)unused;
    char text[128];
    for (int i = 0; i < 300000; i++) {
        int n = 0;
        double v = double_of(next_random());
        switch (i % 5) {
        case 0:
            n = snprintf(text, sizeof text, "%llu.%llue%d",
                         (unsigned long long)(next_random() >> (next_random() % 64)),
                         (unsigned long long)(next_random() >> (next_random() % 64)),
                         (int)(next_random() % 700) - 350);
            break;
        case 1:
            n = snprintf(text, sizeof text, "%llue%d", (unsigned long long)next_random(),
                         (int)(next_random() % 60) - 30);
            break;
        case 2:
            n = isfinite(v) ? snprintf(text, sizeof text, "%.*e", (int)(next_random() % 25), v)
                            : snprintf(text, sizeof text, "1");
            break;
        case 3: { /* the middle between neighbours, to 16 … 40 digits */
            double low = fabs(v) < 1e300 ? v : 1.5;
            n = snprintf(text, sizeof text, "%.*Le", (int)(16 + next_random() % 25),
                         ((long double)low + (long double)nextafter(low, (double)INFINITY)) / 2);
            break;
        }
        default:
            n = snprintf(text, sizeof text, "-%llu.%06llu",
                         (unsigned long long)(next_random() % 100000),
                         (unsigned long long)(next_random() % 1000000));
        }
        check_parse(text, (size_t)n);
    }
}

static void format_cases(void **unused) {
    (void)unused;
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0, "0"},
        {-0.0, "-0"},
        {5.1, "5.1"},
        {-5, "-5"},
        {100000, "100000"},
        {0.1, "0.1"},
        {1.0 / 3, "0.3333333333333333"},
        {1e300, "1e300"},
        {1.5e300, "1.5e300"},
        {-1e-7, "-1e-7"},
        {0.000001, "0.000001"},
        {0.00000123, "0.00000123"},
        {1.23e-7, "1.23e-7"},
        {1e20, "100000000000000000000"},
        {123456789012345680000.0, "123456789012345680000"},
        {1e21, "1e21"},
        {9007199254740992.0, "9007199254740992"},
        {9007199254740994.0, "9007199254740994"},
        {5e-324, "5e-324"},
        {2.2250738585072014e-308, "2.2250738585072014e-308"},
        {1.7976931348623157e308, "1.7976931348623157e308"},
        {4.35, "4.35"},
        {0.5, "0.5"},
        {1234.5678, "1234.5678"},
        {9.5367431640625e-07, "9.5367431640625e-7"},
    };
    char text[DN_NUMBER_SIZE];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(dn_number_format(cases[i].value, text), strlen(cases[i].text));
        assert_string_equal(text, cases[i].text);
    }
    assert_int_equal(dn_number_format((double)NAN, text), 4);
    assert_string_equal(text, "null");
    dn_number_format(-(double)INFINITY, text);
    assert_string_equal(text, "null");
}

/* Returns the number of significant digits of a text: without leading and trailing zeros, sign,
 * point and exponent. */
static int significant_digits(const char *text) {
    char digits[64];
    int n = 0;
    for (; *text != '\0' && *text != 'e'; text++) {
        if (*text >= '0' && *text <= '9' && (n > 0 || *text != '0')) {
            digits[n++] = *text;
        }
    }
    while (n > 0 && digits[n - 1] == '0') {
        n--;
    }
    return n;
}

/* The JSON grammar: -? (0 | [1-9] digits) (. digits)? ([eE] [+-]? digits)? */
static bool is_json_number(const char *p) {
    p += *p == '-';
    size_t n = strspn(p, "0123456789");
    if (n == 0 || (n > 1 && *p == '0')) {
        return false;
    }
    p += n;
    if (*p == '.') {
        n = strspn(++p, "0123456789");
        p += n;
        if (n == 0) {
            return false;
        }
    }
    if (*p == 'e') {
        p++;
        p += *p == '-';
        n = strspn(p, "0123456789");
        p += n;
        if (n == 0) {
            return false;
        }
    }
    return *p == '\0';
}

static void check_format(double v) {
    char text[DN_NUMBER_SIZE], other[64];
    size_t n = dn_number_format(v, text);
    double back = 0;
    assert_int_equal(n, strlen(text));
    assert_true(n < DN_NUMBER_SIZE);
    if (!is_json_number(text) || !dn_number_parse(text, n, &back) || bits_of(back) != bits_of(v) ||
        bits_of(strtod(text, NULL)) != bits_of(v)) {
        fail_msg("%a became \"%s\"", v, text);
    }
    int least = 1;
    for (; least < 17; least++) {
        snprintf(other, sizeof other, "%.*e", least - 1, v);
        if (strtod(other, NULL) == v) {
            break;
        }
    }
    if (v != 0 && significant_digits(text) > least) {
        fail_msg("%a became \"%s\", \"%s\" is shorter", v, text, other);
    }
}

static void format_is_shortest(void **unused) {
    (void)unused;
    for (int i = 0; i < 60000; i++) {
        uint64_t bits = next_random();
        double v = double_of(bits);
        if (i % 4 == 1) { /* few bits set */
            v = double_of(bits & ~((UINT64_C(1) << next_random() % 52) - 1));
        }
        if (i % 4 == 2) { /* everyday sizes */
            v = (double)(int64_t)(next_random() % 2000000000) /
                    pow(10, (double)(next_random() % 12)) -
                1000;
        }
        if (i % 4 == 3) {
            v = (double)(next_random() >> 11) * 0x1p-53;
        }
        if (isfinite(v)) {
            check_format(v);
        }
    }
    for (int e = -1074; e <= 1023;
         e++) { /* powers of two have the narrower interval below; their neighbours do not */
        double v = ldexp(1, e);
        check_format(v);
        check_format(nextafter(v, 0));
        check_format(nextafter(v, (double)INFINITY));
        check_format(-v);
    }
    for (int e = -323; e <= 308; e++) {
        char text[16];
        snprintf(text, sizeof text, "1e%d", e);
        check_format(strtod(text, NULL));
    }
}

/* ---- the table of powers, against integers of many words ---- */
#define WORDS 48
typedef struct big {
    uint32_t word[WORDS]; /* least first */
} big;

static void big_multiply(big *x, uint32_t by) {
    uint64_t carry = 0;
    for (size_t i = 0; i < WORDS; i++) {
        carry += (uint64_t)x->word[i] * by;
        x->word[i] = (uint32_t)carry;
        carry >>= 32;
    }
    assert_int_equal(carry, 0);
}

static big big_product(const big *x, const uint32_t by[5]) {
    big out = {{0}};
    for (size_t j = 0; j < 5; j++) {
        uint64_t carry = 0;
        for (size_t i = 0; i + j < WORDS; i++) {
            carry += (uint64_t)x->word[i] * by[j] + out.word[i + j];
            out.word[i + j] = (uint32_t)carry;
            carry >>= 32;
        }
    }
    return out;
}

static int big_compare(const big *x, const big *y) {
    for (size_t i = WORDS; i-- > 0;) {
        if (x->word[i] != y->word[i]) {
            return x->word[i] < y->word[i] ? -1 : 1;
        }
    }
    return 0;
}

static big big_power_of_two(int e) {
    big out = {{0}};
    assert_true(e >= 0 && e < 32 * WORDS);
    out.word[e / 32] = UINT32_C(1) << (e % 32);
    return out;
}

static big big_shift(const big *x, int by) {
    big out = {{0}};
    for (int i = 0; i < 32 * WORDS; i++) {
        int from = i - by;
        if (from >= 0 && from < 32 * WORDS && (x->word[from / 32] >> (from % 32) & 1) != 0) {
            out.word[i / 32] |= UINT32_C(1) << (i % 32);
        }
    }
    return out;
}

static void powers_are_right(void **unused) {
    (void)unused;
    big power = {{1}};
    for (int k = 0; k <= 342; k++) {
        if (k > 0) {
            big_multiply(&power, 10);
        }
        if (k <= DNI_POWER10_MAX) { /* floor(10^k · 2^e) */
            big cut = big_shift(&power, 127 - dni_log2_power10(k));
            dni_wide g = dni_power10[k - DNI_POWER10_MIN];
            for (size_t i = 0; i < WORDS; i++) {
                uint32_t want = i < 2   ? (uint32_t)(g.low >> (32 * i))
                                : i < 4 ? (uint32_t)(g.high >> (32 * (i - 2)))
                                        : 0;
                assert_int_equal(cut.word[i], want);
            }
        }
        dni_wide g = dni_power10[-k - DNI_POWER10_MIN]; /* g·10^k <= 2^e < (g + 1)·10^k */
        uint32_t low[5] = {(uint32_t)g.low, (uint32_t)(g.low >> 32), (uint32_t)g.high,
                           (uint32_t)(g.high >> 32), 0},
                 high[5];
        memcpy(high, low, sizeof low);
        for (size_t i = 0; i < 5 && ++high[i] == 0; i++) {
        }
        big most = big_power_of_two(127 - dni_log2_power10(-k)), at = big_product(&power, low),
            above = big_product(&power, high);
        assert_true(big_compare(&at, &most) <= 0 && big_compare(&most, &above) < 0);
        assert_int_equal(g.high >> 63, 1);
    }
}

static void wide_products(void **unused) {
    (void)unused;
    for (int i = 0; i < 100000; i++) {
        uint64_t a = next_random(), b = next_random();
        if (i % 3 == 0) {
            a = UINT64_MAX - (a & 3);
        }
        if (i % 5 == 0) {
            b = UINT64_MAX << (b & 63);
        }
        dni_wide x = dni_wide_product(a, b), y = dni_wide_product_by_halves(a, b);
        assert_true(x.high == y.high && x.low == y.low);
    }
    assert_int_equal(dni_leading_zeros(1), 63);
    assert_int_equal(dni_leading_zeros(UINT64_MAX), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grammar),          cmocka_unit_test(nasty),
        cmocka_unit_test(long_texts),       cmocka_unit_test(random_against_strtod),
        cmocka_unit_test(format_cases),     cmocka_unit_test(format_is_shortest),
        cmocka_unit_test(powers_are_right), cmocka_unit_test(wide_products),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
