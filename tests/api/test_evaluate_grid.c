/* POST …/evaluate_grid: its values equal predictions of the same points; columns and ranges that
 * are not given come from the training data; each fault has its place. */
#include "lib/api.h"

#include <math.h>
#include <string.h>

enum { NX = 7, NY = 5 };

static const char *const mixed_rows =
    "a,b,kind,wet,class\n"
    "1,10,red,true,no\n2,20,blue,false,yes\n3,15,blue,true,no\n4,12,red,false,yes\n"
    "5,30,blue,true,yes\n6,22,green,false,no\n7,18,blue,true,yes\n9,11,red,true,no\n";

static int prepare(void **state) {
    if (group_start(state) != 0) {
        return -1;
    }
    upload_file("iris", "iris.csv");
    status_check(call_upload("/v1/datasets/mixed", mixed_rows), 201);
    status_check(call_upload("/v1/datasets/gram",
                             "a,b,c,class\n1,0.5,0,p\n0.5,1,0.25,q\n0,0.25,1,q\n"),
                 201);
    job_train("{'model':'lines','dataset':'iris','target':'class','algorithm':'logistic',"
              "'params':{'lambda':0.001}}");
    job_train("{'model':'curved','dataset':'iris','target':'class','algorithm':'svm','params':{'"
              "kernel':'rbf'}}");
    job_train("{'model':'densities','dataset':'iris','target':'class','algorithm':'gaussian','"
              "params':{'covariance':'full'}}");
    job_train("{'model':'strict','dataset':'iris','target':'class','algorithm':'perceptron','"
              "params':{'multiclass':'one_vs_rest_strict'}}");
    job_train("{'model':'mixed','dataset':'mixed','target':'class','algorithm':'logistic'}");
    job_train("{'model':'gram','dataset':'gram','target':'class','algorithm':'svm','params':{'"
              "kernel':'precomputed'}}");
    keep_free();
    return 0;
}

static double number_of(const json_t *value) {
    return json_is_null(value) ? (double)NAN : json_number_value(value);
}

/* Item [j][i] of a plane. */
static const json_t *item(const json_t *plane, size_t j, size_t i) {
    return json_array_get(json_array_get(plane, j), i);
}

static void same(const json_t *a, const json_t *b, const char *what, size_t j, size_t i) {
    if (!json_equal((json_t *)(uintptr_t)a, (json_t *)(uintptr_t)b)) {
        fail_msg("%s at y %zu, x %zu is not what a prediction says", what, j, i);
    }
}

/* Predictions of the same points, in the grid's order. */
static const struct response *predictions_of(const char *model, const struct response *grid,
                                             const char *outputs) {
    const char *rows = "";
    json_t *names[2] = {value_at(grid, "/x/column"), value_at(grid, "/y/column")};
    for (size_t j = 0; j < NY; j++) {
        for (size_t i = 0; i < NX; i++) {
            json_t *row = json_deep_copy(value_at(grid, "/at"));
            json_object_set(row, json_string_value(names[0]),
                            json_array_get(value_at(grid, "/x/values"), i));
            json_object_set(row, json_string_value(names[1]),
                            json_array_get(value_at(grid, "/y/values"), j));
            char *one = json_dumps(row, JSON_COMPACT);
            rows = text("%s%s%s", rows, rows[0] ? "," : "", one);
            free(one);
            json_decref(row);
        }
    }
    const struct response *r =
        call(&(struct request){.method = "POST",
                               .path = text("/v1/models/%s/predict?output=%s", model, outputs),
                               .headers = HEADERS("Content-Type: application/json"),
                               .body = text("{\"instances\":[%s]}", rows)});
    return status_check(r, 200);
}

