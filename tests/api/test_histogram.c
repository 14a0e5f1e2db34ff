/* POST …/transform with "histogram": the counts are those of a plain loop over the coordinates. */
#include "lib/api.h"

#include <math.h>
#include <string.h>

enum { BINS = 7, ROWS = 150 };

static int prepare(void **state) {
    if (group_start(state) != 0) {
        return -1;
    }
    upload_file("iris", "iris.csv");
    /* weights 1, 2, 3; the row of weight 0 and the row without a class are ignored */
    status_check(call_upload("/v1/datasets/pair",
                             "x1,x2,class,v\n1,2,p,1\n2,1,p,2\n3,5,q,3\n5,4,q,1\n2,4,p,1\n4,2,q,"
                             "2\n9,9,q,0\n50,50,,1\n3,3,p,1.5\n"),
                 201);
    job_train("{'model':'fisher','dataset':'iris','target':'class','algorithm':'fisher'}");
    job_train("{'model':'curved','dataset':'iris','target':'class','algorithm':'svm',"
              "'params':{'kernel':'rbf'}}");
    job_train("{'model':'net','dataset':'iris','target':'class','algorithm':'mlp',"
              "'params':{'layers':[3],'max_iterations':20}}");
    job_train("{'model':'poly','dataset':'iris','target':'class','algorithm':'logistic',"
              "'features':{'standardize':false,'basis':[{'type':'polynomial','degree':2}]}}");
    job_train("{'model':'pair','dataset':'pair','target':'class','algorithm':'least_squares','"
              "features':{'exclude':['v']}}");
    keep_free();
    return 0;
}

static double at(const json_t *list, size_t i) {
    assert_true(json_is_number(json_array_get(list, i)));
    return json_number_value(json_array_get(list, i));
}

/* The histograms of iris against the coordinates of its rows. */
static void agrees(const char *model, const char *of) {
    const struct response *rows = status_check(call_get("/v1/datasets/iris/rows?limit=1000"), 200),
                          *h = status_check(call_post(text("/v1/models/%s/transform?of=%s", model,
                                                           of),
                                                      "{'dataset':'iris','histogram':%d}", BINS),
                                            200);
    char *items = json_dumps(value_at(rows, "/items"), JSON_COMPACT);
    const struct response *z =
        status_check(call_text("POST", text("/v1/models/%s/transform?of=%s", model, of), NULL,
                               text("{\"instances\":%s}", items)),
                     200);
    free(items);
    const size_t n = count_at(h, "/histograms");
    assert_int_equal(real_at(h, "/components"), n);
    assert_int_equal(real_at(z, "/components"), n);
    assert_int_equal(real_at(h, "/rows"), ROWS);
    for (size_t c = 0; c < n; c++) {
        const json_t *one = json_array_get(value_at(h, "/histograms"), c),
                     *edges = json_object_get(one, "edges");
        double least = (double)INFINITY, most = -(double)INFINITY, counts[3][BINS] = {{0}};
        assert_int_equal(json_array_size(edges), BINS + 1);
        for (size_t i = 0; i < ROWS; i++) {
            const double value = at(json_array_get(value_at(z, "/rows"), i), c);
            least = fmin(least, value);
            most = fmax(most, value);
            size_t b = 0;
            while (b + 1 < BINS && value >= at(edges, b + 1)) {
                b++;
            }
            counts[i / 50][b]++; /* fifty rows of each class, in order of the classes */
        }
        const double size = fmax(fabs(least), fabs(most));
        for (size_t b = 0; b <= BINS; b++) {
            assert_near(at(edges, b), least + (most - least) * (double)b / BINS, 1e-12 * size);
        }
        for (size_t k = 0; k < 3; k++) {
            for (size_t b = 0; b < BINS; b++) {
                const double count = at(json_array_get(json_object_get(one, "counts"), k), b);
                if (count != counts[k][b]) {
                    fail_msg("%s %s, component %zu, class %zu, bin %zu: %g rows, not %g", model, of,
                             c, k, b, count, counts[k][b]);
                }
            }
        }
    }
}

