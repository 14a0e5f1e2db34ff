/* The library answers what it refuses itself with pages of HTML. It does so through
 * MHD_queue_response, which it calls like any program would, by way of the dynamic linker: a
 * function of that name in the executable is found first. Ours writes the problem document on the
 * descriptor and says no, whereupon the library closes the connection. Our own answers go past it.
 */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "http/protocol/library_pages.h"
#include "http/call/body.h"
#include "http/call/record.h"
#include "http/protocol/judge.h"
#include "http/server.h"
#include <dlfcn.h>
#include <string.h>

typedef enum MHD_Result (*queue_function)(struct MHD_Connection *mhd, unsigned int status,
                                          struct MHD_Response *response);
static queue_function library_queue; /* set once, before any thread */

bool library_pages_init(void) {
    void *symbol = dlsym(RTLD_NEXT, "MHD_queue_response");
    const queue_function ours = MHD_queue_response;
    void *found = dlsym(RTLD_DEFAULT, "MHD_queue_response"); /* what the library will find */
    if (symbol == NULL || memcmp(&found, &ours, sizeof found) != 0) {
        return false;
    }
    memcpy(&library_queue, &symbol,
           sizeof symbol); /* ISO C has no cast from an object pointer to a function pointer */
    return true;
}

enum MHD_Result library_queue_response(struct MHD_Connection *mhd, unsigned int status,
                                       struct MHD_Response *response) {
    return library_queue(mhd, status, response);
}

struct meaning {
    unsigned status; /* the library's */
    enum problem_type type;
    const char *detail;
};
static const struct meaning MEANINGS[] = {
    {413, PROBLEM_BODY_TOO_LARGE,
     "Content-Length or the size of a chunk is no number this daemon could ever take"},
    {414, PROBLEM_URI_TOO_LONG, "the request line is longer than 16384 bytes"},
    {431, PROBLEM_HEADERS_TOO_LARGE,
     "the request header is larger than 12288 bytes, or has more than 100 fields"},
    {501, PROBLEM_NOT_IMPLEMENTED, "the request asks for something that is not known here"},
    {503, PROBLEM_UNAVAILABLE, "out of memory"},
    {505, PROBLEM_BAD_REQUEST, "only HTTP/1.0 and HTTP/1.1 are spoken here"},
    {500, PROBLEM_UNAVAILABLE, "out of memory"},
};

static struct meaning meaning_of(unsigned status, const struct http_call *call) {
    /* The header is judged and its body is chunked: what has no room in the connection's memory is
     * the line before a chunk, or a trailer. */
    if (call != NULL && call->begun && call->headers.chunked && status != 413) {
        return (struct meaning){status, PROBLEM_BAD_FRAMING,
                                "a chunk is malformed: its line with its extensions, or a trailer, "
                                "is wrong or longer than what is taken"};
    }
    for (size_t i = 0; i < sizeof MEANINGS / sizeof MEANINGS[0]; i++) {
        if (MEANINGS[i].status == status) {
            return MEANINGS[i];
        }
    }
    if (call == NULL) {
        return (struct meaning){status, PROBLEM_BAD_REQUEST, "the request line is malformed"};
    }
    return (struct meaning){status, PROBLEM_BAD_FRAMING,
                            "a header line, Content-Length or a chunk is malformed"};
}

enum MHD_Result MHD_queue_response(struct MHD_Connection *mhd, unsigned int status,
                                   struct MHD_Response *response) {
    (void)response;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct connection *c = info != NULL ? info->socket_context : NULL;
    if (c == NULL) {
        return MHD_NO;
    }
    struct http_call *call = c->call;
    struct meaning m = meaning_of(status, call);
    if (call != NULL) {
        if (call->id[0] == '\0') {
            judge_id(call);
        }
        if (call->reply.kind == REPLY_NONE) {
            http_fail(call, m.type, "%s", m.detail);
        }
        body_answer_and_close(call);
        return MHD_NO;
    }
    c->linger = true;
    if (connection_enter(c, PHASE_SEND)) {
        body_write_refusal(c->server, c->fd, m.type, m.detail);
        record_refusal(c->server, c, problem_status(m.type));
    }
    return MHD_NO;
}
