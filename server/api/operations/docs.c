/* GET /docs and /docs/{page}: the manual. The pages of server/docs are rendered to HTML at build
 * time and embedded in the binary. */
#include "api/handlers.h"
#include "api/support.h"

#include <string.h>

static const struct page {
    const char *name;
    const char *title;
    const unsigned char *html; /* the content of <body>, NUL-terminated */
    size_t n_html;
} pages[] = {
#include "docs.inc"
};

static const unsigned char style[] = {
#include "docs_style.inc"
    0};

static const struct page *page_find(const char *name) {
    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++) {
        if (strcmp(pages[i].name, name) == 0) {
            return &pages[i];
        }
    }
    return NULL;
}

/* Links are relative, so that they are valid behind a proxy that adds a prefix. folder: "docs/" on
 * the page /docs, "" on the pages below it. */
static void put_page(struct buf *out, const struct http_call *call, const struct page *page,
                     const char *folder) {
    buf_printf(out,
               "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
               "<meta name=\"viewport\" content=\"width=device-width\">\n"
               "<title>%s · Discern %s</title>\n"
               "<link rel=\"stylesheet\" href=\"%sstyle.css\">\n",
               page->title, DISCERN_VERSION, folder);
    api_ui_put_icon(out, call, folder[0] == '\0' ? "../" : "");
    buf_puts(out, "</head>\n<body>\n");
    if (folder[0] == '\0') {
        buf_puts(out, "<nav><a href=\"../docs\">Discern</a></nav>\n");
    }
    buf_puts(out, "<main>\n");
    buf_append(out, page->html, page->n_html);
    buf_puts(out, "</main>\n</body>\n</html>\n");
}

static void reply_constant(struct http_call *call, const char *type, struct buf *body) {
    http_reply_header(call, "Content-Security-Policy", "default-src 'self'");
    api_reply_unchanging(call, type, body);
}

void api_docs_index(struct http_call *call) {
    struct buf body = {0};
    put_page(&body, call, page_find("index"), "docs/");
    reply_constant(call, "text/html; charset=utf-8", &body);
}

void api_docs_page(struct http_call *call) {
    struct buf body = {0};
    const char *name = http_path_param(call, "page");
    const struct page *page = page_find(name);
    if (strcmp(name, "style.css") == 0) {
        buf_append(&body, style, sizeof style - 1);
        reply_constant(call, "text/css; charset=utf-8", &body);
    } else if (page != NULL && strcmp(name, "index") != 0) {
        put_page(&body, call, page, "");
        reply_constant(call, "text/html; charset=utf-8", &body);
    } else {
        http_fail(call, PROBLEM_NOT_FOUND, "there is no page \"%s\"; GET /docs lists the pages",
                  name);
    }
}
