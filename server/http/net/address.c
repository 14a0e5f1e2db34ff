/* Network addresses as text, and the list of trusted proxies. */
#include "http/net/address.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t MAPPED[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

static struct address address_v6(const uint8_t bytes[16]) {
    struct address a = {.family = ADDRESS_V6};
    if (memcmp(bytes, MAPPED, sizeof MAPPED) == 0) {
        a.family = ADDRESS_V4;
        memcpy(a.bytes, bytes + 12, 4);
    } else {
        memcpy(a.bytes, bytes, 16);
    }
    return a;
}

struct address address_of_sockaddr(const struct sockaddr *sa) {
    struct address a = {.family = ADDRESS_NONE};
    if (sa->sa_family == AF_INET) {
        struct sockaddr_in in;
        memcpy(&in, sa, sizeof in);
        a.family = ADDRESS_V4;
        memcpy(a.bytes, &in.sin_addr, 4);
    } else if (sa->sa_family == AF_INET6) {
        struct sockaddr_in6 in6;
        memcpy(&in6, sa, sizeof in6);
        a = address_v6(in6.sin6_addr.s6_addr);
    } else if (sa->sa_family == AF_UNIX) {
        a.family = ADDRESS_UNIX;
    }
    return a;
}

/* ":80", or the name of a port, ":_x" (RFC 7239, section 6.3). */
static bool port_follows(const char *text, size_t n) {
    if (n > 2 && text[0] == ':' && text[1] == '_') {
        return true;
    }
    if (n < 2 || n > 6 || text[0] != ':') {
        return false;
    }
    for (size_t i = 1; i < n; i++) {
        if (text[i] < '0' || text[i] > '9') {
            return false;
        }
    }
    return true;
}

bool address_parse(const char *text, size_t n, struct address *out) {
    char copy[ADDRESS_TEXT_SIZE];
    const char *start = text;
    size_t length = n;
    if (n > 0 && text[0] == '[') {
        const char *close = memchr(text, ']', n);
        if (close == NULL) {
            return false;
        }
        start = text + 1;
        length = (size_t)(close - start);
        size_t rest = n - length - 2;
        if (rest > 0 && !port_follows(close + 1, rest)) {
            return false;
        }
    } else {
        const char *colon = memchr(text, ':', n);
        if (colon != NULL &&
            memchr(text, '.', (size_t)(colon - text)) != NULL) { /* IPv4 with a port */
            length = (size_t)(colon - text);
            if (!port_follows(colon, n - length)) {
                return false;
            }
        }
    }
    if (length == 0 || length >= sizeof copy) {
        return false;
    }
    memcpy(copy, start, length);
    copy[length] = '\0';
    uint8_t bytes[16];
    if (inet_pton(AF_INET, copy, bytes) == 1 && start == text) {
        *out = (struct address){.family = ADDRESS_V4};
        memcpy(out->bytes, bytes, 4);
        return true;
    }
    if (inet_pton(AF_INET6, copy, bytes) == 1) {
        *out = address_v6(bytes);
        return true;
    }
    return false;
}

void address_format(const struct address *a, char out[ADDRESS_TEXT_SIZE]) {
    if (a->family == ADDRESS_V4 || a->family == ADDRESS_V6) {
        if (inet_ntop(a->family == ADDRESS_V4 ? AF_INET : AF_INET6, a->bytes, out,
                      ADDRESS_TEXT_SIZE) != NULL) {
            return;
        }
    }
    (void)snprintf(out, ADDRESS_TEXT_SIZE, "%s", a->family == ADDRESS_UNIX ? "unix" : "unknown");
}

bool address_equal(const struct address *a, const struct address *b) {
    return a->family == b->family && memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

struct address address_of_client(const struct address *a) {
    struct address client = *a;
    if (a->family == ADDRESS_V6) {
        memset(client.bytes + 8, 0, 8);
    }
    return client;
}

bool address_is_loopback(const struct address *a) {
    static const uint8_t one[16] = {[15] = 1};
    return (a->family == ADDRESS_V4 && a->bytes[0] == 127) ||
           (a->family == ADDRESS_V6 && memcmp(a->bytes, one, 16) == 0);
}

static bool rule_parse(const char *text, struct address *network, unsigned *prefix) {
    if (strcmp(text, "unix") == 0) {
        *network = (struct address){.family = ADDRESS_UNIX};
        *prefix = 0;
        return true;
    }
    const char *slash = strchr(text, '/');
    size_t n = slash != NULL ? (size_t)(slash - text) : strlen(text);
    if (!address_parse(text, n, network)) {
        return false;
    }
    unsigned most = network->family == ADDRESS_V4 ? 32 : 128;
    *prefix = most;
    if (slash == NULL) {
        return true;
    }
    char *end = NULL;
    unsigned long bits = slash[1] >= '0' && slash[1] <= '9' ? strtoul(slash + 1, &end, 10) : 1000;
    if (bits > most || end == NULL || *end != '\0') {
        return false;
    }
    *prefix = (unsigned)bits;
    return true;
}

bool address_rules_init(struct address_rules *rules, const struct option_list *list,
                        struct problem *problem) {
    rules->n = 0;
    for (size_t i = 0; i < list->n; i++) {
        if (!rule_parse(list->items[i], &rules->items[rules->n].network,
                        &rules->items[rules->n].prefix)) {
            return problem_set(problem, PROBLEM_BAD_REQUEST,
                               "--trusted-proxy must be an address, a network like 10.0.0.0/8, or "
                               "\"unix\", got \"%s\"",
                               list->items[i]);
        }
        rules->n++;
    }
    return true;
}

static bool prefix_equal(const uint8_t *a, const uint8_t *b, unsigned bits) {
    if (memcmp(a, b, bits / 8) != 0) {
        return false;
    }
    unsigned rest = bits % 8;
    return rest == 0 || ((a[bits / 8] ^ b[bits / 8]) >> (8 - rest)) == 0;
}

bool address_rules_match(const struct address_rules *rules, const struct address *a) {
    for (size_t i = 0; i < rules->n; i++) {
        if (rules->items[i].network.family == a->family &&
            prefix_equal(rules->items[i].network.bytes, a->bytes, rules->items[i].prefix)) {
            return true;
        }
    }
    return false;
}
