/* POST …/projection_curve: Fisher's criterion against plain loops, by hand, and against the
 * eigenvalue and the direction of a fisher model of the same columns. */
#include "lib/api.h"

#include <math.h>
#include <string.h>

static int prepare(void **state) {
    if (group_start(state) != 0) {
        return -1;
    }
    upload_file("iris", "iris.csv");
    status_check(call_upload("/v1/datasets/four", "a,b,c,v,class\n0,0,1,1,p\n2,0,2,1,p\n"
                                                  "1,3,3,1,q\n1,5,4,1,q\n9,,5,1,q\n7,7,6,1,\n"
                                                  "8,8,7,0,q\n"),
                 201);
    status_check(call_upload("/v1/datasets/flat", "a,b,class\n0,0,p\n1,1,p\n3,3,q\n5,5,q\n"), 201);
    job_train("{'model':'iris','dataset':'iris','target':'class','algorithm':'fisher',"
              "'features':{'include':['petal_length','petal_width']}}");
    job_train("{'model':'four','dataset':'four','target':'class','algorithm':'least_squares',"
              "'features':{'include':['c']}}");
    job_train("{'model':'outlier','dataset':'iris','algorithm':'one_class_svm',"
              "'features':{'include':['petal_length','petal_width']}}");
    keep_free();
    return 0;
}

static double at(const struct response *r, const char *list, size_t i) {
    const json_t *number = json_array_get(value_at(r, list), i);
    assert_true(json_is_number(number));
    return json_number_value(number);
}

/* By hand: p has the mean (1, 0), q (1, 4), all (1, 2); the rows 5 to 7 lack a value, a class or
 * weight. S_B = 2 (0, 2)(0, 2)' + 2 (0, -2)(0, -2)' = diag(0, 16), S_W = diag(2, 2), so that
 * J = 8 sin² with the maximum 8 at pi/2. */
static void by_hand(void **state) {
    (void)state;
    const double pi = acos(-1);
    const struct response *r =
        status_check(call_post("/v1/models/four/versions/1/projection_curve",
                               "{'dataset':'four','columns':['a','b'],'weight':'v','steps':9}"),
                     200);
    assert_int_equal(real_at(r, "/rows"), 4);
    assert_int_equal(count_at(r, "/angles"), 9);
    assert_int_equal(count_at(r, "/criterion"), 9);
    for (size_t i = 0; i < 9; i++) {
        assert_near(at(r, "/angles", i), pi * (double)i / 8, 1e-15);
        assert_near(at(r, "/criterion", i), 8 * pow(sin(pi * (double)i / 8), 2), 1e-12);
    }
    assert_near(real_at(r, "/maximum/angle"), pi / 2, 1e-12);
    assert_near(real_at(r, "/maximum/criterion"), 8, 1e-12);
    assert_json(r, "/columns", "['a','b']");
}

/* J of the direction (x, y) over the rows of iris, projected row by row. */
static double plain(const struct response *rows, double x, double y) {
    double mean[3] = {0}, all = 0, between = 0, within = 0;
    for (size_t pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < 150; i++) {
            const json_t *row = json_array_get(value_at(rows, "/items"), i);
            const double z = x * json_number_value(json_object_get(row, "petal_length")) +
                             y * json_number_value(json_object_get(row, "petal_width"));
            const size_t k = i / 50; /* fifty rows of each class, in order of the classes */
            if (pass == 0) {
                mean[k] += z / 50;
                all += z / 150;
            } else {
                within += (z - mean[k]) * (z - mean[k]);
            }
        }
    }
    for (size_t k = 0; k < 3; k++) {
        between += 50 * (mean[k] - all) * (mean[k] - all);
    }
    return between / within;
}

static void three_classes(void **state) {
    (void)state;
    const struct response *rows = status_check(call_get("/v1/datasets/iris/rows?limit=1000"), 200),
                          *r = status_check(call_post("/v1/models/iris/projection_curve",
                                                      "{'dataset':'iris','columns':['petal_length',"
                                                      "'petal_width']}"),
                                            200),
                          *w = status_check(call_get("/v1/models/iris/weights"), 200),
                          *m = status_check(call_get("/v1/models/iris"), 200);
    const double angle = real_at(r, "/maximum/angle"), best = real_at(r, "/maximum/criterion");
    assert_int_equal(count_at(r, "/angles"), 181);
    for (size_t i = 0; i < 181; i++) {
        const double j = plain(rows, cos(at(r, "/angles", i)), sin(at(r, "/angles", i)));
        assert_close(at(r, "/criterion", i), j, 1e-12);
        assert_true(at(r, "/criterion", i) <= best * (1 + 1e-14));
    }
    assert_true(at(r, "/angles", 0) == 0 && at(r, "/angles", 180) == acos(-1));
    assert_close(plain(rows, cos(angle), sin(angle)), best, 1e-12);
    assert_true(angle >= 0 && angle < acos(-1));
    /* the features of the model are petal_length and petal_width, as the job lists them */
    assert_string_equal(string_at(w, "/features/0"), "petal_length");
    const double slope = real_at(w, "/directions/0/1") / real_at(w, "/directions/0/0");
    assert_close(tan(angle), slope, 1e-9);
    assert_close(best, real_at(m, "/details/eigenvalues/0"), 1e-9);
}

static void refused(const char *model, const char *body, const char *place, const char *words) {
    fault_contains(problem_check(call_post(text("/v1/models/%s/projection_curve", model), "%s",
                                           quoted("%s", body)),
                                 422, "invalid"),
                   place, words);
}

static void bad_calls(void **state) {
    (void)state;
    refused("four", "{'columns':['a','b']}", "/dataset", "missing");
    refused("four", "{'dataset':'four'}", "/columns", "missing");
    refused("four", "{'dataset':'four','columns':['a']}", "/columns", "two different");
    refused("four", "{'dataset':'four','columns':['a','a']}", "/columns", "two different");
    refused("four", "{'dataset':'four','columns':['a','b','c']}", "/columns", "2");
    refused("four", "{'dataset':'four','columns':['a','nobody']}", "/dataset", "\"nobody\"");
    refused("four", "{'dataset':'four','columns':['a','class']}", "/dataset", "numeric");
    refused("four", "{'dataset':'four','columns':['a','b'],'steps':1}", "/steps", "2");
    refused("four", "{'dataset':'four','columns':['a','b'],'steps':10001}", "/steps", "10000");
    refused("four", "{'dataset':'nobody','columns':['a','b']}", "/dataset", "nobody");
    refused("four", "{'dataset':'four','columns':['a','b'],'weight':'class'}", "/weight",
            "numeric");
    refused("four", "{'dataset':'four','columns':['a','b'],'angle':1}", "/angle", "known");
    refused("four", "{'dataset':'flat','columns':['a','b']}", "/dataset", "singular");
    refused("outlier", "{'dataset':'iris','columns':['petal_length','petal_width']}", "/target",
            "without a target");
    problem_check(call_post("/v1/models/nobody/projection_curve", "{}"), 404, "unknown-model");
    problem_check(call_post("/v1/models/four/projection_curve", "[]"), 422, "invalid");
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(by_hand), TEST(three_classes), TEST(bad_calls)};
    return cmocka_run_group_tests(tests, prepare, group_end);
}
