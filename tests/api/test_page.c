/* The page over HTTP: who gets it, its files and their caching, tokens, the base path, --no-ui. */
#include "lib/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BROWSER "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
#define MOST_BYTES 300000 /* of all files, compressed */

static const struct response *open_page(const char *path) {
    return status_check(
        call_or_fail(&(struct request){.method = "GET", .path = path, .headers = HEADERS(BROWSER)}),
        200);
}

static void expect_json(const struct response *a) {
    status_check(a, 200);
    assert_string_equal(header_of(a, "Content-Type"), "application/json");
    assert_string_equal(string_at(a, "/name"), "discernd");
}

/* Returns the next path in href="…" or src="…" from *at on, and moves *at. NULL: none. */
static const char *next_link(const char **at) {
    const char *href = strstr(*at, "href=\""), *src = strstr(*at, "src=\"");
    const char *first = href == NULL || (src != NULL && src < href) ? src : href;
    if (first == NULL) {
        return NULL;
    }
    const char *start = strchr(first, '"') + 1, *end = strchr(start, '"');
    *at = end;
    return text("%.*s", (int)(end - start), start);
}

static void test_browsers_get_the_page_and_others_json(void **state) {
    (void)state;
    service_start(NULL);
    const struct response *page = open_page("/");
    assert_string_equal(header_of(page, "Content-Type"), "text/html; charset=utf-8");
    assert_string_equal(header_of(page, "Cache-Control"), "no-cache");
    assert_non_null(strstr(header_of(page, "Vary"), "Accept"));
    assert_memory_equal(header_of(page, "Content-Security-Policy"), "default-src 'self';", 19);
    status_check(call_or_fail(
                     &(struct request){.method = "GET",
                                       .path = "/",
                                       .headers = HEADERS(BROWSER, text("If-None-Match: %s",
                                                                        header_of(page, "ETag")))}),
                 304);
    assert_null(strstr(page->body, "@UI@"));
    assert_null(strstr(page->body, "<style"));
    assert_null(strstr(page->body, "style="));
    assert_null(strstr(page->body, "http://"));
    expect_json(call_get("/"));
    expect_json(call_get_with("Accept: application/json", "/"));
    expect_json(call_get_with("Accept: */*", "/"));
    expect_json(call_get_with("Accept: text/html;q=0.4, application/json", "/"));
    problem_check(call_get_with("Accept: text/csv", "/"), 406, "not-acceptable");
}

/* Each file that the page names exists, has the right type, may be kept, and refers to files that
 * exist, and to no other host. */
static void check_file(const char *link) {
    const struct response *a = status_check(call_get("/%s", link), 200);
    const char *type = header_of(a, "Content-Type");
    const bool script = strstr(link, ".js") != NULL;
    assert_string_equal(header_of(a, "Cache-Control"), "public, max-age=31536000, immutable");
    assert_string_equal(header_of(a, "X-Content-Type-Options"), "nosniff");
    assert_string_equal(type, script                 ? "text/javascript; charset=utf-8"
                              : strstr(link, ".css") ? "text/css; charset=utf-8"
                                                     : "image/svg+xml");
    for (const char *at = a->body; script && (at = strstr(at, "from '.")) != NULL; at++) {
        const char *start = at + strlen("from '"), *folder_end = strrchr(link, '/');
        for (start += start[1] == '/' ? 2 : 0; strncmp(start, "../", 3) == 0; start += 3) {
            for (folder_end--; *folder_end != '/'; folder_end--) {
            }
        }
        status_check(call_get("/%.*s/%.*s", (int)(folder_end - link), link,
                              (int)(strchr(start, '\'') - start), start),
                     200);
    }
}

static void test_every_file_of_the_page_is_served(void **state) {
    (void)state;
    service_start(NULL);
    const char *at = open_page("/")->body;
    size_t n = 0, bytes = 0;
    for (const char *link; (link = next_link(&at)) != NULL;) {
        if (strncmp(link, "ui/", 3) == 0) {
            check_file(link);
            const struct response *small =
                call_or_fail(&(struct request){.method = "GET",
                                               .path = text("/%s", link),
                                               .headers = HEADERS("Accept-Encoding: gzip")});
            bytes += small->size;
            n++;
        }
    }
    assert_true(n > 20);
    assert_in_range(bytes, 1, MOST_BYTES);
}

static void test_other_files_are_not_found(void **state) {
    (void)state;
    service_start(NULL);
    const char *at = strstr(open_page("/")->body, "ui/");
    const char *digest = text("%.16s", at + 3);
    static const char *const files[] = {"/none.js",         "/base/none.js", "/base", "/views/data",
                                        "/views/data/x.js", "0/app.js",      "/"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        const struct response *a = call_or_fail(
            &(struct request){.method = "GET", .path = text("/ui/%s%s", digest, files[i])});
        problem_check(a, 404, "not-found");
        assert_string_equal(header_of(a, "Cache-Control"), "no-cache");
    }
    problem_check(call_get("/ui/0123456789abcdef/app.js"), 404, "not-found");
}

static void test_the_base_path_is_in_the_links(void **state) {
    (void)state;
    service_start(FLAGS("--base-path", "/discern"));
    static const char *const places[] = {"/", "/discern/", "/discern"};
    for (size_t i = 0; i < 3; i++) {
        const struct response *page = open_page(places[i]);
        const char *at = page->body;
        for (const char *link; (link = next_link(&at)) != NULL;) {
            if (strstr(link, "ui/") != NULL) {
                assert_memory_equal(link, "/discern/ui/", 12);
                status_check(call_get("%s", link), 200);
            }
        }
    }
}

static void test_the_page_needs_no_token(void **state) {
    (void)state;
    char *dir = strdup(text("/tmp/page-XXXXXX"));
    assert_non_null(mkdtemp(dir));
    const char *file = text("%s/tokens", dir), *out;
    assert_int_equal(discernd_run(FLAGS("token", "add", "a", "--scope", "read", "--tokens", file),
                                  &out),
                     0);
    service_start(FLAGS("--tokens", file));
    const struct response *page = open_page("/");
    const char *at = page->body;
    status_check(call_get("/%s", next_link(&at)), 200);
    problem_check(call_get("/"), 401, "unauthorized");
    problem_check(call_get_with(BROWSER, "/v1/datasets"), 401, "unauthorized");
    status_check(call_or_fail(
                     &(struct request){.method = "GET",
                                       .path = "/",
                                       .headers = HEADERS(BROWSER, "Authorization: Bearer wrong")}),
                 200);
    service_stop();
    unlink(file);
    assert_int_equal(rmdir(dir), 0);
    free(dir);
}

static void test_without_the_page(void **state) {
    (void)state;
    service_start(NULL);
    const char *at = strstr(open_page("/")->body, "ui/");
    const char *app = text("/%.19s/app.js", at);
    status_check(call_get("%s", app), 200);
    service_start(FLAGS("--no-ui"));
    expect_json(call_get_with(BROWSER, "/"));
    problem_check(call_get_with("Accept: text/html", "/"), 406, "not-acceptable");
    problem_check(call_get("%s", app), 404, "not-found");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_browsers_get_the_page_and_others_json),
        TEST(test_every_file_of_the_page_is_served),
        TEST(test_other_files_are_not_found),
        TEST(test_the_base_path_is_in_the_links),
        TEST(test_the_page_needs_no_token),
        TEST(test_without_the_page),
    };
    return RUN_WITHOUT_DAEMON(tests);
}
