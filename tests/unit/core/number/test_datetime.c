/* Dates and times: the calendar, the forms of columns, what is no date, parts. Seconds were
 * computed with `date -u -d … +%s`. */
#include <discern/datetime.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static bool add(const char *text, dn_datetime_form *form) {
    return dn_datetime_add(text, strlen(text), DN_DATE_ANY, form);
}

/* Checks the form of a text and its seconds. orders: those that are allowed. */
static void check_as(unsigned orders, const char *text, const char *pattern, double seconds) {
    dn_datetime_form form = {0}, again;
    char written[DN_DATETIME_FORM_SIZE];
    double got = -1;
    assert_true(dn_datetime_add(text, strlen(text), orders, &form));
    assert_true(dn_datetime_is_decided(&form));
    const size_t n = dn_datetime_form_write(&form, written);
    assert_string_equal(written, pattern);
    assert_int_equal(n, strlen(pattern));
    assert_true(dn_datetime_form_parse(written, n, &again));
    assert_true(dn_datetime_same(&form, &again));
    assert_true(dn_datetime_parse(text, strlen(text), &form, &got));
    if (got != seconds) {
        fail_msg("%s: %.9f, not %.9f", text, got, seconds);
    }
}

static void check(const char *text, const char *pattern, double seconds) {
    check_as(DN_DATE_ANY, text, pattern, seconds);
}

/* Checks the value, and that it is written as the same text. */
static void check_back(const char *text, const char *pattern, double seconds) {
    dn_datetime_form form = {0};
    char out[DN_DATETIME_SIZE];
    check_as(DN_DATE_ANY | DN_DATE_COMPACT, "19700102", "YYYYMMDD", 86400);
    assert_false(add("19700102", &(dn_datetime_form){0}));
    check(text, pattern, seconds);
    assert_true(add(text, &form));
    assert_int_equal(dn_datetime_format(seconds, &form, out), strlen(text));
    assert_string_equal(out, text);
}

static void test_values(void **state) {
    (void)state;
    check_back("1970-01-01", "YYYY-MM-DD", 0);
    check_back("1969-12-31", "YYYY-MM-DD", -86400);
    check_back("2000-02-29", "YYYY-MM-DD", 951782400);
    check_back("2024-02-29", "YYYY-MM-DD", 1709164800);
    check_back("1900-03-01", "YYYY-MM-DD", -2203891200);
    check_back("0001-01-01", "YYYY-MM-DD", -62135596800);
    check_back("9999-12-31", "YYYY-MM-DD", 253402214400);
    check_back("9999-12-31T23:59:59.999999", "YYYY-MM-DDThh:mm:ss.ffffff", 253402300799.999999);
    check_back("2024-01-31 08:30", "YYYY-MM-DD hh:mm", 1706689800);
    check_back("2024-01-31T08:30:00Z", "YYYY-MM-DDThh:mm:ssZ", 1706689800);
    check_back("2024-01-31T08:30:00+02:00", "YYYY-MM-DDThh:mm:ss+02:00", 1706682600);
    check_back("2024-01-31T08:30:00-11:30", "YYYY-MM-DDThh:mm:ss-11:30", 1706731200);
    check("2024-01-31T08:30:00+0200", "YYYY-MM-DDThh:mm:ss+02:00", 1706682600);
    check("2024-01-31T08:30:00+02", "YYYY-MM-DDThh:mm:ss+02:00", 1706682600);
    check_back("31.12.2024", "DD.MM.YYYY", 1735603200);
    check_back("9/13/2024", "M/D/YYYY", 1726185600);
    check_back("2024/1/9", "YYYY/M/D", 1704758400);
    check_back("00:00", "hh:mm", 0);
    check_back("23:59:59", "hh:mm:ss", 86399);
    check_back("9:05", "h:mm", 32700);
    check("08:30:00.5", "hh:mm:ss.f", 30600.5);
    check("23:59:59.9999999", "hh:mm:ss.fffffff", 86399.9999999);
    check_as(DN_DATE_DMY, "01/02/2024", "DD/MM/YYYY", 1706745600);
    check_as(DN_DATE_MDY, "01/02/2024", "MM/DD/YYYY", 1704153600);
}

