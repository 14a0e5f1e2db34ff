/* GET …/weights of kernel machines: what it says is what the model answers; and the outputs that such models have, and have not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { IRIS = 150, IRIS_COLUMNS = 4, WORDS = 90, WORD_ROWS = 60, MOST_COLUMNS = WORDS };

static struct daemon d;
static double iris[IRIS][MOST_COLUMNS], words[WORD_ROWS][MOST_COLUMNS];
static char *iris_body, words_body[1 << 16];

static void train_as(const char *model, const char *dataset, const char *algorithm, const char *rest) {
    char text[512];
    (void)snprintf(text, sizeof text, "{\"model\":\"%s\",\"dataset\":\"%s\",\"algorithm\":\"%s\",%s}", model, dataset, algorithm, rest);
    json_decref(train(&d, text, "succeeded"));
}

static void read_iris(void) {
    static const char *const columns[] = {"sepal_length", "sepal_width", "petal_length", "petal_width"};
    struct answer a = get(&d, "/v1/datasets/iris/rows?limit=1000");
    const json_t *rows = at(a.json, "items");
    for (size_t i = 0; i < IRIS; i++) {
        json_t *row = json_array_get(rows, i);
        json_object_del(row, "class");
        for (size_t j = 0; j < IRIS_COLUMNS; j++)
            iris[i][j] = json_number_value(json_object_get(row, columns[j]));
    }
    json_t *asked = json_pack("{sO}", "instances", rows);
    iris_body = json_dumps(asked, JSON_COMPACT);
    json_decref(asked);
    answer_done(&a);
}

/* Rows of a few places each, as svmlight, labelled by whether an even place weighs more. */
static void make_words(char *out, size_t size) {
    size_t n = 0;
    unsigned state = 1;
    for (size_t i = 0; i < WORD_ROWS; i++) {
        double balance = 0;
        char row[1024];
        size_t length = 0;
        for (size_t j = 0; j < WORDS; j++) {
            state = state * 1103515245u + 12345u;
            if ((state >> 16) % 12 != 0 && j != i % WORDS)
                continue;
            words[i][j] = (double)(1 + (state >> 20) % 3);
            balance += j % 2 == 0 ? words[i][j] : -words[i][j];
            length += (size_t)snprintf(row + length, sizeof row - length, " %zu:%g", j + 1, words[i][j]);
        }
        n += (size_t)snprintf(out + n, size - n, "%d%s\n", balance > 0 ? 1 : -1, row);
    }
}

static int open_daemon(void **state) {
    (void)state;
    daemon_open(&d, NULL);
    upload(&d, "iris");
    read_iris();
    make_words(words_body, sizeof words_body);
    const char *const type[] = {"Content-Type: text/x-svmlight", NULL};
    struct answer a = ask(&d, "PUT", "/v1/datasets/words", type, words_body, strlen(words_body));
    if (a.status != 201)
        fail_msg("%ld %s", a.status, a.body);
    answer_done(&a);
    return 0;
}

static int close_daemon(void **state) {
    (void)state;
    free(iris_body);
    daemon_close(&d);
    return 0;
}

static struct answer ask_of(const char *model, const char *what, const char *type, const char *body) {
    char path[160];
    (void)snprintf(path, sizeof path, "/v1/models/%s/%s", model, what);
    struct answer a = body ? send_typed(&d, "POST", path, type, body) : get(&d, path);
    if (a.status != 200)
        fail_msg("%s: %ld %s", path, a.status, a.body);
    return a;
}

/* ---- scores from what the weights say ---------------------------------------------------------------------------------------------------- */
/* What is asked of a table: its rows, how many of how many columns. */
struct rows {
    double (*x)[MOST_COLUMNS];
    size_t n, d;
};

static double item(const json_t *array, size_t i) {
    return json_number_value(json_array_get(array, i));
}

/* Support vector s as the columns have it. */
static void support_row(const json_t *w, size_t s, size_t n, double *out) {
    const json_t *row = json_array_get(at(w, "support_vectors"), s);
    const bool sparse = json_is_true(at(w, "sparse"));
    memset(out, 0, n * sizeof *out);
    assert_true(json_is_array(row) && (sparse || json_array_size(row) == n));
    for (size_t e = 0; e < json_array_size(row); e++) {
        const json_t *pair = json_array_get(row, e);
        if (sparse)
            out[(size_t)item(pair, 0)] = item(pair, 1);
        else
            out[e] = json_number_value(pair);
    }
}

/* K of two rows in the columns' units. A mahalanobis kernel of two columns' covariance would need its inverse: by Gauss and Jordan. */
static void solve(double *a, double *b, size_t n) {
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) {
            const double f = k == i ? 0 : a[k * n + i] / a[i * n + i];
            for (size_t j = 0; j < n; j++)
                a[k * n + j] -= f * a[i * n + j];
            b[k] -= f * b[i];
        }
    for (size_t i = 0; i < n; i++)
        b[i] /= a[i * n + i];
}

