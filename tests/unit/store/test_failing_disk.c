/* Failed writes and fsyncs of the database: what was staged before the failure is not published, and
 * what was acknowledged stays, also if the machine then loses power. */
#include "lib/faulty_vfs.h"
#include "unit/store/fixture.h"
#include <errno.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <time.h>

static struct faulty *faults;

/* Waits until a pulse of the writer thread says that writes are in this state, for at most 20 s. */
static void await_writes(struct fixture *f, enum store_writes expected) {
    struct store_health health = {0};
    for (int i = 0; i < 2000; i++) {
        (void)store_healthy(f->store, &health, &f->problem);
        problem_done(&f->problem);
        if (health.writes == expected) {
            return;
        }
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    fail_msg("writes are in state %d, not %d", (int)health.writes, (int)expected);
}

static bool patch(struct fixture *f, const char *name, const char *description) {
    return store_dataset_patch(f->store, NULL, name,
                               &(struct store_patch){.description = description}, NULL, NULL,
                               &f->problem);
}

static void assert_description(struct fixture *f, const char *name, const char *expected) {
    struct store_dataset d = {0};
    assert_ok(f, store_dataset_get(f->store, name, 0, &d, &f->problem));
    assert_string_equal(d.description, expected);
    store_dataset_done(&d);
}

/* Reads all chunks of the newest version, which publish() made with this seed. */
static void assert_chunks(struct fixture *f, const char *name, int64_t seed) {
    struct store_dataset d = {0};
    struct store_chunk *chunks = NULL;
    size_t n = 0;
    struct buf b = {0};
    assert_ok(f, store_dataset_get(f->store, name, 0, &d, &f->problem));
    assert_ok(f, store_dataset_chunks(f->store, d.id, &chunks, &n, &f->problem));
    assert_int_equal(n, 2);
    for (size_t i = 0; i < n; i++) {
        for (size_t c = 0; c < 3; c++) {
            void *expected = pattern(seed, (int64_t)i, c, 1000);
            assert_ok(f, store_chunk_read(f->store, &chunks[i], c, &b, &f->problem));
            assert_int_equal(b.size, 1000);
            assert_memory_equal(b.data, expected, 1000);
            free(expected);
        }
    }
    buf_done(&b);
    free(chunks);
    store_dataset_done(&d);
}

static bool publish_part(struct fixture *f, const char *name, int64_t part) {
    struct store_dataset_new d = dataset_new(name, part, "b2:2", 2, 3);
    struct store_dataset_published out;
    return store_dataset_publish(f->store, &d, &out, NULL, &f->problem);
}

/* Chunks are staged without an fsync. The fsync of another transaction fails and uses up the error
 * of their bytes: a later fsync succeeds without them. */
static void test_failed_fsync_fails_staged_parts(void **state) {
    struct fixture *f = *state;
    publish(f, "a", 1);
    int64_t part = stage(f->store, 2, 2, 3, 1000);
    sql_await(f->path, "SELECT count(*) FROM chunks", 4);
    faulty_set(faults, FAULTY_SYNC, 1, 1, EIO);
    assert_problem(f, patch(f, "a", "not stored"), PROBLEM_INTERNAL, "disk I/O error");
    assert_int_equal(atomic_load(&faults->failed), 1);
    assert_problem(f, publish_part(f, "b", part), PROBLEM_UNAVAILABLE, "send the data again");
    assert_true(store_part_failed(f->store, part));
    store_part_drop(f->store, part);
    /* the store was opened again: the same data are accepted, and the failed change is not there */
    await_writes(f, STORE_WRITES_OK);
    struct store_dataset d = {0};
    assert_ok(f, store_dataset_get(f->store, "a", 0, &d, &f->problem));
    assert_null(d.description);
    store_dataset_done(&d);
    part = stage(f->store, 2, 2, 3, 1000);
    assert_ok(f, publish_part(f, "b", part));
    assert_ok(f, patch(f, "a", "stored"));
    assert_chunks(f, "a", 1);
    assert_chunks(f, "b", 2);
    assert_description(f, "a", "stored");
    sql_await(f->path, "SELECT count(*) FROM parts", 2); /* the sweep removes the lost part */
    assert_intact(f->path);
}

/* While fsyncs fail, reads go on, and writes are refused. */
static void test_failing_fsyncs_refuse_writes(void **state) {
    struct fixture *f = *state;
    struct store_health health;
    publish(f, "a", 1);
    const int64_t before = (int64_t)time(NULL) * 1000;
    faulty_set(faults, FAULTY_SYNC, 1, 1000000, EIO);
    assert_problem(f, patch(f, "a", "no"), PROBLEM_INTERNAL, "disk I/O error");
    assert_problem(f, patch(f, "a", "no"), PROBLEM_UNAVAILABLE, "is being opened again");
    assert_problem(f, store_healthy(f->store, &health, &f->problem), PROBLEM_UNAVAILABLE,
                   "writes to the database have failed since 20");
    assert_true(health.reads);
    assert_int_equal(health.writes, STORE_WRITES_FAILING);
    assert_in_range(health.since, before, before + 100000);
    const int64_t part = stage(f->store, 2, 2, 3, 1000);
    assert_problem(f, publish_part(f, "b", part), PROBLEM_UNAVAILABLE, "send the data again");
    store_part_drop(f->store, part);
    assert_chunks(f, "a", 1);
    nanosleep(&(struct timespec){.tv_sec = 2}, NULL); /* more attempts to open the file */
    assert_chunks(f, "a", 1);
    faulty_set(faults, 0, 0, 0, 0);
    await_writes(f, STORE_WRITES_OK);
    assert_ok(f, store_healthy(f->store, &health, &f->problem));
    assert_int_equal(health.since, 0);
    assert_ok(f, patch(f, "a", "yes"));
    assert_description(f, "a", "yes");
    publish(f, "b", 2);
    assert_intact(f->path);
}

/* An fsync may report that the disk is full. */
static void test_full_fsync(void **state) {
    struct fixture *f = *state;
    publish(f, "a", 1);
    const int64_t part = stage(f->store, 2, 2, 3, 1000);
    sql_await(f->path, "SELECT count(*) FROM chunks", 4);
    faulty_set(faults, FAULTY_SYNC, 1, 1000000, ENOSPC);
    assert_problem(f, patch(f, "a", "no"), PROBLEM_STORAGE_FULL, "disk of the database is full");
    assert_problem(f, patch(f, "a", "no"), PROBLEM_STORAGE_FULL, "disk of the database is full");
    await_writes(f, STORE_WRITES_FULL);
    faulty_set(faults, 0, 0, 0, 0);
    await_writes(f, STORE_WRITES_OK);
    assert_problem(f, publish_part(f, "b", part), PROBLEM_UNAVAILABLE, "send the data again");
    store_part_drop(f->store, part);
    assert_ok(f, patch(f, "a", "yes"));
}

/* The kernel refuses a write for lack of room: the bytes written before are safe, so the staged part
 * is published later. Readiness is back after a probe. */
static void test_full_write_keeps_staged_parts(void **state) {
    static const int errors[] = {ENOSPC, EFBIG};
    struct fixture *f = *state;
    publish(f, "a", 1);
    for (int i = 0; i < 2; i++) {
        char name[2] = {(char)('b' + i), '\0'};
        const int64_t part = stage(f->store, 2, 2, 3, 1000);
        sql_await(f->path, "SELECT count(*) FROM parts WHERE state = 0", 1);
        faulty_set(faults, FAULTY_WRITE, 1, 1, errors[i]);
        assert_problem(f, patch(f, "a", "no"), PROBLEM_STORAGE_FULL,
                       "disk of the database is full");
        struct store_health health;
        assert_problem(f, store_healthy(f->store, &health, &f->problem), PROBLEM_UNAVAILABLE,
                       "writes are refused with 507, reads go on");
        assert_int_equal(health.writes, STORE_WRITES_FULL);
        assert_ok(f, publish_part(f, name, part));
        assert_chunks(f, name, 2);
        await_writes(f, STORE_WRITES_OK);
    }
}

/* A write that fails for another reason may have lost bytes, as a failed fsync. */
static void test_failed_write_fails_staged_parts(void **state) {
    struct fixture *f = *state;
    publish(f, "a", 1);
    const int64_t part = stage(f->store, 2, 2, 3, 1000);
    sql_await(f->path, "SELECT count(*) FROM chunks", 4);
    faulty_set(faults, FAULTY_WRITE, 1, 1, EIO);
    assert_problem(f, patch(f, "a", "no"), PROBLEM_INTERNAL, "disk I/O error");
    assert_problem(f, publish_part(f, "b", part), PROBLEM_UNAVAILABLE, "send the data again");
    store_part_drop(f->store, part);
    await_writes(f, STORE_WRITES_OK);
    publish(f, "b", 2);
    assert_chunks(f, "b", 2);
}

/* A failed fsync of a checkpoint, with no call that could fail. */
static void test_failed_checkpoint(void **state) {
    struct fixture *f = *state;
    publish(f, "a", 1);
    await_writes(f, STORE_WRITES_OK);
    for (bool stored = false; !stored;) { /* again if a checkpoint runs at the same time */
        faulty_set(faults, FAULTY_SYNC, 2, 1, EIO); /* 1: of the COMMIT, 2: of the checkpoint */
        stored = patch(f, "a", "yes");
        problem_done(&f->problem);
        for (int i = 0; i < 2000 && atomic_load(&faults->failed) == 0; i++) {
            nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        }
        assert_int_equal(atomic_load(&faults->failed), 1);
        await_writes(f, STORE_WRITES_OK);
    }
    assert_description(f, "a", "yes");
    assert_ok(f, patch(f, "a", "again"));
    assert_chunks(f, "a", 1);
    assert_intact(f->path);
}

/* Publishes a version while a reader keeps the writer thread from copying the log, so that the log
 * has frames that the disk has confirmed. */
static void publish_into_log(struct fixture *f, const char *name, int64_t seed) {
    sqlite3 *reader = NULL;
    assert_int_equal(sqlite3_open(f->path, &reader), SQLITE_OK);
    assert_int_equal(sqlite3_exec(reader, "BEGIN; SELECT count(*) FROM sqlite_schema", NULL, NULL,
                                  NULL),
                     SQLITE_OK);
    publish(f, name, seed);
    assert_int_equal(sqlite3_close(reader), SQLITE_OK);
}

/* If the log has less than the disk had confirmed, acknowledged data are lost: the process exits. */
static void test_lost_log_ends_the_process(void **state) {
    struct fixture *f = *state;
    int status;
    fixture_close(f);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (!fixture_open(f)) {
            _exit(1);
        }
        atomic_store(&faults->damage, true);
        /* again if the writer thread copied the log after the reader had closed */
        for (int i = 0; i < 100; i++) {
            char name[16];
            snprintf(name, sizeof name, "d%d", i);
            publish_into_log(f, name, i);
            faulty_set(faults, FAULTY_SYNC, 1, 1, EIO);
            (void)patch(f, "d0", "no");
            await_writes(f, STORE_WRITES_OK);
        }
        _exit(2);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    atomic_store(&faults->damage, false);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), STORE_EXIT_LOST);
    assert_ok(f, fixture_open(f)); /* what is left can be read */
}

int main(void) {
    faults = faulty_vfs(NULL);
    fixture_begin();
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
        TEST(test_failed_fsync_fails_staged_parts),
        TEST(test_failing_fsyncs_refuse_writes),
        TEST(test_full_fsync),
        TEST(test_full_write_keeps_staged_parts),
        TEST(test_failed_write_fails_staged_parts),
        TEST(test_failed_checkpoint),
        TEST(test_lost_log_ends_the_process),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