/* The last fraction of a day does not become the first second of another day. */
static void test_rounding(void **state) {
    (void)state;
    dn_datetime_form form = {0};
    char out[DN_DATETIME_SIZE];
    assert_true(add("23:59:59.9999999", &form));
    (void)dn_datetime_format(86399.9999999, &form, out);
    assert_string_equal(out, "23:59:59.999999");
    (void)dn_datetime_format(43200.9999999, &form, out);
    assert_string_equal(out, "12:00:01.000000");
}

static void test_no_dates(void **state) {
    (void)state;
    static const char *const texts[] = {"",
                                        "2023-02-29",
                                        "1900-02-29",
                                        "2024-04-31",
                                        "2024-13-01",
                                        "2024-00-10",
                                        "2024-01-00",
                                        "0000-01-01",
                                        "12024-01-01",
                                        "024-01-01",
                                        "1/2/24",
                                        "31.12.24",
                                        "20240131",
                                        "2024-01",
                                        "2024-01-01T",
                                        "2024-01-01T24:00",
                                        "2024-01-01T23:60",
                                        "2016-12-31T23:59:60",
                                        "2024-01-01T1",
                                        "2024-01-01T10:00:00.",
                                        "2024-01-01T10:00:00.1234567890",
                                        "2024-01-01T10:00+24:00",
                                        "2024-01-01T10:00+2",
                                        "2024-01-01T10:00ZZ",
                                        "2024-01-01Z",
                                        "2024-01/01",
                                        "2024-01-01x",
                                        " 2024-01-01",
                                        "-2024-01-01",
                                        "10:00Z",
                                        "10",
                                        "10:0",
                                        "24:00",
                                        "13/13/2024",
                                        "Jan 31, 2024",
                                        "٢٠٢٤-01-01"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        dn_datetime_form form = {0};
        if (add(texts[i], &form) || dn_datetime_is_form(&form)) {
            fail_msg("\"%s\" was read", texts[i]);
        }
    }
    char *longest = malloc(100000);
    assert_non_null(longest);
    memset(longest, '1', 100000);
    dn_datetime_form form = {0};
    assert_false(dn_datetime_add(longest, 100000, DN_DATE_ANY, &form));
    memset(longest, '0', 100000);
    assert_false(dn_datetime_add(longest, 100000, DN_DATE_ANY, &form));
    free(longest);
    assert_string_equal(dn_datetime_fault("2023-02-29", 10),
                        "there is no such day in the calendar");
    assert_string_equal(dn_datetime_fault("24:00", 5), "hours are 00 to 23");
    assert_null(dn_datetime_fault("abc", 3));
    assert_null(dn_datetime_fault("2024-02-29", 10));
}

static void test_order(void **state) {
    (void)state;
    dn_datetime_form form = {0};
    double seconds = 0;
    assert_true(add("01/02/2020", &form));
    assert_false(dn_datetime_is_decided(&form));
    assert_false(dn_datetime_parse("01/02/2020", 10, &form, &seconds));
    assert_false(add("2020/02/01", &form)); /* the year is last */
    assert_false(add("01.02.2020", &form)); /* another separator */
    assert_false(add("01/02/2020 10:00", &form));
    assert_true(add("02/03/2020", &form));
    assert_false(dn_datetime_is_decided(&form));
    assert_true(add("13/02/2020", &form));
    assert_true(dn_datetime_is_decided(&form));
    assert_int_equal(form.orders, DN_DATE_DMY);
    assert_false(add("02/13/2020", &form));
    assert_true(dn_datetime_parse("01/02/2020", 10, &form, &seconds));
    assert_true(seconds == 1580515200); /* February 1st */
    form = (dn_datetime_form){0};
    assert_true(add("12/31/2020", &form));
    assert_int_equal(form.orders, DN_DATE_MDY);
    /* 29/02 exists in leap years only: 2/29 of 2021 in no order */
    form = (dn_datetime_form){0};
    assert_false(add("29/02/2021", &form));
    assert_true(add("29/02/2020", &form));
}

