/* What ?output= can ask for: distances, contributions, ambiguity, densities, recomputed from weights, scores and data. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EVERYTHING "label,probabilities,scores,distance,contributions,ambiguous,log_density"

static struct daemon d;
static char *grid;    /* instances in a plane with three blobs, as a body */
static char *flowers; /* iris without its classes, as a body */
static size_t n_grid, n_flowers;

/* ---- setting up ----------------------------------------------------------------------------------------------------------------------- */

/* Three longish blobs in different directions: the lines between them do not meet in one point. */
static void put_blobs(void) {
    static const double middle[3][2] = {{0, 0}, {4, 1}, {1, 4}}, along[3][2] = {{2.6, 0.4}, {-0.3, 2.4}, {1.4, -1.4}};
    char *text = malloc(200 * 64);
    assert_non_null(text);
    size_t n = (size_t)sprintf(text, "x,y,class\n");
    for (int i = 0; i < 150; i++) {
        const int k = i % 3;
        const double angle = 2.4 * i, radius = sqrt((i / 3 + 0.5) / 50), u = radius * cos(angle), v = 0.4 * radius * sin(angle);
        n += (size_t)sprintf(text + n, "%.6f,%.6f,%c\n", middle[k][0] + u * along[k][0] - v * along[k][1],
                             middle[k][1] + u * along[k][1] + v * along[k][0], 'a' + k);
    }
    expect_status(put_text(&d, "/v1/datasets/blobs", text), 201);
    free(text);
}

static void make_grid(void) {
    grid = malloc(41 * 41 * 32 + 64);
    assert_non_null(grid);
    size_t n = (size_t)sprintf(grid, "{\"instances\":[");
    for (int i = 0; i < 41; i++)
        for (int j = 0; j < 41; j++, n_grid++)
            n += (size_t)sprintf(grid + n, "%s[%.2f,%.2f]", n_grid > 0 ? "," : "", -3 + 0.25 * i, -3 + 0.25 * j);
    sprintf(grid + n, "]}");
}

static void make_flowers(void) {
    struct answer a = get(&d, "/v1/datasets/iris/rows?limit=1000&columns=sepal_length,sepal_width,petal_length,petal_width");
    assert_int_equal(a.status, 200);
    json_t *body = json_pack("{sO}", "instances", at(a.json, "items"));
    n_flowers = json_array_size(at(a.json, "items"));
    flowers = json_dumps(body, JSON_COMPACT);
    assert_int_equal(n_flowers, 150);
    json_decref(body);
    answer_done(&a);
}

static void train_as(const char *model, const char *dataset, const char *target, const char *algorithm, const char *params) {
    char body[512];
    (void)snprintf(body, sizeof body, "{\"model\":\"%s\",\"dataset\":\"%s\",\"target\":\"%s\",\"algorithm\":\"%s\",\"params\":{%s}}", model,
                   dataset, target, algorithm, params);
    json_decref(train(&d, body, "succeeded"));
}

static int open_daemon(void **state) {
    (void)state;
    daemon_open(&d, NULL);
    upload(&d, "iris");
    upload(&d, "breast_cancer");
    put_blobs();
    make_grid();
    make_flowers();
    train_as("iris", "iris", "class", "logistic", "");
    train_as("cancer", "breast_cancer", "class", "logistic", "");
    train_as("softmax", "blobs", "class", "logistic", "");
    train_as("rest", "blobs", "class", "logistic", "\"multiclass\":\"one_vs_rest\"");
    train_as("rest_strict", "blobs", "class", "logistic", "\"multiclass\":\"one_vs_rest_strict\"");
    train_as("rest_strict_less", "blobs", "class", "logistic", "\"multiclass\":\"one_vs_rest_strict\",\"discriminants\":\"K-1\"");
    train_as("pairs", "blobs", "class", "logistic", "\"multiclass\":\"one_vs_one\"");
    train_as("pairs_strict", "blobs", "class", "logistic", "\"multiclass\":\"one_vs_one_strict\"");
    expect_status(put_text(&d, "/v1/datasets/mixed?types=ok:boolean",
                           "size,colour,ok\n1,red,1\n2,blue,0\n3,red,1\n4,,0\n,blue,0\n6,red,1\n5,blue,1\n2.5,red,0\n"),
                  201);
    train_as("mixed", "mixed", "ok", "logistic", "");
    train_as("mixed_bayes", "mixed", "ok", "naive_bayes", "");
    return 0;
}

static int close_daemon(void **state) {
    (void)state;
    free(grid);
    free(flowers);
    daemon_close(&d);
    return 0;
}

/* ---- looking at answers ------------------------------------------------------------------------------------------------------------------ */