static void agrees(const char *model, const char *outputs) {
    const struct response *g =
        status_check(call_post(text("/v1/models/%s/evaluate_grid", model),
                               "{'x':{'column':'petal_length','from':1,'to':7,'steps':%d},'y':{'"
                               "column':'petal_width','from':0.5,'to':2.5,'steps':%d},"
                               "'at':{'sepal_length':6.1},'output':'%s'}",
                               NX, NY, outputs),
                     200);
    const struct response *p = predictions_of(model, g, outputs);
    const size_t n_classes = count_at(g, "/classes");
    assert_string_equal(string_at(g, "/model"), model);
    assert_int_equal(count_at(g, "/x/values"), NX);
    assert_int_equal(count_at(g, "/y/values"), NY);
    assert_true(real_at(g, "/x/values/0") == 1 && real_at(g, "/x/values/6") == 7 &&
                real_at(g, "/x/values/2") == 3);
    assert_true(real_at(g, "/at/sepal_length") == 6.1);
    assert_int_equal(json_object_size(value_at(g, "/at")), 2);
    for (size_t j = 0; j < NY; j++) {
        for (size_t i = 0; i < NX; i++) {
            const json_t *row = json_array_get(value_at(p, "/predictions"), j * NX + i),
                         *label = json_object_get(row, "label");
            const json_t *index = item(value_at(g, "/labels"), j, i);
            if (json_is_null(label)) {
                assert_true(json_is_null(index));
            } else {
                same(json_array_get(value_at(g, "/classes"), (size_t)json_number_value(index)),
                     label, "the label", j, i);
            }
            for (size_t k = 0; has(g, "/scores") && k < count_at(g, "/scores"); k++) {
                same(item(json_array_get(value_at(g, "/scores"), k), j, i),
                     json_array_get(json_object_get(row, "scores"), k), "a score", j, i);
            }
            for (size_t k = 0; has(g, "/probabilities") && k < n_classes; k++) {
                same(item(json_array_get(value_at(g, "/probabilities"), k), j, i),
                     json_array_get(json_object_get(row, "probabilities"), k), "a probability", j,
                     i);
            }
            if (has(g, "/distance")) {
                same(item(value_at(g, "/distance"), j, i), json_object_get(row, "distance"),
                     "a distance", j, i);
            }
            if (has(g, "/log_density") && json_is_array(value_at(g, "/log_density"))) {
                same(item(value_at(g, "/log_density"), j, i), json_object_get(row, "log_density"),
                     "a density", j, i);
            }
        }
    }
}

static void a_grid_is_its_predictions(void **state) {
    (void)state;
    agrees("lines", "label,probabilities,scores,distance");
    agrees("lines", "label,log_density"); /* which it has not */
    agrees("curved", "label,probabilities,scores,distance");
    agrees("densities", "label,probabilities,log_density");
    agrees("strict", "label,scores"); /* some points are ambiguous */
}

static void what_is_wanted_is_there(void **state) {
    (void)state;
    const char *path = "/v1/models/lines/evaluate_grid";
    const struct response *r = status_check(
        call_post(path, "{'x':{'column':'petal_length'},'y':{'column':'petal_width'}}"), 200);
    assert_int_equal(count_at(r, "/labels"), 100);
    assert_int_equal(count_at(r, "/labels/99"), 100);
    assert_int_equal(count_at(r, "/probabilities"), 3);
    assert_int_equal(count_at(r, "/probabilities/2/99"), 100);
    assert_false(has(r, "/scores"));
    r = status_check(call_post(path, "{'x':{'column':'petal_length','steps':2},'output':'scores'}"),
                     200);
    assert_false(has(r, "/labels"));
    assert_int_equal(count_at(r, "/scores/2"), 2);
    assert_json(r, "/y", "null");
    r = status_check(call_post("/v1/models/curved/evaluate_grid",
                               "{'x':{'column':'petal_length','steps':2}}"),
                     200);
    assert_int_equal(count_at(r, "/scores"), 3); /* this model has no probabilities */
    r = status_check(call_post("/v1/models/lines/versions/1/evaluate_grid",
                               "{'x':{'column':'petal_length','steps':2},'output':'log_density'}"),
                     200);
    assert_json(r, "/log_density", "null");
    assert_string_equal(header_of(r, "Cache-Control"), "no-store");
}

