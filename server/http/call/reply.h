/* Fills the reply, and queues it with the library. */
#ifndef HTTP_REPLY_H
#define HTTP_REPLY_H

#include "base/memory/buf.h"
#include "http/call/call.h"

/* Sets status and kind. Returns false if the reply is filled already; it stays as it is. */
bool reply_fill(struct http_call *call, enum reply_kind kind, int status, const char *content_type);
/* Calls `each` for every header of the reply except Content-Length, Date and Connection. Stops and
 * returns false when `each` returns false. */
bool reply_each_header(const struct http_call *call,
                       bool (*each)(void *arg, const char *name, const char *value), void *arg);
/* Queues the reply with the library, and enters CALL_SEND. Returns false if the connection must be
 * closed. I/O thread. */
bool reply_queue(struct http_call *call);
void reply_done(struct reply *reply); /* frees memory that the library does not own */
/* Writes a problem as the text of a response with Connection: close, for a connection without a
 * call. */
void reply_problem_text(struct http_server *server, enum problem_type type, const char *detail,
                        struct buf *out);
/* Writes the reply as the text of a response with Connection: close. Not for streams. */
void reply_text(const struct http_call *call, struct buf *out);

#endif