static struct answer predict(const char *model, const char *outputs, const char *body) {
    char path[256];
    (void)snprintf(path, sizeof path, "/v1/models/%s/predict?output=%s", model, outputs);
    struct answer a = send_text(&d, "POST", path, body);
    if (a.status != 200)
        fail_msg("%s: %ld %s", path, a.status, a.body);
    return a;
}

static struct answer weights_of(const char *model) {
    char path[128];
    (void)snprintf(path, sizeof path, "/v1/models/%s/weights", model);
    struct answer a = get(&d, path);
    assert_int_equal(a.status, 200);
    return a;
}

static double item(const json_t *array, size_t i) {
    const json_t *value = json_array_get(array, i);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

static const json_t *row_of(const struct answer *a, size_t i) {
    return json_array_get(at(a->json, "predictions"), i);
}

/* The place of a label among the classes; SIZE_MAX: null. */
static size_t class_of(const struct answer *a, const json_t *label) {
    const json_t *classes = at(a->json, "classes");
    for (size_t k = 0; k < json_array_size(classes); k++)
        if (json_equal(json_array_get(classes, k), label))
            return k;
    assert_true(json_is_null(label));
    return SIZE_MAX;
}

/* The value of column j of instance i of a body. */
static double value_of(const json_t *body, size_t i, size_t j, const json_t *features) {
    const json_t *row = json_array_get(json_object_get(body, "instances"), i);
    return json_is_array(row) ? item(row, j) : json_number_value(json_object_get(row, json_string_value(json_array_get(features, j))));
}

/* ---- contributions ------------------------------------------------------------------------------------------------------------------------- */

/* With the intercept they are the score. */
static void expect_sums(const struct answer *a) {
    const json_t *row, *features = at(a->json, "features"), *intercept = at(a->json, "intercept");
    size_t i;
    json_array_foreach(at(a->json, "predictions"), i, row) {
        const json_t *parts = json_object_get(row, "contributions"), *scores = json_object_get(row, "scores");
        assert_int_equal(json_array_size(parts), json_array_size(scores));
        assert_int_equal(json_array_size(intercept), json_array_size(scores));
        for (size_t k = 0; k < json_array_size(scores); k++) {
            double sum = item(intercept, k), size = fabs(sum);
            assert_int_equal(json_array_size(json_array_get(parts, k)), json_array_size(features));
            for (size_t j = 0; j < json_array_size(features); j++) {
                sum += item(json_array_get(parts, k), j);
                size += fabs(item(json_array_get(parts, k), j));
            }
            expect_near(sum, item(scores, k), 1e-13 * size);
        }
    }
}

/* Each is weight times value. */
static void expect_products(const struct answer *a, const struct answer *weights, const char *body) {
    json_t *asked = json_loads(body, 0, NULL);
    const json_t *features = at(a->json, "features");
    assert_true(json_equal(features, at(weights->json, "features")));
    assert_true(json_equal(at(a->json, "intercept"), at(weights->json, "w0")));
    for (size_t i = 0; i < json_array_size(at(a->json, "predictions")); i++) {
        const json_t *parts = json_object_get(row_of(a, i), "contributions");
        for (size_t k = 0; k < json_array_size(parts); k++)
            for (size_t j = 0; j < json_array_size(features); j++) {
                const double w = item(json_array_get(at(weights->json, "w"), k), j);
                expect_near(item(json_array_get(parts, k), j), w * value_of(asked, i, j, features), 0);
            }
    }
    json_decref(asked);
}

static void test_contributions(void **state) {
    (void)state;
    static const char *const models[] = {"softmax", "rest", "rest_strict", "rest_strict_less", "pairs", "pairs_strict", "iris"};
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        const char *body = strcmp(models[i], "iris") == 0 ? flowers : grid;
        struct answer a = predict(models[i], "contributions,scores", body), w = weights_of(models[i]);
        assert_int_equal(json_array_size(at(a.json, "predictions")), body == grid ? n_grid : n_flowers);
        assert_int_equal(json_object_size(row_of(&a, 0)), 2);
        expect_sums(&a);
        expect_products(&a, &w, body);
        answer_done(&a);
        answer_done(&w);
    }
}

