/* The functions of http.h that read the request of a call. */
#include "http/call/call.h"
#include "http/protocol/fields.h"
#include "http/server.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>

void *http_app(const struct http_call *call) {
    return call->server->app;
}

struct arena *http_arena(struct http_call *call) {
    return &call->arena;
}

const char *http_request_id(const struct http_call *call) {
    return call->request.id;
}

const char *http_method(const struct http_call *call) {
    return call->request.method;
}

const struct http_route *http_route_of(const struct http_call *call) {
    return call->request.match.route;
}

const char *http_path_param(const struct http_call *call, const char *name) {
    const char *value = router_value(&call->request.match, name);
    return value != NULL ? value : "";
}

size_t http_query_count(const struct http_call *call) {
    return call->request.target.n_params;
}

void http_query_at(const struct http_call *call, size_t i, const char **name, const char **value) {
    *name = call->request.target.params[i].name;
    *value = call->request.target.params[i].value;
}

const char *http_query(const struct http_call *call, const char *name) {
    for (size_t i = 0; i < call->request.target.n_params; i++) {
        if (strcmp(call->request.target.params[i].name, name) == 0) {
            return call->request.target.params[i].value;
        }
    }
    return NULL;
}

const char *http_header(const struct http_call *call, const char *name) {
    for (size_t i = 0; i < call->request.n_kept; i++) {
        if (strcasecmp(call->request.kept[i].name, name) == 0) {
            return call->request.kept[i].value;
        }
    }
    if (call->request.kept != NULL) {
        return NULL;
    }
    return MHD_lookup_connection_value(call->mhd, MHD_HEADER_KIND, name);
}

const char *http_condition(const struct http_call *call, enum http_condition condition) {
    const struct http_route *route = call->request.match.route;
    if (route == NULL || (route->conditions & condition) == 0) {
        return NULL;
    }
    return condition == HTTP_IF_MATCH ? call->request.if_match : call->request.if_none_match;
}

const char *http_client_address(const struct http_call *call) {
    return call->request.client;
}

int64_t http_body_length(const struct http_call *call) {
    return call->request.headers.length;
}

unsigned http_authorization(const struct http_call *call, const char **value) {
    *value = call->request.headers.authorization;
    return call->request.headers.n_authorization;
}

unsigned http_idempotency_key(const struct http_call *call, const char **value) {
    *value = call->request.headers.idempotency_key;
    return call->request.headers.n_idempotency_key;
}

int64_t http_change(const struct http_call *call) {
    return call->request.change;
}

enum http_peer http_peer(const struct http_call *call, const char **text) {
    return tls_peer(call->connection, text);
}

void http_set_client(struct http_call *call, const char *name, void *client,
                     void (*release)(void *client)) {
    call->request.client_name = name;
    call->request.client_known = client;
    call->request.client_release = release;
}

void *http_client(const struct http_call *call) {
    return call->request.client_known;
}

const char *http_body_bytes(const struct http_call *call, size_t *size) {
    *size = call->body.bytes.size;
    return call->body.bytes.data != NULL ? call->body.bytes.data : "";
}

const char *http_content_type(const struct http_call *call) {
    return call->request.content_type;
}

void http_take_form(struct http_call *call, bool any_charset) {
    call->request.is_form = true;
    call->request.any_charset = any_charset;
    call->request.content_type = "";
}

const char *http_charset(const struct http_call *call, size_t *n) {
    const char *type = call->request.headers.content_type;
    struct part charset = {0};
    const bool given =
        type != NULL && element_parameter((struct part){type, strlen(type)}, "charset", &charset);
    *n = given ? charset.n : 0;
    return given ? charset.text : "";
}

void http_set_state(struct http_call *call, void *state) {
    call->handler_state = state;
}

void *http_state(const struct http_call *call) {
    return call->handler_state;
}

void http_on_done(struct http_call *call, void (*done)(void *state)) {
    call->on_done = done;
}

const char *http_link(struct http_call *call, const char *format, ...) {
    const char *base = call->server->settings.base_path;
    size_t base_size = strlen(base);
    va_list ap, again;
    va_start(ap, format);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, format, ap);
    char *link = n >= 0 ? arena_alloc(&call->arena, base_size + (size_t)n + 1) : NULL;
    if (link != NULL) {
        memcpy(link, base, base_size);
        (void)vsnprintf(link + base_size, (size_t)n + 1, format, again);
    }
    va_end(again);
    va_end(ap);
    return link != NULL ? link : "";
}

void http_etag(struct http_call *call, const char *state) {
    call->reply.etag = arena_strdup(&call->arena, state);
}
