/* PostgreSQL that cannot be reached, and a database that another daemon has taken: what is answered
 * meanwhile, and that everything goes on afterwards. */
#include "lib/api.h"
#include "lib/postgresql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char instances[] = "{'instances':[[5.1,3.5,1.4,0.2],[6.3,2.9,5.6,1.8]]}";

static void await_ready(void) {
    const struct response *r = call_get("/readyz");
    for (double end = now() + 60; r->status != 200 && now() < end; r = call_get("/readyz")) {
        pause_ms(50);
    }
    status_check(r, 200);
}

static const struct response *await_unready(void) {
    const struct response *r = call_get("/readyz");
    for (double end = now() + 60; r->status != 503 && now() < end; r = call_get("/readyz")) {
        pause_ms(50);
    }
    return problem_check(r, 503, "unavailable");
}

/* Returns a copy of the predictions, which the daemon makes with the model in memory. */
static const char *predict(void) {
    const struct response *r = status_check(call_post("/v1/models/m/predict", instances), 200);
    return text("%s", r->body);
}

/* A table of more bytes than a job of 16 MiB keeps in memory: it reads chunks all the time. */
static void upload_big(void) {
    enum { ROWS = 400000, ROW = 16 };
    char *body = keep(malloc(ROWS * ROW + 16), free), *end = body;
    uint64_t random = 1;
    end += sprintf(end, "a,b,c,y\n");
    for (int i = 0; i < ROWS; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        const unsigned bits = (unsigned)(random >> 33);
        end += sprintf(end, "%u,%u,%u,%c\n", bits % 997, bits / 997 % 997, bits / 994009 % 997,
                       bits % 3 == 0 ? 'p' : 'q');
    }
    status_check(call_upload("/v1/datasets/big", body), 201);
}

static int64_t iteration_of(int64_t job) {
    const struct response *r = status_check(call_get("/v1/jobs/%lld", (long long)job), 200);
    return json_is_null(value_at(r, "/progress")) ? 0 : whole_at(r, "/progress/iteration");
}

static void await_iteration(int64_t job, int64_t above) {
    for (double end = now() + 120; iteration_of(job) <= above; pause_ms(50)) {
        if (now() > end) {
            fail_msg("job %lld makes no progress", (long long)job);
        }
    }
}

static void test_a_lost_connection(void **state) {
    (void)state;
    postgresql_only();
    service_start(NULL);
    upload_file("iris", "iris.csv");
    upload_big();
    job_train("{'model':'m','dataset':'iris','target':'class','algorithm':'logistic'}");
    const char *predicted = predict();
    const int64_t job =
        job_post("{'model':'long','dataset':'big','target':'y','algorithm':'logistic','params':"
                 "{'solver':'gradient_descent','max_iterations':100000000,'learning_rate':1e-12,"
                 "'tolerance':1e-300},'limits':{'memory_mib':16,'threads':1}}");
    await_iteration(job, 0);
    const double chunks = metric_at("discern_store_chunks_read_total");
    await_iteration(job, iteration_of(job) + 1);
    assert_true(metric_at("discern_store_chunks_read_total") > chunks);
    const int fd = raw_open();
    raw_send_text(fd, "PUT /v1/datasets/half HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                      "Content-Type: text/csv\r\nContent-Length: 16\r\n\r\na,b\n1,2\n");
    postgresql_block(the_daemon.database);
    const struct response *r = await_unready();
    assert_string_equal(string_at(r, "/checks/reads"), "failing");
    assert_string_equal(string_at(r, "/detail"),
                        "the database cannot be reached: send the request again");
    assert_non_null(strstr(daemon_log(&the_daemon), "is not currently accepting connections"));
    status_check(call_get("/healthz"), 200);
    for (int i = 0; i < 20; i++) {
        assert_string_equal(predict(), predicted);
        pause_ms(50);
    }
    r = problem_check(call_get("/v1/datasets"), 503, "unavailable");
    assert_non_null(header_of(r, "Retry-After"));
    problem_check(call_upload("/v1/datasets/other", "a,b\n1,2\n3,4\n"), 503, "unavailable");
    problem_check(call_patch("/v1/datasets/iris", "{'description':'no'}"), 503, "unavailable");
    problem_check(call_post("/v1/jobs", "{'model':'n','dataset':'iris','target':'class',"
                                        "'algorithm':'gaussian'}"),
                  503, "unavailable");
    r = raw_talk(fd, "3,4\n5,6\n", 8, 60);
    close(fd);
    problem_check(r, 503, "unavailable");
    problem_check(call_get("/readyz"), 503, "unavailable");
    postgresql_admit(the_daemon.database);
    await_ready();
    assert_string_equal(predict(), predicted);
    problem_check(call_get("/v1/datasets/half"), 404, "unknown-dataset");
    status_check(call_upload("/v1/datasets/half", "a,b\n1,2\n3,4\n5,6\n"), 201);
    assert_true(json_is_null(value_at(call_get("/v1/datasets/iris"), "/description")));
    /* the job has waited */
    await_iteration(job, iteration_of(job));
    r = status_check(call_get("/v1/jobs/%lld", (long long)job), 200);
    assert_string_equal(string_at(r, "/state"), "running");
    assert_int_equal(whole_at(r, "/attempts"), 1);
    status_check(call_empty("POST", "/v1/jobs/%lld/cancel", (long long)job), 202);
    assert_string_equal(string_at(job_wait(job), "/state"), "cancelled");
    service_end();
}

/* Creates the function that ends the connection of its caller: pg_sleep does not end before. */
static void create_end(void) {
    postgresql_run(the_daemon.database,
                   "CREATE FUNCTION end_connection() RETURNS boolean LANGUAGE sql VOLATILE AS "
                   "'SELECT pg_terminate_backend(pg_backend_pid()); SELECT pg_sleep(60) IS NULL'");
}

/* Stored rows are read when the connection is lost. */
static void test_a_lost_read(void **state) {
    (void)state;
    postgresql_only();
    service_start(NULL);
    upload_file("iris", "iris.csv");
    job_train("{'model':'m','dataset':'iris','target':'class','algorithm':'logistic'}");
    predict(); /* the model is in memory */
    create_end();
    postgresql_run(the_daemon.database, "ALTER TABLE blobs RENAME TO others; CREATE VIEW blobs AS "
                                        "SELECT * FROM others WHERE end_connection()");
    static const char *const calls[] = {"evaluate", "predict", "importance"};
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        const struct response *r =
            problem_check(call_post(text("/v1/models/m/%s", calls[i]), "{'dataset':'iris'}"), 503,
                          "unavailable");
        assert_non_null(strstr(string_at(r, "/detail"), "the connection to the database is lost"));
    }
    postgresql_run(the_daemon.database, "DROP VIEW blobs; ALTER TABLE others RENAME TO blobs");
    status_check(call_post("/v1/models/m/evaluate", "{'dataset':'iris'}"), 200);
    service_end();
}

