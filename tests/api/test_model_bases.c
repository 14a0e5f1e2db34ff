/* GET …/weights of models with bases: what it tells of each basis is enough to compute the features
 * of a row and, with w and w0, the scores that predict answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 8, COLUMNS = 4, MOST = 64 };
static const char *const columns[COLUMNS] = {"sepal_length", "sepal_width", "petal_length",
                                             "petal_width"};
/* NaN: missing. The last is far from all others. */
static const double rows[ROWS][COLUMNS] = {
    {5.1, 3.5, 1.4, 0.2},         {6.3, 3.3, 6.0, 2.5},         {5.5, 2.3, 4.0, 1.3},
    {4.9, 2.5, (double)NAN, 1.7}, {(double)NAN, 3.0, 5.1, 1.8}, {6.0, 2.2, 4.0, (double)NAN},
    {5.0, (double)NAN, 1.6, 0.6}, {12.0, 7.0, 0.5, (double)NAN}};

static struct daemon d;

static int open_daemon(void **state) {
    (void)state;
    daemon_open(&d, NULL);
    upload(&d, "iris");
    return 0;
}

static int close_daemon(void **state) {
    (void)state;
    daemon_close(&d);
    return 0;
}

/* ---- asking ---- */

static void train_with(const char *more, const char *features) {
    char text[1024];
    (void)
        snprintf(text, sizeof text,
                 "{\"model\":\"m\",\"dataset\":\"iris\",\"target\":\"class\",%s,\"features\":{%s}}",
                 more, features);
    json_decref(train(&d, text, "succeeded"));
}

