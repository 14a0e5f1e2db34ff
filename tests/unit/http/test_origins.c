/* Host, Origin, CORS; the base path; what trusted proxies say; negotiation. */
#include "unit/http/replies.h"
#include "unit/http/toy.h"

#include <sys/socket.h>

static struct toy toy;

static int stop(void **state) {
    (void)state;
    if (toy.server != NULL) {
        toy_stop(&toy);
    }
    return 0;
}

/* "METHOD PATH" with these header lines. */
static void ask(const char *head, const char *lines, struct raw_reply *r) {
    char request[2000];
    snprintf(request, sizeof request, "%s HTTP/1.1\r\n%sContent-Length: 0\r\n\r\n", head, lines);
    raw_reply_ask(toy.server, request, r);
}
static int status_of(const char *head, const char *lines) {
    struct raw_reply r;
    ask(head, lines, &r);
    raw_reply_done(&r);
    return r.status;
}

static void hosts(void **state) {
    (void)state;
    toy_start(&toy,
              &(struct http_settings){.check_host = true,
                                      .allowed_hosts = {.n = 3,
                                                        .items = {"example.com", "other.org:8443",
                                                                  "2001:db8::1"}}});
    static const char *const good[] = {"localhost",    "LOCALHOST:1",    "127.0.0.1",
                                       "127.1.2.3:99", "[::1]",          "[::1]:8080",
                                       "example.com",  "Example.COM:12", "other.org:8443"};
    static const char *const bad[] = {"example.org",
                                      "localhost.example.org",
                                      "xexample.com",
                                      "other.org",
                                      "other.org:80",
                                      "128.0.0.1",
                                      "[::2]",
                                      "",
                                      "127.0.0.1.nip.io",
                                      "localhost@evil"};
    char lines[300];
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        snprintf(lines, sizeof lines, "Host: %s\r\n", good[i]);
        if (status_of("GET /ok", lines) != 200) {
            fail_msg("Host \"%s\" was refused", good[i]);
        }
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        snprintf(lines, sizeof lines, "Host: %s\r\n", bad[i]);
        struct raw_reply r;
        ask("GET /ok", lines, &r);
        if (r.status != 421) {
            fail_msg("Host \"%s\" got %d", bad[i], r.status);
        }
        raw_reply_is_problem(&r, 421, "misdirected");
        raw_reply_done(&r);
    }
    assert_int_equal(status_of("GET http://evil.example/ok", "Host: localhost\r\n"), 421);
    assert_int_equal(status_of("GET http://localhost/ok", "Host: evil.example\r\n"), 200);
    assert_int_equal(raw_reply_status(toy.server, "GET /ok HTTP/1.0\r\n\r\n"),
                     200); /* no browser sends that */
    stop(NULL);
    toy_start(&toy, NULL);
    assert_int_equal(status_of("GET /ok", "Host: anything.example\r\n"), 200);
}

