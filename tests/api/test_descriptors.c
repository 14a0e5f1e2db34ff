/* The daemon runs out of file descriptors: its limit is lowered while it runs, to as many as it has
 * and a few more. Calls may fail or get no answer; what was acknowledged stays, and all calls succeed
 * again when the limit is raised. */
#define _GNU_SOURCE
#include "lib/api.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MOST_MORE = 10 };

/* The number of the next descriptor that the daemon would get. */
static rlim_t next_descriptor(void) {
    rlim_t fd = 0;
    while (access(text("/proc/%ld/fd/%lu", (long)the_daemon.pid, (unsigned long)fd), F_OK) == 0 ||
           errno != ENOENT) {
        fd++;
    }
    return fd;
}

static rlim_t limit_descriptors(rlim_t limit) {
    struct rlimit now, before;
    assert_int_equal(prlimit(the_daemon.pid, RLIMIT_NOFILE, NULL, &before), 0);
    now = (struct rlimit){.rlim_cur = limit, .rlim_max = before.rlim_max};
    assert_int_equal(prlimit(the_daemon.pid, RLIMIT_NOFILE, &now, NULL), 0);
    return before.rlim_cur;
}

/* A call that may get no answer. Returns whether it succeeded. */
static bool attempt(const char *method, const char *path, const char *body) {
    const struct response *r = call(&(struct request){
        .method = method, .path = path, .body = body, .upload = body != NULL, .seconds = 1});
    if (r->status >= 500 && r->status != 500 && r->status != 503) {
        fail_msg("%s %s: %d %s", method, path, r->status, r->body);
    }
    return r->status >= 200 && r->status < 300;
}

static void test_few_descriptors(void **state) {
    (void)state;
    bool stored[MOST_MORE] = {false};
    size_t n = 0;
    service_start(NULL);
    upload_file("iris", "iris.csv");
    for (rlim_t more = 0; more < MOST_MORE; more++) {
        const rlim_t before = limit_descriptors(next_descriptor() + more);
        stored[more] = attempt("PUT", text("/v1/datasets/d%d", (int)more), "a,b\n1,2\n3,4\n");
        n += stored[more];
        for (int i = 0; i < 3; i++) {
            (void)attempt("GET", "/v1/datasets/iris/rows", NULL);
            (void)attempt("GET", "/readyz", NULL);
        }
        limit_descriptors(before);
        const struct response *r = call_get("/readyz");
        for (double end = now() + 30; r->status != 200 && now() < end; r = call_get("/readyz")) {
            pause_ms(20);
        }
        status_check(r, 200);
        status_check(call_get("/v1/datasets/iris/rows"), 200);
    }
    assert_true(n > 0);
    for (int i = 0; i < MOST_MORE; i++) {
        const struct response *r = call_get("/v1/datasets/d%d/rows", i);
        assert_true(r->status == 200 || (r->status == 404 && !stored[i]));
    }
    service_end();
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_few_descriptors)};
    return RUN_WITHOUT_DAEMON(tests);
}
