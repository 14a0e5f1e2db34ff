/* What trusted proxies say of a request. */
#ifndef HTTP_FORWARDED_H
#define HTTP_FORWARDED_H

#include "http/call/call.h"

/* If the peer is a trusted proxy, sets the client to the rightmost address in Forwarded or
 * X-Forwarded-For that is not a trusted proxy, and scheme and host to those that the proxy in front
 * of this client names. Returns false with a problem (400) if Forwarded and X-Forwarded-… differ. */
bool forwarded_read(struct http_call *call, struct problem *problem);
/* Return scheme and host as the client sees them. */
const char *forwarded_scheme(const struct http_call *call);
const char *forwarded_host(const struct http_call *call); /* NULL: none */

#endif
