#include "lib/service.h"

#include "lib/client.h"
#include "lib/memory.h"

struct daemon the_daemon;

void service_start(const char *const *flags) {
    service_end();
    daemon_open(&the_daemon, flags);
}

void service_restart(const char *const *flags) {
    assert_int_equal(the_daemon.pid, 0);
    the_daemon.flags = flags;
    daemon_start(&the_daemon);
}

void service_stop(void) {
    int status = daemon_stop(&the_daemon);
    if (status != 0) {
        print_error("the daemon's log:\n%s\n", daemon_log(&the_daemon));
        fail_msg("the daemon ended with %d on SIGTERM, expected exit status 0", status);
    }
}

void service_end(void) {
    struct daemon d = the_daemon;
    the_daemon = (struct daemon){0};
    if (d.dir[0] != '\0') {
        daemon_close(&d);
    }
}

int group_start(void **state) {
    (void)state;
    service_start(NULL);
    keep_free();
    return 0;
}

int group_end(void **state) {
    (void)state;
    service_end();
    keep_free();
    return 0;
}

int test_end(void **state) {
    (void)state;
    const struct response *r =
        the_daemon.pid > 0 ? call(&(struct request){.method = "GET", .path = "/healthz"}) : NULL;
    bool bad = r != NULL && r->status != 200;
    if (bad) {
        print_error("the daemon's log:\n%s\n", daemon_log(&the_daemon));
        print_error("the daemon does not answer after the test: /healthz: %d %s (%s)\n", r->status,
                    r->body, curl_easy_strerror(r->code));
    }
    keep_free();
    return bad;
}
