/* A disk whose writes and fsyncs fail: readiness, refusals, uploads in flight. The daemon is
 * $BUILD/crashing/discernd, whose database is on a faulty VFS. */
#include "lib/api.h"
#include "lib/faulty_vfs.h"
#include "lib/postgresql.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct faulty *faults;
static char faults_path[128];

static void assert_writes(const char *expected, const char *since) {
    const struct response *r = problem_check(call_get("/readyz"), 503, "unavailable");
    assert_string_equal(string_at(r, "/checks/writes"), expected);
    assert_string_equal(string_at(r, "/checks/reads"), "ok");
    assert_string_equal(string_at(r, "/checks/database"), "failing");
    assert_string_equal(string_at(r, "/checks/workers"), "ok");
    assert_non_null(strstr(string_at(r, "/detail"), since));
    assert_non_null(strstr(string_at(r, "/detail"), string_at(r, "/checks/writes_since")));
    assert_non_null(strstr(string_at(r, "/detail"), "reads go on"));
    status_check(call_get("/healthz"), 200);
}

static void await_ready(void) {
    const struct response *r = call_get("/readyz");
    for (double end = now() + 60; r->status != 200 && now() < end; r = call_get("/readyz")) {
        pause_ms(20);
    }
    status_check(r, 200);
    assert_json(r, "/checks",
                "{'database':'ok','reads':'ok','writes':'ok','writes_since':null,"
                "'migrations':'ok','workers':'ok','workers_since':null,"
                "'draining':'no'}");
}

static const struct response *describe(const char *words) {
    return call_patch("/v1/datasets/iris", "{'description':'%s'}", words);
}

/* Waits until the database has chunks of a part that is not published. */
static void await_staged(void) {
    for (double end = now() + 60; now() < end; pause_ms(20)) {
        sqlite3 *db;
        sqlite3_stmt *s;
        int n = 0;
        assert_int_equal(sqlite3_open(the_daemon.database, &db), SQLITE_OK);
        assert_int_equal(sqlite3_prepare_v2(
                             db,
                             "SELECT count(*) FROM chunks JOIN parts ON id = part WHERE state = 0",
                             -1, &s, NULL),
                         SQLITE_OK);
        n = sqlite3_step(s) == SQLITE_ROW ? sqlite3_column_int(s, 0) : 0;
        sqlite3_finalize(s);
        sqlite3_close(db);
        if (n > 0) {
            return;
        }
    }
    fail_msg("no chunk was staged");
}

/* 700,000 rows of two columns are more than a chunk, which has 8 MiB. */
enum { ROWS = 700000, ROW = 4, LEFT = 1000 * ROW };

/* The fsync of a PATCH fails and uses up the error of chunks that an upload has staged. */
static void test_upload_beside_a_failed_fsync(void **state) {
    (void)state;
    const char *body = repeat("1,2\n", ROWS);
    service_start(NULL);
    upload_file("iris", "iris.csv");
    const int fd = raw_open();
    raw_send_text(fd, text("PUT /v1/datasets/big?header=false HTTP/1.1\r\nHost: localhost\r\n"
                           "Connection: close\r\nContent-Type: text/csv\r\n"
                           "Content-Length: %d\r\n\r\n",
                           ROWS * ROW));
    raw_send(fd, body, ROWS * ROW - LEFT);
    await_staged();
    faulty_set(faults, FAULTY_SYNC, 1, 1, EIO);
    problem_check(describe("not stored"), 500, "internal");
    await_ready();
    const struct response *r = raw_talk(fd, body, LEFT, 60);
    close(fd);
    problem_check(r, 503, "unavailable");
    /* a chunk that was queued during the failure was refused, or the staged one is lost */
    const char *detail = string_at(r, "/detail");
    if (strstr(detail, "send the data again") == NULL &&
        strstr(detail, "send the request again") == NULL) {
        fail_msg("%s", detail);
    }
    assert_non_null(header_of(r, "Retry-After"));
    await_ready();
    assert_int_equal(metric_at("discern_store_reopened_total"), 1);
    assert_int_equal(metric_at("discern_store_failures_total{kind=\"lost\"}"), 1);
    assert_int_equal(metric_at("discern_store_writable"), 1);
    r = status_check(call_get("/v1/datasets/iris"), 200);
    assert_true(json_is_null(value_at(r, "/description")));
    problem_check(call_get("/v1/datasets/big"), 404, "unknown-dataset");
    r = status_check(call_upload("/v1/datasets/big?header=false", body), 201);
    assert_int_equal(whole_at(r, "/rows"), ROWS);
    status_check(describe("stored"), 200);
    service_end();
}

/* While fsyncs fail, the daemon reads and predicts, refuses writes and says so. */
static void test_readiness_while_fsyncs_fail(void **state) {
    (void)state;
    service_start(NULL);
    upload_file("iris", "iris.csv");
    job_train("{'model':'m','dataset':'iris','target':'class','algorithm':'logistic'}");
    await_ready();
    faulty_set(faults, FAULTY_SYNC, 1, 1000000, EIO);
    problem_check(describe("no"), 500, "internal");
    assert_writes("failing", "have failed since");
    const struct response *r = problem_check(describe("no"), 503, "unavailable");
    assert_non_null(header_of(r, "Retry-After"));
    problem_check(call_upload("/v1/datasets/other", "a,b\n1,2\n3,4\n"), 503, "unavailable");
    status_check(call_post("/v1/models/m/predict", "{'instances':[[5.1,3.5,1.4,0.2]]}"), 200);
    status_check(call_get("/v1/datasets/iris/rows"), 200);
    assert_int_equal(metric_at("discern_store_writable"), 0);
    assert_writes("failing", "have failed since");
    faulty_set(faults, 0, 0, 0, 0);
    await_ready();
    status_check(describe("yes"), 200);
    /* killed while fsyncs fail: the next start has what was acknowledged */
    faulty_set(faults, FAULTY_SYNC, 1, 1000000, EIO);
    problem_check(describe("no"), 500, "internal");
    daemon_kill(&the_daemon);
    faulty_set(faults, 0, 0, 0, 0);
    daemon_start(&the_daemon);
    assert_string_equal(string_at(call_get("/v1/datasets/iris"), "/description"), "yes");
    await_ready();
    service_end();
}

