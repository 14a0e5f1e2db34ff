/* A limit of the size of files (RLIMIT_FSIZE) is answered as a full disk is. */
#define _GNU_SOURCE /* prlimit */
#include "lib/api.h"
#include "lib/postgresql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static void limit_files(rlim_t bytes) {
    const struct rlimit limit = {.rlim_cur = bytes, .rlim_max = RLIM_INFINITY};
    assert_int_equal(prlimit(the_daemon.pid, RLIMIT_FSIZE, &limit, NULL), 0);
}

/* 60,000 rows of numbers that do not compress: about 1 MiB in the database. */
static const char *rows(void) {
    char *text = keep(malloc(60000 * 40 + 10), free), *at = text + sprintf(text, "a,b\n");
    uint64_t z = 88172645463325252u; /* xorshift64 */
    for (size_t i = 0; i < 60000; i++) {
        z ^= z << 13;
        z ^= z >> 7;
        z ^= z << 17;
        at += sprintf(at, "0.%llu,%zu\n", (unsigned long long)z, i);
    }
    return text;
}

static void test_a_file_that_may_not_grow(void **state) {
    (void)state;
    const char *text = rows();
    status_check(call_upload("/v1/datasets/small", "a,b\n1,2\n3,4\n"), 201);
    limit_files(600000);
    for (int i = 0; i < 3; i++) {
        problem_check(call_upload("/v1/datasets/large", text), 507, "storage-full");
        status_check(call_get("/v1/datasets/small/rows"), 200);
    }
    limit_files(RLIM_INFINITY);
    status_check(call_upload("/v1/datasets/large", text), 201);
}

int main(void) {
    if (postgresql_skips("there is no file that may not grow")) {
        return POSTGRESQL_SKIPPED;
    }
    const struct CMUnitTest tests[] = {TEST(test_a_file_that_may_not_grow)};
    return RUN(tests);
}
