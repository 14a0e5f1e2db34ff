/* Tests of the spool: it returns the bytes that were written, it leaves no file name behind, and it
 * reports limits and full disks. */
#include "base/process/spool.h"
#include "lib/cmocka.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/discern-spool-test-XXXXXX";

static int setup(void **state) {
    (void)state;
    return mkdtemp(folder) != NULL ? 0 : -1;
}

/* rmdir fails unless the folder is empty */
static int teardown(void **state) {
    (void)state;
    return rmdir(folder);
}

static void put(struct buf *b, size_t n, char seed) {
    for (size_t i = 0; i < n; i++) {
        buf_putc(b, (char)(seed + (char)(i % 7)));
    }
}

static void test_there_and_back(void **state) {
    (void)state;
    struct spool s;
    struct problem problem = {0};
    struct buf bytes = {0}, all = {0}, back = {0};
    spool_init(&s, folder, 1 << 20);
    assert_int_equal(s.fd, -1);
    for (size_t i = 0; i < 50; i++) {
        put(&bytes, 100 * i, (char)('a' + i % 19));
        buf_append(&all, bytes.data, bytes.size);
        assert_true(spool_write(&s, &bytes, &problem));
        assert_int_equal(bytes.size, 0);
    }
    assert_int_equal(s.size, all.size);
    assert_int_equal(rmdir(folder), 0); /* the spool's file has no name in the folder */
    for (size_t at = 0; at < all.size; at += 7777) {
        assert_true(spool_read(&s, (int64_t)at, 7777, &back));
    }
    assert_int_equal(back.size, all.size);
    assert_memory_equal(back.data, all.data, all.size);
    assert_true(spool_read(&s, s.size, 10, &back)); /* at the end there is nothing to read */
    assert_int_equal(back.size, all.size);
    const int fd = s.fd;
    spool_done(&s);
    assert_int_equal(close(fd), -1);
    spool_done(&s);
    assert_int_equal(mkdir(folder, 0700), 0);
    buf_done(&bytes);
    buf_done(&all);
    buf_done(&back);
}

static void test_limit(void **state) {
    (void)state;
    struct spool s;
    struct problem problem = {0};
    struct buf bytes = {0};
    spool_init(&s, folder, 1000);
    put(&bytes, 600, 'a');
    assert_true(spool_write(&s, &bytes, &problem));
    put(&bytes, 400, 'a');
    assert_true(spool_write(&s, &bytes, &problem));
    put(&bytes, 1, 'a');
    assert_false(spool_write(&s, &bytes, &problem));
    assert_int_equal(problem.type, PROBLEM_ANSWER_TOO_LONG);
    assert_int_equal(s.size, 1000);
    assert_int_equal(bytes.size, 1);
    problem_done(&problem);
    spool_done(&s);
    buf_done(&bytes);
}

static void test_no_folder(void **state) {
    (void)state;
    static const char *const wrong[] = {"", "/nowhere/at/all", "/dev/null"};
    struct spool s;
    struct problem problem = {0};
    struct buf bytes = {0};
    for (size_t i = 0; i < 3; i++) {
        assert_false(spool_check(wrong[i], &problem));
        assert_int_equal(problem.type, PROBLEM_BAD_REQUEST);
        problem_done(&problem);
    }
    assert_true(spool_check(folder, &problem));
    spool_init(&s, "/nowhere/at/all", 1000);
    put(&bytes, 10, 'a');
    assert_false(spool_write(&s, &bytes, &problem));
    assert_int_equal(problem.type, PROBLEM_INTERNAL);
    problem_done(&problem);
    spool_done(&s);
    buf_done(&bytes);
}

/* A write that the system refuses counts as a full disk. Here the limit is a file size of 4,096
 * bytes. */
static void test_full_disk(void **state) {
    (void)state;
    struct rlimit before, now;
    struct spool s;
    struct problem problem = {0};
    struct buf bytes = {0};
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    now = (struct rlimit){.rlim_cur = 4096, .rlim_max = before.rlim_max};
    (void)signal(SIGXFSZ, SIG_IGN);
    spool_init(&s, folder, 1 << 20);
    put(&bytes, 10000, 'a');
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &now), 0);
    const bool written = spool_write(&s, &bytes, &problem);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_false(written);
    assert_int_equal(problem.type, PROBLEM_STORAGE_FULL);
    assert_int_equal(problem_status(problem.type), 507);
    assert_non_null(strstr(problem.detail, folder));
    problem_done(&problem);
    spool_done(&s);
    buf_done(&bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_there_and_back),
                                       cmocka_unit_test(test_limit),
                                       cmocka_unit_test(test_no_folder),
                                       cmocka_unit_test(test_full_disk)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
