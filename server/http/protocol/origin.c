/* Protection of browsers. A page of another site can make a browser send requests to this server.
 * The header Origin names the site of the page. After DNS rebinding the site's own name resolves to
 * this server's address; the header Host holds that name. */
#include "http/protocol/origin.h"
#include "http/protocol/fields.h"
#include "http/protocol/forwarded.h"
#include "http/server.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>

bool origin_normalise(const char *host, size_t n, const char *default_port, char *out,
                      size_t out_size) {
    if (n == 0 || n + strlen(default_port) + 2 > out_size) {
        return false;
    }
    size_t name = n;
    const char *port = default_port;
    size_t port_size = strlen(default_port);
    const char *close = host[0] == '[' ? memchr(host, ']', n) : NULL;
    if (host[0] == '[' && close == NULL) {
        return false;
    }
    const char *from = close != NULL ? close : host;
    const char *colon = memchr(from, ':', n - (size_t)(from - host));
    if (colon != NULL) {
        name = (size_t)(colon - host);
        if (n - name > 1) {
            port = colon + 1;
            port_size = n - name - 1;
        }
    }
    part_lower((struct part){host, name}, out);
    for (size_t i = 0; i < port_size; i++) {
        if (port[i] < '0' || port[i] > '9') {
            return false;
        }
    }
    (void)snprintf(out + name, out_size - name, ":%.*s", (int)port_size, port);
    return name > 0;
}

/* ---- the options ---- */

/* A host name or an address, with or without a port. */
static bool is_host(const char *text, size_t n) {
    return part_consists_of((struct part){text, n}, ".-_:[]");
}

/* "https://app.example", "http://[::1]:3000/", "moz-extension://id". */
static bool is_origin(const char *text) {
    size_t scheme =
        strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-");
    if (scheme == 0 || strncmp(text + scheme, "://", 3) != 0) {
        return false;
    }
    const char *host = text + scheme + 3;
    size_t n = strlen(host);
    if (n > 0 && host[n - 1] == '/') {
        n--;
    }
    return is_host(host, n) && host[0] != ':';
}

bool origin_check_lists(const struct option_list *hosts, const struct option_list *origins,
                        struct problem *problem) {
    for (size_t i = 0; i < hosts->n; i++) {
        if (strcmp(hosts->items[i], "*") != 0 &&
            !is_host(hosts->items[i], strlen(hosts->items[i]))) {
            return problem_set(problem, PROBLEM_BAD_REQUEST,
                               "--allowed-host must be a host name or an address, with or without "
                               "a port, or *, got \"%s\"",
                               hosts->items[i]);
        }
    }
    for (size_t i = 0; i < origins->n; i++) {
        if (strcmp(origins->items[i], "*") != 0 && strcmp(origins->items[i], "null") != 0 &&
            !is_origin(origins->items[i])) {
            return problem_set(problem, PROBLEM_BAD_REQUEST,
                               "--allow-origin must be an origin like https://app.example (scheme, "
                               "host, port), * or null, got \"%s\"",
                               origins->items[i]);
        }
    }
    return true;
}

/* ---- Host ---- */

static const char *host_of(const struct http_call *call) {
    return call->request.target.authority != NULL ? call->request.target.authority
                                                  : call->request.headers.host;
}

/* RFC 9112, section 3.2, and RFC 3986, section 3.2: a host, and a port of digits. */
bool origin_check_form(const struct http_call *call, struct problem *problem) {
    const char *host = host_of(call);
    if (host == NULL || strcmp(host, call->connection->host) == 0) {
        return true; /* none, or one that was allowed on this connection */
    }
    const char *close = host[0] == '[' ? strchr(host, ']') : NULL;
    const char *end = close != NULL ? close + 1 : host + strcspn(host, ":");
    const char *digits = end[0] == ':' ? end + 1 : end;
    const size_t n = strspn(digits, "0123456789");
    unsigned port = 0;
    for (size_t i = 0; i < n && port <= 65535; i++) {
        port = port * 10 + (unsigned)(digits[i] - '0');
    }
    if ((host[0] == '[' && close == NULL) || digits[n] != '\0' || (end == digits && n > 0) ||
        port > 65535) {
        return problem_set(problem, PROBLEM_BAD_REQUEST,
                           "Host must be a name or an address, alone or with \":\" and a port from "
                           "0 to 65535, got \"%.200s\"",
                           host);
    }
    return true;
}

static bool is_allowed_host(const struct http_server *server, const char *host, const char *name,
                            size_t name_size) {
    const struct option_list *list = &server->settings.allowed_hosts;
    for (size_t i = 0; i < list->n; i++) {
        const char *item = list->items[i];
        if (strcmp(item, "*") == 0 || strcasecmp(item, host) == 0) {
            return true;
        }
        if (strlen(item) == name_size && strncasecmp(item, name, name_size) == 0) {
            return true;
        }
    }
    return false;
}

