/* The reading of a training table (missing words, comment character, delimiter) goes with the
 * model: rows of predictions are read in the same way. */
#include "lib/api.h"

#include <string.h>

/* a: categories with commas and missing cells; b, c: numbers with missing cells, written as - and
 * -9. Lines that begin with * are comments. */
static int prepare(void **state) {
    if (group_start(state) != 0) {
        return -1;
    }
    const char *csv = "*;by hand\na;b;c;y\n";
    for (int i = 0; i < 60; i++) {
        csv = text("%s%s;%s;%d;%s\n", csv,
                   i % 3 == 0   ? "x,y"
                   : i % 3 == 1 ? "z,w"
                                : "-",
                   i % 5 == 0 ? "-" : text("%d", i % 7), i % 4 == 0 ? -9 : i % 11,
                   i % 3 == 1 || i % 7 == 0 ? "yes" : "no");
    }
    status_check(call_upload("/v1/datasets/hand?missing=-,-9&comment=*", csv), 201);
    job_train("{'model':'hand','dataset':'hand','target':'y','algorithm':'logistic'}");
    keep_free();
    return 0;
}

static const struct response *post_to(const char *model, const char *call, const char *type,
                                      const char *body) {
    const char *const headers[] = {text("Content-Type: %s", type), NULL};
    return call_bytes("POST", text("/v1/models/%s/%s", model, call), headers, body, strlen(body));
}

static const struct response *post(const char *call, const char *type, const char *body) {
    return post_to("hand", call, type, body);
}

static const char *predictions_of(const struct response *r) {
    return text("%s", strstr(status_check(r, 200)->body, "\"predictions\""));
}

static void test_predicts_as_it_was_trained(void **state) {
    (void)state;
    static const struct {
        const char *call, *type, *body;
    } same[] = {
        {"predict", "text/csv", "-;3;-9\nx,y;-;4\n"},
        {"predict", "text/csv", "*;x\n*\n - ;3;-9.0\n*;-;-\nx,y;-;4\n"},
        {"predict", "text/csv", "c,b,a\n-9,3,-\n4,-,\"x,y\"\n"},
        {"predict", "text/csv", "c;b;a\n-;3;-\n4;-;x,y\n"},
        {"predict", "application/json", "[[\"-\",3,-9],[\"x,y\",\"-\",4]]"},
        {"predict", "application/json",
         "[{\"a\":\"-\",\"b\":3,\"c\":\"-9\"},{\"a\":\"x,y\",\"b\":-9,\"c\":4}]"},
        {"predict", "text/x-arff",
         "@relation r\n@attribute a string\n@attribute b string\n@attribute c numeric\n@data\n"
         "-,3,-9\n'x,y',-,4\n"},
        {"predict?missing=u&comment=%23", "text/csv", "#\nu;3;u\nx,y;u;4\n"},
        {"predict?missing=u", "application/json", "[[\"u\",3,\"u\"],[\"x,y\",\"u\",4]]"},
        {"versions/1/predict", "text/csv", "-;3;-9\nx,y;-;4\n"},
    };
    const char *expected =
        predictions_of(post("predict", "application/json", "[[null,3,null],[\"x,y\",null,4]]"));
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        /* -9.0 is not the word -9 */
        if (strstr(same[i].body, "-9.0") == NULL) {
            assert_string_equal(predictions_of(post(same[i].call, same[i].type, same[i].body)),
                                expected);
        }
    }
    assert_string_equal(
        predictions_of(post("predict", "text/csv", "*;x\n*\n - ;3;-9.0\n*;-;-\nx,y;-;4\n")),
        predictions_of(post("predict", "application/json", "[[null,3,-9.0],[\"x,y\",null,4]]")));
    const struct response *lines =
        status_check(post("predict", "application/x-ndjson", "[\"-\",3,-9]\n[\"x,y\",\"-\",4]\n"),
                     200);
    const char *end = strchr(lines->body, '\n');
    assert_non_null(strstr(expected, text("%.*s", (int)(end - lines->body), lines->body)));
    assert_non_null(strstr(expected, text("%.*s", (int)strlen(end + 1) - 1, end + 1)));
    /* as the query of a GET */
    assert_near(real_at(call_get("/v1/models/hand/predict?a=-&b=3&c=-9"),
                        "/predictions/0/probabilities/0"),
                real_at(post("predict", "application/json", "[[null,3,null]]"),
                        "/predictions/0/probabilities/0"),
                0);
}

