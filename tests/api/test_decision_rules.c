/* Decision rules: of a job and of PUT …/decision, in predictions and evaluations, chosen from the
 * predictions for held-out rows; wrong rules. */
#include "lib/api.h"
#include "lib/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 1000 };

/* Credit-like rows: 30 % are bad, more of them with a long duration and a high amount. */
static int prepare(void **state) {
    if (group_start(state) != 0) {
        return -1;
    }
    char *body = malloc(ROWS * 48 + 64);
    uint64_t s = 7;
    assert_non_null(body);
    size_t n = (size_t)sprintf(body, "duration,amount,risk\n");
    for (int i = 0; i < ROWS; i++) {
        const double duration = 4 + 44 * random_unit(&s), amount = 200 + 8000 * random_unit(&s),
                     g = -3 + 0.06 * duration + 0.00018 * amount;
        n += (size_t)sprintf(body + n, "%.1f,%.0f,%s\n", duration, amount,
                             random_unit(&s) < 1 / (1 + exp(-g)) ? "bad" : "good");
    }
    status_check(call_upload("/v1/datasets/credit", body), 201);
    free(body);
    upload_file("iris", "iris.csv");
    keep_free();
    return 0;
}

#define CREDIT(more)                                                                               \
    "{'model':'credit','dataset':'credit','target':'risk','algorithm':'logistic','validation':{"   \
    "'folds':5}" more "}"
#define COSTS "{'cost':{'bad':{'good':5},'good':{'bad':1}}}"
#define PREDICT "{'instances':[{'duration':20,'amount':3000}]}"

static const char *label_of(const char *query, const char *row) {
    const struct response *r = status_check(
        call_post(keep(strdup(text("/v1/models/credit/predict%s", query)), free), "%s", row), 200);
    return string_at(r, "/predictions/0/label");
}

/* A cost that is not given is that of any wrong label. */
static void test_one_cost(void **state) {
    (void)state;
    const struct response *j = job_train(CREDIT(",'decision':{'cost':{'bad':{'good':5}}}"));
    assert_json(j, "/result/decision_rule/costs", "[[0,5],[1,0]]");
    assert_json(j, "/resolved/decision", "{'cost':{'bad':{'good':5}}}");
    assert_true(real_at(j, "/result/decision_rule/held_out/cost") > 0);
}

/* The costs of German credit: a bad customer taken for a good one costs 5. */
static void test_costs_of_a_job(void **state) {
    (void)state;
    const struct response *j = job_train(CREDIT(",'decision':" COSTS));
    assert_json(j, "/resolved/decision", COSTS);
    assert_json(j, "/result/decision_rule/costs", "[[0,5],[1,0]]");
    const double cost = real_at(j, "/result/decision_rule/held_out/cost"),
                 plain = real_at(j, "/result/decision_rule/held_out/cost_of_most_probable");
    assert_true(cost < 0.95 * plain);
    const struct response *r = status_check(call_get("/v1/models/credit"), 200);
    assert_int_equal(whole_at(r, "/decision_rule/revision"), 1);
    /* the threshold of these costs is 1/6 */
    r = status_check(call_post("/v1/models/credit/predict", PREDICT), 200);
    const double bad = real_at(r, "/predictions/0/probabilities/0");
    assert_true(bad > 1.0 / 6 && bad < 0.5);
    assert_string_equal(string_at(r, "/predictions/0/label"), "bad");
    assert_string_equal(label_of("?decision=probabilities", PREDICT), "good");
    r = status_check(call_post("/v1/models/credit/evaluate", "{'dataset':'credit'}"), 200);
    const double with = real_at(r, "/cost");
    const double fn = real_at(r, "/metrics/confusion/matrix/0/1"),
                 fp = real_at(r, "/metrics/confusion/matrix/1/0");
    assert_near(with, (5 * fn + fp) / ROWS, 1e-12);
    r = status_check(call_post("/v1/models/credit/evaluate?decision=probabilities",
                               "{'dataset':'credit'}"),
                     200);
    assert_false(has(r, "/cost"));
    assert_true(with < (5 * real_at(r, "/metrics/confusion/matrix/0/1") +
                        real_at(r, "/metrics/confusion/matrix/1/0")) /
                           ROWS);
    assert_int_equal(daemon_stop(&the_daemon), 0);
    service_restart(the_daemon.flags);
    assert_string_equal(label_of("", PREDICT), "bad");
}

