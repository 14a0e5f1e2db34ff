/* Tests SIGKILL at random times: committed data must be there, partial data must not, and the file
 * must be intact. */
#include "unit/store/crash_work.h"
#include <signal.h>
#include <sys/wait.h>

enum { ROUNDS = 25 };

static void test_kill_9(void **state) {
    struct fixture *f = *state;
    static struct crash_acknowledged all[20000];
    size_t n = 0;
    fixture_close(f);
    for (int round = 0; round < ROUNDS; round++) {
        int fds[2];
        assert_int_equal(pipe(fds), 0);
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            close(fds[0]);
            crash_work(f, fds[1], 1000 * round + 1, false);
        }
        close(fds[1]);
        assert_int_equal(read(fds[0], &all[n], sizeof all[n]),
                         sizeof all[n]); /* the child is ready */
        if (round % 2) {                 /* waits for at least one commit */
            assert_int_equal(read(fds[0], &all[n], sizeof all[n]), sizeof all[n]);
            n++;
        }
        nanosleep(&(struct timespec){.tv_nsec = (long)(ids_random() % 60000000)}, NULL);
        kill(pid, SIGKILL);
        int status;
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFSIGNALED(status));
        while (n < sizeof all / sizeof all[0] - 1 &&
               read(fds[0], &all[n], sizeof all[n]) == sizeof all[n]) {
            n++;
        }
        close(fds[0]);
        if (round % 5 == 4) { /* in the other rounds the next child process recovers the file */
            assert_intact(f->path);
            assert_ok(f, fixture_open(f));
            crash_check(f, all, n);
            fixture_close(f);
        }
    }
    assert_true(n >= ROUNDS / 2);
    assert_ok(f, fixture_open(f));
    crash_check(f, all, n);
    crash_await_swept(f);
    assert_int_equal(sql_ask(f->path, "SELECT count(*) FROM jobs WHERE state = 1"), 0);
    fixture_close(f);
    assert_intact(f->path);
}

static void test_kill_9_while_it_is_made(void **state) {
    struct fixture *f = *state;
    for (int round = 0; round < 30; round++) {
        snprintf(f->path, sizeof f->path, "%s/%d.db", f->directory, round);
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            fixture_open(f);
            pause();
        }
        nanosleep(&(struct timespec){.tv_nsec = (long)(ids_random() % 12000000)}, NULL);
        kill(pid, SIGKILL);
        int status;
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_ok(f, fixture_open(f));
        publish(f, "a", 1);
        fixture_close(f);
        assert_int_equal(sql_ask(f->path, "PRAGMA page_size"), 16384);
        assert_int_equal(sql_ask(f->path, "PRAGMA auto_vacuum"), 2);
        assert_intact(f->path);
    }
}

int main(void) {
    fixture_begin();
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_kill_9, fixture_setup,
                                                                       fixture_teardown),
                                       cmocka_unit_test_setup_teardown(test_kill_9_while_it_is_made,
                                                                       fixture_directory,
                                                                       fixture_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
