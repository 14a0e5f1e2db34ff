/* The request header: the fields that the server itself needs, and all that makes the framing
 * ambiguous. */
#ifndef HTTP_HEADERS_H
#define HTTP_HEADERS_H

#include "base/memory/arena.h"
#include "base/problem.h"
#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HEADERS_MAX_BYTES (12 * 1024) /* bytes; a larger header is answered 431 */
#define HEADERS_MAX_COUNT 100

/* The values of the first field of each name; NULL: none. The library keeps the texts until the
 * call is over. */
struct headers {
    const char *host;
    const char *origin;
    const char *accept;
    const char *accept_encoding;
    const char *content_type;
    const char *content_length;
    const char *content_encoding;
    const char *content_range;
    const char *transfer_encoding;
    const char *expect;
    const char *request_id;
    const char *forwarded;
    const char *x_forwarded_for;
    const char *x_forwarded_host;
    const char *x_forwarded_proto;
    const char *authorization;
    const char *if_match;
    const char *if_none_match;
    const char *idempotency_key;
    const char *change;    /* Discern-Change */
    const char *preflight; /* Access-Control-Request-Method */
    unsigned n_host;       /* n_…: number of fields with this name */
    unsigned n_origin;
    unsigned n_content_length;
    unsigned n_transfer_encoding;
    unsigned n_content_encoding;
    unsigned n_authorization;
    unsigned n_idempotency_key;
    unsigned n_change;
    unsigned n_forwarding; /* Forwarded and X-Forwarded-… */
    size_t n;              /* number of fields */
    size_t bytes;          /* bytes of all names and values, with ": " and line ends */
    const char *fault;     /* what makes the framing bad; NULL: nothing */
    const char *body;      /* library_lines_body */
    bool http_1_0;
    bool chunked;   /* the body is chunked */
    bool continues; /* the client waits for 100 Continue before it sends the body */
    int64_t length; /* bytes of the body; 0: no body; -1: unknown (chunked) */
};

/* Reads the header. method, target and version: the strings that the library passed to the request
 * handler; target_size: bytes of the target as sent. */
void headers_read(struct headers *h, struct MHD_Connection *mhd, const char *method,
                  const char *target, size_t target_size, const char *version);
/* Returns false, with problem bad-framing, if the framing is ambiguous or malformed: the connection
 * must be closed. */
bool headers_check_framing(const struct headers *h, struct problem *problem);
/* Checks what the header says about a body: at most one content coding, no Content-Range with
 * PUT. */
bool headers_check_content(const struct headers *h, const char *method, struct problem *problem);
/* Checks the number and size of the fields, and Expect. */
bool headers_check_limits(const struct headers *h, struct problem *problem);
/* Joins the values of all fields of a name with ", " in the arena. NULL: none, or out of memory. */
const char *headers_join(struct MHD_Connection *mhd, const char *name, struct arena *arena);

#endif
