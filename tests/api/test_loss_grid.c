/* POST …/loss_grid: losses by hand; against the predictions of models with the weights of a point;
 * names of weights; each fault has its place. */
#include "lib/api.h"

#include <math.h>
#include <string.h>

static int prepare(void **state) {
    if (group_start(state) != 0) {
        return -1;
    }
    upload_file("iris", "iris.csv");
    status_check(call_upload("/v1/datasets/four", "x1,class,v,other\n-2,0,1,0\n-1,0,2,0\n1,1,1,0\n"
                                                  "2,1,1,1\n5,,1,1\n7,1,0,1\n"),
                 201);
    status_check(
        call_upload("/v1/datasets/mixed",
                    "size,colour,big,intercept,class\n1,red,true,0,no\n2,blue,false,1,no\n"
                    "3,red,true,0,no\n,green,false,1,no\n5,,true,1,yes\n6,green,true,0,yes\n"
                    "7,blue,false,0,yes\n9,red,true,1,yes\n4,blue,true,0,yes\n"),
        201);
    status_check(call_upload("/v1/datasets/huge", "x1,class\n1e300,0\n1e300,1\n"), 201);
    /* a step of 1e-300 keeps the weights of init */
    job_train("{'model':'four','dataset':'four','target':'class','algorithm':'logistic',"
              "'features':{'include':['x1'],'standardize':false},'params':{'penalty':'none',"
              "'solver':'gradient_descent','learning_rate':1e-300,'max_iterations':1,"
              "'init':[0.5,0.25]}}");
    job_train("{'model':'mixed','dataset':'mixed','target':'class','algorithm':'logistic'}");
    job_train("{'model':'softmax','dataset':'iris','target':'class','algorithm':'logistic'}");
    job_train("{'model':'pairs','dataset':'iris','target':'class','algorithm':'svm'}");
    job_train("{'model':'rest','dataset':'iris','target':'class','algorithm':'logistic',"
              "'params':{'multiclass':'one_vs_rest'}}");
    job_train("{'model':'quadratic','dataset':'iris','target':'class','algorithm':'gaussian',"
              "'params':{'covariance':'full'}}");
    job_train("{'model':'outlier','dataset':'iris','algorithm':'one_class_svm',"
              "'features':{'include':['petal_length','petal_width']}}");
    keep_free();
    return 0;
}

static const struct response *grid(const char *model, const char *body) {
    return call_post(text("/v1/models/%s/loss_grid", model), "%s", quoted("%s", body));
}

/* The value of column i in row j; without rows: of value i. */
static double at(const struct response *r, size_t i, size_t j) {
    const json_t *list = value_at(r, "/values"), *row = json_array_get(list, j);
    const json_t *number = json_array_get(json_is_array(row) ? row : list, i);
    assert_true(json_is_number(number));
    return json_number_value(number);
}

/* x = −2, −1 are class 0, 1 and 2 class 1; two rows have no class or the weight 0. At w = −1, 0, 1
 * and w0 = 0 the margins are −2, −1, −1, −2; 0; 2, 1, 1, 2. At w0 = 1 the scores are those plus 1:
 * at w = 1 they are −1, 0, 2, 3, the margins 1, 0, 2, 3. With the weights 1, 2, 1, 1. */
static void by_hand(void **state) {
    (void)state;
    const char *axes = "'weights':[{'name':'x1','from':-1,'to':1,'steps':3},"
                       "{'name':'intercept','from':0,'to':1,'steps':2}]";
    const struct response *hinge =
        status_check(grid("four", text("{'dataset':'four','weight':'v','loss':'hinge',%s}", axes)),
                     200);
    assert_int_equal(real_at(hinge, "/rows"), 4);
    assert_json(hinge, "/weights/0/values", "[-1,0,1]");
    assert_json(hinge, "/weights/1/values", "[0,1]");
    assert_json(hinge, "/weights/0/name", "'x1'");
    assert_near(real_at(hinge, "/weights/0/weight"), 0.5, 0);
    assert_near(real_at(hinge, "/weights/1/weight"), 0.25, 0);
    assert_false(has(hinge, "/class"));
    assert_near(at(hinge, 0, 0), (3 + 2 * 2 + 2 + 3) / 5.0, 1e-12);
    assert_near(at(hinge, 1, 0), 1, 1e-12);
    assert_near(at(hinge, 2, 0), 0, 0);
    assert_near(at(hinge, 0, 1), (4 + 2 * 3 + 1 + 2) / 5.0, 1e-12); /* g = 3, 2, 0, −1 */
    assert_near(at(hinge, 1, 1), 3 * 2 / 5.0, 1e-12);
    assert_near(at(hinge, 2, 1), 2 * 1 / 5.0, 1e-12);
    assert_json(hinge, "/minimum", "{'weights':[1,0],'value':0}");
    const struct response *perceptron = status_check(
        grid("four/versions/1", text("{'dataset':'four@1','loss':'perceptron',%s}", axes)), 200);
    assert_int_equal(real_at(perceptron, "/rows"), 5); /* the row of weight 0 counts */
    assert_near(at(perceptron, 0, 0), (2 + 1 + 1 + 2 + 7) / 5.0, 1e-12);
    assert_near(at(perceptron, 2, 1), 0, 0);
    const struct response *entropy = status_check(
        grid("four", "{'dataset':'four','weight':'v','weights':[{'name':'x1','from':0,'to':1}]}"),
        200);
    assert_int_equal(count_at(entropy, "/values"), 101);
    assert_json(entropy, "/loss", "'cross_entropy'");
    /* w0 is that of the model, 1/4: at w = 0 the margins are −1/4 for class 0 (weight 3), else
     * 1/4 */
    assert_near(at(entropy, 0, 0), (3 * log1p(exp(0.25)) + 2 * log1p(exp(-0.25))) / 5, 1e-12);
    const struct response *squared = status_check(
        grid("four", text("{'dataset':'four','weight':'v','loss':'squared_error',%s}", axes)), 200);
    const double p = 1 / (1 + exp(1)), q = 1 / (1 + exp(2));
    assert_near(at(squared, 2, 0), (q * q + 2 * p * p + p * p + q * q) / 10, 1e-12);
    assert_near(at(squared, 1, 0), 0.125, 1e-12);
    /* another column as the truth: x = 2 and 5, 7 are class 1 of "other" */
    const struct response *other =
        status_check(grid("four", "{'dataset':'four','target':'other','loss':'hinge','weights':"
                                  "[{'name':'x1','from':0,'to':1,'steps':2}]}"),
                     200);
    assert_int_equal(real_at(other, "/rows"), 6);
    assert_near(at(other, 0, 0), (3 * 1.25 + 3 * 0.75) / 6, 1e-12);
}

