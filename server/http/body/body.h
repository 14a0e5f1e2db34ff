/* Accepts, takes, refuses and discards the body of a request. Only body.c writes to the descriptor
 * of a connection, and with TLS net/tls.c. */
#ifndef HTTP_BODY_H
#define HTTP_BODY_H

#include "http/call/call.h"

/* What the request handler does next. */
enum body_next {
    BODY_CONTINUE, /* the bytes were taken */
    BODY_WAIT,     /* the connection is suspended; the library passes the rest of the bytes again */
    BODY_CLOSE     /* the connection must be closed */
};

/* To be called if the reply is filled before the body has arrived: discards the body, or, if the
 * client waits for 100 Continue, sends the reply at once. Returns false if the connection must be
 * closed. */
bool body_refuse(struct http_call *call);
/* Prepares to take the body as the route says, or refuses it. Returns false if the connection must
 * be closed. */
bool body_begin(struct http_call *call);
/* In CALL_CHECKED: accepts the body, or refuses it. Returns false if the connection must be closed.
 */
bool body_checked(struct http_call *call);
/* Takes bytes[n] except the last *left of them. *left stays 0 unless the result is BODY_WAIT. */
enum body_next body_take(struct http_call *call, const char *bytes, size_t n, size_t *left);
/* Returns true if the n bytes that have just arrived are the whole body and the handler can read
 * them where they lie: the route runs on the I/O thread, and the body is neither coded nor a form
 * nor for a sink. */
bool body_is_whole(const struct http_call *call, size_t n);
/* Runs the handler with such a body. If the handler has not replied, the body is copied for the
 * work that it has deferred. Returns false if the connection must be closed. */
bool body_handle_whole(struct http_call *call, const char *bytes, size_t n);
/* The result of body_complete, which is called when the library has passed the whole body. */
enum body_end {
    BODY_COMPLETE,      /* the handler, or the `end` of the sink, is next */
    BODY_COMPLETE_WAIT, /* the connection is suspended; call body_complete again after the resume */
    BODY_COMPLETE_REFUSED, /* the reply is filled */
    BODY_COMPLETE_CLOSE    /* the connection must be closed */
};
enum body_end body_complete(struct http_call *call);
/* Writes the filled reply to the socket. The caller closes the connection. */
void body_answer_and_close(struct http_call *call);
/* Writes a response with a problem document to a descriptor that does not speak TLS, as many bytes
 * as it takes without blocking. Nothing may have been written for this request before. */
void body_write_refusal(struct http_server *server, int fd, enum problem_type type,
                        const char *detail);
/* The same on the I/O thread of the connection, with TLS too. */
void body_refuse_request(struct connection *c, enum problem_type type, const char *detail);
/* For another thread, which has entered PHASE_CUT and holds the lock of the connection. Writes
 * final_response, or if type is not PROBLEM_NONE a problem document, and shuts the connection down.
 * reads_on: the client may send more. With TLS the I/O thread writes the response. */
void body_end_from_outside(struct connection *c, enum problem_type type, const char *detail,
                           bool reads_on);
/* To be called when the connection is over: aborts a sink that is still open. */
void body_abandon(struct http_call *call);
/* Frees the memory of the body. */
void body_forget(struct http_call *call);
#endif
