/* GET …/weights?statistics=true against R's glm and lm and a recomputation in NumPy
 * (tests/data/statistics.R, statistics.py). */
#include "lib/api.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* name: the case in tests/data/statistics.txt */
static const struct fit {
    const char *name, *target, *algorithm, *params, *weight, *query;
} fits[] = {
    {"glm", "y", "logistic", "'penalty':'none'", NULL, ""},
    {"glm-counts", "y", "logistic", "'penalty':'none','solver':'lbfgs','tolerance':1e-10", "v",
     "&level=0.9"},
    {"glm-fractions", "y", "logistic", "'penalty':'none'", "u", ""},
    {"softmax", "k", "logistic", "'penalty':'none'", NULL, ""},
    {"softmax-weights", "k", "logistic", "'lambda':0", "v", ""},
    {"softmax-penalised", "k", "logistic", "'lambda':0.01", "v", ""},
    {"penalised", "y", "logistic", "'lambda':0.02", NULL, ""},
    {"lm", "y", "least_squares", "'lambda':0", NULL, ""},
    {"lm-weights", "y", "least_squares", "'lambda':0,'solver':'conjugate_gradient'", "u",
     "&level=0.99"},
    {"lm-classes", "k", "least_squares", "'lambda':0", "v", ""},
    {"ridge", "y", "least_squares", "'lambda':0.05", "v", ""},
};
enum { N_FITS = sizeof fits / sizeof fits[0] };

static int open_daemon(void **state) {
    (void)state;
    service_start(NULL);
    upload_file("table", "statistics.csv");
    upload_file("iris", "iris.csv");
    for (size_t i = 0; i < N_FITS; i++) {
        const struct fit *f = &fits[i];
        job_train("{'model':'%s','dataset':'table','target':'%s','algorithm':'%s','params':{%s},"
                  "'features':{'include':['x1','x2','x3','color'],'standardize':%s}%s}",
                  f->name, f->target, f->algorithm, f->params,
                  strncmp(f->name, "lm", 2) == 0 ? "false" : "true",
                  f->weight == NULL ? "" : text(",'weight':'%s'", f->weight));
    }
    return 0;
}

static const struct response *statistics_of(const char *model, const char *query) {
    return status_check(call_get("/v1/models/%s/weights?statistics=true%s", model, query), 200);
}

/* A number near 0 is compared with the size of the other numbers of its kind. */
static void check_number(const char *name, const char *pointer, double value, double wanted) {
    const double size = strstr(pointer, "covariance") != NULL ? 1e-4 : 1e-6;
    if (!(fabs(value - wanted) <= 1e-6 * fmax(fabs(wanted), size))) {
        fail_msg("%s %s: %.17g instead of %.17g", name, pointer, value, wanted);
    }
}

static void test_references(void **state) {
    (void)state;
    FILE *file = fopen("tests/data/statistics.txt", "r");
    char line[256], name[64], pointer[128], last[64] = "";
    double wanted;
    size_t n = 0;
    json_t *statistics = NULL;
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        assert_int_equal(sscanf(line, "%63s %127s %lf", name, pointer, &wanted), 3);
        if (strcmp(name, last) != 0) {
            size_t i = 0;
            while (i < N_FITS && strcmp(fits[i].name, name) != 0) {
                i++;
            }
            assert_true(i < N_FITS);
            const struct response *r = statistics_of(name, fits[i].query);
            assert_json(r, "/statistics/available", "true");
            json_decref(statistics);
            statistics = json_incref(json_find(r->json, "/statistics"));
            snprintf(last, sizeof last, "%s", name);
        }
        check_number(name, pointer, real_in(statistics, pointer), wanted);
        n++;
    }
    json_decref(statistics);
    fclose(file);
    assert_true(n > 3000);
}

