/* Tests of the checksums of rows of metadata: which columns they cover, and what a row without its
 * checksum does. */
#include "store/engine/rows.h"
#include "store/sqlite/sqlite.h"
#include "unit/store/fixture.h"

/* Changes rows as damage would: the triggers do not write their checksums. */
static void damage(struct fixture *f, const char *table, const char *change) {
    char sql[4096], trigger[2048] = "";
    sqlite3 *db;
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
    snprintf(sql, sizeof sql, "SELECT sql FROM sqlite_schema WHERE name = '%s_updated'", table);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    if (sqlite3_step(s) == SQLITE_ROW) {
        snprintf(trigger, sizeof trigger, "%s", (const char *)sqlite3_column_text(s, 0));
    }
    sqlite3_finalize(s);
    sqlite3_close(db);
    snprintf(sql, sizeof sql, "BEGIN IMMEDIATE; DROP TRIGGER IF EXISTS %s_updated; %s; %s; COMMIT",
             table, change, trigger);
    sql_run(f->path, sql);
}

#define DAMAGED "stored data is damaged: "

/* Publishes the dataset "data" with a saved summary. */
static int64_t publish_summaries(struct fixture *f) {
    const struct store_blob summary = {"abc", 3};
    struct store_dataset_published out = {0};
    struct store_dataset_new d = dataset_new("data", stage(f->store, 1, 2, 3, 1000), "b2:1", 2, 3);
    d.summaries = &summary;
    d.n_summaries = 1;
    assert_ok(f, store_dataset_publish(f->store, &d, &out, NULL, &f->problem));
    return out.id;
}

static void write_answer(void *arg, const void *made, struct store_answer *out) {
    (void)arg;
    (void)made;
    out->status = 202;
    out->location = strdup("/there");
    buf_puts(&out->body, "{}");
}

/* Queues a job with a stored request and a key. */
static int64_t insert_request(struct fixture *f, int64_t dataset) {
    static int n;
    char name[16];
    snprintf(name, sizeof name, "key %d", n++);
    struct store_key key = {
        .owner = "", .key = name, .request = "r", .body = "b", .write = write_answer};
    const struct store_job_new j = {.key = &key,
                                    .model = "m",
                                    .algorithm = "logistic",
                                    .dataset_id = dataset,
                                    .request = "{\"model\":\"m\"}",
                                    .spec = "{\"seed\":1}"};
    int64_t id = 0;
    assert_ok(f, store_job_insert(f->store, &j, &id, NULL, &f->problem));
    store_answer_done(&key.answer);
    return id;
}

static void test_all_columns_are_covered(void **state) {
    struct fixture *f = *state;
    static const struct {
        const char *table, *crc;
    } tables[] = {
        {"parts", STORE_CRC_PARTS("T")},
        {"chunks", STORE_CRC_CHUNKS("T")},
        {"datasets", STORE_CRC_DATASETS("T")},
        {"dataset_versions", STORE_CRC_DATASET_VERSIONS("T")},
        {"dataset_parts", STORE_CRC_DATASET_PARTS("T")},
        {"dataset_summaries", STORE_CRC_DATASET_SUMMARIES("T")},
        {"job_requests", STORE_CRC_JOB_REQUESTS("T")},
        {"job_pins", STORE_CRC_JOB_PINS("T")},
        {"models", STORE_CRC_MODELS("T")},
        {"model_versions", STORE_CRC_MODEL_VERSIONS("T")},
        {"jobs", STORE_CRC_JOBS("T")},
        {"job_events", STORE_CRC_JOB_EVENTS("T")},
        {"job_history", STORE_CRC_JOB_HISTORY("T")},
        {"job_trials", STORE_CRC_JOB_TRIALS("T")},
        {"idempotency_keys", STORE_CRC_IDEMPOTENCY_KEYS("T")},
    };
    const int64_t dataset = publish_summaries(f), job = insert_request(f, dataset);
    claim_job(f, 3);
    const struct store_history_row rows[] = {{.iteration = 1, .doc = "{}"},
                                             {.trial = true, .doc = "{}"}};
    const struct store_claim claim = claim_of(f, job);
    bool cancel;
    assert_ok(f, store_job_report(f->store, &claim, "{}", rows, 2, &cancel, &f->problem));
    succeed_job(f, job, 1, 1, 100, 0);
    insert_request(f, dataset); /* its pins */
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        char sql[4096];
        /* a column is the name after the point of an argument */
        snprintf(sql, sizeof sql,
                 "SELECT count(*) FROM pragma_table_info('%s') WHERE name <> 'crc' AND NOT (instr("
                 "replace('%s', ')', ','), '.' || name || ',') > 0)",
                 tables[i].table, tables[i].crc);
        assert_int_equal(sql_ask(f->path, sql), 0);
        /* the triggers have the same arguments: every row has its checksum, after INSERT and after
         * UPDATE */
        snprintf(sql, sizeof sql, "SELECT count(*) > 0 AND count(*) = sum(crc = %s) FROM %s T",
                 tables[i].crc, tables[i].table);
        assert_int_equal(sql_ask(f->path, sql), 1);
    }
}

