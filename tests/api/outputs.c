#include "outputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

char *grid, *flowers;
size_t n_grid, n_flowers;

/* ---- setting up ---- */

/* Three elongated blobs in different directions: the boundaries between pairs of them do not meet
 * in one point. */
static void put_blobs(void) {
    static const double middle[3][2] = {{0, 0}, {4, 1}, {1, 4}},
                        along[3][2] = {{2.6, 0.4}, {-0.3, 2.4}, {1.4, -1.4}};
    char *text = malloc(200 * 64);
    assert_non_null(text);
    size_t n = (size_t)sprintf(text, "x,y,class\n");
    for (int i = 0; i < 150; i++) {
        const int k = i % 3;
        const double angle = 2.4 * i, radius = sqrt((i / 3 + 0.5) / 50), u = radius * cos(angle),
                     v = 0.4 * radius * sin(angle);
        n += (size_t)sprintf(text + n, "%.6f,%.6f,%c\n",
                             middle[k][0] + u * along[k][0] - v * along[k][1],
                             middle[k][1] + u * along[k][1] + v * along[k][0], 'a' + k);
    }
    status_check(call_upload("/v1/datasets/blobs", text), 201);
    free(text);
}

static void make_grid(void) {
    grid = malloc(41 * 41 * 32 + 64);
    assert_non_null(grid);
    size_t n = (size_t)sprintf(grid, "{\"instances\":[");
    for (int i = 0; i < 41; i++) {
        for (int j = 0; j < 41; j++, n_grid++) {
            n += (size_t)sprintf(grid + n, "%s[%.2f,%.2f]", n_grid > 0 ? "," : "", -3 + 0.25 * i,
                                 -3 + 0.25 * j);
        }
    }
    sprintf(grid + n, "]}");
}

static void make_flowers(void) {
    const struct response *a =
        call_get("/v1/datasets/iris/"
                 "rows?limit=1000&columns=sepal_length,sepal_width,petal_length,petal_width");
    status_check(a, 200);
    json_t *body = json_pack("{sO}", "instances", json_find(a->json, "/items"));
    n_flowers = count_at(a, "/items");
    flowers = json_dumps(body, JSON_COMPACT);
    assert_int_equal(n_flowers, 150);
    json_decref(body);
}

void train_as(const char *model, const char *dataset, const char *target, const char *algorithm,
              const char *params) {
    job_train("{'model':'%s','dataset':'%s','target':'%s','algorithm':'%s','params':{%s}}", model,
              dataset, target, algorithm, params);
}

int outputs_open(void **state) {
    (void)state;
    service_start(NULL);
    upload_file("iris", "iris.csv");
    upload_file("breast_cancer", "breast_cancer.csv");
    put_blobs();
    make_grid();
    make_flowers();
    train_as("iris", "iris", "class", "logistic", "");
    train_as("cancer", "breast_cancer", "class", "logistic", "");
    train_as("softmax", "blobs", "class", "logistic", "");
    train_as("rest", "blobs", "class", "logistic", "\"multiclass\":\"one_vs_rest\"");
    train_as("rest_strict", "blobs", "class", "logistic", "\"multiclass\":\"one_vs_rest_strict\"");
    train_as("rest_strict_less", "blobs", "class", "logistic",
             "\"multiclass\":\"one_vs_rest_strict\",\"discriminants\":\"K-1\"");
    train_as("pairs", "blobs", "class", "logistic", "\"multiclass\":\"one_vs_one\"");
    train_as("pairs_strict", "blobs", "class", "logistic", "\"multiclass\":\"one_vs_one_strict\"");
    status_check(
        call_upload("/v1/datasets/mixed?types=ok:boolean",
                    "size,colour,ok\n1,red,1\n2,blue,0\n3,red,1\n4,,0\n,blue,0\n6,red,1\n5,"
                    "blue,1\n2.5,red,0\n"),
        201);
    train_as("mixed", "mixed", "ok", "logistic", "");
    train_as("mixed_bayes", "mixed", "ok", "naive_bayes", "");
    return 0;
}

int outputs_close(void **state) {
    (void)state;
    free(grid);
    free(flowers);
    daemon_close(&the_daemon);
    return 0;
}

/* ---- checks of answers ---- */

const struct response *predict(const char *model, const char *outputs, const char *body) {
    const char *path = text("/v1/models/%s/predict?output=%s", model, outputs);
    const struct response *a = call_text("POST", path, NULL, body);
    if (a->status != 200) {
        fail_msg("%s: %d %s", path, a->status, a->body);
    }
    return a;
}

const struct response *weights_of(const char *model) {
    const struct response *a = status_check(call_get("/v1/models/%s/weights", model), 200);
    return a;
}

double item(const json_t *array, size_t i) {
    const json_t *value = json_array_get(array, i);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

const json_t *row_of(const struct response *a, size_t i) {
    return json_array_get(json_find(a->json, "/predictions"), i);
}

size_t class_of(const struct response *a, const json_t *label) {
    const json_t *classes = json_find(a->json, "/classes");
    for (size_t k = 0; k < json_array_size(classes); k++) {
        if (json_equal(json_array_get(classes, k), label)) {
            return k;
        }
    }
    assert_true(json_is_null(label));
    return SIZE_MAX;
}

void expect_sums(const struct response *a) {
    const json_t *row, *features = json_find(a->json, "/features"),
                       *intercept = json_find(a->json, "/intercept");
    size_t i;
    json_array_foreach(json_find(a->json, "/predictions"), i, row) {
        const json_t *parts = json_object_get(row, "contributions"),
                     *scores = json_object_get(row, "scores");
        assert_int_equal(json_array_size(parts), json_array_size(scores));
        assert_int_equal(json_array_size(intercept), json_array_size(scores));
        for (size_t k = 0; k < json_array_size(scores); k++) {
            double sum = item(intercept, k), size = fabs(sum);
            assert_int_equal(json_array_size(json_array_get(parts, k)), json_array_size(features));
            for (size_t j = 0; j < json_array_size(features); j++) {
                sum += item(json_array_get(parts, k), j);
                size += fabs(item(json_array_get(parts, k), j));
            }
            assert_near(sum, item(scores, k), 1e-13 * size);
        }
    }
}
