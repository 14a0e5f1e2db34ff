/* Tests of damaged bytes, a full disk and failing transactions. */
#include "store/sqlite/sqlite.h"
#include "unit/store/fixture.h"
#include <stdatomic.h>
#include <sys/statvfs.h>

/* Replaces the C library's statvfs, so that the tests determine the free space. */
static atomic_llong disk_free = 1LL << 40;
int statvfs(const char *path, struct statvfs *v) {
    (void)path;
    *v = (struct statvfs){.f_frsize = 4096,
                          .f_bsize = 4096,
                          .f_blocks = 1 << 30,
                          .f_bavail = (fsblkcnt_t)(atomic_load(&disk_free) / 4096)};
    return 0;
}

static void test_damaged_chunk_is_told(void **state) {
    struct fixture *f = *state;
    struct store_dataset_published out = publish(f, "a", 1);
    struct store_chunk *chunks = NULL;
    size_t n = 0;
    struct buf b = {0};
    char expected[200];
    assert_ok(f, store_dataset_chunks(f->store, out.id, &chunks, &n, &f->problem));
    /* changes one byte of the thousand in chunk 1, column 2 */
    sql_run(f->path, "UPDATE blobs SET bytes = CAST(substr(bytes, 1, 500) || x'00' || "
                     "substr(bytes, 502) AS BLOB) WHERE id = 6");
    snprintf(expected, sizeof expected, "part %lld, chunk 1, column 2 does not match its checksum",
             (long long)chunks[1].part);
    assert_problem(f, store_chunk_read(f->store, &chunks[1], 2, &b, &f->problem), PROBLEM_INTERNAL,
                   expected);
    assert_ok(f, store_chunk_read(f->store, &chunks[1], 1, &b,
                                  &f->problem)); /* the other column is intact */
    assert_int_equal(b.size, 1000);
    /* a blob that is too short */
    sql_run(f->path, "UPDATE blobs SET bytes = substr(bytes, 1, 999) WHERE id = 1");
    assert_problem(f, store_chunk_read(f->store, &chunks[0], 0, &b, &f->problem), PROBLEM_INTERNAL,
                   "chunk 0, column 0");
    /* a blob that is missing */
    sql_run(f->path, "DELETE FROM blobs WHERE id = 2");
    assert_problem(f, store_chunk_read(f->store, &chunks[0], 1, &b, &f->problem), PROBLEM_INTERNAL,
                   "no chunk 0, column 1");
    free(chunks);
    buf_done(&b);
}

/* The number of rows of a version is checked against its chunks before rows are read. */
static void test_damaged_number_of_rows(void **state) {
    struct fixture *f = *state;
    const int64_t id = publish(f, "a", 1).id;
    struct store_chunk *chunks = NULL;
    size_t n = 0;
    sql_run(f->path, "UPDATE dataset_versions SET n_rows = 10 * n_rows");
    assert_problem(f, store_dataset_chunks(f->store, id, &chunks, &n, &f->problem),
                   PROBLEM_INTERNAL, "row 1 have 20 rows, not 200");
    assert_null(chunks);
}

static void test_damaged_model_is_told(void **state) {
    struct fixture *f = *state;
    int64_t job = insert_job(f, "m", publish(f, "data", 1).id);
    claim_job(f, 3);
    succeed_job(f, job, 1, 2, 100000, 0);
    struct store_model m = {0};
    assert_ok(f, store_model_get(f->store, "m", 0, &m, &f->problem));
    struct buf b = {0};
    assert_ok(f, store_model_bytes(f->store, m.id, &b, &f->problem));
    sql_run(f->path,
            "UPDATE blobs SET bytes = zeroblob(100000) WHERE id = (SELECT max(id) FROM blobs)");
    assert_problem(f, store_model_bytes(f->store, m.id, &b, &f->problem), PROBLEM_INTERNAL,
                   "chunk 1, column 0");
    sql_run(f->path, "DELETE FROM chunks WHERE chunk = 1 AND n_blobs = 1");
    assert_problem(f, store_model_bytes(f->store, m.id, &b, &f->problem), PROBLEM_INTERNAL,
                   "100000 bytes, not 200000");
    buf_done(&b);
    store_model_done(&m);
}

