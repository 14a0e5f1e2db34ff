/* POST …/transform?of=basis, hidden, scores: other coordinates of rows than Fisher's. */
#include "lib/api.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define XOR "{\"instances\":[[0,0],[1,1],[0,1],[1,0],[2,-3]]}"

static const double x[5][2] = {{0, 0}, {1, 1}, {0, 1}, {1, 0}, {2, -3}};

static int prepare(void **state) {
    if (group_start(state) != 0) {
        return -1;
    }
    status_check(call_upload("/v1/datasets/xor", "a,b,class\n0,0,n\n1,1,n\n0,1,y\n1,0,y\n"), 201);
    upload_file("iris", "iris.csv");
    job_train("{'model':'poly','dataset':'xor','target':'class','algorithm':'logistic',"
              "'features':{'basis':[{'type':'polynomial','degree':2}]}}");
    job_train("{'model':'bumps','dataset':'xor','target':'class','algorithm':'svm',"
              "'features':{'basis':[{'type':'gaussian','centres':2,'width':1}]}}");
    job_train("{'model':'net','dataset':'xor','target':'class','algorithm':'mlp',"
              "'params':{'layers':[3]}}");
    job_train("{'model':'deep','dataset':'iris','target':'class','algorithm':'mlp',"
              "'params':{'layers':[4,2],'activation':'tanh','max_iterations':20}}");
    job_train("{'model':'nets','dataset':'iris','target':'class','algorithm':'mlp',"
              "'params':{'layers':[2],'multiclass':'one_vs_rest','max_iterations':5}}");
    job_train("{'model':'lines','dataset':'iris','target':'class','algorithm':'logistic'}");
    job_train("{'model':'curved','dataset':'iris','target':'class','algorithm':'svm',"
              "'params':{'kernel':'rbf'}}");
    keep_free();
    return 0;
}

static double at(const json_t *list, size_t i) {
    assert_true(json_is_number(json_array_get(list, i)));
    return json_number_value(json_array_get(list, i));
}

static double item(const struct response *r, const char *list, size_t i, size_t j) {
    return at(json_array_get(value_at(r, list), i), j);
}

/* phi(a, b) by the names of the features; w'phi + w0 is the score. */
static void points_after_basis_functions(void **state) {
    (void)state;
    const struct response
        *z = status_check(call_text("POST", "/v1/models/poly/transform?of=basis", NULL, XOR), 200),
        *g = status_check(call_text("POST", "/v1/models/poly/transform?of=scores", NULL, XOR), 200),
        *w = status_check(call_get("/v1/models/poly/weights"), 200);
    assert_int_equal(real_at(z, "/components"), 5);
    assert_int_equal(real_at(g, "/components"), 1);
    for (size_t i = 0; i < 5; i++) {
        /* a, b, then the products of degree 2 */
        const double a = x[i][0], b = x[i][1], phi[5] = {a, b, a * a, a * b, b * b};
        double sum = real_at(w, "/w0/0");
        for (size_t j = 0; j < 5; j++) {
            assert_true(item(z, "/rows", i, j) == phi[j]);
            sum += item(w, "/w", 0, j) * phi[j];
        }
        assert_near(item(g, "/rows", i, 0), sum, 1e-12);
    }
}

/* exp(-|x - c|² / (2 width²)) with width 1. */
static void points_after_gaussians(void **state) {
    (void)state;
    const struct response *z = status_check(call_text("POST", "/v1/models/bumps/transform?of=basis",
                                                      NULL, XOR),
                                            200),
                          *w = status_check(call_get("/v1/models/bumps/weights"), 200);
    assert_int_equal(real_at(z, "/components"), 2);
    for (size_t i = 0; i < 5; i++) {
        for (size_t c = 0; c < 2; c++) {
            const double da = x[i][0] - item(w, "/bases/0/centres", c, 0),
                         db = x[i][1] - item(w, "/bases/0/centres", c, 1);
            assert_near(item(z, "/rows", i, c), exp(-(da * da + db * db) / 2), 1e-12);
        }
    }
}

/* Layer l of a network in its weights. */
static const json_t *layer(const struct response *w, size_t l) {
    return json_array_get(value_at(w, "/layers"), l);
}

/* to [units] = w from + w0 */
static size_t sums(const json_t *one, const double *from, size_t n, double *to) {
    const size_t units = (size_t)json_number_value(json_object_get(one, "units"));
    for (size_t u = 0; u < units; u++) {
        to[u] = at(json_object_get(one, "w0"), u);
        for (size_t j = 0; j < n; j++) {
            to[u] += at(json_array_get(json_object_get(one, "w"), u), j) * from[j];
        }
    }
    return units;
}

