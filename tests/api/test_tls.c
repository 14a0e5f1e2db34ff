/* TLS: versions, certificates, bodies, files that are replaced, certificates of clients, handshakes
 * that are never completed. */
#include "lib/api.h"
#include "lib/certificates.h"

#include <curl/curl.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64];

static const char *in(const char *name) {
    return text("%s/%s", dir, name);
}

/* Paths that live as long as the daemon. */
static char cert[80], key[80], ca[80], clients[80], tokens[80];
#define TLS "--tls-cert", cert, "--tls-key", key

static void write_file(const char *path, const char *content, mode_t mode) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(content, f) >= 0);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(path, mode), 0);
}

/* The server's certificate is signed by an intermediate authority. */
static int open_dir(void **state) {
    (void)state;
    (void)snprintf(dir, sizeof dir, "/tmp/discern-tls.XXXXXX");
    if (mkdtemp(dir) == NULL) {
        return -1;
    }
    (void)snprintf(cert, sizeof cert, "%s/chain.pem", dir);
    (void)snprintf(key, sizeof key, "%s/server.key", dir);
    (void)snprintf(ca, sizeof ca, "%s/root.pem", dir);
    (void)snprintf(clients, sizeof clients, "%s/clients.pem", dir);
    (void)snprintf(tokens, sizeof tokens, "%s/tokens", dir);
    certificate_make(dir, "root", CERTIFICATE_AUTHORITY, "root", NULL, 30);
    certificate_make(dir, "middle", CERTIFICATE_AUTHORITY, "middle", "root", 30);
    certificate_make(dir, "server", CERTIFICATE_SERVER, "localhost", "middle", 30);
    write_file(cert,
               text("%s%s", read_whole(in("server.pem"), NULL), read_whole(in("middle.pem"), NULL)),
               0644);
    client_tls.ca = ca;
    return 0;
}

static int close_dir(void **state) {
    client_token = NULL;
    const int bad = group_end(state);
    const char *const remove[] = {"rm", "-rf", dir, NULL};
    const pid_t pid = fork();
    if (pid == 0) {
        execvp("rm", (char *const *)(uintptr_t)remove);
        _exit(127);
    }
    return bad;
}

static int forget(void **state) {
    client_token = NULL;
    client_tls = (struct client_tls){.ca = ca};
    return test_end(state);
}

/* ---- requests ---- */

static void test_versions(void **state) {
    (void)state;
    const char *out;
    service_start(FLAGS(TLS));
    assert_non_null(strstr(daemon_log(&the_daemon), text("listening on %s", the_daemon.url)));
    assert_memory_equal(the_daemon.url, "https://", 8);
    client_tls.max_version = CURL_SSLVERSION_MAX_TLSv1_2;
    status_check(call_get("/version"), 200);
    client_tls.max_version = CURL_SSLVERSION_MAX_TLSv1_1;
    assert_int_not_equal(call(&(struct request){.method = "GET", .path = "/version"})->code,
                         CURLE_OK);
    client_tls = (struct client_tls){0}; /* a client that does not know the authority */
    assert_int_equal(call(&(struct request){.method = "GET", .path = "/version"})->code,
                     CURLE_PEER_FAILED_VERIFICATION);
    client_tls.ca = ca;
    status_check(call_get("/version"), 200);
    assert_true(metric_at("discern_tls_failed_handshakes_total") >= 1);
    assert_true(metric_at("discern_tls_certificate_expires_timestamp_seconds") > 1.7e9);

    /* plain HTTP on the port of TLS */
    const struct response *r = raw_text("GET /version HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_non_null(strstr(problem_check(r, 400, "bad-request")->body, "https://"));
    assert_true(r->closed && !r->reset);
    assert_true(raw_once("\x80hello, no protocol\r\n\r\n", 22)->closed);

    /* the own page is no foreign origin; a page of the same host without TLS is one */
    const char *own = text("Origin: %s", the_daemon.url),
               *plain = text("Origin: http://127.0.0.1:%d", the_daemon.port);
    status_check(call_text("PUT", "/v1/datasets/a", own, "a,b\n1,2\n"), 201);
    problem_check(call_text("PUT", "/v1/datasets/a", plain, "a,b\n1,2\n"), 403, "cross-origin");

    const char *address = text("127.0.0.1:%d", the_daemon.port);
    assert_int_equal(discernd_run(FLAGS("--healthcheck", "--listen", address, TLS), &out), 0);
    assert_int_equal(discernd_run(FLAGS("--healthcheck", "--listen", address), &out), 1);
    service_end();
}

/* A connection by TLS for bytes of the test's own. */
static CURL *tls_open(void) {
    CURL *curl = curl_easy_init();
    assert_non_null(curl);
    curl_easy_setopt(curl, CURLOPT_URL, the_daemon.url);
    curl_easy_setopt(curl, CURLOPT_CAINFO, client_tls.ca);
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECT_ONLY, 1L);
    assert_int_equal(curl_easy_perform(curl), CURLE_OK);
    return curl;
}

