/* ?keep=: columns of the rows that the answer repeats, in every format of rows and answers. */
#include "lib/api.h"

#include <string.h>

static int prepare(void **state) {
    if (group_start(state) != 0) {
        return -1;
    }
    upload_rows("rows");
    job_train("{'model':'m','dataset':'rows','target':'class','algorithm':'logistic',"
              "'features':{'include':['length','sex']}}");
    job_train("{'model':'f','dataset':'rows','target':'class','algorithm':'fisher',"
              "'features':{'include':['length','sex']}}");
    status_check(call_upload_bytes("/v1/datasets/sparse", "a 1:2 3:1\nb 2:1\na 1:3\nb 2:2 3:1\n", 0,
                                   "Content-Type: text/x-svmlight"),
                 201);
    job_train("{'model':'s','dataset':'sparse','target':'label','algorithm':'logistic'}");
    keep_free();
    return 0;
}

static const struct response *predict(const char *query, const char *json) {
    return call_typed(text("/v1/models/m/predict%s", query), "application/json", "application/json",
                      quoted("%s", json));
}

static void test_json(void **state) {
    (void)state;
    const struct response *r =
        predict("?keep=id,length,sex",
                "{'instances':[{'id':1234567890123456789,'length':3,'sex':'m'},"
                "{'length':4.50,'sex':null,'id':'x\\u00e9\\\"'},{'id':true,'length':1,'sex':'f'},"
                "{'length':1,'sex':'f'}]}");
    status_check(r, 200);
    assert_non_null(
        strstr(r->body, quoted("{'keep':{'id':1234567890123456789,'length':3,'sex':'m'},'label'")));
    assert_non_null(
        strstr(r->body, quoted("{'keep':{'id':'x\u00e9\\\"','length':4.50,'sex':null}")));
    assert_json(r, "/predictions/2/keep", "{'id':true,'length':1,'sex':'f'}");
    assert_json(r, "/predictions/3/keep", "{'id':null,'length':1,'sex':'f'}");
    /* kept columns are not ignored, and ?extra=error does not refuse them */
    assert_false(has(r, "/ignored_columns"));
    assert_null(header_of(r, "Discern-Ignored"));
    const char *one = "{'instances':[{'id':7,'length':3,'sex':'m'}]}";
    status_check(predict("?extra=error&keep=id", one), 200);
    /* the results are those without keep */
    const struct response *without = predict("", one), *with = predict("?keep=sex,length,id", one);
    assert_true(real_at(without, "/predictions/0/probabilities/0") ==
                real_at(with, "/predictions/0/probabilities/0"));
    assert_json(with, "/predictions/0/keep", "{'sex':'m','length':3,'id':7}");
    assert_json(without, "/ignored_columns", "['id']");
    /* arrays have the columns of the model */
    r = predict("?keep=sex", "{'instances':[[3,'m'],[4,'f']]}");
    status_check(r, 200);
    assert_json(r, "/predictions/1/keep", "{'sex':'f'}");
    r = predict("?keep=class,id", "{'columns':['id','length','sex','class'],"
                                  "'rows':[[1,3,'m','a'],[2,3,'m',null]]}");
    status_check(r, 200);
    assert_json(r, "/predictions/0/keep", "{'class':'a','id':1}");
    assert_json(r, "/predictions/1/keep", "{'class':null,'id':2}");
    /* only the outputs that are asked for */
    r = predict("?keep=id&output=label", one);
    assert_json(r, "/predictions/0", "{'keep':{'id':7},'label':'b'}");
}

static void test_cells(void **state) {
    (void)state;
    const char *rows = "id,length,sex,\"a, \"\"b\"\"\"\n007,3,m, x \n\" 8\",4,f,\"p,q\"\n,,f,\n";
    const struct response *r =
        call_typed("/v1/models/m/predict?output=label&keep=id,%22a,%20%22%22b%22%22%22", "text/csv",
                   "text/csv", rows);
    status_check(r, 200);
    assert_string_equal(r->body, "id,\"a, \"\"b\"\"\",label\n007,x,b\n\" 8\",\"p,q\",b\n,,a\n");
    r = call_typed("/v1/models/m/predict?output=label&keep=id", "text/csv", "application/json",
                   rows);
    status_check(r, 200);
    assert_json(r, "/predictions/0/keep", "{'id':'007'}");
    assert_json(r, "/predictions/1/keep", "{'id':' 8'}");
    assert_json(r, "/predictions/2/keep", "{'id':null}");
    /* without a header the cells are those of the model */
    r = call_typed("/v1/models/m/predict?output=label&keep=sex,length", "text/csv", "text/csv",
                   "3,m\n4.0,f\n");
    status_check(r, 200);
    assert_string_equal(r->body, "sex,length,label\nm,3,b\nf,4.0,b\n");
    r = call_typed("/v1/models/m/predict?output=label&keep=id", "text/x-arff",
                   "application/x-ndjson",
                   "@relation r\n@attribute id numeric\n@attribute length numeric\n"
                   "@attribute sex {f,m}\n@data\n7,3,m\n?,3,f\n");
    status_check(r, 200);
    assert_string_equal(r->body, quoted("{'keep':{'id':'7'},'label':'b'}\n"
                                        "{'keep':{'id':null},'label':'b'}\n"));
}

