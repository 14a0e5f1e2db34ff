/* The outputs log_density, prior and posterior: densities of the classes of `gaussian` and
 * `naive_bayes`, Bayes' theorem, every format, and models without densities.
 *
 * The numbers of iris were computed once from the table with exact means and covariances
 * (fractions) and logarithms of 60 digits. */
#include "lib/api.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LN_2PI 1.8378770664093454835606594728112
#define ALL "log_density,prior,posterior,probabilities"

static void train(const char *model, const char *dataset, const char *algorithm,
                  const char *params) {
    job_train("{'model':'%s','dataset':'%s','target':'class','algorithm':'%s','params':{%s}}",
              model, dataset, algorithm, params);
}

static int open_service(void **state) {
    (void)state;
    service_start(NULL);
    upload_file("iris", "iris.csv");
    /* a: mean 1, variance 1; b: mean 5, variance 4; together 3 */
    status_check(call_upload("/v1/datasets/line", "x,class\n0,a\n2,a\n3,b\n3,b\n7,b\n7,b\n"), 201);
    status_check(call_upload("/v1/datasets/levels",
                             "size,colour,class\n1,red,no\n3,red,no\n5,blue,yes\n5,green,yes\n"
                             "9,blue,yes\n9,blue,yes\n"),
                 201);
    return 0;
}

static int close_service(void **state) {
    (void)state;
    service_stop();
    return 0;
}

static const struct response *predict(const char *model, const char *outputs, const char *rows) {
    return status_check(call_text("POST", text("/v1/models/%s/predict?output=%s", model, outputs),
                                  NULL, text("{\"instances\":%s}", rows)),
                        200);
}

static double at(const json_t *row, const char *member, size_t k) {
    const json_t *item = json_array_get(json_object_get(row, member), k);
    assert_true(json_is_number(item));
    return json_number_value(item);
}

/* Bayes' theorem: log_density + ln prior, normalised, is the posterior, and their logarithmic sum
 * is log_density. */
static void expect_bayes(const struct response *a, double tolerance) {
    size_t i;
    json_t *row;
    json_array_foreach(value_at(a, "/predictions"), i, row) {
        const size_t K = json_array_size(json_object_get(row, "prior"));
        double joint[8], most = -(double)INFINITY, sum = 0;
        assert_true(K >= 2 && K <= 8);
        for (size_t k = 0; k < K; k++) {
            joint[k] = at(row, "class_log_density", k) + log(at(row, "prior", k));
            most = fmax(most, joint[k]);
        }
        for (size_t k = 0; k < K; k++) {
            sum += exp(joint[k] - most);
        }
        for (size_t k = 0; k < K; k++) {
            assert_near(at(row, "posterior", k), exp(joint[k] - most) / sum, 1e-12);
            assert_near(at(row, "posterior", k), at(row, "probabilities", k), tolerance);
        }
        assert_near(real_in(row, "/log_density"), most + log(sum), 1e-12 * fmax(1, fabs(most)));
    }
}

/* ---- numbers ---- */

/* At x = 2, with priors 1/3 and 2/3:
 *
 *   a variance for each class: ln p(2 | a) = -(ln 2π + 1)/2, ln p(2 | b) = -(ln 2π + ln 4 + 9/4)/2
 *   one variance 3:            ln p(2 | a) = -(ln 6π + 1/3)/2, ln p(2 | b) = -(ln 6π + 9/3)/2
 *
 * The deviation of x over all rows is not 1, so a density of the standardised x would differ. */
static void test_one_column_by_hand(void **state) {
    (void)state;
    const double full[] = {-(LN_2PI + 1) / 2, -(LN_2PI + log(4) + 2.25) / 2},
                 shared[] = {-(LN_2PI + log(3) + 1.0 / 3) / 2, -(LN_2PI + log(3) + 3) / 2};
    static const struct {
        const char *algorithm, *params;
        bool shared;
    } ways[] = {{"gaussian", "'covariance':'full'", false},
                {"gaussian", "'covariance':'diagonal'", false},
                {"naive_bayes", "", false},
                {"gaussian", "'covariance':'shared'", true}};
    for (size_t i = 0; i < 2 * sizeof ways / sizeof ways[0]; i++) {
        const double *want = ways[i / 2].shared ? shared : full;
        job_train(
            "{'model':'line','dataset':'line','target':'class','algorithm':'%s','params':{%s},"
            "'features':{'standardize':%s}}",
            ways[i / 2].algorithm, ways[i / 2].params, i % 2 ? "true" : "false");
        const struct response *a = predict("line", ALL, "[[2],[0],[-3.5],[40]]");
        expect_bayes(a, 1e-12);
        for (size_t k = 0; k < 2; k++) {
            const json_t *row = value_at(a, "/predictions/0");
            assert_near(at(row, "class_log_density", k), want[k], 1e-12);
            assert_near(at(row, "prior", k), k == 0 ? 1.0 / 3 : 2.0 / 3, 1e-15);
        }
        const double odds = want[1] - want[0] + log(2);
        assert_near(real_at(a, "/predictions/0/posterior/1"), 1 / (1 + exp(-odds)), 1e-12);
    }
}

