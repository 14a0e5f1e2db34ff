/* SIGKILL at many moments: acknowledged changes are kept, no change is kept in part, and
 * interrupted jobs end with the same result as uninterrupted ones. The database is checked after
 * each kill. */
#include "lib/api.h"
#include "lib/postgresql.h"

#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Amount of work of a job that only has to take long: a tenth if the daemon is slow. */
static int lasting(int amount) {
    return getenv("TEST_SLOW") == NULL ? amount : amount / 10;
}

static void killed_and_back(void) {
    daemon_kill(&the_daemon);
    daemon_check_database(&the_daemon);
    service_restart(the_daemon.flags);
    status_check(call_get("/readyz"), 200);
}

/* ---- uploads ---- */

/* An upload on its own thread; its answer may not arrive. */
struct background {
    pthread_t thread;
    struct request request;
    const struct response *r;
    atomic_bool ended;
};

static void *background_main(void *arg) {
    struct background *b = arg;
    b->r = call(&b->request);
    atomic_store(&b->ended, true);
    return NULL;
}

static void background_start(struct background *b, const struct request *request) {
    *b = (struct background){.request = *request};
    assert_int_equal(pthread_create(&b->thread, NULL, background_main, b), 0);
}

static void test_killed_during_an_upload(void **state) {
    (void)state;
    enum { ROUNDS = 12 };
    const int lines = lasting(300000);
    service_start(NULL);
    const char *body = text("a,b,c\n%s", repeat("1.5,2,some text\n", (size_t)lines));
    double begin = now();
    const char *sha256 =
        string_at(status_check(call_upload("/v1/datasets/first", body), 201), "/sha256");
    double whole = now() - begin;
    size_t known = 1; /* acknowledged uploads */
    for (int round = 0; round < ROUNDS; round++) {
        struct background b;
        const char *path = text("/v1/datasets/round-%d", round);
        background_start(
            &b, &(struct request){.method = "PUT", .path = path, .body = body, .upload = true});
        for (double end = now() + whole * 1.2 * round / ROUNDS;
             now() < end && !atomic_load(&b.ended);) {
            pause_ms(1);
        }
        daemon_kill(&the_daemon);
        pthread_join(b.thread, NULL);
        daemon_check_database(&the_daemon);
        service_restart(NULL);
        const struct response *r = call_get("%s", path);
        if (b.r->status == 201) {
            status_check(r, 200);
        }
        if (r->status == 404) {
            problem_check(r, 404, "unknown-dataset");
        } else { /* if the dataset exists, it is complete */
            assert_int_equal(whole_at(status_check(r, 200), "/rows"), lines);
            assert_string_equal(string_at(r, "/sha256"), sha256);
            r = status_check(call_get("%s/rows?offset=%d&limit=5&columns=c", path, lines - 1), 200);
            assert_string_equal(string_at(r, "/items/0/c"), "some text");
            known++;
        }
        assert_int_equal(count_at(call_get("/v1/datasets"), "/items"), known);
    }
    /* otherwise no upload was interrupted and the test checked nothing */
    assert_true(known < ROUNDS + 1);
    /* the name of a lost upload can be used again */
    status_check(call_upload("/v1/datasets/afterwards", body), 201);
}

/* ---- training ---- */

#define DESCENT                                                                                    \
    "{'model':'%s','dataset':'digits','target':'class','algorithm':'logistic','seed':5,'"          \
    "validation':{'holdout':0.2},"                                                                 \
    "'params':{'solver':'%s','max_iterations':%d,'tolerance':1e-300}}"

