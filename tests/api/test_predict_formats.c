/* Predictions of equal rows in each format, answered in each format, are equal. Models of plain
 * columns, of svmlight data and of text. */
#include "lib/api.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NDJSON "application/x-ndjson"
#define SVMLIGHT "text/x-svmlight"
#define TSV "text/tab-separated-values"

static const struct response *post_as(const char *path, const char *type, const char *accept,
                                      const char *body) {
    const char *const headers[] = {text("Content-Type: %s", type),
                                   accept != NULL ? text("Accept: %s", accept) : NULL, NULL};
    return call(&(struct request){
        .method = "POST", .path = path, .headers = headers, .body = body, .size = strlen(body)});
}

/* ---- parsing of answers ---- */

static void release_json(void *json) {
    json_decref(json);
}

static json_t *line_json(const char *line, size_t n) {
    json_t *json = json_loadb(line, n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL);
    assert_non_null(json);
    return keep(json, release_json);
}

/* Cell `column` of line `line` (0: the header) of CSV, unquoted; NULL: no such cell. Parsed
 * strictly by RFC 4180. */
static const char *cell(const struct response *r, size_t line, size_t column) {
    const char *at = r->body;
    size_t l = 0, c = 0;
    while (*at != '\0') {
        char *out = keep(calloc(1, strlen(at) + 1), free), *end = out;
        if (*at == '"') {
            for (at++; *at != '"' || at[1] == '"'; at++) {
                assert_true(*at != '\0');
                at += *at == '"';
                *end++ = *at;
            }
            at++;
        } else {
            while (*at != ',' && *at != '\n' && *at != '\0') {
                *end++ = *at++;
            }
        }
        if (l == line && c == column) {
            return out;
        }
        assert_true(*at == ',' || *at == '\n');
        c = *at == ',' ? c + 1 : 0;
        l += *at == '\n';
        at++;
    }
    return NULL;
}

static size_t column_of(const struct response *r, const char *name) {
    for (size_t c = 0;; c++) {
        const char *own = cell(r, 0, c);
        if (own == NULL || strcmp(own, name) == 0) {
            assert_true(own != NULL && "there is such a column");
            return c;
        }
    }
}

static void expect_number(const struct response *csv, size_t row, const char *column,
                          const json_t *value) {
    const char *own = cell(csv, row + 1, column_of(csv, column));
    char *end;
    assert_non_null(own);
    if (json_is_null(value)) {
        assert_string_equal(own, "");
        return;
    }
    assert_true(json_is_number(value));
    assert_true(strtod(own, &end) == json_number_value(value) && *end == '\0' && end > own);
}

/* ---- plain columns ---- */

#define IRIS_ROWS "[5.1,3.5,1.4,0.2],[5.9,3.0,4.2,1.5],[6.3,3.3,6.0,2.5]"

static void test_answers(void **state) {
    (void)state;
    static const char path[] =
        "/v1/models/iris/"
        "predict?output=label,probabilities,scores,distance,contributions,ambiguous,log_density";
    const char *body = "{\"instances\":[" IRIS_ROWS "]}";
    const struct response *json = status_check(post_as(path, "application/json", NULL, body), 200);
    const struct response *lines =
        status_check(post_as(path, "application/json", NDJSON, body), 200);
    const struct response *csv =
        status_check(post_as(path, "application/json", "text/csv", body), 200);
    static const char *const classes[] = {"setosa", "versicolor", "virginica"};
    static const char *const features[] = {"sepal_length", "sepal_width", "petal_length",
                                           "petal_width"};
    assert_string_equal(header_of(json, "Content-Type"), "application/json");
    assert_string_equal(header_of(lines, "Content-Type"), NDJSON);
    assert_string_equal(header_of(csv, "Content-Type"), "text/csv");
    assert_string_equal(header_of(csv, "Cache-Control"), "no-store");
    const char *at = lines->body;
    for (size_t i = 0; i < 3; i++) {
        const json_t *expected = json_find(json->json, text("/predictions/%zu", i));
        const char *end = strchr(at, '\n');
        assert_non_null(end);
        assert_true(json_equal(line_json(at, (size_t)(end - at)), expected));
        at = end + 1;
        assert_string_equal(cell(csv, i + 1, column_of(csv, "label")),
                            json_string_value(json_object_get(expected, "label")));
        for (size_t k = 0; k < 3; k++) {
            expect_number(csv, i, text("p(%s)", classes[k]),
                          json_array_get(json_object_get(expected, "probabilities"), k));
            expect_number(csv, i, text("score(%s)", classes[k]),
                          json_array_get(json_object_get(expected, "scores"), k));
            for (size_t j = 0; j < 4; j++) {
                expect_number(
                    csv, i, text("contribution(%s: %s)", classes[k], features[j]),
                    json_array_get(json_array_get(json_object_get(expected, "contributions"), k),
                                   j));
            }
        }
        expect_number(csv, i, "distance", json_object_get(expected, "distance"));
        expect_number(csv, i, "log_density", json_object_get(expected, "log_density"));
        assert_string_equal(cell(csv, i + 1, column_of(csv, "ambiguous")), "false");
    }
    assert_string_equal(at, "");
    assert_null(cell(csv, 0, 1 + 3 + 3 + 12 + 3));
    assert_null(cell(csv, 4, 0));
    /* one row from the query */
    const struct response *one =
        status_check(call_get_with("Accept: text/csv",
                                   "/v1/models/iris/"
                                   "predict?output=label&sepal_length=5.1&sepal_width=3.5&petal_"
                                   "length=1.4&petal_width=0.2"),
                     200);
    assert_string_equal(one->body, "label\nsetosa\n");
}