struct reference {
    const char *covariance, *priors;
    double density[3], of_all, posterior[3];
};

static void expect_reference(const struct response *a, const struct reference *r) {
    const json_t *row = value_at(a, "/predictions/0");
    expect_bayes(a, 1e-9);
    assert_close(real_in(row, "/log_density"), r->of_all, 1e-11);
    for (size_t k = 0; k < 3; k++) {
        assert_close(at(row, "class_log_density", k), r->density[k], 1e-11);
        assert_close(at(row, "posterior", k), r->posterior[k], 1e-8);
    }
}

static void test_iris(void **state) {
    (void)state;
    static const char list[] = "[0.5,0.3,0.2]";
    static const struct reference references[] = {
        {"shared",
         "'equal'",
         {-67.906302026075807, -2.4161395355417672, -1.3447767516372366},
         -2.1488246633598207,
         {9.2208123257928775e-30, 0.25514400675561799, 0.74485599324438201}},
        {"full",
         "'estimated'",
         {-247.08493177800892, -1.2752733576518782, -1.0169804979810753},
         -1.543275715033807,
         {7.6823208207696549e-108, 0.43578340731169701, 0.56421659268830293}},
        {"diagonal",
         "'equal'",
         {-298.63126692191605, -2.4869614059155052, -2.195767082051904},
         -2.7362673231234305,
         {1.0406703874167574e-129, 0.42771150198670033, 0.57228849801329973}},
        {"shared",
         list,
         {-67.906302026075807, -2.4161395355417672, -1.3447767516372366},
         -2.5395836356811818,
         {2.0443954572680432e-29, 0.33941602752369204, 0.66058397247630796}},
        {"full",
         list,
         {-247.08493177800892, -1.2752733576518782, -1.0169804979810753},
         -1.8569800867197501,
         {1.5769712523923479e-107, 0.53672679517017297, 0.46327320482982709}},
        {"diagonal",
         list,
         {-298.63126692191605, -2.4869614059155052, -2.195767082051904},
         -3.0532910825694564,
         {2.1433156010611892e-129, 0.52853665063169863, 0.47146334936830137}},
    };
    for (size_t i = 0; i < sizeof references / sizeof references[0]; i++) {
        const struct reference *r = &references[i];
        const bool diagonal = strcmp(r->covariance, "diagonal") == 0;
        train("flowers", "iris", "gaussian",
              text("'covariance':'%s','priors':%s", r->covariance, r->priors));
        expect_reference(predict("flowers", ALL, "[[5.9,3.0,4.9,1.7],[5,3.4,1.5,0.2]]"), r);
        if (diagonal) {
            train("flowers", "iris", "naive_bayes", text("'priors':%s", r->priors));
            expect_reference(predict("flowers", ALL, "[[5.9,3.0,4.9,1.7],[5,3.4,1.5,0.2]]"), r);
        }
        const struct response *a = predict("flowers", "prior", "[[5.9,3.0,4.9,1.7]]");
        assert_int_equal(json_object_size(value_at(a, "/predictions/0")), 1);
        for (size_t k = 0; k < 3; k++) {
            static const double given[] = {0.5, 0.3, 0.2};
            assert_near(at(value_at(a, "/predictions/0"), "prior", k),
                        r->priors == list ? given[k] : 1.0 / 3, 1e-15);
        }
    }
}

/* Naive Bayes of a number and a category. size: no has mean 2 and variance 1, yes mean 7 and
 * variance 4. colour with smoothing 1: no has red 3/5, blue 1/5, green 1/5; yes has red 1/7, blue
 * 4/7, green 2/7. At (4, blue):
 *
 *   ln p(x | no) = -(ln 2π + 4)/2 + ln 1/5, ln p(x | yes) = -(ln 2π + ln 4 + 9/4)/2 + ln 4/7 */
