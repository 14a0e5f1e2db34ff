/* Jobs that abort the daemon: after a restart the daemon fails such a job and runs the others. The
 * daemon is $BUILD/crashing/discernd, which aborts when a job for model "bad" starts. */
#include "lib/api.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* Passes of a job that has to take long: fewer if the daemon is slow. */
static int lasting(int passes) {
    return getenv("TEST_SLOW") == NULL ? passes : passes / 10;
}

#define BAD_JOB "{'model':'bad','dataset':'iris','target':'class','algorithm':'logistic'}"

/* A thread that predicts while the daemon runs. */
struct predictor {
    pthread_t thread;
    const char *expected;
    atomic_bool stop;
    atomic_size_t served, wrong;
};

static void *predict(void *arg) {
    struct predictor *p = arg;
    while (!atomic_load(&p->stop)) {
        const struct response *r =
            call(&(struct request){.method = "POST",
                                   .path = "/v1/models/good/predict",
                                   .body = "{\"instances\":[[5.1,3.5,1.4,0.2]]}"});
        if (r->status != 0 && r->code == CURLE_OK) {
            atomic_fetch_add(&p->served, 1);
            atomic_fetch_add(&p->wrong, r->status != 200 || strcmp(r->body, p->expected) != 0);
        }
    }
    return NULL;
}

static void predictor_start(struct predictor *p) {
    atomic_store(&p->stop, false);
    assert_int_equal(pthread_create(&p->thread, NULL, predict, p), 0);
}

static void predictor_stop(struct predictor *p) {
    atomic_store(&p->stop, true);
    pthread_join(p->thread, NULL);
}

static void wait_served(struct predictor *p, size_t more) {
    for (size_t enough = atomic_load(&p->served) + more; atomic_load(&p->served) < enough;) {
        pause_ms(1);
    }
}

/* The job aborts the daemon, and is read after each restart. Returns the number of starts until the
 * job has failed. */
static int deaths_until_given_up(struct predictor *p) {
    for (int deaths = 0;;) {
        int status = 0;
        if (waitpid(the_daemon.pid, &status, WNOHANG) ==
            0) { /* the daemon runs: check whether the job has failed */
            const struct response *r =
                call(&(struct request){.method = "GET", .path = "/v1/jobs/2"});
            if (r->status == 200 && strcmp(string_at(r, "/state"), "failed") == 0) {
                return deaths;
            }
            continue;
        }
        predictor_stop(p);
        do { /* the daemon may abort before it listens, because the job starts first */
            the_daemon.pid = 0;
            if (++deaths > 3) {
                fail_msg("the job was started more than three times");
            }
            daemon_check_database(&the_daemon);
        } while (!daemon_try(&the_daemon, &status));
        predictor_start(p);
    }
}

static void test_a_job_that_kills_the_daemon(void **state) {
    (void)state;
    struct predictor p = {.expected = NULL};
    service_start(NULL);
    upload_file("iris", "iris.csv");
    job_train("{'model':'good','dataset':'iris','target':'class','algorithm':'logistic'}");
    p.expected =
        status_check(call_post("/v1/models/good/predict", "{'instances':[[5.1,3.5,1.4,0.2]]}"), 200)
            ->body;
    predictor_start(&p);
    wait_served(&p, 10);
    (void)call(&(struct request){.method = "POST", .path = "/v1/jobs", .body = quoted(BAD_JOB)});
    assert_int_equal(deaths_until_given_up(&p), 3);
    wait_served(&p, 10);
    predictor_stop(&p);
    assert_int_equal(atomic_load(&p.wrong), 0);
    const struct response *job = status_check(call_get("/v1/jobs/2"), 200);
    assert_string_equal(string_at(job, "/error/type"), "/problems/job-crashed");
    assert_int_equal(whole_at(job, "/attempts"), 3);
    assert_true(json_is_null(value_at(job, "/result")));
    assert_non_null(strstr(call_get("/v1/jobs/2/events")->body, "event: done"));
    problem_check(call_get("/v1/models/bad"), 404, "unknown-model");
    status_check(call_delete("/v1/datasets/iris"), 204); /* no job refers to it */
}

/* Starts the daemon after each abort, until n jobs are in the state. */
static void restart_until(const char *state, size_t n, int most_deaths) {
    for (int status = 0, deaths = 0;;) {
        if (waitpid(the_daemon.pid, &status, WNOHANG) == 0) { /* the daemon runs: count the jobs */
            const struct response *r =
                call(&(struct request){.method = "GET", .path = text("/v1/jobs?state=%s", state)});
            if (r->status == 200 && count_at(r, "/items") == n) {
                return;
            }
            pause_ms(20);
            continue;
        }
        do {
            the_daemon.pid = 0;
            assert_true(++deaths <= most_deaths);
            daemon_check_database(&the_daemon);
        } while (!daemon_try(&the_daemon, &status));
    }
}

