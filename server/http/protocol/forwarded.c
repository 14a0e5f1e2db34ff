/* Forwarded (RFC 7239) and X-Forwarded-*, believed from trusted proxies only. */
#include "http/protocol/forwarded.h"
#include "http/server.h"
#include <string.h>
#include <strings.h>

/* One element of a comma-separated list, blanks trimmed; quoted commas are respected. Returns where
 * the next one begins, NULL: none. */
static const char *element(const char *list, const char **out, size_t *n) {
    while (*list == ' ' || *list == '\t' || *list == ',') {
        list++;
    }
    if (*list == '\0') {
        return NULL;
    }
    const char *at = list;
    for (bool quoted = false; *at != '\0' && (quoted || *at != ','); at++) {
        if (*at == '"') {
            quoted = !quoted;
        } else if (quoted && *at == '\\' && at[1] != '\0') {
            at++;
        }
    }
    size_t size = (size_t)(at - list);
    while (size > 0 && (list[size - 1] == ' ' || list[size - 1] == '\t')) {
        size--;
    }
    *out = list;
    *n = size;
    return at;
}

/* The value of `key=` in one element of Forwarded, quotes taken off. */
static bool pair(const char *text, size_t n, const char *key, const char **out, size_t *out_size) {
    size_t key_size = strlen(key);
    for (size_t at = 0; at < n;) {
        size_t size = 0;
        for (bool quoted = false; at + size < n && (quoted || text[at + size] != ';'); size++) {
            quoted = text[at + size] == '"' ? !quoted : quoted;
        }
        const char *part = text + at;
        size_t left = size;
        while (left > 0 && *part == ' ') {
            part++;
            left--;
        }
        if (left > key_size && strncasecmp(part, key, key_size) == 0 && part[key_size] == '=') {
            part += key_size + 1;
            left -= key_size + 1;
            if (left >= 2 && part[0] == '"' && part[left - 1] == '"') {
                part++;
                left -= 2;
            }
            *out = part;
            *out_size = left;
            return true;
        }
        at += size + 1;
    }
    return false;
}

/* Walks one list from its right end: each address was noted by the one right of it, so the first
 * that is not trusted is the client. */
#define MAX_HOPS 32
static bool rightmost_foreign(const struct http_call *call, const char *list, bool forwarded,
                              struct address *out) {
    const char *starts[MAX_HOPS];
    size_t sizes[MAX_HOPS];
    size_t n = 0;
    const char *text = NULL;
    size_t size = 0;
    while ((list = element(list, &text, &size)) != NULL) {
        if (forwarded && !pair(text, size, "for", &text, &size)) {
            size = 0;
        }
        if (n == MAX_HOPS) { /* the left ones matter least */
            memmove(starts, starts + 1, sizeof starts - sizeof starts[0]);
            memmove(sizes, sizes + 1, sizeof sizes - sizeof sizes[0]);
            n--;
        }
        starts[n] = text;
        sizes[n++] = size;
    }
    bool found = false;
    while (n-- > 0) {
        struct address a;
        if (!address_parse(starts[n], sizes[n], &a)) {
            break; /* "unknown", a made-up name: nothing left of it can be believed */
        }
        *out = a;
        found = true;
        if (!address_rules_match(&call->server->trusted, &a)) {
            break;
        }
    }
    return found;
}

void forwarded_client(struct http_call *call) {
    const struct headers *h = &call->request.headers;
    if (!call->connection->trusted || h->n_forwarding == 0) {
        return;
    }
    bool forwarded = h->forwarded != NULL;
    const char *list = forwarded ? h->forwarded : h->x_forwarded_for;
    if (h->n_forwarding > 1) {
        const char *joined =
            headers_join(call->mhd, forwarded ? "Forwarded" : "X-Forwarded-For", &call->arena);
        list = joined != NULL ? joined : list;
    }
    struct address client;
    if (!rightmost_foreign(call, list, forwarded, &client)) {
        return;
    }
    char text[ADDRESS_TEXT_SIZE];
    address_format(&client, text);
    const char *copy = arena_strdup(&call->arena, text);
    if (copy == NULL) {
        return;
    }
    call->request.client = copy;
    call->request.client_address = client;
}

/* The first element of X-Forwarded-…, or that key of the first element of Forwarded. */
static const char *said(struct http_call *call, const char *x_header, const char *key) {
    if (!call->connection->trusted) {
        return NULL;
    }
    const char *text = NULL;
    size_t n = 0;
    if (x_header != NULL && element(x_header, &text, &n) != NULL) {
        return arena_strndup(&call->arena, text, n);
    }
    if (call->request.headers.forwarded != NULL &&
        element(call->request.headers.forwarded, &text, &n) != NULL &&
        pair(text, n, key, &text, &n)) {
        return arena_strndup(&call->arena, text, n);
    }
    return NULL;
}

const char *forwarded_scheme(struct http_call *call) {
    const char *scheme = said(call, call->request.headers.x_forwarded_proto, "proto");
    return scheme != NULL && strcasecmp(scheme, "https") == 0 ? "https" : "http";
}

const char *forwarded_host(struct http_call *call) {
    const char *host = said(call, call->request.headers.x_forwarded_host, "host");
    if (host != NULL && host[0] != '\0') {
        return host;
    }
    return call->request.target.authority != NULL ? call->request.target.authority
                                                  : call->request.headers.host;
}
