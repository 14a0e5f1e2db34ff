/* Objective and weights of trainings over HTTP against numbers of other programs
 * (tests/data/golden.json); equal seeds give equal bytes. */
#include "lib/api.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SHARED_PIMA                                                                                \
    "../shared/data/pima.csv" /* not part of the repository: the test is skipped without it */

static json_t *golden;

static int open_daemon(void **state) {
    static const char *const names[] = {"iris", "wine", "breast_cancer", "digits"};
    (void)state;
    golden = json_load_file("tests/data/golden.json", 0, NULL);
    if (!golden) {
        return -1;
    }
    service_start(NULL);
    for (size_t i = 0; i < 4; i++) {
        upload_file(names[i], text("%s.csv", names[i]));
    }
    return 0;
}

static int close_daemon(void **state) {
    json_decref(golden);
    return group_end(state);
}

/* Mean and deviation (divisor n) of every column but the last, from GET …/rows. */
struct scaling {
    size_t n;
    double mean[64], scale[64];
};

static struct scaling scaling_of(const char *dataset) {
    struct scaling s = {0};
    const char *name;
    json_t *row, *value;
    size_t i;
    const struct response *a = call_get("/v1/datasets/%s/rows?limit=100000", dataset);
    const json_t *items = json_find(a->json, "/items");
    const double n = (double)json_array_size(items);
    s.n = json_object_size(json_array_get(items, 0)) - 1;
    for (int pass = 0; pass < 2; pass++) {
        json_array_foreach(items, i, row) {
            size_t j = 0;
            json_object_foreach(row, name, value) {
                double x = json_number_value(value);
                if (j < s.n && pass == 0) {
                    s.mean[j] += x / n;
                } else if (j < s.n) {
                    s.scale[j] += (x - s.mean[j]) * (x - s.mean[j]) / n;
                }
                j++;
            }
        }
    }
    for (size_t j = 0; j < s.n; j++) {
        s.scale[j] = s.scale[j] > 1e-20 ? sqrt(s.scale[j]) : 1;
    }
    return s;
}

/* max|u − v| <= tol·max|v| over the matrix of weights, converted to standardised features as in the
 * golden file. */
static void check_weights(const char *model, const struct scaling *s, const json_t *expected,
                          double tolerance) {
    double worst = 0, largest = 0, worst0 = 0, largest0 = 0;
    const struct response *a = call_get("/v1/models/%s/weights", model);
    const json_t *w = json_find(a->json, "/w"), *w0 = json_find(a->json, "/w0");
    assert_int_equal(json_array_size(w), json_array_size(json_find(expected, "/w")));
    for (size_t k = 0; k < json_array_size(w); k++) {
        double intercept = json_number_value(json_array_get(w0, k)),
               e0 = json_number_value(json_array_get(json_find(expected, "/w0"), k));
        assert_int_equal(json_array_size(json_array_get(w, k)), s->n);
        for (size_t j = 0; j < s->n; j++) {
            double raw = json_number_value(json_array_get(json_array_get(w, k), j));
            double e =
                json_number_value(json_array_get(json_array_get(json_find(expected, "/w"), k), j));
            intercept += raw * s->mean[j];
            worst = fmax(worst, fabs(raw * s->scale[j] - e));
            largest = fmax(largest, fabs(e));
        }
        worst0 = fmax(worst0, fabs(intercept - e0));
        largest0 = fmax(largest0, fabs(e0));
    }
    if (!(worst <= tolerance * largest) || !(worst0 <= tolerance * largest0)) {
        fail_msg("%s: weights differ by %g of %g, intercepts by %g of %g", model, worst, largest,
                 worst0, largest0);
    }
}

static void check_one(const char *dataset, const char *target, const char *solver,
                      const char *lambda, const struct scaling *s) {
    const json_t *expected = json_object_get(json_object_get(golden, dataset),
                                             text("logistic_l2_%s_standardized", lambda));
    assert_non_null(expected);
    const struct response *job =
        job_train("{'model':'%s-%s','dataset':'%s','target':'%s','algorithm':"
                  "'logistic','params':{'solver':'%s',"
                  "'lambda':%s,'tolerance':1e-9}}",
                  dataset, solver, dataset, target, solver, lambda);
    assert_true(json_is_true(json_find(job->json, "/result/converged")));
    double objective = real_in(expected, "/objective");
    assert_near(real_at(job, "/result/objective"), objective, 1e-5 * objective);
    assert_near(real_at(job, "/result/metrics/train/accuracy"),
                real_in(expected, "/train_accuracy"), 1e-12);
    check_weights(text("%s-%s", dataset, solver), s, expected, 1e-5);
}

