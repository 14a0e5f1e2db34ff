/* Messages that help a caller on: the nearest name for a misspelt one, and what to do about a
 * limit. */
#include "lib/api.h"

#include <stdlib.h>
#include <string.h>

static int prepare(void **state) {
    (void)state;
    service_start(FLAGS("--max-body", "100000"));
    status_check(upload_file("iris", "iris.csv"), 201);
    job_train("{'model':'flowers','dataset':'iris','target':'class','algorithm':'logistic'}");
    keep_free();
    return 0;
}

static void says(const struct response *a, const char *words) {
    if (strstr(a->body, words) == NULL) {
        answer_fail(a, __FILE__, __LINE__, "the answer does not contain: %s", words);
    }
}

#define MEANT(name) "did you mean \\\"" name "\\\"?"

static void test_names(void **state) {
    (void)state;
    says(call_get("/v1/datasets/irsi"), "there is no dataset \\\"irsi\\\"; " MEANT("iris"));
    says(call_get("/v1/datasets/Iris/rows"), MEANT("iris"));
    says(call_get("/v1/datasets/iriss/versions"), MEANT("iris"));
    says(call_get("/v1/models/flower"), "there is no model \\\"flower\\\"; " MEANT("flowers"));
    says(call_json("POST", "/v1/models/flovers/predict", "{'instances':[[1,2,3,4]]}"),
         MEANT("flowers"));
    says(call_get("/v1/models/flovers/versions"), MEANT("flowers"));
    says(call_json("POST", "/v1/models/flowers/evaluate", "{'dataset':'irs'}"), MEANT("iris"));
    assert_null(strstr(call_get("/v1/datasets/wine")->body, "did you mean"));
    assert_null(strstr(call_get("/v1/datasets/iris/versions/7")->body, "did you mean"));
}

static void test_members(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"'dataset':'irish','target':'class'", MEANT("iris")},
        {"'dataset':'iris','target':'clas'", MEANT("class")},
        {"'dataset':'iris','target':'Class'", MEANT("class")},
        {"'dataset':'iris','target':'class','paramss':{}", MEANT("params")},
        {"'dataset':'iris','target':'class','features':{'includes':[]}", MEANT("include")},
        {"'dataset':'iris','target':'class','features':{'exclude':['sepal_lenght']}",
         MEANT("sepal_length")},
        {"'dataset':'iris','target':'class','params':{'lamda':1}", MEANT("lambda")},
        {"'dataset':'iris','target':'class','params':{'solver':'newtn'}", "did you mean newton"},
        {"'dataset':'iris','target':'class','validation':{'hold_out':0.2}", MEANT("holdout")},
        {"'dataset':'iris','target':'class','features':{'missing':'meen'}", MEANT("mean")},
        {"'dataset':'iris','target':'class','decision':'score'", MEANT("scores")},
        {"'dataset':'iris','target':'class','class_weight':{'setosaa':2}", MEANT("setosa")},
        {"'dataset':'iris','target':'class','promote':'if_beter'", MEANT("if_better")},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct response *a =
            call_json("POST", "/v1/jobs", "{'model':'m','algorithm':'logistic',%s}", cases[i][0]);
        status_check(a, 422);
        says(a, cases[i][1]);
    }
}

static void test_methods(void **state) {
    (void)state;
    says(call_get("/v1/algorithms/logstic"), MEANT("logistic"));
    says(call_json("POST", "/v1/jobs", "{'model':'m','dataset':'iris','target':'class',%s}",
                   "'algorithm':'logstic'"),
         MEANT("logistic"));
}

static void test_kernels(void **state) {
    (void)state;
    static const char *const cases[][2] = {{"{'typ':'rbf'}", MEANT("type")},
                                           {"{'type':'linaer'}", "did you mean linear"},
                                           {"'gausian'", "did you mean rbf"},
                                           {"{'type':'rbf','gama':1}", MEANT("gamma")}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        says(call_json("POST", "/v1/jobs",
                       "{'model':'m','dataset':'iris','target':'class','algorithm':'svm',"
                       "'params':{'kernel':%s}}",
                       cases[i][0]),
             cases[i][1]);
    }
}

