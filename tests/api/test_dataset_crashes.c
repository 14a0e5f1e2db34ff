/* SIGKILL while rows are appended, versions deleted and space freed: each acknowledged version is
 * complete, no version is stored in part. */
#include "lib/api.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 10, LINES = 20000, VERSIONS = 1000 };

/* Appends and deletes on its own thread until the daemon does not answer. */
struct changer {
    pthread_t thread;
    const char *body;       /* LINES rows */
    atomic_int made;        /* newest acknowledged version */
    bool deleted[VERSIONS]; /* deletions that were acknowledged; read after the thread has ended */
    atomic_bool unexpected; /* an answer with another status than expected */
};

static void *change(void *arg) {
    struct changer *c = arg;
    for (int v = atomic_load(&c->made) + 1; v < VERSIONS; v++) {
        const struct response *r = call(&(
            struct request){.method = "POST", .path = "/v1/datasets/grows/rows", .body = c->body});
        if (r->status != 201) {
            atomic_store(&c->unexpected, r->status != 0);
            return NULL;
        }
        atomic_store(&c->made, v);
        if (v < 3) {
            continue;
        }
        r = call(&(struct request){.method = "DELETE",
                                   .path = text("/v1/datasets/grows/versions/%d", v - 1)});
        if (r->status != 204) {
            atomic_store(&c->unexpected, r->status != 0);
            return NULL;
        }
        c->deleted[v - 1] = true;
    }
    return NULL;
}

/* The newest version is the last acknowledged one or the next, no version with an acknowledged
 * deletion exists, and each version is complete. */
static int check_versions(const struct changer *c) {
    const struct response *r =
        status_check(call_get("/v1/datasets/grows/versions?limit=1000"), 200);
    const size_t n = count_at(r, "/items");
    const int newest = (int)whole_at(r, text("/items/%zu/version", n - 1)),
              made = atomic_load(&c->made);
    assert_in_range(newest, made, made + 1);
    assert_int_equal(whole_at(r, "/items/0/version"), 1);
    for (size_t i = 0; i < n; i++) {
        const int version = (int)whole_at(r, text("/items/%zu/version", i));
        const int64_t rows = whole_at(r, text("/items/%zu/rows", i));
        assert_true(version < VERSIONS && !c->deleted[version]);
        assert_int_equal(rows, (int64_t)LINES * version);
        const struct response *last =
            status_check(call_get("/v1/datasets/grows/rows?version=%d&offset=%lld&limit=2", version,
                                  (long long)rows - 1),
                         200);
        assert_int_equal(count_at(last, "/items"), 1);
        assert_string_equal(string_at(last, "/items/0/word"), "last");
    }
    return newest;
}

static void test_killed_while_appending(void **state) {
    (void)state;
    service_start(NULL);
    struct changer c = {.body = text("x,word\n%s7,last\n", repeat("1.5,some\n", LINES - 1))};
    status_check(call_upload("/v1/datasets/grows", c.body), 201);
    atomic_store(&c.made, 1);
    for (int round = 0; round < ROUNDS; round++) {
        assert_int_equal(pthread_create(&c.thread, NULL, change, &c), 0);
        const int before = atomic_load(&c.made);
        /* wait for two further versions, then for a time that differs in each round */
        for (double end = now() + 30; atomic_load(&c.made) < before + 2 && now() < end;) {
            pause_ms(1);
        }
        pause_ms(7 * round % 40);
        daemon_kill(&the_daemon);
        pthread_join(c.thread, NULL);
        assert_false(atomic_load(&c.unexpected));
        daemon_check_database(&the_daemon);
        service_restart(NULL);
        atomic_store(&c.made, check_versions(&c));
    }
    /* chunks without a version are deleted */
    const int newest = atomic_load(&c.made);
    metric_falls_to_zero("discern_store_doomed_bytes");
    check_versions(&c);
    const struct response *r = status_check(call_get("/v1/datasets/grows"), 200);
    char *whole = keep(malloc(strlen(c.body) * (size_t)newest + 1), free), *at = whole;
    assert_non_null(whole);
    for (int i = 0; i < newest; i++) {
        at += sprintf(at, "%s", i == 0 ? c.body : strchr(c.body, '\n') + 1);
    }
    assert_string_equal(string_at(status_check(call_upload("/v1/datasets/whole", whole), 201),
                                  "/content"),
                        string_at(r, "/content"));
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_killed_while_appending)};
    return RUN_WITHOUT_DAEMON(tests);
}