static void test_forms_join(void **state) {
    (void)state;
    dn_datetime_form form = {0};
    char out[DN_DATETIME_FORM_SIZE];
    assert_true(add("2024-01-31T08:30:00+01:00", &form));
    assert_true(add("2024-07-31T08:30:00.25+02:00", &form));
    (void)dn_datetime_form_write(&form, out);
    assert_string_equal(out, "YYYY-MM-DDThh:mm:ss.ff+hh:mm");
    assert_true(add("2024-07-31T08:30:00Z", &form));
    assert_false(add("2024-07-31T08:30:00", &form)); /* without a zone */
    assert_false(add("2024-07-31T08:30Z", &form));   /* without seconds */
    static const char *const patterns[] = {"",
                                           "YYYY",
                                           "YYYY-MM",
                                           "YYYY-DD-MM",
                                           "MM-DD",
                                           "YYYY-MM-DDT",
                                           "hh",
                                           "h:m",
                                           "YYYY-MM-DDhh:mm",
                                           "YYYY-MM-DDZ",
                                           "hh:mmZ",
                                           "D/MM/YYYY",
                                           "YYYY-MM-DDThh:mm:ss.",
                                           "YYYY-MM-DDThh:mm:ss.ffffffffff",
                                           "YYYY-MM-DDThh:mm+24:00"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        if (dn_datetime_form_parse(patterns[i], strlen(patterns[i]), &form)) {
            fail_msg("the form \"%s\" was read", patterns[i]);
        }
    }
}

/* Each day from 1799 to 2400 follows the one before, and has its weekday. */
static void test_calendar(void **state) {
    (void)state;
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int64_t year = 1800;
    int month = 1, day = 1, weekday = 3;          /* 1800-01-01 was a Wednesday */
    for (int64_t n = -62091; year <= 2400; n++) { /* days before 1970 */
        const dn_datetime_fields at = dn_datetime_split((double)n * 86400 + 3661.5);
        assert_int_equal(at.year, year);
        assert_int_equal(at.month, month);
        assert_int_equal(at.day, day);
        assert_int_equal(at.weekday, weekday);
        assert_int_equal(at.hour, 1);
        assert_int_equal(at.minute, 1);
        assert_true(at.second == 1.5);
        const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        weekday = weekday % 7 + 1;
        if (++day > days[month - 1] + (month == 2 && leap)) {
            day = 1;
            month = month % 12 + 1;
            year += month == 1;
        }
    }
}

static void check_part(const char *text, dn_date_part part, const char *want) {
    dn_datetime_form form = {0};
    char out[DN_DATE_PART_SIZE];
    double seconds = 0;
    assert_true(add(text, &form));
    form.orders &= form.orders & DN_DATE_DMY ? DN_DATE_DMY : DN_DATE_ANY;
    assert_true(dn_datetime_parse(text, strlen(text), &form, &seconds));
    assert_int_equal(dn_date_part_format(seconds, &form, part, out), strlen(want));
    assert_string_equal(out, want);
}

static void test_parts(void **state) {
    (void)state;
    check_part("2024-02-29", DN_PART_YEAR, "2024");
    check_part("0001-01-01", DN_PART_YEAR, "0001");
    check_part("2024-02-29", DN_PART_MONTH, "02");
    check_part("2024-02-29", DN_PART_DAY, "29");
    check_part("2024-02-29", DN_PART_WEEKDAY, "Thu");
    check_part("1969-12-31", DN_PART_WEEKDAY, "Wed");
    check_part("08:30", DN_PART_HOUR, "08");
    /* the hour of the offset that all cells have */
    check_part("2024-01-01T00:30:00+02:00", DN_PART_HOUR, "00");
    check_part("2024-01-01T00:30:00+02:00", DN_PART_YEAR, "2024");
    dn_datetime_form form = {0};
    assert_true(add("2024-01-31", &form));
    assert_true(dn_datetime_has_part(&form, DN_PART_YEAR));
    assert_false(dn_datetime_has_part(&form, DN_PART_HOUR));
    form = (dn_datetime_form){0};
    assert_true(add("10:00", &form));
    assert_false(dn_datetime_has_part(&form, DN_PART_YEAR));
    assert_true(dn_datetime_has_part(&form, DN_PART_HOUR));
    assert_true(dn_datetime_has_part(&form, DN_PART_NONE));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),     cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_no_dates),   cmocka_unit_test(test_order),
        cmocka_unit_test(test_forms_join), cmocka_unit_test(test_calendar),
        cmocka_unit_test(test_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