/* A category is one part of those of its column's; what is missing brings what stands for it. */
static void test_contributions_of_categories(void **state) {
    (void)state;
    static const char *const models[] = {"mixed", "mixed_bayes"};
    for (size_t i = 0; i < 2; i++) {
        struct answer a =
            predict(models[i], "contributions,scores", "{\"instances\":[[1,\"red\"],[null,\"blue\"],[3,null],[3,\"violet\"]]}");
        assert_int_equal(json_array_size(at(a.json, "predictions.0.contributions")), 1);
        expect_sums(&a);
        assert_string_equal(text_at(a.json, "features.1"), "colour=blue");
        assert_string_equal(text_at(a.json, "features.2"), "colour=red");
        assert_true(number_at(a.json, "predictions.0.contributions.0.1") == 0); /* it is not blue */
        assert_true(number_at(a.json, "predictions.0.contributions.0.2") != 0);
        assert_true(number_at(a.json, "predictions.3.contributions.0.1") == 0); /* violet is nothing */
        assert_true(number_at(a.json, "predictions.3.contributions.0.2") == 0);
        answer_done(&a);
    }
}

/* A short row asks for a number of each feature. */
static void test_too_many_contributions(void **state) {
    (void)state;
    struct answer w = weights_of("cancer");
    const size_t n_features = json_array_size(at(w.json, "features")), rows = 4 * 1024 * 1024 / n_features + 1;
    char *body = malloc(n_features * 2 + rows * 4 + 64);
    assert_non_null(body);
    size_t n = (size_t)sprintf(body, "{\"instances\":[[0");
    for (size_t j = 1; j < n_features; j++)
        n += (size_t)sprintf(body + n, ",0");
    n += (size_t)sprintf(body + n, "]");
    for (size_t i = 1; i < rows; i++)
        n += (size_t)sprintf(body + n, ",{}");
    n += (size_t)sprintf(body + n, "]}");
    struct answer a = ask(&d, "POST", "/v1/models/cancer/predict?output=contributions", NULL, body, n);
    assert_int_equal(a.status, 413);
    assert_string_equal(text_at(a.json, "type"), "/problems/answer-too-long");
    assert_non_null(strstr(text_at(a.json, "detail"), "contributions"));
    answer_done(&a);
    expect_status(ask(&d, "POST", "/v1/models/cancer/predict?output=distance", NULL, body, n), 200);
    answer_done(&w);
    free(body);
}

/* ---- distance ------------------------------------------------------------------------------------------------------------------------------ */

static double length_of(const json_t *v, const json_t *minus) {
    double sum = 0;
    for (size_t j = 0; j < json_array_size(v); j++)
        sum += pow(item(v, j) - (minus ? item(minus, j) : 0), 2);
    return sqrt(sum);
}

static void test_distance_of_two_classes(void **state) {
    (void)state;
    struct answer rows = get(&d, "/v1/datasets/breast_cancer/rows?limit=1000"), w = weights_of("cancer");
    json_t *body = json_pack("{sO}", "instances", at(rows.json, "items"));
    char *text = json_dumps(body, JSON_COMPACT);
    struct answer a = predict("cancer", "distance,scores,label", text);
    const double length = length_of(at(w.json, "w.0"), NULL);
    size_t positive = 0;
    for (size_t i = 0; i < json_array_size(at(a.json, "predictions")); i++) {
        const double distance = json_number_value(json_object_get(row_of(&a, i), "distance"));
        expect_near(distance, item(json_object_get(row_of(&a, i), "scores"), 0) / length, 1e-13 * fabs(distance));
        assert_int_equal(class_of(&a, json_object_get(row_of(&a, i), "label")), distance > 0);
        positive += distance > 0;
    }
    assert_true(positive > 100 && positive < 300);
    answer_done(&a);
    answer_done(&rows);
    answer_done(&w);
    json_decref(body);
    free(text);
}

static void test_distance_of_many_classes(void **state) {
    (void)state;
    static const char *const models[] = {"softmax", "rest"};
    for (size_t m = 0; m < 2; m++) {
        struct answer a = predict(models[m], "distance,scores,label", grid), w = weights_of(models[m]);
        for (size_t i = 0; i < n_grid; i++) {
            const json_t *scores = json_object_get(row_of(&a, i), "scores");
            const size_t best = class_of(&a, json_object_get(row_of(&a, i), "label"));
            double least = (double)INFINITY;
            for (size_t k = 0; k < 3; k++) {
                assert_true(item(scores, k) <= item(scores, best));
                if (k != best)
                    least = fmin(least, (item(scores, best) - item(scores, k)) /
                                            length_of(json_array_get(at(w.json, "w"), best), json_array_get(at(w.json, "w"), k)));
            }
            expect_near(json_number_value(json_object_get(row_of(&a, i), "distance")), least, 1e-12 * least);
        }
        answer_done(&a);
        answer_done(&w);
    }
}

/* By votes, or where a rule claims one class at a time, there is no one surface. */
static void test_no_distance(void **state) {
    (void)state;
    static const char *const models[] = {"pairs", "pairs_strict", "rest_strict", "rest_strict_less"};
    for (size_t m = 0; m < 4; m++) {
        struct answer a = predict(models[m], "distance", grid);
        for (size_t i = 0; i < n_grid; i++)
            assert_true(json_is_null(json_object_get(row_of(&a, i), "distance")));
        answer_done(&a);
    }
}

