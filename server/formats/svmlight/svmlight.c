/* Reads a line of svmlight. The fast number parser also finds the end of the number. A part that it
 * does not accept is read again, either as a number in another form or to describe the fault. */
#include "formats/svmlight/svmlight.h"
#include <discern/table.h>

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void svmlight_row_done(struct svmlight_row *row) {
    free(row->place);
    free(row->value);
    *row = (struct svmlight_row){0};
}

/* Reserves memory for the entries of a line of n bytes. An entry with the blank before it has at
 * least four bytes, so no check is needed for each entry. */
static bool reserve(struct svmlight_row *row, size_t n) {
    const size_t need = n / 4 + 2;
    if (need <= row->capacity) {
        return true;
    }
    const size_t capacity = need + need / 2;
    free(row->place);
    free(row->value);
    row->place = malloc(capacity * sizeof *row->place);
    row->value = malloc(capacity * sizeof *row->value);
    row->capacity = row->place != NULL && row->value != NULL ? capacity : 0;
    return row->capacity > 0;
}

static inline bool is_space(char c) {
    return c == ' ' || c == '\t';
}

/* Whether c ends a part of a line. A line end does, too. */
static inline bool is_end(char c) {
    return is_space(c) || c == '\n' || c == '\r' || c == '#' || c == '\0';
}

static struct text part_at(const char *p, const char *end) {
    const char *q = p;
    while (q < end && !is_end(*q)) {
        q++;
    }
    return (struct text){p, (size_t)(q - p)};
}

__attribute__((format(printf, 3, 4))) static enum svmlight_line
wrong(struct svmlight_fault *fault, size_t at, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(fault->text, sizeof fault->text, format, args);
    va_end(args);
    fault->at = at;
    return SVMLIGHT_FAULT;
}

/* ---- faults of an entry ---- */
/* Reports the text after a colon, which is not a number. */
static enum svmlight_line wrong_value(const char *line, struct text value, uint64_t index,
                                      struct svmlight_fault *fault) {
    char shown[TEXT_SHOWN];
    double number = 0;
    char pointed[TEXT_SHOWN];
    bool comma = false;
    /* Detects a number with a decimal comma, as 1,5. */
    if (value.n < sizeof pointed) {
        memcpy(pointed, value.bytes, value.n);
        char *at = memchr(pointed, ',', value.n);
        comma = at != NULL;
        if (comma) {
            *at = '.';
        }
        comma = comma && dn_number_parse(pointed, value.n, &number);
    }
    return wrong(fault, (size_t)(value.bytes - line),
                 "index %" PRIu64 ": the value must be a finite decimal number (got %s)%s", index,
                 text_show(value.bytes, value.n, shown),
                 comma ? ": write decimal fractions with a point" : "");
}

/* Reports a part that is not an index:value, or whose feature index is below `next`. */
static enum svmlight_line wrong_entry(const char *line, struct text part, bool zero_based,
                                      uint32_t next, struct svmlight_fault *fault) {
    char shown[TEXT_SHOWN];
    const size_t at = (size_t)(part.bytes - line);
    const unsigned first = zero_based ? 0 : 1;
    size_t n = 0;
    uint64_t index = 0;
    while (n < part.n && part.bytes[n] >= '0' && part.bytes[n] <= '9') {
        index = index > SVMLIGHT_MAX_INDEX ? index : index * 10 + (uint64_t)(part.bytes[n] - '0');
        n++;
    }
    if (n == 0 || n == part.n || part.bytes[n] != ':') {
        return wrong(fault, at,
                     "must be index:value, the index an integer from %u to %d (got %s)%s", first,
                     SVMLIGHT_MAX_INDEX, text_show(part.bytes, part.n, shown),
                     part.n > 4 && memcmp(part.bytes, "qid:", 4) == 0
                         ? ": qid:N must follow the label"
                         : "");
    }
    if (n > 10 || index > SVMLIGHT_MAX_INDEX) {
        return wrong(fault, at, "index %.*s is too large: at most %d, in at most 10 digits",
                     (int)(n < 40 ? n : 40), part.bytes, SVMLIGHT_MAX_INDEX);
    }
    if (index < first) {
        return wrong(
            fault, at,
            "index 0: indexes count from 1; set zero_based=true if they count from 0 here");
    }
    if (next > 0 && index - first < next) {
        const uint64_t before = (uint64_t)next - 1 + first;
        return index == before ? wrong(fault, at, "index %" PRIu64 " comes twice", index)
                               : wrong(fault, at,
                                       "index %" PRIu64 " comes after %" PRIu64
                                       ": the indexes of a row must ascend",
                                       index, before);
    }
    return wrong_value(line, (struct text){part.bytes + n + 1, part.n - n - 1}, index, fault);
}

/* ---- reading ---- */
/* Reads the value at p, after which the part must end. Returns the byte after the value; NULL if it
 * is not a number. */
SCAN_INLINE const char *read_value(const char *p, const char *end, double *out) {
    const unsigned digit = (unsigned)(p[0] - '0');
    if (digit <= 9 && is_end(p[1])) {
        *out = digit;
        return p + 1;
    }
    unsigned written = 0;
    const size_t n = scan_number(p, out, &written);
    if (SCAN_LIKELY(n > 0) && SCAN_LIKELY(is_end(p[n]))) {
        return p + n;
    }
    const struct text value = part_at(p, end);
    return dn_number_parse(value.bytes, value.n, out) ? p + value.n : NULL;
}