static void points_after_the_hidden_layer(void **state) {
    (void)state;
    const struct response *z = status_check(call_text("POST", "/v1/models/net/transform?of=hidden",
                                                      NULL, XOR),
                                            200),
                          *g = status_check(call_text("POST",
                                                      "/v1/models/net/versions/1/"
                                                      "transform?of=scores",
                                                      NULL, XOR),
                                            200),
                          *w = status_check(call_get("/v1/models/net/weights"), 200);
    const bool is_tanh = strcmp(string_at(w, "/activation"), "tanh") == 0,
               is_relu = strcmp(string_at(w, "/activation"), "relu") == 0;
    assert_int_equal(real_at(z, "/components"), 3);
    for (size_t i = 0; i < 5; i++) {
        double hidden[3], score;
        assert_int_equal(sums(layer(w, 0), x[i], 2, hidden), 3);
        for (size_t u = 0; u < 3; u++) {
            hidden[u] = is_tanh   ? tanh(hidden[u])
                        : is_relu ? fmax(hidden[u], 0)
                                  : 1 / (1 + exp(-hidden[u]));
            assert_near(item(z, "/rows", i, u), hidden[u], 1e-12);
        }
        assert_int_equal(sums(layer(w, 1), hidden, 3, &score), 1);
        assert_near(item(g, "/rows", i, 0), score, 1e-11);
    }
}

/* Two hidden layers: the outputs of the last one. Standardised features. */
static void points_after_the_last_hidden_layer(void **state) {
    (void)state;
    const double row[4] = {5.1, 3.5, 1.4, 0.2};
    double first[4], second[2];
    const struct response *z =
                              status_check(call_json("POST", "/v1/models/deep/transform?of=hidden",
                                                     "{'instances':[[5.1,3.5,1.4,0.2],[6,3,5,2]]}"),
                                           200),
                          *w = status_check(call_get("/v1/models/deep/weights"), 200);
    assert_int_equal(real_at(z, "/components"), 2);
    assert_int_equal(count_at(z, "/rows"), 2);
    (void)sums(layer(w, 0), row, 4, first);
    for (size_t u = 0; u < 4; u++) {
        first[u] = tanh(first[u]);
    }
    (void)sums(layer(w, 1), first, 4, second);
    for (size_t u = 0; u < 2; u++) {
        assert_near(item(z, "/rows", 0, u), tanh(second[u]), 1e-12);
    }
}

/* Scores equal those of predictions, also of kernel machines with several machines; CSV and NDJSON
 * have the same numbers. */
static void raw_scores(void **state) {
    (void)state;
    static const char *const models[] = {"lines", "curved", "deep", "nets"};
    for (size_t m = 0; m < 4; m++) {
        const char *body = "{\"instances\":[[5.1,3.5,1.4,0.2],[6,3,5,2],[null,3,4,1]]}";
        const struct response *
            z = status_check(call_text("POST", text("/v1/models/%s/transform?of=scores", models[m]),
                                       NULL, body),
                             200),
           *p = status_check(call_text("POST",
                                       text("/v1/models/%s/predict?output=scores", models[m]), NULL,
                                       body),
                             200);
        for (size_t i = 0; i < 3; i++) {
            assert_true(json_equal(json_array_get(value_at(z, "/rows"), i),
                                   json_object_get(json_array_get(value_at(p, "/predictions"), i),
                                                   "scores")));
        }
    }
    const struct response *lines =
        status_check(call_text("POST", "/v1/models/poly/transform?of=basis",
                               "Content-Type: application/x-ndjson", "[2,-3]\n[1,\"x\"]\n"),
                     200);
    assert_non_null(strstr(lines->body, "[2,-3,4,-6,9]\n"));
    assert_string_equal(header_of(lines, "Discern-Refused"), "1");
}

static void refused(const char *model, const char *of, const char *words) {
    const struct response *r =
        problem_check(call_text("POST", text("/v1/models/%s/transform?of=%s", model, of), NULL,
                                "{\"instances\":[[1,2,3,4]]}"),
                      409, "conflict");
    assert_non_null(strstr(string_at(r, "/detail"), words));
    r = problem_check(call_text("POST", text("/v1/models/%s/transform?of=%s", model, of),
                                "Content-Type: application/x-ndjson", "[1,2,3,4]\n"),
                      409, "conflict");
    assert_non_null(strstr(string_at(r, "/detail"), words));
}

static void models_without_the_coordinates(void **state) {
    (void)state;
    refused("lines", "basis", "no basis functions");
    refused("lines", "hidden", "no hidden layer");
    refused("nets", "hidden", "several machines");
    refused("deep", "directions", "no directions");
    refused("curved", "hidden", "\"svm\"");
    const struct response *r =
        problem_check(call_text("POST", "/v1/models/lines/transform?of=x", NULL, XOR), 400,
                      "bad-request");
    assert_non_null(strstr(string_at(r, "/detail"), "directions, basis, hidden or scores"));
    problem_check(call_text("POST", "/v1/models/lines/transform?of=x",
                            "Content-Type: application/x-ndjson", "[1,2,3,4]\n"),
                  400, "bad-request");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(points_after_basis_functions),
        TEST(points_after_gaussians),
        TEST(points_after_the_hidden_layer),
        TEST(points_after_the_last_hidden_layer),
        TEST(raw_scores),
        TEST(models_without_the_coordinates),
    };
    return cmocka_run_group_tests(tests, prepare, group_end);
}