static void test_damaged_datasets(void **state) {
    struct fixture *f = *state;
    const int64_t id = publish(f, "a", 1).id;
    publish(f, "b", 2);
    struct store_dataset d = {0};
    struct store_chunk *chunks = NULL;
    struct store_page page = {0};
    size_t n = 0;
    damage(f, "dataset_versions", "UPDATE dataset_versions SET n_rows = 10 * n_rows WHERE id = 1");
    assert_problem(f, store_dataset_get(f->store, "a", 0, &d, &f->problem), PROBLEM_INTERNAL,
                   DAMAGED "dataset_versions, row 1 does not match its checksum");
    const struct store_limit all = {0};
    assert_ok(f, store_dataset_list(f->store, NULL, &all, &page, &f->problem));
    assert_int_equal(page.n, 1); /* the list leaves it out */
    assert_string_equal(((struct store_dataset *)page.items)->name, "b");
    store_page_done(&page);
    assert_problem(f, store_dataset_chunks(f->store, id, &chunks, &n, &f->problem),
                   PROBLEM_INTERNAL, "have 20 rows, not 200");
    assert_ok(f, store_dataset_get(f->store, "b", 0, &d, &f->problem));
    store_dataset_done(&d);
    /* a later change keeps the damage */
    sql_run(f->path, "UPDATE dataset_versions SET bytes = bytes + 1 WHERE id = 1");
    assert_problem(f, store_dataset_get(f->store, "a", 0, &d, &f->problem), PROBLEM_INTERNAL,
                   DAMAGED "dataset_versions, row 1");
    /* it can be deleted; its chunks stay, because its row may be that of another version */
    assert_ok(f, store_dataset_delete(f->store, NULL, "a", 0, NULL, &f->problem));
    assert_problem(f, store_dataset_get(f->store, "a", 0, &d, &f->problem), PROBLEM_UNKNOWN_DATASET,
                   "there is no dataset");
    assert_int_equal(publish(f, "a", 1).version, 2);
    assert_int_equal(sql_ask(f->path, "SELECT count(*) FROM parts"), 3);
    damage(f, "datasets", "UPDATE datasets SET newest = 7 WHERE name = 'b'");
    assert_problem(f,
                   store_dataset_patch(f->store, NULL, "b",
                                       &(struct store_patch){.description = "x"}, NULL, NULL,
                                       &f->problem),
                   PROBLEM_INTERNAL, DAMAGED "datasets, row 'b'");
}

/* A name whose row is damaged can be deleted and used again. No version number is used twice. */
static void test_damaged_names(void **state) {
    static const char *const changes[] = {"newest = 0", "last_version = 0", "tags = ''",
                                          "revision = 10 * revision - 1"};
    struct fixture *f = *state;
    struct store_dataset d = {0};
    struct store_model m = {0};
    int64_t version = 0;
    for (size_t i = 0; i < 4; i++) {
        char sql[200];
        const struct store_dataset_published out = publish(f, "a", (int64_t)i);
        assert_int_equal(out.version, ++version);
        insert_job(f, "m", out.id);
        const int64_t job = claim_job(f, 3);
        assert_int_equal(succeed_job(f, job, 1, 1, 100, 0), version);
        snprintf(sql, sizeof sql, "UPDATE datasets SET %s", changes[i]);
        damage(f, "datasets", sql);
        snprintf(sql, sizeof sql, "UPDATE models SET %s", changes[i]);
        damage(f, "models", sql);
        assert_problem(f, store_dataset_get(f->store, "a", 0, &d, &f->problem), PROBLEM_INTERNAL,
                       DAMAGED "datasets, row 'a' does not match its checksum");
        assert_problem(f, store_model_get(f->store, "m", 0, &m, &f->problem), PROBLEM_INTERNAL,
                       DAMAGED "models, row 'm' does not match its checksum");
        assert_ok(f, store_dataset_delete(f->store, NULL, "a", 0, NULL, &f->problem));
        assert_ok(f, store_model_delete(f->store, NULL, "m", 0, 0, NULL, &f->problem));
        assert_problem(f, store_dataset_get(f->store, "a", 0, &d, &f->problem),
                       PROBLEM_UNKNOWN_DATASET, "there is no dataset");
        assert_problem(f, store_model_get(f->store, "m", 0, &m, &f->problem), PROBLEM_UNKNOWN_MODEL,
                       "there is no model");
    }
    /* a row under another name: the versions are not served, and their numbers are not used again */
    publish(f, "a", 9);
    damage(f, "datasets", "PRAGMA foreign_keys = OFF; UPDATE datasets SET name = 'x'");
    assert_problem(f, store_dataset_get(f->store, "a", 0, &d, &f->problem), PROBLEM_INTERNAL,
                   "its row of datasets is missing");
    assert_int_equal(publish(f, "a", 10).version, 6);
}