/* TSV equals CSV with tabs instead of commas if no cell contains either. */
static void tabs_check(const struct response *tsv, const struct response *csv) {
    assert_string_equal(header_of(tsv, "Content-Type"), TSV);
    assert_int_equal(tsv->size, csv->size);
    for (size_t i = 0; i < csv->size; i++) {
        assert_int_equal(tsv->body[i], csv->body[i] == ',' ? '\t' : csv->body[i]);
    }
}

static void test_tabs(void **state) {
    (void)state;
    static const char all[] =
        "?output=label,probabilities,scores,distance,contributions,ambiguous,log_density";
    static const char transform[] = "/v1/models/fisher/transform",
                      rows[] = "/v1/datasets/iris/rows?limit=150";
    const char *path = text("/v1/models/iris/predict%s", all), *body = "[" IRIS_ROWS "]";
    tabs_check(status_check(post_as(path, "application/json", TSV, body), 200),
               status_check(post_as(path, "application/json", "text/csv", body), 200));
    tabs_check(status_check(post_as(transform, "application/json", TSV, body), 200),
               status_check(post_as(transform, "application/json", "text/csv", body), 200));
    tabs_check(status_check(call_get_with("Accept: " TSV, rows), 200),
               status_check(call_get_with("Accept: text/csv", rows), 200));
    /* refused lines have a cell with the error, and the CSV can be parsed */
    const struct response *lines = status_check(post_as("/v1/models/iris/predict?output=label",
                                                        NDJSON, TSV, "[5.1,3.5,1.4,0.2]\n[1]\n"),
                                                200);
    assert_string_equal(
        lines->body,
        "label\terror\nsetosa\t\n\tline 2, column 3: the instance has 1 value, expected 4\n");
    const struct response *back = status_check(call_get_with("Accept: " TSV, rows), 200);
    const struct response *metrics =
        status_check(post_as("/v1/models/iris/evaluate", TSV, NULL, back->body), 200);
    assert_json(metrics, "/rows", "150.0");
}

static void test_not_acceptable(void **state) {
    (void)state;
    static const char *const paths[] = {"/v1/models/iris/predict", "/v1/models/fisher/transform"};
    const char *body = "{\"instances\":[" IRIS_ROWS "]}";
    for (size_t i = 0; i < 2; i++) {
        problem_check(post_as(paths[i], "application/json", "text/html", body), 406,
                      "not-acceptable");
        problem_check(post_as(paths[i], "application/json", "text/csv;q=0, image/png", body), 406,
                      "not-acceptable");
        problem_check(post_as(paths[i], "image/png", NULL, body), 415, "unsupported-media-type");
        status_check(post_as(paths[i], "application/json", "text/html, */*;q=0.1", body), 200);
        const struct response *csv = status_check(post_as(paths[i], "application/json",
                                                          "application/json;q=0.2, text/*", body),
                                                  200);
        assert_string_equal(header_of(csv, "Content-Type"), "text/csv");
    }
    problem_check(
        call_get_with(
            "Accept: text/html",
            "/v1/models/iris/predict?sepal_length=1&sepal_width=1&petal_length=1&petal_width=1"),
        406, "not-acceptable");
}