static void test_categories_by_hand(void **state) {
    (void)state;
    train("colours", "levels", "naive_bayes", "");
    const struct response *a = predict("colours", ALL, "[[4,\"blue\"],[4,\"red\"],[2,\"green\"]]");
    const json_t *row = value_at(a, "/predictions/0");
    const double no = -(LN_2PI + 4) / 2 + log(0.2),
                 yes = -(LN_2PI + log(4) + 2.25) / 2 + log(4.0 / 7);
    expect_bayes(a, 1e-12);
    assert_near(at(row, "class_log_density", 0), no, 1e-12);
    assert_near(at(row, "class_log_density", 1), yes, 1e-12);
    assert_near(at(row, "prior", 1), 2.0 / 3, 1e-15);
    assert_near(at(row, "posterior", 1), 1 / (1 + exp(no - yes) / 2), 1e-12);
    static const char *const others[] = {"'numeric':'bernoulli'", "'numeric':'multinomial'"};
    for (size_t i = 0; i < 2; i++) {
        train("colours", "levels", "naive_bayes", others[i]);
        expect_bayes(predict("colours", ALL, "[[4,\"blue\"],[0,\"red\"],[2,\"green\"]]"), 1e-12);
    }
    /* a Gaussian gives the columns of the categories a density as to numbers */
    status_check(call_upload("/v1/datasets/shades",
                             "size,colour,class\n1,red,no\n3,red,no\n2,blue,no\n4,green,no\n"
                             "5,blue,yes\n5,green,yes\n9,red,yes\n8,blue,yes\n3,blue,yes\n"),
                 201);
    static const char *const covariances[] = {"shared", "full", "diagonal"};
    for (size_t i = 0; i < 3; i++) {
        train("colours", "shades", "gaussian", text("'covariance':'%s'", covariances[i]));
        expect_bayes(predict("colours", ALL, "[[4,\"blue\"],[4,\"red\"],[2,\"green\"]]"), 1e-11);
    }
}

/* Texts: words and sparse inputs, whose densities are computed from the entries. */
static void test_texts(void **state) {
    (void)state;
    status_check(call_upload("/v1/datasets/words?types=t:text",
                             "t,class\na a b,x\nb c,x\nc c c,y\na c d,y\nd d,y\n"),
                 201);
    train("words", "words", "naive_bayes", "");
    expect_bayes(predict("words", ALL, "[[\"a b\"],[\"d c c\"],[\"\"],[\"unknown\"]]"), 1e-12);
}

/* Without smoothing a value that a class does not have has density 0. Number 1: in one class.
 * Number 2: in every class, so that the priors remain. */
static void test_density_of_zero(void **state) {
    (void)state;
    status_check(call_upload("/v1/datasets/zero", "a,b,class\nx,p,yes\nx,p,yes\ny,q,no\nx,p,yes\n"),
                 201);
    train("zero", "zero", "naive_bayes", "'smoothing':0");
    const struct response *a = predict("zero", ALL, "[[\"x\",\"p\"],[\"y\",\"q\"],[\"x\",\"q\"]]");
    assert_json(a, "/predictions/1/class_log_density", "[0.0,null]");
    assert_json(a, "/predictions/1/posterior", "[1.0,0.0]");
    assert_json(a, "/predictions/2/class_log_density", "[null,null]");
    assert_json(a, "/predictions/2/log_density", "null");
    assert_near(real_at(a, "/predictions/2/posterior/1"), 0.75, 1e-15);
    assert_json(a, "/predictions/2/out_of_support", "true");
}

/* So far away that the squares leave the range of doubles: the posterior is that of the scores,
 * which are linear. */
static void test_far_away(void **state) {
    (void)state;
    train("line", "line", "gaussian", "");
    const struct response *a = predict("line", ALL, "[[1e200],[-1e200]]");
    assert_json(a, "/predictions/0/class_log_density", "[null,null]");
    assert_json(a, "/predictions/0/posterior", "[0.0,1.0]");
    assert_json(a, "/predictions/1/posterior", "[1.0,0.0]");
}

/* ---- formats ---- */