enum { LONG = 1500 }; /* passes that take longer than a second */
#define LONG_JOB                                                                                   \
    "{'model':'%s','dataset':'digits','target':'class','algorithm':'logistic','seed':3,"           \
    "'params':{'solver':'gradient_descent','max_iterations':%d,'tolerance':0}}"

static const char *weights_of(const char *model) {
    const struct response *r = status_check(call_get("/v1/models/%s/weights", model), 200);
    return keep(json_dumps(value_at(r, "/w"), JSON_REAL_PRECISION(17)), free);
}

/* Queues jobs behind one that does not end, so that all are queued before the first one starts: the
 * named jobs that succeed, and after the first of them n_guilty jobs that abort the daemon. */
static void queue_neighbours(const char *const *innocent, int n_innocent, int n_guilty) {
    service_start(FLAGS("--workers", "1"));
    upload_file("iris", "iris.csv");
    upload_file("digits", "digits.csv");
    job_train(LONG_JOB, "alone", lasting(LONG));
    job_wait_state(job_endless("endless"), "running");
    for (int i = 0; i < n_innocent; i++) {
        job_post(LONG_JOB, innocent[i], lasting(LONG));
        for (int k = 0; i == 0 && k < n_guilty; k++) {
            job_post(BAD_JOB);
        }
    }
    service_stop();
}

/* Two workers: the first named job runs and, after the endless job is cancelled, the first job that
 * aborts. Returns when the aborting jobs have failed and all the others have ended. */
static void run_neighbours(const char *const *innocent, int n_innocent, int n_guilty) {
    service_restart(FLAGS("--workers", "2"));
    job_wait_state(3, "running");
    (void)call(&(struct request){.method = "POST", .path = "/v1/jobs/2/cancel", .body = "{}"});
    restart_until("failed", (size_t)n_guilty, 3 * n_guilty);
    restart_until("succeeded", 1 + (size_t)n_innocent, 0);
    const char *expected = weights_of("alone");
    for (int i = 0; i < n_innocent; i++) {
        assert_string_equal(weights_of(innocent[i]), expected);
    }
    for (int i = 0; i < n_guilty; i++) {
        const struct response *job = job_wait(4 + i);
        assert_string_equal(string_at(job, "/error/type"), "/problems/job-crashed");
        assert_int_equal(whole_at(job, "/attempts"), 3);
    }
}

/* A job that runs beside a job that aborts the daemon is restarted and does not count the attempt:
 * it ends with the weights of an undisturbed run. */
static void test_jobs_beside_a_crashing_job(void **state) {
    (void)state;
    queue_neighbours(FLAGS("first", "second"), 2, 1);
    run_neighbours(FLAGS("first", "second"), 2, 1);
}

/* Three jobs abort the daemon one after the other while another job runs: that job's third start is
 * not its last. */
static void test_one_crashing_job_among_many(void **state) {
    (void)state;
    queue_neighbours(FLAGS("innocent"), 1, 3);
    run_neighbours(FLAGS("innocent"), 1, 3);
}

/* A lower limit of attempts. */
static void test_limit_of_attempts(void **state) {
    (void)state;
    service_start(FLAGS("--job-attempts", "1"));
    upload_file("iris", "iris.csv");
    (void)call(&(struct request){.method = "POST", .path = "/v1/jobs", .body = quoted(BAD_JOB)});
    assert_int_equal(daemon_wait(&the_daemon), -SIGABRT);
    service_restart(the_daemon.flags);
    const struct response *job = job_wait(1);
    assert_string_equal(string_at(job, "/error/type"), "/problems/job-crashed");
    assert_int_equal(whole_at(job, "/attempts"), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_a_job_that_kills_the_daemon),
        TEST(test_limit_of_attempts),
        TEST(test_jobs_beside_a_crashing_job),
        TEST(test_one_crashing_job_among_many),
    };
    const char *build = getenv("BUILD");
    setenv("TEST_CRASH_MODEL", "bad", true);
    setenv("DISCERND", text("%s/crashing/discernd", build != NULL ? build : "build"), true);
    curl_global_init(CURL_GLOBAL_DEFAULT); /* before threads are started */
    return RUN_WITHOUT_DAEMON(tests);
}
