/* HTTP/1.1 requests for the routes of the route table, some of them mutated: their method, target,
 * header, framing, content coding or body. A number determines the request. */
#ifndef TESTS_API_MUTATED_REQUEST_H
#define TESTS_API_MUTATED_REQUEST_H

#include "base/memory/buf.h"
#include <stdbool.h>
#include <stdint.h>

enum { MUTATED_CUTS = 6 };

struct mutated_request {
    struct buf bytes;          /* of all requests on the connection */
    char method[32];           /* of the first request */
    struct buf target;         /* of the first request, NUL-terminated */
    unsigned n_requests;       /* 2: another request follows */
    bool plain;                /* syntax and framing are valid: each request must be answered */
    bool is_stream;            /* the answer is an event stream, which may be long */
    bool early_close;          /* the client closes the connection before it reads an answer */
    size_t n_cuts;             /* the bytes are sent in n_cuts + 1 pieces */
    size_t cuts[MUTATED_CUTS]; /* ascending */
};

void mutated_request_make(uint64_t number, struct mutated_request *out);
void mutated_request_done(struct mutated_request *request);

#endif
