/* A full disk: the database is on a file system of 48 MiB, in a mount namespace of this program.
 * Writes are refused with 507, reads and predictions go on, readiness says so, and all is well when
 * there is room again. Skipped where mounting is not permitted. */
#define _GNU_SOURCE
#include "lib/api.h"
#include "lib/postgresql.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

enum { UPLOADS = 60, ROWS = 100000 };
static char folder[] = "/tmp/discern-disk.XXXXXX";

static bool mount_disk(void) {
    return mkdtemp(folder) != NULL && unshare(CLONE_NEWNS) == 0 &&
           mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("tmpfs", folder, "tmpfs", 0, "size=48m") == 0 &&
           setenv("TMPDIR", folder, true) == 0;
}

static const struct response *await_ready(int status) {
    const struct response *r = call_get("/readyz");
    for (double end = now() + 60; r->status != status && now() < end; r = call_get("/readyz")) {
        pause_ms(20);
    }
    return status_check(r, status);
}

static void assert_serves(int n) {
    status_check(call_post("/v1/models/m/predict", "{'instances':[[5.1,3.5,1.4,0.2]]}"), 200);
    status_check(call_get("/v1/datasets/iris/rows"), 200);
    for (int i = 0; i < n; i++) {
        assert_int_equal(whole_at(call_get("/v1/datasets/d%d", i), "/rows"), ROWS);
        status_check(call_get("/v1/datasets/d%d/rows?offset=%d&limit=1", i, ROWS - 1), 200);
    }
}

/* ROWS rows of a column, different in each body. */
static const char *body_of(int i) {
    return text("a\n%d.5\n%s", i, repeat("0.123456789\n", ROWS - 1));
}

static void test_uploads_until_full(void **state) {
    (void)state;
    int n = 0;
    service_start(NULL);
    upload_file("iris", "iris.csv");
    job_train("{'model':'m','dataset':'iris','target':'class','algorithm':'logistic'}");
    await_ready(200);
    const struct response *r = NULL;
    for (; n < UPLOADS; n++) {
        r = call_upload(text("/v1/datasets/d%d", n), body_of(n));
        if (r->status != 201) {
            break;
        }
    }
    problem_check(r, 507, "storage-full");
    assert_true(n > 5);
    r = problem_check(call_get("/readyz"), 503, "unavailable");
    assert_string_equal(string_at(r, "/checks/writes"), "full");
    assert_non_null(strstr(string_at(r, "/detail"), "writes are refused with 507, reads go on"));
    assert_serves(n);
    for (int i = 0; i < n; i += 2) {
        status_check(call_delete("/v1/datasets/d%d", i), 204);
    }
    await_ready(200);
    status_check(call_upload("/v1/datasets/after", body_of(UPLOADS)), 201);
    service_end();
}

/* Another program fills the disk: readiness says so, although no write was tried. */
static void test_disk_filled_by_another(void **state) {
    (void)state;
    static char zeros[1 << 16];
    service_start(NULL);
    upload_file("iris", "iris.csv");
    job_train("{'model':'m','dataset':'iris','target':'class','algorithm':'logistic'}");
    await_ready(200);
    const char *path = text("%s/filler", folder);
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    while (write(fd, zeros, sizeof zeros) > 0) {
    }
    close(fd);
    const struct response *r = await_ready(503);
    assert_string_equal(string_at(r, "/checks/writes"), "full");
    problem_check(call_upload("/v1/datasets/big", body_of(1)), 507, "storage-full");
    assert_serves(0);
    unlink(path);
    await_ready(200);
    status_check(call_upload("/v1/datasets/big", body_of(1)), 201);
    service_end();
}

int main(void) {
    if (postgresql_skips("the disk is that of the server")) {
        return POSTGRESQL_SKIPPED;
    }
    const struct CMUnitTest tests[] = {
        TEST(test_uploads_until_full),
        TEST(test_disk_filled_by_another),
    };
    if (!mount_disk()) {
        puts("skipped: mounting is not permitted");
        rmdir(folder);
        return 77;
    }
    const int failed = RUN_WITHOUT_DAEMON(tests);
    umount2(folder, MNT_DETACH);
    rmdir(folder);
    return failed;
}