/* A threshold that is chosen from the held-out rows is found again from their file. */
static void test_chosen_threshold(void **state) {
    (void)state;
    const struct response *j = job_train(CREDIT(",'decision':{'maximise':'f1','positive':'bad'}"));
    const double threshold = real_at(j, "/result/decision_rule/threshold"),
                 value = real_at(j, "/result/decision_rule/value");
    assert_string_equal(string_at(j, "/result/decision_rule/positive"), "bad");
    assert_near(real_at(j, "/result/decision_rule/held_out/f1"), value, 1e-12);
    static double p[ROWS];
    static bool bad[ROWS];
    char *copy = keep(strdup(status_check(call_get("/v1/jobs/%lld/predictions",
                                                   (long long)whole_at(j, "/id")),
                                          200)
                                 ->body),
                      free),
         *rest = NULL;
    (void)strtok_r(copy, "\n", &rest);
    for (int i = 0; i < ROWS; i++) {
        char truth[16], label[16];
        assert_int_equal(sscanf(strtok_r(NULL, "\n", &rest), "%*d,%*d,%15[^,],%15[^,],%lf", truth,
                                label, &p[i]),
                         3);
        bad[i] = strcmp(truth, "bad") == 0;
    }
    double best = 0, best_t = 0;
    for (int k = 0; k < ROWS; k++) {
        double tp = 0, fp = 0, fn = 0;
        for (int i = 0; i < ROWS; i++) {
            tp += p[i] >= p[k] && bad[i];
            fp += p[i] >= p[k] && !bad[i];
            fn += p[i] < p[k] && bad[i];
        }
        const double f1 = 2 * tp / (2 * tp + fp + fn);
        if (f1 > best || (f1 == best && p[k] > best_t)) {
            best = f1;
            best_t = p[k];
        }
    }
    assert_near(threshold, best_t, 0);
    assert_near(value, best, 1e-12);
    j = job_train(CREDIT(",'decision':{'precision_at_least':0.999999,'positive':'good'}"));
    if (!has(j, "/result/decision_rule")) {
        assert_non_null(strstr(string_at(j, "/warnings/0"), "no threshold reaches"));
    }
}

/* The predictions for held-out rows have the labels of the job's rule beside those without it. */
static void test_decided(void **state) {
    (void)state;
    const struct response *j =
        job_train(CREDIT(",'decision':{'cost':{'bad':{'good':5}},'reject':0.7}"));
    const long long id = (long long)whole_at(j, "/id");
    const double cost = real_at(j, "/result/decision_rule/held_out/cost"),
                 share = real_at(j, "/result/decision_rule/held_out/rejected_share");
    /* a later rule of the version has no effect */
    status_check(call_put("/v1/models/credit/decision", "{'positive':'bad','threshold':0.9}"), 200);
    char *copy =
             keep(strdup(status_check(call_get("/v1/jobs/%lld/predictions", id), 200)->body), free),
         *rest = NULL;
    double sum = 0, rejected = 0, others = 0;
    const char *header = strtok_r(copy, "\n", &rest);
    assert_string_equal(strrchr(header, ','), ",decided");
    for (int i = 0; i < ROWS; i++) {
        char truth[16], label[16], decided[16] = "";
        assert_true(sscanf(strtok_r(NULL, "\n", &rest), "%*d,%*d,%15[^,],%15[^,],%*f,%*f,%15s",
                           truth, label, decided) >= 2);
        const bool bad = strcmp(truth, "bad") == 0, right = strcmp(truth, decided) == 0;
        rejected += decided[0] == '\0';
        sum += decided[0] == '\0' ? 0.7 : right ? 0 : bad ? 5 : 1;
        others += strcmp(label, decided) != 0;
    }
    assert_near(sum / ROWS, cost, 1e-12);
    assert_near(rejected / ROWS, share, 1e-12);
    assert_true(rejected > 0 && others > rejected);
    const struct response *r = call_bytes("GET", text("/v1/jobs/%lld/predictions", id),
                                          HEADERS("Accept: application/x-ndjson"), NULL, 0);
    assert_non_null(strstr(status_check(r, 200)->body, "\"decided\":null,\"probabilities\":["));
}

