/* Streamed answers: a buffer between the pool, which fills it, and the I/O thread, which sends it.
 */
#ifndef HTTP_STREAM_H
#define HTTP_STREAM_H

#include "http/call/call.h"

#define STREAM_BUFFER (256 * 1024) /* no more is asked for while this much waits */

/* The library's response for it; NULL: no memory. */
struct MHD_Response *stream_response(struct http_call *call);
/* The call is over: whoever still fills stops. I/O thread. */
void stream_abandon(struct http_call *call);
void stream_free(struct stream *stream);

#endif
