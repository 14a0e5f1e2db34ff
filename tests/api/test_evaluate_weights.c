/* evaluate: the weight column of the model, in rows of a body and of a stored dataset, and the
 * categories that training did not see. */
#include "lib/api.h"

#include <string.h>

/* Rows that a model which predicts a for x < 0 and b for x > 0 gets right, but the third one. */
static const char *const rows = "x,c,y,w,id\n-10,p,a,1,1\n10,q,b,2,2\n-10,p,b,3,3\n-10,p,a,4,4\n"
                                "10,q,a,0,5\n10,q,,x,6\n";

static int prepare(void **state) {
    if (group_start(state) != 0) {
        return -1;
    }
    const char *table = "x,c,y,w\n";
    for (int i = -20; i < 20; i++) {
        table = text("%s%d.5,%s,%s,%d\n", table, i, i % 2 ? "p" : "q", i < 0 ? "a" : "b",
                     1 + (i + 20) % 3);
    }
    status_check(call_upload("/v1/datasets/train", table), 201);
    status_check(call_upload("/v1/datasets/rows", "x,c,y,w,id\n-10,p,a,1,1\n10,q,b,2,2\n"
                                                  "-10,p,b,3,3\n-10,p,a,4,4\n10,q,a,0,5\n"),
                 201);
    status_check(call_upload("/v1/datasets/plain", "x,c,y\n-10,p,a\n10,q,b\n-10,p,b\n-10,p,a\n"),
                 201);
    job_train("{'model':'m','dataset':'train','target':'y','weight':'w','algorithm':'logistic'}");
    job_train("{'model':'u','dataset':'train','target':'y','algorithm':'logistic',"
              "'features':{'include':['x','c']}}");
    keep_free();
    return 0;
}

static const struct response *csv(const char *path, const char *body) {
    return call_text("POST", path, "Content-Type: text/csv", body);
}

static const struct response *stored(const char *path, const char *dataset) {
    return call_post(path, "{'dataset':'%s'}", dataset);
}

static void check(const struct response *r, double n, double accuracy, const char *weight) {
    status_check(r, 200);
    assert_true(real_at(r, "/rows") == n);
    assert_near(real_at(r, "/metrics/accuracy"), accuracy, 1e-12);
    if (weight != NULL) {
        assert_string_equal(string_at(r, "/weight"), weight);
    } else {
        assert_true(json_is_null(value_at(r, "/weight")));
    }
}

/* Numbers differ by rounding errors: the rows of a dataset are standardised before they are
 * scored. */
static void same_check(const json_t *a, const json_t *b) {
    const char *key;
    json_t *value;
    size_t i;
    assert_int_equal(json_typeof(a), json_typeof(b));
    assert_int_equal(json_object_size(a), json_object_size(b));
    assert_int_equal(json_array_size(a), json_array_size(b));
    json_object_foreach((json_t *)a, key, value) {
        same_check(value, json_object_get(b, key));
    }
    json_array_foreach(a, i, value) {
        same_check(value, json_array_get(b, i));
    }
    if (json_is_number(a)) {
        assert_near(json_number_value(a), json_number_value(b), 1e-12);
    } else if (!json_is_object(a) && !json_is_array(a)) {
        assert_true(json_equal(a, b));
    }
}

/* Weights 1, 2, 3, 4 and 0; the third row is wrong: (1 + 2 + 4)/10. A row of weight 0 is ignored,
 * and a row without a label has any weight. Without weights the rows 1, 2 and 4 of 5 are right. */
