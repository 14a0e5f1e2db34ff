/* Checks a request when its header is complete: framing, limits, method, target, Host, Origin,
 * route. */
#ifndef HTTP_REQUEST_CHECK_H
#define HTTP_REQUEST_CHECK_H

#include "http/call/call.h"

enum request_check {
    REQUEST_PASS,  /* request.match.route handles the request */
    REQUEST_REPLY, /* the reply is filled (a refusal, or OPTIONS) */
    REQUEST_CLOSE /* the reply is filled; the end of the request is unknown: close the connection */
};
/* url, method, version: the strings that the library passed to the request handler. */
enum request_check request_check(struct http_call *call, const char *url, const char *method,
                                 const char *version);
/* Sets request.id: X-Request-Id if it is short and of harmless characters, otherwise a new id. */
void request_check_id(struct http_call *call);

#endif