static void origins(void **state) {
    (void)state;
    toy_start(&toy,
              &(struct http_settings){
                  .allow_origins = {.n = 2,
                                    .items = {"https://app.example", "http://dev.example:3000/"}}});
    static const struct {
        const char *head, *lines;
        int status;
    } cases[] = {
        {"POST /ok", "Host: me:8080\r\nOrigin: http://me:8080\r\n", 200},
        {"POST /ok", "Host: me\r\nOrigin: http://me:80\r\n", 200},
        {"POST /ok", "Host: ME\r\nOrigin: http://me\r\n", 200},
        {"POST /ok", "Host: me\r\n", 200},
        {"POST /ok", "Host: me\r\nOrigin: https://me\r\n", 403},
        {"POST /ok", "Host: me:8080\r\nOrigin: http://me:8081\r\n", 403},
        {"POST /ok", "Host: me\r\nOrigin: http://evil.example\r\n", 403},
        {"POST /ok", "Host: me\r\nOrigin: null\r\n", 403},
        {"POST /ok", "Host: me\r\nOrigin: \r\n", 403},
        {"DELETE /v1/things/a", "Host: me\r\nOrigin: http://evil.example\r\n", 403},
        {"PUT /nope", "Host: me\r\nOrigin: http://evil.example\r\n", 403},
        {"GET /ok", "Host: me\r\nOrigin: http://evil.example\r\n", 200},
        {"HEAD /ok", "Host: me\r\nOrigin: http://evil.example\r\n", 200},
        {"POST /ok", "Host: me\r\nOrigin: https://app.example\r\n", 200},
        {"POST /ok", "Host: me\r\nOrigin: https://APP.example:443\r\n", 200},
        {"POST /ok", "Host: me\r\nOrigin: http://app.example\r\n", 403},
        {"POST /ok", "Host: me\r\nOrigin: http://dev.example:3000\r\n", 200},
        {"POST /ok",
         "Host: me\r\nX-Forwarded-Host: evil.example\r\nOrigin: http://evil.example\r\n",
         403}, /* no trusted proxy */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct raw_reply r;
        ask(cases[i].head, cases[i].lines, &r);
        if (r.status != cases[i].status) {
            fail_msg("%s\n%s-> %d", cases[i].head, cases[i].lines, r.status);
        }
        if (r.status == 403) {
            raw_reply_is_problem(&r, 403, "cross-origin");
        }
        bool allowed = strstr(cases[i].lines, "app.example") != NULL ||
                       strstr(cases[i].lines, "APP.example") != NULL ||
                       strstr(cases[i].lines, "dev.example") != NULL;
        assert_int_equal(raw_reply_header(&r, "Access-Control-Allow-Origin") != NULL,
                         allowed && r.status == 200);
        raw_reply_done(&r);
    }
    struct raw_reply r;
    ask("OPTIONS /echo",
        "Host: me\r\nOrigin: https://app.example\r\nAccess-Control-Request-Method: POST\r\n", &r);
    assert_int_equal(r.status, 204);
    assert_string_equal(raw_reply_header(&r, "Access-Control-Allow-Origin"), "https://app.example");
    assert_string_equal(raw_reply_header(&r, "Access-Control-Allow-Methods"), "POST, OPTIONS");
    assert_string_equal(raw_reply_header(&r, "Vary"), "Accept, Accept-Encoding, Origin");
    raw_reply_done(&r);
    ask("OPTIONS /echo",
        "Host: me\r\nOrigin: https://evil.example\r\nAccess-Control-Request-Method: POST\r\n", &r);
    assert_int_equal(r.status, 204);
    assert_null(raw_reply_header(&r, "Access-Control-Allow-Origin"));
    assert_null(raw_reply_header(&r, "Access-Control-Allow-Methods"));
    raw_reply_done(&r);
}

static void origin_behind_proxy(void **state) {
    (void)state;
    toy_start(&toy, &(struct http_settings){.trusted_proxies = {.n = 1, .items = {"127.0.0.0/8"}}});
    assert_int_equal(
        status_of("POST /ok", "Host: inner\r\nX-Forwarded-Host: shop.example\r\nX-Forwarded-Proto: "
                              "https\r\nOrigin: https://shop.example\r\n"),
        200);
    assert_int_equal(
        status_of(
            "POST /ok",
            "Host: shop.example\r\nX-Forwarded-Proto: https\r\nOrigin: https://shop.example\r\n"),
        200);
    assert_int_equal(
        status_of(
            "POST /ok",
            "Host: shop.example\r\nX-Forwarded-Proto: https\r\nOrigin: http://shop.example\r\n"),
        403);
    assert_int_equal(status_of("POST /ok", "Host: inner\r\nForwarded: "
                                           "for=1.2.3.4;host=\"shop.example:8443\";proto="
                                           "https\r\nOrigin: https://shop.example:8443\r\n"),
                     200);
    /* what the client itself has sent is on the left of what the proxy adds */
    assert_int_equal(status_of("POST /ok", "Host: inner\r\nX-Forwarded-For: 9.9.9.9, 1.2.3.4\r\n"
                                           "X-Forwarded-Host: evil.example, shop.example\r\n"
                                           "Origin: http://evil.example\r\n"),
                     403);
    assert_int_equal(status_of("POST /ok", "Host: inner\r\nX-Forwarded-For: 9.9.9.9, 1.2.3.4\r\n"
                                           "X-Forwarded-Host: evil.example\r\n"
                                           "X-Forwarded-Host: shop.example\r\n"
                                           "Origin: http://shop.example\r\n"),
                     200);
    /* two proxies: the first one named the host, the second one only the address of the first */
    assert_int_equal(status_of("POST /ok", "Host: inner\r\nX-Forwarded-For: 1.2.3.4, 127.0.0.9\r\n"
                                           "X-Forwarded-Host: shop.example\r\n"
                                           "Origin: http://shop.example\r\n"),
                     200);
}