static void test_other_calls(void **state) {
    (void)state;
    const struct response *a =
        status_check(post("evaluate", "text/csv", "*\n-;3;-9;yes\nx,y;-;4;no\nz,w;1;2;-\n"), 200);
    const struct response *b = status_check(post("evaluate", "application/json",
                                                 "[[null,3,null,\"yes\"],[\"x,y\",null,4,\"no\"]]"),
                                            200);
    assert_json(a, "/rows", "2"); /* the third row has no class */
    assert_true(json_equal(value_at(a, "/metrics"), value_at(b, "/metrics")));
    b = status_check(post("evaluate?missing=u&comment=%25", "text/csv",
                          "%%\nu;3;u;yes\nx,y;u;4;no\n"),
                     200);
    assert_true(json_equal(value_at(a, "/metrics"), value_at(b, "/metrics")));
    a = status_check(post("transform?of=scores", "text/csv", "*\n-;3;-9\n"), 200);
    b = status_check(post("transform?of=scores&missing=u", "text/csv", "u;3;u\n"), 200);
    assert_string_equal(a->body, b->body);
    b = status_check(post("transform?of=scores&missing=u", "application/x-ndjson",
                          "[\"u\",3,\"u\"]\n"),
                     200);
    assert_non_null(strstr(a->body, text("%.*s", (int)strlen(b->body) - 1, b->body)));
}

static void test_refusals(void **state) {
    (void)state;
    problem_check(post("predict?missing=u", "text/csv", "u;-;3\n"), 422, "invalid-instances");
    problem_check(post("predict?missing=", "text/csv", "a;b;c\nx,y;-;3\n"), 422,
                  "invalid-instances");
    problem_check(post("predict?missing=%22a", "text/csv", "u;-;3\n"), 400, "bad-request");
    problem_check(post("predict?comment=ab", "text/csv", "u;-;3\n"), 400, "bad-request");
    problem_check(post("evaluate?comment=a", "text/csv", "u;-;3\n"), 400, "bad-request");
    problem_check(post("transform?missing=%22a", "text/csv", "u;-;3\n"), 400, "bad-request");
    problem_check(post("predict?comment=ab", "application/x-ndjson", "[1]\n"), 400, "bad-request");
    /* a model without further words keeps the standard ones */
    status_check(call_upload("/v1/datasets/plain", "a,b,y\n1,2,u\n2,1,v\n3,3,u\n5,1,v\n"), 201);
    job_train("{'model':'plain','dataset':'plain','target':'y','algorithm':'logistic'}");
    const struct response *r = status_check(call_get("/v1/models/plain"), 200);
    assert_json(r, "/reading", "{'delimiter':',','trimmed':true,'columns':['a','b','y']}");
    problem_check(post_to("plain", "predict", "text/csv", "-,3\n"), 422, "invalid-instances");
    status_check(post_to("plain", "predict?missing=-", "text/csv", "-,3\n"), 200);
    assert_json(call_get("/v1/models/hand"), "/reading",
                "{'delimiter':';','comment':'*','missing':['-','-9'],'trimmed':true,"
                "'columns':['a','b','c','y']}");
}

/* An appended row does not change the reading of the table. A model on one input: a body with a
 * header and another delimiter is not read with that of the table. */
static void test_one_input(void **state) {
    (void)state;
    status_check(call_upload("/v1/datasets/one?missing=-", "x;y\n1;u\n2;v\n3;u\n4;v\n"), 201);
    status_check(call_post("/v1/datasets/one/rows?missing=0", "[{'x':5,'y':'u'}]"), 201);
    job_train("{'model':'one','dataset':'one','target':'y','algorithm':'logistic'}");
    assert_json(call_get("/v1/models/one"), "/reading",
                "{'delimiter':';','missing':['-'],'trimmed':true,'columns':['x','y']}");
    const struct response *r =
        status_check(post_to("one", "predict", "text/csv", "id,x\n1,3\n2,-\n"), 200);
    assert_int_equal(count_at(r, "/predictions"), 2);
    assert_json(r, "/ignored_columns", "['id']");
    r = status_check(post_to("one", "predict", "text/csv", "3\n-\n"), 200);
    assert_int_equal(count_at(r, "/predictions"), 2);
}