/* Names that CSV must quote, a pair of classes, and a row that a strict rule leaves without a
 * class. */
static void test_awkward_names(void **state) {
    (void)state;
    status_check(
        call_upload(
            "/v1/datasets/awkward",
            "\"a,b\",kind\n1,\"x, y\"\n2,\"x, y\"\n5,\"say \"\"z\"\"\"\n6,\"say \"\"z\"\"\"\n"),
        201);
    job_train("{'model':'awkward','dataset':'awkward','target':'kind','algorithm':'logistic'}");
    const struct response *r = status_check(
        post_as("/v1/models/awkward/predict?output=label,probabilities,scores,contributions",
                "text/csv", "text/csv", "1\n6\n"),
        200);
    assert_string_equal(cell(r, 0, 1), "p(say \"z\")");
    assert_string_equal(cell(r, 0, 2), "p(x, y)");
    assert_string_equal(cell(r, 0, 3), "score");
    assert_string_equal(cell(r, 0, 4), "contribution(a,b)");
    assert_string_equal(cell(r, 1, 0), "x, y");
    assert_string_equal(cell(r, 2, 0), "say \"z\"");
    job_train("{'model':'pairs','dataset':'iris','target':'class','algorithm':'logistic','params':{"
              "'multiclass':'one_vs_one'}}");
    r = status_check(post_as("/v1/models/pairs/predict?output=scores", "text/csv", "text/csv",
                             "5.1,3.5,1.4,0.2\n"),
                     200);
    assert_string_equal(cell(r, 0, 0), "score(versicolor vs setosa)");
    assert_string_equal(cell(r, 0, 1), "score(virginica vs setosa)");
    assert_string_equal(cell(r, 0, 2), "score(virginica vs versicolor)");
    job_train("{'model':'strict','dataset':'iris','target':'class','algorithm':'logistic','params':"
              "{'multiclass':'one_vs_rest_strict'}}");
    const char *rows =
        "{\"instances\":[[5.1,3.5,1.4,0.2],[7,2,3,1],[5.5,3,3,1],[6,2.5,5,1.6],[5,2.2,4.9,1.75]]}";
    static const char path[] = "/v1/models/strict/predict?output=label,ambiguous";
    const struct response *json = status_check(post_as(path, "application/json", NULL, rows), 200);
    size_t n_ambiguous = 0;
    r = status_check(post_as(path, "application/json", "text/csv", rows), 200);
    for (size_t i = 0; i < 5; i++) {
        const json_t *expected = json_find(json->json, text("/predictions/%zu", i));
        const bool ambiguous = json_is_true(json_object_get(expected, "ambiguous"));
        const char *candidates = cell(r, i + 1, column_of(r, "candidates"));
        n_ambiguous += ambiguous;
        assert_string_equal(cell(r, i + 1, column_of(r, "ambiguous")),
                            ambiguous ? "true" : "false");
        assert_string_equal(cell(r, i + 1, 0),
                            ambiguous ? "" : json_string_value(json_object_get(expected, "label")));
        if (ambiguous) {
            assert_true(json_equal(line_json(candidates, strlen(candidates)),
                                   json_object_get(expected, "candidates")));
        } else {
            assert_string_equal(candidates, "");
        }
    }
    assert_in_range(n_ambiguous, 1, 4);
}