/* Sends a text and reads until the daemon closes the connection. */
static const struct response *tls_talk(CURL *curl, const char *request) {
    char bytes[8192];
    size_t n = 0, have = 0;
    assert_int_equal(curl_easy_send(curl, request, strlen(request), &n), CURLE_OK);
    const double end = now() + 60;
    CURLcode code = CURLE_OK;
    do {
        n = 0;
        code = curl_easy_recv(curl, bytes + have, sizeof bytes - have, &n);
        have += n;
        if (code == CURLE_AGAIN) {
            pause_ms(10);
        }
    } while (now() < end && (code == CURLE_AGAIN || (code == CURLE_OK && n > 0)));
    curl_easy_cleanup(curl);
    const struct response *r = raw_parse(bytes, have);
    /* with the last record of TLS: an end without it is an error */
    return code == CURLE_OK ? r : raw_parse("", 0);
}

static void test_bodies(void **state) {
    (void)state;
    service_start(
        FLAGS(TLS, "--discard-time", "0.5", "--header-timeout", "0.5", "--max-body", "100000"));
    /* an upload and a streamed answer of several MB */
    const char *rows = repeat("1.25,2.5,word\n", 400000);
    const char *table = text("a,b,c\n%s", rows);
    assert_int_equal(whole_at(status_check(call_upload("/v1/datasets/big", table), 201), "/rows"),
                     400000);
    const struct response *r =
        call_get_with("Accept: text/csv", "/v1/datasets/big/rows?limit=400000");
    assert_int_equal(status_check(r, 200)->size, strlen(table));

    /* refused bodies: read to their end, or answered and closed */
    problem_check(call_upload("/v1/nowhere", table), 404, "not-found");
    problem_check(call_typed("/v1/models/m/predict", "application/json", "application/json", table),
                  413, "body-too-large");
    problem_check(tls_talk(tls_open(), "PUT /v1/nowhere HTTP/1.1\r\nHost: localhost\r\n"
                                       "Content-Length: 100000000\r\n\r\nabc"),
                  404, "not-found"); /* by the sweeper, after --discard-time */
    problem_check(tls_talk(tls_open(), "GET /version HTTP/1.1\r\nHost: local"), 408,
                  "request-timeout");
    problem_check(tls_talk(tls_open(),
                           "GET /version HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n"),
                  400, "bad-framing"); /* by the library */
    problem_check(tls_talk(tls_open(), "PUT /v1/nowhere HTTP/1.1\r\nHost: localhost\r\n"
                                       "Expect: 100-continue\r\nContent-Length: 100\r\n\r\n"),
                  404, "not-found");
    service_end();
}

/* ---- the files ---- */

/* The daemon does not start: exit status 2 and these words. */
static void expect_refusal(const char *const *flags, const char *words) {
    const char *arguments[24] = {"--listen", "127.0.0.1:0", "--database", in("none.db")};
    const char *out;
    size_t n = 4;
    for (size_t i = 0; flags[i] != NULL; i++) {
        arguments[n++] = flags[i];
    }
    const int status = discernd_run(arguments, &out);
    if (status != 2 || strstr(out, words) == NULL) {
        fail_msg("status %d, \"%s\", expected \"%s\"", status, out, words);
    }
    assert_int_not_equal(access(in("none.db"), F_OK), 0);
}

