/* The other methods over HTTP against golden.json. Equal means: for a vector or matrix max|u − v|
 * <= tol·max|v|, for a number |u − v| <= tol·|v|, for a probability |u − v| <= tol·v + 1e-12;
 * accuracies are equal exactly. */
#include "lib/api.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SHARED_PIMA "../shared/data/pima.csv" /* not part of the repository: left out without it */

struct golden_table {
    const char *name, *target;
};
static const struct golden_table tables[] = {{"iris", "class"},
                                             {"wine", "class"},
                                             {"breast_cancer", "class"},
                                             {"digits", "class"},
                                             {"pima", "diabetes"}};
enum { N_TABLES = sizeof tables / sizeof tables[0] };

static json_t *golden;

static bool is_here(const struct golden_table *t) {
    return strcmp(t->name, "pima") != 0 || access(SHARED_PIMA, R_OK) == 0;
}

static int open_daemon(void **state) {
    (void)state;
    golden = json_load_file("tests/data/golden.json", 0, NULL);
    if (!golden) {
        return -1;
    }
    service_start(NULL);
    for (size_t i = 0; i < N_TABLES; i++) {
        if (strcmp(tables[i].name, "pima") != 0) {
            upload_file(tables[i].name, text("%s.csv", tables[i].name));
        } else if (is_here(&tables[i])) {
            upload_file("pima", SHARED_PIMA);
        }
    }
    return 0;
}

static int close_daemon(void **state) {
    json_decref(golden);
    return group_end(state);
}

/* Copies the numbers of a JSON value, row after row. */
static size_t flatten(const json_t *value, double *out, size_t room) {
    if (json_is_number(value)) {
        assert_true(room > 0);
        *out = json_number_value(value);
        return 1;
    }
    size_t n = 0;
    assert_true(json_is_array(value));
    for (size_t i = 0; i < json_array_size(value); i++) {
        n += flatten(json_array_get(value, i), out + n, room - n);
    }
    return n;
}

enum { ROOM = 20000 };

static void same_matrix(const char *what, const json_t *got, const json_t *expected,
                        double tolerance, bool probabilities) {
    static double u[ROOM], v[ROOM];
    size_t n = flatten(got, u, ROOM);
    double largest = 0;
    assert_int_equal(n, flatten(expected, v, ROOM));
    for (size_t i = 0; i < n; i++) {
        largest = fmax(largest, fabs(v[i]));
    }
    for (size_t i = 0; i < n; i++) {
        double most = probabilities ? tolerance * v[i] + 1e-12 : tolerance * largest;
        if (!(fabs(u[i] - v[i]) <= most)) {
            fail_msg("%s: number %zu is %.17g, not %.17g", what, i, u[i], v[i]);
        }
    }
}

static const json_t *entry(const struct golden_table *t, const char *name) {
    return json_object_get(json_object_get(golden, t->name), name);
}

/* Trains on the whole table; returns the job. */
static const struct response *fit(const struct golden_table *t, const char *algorithm,
                                  const char *params) {
    return job_train("{'model':'m','dataset':'%s','target':'%s','algorithm':'%s','params':%s}",
                     t->name, t->target, algorithm, params);
}

/* The member `output` of the predictions of the golden rows; the caller decrefs the list. */
static json_t *predict_rows(const struct golden_table *t, const char *output) {
    json_t *instances = json_array(), *out = json_array();
    const json_t *rows = json_object_get(json_object_get(golden, t->name), "rows");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const struct response *a = call_get("/v1/datasets/%s/rows?limit=1&offset=%d", t->name,
                                            (int)json_integer_value(json_array_get(rows, i)));
        json_t *row = json_deep_copy(json_find(a->json, "/items/0"));
        json_object_del(row, t->target);
        json_array_append_new(instances, row);
    }
    json_t *body = json_pack("{s:o}", "instances", instances);
    char *sent = json_dumps(body, JSON_REAL_PRECISION(17));
    const struct response *a =
        status_check(call_text("POST", text("/v1/models/m/predict?output=%s", output),
                               "Content-Type: application/json", sent),
                     200);
    const json_t *predictions = json_find(a->json, "/predictions");
    for (size_t i = 0; i < json_array_size(predictions); i++) {
        json_array_append(out, json_object_get(json_array_get(predictions, i), output));
    }
    free(sent);
    json_decref(body);
    return out;
}

