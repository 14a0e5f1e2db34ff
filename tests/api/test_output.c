/* ?output=: equal values for each combination of outputs, the outputs of each method, densities
 * recomputed from the data, categories that are refused. */

#include "outputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- a value does not depend on the other outputs ---- */

static void test_every_way_gives_the_same(void **state) {
    (void)state;
    static const char *const models[] = {"softmax", "rest_strict", "rest_strict_less",
                                         "pairs_strict"};
    for (size_t m = 0; m < 4; m++) {
        const char *path = text("/v1/models/%s/predict?output=" EVERYTHING, models[m]);
        const struct response *a =
            status_check(call_text("POST", path, NULL, "{\"instances\":[[1.25,1.5]]}"), 200);
        const struct response *others[] = {
            call_get("%s&y=1.5&x=1.25", path),
            call_text("POST", path, NULL, "{\"instances\":[{\"y\":1.5,\"x\":1.25}]}"),
            call_text("POST", path, "Content-Type: text/csv", "1.25,1.5\n"),
            call_text("POST", path, "Content-Type: text/csv", "y,x\n1.5,1.25\n")};
        for (size_t i = 0; i < 4; i++) {
            assert_int_equal(others[i]->status, 200);
            assert_true(json_equal(a->json, others[i]->json));
        }
        /* a row's answer does not depend on the other rows */
        const struct response *all = predict(models[m], EVERYTHING, grid);
        for (size_t i = 0; i < n_grid; i += 97) {
            a = predict(models[m], EVERYTHING,
                        text("{\"instances\":[[%.2f,%.2f]]}", -3 + 0.25 * (double)(i / 41),
                             -3 + 0.25 * (double)(i % 41)));
            assert_true(json_equal(row_of(a, 0), row_of(all, i)));
        }
    }
}

static void test_outputs_that_models_lack(void **state) {
    (void)state;
    problem_check(call_text("POST", "/v1/models/iris/predict?output=density", NULL, flowers), 400,
                  "bad-request");
    problem_check(call_text("POST", "/v1/models/iris/predict?output=scores,,label", NULL, flowers),
                  400, "bad-request");
    problem_check(call_text("POST", "/v1/models/iris/predict?output=", NULL, flowers), 400,
                  "bad-request");
    problem_check(call_get("/v1/models/softmax/predict?output=label&output=scores&x=1&y=1"), 400,
                  "bad-request");
}

/* ---- densities ---- */

/* ln Σ_k P(C_k) N(x; m_k, Σ) of two columns, with maximum likelihood means, covariances and
 * priors. */
struct gaussian {
    double prior, mean[2], s[2][2];
};

static void fit_blobs(struct gaussian g[3], bool shared) {
    const struct response *a = call_get("/v1/datasets/blobs/rows?limit=1000");
    const json_t *rows = json_find(a->json, "/items");
    double pooled[2][2] = {{0}};
    for (size_t k = 0; k < 3; k++) {
        const char name[2] = {(char)('a' + k), 0};
        double n = 0;
        g[k] = (struct gaussian){0};
        for (int pass = 0; pass < 2; pass++) {
            for (size_t i = 0; i < json_array_size(rows); i++) {
                const json_t *row = json_array_get(rows, i);
                if (strcmp(json_string_value(json_object_get(row, "class")), name) != 0) {
                    continue;
                }
                const double x[2] = {json_number_value(json_object_get(row, "x")),
                                     json_number_value(json_object_get(row, "y"))};
                n += pass == 0;
                for (int j = 0; j < 2; j++) {
                    g[k].mean[j] += pass == 0 ? x[j] : 0;
                    for (int l = 0; l < 2; l++) {
                        g[k].s[j][l] +=
                            pass == 1 ? (x[j] - g[k].mean[j]) * (x[l] - g[k].mean[l]) : 0;
                    }
                }
            }
            for (int j = 0; pass == 0 && j < 2; j++) {
                g[k].mean[j] /= n;
            }
        }
        g[k].prior = n / (double)json_array_size(rows);
        for (int j = 0; j < 4; j++) {
            pooled[j / 2][j % 2] += g[k].s[j / 2][j % 2] / (double)json_array_size(rows);
            g[k].s[j / 2][j % 2] /= n;
        }
    }
    for (size_t k = 0; shared && k < 3; k++) {
        memcpy(g[k].s, pooled, sizeof pooled);
    }
}

static double joint_of(const struct gaussian *g, double x, double y) {
    const double det = g->s[0][0] * g->s[1][1] - g->s[0][1] * g->s[1][0], u = x - g->mean[0],
                 v = y - g->mean[1];
    const double square = (g->s[1][1] * u * u - 2 * g->s[0][1] * u * v + g->s[0][0] * v * v) / det;
    return log(g->prior) - 0.5 * (square + log(det)) - log(2 * acos(-1));
}

