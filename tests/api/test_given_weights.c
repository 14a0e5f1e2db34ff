/* Parameter init as a list, in the units of the columns, with max_iterations 0: the model has the
 * weights of the list, and the history begins with iteration 0. */
#include "lib/api.h"

#include <math.h>
#include <string.h>

static int prepare(void **state) {
    if (group_start(state) != 0) {
        return -1;
    }
    status_check(call_upload("/v1/datasets/two", "a,b,class\n1,20,p\n2,10,p\n3,40,q\n5,30,q\n"),
                 201);
    status_check(call_upload("/v1/datasets/three", "a,b,class\n1,20,p\n2,10,q\n3,40,r\n5,30,q\n"),
                 201);
    keep_free();
    return 0;
}

static const struct response *train(const char *dataset, const char *algorithm,
                                    const char *params) {
    return job_train("{'model':'given','dataset':'%s','target':'class','algorithm':'%s',"
                     "'params':{'max_iterations':0,%s}}",
                     dataset, algorithm, params);
}

static const struct response *weights(void) {
    return status_check(call_get("/v1/models/given/weights"), 200);
}

static void check_numbers(const struct response *r, const char *at, const double *expected,
                          size_t n) {
    assert_int_equal(count_at(r, at), n);
    for (size_t i = 0; i < n; i++) {
        assert_near(real_at(r, text("%s/%zu", at, i)), expected[i], 1e-12);
    }
}