static void check_accuracy(const struct response *job, const json_t *expected) {
    assert_near(real_at(job, "/result/metrics/train/accuracy"),
                real_in(expected, "/train_accuracy"), 1e-12);
}

static void test_least_squares(void **state) {
    (void)state;
    for (size_t i = 0; i < N_TABLES; i++) {
        const json_t *e = entry(&tables[i], "least_squares");
        if (!is_here(&tables[i])) {
            continue;
        }
        const struct response *job = fit(&tables[i], "least_squares", "{\"lambda\":0}");
        double residual = real_in(e, "/residual_sum_of_squares"), tolerance = real_in(e, "/tol");
        assert_near(real_at(job, "/result/details/residual_sum_of_squares"), residual,
                    tolerance * residual);
        check_accuracy(job, e);
        json_t *scores = predict_rows(&tables[i], "scores");
        for (size_t r = 0;
             r < json_array_size(scores) && json_array_size(json_array_get(scores, r)) == 1; r++) {
            double g = json_number_value(
                json_array_get(json_array_get(scores, r),
                               0)); /* two outputs that sum up to 1, with difference g */
            json_array_set_new(scores, r, json_pack("[f,f]", (1 - g) / 2, (1 + g) / 2));
        }
        same_matrix(tables[i].name, scores, json_find(e, "/fitted_rows"), tolerance, false);
        json_decref(scores);
    }
}

static void check_posteriors(const char *algorithm, const char *params, const char *name) {
    for (size_t i = 0; i < N_TABLES; i++) {
        const json_t *e = entry(&tables[i], name);
        if (!e || !is_here(&tables[i])) {
            continue;
        }
        const struct response *job = fit(&tables[i], algorithm, params);
        check_accuracy(job, e);
        json_t *p = predict_rows(&tables[i], "probabilities");
        same_matrix(tables[i].name, p, json_find(e, "/posterior_rows"), real_in(e, "/tol"), true);
        json_decref(p);
        const struct response *a = call_get("/v1/models/m/weights");
        if (json_find(e, "/means")) {
            same_matrix("means", json_find(a->json, "/means"), json_find(e, "/means"),
                        real_in(e, "/tol"), false);
        }
        if (json_find(e, "/covariance")) {
            same_matrix("covariance", json_find(a->json, "/covariances/0"),
                        json_find(e, "/covariance"), real_in(e, "/tol"), false);
        }
        if (json_find(e, "/priors")) {
            same_matrix("priors", json_find(a->json, "/priors"), json_find(e, "/priors"),
                        real_in(e, "/tol"), false);
        }
    }
}

static void test_gaussian_shared(void **state) {
    (void)state;
    check_posteriors("gaussian", "{\"covariance\":\"shared\",\"divisor\":\"ml\"}",
                     "gaussian_shared_ml");
}

static void test_gaussian_full(void **state) {
    (void)state;
    check_posteriors("gaussian", "{\"covariance\":\"full\",\"divisor\":\"unbiased\"}",
                     "gaussian_full_unbiased");
}

static void test_naive_bayes(void **state) {
    (void)state;
    check_posteriors("naive_bayes", "{\"variance_floor\":0}", "naive_bayes_gaussian");
}

