/* Tests of the audit: which changes have an entry, and what a check of the chain finds. */
#include "unit/store/fixture.h"

static const struct store_actor by = {"ops", "192.0.2.7", "request-1"};

/* Makes a change of each kind. */
static void change_all(struct fixture *f) {
    struct store_dataset_new d = dataset_new("data", stage(f->store, 1, 2, 3, 1000), "b2:1", 2, 3);
    struct store_dataset_published made;
    d.by = by;
    assert_ok(f, store_dataset_publish(f->store, &d, &made, NULL, &f->problem));
    d.part = stage(f->store, 2, 2, 3, 1000);
    d.content = "b2:2";
    assert_ok(f, store_dataset_publish(f->store, &d, &made, NULL, &f->problem));
    d.part = stage(f->store, 2, 2, 3, 1000); /* unchanged: has no entry */
    assert_ok(f, store_dataset_publish(f->store, &d, &made, NULL, &f->problem));
    assert_true(made.unchanged);
    d.part = stage(f->store, 3, 2, 3, 1000);
    d.content = "b2:3";
    d.onto = made.id;
    d.n_rows = 40;
    assert_ok(f, store_dataset_publish(f->store, &d, &made, NULL, &f->problem));
    assert_ok(f, store_dataset_patch(f->store, &by, "data",
                                     &(struct store_patch){.description = "text"}, NULL, NULL,
                                     &f->problem));
    for (int i = 0; i < 2; i++) {
        const int64_t job = insert_job(f, "m", made.id);
        claim_job(f, 3);
        succeed_job(f, job, i, 1, 100, 0);
    }
    const int64_t queued = insert_job(f, "m", made.id);
    assert_ok(f, store_job_cancel(f->store, &by, queued, NULL, NULL, NULL, &f->problem));
    assert_ok(f, store_job_delete(f->store, &by, queued, NULL, &f->problem));
    assert_ok(f, store_model_set_live(f->store, &by, "m", 1, NULL, NULL, &f->problem));
    assert_ok(f,
              store_model_set_live(f->store, &by, "m", 1, NULL, NULL, &f->problem)); /* no entry */
    assert_ok(f, store_model_patch(f->store, &by, "m", &(struct store_patch){.tags = "[\"a\"]"},
                                   NULL, NULL, &f->problem));
    assert_ok(f, store_model_delete(f->store, &by, "m", 1, 2, NULL, &f->problem));
    assert_ok(f, store_job_prune(f->store, 1, &f->problem));
    assert_ok(f, store_dataset_delete(f->store, &by, "data", 0, NULL, &f->problem));
}

static const char *const actions[] = {"dataset.create", "dataset.replace", "dataset.append",
                                      "dataset.patch",  "job.create",      "job.end",
                                      "job.create",     "job.end",         "job.create",
                                      "job.cancel",     "job.end",         "job.delete",
                                      "model.live",     "model.patch",     "model.delete",
                                      "job.prune",      "dataset.delete"};
enum { N_ACTIONS = sizeof actions / sizeof actions[0] };

static struct store_audit_report verify(struct fixture *f, const char *known) {
    struct store_audit_report report;
    assert_ok(f, store_audit_verify(f->path, known, &report, &f->problem));
    return report;
}

static void assert_broken(struct fixture *f, const char *fault) {
    const struct store_audit_report report = verify(f, NULL);
    assert_true(report.n_faults > 0);
    if (strstr(report.fault, fault) == NULL) {
        fail_msg("\"%s\" does not contain \"%s\"", report.fault, fault);
    }
}