static void expect_client(const char *lines, const char *client) {
    struct raw_reply r;
    char all[600], expected[100];
    snprintf(all, sizeof all, "Host: x\r\n%s", lines);
    ask("GET /v1/things/a", all, &r);
    snprintf(expected, sizeof expected, "client=%s\n", client);
    if (strstr(r.body.data, expected) == NULL) {
        fail_msg("%s-> %s", lines, r.body.data);
    }
    raw_reply_done(&r);
}

static void clients(void **state) {
    (void)state;
    toy_start(&toy, &(struct http_settings){
                        .trusted_proxies = {.n = 2, .items = {"127.0.0.1", "10.0.0.0/8"}}});
    expect_client("", "127.0.0.1");
    expect_client("X-Forwarded-For: 1.2.3.4\r\n", "1.2.3.4");
    expect_client("X-Forwarded-For: 9.9.9.9, 1.2.3.4, 10.0.0.7\r\n",
                  "1.2.3.4"); /* the left one may be made up */
    expect_client(
        "X-Forwarded-For: 9.9.9.9\r\nX-Forwarded-For: 1.2.3.4\r\nX-Forwarded-For: 10.1.1.1\r\n",
        "1.2.3.4");
    expect_client("X-Forwarded-For: 10.0.0.1, 10.0.0.2\r\n", "10.0.0.1");
    expect_client("X-Forwarded-For: 1.2.3.4, unknown\r\n", "127.0.0.1");
    expect_client("X-Forwarded-For: 1.2.3.4, unknown, 10.0.0.9\r\n", "10.0.0.9");
    expect_client("X-Forwarded-For: 1.2.3.4:5678\r\n", "1.2.3.4");
    expect_client("X-Forwarded-For: [2001:DB8::1]:443\r\n", "2001:db8::1");
    expect_client("X-Forwarded-For: ,,\r\n", "127.0.0.1");
    expect_client(
        "Forwarded: for=9.9.9.9, for=\"[2001:db8::2]:80\";proto=http;by=10.0.0.1, For=10.0.0.3\r\n",
        "2001:db8::2");
    expect_client("Forwarded: for=9.9.9.9, for=1.2.3.4\r\nX-Forwarded-For: 8.8.8.8, 1.2.3.4\r\n",
                  "1.2.3.4");
    /* a quote of the client does not hide what the proxy appends */
    expect_client("X-Forwarded-For: \"9.9.9.9, 1.2.3.4\r\n", "1.2.3.4");
    expect_client("X-Forwarded-For: \"\r\nX-Forwarded-For: 1.2.3.4, 10.0.0.7\r\n", "1.2.3.4");
    expect_client("Forwarded: for=\"9.9.9.9, 8.8.8.8\", for=1.2.3.4\r\n", "1.2.3.4");
    expect_client("Forwarded: for=\"1.2.3.4:_port\"\r\n", "1.2.3.4");
    expect_client("Forwarded: for=\"[2001:db8::3]:_p\"\r\n", "2001:db8::3");
    static const char *const conflicts[] = {
        "Forwarded: for=\"9.9.9.9, for=1.2.3.4\r\n",
        "Forwarded: for=\"9.9.9.9\\\", for=\"1.2.3.4\"\r\n",
        "Forwarded: for=9.9.9.9;x=\"\r\nForwarded: for=1.2.3.4\r\n",
        "Forwarded: proto=https;for=1.2.3.4\r\nX-Forwarded-For: 5.6.7.8\r\n",
        "Forwarded: for=unknown\r\nX-Forwarded-For: 5.6.7.8\r\n",
        "Forwarded: for=1.2.3.4;proto=http\r\nX-Forwarded-Proto: https\r\n",
        "Forwarded: for=1.2.3.4;host=a\r\nX-Forwarded-Host: b\r\n"};
    for (size_t i = 0; i < sizeof conflicts / sizeof conflicts[0]; i++) {
        char all[300];
        snprintf(all, sizeof all, "Host: x\r\n%s", conflicts[i]);
        assert_int_equal(status_of("GET /v1/things/a", all), 400);
    }
    expect_client("Forwarded: for=_hidden\r\n", "127.0.0.1");
    stop(NULL);
    toy_start(&toy, NULL);
    expect_client("X-Forwarded-For: 1.2.3.4\r\nForwarded: for=1.2.3.4\r\n", "127.0.0.1");
    stop(NULL);
    char path[100];
    snprintf(path, sizeof path, "unix:/tmp/discern-test-%ld.sock", (long)getpid());
    toy_start(&toy, &(struct http_settings){.listen = path,
                                            .trusted_proxies = {.n = 1, .items = {"unix"}}});
    assert_string_equal(http_address(toy.server), path);
    expect_client("", "unix");
    expect_client("X-Forwarded-For: 1.2.3.4\r\n", "1.2.3.4");
    stop(NULL);
    assert_int_equal(access(path + 5, F_OK), -1); /* the socket's file is gone */
}