static void test_transform(void **state) {
    (void)state;
    static const char path[] = "/v1/models/fisher/transform";
    const char *body = "{\"instances\":[" IRIS_ROWS "]}",
               *lines = "[5.1,3.5,1.4,0.2]\n[5.9,3.0,4.2,1.5]\n[1]\n[6.3,3.3,6.0,2.5]\n";
    const struct response *json = status_check(post_as(path, "application/json", NULL, body), 200);
    const struct response *csv =
        status_check(post_as(path, "application/json", "text/csv", body), 200);
    const struct response *nd = status_check(post_as(path, "application/json", NDJSON, body), 200);
    const struct response *streamed = status_check(post_as(path, NDJSON, NULL, lines), 200);
    const struct response *found =
        status_check(call(&(struct request){.method = "POST", .path = path, .body = lines}), 200);
    assert_string_equal(header_of(streamed, "Content-Type"), NDJSON);
    assert_string_equal(header_of(streamed, "Discern-Refused"), "1");
    assert_string_equal(streamed->body, found->body);
    const char *at = nd->body, *in = streamed->body;
    for (size_t i = 0; i < 3; i++) {
        const json_t *expected = json_find(json->json, text("/rows/%zu", i));
        const size_t n = strcspn(at, "\n");
        assert_true(json_equal(line_json(at, n), expected));
        for (size_t k = 0; k < 2; k++) {
            expect_number(csv, i, text("z%zu", k + 1), json_array_get(expected, k));
        }
        if (i == 2) {
            const size_t refused = strcspn(in, "\n");
            const json_t *error = json_object_get(line_json(in, refused), "error");
            assert_int_equal(json_integer_value(json_object_get(error, "line")), 3);
            in += refused + 1;
        }
        assert_memory_equal(at, in, n + 1);
        at += n + 1;
        in += n + 1;
    }
    assert_true(*at == '\0' && *in == '\0');
    const struct response *both = status_check(post_as(path, NDJSON, "text/csv", lines), 200);
    assert_string_equal(cell(both, 0, 2), "error");
    assert_string_equal(cell(both, 1, 0), cell(csv, 1, 0));
    assert_string_equal(cell(both, 3, 2), "line 3, column 3: the instance has 1 value, expected 4");
}

/* Labelled lines are one table: a fault refuses all of it. */
static void test_evaluate(void **state) {
    (void)state;
    static const char path[] = "/v1/models/iris/evaluate";
    const struct response *json =
        status_check(post_as(path, "application/json", NULL,
                             "{\"instances\":[[5.1,3.5,1.4,0.2,\"setosa\"],[5.9,3.0,4.2,1.5,"
                             "\"versicolor\"],[6.3,3.3,6.0,2.5,\"setosa\"]]}"),
                     200);
    const char *lines = "[5.1,3.5,1.4,0.2,\"setosa\"]\n[5.9,3.0,4.2,1.5,\"versicolor\"]\n\n[1,2,3,"
                        "4,null]\n[6.3,3.3,6.0,2.5,\"setosa\"]\n";
    for (int sniffed = 0; sniffed < 2; sniffed++) {
        const struct response *r = status_check(
            sniffed ? call(&(struct request){.method = "POST", .path = path, .body = lines})
                    : post_as(path, NDJSON, NULL, lines),
            200);
        assert_true(json_equal(value_at(r, "/metrics"), value_at(json, "/metrics")));
    }
    const struct response *bad =
        problem_check(post_as(path, NDJSON, NULL,
                              "[5.1,3.5,1.4,0.2,\"setosa\"]\n[5.1,3.5,1.4,0.2,\"rose\"]\n[1,2]\n"),
                      422, "invalid-instances");
    fault_check(bad, "line 2");
    fault_check(bad, "line 3");
}

/* ---- svmlight ---- */

#define SPARSE_PATH "/v1/models/sparse/predict"

/* Two classes that differ in which of two features is set; feature 6 is never set. */
static void upload_sparse(const char *name, int first) {
    char *body = keep(malloc(20000), free);
    size_t at = 0;
    for (int i = 0; i < 200; i++) {
        const int side = i % 2;
        at += (size_t)sprintf(body + at, "%s %d:%g %d:%g %d:1 # row %d\n", side ? "+1" : "-1",
                              first + side, 1 + (i % 7) * 0.25, first + 2 + i % 2 + i % 3 / 2,
                              (i % 5) - 2.5, first + 5 + 2 * (i % 3 == 0), i);
    }
    status_check(call(&(struct request){.method = "PUT",
                                        .path = text("/v1/datasets/%s%s", name,
                                                     first == 0 ? "?zero_based=true" : ""),
                                        .headers = HEADERS("Content-Type: " SVMLIGHT),
                                        .body = body,
                                        .upload = false}),
                 201);
}

