/* Networks: estimate, training, prediction, weights, restart, cancel. */
#include "lib/api.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const IRIS =
    "{'model':'net','dataset':'iris','target':'class','algorithm':'mlp','params':{'layers':[6,5]}}";
static const char *const ROWS =
    "{'instances':[[5.1,3.5,1.4,0.2],[6.3,3.3,6,2.5],[5.9,3,4.2,null]]}";

static int prepare(void **state) {
    if (group_start(state) != 0) {
        return -1;
    }
    upload_file("iris", "iris.csv");
    upload_file("digits", "digits.csv");
    call_upload("/v1/datasets/xor", "x1,x2,class\n0,0,0\n0,1,1\n1,0,1\n1,1,0\n");
    keep_free();
    return 0;
}

/* The catalogue entry: outputs of the models, and the resolved values of "auto" in an estimate. */
static void test_catalogue_and_plan(void **state) {
    (void)state;
    const struct response *r = status_check(call_get("/v1/algorithms/mlp"), 200);
    assert_json(r, "/outputs", "['label','probabilities','scores','ambiguous']");
    assert_true(json_is_false(value_at(r, "/streams")) &&
                json_is_true(value_at(r, "/probabilities")));
    r = status_check(call_post("/v1/jobs?dry_run=true", "%s", quoted("%s", IRIS)), 200);
    assert_json(r, "/params/layers", "[6,5]");
    assert_string_equal(string_at(r, "/params/solver"), "lbfgs");
    assert_string_equal(string_at(r, "/params/activation"), "tanh");
    assert_true(real_at(r, "/memory_bytes") > 0);
    assert_int_equal(count_at(call_get("/v1/models"), "/items"), 0);
    r = status_check(
        call_post(
            "/v1/jobs?dry_run=true",
            "{'model':'net','dataset':'iris','target':'class','algorithm':'mlp','snapshots':[1]}"),
        200);
    assert_non_null(strstr(string_at(r, "/warnings/0"), "no snapshots"));
}

static void test_bad_parameters(void **state) {
    (void)state;
    static const struct {
        const char *params, *place;
    } bad[] = {{"'layers':[]", "/params/layers"},
               {"'layers':[-3]", "/params/layers/0"},
               {"'layers':[3,1000000000]", "/params/layers/1"},
               {"'layers':[3,'a']", "/params/layers/1"},
               {"'layers':'16'", "/params/layers"},
               {"'layers':[10000,10000,10000,10000]", ""}, /* 2.2 GiB of weights */
               {"'layers':[3,2.5]", "/params/layers/1"},
               {"'layers':[0]", "/params/layers/0"},
               {"'layers':[2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2]", "/params/layers"},
               {"'layers':16", "/params/layers"},
               {"'solver':'lbfgs','batch_size':10", "/params/batch_size"},
               {"'activation':'step'", "/params/activation"},
               {"'early_stopping':1", "/params/early_stopping"},
               {"'restarts':0", "/params/restarts"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const struct response *r = call_post(
            "/v1/jobs",
            "{'model':'bad','dataset':'iris','target':'class','algorithm':'mlp','params':{%s}}",
            bad[i].params);
        fault_check(problem_check(r, 422, NULL), bad[i].place);
    }
}

/* Exclusive or, with the default parameters and two units. */
static void test_exclusive_or(void **state) {
    (void)state;
    const struct response *job = job_train("{'model':'xor','dataset':'xor','target':'class','"
                                           "algorithm':'mlp','params':{'layers':[2]}}");
    assert_true(real_at(job, "/result/metrics/train/accuracy") == 1);
    assert_true(json_is_true(value_at(job, "/result/converged")));
    assert_true(real_at(job, "/result/details/starts") == 10);
    assert_int_equal(count_at(job, "/result/details/start_objectives"), 10);
    const struct response *r =
        call_post("/v1/models/xor/predict", "{'instances':[[0,0],[0,1],[1,0],[1,1]]}");
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(whole_at(r, text("/predictions/%zu/label", i)), i == 1 || i == 2);
    }
}