static void test_fisher(void **state) {
    (void)state;
    for (size_t i = 0; i < N_TABLES; i++) {
        const json_t *e = entry(&tables[i], "fisher");
        if (!e || !is_here(&tables[i])) {
            continue;
        }
        const struct response *job = fit(&tables[i], "fisher", "{}");
        double tolerance = real_in(e, "/tol");
        const json_t *eigenvalues = json_find(e, "/eigenvalues");
        for (size_t k = 0; k < json_array_size(eigenvalues); k++) {
            double rho = json_number_value(json_array_get(eigenvalues, k));
            assert_near(real_at(job, text("/result/details/eigenvalues/%zu", k)), rho,
                        tolerance * rho);
        }
        const struct response *a = call_get("/v1/models/m/weights");
        json_t *directions = json_deep_copy(json_find(a->json, "/directions"));
        /* Discern's direction points to the second class; in the golden file the largest
         * component is positive */
        if (json_array_size(directions) == 1) {
            json_t *own = json_array_get(directions, 0);
            const json_t *other = json_array_get(json_find(e, "/directions_unit"), 0);
            double product = 0;
            for (size_t j = 0; j < json_array_size(own); j++) {
                product += json_number_value(json_array_get(own, j)) *
                           json_number_value(json_array_get(other, j));
            }
            for (size_t j = 0; product < 0 && j < json_array_size(own); j++) {
                json_array_set_new(own, j, json_real(-json_number_value(json_array_get(own, j))));
            }
        }
        same_matrix(tables[i].name, directions, json_find(e, "/directions_unit"), tolerance, false);
        json_decref(directions);
    }
}

static void test_logistic_unpenalised(void **state) {
    (void)state;
    const struct golden_table *t = &tables[N_TABLES - 1];
    if (!is_here(t)) {
        skip();
    }
    const json_t *e = entry(t, "logistic_unpenalised");
    const struct response *job = fit(t, "logistic", "{\"penalty\":\"none\"}");
    double objective = real_in(e, "/objective");
    assert_near(real_at(job, "/result/objective"), objective, 1e-6 * objective);
    check_accuracy(job, e);
    const struct response *a = call_get("/v1/models/m/weights");
    same_matrix("w", json_find(a->json, "/w"), json_find(e, "/w_raw"), real_in(e, "/tol"), false);
    assert_near(real_at(a, "/w0/0"), real_in(e, "/w0_raw"), 1e-6 * fabs(real_in(e, "/w0_raw")));
}

/* Iris as two classes: setosa is the first, all others are the second. */
static void test_perceptron(void **state) {
    (void)state;
    const struct response *a = call_get("/v1/datasets/iris/rows?limit=1000");
    json_t *rows = json_deep_copy(json_find(a->json, "/items"));
    for (size_t i = 0; i < json_array_size(rows); i++) {
        json_t *row = json_array_get(rows, i);
        const char *class = json_string_value(json_object_get(row, "class"));
        json_object_set_new(row, "class", json_string(strcmp(class, "setosa") == 0 ? "a" : "b"));
    }
    char *text = json_dumps(rows, JSON_REAL_PRECISION(17));
    status_check(call_bytes("PUT", "/v1/datasets/setosa",
                            (const char *const[]){"Content-Type: application/json", NULL}, text, 0),
                 201);
    free(text);
    json_decref(rows);
    const json_t *e = json_object_get(golden, "perceptron_iris_setosa_vs_rest");
    const struct response *job = job_train(
        "{'model':'m','dataset':'setosa','target':'class','algorithm':'perceptron','params':{'"
        "criterion':'perceptron','mode':'sequential','order':'given','learning_rate':1},'features':"
        "{'standardize':false}}");
    assert_true(json_is_true(json_find(job->json, "/result/converged")));
    assert_near(real_at(job, "/result/details/updates"), real_in(e, "/updates"), 0);
    assert_near(real_at(job, "/result/iterations"),
                real_in(e, "/passes_including_the_error_free_one"), 0);
    a = call_get("/v1/models/m/weights");
    same_matrix("w", json_find(a->json, "/w"), json_find(e, "/w"), real_in(e, "/tol"), false);
    assert_near(real_at(a, "/w0/0"), real_in(e, "/w0"), 1e-12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_least_squares), TEST(test_gaussian_shared), TEST(test_gaussian_full),
        TEST(test_naive_bayes),   TEST(test_fisher),          TEST(test_logistic_unpenalised),
        TEST(test_perceptron),
    };
    return cmocka_run_group_tests(tests, open_daemon, close_daemon);
}