static void linear_models(void **state) {
    (void)state;
    static const struct {
        const char *algorithm, *params;
    } cases[] = {{"logistic", "'penalty':'none'"},
                 {"logistic", "'solver':'newton'"},
                 {"logistic", "'solver':'lbfgs','penalty':'l1'"},
                 {"logistic", "'solver':'sgd','loss':'squared_error'"},
                 {"least_squares", "'solver':'gradient_descent'"},
                 {"least_squares", "'solver':'gradient_descent','targets':'zero_one','lambda':0"},
                 {"perceptron", "'criterion':'relaxation'"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct response *job =
            train("two", cases[i].algorithm, text("%s,'init':[1.5,-0.25,3]", cases[i].params));
        assert_json(job, "/warnings", "[]");
        assert_json(job, "/result/iterations", "0");
        const struct response *r = weights();
        check_numbers(r, "/w/0", (double[]){1.5, -0.25}, 2);
        check_numbers(r, "/w0", (double[]){3}, 1);
        const struct response *h =
            status_check(call_get("/v1/jobs/%lld/history", (long long)whole_at(job, "/id")), 200);
        assert_int_equal(count_at(h, "/items"), 1);
        assert_json(h, "/items/0/iteration", "0");
    }
    /* g = 1.5a - 0.25b + 3 is -0.5, 3.5, -2.5, 3; the likelihood is of the class q for g > 0 */
    const struct response *job = train("two", "logistic", "'penalty':'none','init':[1.5,-0.25,3]");
    const double loss = log1p(exp(-0.5)) + log1p(exp(3.5)) + log1p(exp(2.5)) + log1p(exp(-3));
    assert_near(real_at(job, "/result/details/log_likelihood"), -loss, 1e-12);
    assert_near(real_at(job, "/result/objective"), loss / 4, 1e-12);
}

static void softmax(void **state) {
    (void)state;
    (void)train("three", "logistic", "'init':[1,2,3,4,5,6,7,8,10]");
    const struct response *r = weights();
    for (size_t k = 0; k < 3; k++) {
        const double x = 3 * (double)k;
        check_numbers(r, text("/w/%zu", k), (double[]){x + 1, x + 2}, 2);
        assert_near(real_at(r, text("/w0/%zu", k)), k == 2 ? 10 : x + 3, 1e-12);
    }
}

/* Without a list the weights are those of a start, which is a warning. */
static void start_without_a_list(void **state) {
    (void)state;
    static const char *const algorithms[] = {"logistic", "least_squares", "perceptron", "mlp"};
    for (size_t i = 0; i < 4; i++) {
        const struct response *job =
            train("two", algorithms[i], i == 1 ? "'solver':'gradient_descent'" : "'init':null");
        assert_int_equal(count_at(job, "/warnings"), 1);
        assert_non_null(strstr(string_at(job, "/warnings/0"), "not trained"));
    }
}

/* Reports of work before the first iteration are not items of the history. */
static void history_without_a_start(void **state) {
    (void)state;
    status_check(call_upload("/v1/datasets/wide", "a,b,c,d,e,class\n1,2,0,4,1,p\n2,1,5,3,0,q\n"
                                                  "0,3,1,1,2,p\n"),
                 201);
    const struct response *job =
        job_train("{'model':'wide','dataset':'wide','target':'class','algorithm':'logistic',"
                  "'params':{'penalty':'none'}}");
    const struct response *h =
        status_check(call_get("/v1/jobs/%lld/history", (long long)whole_at(job, "/id")), 200);
    assert_json(h, "/items/0/iteration", "1");
    assert_int_equal(whole_at(job, "/progress/iteration"), whole_at(job, "/result/iterations"));
}

/* Two tanh units and one output. */
static void network(void **state) {
    (void)state;
    static const char *const solvers[] = {"lbfgs", "adam"};
    for (size_t i = 0; i < 2; i++) {
        const struct response *job = train("two", "mlp",
                                           text("'layers':[2],'activation':'tanh','solver':'%s',"
                                                "'init':[0.5,-0.1,-1,0.05,1,2,3,-4,0.25]",
                                                solvers[i]));
        assert_json(job, "/warnings", "[]");
        const struct response *r = weights();
        check_numbers(r, "/layers/0/w/0", (double[]){0.5, -0.1}, 2);
        check_numbers(r, "/layers/0/w/1", (double[]){-1, 0.05}, 2);
        check_numbers(r, "/layers/0/w0", (double[]){1, 2}, 2);
        check_numbers(r, "/layers/1/w/0", (double[]){3, -4}, 2);
        check_numbers(r, "/layers/1/w0", (double[]){0.25}, 1);
        r = status_check(call_post("/v1/models/given/predict?output=scores",
                                   "{'instances':[{'a':3,'b':40}]}"),
                         200);
        assert_near(real_at(r, "/predictions/0/scores/0"),
                    3 * tanh(1.5 - 4 + 1) - 4 * tanh(-3 + 2 + 2) + 0.25, 1e-12);
    }
    /* a start from a list descends */
    const struct response *job = job_train(
        "{'model':'given','dataset':'two','target':'class','algorithm':'mlp','params':{'layers':[2]"
        ","
        "'activation':'tanh','max_iterations':5,'init':[0.5,-0.1,-1,0.05,1,2,3,-4,0.25]}}");
    assert_json(job, "/result/details/starts", "1");
}

static void refused(void **state) {
    (void)state;
    static const struct {
        const char *algorithm, *params, *pointer, *words;
    } cases[] = {{"logistic", "'init':[1,2]", "/params/init", "must have 3 numbers"},
                 {"logistic", "'order':'given'", "/params/order", "belongs to solver sgd"},
                 {"logistic", "'schedule':'constant','solver':'newton'", "/params/schedule",
                  "belongs to solver sgd"},
                 {"least_squares", "'init':[1,2,3]", "/params/init", "gradient_descent"},
                 {"least_squares", "'max_iterations':0", "/params/max_iterations",
                  "gradient_descent"},
                 {"mlp", "'layers':[2],'init':[1,2,3]", "/params/init", "must have 9 numbers"},
                 {"mlp", "'layers':[2],'restarts':2,'init':[1,2,3,4,5,6,7,8,9]", "/params/restarts",
                  "must be 1"},
                 {"svm", "'max_iterations':0", "/params/max_iterations", ">= 1"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct response *r =
            problem_check(call_post("/v1/jobs",
                                    "{'model':'given','dataset':'two','target':'class',"
                                    "'algorithm':'%s','params':{%s}}",
                                    cases[i].algorithm, cases[i].params),
                          422, "invalid");
        assert_string_equal(string_at(r, "/errors/0/pointer"), cases[i].pointer);
        assert_non_null(strstr(string_at(r, "/errors/0/detail"), cases[i].words));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(linear_models),           TEST(softmax), TEST(start_without_a_list),
        TEST(history_without_a_start), TEST(network), TEST(refused)};
    return cmocka_run_group_tests(tests, prepare, group_end);
}