/* Returns true if the client has connected to this address. */
static bool is_local_end(const struct http_call *call, const struct address *literal) {
    struct sockaddr_storage sa;
    socklen_t size = sizeof sa;
    if (getsockname(call->connection->fd, (struct sockaddr *)&sa, &size) != 0) {
        return false;
    }
    struct address own = address_of_sockaddr((const struct sockaddr *)&sa);
    return own.family == literal->family &&
           memcmp(own.bytes, literal->bytes, sizeof own.bytes) == 0;
}

static bool host_allowed(const struct http_call *call, const char *host) {
    const struct http_server *server = call->server;
    const char *name = host;
    size_t n = strlen(host);
    const char *close = host[0] == '[' ? strchr(host, ']') : NULL;
    const char *colon = strchr(close != NULL ? close : host, ':');
    if (colon != NULL) {
        n = (size_t)(colon - host);
    }
    if (n == 9 && strncasecmp(name, "localhost", 9) == 0) {
        return true;
    }
    struct address literal;
    if (address_parse(host, strlen(host), &literal) &&
        (address_is_loopback(&literal) || is_local_end(call, &literal))) {
        return true;
    }
    const char *bare = close != NULL ? host + 1 : host;
    size_t bare_size = close != NULL ? (size_t)(close - bare) : n;
    const char *own = server->listener.host;
    if (own[0] != '\0' && strlen(own) == bare_size && strncasecmp(own, bare, bare_size) == 0) {
        return true;
    }
    return is_allowed_host(server, host, name, n);
}

/* The result depends only on the connection and on the value of Host, so a value that was allowed
 * is not checked again on the same connection. */
bool origin_check_host(const struct http_call *call, struct problem *problem) {
    struct connection *c = call->connection;
    const char *host = host_of(call);
    if (!call->server->settings.check_host || host == NULL || /* browsers always send Host */
        (host[0] != '\0' && strcmp(host, c->host) == 0)) {
        return true;
    }
    if (host_allowed(call, host)) {
        const size_t n = strlen(host);
        if (n < sizeof c->host) {
            memcpy(c->host, host, n + 1);
        }
        return true;
    }
    return problem_set(problem, PROBLEM_MISDIRECTED,
                       "Host \"%.200s\" is not allowed; --allowed-host adds a host", host);
}

/* ---- Origin ---- */

/* Splits "https://Example.com/" into the scheme and "example.com:443". */
static bool split(const char *origin, char *out, size_t out_size, bool *https) {
    size_t scheme = strncasecmp(origin, "http://", 7) == 0    ? 7
                    : strncasecmp(origin, "https://", 8) == 0 ? 8
                                                              : 0;
    if (scheme == 0) {
        return false;
    }
    *https = scheme == 8;
    size_t n = strlen(origin + scheme);
    if (n > 0 && origin[scheme + n - 1] == '/') {
        n--;
    }
    return origin_normalise(origin + scheme, n, *https ? "443" : "80", out, out_size);
}

static bool is_own(struct http_call *call, const char *origin) {
    char theirs[300], ours[300];
    bool https = false;
    const char *host = forwarded_host(call);
    if (host == NULL || !split(origin, theirs, sizeof theirs, &https)) {
        return false;
    }
    const char *scheme = forwarded_scheme(call);
    if (https != (strcmp(scheme, "https") == 0) ||
        !origin_normalise(host, strlen(host), https ? "443" : "80", ours, sizeof ours)) {
        return false;
    }
    return strcmp(theirs, ours) == 0;
}

static bool is_allowed(const struct http_server *server, const char *origin) {
    const struct option_list *list = &server->settings.allow_origins;
    char theirs[300], ours[300];
    bool https = false, item_https = false;
    bool parsed = split(origin, theirs, sizeof theirs, &https);
    for (size_t i = 0; i < list->n; i++) {
        if (strcmp(list->items[i], "*") == 0 || strcmp(list->items[i], origin) == 0) {
            return true;
        }
        if (parsed && split(list->items[i], ours, sizeof ours, &item_https) &&
            https == item_https && strcmp(theirs, ours) == 0) {
            return true;
        }
    }
    return false;
}

bool origin_check(struct http_call *call, struct problem *problem) {
    const char *origin = call->request.headers.origin;
    if (origin == NULL) {
        return true;
    }
    if (is_allowed(call->server, origin)) {
        call->request.cross_origin = origin;
        return true;
    }
    bool safe = strcmp(call->request.method, "GET") == 0 ||
                strcmp(call->request.method, "HEAD") == 0 ||
                strcmp(call->request.method, "OPTIONS") == 0;
    if (safe || is_own(call, origin)) {
        return true;
    }
    return problem_set(problem, PROBLEM_CROSS_ORIGIN,
                       "a page of \"%.200s\" sent this %s; --allow-origin permits an origin",
                       origin, call->request.method);
}
