/* Streamed replies: a buffer that the pool fills and the I/O thread sends. */
#ifndef HTTP_STREAM_H
#define HTTP_STREAM_H

#include "http/call/call.h"

/* bytes; `next` is not called while at least this many are unsent */
#define STREAM_BUFFER (256 * 1024)

/* Makes the library's response for a streamed reply. NULL: out of memory. */
struct MHD_Response *stream_response(struct http_call *call);
/* To be called when the connection is over: stops a job that still fills the stream. I/O thread. */
void stream_abandon(struct http_call *call);
void stream_free(struct stream *stream);

#endif
