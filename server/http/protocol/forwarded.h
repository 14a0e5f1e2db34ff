/* The client of a request that came through trusted proxies. */
#ifndef HTTP_FORWARDED_H
#define HTTP_FORWARDED_H

#include "http/call/call.h"

/* Sets call->request.client and call->request.client_address to the address of the peer; if the
 * peer is a trusted proxy, to the rightmost address in its header that is not a trusted proxy. */
void forwarded_client(struct http_call *call);
/* Return scheme and host as the client sees them. */
const char *forwarded_scheme(struct http_call *call);
const char *forwarded_host(struct http_call *call); /* NULL: none */

#endif
