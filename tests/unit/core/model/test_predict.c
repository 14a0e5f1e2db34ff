/* Tests of prediction. Scores equal those of plain loops. A row has the same results alone and in a
 * batch. Probabilities of extreme scores; missing and unseen values. */
#include "unit/core/support.h"
#include <discern/simple.h>

static dn_model *model_of(const struct csv *t, const char *solver) {
    struct table *table = table_of(t);
    dn_params *p = params_of(solver, 1e-3);
    dn_train_request request = table_request(t, table, p);
    dn_run run = dn_run_default();
    dn_train_result result;
    OK(dn_train(&request, &run, &result, NULL));
    dn_model *model = dn_model_ref(result.model);
    dn_train_result_done(&result);
    dn_params_free(p);
    columns_table_free(table);
    return model;
}

static void results_do_not_depend_on_the_batch(void **state) {
    (void)state;
    const char *const names[] = {"iris", "breast_cancer", "digits"};
    for (size_t s = 0; s < 3; s++) {
        struct csv *t = csv_named(names[s]);
        dn_model *model = model_of(t, "auto");
        size_t S = dn_model_n_scores(model), n = t->n;
        double *workspace = xcalloc(dn_model_workspace(model), sizeof *workspace);
        double *scores = xcalloc(n * S, sizeof *scores), *p = xcalloc(n * t->K, sizeof *p), g[16],
               q[16];
        size_t *label = xcalloc(n, sizeof *label), one;
        dn_prediction all = {.label = label, .probabilities = p, .scores = scores},
                      single = {.label = &one, .probabilities = q, .scores = g};
        dn_model_predict(model, dn_raw_numbers(t->x, n), workspace, &all);
        dn_linear linear;
        assert_true(dn_model_linear(model, &linear));
        for (size_t i = 0; i < n; i++) {
            dn_model_predict(model, dn_raw_numbers(t->x + i * t->d, 1), workspace, &single);
            assert_memory_equal(g, scores + i * S, S * sizeof *g);
            assert_memory_equal(q, p + i * t->K, t->K * sizeof *q);
            assert_int_equal(one, label[i]);
            double sum = 0, most = 0;
            for (size_t k = 0; k < S; k++) {
                double plain = linear.w0[k], size = fabs(plain);
                for (size_t j = 0; j < t->d; j++) {
                    plain += linear.w[k * t->d + j] * t->x[i * t->d + j];
                    size += fabs(linear.w[k * t->d + j] * t->x[i * t->d + j]);
                }
                assert_true(fabs(plain - g[k]) <= 1e-13 * size);
            }
            for (size_t k = 0; k < t->K; k++) {
                sum += q[k];
                most = fmax(most, q[k]);
            }
            assert_true(fabs(sum - 1) < 1e-14 && q[one] == most);
        }
        dn_prediction only = {.label = label};
        dn_model_predict(model, dn_raw_numbers(t->x, n), workspace,
                         &only); /* the other outputs are NULL */
        dn_model_predict(model, dn_raw_numbers(t->x, 0), workspace, &all);
        free(workspace);
        free(scores);
        free(p);
        free(label);
        dn_model_unref(model);
        csv_free(t);
    }
}

/* Probabilities of extreme scores: sigmoid and softmax give values near 0 and 1. */
static void probabilities_at_the_ends(void **state) {
    (void)state;
    for (size_t K = 2; K <= 3; K++) {
        struct csv *t = csv_clouds(200, 3, K);
        dn_model *model = model_of(t, "newton");
        double *workspace = xcalloc(dn_model_workspace(model), sizeof *workspace);
        const double sizes[] = {1e2, 1e4, 1e8, 1e100};
        for (size_t s = 0; s < 4; s++) {
            for (int sign = -1; sign <= 1; sign += 2) {
                double x[] = {sign * sizes[s], -sign * sizes[s], sizes[s]}, p[3], g[3];
                size_t label;
                dn_prediction out = {.label = &label, .probabilities = p, .scores = g};
                dn_model_predict(model, dn_raw_numbers(x, 1), workspace, &out);
                double sum = 0;
                for (size_t k = 0; k < K; k++) {
                    assert_true(p[k] >= 0 && p[k] <= 1);
                    sum += p[k];
                }
                assert_near(sum, 1, 1e-14);
                assert_true(p[label] >= 0.5);
                if (K == 2 && fabs(g[0]) < 700 &&
                    fabs(g[0]) > 40) { /* the small probability keeps its relative precision */
                    assert_near(p[1 - label], exp(-fabs(g[0])), 1e-12);
                }
            }
        }
        free(workspace);
        dn_model_unref(model);
        csv_free(t);
    }
}