static void base_path(void **state) {
    (void)state;
    static const char *const bases[] = {"/discern", "/a/b/"};
    for (size_t i = 0; i < 2; i++) {
        toy_start(&toy, &(struct http_settings){.base_path = bases[i]});
        char head[100], location[100];
        size_t n = strlen(bases[i]) - (i == 1);
        snprintf(head, sizeof head, "POST %.*s/v1/things", (int)n, bases[i]);
        snprintf(location, sizeof location, "%.*s/v1/things/7", (int)n, bases[i]);
        struct raw_reply r;
        for (int with = 0; with < 2; with++) {
            ask(with != 0 ? head : "POST /v1/things", "Host: x\r\n", &r);
            assert_int_equal(r.status, 201);
            assert_string_equal(raw_reply_header(&r, "Location"), location);
            raw_reply_done(&r);
        }
        assert_int_equal(status_of("GET /discernx/ok", "Host: x\r\n"), 404);
        assert_int_equal(status_of("GET /a/ok", "Host: x\r\n"), 404);
        stop(NULL);
    }
    toy_start(&toy, &(struct http_settings){.base_path = "/"});
    struct raw_reply r;
    ask("POST /v1/things", "Host: x\r\n", &r);
    assert_string_equal(raw_reply_header(&r, "Location"), "/v1/things/7");
    raw_reply_done(&r);
}

