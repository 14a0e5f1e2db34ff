/* What the text of a cell says. */
#include "wire/cell.h"
#include "base/utf8.h"
#include <discern/table.h>

#include <stdio.h>
#include <string.h>

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

/* word is lower case */
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

static void missing_add(struct missing *m, const char *bytes, size_t n) {
    m->token[m->n++] = (struct text){bytes, n};
    if (n > 0) {
        m->begins[(unsigned char)bytes[0]] = true;
    }
}

bool missing_init(struct missing *m, const char *further, struct problem *problem) {
    static const char *const always[5] = {"", "NA", "NaN", "null", "?"};
    memset(m, 0, sizeof *m);
    for (size_t i = 0; i < 5; i++) {
        missing_add(m, always[i], strlen(always[i]));
    }
    size_t count = 0;
    for (const char *p = further; p != NULL && *p != '\0';) {
        const size_t n = strcspn(p, ",");
        const struct text token = text_trim(p, n);
        if (token.n > MISSING_TOKEN_MAX) {
            return problem_set(problem, PROBLEM_BAD_REQUEST, "parameter \"missing\": a token must be at most %d bytes (got %zu)",
                               MISSING_TOKEN_MAX, token.n);
        }
        if (++count > MISSING_MAX) {
            return problem_set(problem, PROBLEM_BAD_REQUEST, "parameter \"missing\" must list at most %d tokens", MISSING_MAX);
        }
        if (token.n > 0 && !missing_search(m, token)) {
            missing_add(m, token.bytes, token.n);
        }
        p += n + (p[n] == ',');
    }
    return true;
}

bool missing_search(const struct missing *m, struct text t) {
    for (size_t i = 0; i < m->n; i++) {
        if (m->token[i].n == t.n && memcmp(m->token[i].bytes, t.bytes, t.n) == 0) {
            return true;
        }
    }
    return false;
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