static void test_sparse(void **state) {
    (void)state;
    upload_sparse("sparse", 1);
    job_train("{'model':'sparse','dataset':'sparse','target':'label','algorithm':'logistic'}");
    const struct response *expected =
        status_check(post_as(SPARSE_PATH, SVMLIGHT, NULL, "+1 2:1 4:0.5 6:1\n-1 1:2 3:-2.5\n1\n"),
                     200);
    assert_int_equal(count_at(expected, "/predictions"), 3);
    assert_json(expected, "/classes", "[-1,1]");
    static const struct {
        const char *type, *body;
    } same[] = {
        {SVMLIGHT, "2:1 4:0.5 6:1\n1:2 3:-2.5\n0 qid:3 # nothing is set\n"}, /* without labels */
        {"application/octet-stream", "# found out\n1 2:1 4:0.5 6:1\n1 1:2 3:-2.5\n1 1:0\n"},
        /* features 9, 99 and 1000000 are unknown to the model */
        {SVMLIGHT, "7 2:1 4:0.5 6:1 99:5\n7 1:2 3:-2.5 1000000:1\n7 9:3\n"},
        {SVMLIGHT, "1 2:1 4:0.5 6:1\r# CR ends lines\r1:2 3:-2.5\r\r1"},
        {"application/octet-stream", "1 2:1 4:0.5 6:1\r\n# two\r\n1 1:2 3:-2.5\r\n1 9:1"},
        {"text/tab-separated-values",
         "f4\tf2\tf6\tf3\tf1\n# three\n0.5\t1\t1\t\t0\n0\t0\t0\t-2.5\t2\n\t\t\t\t\n"},
        {"application/json",
         "{\"instances\":[[0,1,0,0.5,0,1,0,0],[2,0,-2.5,0,0,0,0,0],[0,0,0,0,0,0,0,0]]}"},
        {"application/json",
         "{\"instances\":[{\"f6\":1,\"f2\":1,\"f4\":0.5},{\"f1\":2,\"f3\":-2.5,\"f77\":1},{}]}"},
        {"application/json",
         "[{\"f6\":1,\"f2\":1,\"f4\":0.5,\"f1\":null},{\"f1\":2,\"f3\":-2.5},{\"f5\":0}]"},
        {"text/csv", "0,1,0,0.5,0,1,0,0\n2,0,-2.5,0,0,0,0,0\n0,0,0,0,0,0,0,0\n"},
        {"text/csv", "f4,f2,f6,f3,f1,f300\n0.5,1,1,,0,1\n0,0,0,-2.5,2,1\n,,,,,\n"},
    };
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        const struct response *r =
            status_check(post_as(SPARSE_PATH, same[i].type, NULL, same[i].body), 200);
        assert_true(json_equal(value_at(r, "/predictions"), value_at(expected, "/predictions")));
    }
    const struct response *lines =
        status_check(post_as(SPARSE_PATH, NDJSON, NULL,
                             "{\"f6\":1,\"f2\":1,\"f4\":0.5}\n[2,0,-2.5,0,0,0,0,0]\n{}\n"),
                     200);
    const char *at = lines->body;
    for (size_t i = 0; i < 3; i++, at += strcspn(at, "\n") + 1) {
        assert_true(json_equal(line_json(at, strcspn(at, "\n")),
                               json_find(expected->json, text("/predictions/%zu", i))));
    }
    assert_json(status_check(call_get(SPARSE_PATH "?f6=1&f2=1&f4=0.5"), 200),
                "/predictions/0/label", "1");
    const struct response *none = status_check(call_get(SPARSE_PATH), 200); /* nothing is set */
    assert_true(json_equal(value_at(none, "/predictions/0"), value_at(expected, "/predictions/2")));
}

