/* Tables as people have them: mixed types, missing values, many columns, and what a first try must reach on them. Each is skipped where its file is not: none is part of the project. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client.h"

#include <stdio.h>
#include <unistd.h>

#define SHARED "../shared/data/"

static struct daemon d;

static int open_daemon(void **state) {
    (void)state;
    daemon_open(&d, NULL);
    return 0;
}

static int close_daemon(void **state) {
    (void)state;
    daemon_close(&d);
    return 0;
}

static void need(const char *file) {
    if (access(file, R_OK) != 0)
        skip();
}

static void at_least(double value, double wanted, const char *what) {
    if (!(value >= wanted))
        fail_msg("%s is %.4f, below %.4f", what, value, wanted);
}

/* Mixed types with '?' for what is missing; learned on one file, judged on another. */
static void test_adult(void **state) {
    (void)state;
    need(SHARED "adult.csv");
    need(SHARED "adult_test.csv");
    expect_status(put_file(&d, "/v1/datasets/adult", SHARED "adult.csv"), 201);
    expect_status(put_file(&d, "/v1/datasets/adult-test", SHARED "adult_test.csv"), 201);
    json_t *job =
        train(&d,
              "{\"model\":\"adult\",\"dataset\":\"adult\",\"target\":\"income\",\"algorithm\":\"logistic\",\"params\":{\"lambda\":1e-4},"
              "\"validation\":{\"dataset\":\"adult-test\"}}",
              "succeeded");
    assert_true(json_is_true(at(job, "result.converged")));
    at_least(number_at(job, "result.metrics.validation.accuracy"), 0.850, "adult's test accuracy");
    struct answer a = send_typed(&d, "POST", "/v1/models/adult/evaluate", "application/json", "{\"dataset\":\"adult-test\"}");
    assert_int_equal(a.status, 200);
    expect_near(number_at(a.json, "metrics.accuracy"), number_at(job, "result.metrics.validation.accuracy"), 1e-12);
    answer_done(&a);
    json_decref(job);
}

static void test_spambase(void **state) {
    (void)state;
    need(SHARED "spambase.csv");
    expect_status(put_file(&d, "/v1/datasets/spambase", SHARED "spambase.csv"), 201);
    struct answer a = get(&d, "/v1/datasets/spambase");
    const json_t *columns = at(a.json, "columns");
    char body[512];
    (void)snprintf(
        body, sizeof body,
        "{\"model\":\"spambase\",\"dataset\":\"spambase\",\"target\":\"%s\",\"algorithm\":\"logistic\",\"params\":{\"lambda\":1e-5},"
        "\"validation\":{\"folds\":5}}",
        text_at(json_array_get(columns, json_array_size(columns) - 1), "name"));
    answer_done(&a);
    json_t *job = train(&d, body, "succeeded");
    at_least(number_at(job, "result.metrics.validation.accuracy"), 0.92, "spambase's accuracy in five folds");
    json_decref(job);
}

/* Straight from the file: quotes, commas, missing ages and cabins. */
static void test_titanic(void **state) {
    (void)state;
    need(SHARED "titanic.csv");
    expect_status(put_file(&d, "/v1/datasets/titanic", SHARED "titanic.csv"), 201);
    json_t *job = train(
        &d,
        "{\"model\":\"titanic\",\"dataset\":\"titanic\",\"target\":\"survived\",\"algorithm\":\"logistic\",\"params\":{\"lambda\":1e-2},"
        "\"features\":{\"exclude\":[\"name\",\"ticket\"]},\"validation\":{\"folds\":5}}",
        "succeeded");
    at_least(number_at(job, "result.metrics.validation.accuracy"), 0.78, "titanic's accuracy in five folds");
    json_decref(job);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_adult),
        cmocka_unit_test(test_spambase),
        cmocka_unit_test(test_titanic),
    };
    return cmocka_run_group_tests(tests, open_daemon, close_daemon);
}
