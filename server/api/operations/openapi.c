/* GET /openapi.json: the OpenAPI document, embedded at build time. Its `servers` entry is set to
 * the base path of the daemon. */
#include "api/operations/openapi.h"
#include "api/handlers.h"
#include "api/support.h"

#include <string.h>

static const unsigned char document[] = {
#include "openapi.inc"
    0};

const char *api_openapi_document(void) {
    return (const char *)document;
}

/* The part of the document that is replaced. */
static const char marker[] = "\"url\": \"/\"";

void api_openapi_write(const char *base_path, struct buf *out) {
    const char *text = api_openapi_document(), *at = strstr(text, marker);
    if (!at || !base_path || !base_path[0]) {
        buf_puts(out, text);
        return;
    }
    buf_append(out, text, (size_t)(at - text));
    buf_puts(out, "\"url\": ");
    json_escape(out, base_path, strlen(base_path));
    buf_puts(out, at + sizeof marker - 1);
}

void api_openapi(struct http_call *call) {
    struct buf body = {0};
    api_openapi_write(api_app_of(call)->base_path, &body);
    api_reply_json(call, 200, &body);
}
