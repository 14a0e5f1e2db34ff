/* Hints at what the client may have meant by a text that is not a number. */
#include "formats/text/cell_hint.h"
#include "formats/text/marks.h"
#include <discern/table.h>
#include <string.h>

/* length limit in bytes; a longer text gets no hint, except a number that is too large */
enum { HINT_MAX = 64 };

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static size_t digits_at(struct text t, size_t at) {
    size_t n = 0;
    while (at + n < t.n && is_digit(t.bytes[at + n])) {
        n++;
    }
    return n;
}

static size_t sign(struct text t) {
    return t.n > 0 && (t.bytes[0] == '-' || t.bytes[0] == '+');
}

/* "1,5", "-0,25", "1.234,5", and "1,234", whose comma may separate thousands. */
static bool has_decimal_comma(struct text t) {
    double number = 0;
    const enum marks_form form = marks_form(&(struct marks){0}, t, &number);
    return form == MARKS_COMMA || form == MARKS_EITHER;
}

/* "1,234,567", "1,234.5": commas that separate groups of three digits. */
static bool has_thousands(struct text t) {
    double number = 0;
    return t.n > 0 && memchr(t.bytes, ',', t.n) != NULL && !has_decimal_comma(t) &&
           marks_number(&(struct marks){.thousands = ','}, t, &number);
}

/* "1 234,5" and "1'234.5": blanks or apostrophes that separate groups of three digits. */
static bool has_groups(struct text t, char mark) {
    double number = 0;
    const struct marks point = {.thousands = mark}, comma = {.thousands = mark, .decimal = ','};
    return t.n > 4 && is_digit(t.bytes[t.n - 1]) && !dn_number_parse(t.bytes, t.n, &number) &&
           (marks_number(&point, t, &number) || marks_number(&comma, t, &number));
}
static bool has_blank_groups(struct text t) {
    return has_groups(t, ' ') && !has_decimal_comma(t);
}
static bool has_apostrophes(struct text t) {
    return has_groups(t, '\'') && !has_decimal_comma(t);
}

static bool is_hexadecimal(struct text t) {
    const size_t at = sign(t);
    bool all =
        t.n > at + 2 && t.bytes[at] == '0' && (t.bytes[at + 1] == 'x' || t.bytes[at + 1] == 'X');
    for (size_t i = at + 2; all && i < t.n; i++) {
        const char c = (char)(t.bytes[i] | 0x20);
        all = is_digit(t.bytes[i]) || (c >= 'a' && c <= 'f');
    }
    return all;
}

/* Whether the text has the form of a number whose magnitude is above the range of a double. */
static bool is_too_large(struct text t) {
    size_t at = sign(t);
    double number = 0;
    at += digits_at(t, at);
    at += at < t.n && t.bytes[at] == '.' ? 1 + digits_at(t, at + 1) : 0;
    if (at < t.n && (t.bytes[at] == 'e' || t.bytes[at] == 'E')) {
        if (!dn_number_parse(t.bytes, at, &number)) {
            return false;
        }
        at += at + 1 < t.n && (t.bytes[at + 1] == '-' || t.bytes[at + 1] == '+') ? 2 : 1;
        const size_t n = digits_at(t, at);
        return n > 0 && at + n == t.n && !dn_number_parse(t.bytes, t.n, &number);
    }
    return at == t.n && at > 300 && !dn_number_parse(t.bytes, t.n, &number);
}

/* Matches "2024-01-31", "31.01.2024", "1/31/24", "2024/01/31", optionally with a time after a space
 * or T. */
static bool is_date(struct text t) {
    const size_t a = digits_at(t, 0);
    if (a == 0 || a == 3 || a > 4 || a == t.n) {
        return false;
    }
    const char mark = t.bytes[a];
    const size_t b = digits_at(t, a + 1);
    if ((mark != '-' && mark != '/' && mark != '.') || b == 0 || b > 2 || a + 1 + b >= t.n ||
        t.bytes[a + 1 + b] != mark) {
        return false;
    }
    const size_t at = a + b + 2, c = digits_at(t, at);
    if (a == 4 ? c == 0 || c > 2 : c != 2 && c != 4) {
        return false;
    }
    return at + c == t.n || t.bytes[at + c] == ' ' || t.bytes[at + c] == 'T';
}

/* Whether the text is the name of a month or its beginning, at least three letters. */
static bool is_month(const char *bytes, size_t n) {
    static const char *const months[] = {"january",   "february", "march",    "april",
                                         "may",       "june",     "july",     "august",
                                         "september", "october",  "november", "december"};
    for (size_t i = 0; n >= 3 && i < sizeof months / sizeof months[0]; i++) {
        size_t same = 0;
        while (same < n && months[i][same] != '\0' && (bytes[same] | 0x20) == months[i][same]) {
            same++;
        }
        if (same == n) {
            return true;
        }
    }
    return false;
}

