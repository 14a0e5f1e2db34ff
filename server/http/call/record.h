/* The log line and the metrics of a request. */
#ifndef HTTP_RECORD_H
#define HTTP_RECORD_H

#include "http/call/call.h"

bool record_init(struct http_server *server); /* false: no memory */
void record_done(struct http_server *server);
/* Logs and counts a call that is over. status: status of the reply; 499: the client left before the
 * reply was sent. */
void record_call(struct http_call *call, int status);
/* Logs and counts a request that the library has refused before there was a call. */
void record_refusal(struct http_server *server, const struct connection *c, int status);

#endif