/* Limits the number of pages of the file, to simulate a full disk. 0: no limit. */
static void limit_pages(struct store_tx *tx, void *arg) {
    char sql[64];
    snprintf(sql, sizeof sql, "PRAGMA max_page_count = %d", *(int *)arg ? *(int *)arg : 1073741823);
    store_sqlite_exec(tx->connection, sql, tx->problem);
}
static void set_disk(struct fixture *f, int pages) {
    assert_ok(f, store_write(f->store, limit_pages, &pages, &f->problem));
}

static void note_type(void *arg, const struct problem *problem) {
    *(int *)arg = problem ? (int)problem->type : -1;
}

static void test_full_disk(void **state) {
    struct fixture *f = *state;
    struct store_dataset_published out = publish(f, "a", 1);
    set_disk(f, 60);
    int64_t part = store_part_begin(f->store, NULL);
    stage_into(f->store, part, 1, 3, 2, 500000);
    struct store_dataset_new d = dataset_new("b", part, "b2:b", 3, 2);
    assert_problem(f, store_dataset_publish(f->store, &d, &out, NULL, &f->problem),
                   PROBLEM_STORAGE_FULL, "disk of the database is full");
    int type = 0;
    struct store_blob blob = {.bytes = pattern(1, 3, 0, 10), .size = 10};
    /* there is room for it now, but an earlier chunk of the part failed */
    store_part_append(f->store, part, 3, 10, &blob, 1, note_type, &type);
    assert_problem(f, store_dataset_publish(f->store, &d, &out, NULL, &f->problem),
                   PROBLEM_STORAGE_FULL, "full");
    assert_int_equal(type, PROBLEM_STORAGE_FULL);
    store_part_drop(f->store, part);
    publish(f, "c", 2); /* small transactions still succeed */
    char *large = malloc(3000001);
    assert_non_null(large);
    memset(large, ' ', 3000000);
    large[3000000] = '\0';
    assert_problem(f,
                   store_dataset_patch(f->store, NULL, "a",
                                       &(struct store_patch){.description = large}, NULL, NULL,
                                       &f->problem),
                   PROBLEM_STORAGE_FULL, "full");
    free(large);
    set_disk(f, 0);
    publish(f, "b", 3);
    struct store_dataset found = {0};
    assert_ok(f, store_dataset_get(f->store, "a", 0, &found, &f->problem));
    assert_null(found.description);
    store_dataset_done(&found);
    fixture_close(f);
    assert_intact(f->path);
}

/* Chunks are refused before the disk is full: the rest is reserved for other transactions. */
static void test_chunks_leave_room(void **state) {
    struct fixture *f = *state;
    publish(f, "a", 1);
    /* The reserve is 16 MiB. A chunk of 4 MB needs 8 MB, in the log and in the file, or 6 MB if it
     * overwrites the log of the migrations. What they wrote, 2.4 MB, may not be copied from the log
     * yet; then small chunks need room for it. */
    atomic_store(&disk_free, 20 << 20);
    int64_t part = stage(f->store, 2, 2, 2, 2000000);
    struct store_dataset_published out = {0};
    struct store_dataset_new d = dataset_new("b", part, "b2:b", 2, 2);
    assert_problem(f, store_dataset_publish(f->store, &d, &out, NULL, &f->problem),
                   PROBLEM_STORAGE_FULL, "disk of the database is full");
    store_part_drop(f->store, part);
    publish(f, "c", 3);
    insert_job(f, "m", 1);
    atomic_store(&disk_free, 0); /* small transactions do not check the free space */
    assert_ok(f, store_dataset_delete(f->store, NULL, "c", 0, NULL, &f->problem));
    atomic_store(&disk_free, 1LL << 40);
    d.part = stage(f->store, 2, 2, 2, 2000000);
    assert_ok(f, store_dataset_publish(f->store, &d, &out, NULL, &f->problem));
}