/* At the weights of the model the losses are its metrics: the middle of a range around each weight,
 * for standardised features, categories, missing values and booleans. A column "intercept" hides
 * that of the model. */
static void at_the_weights(const char *model, const char *dataset, const char *extra,
                           size_t score) {
    const struct response *w = status_check(call_get("/v1/models/%s/weights", model), 200),
                          *m = status_check(call_post(text("/v1/models/%s/evaluate", model),
                                                      "{\"dataset\":\"%s\"}", dataset),
                                            200);
    const double expected[] = {real_at(m, "/metrics/log_loss"), real_at(m, "/metrics/brier") / 2};
    const size_t d = count_at(w, "/features"), n = strcmp(dataset, "mixed") == 0 ? d : d + 1;
    for (size_t i = 0; i < 2 * n; i++) {
        const size_t j = i / 2;
        const char *name = j < d ? string_at(w, text("/features/%zu", j)) : "intercept";
        const double weight =
            real_at(w, j < d ? text("/w/%zu/%zu", score, j) : text("/w0/%zu", score));
        const struct response *r = status_check(
            grid(model, text("{'dataset':'%s','weights':[{'name':'%s','from':%.17g,'to':%.17g,"
                             "'steps':3}],'loss':'%s'%s}",
                             dataset, name, weight - 1, weight + 1,
                             i % 2 ? "squared_error" : "cross_entropy", extra)),
            200);
        assert_near(real_at(r, "/weights/0/weight"), weight, 1e-15 * (1 + fabs(weight)));
        assert_near(at(r, 1, 0), expected[i % 2], 1e-12);
        assert_true(real_at(r, "/minimum/value") <= at(r, 1, 0));
    }
}

static void metrics_of_the_model(void **state) {
    (void)state;
    at_the_weights("mixed", "mixed", "", 0);
    at_the_weights("softmax", "iris", ",'class':'versicolor'", 1);
}

/* One discriminant for each class, and one for each pair of classes, of the rows of iris. */
static void one_discriminant(const char *model, const char *class, size_t score, int positive,
                             int negative) {
    const struct response *w = status_check(call_get("/v1/models/%s/weights", model), 200),
                          *rows = status_check(call_get("/v1/datasets/iris/rows?limit=1000"), 200),
                          *r =
                              status_check(grid(model, text("{'dataset':'iris','class':%s,'loss':"
                                                            "'hinge','weights':[{'name':"
                                                            "'petal_width','from':-1,'to':1,"
                                                            "'steps':2},{'name':'intercept','from':"
                                                            "0,'to':2,'steps':2}]}",
                                                            class)),
                                           200);
    for (size_t p = 0; p < 4; p++) {
        double sum = 0, n = 0;
        for (int i = 0; i < 150; i++) {
            const json_t *row = json_array_get(value_at(rows, "/items"), (size_t)i);
            const int k = i / 50; /* fifty rows of each class, in order of the classes */
            double g = (p % 2 ? 1 : -1) * real_in(row, "/petal_width") + (p / 2 ? 2 : 0);
            for (size_t j = 0; j < 3; j++) {
                g += real_at(w, text("/w/%zu/%zu", score, j)) *
                     real_in(row, text("/%s", string_at(w, text("/features/%zu", j))));
            }
            if (k == positive || negative < 0 || k == negative) {
                sum += fmax(0, 1 - (k == positive ? g : -g));
                n++;
            }
        }
        assert_near(at(r, p % 2, p / 2), sum / n, 1e-12 * (1 + sum / n));
        assert_int_equal(real_at(r, "/rows"), n);
    }
    json_check(value_at(r, "/class"), quoted("%s", class), __FILE__, __LINE__);
}

