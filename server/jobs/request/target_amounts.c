#include "jobs/request/target_amounts.h"
#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

enum { MAX_UNIT = 4 }; /* letters of a unit, as in "kg", "EUR" */

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Returns the length of the sign at the beginning, or the end, of a text; 0: there is none. */
static size_t sign_at(const char *text, size_t n, bool at_end) {
    static const char *const signs[] = {" ", "%", "$", "€", "£",       "¥",
                                        "¢", "₹", "‰", "°", "\xc2\xa0"};
    for (size_t k = 0; k < sizeof signs / sizeof *signs; k++) {
        const size_t size = strlen(signs[k]);
        if (size <= n && memcmp(at_end ? text + n - size : text, signs[k], size) == 0) {
            return size;
        }
    }
    return 0;
}

/* Removes a unit after a blank, as in "7 kg". Returns the length without it. */
static size_t without_unit(const char *text, size_t n) {
    size_t end = n;
    while (end > 0 && is_letter(text[end - 1])) {
        end--;
    }
    return end < n && n - end <= MAX_UNIT && end > 1 && text[end - 1] == ' ' ? end : n;
}

/* Whether a text is a number with a sign or a unit. Sets *fraction to true if it has decimals. */
static bool is_amount(const char *text, size_t n, bool *fraction) {
    size_t end = without_unit(text, n), start = 0, size;
    bool bare = end == n;
    while ((size = sign_at(text, end, true)) > 0) {
        end -= size;
        bare = false;
    }
    for (bool minus = false; start < end; start += size) { /* "$5", "-$5" */
        size = sign_at(text + start, end - start, false);
        if (size == 0 && (minus || (text[start] != '-' && text[start] != '+'))) {
            break;
        }
        minus = minus || size == 0;
        bare = bare && size == 0;
        size = size > 0 ? size : 1;
    }
    if (bare || start == end || !is_digit(text[start]) || !is_digit(text[end - 1])) {
        return false;
    }
    size_t mark = SIZE_MAX;
    for (size_t i = start; i < end; i++) {
        const bool separates = strchr(".,'", text[i]) != NULL;
        if (!is_digit(text[i]) && !separates) {
            return false;
        }
        mark = separates ? i : mark;
    }
    *fraction = *fraction || (mark != SIZE_MAX && text[mark] != '\'' && end - mark - 1 != 3);
    return true;
}

bool jobs_target_amounts(const struct jobs_request *r, size_t column, struct target_amounts *out) {
    struct problem ignored = {0};
    struct target_amounts found = {0};
    json_t *columns = json_parse(r->data.columns, strlen(r->data.columns), &ignored);
    const json_t *top = json_object_get(json_array_get(columns, column), "top");
    bool all = json_array_size(top) > 0;
    for (size_t i = 0; all && i < json_array_size(top); i++) {
        const json_t *value = json_array_get(json_array_get(top, i), 0);
        const char *text = json_string_value(value);
        const size_t n = json_string_length(value);
        all = text != NULL && is_amount(text, n, &found.fractions);
        if (all && i == 0) {
            (void)snprintf(found.example, sizeof found.example, "%.*s",
                           (int)utf8_cut(text, n, sizeof found.example - 1), text);
        }
    }
    problem_done(&ignored);
    json_decref(columns);
    if (all) {
        *out = found;
    }
    return all;
}