static void test_faulty_files(void **state) {
    (void)state;
    const char *garbage = in("garbage"), *other = in("root.key"), *open = in("open.key");
    write_file(garbage, "no certificate\n", 0600);
    write_file(open, read_whole(key, NULL), 0644);
    expect_refusal(FLAGS("--tls-cert", cert), "--tls-key is missing");
    expect_refusal(FLAGS("--tls-key", key), "--tls-cert is missing");
    expect_refusal(FLAGS("--tls-client-ca", ca), "--tls-client-ca needs --tls-cert");
    expect_refusal(FLAGS("--tls-cert", "", "--tls-key", key), "--tls-cert must be the name");
    expect_refusal(FLAGS("--tls-cert", in("none"), "--tls-key", key), "cannot be read: No such");
    expect_refusal(FLAGS("--tls-cert", garbage, "--tls-key", key), "no certificate in PEM form");
    expect_refusal(FLAGS("--tls-cert", cert, "--tls-key", garbage), "no private key in PEM form");
    expect_refusal(FLAGS("--tls-cert", cert, "--tls-key", other), "is not the key of the first");
    expect_refusal(FLAGS("--tls-cert", cert, "--tls-key", open), "may be read by others");
    expect_refusal(FLAGS(TLS, "--tls-client-ca", garbage), "no certificate in PEM form");
    expect_refusal(FLAGS(TLS, "--listen", text("unix:%s", in("socket"))), "needs a TCP address");

    certificate_make(dir, "old", CERTIFICATE_SERVER, "localhost", "root", -1);
    service_start(FLAGS("--tls-cert", in("old.pem"), "--tls-key", in("old.key")));
    assert_non_null(strstr(daemon_log(&the_daemon), "tls.expired"));
    assert_int_equal(call(&(struct request){.method = "GET", .path = "/version"})->code,
                     CURLE_PEER_FAILED_VERIFICATION);
    service_end();
}

static atomic_bool ends;
static atomic_int n_good, n_bad;

static void *load_main(void *arg) {
    (void)arg;
    while (!atomic_load(&ends)) {
        const struct response *r = call(&(struct request){.method = "GET", .path = "/version"});
        atomic_fetch_add(r->status == 200 ? &n_good : &n_bad, 1);
    }
    return NULL;
}

static void link_to(const char *target, const char *path) {
    const char *fresh = text("%s.new", path);
    assert_int_equal(symlink(target, fresh), 0);
    assert_int_equal(rename(fresh, path), 0);
}

static void await_log(const char *words) {
    const double end = now() + 30;
    while (strstr(daemon_log(&the_daemon), words) == NULL) {
        assert_true(now() < end);
        pause_ms(50);
    }
}

static size_t count_log(const char *words) {
    size_t n = 0;
    for (const char *at = daemon_log(&the_daemon); (at = strstr(at, words)) != NULL; at++) {
        n++;
    }
    return n;
}

/* Files as certbot keeps them: links in one folder to files in another one. */
static void test_files_are_read_again(void **state) {
    (void)state;
    pthread_t load[2];
    static char live_cert[100], live_key[100];
    assert_int_equal(mkdir(in("live"), 0700) | mkdir(in("archive"), 0700), 0);
    certificate_make(in("archive"), "root", CERTIFICATE_AUTHORITY, "another root", NULL, 30);
    certificate_make(in("archive"), "1", CERTIFICATE_SERVER, "localhost", "root", 30);
    certificate_make(in("archive"), "2", CERTIFICATE_SERVER, "localhost", "root", 40);
    (void)snprintf(live_cert, sizeof live_cert, "%s/live/cert.pem", dir);
    (void)snprintf(live_key, sizeof live_key, "%s/live/key.pem", dir);
    link_to("../archive/1.pem", live_cert);
    link_to("../archive/1.key", live_key);
    client_tls.ca = in("archive/root.pem");
    service_start(FLAGS("--tls-cert", live_cert, "--tls-key", live_key));
    const double first = metric_at("discern_tls_certificate_expires_timestamp_seconds");
    atomic_store(&ends, false);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&load[i], NULL, load_main, NULL), 0);
    }
    /* a connection that is open all the time */
    CURL *kept = tls_open();
    const size_t loaded = count_log("tls.loaded");
    link_to("../archive/2.key", live_key);
    link_to("../archive/2.pem", live_cert);
    const double end = now() + 30;
    while (metric_at("discern_tls_certificate_expires_timestamp_seconds") == first) {
        assert_true(now() < end);
        pause_ms(50);
    }
    assert_int_equal(count_log("tls.loaded"), loaded + 1);

    /* a faulty pair is refused */
    link_to("../archive/1.key", live_key);
    await_log("tls.refused");
    kill(the_daemon.pid, SIGHUP);
    status_check(call_get("/version"), 200);
    link_to("../archive/2.key", live_key);
    kill(the_daemon.pid, SIGHUP);
    const double second_end = now() + 30;
    while (count_log("tls.loaded") < loaded + 2) {
        assert_true(now() < second_end);
        pause_ms(50);
    }
    assert_int_equal(count_log("tls.refused"), 1);
    const struct response *entries;
    while (count_at(entries = call_get("/v1/audit?action=tls.reload"), "/items") < 3) {
        assert_true(now() < second_end);
        pause_ms(50);
    }
    assert_json(entries, "/items/0/result", "'done'");
    assert_json(entries, "/items/1/result", "'refused'");
    assert_json(entries, "/items/2/result", "'done'");
    assert_non_null(strstr(string_at(entries, "/items/0/detail"), "is valid until 2"));
    status_check(tls_talk(kept,
                          "GET /version HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"),
                 200);
    atomic_store(&ends, true);
    for (int i = 0; i < 2; i++) {
        pthread_join(load[i], NULL);
    }
    assert_int_equal(atomic_load(&n_bad), 0);
    assert_true(atomic_load(&n_good) > 0);
    service_end();
}

