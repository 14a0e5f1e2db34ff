/* POST /v1/compare: metrics against those of evaluate, counts, tests and disagreements against the
 * predictions of the models, the same answer for the same seed, and the place of each fault. */
#include "lib/api.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MODELS = 3, CUT = 269, MAX_TEST = 400 };

static const char *const models[MODELS] = {"linear", "kernel", "bayes"};

/* Returns the position after n lines. */
static const char *lines_after(const char *at, size_t n) {
    for (size_t i = 0; i < n; i++) {
        at += strcspn(at, "\n") + 1;
    }
    return at;
}

static int prepare(void **state) {
    if (group_start(state) != 0) {
        return -1;
    }
    const char *csv = read_whole("tests/data/breast_cancer.csv", NULL),
               *first = lines_after(csv, 1), *rest = lines_after(first, CUT);
    const int head = (int)(first - csv);
    /* the class is the last column: a row without it is at the end */
    const char *line = text("%.*s", (int)strcspn(rest, "\n"), rest), *comma = strrchr(line, ',');
    status_check(call_upload("/v1/datasets/train",
                             text("%.*s%.*s", head, csv, (int)(rest - first), first)),
                 201);
    status_check(call_upload("/v1/datasets/test",
                             text("%.*s%s%.*s\n", head, csv, rest, (int)(comma + 1 - line), line)),
                 201);
    job_train("{'model':'linear','dataset':'train','target':'class','algorithm':'logistic'}");
    job_train("{'model':'kernel','dataset':'train','target':'class','algorithm':'svm','params':"
              "{'kernel':'rbf'}}");
    job_train("{'model':'bayes','dataset':'train','target':'class','algorithm':'naive_bayes'}");
    upload_file("iris", "iris.csv");
    job_train("{'model':'iris','dataset':'iris','target':'class','algorithm':'logistic'}");
    keep_free();
    return 0;
}

static const struct response *compare(const char *body) {
    return call_text("POST", "/v1/compare", NULL, quoted("%s", body));
}

/* ---- independent results ---- */

/* Two-sided p-value of b among n with probability ½, from binomial coefficients. */
static double binomial_p(int64_t b, int64_t n) {
    double p = 0;
    for (int64_t i = 0; i <= n; i++) {
        if (llabs(2 * i - n) >= llabs(2 * b - n)) {
            p += exp(lgamma((double)n + 1) - lgamma((double)i + 1) - lgamma((double)(n - i) + 1) -
                     (double)n * log(2));
        }
    }
    return p;
}

/* The labels of a model for the rows of the dataset test. */
static const json_t *labels_of(const char *model) {
    const struct response *r =
        status_check(call_typed(text("/v1/models/%s/predict", model), "application/json",
                                "application/json", "{\"dataset\":\"test\"}"),
                     200);
    return value_at(r, "/predictions");
}

static void pair_check(const struct response *r, size_t k, size_t first, size_t second) {
    const struct response *truth = status_check(call_get("/v1/datasets/test/rows?limit=1000"), 200);
    const json_t *rows = value_at(truth, "/items"), *x = labels_of(models[first]),
                 *y = labels_of(models[second]);
    int64_t count[4] = {0}, differ = 0;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *label = json_object_get(json_array_get(rows, i), "class"),
                     *of_x = json_object_get(json_array_get(x, i), "label"),
                     *of_y = json_object_get(json_array_get(y, i), "label");
        if (!json_is_null(label)) {
            count[2 * !json_equal(label, of_x) + !json_equal(label, of_y)]++;
            differ += !json_equal(of_x, of_y);
        }
    }
    const char *at = text("/pairs/%zu", k);
    static const char *const names[] = {"both_right", "first_right", "second_right", "both_wrong"};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(whole_at(r, text("%s/%s", at, names[i])), count[i]);
    }
    assert_int_equal(whole_at(r, text("%s/disagreements", at)), differ);
    assert_string_equal(string_at(r, text("%s/models/0", at)), text("%s@1", models[first]));
    assert_string_equal(string_at(r, text("%s/models/1", at)), text("%s@1", models[second]));
    const int64_t b = count[1], c = count[2], n = b + c;
    const bool exact = n < 25;
    assert_string_equal(string_at(r, text("%s/mcnemar/test", at)), exact ? "exact" : "chi_square");
    if (exact) {
        assert_true(json_is_null(value_at(r, text("%s/mcnemar/statistic", at))));
        assert_near(real_at(r, text("%s/mcnemar/p_value", at)), binomial_p(b, n), 1e-10);
    } else {
        const double chi = pow(fmax((double)llabs(b - c) - 1, 0), 2) / (double)n;
        assert_near(real_at(r, text("%s/mcnemar/statistic", at)), chi, 1e-12);
        assert_near(real_at(r, text("%s/mcnemar/p_value", at)), erfc(sqrt(chi / 2)), 1e-12);
    }
}

