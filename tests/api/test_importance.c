/* POST …/importance: the mean over many orders against the mean over all pairs of rows, computed
 * from predictions; the same seed gives the same answer; each fault has its place. */
#include "lib/api.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 30 }; /* rows of the small table */

static const char *const columns[] = {"sepal_length", "sepal_width", "petal_length", "petal_width"};

static int prepare(void **state) {
    if (group_start(state) != 0) {
        return -1;
    }
    upload_file("iris", "iris.csv");
    /* every fifth row of iris, and a row without class */
    const struct response *rows = call_get("/v1/datasets/iris/rows?limit=150");
    const char *csv = "sepal_length,sepal_width,petal_length,petal_width,class,kind\n";
    for (int i = 0; i < 150; i += 5) {
        const json_t *row = json_array_get(json_find(rows->json, "/items"), (size_t)i);
        csv =
            text("%s%g,%g,%g,%g,%s,%s\n", csv, real_in(row, "/sepal_length"),
                 real_in(row, "/sepal_width"), real_in(row, "/petal_length"),
                 real_in(row, "/petal_width"), string_in(row, "/class"), string_in(row, "/class"));
    }
    status_check(call_upload("/v1/datasets/small", text("%s1,1,1,1,,setosa\n", csv)), 201);
    status_check(call_upload("/v1/datasets/narrow", "sepal_length,class\n1,setosa\n2,virginica\n"),
                 201);
    job_train("{'model':'iris','dataset':'iris','target':'class','algorithm':'logistic'}");
    job_train("{'model':'iris','dataset':'iris','target':'class','algorithm':'gaussian'}");
    job_train("{'model':'alone','dataset':'iris','algorithm':'one_class_svm','features':{'include':"
              "['sepal_length','petal_length']}}");
    keep_free();
    return 0;
}

static const struct response *importance(const char *path, const char *body) {
    return call_text("POST", path, NULL, quoted("%s", body));
}

/* The importance of a column in the answer. */
static const json_t *column_of(const struct response *r, const char *name) {
    for (size_t i = 0; i < count_at(r, "/columns"); i++) {
        const json_t *item = json_array_get(value_at(r, "/columns"), i);
        if (strcmp(string_in(item, "/column"), name) == 0) {
            return item;
        }
    }
    fail_msg("the answer has no column %s", name);
    return NULL;
}

/* The metrics over all pairs of a row i and a row j whose cell of one column row i has. */
struct expected {
    double accuracy, log_loss;
};

static struct expected expect(const char *column) {
    const struct response *rows = call_get("/v1/datasets/small/rows?limit=%d", N);
    const json_t *items = value_at(rows, "/items");
    json_t *instances = json_array();
    struct expected out = {0};
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < N; j++) {
            json_t *row = json_deep_copy(json_array_get(items, i));
            json_object_del(row, "kind");
            json_object_set(row, column, json_object_get(json_array_get(items, j), column));
            json_array_append_new(instances, row);
        }
    }
    json_t *asked = json_pack("{so}", "instances", instances);
    char *body = json_dumps(asked, JSON_COMPACT);
    const struct response *r =
        call_text("POST", "/v1/models/iris/predict?output=label,probabilities", NULL, body);
    status_check(r, 200);
    for (size_t i = 0; i < N * N; i++) {
        const json_t *item = json_array_get(value_at(r, "/predictions"), i);
        const char *truth = string_in(json_array_get(instances, i), "/class");
        size_t k = 0;
        while (strcmp(json_string_value(json_array_get(value_at(r, "/classes"), k)), truth) != 0) {
            k++;
        }
        out.accuracy += (strcmp(string_in(item, "/label"), truth) == 0) / (double)(N * N);
        const double p =
            json_number_value(json_array_get(json_object_get(item, "probabilities"), k));
        out.log_loss -= log(fmin(fmax(p, 1e-15), 1 - 1e-15)) / (N * N); /* as evaluate clips */
    }
    json_decref(asked);
    free(body);
    return out;
}

static void test_expectation(void **state) {
    (void)state;
    const struct response *accuracy =
        status_check(importance("/v1/models/iris/importance", "{'dataset':'small','repeats':1000}"),
                     200);
    const struct response *log_loss = status_check(
        importance("/v1/models/iris/importance",
                   "{'dataset':'small@1','repeats':1000,'metric':'log_loss','seed':9}"),
        200);
    const struct response *metrics =
        status_check(importance("/v1/models/iris/evaluate", "{'dataset':'small'}"), 200);
    assert_near(real_at(accuracy, "/base"), real_at(metrics, "/metrics/accuracy"), 0);
    assert_near(real_at(log_loss, "/base"), real_at(metrics, "/metrics/log_loss"), 0);
    assert_int_equal(count_at(accuracy, "/columns"), 4);
    for (size_t j = 0; j < 4; j++) {
        const struct expected all = expect(columns[j]);
        const json_t *a = column_of(accuracy, columns[j]), *l = column_of(log_loss, columns[j]);
        /* the mean of 1000 orders is within 5 of its standard errors */
        assert_near(real_in(a, "/mean"), real_at(accuracy, "/base") - all.accuracy,
                    5 * real_in(a, "/std") / sqrt(1000) + 1e-12);
        assert_near(real_in(l, "/mean"), all.log_loss - real_at(log_loss, "/base"),
                    5 * real_in(l, "/std") / sqrt(1000) + 1e-12);
        assert_true(real_in(l, "/std") > 0);
    }
    for (size_t i = 1; i < 4; i++) { /* the most important first */
        assert_true(real_at(log_loss, text("/columns/%zu/mean", i)) <=
                    real_at(log_loss, text("/columns/%zu/mean", i - 1)));
    }
    assert_string_equal(string_at(log_loss, "/metric"), "log_loss");
    assert_int_equal(real_at(log_loss, "/repeats"), 1000);
    assert_int_equal(real_at(log_loss, "/seed"), 9);
    assert_int_equal(real_at(log_loss, "/version"), 2);
}

