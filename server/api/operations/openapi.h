/* The OpenAPI document. */
#ifndef API_OPENAPI_H
#define API_OPENAPI_H

#include "base/buf.h"

/* As written, NUL-terminated. */
const char *api_openapi_document(void);
/* With `servers` set to the base path ("" or NULL: as written). */
void api_openapi_write(const char *base_path, struct buf *out);

#endif
