/* The same rows give the same result as a body and as a stored dataset, with marks in numbers and
 * weights, with further missing words, and with a header that differs in the case of letters. */
#include "lib/api.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct response *csv(const char *path, const char *body) {
    return call_text("POST", path, "Content-Type: text/csv", body);
}

static const struct response *stored(const char *path, const char *dataset) {
    return call_json("POST", path, "{'dataset':'%s'}", dataset);
}

static double accuracy(const struct response *r) {
    status_check(r, 200);
    return real_at(r, "/metrics/accuracy");
}

/* A table in which the weights decide the accuracy: rows with the wrong class have the weights
 * `heavy`, the others `light`. */
static const char *weighted(const char *heavy, const char *light) {
    const char *rows = "x;w;y\n";
    for (int i = 0; i < 40; i++) {
        const bool wrong = i % 10 == 0;
        rows = text("%s%d;%s;%s\n", rows, i < 20 ? -i - 1 : i, wrong ? heavy : light,
                    (i < 20) != wrong ? "a" : "b");
    }
    return rows;
}

static void check_weights(const char *name, const char *query, const char *rows) {
    status_check(call_upload(text("/v1/datasets/%s?%s", name, query), rows), 201);
    job_train("{'model':'%s','dataset':'%s','target':'y','weight':'w','algorithm':'logistic',"
              "'params':{'init':[1,0],'max_iterations':0}}",
              name, name);
    const char *path = text("/v1/models/%s/evaluate", name);
    const double expected = accuracy(stored(path, name));
    const struct response *r = csv(path, rows);
    assert_close(accuracy(r), expected, 1e-12);
    assert_string_equal(string_at(r, "/weight"), "w");
    assert_true(expected < 0.8); /* it would be 0.9 with equal weights */
}

static void test_weights_with_marks(void **state) {
    (void)state;
    check_weights("grouped", "decimal=,&thousands=.", weighted("1.500", "500"));
    check_weights("commas", "", weighted("1,5", "0,5"));
    check_weights("given", "decimal=,", weighted("3", "1"));
}

/* Marks of a call replace those of the training table: a point is never both. */
static void test_marks_of_a_call(void **state) {
    (void)state;
    const char *rows = "x;z;y\n";
    for (int i = 0; i < 30; i++) {
        rows = text("%s%d.%03d;%d;%s\n", rows, i + 1, i * 37 % 1000, i % 7, i < 15 ? "n" : "p");
    }
    status_check(call_upload("/v1/datasets/thousands?decimal=,&thousands=.", rows), 201);
    job_train("{'model':'thousands','dataset':'thousands','target':'y','algorithm':'logistic',"
              "'features':{'include':['x','z']}}");
    const double as_json =
        real_at(call_json("POST", "/v1/models/thousands/predict", "{'instances':[[14.5,2]]}"),
                "/predictions/0/probabilities/0");
    assert_close(real_at(csv("/v1/models/thousands/predict?decimal=.", "x;z\n14.500;2\n"),
                         "/predictions/0/probabilities/0"),
                 as_json, 1e-12);
    const double grouped = real_at(csv("/v1/models/thousands/predict", "x;z\n14.500;2\n"),
                                   "/predictions/0/probabilities/0");
    assert_close(real_at(call_json("POST", "/v1/models/thousands/predict",
                                   "{'instances':[[14500,2]]}"),
                         "/predictions/0/probabilities/0"),
                 grouped, 1e-12);
    assert_true(fabs(grouped - as_json) > 0.01);
}

/* -999 is missing in the training table, and so in each form of rows that predict. */
static void test_missing_numbers(void **state) {
    (void)state;
    const char *rows = "x,z,y\n";
    for (int i = 0; i < 40; i++) {
        rows = text("%s%d,%d,%s\n", rows, i % 8 == 7 ? -999 : i, i * 3 % 11, i < 20 ? "n" : "p");
    }
    status_check(call_upload("/v1/datasets/train?missing=-999", rows), 201);
    status_check(call_upload("/v1/datasets/new", rows), 201);
    job_train("{'model':'m','dataset':'train','target':'y','algorithm':'logistic'}");
    const struct response *a = csv("/v1/models/m/predict", rows);
    status_check(a, 200);
    const struct request q = {.method = "POST",
                              .path = "/v1/models/m/predict",
                              .headers = HEADERS("Content-Type: application/json",
                                                 "Accept: application/json"),
                              .body = "{\"dataset\":\"new\"}"};
    const struct response *b = status_check(call(&q), 200);
    for (int i = 0; i < 40; i++) {
        const char *at = text("/predictions/%d/probabilities/0", i);
        assert_close(real_at(b, at), real_at(a, at), 1e-12);
    }
}

/* A header whose names differ from the columns in case is not a row. */
static void test_header_in_another_case(void **state) {
    (void)state;
    status_check(call_upload("/v1/datasets/words",
                             "region,colour,sold\nN,red,yes\nS,blue,no\nN,blue,yes\nS,red,no\n"
                             "N,red,no\nS,blue,yes\n"),
                 201);
    job_train("{'model':'words','dataset':'words','target':'sold','algorithm':'naive_bayes',"
              "'features':{'include':['region','colour']}}");
    const struct response *r = csv("/v1/datasets/words/rows", "Colour,Region,Sold\nred,S,no\n");
    problem_check(r, 422, "invalid-dataset");
    assert_non_null(strstr(r->body, "did you mean \\\"colour\\\"?"));
    r = csv("/v1/models/words/predict", "Colour,Region\nblue,S\n");
    problem_check(r, 422, "invalid-instances");
    assert_non_null(strstr(r->body, "\\\"colour\\\""));
    status_check(csv("/v1/models/words/predict", "colour,region\nblue,S\n"), 200);
}

/* Suggestions are not computed for all of many faults. */
static void test_many_unknown_names(void **state) {
    (void)state;
    const char *prefix = repeat("a", 45), *names = "", *columns = "";
    for (int i = 0; i < 400; i++) {
        columns = text("%s%s%s%d", columns, i > 0 ? "," : "", prefix, i);
        names = text("%s%s'%sqqq%d'", names, i > 0 ? "," : "", prefix, i);
    }
    status_check(call_upload("/v1/datasets/wide", text("%s,y\n%sx\n%sz\n", columns,
                                                       repeat("1,", 400), repeat("2,", 400))),
                 201);
    const struct response *r =
        call_json("POST", "/v1/jobs",
                  "{'model':'w','dataset':'wide','target':'y','algorithm':'logistic',"
                  "'features':{'include':[%s]}}",
                  names);
    problem_check(r, 422, "invalid");
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_weights_with_marks), TEST(test_marks_of_a_call),
                                       TEST(test_missing_numbers),
                                       TEST(test_header_in_another_case),
                                       TEST(test_many_unknown_names)};
    return RUN(tests);
}