static void test_every_format(void **state) {
    (void)state;
    train("line", "line", "gaussian", "'covariance':'full'");
    const char *path = "/v1/models/line/predict?output=log_density,prior,posterior";
    const struct response *a = predict("line", "log_density,prior,posterior", "[[2]]"),
                          *one = call_get("%s&x=2", path);
    const json_t *row = value_at(a, "/predictions/0");
    assert_int_equal(json_object_size(row), 5); /* with class_log_density and out_of_support */
    assert_true(json_equal(a->json, one->json));
    const struct response *lines =
        call_text("POST", path, "Content-Type: application/x-ndjson", "[2]\n");
    status_check(lines, 200);
    json_t *line = json_loads(lines->body, 0, NULL);
    assert_true(json_equal(line, row));
    json_decref(line);
    const struct response *csv = call_get_with("Accept: text/csv", "%s&x=2", path);
    status_check(csv, 200);
    static const char header[] = "log_density,log_density(a),log_density(b),prior(a),prior(b),"
                                 "posterior(a),posterior(b),out_of_support\n";
    assert_int_equal(strncmp(csv->body, header, sizeof header - 1), 0);
    const char *cells = csv->body + sizeof header - 1;
    const double want[] = {real_in(row, "/log_density"),
                           at(row, "class_log_density", 0),
                           at(row, "class_log_density", 1),
                           at(row, "prior", 0),
                           at(row, "prior", 1),
                           at(row, "posterior", 0),
                           at(row, "posterior", 1)};
    for (size_t i = 0; i < 7; i++) {
        char *end;
        assert_true(strtod(cells, &end) == want[i] && *end == ',');
        cells = end + 1;
    }
    assert_string_equal(cells, "false\n");
}

static void test_grid(void **state) {
    (void)state;
    train("line", "line", "gaussian", "'covariance':'full'");
    const struct response *g = call_json("POST", "/v1/models/line/evaluate_grid",
                                         "{'x':{'column':'x','from':-3,'to':9,'steps':5},"
                                         "'output':'log_density,prior,posterior'}");
    status_check(g, 200);
    const struct response *a =
        predict("line", "log_density,prior,posterior", "[[-3],[0],[3],[6],[9]]");
    assert_true(json_equal(value_at(g, "/prior"), value_at(a, "/predictions/0/prior")));
    for (size_t i = 0; i < 5; i++) {
        const json_t *row = json_array_get(value_at(a, "/predictions"), i);
        assert_true(real_at(g, text("/log_density/%zu", i)) == real_in(row, "/log_density"));
        for (size_t k = 0; k < 2; k++) {
            assert_true(real_at(g, text("/class_log_density/%zu/%zu", k, i)) ==
                        at(row, "class_log_density", k));
            assert_true(real_at(g, text("/posterior/%zu/%zu", k, i)) == at(row, "posterior", k));
        }
    }
    assert_false(has(g, "/labels"));
}

/* ---- models without densities ---- */

static void expect_conflict(const struct response *r, const char *words) {
    problem_check(r, 409, "conflict");
    assert_non_null(strstr(string_at(r, "/detail"), "\"gaussian\" and \"naive_bayes\""));
    assert_non_null(strstr(string_at(r, "/detail"), words));
}

static void test_models_without_densities(void **state) {
    (void)state;
    train("plain", "iris", "logistic", "");
    train("projected", "iris", "fisher", "");
    train("rest", "iris", "gaussian", "'multiclass':'one_vs_rest'");
    static const char *const models[][2] = {
        {"plain", "it was trained by \"logistic\""},
        {"projected", "it was trained by \"fisher\""},
        {"rest", "it was trained by \"gaussian\" and has several machines"}};
    for (size_t m = 0; m < 3; m++) {
        const char *path = text("/v1/models/%s/predict", models[m][0]);
        const char *outputs[] = {"prior", "posterior", "label,log_density,prior,posterior"};
        for (size_t i = 0; i < 3; i++) {
            expect_conflict(call_text("POST", text("%s?output=%s", path, outputs[i]), NULL,
                                      "{\"instances\":[[5,3,1.5,0.2]]}"),
                            models[m][1]);
        }
        expect_conflict(call_text("POST", text("%s?output=posterior", path),
                                  "Content-Type: application/x-ndjson", "[5,3,1.5,0.2]\n"),
                        "output \"posterior\"");
        expect_conflict(call_get("%s?output=prior&sepal_length=5&sepal_width=3&petal_length=1.5&"
                                 "petal_width=0.2",
                                 path),
                        "output \"prior\"");
        expect_conflict(call_json("POST", text("/v1/models/%s/evaluate_grid", models[m][0]),
                                  "{'x':{'column':'petal_width','steps':3},'output':'posterior'}"),
                        models[m][1]);
        /* ln p(x) alone is null, as before there were densities of classes */
        const struct response *a = predict(models[m][0], "log_density", "[[5,3,1.5,0.2]]");
        assert_json(a, "/predictions/0", "{'log_density':null}");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_one_column_by_hand),
        TEST(test_iris),
        TEST(test_categories_by_hand),
        TEST(test_texts),
        TEST(test_far_away),
        TEST(test_density_of_zero),
        TEST(test_every_format),
        TEST(test_grid),
        TEST(test_models_without_densities),
    };
    return cmocka_run_group_tests(tests, open_service, close_service);
}
