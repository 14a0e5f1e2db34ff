/* What the daemon tells systemd: that it listens, that it still answers, that it stops. */
#include "lib/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

/* Makes the socket that NOTIFY_SOCKET names; abstract: by a name that is no file. */
static int make_socket(const char *name, bool abstract) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const struct timeval limit = {.tv_sec = 30};
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const size_t n = strlen(name);
    memcpy(address.sun_path + abstract, name + abstract, n - abstract);
    assert_int_equal(bind(fd, (const struct sockaddr *)&address,
                          (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n)),
                     0);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit), 0);
    setenv("NOTIFY_SOCKET", name, 1);
    return fd;
}

static char received[64];

/* Returns the next message. */
static const char *next(int fd) {
    const ssize_t n = recv(fd, received, sizeof received - 1, 0);
    assert_true(n > 0);
    received[n] = '\0';
    return received;
}

static void test_states(void **state) {
    (void)state;
    const int fd = make_socket("@discern-test-supervisor", true);
    setenv("WATCHDOG_USEC", "300000", 1);
    service_start(NULL);
    assert_string_equal(next(fd), "READY=1");
    assert_string_equal(next(fd), "WATCHDOG=1");
    assert_string_equal(next(fd), "WATCHDOG=1");
    service_stop();
    while (strcmp(next(fd), "WATCHDOG=1") == 0) {
    }
    assert_string_equal(received, "STOPPING=1");
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    close(fd);
    service_end();
}

/* Without WATCHDOG_USEC, or with that of another process, nothing is sent between start and end. */
static void test_without_watchdog(void **state) {
    (void)state;
    const char *path = text("/tmp/discern-test-supervisor-%ld", (long)getpid());
    const int fd = make_socket(path, false);
    setenv("WATCHDOG_USEC", "20000", 1);
    setenv("WATCHDOG_PID", "1", 1);
    service_start(FLAGS("--drain-delay", "0.2"));
    pause_ms(200);
    service_stop();
    assert_string_equal(next(fd), "READY=1");
    assert_string_equal(next(fd), "STOPPING=1");
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    unsetenv("WATCHDOG_PID");
    close(fd);
    unlink(path);
    service_end();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_states, test_end),
        cmocka_unit_test_teardown(test_without_watchdog, test_end),
    };
    return cmocka_run_group_tests_name("supervisor", tests, NULL, group_end);
}
