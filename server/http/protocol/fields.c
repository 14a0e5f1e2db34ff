/* Header fields: lists, parameters, weights. */
#include "http/protocol/fields.h"
#include <string.h>
#include <strings.h>

bool part_consists_of(struct part part, const char *others) {
    for (size_t i = 0; i < part.n; i++) {
        const char c = part.text[i];
        const bool plain =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!plain && (c == '\0' || strchr(others, c) == NULL)) {
            return false;
        }
    }
    return part.n > 0;
}

bool part_is(struct part part, const char *word) {
    return part.n == strlen(word) && strncasecmp(part.text, word, part.n) == 0;
}

void part_lower(struct part part, char *out) {
    for (size_t i = 0; i < part.n; i++) {
        const char c = part.text[i];
        out[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    out[part.n] = '\0';
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

static struct part trim(struct part part) {
    while (part.n > 0 && is_blank(*part.text)) {
        part.text++;
        part.n--;
    }
    while (part.n > 0 && is_blank(part.text[part.n - 1])) {
        part.n--;
    }
    return part;
}

/* Bytes in front of the first separator outside quoted strings. */
static size_t span(struct part part, char separator) {
    bool quoted = false;
    size_t i = 0;
    for (; i < part.n && (quoted || part.text[i] != separator); i++) {
        if (part.text[i] == '"') {
            quoted = !quoted;
        } else if (quoted && part.text[i] == '\\' && i + 1 < part.n) {
            i++;
        }
    }
    return i;
}

bool list_next(const char **list, struct part *out) {
    const char *at = *list + strspn(*list, " \t,");
    const struct part rest = {at, strlen(at)};
    const size_t n = span(rest, ',');
    *list = at + n;
    *out = trim((struct part){at, n});
    return rest.n > 0;
}

struct part element_value(struct part element) {
    return trim((struct part){element.text, span(element, ';')});
}

bool element_parameter(struct part element, const char *name, struct part *out) {
    const size_t name_size = strlen(name);
    while (element.n > 0) {
        const size_t n = span(element, ';'), step = n < element.n ? n + 1 : n;
        struct part pair = trim((struct part){element.text, n});
        if (pair.n > name_size && strncasecmp(pair.text, name, name_size) == 0 &&
            pair.text[name_size] == '=') {
            pair = (struct part){pair.text + name_size + 1, pair.n - name_size - 1};
            const bool quoted = pair.n >= 2 && pair.text[0] == '"' && pair.text[pair.n - 1] == '"';
            *out = quoted ? (struct part){pair.text + 1, pair.n - 2} : pair;
            return true;
        }
        element = (struct part){element.text + step, element.n - step};
    }
    return false;
}

int element_weight(struct part element) {
    struct part q;
    if (!element_parameter(element, "q", &q) || q.n == 0 ||
        (q.text[0] != '0' && q.text[0] != '1')) {
        return 1000;
    }
    int weight = (q.text[0] - '0') * 1000, place = 100;
    for (size_t i = 2; i < q.n && q.text[1] == '.' && q.text[i] >= '0' && q.text[i] <= '9'; i++) {
        weight += (q.text[i] - '0') * place;
        place /= 10;
    }
    return weight < 1000 ? weight : 1000;
}
