/* Ends and beginnings: what was acknowledged is there after a restart or a kill, an interrupted training ends with the same weights, a job that kills the daemon is given up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROW "{\"instances\":[[5.1,3.5,1.4,0.2]]}"

static void test_predictions_survive_a_restart(void **state) {
    (void)state;
    struct daemon d;
    daemon_open(&d, NULL);
    upload(&d, "iris");
    json_t *job = train(&d, "{\"model\":\"iris\",\"dataset\":\"iris\",\"target\":\"class\",\"algorithm\":\"logistic\"}", "succeeded");
    struct answer before = send_text(&d, "POST", "/v1/models/iris/predict", ROW), dataset = get(&d, "/v1/datasets/iris");
    assert_int_equal(daemon_stop(&d), 0);
    daemon_start(&d);
    struct answer after = send_text(&d, "POST", "/v1/models/iris/predict", ROW), same = get(&d, "/v1/datasets/iris"),
                  again = get(&d, "/v1/jobs/1");
    assert_string_equal(before.body, after.body);
    assert_true(json_equal(dataset.json, same.json));
    assert_true(json_equal(job, again.json));
    daemon_kill(&d);
    daemon_start(&d);
    struct answer killed = send_text(&d, "POST", "/v1/models/iris/predict", ROW);
    assert_string_equal(before.body, killed.body);
    json_decref(job);
    answer_done(&before);
    answer_done(&after);
    answer_done(&dataset);
    answer_done(&same);
    answer_done(&again);
    answer_done(&killed);
    daemon_close(&d);
}

/* Long enough to be interrupted, and with an end. */
#define DESCENT                                                                                                                            \
    "{\"model\":\"%s\",\"dataset\":\"digits\",\"target\":\"class\",\"algorithm\":\"logistic\",\"params\":{\"solver\":\"gradient_"          \
    "descent\","                                                                                                                           \
    "\"tolerance\":1e-300,\"max_iterations\":400},\"seed\":3,\"snapshots\":[200]}"

static void test_a_killed_training_ends_with_the_same_weights(void **state) {
    (void)state;
    struct daemon d;
    char body[512];
    daemon_open(&d, NULL);
    upload(&d, "digits");
    (void)snprintf(body, sizeof body, DESCENT, "whole");
    json_decref(train(&d, body, "succeeded"));
    (void)snprintf(body, sizeof body, DESCENT, "killed");
    struct answer a = send_text(&d, "POST", "/v1/jobs", body);
    answer_done(&a);
    for (bool running = false; !running;) {
        a = get(&d, "/v1/jobs/2");
        running = strcmp(text_at(a.json, "state"), "running") == 0;
        if (strcmp(text_at(a.json, "state"), "succeeded") == 0)
            fail_msg("the training is too short to be killed");
        answer_done(&a);
    }
    daemon_kill(&d);
    daemon_start(&d);
    for (int tries = 0; tries < 20; tries++) {
        a = get(&d, "/v1/jobs/2?wait=50");
        bool ended = !is_null_at(a.json, "finished_at");
        if (ended)
            break;
        answer_done(&a);
    }
    assert_string_equal(text_at(a.json, "state"), "succeeded");
    assert_int_equal(number_at(a.json, "attempts"), 2);
    answer_done(&a);
    struct answer whole = get(&d, "/v1/models/whole/weights"), killed = get(&d, "/v1/models/killed/weights");
    assert_true(json_equal(at(whole.json, "w"), at(killed.json, "w")));
    assert_true(json_equal(at(whole.json, "w0"), at(killed.json, "w0")));
    answer_done(&whole);
    answer_done(&killed);
    a = get(&d, "/v1/jobs/2/history"); /* of the run that counts alone */
    assert_int_equal(json_array_size(at(a.json, "snapshots")), 1);
    answer_done(&a);
    daemon_close(&d);
}

static void test_a_job_that_crashes_the_daemon_is_given_up(void **state) {
    (void)state;
    static const char *const flags[] = {"--test-crash-model", "bomb", NULL};
    struct daemon d;
    daemon_open(&d, flags);
    upload(&d, "iris");
    json_decref(train(&d, "{\"model\":\"iris\",\"dataset\":\"iris\",\"target\":\"class\",\"algorithm\":\"logistic\"}", "succeeded"));
    /* The answer may or may not come before the end of the process: a bare connection does not mind. */
    int fd = raw_open(&d);
    static const char job[] = "{\"model\":\"bomb\",\"dataset\":\"iris\",\"target\":\"class\",\"algorithm\":\"logistic\"}";
    char request[512];
    (void)snprintf(request, sizeof request, "POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: %zu\r\n\r\n%s", sizeof job - 1,
                   job);
    raw_text(fd, request);
    assert_int_equal(daemon_wait(&d), -1);
    close(fd);
    for (int start = 2; start <= 3; start++) {
        int status;
        if (daemon_try(&d, &status)) /* it may even die before it listens */
            status = daemon_wait(&d);
        assert_int_equal(status, -1);
    }
    daemon_start(&d);
    struct answer a = get(&d, "/v1/jobs/2?wait=50");
    assert_string_equal(text_at(a.json, "state"), "failed");
    assert_int_equal(number_at(a.json, "attempts"), 3);
    assert_string_equal(text_at(a.json, "error.type"), "/problems/job-crashed");
    answer_done(&a);
    expect_status(send_text(&d, "POST", "/v1/models/iris/predict", ROW), 200);
    daemon_close(&d);
}

static void test_a_second_daemon_on_the_same_file(void **state) {
    (void)state;
    struct daemon d;
    char command[512], line[512] = "", pid[32];
    daemon_open(&d, NULL);
    const char *binary = getenv("DISCERND");
    (void)snprintf(command, sizeof command, "%s --listen 127.0.0.1:0 --database %s 2>&1", binary ? binary : "build/discernd", d.database);
    FILE *second = popen(command, "r");
    assert_non_null(second);
    assert_non_null(fgets(line, sizeof line, second));
    int raw = pclose(second);
    assert_true(WIFEXITED(raw));
    assert_int_equal(WEXITSTATUS(raw), 2);
    (void)snprintf(pid, sizeof pid, "%ld", (long)d.pid);
    assert_non_null(strstr(line, pid));
    expect_status(get(&d, "/readyz"), 200);
    daemon_close(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_predictions_survive_a_restart),
        cmocka_unit_test(test_a_killed_training_ends_with_the_same_weights),
        cmocka_unit_test(test_a_job_that_crashes_the_daemon_is_given_up),
        cmocka_unit_test(test_a_second_daemon_on_the_same_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