static void negotiation(void **state) {
    (void)state;
    toy_start(&toy, NULL);
    static const struct {
        const char *accept;
        int index; /* of application/json, text/csv */
    } cases[] = {{NULL, 0},
                 {"", 0},
                 {"*/*", 0},
                 {"text/csv", 1},
                 {"text/*", 1},
                 {"text/html", -1},
                 {"text/csv;q=0", -1},
                 {"text/csv;q=0, */*", 0},
                 {"application/json;q=0.1, text/csv;q=0.9", 1},
                 {"application/json ; q=0.5 , text/csv;q=0.4", 0},
                 {"*/*;q=0.1, text/csv", 1},
                 {"application/*;q=0.2, text/csv;q=0.200", 0},
                 {"TEXT/CSV", 1},
                 {"text/csv;header=present;q=0.7, application/json;q=0.8", 0},
                 {"*", 0},
                 {"application/json;q=0.001, text/csv;q=0.002", 1},
                 {"application/xml, */*;q=0", -1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char lines[300] = "Host: x\r\n", expected[30];
        if (cases[i].accept != NULL) {
            snprintf(lines, sizeof lines, "Host: x\r\nAccept: %s\r\n", cases[i].accept);
        }
        struct raw_reply r;
        ask("GET /v1/things/a", lines, &r);
        snprintf(expected, sizeof expected, "accepts=%d\n", cases[i].index);
        if (strstr(r.body.data, expected) == NULL) {
            fail_msg("Accept: %s -> %s", cases[i].accept, r.body.data);
        }
        raw_reply_done(&r);
    }
    static const char *const types[][2] = {{"text/CSV; charset=utf-8", "type=text/csv\n"},
                                           {"application/x-www-form-urlencoded", "type=\n"},
                                           {"Application/Octet-Stream", "type=\n"},
                                           {" application/json;x", "type=application/json\n"},
                                           {"", "type=\n"}};
    for (size_t i = 0; i < 5; i++) {
        char lines[300];
        snprintf(lines, sizeof lines, "Host: x\r\nContent-Type: %s\r\n", types[i][0]);
        struct raw_reply r;
        ask("POST /v1/things/a:verb", lines, &r);
        assert_non_null(strstr(r.body.data, types[i][1]));
        assert_non_null(strstr(r.body.data, "name=a\n"));
        raw_reply_done(&r);
    }
}

/* Asks on the connection. lines: further header lines. */
static int status_on(struct connection *in, const char *method, const char *path, const char *lines,
                     char etag[64], char length[32]) {
    struct raw_reply r;
    char request[500];
    (void)snprintf(request, sizeof request, "%s %s HTTP/1.1\r\nHost: x\r\n%s\r\n", method, path,
                   lines);
    assert_true(raw_send_text(in->fd, request));
    raw_reply_read(in, strcmp(method, "HEAD") == 0, &r);
    const char *value = raw_reply_header(&r, "ETag"); /* until the next call */
    (void)snprintf(etag, 64, "%.63s", value != NULL ? value : "");
    value = raw_reply_header(&r, "Content-Length");
    (void)snprintf(length, 32, "%.31s", value != NULL ? value : "");
    assert_null(raw_reply_header(&r, "Connection"));
    if (r.status == 304) {
        assert_null(raw_reply_header(&r, "Content-Encoding"));
        assert_null(raw_reply_header(&r, "Content-Type"));
    }
    raw_reply_done(&r);
    return r.status;
}

/* Each form of a resource has its own strong tag, all on one connection: a 304 keeps it. */
static void etags(void **state) {
    (void)state;
    static const char plain[] = "\"v1-" DISCERN_VERSION "\"",
                      gzip[] = "\"v1-" DISCERN_VERSION "-gzip\"";
    static const struct {
        const char *path, *accept, *etag, *other;
    } forms[] = {
        {"/etag", "", plain, gzip},
        {"/etag", "Accept-Encoding: gzip\r\n", plain, gzip}, /* too short to be coded */
        {"/etag?size=1", "", plain, gzip},
        {"/etag?size=1", "Accept-Encoding: gzip\r\n", gzip, plain},
        {"/etag?size=1", "Accept-Encoding: deflate\r\n", "\"v1-" DISCERN_VERSION "-deflate\"",
         gzip},
    };
    static const char *const methods[] = {"GET", "HEAD"};
    toy_start(&toy, NULL);
    struct connection in = {.fd = connection_open(toy.server)};
    for (size_t i = 0; i < 2 * sizeof forms / sizeof forms[0]; i++) {
        const char *path = forms[i / 2].path, *accept = forms[i / 2].accept,
                   *method = methods[i % 2];
        char etag[64], length[32], again[32], lines[300];
        assert_int_equal(status_on(&in, method, path, accept, etag, length), 200);
        assert_string_equal(etag, forms[i / 2].etag);
        (void)snprintf(lines, sizeof lines, "%sIf-None-Match: \"v0\", W/%s\r\n", accept, etag);
        assert_int_equal(status_on(&in, method, path, lines, etag, again), 304);
        assert_string_equal(etag, forms[i / 2].etag);
        assert_true(again[0] == '\0' || strcmp(again, length) == 0); /* none, or the 200's */
        const char *const others[] = {forms[i / 2].other, "\"v1\"", "\"v1-0.0.0\"", "\"v0\""};
        for (size_t k = 0; k < sizeof others / sizeof others[0]; k++) {
            (void)snprintf(lines, sizeof lines, "%sIf-None-Match: %s\r\n", accept, others[k]);
            assert_int_equal(status_on(&in, method, path, lines, etag, length), 200);
        }
    }
    char etag[64], length[32];
    assert_int_equal(status_on(&in, "HEAD", "/etag", "If-None-Match: *\r\n", etag, length), 304);
    (void)close(in.fd);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(hosts, stop),
        cmocka_unit_test_teardown(origins, stop),
        cmocka_unit_test_teardown(origin_behind_proxy, stop),
        cmocka_unit_test_teardown(clients, stop),
        cmocka_unit_test_teardown(base_path, stop),
        cmocka_unit_test_teardown(negotiation, stop),
        cmocka_unit_test_teardown(etags, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