static void test_killed_during_training_and_at_its_end(void **state) {
    (void)state;
    enum { ROUNDS = 8 };
    static const char *const solvers[] = {"gradient_descent", "sgd"};
    const int iterations[] = {lasting(400), lasting(40)};
    service_start(FLAGS("--job-attempts", "1000"));
    upload_file("digits", "digits.csv");
    for (int k = 0; k < 2; k++) {
        int64_t starts = 0;
        double begin = now();
        const struct response *reference =
            job_train(DESCENT, text("whole-%d", k), solvers[k], iterations[k]);
        double whole = now() - begin;
        const json_t *w =
            value_at(status_check(call_get("/v1/models/whole-%d/weights", k), 200), "/w");
        for (int round = 0; round < ROUNDS; round++) {
            const char *model = text("round-%d-%d", k, round);
            int64_t id = job_post(DESCENT, model, solvers[k], iterations[k]);
            pause_ms(
                (int)(1000 * whole * 1.1 * round /
                      (ROUNDS -
                       1))); /* the last kills come near the end, when the model is committed */
            killed_and_back();
            const struct response *job = job_wait(id);
            assert_string_equal(string_at(job, "/state"), "succeeded");
            assert_in_range(whole_at(job, "/attempts"), 1, 2);
            starts += whole_at(job, "/attempts");
            assert_true(json_equal(value_at(job, "/result/metrics"),
                                   value_at(reference, "/result/metrics")));
            assert_true(real_at(job, "/result/objective") ==
                        real_at(reference, "/result/objective"));
            assert_true(json_equal(
                value_at(status_check(call_get("/v1/models/%s/weights", model), 200), "/w"), w));
            assert_int_equal(count_at(call_get("/v1/models/%s/versions", model), "/items"),
                             1); /* made once */
            const struct response *history =
                status_check(call_get("/v1/jobs/%lld/history", (long long)id), 200);
            for (size_t i = 0; i < count_at(history, "/items");
                 i++) { /* only the items of the run that finished */
                assert_int_equal(whole_at(history, text("/items/%zu/iteration", i)), i + 1);
            }
        }
        assert_true(starts > ROUNDS); /* otherwise no training was interrupted */
    }
}

/* A queued job stays queued after a kill, a cancelled job stays cancelled. */
static void test_the_queue_survives_kills(void **state) {
    (void)state;
    service_start(FLAGS("--workers", "1"));
    upload_file("digits", "digits.csv");
    upload_file("iris", "iris.csv");
    int64_t endless = job_endless("endless");
    job_wait_state(endless, "running");
    int64_t queued =
        job_post("{'model':'queued','dataset':'iris','target':'class','algorithm':'logistic'}");
    int64_t cancelled =
        job_post("{'model':'cancelled','dataset':'iris','target':'class','algorithm':'logistic'}");
    status_check(call_post(text("/v1/jobs/%lld/cancel", (long long)cancelled), "{}"), 202);
    killed_and_back();
    assert_string_equal(string_at(call_get("/v1/jobs/%lld", (long long)cancelled), "/state"),
                        "cancelled");
    problem_check(call_delete("/v1/datasets/iris"), 409, "in-use"); /* in use by the queued job */
    status_check(call_post(text("/v1/jobs/%lld/cancel", (long long)endless), "{}"), 202);
    assert_string_equal(string_at(job_wait(endless), "/state"), "cancelled");
    assert_string_equal(string_at(job_wait(queued), "/state"), "succeeded");
    status_check(call_delete("/v1/datasets/iris"), 204);
    assert_int_equal(job_post("{'model':'x','dataset':'digits','target':'class','algorithm':'"
                              "logistic','params':{'max_iterations':1}}"),
                     4);
}

/* ---- acknowledged changes ---- */

