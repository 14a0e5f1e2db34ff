/* Predictions and coordinates of the rows of a stored dataset: {"dataset":"rows@1"}. */
#include "lib/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows with a missing value, a category that training did not see, and quotes. */
static const char *const rows = "id,length,sex,note,old\n"
                                "7,3,m,red sun,true\n8,4.5,f,\"a, b\",false\n9,,x,,true\n"
                                "10,2,m,\"say \"\"red\"\"\",false\n";

static const struct response *ask(const char *path, const char *accept, const char *json) {
    const char *const headers[] = {"Content-Type: application/json", text("Accept: %s", accept),
                                   NULL};
    const char *body = quoted("%s", json);
    return call_bytes("POST", path, headers, body, strlen(body));
}

static const struct response *send_rows(const char *path, const char *accept, const char *csv) {
    const char *const headers[] = {"Content-Type: text/csv", text("Accept: %s", accept), NULL};
    return call_bytes("POST", path, headers, csv, strlen(csv));
}

static int prepare(void **state) {
    if (group_start(state) != 0) {
        return -1;
    }
    const char *table = "id,length,sex,note,old,class\n";
    for (int i = 0; i < 60; i++) {
        table = text("%s%d,%d,%s,%s,%s,%s\n", table, i, i * 7 % 11, i % 3 ? "f" : "m",
                     i % 2 ? "red sun" : "blue sea", i % 5 ? "true" : "false",
                     i * 7 % 11 + i % 3 > 5 ? "a" : "b");
    }
    status_check(call_upload("/v1/datasets/train?types=note:text,old:boolean,sex:categorical",
                             table),
                 201);
    status_check(call_upload("/v1/datasets/rows", rows), 201);
    job_train("{'model':'m','dataset':'train','target':'class','algorithm':'logistic',"
              "'features':{'include':['length','sex','note','old']}}");
    job_train("{'model':'f','dataset':'train','target':'class','algorithm':'fisher',"
              "'features':{'include':['length','sex']}}");
    keep_free();
    return 0;
}

/* The lines of an answer without the last cell of each: the problem of a row, which is empty. */
static const char *without_errors(const char *body) {
    char *out = keep(strdup(body), free), *to = out;
    while (*body != '\0') {
        const size_t n = strcspn(body, "\n"), tail = to == out ? 6 : 1; /* ",error", "," */
        assert_true(n >= tail && body[n - tail] == ',');
        memcpy(to, body, n - tail);
        to += n - tail;
        *to++ = '\n';
        body += n + 1;
    }
    *to = '\0';
    return out;
}

static void test_formats(void **state) {
    (void)state;
    const char *path = "/v1/models/m/predict?output=label,probabilities&keep=id,sex";
    const struct response *body = send_rows(path, "text/csv", rows),
                          *r = ask(path, "text/csv", "{'dataset':'rows'}");
    status_check(body, 200);
    status_check(r, 200);
    assert_string_equal(header_of(r, "Discern-Rows"), "4");
    assert_string_equal(header_of(r, "Discern-Unseen"), "1");
    assert_null(header_of(r, "Content-Length"));
    assert_true(strncmp(r->body, "id,sex,label,p(a),p(b),error\n7,m,", 33) == 0);
    assert_string_equal(without_errors(r->body), body->body);
    /* NDJSON is the default */
    r = ask(path, "*/*", "{ 'dataset' : 'rows@1' }");
    assert_string_equal(header_of(r, "Content-Type"), "application/x-ndjson");
    body =
        send_rows("/v1/models/m/predict?output=label,probabilities", "application/x-ndjson", rows);
    assert_true(strncmp(r->body, quoted("{'keep':{'id':7,'sex':'m'},'label':"), 35) == 0);
    r = ask("/v1/models/m/predict", "application/x-ndjson", "{'dataset':'rows'}");
    assert_string_equal(r->body, body->body);
    assert_string_equal(header_of(r, "Discern-Ignored"), "1");
    r = ask(path, "application/json", "{'dataset':'rows'}");
    status_check(r, 200);
    assert_int_equal(count_at(r, "/predictions"), 4);
    assert_json(r, "/predictions/2/keep", "{'id':9,'sex':'x'}");
    assert_json(r, "/unseen", "[{'column':'sex','value':'x','rows':1}]");
    r = ask("/v1/models/m/versions/1/predict?keep=note", "text/tab-separated-values",
            "{'dataset':'rows'}");
    status_check(r, 200);
    assert_non_null(strstr(r->body, "\n\"say \"\"red\"\"\"\t"));
    r = ask("/v1/models/m/predict?keep=id&decision=scores&output=label,scores,contributions&top=1",
            "text/csv", "{'dataset':'rows'}");
    status_check(r, 200);
}