static void test_weights(void **state) {
    (void)state;
    const char *good = text("%.*s", (int)(strstr(rows, "10,q,,x") - rows), rows);
    check(csv("/v1/models/m/evaluate", rows), 4, 0.7, "w");
    check(csv("/v1/models/m/evaluate?weight=auto", rows), 4, 0.7, "w");
    check(csv("/v1/models/m/evaluate?weight=none", rows), 5, 0.6, NULL);
    check(stored("/v1/models/m/evaluate", "rows"), 4, 0.7, "w");
    check(stored("/v1/models/m/evaluate?weight=none", "rows"), 5, 0.6, NULL);
    check(csv("/v1/models/u/evaluate", rows), 5, 0.6, NULL);
    check(stored("/v1/models/u/evaluate", "rows"), 5, 0.6, NULL);
    check(stored("/v1/models/m/evaluate", "plain"), 4, 0.75, NULL);
    check(csv("/v1/models/m/evaluate", "x,c,y\n-10,p,a\n10,q,b\n-10,p,b\n-10,p,a\n"), 4, 0.75,
          NULL);
    check(csv("/v1/models/m/evaluate", "-10,p,a\n10,q,b\n-10,p,b\n-10,p,a\n"), 4, 0.75, NULL);
    check(call_post("/v1/models/m/evaluate",
                    "{'instances':[{'x':-10,'c':'p','y':'a','w':1},{'x':10,'c':'q','w':2,'y':'b'},"
                    "{'x':-10,'c':'p','y':'b','w':3},{'x':-10,'y':'a','w':4,'c':'p'}]}"),
          4, 0.7, "w");
    check(call_post("/v1/models/m/evaluate",
                    "{'columns':['w','x','c','y'],'rows':[[1,-10,'p','a'],[2,10,'q','b'],"
                    "[3,-10,'p','b'],[4,-10,'p','a']]}"),
          4, 0.7, "w");
    check(call_text("POST", "/v1/models/m/evaluate", "Content-Type: application/x-ndjson",
                    quoted("{'x':-10,'c':'p','y':'a','w':1}\n{'x':10,'c':'q','w':2,'y':'b'}\n")),
          2, 1, "w");
    /* all metrics of a body are those of the stored dataset, and of the validation */
    static const char *const queries[] = {"?curves=true", "?curves=true&weight=none"};
    for (size_t i = 0; i < 2; i++) {
        const char *path = text("/v1/models/m/evaluate%s", queries[i]);
        const struct response *a = csv(path, good), *b = stored(path, "rows");
        same_check(value_at(a, "/metrics"), value_at(b, "/metrics"));
    }
    const struct response *job =
        job_train("{'model':'v','dataset':'train','target':'y','weight':'w','algorithm':'logistic',"
                  "'validation':{'dataset':'rows'}}");
    assert_true(json_equal(value_at(job, "/result/metrics/validation"),
                           value_at(stored("/v1/models/m/evaluate", "rows"), "/metrics")));
    /* the weight column is used, and not ignored */
    assert_json(csv("/v1/models/m/evaluate", rows), "/ignored_columns", "['id']");
    assert_json(csv("/v1/models/m/evaluate?weight=none", rows), "/ignored_columns", "['w','id']");
    status_check(csv("/v1/models/m/evaluate?extra=error", "w,x,c,y\n2,-10,p,a\n"), 200);
}

static void test_refused(void **state) {
    (void)state;
    static const char *const wrong[] = {"-1", "", "x", "1e-101", "1e101", "NA"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const struct response *r =
            csv("/v1/models/m/evaluate", text("x,c,y,w\n1,p,a,1\n2,p,b,%s\n", wrong[i]));
        problem_check(r, 422, "invalid-instances");
        assert_non_null(strstr(r->body, "instance 1, column \\\"w\\\": the weight"));
    }
    const struct response *r =
        call_post("/v1/models/m/evaluate",
                  "{'instances':[{'x':1,'c':'p','y':'a','w':1},{'x':1,'c':'p','y':'a'}]}");
    problem_check(r, 422, "invalid-instances");
    fault_check(r, "/instances/1/w");
    problem_check(csv("/v1/models/m/evaluate", "x,c,y,w\n1,p,a,0\n2,p,b,0\n"), 422,
                  "invalid-instances");
    problem_check(csv("/v1/models/m/evaluate", "x,c,y,w\n1,p,,1\n2,p,,2\n"), 422,
                  "invalid-instances");
    problem_check(csv("/v1/models/m/evaluate", "x,c,y,w,w\n1,p,a,1,2\n"), 422, "invalid-instances");
    problem_check(csv("/v1/models/m/evaluate?weight=w", rows), 400, "bad-request");
    status_check(call_upload("/v1/datasets/words", "x,c,y,w\n1,p,a,light\n2,q,b,heavy\n"), 201);
    r = problem_check(stored("/v1/models/m/evaluate", "words"), 422, "invalid");
    assert_non_null(strstr(r->body, "must be numeric"));
    check(stored("/v1/models/m/evaluate?weight=none", "words"), 2, 0.5, NULL);
}

static void test_unseen(void **state) {
    (void)state;
    const char *table = "x,c,y\n-10,p,a\n10,zz,b\n-10,p,b\n-10,zz,\n3,,a\n4,\"x, y\",b\n";
    status_check(call_upload("/v1/datasets/unseen", table), 201);
    const struct response *a = csv("/v1/models/u/evaluate", table),
                          *b = stored("/v1/models/u/evaluate", "unseen");
    const struct response *const answers[] = {a, b};
    for (size_t i = 0; i < 2; i++) {
        status_check(answers[i], 200);
        assert_json(
            answers[i], "/unseen",
            "[{'column':'c','value':'zz','rows':2},{'column':'c','value':'x, y','rows':1}]");
        assert_string_equal(header_of(answers[i], "Discern-Unseen"), "3");
    }
    same_check(value_at(a, "/metrics"), value_at(b, "/metrics"));
    assert_true(metric_at("discern_unseen_values_total{model=\"u\",column=\"c\"}") == 6);
    b = stored("/v1/models/u/evaluate", "rows");
    assert_false(has(b, "/unseen"));
    assert_null(header_of(b, "Discern-Unseen"));
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_weights), TEST(test_refused), TEST(test_unseen)};
    return cmocka_run_group_tests(tests, prepare, group_end);
}
