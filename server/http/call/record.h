/* What is recorded of a request: its log line and its metrics. */
#ifndef HTTP_RECORD_H
#define HTTP_RECORD_H

#include "http/call/call.h"

bool record_init(struct http_server *server); /* false: no memory */
void record_done(struct http_server *server);
/* The call is over; status: what the client was answered, 499 when it left before. */
void record_call(struct http_call *call, int status);
/* A refusal without a call (the library's own). */
void record_refusal(struct http_server *server, const struct connection *c, int status);

#endif
