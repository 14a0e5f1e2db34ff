/* Reads numbers with decimal commas, separators of thousands and signs. */
#include "formats/text/marks.h"
#include <discern/table.h>

#include <string.h>

enum { LONGEST = 400 }; /* a longer text with marks is no number */

static bool begins(struct text t, const char *word) {
    const size_t n = strlen(word);
    return t.n >= n && memcmp(t.bytes, word, n) == 0;
}

static bool ends(struct text t, const char *word, size_t n) {
    return t.n >= n && memcmp(t.bytes + t.n - n, word, n) == 0;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* Returns the length of the character at `text`, at most n. */
static size_t character_size(const char *text, size_t n) {
    size_t size = 1;
    while (size < n && ((unsigned char)text[size] & 0xC0) == 0x80) {
        size++;
    }
    return size;
}

/* ---- options ---- */
/* Checks that the decimal mark does not separate thousands, too. */
static bool check(const struct marks *m, struct problem *problem) {
    return m->decimal == '\0' || m->decimal != m->thousands ||
           problem_set(problem, PROBLEM_BAD_REQUEST,
                       "parameters \"decimal\" and \"thousands\" must differ (got \"%c\" for both)",
                       m->decimal);
}

bool marks_set_decimal(struct marks *m, const char *value, struct problem *problem) {
    static const struct {
        const char *text;
        char mark;
    } known[] = {{".", '.'}, {",", ','}, {"point", '.'}, {"comma", ','}, {"auto", '\0'}};
    char shown[TEXT_SHOWN];
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(value, known[i].text) == 0) {
            m->decimal = known[i].mark;
            return check(m, problem);
        }
    }
    return problem_set(problem, PROBLEM_BAD_REQUEST,
                       "parameter \"decimal\" must be a point, a comma or auto (got %s)",
                       text_show(value, strlen(value), shown));
}

bool marks_set_thousands(struct marks *m, const char *value, struct problem *problem) {
    static const struct {
        const char *text;
        char mark;
    } known[] = {{".", '.'},     {",", ','},           {"'", '\''},
                 {" ", ' '},     {"point", '.'},       {"comma", ','},
                 {"space", ' '}, {"apostrophe", '\''}, {"none", '\0'}};
    char shown[TEXT_SHOWN];
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(value, known[i].text) == 0) {
            m->thousands = known[i].mark;
            m->has_thousands = true;
            return check(m, problem);
        }
    }
    return problem_set(
        problem, PROBLEM_BAD_REQUEST,
        "parameter \"thousands\" must be a point, a comma, ', space or none (got %s)",
        text_show(value, strlen(value), shown));
}

bool marks_set_strip(struct marks *m, const char *value, struct problem *problem) {
    char shown[TEXT_SHOWN];
    const size_t n = strlen(value);
    bool well = n <= MARKS_STRIP_MAX;
    for (size_t i = 0; i < n; i++) {
        const unsigned char c = (unsigned char)value[i];
        well = well && (c >= 0x80 || (c > ' ' && c < 0x7F && !is_digit(value[i]) &&
                                      !((c | 0x20) >= 'a' && (c | 0x20) <= 'z') &&
                                      strchr("+-.,\"'", c) == NULL));
    }
    if (!well) {
        return problem_set(problem, PROBLEM_BAD_REQUEST,
                           "parameter \"strip\" must be at most %d bytes of characters such as $ "
                           "or %%, without letters, digits, blanks, quotes, signs, points and "
                           "commas (got %s)",
                           MARKS_STRIP_MAX, text_show(value, n, shown));
    }
    m->has_strip = true;
    memcpy(m->strip, value, n + 1);
    return true;
}

void marks_replace(struct marks *m, const struct marks *later) {
    if (later->decimal != '\0') {
        m->decimal = later->decimal;
        m->thousands = m->thousands == m->decimal ? '\0' : m->thousands;
    }
    if (later->has_thousands) {
        m->thousands = later->thousands;
        m->decimal = m->decimal == m->thousands && later->decimal == '\0' ? '\0' : m->decimal;
    }
    if (later->has_strip) {
        memcpy(m->strip, later->strip, sizeof m->strip);
    }
}