/* ?threshold= for one call. */
static void test_one_call(void **state) {
    (void)state;
    job_train(CREDIT(""));
    const double bad = real_at(status_check(call_post("/v1/models/credit/predict", PREDICT), 200),
                               "/predictions/0/probabilities/0");
    assert_string_equal(label_of(text("?threshold=%.3f", 1 - bad + 0.01), PREDICT), "bad");
    assert_string_equal(label_of(text("?threshold=%.3f", 1 - bad - 0.01), PREDICT), "good");
    const struct response *r =
        status_check(call_post("/v1/models/credit/evaluate?threshold=1", "{'dataset':'credit'}"),
                     200);
    assert_true(real_at(r, "/metrics/confusion/matrix/1/1") == 0 && has(r, "/cost"));
    static const char *const refused[] = {"predict?threshold=2", "predict?threshold=nan",
                                          "predict?threshold=",
                                          "predict?threshold=0.2&decision=scores",
                                          "evaluate?threshold=0.2&decision=probabilities"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        r = problem_check(call_post(text("/v1/models/credit/%s", refused[i]), PREDICT), 400,
                          "bad-request");
        assert_non_null(strstr(string_at(r, "/detail"),
                               i < 3 ? "a number from 0 to 1, got" : "excludes \"decision\""));
    }
    r = call_bytes("POST", "/v1/models/credit/predict?threshold=0.2&decision=scores",
                   HEADERS("Content-Type: application/x-ndjson"), "{}\n", 3);
    problem_check(r, 400, "bad-request");
    /* GET reads it, unless it is a column */
    static const char pair[] = "/v1/models/credit/predict?duration=20&amount=3000&threshold=%.3f%s";
    const double p =
        real_at(status_check(call_get(pair, 0.5, ""), 200), "/predictions/0/probabilities/0");
    assert_string_equal(string_at(call_get(pair, 1 - p + 0.01, ""), "/predictions/0/label"), "bad");
    assert_string_equal(string_at(call_get(pair, 1 - p - 0.01, ""), "/predictions/0/label"),
                        "good");
    problem_check(call_get(pair, 2.0, ""), 400, "bad-request");
    problem_check(call_get(pair, 0.2, "&decision=scores"), 400, "bad-request");
    /* the cost as a cell */
    r = status_check(call_bytes("POST", "/v1/models/credit/evaluate?threshold=1",
                                HEADERS("Content-Type: application/json", "Accept: text/csv"),
                                "{\"dataset\":\"credit\"}", 20),
                     200);
    assert_non_null(strstr(r->body, "\ncost,"));
    assert_non_null(strstr(r->body, "\nrejected.weight,0\nrejected.share,0\n"));
    job_train("{'model':'iris','dataset':'iris','target':'class','algorithm':'logistic'}");
    problem_check(call_post("/v1/models/iris/evaluate?threshold=0.2", "{'dataset':'iris'}"), 400,
                  "bad-request");
    problem_check(call_post("/v1/models/iris/predict?threshold=0.2", "{'instances':[[1,2,3,4]]}"),
                  400, "bad-request");
}

/* Revisions, conditions, the model in memory. */
static void test_put(void **state) {
    (void)state;
    job_train(CREDIT(""));
    assert_string_equal(label_of("", PREDICT), "good");
    const struct response *r =
        problem_check(call_get("/v1/models/credit/decision"), 404, "not-found");
    r = status_check(call_get("/v1/models/credit"), 200);
    const char *etag = header_of(r, "ETag");
    assert_false(has(r, "/decision_rule"));
    r = status_check(call_put("/v1/models/credit/decision", "{'positive':'bad','threshold':0.1}"),
                     200);
    assert_int_equal(whole_at(r, "/revision"), 1);
    assert_string_equal(label_of("", PREDICT), "bad");
    assert_string_not_equal(header_of(r, "ETag"), etag);
    problem_check(call_bytes("PUT", "/v1/models/credit/decision",
                             HEADERS("Content-Type: application/json", text("If-Match: %s", etag)),
                             "{\"reject\":0.2}", 0),
                  412, "precondition-failed");
    const int64_t version = whole_at(r, "/version");
    r = status_check(call_put(text("/v1/models/credit/versions/%d/decision", (int)version),
                              "{'reject':0.2}"),
                     200);
    assert_int_equal(whole_at(r, "/revision"), 2);
    r = status_check(call_post("/v1/models/credit/predict", PREDICT), 200);
    assert_true(json_is_null(value_at(r, "/predictions/0/label")));
    r = call_typed("/v1/models/credit/predict", "application/json", "text/csv",
                   "{\"instances\":[{\"duration\":20,\"amount\":3000}]}");
    assert_non_null(strstr(r->body, "\n,0."));
    r = status_check(call_post("/v1/models/credit/evaluate", "{'dataset':'credit'}"), 200);
    assert_true(real_at(r, "/rejected/share") > 0.1 && real_at(r, "/rejected/share") < 0.9);
    assert_near(real_at(r, "/rejected/weight"), real_at(r, "/metrics/ambiguous"), 0);
    r = status_check(call_get("/v1/models/credit/decision"), 200);
    assert_json(r, "/rule", "{'reject':0.2}");
    status_check(call_put("/v1/models/credit/decision", "{'maximise':'mcc'}"), 200);
    status_check(call_delete("/v1/models/credit/decision"), 204);
    problem_check(call_delete("/v1/models/credit/decision"), 404, "not-found");
    assert_string_equal(label_of("", PREDICT), "good");
    r = status_check(call_put("/v1/models/credit/decision", "{'reject':0}"), 200);
    assert_int_equal(whole_at(r, "/revision"), 5);
    r = status_check(call_get("/v1/audit?action=model.decision&limit=2"), 200);
    assert_string_equal(string_at(r, "/items/0/name"), "credit");
}