/* Defaults of ranges and of the other columns' values. */
static void what_is_left_out(void **state) {
    (void)state;
    const char *path = "/v1/models/mixed/evaluate_grid";
    const struct response *r = status_check(call_post(path, "{'x':{'column':'a','steps':3}}"), 200);
    assert_close(real_at(r, "/x/values/0"), 1 - 0.4, 1e-12); /* from 1 to 9 */
    assert_close(real_at(r, "/x/values/2"), 9 + 0.4, 1e-12);
    assert_close(real_at(r, "/at/b"), 17.25, 1e-12); /* the mean */
    assert_json(r, "/at/kind", "'blue'");            /* four of eight */
    assert_json(r, "/at/wet", "true");               /* five of eight */
    r = status_check(
        call_post(
            path,
            "{'x':{'column':'a','from':-1,'steps':3},'at':{'kind':'green','wet':0,'b':null}}"),
        200);
    assert_true(real_at(r, "/x/values/0") == -1);
    assert_json(r, "/at", "{'b':null,'kind':'green','wet':false}");
    const struct response *p =
        status_check(call_post("/v1/models/mixed/predict",
                               "{'instances':[{'a':-1,'b':null,'kind':'green','wet':false}]}"),
                     200);
    assert_close(real_at(r, "/probabilities/1/0"), real_at(p, "/predictions/0/probabilities/1"), 0);
    /* a category that training did not see */
    r = status_check(
        call_post(path,
                  "{'x':{'column':'a','from':2,'steps':2},'at':{'kind':'mauve','b':1,'wet':1}}"),
        200);
    assert_json(r, "/at/kind", "null");
    assert_json(r, "/unseen", "[{'column':'kind','value':'mauve','rows':1}]");
    assert_string_equal(header_of(r, "Discern-Unseen"), "1");
    p = status_check(call_post("/v1/models/mixed/predict",
                               "{'instances':[{'a':2,'b':1,'kind':'mauve','wet':true}]}"),
                     200);
    assert_close(real_at(r, "/probabilities/1/0"), real_at(p, "/predictions/0/probabilities/1"), 0);
    job_train("{'model':'refusing','dataset':'mixed','target':'class','algorithm':'logistic','"
              "features':{'unseen':'error'}}");
    r = problem_check(call_post("/v1/models/refusing/evaluate_grid",
                                "{'x':{'column':'a','steps':2},'at':{'kind':'mauve'}}"),
                      422, "invalid");
    fault_contains(r, "/at/kind",
                   "must be a category that training saw, got \"mauve\"; it saw blue, green, red");

    /* columns that the model does not have */
    const char *others = "{'x':{'column':'a','steps':2},'at':{'class':'p','time':'now'}}";
    r = status_check(call_post(path, "%s", others), 200);
    assert_json(r, "/ignored_columns", "['class','time']");
    assert_string_equal(header_of(r, "Discern-Ignored"), "2");
    r = call_post("/v1/models/mixed/evaluate_grid?extra=error", "%s", others);
    fault_contains(problem_check(r, 422, "invalid"), "/at/time",
                   "the model has no column \"time\"");
    r = call_post(path, "{'x':{'column':'a','steps':2},'at':{'kinds':'red'}}");
    fault_contains(problem_check(r, 422, "invalid"), "/at/kinds", "did you mean \"kind\"?");
    r = call_post(path, "{'x':{'column':'a','steps':2},'at':{'kinds':'red','kind':'red'}}");
    assert_json(status_check(r, 200), "/ignored_columns", "['kinds']");

    job_train("{'model':'orphan','dataset':'mixed','target':'class','algorithm':'logistic'}");
    job_train("{'model':'plain','dataset':'mixed','target':'class','algorithm':'logistic','"
              "features':{'standardize':false}}");
    status_check(call_delete("/v1/datasets/mixed"), 204);
    r = status_check(call_post("/v1/models/orphan/evaluate_grid", "{'x':{'column':'a','steps':3}}"),
                     200);
    assert_close(real_at(r, "/x/values/1"), 4.625,
                 1e-12); /* the value of the other column is the mean of training */
    assert_true(real_at(r, "/x/values/0") < 0 && real_at(r, "/x/values/2") > 9);
    r = problem_check(call_post("/v1/models/plain/evaluate_grid", "{'x':{'column':'a','from':0}}"),
                      422, "invalid");
    fault_check(r, "/x/to");
    status_check(call_post("/v1/models/plain/evaluate_grid",
                           "{'x':{'column':'a','from':0,'to':9}}"),
                 200);
}

