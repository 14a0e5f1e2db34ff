/* The page for browsers: GET / and its files below /ui. The files of server/ui are embedded in the
 * binary at build time, with d3 and Preact. The path of each file has the digest of all files, so
 * that caches can keep them, and a new release has new paths. */
#include "api/handlers.h"
#include "api/policy.h"
#include "api/support.h"

#include <string.h>

static const struct file {
    const char *path; /* below server/ui */
    const unsigned char *bytes;
    size_t size;
} files[] = {
#include "ui.inc"
};
enum { N_FILES = sizeof files / sizeof files[0] };

static const char digest[] =
#include "ui_digest.inc"
    ;

static const struct {
    const char *ending;
    const char *type;
} types[] = {{".js", "text/javascript; charset=utf-8"},
             {".css", "text/css; charset=utf-8"},
             {".svg", "image/svg+xml"},
             {".html", "text/html; charset=utf-8"},
             {".txt", "text/plain; charset=utf-8"}};

static bool ends_with(const char *text, const char *ending) {
    const size_t n = strlen(text), k = strlen(ending);
    return n >= k && strcmp(text + n - k, ending) == 0;
}

static const char *type_of(const char *path) {
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (ends_with(path, types[i].ending)) {
            return types[i].type;
        }
    }
    return "application/octet-stream";
}

static const struct file *file_find(const char *path) {
    for (size_t i = 0; i < N_FILES; i++) {
        if (strcmp(files[i].path, path) == 0) {
            return &files[i];
        }
    }
    return NULL;
}

static void set_policy(struct http_call *call) {
    http_reply_header(call, "Content-Security-Policy",
                      "default-src 'self'; base-uri 'none'; form-action 'none'; "
                      "frame-ancestors 'none'; object-src 'none'");
    http_reply_header(call, "Referrer-Policy", "no-referrer");
}

bool api_wants_page(const struct http_call *call) {
    const struct http_media *offers = http_route_of(call)->offers;
    const struct api_app *app = http_app(call);
    return offers == &api_sends_root && !app->no_ui && http_accepts(call, offers->types) == 1;
}

/* Appends the path of the files, with a slash at its end. Without a base path it is relative, so
 * that it is valid behind a proxy that removes a prefix. */
static void put_folder(struct buf *out, const struct http_call *call) {
    const char *base = api_app_of(call)->base_path;
    buf_printf(out, "%s%sui/%s/", base, base[0] != '\0' ? "/" : "", digest);
}

void api_ui_put_icon(struct buf *out, const struct http_call *call, const char *root) {
    if (!api_app_of(call)->no_ui) {
        buf_printf(out, "<link rel=\"icon\" type=\"image/svg+xml\" href=\"%sui/%s/icon.svg\">\n",
                   root, digest);
    }
}

/* Lets the browser load all modules at once, without following the imports. */
static void put_preloads(struct buf *out, const struct http_call *call) {
    for (size_t i = 0; i < N_FILES; i++) {
        if (ends_with(files[i].path, ".js")) {
            buf_puts(out, "<link rel=\"modulepreload\" href=\"");
            put_folder(out, call);
            buf_printf(out, "%s\">\n", files[i].path);
        }
    }
}

void api_ui_page(struct http_call *call) {
    static const char folder[] = "@UI@", preloads[] = "@PRELOADS@";
    const struct file *page = file_find("index.html");
    struct buf body = {0};
    const char *at = page != NULL ? (const char *)page->bytes : "";
    while (*at != '\0') {
        const size_t n = strcspn(at, "@");
        buf_append(&body, at, n);
        at += n;
        if (strncmp(at, folder, sizeof folder - 1) == 0) {
            put_folder(&body, call);
            at += sizeof folder - 1;
        } else if (strncmp(at, preloads, sizeof preloads - 1) == 0) {
            put_preloads(&body, call);
            at += sizeof preloads - 1;
        } else if (*at != '\0') {
            buf_append(&body, at, 1);
            at++;
        }
    }
    set_policy(call);
    api_reply_unchanging(call, type_of("index.html"), &body);
}

void api_ui_file(struct http_call *call) {
    static const char *const placeholders[] = {"folder", "subfolder", "file"};
    struct buf path = {0};
    for (size_t i = 0; i < sizeof placeholders / sizeof placeholders[0]; i++) {
        const char *part = http_path_param(call, placeholders[i]);
        if (part[0] != '\0') {
            buf_printf(&path, "%s%s", path.size > 0 ? "/" : "", part);
        }
    }
    const char *text = buf_cstr(&path);
    const struct file *file = text != NULL ? file_find(text) : NULL;
    const bool served = !api_app_of(call)->no_ui;
    if (served && file != NULL && strcmp(http_path_param(call, "digest"), digest) == 0) {
        set_policy(call);
        http_reply_header(call, "Cache-Control", "public, max-age=31536000, immutable");
        http_reply_static(call, 200, type_of(file->path), file->bytes, file->size);
    } else {
        http_fail(call, PROBLEM_NOT_FOUND, "%s",
                  served ? "this release has no such file; GET / with Accept: text/html is its page"
                         : "the page is not served: the daemon was started with --no-ui");
    }
    buf_done(&path);
}