/* ---- certificates of clients ---- */

static const char *secret_of(const char *const *arguments) {
    const char *out;
    assert_int_equal(discernd_run(arguments, &out), 0);
    return text("%.72s", out);
}
#define add_token(...) secret_of(FLAGS("token", "add", __VA_ARGS__, "--tokens", tokens))

/* Requests as the client with this certificate; NULL: without one. */
static const struct response *get_as(const char *name, const char *path) {
    client_tls.certificate = name != NULL ? text("%s/%s.pem", dir, name) : NULL;
    client_tls.key = name != NULL ? text("%s/%s.key", dir, name) : NULL;
    return call_get("%s", path);
}

static void make_clients(void) {
    certificate_make(dir, "clients", CERTIFICATE_AUTHORITY, "clients", NULL, 30);
    certificate_make(dir, "alice", CERTIFICATE_CLIENT, "alice", "clients", 30);
    certificate_make(dir, "late", CERTIFICATE_CLIENT, "late", "clients", 30);
    certificate_make(dir, "nobody", CERTIFICATE_CLIENT, "nobody", "clients", 30);
    certificate_make(dir, "past", CERTIFICATE_CLIENT, "alice", "clients", -1);
    certificate_make(dir, "foreign", CERTIFICATE_CLIENT, "alice", "root", 30);
    certificate_make(dir, "misused", CERTIFICATE_SERVER, "alice", "clients", 30);
}

static void test_clients_with_tokens(void **state) {
    (void)state;
    make_clients();
    (void)add_token("alice", "--scope", "read", "--only", "a*");
    (void)add_token("late", "--scope", "admin", "--expires", "2099-01-01");
    const char *bob = add_token("bob", "--scope", "admin");
    char *lines = keep(strdup(read_whole(tokens, NULL)), free);
    memcpy(strstr(lines, "expires=2099"), "expires=2020", 12);
    write_file(tokens, lines, 0600);
    service_start(FLAGS(TLS, "--tls-client-ca", clients, "--tokens", tokens));
    status_check(get_as("alice", "/v1/datasets"), 200);
    problem_check(get_as("alice", "/v1/datasets/b"), 403, "forbidden"); /* only=a* */
    problem_check(call_upload("/v1/datasets/a", "x,y\n1,2\n"), 403, "forbidden");
    await_log("token=alice");
    problem_check(get_as("late", "/v1/datasets"), 401, "unauthorized");
    assert_non_null(strstr(get_as("nobody", "/v1/datasets")->body, "name of no token"));
    assert_non_null(strstr(get_as("past", "/v1/datasets")->body, "expired"));
    assert_non_null(strstr(get_as("foreign", "/v1/datasets")->body, "no authority"));
    assert_non_null(strstr(get_as("misused", "/v1/datasets")->body, "not for TLS clients"));
    problem_check(get_as(NULL, "/v1/datasets"), 401, "unauthorized");
    status_check(get_as(NULL, "/healthz"), 200);
    status_check(get_as("foreign", "/healthz"), 200);

    /* a secret precedes the certificate */
    client_token = bob;
    status_check(get_as(NULL, "/v1/datasets"), 200);
    status_check(get_as("alice", "/v1/datasets/b"), 404);
    client_token = "discern_wrong";
    problem_check(get_as("alice", "/v1/datasets"), 401, "unauthorized");
    client_token = NULL;

    /* the authority is replaced: the certificates of the old one do not count any more */
    certificate_make(dir, "clients", CERTIFICATE_AUTHORITY, "clients", NULL, 30);
    kill(the_daemon.pid, SIGHUP);
    const double end = now() + 30;
    while (get_as("alice", "/v1/datasets")->status != 401) {
        assert_true(now() < end);
        pause_ms(50);
    }
    certificate_make(dir, "alice", CERTIFICATE_CLIENT, "alice", "clients", 30);
    status_check(get_as("alice", "/v1/datasets"), 200);
    service_end();
}

