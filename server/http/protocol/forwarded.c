/* The fields Forwarded (RFC 7239) and X-Forwarded-… of trusted proxies.
 *
 * Each proxy appends the address of its own client to a list. So the elements are read from the
 * right, up to the first address that is not a trusted proxy: this is the client, and the elements
 * to its left are the client's own words. Scheme and host are taken from the element at the same
 * place; a shorter list of schemes or hosts was begun by a later proxy, and its first element
 * counts. */
#include "http/protocol/forwarded.h"
#include "http/protocol/fields.h"
#include "http/server.h"
#include <string.h>
#include <strings.h>

#define MAX_HOPS 32

/* The last elements of a list, from left to right. */
struct hops {
    struct part items[MAX_HOPS];
    size_t n;
};

/* Takes the next element off a list without quoted strings: a quote of the client must not hide the
 * comma of a proxy. */
static bool plain_next(const char **list, struct part *out) {
    const char *at = *list + strspn(*list, " \t,");
    size_t n = strcspn(at, ",");
    *list = at + n;
    while (n > 0 && (at[n - 1] == ' ' || at[n - 1] == '\t')) {
        n--;
    }
    *out = (struct part){at, n};
    return n > 0;
}

/* quoted: the elements may have quoted strings, which are balanced. */
static void hops_read(struct hops *hops, const char *list, bool quoted) {
    struct part hop;
    hops->n = 0;
    while (list != NULL && (quoted ? list_next(&list, &hop) : plain_next(&list, &hop))) {
        if (hops->n == MAX_HOPS) { /* drops the leftmost element */
            memmove(hops->items, hops->items + 1, sizeof hops->items - sizeof hops->items[0]);
            hops->n--;
        }
        hops->items[hops->n++] = hop;
    }
}

/* Returns the element at a place counted from the right; the leftmost one of a shorter list. n 0:
 * the list is empty. */
static struct part hop_at(const struct hops *hops, size_t place) {
    return hops->n == 0 ? (struct part){"", 0}
                        : hops->items[place < hops->n ? hops->n - 1 - place : 0];
}

/* The client that a list names. */
struct naming {
    struct hops hops;
    bool found;
    struct address client;
    size_t place; /* of the client, from the right */
};

static void naming_read(const struct http_call *call, const char *list, bool forwarded,
                        struct naming *out) {
    hops_read(&out->hops, list, forwarded);
    out->found = false;
    out->place = 0;
    for (size_t place = 0; place < out->hops.n; place++) {
        struct part hop = hop_at(&out->hops, place);
        struct address a;
        if ((forwarded && !element_parameter(hop, "for", &hop)) ||
            !address_parse(hop.text, hop.n, &a)) {
            break; /* "unknown" or an identifier: the addresses to its left are not known either */
        }
        out->client = a;
        out->place = place;
        out->found = true;
        if (!address_rules_match(&call->server->trusted, &a)) {
            break;
        }
    }
}

static bool part_equal(struct part a, struct part b) {
    return a.n == b.n && strncasecmp(a.text, b.text, a.n) == 0;
}

/* Takes scheme or host: the parameter `key` of the Forwarded element, or the element of the list
 * `x`. *out stays NULL if neither is given. */
static bool take_word(struct http_call *call, struct part element, const char *key, const char *x,
                      size_t place, const char **out, struct problem *problem) {
    struct hops hops;
    struct part word = {"", 0}, other;
    hops_read(&hops, x, false);
    (void)element_parameter(element, key, &word);
    other = hop_at(&hops, place);
    if (word.n > 0 && other.n > 0 && !part_equal(word, other)) {
        return problem_set(problem, PROBLEM_BAD_REQUEST,
                           "Forwarded names the %s \"%.*s\", X-Forwarded-%c%s \"%.*s\"", key,
                           (int)(word.n < 100 ? word.n : 100), word.text, key[0] - 'a' + 'A',
                           key + 1, (int)(other.n < 100 ? other.n : 100), other.text);
    }
    word = word.n > 0 ? word : other;
    *out = word.n > 0 ? arena_strndup(&call->arena, word.text, word.n) : NULL;
    return word.n == 0 || *out != NULL || problem_no_memory(problem);
}

static bool take_client(struct http_call *call, const struct address *client,
                        struct problem *problem) {
    char text[ADDRESS_TEXT_SIZE];
    address_format(client, text);
    const char *copy = arena_strdup(&call->arena, text);
    if (copy == NULL) {
        return problem_no_memory(problem);
    }
    call->request.client = copy;
    call->request.client_address = *client;
    return true;
}

static const char *joined(struct http_call *call, const char *value, const char *name) {
    return value != NULL ? headers_join(call->mhd, name, &call->arena) : NULL;
}

/* Whether each quoted string of the list ends. A client that opens one could otherwise hide the
 * element that a proxy appends. */
static bool is_balanced(const char *list) {
    bool quoted = false;
    for (; list != NULL && *list != '\0'; list++) {
        if (*list == '"') {
            quoted = !quoted;
        } else if (quoted && *list == '\\' && list[1] != '\0') {
            list++;
        }
    }
    return !quoted;
}

bool forwarded_read(struct http_call *call, struct problem *problem) {
    const struct headers *h = &call->request.headers;
    if (!call->connection->trusted || h->n_forwarding == 0) {
        return true;
    }
    struct naming standard, usual;
    const char *forwarded = joined(call, h->forwarded, "Forwarded");
    if (!is_balanced(forwarded)) {
        return problem_set(problem, PROBLEM_BAD_REQUEST,
                           "Forwarded has a quoted string that does not end");
    }
    naming_read(call, forwarded, true, &standard);
    naming_read(call, joined(call, h->x_forwarded_for, "X-Forwarded-For"), false, &usual);
    if (standard.hops.n > 0 && usual.hops.n > 0 &&
        (standard.found != usual.found ||
         (standard.found && !address_equal(&standard.client, &usual.client)))) {
        return problem_set(problem, PROBLEM_BAD_REQUEST,
                           "Forwarded and X-Forwarded-For name different clients");
    }
    const struct naming *naming = standard.found ? &standard : &usual;
    const struct part element = hop_at(&standard.hops, naming->place);
    return (!naming->found || take_client(call, &naming->client, problem)) &&
           take_word(call, element, "proto",
                     joined(call, h->x_forwarded_proto, "X-Forwarded-Proto"), naming->place,
                     &call->request.scheme, problem) &&
           take_word(call, element, "host", joined(call, h->x_forwarded_host, "X-Forwarded-Host"),
                     naming->place, &call->request.host, problem);
}

const char *forwarded_scheme(const struct http_call *call) {
    const char *scheme = call->request.scheme;
    if (scheme == NULL) {
        return call->connection->secure ? "https" : "http";
    }
    return strcasecmp(scheme, "https") == 0 ? "https" : "http";
}

const char *forwarded_host(const struct http_call *call) {
    if (call->request.host != NULL) {
        return call->request.host;
    }
    return call->request.target.authority != NULL ? call->request.target.authority
                                                  : call->request.headers.host;
}