/* Kept cells come back as they were written, also those of inputs. */
static void test_keeps_spellings(void **state) {
    (void)state;
    static const char *const cells =
        "zip,length,ok,sex,note\n00123,3.50,TRUE,m,x\n+7,1e1,false,f,y\n"
        "12345678901234567890,-0,True,m,z\n0.5,2,,f,z\n";
    status_check(call_upload("/v1/datasets/spelled?types=zip:numeric,ok:boolean", cells), 201);
    const struct response *r = ask("/v1/models/f/predict?keep=zip,length,ok&output=label",
                                   "text/csv", "{'dataset':'spelled'}");
    const char *const lines[] = {"zip,length,ok,label,error", "\n00123,3.50,TRUE,",
                                 "\n+7,1e1,false,", "\n12345678901234567890,-0,True,", "\n0.5,2,,"};
    for (size_t i = 0; i < 5; i++) {
        assert_non_null(strstr(status_check(r, 200)->body, lines[i]));
    }
    r = ask("/v1/models/f/transform?keep=zip,length,ok", "application/json",
            "{'dataset':'spelled'}");
    const char *const kept[] = {"{'keep':{'zip':'00123','length':3.50,'ok':'TRUE'},",
                                "{'keep':{'zip':'+7','length':1e1,'ok':false},",
                                "{'keep':{'zip':12345678901234567890,'length':-0,'ok':'True'},",
                                "{'keep':{'zip':0.5,'length':2,'ok':null},"};
    for (size_t i = 0; i < 4; i++) {
        assert_non_null(strstr(status_check(r, 200)->body, quoted("%s", kept[i])));
    }
    /* a number that is an input is read as one */
    r = ask("/v1/models/f/predict?output=label", "text/csv", "{'dataset':'spelled'}");
    const char *with =
        ask("/v1/models/f/predict?keep=length&output=label", "text/csv", "{'dataset':'spelled'}")
            ->body;
    for (const char *a = strchr(r->body, '\n'), *b = strchr(with, '\n'); a != NULL && a[1] != '\0';
         a = strchr(a + 1, '\n'), b = strchr(b + 1, '\n')) {
        const char *label = strchr(b, ',') + 1;
        assert_memory_equal(a + 1, label, strcspn(label, "\n"));
    }
}

static void test_transform(void **state) {
    (void)state;
    const struct response *body = send_rows("/v1/models/f/transform?keep=id", "text/csv", rows),
                          *r = ask("/v1/models/f/transform?keep=id", "text/csv",
                                   "{'dataset':'rows'}");
    status_check(r, 200);
    assert_string_equal(without_errors(r->body), body->body);
    r = ask("/v1/models/f/transform?of=scores", "*/*", "{'dataset':'rows'}");
    status_check(r, 200);
    body = send_rows("/v1/models/f/transform?of=scores", "application/x-ndjson", rows);
    assert_string_equal(r->body, body->body);
    problem_check(ask("/v1/models/m/transform", "*/*", "{'dataset':'rows'}"), 409, "conflict");
}

/* A column may have another type than in training: categories that look like numbers, or numbers of
 * which one is a text. */
