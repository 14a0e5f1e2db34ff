/* GET …/weights of models with bases: the description of each basis is enough to compute the
 * features of a row and, with w and w0, the scores of predictions. */
#include "lib/api.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 8, COLUMNS = 4, MOST = 64 };
static const char *const columns[COLUMNS] = {"sepal_length", "sepal_width", "petal_length",
                                             "petal_width"};
/* NaN: missing. The last row is far from all others. */
static const double rows[ROWS][COLUMNS] = {
    {5.1, 3.5, 1.4, 0.2},         {6.3, 3.3, 6.0, 2.5},         {5.5, 2.3, 4.0, 1.3},
    {4.9, 2.5, (double)NAN, 1.7}, {(double)NAN, 3.0, 5.1, 1.8}, {6.0, 2.2, 4.0, (double)NAN},
    {5.0, (double)NAN, 1.6, 0.6}, {12.0, 7.0, 0.5, (double)NAN}};

static int open_daemon(void **state) {
    (void)state;
    service_start(NULL);
    upload_file("iris", "iris.csv");
    return 0;
}

/* ---- asking ---- */

static void train_with(const char *more, const char *features) {
    job_train("{'model':'m','dataset':'iris','target':'class',%s,'features':{%s}}", more, features);
}

/* Scores of the rows, sent as objects because the model may use only some of the columns. */
static const struct response *scores_of(const struct response *weights) {
    json_t *list = json_array();
    for (size_t i = 0; i < ROWS; i++) {
        json_t *row = json_object();
        for (size_t c = 0; c < COLUMNS; c++) {
            if (strstr(weights->body, columns[c])) {
                json_object_set_new(row, columns[c],
                                    isnan(rows[i][c]) ? json_null() : json_real(rows[i][c]));
            }
        }
        json_array_append_new(list, row);
    }
    json_t *asked = json_pack("{so}", "instances", list);
    char *body = json_dumps(asked, JSON_COMPACT);
    const struct response *a = call_text("POST", "/v1/models/m/predict?output=scores", NULL, body);
    if (a->status != 200) {
        fail_msg("%d %s", a->status, a->body);
    }
    free(body);
    json_decref(asked);
    return a;
}

static size_t column_of(const char *name) {
    for (size_t c = 0; c < COLUMNS; c++) {
        if (strcmp(columns[c], name) == 0) {
            return c;
        }
    }
    return COLUMNS;
}