/* ---- reading ---- */
/* A number without the signs around it. */
struct peeled {
    char sign; /* a sign before characters that were removed; '\0': there is none */
    struct text rest;
};

/* Returns the length of a blank at the start of the text; 0: there is none. */
static size_t blank_size(struct text t) {
    return t.n == 0                                                 ? 0
           : t.bytes[0] == ' ' || t.bytes[0] == '\t'                ? 1
           : begins(t, "\xC2\xA0")                                  ? 2
           : begins(t, "\xE2\x80\xAF") || begins(t, "\xE2\x80\x89") ? 3
                                                                    : 0;
}

static size_t blank_size_at_end(struct text t) {
    return t.n == 0                                                   ? 0
           : t.bytes[t.n - 1] == ' ' || t.bytes[t.n - 1] == '\t'      ? 1
           : ends(t, "\xC2\xA0", 2)                                   ? 2
           : ends(t, "\xE2\x80\xAF", 3) || ends(t, "\xE2\x80\x89", 3) ? 3
                                                                      : 0;
}

/* Whether the character is in the list. */
static bool is_listed(const char *list, const char *c, size_t n) {
    for (size_t size = 0; *list != '\0'; list += size) {
        size = character_size(list, strlen(list));
        if (size == n && memcmp(list, c, n) == 0) {
            return true;
        }
    }
    return false;
}

/* Whether the character is a sign of a currency or of percentages. */
static bool is_sign(const char *list, const char *c, size_t n) {
    (void)list;
    return is_listed("$%\xC2\xA2\xC2\xA3\xC2\xA4\xC2\xA5\xE2\x80\xB0\xE0\xB8\xBF", c, n) ||
           (n == 3 && memcmp(c, "\xE2\x82", 2) == 0 && (unsigned char)c[2] >= 0xA0);
}

typedef bool peels(const char *list, const char *c, size_t n);

static void note(char *signs, const char *c, size_t n) {
    const size_t used = signs != NULL ? strlen(signs) : 0;
    if (signs != NULL && used + n < MARKS_SIGNS && !is_listed(signs, c, n)) {
        memcpy(signs + used, c, n);
        signs[used + n] = '\0';
    }
}

/* Removes characters of the list from both ends of a text, and blanks next to them. signs: room for
 * the removed characters; NULL: they are not needed. */
static struct peeled peel(struct text t, peels *may, const char *list, char *signs) {
    struct peeled p = {.rest = t};
    for (bool more = true; more && t.n > 0;) {
        const size_t blank = blank_size(t), n = blank > 0 ? blank : character_size(t.bytes, t.n);
        const bool sign = p.sign == '\0' && (t.bytes[0] == '-' || t.bytes[0] == '+');
        more = blank > 0 || sign || may(list, t.bytes, n);
        if (more && !sign && blank == 0) {
            note(signs, t.bytes, n);
        }
        if (more) {
            p.sign = sign ? t.bytes[0] : p.sign;
            t = (struct text){t.bytes + n, t.n - n};
        }
    }
    for (bool more = true; more && t.n > 0;) {
        size_t n = blank_size_at_end(t);
        more = n > 0;
        if (!more) {
            for (n = 1; n < t.n && ((unsigned char)t.bytes[t.n - n] & 0xC0) == 0x80;) {
                n++;
            }
            more = may(list, t.bytes + t.n - n, n);
            if (more) {
                note(signs, t.bytes + t.n - n, n);
            }
        }
        t.n -= more ? n : 0;
    }
    p.rest = t;
    return p;
}