/* ---- from two classes to many -------------------------------------------------------------------------------------------------------------- */

/* Whether class k comes into question by its own claims, and the class of the rule; SIZE_MAX: ambiguous. Pairs are (0,1), (0,2), (1,2), positive for the second. */
static size_t claim(const json_t *g, size_t n, bool *candidates) {
    size_t claimed = 0, last = SIZE_MAX;
    for (size_t k = 0; k < 3; k++) {
        candidates[k] = k < n && item(g, k) > 0;
        claimed += candidates[k];
        last = candidates[k] ? k : last;
    }
    if (claimed == 0 && n == 2)
        return 2;
    for (size_t k = 0; claimed == 0 && k < 3; k++)
        candidates[k] = true;
    return claimed == 1 ? last : SIZE_MAX;
}

static size_t vote(const json_t *g, bool strict, bool *candidates) {
    const double pair[3][3] = {{0, -item(g, 0), -item(g, 1)}, {item(g, 0), 0, -item(g, 2)}, {item(g, 1), item(g, 2), 0}};
    size_t won[3] = {0}, most = 0, best = 0;
    double sum[3] = {0};
    for (size_t k = 0; k < 3; k++) {
        for (size_t j = 0; j < 3; j++) {
            won[k] += j != k && pair[k][j] > 0;
            sum[k] += pair[k][j];
        }
        most = won[k] > most ? won[k] : most;
        if (won[k] > won[best] || (won[k] == won[best] && sum[k] > sum[best]))
            best = k;
    }
    for (size_t k = 0; k < 3; k++)
        candidates[k] = won[k] == most;
    return strict && won[best] < 2 ? SIZE_MAX : best;
}

/* How many of the grid's points the model leaves without a class, each checked. */
static size_t check_rule(const char *model) {
    struct answer a = predict(model, "label,scores,ambiguous", grid), plain = predict(model, "label", grid);
    const bool pairs = strncmp(model, "pairs", 5) == 0, strict = strstr(model, "strict") != NULL;
    size_t ambiguous = 0, seen[3] = {0};
    for (size_t i = 0; i < n_grid; i++) {
        const json_t *row = row_of(&a, i), *scores = json_object_get(row, "scores"), *named = json_object_get(row, "candidates");
        const json_t *label = json_object_get(row, "label");
        bool candidates[3];
        const size_t expected = pairs ? vote(scores, strict, candidates) : claim(scores, json_array_size(scores), candidates);
        assert_int_equal(class_of(&a, label), expected);
        assert_int_equal(json_is_true(json_object_get(row, "ambiguous")), expected == SIZE_MAX);
        assert_true(json_is_boolean(json_object_get(row, "ambiguous")));
        if (expected == SIZE_MAX) {
            size_t n = 0;
            for (size_t k = 0; k < 3; k++)
                if (candidates[k])
                    assert_int_equal(class_of(&a, json_array_get(named, n++)), k);
            assert_int_equal(json_array_size(named), n);
            assert_int_equal(json_object_size(row_of(&plain, i)), 3); /* said without being asked */
            assert_true(json_equal(json_object_get(row_of(&plain, i), "candidates"), named));
            ambiguous++;
        } else {
            assert_null(named);
            assert_int_equal(json_object_size(row_of(&plain, i)), 1);
            seen[expected]++;
        }
        assert_true(json_equal(json_object_get(row_of(&plain, i), "label"), label));
    }
    assert_true(seen[0] > 0 && seen[1] > 0 && seen[2] > 0);
    answer_done(&a);
    answer_done(&plain);
    return ambiguous;
}