/* Scores of the rows, as objects by name: the model may have some of the columns only. */
static struct answer scores_of(const struct answer *weights) {
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
    char *text = json_dumps(asked, JSON_COMPACT);
    struct answer a = send_text(&d, "POST", "/v1/models/m/predict?output=scores", text);
    if (a.status != 200) {
        fail_msg("%ld %s", a.status, a.body);
    }
    free(text);
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

/* ---- features from what a basis has learned ---- */

/* One basis, its columns of one row filled; z is x where the basis does not standardise. */
struct view {
    const json_t *basis;
    size_t p;
    double x[COLUMNS], z[COLUMNS];
};

static double standard(const struct view *v, size_t c, double x) {
    if (!json_is_true(at(v->basis, "standardize"))) {
        return x;
    }
    return (x - number(at(v->basis, "mean"), c)) / number(at(v->basis, "scale"), c);
}

static struct view view_of(const json_t *basis, const double *row) {
    struct view v = {.basis = basis, .p = json_array_size(at(basis, "columns"))};
    assert_int_equal(json_array_size(at(basis, "fill")), v.p);
    for (size_t c = 0; c < v.p; c++) {
        size_t column = column_of(json_string_value(json_array_get(at(basis, "columns"), c)));
        assert_in_range(column, 0, COLUMNS - 1);
        v.x[c] = isnan(row[column]) ? number(at(basis, "fill"), c) : row[column];
        v.z[c] = standard(&v, c, v.x[c]);
    }
    return v;
}

/* ‖z − point‖, the point in the columns' own units. */
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

/* Products of `degree` more columns from `first` on, in lexicographic order. */
static size_t products(const struct view *v, size_t degree, size_t first, double so_far,
                       double *out) {
    size_t n = 0;
    if (degree == 0) {
        *out = so_far;
        return 1;
    }
    for (size_t c = first; c < v->p; c++) {
        if (!json_is_true(at(v->basis, "interactions"))) {
            assert_true(first == 0);
            out[n++] = pow(v->x[c], (double)degree);
        } else {
            n += products(v, degree - 1, c, so_far * v->x[c], out + n);
        }
    }
    return n;
}

/* The features of the basis to out; how many. */
static size_t features_of(const json_t *basis, const double *row, double *out) {
    const struct view v = view_of(basis, row);
    const char *type = text_at(basis, "type");
    const size_t n = (size_t)number_at(basis, "n_features");
    size_t made = 0;
    assert_in_range(n, 1, MOST);
    if (strcmp(type, "polynomial") == 0) {
        for (size_t degree = 1; degree <= (size_t)number_at(basis, "degree"); degree++) {
            made += products(&v, degree, 0, 1, out + made);
        }
        return made;
    }
    for (; made < n; made++) {
        if (strcmp(type, "gaussian") == 0) {
            out[made] = exp(-pow(distance(&v, json_array_get(at(basis, "centres"), made)) /
                                     number_at(basis, "width"),
                                 2) /
                            2);
        } else if (strcmp(type, "distance") == 0) {
            out[made] = distance(&v, json_array_get(at(basis, "points"), made));
        } else if (strcmp(type, "random_fourier") == 0) {
            out[made] = sqrt(2 / (double)n) *
                        cos(product(&v, json_array_get(at(basis, "frequencies"), made)) +
                            number(at(basis, "phases"), made));
        } else {
            out[made] = product(&v, json_array_get(at(basis, "directions"), made));
        }
    }
    return made;
}

/* A column that is a feature itself, filled by what a basis that has it says. */
static double kept(const json_t *bases, const char *name, const double *row) {
    for (size_t b = 0; b < json_array_size(bases); b++) {
        const struct view v = view_of(json_array_get(bases, b), row);
        for (size_t c = 0; c < v.p; c++) {
            if (strcmp(json_string_value(json_array_get(at(v.basis, "columns"), c)), name) == 0) {
                return v.x[c];
            }
        }
    }
    fail_msg("no basis has %s", name);
    return 0;
}

/* All features of a row: columns that are features themselves, then those of the bases, one behind
 * the other. */
static void features(const struct answer *w, const double *row, double *out) {
    const json_t *names = at(w->json, "features"), *bases = at(w->json, "bases");
    const size_t n = json_array_size(names);
    size_t end = 0;
    assert_in_range(n, 1, MOST);
    for (; end < (size_t)number_at(bases, "0.first_feature"); end++) {
        out[end] = kept(bases, json_string_value(json_array_get(names, end)), row);
    }
    for (size_t b = 0; b < json_array_size(bases); b++) {
        const json_t *basis = json_array_get(bases, b);
        assert_int_equal(number_at(basis, "first_feature"), end);
        assert_int_equal(number_at(basis, "n_features"), features_of(basis, row, out + end));
        end += (size_t)number_at(basis, "n_features");
    }
    assert_int_equal(end, n);
}

static struct answer expect_scores(const char *more, const char *options) {
    double x[MOST];
    train_with(more, options);
    struct answer w = get(&d, "/v1/models/m/weights");
    assert_int_equal(w.status, 200);
    struct answer scores = scores_of(&w);
    for (size_t i = 0; i < ROWS; i++) {
        const json_t *g = at(json_array_get(at(scores.json, "predictions"), i), "scores");
        features(&w, rows[i], x);
        for (size_t k = 0; k < json_array_size(at(w.json, "w0")); k++) {
            const json_t *row = json_array_get(at(w.json, "w"), k);
            double sum = number(at(w.json, "w0"), k), size = fabs(sum);
            for (size_t j = 0; j < json_array_size(at(w.json, "features")); j++) {
                sum += number(row, j) * x[j];
                size += fabs(number(row, j) * x[j]);
            }
            expect_near(number(g, k), sum, 1e-9 * fmax(1, size));
        }
    }
    answer_done(&scores);
    return w;
}

/* ---- each kind ---- */
#define LOGISTIC "\"algorithm\":\"logistic\""

static void test_gaussian(void **state) {
    (void)state;
    struct answer w =
        expect_scores(LOGISTIC,
                      "\"basis\":[{\"type\":\"gaussian\",\"centres\":4,\"width\":\"auto\"}]");
    const json_t *basis = at(w.json, "bases.0");
    assert_true(json_is_false(at(basis, "keep")));
    assert_int_equal(json_array_size(at(basis, "columns")), COLUMNS);
    assert_int_equal(json_array_size(at(basis, "centres")), 4);
    assert_true(number_at(basis, "width") > 0);
    answer_done(&w);
    /* given ones come back as they were given, also through standardising */
    w = expect_scores(LOGISTIC, "\"include\":[\"sepal_length\",\"petal_width\"],\"basis\":[{"
                                "\"type\":\"gaussian\",\"keep\":true,\"columns\":"
                                "[\"petal_width\",\"sepal_length\"],\"standardize\":true,"
                                "\"centres\":[[0.5,5],[2.25,6.5]],\"width\":0.75}]");
    basis = at(w.json, "bases.0");
    assert_true(json_is_true(at(basis, "keep")));
    assert_int_equal(number_at(basis, "first_feature"), 2);
    assert_string_equal(text_at(basis, "columns.0"), "petal_width");
    expect_near(number_at(basis, "width"), 0.75, 0);
    expect_near(number_at(basis, "centres.1.0"), 2.25, 1e-14);
    expect_near(number_at(basis, "centres.1.1"), 6.5, 1e-14);
    answer_done(&w);
    /* the numbers that grow with features and columns can be left out */
    w = get(&d, "/v1/models/m/weights?matrices=false");
    assert_null(at(w.json, "bases.0.centres"));
    expect_near(number_at(w.json, "bases.0.width"), 0.75, 0);
    answer_done(&w);
}

static void test_distance(void **state) {
    (void)state;
    struct answer w = expect_scores(
        LOGISTIC,
        "\"basis\":[{\"type\":\"distance\",\"points\":[[5,3,1,0],[6,3,4,1.5],[7,3,6,2]]}]");
    expect_near(number_at(w.json, "bases.0.points.1.3"), 1.5, 0);
    answer_done(&w);
    w = expect_scores(LOGISTIC, "\"basis\":[{\"type\":\"distance\",\"standardize\":true,\"points\":"
                                "[[5,3,1,0],[6,3,4,1.5],[7,3,6,2]]}]");
    expect_near(number_at(w.json, "bases.0.points.1.3"), 1.5, 1e-14);
    answer_done(&w);
}

static void test_random_fourier(void **state) {
    (void)state;
    static const char *const standardize[] = {"false", "true"};
    for (size_t i = 0; i < 2; i++) {
        char options[128];
        (void)
            snprintf(options, sizeof options,
                     "\"basis\":[{\"type\":\"random_fourier\",\"features\":25,\"standardize\":%s}]",
                     standardize[i]);
        struct answer w = expect_scores(LOGISTIC, options);
        assert_int_equal(json_array_size(at(w.json, "bases.0.frequencies")), 25);
        assert_true(number_at(w.json, "bases.0.width") > 0);
        answer_done(&w);
        w = get(&d, "/v1/models/m/weights?matrices=false");
        assert_null(at(w.json, "bases.0.frequencies"));
        assert_null(at(w.json, "bases.0.phases"));
        assert_int_equal(number_at(w.json, "bases.0.n_features"), 25);
        answer_done(&w);
    }
}

static void test_fisher(void **state) {
    (void)state;
    answer_done((struct answer[]){expect_scores(LOGISTIC, "\"basis\":[{\"type\":\"fisher\"}]")});
    struct answer w =
        expect_scores(LOGISTIC,
                      "\"basis\":[{\"type\":\"fisher\",\"standardize\":true,\"components\":1}]");
    assert_int_equal(json_array_size(at(w.json, "bases.0.directions")), 1);
    answer_done(&w);
}

static void test_polynomial(void **state) {
    (void)state;
    struct answer w = expect_scores(LOGISTIC, "\"basis\":[{\"type\":\"polynomial\",\"degree\":3,"
                                              "\"columns\":[\"petal_width\",\"petal_length\"]}],"
                                              "\"include\":[\"petal_length\",\"petal_width\"]");
    assert_int_equal(number_at(w.json, "bases.0.n_features"), 9);
    assert_null(at(w.json, "bases.0.standardize"));
    answer_done(&w);
    w = expect_scores("\"algorithm\":\"least_squares\"",
                      "\"basis\":[{\"type\":\"polynomial\",\"degree\":2,\"interactions\":false}]");
    assert_int_equal(number_at(w.json, "bases.0.n_features"), 8);
    answer_done(&w);
}

/* Several, over the same columns; and with K(K − 1)/2 discriminants. */
static void test_all_together(void **state) {
    (void)state;
    struct answer w = expect_scores(LOGISTIC ",\"params\":{\"multiclass\":\"one_vs_one\"}",
                                    "\"basis\":[{\"type\":\"fisher\",\"keep\":true},{\"type\":"
                                    "\"gaussian\",\"centres\":3,\"keep\":true},"
                                    "{\"type\":\"polynomial\",\"columns\":[\"petal_width\"]},{"
                                    "\"type\":\"gaussian\",\"centres\":2,"
                                    "\"columns\":[\"sepal_width\"],\"keep\":true}]");
    assert_int_equal(json_array_size(at(w.json, "bases")), 4);
    assert_int_equal(number_at(w.json, "bases.0.first_feature"),
                     3); /* the polynomial has petal_width */
    assert_string_equal(text_at(w.json, "bases.3.type"), "gaussian");
    answer_done(&w);
    train_with(LOGISTIC, "");
    w = get(&d, "/v1/models/m/weights");
    assert_null(at(w.json, "bases"));
    answer_done(&w);
}

/* More numbers than one answer may hold: said as of covariances. */
static void test_too_many_numbers(void **state) {
    (void)state;
    enum { WIDE = 300, LINES = 20, WAVES = 14000 };
    char *text = malloc((size_t)WIDE * (LINES + 1) * 8), *end = text, job[256];
    assert_non_null(text);
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
    expect_status(put_text(&d, "/v1/datasets/wide", text), 201);
    free(text);
    (void)snprintf(job, sizeof job,
                   "{\"model\":\"wide\",\"dataset\":\"wide\",\"target\":\"y\",\"algorithm\":"
                   "\"naive_bayes\",\"features\":{\"basis\":"
                   "[{\"type\":\"random_fourier\",\"features\":%d}]}}",
                   WAVES);
    json_decref(train(&d, job, "succeeded"));
    struct answer a = get(&d, "/v1/models/wide/weights");
    assert_int_equal(a.status, 413);
    assert_non_null(strstr(text_at(a.json, "detail"), "bases"));
    answer_done(&a);
    a = get(&d, "/v1/models/wide/weights?matrices=false");
    assert_int_equal(a.status, 200);
    assert_int_equal(number_at(a.json, "bases.0.n_features"), WAVES);
    answer_done(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gaussian),         cmocka_unit_test(test_distance),
        cmocka_unit_test(test_random_fourier),   cmocka_unit_test(test_fisher),
        cmocka_unit_test(test_polynomial),       cmocka_unit_test(test_all_together),
        cmocka_unit_test(test_too_many_numbers),
    };
    return cmocka_run_group_tests(tests, open_daemon, close_daemon);
}