static void counts_of_iris(void **state) {
    (void)state;
    agrees("fisher", "directions");
    agrees("fisher", "scores");
    agrees("curved", "scores");
    agrees("net", "hidden");
    agrees("poly", "basis");
}

/* Scores of the rows of weight above 0, weighted: p has 1 + 2 + 1 + 1.5, q has 3 + 1 + 2. */
static void weights_count(void **state) {
    (void)state;
    const struct response
        *h = status_check(
            call_post("/v1/models/pair/versions/1/transform?of=scores",
                      "{'dataset':'pair@1','target':'class','weight':'v','histogram':2}"),
            200),
        *w = call_get("/v1/models/pair/weights");
    static const double x[7][4] = {{1, 2, 0, 1}, {2, 1, 0, 2}, {3, 5, 1, 3},  {5, 4, 1, 1},
                                   {2, 4, 0, 1}, {4, 2, 1, 2}, {3, 3, 0, 1.5}};
    double score[7], least = (double)INFINITY, most = -(double)INFINITY, counts[2][2] = {{0}};
    for (size_t i = 0; i < 7; i++) {
        score[i] = real_at(w, "/w0/0") + at(json_array_get(value_at(w, "/w"), 0), 0) * x[i][0] +
                   at(json_array_get(value_at(w, "/w"), 0), 1) * x[i][1];
        least = fmin(least, score[i]);
        most = fmax(most, score[i]);
    }
    for (size_t i = 0; i < 7; i++) {
        counts[(size_t)x[i][2]][score[i] >= (least + most) / 2] += x[i][3];
    }
    assert_int_equal(real_at(h, "/rows"), 7);
    assert_near(real_at(h, "/histograms/0/edges/1"), (least + most) / 2, 1e-12);
    for (size_t k = 0; k < 2; k++) {
        for (size_t b = 0; b < 2; b++) {
            assert_true(real_at(h, text("/histograms/0/counts/%zu/%zu", k, b)) == counts[k][b]);
        }
    }
    assert_true(counts[0][0] + counts[0][1] == 5.5 && counts[1][0] + counts[1][1] == 6);
    assert_json(h, "/classes", "['p','q']");
}

static void refused(const char *path, const char *body, const char *place, const char *words) {
    fault_contains(problem_check(call_post(path, "%s", body), 422, "invalid"), place, words);
}

static void bad_calls(void **state) {
    (void)state;
    const char *path = "/v1/models/fisher/transform";
    refused(path, "{'histogram':3}", "/dataset", "missing");
    refused(path, "{'histogram':0,'dataset':'iris'}", "/histogram", "1");
    refused(path, "{'histogram':1001,'dataset':'iris'}", "/histogram", "1000");
    refused(path, "{'histogram':'3','dataset':'iris'}", "/histogram", "integer");
    refused(path, "{'histogram':3,'dataset':'nobody'}", "/dataset", "nobody");
    refused(path, "{'histogram':3,'dataset':'pair'}", "/dataset", "not one of the model's classes");
    refused(path, "{'histogram':3,'dataset':'iris','target':'species'}", "/target", "species");
    refused(path, "{'histogram':3,'dataset':'iris','weight':'w'}", "/weight", "\"w\"");
    refused(path, "{'histogram':3,'dataset':'iris','x':1}", "/x", "known");
    refused("/v1/models/pair/transform?of=scores", "{'histogram':3,'dataset':'pair','weight':'x3'}",
            "/weight", "x3");
    refused("/v1/models/pair/transform?of=scores",
            "{'histogram':3,'dataset':'pair','weight':'class'}", "/weight", "numeric");
    problem_check(call_post("/v1/models/curved/transform", "{'histogram':3,'dataset':'iris'}"), 409,
                  "conflict");
    problem_check(call_post("/v1/models/nobody/transform", "{'histogram':3,'dataset':'iris'}"), 404,
                  "unknown-model");
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(counts_of_iris), TEST(weights_count), TEST(bad_calls)};
    return cmocka_run_group_tests(tests, prepare, group_end);
}
