/* Tests that deleting releases space; that data which are read, staged or shared are kept; and that
 * what an ended process staged is removed. */
#include "unit/store/fixture.h"
#include <sys/wait.h>

#define AWAIT_NO_FREE_PAGES(f) sql_await((f)->path, "PRAGMA freelist_count", 0)

static int64_t file_bytes(const char *path) {
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_size;
}

static struct store_dataset_published publish_large(struct fixture *f, const char *name) {
    struct store_dataset_new d =
        dataset_new(name, stage(f->store, 3, 12, 2, 500000), "b2:large", 12, 2);
    struct store_dataset_published out = {0};
    assert_ok(f, store_dataset_publish(f->store, &d, &out, NULL, &f->problem));
    return out;
}

static void test_delete_shrinks_the_file(void **state) {
    struct fixture *f = *state;
    publish_large(f, "big");
    publish(f, "small", 1);
    assert_ok(f, store_dataset_delete(f->store, NULL, "big", 0, NULL, &f->problem));
    sql_await(f->path, "SELECT count(*) FROM blobs", 6);
    sql_await(f->path, "SELECT count(*) FROM dataset_versions", 1);
    sql_await(f->path, "SELECT count(*) FROM parts", 1);
    AWAIT_NO_FREE_PAGES(f);
    fixture_close(f);
    assert_true(file_bytes(f->path) < 1000000);
    assert_intact(f->path);
    assert_ok(f, fixture_open(f));
    struct store_dataset d = {0};
    assert_ok(f, store_dataset_get(f->store, "small", 0, &d, &f->problem));
    store_dataset_done(&d);
}

static void test_pinned_version_can_be_read_to_its_end(void **state) {
    struct fixture *f = *state;
    struct store_dataset_published big = publish_large(f, "big");
    struct store_chunk *chunks = NULL;
    size_t n = 0;
    assert_ok(f, store_dataset_pin(f->store, big.id, &f->problem));
    assert_ok(f, store_dataset_pin(f->store, big.id, &f->problem));
    assert_ok(f, store_dataset_chunks(f->store, big.id, &chunks, &n, &f->problem));
    assert_ok(f, store_dataset_delete(f->store, NULL, "big", 0, NULL, &f->problem));
    store_dataset_unpin(f->store, big.id);
    /* another deletion is completed, so the pinned version was examined, too */
    publish(f, "other", 1);
    assert_ok(f, store_dataset_delete(f->store, NULL, "other", 0, NULL, &f->problem));
    sql_await(f->path, "SELECT count(*) FROM dataset_versions", 1);
    struct buf b = {0};
    for (size_t i = 0; i < n; i++) {
        void *expected = pattern(3, (int64_t)i, 1, 500000);
        assert_ok(f, store_chunk_read(f->store, &chunks[i], 1, &b, &f->problem));
        assert_int_equal(b.size, 500000);
        assert_memory_equal(b.data, expected, 500000);
        free(expected);
    }
    store_dataset_unpin(f->store, big.id);
    sql_await(f->path, "SELECT count(*) FROM parts", 0);
    assert_problem(f, store_chunk_read(f->store, &chunks[0], 0, &b, &f->problem), PROBLEM_INTERNAL,
                   "no chunk");
    buf_done(&b);
    free(chunks);
}

static void test_shared_part_outlives_one_version(void **state) {
    struct fixture *f = *state;
    struct store_dataset_published a = publish(f, "a", 1), b = publish(f, "b", 2);
    char sql[200];
    snprintf(sql, sizeof sql,
             "INSERT INTO dataset_parts (version, seq, part) SELECT %lld, 1, part FROM "
             "dataset_parts WHERE version = %lld; UPDATE dataset_versions SET n_rows = 40",
             (long long)b.id, (long long)a.id);
    sql_run(f->path, sql);
    assert_ok(f, store_dataset_delete(f->store, NULL, "a", 0, NULL, &f->problem));
    sql_await(f->path, "SELECT count(*) FROM dataset_versions", 1);
    struct store_chunk *chunks = NULL;
    size_t n = 0;
    assert_ok(f, store_dataset_chunks(f->store, b.id, &chunks, &n, &f->problem));
    assert_int_equal(n, 4);
    assert_int_equal(chunks[3].first_row, 30);
    struct buf bytes = {0};
    assert_ok(f, store_chunk_read(f->store, &chunks[3], 2, &bytes, &f->problem));
    buf_done(&bytes);
    free(chunks);
    assert_int_equal(sql_ask(f->path, "SELECT count(*) FROM parts"), 2);
    assert_ok(f, store_dataset_delete(f->store, NULL, "b", 0, NULL, &f->problem));
    sql_await(f->path, "SELECT count(*) FROM parts", 0);
    assert_int_equal(sql_ask(f->path, "SELECT count(*) FROM blobs"), 0);
}

