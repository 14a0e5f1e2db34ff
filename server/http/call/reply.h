/* The answer: its headers and how it reaches the library. */
#ifndef HTTP_REPLY_H
#define HTTP_REPLY_H

#include "base/buf.h"
#include "http/call/call.h"

/* Notes status and kind; false: the call has an answer already, which stays. */
bool reply_fill(struct http_call *call, enum reply_kind kind, int status, const char *content_type);
/* Calls each for every header of the answer but Content-Length, Date and Connection. false as soon
 * as each returns false. */
bool reply_each_header(const struct http_call *call,
                       bool (*each)(void *arg, const char *name, const char *value), void *arg);
/* Queues the answer with the library; false: it could not, the connection must be closed. I/O
 * thread. */
bool reply_queue(struct http_call *call);
void reply_done(struct reply *reply); /* frees what was never queued */
/* A problem as one whole response text with Connection: close, for descriptors that have no call.
 */
void reply_problem_text(const struct http_server *server, enum problem_type type,
                        const char *detail, struct buf *out);
/* The call's answer as one whole response text with Connection: close. Not for streams. */
void reply_text(const struct http_call *call, struct buf *out);

#endif
