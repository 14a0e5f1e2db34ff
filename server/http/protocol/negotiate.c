/* Content negotiation: Accept against what a handler offers (RFC 9110 12.5.1). */
#include "http/http.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* One range of Accept: "type/subtype;params;q=0.5". */
struct range {
    const char *type; /* "text/csv", a subtype or both may be a star */
    size_t size;
    int q; /* thousandths */
};

static size_t trim(const char **text, size_t n) {
    while (n > 0 && (**text == ' ' || **text == '\t')) {
        (*text)++;
        n--;
    }
    while (n > 0 && ((*text)[n - 1] == ' ' || (*text)[n - 1] == '\t')) {
        n--;
    }
    return n;
}

static int q_of(const char *text, size_t n) {
    if (n == 0 || (text[0] != '0' && text[0] != '1')) {
        return 1000;
    }
    int q = (text[0] - '0') * 1000;
    int place = 100;
    for (size_t i = 2; i < n && i < 5 && text[1] == '.' && text[i] >= '0' && text[i] <= '9';
         i++, place /= 10) {
        q += (text[i] - '0') * place;
    }
    return q > 1000 ? 1000 : q;
}

/* Takes the next range off *list; false: the end. */
static bool next_range(const char **list, struct range *out) {
    const char *at = *list;
    while (*at == ',' || *at == ' ' || *at == '\t') {
        at++;
    }
    if (*at == '\0') {
        return false;
    }
    const char *type = at;
    size_t n = strcspn(at, ",");
    *list = at + n;
    *out = (struct range){.type = type, .size = n, .q = 1000};
    for (bool first = true; n > 0; first = false) {
        const char *part = at;
        size_t size = 0;
        while (size < n && at[size] != ';') {
            size++;
        }
        size_t step = size < n ? size + 1 : size;
        size_t kept = trim(&part, size);
        if (first) {
            out->type = part;
            out->size = kept;
        } else if (kept >= 2 && (part[0] == 'q' || part[0] == 'Q') && part[1] == '=') {
            out->q = q_of(part + 2, kept - 2);
        }
        at += step;
        n -= step;
    }
    return true;
}

/* How well the range fits: 3 exactly, 2 the type, 1 anything, 0 not at all. */
static int fit(const struct range *range, const char *offered) {
    size_t size = strcspn(offered, ";");
    while (size > 0 && offered[size - 1] == ' ') {
        size--;
    }
    if (range->size == size && strncasecmp(range->type, offered, size) == 0) {
        return 3;
    }
    if (range->size == 3 && strncmp(range->type, "*/*", 3) == 0) {
        return 1;
    }
    if (range->size == 1 && range->type[0] == '*') { /* not in the grammar, but sent */
        return 1;
    }
    size_t type = strcspn(offered, "/");
    if (range->size == type + 2 && range->type[type] == '/' && range->type[type + 1] == '*' &&
        strncasecmp(range->type, offered, type) == 0) {
        return 2;
    }
    return 0;
}

int http_accepts(const struct http_call *call, const char *const *offered) {
    const char *accept = http_header(call, "Accept");
    if (accept == NULL || accept[strspn(accept, " \t,")] == '\0') {
        return 0;
    }
    int best = -1, best_q = 0;
    for (int i = 0; offered[i] != NULL; i++) {
        int q = 0, fitted = 0;
        const char *list = accept;
        struct range range;
        while (next_range(&list, &range)) {
            int f = fit(&range, offered[i]);
            if (f > fitted) {
                fitted = f;
                q = range.q;
            }
        }
        if (q > best_q) {
            best_q = q;
            best = i;
        }
    }
    return best;
}