/* The connection is lost while a job reads the live version to compare it: the job is trained
 * again, and compares when the database is back. */
static void test_a_lost_comparison(void **state) {
    (void)state;
    static const char job[] = "{'model':'m','dataset':'iris','target':'class','algorithm':"
                              "'gaussian','validation':{'holdout':0.2},'promote':'if_better'}";
    postgresql_only();
    service_start(NULL);
    upload_file("iris", "iris.csv");
    job_train("%s", job);
    create_end();
    postgresql_run(
        the_daemon.database,
        "CREATE TABLE live AS SELECT first_blob FROM chunks JOIN model_versions USING "
        "(part); ALTER TABLE blobs RENAME TO others; CREATE VIEW blobs AS SELECT * FROM "
        "others WHERE CASE WHEN id IN (SELECT first_blob FROM live) THEN end_connection() "
        "ELSE true END");
    const int64_t id = job_post("%s", job);
    for (double end = now() + 60; strstr(daemon_log(&the_daemon), "store.error") == NULL;) {
        assert_true(now() < end);
        pause_ms(50);
    }
    postgresql_run(the_daemon.database, "DROP VIEW blobs; ALTER TABLE others RENAME TO blobs");
    const struct response *r = job_wait(id);
    assert_string_equal(string_at(r, "/state"), "succeeded");
    assert_non_null(strstr(string_at(r, "/result/promotion/reason"), "not better, but equal"));
    service_end();
}

/* The connection is lost during COMMIT: the daemon does not know what the server has done. */
static void test_a_lost_commit(void **state) {
    (void)state;
    postgresql_only();
    service_start(NULL);
    upload_file("iris", "iris.csv");
    create_end();
    postgresql_run(the_daemon.database,
                   "CREATE FUNCTION at_commit() RETURNS trigger LANGUAGE plpgsql AS "
                   "'BEGIN PERFORM end_connection(); RETURN NULL; END'; "
                   "CREATE CONSTRAINT TRIGGER at_commit AFTER UPDATE ON datasets DEFERRABLE "
                   "INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION at_commit()");
    const struct response *r =
        problem_check(call_patch("/v1/datasets/iris", "{'description':'no'}"), 503, "unavailable");
    assert_non_null(strstr(string_at(r, "/detail"), "the change may be stored or not"));
    postgresql_run(the_daemon.database, "DROP TRIGGER at_commit ON datasets");
    await_ready();
    status_check(call_patch("/v1/datasets/iris", "{'description':'yes'}"), 200);
    service_end();
}

/* A failure that does not last: the caller may try again. */
static void test_a_deadlock(void **state) {
    (void)state;
    postgresql_only();
    service_start(NULL);
    upload_file("iris", "iris.csv");
    postgresql_run(the_daemon.database,
                   "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS "
                   "'BEGIN RAISE deadlock_detected; END'; CREATE TRIGGER fail BEFORE UPDATE ON "
                   "datasets FOR EACH ROW EXECUTE FUNCTION fail()");
    const struct response *r =
        problem_check(call_patch("/v1/datasets/iris", "{'description':'no'}"), 503, "unavailable");
    assert_non_null(strstr(string_at(r, "/detail"), "deadlock_detected"));
    postgresql_run(the_daemon.database, "DROP TRIGGER fail ON datasets");
    status_check(call_patch("/v1/datasets/iris", "{'description':'yes'}"), 200);
    service_end();
}

static void test_another_daemon(void **state) {
    (void)state;
    postgresql_only();
    service_start(NULL);
    upload_file("iris", "iris.csv");
    job_train("{'model':'m','dataset':'iris','target':'class','algorithm':'logistic'}");
    const char *predicted = predict();
    void *other = postgresql_take_over(the_daemon.database);
    const struct response *r = await_unready();
    assert_string_equal(string_at(r, "/checks/writes"), "failing");
    problem_check(call_patch("/v1/datasets/iris", "{'description':'no'}"), 503, "unavailable");
    assert_string_equal(predict(), predicted);
    for (double end = now() + 60; strstr(daemon_log(&the_daemon), "is in use") == NULL;) {
        assert_true(now() < end);
        pause_ms(50);
    }
    postgresql_release(other);
    await_ready();
    status_check(call_patch("/v1/datasets/iris", "{'description':'yes'}"), 200);
    service_end();
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_a_lost_connection), TEST(test_a_lost_read),
                                       TEST(test_a_lost_comparison), TEST(test_a_lost_commit),
                                       TEST(test_a_deadlock),        TEST(test_another_daemon)};
    return RUN_WITHOUT_DAEMON(tests);
}
