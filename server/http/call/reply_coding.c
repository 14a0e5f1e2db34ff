/* Content coding and entity tag of a reply. A reply is compressed if the client accepts it, if it
 * is text of at least LEAST (LEAST_STATIC) bytes, and if its route is not `plain`. */
#include "http/call/reply_coding.h"
#include "base/etag.h"
#include "http/server.h"
#include <stdlib.h>
#include <string.h>

#define LEAST 1400 /* bytes; a shorter reply is one packet anyway */
/* bytes; of a reply that never changes: a page asks for many of them, and caches keep them */
#define LEAST_STATIC 256

static bool is_text(const char *type) {
    static const char *const events = "text/event-stream"; /* each event must be sent at once */
    return type != NULL &&
           (strncmp(type, "text/", 5) == 0 || strncmp(type, "application/", 12) == 0) &&
           strncmp(type, events, strlen(events)) != 0;
}

enum coding reply_coding(const struct http_call *call, const char *content_type) {
    const struct http_route *route = call->request.match.route;
    if (route == NULL || route->plain || !is_text(content_type)) {
        return CODING_IDENTITY;
    }
    return coding_accepted(call->request.headers.accept_encoding);
}

static bool is_read(const struct http_call *call) {
    return call_is_head(call) || strcmp(call->request.method, "GET") == 0;
}

bool reply_mismatch(struct http_call *call) {
    const char *list = is_read(call) ? http_condition(call, HTTP_IF_MATCH) : NULL;
    const char *state = call->reply.etag;
    if (list == NULL || state == NULL || etag_list_names(list, state, false)) {
        return false;
    }
    call->reply.etag = NULL;
    http_fail(call, PROBLEM_PRECONDITION_FAILED,
              "If-Match does not hold: the resource has the ETag %s", state);
    return true;
}

bool reply_tag(struct http_call *call, enum coding coding, uint64_t length) {
    struct reply *reply = &call->reply;
    struct buf form = {0};
    bool known = false;
    if (reply->etag != NULL && reply->status < 300) {
        etag_form(&form, reply->etag, coding_name(coding));
        const char *etag = buf_cstr(&form), *list = NULL;
        if (etag != NULL) {
            http_reply_header(call, "ETag", etag);
            list = reply->status == 200 && is_read(call) ? http_condition(call, HTTP_IF_NONE_MATCH)
                                                         : NULL;
        }
        known = list != NULL && etag_list_matches(list, etag, true);
        buf_done(&form);
    }
    if (known) {
        reply->kind = REPLY_EMPTY;
        reply->status = 304;
        reply->content_type = NULL;
        reply->length = length;
    } else if (coding != CODING_IDENTITY) {
        http_reply_header(call, "Content-Encoding", coding_name(coding));
    }
    return known;
}

/* Returns the bytes of the reply in a content coding. NULL: out of memory, or the result would not
 * be shorter. */
static char *encoded(const struct reply *reply, enum coding coding, size_t *size) {
    struct encoder *encoder =
        encoder_new(coding, reply->kind == REPLY_STATIC ? CODING_SMALL : CODING_FAST);
    struct buf out = {0};
    char *memory = NULL;
    if (encoder != NULL) {
        encoder_put(encoder, reply->bytes, reply->size, true, &out);
        memory = out.failed || out.size >= reply->size ? NULL : buf_take(&out, size);
    }
    encoder_free(encoder);
    buf_done(&out);
    char *less = memory != NULL ? realloc(memory, *size) : NULL;
    return less != NULL ? less : memory;
}

/* Replaces the bytes of the reply. memory NULL: the reply gets no bytes. */
static void replace(struct http_call *call, char *memory, size_t size) {
    struct reply *reply = &call->reply;
    free(reply->memory);
    reply->memory = memory;
    reply->bytes = memory;
    reply->size = size;
}

void reply_encode(struct http_call *call) {
    struct reply *reply = &call->reply;
    enum coding coding = reply->size < (reply->kind == REPLY_STATIC ? LEAST_STATIC : LEAST)
                             ? CODING_IDENTITY
                             : reply_coding(call, reply->content_type);
    size_t size = 0;
    char *memory = coding != CODING_IDENTITY ? encoded(reply, coding, &size) : NULL;
    if (memory != NULL) {
        reply->kind = REPLY_MEMORY;
        replace(call, memory, size);
    } else {
        coding = CODING_IDENTITY;
    }
    if (reply_tag(call, coding, reply->size)) {
        replace(call, NULL, 0);
    }
}
