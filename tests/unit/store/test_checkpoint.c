/* Tests of the checkpoints of the write-ahead log: the lengths of the log at which they are
 * made. */
#include "base/process/clock.h"
#include "store/sqlite/sqlite.h"
#include "unit/store/fixture.h"

#define MIB (1024 * 1024)
#define PAGES(mib) ((mib)*MIB / STORE_PAGE_SIZE)

static struct store_log *log_of(struct store *store) {
    return &store_file_of(store)->log;
}

static int64_t made(struct store *store, int mode) {
    return (int64_t)metric_value(log_of(store)->made[mode]);
}

/* ---- thresholds, on a store without its writer thread ---- */

static struct store_file *new_file(void) {
    struct store_file *file = calloc(1, sizeof *file);
    assert_non_null(file);
    file->lock = (struct store_lock){-1, -1};
    return file;
}

/* Opens a new database, and initializes the state of a writer without its thread. */
static void setup(struct fixture *f, struct store *store) {
    assert_ok(f, fixture_open(f));
    fixture_close(f);
    store->engine = &store_sqlite_engine;
    store->own = new_file();
    store_checkpoint_register(log_of(store));
    assert_true(store_writer_init(store, &f->problem));
    store->writer.connection = store_sqlite_connect(f->path, STORE_WRITE, &f->problem);
    assert_non_null(store->writer.connection);
    assert_ok(f, store_sqlite_exec(store->writer.connection, "CREATE TABLE t (x)", &f->problem));
}

/* Returns the mode of the checkpoint that is made for a log of `pages` pages, of which `copied` are
 * already in the database file; -1: no checkpoint is made. pressing: a caller waits for a
 * commit. */
static int due(struct store *store, int pages, int copied, bool pressing) {
    static const int modes[] = {SQLITE_CHECKPOINT_PASSIVE, SQLITE_CHECKPOINT_RESTART};
    int64_t before[2];
    for (size_t i = 0; i < 2; i++) {
        before[i] = made(store, modes[i]);
    }
    log_of(store)->pages = pages;
    log_of(store)->done = copied;
    store_checkpoint_due(store, pressing);
    int found = -1;
    for (size_t i = 0; i < 2; i++) {
        assert_true(made(store, modes[i]) == before[i] || found == -1);
        found = made(store, modes[i]) > before[i] ? modes[i] : found;
    }
    return found;
}

static void test_when_a_checkpoint_is_due(void **state) {
    struct fixture *f = *state;
    struct store *store = calloc(1, sizeof *store);
    assert_non_null(store);
    setup(f, store);
    assert_int_equal(due(store, PAGES(8) - 1, 0, false), -1);
    assert_int_equal(due(store, PAGES(8), 0, false), SQLITE_CHECKPOINT_PASSIVE);
    /* only pages that are not copied count */
    assert_int_equal(due(store, PAGES(8) + 9, 10, false), -1);
    assert_int_equal(due(store, PAGES(8) + 10, 10, false), SQLITE_CHECKPOINT_PASSIVE);
    /* if a caller waits for a commit */
    assert_int_equal(due(store, PAGES(12) - 1, 0, true), -1);
    assert_int_equal(due(store, PAGES(12), 0, true), SQLITE_CHECKPOINT_PASSIVE);
    /* a checkpoint of a long log waits for the readers, at most 50 ms, and is repeated after 4 MiB
     * more */
    assert_int_equal(due(store, PAGES(16) - 1, PAGES(16) - 1, true), -1);
    assert_int_equal(due(store, PAGES(16), PAGES(16), true), SQLITE_CHECKPOINT_RESTART);
    log_of(store)->retry = PAGES(20);
    assert_int_equal(due(store, PAGES(20) - 1, PAGES(20) - 1, true), -1);
    assert_int_equal(due(store, PAGES(20), PAGES(20), true), SQLITE_CHECKPOINT_RESTART);
    store_writer_done(store);
    store->engine->close(store);
    free(store);
}

