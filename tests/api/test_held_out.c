/* GET /v1/jobs/{id}/predictions: the rows that a job held out, each predicted by a fit without it;
 * the metrics of the job can be computed from them. Curves of all folds together. */
#include "lib/api.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define JOB(more) "{'model':'m','dataset':'iris','target':'class','algorithm':'logistic'" more "}"

static int prepare(void **state) {
    if (group_start(state) != 0) {
        return -1;
    }
    upload_file("iris", "iris.csv");
    status_check(call_upload("/v1/datasets/odd",
                             "x,v,\"b\"\n1,1,true\n2,2,\n3,1,false\n4,1,true\n5,0,true\n6,3,false\n"
                             "7,1,true\n8,1,false\n"),
                 201);
    keep_free();
    return 0;
}

static const struct response *predictions(int64_t job, const char *accept) {
    return call_get_with(keep(strdup(text("Accept: %s", accept)), free),
                         "/v1/jobs/%lld/predictions", (long long)job);
}

/* Each row once, its fold from 1 to 5, and the metrics of each fold. */
static void test_folds(void **state) {
    (void)state;
    const struct response *j = job_train(JOB(",'validation':{'folds':5,'curves':true}"));
    const int64_t id = whole_at(j, "/id");
    assert_int_equal(whole_at(j, "/result/predictions/rows"), 150);
    assert_string_equal(string_at(j, "/result/predictions/values"), "probabilities");
    assert_true(has(j, "/result/metrics/validation/pooled/roc"));
    assert_true(has(j, "/result/metrics/validation/pooled/calibration"));
    assert_false(has(j, "/result/metrics/validation/roc"));
    assert_int_equal(whole_at(j, "/result/metrics/validation/pooled/rows"), 150);
    const struct response *r = status_check(predictions(id, "text/csv"), 200);
    assert_string_equal(header_of(r, "Content-Type"), "text/csv");
    char *copy = keep(strdup(r->body), free), *rest = NULL;
    assert_string_equal(strtok_r(copy, "\n", &rest),
                        "row,fold,truth,label,p(setosa),p(versicolor),p(virginica)");
    double right[6] = {0}, rows[6] = {0}, loss = 0;
    for (int i = 0; i < 150; i++) {
        int row = -1, fold = 0;
        char truth[32], label[32];
        double p[3];
        const char *line = strtok_r(NULL, "\n", &rest);
        assert_non_null(line);
        assert_int_equal(sscanf(line, "%d,%d,%31[^,],%31[^,],%lf,%lf,%lf", &row, &fold, truth,
                                label, &p[0], &p[1], &p[2]),
                         7);
        assert_int_equal(row, i);
        assert_true(fold >= 1 && fold <= 5);
        assert_near(p[0] + p[1] + p[2], 1, 1e-12);
        rows[fold]++;
        right[fold] += strcmp(truth, label) == 0;
        loss -= log(p[i / 50]);
    }
    assert_null(strtok_r(NULL, "\n", &rest));
    for (int f = 1; f <= 5; f++) {
        assert_near(right[f] / rows[f],
                    real_at(j, text("/result/metrics/validation/folds/%d/accuracy", f - 1)), 1e-12);
    }
    assert_near(loss / 150, real_at(j, "/result/metrics/validation/pooled/log_loss"), 1e-9);
    r = status_check(predictions(id, "application/x-ndjson"), 200);
    assert_string_equal(header_of(r, "Content-Type"), "application/x-ndjson");
    assert_non_null(strstr(r->body, "{\"row\":0,\"fold\":"));
    assert_non_null(
        strstr(r->body, "\"truth\":\"setosa\",\"label\":\"setosa\",\"probabilities\":["));
    const char *etag = header_of(r, "ETag");
    assert_non_null(etag);
    status_check(call_bytes("GET", text("/v1/jobs/%lld/predictions", (long long)id),
                            HEADERS("Accept: application/x-ndjson",
                                    text("If-None-Match: %s", etag)),
                            NULL, 0),
                 304);
    problem_check(predictions(id, "application/json"), 406, "not-acceptable");
}

