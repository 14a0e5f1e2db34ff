/* When an answer is compressed: the client takes it, it is text of some length, and the route is not one whose time counts for more than its length. */
#include "http/reply_coding.h"
#include "http/server.h"
#include <stdlib.h>
#include <string.h>

#define LEAST 1400 /* bytes: shorter answers are one packet anyway */

static bool is_text(const char *type) {
    static const char *const events = "text/event-stream"; /* every event must leave at once */
    return type != NULL &&
           (strncmp(type, "text/", 5) == 0 || strncmp(type, "application/", 12) == 0) &&
           strncmp(type, events, strlen(events)) != 0;
}

enum coding reply_coding(const struct http_call *call, const char *content_type) {
    const struct http_route *route = call->match.route;
    if (route == NULL || route->plain || call_is_head(call) || !is_text(content_type)) {
        return CODING_IDENTITY;
    }
    return coding_accepted(call->headers.accept_encoding);
}

void reply_encode(struct http_call *call) {
    struct reply *reply = &call->reply;
    const enum coding coding =
        reply->size < LEAST ? CODING_IDENTITY : reply_coding(call, reply->content_type);
    if (coding == CODING_IDENTITY || reply->status == 204 || reply->status == 304) {
        return;
    }
    struct encoder *encoder = encoder_new(coding);
    struct buf out = {0};
    if (encoder != NULL) {
        encoder_put(encoder, reply->bytes, reply->size, true, &out);
    }
    encoder_free(encoder);
    size_t size = 0;
    char *memory =
        encoder == NULL || out.failed || out.size >= reply->size ? NULL : buf_take(&out, &size);
    if (memory == NULL) { /* it is sent as it is */
        buf_done(&out);
        return;
    }
    char *less = realloc(memory, size);
    free(reply->memory);
    reply->kind = REPLY_MEMORY;
    reply->memory = less != NULL ? less : memory;
    reply->bytes = reply->memory;
    reply->size = size;
    http_reply_header(call, "Content-Encoding", coding_name(coding));
    if (call->reply_share > 0) {
        memory_hold_anyway(&call->server->memory, &call->reply_share, size);
    }
}