static bool is_letter(char c) {
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

/* Matches "31 Jan 2024", "January 31, 2024", "31-Jan-24". */
static bool is_named_date(struct text t) {
    size_t numbers = 0, months = 0;
    for (size_t at = 0; at < t.n;) {
        const size_t digits = digits_at(t, at);
        size_t letters = 0;
        while (at + letters < t.n && is_letter(t.bytes[at + letters])) {
            letters++;
        }
        if (digits > 4 || digits == 3 || (letters > 0 && !is_month(t.bytes + at, letters)) ||
            (digits + letters == 0 && memchr(" ,-./", t.bytes[at], 5) == NULL)) {
            return false;
        }
        numbers += digits > 0;
        months += letters > 0;
        at += digits + letters > 0 ? digits + letters : 1;
    }
    return numbers == 2 && months == 1;
}

/* Matches "10:00 AM". */
static bool is_half_day(struct text t) {
    const size_t a = digits_at(t, 0);
    return a > 0 && a < 3 && t.n > a + 4 && t.bytes[a] == ':' && digits_at(t, a + 1) == 2 &&
           (t.bytes[t.n - 1] | 0x20) == 'm' &&
           ((t.bytes[t.n - 2] | 0x20) == 'a' || (t.bytes[t.n - 2] | 0x20) == 'p');
}

/* Matches "12:30", "9:05:00.5". */
static bool is_time(struct text t) {
    const size_t a = digits_at(t, 0);
    return (a == 1 || a == 2) && a < t.n && t.bytes[a] == ':' && digits_at(t, a + 1) == 2 &&
           (a + 3 == t.n || t.bytes[a + 3] == ':');
}

/* Matches "1.234.567": two groups of three digits or more. */
static bool has_points_of_thousands(struct text t) {
    size_t groups = 0, at = sign(t), digits = digits_at(t, at);
    bool well = digits >= 1 && digits <= 3;
    for (at += digits; well && at < t.n; at += 4) {
        well = t.bytes[at] == '.' && digits_at(t, at + 1) == 3;
        groups++;
    }
    return well && groups >= 2;
}

static bool is_percentage(struct text t) {
    double number = 0;
    if (t.n < 2 || t.bytes[t.n - 1] != '%') {
        return false;
    }
    const struct text before = text_trim(t.bytes, t.n - 1);
    return dn_number_parse(before.bytes, before.n, &number);
}

static bool is_infinite(struct text t) {
    static const char *const words[] = {"inf", "Inf", "INF", "infinity", "Infinity", "INFINITY"};
    const struct text word = {t.bytes + sign(t), t.n - sign(t)};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (text_is(word, words[i])) {
            return true;
        }
    }
    return false;
}

/* Words, other than the standard tokens, that programs write for a missing value. */
static bool is_word_for_missing(struct text t) {
    static const char *const words[] = {"nan",     "NAN",     "na",   "n/a",  "N/A",  "#N/A",
                                        "n.a.",    "N.A.",    "none", "None", "NONE", "nil",
                                        "NULL",    "Null",    "-",    "--",   ".",    "..",
                                        "#NA",     "#VALUE!", "\\N",  "<NA>", "NaT",  "(null)",
                                        "#DIV/0!", "#REF!",   "#NUM!"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (text_is(t, words[i])) {
            return true;
        }
    }
    return false;
}

bool cell_hint_time(const char *bytes, size_t n) {
    const struct text t = {bytes, n};
    return is_date(t) || is_time(t);
}

bool cell_hint_missing(const char *bytes, size_t n) {
    return is_word_for_missing(text_trim(bytes, n));
}

#define POINT_HINT "write decimal fractions with a point"
#define GROUPS_HINT "write numbers without thousands separators"

const char *cell_hint_json(const char *bytes, size_t n) {
    const struct text t = text_trim(bytes, n);
    double number = 0;
    return t.n > HINT_MAX                           ? cell_hint(bytes, n)
           : dn_number_parse(t.bytes, t.n, &number) ? "a JSON number is written without quotes"
           : has_decimal_comma(t)                   ? POINT_HINT
           : has_thousands(t)                       ? GROUPS_HINT
                                                    : cell_hint(bytes, n);
}

const char *cell_hint(const char *bytes, size_t n) {
    static const struct {
        bool (*is)(struct text t);
        const char *hint;
    } known[] = {
        {has_decimal_comma, POINT_HINT ", or set decimal=,"},
        {has_thousands, GROUPS_HINT ", or set thousands=,"},
        {has_blank_groups, GROUPS_HINT ", or set thousands=space"},
        {has_apostrophes, GROUPS_HINT ", or set thousands='"},
        {has_points_of_thousands,
         "if its points separate thousands, set decimal=, and thousands=."},
        {is_hexadecimal, "hexadecimal numbers are not read as numbers"},
        {is_date, "it looks like a date: a column is of type datetime if all its cells have one "
                  "form, with years of four digits"},
        {is_named_date,
         "it looks like a date: a column is of type datetime if its dates are written "
         "in digits, such as 2024-01-31"},
        {is_half_day, "it looks like a time of day: a column is of type datetime if its times are "
                      "written HH:MM, 00:00 to 23:59"},
        {is_time, "it looks like a time of day: a column is of type datetime if all its cells are "
                  "written HH:MM or all HH:MM:SS"},
        {is_percentage, "write percentages as plain numbers"},
        {is_infinite, "infinite values are not read as numbers"},
        {is_word_for_missing, "if it stands for a missing value, name it in missing="},
    };
    const struct text t = text_trim(bytes, n);
    if (is_too_large(t)) {
        return "its magnitude is beyond the largest number, about 1.8e308";
    }
    for (size_t i = 0; t.n <= HINT_MAX && i < sizeof known / sizeof known[0]; i++) {
        if (known[i].is(t)) {
            return known[i].hint;
        }
    }
    return NULL;
}
