/* Proxies: what trusted ones say of the client they speak for. */
#ifndef HTTP_FORWARDED_H
#define HTTP_FORWARDED_H

#include "http/call/call.h"

/* Sets call->request.client and call->request.client_address: the peer, or through trusted proxies
 * the rightmost address that is none of theirs. */
void forwarded_client(struct http_call *call);
/* Scheme and host as the client sees them. */
const char *forwarded_scheme(struct http_call *call);
const char *forwarded_host(struct http_call *call); /* NULL: none */

#endif