static void one_at_a_time(void **state) {
    (void)state;
    one_discriminant("rest", "'virginica'", 2, 2, -1);
    one_discriminant("pairs", "['setosa','virginica']", 1, 2, 0);
    one_discriminant("pairs", "['virginica','versicolor']", 2, 2, 1);
}

static void refused(const char *model, const char *body, const char *place, const char *words) {
    fault_contains(problem_check(grid(model, body), 422, "invalid"), place, words);
}

#define RANGE "'from':0,'to':1"
static void bad_calls(void **state) {
    (void)state;
    const char *w = "'weights':[{'name':'x1'," RANGE "}]";
    refused("four", text("{%s}", w), "/dataset", "missing");
    refused("four", "{'dataset':'four'}", "/weights", "missing");
    refused("four", "{'dataset':'four','weights':[]}", "/weights", "got 0");
    refused("four", "{'dataset':'four','weights':[1,2,3]}", "/weights", "got 3");
    refused("four", "{'dataset':'four','weights':[1]}", "/weights/0", "object");
    refused("four", "{'dataset':'four','weights':[{" RANGE "}]}", "/weights/0/name", "missing");
    refused("four", "{'dataset':'four','weights':[{'name':'x1','to':1}]}", "/weights/0/from",
            "missing");
    refused("four", "{'dataset':'four','weights':[{'name':'x1','from':2,'to':2}]}", "/weights/0/to",
            "from 2 to 2");
    refused("four", "{'dataset':'four','weights':[{'name':'x1'," RANGE ",'steps':1}]}",
            "/weights/0/steps", "2");
    refused("four", "{'dataset':'four','weights':[{'name':'x1'," RANGE ",'steps':1002}]}",
            "/weights/0/steps", "1001");
    refused("four",
            "{'dataset':'four','weights':[{'name':'x1'," RANGE ",'steps':1001},"
            "{'name':'intercept'," RANGE ",'steps':1001}]}",
            "/weights", "1001 times 1001");
    refused("four", "{'dataset':'four','weights':[{'name':'x2'," RANGE "}]}", "/weights/0/name",
            "did you mean \"x1\"?");
    refused("four",
            "{'dataset':'four','weights':[{'name':'x1'," RANGE "},{'name':'intersept'," RANGE "}]}",
            "/weights/1/name", "did you mean \"intercept\"?");
    refused("mixed", "{'dataset':'mixed','weights':[{'name':'colour=rad'," RANGE "}]}",
            "/weights/0/name", "did you mean \"colour=red\"?");
    refused("four", "{'dataset':'four','weights':[{'name':'something else'," RANGE "}]}",
            "/weights/0/name", "features");
    refused("four",
            "{'dataset':'four','weights':[{'name':'x1'," RANGE "},{'name':'x1'," RANGE "}]}",
            "/weights/1/name", "already");
    refused("four", "{'dataset':'four','weights':[{'name':'x1'," RANGE ",'step':3}]}",
            "/weights/0/step", "known");
    refused("four", text("{'dataset':'four','loss':'log',%s}", w), "/loss", "perceptron");
    refused("four", text("{'dataset':'nobody',%s}", w), "/dataset", "nobody");
    refused("four", text("{'dataset':'iris',%s}", w), "/dataset", "\"class\"");
    refused("four", text("{'dataset':'huge',%s}", "'weights':[{'name':'x1','from':0,'to':1e300}]"),
            "/dataset", "overflow");
    refused("four", text("{'dataset':'four','weight':'x1',%s}", w), "/weight", "x1");
    refused("four", text("{'dataset':'four','class':1,%s}", w), "/class", "three classes");
    refused("four", text("{'dataset':'four','angle':1,%s}", w), "/angle", "known");
    const char *petal = "'dataset':'iris','weights':[{'name':'petal_width'," RANGE "}]";
    refused("softmax", text("{%s}", petal), "/class", "3 discriminants");
    refused("softmax", text("{'class':'rose',%s}", petal), "/class", "\"rose\"");
    refused("softmax", text("{'class':1,%s}", petal), "/class", "number 1");
    refused("pairs", text("{'class':'setosa',%s}", petal), "/class", "two classes");
    refused("pairs", text("{'class':['setosa','rose'],%s}", petal), "/class/1", "\"rose\"");
    refused("pairs", text("{'class':['setosa','setosa'],%s}", petal), "/class", "discriminant");
    problem_check(grid("quadratic", text("{%s}", petal)), 409, "conflict");
    problem_check(grid("outlier", text("{%s}", petal)), 409, "conflict");
    problem_check(grid("nobody", "{}"), 404, "unknown-model");
    problem_check(grid("four", "[]"), 422, "invalid");
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(by_hand), TEST(metrics_of_the_model),
                                       TEST(one_at_a_time), TEST(bad_calls)};
    return cmocka_run_group_tests(tests, prepare, group_end);
}