/* A holdout, with weights, classes that are no texts, rows without a class and with weight 0. The
 * predictions survive a restart. */
static void test_holdout(void **state) {
    (void)state;
    const struct response *j = job_train(
        "{'model':'odd','dataset':'odd','target':'b','weight':'v','algorithm':'least_squares',"
        "'validation':{'holdout':0.5}}");
    const int64_t id = whole_at(j, "/id");
    assert_int_equal(whole_at(j, "/result/predictions/rows"), 3);
    assert_string_equal(string_at(j, "/result/predictions/values"), "scores");
    const char *before = keep(strdup(status_check(predictions(id, "*/*"), 200)->body), free);
    assert_int_equal(strncmp(before, "row,fold,truth,label,score,weight\n", 34), 0);
    assert_null(strstr(before, "\n1,"));
    assert_null(strstr(before, "\n4,"));
    assert_int_equal(daemon_stop(&the_daemon), 0);
    service_restart(the_daemon.flags);
    assert_string_equal(status_check(predictions(id, "text/csv"), 200)->body, before);
    const struct response *r = status_check(predictions(id, "application/x-ndjson"), 200);
    assert_non_null(strstr(r->body, "\"fold\":0,\"truth\":"));
    assert_null(strstr(r->body, "\"truth\":\""));
    assert_non_null(strstr(r->body, "\"scores\":["));
    assert_non_null(strstr(r->body, "\"weight\":"));
    status_check(call_get("/v1/models/odd"), 200);
    status_check(call_post("/v1/models/odd/predict", "{'instances':[{'x':1}]}"), 200);
}

static void test_repeats(void **state) {
    (void)state;
    const struct response *j = job_train(JOB(",'validation':{'folds':3,'repeats':2}"));
    const struct response *r =
        status_check(predictions(whole_at(j, "/id"), "application/x-ndjson"), 200);
    assert_int_equal(whole_at(j, "/result/predictions/rows"), 300);
    assert_non_null(strstr(r->body, "\"repeat\":2"));
    assert_non_null(strstr(r->body, "\"fold\":6"));
    assert_null(strstr(r->body, "\"fold\":7"));
    assert_false(has(j, "/result/metrics/validation/pooled"));
}

/* Jobs without predictions. */
static void test_refusals(void **state) {
    (void)state;
    const char *jobs[] = {JOB(""), JOB(",'validation':{'dataset':'iris'}")};
    for (size_t i = 0; i < 2; i++) {
        const struct response *j = job_train("%s", jobs[i]);
        assert_true(json_is_null(value_at(j, "/result/predictions")));
        const struct response *r =
            problem_check(predictions(whole_at(j, "/id"), "text/csv"), 404, "not-found");
        assert_non_null(strstr(r->body, "held no rows out"));
    }
    problem_check(predictions(999999, "text/csv"), 404, "unknown-job");
    upload_file("digits", "digits.csv");
    const int64_t id = job_endless("endless");
    problem_check(predictions(id, "text/csv"), 409, "conflict");
    status_check(call_empty("POST", "/v1/jobs/%lld/cancel", (long long)id), 202);
    job_wait(id);
    const struct response *r = problem_check(predictions(id, "text/csv"), 409, "conflict");
    assert_non_null(strstr(r->body, "was cancelled"));
    /* the predictions go with their version */
    const struct response *j = job_train(
        "{'model':'gone','dataset':'iris','target':'class','algorithm':'logistic','validation':{"
        "'holdout':0.3}}");
    const int64_t gone = whole_at(j, "/id");
    status_check(predictions(gone, "text/csv"), 200);
    status_check(call_delete("/v1/models/gone"), 204);
    r = problem_check(predictions(gone, "text/csv"), 404, "not-found");
    assert_non_null(strstr(r->body, "were deleted"));
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_folds), TEST(test_holdout), TEST(test_repeats),
                                       TEST(test_refusals)};
    return cmocka_run_group_tests_name("predictions of held-out rows", tests, prepare, group_end);
}