static double mahalanobis_of(const json_t *kernel, const double *step, size_t n) {
    double room[IRIS_COLUMNS * IRIS_COLUMNS], solved[IRIS_COLUMNS], sum = 0;
    assert_int_equal(n, IRIS_COLUMNS);
    memcpy(solved, step, sizeof solved);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            room[i * n + j] = item(json_array_get(at(kernel, "covariance"), i), j);
    solve(room, solved, n);
    for (size_t j = 0; j < n; j++)
        sum += step[j] * solved[j];
    return exp(-sum / 2);
}

static double distance_of(const char *metric, const double *step, const double *x, const double *z, size_t n) {
    double square = 0, sum = 0, most = 0, xz = 0, xx = 0, zz = 0;
    for (size_t j = 0; j < n; j++) {
        square += step[j] * step[j];
        sum += fabs(step[j]);
        most = fmax(most, fabs(step[j]));
        xz += x[j] * z[j];
        xx += x[j] * x[j];
        zz += z[j] * z[j];
    }
    if (strcmp(metric, "euclidean") == 0)
        return sqrt(square);
    if (strcmp(metric, "manhattan") == 0)
        return sum;
    if (strcmp(metric, "chebyshev") == 0)
        return most;
    assert_string_equal(metric, "cosine");
    return 1 - xz / sqrt(xx * zz);
}

/* Without `normalize`, of two rows in the columns' units. */
static double bare_kernel(const json_t *w, const double *raw_x, const double *raw_z, size_t n) {
    const json_t *kernel = at(w, "kernel"), *scale = json_object_get(w, "scale"), *mean = json_object_get(w, "mean");
    const char *type = text_at(kernel, "type");
    double raw_step[MOST_COLUMNS], step[MOST_COLUMNS], x[MOST_COLUMNS], z[MOST_COLUMNS], square = 0, product = 0;
    for (size_t j = 0; j < n; j++) {
        const double s = scale ? item(scale, j) : 1, m = mean ? item(mean, j) : 0;
        raw_step[j] = raw_x[j] - raw_z[j];
        x[j] = (raw_x[j] - m) / s;
        z[j] = (raw_z[j] - m) / s;
        step[j] = raw_step[j] / s;
        square += step[j] * step[j];
        product += x[j] * z[j];
    }
    if (strcmp(type, "linear") == 0)
        return product;
    if (strcmp(type, "rbf") == 0)
        return exp(-square / (2 * pow(number_at(kernel, "width"), 2)));
    if (strcmp(type, "polynomial") == 0)
        return pow(number_at(kernel, "gamma") * product + number_at(kernel, "coef0"), number_at(kernel, "degree"));
    if (strcmp(type, "sigmoid") == 0)
        return tanh(number_at(kernel, "scale") * product + number_at(kernel, "coef0"));
    if (strcmp(type, "distance") == 0)
        return exp(-distance_of(text_at(kernel, "metric"), step, x, z, n) / (2 * pow(number_at(kernel, "width"), 2)));
    assert_string_equal(type, "mahalanobis");
    return mahalanobis_of(kernel, raw_step, n);
}

static double kernel_value(const json_t *w, const double *x, const double *z, size_t n) {
    const double k = bare_kernel(w, x, z, n);
    if (!json_is_true(at(w, "kernel.normalize")))
        return k;
    const double xx = bare_kernel(w, x, x, n), zz = bare_kernel(w, z, z, n);
    return xx > 0 && zz > 0 ? k / sqrt(xx * zz) : 0;
}

static double score_of(const json_t *w, const json_t *machine, const double *x, size_t n, double *size) {
    const json_t *index = at(machine, "indexes"), *coef = at(machine, "coefficients");
    double sum = item(at(machine, "w0"), 0), z[MOST_COLUMNS];
    *size = fabs(sum);
    assert_int_equal(json_array_size(index), json_array_size(coef));
    for (size_t i = 0; i < json_array_size(index); i++) {
        support_row(w, (size_t)item(index, i), n, z);
        const double part = item(coef, i) * kernel_value(w, z, x, n);
        sum += part;
        *size += fabs(part);
    }
    return sum;
}