static void test_density_of_gaussians(void **state) {
    (void)state;
    for (int shared = 0; shared < 2; shared++) {
        struct gaussian g[3];
        fit_blobs(g, shared);
        train_as("lda", "blobs", "class", "gaussian",
                 shared ? "\"covariance\":\"shared\"" : "\"covariance\":\"full\"");
        const struct response *a = predict("lda", EVERYTHING, grid);
        expect_sums(a);
        for (size_t i = 0; i < n_grid; i++) {
            const double x = -3 + 0.25 * (double)(i / 41), y = -3 + 0.25 * (double)(i % 41);
            const json_t *row = row_of(a, i);
            double joint[3], most = -(double)INFINITY, sum = 0;
            for (size_t k = 0; k < 3; k++) {
                most = fmax(most, joint[k] = joint_of(&g[k], x, y));
            }
            for (size_t k = 0; k < 3; k++) {
                sum += exp(joint[k] - most);
            }
            const double density = most + log(sum);
            assert_near(json_number_value(json_object_get(row, "log_density")), density,
                        1e-9 * fabs(density));
            for (size_t k = 0; k < 3; k++) {
                assert_near(item(json_object_get(row, "probabilities"), k), exp(joint[k] - density),
                            1e-9);
            }
            assert_true(json_is_false(json_object_get(row, "out_of_support")));
            assert_int_equal(json_is_null(json_object_get(row, "distance")), !shared);
        }
    }
    const struct response *a =
        predict("iris", "log_density", flowers); /* a method without densities */
    assert_true(json_is_null(json_object_get(row_of(a, 0), "log_density")));
    assert_int_equal(json_object_size(row_of(a, 0)), 1);
}

/* A level that no class had in training, without smoothing: the density is 0 and the priors
 * decide. */
static void test_out_of_support(void **state) {
    (void)state;
    status_check(call_upload("/v1/datasets/levels", "a,b,c\nx,p,yes\nx,p,yes\ny,q,no\nx,p,yes\n"),
                 201);
    train_as("support", "levels", "c", "naive_bayes", "\"smoothing\":0");
    const struct response *a =
        predict("support", "label,probabilities,log_density",
                "{\"instances\":[[\"x\",\"p\"],[\"x\",\"q\"],[\"y\",\"q\"]]}");
    assert_string_equal(string_at(a, "/predictions/0/label"), "yes");
    assert_string_equal(string_at(a, "/predictions/2/label"), "no");
    assert_near(real_at(a, "/predictions/0/log_density"), log(0.75), 1e-12);
    assert_true(json_is_false(json_find(a->json, "/predictions/0/out_of_support")));
    assert_string_equal(string_at(a, "/predictions/1/label"), "yes");
    assert_true(json_is_null(json_find(a->json, "/predictions/1/log_density")));
    assert_true(json_is_true(json_find(a->json, "/predictions/1/out_of_support")));
    assert_near(real_at(a, "/predictions/1/probabilities/1"), 0.75, 1e-12);
    /* "out_of_support" is in the answer without being requested */
    a = predict("support", "label", "{\"instances\":[[\"x\",\"p\"],[\"x\",\"q\"]]}");
    assert_int_equal(json_object_size(row_of(a, 0)), 1);
    assert_true(json_is_true(json_find(a->json, "/predictions/1/out_of_support")));
}

/* ---- the outputs in the catalogue ---- */

static bool offers(const json_t *algorithm, const char *output) {
    const json_t *outputs = json_object_get(algorithm, "outputs");
    for (size_t i = 0; i < json_array_size(outputs); i++) {
        if (strcmp(json_string_value(json_array_get(outputs, i)), output) == 0) {
            return true;
        }
    }
    return false;
}

static bool has_param(const json_t *algorithm, const char *name) {
    const json_t *params = json_object_get(algorithm, "parameters");
    for (size_t i = 0; i < json_array_size(params); i++) {
        if (strcmp(json_string_value(json_object_get(json_array_get(params, i), "name")), name) ==
            0) {
            return true;
        }
    }
    return false;
}