static void test_types(void **state) {
    (void)state;
    status_check(call_upload("/v1/datasets/codes?types=race:categorical",
                             "race,size,y\n007,1,a\n8,2,b\n007,3,a\n8,1,b\n10,5,a\n"),
                 201);
    job_train("{'model':'codes','dataset':'codes','target':'y','algorithm':'logistic'}");
    status_check(call_upload("/v1/datasets/new", "size,race\n1,007\n2,8\n3,7\n"), 201);
    const struct response *r = ask("/v1/models/codes/predict", "*/*", "{'dataset':'new'}"),
                          *body = send_rows("/v1/models/codes/predict", "application/x-ndjson",
                                            "size,race\n1,007\n2,8\n3,7\n");
    assert_string_equal(r->body, body->body);
    assert_string_equal(header_of(r, "Discern-Unseen"), "1"); /* 7 is not 007 */
    status_check(call_upload("/v1/datasets/new", "race,size\n8,1\n8,n.a.\n8,3\n"), 200);
    r = ask("/v1/models/codes/predict?output=label&keep=size", "text/csv", "{'dataset':'new'}");
    status_check(r, 200);
    assert_true(strncmp(r->body,
                        "size,label,error\n1,b,\n,,\"line 2: column \"\"size\"\": must be a "
                        "finite number (got \"\"n.a.\"\")",
                        70) == 0);
    assert_non_null(strstr(r->body, "\n3,b,\n"));
    /* evaluate reads the categories as they are written, too */
    status_check(call_upload("/v1/datasets/new", "race,size,y\n007,1,a\n8,2,b\n"), 200);
    r = call_post("/v1/models/codes/evaluate", "{'dataset':'new'}");
    status_check(r, 200);
    assert_true(real_at(r, "/metrics/accuracy") == 1);
    assert_false(has(r, "/unseen"));
}

/* evaluate reads the cells of a dataset as those of a body: a boolean may be 0 or 1. */
static void test_evaluated_types(void **state) {
    (void)state;
    const char *table = "id,length,sex,note,old,class\n7,3,m,red sun,1,a\n8,4.5,f,sea,0,b\n";
    status_check(call_upload("/v1/datasets/digits", table), 201);
    const struct response *stored = call_post("/v1/models/m/evaluate", "{'dataset':'digits'}"),
                          *body = send_rows("/v1/models/m/evaluate", "application/json", table);
    status_check(stored, 200);
    assert_near(real_at(stored, "/metrics/log_loss"), real_at(body, "/metrics/log_loss"), 1e-12);
    status_check(call_upload("/v1/datasets/digits", "length,sex,note,old,class\n1,m,x,1,a\n"
                                                    "1,m,x,2,b\n"),
                 200);
    stored =
        problem_check(call_post("/v1/models/m/evaluate", "{'dataset':'digits'}"), 422, "invalid");
    assert_non_null(strstr(stored->body, "column \\\"old\\\", row 2 (counted from 1): 2 is not"));
}

/* More rows than a chunk has, in order. */
static void test_many_rows(void **state) {
    (void)state;
    enum { N = 400000 };
    char *csv = malloc((size_t)N * 32 + 64), *end = csv;
    assert_non_null(csv);
    end += sprintf(end, "id,length,sex\n");
    for (int i = 0; i < N; i++) {
        end += sprintf(end, "k%d,%d,%s\n", i, i % 11, i % 2 ? "f" : "m");
    }
    status_check(call_upload("/v1/datasets/many", csv), 201);
    free(csv);
    const struct response *r =
        ask("/v1/models/f/predict?output=label&keep=id", "text/csv", "{'dataset':'many'}");
    status_check(r, 200);
    const char *at = strchr(r->body, '\n');
    for (int i = 0; i < N; i++) {
        char expected[16];
        const int n = sprintf(expected, "\nk%d,", i);
        if (strncmp(at, expected, (size_t)n) != 0) {
            fail_msg("row %d: %.40s", i, at);
        }
        at = strchr(at + 1, '\n');
    }
    assert_string_equal(at, "\n");
    /* a client that leaves ends the answer */
    const char *request = quoted("{'dataset':'many'}");
    for (int i = 0; i < 3; i++) {
        (void)call(&(struct request){.method = "POST",
                                     .path = "/v1/models/f/predict?output=label,scores",
                                     .headers = HEADERS("Content-Type: application/json"),
                                     .body = request,
                                     .until = "label"});
    }
    /* the dataset is no longer in use then */
    double from = now();
    while (call_delete("/v1/datasets/many")->status != 204 && now() < from + 30) {
        pause_ms(50);
    }
    status_check(call_get("/v1/datasets/many"), 404);
}

