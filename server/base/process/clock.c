/* The two clocks, and the text of a time. */
#include "base/process/clock.h"

#include <string.h>
#include <time.h>

int64_t clock_monotonic_ns(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t clock_real_ms(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Writes v as `digits` decimal digits with leading zeros. Returns the end. */
static char *put_digits(char *out, int64_t v, int digits) {
    for (int i = digits - 1; i >= 0; i--) {
        out[i] = (char)('0' + v % 10);
        v /= 10;
    }
    return out + digits;
}

static char *put_char(char *out, char c) {
    *out = c;
    return out + 1;
}

void clock_format(int64_t real_ms, char out[CLOCK_TEXT_SIZE]) {
    /* The years 0000 to 9999, which are all that RFC 3339 can represent. */
    const int64_t first = -62167219200000, last = 253402300799999;
    const int64_t ms = real_ms < first ? first : real_ms > last ? last : real_ms;
    const int64_t since = ms - first; /* milliseconds since 0000-01-01, never negative */
    const int64_t day_ms = 86400000;
    const int64_t of_day = since % day_ms;
    /* Converts days to a date, in years that begin on 1 March, so that the leap day is the last day
     * of a year. Day 0 is 1 March of the year -400; 400 years have 146,097 days; month m of such a
     * year begins at day (153 m + 2) / 5. */
    /* 0000-03-01 is day 60 of the leap year 0000. */
    const int64_t days = since / day_ms + 146097 - 60;
    const int64_t era = days / 146097, of_era = days % 146097;
    const int64_t year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    const int64_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    const int64_t m = (5 * of_year + 2) / 153;
    const int64_t day = of_year - (153 * m + 2) / 5 + 1;
    const int64_t month = m < 10 ? m + 3 : m - 9;
    const int64_t year = year_of_era + (era - 1) * 400 + (month <= 2 ? 1 : 0);

    char *p = put_char(put_digits(out, year, 4), '-');
    p = put_char(put_digits(p, month, 2), '-');
    p = put_char(put_digits(p, day, 2), 'T');
    p = put_char(put_digits(p, of_day / 3600000, 2), ':');
    p = put_char(put_digits(p, of_day / 60000 % 60, 2), ':');
    p = put_char(put_digits(p, of_day / 1000 % 60, 2), '.');
    p = put_char(put_digits(p, of_day % 1000, 3), 'Z');
    *p = '\0';
}

/* Reads n digits. A byte that is no digit gives a number that is out of range. */
static int64_t read_digits(const char *text, int n) {
    int64_t v = 0;
    for (int i = 0; i < n; i++) {
        v = text[i] >= '0' && text[i] <= '9' ? 10 * v + (text[i] - '0') : 99999;
    }
    return v;
}

bool clock_parse(const char *text, int64_t *real_ms) {
    char whole[CLOCK_TEXT_SIZE] = "1970-01-01T00:00:00.000Z", again[CLOCK_TEXT_SIZE];
    const size_t n = strlen(text);
    if (n == 24 || n == 10) {
        memcpy(whole, text, n);
    } else if (n == 20 && text[19] == 'Z') {
        memcpy(whole, text, 19);
    } else {
        return false;
    }
    const int64_t year = read_digits(whole, 4), month = read_digits(whole + 5, 2);
    if (year < 1970 || year > 9999 || month < 1 || month > 12) {
        return false;
    }
    /* days since 1970, by the calendar of clock_format */
    const int64_t y = month > 2 ? year : year - 1, m = month > 2 ? month - 3 : month + 9;
    const int64_t days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 +
                         read_digits(whole + 8, 2) - 1 - 719468;
    const int64_t out = days * 86400000 + read_digits(whole + 11, 2) * 3600000 +
                        read_digits(whole + 14, 2) * 60000 + read_digits(whole + 17, 2) * 1000 +
                        read_digits(whole + 20, 3);
    clock_format(out, again); /* differs if a field is out of range or is no number */
    if (strcmp(whole, again) != 0) {
        return false;
    }
    *real_ms = out;
    return true;
}
