/* Categories in rows that predict: numbers compared by value, blanks around cells, categories that
 * training did not see. */
#include "lib/api.h"

#include <stdlib.h>
#include <string.h>

static int prepare(void **state) {
    if (group_start(state) != 0) {
        return -1;
    }
    const char *csv = "race,code,sex,y\n";
    for (int i = 0; i < 60; i++) {
        csv = text("%s %d, 0%d, %s , %s\n", csv, 1 + i % 3, 1 + i / 2 % 3,
                   i / 6 % 2 ? "Male" : "Female", i % 3 == 1 || i % 7 == 0 ? "yes" : "no");
    }
    status_check(call_upload("/v1/datasets/people?types=race:categorical,code:categorical", csv),
                 201);
    job_train("{'model':'people','dataset':'people','target':'y','algorithm':'logistic'}");
    job_train("{'model':'strict','dataset':'people','target':'y','algorithm':'logistic',"
              "'features':{'categorical':{'unseen':'error'}}}");
    keep_free();
    return 0;
}

static const struct response *predict(const char *type, const char *accept, const char *body) {
    return call_typed("/v1/models/people/predict", type, accept, body);
}

static const struct response *one(const char *race, const char *code, const char *sex) {
    const struct response *r =
        call_text("POST", "/v1/models/people/predict", NULL,
                  text("{\"instances\":[{\"race\":%s,\"code\":%s,\"sex\":%s}]}", race, code, sex));
    status_check(r, 200);
    return r;
}

static double probability(const struct response *r) {
    return real_at(r, "/predictions/0/probabilities/0");
}

/* Blanks around cells without quotes are not part of the value; blanks within quotes, and around
 * the cells of a column declared text, are. */
static void test_blanks_in_tables(void **state) {
    (void)state;
    const struct response *r = call_get("/v1/datasets/people/rows?limit=1");
    assert_string_equal(string_at(r, "/items/0/sex"), "Female");
    assert_string_equal(string_at(r, "/items/0/race"), "1");
    assert_string_equal(string_at(r, "/items/0/code"), "01");
    assert_true(json_is_true(value_at(call_get("/v1/datasets/people"), "/notes/trimmed")));
    status_check(call_upload("/v1/datasets/blanks?types=words:text",
                             "a,words,q\n one , two words ,\" three \"\nx,y,z\n"),
                 201);
    r = call_get("/v1/datasets/blanks/rows");
    assert_string_equal(string_at(r, "/items/0/a"), "one");
    assert_string_equal(string_at(r, "/items/0/words"), " two words ");
    assert_string_equal(string_at(r, "/items/0/q"), " three ");
}

/* All categories of race are plain numbers, those of code have leading zeros. */
static void test_numbers(void **state) {
    (void)state;
    static const char *const same[] = {"3", "3.0", "3e0", "\"3\"", "\" 3\"", "\"3.00\""};
    const double p = probability(one("\"3\"", "\"01\"", "\"Male\""));
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        const struct response *r = one(same[i], "\"01\"", "\"Male\"");
        assert_true(probability(r) == p);
        assert_null(json_find(r->json, "/unseen"));
        assert_null(header_of(r, "Discern-Unseen"));
    }
    const struct response *r = one("3", "1", "\"Male\"");
    assert_int_equal(count_at(r, "/unseen"), 1);
    assert_string_equal(string_at(r, "/unseen/0/column"), "code");
    assert_string_equal(string_at(r, "/unseen/0/value"), "1");
    r = one("\"3x\"", "\"01\"", "\"Male\"");
    assert_string_equal(string_at(r, "/unseen/0/value"), "3x");
}

static void test_cells(void **state) {
    (void)state;
    static const char *const rows = "race,code,sex\n3, 01,Male\n 3.0 ,01 , Male\n9,01,\"Male \"\n9,"
                                    "01,Male\n";
    const struct response *r = predict("text/csv", "application/json", rows);
    status_check(r, 200);
    assert_true(real_at(r, "/predictions/0/probabilities/0") ==
                real_at(r, "/predictions/1/probabilities/0"));
    assert_string_equal(header_of(r, "Discern-Unseen"), "3");
    assert_int_equal(count_at(r, "/unseen"), 2);
    assert_string_equal(string_at(r, "/unseen/0/column"), "race");
    assert_string_equal(string_at(r, "/unseen/0/value"), "9");
    assert_int_equal(real_at(r, "/unseen/0/rows"), 2);
    assert_string_equal(string_at(r, "/unseen/1/value"), "Male ");
    r = predict("text/csv", "text/csv", rows);
    status_check(r, 200);
    assert_string_equal(header_of(r, "Discern-Unseen"), "3");
    r = call_get("/v1/models/people/predict?race=7&code=01&sex=Male");
    assert_string_equal(header_of(r, "Discern-Unseen"), "1");
    assert_string_equal(string_at(r, "/unseen/0/value"), "7");
}