static void test_entries(void **state) {
    struct fixture *f = *state;
    struct store_page page = {0};
    struct store_audit_head head;
    const struct store_limit all = {0};
    change_all(f);
    struct store_audit_filter filter = {0};
    assert_ok(f, store_audit_list(f->store, &filter, &all, &page, &head, &f->problem));
    assert_int_equal(page.n, N_ACTIONS);
    const struct store_audit_entry *e = page.items;
    assert_int_equal(head.first, 1);
    assert_int_equal(head.seq, N_ACTIONS);
    assert_string_equal(head.hash, e[0].hash);
    for (size_t i = 0; i < N_ACTIONS; i++) {
        const struct store_audit_entry *entry = &e[N_ACTIONS - 1 - i];
        assert_string_equal(entry->action, actions[i]);
        assert_int_equal(entry->seq, i + 1);
        assert_true(entry->intact);
    }
    const struct store_audit_entry *deleted = &e[N_ACTIONS - 15];
    assert_string_equal(deleted->token, "ops");
    assert_string_equal(deleted->client, "192.0.2.7");
    assert_string_equal(deleted->request, "request-1");
    assert_string_equal(deleted->name, "m");
    assert_int_equal(deleted->version, 1);
    assert_string_equal(deleted->detail, "live version 2");
    assert_string_equal(e[N_ACTIONS - 6].detail, "live");
    assert_string_equal(e[N_ACTIONS - 12].name, "m"); /* a job has the name of its model */
    store_page_done(&page);
    filter = (struct store_audit_filter){.action = "job.end", .before = 11};
    assert_ok(f, store_audit_list(f->store, &filter, &all, &page, &head, &f->problem));
    assert_int_equal(page.n, 2);
    store_page_done(&page);
    const struct store_audit_report report = verify(f, head.hash);
    assert_int_equal(report.n_faults, 0);
    assert_int_equal(report.n_entries, N_ACTIONS);
    /* a change that fails has no entry */
    assert_problem(f, store_model_set_live(f->store, &by, "m", 9, NULL, NULL, &f->problem),
                   PROBLEM_UNKNOWN_MODEL, "no version 9");
    assert_int_equal(verify(f, NULL).n_entries, N_ACTIONS);
}

/* Runs SQL without the triggers of the audit. */
static void tamper(struct fixture *f, const char *sql) {
    char text[1024];
    snprintf(text, sizeof text,
             "DROP TRIGGER IF EXISTS audit_inserted; DROP TRIGGER IF EXISTS audit_updated; DROP "
             "TRIGGER IF EXISTS audit_deleted; DROP TRIGGER IF EXISTS audit_anchor_updated; %s",
             sql);
    sql_run(f->path, text);
}

static void test_every_column_is_covered(void **state) {
    struct fixture *f = *state;
    static const char *const columns[] = {"at",    "token",  "client",  "request", "action",
                                          "kind",  "name",   "version", "job",     "result",
                                          "count", "detail", "hash"};
    change_all(f);
    assert_int_equal(sql_ask(f->path, "SELECT count(*) FROM pragma_table_info('audit')"),
                     1 + sizeof columns / sizeof columns[0]);
    sql_run(f->path, "CREATE TABLE saved AS SELECT * FROM audit WHERE seq = 7");
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        char sql[512];
        snprintf(sql, sizeof sql,
                 "UPDATE audit SET %s = CASE WHEN typeof(%s) = 'blob' THEN randomblob(32) WHEN "
                 "typeof(%s) = 'null' THEN 0 ELSE 1 || %s END WHERE seq = 7",
                 columns[i], columns[i], columns[i], columns[i]);
        tamper(f, sql);
        assert_broken(f, "entry 7 does not match its hash");
        snprintf(sql, sizeof sql, "UPDATE audit SET %s = (SELECT %s FROM saved) WHERE seq = 7",
                 columns[i], columns[i]);
        tamper(f, sql);
        assert_int_equal(verify(f, NULL).n_faults, 0);
    }
}

