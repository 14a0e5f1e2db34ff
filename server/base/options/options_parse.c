/* Parses the value of one option: the grammar of each kind, and messages with the rule and the
 * value. */
#include "base/options/options_parse.h"

#include <discern/number.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { RULE_SIZE = 160 };

/* Returns the field of the settings struct; row->kind determines its type. */
static void *field_of(const struct option_row *row, void *settings) {
    return (char *)settings + row->offset;
}

static bool refuse(const char *shown, const char *rule, const char *text, struct problem *problem) {
    return problem_set(problem, PROBLEM_INVALID, "%s must be %s, got \"%.200s\"", shown, rule,
                       text);
}

static bool has_range(const struct option_row *row) {
    return row->minimum < row->maximum; /* if both are 0, there is no range */
}

/* Parses a decimal integer with an optional sign. *end: the byte after the last digit. */
static bool read_int(const char *text, int64_t *out, const char **end) {
    const char *digits = text + (*text == '-' || *text == '+' ? 1 : 0);
    if (*digits < '0' || *digits > '9') {
        return false;
    }
    char *after;
    errno = 0;
    const intmax_t v = strtoimax(text, &after, 10);
    if (errno != 0 || v < INT64_MIN || v > INT64_MAX) {
        return false;
    }
    *out = v;
    *end = after;
    return true;
}

static bool parse_int(const struct option_row *row, const char *shown, const char *text,
                      int64_t *out, struct problem *problem) {
    int64_t v = 0;
    const char *end = text;
    const bool good = read_int(text, &v, &end) && *end == '\0';
    if (!good || (has_range(row) && ((double)v < row->minimum || (double)v > row->maximum))) {
        char rule[RULE_SIZE] = "an integer";
        if (has_range(row)) {
            (void)snprintf(rule, sizeof rule, "an integer from %.0f to %.0f", row->minimum,
                           row->maximum);
        }
        return refuse(shown, rule, text, problem);
    }
    *out = v;
    return true;
}

/* Returns the bytes of a unit: K, M, G or KiB, MiB, GiB, all binary; 0 if the suffix is none of
 * these. */
static int64_t size_unit(const char *suffix) {
    static const struct {
        const char *name, *full; /* both forms are accepted, case-insensitively */
        int64_t bytes;           /* bytes of the unit */
    } units[] = {{"", "B", 1},
                 {"K", "KiB", INT64_C(1) << 10},
                 {"M", "MiB", INT64_C(1) << 20},
                 {"G", "GiB", INT64_C(1) << 30}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcasecmp(suffix, units[i].name) == 0 || strcasecmp(suffix, units[i].full) == 0) {
            return units[i].bytes;
        }
    }
    return 0;
}

/* Writes a number of bytes in the form "64M". A limit that is no multiple of a unit, as 1e15, is
 * rounded down, so that the written limit is accepted. */
static void size_text(double bytes, char *out, size_t size) {
    static const char units[] = {'\0', 'K', 'M', 'G'};
    size_t i = 0;
    while (i + 1 < sizeof units && bytes >= 1024 && (fmod(bytes, 1024) == 0 || bytes >= 1e6)) {
        bytes = floor(bytes / 1024);
        i++;
    }
    (void)snprintf(out, size, i > 0 ? "%.0f%c" : "%.0f", bytes, units[i]);
}

/* Returns a text with two examples of valid sizes; "" if none of the examples is valid. */
static const char *size_examples(const struct option_row *row) {
    static const struct {
        double least, most;
        const char *text;
    } pairs[] = {{512.0 * 1024, 64.0 * 1024 * 1024, ", like 64M or 512K"},
                 {64.0 * 1024 * 1024, 1024.0 * 1024 * 1024, ", like 64M or 1G"}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        if (pairs[i].least >= row->minimum && pairs[i].most <= row->maximum) {
            return pairs[i].text;
        }
    }
    return "";
}

static bool parse_size(const struct option_row *row, const char *shown, const char *text,
                       int64_t *out, struct problem *problem) {
    int64_t v = 0;
    const char *suffix = "?";
    const bool is_int = read_int(text, &v, &suffix);
    const int64_t unit = is_int ? size_unit(suffix + strspn(suffix, " ")) : 0;
    if (unit == 0 || v < 0 || v > INT64_MAX / unit ||
        (has_range(row) &&
         ((double)(v * unit) < row->minimum || (double)(v * unit) > row->maximum))) {
        char low[32], high[32], rule[RULE_SIZE] = "a size like 64M or 512K";
        if (has_range(row)) {
            size_text(row->minimum, low, sizeof low);
            size_text(row->maximum, high, sizeof high);
            (void)snprintf(rule, sizeof rule, "a size from %s to %s%s", low, high,
                           size_examples(row));
        }
        return refuse(shown, rule, text, problem);
    }
    *out = v * unit;
    return true;
}