/* A refused line does not count; a row counts once for each column. */
static void test_lines(void **state) {
    (void)state;
    const struct response *r = predict("application/x-ndjson", "application/x-ndjson",
                                       "{\"race\":9,\"code\":\"01\",\"sex\":\"Male\"}\n"
                                       "{\"race\":9,\"code\":\"01\",\"sex\":[1]}\n"
                                       "{\"race\":8,\"code\":\"9\",\"sex\":\"Male\"}\n");
    status_check(r, 200);
    assert_string_equal(header_of(r, "Discern-Refused"), "1");
    assert_string_equal(header_of(r, "Discern-Unseen"), "3");
}

static void test_more_than_are_listed(void **state) {
    (void)state;
    const char *rows = "race,code,sex\n";
    for (int i = 0; i < 1500; i++) { /* more than one block */
        rows = text("%s%d,01,Male\n", rows, 4 + i % 30);
    }
    const struct response *r = predict("text/csv", "application/json", rows);
    status_check(r, 200);
    assert_string_equal(header_of(r, "Discern-Unseen"), "1500");
    assert_int_equal(count_at(r, "/unseen"), 20);
    assert_int_equal(real_at(r, "/unseen/19/rows"), 50);
}

/* Categories that begin alike are counted apart. Categories of refused lines take no places. */
static void test_long_categories(void **state) {
    (void)state;
    char same[121];
    memset(same, 'c', 120);
    same[120] = '\0';
    const struct response *r =
        predict("text/csv", "application/json",
                text("race,code,sex\n1,%sa,Male\n1,%sb,Male\n1,%sb,Male\n", same, same, same));
    status_check(r, 200);
    assert_int_equal(count_at(r, "/unseen"), 2);
    assert_int_equal(real_at(r, "/unseen/0/rows"), 1);
    assert_int_equal(real_at(r, "/unseen/1/rows"), 2);
}

/* The rows of an evaluation; a label without quotes may have blanks around it. */
static void test_evaluation(void **state) {
    (void)state;
    const struct response *r =
        call_typed("/v1/models/people/evaluate", "text/csv", "application/json",
                   "race,code,sex,y\n1.0,01,Male, yes\n7, 01,Male,no\n2,01, Female ,yes \n");
    status_check(r, 200);
    assert_int_equal(real_at(r, "/rows"), 3);
    assert_string_equal(header_of(r, "Discern-Unseen"), "1");
    assert_string_equal(string_at(r, "/unseen/0/column"), "race");
}

/* Importances are computed on the rows that were read: what they lack is reported. */
static void test_importance(void **state) {
    (void)state;
    status_check(call_upload("/v1/datasets/strange?types=race:categorical,code:categorical",
                             "race,code,sex,y\nx,01,Male,yes\n1,02,Male,no\n2,02,Male,\n"),
                 201);
    const struct response *r =
        call_post("/v1/models/people/importance", "%s", "{'dataset':'strange','repeats':1}");
    status_check(r, 200);
    assert_string_equal(header_of(r, "Discern-Unseen"), "1");
    assert_string_equal(string_at(r, "/unseen/0/value"), "x");
    assert_string_equal(string_at(r, "/warnings/0"),
                        "1 of 3 rows have no value of the target \"y\" and were left out");
    r = call_post("/v1/models/people/evaluate", "%s", "{'dataset':'strange'}");
    assert_string_equal(string_at(r, "/warnings/0"),
                        "1 of 3 rows have no value of the target \"y\" and were left out");
    r = call_typed("/v1/models/people/evaluate", "text/csv", "application/json",
                   "race,code,sex,y\n1,01,Male,\n1,02,Male,no\n");
    status_check(r, 200);
    assert_string_equal(string_at(r, "/warnings/0"),
                        "1 of 2 rows have no value of the target \"y\" and were left out");
}

/* `features.unseen` is `features.categorical.unseen`. */
static const struct response *plan_unseen(const char *features) {
    return call_post("/v1/jobs?dry_run=true", "%s",
                     text("{'model':'short','dataset':'people','target':'y',"
                          "'algorithm':'logistic','features':{%s}}",
                          features));
}

static void test_short_name(void **state) {
    (void)state;
    const struct response *r = plan_unseen("'unseen':'error'");
    status_check(r, 200);
    assert_string_equal(string_at(r, "/features/categorical/unseen"), "error");
    status_check(plan_unseen("'unseen':'zero'"), 200);
    problem_check(plan_unseen("'unseen':'eror'"), 422, "invalid");
    problem_check(plan_unseen("'unseen':'zero','categorical':{'unseen':'error'}"), 422, "invalid");
}

