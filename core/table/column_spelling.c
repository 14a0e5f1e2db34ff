/* Spellings of numbers, and whether a spelling must be stored. */
#include "table/column_format.h"

#include <math.h>
#include <string.h>

static inline bool is_digit(char c) {
    return (unsigned)(unsigned char)c - '0' <= 9;
}

size_t dni_column_number_text(double value, unsigned decimals, char out[DNI_COLUMN_TEXT_SIZE]) {
    size_t n = dn_number_format(value, out);
    if (decimals == 0 || memchr(out, 'e', n) != NULL) {
        return n;
    }
    const char *point = memchr(out, '.', n);
    size_t have = point == NULL ? 0 : (size_t)(out + n - point) - 1;
    if (have >= decimals) {
        return n;
    }
    if (point == NULL) {
        out[n++] = '.';
    }
    memset(out + n, '0', decimals - have);
    n += decimals - have;
    out[n] = '\0';
    return n;
}

/* Compares a spelling with the canonical text; for long spellings and spellings with an exponent.
 * `kept` is the length without trailing zeros after the point. */
static dni_spelling compare(double value, const char *text, size_t length, size_t kept,
                            dni_spelling plain) {
    char canonical[DN_NUMBER_SIZE];
    size_t n = dn_number_format(value, canonical);
    if (memchr(canonical, 'e', n) != NULL) {
        return (dni_spelling){.regular = n == length && memcmp(canonical, text, n) == 0};
    }
    plain.regular = n == kept && memcmp(canonical, text, n) == 0;
    return plain;
}

/* A plain decimal of at most 15 significant digits without trailing zeros is the shortest text of
 * its double, because no two such decimals are parsed to the same double. Other texts are compared
 * with the canonical text. The point of a text may separate thousands: the digits before it are
 * then not those of the number. */
dni_spelling dni_spelling_of(double value, const char *text, size_t length) {
    const dni_spelling irregular = {0};
    const char *p = text, *end = text + length;
    if (p < end && *p == '-') {
        p++;
    }
    const char *first = p;
    if (p == end || !is_digit(*p)) {
        return irregular;
    }
    bool below_one = *p == '0';
    uint64_t whole = (uint64_t)(*p - '0'); /* used for at most 15 digits */
    for (p++; p < end && is_digit(*p); p++) {
        if (below_one) {
            return irregular; /* "007" */
        }
        whole = 10 * whole + (uint64_t)(*p - '0');
    }
    size_t significant = below_one ? 0 : (size_t)(p - first);
    dni_spelling plain = {.regular = true, .plain = true};
    if (p == end) {
        return significant <= 15 ? plain : compare(value, text, length, length, plain);
    }
    if (*p != '.') {
        return compare(value, text, length, length, irregular); /* an exponent */
    }
    const char *point = p++, *lead = p;
    while (p < end && is_digit(*p)) {
        p++;
    }
    if (p < end) {
        return compare(value, text, length, length, irregular);
    }
    size_t decimals = (size_t)(end - point) - 1, zeros = 0;
    while (zeros < decimals && end[-1 - (ptrdiff_t)zeros] == '0') {
        zeros++;
    }
    if (decimals == 0 || (zeros > 0 && decimals > DNI_COLUMN_MAX_DECIMALS)) {
        return irregular; /* "5." */
    }
    if (significant <= 15 && fabs(value) - (double)whole >= 1) {
        return irregular; /* "2.000" for 2000 */
    }
    plain.decimals =
        (unsigned)(decimals < DNI_COLUMN_MAX_DECIMALS ? decimals : DNI_COLUMN_MAX_DECIMALS);
    plain.zeros = (unsigned)zeros;
    if (zeros == decimals) {
        return significant <= 15 ? plain
                                 : compare(value, text, length, (size_t)(point - text), plain);
    }
    size_t leading = 0; /* zeros after "0." */
    if (below_one) {
        while (lead[leading] == '0') {
            leading++;
        }
    }
    significant += decimals - zeros - leading;
    if (significant <= 15 && leading <= 5) {
        return plain;
    }
    return compare(value, text, length, length - zeros, plain);
}