static void test_seeds_and_versions(void **state) {
    (void)state;
    const char *const body = "{'dataset':'iris','metric':'brier','seed':4}",
                      *const path = "/v1/models/iris/importance";
    const struct response *one = status_check(importance(path, body), 200),
                          *two = status_check(importance(path, body), 200);
    assert_string_equal(one->body, two->body);
    two = status_check(importance("/v1/models/iris/versions/2/importance", body), 200);
    assert_string_equal(one->body, two->body);
    two = status_check(importance(path, "{'dataset':'iris','metric':'brier','seed':5}"), 200);
    assert_true(real_at(one, "/columns/0/mean") != real_at(two, "/columns/0/mean"));
    two = status_check(importance("/v1/models/iris/versions/1/importance", body), 200);
    assert_true(real_at(one, "/base") != real_at(two, "/base"));
    assert_int_equal(real_at(two, "/version"), 1);
    two = status_check(importance(path, "{'dataset':'iris','repeats':null,'metric':null}"), 200);
    assert_int_equal(real_at(two, "/repeats"), 5);
    assert_string_equal(string_at(two, "/metric"), "accuracy");
    /* another target with the same classes */
    one = status_check(importance(path, "{'dataset':'small','target':'kind'}"), 200);
    two = status_check(importance(path, "{'dataset':'small'}"), 200);
    assert_true(real_at(one, "/base") < real_at(two, "/base") + 0.2);
}

static void test_faults(void **state) {
    (void)state;
    static const struct {
        const char *model, *body;
        int status;
        const char *type, *place;
    } all[] = {
        {"iris", "{}", 422, NULL, "/dataset"},
        {"iris", "{'dataset':'nothing'}", 422, NULL, "/dataset"},
        {"iris", "{'dataset':'iris','repeats':0}", 422, NULL, "/repeats"},
        {"iris", "{'dataset':'iris','repeats':1001}", 422, NULL, "/repeats"},
        {"iris", "{'dataset':'iris','repeats':2.5}", 422, NULL, "/repeats"},
        {"iris", "{'dataset':'iris','metric':'gini'}", 422, NULL, "/metric"},
        {"iris", "{'dataset':'iris','metric':'confusion'}", 422, NULL, "/metric"},
        {"iris", "{'dataset':'iris','seed':-1}", 422, NULL, "/seed"},
        {"iris", "{'dataset':'iris','seeds':1}", 422, NULL, "/seeds"},
        {"iris", "{'dataset':'iris','target':'none'}", 422, NULL, "/target"},
        {"iris", "{'dataset':'narrow'}", 422, NULL, "/dataset"},
        {"none", "{'dataset':'iris'}", 404, "unknown-model", NULL},
        {"alone", "{'dataset':'iris'}", 422, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const struct response *r =
            importance(text("/v1/models/%s/importance", all[i].model), all[i].body);
        problem_check(r, all[i].status, all[i].type);
        if (all[i].place != NULL) {
            fault_check(r, all[i].place);
        }
    }
    problem_check(importance("/v1/models/iris/importance", "[]"), 422, NULL);
    problem_check(importance("/v1/models/iris/importance?curves=true", "{'dataset':'iris'}"), 400,
                  "bad-request");
}

/* Work that would take hours is refused with the number of repeats that fits. */
static void too_much_work(void **state) {
    (void)state;
    const char *wide = "class";
    for (int j = 0; j < 150; j++) {
        wide = text("%s,c%d", wide, j);
    }
    wide = text("%s\n", wide);
    char *rows = keep(malloc(3000 * 310 + 2000), free), *at = rows;
    at += sprintf(at, "%s", wide);
    for (int i = 0; i < 3000; i++) {
        at += sprintf(at, "%s", i % 2 == 0 ? "a" : "b");
        for (int j = 0; j < 150; j++) {
            at += sprintf(at, ",%d", (i * 7 + j * i) % 10);
        }
        at += sprintf(at, "\n");
    }
    status_check(call_upload("/v1/datasets/wide", rows), 201);
    job_train("{'model':'wide','dataset':'wide','target':'class','algorithm':'naive_bayes'}");
    const struct response *r =
        problem_check(importance("/v1/models/wide/importance", "{'dataset':'wide','repeats':1000}"),
                      422, "invalid");
    assert_string_equal(string_at(r, "/errors/0/pointer"), "/repeats");
    assert_non_null(strstr(string_at(r, "/errors/0/detail"), "for 3000 rows and 150 columns"));
    status_check(importance("/v1/models/wide/importance", "{'dataset':'wide','repeats':1}"), 200);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_expectation), TEST(test_seeds_and_versions),
                                       TEST(test_faults), TEST(too_much_work)};
    return cmocka_run_group_tests(tests, prepare, group_end);
}
