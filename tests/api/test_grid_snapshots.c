/* POST …/evaluate_grid with "snapshot": the model after some iterations or updates of its training.
 * The scores equal those of the weights in the history of the job. */
#include "lib/api.h"

#include <math.h>
#include <string.h>

#define GRID "'x':{'column':'petal_length','from':1,'to':7,'steps':4},'at':{'sepal_length':6.1},"

static int64_t lines, two, updates, ended;

static int prepare(void **state) {
    if (group_start(state) != 0) {
        return -1;
    }
    upload_file("iris", "iris.csv");
    status_check(call_upload("/v1/datasets/four", "x1,x2,class\n-3,0,b\n-2,-1,b\n3,3,a\n-1,-1,a\n"),
                 201);
    status_check(call_upload("/v1/datasets/pair",
                             "x1,x2,class\n1,2,p\n2,1,p\n3,5,q\n5,4,q\n2,4,p\n4,2,q\n"),
                 201);
    lines = job_post("{'model':'lines','dataset':'iris','target':'class','algorithm':'logistic',"
                     "'snapshots':[1,3]}");
    two = job_post("{'model':'two','dataset':'pair','target':'class','algorithm':'logistic',"
                   "'snapshots':[1,2]}");
    updates = job_post("{'model':'updates','dataset':'four','target':'class','algorithm':"
                       "'perceptron','params':{'order':'given','learning_rate':1,'at_zero':"
                       "'second'},'features':{'standardize':false},'snapshots':[1,2,3],"
                       "'snapshots_of':'updates'}");
    ended = job_post("{'model':'ended','dataset':'pair','target':'class','algorithm':'logistic',"
                     "'snapshots':[1]}");
    job_train("{'model':'calibrated','dataset':'pair','target':'class','algorithm':'perceptron',"
              "'params':{'calibrate':'platt','calibration_folds':2},'snapshots':[1]}");
    job_train("{'model':'pairs','dataset':'iris','target':'class','algorithm':'logistic','params':"
              "{'multiclass':'one_vs_one'},'snapshots':[1]}");
    job_train(
        "{'model':'net','dataset':'pair','target':'class','algorithm':'mlp','snapshots':[1]}");
    job_train("{'model':'gauss','dataset':'pair','target':'class','algorithm':'fisher'}");
    job_wait_state(lines, "succeeded");
    job_wait_state(two, "succeeded");
    job_wait_state(updates, "succeeded");
    job_wait_state(ended, "succeeded");
    keep_free();
    return 0;
}

/* The snapshot of iteration `number` in the history of a job. */
static const json_t *snapshot_of(int64_t job, int number) {
    const struct response *h = status_check(call_get("/v1/jobs/%d/history", (int)job), 200);
    for (size_t i = 0; i < count_at(h, "/snapshots"); i++) {
        const json_t *one = json_array_get(value_at(h, "/snapshots"), i);
        if (json_number_value(json_object_get(one, "iteration")) == number) {
            return one;
        }
    }
    fail_msg("no snapshot %d", number);
    return NULL;
}

static double at(const json_t *list, size_t i) {
    assert_true(json_is_number(json_array_get(list, i)));
    return json_number_value(json_array_get(list, i));
}

/* Softmax over three classes with standardised features: each score is w_k'x + w_k0 of the
 * snapshot, and the probabilities are the softmax of the scores. */