static void test_lines(void **state) {
    (void)state;
    const char *lines = quoted("{'id':1,'length':3,'sex':'m'}\n{'length':3,'sex':'m'}\n"
                               "{'id':[1],'length':3,'sex':'m'}\n[4,'f']\n{'length':'x','id':5}\n");
    const struct response *r = call_typed("/v1/models/m/predict?output=label&keep=id,sex",
                                          "application/x-ndjson", "text/csv", lines);
    status_check(r, 200);
    assert_string_equal(header_of(r, "Discern-Refused"), "2");
    const char *expected = "id,sex,label,error\n1,m,b,\n,m,b,\n,,,\"line 3, column 7: ";
    assert_int_equal(strncmp(r->body, expected, strlen(expected)), 0);
    assert_non_null(strstr(r->body, "to be kept (got an array or an object)"));
    assert_non_null(strstr(r->body, "\n,f,b,\n,,,\"line 5, column "));
    r = call_typed("/v1/models/m/predict?output=label&keep=id", "application/x-ndjson",
                   "application/x-ndjson", lines);
    assert_true(
        strncmp(r->body, quoted("{'keep':{'id':1},'label':'b'}\n{'keep':{'id':null},"), 45) == 0);
    /* more lines than a block has, with long texts */
    const char *long_text = repeat("x", 3000), *body = "";
    body = repeat(quoted("{'id':'%s','length':3,'sex':'m'}\n", long_text), 3000);
    r = call_typed("/v1/models/m/predict?output=label&keep=id", "application/x-ndjson",
                   "application/x-ndjson", body);
    status_check(r, 200);
    assert_string_equal(r->body,
                        repeat(quoted("{'keep':{'id':'%s'},'label':'b'}\n", long_text), 3000));
}

/* Blocks of rows of bodies in memory. */
static void test_many_rows(void **state) {
    (void)state;
    const char *rows = "length,sex,id\n", *expected = "id,label\n";
    char *at = keep(malloc(3000 * 32), free), *to = keep(malloc(3000 * 32), free);
    char *end = at + sprintf(at, "%s", rows), *to_end = to + sprintf(to, "%s", expected);
    for (int i = 0; i < 3000; i++) {
        end += sprintf(end, "3,m,k%d\n", i);
        to_end += sprintf(to_end, "k%d,b\n", i);
    }
    const struct response *r =
        call_typed("/v1/models/m/predict?output=label&keep=id", "text/csv", "text/csv", at);
    status_check(r, 200);
    assert_string_equal(r->body, to);
}

static void test_transform(void **state) {
    (void)state;
    const struct response *r = call_typed("/v1/models/f/transform?keep=id", "text/csv",
                                          "application/json", "id,length,sex\nk,3,m\n");
    status_check(r, 200);
    assert_json(r, "/rows/0/keep", "{'id':'k'}");
    const double z = real_at(r, "/rows/0/z/0");
    r = call_typed("/v1/models/f/transform?keep=id", "application/json", "text/csv",
                   quoted("{'instances':[{'id':'k','length':3,'sex':'m'}]}"));
    status_check(r, 200);
    assert_true(strncmp(r->body, "id,z1\nk,", 8) == 0);
    assert_true(strtod(r->body + 8, NULL) == z);
    r = call_typed("/v1/models/f/transform?keep=id", "application/x-ndjson", "application/x-ndjson",
                   quoted("{'id':'k','length':3,'sex':'m'}\n{'id':'l','length':'?'}\n"));
    status_check(r, 200);
    assert_true(strncmp(r->body, quoted("{'keep':{'id':'k'},'z':["), 23) == 0);
    r = call_typed("/v1/models/f/transform?keep=id", "application/x-ndjson", "text/csv",
                   quoted("{'id':'k','length':3,'sex':'m'}\n{'id':'l','length':'x'}\n"));
    status_check(r, 200);
    assert_non_null(strstr(r->body, "id,z1,error\nk,"));
    assert_non_null(strstr(r->body, "\n,,\"line 2"));
}

static void unknown_check(const struct response *r, const char *suggestion) {
    problem_check(r, 422, "invalid-instances");
    if (strstr(r->body, "query parameter \\\"keep\\\" names") == NULL ||
        strstr(r->body, suggestion) == NULL) {
        answer_fail(r, __FILE__, __LINE__, "lacks the suggestion %s", suggestion);
    }
}

