/* Decodes the request target. The path is split at '/' before it is decoded, so that %2F cannot
 * make a new segment. */
#include "http/protocol/target.h"
#include "base/utf8.h"
#include <stdint.h>
#include <string.h>

static int hex_value(char c) {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    if (c >= 'A' && c <= 'F') {
        return c - 'A' + 10;
    }
    return -1;
}

/* Decodes n bytes to out[n + 1], NUL-terminated. Returns NULL on success, otherwise what is
 * wrong. */
static const char *decode(const char *in, size_t n, bool plus_is_space, bool slash_allowed,
                          char *out, size_t *out_size) {
    size_t size = 0;
    bool high = false;
    for (size_t i = 0; i < n; i++) {
        char c = in[i];
        if (c == '%') {
            int a = n - i > 2 ? hex_value(in[i + 1]) : -1;
            int b = a >= 0 ? hex_value(in[i + 2]) : -1;
            if (b < 0) {
                return "a % that two hexadecimal digits do not follow";
            }
            c = (char)(a * 16 + b);
            if (c == '\0') {
                return "%00 (a NUL byte), which is not allowed";
            }
            if (c == '/' && !slash_allowed) {
                return "%2F, which no path segment may contain";
            }
            i += 2;
        } else if (c == '+' && plus_is_space) {
            c = ' ';
        } else if ((unsigned char)c <= ' ' || c == 0x7f) {
            return "a space or a control character that is not escaped";
        }
        high = high || (unsigned char)c >= 0x80;
        out[size++] = c;
    }
    out[size] = '\0';
    *out_size = size;
    return high && utf8_valid_prefix(out, size) != size ? "bytes that are not UTF-8" : NULL;
}

/* Splits "http://host:port/path", which proxies may send (RFC 9112, section 3.2.2). */
static bool take_authority(struct target *t, struct arena *arena) {
    size_t scheme = strncmp(t->raw, "http://", 7) == 0    ? 7
                    : strncmp(t->raw, "https://", 8) == 0 ? 8
                                                          : 0;
    if (scheme == 0) {
        return false;
    }
    size_t n = strcspn(t->raw + scheme, "/?");
    t->authority = arena_strndup(arena, t->raw + scheme, n);
    t->path_at = scheme + n;
    return t->authority != NULL && n > 0;
}

bool target_parse_path(struct target *t, struct arena *arena, struct problem *problem) {
    t->path_at = 0;
    if (strcmp(t->raw, "*") == 0) {
        t->asterisk = true;
        t->path_size = 1;
        return true;
    }
    if (t->raw[0] != '/' && !take_authority(t, arena)) {
        return problem_set(problem, PROBLEM_BAD_REQUEST,
                           "the request target must begin with \"/\"");
    }
    const char *path = t->raw + t->path_at;
    t->path_size = strcspn(path, "?");
    char *out = arena_alloc(arena, t->path_size + 2);
    if (out == NULL) {
        return problem_no_memory(problem);
    }
    size_t at = path[0] == '/' ? 1 : 0;
    t->n_segments = 0;
    for (;;) {
        size_t n = 0;
        while (at + n < t->path_size && path[at + n] != '/') {
            n++;
        }
        size_t size = 0;
        const char *wrong = decode(path + at, n, false, false, out, &size);
        if (wrong != NULL) {
            return problem_set(problem, PROBLEM_BAD_REQUEST,
                               "the path holds %s (segment %zu, which begins at byte %zu)", wrong,
                               t->n_segments + 1, at);
        }
        if (t->n_segments < TARGET_MAX_SEGMENTS) {
            t->segments[t->n_segments] = out;
        }
        if (t->n_segments <= TARGET_MAX_SEGMENTS) {
            t->n_segments++;
        }
        out += size + 1;
        at += n;
        if (at >= t->path_size) {
            return true;
        }
        at++; /* the slash */
    }
}

static bool parse_param(struct target *t, const char *part, size_t n, char **out,
                        struct problem *problem) {
    if (t->n_params == TARGET_MAX_PARAMS) {
        return problem_set(problem, PROBLEM_BAD_REQUEST, "the query has more than %d parameters",
                           TARGET_MAX_PARAMS);
    }
    const char *equals = memchr(part, '=', n);
    size_t name_size = equals != NULL ? (size_t)(equals - part) : n;
    size_t size = 0;
    struct target_param *p = &t->params[t->n_params];
    p->name = *out;
    const char *wrong = decode(part, name_size, true, true, *out, &size);
    if (wrong != NULL) {
        return problem_set(problem, PROBLEM_BAD_REQUEST, "the name of query parameter %zu holds %s",
                           t->n_params + 1, wrong);
    }
    *out += size + 1;
    p->value = "";
    if (equals != NULL) {
        p->value = *out;
        wrong = decode(equals + 1, n - name_size - 1, true, true, *out, &size);
        if (wrong != NULL) {
            return problem_set(problem, PROBLEM_BAD_REQUEST, "query parameter \"%.100s\" holds %s",
                               p->name, wrong);
        }
        *out += size + 1;
    }
    t->n_params++;
    return true;
}

bool target_parse_query(struct target *t, struct arena *arena, struct problem *problem) {
    t->n_params = 0;
    const char *query = t->raw + t->path_at + t->path_size;
    if (t->asterisk || query[0] != '?' || query[1] == '\0') {
        return true;
    }
    query++;
    size_t n = strlen(query), parts = 1;
    for (size_t i = 0; i < n; i++) {
        parts += query[i] == '&';
    }
    if (parts > TARGET_MAX_PARAMS) {
        parts = TARGET_MAX_PARAMS; /* parse_param refuses more, if they are not empty */
    }
    t->params = arena_alloc(arena, parts * sizeof *t->params);
    char *out = arena_alloc(arena, n + 2 * parts + 2);
    if (t->params == NULL || out == NULL) {
        return problem_no_memory(problem);
    }
    while (n > 0) {
        const char *end = memchr(query, '&', n);
        size_t size = end != NULL ? (size_t)(end - query) : n;
        if (size > 0 && !parse_param(t, query, size, &out, problem)) {
            return false;
        }
        size_t step = end != NULL ? size + 1 : size;
        query += step;
        n -= step;
    }
    return true;
}
