/* Forwarded (RFC 7239) and X-Forwarded-*, used if the peer is a trusted proxy. */
#include "http/protocol/forwarded.h"
#include "http/protocol/fields.h"
#include "http/server.h"
#include <string.h>
#include <strings.h>

/* The client in a list of addresses. Each proxy appends the address of its own client, so the
 * rightmost address that is not a trusted proxy is the client. */
#define MAX_HOPS 32
static bool rightmost_foreign(const struct http_call *call, const char *list, bool forwarded,
                              struct address *out) {
    struct part hops[MAX_HOPS], hop;
    size_t n = 0;
    while (list_next(&list, &hop)) {
        if (forwarded && !element_parameter(hop, "for", &hop)) {
            hop.n = 0;
        }
        if (n == MAX_HOPS) { /* drops the leftmost address */
            memmove(hops, hops + 1, sizeof hops - sizeof hops[0]);
            n--;
        }
        hops[n++] = hop;
    }
    bool found = false;
    while (n-- > 0) {
        struct address a;
        if (!address_parse(hops[n].text, hops[n].n, &a)) {
            break; /* "unknown" or an identifier: the addresses to its left are not known either */
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

/* Returns the first element of an X-Forwarded- field, or the parameter `key` of the first element
 * of Forwarded. NULL: none, or the peer is not a trusted proxy. */
static const char *first_hop(struct http_call *call, const char *x_field, const char *key) {
    const char *forwarded = call->request.headers.forwarded;
    struct part part;
    if (!call->connection->trusted) {
        return NULL;
    }
    const bool found =
        (x_field != NULL && list_next(&x_field, &part)) ||
        (forwarded != NULL && list_next(&forwarded, &part) && element_parameter(part, key, &part));
    return found ? arena_strndup(&call->arena, part.text, part.n) : NULL;
}

const char *forwarded_scheme(struct http_call *call) {
    const char *scheme = first_hop(call, call->request.headers.x_forwarded_proto, "proto");
    return scheme != NULL && strcasecmp(scheme, "https") == 0 ? "https" : "http";
}

const char *forwarded_host(struct http_call *call) {
    const char *host = first_hop(call, call->request.headers.x_forwarded_host, "host");
    if (host != NULL && host[0] != '\0') {
        return host;
    }
    return call->request.target.authority != NULL ? call->request.target.authority
                                                  : call->request.headers.host;
}