static void listed_check(const struct response *r) {
    const struct response *truth = status_check(call_get("/v1/datasets/test/rows?limit=1000"), 200);
    const json_t *rows = value_at(truth, "/items"), *labels[MODELS];
    size_t listed = 0;
    for (size_t m = 0; m < MODELS; m++) {
        labels[m] = labels_of(models[m]);
    }
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *label = json_object_get(json_array_get(rows, i), "class"),
                     *first = json_object_get(json_array_get(labels[0], i), "label");
        bool same = true;
        for (size_t m = 1; m < MODELS; m++) {
            same =
                same && json_equal(first, json_object_get(json_array_get(labels[m], i), "label"));
        }
        if (same || json_is_null(label)) {
            continue;
        }
        const char *at = text("/disagreements/listed/%zu", listed++);
        assert_int_equal(whole_at(r, text("%s/row", at)), (int64_t)i);
        assert_true(json_equal(value_at(r, text("%s/truth", at)), label));
        for (size_t m = 0; m < MODELS; m++) {
            const json_t *own = json_array_get(labels[m], i),
                         *shown = value_at(r, text("%s/predictions/%zu", at, m)),
                         *p = json_object_get(own, "probabilities");
            assert_true(json_equal(json_object_get(shown, "label"), json_object_get(own, "label")));
            if (p == NULL) {
                assert_true(json_is_null(json_object_get(shown, "probability")));
            } else { /* of two classes the predicted one has the greater probability */
                assert_near(real_in(shown, "/probability"),
                            fmax(json_number_value(json_array_get(p, 0)),
                                 json_number_value(json_array_get(p, 1))),
                            1e-12);
            }
        }
    }
    assert_in_range(listed, 1, 100);
    assert_int_equal(whole_at(r, "/disagreements/rows"), listed);
    assert_int_equal(count_at(r, "/disagreements/listed"), listed);
}

static const char all[] = "{'models':['linear','kernel@1','bayes'],'dataset':'test'}";

static void test_results(void **state) {
    (void)state;
    const struct response *r = status_check(compare(all), 200);
    assert_int_equal(whole_at(r, "/rows"), 569 - CUT);
    assert_int_equal(whole_at(r, "/skipped"), 1);
    assert_json(r, "/dataset", "{'name':'test','version':1}");
    assert_string_equal(string_at(r, "/target"), "class");
    assert_int_equal(count_at(r, "/models"), MODELS);
    assert_int_equal(count_at(r, "/pairs"), MODELS);
    for (size_t m = 0; m < MODELS; m++) {
        const struct response *own =
            status_check(call_post(text("/v1/models/%s/evaluate", models[m]), "{'dataset':'test'}"),
                         200);
        assert_string_equal(string_at(r, text("/models/%zu/model", m)), models[m]);
        if (!json_equal(value_at(r, text("/models/%zu/metrics", m)), value_at(own, "/metrics"))) {
            answer_fail(own, __FILE__, __LINE__, "the metrics of %s differ", models[m]);
        }
        /* the intervals of the accuracy: Wilson's and the bootstrap's are close */
        for (int end = 0; end < 2; end++) {
            assert_near(real_at(r, text("/models/%zu/intervals/accuracy/%d", m, end)),
                        real_at(own, text("/metrics/accuracy_interval/%d", end)), 0.015);
        }
    }
    assert_true(json_is_null(value_at(r, "/models/1/intervals/log_loss")));
    assert_near(real_at(r, "/pairs/1/differences/log_loss/value"),
                real_at(r, "/models/0/metrics/log_loss") - real_at(r, "/models/2/metrics/log_loss"),
                1e-15);
    assert_near(real_at(r, "/pairs/0/differences/macro_f1/value"),
                real_at(r, "/models/0/metrics/macro/f1") - real_at(r, "/models/1/metrics/macro/f1"),
                1e-15);
    pair_check(r, 0, 0, 1);
    pair_check(r, 1, 0, 2);
    pair_check(r, 2, 1, 2);
    listed_check(r);
}

static double width(const struct response *r, const char *pointer) {
    return real_at(r, text("%s/1", pointer)) - real_at(r, text("%s/0", pointer));
}

