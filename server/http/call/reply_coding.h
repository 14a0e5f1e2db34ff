/* Which coding an answer has, and encoding one that is in memory. */
#ifndef HTTP_REPLY_CODING_H
#define HTTP_REPLY_CODING_H

#include "http/call/call.h"

/* The coding of an answer of this type: CODING_IDENTITY where compressing does not pay or the
 * client does not take it. While the request's header is there. */
enum coding reply_coding(const struct http_call *call, const char *content_type);
/* Compresses a filled answer, REPLY_MEMORY or REPLY_STATIC, if that pays, and gives it its ETag: it
 * may become 304. On the handler's thread. */
void reply_encode(struct http_call *call);
/* Sets Content-Encoding and the ETag of a reply in this coding, whose body has this many bytes
 * (UINT64_MAX: not known). true: the client has this form, and the reply has become 304. */
bool reply_tag(struct http_call *call, enum coding coding, uint64_t length);

#endif