static void test_dropped_part_goes(void **state) {
    struct fixture *f = *state;
    int64_t kept = stage(f->store, 1, 3, 2, 100000), dropped = stage(f->store, 2, 3, 2, 100000);
    sql_await(f->path, "SELECT count(*) FROM blobs", 12);
    store_part_drop(f->store, dropped);
    sql_await(f->path, "SELECT count(*) FROM blobs", 6);
    /* chunks that are still in the queue when their part is dropped are not written */
    int64_t late = stage(f->store, 3, 3, 2, 100000);
    store_part_drop(f->store, late);
    store_part_drop(f->store, 12345);
    sql_await(f->path, "SELECT count(*) FROM parts", 1);
    struct store_dataset_new d = dataset_new("a", kept, "b2:1", 3, 2);
    struct store_dataset_published out = {0};
    assert_ok(f, store_dataset_publish(f->store, &d, &out, NULL, &f->problem));
}

static void test_closing_leaves_nothing_staged(void **state) {
    struct fixture *f = *state;
    stage(f->store, 1, 3, 2, 100000);
    fixture_close(f); /* the queued chunks are written, but their part is never published */
    assert_int_equal(sql_ask(f->path, "SELECT count(*) FROM blobs"), 6);
    assert_ok(f, fixture_open(f));
    sql_await(f->path, "SELECT count(*) FROM parts", 0);
    assert_int_equal(sql_ask(f->path, "SELECT count(*) FROM blobs"), 0);
}

/* Runs fn with the store in a process that exits without closing the store. */
static void in_a_process_that_dies(struct fixture *f, void (*fn)(struct fixture *f)) {
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (!fixture_open(f)) {
            _exit(1);
        }
        fn(f);
        _exit(42);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 42);
}

static void stage_some(struct fixture *f) {
    stage(f->store, 1, 3, 2, 100000);
    sql_await(f->path, "SELECT count(*) FROM blobs", 12);
}

static void test_crash_while_staging(void **state) {
    struct fixture *f = *state;
    publish(f, "a", 1);
    fixture_close(f);
    in_a_process_that_dies(f, stage_some);
    assert_int_equal(sql_ask(f->path,
                             "SELECT count(*) FROM parts WHERE state = 0 AND lease_until > 0"),
                     1);
    /* the lease has not expired, but since this process has the lock, the owner has ended */
    assert_ok(f, fixture_open(f));
    sql_await(f->path, "SELECT count(*) FROM parts WHERE state <> 1", 0);
    sql_await(f->path, "SELECT count(*) FROM blobs", 6);
    struct store_dataset d = {0};
    assert_ok(f, store_dataset_get(f->store, "a", 0, &d, &f->problem));
    store_dataset_done(&d);
}

static void test_only_expired_leases_of_others_are_swept(void **state) {
    struct fixture *f = *state;
    fixture_close(f);
    struct store_settings settings = {.path = f->path, .lease_ms = 60};
    /* from now on the store keeps the parts of other owners until their leases expire */
    assert_ok(f, store_open(&settings, &f->store, &f->problem));
    sql_run(f->path, "INSERT INTO parts (id, state, owner, lease_until, created_at) VALUES (1, 0, "
                     "'somebody', 9999999999999, 1), (2, 0, "
                     "'somebody', 5, 1), (3, 2, 'somebody', 9999999999999, 1)");
    sql_await(f->path, "SELECT count(*) FROM parts", 1);
    assert_int_equal(sql_ask(f->path, "SELECT id FROM parts"), 1);
}

static void test_own_leases_are_kept_alive(void **state) {
    struct fixture *f = *state;
    fixture_close(f);
    struct store_settings settings = {.path = f->path, .lease_ms = 60};
    assert_ok(f, store_open(&settings, &f->store, &f->problem));
    stage(f->store, 1, 1, 1, 10);
    sql_await(f->path, "SELECT count(*) FROM parts", 1);
    int64_t first = sql_ask(f->path, "SELECT lease_until FROM parts");
    char sql[100];
    snprintf(sql, sizeof sql, "SELECT lease_until > %lld FROM parts", (long long)first + 200);
    sql_await(f->path, sql, 1);
}

int main(void) {
    fixture_begin();
#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {T(test_delete_shrinks_the_file),
                                       T(test_pinned_version_can_be_read_to_its_end),
                                       T(test_shared_part_outlives_one_version),
                                       T(test_dropped_part_goes),
                                       T(test_closing_leaves_nothing_staged),
                                       T(test_crash_while_staging),
                                       T(test_only_expired_leases_of_others_are_swept),
                                       T(test_own_leases_are_kept_alive)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