static void test_rows(void **state) {
    struct fixture *f = *state;
    change_all(f);
    sql_run(f->path, "CREATE TABLE saved AS SELECT * FROM audit");
    static const struct {
        const char *sql, *fault;
    } cases[] = {
        {"DELETE FROM audit WHERE seq = 5", "entry 6 follows entry 4"},
        {"DELETE FROM audit WHERE seq = 5; UPDATE audit SET seq = seq - 1 WHERE seq > 5",
         "entry 5 does not match its hash"},
        {"DELETE FROM audit WHERE seq = 1", "entry 2 follows entry 0"},
        {"UPDATE audit SET seq = -1 WHERE seq = 5; UPDATE audit SET seq = 5 WHERE seq = 6; UPDATE "
         "audit SET seq = 6 WHERE seq = -1",
         "entry 5 does not match its hash"},
        {"INSERT INTO audit SELECT 18, at, token, client, request, action, kind, name, version, "
         "job, result, count, detail, hash FROM saved WHERE seq = 17",
         "entry 18 does not match its hash"},
        {"UPDATE audit_anchor SET hash = randomblob(32)", "entry 1 does not match its hash"},
        {"DELETE FROM audit WHERE seq < 5; UPDATE audit_anchor SET (seq, hash) = (SELECT seq, hash "
         "FROM saved WHERE seq = 4)",
         "the anchor"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tamper(f, cases[i].sql);
        assert_broken(f, cases[i].fault);
        tamper(f, "DELETE FROM audit; INSERT INTO audit SELECT * FROM saved; UPDATE audit_anchor "
                  "SET seq = 0, hash = zeroblob(32)");
        assert_int_equal(verify(f, NULL).n_faults, 0);
    }
    /* the end is covered by a hash that was noted earlier */
    const struct store_audit_report before = verify(f, NULL);
    tamper(f, "DELETE FROM audit WHERE seq > 15");
    assert_int_equal(verify(f, NULL).n_faults, 0);
    const struct store_audit_report after = verify(f, before.head.hash);
    assert_int_equal(after.n_faults, 1);
    assert_non_null(strstr(after.fault, "entries at the end are missing"));
}

static void assert_refused(struct fixture *f, const char *sql, const char *message) {
    sqlite3 *db;
    char *error = NULL;
    assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
    sqlite3_busy_timeout(db, 20000);
    assert_int_not_equal(sqlite3_exec(db, sql, NULL, NULL, &error), SQLITE_OK);
    assert_non_null(strstr(error, message));
    sqlite3_free(error);
    sqlite3_close(db);
}

static void test_entries_are_only_added(void **state) {
    struct fixture *f = *state;
    publish(f, "data", 1);
    assert_refused(f, "UPDATE audit SET token = 'x'", "cannot be changed");
    assert_refused(f, "DELETE FROM audit", "cannot be deleted");
    assert_refused(f, "REPLACE INTO audit SELECT * FROM audit", "cannot be replaced");
    assert_refused(f, "UPDATE audit_anchor SET seq = 0", "moves forward only");
    assert_refused(f, "DELETE FROM audit_anchor", "cannot be deleted");
}

static void test_old_entries_are_deleted(void **state) {
    struct fixture *f = *state;
    const struct store_settings settings = {.path = f->path, .keep_audit = 20};
    publish(f, "data", 1);
    fixture_close(f);
    assert_ok(f, store_open(&settings, &f->store, &f->problem));
    for (int i = 0; i < 60; i++) {
        assert_ok(f,
                  store_dataset_patch(f->store, &by, "data",
                                      &(struct store_patch){.description = i % 2 != 0 ? "a" : "b"},
                                      NULL, NULL, &f->problem));
        const struct store_audit_report report = verify(f, NULL);
        if (report.n_faults > 0) {
            fail_msg("%s", report.fault);
        }
        assert_true(report.n_entries <= 23);
    }
    assert_true(verify(f, NULL).head.first > 30);
    assert_true(sql_ask(f->path, "SELECT count(*) FROM audit WHERE action = 'audit.prune'") > 0);
    assert_int_equal(sql_ask(f->path, "SELECT max(seq) - min(seq) + 1 = count(*) FROM audit"), 1);
}

/* Damage of the newest entry or of the anchor must not prevent changes. */
static void test_damage_prevents_no_change(void **state) {
    struct fixture *f = *state;
    static const char *const damages[] = {
        "UPDATE audit SET hash = x'' WHERE seq = (SELECT max(seq) FROM audit)",
        "UPDATE audit SET hash = randomblob(100) WHERE seq = (SELECT max(seq) FROM audit)",
        "UPDATE audit SET seq = 9223372036854775807 WHERE seq = (SELECT max(seq) FROM audit)",
        "UPDATE audit SET seq = -9223372036854775807 WHERE seq = (SELECT min(seq) FROM audit)",
        "UPDATE audit_anchor SET seq = 9223372036854775807",
        "DROP TRIGGER audit_anchor_deleted; DELETE FROM audit_anchor",
    };
    publish(f, "data", 1);
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        tamper(f, damages[i]);
        assert_ok(f, store_dataset_patch(f->store, &by, "data",
                                         &(struct store_patch){.description = "x"}, NULL, NULL,
                                         &f->problem));
        assert_true(verify(f, NULL).n_faults > 0);
    }
    fixture_close(f);
    const struct store_settings settings = {.path = f->path, .keep_audit = 1};
    assert_ok(f, store_open(&settings, &f->store, &f->problem));
    assert_ok(f,
              store_dataset_patch(f->store, &by, "data", &(struct store_patch){.description = "y"},
                                  NULL, NULL, &f->problem));
}