static void test_refused(void **state) {
    (void)state;
    const struct response *r =
        call_text("POST", "/v1/models/strict/predict", NULL,
                  quoted("{'instances':[{'race':3.0,'code':'01','sex':'Male'},"
                         "{'race':9,'code':'01','sex':'Male'}]}"));
    problem_check(r, 422, "invalid-instances");
    assert_non_null(strstr(r->body, "\"/instances/1/race\""));
    assert_null(strstr(r->body, "/instances/0"));
    r = call_post("/v1/models/strict/evaluate", "%s", "{'dataset':'strange'}");
    problem_check(r, 422, "invalid");
    assert_non_null(strstr(r->body, "row 1 (counted from 1): column \\\"race\\\" is \\\"x\\\""));
    /* booleans of a grid have the spellings of tables */
    status_check(call_upload("/v1/datasets/yes", "a,b,y\n1,true,p\n4,FALSE,q\n2,True,p\n"), 201);
    job_train("{'model':'yes','dataset':'yes','target':'y','algorithm':'logistic'}");
    r = call_post("/v1/models/yes/evaluate_grid", "%s", "{'x':{'column':'a'},'at':{'b':'TRUE'}}");
    status_check(r, 200);
    assert_true(json_is_true(value_at(r, "/at/b")));
}

static void test_counters(void **state) {
    (void)state;
    assert_non_null(strstr(call_get("/metrics")->body,
                           "discern_unseen_values_total{model=\"people\",column=\"code\"}"));
}

/* Blanks within quotes are part of a category. Blanks around a cell without quotes are not, in a
 * body and in a stored dataset alike. */
static void test_blanks_as_in_a_stored_dataset(void **state) {
    (void)state;
    const char *csv = "c,y\n";
    for (int i = 0; i < 20; i++) {
        csv = text("%sred,p\n\" red\",n\n red,p\n", csv);
    }
    status_check(call_upload("/v1/datasets/reds", csv), 201);
    job_train("{'model':'reds','dataset':'reds','target':'y','algorithm':'logistic'}");
    const struct response *r = status_check(call_typed("/v1/models/reds/predict", "text/csv",
                                                       "application/json", "c\n red\n\" red\"\n"),
                                            200);
    assert_string_equal(string_at(r, "/predictions/0/label"), "p");
    assert_string_equal(string_at(r, "/predictions/1/label"), "n");
    assert_null(json_find(r->json, "/unseen"));
    const char *csv_classes = "x,y\n";
    for (int i = 0; i < 10; i++) {
        csv_classes = text("%s1.%d,a\n2.%d,\"a \"\n", csv_classes, i, i);
    }
    status_check(call_upload("/v1/datasets/classes", csv_classes), 201);
    job_train("{'model':'classes','dataset':'classes','target':'y','algorithm':'logistic'}");
    r = status_check(call_typed("/v1/models/classes/evaluate", "text/csv", "application/json",
                                "x,y\n1.1,a \n2.2,\"a \"\n"),
                     200);
    assert_true(real_at(r, "/metrics/accuracy") == 1);
}

/* A token for missing values of the training table is no category of a stored dataset. */
static void test_missing_words_of_the_training_table(void **state) {
    (void)state;
    const char *csv = "c,y\n";
    for (int i = 0; i < 10; i++) {
        csv = text("%sa,p\nb,q\n-,p\n", csv);
    }
    status_check(call_upload("/v1/datasets/dashes?missing=-", csv), 201);
    job_train("{'model':'dashes','dataset':'dashes','target':'y','algorithm':'logistic'}");
    status_check(call_upload("/v1/datasets/plain-dashes", "c\na\n-\nx\n-\n"), 201);
    const struct response *r =
        status_check(call_post("/v1/models/dashes/predict", "%s", "{'dataset':'plain-dashes'}"),
                     200);
    assert_string_equal(header_of(r, "Discern-Unseen"), "1");
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_blanks_in_tables),
                                       TEST(test_numbers),
                                       TEST(test_cells),
                                       TEST(test_lines),
                                       TEST(test_more_than_are_listed),
                                       TEST(test_long_categories),
                                       TEST(test_evaluation),
                                       TEST(test_importance),
                                       TEST(test_short_name),
                                       TEST(test_refused),
                                       TEST(test_blanks_as_in_a_stored_dataset),
                                       TEST(test_missing_words_of_the_training_table),
                                       TEST(test_counters)};
    return cmocka_run_group_tests(tests, prepare, group_end);
}
