/* The first look at a request, when its header is complete: framing, limits, target, host, origin,
 * method, route. */
#ifndef HTTP_JUDGE_H
#define HTTP_JUDGE_H

#include "http/call/call.h"

enum judgement {
    JUDGE_PASS,   /* call->request.match.route serves it */
    JUDGE_ANSWER, /* the answer is filled already (a refusal, OPTIONS) */
    JUDGE_CLOSE   /* the answer is filled, and the connection cannot be trusted any further */
};
/* The strings are the library's, where they arrived; its parameters and escapes must have been left
 * alone. */
enum judgement judge_request(struct http_call *call, const char *url, const char *method,
                             const char *version);
/* Sets call->request.id: the client's X-Request-Id if it is sane, a new one otherwise. */
void judge_id(struct http_call *call);

#endif
