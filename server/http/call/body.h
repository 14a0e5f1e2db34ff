/* How a body is taken, refused and discarded. The only file that writes to a connection's
 * descriptor (body.c). */
#ifndef HTTP_BODY_H
#define HTTP_BODY_H

#include "http/call/call.h"

/* What the access handler is to do next. */
enum body_next {
    BODY_CONTINUE, /* bytes were taken; wait for more */
    BODY_WAIT,     /* paused: the connection is suspended; what was not taken comes again */
    BODY_CLOSE     /* end the connection */
};

/* The answer is filled although a body is still to come: it will be discarded, or, if the client
 * waits for 100 Continue, refused now. false: close. */
bool body_refuse(struct http_call *call);
/* Gets ready to take the body as the route says; refuses one that is too large. false: close. */
bool body_begin(struct http_call *call);
/* In CALL_CHECKED: accepts the body, or refuses it. false: close. */
bool body_judged(struct http_call *call);
/* Takes bytes[n] but for the last *left of them, which only a paused one leaves. */
enum body_next body_take(struct http_call *call, const char *bytes, size_t n, size_t *left);
/* The body is complete. CONTINUE: the handler or the sink's end is next; WAIT: suspended, the call
 * comes again; REFUSED: the reply is filled. */
enum body_end { BODY_COMPLETE, BODY_COMPLETE_WAIT, BODY_COMPLETE_REFUSED, BODY_COMPLETE_CLOSE };
enum body_end body_complete(struct http_call *call);
/* Ends the connection with the call's filled answer, written on the descriptor at once. */
void body_answer_and_close(struct http_call *call);
/* Best effort, never blocks. Nothing may have been written for this request before. */
void body_write(int fd, const char *text, size_t size);
/* One problem document to a descriptor nothing has been written to for this request; best effort,
 * never blocks. */
void body_write_refusal(const struct http_server *server, int fd, enum problem_type type,
                        const char *detail);
/* The connection is over before the sink's end: abort. */
void body_abandon(struct http_call *call);
/* The body is needed no more: gives its memory back. */
void body_forget(struct http_call *call);
#endif