/* Refused calls of many clients: few entries, and no call is lost from the count. */
static void test_refusals(void **state) {
    struct fixture *f = *state;
    enum { CLIENTS = 500, CALLS = 3 };
    for (int i = 0; i < CLIENTS * CALLS; i++) {
        char client[32];
        snprintf(client, sizeof client, "192.0.2.%d", i % CLIENTS);
        const struct store_refusal refusal = {.by = {NULL, client, "r"},
                                              .name = "a",
                                              .call = "GET /v1/datasets"};
        store_audit_refused(f->store, &refusal);
    }
    /* a known token is not crowded out */
    const struct store_refusal known = {.by = by, .call = "GET /v1/audit", .forbidden = true};
    store_audit_refused(f->store, &known);
    sql_await(f->path, "SELECT count(*) FROM audit WHERE result = 'unauthorized'", 16);
    sql_await(f->path, "SELECT count(*) FROM audit WHERE result = 'forbidden' AND token = 'ops'",
              1);
    fixture_close(f); /* ends the window */
    assert_true(sql_ask(f->path, "SELECT count(*) FROM audit") <= 2 * 16 + 2);
    assert_int_equal(sql_ask(f->path, "SELECT sum(count) FROM audit WHERE action = "
                                      "'access.refused'"),
                     CLIENTS * CALLS + 1);
    assert_int_equal(sql_ask(f->path, "SELECT max(count) FROM audit WHERE client IS NULL"),
                     (CLIENTS - 16) * CALLS);
    assert_int_equal(verify(f, NULL).n_faults, 0);
}

static void test_other_files(void **state) {
    struct fixture *f = *state;
    struct store_audit_report report;
    char other[128];
    snprintf(other, sizeof other, "%s/other.db", f->directory);
    assert_problem(f, store_audit_verify(other, NULL, &report, &f->problem), PROBLEM_INTERNAL,
                   "the database failed");
    sql_run(other, "CREATE TABLE t (x)");
    assert_problem(f, store_audit_verify(other, NULL, &report, &f->problem), PROBLEM_INVALID,
                   "has no audit");
}

int main(void) {
    fixture_begin();
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
        TEST(test_entries),
        TEST(test_every_column_is_covered),
        TEST(test_rows),
        TEST(test_entries_are_only_added),
        TEST(test_old_entries_are_deleted),
        TEST(test_damage_prevents_no_change),
        TEST(test_refusals),
        TEST(test_other_files),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