static void test_options(void **state) {
    (void)state;
    const struct response *r = status_check(compare(all), 200), *again = compare(all);
    assert_string_equal(r->body, again->body);
    const struct response *other = status_check(
        compare("{'models':['linear','kernel','bayes'],'dataset':'test@1','seed':1,'rows':1}"),
        200);
    assert_true(json_equal(value_at(r, "/models/0/metrics"), value_at(other, "/models/0/metrics")));
    assert_false(
        json_equal(value_at(r, "/models/0/intervals"), value_at(other, "/models/0/intervals")));
    assert_int_equal(count_at(other, "/disagreements/listed"), 1);
    const struct response *half = status_check(
        compare("{'models':['linear','bayes'],'dataset':'test','confidence':0.5,'bootstrap':300}"),
        200);
    static const char *const names[] = {"accuracy", "roc_auc", "brier", "mcc", "average_precision"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *one = text("/models/0/intervals/%s", names[i]),
                   *pair = text("/differences/%s/interval", names[i]);
        assert_true(width(half, one) < 0.6 * width(r, one));
        assert_true(width(half, text("/pairs/0%s", pair)) <
                    0.6 * width(r, text("/pairs/1%s", pair)));
        const double value = real_at(r, text("/models/0/metrics/%s", names[i]));
        assert_true(real_at(r, text("%s/0", one)) < value && value < real_at(r, text("%s/1", one)));
    }
    const struct response *none = status_check(
        compare("{'models':['linear','bayes'],'dataset':'test','bootstrap':0,'rows':0}"), 200);
    assert_true(json_is_null(value_at(none, "/models/1/intervals/accuracy")));
    assert_true(json_is_null(value_at(none, "/pairs/0/differences/accuracy/interval")));
    assert_true(json_is_real(value_at(none, "/pairs/0/differences/accuracy/value")));
    assert_int_equal(count_at(none, "/disagreements/listed"), 0);
    assert_true(whole_at(none, "/disagreements/rows") > 0);
}

/* More than two classes, weights, and models without a target. */
static void test_other_models(void **state) {
    (void)state;
    static const char *const kinds[] = {"'algorithm':'svm'", "'algorithm':'gaussian'",
                                        "'algorithm':'svm','params':{'multiclass':'one_vs_one'}"};
    for (size_t i = 0; i < 3; i++) {
        job_train("{'model':'many%zu','dataset':'iris','target':'class',%s}", i, kinds[i]);
    }
    const struct response *r = status_check(
        compare("{'models':['iris','many0','many1','many2'],'dataset':'iris','bootstrap':200}"),
        200);
    assert_int_equal(count_at(r, "/pairs"), 6);
    for (size_t m = 0; m < 4; m++) {
        const struct response *own =
            status_check(call_post(text("/v1/models/%s/evaluate",
                                        string_at(r, text("/models/%zu/model", m))),
                                   "{'dataset':'iris'}"),
                         200);
        assert_true(
            json_equal(value_at(r, text("/models/%zu/metrics", m)), value_at(own, "/metrics")));
        assert_true(width(r, text("/models/%zu/intervals/roc_auc", m)) >= 0);
    }
    /* weights: the second half of the rows counts 3 times */
    const char *csv = "x,y,w,c\n";
    for (int i = 0; i < 60; i++) {
        csv = text("%s%d,%d,%d,%s\n", csv, i % 7, (i * i) % 11,
                   i < 30    ? 1
                   : i == 59 ? 0
                             : 3,
                   (i * 5) % 7 + (i % 3) > 4 ? "yes" : "no");
    }
    status_check(call_upload("/v1/datasets/weighted", csv), 201);
    job_train(
        "{'model':'w1','dataset':'weighted','target':'c','weight':'w','algorithm':'logistic'}");
    job_train("{'model':'w2','dataset':'weighted','target':'c','weight':'w','algorithm':"
              "'naive_bayes'}");
    job_train("{'model':'w3','dataset':'weighted','target':'c','algorithm':'naive_bayes'}");
    r = status_check(compare("{'models':['w1','w2'],'dataset':'weighted'}"), 200);
    assert_string_equal(string_at(r, "/weight"), "w");
    assert_int_equal(whole_at(r, "/rows"), 59);
    assert_int_equal(whole_at(r, "/skipped"), 1);
    for (size_t m = 0; m < 2; m++) {
        const struct response *own = status_check(call_post(text("/v1/models/w%zu/evaluate", m + 1),
                                                            "{'dataset':'weighted'}"),
                                                  200);
        assert_string_equal(string_at(own, "/weight"), "w");
        assert_true(
            json_equal(value_at(r, text("/models/%zu/metrics", m)), value_at(own, "/metrics")));
    }
    problem_check(compare("{'models':['w1','w3'],'dataset':'weighted'}"), 422, "invalid");
    r = status_check(compare("{'models':['w1','w3'],'dataset':'weighted','weight':null}"), 200);
    assert_true(json_is_null(value_at(r, "/weight")));
    assert_int_equal(whole_at(r, "/rows"), 60);
    r = status_check(compare("{'models':['w1','w3'],'dataset':'weighted','weight':'w'}"), 200);
    assert_int_equal(whole_at(r, "/rows"), 59);
    /* models of one class, with a column of true classes */
    csv = "x,y,kind\n";
    for (int i = 0; i < 40; i++) {
        csv = text("%s%d,%d,%s\n", csv, i < 36 ? i % 5 : 50 + i, (i * 3) % 5,
                   i < 35 ? "inlier" : "outlier");
    }
    status_check(call_upload("/v1/datasets/odd", csv), 201);
    for (int i = 1; i <= 2; i++) {
        job_train("{'model':'one%d','dataset':'odd','algorithm':'one_class_svm','features':"
                  "{'exclude':['kind']},'params':{'nu':0.%d}}",
                  i, i);
    }
    r = compare("{'models':['one1','one2'],'dataset':'odd'}");
    problem_check(r, 422, "invalid");
    (void)fault_check(fault_check(r, "/models/0"), "/models/1");
    r = status_check(compare("{'models':['one1','one2'],'dataset':'odd','target':'kind'}"), 200);
    assert_json(r, "/classes", "['inlier','outlier']");
}