static void check_dataset(const char *dataset, const char *target) {
    static const char *const solvers[] = {"newton", "lbfgs"}, *const lambdas[] = {"0.001", "0.1"};
    struct scaling s = scaling_of(dataset);
    for (size_t i = 0; i < 2; i++) {
        for (size_t j = 0; j < 2; j++) {
            check_one(dataset, target, solvers[i], lambdas[j], &s);
        }
    }
}

static void test_iris(void **state) {
    (void)state;
    check_dataset("iris", "class");
}

static void test_wine(void **state) {
    (void)state;
    check_dataset("wine", "class");
}

static void test_breast_cancer(void **state) {
    (void)state;
    check_dataset("breast_cancer", "class");
}

static void test_digits(void **state) {
    (void)state;
    check_dataset("digits", "class");
}

/* Gradient descent reaches the same objective to 1e-3. */
static void check_descent(const char *dataset, const char *target, const char *solver,
                          const char *lambda) {
    const char *key = text("logistic_l2_%s_standardized", lambda);
    const struct response *job =
        job_train("{'model':'descent','dataset':'%s','target':'%s','algorithm':"
                  "'logistic','params':{'solver':'%s',"
                  "'lambda':%s,'max_iterations':20000}}",
                  dataset, target, solver, lambda);
    double expected = real_in(json_object_get(json_object_get(golden, dataset), key), "/objective");
    assert_near(real_at(job, "/result/objective"), expected, 1e-3 * expected);
}

static void test_pima(void **state) {
    (void)state;
    if (access(SHARED_PIMA, R_OK) != 0) {
        skip();
    }
    upload_file("pima", SHARED_PIMA);
    check_dataset("pima", "diabetes");
    check_descent("pima", "diabetes", "gradient_descent", "0.001");
    check_descent("pima", "diabetes", "sgd", "0.001");
}

static void test_descent_reaches_the_same_objective(void **state) {
    static const char *const names[] = {"iris", "wine", "breast_cancer"}, *const lambdas[] = {
                                                                              "0.001", "0.1"};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        for (size_t j = 0; j < 2; j++) {
            check_descent(names[i], "class", "gradient_descent", lambdas[j]);
            check_descent(names[i], "class", "sgd", lambdas[j]);
        }
    }
    if (getenv("TEST_SLOW") != NULL) { /* takes half an hour under valgrind */
        return;
    }
    check_descent("digits", "class", "gradient_descent",
                  "0.1"); /* with 0.001 it needs 16,000 passes and ten seconds */
    check_descent("digits", "class", "sgd", "0.1");
}

static void test_the_same_seed_gives_the_same_bytes(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++) {
        job_train("{'model':'seeded','dataset':'iris','target':'class','algorithm':'logistic',"
                  "'params':{'solver':'sgd'},'seed':%d,'limits':{'threads':1}}",
                  i < 2 ? 11 : 12);
    }
    const struct response *a = call_get("/v1/models/seeded/versions/1/weights"),
                          *b = call_get("/v1/models/seeded/versions/2/weights"),
                          *c = call_get("/v1/models/seeded/versions/3/weights");
    assert_true(json_equal(json_find(a->json, "/w"), json_find(b->json, "/w")) &&
                json_equal(json_find(a->json, "/w0"), json_find(b->json, "/w0")));
    assert_false(json_equal(json_find(a->json, "/w"), json_find(c->json, "/w")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_iris),
        TEST(test_wine),
        TEST(test_breast_cancer),
        TEST(test_digits),
        TEST(test_pima),
        TEST(test_descent_reaches_the_same_objective),
        TEST(test_the_same_seed_gives_the_same_bytes),
    };
    return cmocka_run_group_tests(tests, open_daemon, close_daemon);
}