/* ---- groups of transactions ---- */

static void insert_model(struct store_tx *tx, void *arg) {
    const char *name = arg;
    STORE_RUN(tx->connection, tx->problem,
              "INSERT INTO models (name, last_version, live, newest, tags, revision) VALUES (?, 0, "
              "0, 0, '[]', 0)",
              store_text(name));
    store_tx_change(tx, STORE_CHANGE_MODEL, name, 0);
}
static void insert_and_fail(struct store_tx *tx, void *arg) {
    insert_model(tx, arg);
    problem_set(tx->problem, PROBLEM_CONFLICT, "no");
    insert_model(tx, "never");
}
static void insert_and_lose_all(struct store_tx *tx, void *arg) {
    insert_model(tx, arg);
    sqlite3_exec(store_sqlite_db(tx->connection), "ROLLBACK", NULL, NULL,
                 NULL); /* SQLite also rolls back on a full disk */
    problem_set(tx->problem, PROBLEM_STORAGE_FULL, "full");
}

static int told;
static void count_told(struct store_work *work) {
    (void)work;
    told++;
}

/* Runs three transactions in one commit on the calling thread. The writer thread has been
 * stopped. */
static void run_three(struct fixture *f, store_tx_fn second, struct problem problems[3]) {
    static char names[3][4] = {"one", "two", "six"};
    struct store_work works[3];
    told = 0;
    for (int i = 0; i < 3; i++) {
        works[i] = (struct store_work){.next = i < 2 ? &works[i + 1] : NULL,
                                       .run = i == 1 ? second : insert_model,
                                       .arg = names[i],
                                       .problem = &problems[i],
                                       .done = count_told};
    }
    store_run_group(f->store, works, f->store->writer.state_seconds);
    assert_int_equal(told, 3);
}

static void test_a_group_keeps_each_one_atomic(void **state) {
    struct fixture *f = *state;
    struct problem problems[3] = {{0}};
    store_writer_stop(f->store);
    run_three(f, insert_and_fail, problems);
    assert_int_equal(problems[0].type, PROBLEM_NONE);
    assert_int_equal(problems[1].type, PROBLEM_CONFLICT);
    assert_int_equal(problems[2].type, PROBLEM_NONE);
    assert_int_equal(sql_ask(f->path, "SELECT count(*) FROM models WHERE name IN ('one', 'six')"),
                     2);
    assert_int_equal(sql_ask(f->path, "SELECT count(*) FROM models"), 2);
    assert_int_equal(store_changes_last(f->store), 2); /* the failed transaction makes no change */
    sql_run(f->path, "DELETE FROM models");
    problem_done(&problems[1]);
    run_three(f, insert_and_lose_all, problems);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(problems[i].type, PROBLEM_STORAGE_FULL);
        problem_done(&problems[i]);
    }
    assert_int_equal(sql_ask(f->path, "SELECT count(*) FROM models"), 0);
    assert_int_equal(store_changes_last(f->store), 2);
    assert_true(sqlite3_get_autocommit(store_sqlite_db(f->store->writer.connection)));
    struct problem problem = {0};
    f->store->writer.stopping = false;
    /* the teardown needs the thread, which it stops */
    assert_true(store_writer_start(f->store, &problem));
}

int main(void) {
    fixture_begin();
#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {T(test_damaged_chunk_is_told),
                                       T(test_damaged_model_is_told),
                                       T(test_damaged_number_of_rows),
                                       T(test_full_disk),
                                       T(test_chunks_leave_room),
                                       T(test_a_group_keeps_each_one_atomic)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