/* Three lines make a triangle; its middle wins against one class and loses against the other, whichever it is. */
static void test_between_three_pairs(void **state) {
    (void)state;
    static const size_t corner[3][2] = {{0, 1}, {0, 2}, {1, 2}};
    struct answer w = weights_of("pairs_strict");
    const json_t *lines = at(w.json, "w"), *w0 = at(w.json, "w0");
    double middle[2] = {0};
    for (size_t c = 0; c < 3; c++) { /* by Cramer's rule */
        const json_t *p = json_array_get(lines, corner[c][0]), *q = json_array_get(lines, corner[c][1]);
        const double u = -item(w0, corner[c][0]), v = -item(w0, corner[c][1]), det = item(p, 0) * item(q, 1) - item(p, 1) * item(q, 0);
        middle[0] += (u * item(q, 1) - item(p, 1) * v) / det / 3;
        middle[1] += (item(p, 0) * v - u * item(q, 0)) / det / 3;
    }
    char path[256];
    (void)snprintf(path, sizeof path, "/v1/models/pairs_strict/predict?x=%.17g&y=%.17g", middle[0], middle[1]);
    struct answer a = get(&d, path);
    assert_true(is_null_at(a.json, "predictions.0.label"));
    assert_true(json_is_true(at(a.json, "predictions.0.ambiguous")));
    assert_int_equal(json_array_size(at(a.json, "predictions.0.candidates")), 3);
    answer_done(&a);
    (void)snprintf(path, sizeof path, "/v1/models/pairs/predict?x=%.17g&y=%.17g&output=label,ambiguous", middle[0], middle[1]);
    a = get(&d, path); /* a tie that the scores break */
    assert_false(is_null_at(a.json, "predictions.0.label"));
    assert_true(json_is_false(at(a.json, "predictions.0.ambiguous")));
    answer_done(&a);
    answer_done(&w);
}

static void test_rules(void **state) {
    (void)state;
    assert_true(check_rule("rest_strict") > 0);
    assert_true(check_rule("rest_strict_less") > 0);
    assert_int_equal(check_rule("pairs"), 0);
    (void)check_rule("pairs_strict");
}

/* Of the same scores: σ(g_i)/Σσ(g_j); none where a class has no score of its own, and then the scores come instead. */
static void test_probabilities(void **state) {
    (void)state;
    struct answer a = predict("rest_strict", "probabilities,scores", grid);
    for (size_t i = 0; i < n_grid; i++) {
        const json_t *p = json_object_get(row_of(&a, i), "probabilities"), *g = json_object_get(row_of(&a, i), "scores");
        double sigma[3], sum = 0;
        for (size_t k = 0; k < 3; k++)
            sum += sigma[k] = 1 / (1 + exp(-item(g, k)));
        for (size_t k = 0; k < 3; k++)
            expect_near(item(p, k), sigma[k] / sum, 1e-12);
    }
    answer_done(&a);
    a = predict("rest_strict_less", "probabilities", grid);
    assert_int_equal(json_object_size(row_of(&a, 0)), 1);
    assert_int_equal(json_array_size(json_object_get(row_of(&a, 0), "scores")), 2);
    answer_done(&a);
}

/* A point without a class is an error, wherever it is counted. */
static void test_ambiguous_rows_are_errors(void **state) {
    (void)state;
    struct answer rows = get(&d, "/v1/datasets/blobs/rows?limit=1000");
    json_t *body = json_pack("{sO}", "instances", at(rows.json, "items"));
    char *text = json_dumps(body, JSON_COMPACT);
    struct answer a = predict("rest_strict", "label", text),
                  e = send_text(&d, "POST", "/v1/models/rest_strict/evaluate", "{\"dataset\":\"blobs\"}"),
                  f = send_text(&d, "POST", "/v1/models/rest_strict/evaluate", text);
    double ambiguous = 0, right = 0;
    for (size_t i = 0; i < 150; i++) {
        const json_t *label = json_object_get(row_of(&a, i), "label");
        ambiguous += json_is_null(label);
        right += json_equal(label, json_object_get(json_array_get(at(rows.json, "items"), i), "class"));
    }
    assert_true(ambiguous > 0);
    expect_near(number_at(e.json, "metrics.ambiguous"), ambiguous, 0);
    expect_near(number_at(e.json, "metrics.accuracy"), right / 150, 1e-15);
    expect_near(number_at(f.json, "metrics.ambiguous"), ambiguous, 0);
    expect_near(number_at(f.json, "metrics.accuracy"), right / 150, 1e-15);
    answer_done(&a);
    answer_done(&e);
    answer_done(&f);
    answer_done(&rows);
    json_decref(body);
    free(text);
}

/* ---- one answer, however it is asked for ------------------------------------------------------------------------------------------------- */