/* The output of a unit, computed from the weights. */
static double unit_of(const struct response *weights, size_t layer, size_t k, const double *in,
                      size_t n) {
    double sum = real_at(weights, text("/layers/%zu/w0/%zu", layer, k));
    for (size_t j = 0; j < n; j++) {
        sum += in[j] * real_at(weights, text("/layers/%zu/w/%zu/%zu", layer, k, j));
    }
    return sum;
}

static void test_answers_and_weights(void **state) {
    (void)state;
    (void)job_train("%s", IRIS);
    const struct response *w = status_check(call_get("/v1/models/net/weights"), 200);
    const struct response *r = status_check(
        call_post("/v1/models/net/predict?output=label,probabilities,scores,distance,contributions",
                  "%s", ROWS),
        200);
    assert_string_equal(string_at(w, "/kind"), "network");
    assert_string_equal(string_at(w, "/activation"), "tanh");
    assert_int_equal(count_at(w, "/layers"), 3);
    assert_int_equal(whole_at(w, "/layers/1/units"), 5);
    const double x[] = {5.1, 3.5, 1.4, 0.2};
    double first[6], second[5];
    for (size_t k = 0; k < 6; k++) {
        first[k] = tanh(unit_of(w, 0, k, x, 4));
    }
    for (size_t k = 0; k < 5; k++) {
        second[k] = tanh(unit_of(w, 1, k, first, 6));
    }
    for (size_t k = 0; k < 3; k++) {
        assert_close(real_at(r, text("/predictions/0/scores/%zu", k)), unit_of(w, 2, k, second, 5),
                     1e-9);
    }
    for (size_t i = 0; i < 3; i++) {
        double sum = 0;
        for (size_t k = 0; k < 3; k++) {
            sum += real_at(r, text("/predictions/%zu/probabilities/%zu", i, k));
        }
        assert_true(fabs(sum - 1) < 1e-12);
        assert_true(json_is_null(value_at(r, text("/predictions/%zu/distance", i))));
        assert_true(json_is_null(value_at(r, text("/predictions/%zu/contributions", i))));
    }
    assert_string_equal(string_at(r, "/predictions/0/label"), "setosa");
    w = status_check(call_get("/v1/models/net/weights?matrices=false"), 200);
    assert_false(has(w, "/layers/0/w"));
    assert_int_equal(whole_at(w, "/layers/0/units"), 6);
}

/* A repeated job gives an equal model; a restarted daemon gives equal answers. */
static void test_again_and_restart(void **state) {
    (void)state;
    (void)job_train("%s", IRIS);
    const struct response *first =
        status_check(call_post("/v1/models/net/predict?output=scores", "%s", ROWS), 200);
    const char *weights = call_get("/v1/models/net/versions/1/weights")->body;
    service_stop();
    service_restart(NULL);
    const struct response *kept =
        status_check(call_post("/v1/models/net/predict?output=scores", "%s", ROWS), 200);
    assert_string_equal(first->body, kept->body);
    assert_string_equal(weights, call_get("/v1/models/net/versions/1/weights")->body);
    (void)job_train("%s", IRIS);
    const struct response *again = call_post("/v1/models/net/predict?output=scores", "%s", ROWS);
    assert_true(json_equal(value_at(again, "/predictions"), value_at(first, "/predictions")));
}

/* Both solvers stop after a cancel at any moment. */
static void test_cancel(void **state) {
    (void)state;
    const char *const params[] = {
        "'solver':'lbfgs','layers':[400,300],'tolerance':0,'max_iterations':1000000",
        "'solver':'adam','layers':[400,300],'patience':1000000,'max_iterations':1000000",
        "'layers':[900,900],'solver':'lbfgs','tolerance':0"};
    for (size_t i = 0; i < 3; i++) {
        const int64_t id = job_post(
            "{'model':'never','dataset':'digits','target':'class','algorithm':'mlp','params':{%s}}",
            params[i]);
        (void)job_wait_state(id, "running");
        pause_ms(700);
        status_check(call_post(text("/v1/jobs/%lld/cancel", (long long)id), "%s", ""), 202);
        assert_string_equal(string_at(job_wait(id), "/state"), "cancelled");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_catalogue_and_plan),  TEST(test_bad_parameters),    TEST(test_exclusive_or),
        TEST(test_answers_and_weights), TEST(test_again_and_restart), TEST(test_cancel),
    };
    return cmocka_run_group_tests(tests, prepare, group_end);
}
