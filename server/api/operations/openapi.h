/* The OpenAPI document. */
#ifndef API_OPENAPI_H
#define API_OPENAPI_H

#include "base/memory/buf.h"

/* Returns the embedded document, NUL-terminated. */
const char *api_openapi_document(void);
/* Writes the document with `servers` set to the base path ("" or NULL: unchanged). */
void api_openapi_write(const char *base_path, struct buf *out);

#endif
