/* Ends and beginnings: a restart answers byte for byte as before, a second daemon on the same file
 * does not start. (Kills: test_crashes.c.) */
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

#define ROW "{\"instances\":[[5.1,3.5,1.4,0.2]]}"

static void test_predictions_survive_a_restart(void **state) {
    (void)state;
    struct daemon d;
    daemon_open(&d, NULL);
    upload(&d, "iris");
    json_t *job = train(
        &d,
        "{\"model\":\"iris\",\"dataset\":\"iris\",\"target\":\"class\",\"algorithm\":\"logistic\"}",
        "succeeded");
    struct answer before = send_text(&d, "POST", "/v1/models/iris/predict", ROW),
                  dataset = get(&d, "/v1/datasets/iris");
    assert_int_equal(daemon_stop(&d), 0);
    daemon_start(&d);
    struct answer after = send_text(&d, "POST", "/v1/models/iris/predict", ROW),
                  same = get(&d, "/v1/datasets/iris"), again = get(&d, "/v1/jobs/1");
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

static void test_a_second_daemon_on_the_same_file(void **state) {
    (void)state;
    struct daemon d;
    char command[512], line[512] = "", pid[32];
    daemon_open(&d, NULL);
    const char *binary = getenv("DISCERND");
    (void)snprintf(command, sizeof command, "%s --listen 127.0.0.1:0 --database %s 2>&1",
                   binary ? binary : "build/discernd", d.database);
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
        cmocka_unit_test(test_a_second_daemon_on_the_same_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