static void test_when_chunks_are_held_back(void **state) {
    struct fixture *f = *state;
    struct store *store = calloc(1, sizeof *store);
    assert_non_null(store);
    store->own = new_file();
    struct store_log *log = log_of(store);
    const int64_t now = clock_monotonic_ns(), minute = INT64_C(60000000000);
    log->pages = PAGES(40) - 1;
    log->blocked = true;
    store->writer.bulk_ns = now + minute; /* the last chunk was written less than 2 s ago */
    assert_false(store_checkpoint_holds(store));
    log->pages = PAGES(40);
    assert_true(store_checkpoint_holds(store));
    log->blocked = false;
    assert_false(store_checkpoint_holds(store));
    log->blocked = true;
    store->writer.bulk_ns = now + minute - INT64_C(62000000000); /* more than 2 s ago */
    assert_false(store_checkpoint_holds(store));
    free(store->own);
    free(store);
    (void)f;
}

static void test_an_idle_store_truncates_a_long_log(void **state) {
    struct fixture *f = *state;
    struct store *store = calloc(1, sizeof *store);
    assert_non_null(store);
    setup(f, store);
    for (int i = 0; i < 2; i++) {
        const int64_t before = made(store, SQLITE_CHECKPOINT_TRUNCATE);
        log_of(store)->pages = PAGES(4) + i;
        store_checkpoint_idle(store);
        assert_int_equal(made(store, SQLITE_CHECKPOINT_TRUNCATE) - before, i);
    }
    store_writer_done(store);
    store->engine->close(store);
    free(store);
}

/* ---- the log of an open store ---- */

static int64_t log_bytes(struct fixture *f) {
    struct store_stats stats;
    store_stats(f->store, &stats);
    return stats.log_bytes;
}

/* Stages n chunks of 1 MiB and waits for them. */
static void stage_mib(struct fixture *f, int64_t n) {
    struct problem problem = {0};
    struct store_part_sum sum;
    const int64_t part = stage(f->store, 1, n, 1, MIB);
    assert_true(store_parts_settle(&f->store->parts, part, &sum, &problem));
    assert_int_equal(sum.n_chunks, n);
}

/* Without readers the log starts again at its beginning after each checkpoint, so its file does not
 * grow. */
static void test_the_log_stays_short(void **state) {
    struct fixture *f = *state;
    assert_ok(f, fixture_open(f));
    stage_mib(f, 48);
    assert_true(log_bytes(f) < 12 * MIB);
}

/* A reader prevents this restart of the log. When the log has 40 MiB, no more chunks are
 * written. */
static void test_a_reader_holds_chunks_back(void **state) {
    struct fixture *f = *state;
    sqlite3 *db;
    struct problem problem = {0};
    struct store_part_sum sum;
    assert_ok(f, fixture_open(f));
    publish(f, "a", 1);
    assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "BEGIN; SELECT * FROM parts", NULL, NULL, NULL), SQLITE_OK);
    const int64_t part = stage(f->store, 1, 120, 1, MIB);
    for (int i = 0; i < 6000 && log_bytes(f) < 40 * MIB; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    assert_true(log_bytes(f) >= 40 * MIB);
    sqlite3_close(db);
    assert_true(store_parts_settle(&f->store->parts, part, &sum, &problem));
    assert_true(log_bytes(f) < 70 * MIB); /* without the limit it would have 120 MiB */
}

int main(void) {
    fixture_begin();
#define T(name) cmocka_unit_test_setup_teardown(name, fixture_directory, fixture_teardown)
    const struct CMUnitTest tests[] = {T(test_when_a_checkpoint_is_due),
                                       T(test_when_chunks_are_held_back),
                                       T(test_an_idle_store_truncates_a_long_log),
                                       T(test_the_log_stays_short),
                                       T(test_a_reader_holds_chunks_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