static void test_sparse(void **state) {
    (void)state;
    const char *lines = "a 1:2 3:1\nb 2:1\na 1:3\nb 2:2 3:1\n";
    status_check(call_upload_bytes("/v1/datasets/sparse", lines, 0,
                                   "Content-Type: text/x-svmlight"),
                 201);
    job_train("{'model':'s','dataset':'sparse','target':'label','algorithm':'logistic'}");
    const char *const headers[] = {"Content-Type: text/x-svmlight", "Accept: application/x-ndjson",
                                   NULL};
    const struct response *body = call_bytes("POST", "/v1/models/s/predict", headers, lines, 0),
                          *r = ask("/v1/models/s/predict", "*/*", "{'dataset':'sparse'}");
    status_check(r, 200);
    assert_string_equal(r->body, body->body);
    r = ask("/v1/models/s/predict?keep=label", "text/csv", "{'dataset':'sparse'}");
    assert_true(strncmp(r->body, "label,label,", 12) == 0);
    problem_check(ask("/v1/models/s/predict?keep=f", "*/*", "{'dataset':'sparse'}"), 422, NULL);
    problem_check(ask("/v1/models/s/predict", "*/*", "{'dataset':'rows'}"), 422, NULL);
}

static void test_refused(void **state) {
    (void)state;
    const char *path = "/v1/models/m/predict";
    const struct response *r;
    r = problem_check(ask(path, "*/*", "{'dataset':'none'}"), 422, "invalid");
    fault_check(r, "/dataset");
    problem_check(ask(path, "*/*", "{'dataset':'rows@9'}"), 422, "invalid");
    problem_check(ask(path, "*/*", "{'dataset':'ro ws'}"), 422, "invalid");
    problem_check(ask(path, "*/*", "{'dataset':7}"), 422, "invalid");
    problem_check(ask(path, "*/*", "{'dataset':'rows','target':'x'}"), 422, "invalid");
    problem_check(ask(path, "*/*", "{'dataset':'rows'"), 400, "bad-json");
    problem_check(ask("/v1/models/none/predict", "*/*", "{'dataset':'rows'}"), 404,
                  "unknown-model");
    problem_check(ask("/v1/models/m/predict?keep=nte", "*/*", "{'dataset':'rows'}"), 422,
                  "invalid-instances");
    r = ask("/v1/models/m/predict?keep=nte", "*/*", "{'dataset':'rows'}");
    assert_non_null(strstr(r->body, "did you mean \\\"note\\\"?"));
    problem_check(ask("/v1/models/m/predict?extra=error", "*/*", "{'dataset':'rows'}"), 422,
                  "invalid-instances");
    status_check(ask("/v1/models/m/predict?extra=error&keep=id", "*/*", "{'dataset':'rows'}"), 200);
    problem_check(ask("/v1/models/m/predict?output=prior", "*/*", "{'dataset':'rows'}"), 409,
                  "conflict");
    problem_check(ask(path, "image/png", "{'dataset':'rows'}"), 406, "not-acceptable");
    status_check(call_upload("/v1/datasets/lacking", "lenght,sex,note,old\n1,f,x,true\n"), 201);
    r = problem_check(ask(path, "*/*", "{'dataset':'lacking'}"), 422, "invalid-instances");
    assert_non_null(strstr(r->body, "\\\"length\\\" is missing"));
    /* a column of that name is not a dataset */
    problem_check(ask(path, "*/*", "{'instances':[{'dataset':'rows'}]}"), 422, "invalid-instances");
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_keeps_spellings), TEST(test_formats),
                                       TEST(test_transform),       TEST(test_types),
                                       TEST(test_evaluated_types), TEST(test_many_rows),
                                       TEST(test_sparse),          TEST(test_refused)};
    return cmocka_run_group_tests(tests, prepare, group_end);
}
