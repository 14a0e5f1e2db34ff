/* The content coding and the entity tag of a reply. */
#ifndef HTTP_REPLY_CODING_H
#define HTTP_REPLY_CODING_H

#include "http/call/call.h"

/* Returns the content coding for a reply of this media type: CODING_IDENTITY if the type or the
 * route is not to be compressed, or if the client does not accept another coding. To be called
 * while the header of the request exists. */
enum coding reply_coding(const struct http_call *call, const char *content_type);
/* Replies 412 and returns true if the request is a GET or HEAD whose If-Match has no tag of the
 * state that http_etag has set. To be called before a reply with status 200 is filled. */
bool reply_mismatch(struct http_call *call);
/* Compresses a filled reply of kind REPLY_MEMORY or REPLY_STATIC if the result is shorter, and sets
 * its ETag: the reply may become 304. Runs on the handler's thread. */
void reply_encode(struct http_call *call);
/* Sets Content-Encoding and ETag of a reply in this coding. length: bytes of the body; UINT64_MAX:
 * unknown. Returns true if If-None-Match of the request has this ETag: the reply has become 304. */
bool reply_tag(struct http_call *call, enum coding coding, uint64_t length);

#endif
