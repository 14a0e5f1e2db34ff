/* Tests of the clocks and of the text of a time, compared with the C library's calendar. */
#include "lib/cmocka.h"

#include "base/process/clock.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static void test_known_times(void **state) {
    (void)state;
    static const struct {
        int64_t ms;       /* milliseconds since 1970 */
        const char *text; /* in the format of RFC 3339 */
    } rows[] = {
        {0, "1970-01-01T00:00:00.000Z"},
        {-1, "1969-12-31T23:59:59.999Z"},
        {951782400000 - 1, "2000-02-28T23:59:59.999Z"},
        {951782400000, "2000-02-29T00:00:00.000Z"},
        {4107542399999, "2100-02-28T23:59:59.999Z"},
        {4107542400000, "2100-03-01T00:00:00.000Z"}, /* 2100 is not a leap year */
        {1777863721000, "2026-05-04T03:02:01.000Z"},
        {253402300799999, "9999-12-31T23:59:59.999Z"},
        /* limited to the latest time that can be written */
        {253402300800000, "9999-12-31T23:59:59.999Z"},
        {INT64_MAX, "9999-12-31T23:59:59.999Z"},
        {INT64_MIN, "0000-01-01T00:00:00.000Z"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[CLOCK_TEXT_SIZE];
        clock_format(rows[i].ms, text);
        assert_string_equal(text, rows[i].text);
    }
}

static void test_every_day_of_five_centuries(void **state) {
    (void)state;
    for (int64_t day = -110000; day < 110000; day++) { /* the years 1668 to 2271 */
        const int64_t ms = day * 86400000 + (day * 7919 % 86400000 + 86400000) % 86400000;
        const time_t seconds = (time_t)((ms - ((ms % 1000) + 1000) % 1000) / 1000);
        struct tm tm;
        assert_non_null(gmtime_r(&seconds, &tm));
        char expected[96], text[CLOCK_TEXT_SIZE];
        (void)snprintf(expected, sizeof expected, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ",
                       tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min,
                       tm.tm_sec, (int)(((ms % 1000) + 1000) % 1000));
        clock_format(ms, text);
        assert_string_equal(text, expected);
    }
}

static void test_parse(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t ms; /* -1: refused */
    } cases[] = {{"1970-01-01", 0},
                 {"1970-01-01T00:00:01Z", 1000},
                 {"1970-01-02T03:04:05.006Z", 97445006},    /* 86400 + 11045 s */
                 {"2000-02-29", INT64_C(11016) * 86400000}, /* 30 years, 7 leap days, 59 days */
                 {"9999-12-31T23:59:59.999Z", INT64_C(253402300799999)},
                 {"2001-02-29", -1},
                 {"1969-12-31", -1},
                 {"2000-13-01", -1},
                 {"2000-00-01", -1},
                 {"2000-01-00", -1},
                 {"2000-01-01T24:00:00Z", -1},
                 {"2000-01-01T00:60:00Z", -1},
                 {"2000-01-01T00:00:00", -1},
                 {"2000-01-01T00:00:00+", -1},
                 {"2000-01-01 00:00:00Z", -1},
                 {"2000-01- 1", -1},
                 {"2000-1-011", -1},
                 {"+200-01-01", -1},
                 {"", -1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t ms = -1;
        assert_int_equal(clock_parse(cases[i].text, &ms), cases[i].ms >= 0);
        if (ms != cases[i].ms) {
            fail_msg("%s: %lld", cases[i].text, (long long)ms);
        }
    }
    for (int64_t ms = 0; ms < INT64_C(20000000000000); ms += INT64_C(86400001) * 37) {
        char text[CLOCK_TEXT_SIZE];
        int64_t again = -1;
        clock_format(ms, text);
        assert_true(clock_parse(text, &again));
        assert_int_equal(again, ms);
    }
}

static void test_clocks_run(void **state) {
    (void)state;
    int64_t before = clock_monotonic_ns();
    for (int i = 0; i < 1000; i++) {
        const int64_t now = clock_monotonic_ns();
        assert_true(now >= before);
        before = now;
    }
    const int64_t ms = clock_real_ms(), seconds = (int64_t)time(NULL);
    /* shows that the unit is right; 60 s are enough for a slow machine */
    assert_true(ms / 1000 >= seconds - 60 && ms / 1000 <= seconds + 60);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_times),
        cmocka_unit_test(test_every_day_of_five_centuries),
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_clocks_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