/* Returns the length of the separator of thousands at the start of the text; 0: there is none. */
static size_t separator_size(char thousands, struct text t) {
    return thousands == '\0' || t.n == 0 ? 0
           : thousands == ' '            ? (t.bytes[0] == '\t' ? 0 : blank_size(t))
           : thousands == '\'' && begins(t, "\xE2\x80\x99") ? 3
                                                            : (t.bytes[0] == thousands);
}

/* Reads the number. *groups: number of separators of thousands. */
static bool read_peeled(struct peeled p, char decimal, char thousands, double *out,
                        size_t *groups) {
    char plain[LONGEST + 2];
    struct text t = p.rest;
    size_t n = 0, digits = 0;
    *groups = 0;
    if (t.n == 0 || t.n > LONGEST ||
        (p.sign != '\0' && !is_digit(t.bytes[0]) && t.bytes[0] != decimal)) {
        return false;
    }
    if (p.sign != '\0') {
        plain[n++] = p.sign;
    } else if (t.bytes[0] == '-' || t.bytes[0] == '+') {
        plain[n++] = t.bytes[0];
        t = (struct text){t.bytes + 1, t.n - 1};
    }
    for (size_t size = 0; t.n > 0; t = (struct text){t.bytes + size, t.n - size}) {
        size = separator_size(thousands, t);
        if (size > 0 && (digits == 0 || digits > 3 || (*groups > 0 && digits != 3))) {
            return false;
        }
        if (size == 0 && !is_digit(t.bytes[0])) {
            break;
        }
        *groups += size > 0;
        digits = size > 0 ? 0 : digits + 1;
        if (size == 0) {
            plain[n++] = t.bytes[0];
            size = 1;
        }
    }
    if (*groups > 0 && digits != 3) {
        return false;
    }
    for (size_t i = 0; i < t.n; i++) { /* the decimal mark, the fraction, the exponent */
        const char c = t.bytes[i];
        if (c == '.' && decimal != '.') {
            return false;
        }
        plain[n++] = i == 0 && c == decimal ? '.' : c;
    }
    return dn_number_parse(plain, n, out);
}

static struct peeled peel_by(const struct marks *m, struct text t) {
    return m->strip[0] != '\0' ? peel(t, is_listed, m->strip, NULL) : (struct peeled){.rest = t};
}

bool marks_number(const struct marks *m, struct text t, double *out) {
    const char decimal = m->decimal != '\0' ? m->decimal : m->thousands == '.' ? ',' : '.';
    size_t groups = 0;
    if (!marks_any(m)) {
        return dn_number_parse(t.bytes, t.n, out);
    }
    return read_peeled(peel_by(m, t), decimal, m->thousands, out, &groups);
}

/* Whether the text is one to three digits, not beginning with 0, the mark, and three digits. */
static bool is_one_group(struct text t, char mark) {
    if (t.n > 0 && (t.bytes[0] == '-' || t.bytes[0] == '+')) {
        t = (struct text){t.bytes + 1, t.n - 1};
    }
    bool all = t.n >= 5 && t.n <= 7 && t.bytes[0] != '0' && t.bytes[t.n - 4] == mark;
    for (size_t i = 0; all && i < t.n; i++) {
        all = i == t.n - 4 || is_digit(t.bytes[i]);
    }
    return all;
}

enum marks_form marks_form(const struct marks *m, struct text t, double *out) {
    const struct peeled p = peel_by(m, t);
    const bool comma = p.rest.n > 0 && memchr(p.rest.bytes, ',', p.rest.n) != NULL;
    const bool point = p.rest.n > 0 && memchr(p.rest.bytes, '.', p.rest.n) != NULL;
    const char thousands = m->thousands != '\0' ? m->thousands : comma && point ? '.' : '\0';
    size_t groups = 0;
    if (!read_peeled(p, comma ? ',' : '.', thousands, out, &groups)) {
        return MARKS_NO_NUMBER;
    }
    return comma   ? (is_one_group(p.rest, ',') ? MARKS_EITHER : MARKS_COMMA)
           : point ? (is_one_group(p.rest, '.') ? MARKS_GROUPED : MARKS_POINT)
                   : MARKS_PLAIN;
}

