/* Columns of the rows that the model does not use: they are ignored and listed, or refused with
 * ?extra=error. Misspelt columns are not ignored. */
#include "lib/api.h"

#include <stdlib.h>
#include <string.h>

static char *table; /* id, length, weight, sex, class */

static int prepare(void **state) {
    if (group_start(state) != 0) {
        return -1;
    }
    const char *rows = upload_rows("rows");
    table = strdup(rows);
    job_train("{'model':'m','dataset':'rows','target':'class','weight':'weight',"
              "'algorithm':'logistic','features':{'include':['length','sex']}}");
    job_train("{'model':'f','dataset':'rows','target':'class','algorithm':'fisher',"
              "'features':{'include':['length','sex']}}");
    keep_free();
    return 0;
}

static int finish(void **state) {
    free(table);
    return group_end(state);
}

static const struct response *predict(const char *query, const char *json) {
    return call_text("POST", text("/v1/models/m/predict%s", query), NULL, quoted("%s", json));
}

static void ignored_check(const struct response *r, const char *list) {
    status_check(r, 200);
    assert_string_equal(keep(json_dumps(value_at(r, "/ignored_columns"), JSON_COMPACT), free),
                        quoted("%s", list));
    assert_string_equal(header_of(r, "Discern-Ignored"),
                        text("%zu", count_at(r, "/ignored_columns")));
}

static void test_every_format(void **state) {
    (void)state;
    const struct response *r = predict("", "{'instances':[{'length':3,'sex':'m'}]}");
    const double p = real_at(r, "/predictions/0/probabilities/0");
    assert_null(json_find(r->json, "/ignored_columns"));
    assert_null(header_of(r, "Discern-Ignored"));
    const struct response *const answers[] = {
        predict("", "{'instances':[{'id':7,'length':3,'sex':'m','class':'a'}]}"),
        predict("", "{'columns':['id','length','sex','class'],'rows':[[7,3,'m','a']]}"),
        call_typed("/v1/models/m/predict", "text/csv", "application/json",
                   "id,length,sex,class\n7,3,m,a\n"),
        call_typed("/v1/models/m/predict", "text/x-arff", "application/json",
                   "@relation r\n@attribute id numeric\n@attribute length numeric\n"
                   "@attribute sex {f,m}\n@attribute class {a,b}\n@data\n7,3,m,a\n")};
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        ignored_check(answers[i], "['id','class']");
        assert_true(real_at(answers[i], "/predictions/0/probabilities/0") == p);
    }
    /* values of any kind */
    ignored_check(predict("", "{'instances':[{'length':3,'z':[1,{'q':null}],'sex':'m'}]}"),
                  "['z']");
    r = call_typed("/v1/models/m/predict", "application/x-ndjson", "application/x-ndjson",
                   quoted("{'id':7,'length':3,'sex':'m'}\n{'id':8,'sex':'f','length':2,'w':0}\n"));
    status_check(r, 200);
    assert_string_equal(header_of(r, "Discern-Ignored"), "2");
    assert_string_equal(header_of(r, "Discern-Refused"), "0");
}

/* Features of sparse rows that the training table did not have. */
static void test_features_beyond_the_table(void **state) {
    (void)state;
    static const char rows[] = "1 1:1 2:3\n0 2:1 3:2\n1 1:2 2:2\n0 3:1\n1 1:3\n0 2:2 3:3\n";
    status_check(call_text("PUT", "/v1/datasets/sparse", "text/x-svmlight", rows), 201);
    job_train("{'model':'s','dataset':'sparse','target':'label','algorithm':'logistic'}");
    static const char path[] = "/v1/models/s/predict",
                      strict[] = "/v1/models/s/predict?extra=error";
    const struct response *r =
        call_typed(path, "text/x-svmlight", "application/json", "0 1:1 900:5\n");
    ignored_check(r, "['f900']");
    ignored_check(call_text("POST", path, NULL, "{\"instances\":[{\"f1\":1,\"f900\":5}]}"),
                  "['f900']");
    ignored_check(call_typed(path, "text/csv", "application/json", "f1,f900\n1,5\n"), "['f900']");
    ignored_check(call_typed("/v1/models/s/evaluate", "text/x-svmlight", "application/json",
                             "1 1:1 2:3 77:1\n0 3:1\n"),
                  "['f77']");
    problem_check(call_typed(strict, "text/x-svmlight", "application/json", "0 1:1 900:5\n"), 422,
                  "invalid-instances");
    problem_check(call_text("POST", strict, NULL, "{\"instances\":[{\"f1\":1,\"f900\":5}]}"), 422,
                  "invalid-instances");
    problem_check(call_typed(strict, "text/csv", "application/json", "f1,f900\n1,5\n"), 422,
                  "invalid-instances");
    status_check(call_typed(strict, "text/x-svmlight", "application/json", "0 1:1 3:5\n"), 200);
}