/* A table of a number, a flag and a category, with missing values. */
static void missing_and_unseen(void **state) {
    (void)state;
    enum { N = 8 };
    const double x[N] = {1, 2, (double)NAN, 4, 5, 6, 7, 8}, flag[N] = {0, 1, 0, 1, 1, 0, 1, 0},
                 y[N] = {0, 0, 0, 0, 1, 1, 1, 1};
    const uint32_t code[N] = {0, 1, 0, DN_CODE_MISSING, 2, 2, 1, 2}, start[] = {0, 3, 7, 11};
    const dn_table_column columns[] = {{.name = "x", .type = DN_NUMERIC},
                                       {.name = "flag", .type = DN_BOOLEAN},
                                       {.name = "sort", .type = DN_CATEGORICAL},
                                       {.name = "y", .type = DN_NUMERIC}};
    const dn_column_view views[] = {{.type = DN_NUMERIC, .n_rows = N, .number = x},
                                    {.type = DN_BOOLEAN, .n_rows = N, .number = flag},
                                    {.type = DN_CATEGORICAL,
                                     .n_rows = N,
                                     .code = code,
                                     .strings = {.n = 3, .start = start, .bytes = "redbluepink"}},
                                    {.type = DN_NUMERIC, .n_rows = N, .number = y}};
    const size_t inputs[] = {2, 0, 1};
    dn_table_source *source;
    OK(dn_table_source_from_columns(columns, views, 4, N, &source, NULL));
    dn_params *p = params_of("newton", 1e-2);
    dn_train_request request = {.source = source,
                                .params = p,
                                .target = 3,
                                .features = {.columns = inputs,
                                             .n_columns = 3,
                                             .standardize = true}};
    dn_run run = dn_run_default();
    dn_train_result result;
    OK(dn_train(&request, &run, &result, NULL));
    const dn_encoder *encoder = dn_model_encoder(result.model);
    dn_linear linear;
    assert_true(dn_model_linear(result.model, &linear));
    assert_int_equal(linear.n_features, 6); /* features: blue, pink, red, missing; x; flag */
    double *workspace = xcalloc(dn_model_workspace(result.model), sizeof *workspace);
    double fill = dn_encoder_input(encoder, 1)->fill;
    assert_near(fill, 33.0 / 7, 1e-12);
    const double *w = linear.w;
    const struct {
        double raw[3], score;
    } cases[] = {
        {{dn_encoder_level(encoder, 0, "blue", 4), 2, 1}, w[0] + 2 * w[4] + w[5]},
        {{dn_encoder_level(encoder, 0, "red", 3), -3, 0}, w[2] - 3 * w[4]},
        {{(double)NAN, 0, 1}, w[3] + w[5]},
        {{dn_encoder_level(encoder, 0, "green", 5), 1, 0}, w[4]},
        {{DN_UNSEEN, (double)NAN, 0}, fill * w[4]},
        {{1, (double)NAN, (double)NAN},
         w[1] + fill * w[4] + dn_encoder_input(encoder, 2)->fill * w[5]},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double g;
        dn_prediction out = {.scores = &g};
        dn_model_predict(result.model, dn_raw_numbers(cases[i].raw, 1), workspace, &out);
        assert_true(fabs(g - (cases[i].score + linear.w0[0])) < 1e-12);
    }
    assert_true(dn_model_memory(result.model) > 6 * 3 * sizeof(double));
    free(workspace);
    dn_train_result_done(&result);
    dn_params_free(p);
    dn_table_source_free(source);
}