/* The sweep removes no data that a damaged row may hide. */
static void test_sweep_spares_damage(void **state) {
    struct fixture *f = *state;
    const int64_t a = publish(f, "a", 1).id, b = publish(f, "b", 2).id, c = publish(f, "c", 3).id;
    struct store_chunk *chunks = NULL;
    size_t n = 0;
    struct buf bytes = {0};
    /* a refers to the part of b; c has a chunk that refers to the blobs of b; the part of b is dead */
    damage(f, "dataset_parts",
           "UPDATE dataset_parts SET part = (SELECT part FROM dataset_parts WHERE version = 2) "
           "WHERE version = 1");
    damage(f, "chunks",
           "UPDATE chunks SET first_blob = 7 WHERE chunk = 1 AND part = (SELECT part FROM "
           "dataset_parts WHERE version = 3)");
    sql_run(f->path, "UPDATE parts SET state = 2 WHERE id = (SELECT part FROM dataset_parts WHERE "
                     "version = 2)");
    assert_true(a == 1 && b == 2 && c == 3);
    assert_ok(f, store_dataset_delete(f->store, NULL, "a", 0, NULL, &f->problem));
    assert_ok(f, store_dataset_delete(f->store, NULL, "c", 0, NULL, &f->problem));
    sql_await(f->path, "SELECT count(*) FROM dataset_versions", 1);
    fixture_close(f);
    fixture_open(f);
    publish(f, "d", 4);
    assert_ok(f, store_dataset_chunks(f->store, b, &chunks, &n, &f->problem));
    assert_int_equal(n, 2);
    for (size_t i = 0; i < 6; i++) {
        assert_ok(f, store_chunk_read(f->store, &chunks[i / 3], i % 3, &bytes, &f->problem));
    }
    assert_int_equal(sql_ask(f->path, "SELECT count(*) FROM blobs WHERE id <= 18"), 18);
    free(chunks);
    buf_done(&bytes);
}

/* Damage of the last blob's number does not give its number to another blob. */
static void test_blob_numbers(void **state) {
    struct fixture *f = *state;
    const int64_t id = publish(f, "a", 1).id;
    struct store_chunk *chunks = NULL;
    size_t n = 0;
    struct buf bytes = {0};
    sql_run(f->path, "UPDATE blobs SET id = -1 WHERE id = 6");
    fixture_close(f);
    fixture_open(f);
    publish(f, "b", 2);
    assert_ok(f, store_dataset_chunks(f->store, id, &chunks, &n, &f->problem));
    assert_problem(f, store_chunk_read(f->store, &chunks[1], 2, &bytes, &f->problem),
                   PROBLEM_INTERNAL, "has no chunk 1, column 2");
    free(chunks);
    buf_done(&bytes);
}

/* A damaged number of a format does not make the database look newer than the binary. */
static void test_damaged_format(void **state) {
    struct fixture *f = *state;
    publish(f, "a", 1);
    damage(f, "dataset_versions", "UPDATE dataset_versions SET format = 10 * format");
    fixture_close(f);
    assert_true(fixture_open(f));
    sql_run(f->path,
            "UPDATE dataset_versions SET crc = " STORE_CRC_DATASET_VERSIONS("dataset_versions"));
    fixture_close(f);
    assert_false(fixture_open(f));
    assert_non_null(strstr(f->problem.detail, "newer than this binary"));
    problem_done(&f->problem);
}