static void test_every_way_gives_the_same(void **state) {
    (void)state;
    static const char *const models[] = {"softmax", "rest_strict", "rest_strict_less", "pairs_strict"};
    for (size_t m = 0; m < 4; m++) {
        char path[256], one[300];
        (void)snprintf(path, sizeof path, "/v1/models/%s/predict?output=" EVERYTHING, models[m]);
        (void)snprintf(one, sizeof one, "%s&y=1.5&x=1.25", path);
        struct answer a = send_text(&d, "POST", path, "{\"instances\":[[1.25,1.5]]}");
        assert_int_equal(a.status, 200);
        struct answer others[] = {get(&d, one), send_text(&d, "POST", path, "{\"instances\":[{\"y\":1.5,\"x\":1.25}]}"),
                                  send_typed(&d, "POST", path, "text/csv", "1.25,1.5\n"),
                                  send_typed(&d, "POST", path, "text/csv", "y,x\n1.5,1.25\n")};
        for (size_t i = 0; i < 4; i++) {
            assert_int_equal(others[i].status, 200);
            assert_true(json_equal(a.json, others[i].json));
            answer_done(&others[i]);
        }
        answer_done(&a);
        /* a row's answer is that of its batch */
        struct answer all = predict(models[m], EVERYTHING, grid);
        for (size_t i = 0; i < n_grid; i += 97) {
            char body[96];
            (void)snprintf(body, sizeof body, "{\"instances\":[[%.2f,%.2f]]}", -3 + 0.25 * (double)(i / 41), -3 + 0.25 * (double)(i % 41));
            a = predict(models[m], EVERYTHING, body);
            assert_true(json_equal(row_of(&a, 0), row_of(&all, i)));
            answer_done(&a);
        }
        answer_done(&all);
    }
}

static void test_what_cannot_be_asked(void **state) {
    (void)state;
    expect_problem(send_text(&d, "POST", "/v1/models/iris/predict?output=density", flowers), 400, "bad-request");
    expect_problem(send_text(&d, "POST", "/v1/models/iris/predict?output=scores,,label", flowers), 400, "bad-request");
    expect_problem(send_text(&d, "POST", "/v1/models/iris/predict?output=", flowers), 400, "bad-request");
    expect_problem(get(&d, "/v1/models/softmax/predict?output=label&output=scores&x=1&y=1"), 400, "bad-request");
}

/* ---- densities --------------------------------------------------------------------------------------------------------------------------- */

/* ln Σ_k P(C_k) N(x; m_k, Σ) of two columns, with means, covariances and priors as a maximum likelihood fit has them. */
struct gaussian {
    double prior, mean[2], s[2][2];
};

static void fit_blobs(struct gaussian g[3], bool shared) {
    struct answer a = get(&d, "/v1/datasets/blobs/rows?limit=1000");
    const json_t *rows = at(a.json, "items");
    double pooled[2][2] = {{0}};
    for (size_t k = 0; k < 3; k++) {
        const char name[2] = {(char)('a' + k), 0};
        double n = 0;
        g[k] = (struct gaussian){0};
        for (int pass = 0; pass < 2; pass++) {
            for (size_t i = 0; i < json_array_size(rows); i++) {
                const json_t *row = json_array_get(rows, i);
                if (strcmp(json_string_value(json_object_get(row, "class")), name) != 0)
                    continue;
                const double x[2] = {json_number_value(json_object_get(row, "x")), json_number_value(json_object_get(row, "y"))};
                n += pass == 0;
                for (int j = 0; j < 2; j++) {
                    g[k].mean[j] += pass == 0 ? x[j] : 0;
                    for (int l = 0; l < 2; l++)
                        g[k].s[j][l] += pass == 1 ? (x[j] - g[k].mean[j]) * (x[l] - g[k].mean[l]) : 0;
                }
            }
            for (int j = 0; pass == 0 && j < 2; j++)
                g[k].mean[j] /= n;
        }
        g[k].prior = n / (double)json_array_size(rows);
        for (int j = 0; j < 4; j++) {
            pooled[j / 2][j % 2] += g[k].s[j / 2][j % 2] / (double)json_array_size(rows);
            g[k].s[j / 2][j % 2] /= n;
        }
    }
    for (size_t k = 0; shared && k < 3; k++)
        memcpy(g[k].s, pooled, sizeof pooled);
    answer_done(&a);
}

static double joint_of(const struct gaussian *g, double x, double y) {
    const double det = g->s[0][0] * g->s[1][1] - g->s[0][1] * g->s[1][0], u = x - g->mean[0], v = y - g->mean[1];
    const double square = (g->s[1][1] * u * u - 2 * g->s[0][1] * u * v + g->s[0][0] * v * v) / det;
    return log(g->prior) - 0.5 * (square + log(det)) - log(2 * acos(-1));
}