/* Scores, labels, distances and missing contributions of a model with n_machines. */
static void expect_model(const char *model, struct rows rows, const char *type, const char *body, size_t n_machines) {
    struct answer w = ask_of(model, "weights", NULL, NULL);
    struct answer p = ask_of(model, "predict?output=scores,distance,contributions,label", type, body);
    const json_t *machines = json_object_get(w.json, "machines"), *predictions = at(p.json, "predictions");
    const char *kernel = text_at(w.json, "kernel.type");
    /* Gaussian kernels may be computed in single precision where that changes no value by more than 1e-6. */
    const double tolerance = strcmp(kernel, "rbf") == 0 || strcmp(kernel, "mahalanobis") == 0 ? 2e-6 : 1e-9;
    assert_string_equal(text_at(w.json, "kind"), "kernel");
    assert_int_equal(number_at(w.json, "n_support_vectors"), json_array_size(at(w.json, "support_vectors")));
    assert_int_equal(machines ? json_array_size(machines) : 1, n_machines);
    assert_int_equal(json_array_size(predictions), rows.n);
    for (size_t i = 0; i < rows.n; i += 7) {
        const json_t *row = json_array_get(predictions, i);
        assert_true(json_is_null(at(row, "contributions")));
        for (size_t k = 0; k < n_machines; k++) {
            const json_t *machine = machines ? json_array_get(machines, k) : w.json;
            double size, expected = score_of(w.json, machine, rows.x[i], rows.d, &size);
            const double got = item(at(row, "scores"), k);
            expect_near(got, expected, tolerance * size);
            if (n_machines == 1)
                expect_near(number_at(row, "distance") * number_at(machine, "norm"), got, 1e-12 * fabs(got));
            else
                assert_true(json_is_null(at(row, "distance")));
        }
    }
    answer_done(&w);
    answer_done(&p);
    w = ask_of(model, "weights?matrices=false", NULL, NULL);
    assert_null(json_object_get(w.json, "support_vectors"));
    assert_null(json_object_get(w.json, "coefficients"));
    assert_null(json_object_get(at(w.json, "kernel"), "covariance"));
    assert_true(number_at(w.json, "n_support_vectors") > 0);
    answer_done(&w);
}

static void test_dense(void **state) {
    (void)state;
    const struct rows rows = {iris, IRIS, IRIS_COLUMNS};
    train_as("pairs", "iris", "svm", "\"target\":\"class\",\"params\":{\"kernel\":\"rbf\"}");
    expect_model("pairs", rows, "application/json", iris_body, 3);
    train_as("rest", "iris", "svm",
             "\"target\":\"class\",\"params\":{\"kernel\":{\"type\":\"polynomial\",\"degree\":3},\"multiclass\":\"one_vs_rest\"}");
    expect_model("rest", rows, "application/json", iris_body, 3);
    train_as("maha", "iris", "svm", "\"target\":\"class\",\"params\":{\"kernel\":\"mahalanobis\"}");
    expect_model("maha", rows, "application/json", iris_body, 3);
}

static void test_other_kernels(void **state) {
    (void)state;
    static const char *const kernels[] = {
        "{\"type\":\"distance\",\"metric\":\"euclidean\",\"width\":0.8}",
        "{\"type\":\"distance\",\"metric\":\"manhattan\"}",
        "{\"type\":\"distance\",\"metric\":\"chebyshev\",\"width\":1.5}",
        "{\"type\":\"distance\",\"metric\":\"cosine\"}",
        "{\"type\":\"sigmoid\",\"scale\":0.2,\"coef0\":-1}",
        "{\"type\":\"linear\",\"normalize\":true}",
        "{\"type\":\"polynomial\",\"degree\":2,\"coef0\":0.5,\"gamma\":0.3,\"normalize\":true}",
        "{\"type\":\"sigmoid\",\"normalize\":true}",
    };
    const struct rows rows = {iris, IRIS, IRIS_COLUMNS};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        char rest[256];
        (void)snprintf(rest, sizeof rest, "\"target\":\"class\",\"params\":{\"kernel\":%s}", kernels[i]);
        train_as("other", "iris", "svm", rest);
        expect_model("other", rows, "application/json", iris_body, 3);
    }
}

static void test_sparse(void **state) {
    (void)state;
    const struct rows rows = {words, WORD_ROWS, WORDS};
    train_as("sparse", "words", "svm", "\"target\":\"label\",\"params\":{\"kernel\":{\"type\":\"rbf\",\"width\":6}}");
    struct answer w = ask_of("sparse", "weights", NULL, NULL);
    assert_true(json_is_true(at(w.json, "sparse")));
    assert_null(json_object_get(w.json, "mean"));
    answer_done(&w);
    expect_model("sparse", rows, "text/x-svmlight", words_body, 1);
}

static void test_outliers(void **state) {
    (void)state;
    const struct rows rows = {iris, IRIS, IRIS_COLUMNS};
    train_as("one", "iris", "one_class_svm",
             "\"features\":{\"exclude\":[\"class\"]},"
             "\"params\":{\"kernel\":{\"type\":\"rbf\",\"width\":2},\"nu\":0.2}");
    struct answer w = ask_of("one", "weights", NULL, NULL), p = ask_of("one", "predict?output=scores,label", "application/json", iris_body);
    size_t n_out = 0;
    const double threshold = number_at(w.json, "threshold");
    assert_string_equal(text_at(w.json, "decision"), "outlier");
    for (size_t i = 0; i < IRIS; i++) {
        const json_t *row = json_array_get(at(p.json, "predictions"), i);
        const bool out = item(at(row, "scores"), 0) < -threshold;
        assert_string_equal(text_at(row, "label"), out ? "outlier" : "inlier");
        n_out += out;
    }
    assert_true(n_out > 0 && n_out <= IRIS / 5);
    answer_done(&w);
    answer_done(&p);
    expect_model("one", rows, "application/json", iris_body, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dense),
        cmocka_unit_test(test_other_kernels),
        cmocka_unit_test(test_sparse),
        cmocka_unit_test(test_outliers),
    };
    return cmocka_run_group_tests(tests, open_daemon, close_daemon);
}