static void test_the_training_file(void **state) {
    (void)state;
    ignored_check(call_typed("/v1/models/m/predict", "text/csv", "application/json", table),
                  "['id','weight','class']");
    const struct response *r =
        call_typed("/v1/models/m/evaluate", "text/csv", "application/json", table);
    ignored_check(r, "['id']"); /* the weight column is used */
    assert_int_equal(real_at(r, "/rows"), 40);
    ignored_check(call_typed("/v1/models/f/transform", "text/csv", "application/json", table),
                  "['id','weight','class']");
}

static void test_refused(void **state) {
    (void)state;
    problem_check(predict("?extra=error", "{'instances':[{'id':7,'length':3,'sex':'m'}]}"), 422,
                  "invalid-instances");
    problem_check(predict("?extra=maybe", "{'instances':[{'length':3,'sex':'m'}]}"), 400,
                  "bad-request");
    /* the target is not an input either */
    problem_check(predict("?extra=error", "{'instances':[{'length':3,'sex':'m','class':'a'}]}"),
                  422, "invalid-instances");
    problem_check(predict("?extra=error",
                          "{'columns':['length','sex','class'],'rows':[[3,'m',1]]}"),
                  422, "invalid-instances");
    problem_check(call_typed("/v1/models/m/predict?extra=error", "text/csv", "application/json",
                             "length,sex,class\n3,m,a\n"),
                  422, "invalid-instances");
    problem_check(predict("?extra=error", "{'dataset':'rows'}"), 422, "invalid-instances");
    status_check(predict("?extra=error&keep=id,weight,class", "{'dataset':'rows'}"), 200);
    const struct response *r =
        call_typed("/v1/models/m/predict?extra=error", "application/x-ndjson",
                   "application/x-ndjson",
                   quoted("{'id':7,'length':3,'sex':'m'}\n{'length':3,'sex':'m'}\n"));
    status_check(r, 200);
    assert_string_equal(header_of(r, "Discern-Refused"), "1");
}

/* A GET takes other columns, too. A misspelt option is not a column. */
static void test_one_row(void **state) {
    (void)state;
    ignored_check(call_get("/v1/models/m/predict?length=3&sex=m&id=7&class=a"), "['id','class']");
    problem_check(call_get("/v1/models/m/predict?length=3&sex=m&id=7&extra=error"), 422,
                  "invalid-instances");
    status_check(call_get("/v1/models/m/predict?length=3&sex=m&id=7&keep=id&extra=error"), 200);
    const char *const options[] = {"ouput=label", "decison=scores", "missing=-", "top=3"};
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        problem_check(call_get("/v1/models/m/predict?length=3&sex=m&%s", options[i]), 400,
                      "bad-request");
    }
    const struct response *r = call_get("/v1/models/m/predict?lenght=3&sex=m");
    problem_check(r, 422, "invalid-instances");
    assert_non_null(strstr(r->body, "\\\"length\\\" is missing"));
}