static void test_density_of_gaussians(void **state) {
    (void)state;
    for (int shared = 0; shared < 2; shared++) {
        struct gaussian g[3];
        fit_blobs(g, shared);
        train_as("lda", "blobs", "class", "gaussian", shared ? "\"covariance\":\"shared\"" : "\"covariance\":\"full\"");
        struct answer a = predict("lda", EVERYTHING, grid);
        expect_sums(&a);
        for (size_t i = 0; i < n_grid; i++) {
            const double x = -3 + 0.25 * (double)(i / 41), y = -3 + 0.25 * (double)(i % 41);
            const json_t *row = row_of(&a, i);
            double joint[3], most = -(double)INFINITY, sum = 0;
            for (size_t k = 0; k < 3; k++)
                most = fmax(most, joint[k] = joint_of(&g[k], x, y));
            for (size_t k = 0; k < 3; k++)
                sum += exp(joint[k] - most);
            const double density = most + log(sum);
            expect_near(json_number_value(json_object_get(row, "log_density")), density, 1e-9 * fabs(density));
            for (size_t k = 0; k < 3; k++)
                expect_near(item(json_object_get(row, "probabilities"), k), exp(joint[k] - density), 1e-9);
            assert_true(json_is_false(json_object_get(row, "out_of_support")));
            assert_int_equal(json_is_null(json_object_get(row, "distance")), !shared);
        }
        answer_done(&a);
    }
    struct answer a = predict("iris", "log_density", flowers); /* a method without densities */
    assert_true(json_is_null(json_object_get(row_of(&a, 0), "log_density")));
    assert_int_equal(json_object_size(row_of(&a, 0)), 1);
    answer_done(&a);
}

/* A level that no class ever had, without smoothing: nothing is likely, and the priors decide. */
static void test_out_of_support(void **state) {
    (void)state;
    expect_status(put_text(&d, "/v1/datasets/levels", "a,b,c\nx,p,yes\nx,p,yes\ny,q,no\nx,p,yes\n"), 201);
    train_as("support", "levels", "c", "naive_bayes", "\"smoothing\":0");
    struct answer a = predict("support", "label,probabilities,log_density", "{\"instances\":[[\"x\",\"p\"],[\"x\",\"q\"],[\"y\",\"q\"]]}");
    assert_string_equal(text_at(a.json, "predictions.0.label"), "yes");
    assert_string_equal(text_at(a.json, "predictions.2.label"), "no");
    expect_near(number_at(a.json, "predictions.0.log_density"), log(0.75), 1e-12);
    assert_true(json_is_false(at(a.json, "predictions.0.out_of_support")));
    assert_string_equal(text_at(a.json, "predictions.1.label"), "yes");
    assert_true(is_null_at(a.json, "predictions.1.log_density"));
    assert_true(json_is_true(at(a.json, "predictions.1.out_of_support")));
    expect_near(number_at(a.json, "predictions.1.probabilities.1"), 0.75, 1e-12);
    answer_done(&a);
    a = predict("support", "label", "{\"instances\":[[\"x\",\"p\"],[\"x\",\"q\"]]}"); /* it is said even where it was not asked */
    assert_int_equal(json_object_size(row_of(&a, 0)), 1);
    assert_true(json_is_true(at(a.json, "predictions.1.out_of_support")));
    answer_done(&a);
}

/* ---- what the catalogue says of it -------------------------------------------------------------------------------------------------------- */

static bool offers(const json_t *algorithm, const char *output) {
    const json_t *outputs = json_object_get(algorithm, "outputs");
    for (size_t i = 0; i < json_array_size(outputs); i++)
        if (strcmp(json_string_value(json_array_get(outputs, i)), output) == 0)
            return true;
    return false;
}

static bool has_param(const json_t *algorithm, const char *name) {
    const json_t *params = json_object_get(algorithm, "parameters");
    for (size_t i = 0; i < json_array_size(params); i++)
        if (strcmp(json_string_value(json_object_get(json_array_get(params, i), "name")), name) == 0)
            return true;
    return false;
}