static void test_unknown(void **state) {
    (void)state;
    static const char meant[] = "did you mean \\\"customer\\\"?";
    unknown_check(predict("?keep=custmer", "{'instances':[{'customer':1,'length':3,'sex':'m'}]}"),
                  meant);
    unknown_check(predict("?keep=custmer", "{'columns':['customer','length','sex'],"
                                           "'rows':[[1,3,'m']]}"),
                  meant);
    const struct response *r = call_typed("/v1/models/m/predict?keep=custmer", "text/csv",
                                          "application/json", "customer,length,sex\n1,3,m\n");
    unknown_check(r, meant);
    fault_check(r, "line 1");
    unknown_check(call_typed("/v1/models/m/predict?keep=lenght", "text/csv", "application/json",
                             "3,m\n"),
                  "did you mean \\\"length\\\"?");
    unknown_check(call_typed("/v1/models/m/predict?keep=id", "text/csv", "application/json",
                             "3,m\n"),
                  "");
    unknown_check(predict("?keep=id", "{'instances':[[3,'m']]}"), "");
    unknown_check(call_typed("/v1/models/m/predict?keep=custmer", "application/x-ndjson",
                             "application/x-ndjson",
                             quoted("{'customer':1,'length':3,'sex':'m'}\n")),
                  meant);
    unknown_check(call_typed("/v1/models/m/predict?keep=custmer", "text/x-arff", "application/json",
                             "@relation r\n@attribute customer numeric\n@attribute length numeric\n"
                             "@attribute sex {f,m}\n@data\n7,3,m\n"),
                  meant);
    problem_check(call_typed("/v1/models/s/predict?keep=f1", "text/x-svmlight", "application/json",
                             "1:2\n"),
                  422, "invalid-instances");
}

static void test_sparse(void **state) {
    (void)state;
    const struct response *r =
        call_typed("/v1/models/s/predict?output=label&keep=f1,id,f3", "application/json",
                   "application/json", quoted("{'instances':[{'id':1,'f1':2},{'f2':3,'id':2}]}"));
    unknown_check(r, "\\\"f3\\\"");
    r = call_typed("/v1/models/s/predict?output=label&keep=f1,id", "application/json",
                   "application/json", quoted("{'instances':[{'id':1,'f1':2},{'f2':3,'id':2}]}"));
    status_check(r, 200);
    assert_json(r, "/predictions",
                "[{'keep':{'f1':2,'id':1},'label':'a'},"
                "{'keep':{'f1':null,'id':2},'label':'b'}]");
    r = call_typed("/v1/models/s/predict?output=label&keep=f2", "application/json",
                   "application/json", quoted("{'instances':[[2,0,0],[0,3,0]]}"));
    status_check(r, 200);
    assert_json(r, "/predictions", "[{'keep':{'f2':0},'label':'a'},{'keep':{'f2':3},'label':'b'}]");
}

static void test_refused(void **state) {
    (void)state;
    const char *one = "{'instances':[{'id':7,'length':3,'sex':'m'}]}";
    static const char *const lists[] = {"", "id,", ",id", "id,,sex", "id,id", "%22id", "%22id%22x"};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        problem_check(predict(text("?keep=%s", lists[i]), one), 400, "bad-request");
    }
    problem_check(predict(text("?keep=%s", repeat("n", 256)), one), 400, "bad-request");
    problem_check(predict("?keep=id", "{'instances':[{'id':7,'length':3,'sex':'m','id':8}]}"), 422,
                  "invalid-instances");
    problem_check(predict("?keep=id", "{'instances':[{'id':{},'length':3,'sex':'m'}]}"), 422,
                  "invalid-instances");
    problem_check(predict("?keep=id", "{'instances':[{'id':1e999,'length':3,'sex':'m'}]}"), 422,
                  "invalid-instances");
    problem_check(predict("?keep=length", "{'instances':[{'length':'x','sex':'m'}]}"), 422,
                  "invalid-instances");
    problem_check(predict("?keep=id", "{'instances':[{'id':3}]}"), 422, "invalid-instances");
    problem_check(predict("?keep=id", "{'instances':[]}"), 422, "invalid-instances");
    problem_check(call_typed("/v1/models/m/predict?keep=id", "text/csv", "text/csv",
                             "id,id,length,sex\n1,2,3,m\n"),
                  422, "invalid-instances");
    const char *many = "n0";
    for (int i = 1; i < 257; i++) {
        many = text("%s,n%d", many, i);
    }
    problem_check(predict(text("?keep=%s", many), one), 400, "bad-request");
    problem_check(call_typed("/v1/models/m/evaluate?keep=id", "text/csv", "application/json",
                             "id,length,sex,class\n1,3,m,a\n"),
                  400, "bad-request");
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_json),      TEST(test_cells),
                                       TEST(test_lines),     TEST(test_many_rows),
                                       TEST(test_transform), TEST(test_unknown),
                                       TEST(test_sparse),    TEST(test_refused)};
    return cmocka_run_group_tests(tests, prepare, group_end);
}