/* The rows of a stored dataset that was uploaded without the words are read with them. */
static void test_stored_rows(void **state) {
    (void)state;
    static const char *const cells = "a;b;c;y\nx,y;-;4;no\n-;3;-9;yes\nz,w;1;2;-\nz,w;-;-9;no\n";
    status_check(call_upload("/v1/datasets/later", cells), 201);
    const char *const same[] = {"evaluate", "evaluate?missing=u",
                                "evaluate?missing=-,-9&curves=true"};
    const char *const bodies[] = {cells,
                                  "a;b;c;y\nx,y;u;4;no\nu;3;-9;yes\nz,w;1;2;u\nz,w;u;-9;no\n",
                                  cells};
    status_check(call_upload("/v1/datasets/words", bodies[1]), 201);
    const char *const names[] = {"later", "words", "later"};
    for (size_t i = 0; i < 3; i++) {
        const struct response *body = status_check(post(same[i], "text/csv", bodies[i]), 200),
                              *r = status_check(call_post(text("/v1/models/hand/%s", same[i]),
                                                          "{'dataset':'%s'}", names[i]),
                                                200);
        assert_json(r, "/rows", "3"); /* the third row has no class */
        assert_near(real_at(r, "/metrics/log_loss"), real_at(body, "/metrics/log_loss"), 1e-12);
        assert_near(real_at(r, "/metrics/accuracy"), real_at(body, "/metrics/accuracy"), 1e-12);
    }
    const char *expected =
        predictions_of(post("predict?missing=u&output=scores", "text/csv", bodies[1]));
    const char *const headers[] = {"Accept: application/json", "Content-Type: application/json",
                                   NULL};
    const char *reference = "{\"dataset\":\"words\"}";
    const struct response *r = call_bytes("POST", "/v1/models/hand/predict?missing=u&output=scores",
                                          headers, reference, 0);
    assert_non_null(
        strstr(status_check(r, 200)->body, text("%.*s", (int)strcspn(expected, "]"), expected)));
    /* decimal commas of texts */
    status_check(call_upload("/v1/datasets/commas?types=b:text",
                             "a;b;c;y\nx,y;1,5;4;no\nx,y;2,5;4;yes\n"),
                 201);
    problem_check(call_post("/v1/models/hand/evaluate", "{'dataset':'commas'}"), 422, "invalid");
    r = call_post("/v1/models/hand/evaluate?decimal=,", "{'dataset':'commas'}");
    assert_near(real_at(status_check(r, 200), "/metrics/log_loss"),
                real_at(post("evaluate?decimal=,", "text/csv",
                             "a;b;c;y\nx,y;1,5;4;no\nx,y;2,5;4;yes\n"),
                        "/metrics/log_loss"),
                1e-12);
    status_check(call_post("/v1/models/hand/importance", "{'dataset':'later'}"), 200);
    status_check(call_post("/v1/models/hand/transform?of=scores",
                           "{'dataset':'later','histogram':3}"),
                 200);
    problem_check(call_post("/v1/models/hand/transform?of=scores&keep=a",
                            "{'dataset':'later','histogram':3}"),
                  400, "bad-request");
    problem_check(call_post("/v1/models/hand/transform?of=scores&comment=%%25",
                            "{'dataset':'later','histogram':3}"),
                  400, "bad-request");
    /* nothing is ignored silently */
    static const char *const refused[] = {"comment=%25", "encoding=utf-8", "zero_based=true"};
    static const char *const calls[] = {"predict", "evaluate", "transform"};
    for (size_t i = 0; i < 9; i++) {
        const char *call = text("/v1/models/hand/%s?%s", calls[i / 3], refused[i % 3]);
        r = problem_check(call_post(call, "{'dataset':'later'}"), 400, "bad-request");
        assert_non_null(
            strstr(r->body, text("%.*s", (int)strcspn(refused[i % 3], "="), refused[i % 3])));
    }
    status_check(call_upload("/v1/datasets/more", "a;b;c;y;id\nx,y;1;4;no;7\n"), 201);
    assert_json(call_post("/v1/models/hand/evaluate", "{'dataset':'more'}"), "/ignored_columns",
                "['id']");
    r = problem_check(call_post("/v1/models/hand/evaluate?extra=error", "{'dataset':'more'}"), 422,
                      "invalid");
    fault_contains(r, "/dataset", "\"id\"");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_predicts_as_it_was_trained),
        TEST(test_other_calls),
        TEST(test_refusals),
        TEST(test_one_input),
        TEST(test_stored_rows),
    };
    return cmocka_run_group_tests(tests, prepare, group_end);
}