static void test_outputs_of_every_algorithm(void **state) {
    (void)state;
    struct answer list = get(&d, "/v1/algorithms");
    const json_t *algorithm;
    size_t i;
    assert_true(json_array_size(at(list.json, "items")) >= 6);
    json_array_foreach(at(list.json, "items"), i, algorithm) {
        const char *id = json_string_value(json_object_get(algorithm, "id"));
        const bool calibrates = has_param(algorithm, "calibrate"); /* probabilities only when it is asked for */
        if (json_is_true(json_object_get(algorithm, "needs_target"))) {
            train_as("any", "blobs", "class", id, calibrates ? "\"calibrate\":\"platt\"" : "");
        } else {
            char body[200];
            snprintf(body, sizeof body,
                     "{\"model\":\"any\",\"dataset\":\"blobs\",\"algorithm\":\"%s\",\"features\":{\"exclude\":[\"class\"]}}", id);
            json_decref(train(&d, body, "succeeded"));
        }
        struct answer a = predict("any", EVERYTHING, "{\"instances\":[[1,2],[0,0],[4,1]]}"),
                      t = send_text(&d, "POST", "/v1/models/any/transform", "{\"instances\":[[1,2]]}");
        const json_t *row = row_of(&a, 1);
        assert_true(offers(algorithm, "label") && json_is_string(json_object_get(row, "label")));
        assert_int_equal(offers(algorithm, "probabilities"), json_object_get(row, "probabilities") != NULL);
        assert_int_equal(offers(algorithm, "probabilities"), calibrates || json_is_true(json_object_get(algorithm, "probabilities")));
        assert_true(offers(algorithm, "scores") && json_array_size(json_object_get(row, "scores")) > 0);
        assert_int_equal(offers(algorithm, "log_density"), json_is_number(json_object_get(row, "log_density")));
        assert_true(offers(algorithm, "distance") || json_is_null(json_object_get(row, "distance")));
        assert_int_equal(offers(algorithm, "contributions"), json_is_array(json_object_get(row, "contributions")));
        if (offers(algorithm, "contributions"))
            expect_sums(&a);
        assert_int_equal(offers(algorithm, "ambiguous"), has_param(algorithm, "multiclass"));
        assert_true(json_is_false(json_object_get(row, "ambiguous")));
        assert_int_equal(json_is_true(json_object_get(algorithm, "transform")), t.status == 200);
        assert_true(t.status == 200 || t.status == 409);
        answer_done(&a);
        answer_done(&t);
        a = predict("any", "probabilities", "{\"instances\":[[1,2]]}"); /* scores in their place */
        assert_int_equal(json_object_size(row_of(&a, 0)), 1);
        assert_non_null(json_object_get(row_of(&a, 0), offers(algorithm, "probabilities") ? "probabilities" : "scores"));
        answer_done(&a);
    }
    answer_done(&list);
}

/* ---- categories that training never saw, where they are refused ------------------------------------------------------------------------- */

static void test_unseen_categories_that_are_refused(void **state) {
    (void)state;
    json_decref(train(&d,
                      "{\"model\":\"careful\",\"dataset\":\"mixed\",\"target\":\"ok\",\"algorithm\":\"logistic\",\"features\":"
                      "{\"categorical\":{\"unseen\":\"error\"}}}",
                      "succeeded"));
    const char *path = "/v1/models/careful/predict";
    expect_status(send_text(&d, "POST", path, "{\"instances\":[[1,\"red\"],[2,null]]}"), 200);
    expect_fault(send_text(&d, "POST", path, "{\"instances\":[[1,\"red\"],[1,\"violet\"]]}"), 422, "invalid-instances", "/instances/1/1",
                 "\"colour\"");
    expect_fault(send_text(&d, "POST", path, "{\"instances\":[{\"size\":1,\"colour\":\"violet\"}]}"), 422, "invalid-instances",
                 "/instances/0/colour", "violet");
    struct answer a = send_typed(&d, "POST", path, "text/csv", "size,colour\n1,red\n2,violet\n");
    assert_int_equal(a.status, 422);
    assert_int_equal(number_at(a.json, "errors.0.line"), 3);
    assert_non_null(strstr(text_at(a.json, "errors.0.detail"), "\"colour\""));
    answer_done(&a);
    expect_fault(get(&d, "/v1/models/careful/predict?size=1&colour=violet"), 422, "invalid-instances", "/colour", "training saw");
    expect_fault(send_text(&d, "POST", "/v1/models/careful/evaluate", "{\"instances\":[{\"size\":1,\"colour\":\"violet\",\"ok\":true}]}"),
                 422, "invalid-instances", "/instances/0/colour", "violet");
    expect_status(put_text(&d, "/v1/datasets/odd?types=ok:boolean", "size,colour,ok\n1,red,1\n2,violet,0\n"), 201);
    expect_fault(send_text(&d, "POST", "/v1/models/careful/evaluate", "{\"dataset\":\"odd\"}"), 422, "invalid", "/dataset", "colour");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contributions),
        cmocka_unit_test(test_contributions_of_categories),
        cmocka_unit_test(test_too_many_contributions),
        cmocka_unit_test(test_distance_of_two_classes),
        cmocka_unit_test(test_distance_of_many_classes),
        cmocka_unit_test(test_no_distance),
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_between_three_pairs),
        cmocka_unit_test(test_probabilities),
        cmocka_unit_test(test_ambiguous_rows_are_errors),
        cmocka_unit_test(test_every_way_gives_the_same),
        cmocka_unit_test(test_what_cannot_be_asked),
        cmocka_unit_test(test_density_of_gaussians),
        cmocka_unit_test(test_out_of_support),
        cmocka_unit_test(test_outputs_of_every_algorithm),
        cmocka_unit_test(test_unseen_categories_that_are_refused),
    };
    return cmocka_run_group_tests(tests, open_daemon, close_daemon);
}
