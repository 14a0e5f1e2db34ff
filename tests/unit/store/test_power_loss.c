/* Losses of power at random times: the disk then has what was synced and a random part of the other
 * writes. In every other round an fsync fails before, and its bytes never reach the disk. What was
 * acknowledged must be there, and the file must be intact.
 *
 *   FAULT_ROUNDS   rounds (20)
 *   FAULT_SEED     seed of the random numbers (1) */
#include "lib/faulty_vfs.h"
#include "unit/store/crash_work.h"
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

enum { ROUNDS = 20 }; /* on one database */

static struct faulty *faults;

static int64_t number(const char *name, int64_t otherwise) {
    const char *text = getenv(name);
    return text != NULL ? strtoll(text, NULL, 10) : otherwise;
}

static uint64_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static void pause_until(long microseconds) {
    nanosleep(&(struct timespec){.tv_sec = microseconds / 1000000,
                                 .tv_nsec = microseconds % 1000000 * 1000},
              NULL);
}

/* Reads a message of the child process. */
static bool hear(int fd, struct crash_acknowledged *out) {
    return read(fd, out, sizeof *out) == sizeof *out;
}

/* Runs a process until the power is lost. Adds what it acknowledged to all[n]. */
static size_t work_until_power_loss(struct fixture *f, int round, uint64_t *random,
                                    struct crash_acknowledged *all, size_t n, size_t room) {
    int fds[2], status;
    assert_int_equal(pipe(fds), 0);
    faulty_disk_start(faults, f->path);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        close(fds[0]);
        crash_work(f, fds[1], 1000 * round + 1, true);
    }
    close(fds[1]);
    assert_true(hear(fds[0], &all[n]));
    pause_until((long)(next_random(random) % 60000));
    if (round % 2 == 1) {
        const int kinds = next_random(random) % 4 == 0 ? FAULTY_ANY : FAULTY_SYNC;
        faulty_set(faults, kinds, (long)(next_random(random) % 8) + 1,
                   (long)(next_random(random) % 3) + 1,
                   next_random(random) % 4 == 0 ? ENOSPC : EIO);
        pause_until((long)(next_random(random) % 120000));
    }
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (!WIFSIGNALED(status)) {
        fail_msg("round %d: the process ended with status %d", round, WEXITSTATUS(status));
    }
    faulty_set(faults, 0, 0, 0, 0);
    while (n < room && hear(fds[0], &all[n])) {
        n++;
    }
    close(fds[0]);
    return n;
}

/* Losses of power, one after another, on one new database. Returns the number of acknowledgements;
 * adds the number of dropped writes. */
static size_t lose_power(struct fixture *f, int64_t rounds, uint64_t *random, long *dropped) {
    static struct crash_acknowledged all[20000];
    const size_t room = sizeof all / sizeof all[0];
    size_t n = 0;
    assert_ok(f, fixture_open(f));
    fixture_close(f);
    for (int round = 0; round < rounds && n < room; round++) {
        const size_t checked = n;
        n = work_until_power_loss(f, round, random, all, n, room);
        *dropped += faulty_power_loss(faults, f->path, next_random(random));
        assert_intact(f->path);
        assert_ok(f, fixture_open(f));
        crash_check(f, all + checked, n - checked);
        fixture_close(f);
    }
    assert_ok(f, fixture_open(f));
    crash_check(f, all, n);
    crash_await_swept(f);
    fixture_close(f);
    assert_intact(f->path);
    return n;
}

static void test_power_loss(void **state) {
    struct fixture *f = *state;
    const int64_t rounds = number("FAULT_ROUNDS", 20);
    uint64_t random = (uint64_t)number("FAULT_SEED", 1);
    size_t n = 0;
    long dropped = 0;
    for (int64_t done = 0; done < rounds; done += ROUNDS) {
        n += lose_power(f, rounds - done < ROUNDS ? rounds - done : ROUNDS, &random, &dropped);
        unlink(f->path);
    }
    print_message("# %lld rounds, %zu acknowledged, %ld writes dropped\n", (long long)rounds, n,
                  dropped);
    assert_true(n > 0 && dropped > 0);
}

int main(void) {
    faults = faulty_vfs(NULL);
    fixture_begin();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_power_loss, fixture_directory, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