bool marks_is_comma(struct text t) {
    const struct marks none = {0};
    double number = 0;
    const enum marks_form form = marks_form(&none, t, &number);
    return form == MARKS_COMMA || form == MARKS_EITHER;
}

/* ---- signs ---- */
/* Reads the number within the signs, whatever its marks are. */
static bool read_signed(struct marks_signs *signs, struct peeled p) {
    double number = 0;
    size_t groups = 0;
    if (read_peeled(p, '.', '\0', &number, &groups)) {
        return true;
    }
    const bool either = is_one_group(p.rest, ','),
               comma = read_peeled(p, ',', '.', &number, &groups) && !either,
               grouped = !comma && read_peeled(p, '.', ',', &number, &groups) && !either;
    signs->commas |= comma;
    signs->groups |= grouped;
    return (either || comma || grouped) && !(signs->commas && signs->groups);
}

/* Returns the length of a unit at the end of the text: letters and the like behind a digit and
 * blanks. 0: there is none. */
static size_t unit_size(struct text t) {
    size_t n = 0;
    while (n < t.n && !is_digit(t.bytes[t.n - n - 1]) &&
           blank_size_at_end((struct text){t.bytes, t.n - n}) == 0) {
        const char c = t.bytes[t.n - n - 1];
        if ((unsigned char)c < 0x80 && !((c | 0x20) >= 'a' && (c | 0x20) <= 'z') && c != '/') {
            return 0;
        }
        n++;
    }
    return n < t.n && n < MARKS_UNIT ? n : 0;
}

/* Returns the length of the code of a currency and blanks before a number: EUR 5. 0: there is
 * none. */
static size_t currency_size(struct text t) {
    size_t n = 0;
    while (n < t.n && t.bytes[n] >= 'A' && t.bytes[n] <= 'Z') {
        n++;
    }
    return n == 3 && blank_size((struct text){t.bytes + n, t.n - n}) > 0 ? n : 0;
}

static bool note_unit(struct marks_signs *signs, struct text unit) {
    for (size_t i = 0; i < 2; i++) {
        if (signs->unit[i][0] == '\0') {
            memcpy(signs->unit[i], unit.bytes, unit.n);
            signs->unit[i][unit.n] = '\0';
            return true;
        }
        if (text_is(unit, signs->unit[i])) {
            return true;
        }
    }
    return false;
}

bool marks_signs_add(struct marks_signs *signs, struct text t) {
    struct peeled p = peel(t, is_sign, NULL, signs->text);
    const bool plain = p.rest.n + (p.sign != '\0') == t.n;
    if (read_signed(signs, p)) {
        signs->plain |= plain;
        return true;
    }
    const size_t n = p.rest.n, unit = unit_size(p.rest), code = currency_size(p.rest);
    if (n > 2 && p.sign == '\0' && p.rest.bytes[0] == '(' && p.rest.bytes[n - 1] == ')') {
        signs->parentheses = true;
        return read_signed(signs, peel((struct text){p.rest.bytes + 1, n - 2}, is_sign, NULL,
                                       signs->text));
    }
    if (n > 1 && p.sign == '\0' && p.rest.bytes[n - 1] == '-') {
        signs->behind = true;
        p.rest.n--;
        return is_digit(p.rest.bytes[0]) && read_signed(signs, p);
    }
    if (unit == 0 && code > 0) {
        const struct text rest = {p.rest.bytes + code, n - code};
        return note_unit(signs, (struct text){p.rest.bytes, code}) &&
               read_signed(signs, peel(rest, is_sign, NULL, signs->text));
    }
    if (unit == 0 || !note_unit(signs, (struct text){p.rest.bytes + n - unit, unit})) {
        return false;
    }
    p.rest = text_trim(p.rest.bytes, n - unit);
    p.rest.n -= blank_size_at_end(p.rest);
    return read_signed(signs, p);
}