/* Reads the entries from p on. */
static enum svmlight_line read_entries(const char *line, const char *p, const char *end,
                                       bool zero_based, struct svmlight_row *row,
                                       struct svmlight_fault *fault) {
    const uint64_t first = zero_based ? 0 : 1, most = SVMLIGHT_MAX_INDEX - first;
    uint32_t *restrict places = row->place;
    double *restrict values = row->value;
    uint64_t next = 0; /* the smallest feature index that may follow */
    size_t n = 0;
    row->n_inexact = 0;
    for (;;) {
        while (is_space(*p)) {
            p++;
        }
        if (p >= end || *p == '#') {
            break;
        }
        uint64_t index = 0;
        const size_t digits = scan_run(p, &index);
        /* if indexes count from 1, index 0 wraps to a large number */
        const uint64_t place = index - first;
        if (SCAN_UNLIKELY(digits - 1 > 9 || p[digits] != ':' || place > most || place < next)) {
            return wrong_entry(line, part_at(p, end), zero_based, (uint32_t)next, fault);
        }
        double value = 0;
        const char *behind = read_value(p + digits + 1, end, &value);
        if (SCAN_UNLIKELY(behind == NULL)) {
            return wrong_value(line, part_at(p + digits + 1, end), index, fault);
        }
        const char *written = p + digits + 1;
        if (SCAN_UNLIKELY(number_may_be_inexact((size_t)(behind - written), value)) &&
            !number_is_exact(written, (size_t)(behind - written), value) && row->n_inexact++ == 0) {
            row->inexact = (struct text){written, (size_t)(behind - written)};
            row->inexact_number = value;
        }
        places[n] = (uint32_t)place;
        values[n] = value;
        n += (value != 0) | (signbit(value) != 0);
        next = place + 1;
        p = behind;
    }
    row->n = n;
    row->width = (uint32_t)next;
    return SVMLIGHT_ROW;
}

/* Skips a part like "qid:17". */
static const char *pass_qid(const char *p, const char *end, bool *seen) {
    while (is_space(*p)) {
        p++;
    }
    const struct text part = part_at(p, end);
    size_t n = 4;
    while (n < part.n && part.bytes[n] >= '0' && part.bytes[n] <= '9') {
        n++;
    }
    *seen = part.n > 4 && n == part.n && memcmp(part.bytes, "qid:", 4) == 0;
    return *seen ? p + part.n : p;
}

enum svmlight_line svmlight_read(const char *line, size_t n, const struct svmlight_options *options,
                                 struct svmlight_row *row, struct svmlight_fault *fault) {
    const char *p = line, *end = line + n;
    char shown[TEXT_SHOWN];
    while (is_space(*p)) {
        p++;
    }
    if (p >= end || *p == '#') {
        return SVMLIGHT_BLANK;
    }
    if (!reserve(row, n)) {
        return SVMLIGHT_NO_MEMORY;
    }
    row->label = part_at(p, end);
    if (memchr(row->label.bytes, ':', row->label.n) != NULL) {
        if (!options->without_label) {
            return wrong(
                fault, (size_t)(p - line),
                "the label is missing: a row is \"label index:value …\" (it begins with %s)",
                text_show(p, row->label.n, shown));
        }
        row->label.n = 0;
    } else if (memchr(row->label.bytes, ',', row->label.n) != NULL) {
        return wrong(fault, (size_t)(p - line),
                     "a row has one label, several are not supported (got %s)",
                     text_show(p, row->label.n, shown));
    }
    return read_entries(line, pass_qid(p + row->label.n, end, &row->qid), end, options->zero_based,
                        row, fault);
}

/* ---- detection ---- */
/* Whether the line is "number index:value …". cut: the last part of the line may be
 * incomplete. */
static bool looks_like_row(struct text line, bool cut) {
    const char *p = line.bytes, *end = line.bytes + line.n;
    size_t parts = 0, entries = 0;
    for (;; parts++) {
        while (p < end && is_space(*p)) {
            p++;
        }
        const struct text part = part_at(p, end);
        double number = 0;
        p += part.n;
        if (part.n == 0 || (cut && p == end)) {
            return entries > 0;
        }
        if (parts == 0 && !dn_number_parse(part.bytes, part.n, &number)) {
            return false;
        }
        const char *colon = memchr(part.bytes, ':', part.n);
        if (parts == 0 || (parts == 1 && part.n > 4 && memcmp(part.bytes, "qid:", 4) == 0)) {
            continue;
        }
        if (colon == NULL || !dn_number_parse(part.bytes, (size_t)(colon - part.bytes), &number) ||
            part.bytes[0] < '0' || part.bytes[0] > '9' ||
            !dn_number_parse(colon + 1, part.n - (size_t)(colon - part.bytes) - 1, &number)) {
            return false;
        }
        entries++;
    }
}

bool svmlight_looks_like(const char *bytes, size_t n, bool whole) {
    size_t at = n >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    while (at < n) {
        size_t end = at;
        while (end < n && bytes[end] != '\n' && bytes[end] != '\r') {
            end++;
        }
        while (at < end && is_space(bytes[at])) {
            at++;
        }
        if (at < end && bytes[at] != '#') {
            return looks_like_row((struct text){bytes + at, end - at}, end == n && !whole);
        }
        at = end + 1;
    }
    return false;
}