static void test_sparse_faults(void **state) {
    (void)state;
    static const struct {
        const char *type, *body, *place, *words;
    } wrong[] = {
        {SVMLIGHT, "1 2:1\n1 3:1 2:1\n", "line 2", "ascend"},
        {SVMLIGHT, "1 2:1 2:1\n", "line 1", "twice"},
        {SVMLIGHT, "1 0:1\n", "line 1", "zero_based"},
        {SVMLIGHT, "1 2:x\n1 2:nan\n", "line 2", "finite"},
        {SVMLIGHT, "PAR1\x15\x04\xFF\xFF", "line 1", "Parquet"},
        {SVMLIGHT, "1 2:1\n\xE9 2:1\n", "line 2", "Latin-1"},
        {"application/json", "[{\"f0\":1}]", "/0/f0", "no column \\\"f0\\\""},
        {"application/json", "[{\"f01\":1}]", "/0/f01", "no column"},
        {"application/json", "[{\"f\":1}]", "/0/f", "no column"},
        {"application/json", "[{\"f2\":1,\"f1\":0,\"f2\":0}]", "/0/f2", "twice"},
        {"application/json", "[{\"f2\":\"1\"}]", "/0/f2", "finite number"},
        {"application/json", "[[1,2]]", "/0", "has 2 values, expected 8"},
        {"text/csv", "f1,f2,f1\n1,2,3\n", "line 1", "twice"},
        {"text/csv", "1,2,3\n", "line 1", "has 3 cells, expected 8"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const struct response *r =
            problem_check(post_as(SPARSE_PATH, wrong[i].type, NULL, wrong[i].body), 422,
                          "invalid-instances");
        fault_check(r, wrong[i].place);
        assert_non_null(strstr(r->body, wrong[i].words));
    }
    problem_check(post_as(SPARSE_PATH "?zero_based=maybe", SVMLIGHT, NULL, "1 2:1\n"), 400,
                  "bad-request");
    const struct response *based =
        problem_check(post_as(SPARSE_PATH "?zero_based=true", SVMLIGHT, NULL, "1 2:1\n"), 422,
                      "invalid-instances");
    assert_non_null(strstr(string_at(based, "/detail"), "counts features from 1"));
    const struct response *plain =
        problem_check(post_as("/v1/models/iris/predict", SVMLIGHT, NULL, "1 2:1\n"), 422,
                      "invalid-instances");
    assert_non_null(strstr(string_at(plain, "/detail"), "not trained on svmlight"));
}

static void test_sparse_from_zero(void **state) {
    (void)state;
    upload_sparse("zero", 0);
    job_train("{'model':'zero','dataset':'zero','target':'label','algorithm':'logistic'}");
    const struct response *one =
        status_check(post_as(SPARSE_PATH, SVMLIGHT, NULL, "1 2:1 4:0.5 6:1\n1 1:2\n"), 200);
    const struct response *zero = status_check(post_as("/v1/models/zero/predict?zero_based=true",
                                                       SVMLIGHT, NULL, "1 1:1 3:0.5 5:1\n1 0:2\n"),
                                               200);
    assert_true(json_equal(value_at(one, "/predictions"), value_at(zero, "/predictions")));
    const struct response *named =
        status_check(post_as("/v1/models/zero/predict", "application/json", NULL,
                             "[{\"f1\":1,\"f3\":0.5,\"f5\":1},{\"f0\":2}]"),
                     200);
    assert_true(json_equal(value_at(zero, "/predictions"), value_at(named, "/predictions")));
    const struct response *r =
        problem_check(post_as("/v1/models/zero/predict", SVMLIGHT, NULL, "1 1:1\n"), 422,
                      "invalid-instances");
    assert_non_null(strstr(string_at(r, "/detail"), "zero_based=true"));
}

static void test_sparse_evaluate(void **state) {
    (void)state;
    static const char path[] = "/v1/models/sparse/evaluate";
    const struct response *svm =
        status_check(post_as(path, SVMLIGHT, NULL, "+1 2:1 4:0.5\n-1 1:2\n-1 2:1\n"), 200);
    const struct response *json =
        status_check(post_as(path, "application/json", NULL,
                             "[{\"label\":1,\"f2\":1,\"f4\":0.5},{\"f1\":2,\"label\":-1},{\"f7\":1}"
                             ",{\"f2\":1,\"label\":-1}]"),
                     200);
    assert_true(json_equal(value_at(svm, "/metrics"), value_at(json, "/metrics")));
    assert_close(real_at(svm, "/metrics/accuracy"), 2.0 / 3, 1e-12);
    fault_check(problem_check(post_as(path, SVMLIGHT, NULL, "1 2:1\n3 1:2\n"), 422,
                              "invalid-instances"),
                "line 2");
    fault_check(problem_check(post_as(path, SVMLIGHT, NULL, "1 2:1\n1:2\n"), 422,
                              "invalid-instances"),
                "line 2");
}

/* A wide model: body and memory are proportional to the entries, not to the width. */
static void test_wide(void **state) {
    (void)state;
    enum { WIDTH = 100000, ROWS = 2000 };
    char *body = keep(malloc(ROWS * 64), free);
    size_t at = 0;
    for (int i = 0; i < ROWS; i++) {
        at += (size_t)sprintf(body + at, "%d %d:1 %d:1\n", i % 2, 1 + i % 2,
                              i == 0 ? WIDTH : 3 + i * 40);
    }
    status_check(call(&(struct request){.method = "PUT",
                                        .path = "/v1/datasets/wide",
                                        .headers = HEADERS("Content-Type: " SVMLIGHT),
                                        .body = body,
                                        .size = at}),
                 201);
    job_train("{'model':'wide','dataset':'wide','target':'label','algorithm':'logistic'}");
    const struct response *r = status_check(
        call(&(struct request){.method = "POST",
                               .path = "/v1/models/wide/predict?output=label",
                               .headers = HEADERS("Content-Type: " SVMLIGHT),
                               .body = body,
                               .size = at}),
        200); /* as dense rows these would take 1.6 GB, more than the limit of instances */
    assert_int_equal(count_at(r, "/predictions"), ROWS);
    assert_json(r, "/predictions/7/label", "1");
    assert_json(r, "/predictions/8/label", "0");
}

/* ---- text ---- */

static void test_text(void **state) {
    (void)state;
    status_check(
        call_upload("/v1/datasets/mail?types=message:text",
                    "message,size,kind\nwin a prize now,1,spam\nhello my friend,2,ham\n\"win 99, "
                    "money\",1,spam\nsee you at home friend,3,ham\n"),
        201);
    job_train("{'model':'mail','dataset':'mail','target':'kind','algorithm':'logistic','features':"
              "{'include':['message','size']}}");
    static const char path[] = "/v1/models/mail/predict";
    const struct response *json =
        status_check(post_as(path, "application/json", NULL,
                             "[[\"Win, a PRIZE\",1],[\"friend\",2],[99,1],[null,2]]"),
                     200);
    assert_json(json, "/predictions/0/label", "'spam'");
    assert_json(json, "/predictions/1/label", "'ham'");
    const struct response *objects =
        status_check(post_as(path, "application/json", NULL,
                             "[{\"size\":1,\"message\":\"Win, a "
                             "PRIZE\"},{\"message\":\"friend\",\"size\":2},{\"message\":\"99\","
                             "\"size\":1},{\"size\":2}]"),
                     200);
    const struct response *csv =
        status_check(post_as(path, "text/csv", NULL,
                             "size,message\n1,\"Win, a PRIZE\"\n2,friend\n1,99\n2,\n"),
                     200);
    assert_true(json_equal(json->json, objects->json));
    assert_true(json_equal(json->json, csv->json));
    const struct response *one =
        status_check(call_get("/v1/models/mail/predict?message=Win%%2C+a+PRIZE&size=1"), 200);
    assert_true(json_equal(value_at(one, "/predictions/0"), value_at(json, "/predictions/0")));
    /* the words decide, not their order; "friend" twice counts twice */
    const struct response *twice =
        status_check(post_as(path, "application/json", NULL,
                             "[[\"friend\",2],[\"friend friend\",2],[\"unheard of\",2]]"),
                     200);
    assert_true(real_at(twice, "/predictions/1/probabilities/0") >
                real_at(twice, "/predictions/0/probabilities/0"));
    assert_true(json_equal(value_at(twice, "/predictions/2"), value_at(json, "/predictions/3")));
    problem_check(post_as(path, "application/json", NULL, "[[[\"x\"],2]]"), 422,
                  "invalid-instances");
}

static int start(void **state) {
    (void)state;
    service_start(NULL);
    upload_file("iris", "iris.csv");
    job_train("{'model':'iris','dataset':'iris','target':'class','algorithm':'logistic'}");
    job_train("{'model':'fisher','dataset':'iris','target':'class','algorithm':'fisher'}");
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_answers),         TEST(test_tabs),          TEST(test_not_acceptable),
        TEST(test_awkward_names),   TEST(test_transform),     TEST(test_evaluate),
        TEST(test_sparse),          TEST(test_sparse_faults), TEST(test_sparse_from_zero),
        TEST(test_sparse_evaluate), TEST(test_wide),          TEST(test_text)};
    return cmocka_run_group_tests(tests, start, group_end);
}