static void every_fault_has_its_place(void **state) {
    (void)state;
    const char *path = "/v1/models/lines/evaluate_grid";
    static const char *const faults[][2] = {
        {"{}", "/x"},
        {"{'x':null}", "/x"},
        {"{'x':7}", "/x"},
        {"{'x':{}}", "/x/column"},
        {"{'x':{'column':'no'}}", "/x/column"},
        {"{'x':{'column':'petal_length','steps':1}}", "/x/steps"},
        {"{'x':{'column':'petal_length','steps':501}}", "/x/steps"},
        {"{'x':{'column':'petal_length','steps':2.5}}", "/x/steps"},
        {"{'x':{'column':'petal_length','from':'a'}}", "/x/from"},
        {"{'x':{'column':'petal_length','from':3,'to':3}}", "/x/to"},
        {"{'x':{'column':'petal_length','from':3,'to':2}}", "/x/to"},
        {"{'x':{'column':'petal_length','from':99}}", "/x/from"},
        {"{'x':{'column':'petal_length','step':3}}", "/x/step"},
        {"{'x':{'column':'petal_length'},'y':{'column':'petal_length'}}", "/y/column"},
        {"{'x':{'column':'petal_length'},'y':[]}", "/y"},
        {"{'x':{'column':'petal_length'},'at':[]}", "/at"},
        {"{'x':{'column':'petal_length'},'at':{'petal_length':3}}", "/at/petal_length"},
        {"{'x':{'column':'petal_length'},'at':{'petal_widht':3}}", "/at/petal_widht"},
        {"{'x':{'column':'petal_length'},'at':{'sepal_width':'wide'}}", "/at/sepal_width"},
        {"{'x':{'column':'petal_length'},'at':{'sepal_width':true}}", "/at/sepal_width"},
        {"{'x':{'column':'petal_length'},'output':'label,contributions'}", "/output"},
        {"{'x':{'column':'petal_length'},'output':'labels'}", "/output"},
        {"{'x':{'column':'petal_length'},'output':['label']}", "/output"},
        {"{'x':{'column':'petal_length'},'z':1}", "/z"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        fault_check(problem_check(call_post(path, "%s", faults[i][0]), 422, "invalid"),
                    faults[i][1]);
    }
    problem_check(call_post(path, "[]"), 422, "invalid");
    problem_check(call_post(path, "{"), 400, "bad-json");
    problem_check(call_post("/v1/models/nobody/evaluate_grid", "{'x':{'column':'a'}}"), 404,
                  "unknown-model");
    problem_check(call_post("/v1/models/lines/versions/9/evaluate_grid", "{'x':{'column':'a'}}"),
                  404, "unknown-model");
    problem_check(call_post("/v1/models/lines/evaluate_grid?steps=3", "{'x':{'column':'a'}}"), 400,
                  "bad-request");
    problem_check(call_get("/v1/models/lines/evaluate_grid"), 405, "method-not-allowed");
}

/* Axes are columns of numbers. A model without a numeric column, or with columns that cannot vary
 * alone, has no grid. */
static void who_has_no_grid(void **state) {
    (void)state;
    status_check(call_upload("/v1/datasets/mixed2", mixed_rows), 201);
    job_train("{'model':'mixed2','dataset':'mixed2','target':'class','algorithm':'naive_bayes'}");
    const char *path = "/v1/models/mixed2/evaluate_grid";
    fault_check(problem_check(call_post(path, "{'x':{'column':'kind'}}"), 422, "invalid"),
                "/x/column");
    fault_check(problem_check(call_post(path, "{'x':{'column':'wet'}}"), 422, "invalid"),
                "/x/column");
    fault_check(problem_check(call_post(path, "{'x':{'column':'a'},'at':{'kind':[]}}"), 422,
                              "invalid"),
                "/at/kind");
    fault_check(problem_check(call_post(path, "{'x':{'column':'a'},'at':{'wet':2}}"), 422,
                              "invalid"),
                "/at/wet");

    const struct response *r =
        problem_check(call_post("/v1/models/gram/evaluate_grid", "{'x':{'column':'a'}}"), 422,
                      "invalid");
    assert_non_null(strstr(string_at(r, "/detail"), "precomputed kernel"));
    status_check(call_upload_bytes("/v1/datasets/sparse", "a 1:1 2:1\nb 2:3\na 1:2\nb 3:1\n", 0,
                                   "Content-Type: text/x-svmlight"),
                 201);
    job_train("{'model':'sparse','dataset':'sparse','target':'label','algorithm':'logistic'}");
    r = problem_check(call_post("/v1/models/sparse/evaluate_grid", "{'x':{'column':'f1'}}"), 422,
                      "invalid");
    assert_non_null(strstr(string_at(r, "/detail"), "is sparse"));
    status_check(call_upload("/v1/datasets/notes?types=note:text",
                             "n,note,class\n1,good day,p\n2,bad day,q\n3,good,p\n"),
                 201);
    job_train("{'model':'notes','dataset':'notes','target':'class','algorithm':'logistic'}");
    r = problem_check(call_post("/v1/models/notes/evaluate_grid", "{'x':{'column':'n'}}"), 422,
                      "invalid");
    assert_non_null(strstr(string_at(r, "/detail"), "\"note\" is text"));
}

/* The grid as CSV or NDJSON lines: the axes, then the same text as predictions of the points in
 * this format. */
static const struct response *grid_as(const char *model, const char *accept, const char *more) {
    return call(&(struct request){
        .method = "POST",
        .path = text("/v1/models/%s/evaluate_grid", model),
        .headers = HEADERS(text("Accept: %s", accept), "Content-Type: application/json"),
        .body = quoted("{'x':{'column':'petal_length','from':1,'to':7,'steps':3}%s}", more)});
}

static void a_line_for_each_point(void **state) {
    (void)state;
    static const char *const models[] = {"lines", "curved", "strict", "densities"};
    for (size_t i = 0; i < 4; i++) {
        const char *outputs = "label,probabilities,scores,distance,log_density", *rows = "";
        const struct response *g =
            status_check(grid_as(models[i], "text/csv",
                                 text(",'y':{'column':'petal_width','from':0.5,'to':2.5,'steps':2},"
                                      "'at':{'sepal_length':6,'sepal_width':3},"
                                      "'output':'%s'",
                                      outputs)),
                         200);
        assert_string_equal(header_of(g, "Content-Type"), "text/csv");
        for (size_t p = 0; p < 6; p++) {
            rows = text("%s6,3,%d,%g\n", rows, 1 + 3 * (int)(p % 3), p < 3 ? 0.5 : 2.5);
        }
        const struct response *said =
            status_check(call(&(struct request){
                             .method = "POST",
                             .path = text("/v1/models/%s/predict?output=%s", models[i], outputs),
                             .headers = HEADERS("Accept: text/csv", "Content-Type: text/csv"),
                             .body = rows}),
                         200);
        const char *expected = "", *line = said->body;
        for (size_t p = 0; *line != '\0'; p++) {
            const char *axes = p == 0
                                   ? "petal_length,petal_width"
                                   : text("%d,%g", 1 + 3 * (int)((p - 1) % 3), p <= 3 ? 0.5 : 2.5);
            const int n = (int)strcspn(line, "\n") + 1;
            expected = text("%s%s,%.*s", expected, axes, n, line);
            line += n;
        }
        assert_string_equal(g->body, expected);
    }
    const struct response *g =
        status_check(grid_as("lines", "text/tab-separated-values", ",'output':'label'"), 200);
    assert_string_equal(g->body,
                        "petal_length\tlabel\n1\tversicolor\n4\tversicolor\n7\tvirginica\n");
    g = status_check(grid_as("lines", "text/csv;q=0.5, application/json", ",'output':'label'"),
                     200);
    assert_json(g, "/labels", "[1,1,2]");
    problem_check(grid_as("lines", "image/png", ""), 406, "not-acceptable");
}

/* A point whose score cannot be computed is an error with a place. */
static void points_that_are_too_far(void **state) {
    (void)state;
    job_train("{'model':'steep','dataset':'iris','target':'class','algorithm':'svm','params':{'"
              "kernel':{'type':'polynomial','degree':10}}}");
    const char *path = "/v1/models/steep/evaluate_grid";
    static const char *const far =
        "{'x':{'column':'petal_length'%s,'steps':3},'y':{'column':'petal_width'%s,'steps':3}}";
    static const char *const range = ",'from':0,'to':1e200";
    fault_check(problem_check(call_post(path, far, range, ""), 422, "invalid"), "/x");
    fault_check(problem_check(call_post(path, far, "", range), 422, "invalid"), "/y");
    fault_check(
        problem_check(call_post(path,
                                "{'x':{'column':'petal_length','from':0,'to':1e200,'steps':3}}"),
                      422, "invalid"),
        "/x");
    static const char *const rows = "[5,3,1,1],[5,3,1e200,1]";
    const struct response *r =
        problem_check(call_post("/v1/models/steep/predict", "{'instances':[%s]}", rows), 422,
                      "invalid-instances");
    fault_check(r, "/instances/1");
    r = problem_check(call_post("/v1/models/steep/predict", "[%s]", rows), 422,
                      "invalid-instances");
    fault_check(r, "/1");
    r = problem_check(
        call_post(
            "/v1/models/steep/predict",
            "{'columns':['sepal_length','sepal_width','petal_length','petal_width'],'rows':[%s]}",
            rows),
        422, "invalid-instances");
    fault_check(r, "/rows/1");
    r = problem_check(call_post("/v1/models/steep/evaluate",
                                "{'instances':[[5,3,1,1,'setosa'],[5,3,1e200,1,'setosa']]}"),
                      422, "invalid-instances");
    fault_check(r, "/instances/1");
}

/* The largest grid; every point counts. */
static void a_grid_of_250000_points(void **state) {
    (void)state;
    const struct response *r =
        status_check(call_post("/v1/models/lines/evaluate_grid",
                               "{'x':{'column':'petal_length','from':0,'to':8,'steps':500},'y':{'"
                               "column':'petal_width','steps':500},'output':'label'}"),
                     200);
    size_t seen[3] = {0};
    for (size_t j = 0; j < 500; j++) {
        const json_t *row = json_array_get(value_at(r, "/labels"), j);
        assert_int_equal(json_array_size(row), 500);
        for (size_t i = 0; i < 500; i++) {
            seen[(size_t)number_of(json_array_get(row, i))]++;
        }
    }
    assert_true(seen[0] > 10000 && seen[1] > 10000 && seen[2] > 10000);
    r = problem_check(call_post("/v1/models/lines/evaluate_grid",
                                "{'x':{'column':'petal_length','from':-1e308,'to':1e308,'steps':"
                                "500},'output':'scores'}"),
                      422, "invalid");
    assert_non_null(strstr(string_at(r, "/detail"), "overflow"));
}

/* The planes of chosen classes are those of the whole answer, in the order of the request. */
static void planes_of_chosen_classes(void **state) {
    (void)state;
    static const char *const names[] = {"probabilities", "class_log_density", "posterior"};
    const char *body =
        "'x':{'column':'petal_length','steps':7},'y':{'column':'petal_width','steps':5},"
        "'output':'label,probabilities,log_density,posterior,scores'";
    const struct response *all =
        status_check(call_post("/v1/models/densities/evaluate_grid", "{%s}", body), 200);
    const struct response *two =
        status_check(call_post("/v1/models/densities/evaluate_grid", "{%s,'planes':[2,0]}", body),
                     200);
    for (size_t i = 0; i < 3; i++) {
        const json_t *from = value_at(all, text("/%s", names[i])),
                     *to = value_at(two, text("/%s", names[i]));
        assert_int_equal(json_array_size(to), 2);
        assert_true(json_equal(json_array_get(from, 2), json_array_get(to, 0)));
        assert_true(json_equal(json_array_get(from, 0), json_array_get(to, 1)));
    }
    assert_true(json_equal(value_at(all, "/scores"), value_at(two, "/scores")));
    assert_true(json_equal(value_at(all, "/labels"), value_at(two, "/labels")));
    assert_true(json_equal(value_at(all, "/classes"), value_at(two, "/classes")));
    const char *const faults[] = {"[3]", "[-1]", "[]", "['setosa']", "[0,1,2,0]"};
    for (size_t i = 0; i < 5; i++) {
        const struct response *a = status_check(call_post("/v1/models/densities/evaluate_grid",
                                                          "{%s,'planes':%s}", body, faults[i]),
                                                422);
        assert_int_equal(strncmp(string_at(a, "/errors/0/pointer"), "/planes", 7), 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_grid_is_its_predictions), TEST(what_is_wanted_is_there),
        TEST(what_is_left_out),          TEST(every_fault_has_its_place),
        TEST(who_has_no_grid),           TEST(a_line_for_each_point),
        TEST(points_that_are_too_far),   TEST(a_grid_of_250000_points),
        TEST(planes_of_chosen_classes),
    };
    return cmocka_run_group_tests(tests, prepare, group_end);
}