static void scores_are_those_of_the_snapshot(void **state) {
    (void)state;
    for (int number = 1; number <= 3; number += 2) {
        const json_t *snapshot = snapshot_of(lines, number);
        const struct response *g =
            status_check(call_post("/v1/models/lines/evaluate_grid",
                                   "{" GRID "'snapshot':%d,'output':'scores,probabilities'}",
                                   number),
                         200);
        assert_int_equal(real_at(g, "/snapshot"), number);
        for (size_t i = 0; i < 4; i++) {
            const double x[4] = {6.1, real_at(g, "/at/sepal_width"), 1 + 2 * (double)i,
                                 real_at(g, "/at/petal_width")};
            double scores[3], sum = 0;
            for (size_t k = 0; k < 3; k++) {
                scores[k] = at(json_object_get(snapshot, "w0"), k);
                for (size_t j = 0; j < 4; j++) {
                    scores[k] += at(json_array_get(json_object_get(snapshot, "w"), k), j) * x[j];
                }
                assert_near(at(json_array_get(value_at(g, "/scores"), k), i), scores[k], 1e-12);
                sum += exp(scores[k]);
            }
            for (size_t k = 0; k < 3; k++) {
                assert_near(at(json_array_get(value_at(g, "/probabilities"), k), i),
                            exp(scores[k]) / sum, 1e-12);
            }
        }
    }
}

/* Two classes: w is a vector, w0 a number. */
static void one_score(void **state) {
    (void)state;
    const json_t *snapshot = snapshot_of(two, 2);
    const struct response *g = status_check(
        call_post("/v1/models/two/evaluate_grid",
                  "{'x':{'column':'x1','from':1,'to':5,'steps':5},'at':{'x2':3},'snapshot':2,"
                  "'output':'probabilities,scores'}"),
        200);
    for (size_t i = 0; i < 5; i++) {
        const double score = at(json_object_get(snapshot, "w"), 0) * (1 + (double)i) +
                             at(json_object_get(snapshot, "w"), 1) * 3 +
                             json_number_value(json_object_get(snapshot, "w0"));
        assert_near(at(json_array_get(value_at(g, "/scores"), 0), i), score, 1e-12);
        assert_near(at(json_array_get(value_at(g, "/probabilities"), 1), i), 1 / (1 + exp(-score)),
                    1e-12);
    }
}

/* The calibration belongs to the scores of the trained model. */
static void a_snapshot_is_not_calibrated(void **state) {
    (void)state;
    const struct response *g = status_check(call_post("/v1/models/calibrated/evaluate_grid",
                                                      "{'x':{'column':'x1'},'snapshot':1}"),
                                            200);
    assert_true(has(g, "/scores") && !has(g, "/probabilities"));
    g = status_check(call_post("/v1/models/calibrated/evaluate_grid", "{'x':{'column':'x1'}}"),
                     200);
    assert_true(has(g, "/probabilities"));
}

/* By hand from w = 0, where f(0) is class b: (3, 3) of class a is predicted as b, w = (-3, -3, -1);
 * (-1, -1) of class a has 3 + 3 - 1 = 5, w = (-2, -2, -2); then (-1, -1) has 2 + 2 - 2 = 2,
 * w = (-1, -1, -3). Update 2 scores -2 x1 - 2 x2 - 2. */
static void updates_of_a_perceptron(void **state) {
    (void)state;
    static const double w[3][3] = {{-3, -3, -1}, {-2, -2, -2}, {-1, -1, -3}};
    for (int u = 1; u <= 3; u++) {
        const struct response *g = status_check(
            call_post("/v1/models/updates/versions/1/evaluate_grid",
                      "{'x':{'column':'x1','from':-3,'to':3,'steps':3},'y':{'column':'x2','from':0,"
                      "'to':1,'steps':2},'snapshot':%d,'output':'scores,label'}",
                      u),
            200);
        for (size_t j = 0; j < 2; j++) {
            for (size_t i = 0; i < 3; i++) {
                const double score =
                    w[u - 1][0] * (3 * (double)i - 3) + w[u - 1][1] * (double)j + w[u - 1][2];
                assert_true(at(json_array_get(json_array_get(value_at(g, "/scores"), 0), j), i) ==
                            score);
                assert_true(at(json_array_get(value_at(g, "/labels"), j), i) == (score >= 0));
            }
        }
    }
    /* the last update made the model */
    const struct response *last = call_post("/v1/models/updates/evaluate_grid",
                                            "{'x':{'column':'x1'},'snapshot':3,'output':'scores'}"),
                          *whole = call_post("/v1/models/updates/evaluate_grid",
                                             "{'x':{'column':'x1'},'output':'scores'}");
    assert_true(json_equal(value_at(last, "/scores"), value_at(whole, "/scores")));
    assert_false(has(whole, "/snapshot"));
}