/* dn_model_cost: the number of multiplications for one row of 4 numbers and 3 classes. */
static void costs(void **state) {
    (void)state;
    static const struct {
        const char *id, *params;
        double cost;
    } methods[] = {{"logistic", "", 3 * 4},                    /* weights */
                   {"gaussian", "covariance=full", 3 * 4 * 4}, /* elements of the covariances */
                   {"naive_bayes", "", 2 * 3 * 4},             /* factors */
                   {"knn", "", 60 * 4 + 4 * 60}};              /* stored rows and heap */
    struct csv *t = csv_clouds(60, 4, 3);
    struct table *table = table_of(t);
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        dn_params *p;
        OK(dn_params_new(dn_algorithm_find(methods[i].id), &p, NULL));
        OK(dn_params_set_words(p, methods[i].params, NULL));
        const dn_train_request request = table_request(t, table, p);
        dn_run run = dn_run_default();
        dn_train_result result;
        OK(dn_train(&request, &run, &result, NULL));
        assert_true(dn_model_cost(result.model) == methods[i].cost);
        dn_train_result_done(&result);
        dn_params_free(p);
    }
    columns_table_free(table);
    csv_free(t);
}

/* A model of given weights scores w'x + w0. The weights of the model itself give the same scores.
 * Standardised and raw features, one score and several. */
static void given_weights(void **state) {
    (void)state;
    for (size_t K = 2; K <= 3; K++) {
        struct csv *t = csv_clouds(60, 3, K);
        for (size_t raw = 0; raw < 2; raw++) {
            dn_model *model, *other = NULL, *same;
            dn_linear linear, back;
            double w[9], w0[3], scores[3], *workspace;
            OK(dn_fit(t->x, t->n, 3, t->target, raw ? "least_squares" : "logistic",
                      raw ? "lambda=0" : "", NULL, &model, NULL));
            assert_true(dn_model_takes_weights(model) && dn_model_linear(model, &linear));
            assert_true((dn_encoder_mean(dn_model_encoder(model)) == NULL) == (raw == 1));
            const size_t S = linear.n_scores;
            for (size_t i = 0; i < S * 3; i++) {
                w[i] = sin(1.0 + (double)i);
            }
            for (size_t k = 0; k < S; k++) {
                w0[k] = cos(2.0 + (double)k);
            }
            OK(dn_model_with_weights(model, w, w0, &other, NULL));
            OK(dn_model_with_weights(model, linear.w, linear.w0, &same, NULL));
            assert_true(dn_model_linear(same, &back));
            for (size_t i = 0; i < S * 3; i++) {
                assert_true(fabs(back.w[i] - linear.w[i]) <= 1e-15 * fabs(linear.w[i]));
            }
            workspace = xcalloc(dn_model_workspace(other), sizeof *workspace);
            dn_prediction out = {.scores = scores};
            for (size_t i = 0; i < t->n; i++) {
                assert_int_equal(dn_model_predict(other, dn_raw_numbers(t->x + 3 * i, 1), workspace,
                                                  &out),
                                 1);
                for (size_t k = 0; k < S; k++) {
                    double plain = w0[k];
                    for (size_t j = 0; j < 3; j++) {
                        plain += w[3 * k + j] * t->x[3 * i + j];
                    }
                    assert_true(fabs(scores[k] - plain) < 1e-12);
                }
            }
            free(workspace);
            dn_model_unref(same);
            same = NULL;
            w[1] = (double)NAN;
            assert_int_equal(dn_model_with_weights(model, w, w0, &same, NULL), DN_ERR_NUMERIC);
            assert_int_equal(dn_model_with_weights(model, NULL, w0, &same, NULL), DN_ERR_ARGUMENT);
            assert_null(same);
            dn_model_unref(model); /* the other model keeps the encoder */
            assert_int_equal(dn_model_classes(other)->n, K);
            dn_model_unref(other);
        }
        dn_model *fisher, *none = NULL;
        OK(dn_fit(t->x, t->n, 3, t->target, "gaussian", "covariance=shared", NULL, &fisher, NULL));
        assert_false(dn_model_takes_weights(fisher));
        const double zero[9] = {0};
        assert_int_equal(dn_model_with_weights(fisher, zero, zero, &none, NULL), DN_ERR_ARGUMENT);
        dn_model_unref(fisher);
        csv_free(t);
    }
}