static bool parse_seconds(const struct option_row *row, const char *shown, const char *text,
                          double *out, struct problem *problem) {
    static const struct {
        const char *suffix; /* the text after the number */
        double seconds;     /* seconds of the unit */
    } units[] = {{"", 1}, {"s", 1}, {"ms", 0.001}, {"m", 60}, {"h", 3600}};
    const size_t digits = strspn(text, "0123456789.");
    double v = -1, unit = 0;
    const bool is_number = dn_number_parse(text, digits, &v);
    for (size_t i = 0; is_number && i < sizeof units / sizeof units[0]; i++) {
        unit = strcmp(text + digits, units[i].suffix) == 0 ? units[i].seconds : unit;
    }
    const bool good = unit > 0 && isfinite(v * unit);
    if (!good || (has_range(row) && (v * unit < row->minimum || v * unit > row->maximum))) {
        char rule[RULE_SIZE] = "a time like 30, 30s, 5m or 500ms";
        if (has_range(row)) {
            (void)snprintf(rule, sizeof rule,
                           "a time from %g to %g seconds, like 30, 30s, 5m or 500ms", row->minimum,
                           row->maximum);
        }
        return refuse(shown, rule, text, problem);
    }
    *out = v * unit;
    return true;
}

static bool parse_flag(const char *shown, const char *text, bool *out, struct problem *problem) {
    static const char *const words[2][4] = {{"false", "no", "off", "0"},
                                            {"true", "yes", "on", "1"}};
    for (size_t i = 0; i < 8; i++) {
        if (strcasecmp(text, words[i / 4][i % 4]) == 0) {
            *out = i / 4 == 1;
            return true;
        }
    }
    return refuse(shown, "true or false", text, problem);
}

static bool parse_choice(const struct option_row *row, const char *shown, const char *text,
                         const char **out, struct problem *problem) {
    const size_t length = strlen(text);
    for (const char *at = row->choices; length > 0; at++) {
        const size_t n = strcspn(at, "|");
        if (n == length && memcmp(at, text, n) == 0) {
            *out = text;
            return true;
        }
        at += n;
        if (*at == '\0') {
            break;
        }
    }
    char rule[RULE_SIZE];
    (void)snprintf(rule, sizeof rule, "one of %s", row->choices);
    return refuse(shown, rule, text, problem);
}

static bool parse_list(const char *shown, const char *text, struct option_list *list,
                       struct problem *problem) {
    if (*text == '\0') {
        /* an empty value means an empty list */
        return true;
    }
    for (const char *at = text;; at++) {
        at += strspn(at, " ");
        const size_t field = strcspn(at, ",");
        size_t n = field;
        while (n > 0 && at[n - 1] == ' ') {
            n--;
        }
        if (n == 0) {
            return refuse(shown, "a comma-separated list without empty items", text, problem);
        }
        if (list->n == OPTION_LIST_MAX) {
            return problem_set(problem, PROBLEM_INVALID, "%s must have at most %d items", shown,
                               OPTION_LIST_MAX);
        }
        char *item = strndup(at, n);
        if (item == NULL) {
            return problem_no_memory(problem);
        }
        list->items[list->n++] = item;
        at += field;
        if (*at == '\0') {
            return true;
        }
    }
}

void options_zero(const struct option_row *row, void *settings) {
    void *field = field_of(row, settings);
    switch (row->kind) {
    case OPTION_STRING:
    case OPTION_CHOICE:
        *(const char **)field = NULL;
        break;
    case OPTION_LIST:
        *(struct option_list *)field = (struct option_list){0};
        break;
    case OPTION_INT:
    case OPTION_SIZE:
        *(int64_t *)field = 0;
        break;
    case OPTION_SECONDS:
        *(double *)field = 0;
        break;
    case OPTION_FLAG:
        *(bool *)field = false;
        break;
    }
}

bool options_parse(const struct option_row *row, const char *shown, const char *text,
                   void *settings, struct problem *problem) {
    void *field = field_of(row, settings);
    switch (row->kind) {
    case OPTION_STRING:
        *(const char **)field = text;
        return true;
    case OPTION_LIST:
        return parse_list(shown, text, field, problem);
    case OPTION_INT:
        return parse_int(row, shown, text, field, problem);
    case OPTION_SIZE:
        return parse_size(row, shown, text, field, problem);
    case OPTION_SECONDS:
        return parse_seconds(row, shown, text, field, problem);
    case OPTION_FLAG:
        return parse_flag(shown, text, field, problem);
    case OPTION_CHOICE:
        return parse_choice(row, shown, text, field, problem);
    }
    return false;
}

void options_list_clear(const struct option_row *row, void *settings) {
    struct option_list *list = field_of(row, settings);
    for (size_t i = 0; i < list->n; i++) {
        /* allocated by parse_list */
        free((char *)(uintptr_t)list->items[i]);
    }
    *list = (struct option_list){0};
}