static void test_clients_without_tokens(void **state) {
    (void)state;
    make_clients();
    service_start(FLAGS(TLS, "--tls-client-ca", clients));
    status_check(get_as("nobody", "/v1/datasets"), 200);
    status_check(call_upload("/v1/datasets/a", "x,y\n1,2\n"), 201);
    problem_check(get_as(NULL, "/v1/datasets"), 403, "forbidden");
    problem_check(get_as("foreign", "/v1/datasets"), 403, "forbidden");
    status_check(get_as(NULL, "/healthz"), 200);
    assert_false(has(status_check(get_as(NULL, "/readyz"), 200), "/checks"));
    assert_true(has(status_check(get_as("alice", "/readyz"), 200), "/checks"));
    service_end();
}

/* ---- handshakes ---- */

/* Returns the processor time of the daemon in ms. */
static long cpu_ms(void) {
    unsigned long user = 0, system = 0;
    const char *stat = read_whole(text("/proc/%d/stat", (int)the_daemon.pid), NULL);
    const char *after = strrchr(stat, ')');
    assert_int_equal(sscanf(after, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
                            &system),
                     2);
    return (long)((user + system) * 1000 / (unsigned long)sysconf(_SC_CLK_TCK));
}

/* Handshakes that have begun cost no processor time while they wait. */
static void test_waiting_handshakes_are_idle(void **state) {
    (void)state;
    int fds[4];
    service_start(FLAGS(TLS, "--header-timeout", "60"));
    for (int i = 0; i < 4; i++) {
        fds[i] = raw_open();
        assert_true(fds[i] >= 0 && raw_send(fds[i], "\x16\x03\x01\x02", 4));
    }
    status_check(call_get("/version"), 200);
    const long before = cpu_ms();
    pause_ms(1500);
    assert_true(cpu_ms() - before < 150);
    for (int i = 0; i < 4; i++) {
        close(fds[i]);
    }
    service_end();
}

/* Silent connections take all places. They are closed for others after a second, and by
 * --header-timeout in any case. */
static void test_handshakes_that_never_end(void **state) {
    (void)state;
    int fds[8];
    service_start(FLAGS(TLS, "--max-connections", "8", "--max-connections-per-address", "8",
                        "--header-timeout", "3"));
    for (int i = 0; i < 8; i++) {
        fds[i] = raw_open_from(2, the_daemon.port);
        assert_true(fds[i] >= 0);
        if (i % 2 == 0) { /* a handshake that has begun */
            assert_true(raw_send(fds[i], "\x16\x03\x01\x02", 4));
        }
    }
    const double end = now() + 30;
    while (call(&(struct request){.method = "GET", .path = "/version"})->status != 200) {
        assert_true(now() < end);
        pause_ms(50);
    }
    for (bool all = false; !all; pause_ms(50)) {
        const struct response *r = call(&(struct request){.method = "GET", .path = "/metrics"});
        all = r->status == 200 &&
              strstr(r->body, "\ndiscern_tls_failed_handshakes_total 8\n") != NULL;
        assert_true(now() < end);
    }
    for (int i = 0; i < 8; i++) {
        char byte;
        assert_int_equal(recv(fds[i], &byte, 1, 0), 0);
        close(fds[i]);
    }
    service_end();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_versions, forget),
        cmocka_unit_test_teardown(test_bodies, forget),
        cmocka_unit_test_teardown(test_faulty_files, forget),
        cmocka_unit_test_teardown(test_files_are_read_again, forget),
        cmocka_unit_test_teardown(test_clients_with_tokens, forget),
        cmocka_unit_test_teardown(test_clients_without_tokens, forget),
        cmocka_unit_test_teardown(test_waiting_handshakes_are_idle, forget),
        cmocka_unit_test_teardown(test_handshakes_that_never_end, forget),
    };
    return cmocka_run_group_tests(tests, open_dir, close_dir);
}