/* Densities, priors and posteriors of arrays of any length and of stored models. At x = 2, with the
 * classes {0, 2} and {3, 3, 7, 7} of means 1 and 5 and variances 1 and 4:
 *
 *   ln p(2 | 0) = -(ln 2π + 1)/2, ln p(2 | 1) = -(ln 2π + ln 4 + 9/4)/2, P = 1/3, 2/3 */
static void densities(void **state) {
    (void)state;
    enum { ROWS = 600 }; /* more than dn_model_predict_rows copies at once */
    static const double x[] = {0, 2, 3, 3, 7, 7}, log_2pi = 1.8378770664093454835606594728112;
    static const double y[] = {0, 0, 1, 1, 1, 1};
    static double rows[ROWS], of_class[2 * ROWS], posterior[2 * ROWS], all[ROWS];
    static const char *const methods[][2] = {{"gaussian", "covariance=full"}, {"naive_bayes", ""}};
    for (size_t i = 0; i < ROWS; i++) {
        rows[i] = i == ROWS - 1 ? 2 : 0.01 * (double)i;
    }
    for (size_t m = 0; m < 2; m++) {
        dn_model *model, *back;
        void *bytes;
        size_t size;
        OK(dn_fit(x, 6, 1, y, methods[m][0], methods[m][1], NULL, &model, NULL));
        OK(dn_model_write(model, &bytes, &size, NULL));
        OK(dn_model_read(bytes, size, &back, NULL));
        free(bytes);
        const dn_array array = dn_array_doubles(rows, ROWS, 1);
        OK(dn_model_predict_rows(back, &array,
                                 &(dn_prediction){.class_log_density = of_class,
                                                  .posterior = posterior,
                                                  .log_density = all},
                                 NULL, NULL));
        const double *prior = dn_model_prior(back);
        assert_near(prior[0], 1.0 / 3, 1e-15);
        assert_near(of_class[2 * ROWS - 2], -(log_2pi + 1) / 2, 1e-12);
        assert_near(of_class[2 * ROWS - 1], -(log_2pi + log(4) + 2.25) / 2, 1e-12);
        double *workspace = xcalloc(dn_model_workspace(model), sizeof *workspace);
        for (size_t i = 0; i < ROWS; i++) {
            const double joint[] = {of_class[2 * i] + log(prior[0]),
                                    of_class[2 * i + 1] + log(prior[1])},
                         sum = log(exp(joint[0]) + exp(joint[1]));
            double one[2];
            assert_near(all[i], sum, 1e-12);
            assert_near(posterior[2 * i + 1], exp(joint[1] - sum), 1e-12);
            assert_near(posterior[2 * i] + posterior[2 * i + 1], 1, 1e-15);
            dn_model_predict(model, dn_raw_numbers(rows + i, 1), workspace,
                             &(dn_prediction){.posterior = one});
            assert_memory_equal(one, posterior + 2 * i, sizeof one);
        }
        free(workspace);
        dn_model_unref(back);
        dn_model_unref(model);
    }
    dn_model *plain;
    const dn_array array = dn_array_doubles(rows, ROWS, 1);
    OK(dn_fit(x, 6, 1, y, "logistic", "", NULL, &plain, NULL));
    assert_null(dn_model_prior(plain));
    assert_int_equal(dn_model_predict_rows(plain, &array, &(dn_prediction){.posterior = posterior},
                                           NULL, NULL),
                     DN_ERR_ARGUMENT);
    dn_model_unref(plain);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_do_not_depend_on_the_batch),
        cmocka_unit_test(probabilities_at_the_ends),
        cmocka_unit_test(missing_and_unseen),
        cmocka_unit_test(costs),
        cmocka_unit_test(given_weights),
        cmocka_unit_test(densities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