static void test_damaged_chunks(void **state) {
    struct fixture *f = *state;
    const int64_t id = publish(f, "a", 1).id;
    struct store_chunk *chunks = NULL;
    size_t n = 0;
    struct buf b = {0};
    assert_ok(f, store_dataset_chunks(f->store, id, &chunks, &n, &f->problem));
    damage(f, "chunks", "UPDATE chunks SET first_blob = first_blob + 1 WHERE chunk = 1");
    assert_problem(f, store_chunk_read(f->store, &chunks[1], 0, &b, &f->problem), PROBLEM_INTERNAL,
                   "/1 does not match its checksum");
    assert_ok(f, store_chunk_read(f->store, &chunks[0], 0, &b, &f->problem));
    free(chunks);
    chunks = NULL;
    damage(f, "dataset_parts", "UPDATE dataset_parts SET seq = 3");
    assert_problem(f, store_dataset_chunks(f->store, id, &chunks, &n, &f->problem),
                   PROBLEM_INTERNAL, "does not match its checksum");
    buf_done(&b);
}

static void test_damaged_models(void **state) {
    struct fixture *f = *state;
    const int64_t dataset = publish(f, "data", 1).id;
    int64_t job = insert_job(f, "m", dataset);
    claim_job(f, 3);
    succeed_job(f, job, 1, 1, 100, 0);
    struct store_model m = {0};
    damage(f, "models", "UPDATE models SET live = 2");
    assert_problem(f, store_model_get(f->store, "m", 1, &m, &f->problem), PROBLEM_INTERNAL,
                   DAMAGED "models, row 'm'");
    damage(f, "models", "UPDATE models SET live = 1");
    assert_ok(f, store_model_get(f->store, "m", 1, &m, &f->problem));
    struct buf b = {0};
    damage(f, "model_versions", "UPDATE model_versions SET part = part + 1");
    assert_problem(f, store_model_bytes(f->store, m.id, &b, &f->problem), PROBLEM_INTERNAL,
                   DAMAGED "model_versions, row 1");
    store_model_done(&m);
}

/* A damaged job is not run, and jobs after it are. */
static void test_damaged_jobs(void **state) {
    struct fixture *f = *state;
    const int64_t dataset = publish(f, "data", 1).id;
    const int64_t first = insert_job(f, "m", dataset), second = insert_job(f, "m", dataset);
    struct store_job j = {0};
    damage(f, "jobs", "UPDATE jobs SET spec = '{}' WHERE id = 1");
    assert_int_equal(first, 1);
    assert_int_equal(claim_job(f, 3), second);
    assert_problem(f, store_job_get(f->store, first, &j, &f->problem), PROBLEM_INTERNAL,
                   DAMAGED "jobs, row 1");
    assert_problem(f, store_job_cancel(f->store, NULL, first, NULL, NULL, NULL, &f->problem),
                   PROBLEM_INTERNAL, DAMAGED "jobs, row 1");
    /* it can be deleted, and it keeps no dataset */
    const int64_t other = publish(f, "other", 2).id, third = insert_job(f, "m", other);
    damage(f, "jobs", "UPDATE jobs SET owner = 'x' WHERE id = 3");
    assert_int_equal(third, 3);
    assert_ok(f, store_dataset_delete(f->store, NULL, "other", 0, NULL, &f->problem));
    sql_await(f->path, "SELECT count(*) FROM dataset_versions", 1);
    assert_ok(f, store_job_delete(f->store, NULL, first, NULL, &f->problem));
    assert_ok(f, store_job_delete(f->store, NULL, third, NULL, &f->problem));
    assert_problem(f, store_job_delete(f->store, NULL, third, NULL, &f->problem),
                   PROBLEM_UNKNOWN_JOB, "there is no job 3");
    struct store_page page = {0};
    const struct store_limit all = {0};
    /* a damaged request: the job runs and is listed */
    const int64_t fourth = insert_request(f, dataset);
    damage(f, "job_requests", "UPDATE job_requests SET request = '{}'");
    assert_int_equal(claim_job(f, 3), fourth);
    assert_problem(f, store_job_get(f->store, fourth, &j, &f->problem), PROBLEM_INTERNAL,
                   DAMAGED "job_requests, row 4 does not match its checksum");
    const struct store_job_filter any = {.state = -1};
    assert_ok(f, store_job_list(f->store, &any, &all, &page, &f->problem));
    assert_int_equal(page.n, 2);
    store_page_done(&page);
    damage(f, "job_events", "UPDATE job_events SET kind = 2 WHERE job = 2");
    assert_problem(f, store_job_events(f->store, second, 0, &all, &page, &f->problem),
                   PROBLEM_INTERNAL, DAMAGED "job_events, row 2/1");
}

int main(void) {
    fixture_begin();
#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        T(test_all_columns_are_covered), T(test_damaged_datasets), T(test_damaged_names),
        T(test_sweep_spares_damage),     T(test_blob_numbers),     T(test_damaged_format),
        T(test_damaged_chunks),          T(test_damaged_models),   T(test_damaged_jobs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