static void test_faults(void **state) {
    (void)state;
    static const struct {
        const char *body, *pointer;
    } faults[] = {
        {"{'models':['linear'],'dataset':'test'}", "/models"},
        {"{'models':[],'dataset':'test'}", "/models"},
        {"{'models':'linear','dataset':'test'}", "/models"},
        {"{'dataset':'test'}", "/models"},
        {"{'models':['linear',7],'dataset':'test'}", "/models/1"},
        {"{'models':['linear','no such'],'dataset':'test'}", "/models/1"},
        {"{'models':['linear','nosuch'],'dataset':'test'}", "/models/1"},
        {"{'models':['linear@9','bayes'],'dataset':'test'}", "/models/0"},
        {"{'models':['linear','bayes','linear@1'],'dataset':'test'}", "/models/2"},
        {"{'models':['linear','iris'],'dataset':'test'}", "/models/1"},
        {"{'models':['linear','bayes']}", "/dataset"},
        {"{'models':['linear','bayes'],'dataset':'nosuch'}", "/dataset"},
        {"{'models':['linear','bayes'],'dataset':'test@2'}", "/dataset"},
        {"{'models':['linear','bayes'],'dataset':'-'}", "/dataset"},
        {"{'models':['linear','bayes'],'dataset':'iris','target':'class'}", "/target"},
        {"{'models':['linear','bayes'],'dataset':'test','target':'clas'}", "/target"},
        {"{'models':['linear','bayes'],'dataset':'test','weight':'clas'}", "/weight"},
        {"{'models':['linear','bayes'],'dataset':'test','seed':-1}", "/seed"},
        {"{'models':['linear','bayes'],'dataset':'test','bootstrap':10001}", "/bootstrap"},
        {"{'models':['linear','bayes'],'dataset':'test','bootstrap':1.5}", "/bootstrap"},
        {"{'models':['linear','bayes'],'dataset':'test','confidence':1}", "/confidence"},
        {"{'models':['linear','bayes'],'dataset':'test','rows':101}", "/rows"},
        {"{'models':['linear','bayes'],'dataset':'test','row':1}", "/row"},
        {"{'models':['linear','bayes'],'dataset':'unlabelled'}", "/dataset"},
    };
    const char *csv = read_whole("tests/data/breast_cancer.csv", NULL),
               *first = lines_after(csv, 1);
    const char *line = text("%.*s", (int)strcspn(first, "\n"), first), *comma = strrchr(line, ',');
    status_check(call_upload("/v1/datasets/unlabelled?types=class:categorical",
                             text("%.*s%.*s\n", (int)(first - csv), csv, (int)(comma + 1 - line),
                                  line)),
                 201);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        const struct response *r = compare(faults[i].body);
        (void)fault_check(status_check(r, 422), faults[i].pointer);
    }
    problem_check(call_get("/v1/compare"), 405, "method-not-allowed");
    problem_check(call_text("POST", "/v1/compare?x=1", NULL, "{}"), 400, "bad-request");
    problem_check(call_text("POST", "/v1/compare", NULL, "[]"), 422, NULL);
}