static void test_queries(void **state) {
    (void)state;
    says(call_get("/v1/datasets/iris?verison=1"), MEANT("version"));
    says(call_json("POST", "/v1/models/flowers/predict?kep=a", "{'instances':[[1,2,3,4]]}"),
         MEANT("keep"));
}

static void test_columns(void **state) {
    (void)state;
    static const char *const grids[] = {"'x':{'column':'petal_lenght'}",
                                        "'x':{'column':'petal_width'},'at':{'petal_lenght':1}"};
    for (size_t i = 0; i < 2; i++) {
        says(call_json("POST", "/v1/models/flowers/evaluate_grid", "{%s}", grids[i]),
             MEANT("petal_length"));
    }
    says(call_json("POST", "/v1/models/flowers/evaluate", "{'dataset':'iris','target':'clas'}"),
         MEANT("class"));
    says(call_get("/v1/datasets/iris/rows?columns=sepal_widht"), MEANT("sepal_width"));
    says(call_text("POST", "/v1/datasets/iris/rows", NULL,
                   "sepal_length,sepal_width,petal_length,petal_widht,class\n1,2,3,4,x\n"),
         MEANT("petal_width"));
}

/* A body above the limit: the message names the limit and another way. */
static void test_body_limit(void **state) {
    (void)state;
    const char *rows = repeat("1,2,3,4\n", 20000);
    const struct response *a =
        call_text("POST", "/v1/models/flowers/predict", "Content-Type: text/csv", rows);
    problem_check(a, 413, "body-too-large");
    says(a, "--max-body; rows as application/x-ndjson may be as many as --max-upload allows");
    a = call_text("POST", "/v1/models/flowers/evaluate", "Content-Type: text/csv", rows);
    problem_check(a, 413, "body-too-large");
    says(a, "--max-body; upload the rows as a dataset");
}

/* A limit of a job: the message names it and its value. */
static void test_job_limits(void **state) {
    (void)state;
    const struct response *a = job_wait(
        job_post("{'model':'slow','dataset':'iris','target':'class','algorithm':'logistic',"
                 "'limits':{'seconds':0.05},'params':{'solver':'gradient_descent',"
                 "'max_iterations':100000000,'tolerance':0}}"));
    assert_string_equal(string_at(a, "/state"), "failed");
    says(a, "the time limit of 0.05 s was reached (limits.seconds, at most the daemon's "
            "--job-seconds)");
    a = call_json("POST", "/v1/jobs",
                  "{'model':'m','dataset':'iris','target':'class','algorithm':'logistic',"
                  "'limits':{'memory_mib':%s}}",
                  "100000000");
    problem_check(a, 422, "invalid");
    says(a, "(--job-memory), got 100000000");
}

static void test_json(void **state) {
    (void)state;
    static const char *const numbers[] = {"NaN", "Infinity", "-Infinity"};
    for (size_t i = 0; i < 3; i++) {
        says(call_json("POST", "/v1/models/flowers/predict", "{'instances':[[1,2,3,%s]]}",
                       numbers[i]),
             "null for a missing value");
        says(call_json("PUT", "/v1/datasets/nan", "[{'a':%s}]", numbers[i]),
             "null for a missing value");
    }
}

/* Rows without a class are left out of a training: the job says how many. */
static void test_missing_targets(void **state) {
    (void)state;
    status_check(call_upload("/v1/datasets/gaps", "x,y\n1,a\n2,b\n3,\n4,a\n5,b\n"), 201);
    says(call_json("POST", "/v1/jobs?dry_run=true",
                   "{'model':'m','dataset':'gaps','target':'%s','algorithm':'logistic'}", "y"),
         "1 of 5 rows have no value of the target \\\"y\\\" and are left out");
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_names),      TEST(test_members),
                                       TEST(test_methods),    TEST(test_kernels),
                                       TEST(test_queries),    TEST(test_columns),
                                       TEST(test_body_limit), TEST(test_job_limits),
                                       TEST(test_json),       TEST(test_missing_targets)};
    return cmocka_run_group_tests(tests, prepare, group_end);
}