static void test_words(void **state) {
    (void)state;
    const struct response *r = statistics_of("glm", "");
    assert_json(r, "/statistics/distribution", "'normal'");
    assert_json(r, "/statistics/notes", "[]");
    assert_json(r, "/statistics/rows", "180");
    assert_json(r, "/statistics/scores/0/weights/3/feature", "'color=green'");
    assert_json(r, "/statistics/scores/0/weights/6/feature", "'(intercept)'");
    assert_json(r, "/statistics/scores/0/positive", "'yes'");
    assert_json(r, "/statistics/inflation/3/term", "'color'");
    assert_json(r, "/statistics/inflation/3/n_features", "3");
    for (size_t j = 0; j < 6; j++) { /* the weights equal those without statistics */
        assert_true(real_at(r, text("/w/0/%zu", j)) ==
                    real_at(r, text("/statistics/scores/0/weights/%zu/weight", j)));
    }
    r = statistics_of("softmax-penalised", "&matrices=false");
    assert_int_equal(count_at(r, "/statistics/notes"), 2);
    assert_non_null(strstr(string_at(r, "/statistics/notes/0"), "conditional on lambda"));
    assert_non_null(strstr(string_at(r, "/statistics/notes/1"), "symmetric form"));
    assert_json(r, "/statistics/responses/0/p", "null");
    assert_false(has(r, "/statistics/covariance"));
    assert_json(r, "/statistics/inflation/3/df", "3"); /* four levels with a feature each */
    r = statistics_of("lm-classes", "");
    assert_json(r, "/statistics/distribution", "'t'");
    assert_json(r, "/statistics/responses/2/class", "'c'");
    assert_false(has(r, "/statistics/scores/0/weights/0/odds_ratio"));
    r = call_get("/v1/models/glm/weights");
    assert_false(has(r, "/statistics"));
}

/* The cells of a line of CSV without quotes. */
static size_t cells_of(const char *line, const char *cells[16]) {
    static char copy[512];
    size_t n = 0;
    snprintf(copy, sizeof copy, "%.*s", (int)strcspn(line, "\n"), line);
    for (char *at = copy; at != NULL && n < 16; n++) {
        char *comma = strchr(at, ',');
        if (comma != NULL) {
            *comma++ = '\0';
        }
        cells[n] = at;
        at = comma;
    }
    return n;
}

static void test_cells(void **state) {
    (void)state;
    const char *cells[16];
    json_t *wanted = json_incref(
        (json_t *)json_find(statistics_of("softmax", "")->json, "/statistics/scores/1/weights/3"));
    const struct response *r = status_check(
        call_get_with("Accept: text/csv", "/v1/models/softmax/weights?statistics=true"), 200);
    const char *line = r->body;
    assert_memory_equal(line,
                        "class,feature,weight,standard_error,statistic,p,low,high,odds_ratio,"
                        "odds_low,odds_high\n",
                        86);
    for (size_t i = 0; i < 7 + 3 + 1; i++) {
        line = strchr(line, '\n') + 1;
    }
    assert_int_equal(cells_of(line, cells), 11);
    assert_string_equal(cells[0], "b");
    assert_string_equal(cells[1], "color=green");
    assert_true(strtod(cells[2], NULL) == real_in(wanted, "/weight"));
    assert_true(strtod(cells[3], NULL) == real_in(wanted, "/standard_error"));
    assert_true(strtod(cells[10], NULL) == real_in(wanted, "/odds_high"));
    json_decref(wanted);
    const char *tag = text("If-None-Match: %s", header_of(r, "ETag"));
    assert_non_null(strstr(header_of(r, "Content-Type"), "text/csv"));
    status_check(call_get_with(HEADERS(tag, "Accept: text/csv")[0],
                               "/v1/models/softmax/weights?statistics=true"),
                 200); /* JSON has another ETag */
    r = status_check(call_get_with("Accept: text/csv", "/v1/models/glm/weights"), 200);
    assert_memory_equal(r->body, "class,feature,weight\nyes,x1,", 28);
    r = status_check(call_get_with("Accept: text/tab-separated-values", "/v1/models/lm/weights"),
                     200);
    assert_memory_equal(r->body, "class\tfeature\tweight\nyes\tx1\t", 28);
    job_train("{'model':'near','dataset':'iris','target':'class','algorithm':'knn'}");
    problem_check(call_get_with("Accept: text/csv", "/v1/models/near/weights"), 406,
                  "not-acceptable");
    job_train("{'model':'pairs','dataset':'iris','target':'class','algorithm':'logistic','params':"
              "{'multiclass':'one_vs_one'}}");
    r = status_check(call_get_with("Accept: text/csv", "/v1/models/pairs/weights"), 200);
    assert_memory_equal(r->body, "class,against,feature,weight\nversicolor,setosa,sepal_length,",
                        58);
}