/* ---- tokens ---- */

static char dir[64], file[80];

/* Waits until client_token has so many heavy calls. */
static void calls_wait(int64_t n) {
    const double end = now() + 60;
    while (whole_at(status_check(call_get("/v1/limits"), 200), "/token/use/heavy_calls") != n) {
        assert_true(now() < end);
        pause_ms(20);
    }
}

/* A comparison ends when its client leaves. client_token may have one heavy call at a time. */
static void cancel_check(void) {
    const char *csv = read_whole("tests/data/iris.csv", NULL), *first = lines_after(csv, 1),
               *body =
                   "{\"models\":[\"a1\",\"a2\",\"b1\"],\"dataset\":\"a-long\",\"bootstrap\":10000}";
    status_check(call_upload("/v1/datasets/a-long",
                             text("%.*s%s", (int)(first - csv), csv, repeat(first, 400))),
                 201);
    calls_wait(0); /* the upload counts until the daemon knows that its answer is sent */
    const int fd = raw_open(); /* the whole comparison takes long */
    assert_true(raw_send_text(fd, text("POST /v1/compare HTTP/1.1\r\nHost: localhost\r\n"
                                       "Authorization: Bearer %s\r\n"
                                       "Content-Length: %zu\r\n\r\n%s",
                                       client_token, strlen(body), body)));
    calls_wait(1);
    problem_check(compare("{'models':['a1','a2'],'dataset':'a-iris'}"), 429, "too-many-requests");
    close(fd);
    calls_wait(0);
    status_check(compare("{'models':['a1','a2'],'dataset':'a-iris'}"), 200);
}

static const char *token_add(const char *name, const char *option, const char *value) {
    const char *out;
    const char *const arguments[] = {"token", "add", name,       "--scope", "predict,write",
                                     option,  value, "--tokens", file,      NULL};
    assert_int_equal(discernd_run(arguments, &out), 0);
    return text("%.72s", out);
}

static void test_tokens(void **state) {
    (void)state;
    (void)snprintf(dir, sizeof dir, "/tmp/discern-compare.XXXXXX");
    assert_non_null(mkdtemp(dir));
    (void)snprintf(file, sizeof file, "%s/tokens", dir);
    const char *out;
    assert_int_equal(discernd_run((const char *const[]){"token", "add", "all", "--scope", "admin",
                                                        "--tokens", file, NULL},
                                  &out),
                     0);
    const char *admin = text("%.72s", out), *one = token_add("one", "--calls", "1"),
               *some = token_add("some", "--only", "a*"),
               *slow = token_add("slow", "--rows", "1/s");
    service_start(FLAGS("--tokens", file));
    client_token = admin;
    upload_file("a-iris", "iris.csv");
    upload_file("b-iris", "iris.csv");
    static const char *const names[] = {"a1", "a2", "b1"};
    for (size_t i = 0; i < 3; i++) {
        job_train("{'model':'%s','dataset':'a-iris','target':'class','algorithm':'naive_bayes'}",
                  names[i]);
    }
    client_token = some;
    status_check(compare("{'models':['a1','a2'],'dataset':'a-iris'}"), 200);
    problem_check(compare("{'models':['a1','b1'],'dataset':'a-iris'}"), 403, "forbidden");
    problem_check(compare("{'models':['a1','b2'],'dataset':'a-iris'}"), 403, "forbidden");
    problem_check(compare("{'models':['a1','a2'],'dataset':'b-iris'}"), 403, "forbidden");
    /* the rows of each model count */
    client_token = slow;
    const double began = now();
    status_check(compare("{'models':['a1','a2','b1'],'dataset':'a-iris','bootstrap':10}"), 200);
    const struct response *r = compare("{'models':['a1','a2'],'dataset':'a-iris'}");
    problem_check(r, 429, "too-many-requests");
    const double wait = atof(header_of(r, "Retry-After"));
    assert_true(wait <= 450 && wait >= 450 - (now() - began) - 1);
    client_token = one;
    cancel_check();
    client_token = NULL;
    assert_int_equal(unlink(file), 0);
    assert_int_equal(rmdir(dir), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_results), TEST(test_options),
                                       TEST(test_other_models), TEST(test_faults),
                                       TEST(test_tokens)};
    return cmocka_run_group_tests(tests, prepare, group_end);
}