/* A full disk: writes are refused with 507; a stop ends with 0. */
static void test_readiness_on_a_full_disk(void **state) {
    (void)state;
    service_start(NULL);
    upload_file("iris", "iris.csv");
    await_ready();
    faulty_set(faults, FAULTY_WRITE, 1, 1000000, ENOSPC);
    problem_check(describe("no"), 507, "storage-full");
    assert_writes("full", "writes are refused with 507");
    problem_check(call_upload("/v1/datasets/other", "a,b\n1,2\n3,4\n"), 507, "storage-full");
    status_check(call_get("/v1/datasets/iris/rows"), 200);
    faulty_set(faults, 0, 0, 0, 0);
    await_ready();
    status_check(describe("yes"), 200);
    faulty_set(faults, FAULTY_SYNC, 1, 1000000, ENOSPC);
    problem_check(describe("no"), 507, "storage-full");
    assert_writes("full", "writes are refused with 507");
    faulty_set(faults, 0, 0, 0, 0);
    await_ready();
    service_end();
}

/* A call that may fail because of the disk. Returns whether it succeeded. */
static bool attempt(const char *method, const char *path, const char *body) {
    const struct response *r =
        call(&(struct request){.method = method,
                               .path = path,
                               .body = body,
                               .upload = *method == 'P' && method[1] == 'U'});
    if (r->status != 500 && r->status != 503 && r->status != 507 &&
        (r->status < 200 || r->status > 299)) {
        fail_msg("%s %s: %d %s", method, path, r->status, r->body);
    }
    return r->status < 300;
}

/* Each k-th read, write, fsync and truncation of the database fails in a series of calls. What was
 * acknowledged is there afterwards. FAULT_STEP: k = 1, 1 + step, … until no operation failed. */
static void test_each_operation_fails(void **state) {
    (void)state;
    static const int errors[] = {EIO, ENOSPC};
    const char *step = getenv("FAULT_STEP");
    service_start(NULL);
    upload_file("iris", "iris.csv");
    await_ready();
    long failed = 1;
    for (int k = 1; failed > 0; k += step != NULL ? (int)strtol(step, NULL, 10) : 61) {
        const char *data = text("/v1/datasets/d%d", k), *gone = text("/v1/datasets/e%d", k),
                   *job = quoted("{'model':'m%d','dataset':'iris','target':'class',"
                                 "'algorithm':'gaussian'}",
                                 k);
        faulty_set(faults, FAULTY_ANY, k, 1, errors[k % 2]);
        const bool stored = attempt("PUT", data, "a,b\n1,2\n3,4\n"),
                   described = stored && attempt("PATCH", data, "{\"description\":\"words\"}"),
                   deleted = attempt("PUT", gone, "a,b\n1,2\n") && attempt("DELETE", gone, NULL),
                   queued = attempt("POST", "/v1/jobs", job);
        (void)attempt("GET", "/v1/datasets/iris/rows", NULL);
        for (double end = now() + 2; queued && now() < end && !attempt("GET", "/readyz", NULL);) {
            pause_ms(20);
        }
        failed = atomic_load(&faults->failed);
        faulty_set(faults, 0, 0, 0, 0);
        await_ready();
        if (stored) {
            const struct response *r = status_check(call_get("%s", data), 200);
            assert_int_equal(whole_at(r, "/rows"), 2);
            assert_true(!described || strcmp(string_at(r, "/description"), "words") == 0);
            status_check(call_get("%s/rows", data), 200);
        }
        if (deleted) {
            problem_check(call_get("%s", gone), 404, "unknown-dataset");
        }
    }
    const struct response *jobs = status_check(call_get("/v1/jobs?limit=1000"), 200);
    for (size_t i = 0; i < count_at(jobs, "/items"); i++) {
        (void)job_wait(whole_at(jobs, text("/items/%zu/id", i)));
    }
    service_end();
}

int main(void) {
    if (postgresql_skips("the disk is that of the server")) {
        return POSTGRESQL_SKIPPED;
    }
    const struct CMUnitTest tests[] = {
        TEST(test_upload_beside_a_failed_fsync),
        TEST(test_readiness_while_fsyncs_fail),
        TEST(test_readiness_on_a_full_disk),
        TEST(test_each_operation_fails),
    };
    const char *build = getenv("BUILD"), *folder = getenv("TMPDIR");
    (void)snprintf(faults_path, sizeof faults_path, "%s/discern-faults.%ld",
                   folder != NULL && strlen(folder) < 64 ? folder : "/tmp", (long)getpid());
    setenv("TEST_FAULTS", faults_path, true);
    setenv("DISCERND", text("%s/crashing/discernd", build != NULL ? build : "build"), true);
    faults = faulty_map(faults_path);
    curl_global_init(CURL_GLOBAL_DEFAULT); /* before threads are started */
    const int failed = RUN_WITHOUT_DAEMON(tests);
    unlink(faults_path);
    return failed;
}