static void none(const char *params, const char *target, const char *algorithm,
                 const char *reason) {
    job_train("{'model':'none','dataset':'iris','target':'%s','algorithm':'%s','params':{%s}}",
              target, algorithm, params);
    const struct response *r = statistics_of("none", "");
    assert_json(r, "/statistics/available", "false");
    assert_string_equal(string_at(r, "/statistics/reason"), reason);
    assert_true(strlen(string_at(r, "/statistics/message")) > 10);
    assert_false(has(r, "/statistics/scores"));
}

static void test_none(void **state) {
    (void)state;
    none("'statistics':'off'", "class", "logistic", "off");
    none("'penalty':'none'", "class", "logistic", "separable");
    none("'penalty':'l1','lambda':0.01", "class", "logistic", "l1");
    none("'penalty':'elastic_net','lambda':0.01", "class", "logistic", "l1");
    none("'loss':'squared_error'", "class", "logistic", "loss");
    none("'multiclass':'one_vs_rest'", "class", "logistic", "several_machines");
    none("'solver':'gradient_descent','max_iterations':3", "class", "logistic", "not_converged");
    none("'solver':'gradient_descent','max_iterations':3", "class", "least_squares",
         "not_converged");
    none("", "class", "svm", "algorithm");
    const struct response *r =
        status_check(call_get_with("Accept: text/csv", "/v1/models/none/weights?statistics=true"),
                     200);
    assert_non_null(strstr(r->body, ",,,,,,,,\n"));
}

static void test_queries(void **state) {
    (void)state;
    static const char *const refused[] = {"statistics=true&level=0",
                                          "statistics=true&level=1",
                                          "statistics=true&level=nan",
                                          "statistics=true&level=95%25",
                                          "level=0.9",
                                          "statistics=false&level=0.9",
                                          "statistics=1"};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        problem_check(call_get("/v1/models/glm/weights?%s", refused[i]), 400, "bad-request");
    }
    const struct response *r = statistics_of("glm", "&level=0.5");
    assert_near(real_at(r, "/statistics/level"), 0.5, 0);
    status_check(call_get("/v1/models/glm/versions/1/weights?statistics=true"), 200);
}

/* Variances beyond the finite numbers: the model has no statistics, and can be read back. */
static void test_overflow(void **state) {
    (void)state;
    static const struct {
        const char *algorithm;
        int exponent; /* of the values of the feature */
    } cases[] = {{"'logistic'", -162},
                 {"'least_squares'", -155},
                 {"'logistic','params':{'penalty':'none'}", -162},
                 {"'logistic'", 200}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const char *table = "x,class\n";
        for (int i = 0; i < 40; i++) {
            table = text("%s%de%d,%s\n", table, i * 7 % 11, cases[k].exponent, i % 3 ? "a" : "b");
        }
        status_check(call_upload(text("/v1/datasets/far%zu", k), table), 201);
        job_train("{'model':'far','dataset':'far%zu','target':'class','algorithm':%s}", k,
                  cases[k].algorithm);
        status_check(call_post("/v1/models/far/predict", "{'instances':[[1]]}"), 200);
        const struct response *r = call_get("/v1/models/far/weights?statistics=true");
        status_check(r, 200);
        assert_string_equal(string_at(r, "/statistics/reason"), "overflow");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_references), TEST(test_words),   TEST(test_cells),
        TEST(test_none),       TEST(test_queries), TEST(test_overflow),
    };
    return cmocka_run_group_tests(tests, open_daemon, group_end);
}
