/* Which coding an answer has, and encoding one that is in memory. */
#ifndef HTTP_REPLY_CODING_H
#define HTTP_REPLY_CODING_H

#include "http/call.h"

/* The coding of an answer of this type: CODING_IDENTITY where compressing does not pay or the client does not take it. While the request's header is there. */
enum coding reply_coding(const struct http_call *call, const char *content_type);
/* Compresses a filled answer, REPLY_MEMORY or REPLY_STATIC, if that pays. On the handler's thread. */
void reply_encode(struct http_call *call);

#endif