/* A column that no line of NDJSON has is not a missing value. */
static void test_lines_without_a_column(void **state) {
    (void)state;
    const struct response *r =
        call_typed("/v1/models/m/predict", "application/x-ndjson", "application/x-ndjson",
                   quoted("{'id':7,'length':3}\n{'length':4}\n"));
    problem_check(r, 422, "invalid-instances");
    assert_non_null(strstr(r->body, "no instance names the column \\\"sex\\\""));
    r = call_typed("/v1/models/m/predict", "application/x-ndjson", "application/x-ndjson",
                   quoted("{'sex':'m','length':3}\n{'length':4}\n"));
    status_check(r, 200);
    assert_string_equal(header_of(r, "Discern-Refused"), "0");
}

/* A name that is near to that of a column which the row lacks is a misspelling. */
static void test_misspelt(void **state) {
    (void)state;
    const struct response *r =
        predict("", "{'instances':[{'length':3,'sex':'m'},{'lenght':3,'sex':'m'}]}");
    problem_check(r, 422, "invalid-instances");
    assert_non_null(strstr(r->body, "the model has no column \\\"lenght\\\"; \\\"length\\\" is "
                                    "missing"));
    assert_non_null(strstr(r->body, "/instances/1"));
    r = call_typed("/v1/models/m/predict", "text/csv", "application/json", "lenght,sex\n3,m\n");
    problem_check(r, 422, "invalid-instances");
    assert_non_null(strstr(r->body, "\\\"length\\\" is missing from the instances"));
    ignored_check(predict("", "{'instances':[{'length':3,'lenght':4,'sex':'m'}]}"), "['lenght']");
    r = call_typed("/v1/models/m/predict", "application/x-ndjson", "application/x-ndjson",
                   quoted("{'lenght':7,'sex':'m'}\n"));
    status_check(r, 200);
    assert_string_equal(header_of(r, "Discern-Refused"), "1");
}

/* A header without a known name, for a model that takes only numbers. */
static void test_a_header_of_other_names(void **state) {
    (void)state;
    status_check(call_upload("/v1/datasets/numbers", "width,height,class\n1,2,a\n2,1,b\n3,5,a\n"
                                                     "6,2,b\n"),
                 201);
    job_train("{'model':'numbers','dataset':'numbers','target':'class','algorithm':'gaussian',"
              "'params':{'shrinkage':0.5}}");
    const struct response *r = call_typed("/v1/models/numbers/predict", "text/csv",
                                          "application/json", "widht,hieght\n1,2\n");
    problem_check(r, 422, "invalid-instances");
    assert_non_null(strstr(r->body, "the model has no column \\\"widht\\\"; \\\"width\\\" is "
                                    "missing"));
    r = call_typed("/v1/models/numbers/predict", "text/csv", "application/json", "NA,NA\n1,2\n");
    status_check(r, 200);
    assert_int_equal(count_at(r, "/predictions"), 2);
}

static void test_limit(void **state) {
    (void)state;
    const char *row = "{'instances':[{'length':3,'sex':'m'";
    for (int i = 0; i < 1001; i++) {
        row = text("%s,'extra%d':1", row, i);
        if (i == 999) {
            status_check(predict("", text("%s}]}", row)), 200);
        }
    }
    problem_check(predict("", text("%s}]}", row)), 422, "invalid-instances");
}

/* A name that is too long for a column of a table is refused, and not kept. */
static void test_long_names(void **state) {
    (void)state;
    char name[257];
    for (size_t n = 255; n <= 256; n++) {
        memset(name, 'n', n);
        name[n] = '\0';
        const struct response *r =
            predict("", text("{'instances':[{'length':3,'sex':'m','%s':1}]}", name));
        status_check(r, n == 255 ? 200 : 422);
        assert_true(n == 255 || strstr(r->body, "at most 255 bytes") != NULL);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_every_format),
                                       TEST(test_features_beyond_the_table),
                                       TEST(test_the_training_file),
                                       TEST(test_refused),
                                       TEST(test_one_row),
                                       TEST(test_lines_without_a_column),
                                       TEST(test_misspelt),
                                       TEST(test_a_header_of_other_names),
                                       TEST(test_limit),
                                       TEST(test_long_names)};
    return cmocka_run_group_tests(tests, prepare, finish);
}