static void test_outputs_of_every_algorithm(void **state) {
    (void)state;
    const struct response *list = call_get("/v1/algorithms");
    const json_t *algorithm;
    size_t i;
    assert_true(count_at(list, "/items") >= 6);
    json_array_foreach(json_find(list->json, "/items"), i, algorithm) {
        const char *id = json_string_value(json_object_get(algorithm, "id"));
        const bool calibrates =
            has_param(algorithm, "calibrate"); /* probabilities only with `calibrate` */
        if (json_is_true(json_object_get(algorithm, "needs_target"))) {
            train_as("any", "blobs", "class", id, calibrates ? "\"calibrate\":\"platt\"" : "");
        } else {
            const char *body =
                text("{\"model\":\"any\",\"dataset\":\"blobs\",\"algorithm\":\"%s\",\"features\":{"
                     "\"exclude\":[\"class\"]}}",
                     id);
            job_train("%s", body);
        }
        const struct response *a =
                                  predict("any", EVERYTHING, "{\"instances\":[[1,2],[0,0],[4,1]]}"),
                              *t = call_json("POST", "/v1/models/any/transform",
                                             "{'instances':[[1,2]]}");
        const json_t *row = row_of(a, 1);
        assert_true(offers(algorithm, "label") && json_is_string(json_object_get(row, "label")));
        assert_int_equal(offers(algorithm, "probabilities"),
                         json_object_get(row, "probabilities") != NULL);
        assert_int_equal(offers(algorithm, "probabilities"),
                         calibrates || json_is_true(json_object_get(algorithm, "probabilities")));
        assert_true(offers(algorithm, "scores") &&
                    json_array_size(json_object_get(row, "scores")) > 0);
        assert_int_equal(offers(algorithm, "log_density"),
                         json_is_number(json_object_get(row, "log_density")));
        assert_int_equal(offers(algorithm, "log_density"),
                         json_is_array(json_object_get(row, "class_log_density")));
        static const char *const by_bayes[] = {"prior", "posterior"};
        for (size_t o = 0; o < 2; o++) {
            const struct response *b =
                call_text("POST", text("/v1/models/any/predict?output=%s", by_bayes[o]), NULL,
                          "{\"instances\":[[1,2]]}");
            assert_int_equal(b->status, offers(algorithm, by_bayes[o]) ? 200 : 409);
            assert_int_equal(offers(algorithm, by_bayes[o]), offers(algorithm, "log_density"));
        }
        assert_true(offers(algorithm, "distance") ||
                    json_is_null(json_object_get(row, "distance")));
        assert_int_equal(offers(algorithm, "contributions"),
                         json_is_array(json_object_get(row, "contributions")));
        if (offers(algorithm, "contributions")) {
            expect_sums(a);
        }
        assert_int_equal(offers(algorithm, "ambiguous"), has_param(algorithm, "multiclass"));
        assert_true(json_is_false(json_object_get(row, "ambiguous")));
        assert_int_equal(json_is_true(json_object_get(algorithm, "transform")), t->status == 200);
        assert_true(t->status == 200 || t->status == 409);
        /* scores instead of probabilities */
        a = predict("any", "probabilities", "{\"instances\":[[1,2]]}");
        assert_int_equal(json_object_size(row_of(a, 0)), 1);
        assert_non_null(json_object_get(row_of(a, 0), offers(algorithm, "probabilities")
                                                          ? "probabilities"
                                                          : "scores"));
    }
}

/* ---- unknown categories with `unseen`: "error" ---- */

static void test_unseen_categories_that_are_refused(void **state) {
    (void)state;
    job_train("{'model':'careful','dataset':'mixed','target':'ok',"
              "'algorithm':'logistic','features':"
              "{'categorical':{'unseen':'error'}}}");
    const char *path = "/v1/models/careful/predict";
    status_check(call_text("POST", path, NULL, "{\"instances\":[[1,\"red\"],[2,null]]}"), 200);
    fault_contains(problem_check(call_text("POST", path, NULL,
                                           "{\"instances\":[[1,\"red\"],[1,\"violet\"]]}"),
                                 422, "invalid-instances"),
                   "/instances/1/1", "\"colour\"");
    fault_contains(problem_check(call_text("POST", path, NULL,
                                           "{\"instances\":[{\"size\":1,\"colour\":\"violet\"}]}"),
                                 422, "invalid-instances"),
                   "/instances/0/colour", "violet");
    const struct response *a =
        call_text("POST", path, "Content-Type: text/csv", "size,colour\n1,red\n2,violet\n");
    status_check(a, 422);
    assert_int_equal(real_at(a, "/errors/0/line"), 3);
    assert_non_null(strstr(string_at(a, "/errors/0/detail"), "\"colour\""));
    fault_contains(problem_check(call_get("/v1/models/careful/predict?size=1&colour=violet"), 422,
                                 "invalid-instances"),
                   "/colour", "training data");
    fault_contains(
        problem_check(call_json("POST", "/v1/models/careful/evaluate",
                                "{'instances':[{'size':1,'colour':'violet','ok':true}]}"),
                      422, "invalid-instances"),
        "/instances/0/colour", "violet");
    status_check(call_upload("/v1/datasets/odd?types=ok:boolean",
                             "size,colour,ok\n1,red,1\n2,violet,0\n"),
                 201);
    fault_contains(problem_check(call_json("POST", "/v1/models/careful/evaluate",
                                           "{'dataset':'odd'}"),
                                 422, "invalid"),
                   "/dataset", "colour");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_every_way_gives_the_same),   TEST(test_outputs_that_models_lack),
        TEST(test_density_of_gaussians),       TEST(test_out_of_support),
        TEST(test_outputs_of_every_algorithm), TEST(test_unseen_categories_that_are_refused),
    };
    return cmocka_run_group_tests(tests, outputs_open, outputs_close);
}
