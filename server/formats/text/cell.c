/* Classifies the text of a cell. */
#include "formats/text/cell.h"
#include "base/utf8.h"
#include <discern/table.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { MISSING_TOKEN_ROOM = 256 }; /* limit of a token in bytes, with the blanks around it */
/* room for the digits of any integer that a double can represent: at most 309 */
enum { NUMBER_WHOLE = 320 };
#define EXACT_BELOW 9007199254740992.0 /* 2^53: whole numbers below it are exact */

struct text text_trim(const char *bytes, size_t n) {
    while (n > 0 && (bytes[0] == ' ' || bytes[0] == '\t')) {
        bytes++;
        n--;
    }
    while (n > 0 && (bytes[n - 1] == ' ' || bytes[n - 1] == '\t')) {
        n--;
    }
    return (struct text){bytes, n};
}

bool text_is(struct text t, const char *word) {
    return t.n == strlen(word) && memcmp(t.bytes, word, t.n) == 0;
}

/* Compares ASCII case-insensitively. word: in lower case. */
static bool is_in_any_case(struct text t, const char *word) {
    if (t.n != strlen(word)) {
        return false;
    }
    for (size_t i = 0; i < t.n; i++) {
        const char c = t.bytes[i];
        if ((c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != word[i]) {
            return false;
        }
    }
    return true;
}

bool text_boolean(struct text t, bool *out) {
    if (is_in_any_case(t, "true")) {
        *out = true;
        return true;
    }
    if (is_in_any_case(t, "false")) {
        *out = false;
        return true;
    }
    return false;
}

/* Whether the text has a digit other than 0 before an exponent. */
static bool has_digits(struct text t) {
    for (size_t i = 0; i < t.n && (t.bytes[i] | 0x20) != 'e'; i++) {
        if (t.bytes[i] > '0' && t.bytes[i] <= '9') {
            return true;
        }
    }
    return false;
}

/* Writes the digits of a whole number >= 2^53. Returns how many there are. */
static size_t whole_digits(double number, char out[NUMBER_WHOLE]) {
    if (number >= 1e19) {
        return (size_t)snprintf(out, NUMBER_WHOLE, "%.0f", number);
    }
    size_t n = 0;
    for (uint64_t rest = (uint64_t)number; rest > 0; rest /= 10) {
        n++;
    }
    uint64_t rest = (uint64_t)number;
    for (size_t i = n; i-- > 0; rest /= 10) {
        out[i] = (char)('0' + rest % 10);
    }
    return n;
}

/* Whether the text has an exponent: an e after a digit and before digits, which may have a sign. */
static bool has_exponent(const char *text, size_t n) {
    bool digits = false;
    for (size_t i = 0; i + 1 < n; i++) {
        if (digits && (text[i] | 0x20) == 'e') {
            const size_t at = i + 1 + (text[i + 1] == '+' || text[i + 1] == '-');
            if (at < n && text[at] >= '0' && text[at] <= '9') {
                return true;
            }
        }
        digits = digits || (text[i] >= '0' && text[i] <= '9');
    }
    return false;
}

bool number_is_exact(const char *text, size_t n, double number) {
    char whole[NUMBER_WHOLE];
    if (number == 0) {
        return !has_digits((struct text){text, n}); /* 1e-400 has become 0 */
    }
    if (fabs(number) < EXACT_BELOW || has_exponent(text, n)) {
        return true; /* decimal fractions and powers are usually rounded: they are not reported */
    }
    const size_t length = whole_digits(fabs(number), whole);
    size_t digits = 0;
    for (size_t i = 0; i < n && digits < length; i++) {
        const char c = text[i];
        if (c >= '0' && c <= '9') {
            if (c != whole[digits] && (c != '0' || digits > 0)) {
                return false;
            }
            digits += c != '0' || digits > 0;
        }
    }
    return digits == length;
}

const char *text_show(const char *bytes, size_t n, char out[TEXT_SHOWN]) {
    const size_t cut = utf8_cut(bytes, n, 40);
    snprintf(out, TEXT_SHOWN, "\"%.*s\"%s", (int)cut, bytes, cut < n ? "\xE2\x80\xA6" : "");
    for (char *p = out; *p != '\0'; p++) {
        if ((unsigned char)*p < 0x20) {
            *p = ' ';
        }
    }
    return out;
}

static void put_token(struct missing *m, const char *bytes, size_t n) {
    double number = 0;
    m->token[m->n++] = (struct text){bytes, n};
    m->numbers |= dn_number_parse(bytes, n, &number);
    if (n > 0) {
        m->begins[(unsigned char)bytes[0]] = true;
    }
}

const char *list_item(const char *list, char *out, size_t room, size_t *n, struct text *behind) {
    const bool quoted = *list == '"';
    bool closed = !quoted;
    size_t size = 0;
    const char *at = list + quoted;
    for (; *at != '\0' && (quoted || *at != ','); at++) {
        if (quoted && *at == '"' && *++at != '"') {
            closed = true;
            break;
        }
        if (size < room) {
            out[size] = *at;
        }
        size++;
    }
    if (!closed) {
        return NULL;
    }
    *behind = (struct text){at, strcspn(at, ",")};
    *n = size;
    return at + behind->n;
}

bool missing_add(struct missing *m, struct text token) {
    if (m->n_further == MISSING_MAX || token.n > MISSING_TOKEN_MAX) {
        return false;
    }
    char *into = m->bytes + m->n_further++ * MISSING_TOKEN_MAX;
    if (token.n > 0 && !missing_search(m, token)) {
        memcpy(into, token.bytes, token.n);
        put_token(m, into, token.n);
    }
    return true;
}

/* Adds one item of the list and returns the end of the item. Returns NULL if the item is invalid
 * and sets problem. */
static const char *missing_take(struct missing *m, const char *item, struct problem *problem) {
    char bytes[MISSING_TOKEN_ROOM];
    struct text behind;
    size_t n = 0;
    const char *end = list_item(item, bytes, sizeof bytes, &n, &behind);
    if (end == NULL || text_trim(behind.bytes, behind.n).n > 0) {
        problem_set(problem, PROBLEM_BAD_REQUEST,
                    "parameter \"missing\": a token in quotes must end with a quote, then a comma "
                    "or the end");
        return NULL;
    }
    const struct text token = text_trim(bytes, n < sizeof bytes ? n : sizeof bytes);
    if (n > sizeof bytes || token.n > MISSING_TOKEN_MAX) {
        problem_set(problem, PROBLEM_BAD_REQUEST,
                    "parameter \"missing\": a token must be at most %d bytes (got %zu)",
                    MISSING_TOKEN_MAX, n > sizeof bytes ? n : token.n);
        return NULL;
    }
    if (m->n_further == MISSING_MAX) {
        problem_set(problem, PROBLEM_BAD_REQUEST,
                    "parameter \"missing\" must list at most %d tokens", MISSING_MAX);
        return NULL;
    }
    (void)missing_add(m, token);
    return end;
}

bool missing_init(struct missing *m, const char *further, struct problem *problem) {
    static const char *const always[MISSING_STANDARD] = {"", "NA", "NaN", "null", "?"};
    memset(m, 0, sizeof *m);
    for (size_t i = 0; i < MISSING_STANDARD; i++) {
        put_token(m, always[i], strlen(always[i]));
    }
    for (const char *p = further; p != NULL && *p != '\0';) {
        if ((p = missing_take(m, p, problem)) == NULL) {
            return false;
        }
        p += *p == ',';
    }
    return true;
}

/* Returns the number of the token; m->n if the text is none. */
static size_t find_token(const struct missing *m, struct text t) {
    size_t i = 0;
    while (i < m->n && !(m->token[i].n == t.n && memcmp(m->token[i].bytes, t.bytes, t.n) == 0)) {
        i++;
    }
    return i;
}

bool missing_search(const struct missing *m, struct text t) {
    return find_token(m, t) < m->n;
}

bool missing_is_further(const struct missing *m, struct text t) {
    const size_t i = find_token(m, t);
    return i >= MISSING_STANDARD && i < m->n;
}

enum cell_says cell_says(const struct missing *m, const char *bytes, size_t n) {
    const struct text t = text_trim(bytes, n);
    bool truth = false;
    double number = 0;
    if (missing_has(m, t)) {
        return CELL_MISSING;
    }
    if (dn_number_parse(t.bytes, t.n, &number)) {
        return CELL_NUMBER;
    }
    return text_boolean(t, &truth) ? CELL_BOOLEAN : CELL_OTHER;
}