static void lines_have_snapshots_too(void **state) {
    (void)state;
    const struct response *g =
        status_check(call_text("POST", "/v1/models/updates/evaluate_grid", "Accept: text/csv",
                               quoted(
                                   "{'x':{'column':'x1','from':0,'to':1,'steps':2},'at':{'x2':0},"
                                   "'snapshot':1,'output':'scores'}")),
                     200);
    assert_non_null(strstr(g->body, "\n0,-1"));
    assert_non_null(strstr(g->body, "\n1,-4"));
}

static void refused(const char *model, const char *snapshot, const char *words) {
    fault_contains(problem_check(call_post(text("/v1/models/%s/evaluate_grid", model),
                                           "{'x':{'column':'%s'},'snapshot':%s}",
                                           strcmp(model, "pairs") == 0 ||
                                                   strcmp(model, "lines") == 0
                                               ? "petal_length"
                                               : "x1",
                                           snapshot),
                                 422, "invalid"),
                   "/snapshot", words);
}

static void models_without_the_snapshot(void **state) {
    (void)state;
    refused("lines", "2", "kept no snapshot 2");
    refused("updates", "4", "kept no snapshot 4");
    refused("lines", "-1", "integer");
    refused("lines", "1.5", "integer");
    refused("lines", "'1'", "integer");
    refused("pairs", "1", "3 machines");
    refused("net", "1", "\"network\"");
    refused("gauss", "1", "kept no snapshot");
    status_check(call_post("/v1/models/lines/evaluate_grid", "{" GRID "'snapshot':null}"), 200);
    status_check(call_post("/v1/models/ended/evaluate_grid", "{'x':{'column':'x1'},'snapshot':1}"),
                 200);
    status_check(call_delete("/v1/jobs/%d", (int)ended), 204);
    refused("ended", "1", "was deleted");
}

/* The updates of three machines are numbered one after the other, and so are their passes. */
static void updates_of_several_machines(void **state) {
    (void)state;
    const struct response *job =
        job_train("{'model':'three','dataset':'iris','target':'class','algorithm':'perceptron',"
                  "'params':{'max_iterations':5},'snapshots_of':'updates'}");
    const struct response *h =
        status_check(call_get("/v1/jobs/%lld/history", (long long)whole_at(job, "/id")), 200);
    const size_t n = count_at(h, "/items");
    int64_t pass = 1;
    assert_in_range(n, 30, 1000);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(whole_at(h, text("/items/%zu/update", i)), i + 1);
        assert_in_range(whole_at(h, text("/items/%zu/iteration", i)), pass, 15);
        pass = whole_at(h, text("/items/%zu/iteration", i));
    }
}

/* Snapshot 0 is the start. */
static void the_start(void **state) {
    (void)state;
    static const char *const methods[] = {"'algorithm':'logistic','params':{'solver':'sgd'}",
                                          "'algorithm':'logistic'",
                                          ("'algorithm':'least_squares','params':"
                                           "{'solver':'gradient_descent','max_iterations':5}")};
    for (size_t i = 0; i < 3; i++) {
        const struct response *job =
            job_train("{'model':'start','dataset':'pair','target':'class',%s,'snapshots':[0,1]}",
                      methods[i]);
        assert_non_null(snapshot_of(whole_at(job, "/id"), 0));
        assert_non_null(snapshot_of(whole_at(job, "/id"), 1));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(scores_are_those_of_the_snapshot), TEST(one_score),
        TEST(a_snapshot_is_not_calibrated),     TEST(updates_of_a_perceptron),
        TEST(lines_have_snapshots_too),         TEST(models_without_the_snapshot),
        TEST(updates_of_several_machines),      TEST(the_start),
    };
    return cmocka_run_group_tests(tests, prepare, group_end);
}