static double number(const json_t *array, size_t i) {
    const json_t *value = json_array_get(array, i);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

/* ---- features from the numbers of a basis ---- */

/* One basis and the values of its columns in one row; z equals x if the basis does not
 * standardise. */
struct view {
    const json_t *basis;
    size_t p;
    double x[COLUMNS], z[COLUMNS];
};

static double standard(const struct view *v, size_t c, double x) {
    if (!json_is_true(json_find(v->basis, "/standardize"))) {
        return x;
    }
    return (x - number(json_find(v->basis, "/mean"), c)) / number(json_find(v->basis, "/scale"), c);
}

static struct view view_of(const json_t *basis, const double *row) {
    struct view v = {.basis = basis, .p = json_array_size(json_find(basis, "/columns"))};
    assert_int_equal(json_array_size(json_find(basis, "/fill")), v.p);
    for (size_t c = 0; c < v.p; c++) {
        size_t column =
            column_of(json_string_value(json_array_get(json_find(basis, "/columns"), c)));
        assert_in_range(column, 0, COLUMNS - 1);
        v.x[c] = isnan(row[column]) ? number(json_find(basis, "/fill"), c) : row[column];
        v.z[c] = standard(&v, c, v.x[c]);
    }
    return v;
}

/* ‖z − point‖; the point is in the columns' units. */
static double distance(const struct view *v, const json_t *point) {
    double sum = 0;
    assert_int_equal(json_array_size(point), v->p);
    for (size_t c = 0; c < v->p; c++) {
        sum += pow(v->z[c] - standard(v, c, number(point, c)), 2);
    }
    return sqrt(sum);
}

static double product(const struct view *v, const json_t *direction) {
    double sum = 0;
    assert_int_equal(json_array_size(direction), v->p);
    for (size_t c = 0; c < v->p; c++) {
        sum += v->z[c] * number(direction, c);
    }
    return sum;
}

/* Products of `degree` further columns from `first` on, in lexicographic order. */
static size_t products(const struct view *v, size_t degree, size_t first, double so_far,
                       double *out) {
    size_t n = 0;
    if (degree == 0) {
        *out = so_far;
        return 1;
    }
    for (size_t c = first; c < v->p; c++) {
        if (!json_is_true(json_find(v->basis, "/interactions"))) {
            assert_true(first == 0);
            out[n++] = pow(v->x[c], (double)degree);
        } else {
            n += products(v, degree - 1, c, so_far * v->x[c], out + n);
        }
    }
    return n;
}

/* Writes the features of the basis to out; returns their number. */
static size_t features_of(const json_t *basis, const double *row, double *out) {
    const struct view v = view_of(basis, row);
    const char *type = string_in(basis, "/type");
    const size_t n = (size_t)real_in(basis, "/n_features");
    size_t made = 0;
    assert_in_range(n, 1, MOST);
    if (strcmp(type, "polynomial") == 0) {
        for (size_t degree = 1; degree <= (size_t)real_in(basis, "/degree"); degree++) {
            made += products(&v, degree, 0, 1, out + made);
        }
        return made;
    }
    for (; made < n; made++) {
        if (strcmp(type, "gaussian") == 0) {
            out[made] = exp(-pow(distance(&v, json_array_get(json_find(basis, "/centres"), made)) /
                                     real_in(basis, "/width"),
                                 2) /
                            2);
        } else if (strcmp(type, "distance") == 0) {
            out[made] = distance(&v, json_array_get(json_find(basis, "/points"), made));
        } else if (strcmp(type, "random_fourier") == 0) {
            out[made] = sqrt(2 / (double)n) *
                        cos(product(&v, json_array_get(json_find(basis, "/frequencies"), made)) +
                            number(json_find(basis, "/phases"), made));
        } else {
            out[made] = product(&v, json_array_get(json_find(basis, "/directions"), made));
        }
    }
    return made;
}

/* The value of a column that is a feature itself, its missing value replaced as a basis with this
 * column says. */
static double kept(const json_t *bases, const char *name, const double *row) {
    for (size_t b = 0; b < json_array_size(bases); b++) {
        const struct view v = view_of(json_array_get(bases, b), row);
        for (size_t c = 0; c < v.p; c++) {
            if (strcmp(json_string_value(json_array_get(json_find(v.basis, "/columns"), c)),
                       name) == 0) {
                return v.x[c];
            }
        }
    }
    fail_msg("no basis has %s", name);
    return 0;
}

/* All features of a row: columns that are features themselves, then those of each basis. */
static void features(const struct response *w, const double *row, double *out) {
    const json_t *names = json_find(w->json, "/features"), *bases = json_find(w->json, "/bases");
    const size_t n = json_array_size(names);
    size_t end = 0;
    assert_in_range(n, 1, MOST);
    for (; end < (size_t)real_in(bases, "/0/first_feature"); end++) {
        out[end] = kept(bases, json_string_value(json_array_get(names, end)), row);
    }
    for (size_t b = 0; b < json_array_size(bases); b++) {
        const json_t *basis = json_array_get(bases, b);
        assert_int_equal(real_in(basis, "/first_feature"), end);
        assert_int_equal(real_in(basis, "/n_features"), features_of(basis, row, out + end));
        end += (size_t)real_in(basis, "/n_features");
    }
    assert_int_equal(end, n);
}

static const struct response *expect_scores(const char *more, const char *options) {
    double x[MOST];
    train_with(more, options);
    const struct response *w = status_check(call_get("/v1/models/m/weights"), 200);
    const struct response *scores = scores_of(w);
    for (size_t i = 0; i < ROWS; i++) {
        const json_t *g =
            json_find(json_array_get(json_find(scores->json, "/predictions"), i), "/scores");
        features(w, rows[i], x);
        for (size_t k = 0; k < count_at(w, "/w0"); k++) {
            const json_t *row = json_array_get(json_find(w->json, "/w"), k);
            double sum = number(json_find(w->json, "/w0"), k), size = fabs(sum);
            for (size_t j = 0; j < count_at(w, "/features"); j++) {
                sum += number(row, j) * x[j];
                size += fabs(number(row, j) * x[j]);
            }
            assert_near(number(g, k), sum, 1e-9 * fmax(1, size));
        }
    }
    return w;
}

/* ---- each kind ---- */
#define LOGISTIC "\"algorithm\":\"logistic\""

static void test_gaussian(void **state) {
    (void)state;
    const struct response *w =
        expect_scores(LOGISTIC,
                      "\"basis\":[{\"type\":\"gaussian\",\"centres\":4,\"width\":\"auto\"}]");
    const json_t *basis = json_find(w->json, "/bases/0");
    assert_true(json_is_false(json_find(basis, "/keep")));
    assert_int_equal(json_array_size(json_find(basis, "/columns")), COLUMNS);
    assert_int_equal(json_array_size(json_find(basis, "/centres")), 4);
    assert_true(real_in(basis, "/width") > 0);
    /* given centres are printed as they were given, also with standardising */
    w = expect_scores(LOGISTIC, "\"include\":[\"sepal_length\",\"petal_width\"],\"basis\":[{"
                                "\"type\":\"gaussian\",\"keep\":true,\"columns\":"
                                "[\"petal_width\",\"sepal_length\"],\"standardize\":true,"
                                "\"centres\":[[0.5,5],[2.25,6.5]],\"width\":0.75}]");
    basis = json_find(w->json, "/bases/0");
    assert_true(json_is_true(json_find(basis, "/keep")));
    assert_int_equal(real_in(basis, "/first_feature"), 2);
    assert_string_equal(string_in(basis, "/columns/0"), "petal_width");
    assert_near(real_in(basis, "/width"), 0.75, 0);
    assert_near(real_in(basis, "/centres/1/0"), 2.25, 1e-14);
    assert_near(real_in(basis, "/centres/1/1"), 6.5, 1e-14);
    /* members whose size grows with features times columns can be left out */
    w = call_get("/v1/models/m/weights?matrices=false");
    assert_false(has(w, "/bases/0/centres"));
    assert_near(real_at(w, "/bases/0/width"), 0.75, 0);
}

static void test_distance(void **state) {
    (void)state;
    const struct response *w = expect_scores(
        LOGISTIC,
        "\"basis\":[{\"type\":\"distance\",\"points\":[[5,3,1,0],[6,3,4,1.5],[7,3,6,2]]}]");
    assert_near(real_at(w, "/bases/0/points/1/3"), 1.5, 0);
    w = expect_scores(LOGISTIC, "\"basis\":[{\"type\":\"distance\",\"standardize\":true,\"points\":"
                                "[[5,3,1,0],[6,3,4,1.5],[7,3,6,2]]}]");
    assert_near(real_at(w, "/bases/0/points/1/3"), 1.5, 1e-14);
}

static void test_random_fourier(void **state) {
    (void)state;
    static const char *const standardize[] = {"false", "true"};
    for (size_t i = 0; i < 2; i++) {
        const char *options =
            text("\"basis\":[{\"type\":\"random_fourier\",\"features\":25,\"standardize\":%s}]",
                 standardize[i]);
        const struct response *w = expect_scores(LOGISTIC, options);
        assert_int_equal(count_at(w, "/bases/0/frequencies"), 25);
        assert_true(real_at(w, "/bases/0/width") > 0);
        w = call_get("/v1/models/m/weights?matrices=false");
        assert_false(has(w, "/bases/0/frequencies"));
        assert_false(has(w, "/bases/0/phases"));
        assert_int_equal(real_at(w, "/bases/0/n_features"), 25);
    }
}

static void test_fisher(void **state) {
    (void)state;
    const struct response *w =
        expect_scores(LOGISTIC,
                      "\"basis\":[{\"type\":\"fisher\",\"standardize\":true,\"components\":1}]");
    assert_int_equal(count_at(w, "/bases/0/directions"), 1);
}

static void test_polynomial(void **state) {
    (void)state;
    const struct response *w =
        expect_scores(LOGISTIC, "\"basis\":[{\"type\":\"polynomial\",\"degree\":3,"
                                "\"columns\":[\"petal_width\",\"petal_length\"]}],"
                                "\"include\":[\"petal_length\",\"petal_width\"]");
    assert_int_equal(real_at(w, "/bases/0/n_features"), 9);
    assert_false(has(w, "/bases/0/standardize"));
    w = expect_scores("\"algorithm\":\"least_squares\"",
                      "\"basis\":[{\"type\":\"polynomial\",\"degree\":2,\"interactions\":false}]");
    assert_int_equal(real_at(w, "/bases/0/n_features"), 8);
}

/* Several bases over the same columns, with K(K − 1)/2 discriminants. */
static void test_all_together(void **state) {
    (void)state;
    const struct response *w =
        expect_scores(LOGISTIC ",\"params\":{\"multiclass\":\"one_vs_one\"}",
                      "\"basis\":[{\"type\":\"fisher\",\"keep\":true},{\"type\":"
                      "\"gaussian\",\"centres\":3,\"keep\":true},"
                      "{\"type\":\"polynomial\",\"columns\":[\"petal_width\"]},{"
                      "\"type\":\"gaussian\",\"centres\":2,"
                      "\"columns\":[\"sepal_width\"],\"keep\":true}]");
    assert_int_equal(count_at(w, "/bases"), 4);
    /* petal_width is a feature of the polynomial */
    assert_int_equal(real_at(w, "/bases/0/first_feature"), 3);
    assert_string_equal(string_at(w, "/bases/3/type"), "gaussian");
    train_with(LOGISTIC, "");
    w = call_get("/v1/models/m/weights");
    assert_false(has(w, "/bases"));
}

/* A basis with more numbers than an answer may hold: refused as for covariances. */
static void test_too_many_numbers(void **state) {
    (void)state;
    enum { WIDE = 300, LINES = 20, WAVES = 14000 };
    char *body = malloc((size_t)WIDE * (LINES + 1) * 8), *end = body;
    assert_non_null(body);
    for (int j = 0; j < WIDE; j++) {
        end += sprintf(end, "c%d,", j);
    }
    end += sprintf(end, "y\n");
    for (int i = 0; i < LINES; i++) {
        for (int j = 0; j < WIDE; j++) {
            end += sprintf(end, "%d,", (i * i * (j + 3) + 7 * j * i + j) % 101);
        }
        end += sprintf(end, "%c\n", 'a' + i % 2);
    }
    status_check(call_upload("/v1/datasets/wide", body), 201);
    free(body);
    job_train("{'model':'wide','dataset':'wide','target':'y','algorithm':"
              "'naive_bayes','features':{'basis':"
              "[{'type':'random_fourier','features':%d}]}}",
              WAVES);
    const struct response *a = status_check(call_get("/v1/models/wide/weights"), 413);
    assert_non_null(strstr(string_at(a, "/detail"), "bases"));
    a = status_check(call_get("/v1/models/wide/weights?matrices=false"), 200);
    assert_int_equal(real_at(a, "/bases/0/n_features"), WAVES);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_gaussian),         TEST(test_distance),   TEST(test_random_fourier),
        TEST(test_fisher),           TEST(test_polynomial), TEST(test_all_together),
        TEST(test_too_many_numbers),
    };
    return cmocka_run_group_tests(tests, open_daemon, group_end);
}