static void test_acknowledged_changes_survive(void **state) {
    (void)state;
    service_start(NULL);
    upload_file("iris", "iris.csv");
    job_train("{'model':'m','dataset':'iris','target':'class','algorithm':'logistic'}");
    job_train("{'model':'m','dataset':'iris','target':'class','algorithm':'logistic','params':{'"
              "lambda':1}}");
    const char *rows = "{'instances':[[5.1,3.5,1.4,0.2],[6.3,3.3,6.0,2.5]]}";
    status_check(call_put("/v1/models/m/live", "{'version':1}"), 200);
    killed_and_back();
    assert_int_equal(whole_at(call_get("/v1/models/m"), "/version"), 1);
    const char *before = call_post("/v1/models/m/predict", "%s", rows)->body;
    status_check(call_patch("/v1/models/m", "{'description':'kept','tags':['a']}"), 200);
    status_check(call_upload("/v1/datasets/iris", "a,b\n1,x\n2,y\n"), 200);
    killed_and_back();
    assert_string_equal(call_post("/v1/models/m/predict", "%s", rows)->body, before);
    assert_string_equal(string_at(call_get("/v1/models/m"), "/description"), "kept");
    assert_int_equal(whole_at(call_get("/v1/datasets/iris"), "/version"), 2);
    status_check(call_delete("/v1/models/m/versions/1?promote=2"), 204);
    killed_and_back();
    assert_int_equal(whole_at(call_get("/v1/models/m"), "/version"), 2);
    status_check(call_delete("/v1/models/m"), 204);
    status_check(call_delete("/v1/datasets/iris"), 204);
    killed_and_back();
    problem_check(call_get("/v1/models/m"), 404, "unknown-model");
    problem_check(call_get("/v1/datasets/iris"), 404, "unknown-dataset");
    assert_int_equal(whole_at(upload_file("iris", "iris.csv"), "/version"),
                     3); /* version numbers are not reused */
    assert_int_equal(
        whole_at(job_train(
                     "{'model':'m','dataset':'iris','target':'class','algorithm':'logistic'}"),
                 "/result/version"),
        3);
}

/* A lock on the database that another program holds for six seconds. */
struct foreign_lock {
    pthread_t thread;
    sqlite3 *db;
};

static void *foreign_lock_main(void *arg) {
    struct foreign_lock *lock = arg;
    pause_ms(6000);
    (void)sqlite3_exec(lock->db, "ROLLBACK", NULL, NULL, NULL);
    return NULL;
}

/* A call waits for the database longer than the drain waits for the call: the daemon exits with an
 * error and logs it, but gives the running job back to the queue without counting the attempt. */
static void test_an_abandoned_drain_gives_jobs_back(void **state) {
    (void)state;
    postgresql_skip("no other program locks the whole database");
    struct foreign_lock lock;
    struct background patch = {
        .request = {.method = "PATCH", .path = "/v1/datasets/digits", .body = "{\"tags\":[]}"}};
    service_start(FLAGS("--drain-timeout", "0.1"));
    upload_file("digits", "digits.csv");
    const int64_t id = job_endless("m");
    job_wait_state(id, "running");
    assert_int_equal(sqlite3_open(the_daemon.database, &lock.db), SQLITE_OK);
    sqlite3_busy_timeout(lock.db, 5000);
    assert_int_equal(sqlite3_exec(lock.db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(pthread_create(&lock.thread, NULL, foreign_lock_main, &lock), 0);
    assert_int_equal(pthread_create(&patch.thread, NULL, background_main, &patch), 0);
    pause_ms(200);
    assert_int_equal(daemon_stop(&the_daemon), 1);
    assert_int_equal(pthread_join(lock.thread, NULL), 0);
    assert_int_equal(pthread_join(patch.thread, NULL), 0);
    sqlite3_close(lock.db);
    assert_non_null(strstr(daemon_log(&the_daemon), "drain.abandoned"));
    assert_non_null(strstr(daemon_log(&the_daemon), "given back to the queue"));
    service_restart(NULL);
    assert_int_equal(whole_at(job_wait_state(id, "running"), "/attempts"), 1);
    const struct request cancel = {.method = "POST", .path = "/v1/jobs/1/cancel"};
    assert_int_equal(call(&cancel)->status / 100, 2);
    job_wait(id);
    service_end();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_killed_during_an_upload),
        TEST(test_killed_during_training_and_at_its_end),
        TEST(test_the_queue_survives_kills),
        TEST(test_acknowledged_changes_survive),
        TEST(test_an_abandoned_drain_gives_jobs_back),
    };
    curl_global_init(CURL_GLOBAL_DEFAULT); /* before threads are started */
    return RUN_WITHOUT_DAEMON(tests);
}
