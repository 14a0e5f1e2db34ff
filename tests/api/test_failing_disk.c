/* A disk whose writes and fsyncs fail: readiness, refusals, uploads in flight. The daemon is
 * $BUILD/crashing/discernd, whose database is on a faulty VFS. */
#include "lib/api.h"
#include "lib/faulty_vfs.h"

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
    const struct response *r = raw_talk(fd, body, LEFT, 60);
    close(fd);
    problem_check(r, 503, "unavailable");
    assert_non_null(strstr(string_at(r, "/detail"), "send the data again"));
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

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_upload_beside_a_failed_fsync),
        TEST(test_readiness_while_fsyncs_fail),
        TEST(test_readiness_on_a_full_disk),
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