static void test_refusals(void **state) {
    (void)state;
    static const struct {
        const char *rule, *place, *words;
    } bad[] = {
        {"{'cost':{'Maybe':{'good':5}}}", "/decision/cost/Maybe", "is not a class"},
        {"{'cost':{'bad':{'gut':5}}}", "/decision/cost/bad/gut", "is not a class"},
        {"{'cost':{'bad':{'good':-5}}}", "/decision/cost/bad/good", "from 0 to 1e100"},
        {"{'cost':{'bad':{'good':1e200}}}", "/decision/cost/bad/good", "from 0 to 1e100"},
        {"{'cost':{}}", "/decision/cost", "at least one true class"},
        {"{'cost':{'bad':5}}", "/decision/cost/bad", "object"},
        {"{'threshold':1.5}", "/decision/threshold", "from 0 to 1"},
        {"{'threshold':0.3,'positive':'ugly'}", "/decision/positive", "is not a class"},
        {"{'maximise':'auc'}", "/decision/maximise", "youden"},
        {"{'threshold':0.3,'maximise':'f1'}", "/decision", "got 2 of them"},
        {"{}", "/decision", "one of the members"},
        {"{'threshold':0.3,'reject':0.1}", "/decision/reject", "goes with cost"},
        {"{'reject':-1}", "/decision/reject", ">= 0"},
        {"{'treshold':0.3}", "/decision/treshold", "threshold"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const struct response *r = problem_check(
            call_post("/v1/jobs?dry_run=true",
                      "{'model':'m','dataset':'credit','target':'risk','algorithm':'logistic',"
                      "'validation':{'holdout':0.3},'decision':%s}",
                      bad[i].rule),
            422, "invalid");
        fault_contains(r, bad[i].place, bad[i].words);
    }
    const struct response *r = problem_check(
        call_post(
            "/v1/jobs?dry_run=true",
            "{'model':'m','dataset':'iris','target':'class','algorithm':'logistic','decision':"
            "{'threshold':0.3}}"),
        422, "invalid");
    fault_contains(r, "/decision", "there are 3");
    r = problem_check(
        call_post("/v1/jobs?dry_run=true",
                  "{'model':'m','dataset':'credit','target':'risk','algorithm':'logistic',"
                  "'decision':{'maximise':'f1'}}"),
        422, "invalid");
    fault_contains(r, "/decision/maximise", "needs validation");
    r = problem_check(call_post("/v1/jobs?dry_run=true",
                                "{'model':'m','dataset':'credit','target':'risk','algorithm':'svm',"
                                "'decision':{'threshold':0.3}}"),
                      422, "invalid");
    fault_contains(r, "/decision", "needs probabilities");
    job_train("{'model':'plain','dataset':'credit','target':'risk','algorithm':'logistic'}");
    fault_contains(problem_check(call_put("/v1/models/plain/decision", "{'maximise':'f1'}"), 422,
                                 "invalid"),
                   "/maximise", "needs predictions for held-out rows");
    fault_contains(problem_check(call_put("/v1/models/plain/decision", "{'threshold':2}"), 422,
                                 "invalid"),
                   "/threshold", "from 0 to 1");
    problem_check(call_put("/v1/models/nobody/decision", "{'threshold':0.2}"), 404,
                  "unknown-model");
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_one_cost),         TEST(test_costs_of_a_job),
                                       TEST(test_chosen_threshold), TEST(test_put),
                                       TEST(test_one_call),         TEST(test_refusals),
                                       TEST(test_decided)};
    return cmocka_run_group_tests_name("decision rules", tests, prepare, group_end);
}
