/* Restart: answers are equal in every byte, and a second daemon on the same database does not start.
 * Kills: test_crashes.c. */
#include "lib/api.h"
#include "lib/postgresql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define ROW "{\"instances\":[[5.1,3.5,1.4,0.2]]}"

static void test_predictions_survive_a_restart(void **state) {
    (void)state;
    service_start(NULL);
    upload_file("iris", "iris.csv");
    const struct response *job =
        job_train("{'model':'iris','dataset':'iris','target':'class','algorithm':'logistic'}");
    const struct response *before = call_text("POST", "/v1/models/iris/predict", NULL, ROW),
                          *dataset = call_get("/v1/datasets/iris");
    service_stop();
    daemon_start(&the_daemon);
    const struct response *after = call_text("POST", "/v1/models/iris/predict", NULL, ROW),
                          *same = call_get("/v1/datasets/iris"), *again = call_get("/v1/jobs/1");
    assert_string_equal(before->body, after->body);
    assert_true(json_equal(dataset->json, same->json));
    assert_true(json_equal(job->json, again->json));
    daemon_kill(&the_daemon);
    daemon_start(&the_daemon);
    const struct response *killed = call_text("POST", "/v1/models/iris/predict", NULL, ROW);
    assert_string_equal(before->body, killed->body);
    service_end();
}

static void test_a_second_daemon(void **state) {
    (void)state;
    char line[512] = "";
    if (postgresql_is_used()) {
        print_message("# skip: several daemons may have one database of PostgreSQL\n");
        skip();
    }
    service_start(NULL);
    const char *binary = getenv("DISCERND");
    FILE *second = popen(text("%s --listen 127.0.0.1:0 --database %s 2>&1",
                              binary ? binary : "build/discernd", the_daemon.database),
                         "r");
    assert_non_null(second);
    assert_non_null(fgets(line, sizeof line, second));
    int raw = pclose(second);
    assert_true(WIFEXITED(raw));
    assert_int_equal(WEXITSTATUS(raw), 2);
    assert_non_null(strstr(line, text("%ld", (long)the_daemon.pid)));
    status_check(call_get("/readyz"), 200);
    service_end();
}

/* A job that was queued, or ran, under larger limits gets those of the daemon that trains it. */
static void test_lower_limits(void **state) {
    (void)state;
    service_start(FLAGS("--workers", "1"));
    upload_file("digits", "digits.csv");
    const int64_t job = job_endless("long");
    service_stop();
    service_restart(FLAGS("--workers", "1", "--job-seconds", "1"));
    const struct response *r = job_wait(job);
    assert_string_equal(string_at(r, "/state"), "failed");
    assert_string_equal(string_at(r, "/error/type"), "/problems/job-time-limit");
    assert_non_null(strstr(r->body, "the time limit of 1 s"));
    service_end();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_predictions_survive_a_restart),
        TEST(test_a_second_daemon),
        TEST(test_lower_limits),
    };
    return RUN_WITHOUT_DAEMON(tests);
}
