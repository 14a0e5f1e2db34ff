/* Comparison of models: the metrics of weighted rows against those of dn_metrics, McNemar's test
 * against golden numbers, results that do not depend on threads and chunks, refused allocations,
 * stops, other rows and other classes. */
#include "unit/core/support.h"

#include "base/random.h"
#include "evaluate/row_results.h"
#include "unit/core/table/chunked.h"
#include <discern/compare.h>

enum { N = 120, CLASS = 2, WEIGHT = 3, COLUMNS = 4 };

/* ---- metrics of weighted rows ---- */

/* Rows of K classes with labels, probabilities and class scores, many of which are equal. */
struct rows {
    size_t truth[N], predicted[N];
    double p[N * 4], scores[N * 4], weight[N];
};

static void rows_init(struct rows *r, size_t K, bool ambiguous) {
    dni_random random;
    dni_random_init(&random, 5, 0);
    for (size_t i = 0; i < N; i++) {
        double sum = 0;
        r->truth[i] = dni_random_below(&random, K);
        r->predicted[i] = dni_random_below(&random, 3) ? r->truth[i] : dni_random_below(&random, K);
        if (ambiguous && i % 17 == 3) {
            r->predicted[i] = DN_AMBIGUOUS;
        }
        for (size_t k = 0; k < K; k++) {
            r->p[i * K + k] = 1 + (double)dni_random_below(&random, 6) + 3 * (k == r->truth[i]);
            sum += r->p[i * K + k];
        }
        for (size_t k = 0; k < K; k++) {
            r->p[i * K + k] /= sum;
            r->scores[i * K + k] = (double)(int)dni_random_below(&random, 9) / 2 - 2;
        }
        if (K == 2) {
            r->scores[i * K] = -r->scores[i * K + 1];
        }
        r->weight[i] = (double)dni_random_below(&random, 4) * (i % 2 ? 1 : 0.37);
    }
}

static void measured_check(size_t K, bool probabilities, bool class_scores, bool ambiguous) {
    static struct rows r;
    rows_init(&r, K, ambiguous);
    const dn_metrics_options options = {.n_classes = K,
                                        .n_rows = N,
                                        .probabilities = probabilities,
                                        .class_scores = class_scores,
                                        .weighted = true};
    const dn_metrics_rows rows = {.n = N,
                                  .truth = r.truth,
                                  .predicted = r.predicted,
                                  .probabilities = probabilities ? r.p : NULL,
                                  .class_scores = class_scores ? r.scores : NULL,
                                  .weight = r.weight};
    dn_metrics *metrics;
    dni_row_results kept = {0};
    static double weight[N * DNI_SAMPLES];
    double cells[5 * 4 * DNI_SAMPLES], sample_cells[5 * 4], outs[DNI_SAMPLES * 32];
    dn_class_metrics per_class[4];
    dni_sample_work work = {.cells = cells, .sample_cells = sample_cells, .per_class = per_class};
    OK(dn_metrics_new(&options, &metrics, NULL));
    dn_metrics_add(metrics, &rows);
    OK(dn_metrics_finish(metrics, NULL));
    OK(dni_row_results_init(&kept, &options, NULL));
    dni_row_results_set(&kept, 0, &rows);
    OK(dni_row_results_rank(&kept, NULL));
    for (size_t k = 0; k < N; k++) { /* the other samples have other rows */
        for (size_t s = 0; s < DNI_SAMPLES; s++) {
            weight[k * DNI_SAMPLES + s] = s == DNI_SAMPLES - 1 ? r.weight[k] : (double)(k % 5 == s);
        }
    }
    dni_row_results_measure(&kept, weight, DNI_SAMPLES, &work, outs, 32);
    const double *out = outs + (size_t)(DNI_SAMPLES - 1) * 32;
    size_t i = 0;
    for (; dn_metric_name(i) != NULL; i++) {
        const double value = dn_metric_value(metrics, i);
        if (isnan(value) != isnan(out[i])) {
            fail_msg("%s: %g, expected %g", dn_metric_name(i), out[i], value);
        }
        if (!isnan(value)) {
            assert_near(out[i], value, 1e-13);
        }
    }
    assert_near(out[i], metrics->macro.f1, 1e-13);
    assert_int_equal(dni_n_measured(), i + 1);
    assert_null(dn_compared_metric_name(i + 1));
    for (size_t k = 0; k < N; k++) {
        assert_int_equal(dni_row_results_label(&kept, k), r.predicted[k]);
        assert_int_equal(dni_row_results_truth(&kept, k), r.truth[k]);
    }
    dni_row_results_done(&kept);
    dn_metrics_free(metrics);
}

static void measured(void **state) {
    (void)state;
    for (size_t K = 2; K <= 4; K++) {
        for (int kinds = 0; kinds < 8; kinds++) {
            measured_check(K, kinds & 1, kinds & 2, kinds & 4);
        }
    }
}

/* ---- McNemar's test ---- */

/* scipy.stats.binomtest(b, b + c).pvalue; scipy.stats.chi2.sf((abs(b - c) - 1)**2/(b + c), 1) */
static void mcnemar(void **state) {
    (void)state;
    static const struct {
        size_t b, c;
        double statistic, p_value;
    } cases[] = {{0, 0, (double)NAN, 1},
                 {3, 1, (double)NAN, 0.625},
                 {5, 15, (double)NAN, 0.04138946533203125},
                 {12, 12, (double)NAN, 1},
                 {0, 24, (double)NAN, 1.1920928955078125e-07},
                 {10, 15, 0.64, 0.42371079716679363},
                 {20, 10, 2.7, 0.10034824646229075},
                 {13, 12, 0, 1},
                 {30, 30, 0, 1},
                 {18, 44, 10.080645161290322, 0.0014983486179966036},
                 {500, 100, 265.335, 1.1793914571507799e-59}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const dn_mcnemar t = dn_mcnemar_test(cases[i].b, cases[i].c),
                         back = dn_mcnemar_test(cases[i].c, cases[i].b);
        assert_int_equal(t.exact, isnan(cases[i].statistic));
        assert_near(t.p_value, cases[i].p_value, 1e-10);
        assert_true(t.p_value == back.p_value);
        if (!t.exact) {
            assert_near(t.statistic, cases[i].statistic, 1e-12);
        }
    }
}

/* ---- models ---- */

/* Two numeric columns, a class of two or three values, and weights. Some classes are missing. */
struct fixture {
    double x[N], y[N], weight[N];
    const char *label[N];
    chunked_column columns[COLUMNS];
    chunked source;
};

static const size_t one_chunk[] = {0, N}, five_chunks[] = {0, 1, 30, 31, 80, N};

static void fixture_init(struct fixture *f, size_t n_classes, const size_t *borders,
                         size_t n_chunks) {
    static const char *const names[] = {"a", "b", "c"};
    dni_random random;
    dni_random_init(&random, 9, 0);
    memset(f, 0, sizeof *f);
    for (size_t i = 0; i < N; i++) {
        f->x[i] = dni_random_uniform(&random, -1, 1);
        f->y[i] = dni_random_uniform(&random, -1, 1);
        f->weight[i] = i % 13 == 5 ? 0 : 1 + (double)(i % 4);
        const double noise = dni_random_uniform(&random, -0.5, 0.5);
        const bool up = f->x[i] + f->y[i] * f->y[i] + noise > 0.3;
        const size_t class = up ? 1 + (size_t)(f->y[i] > 0.4) : 0;
        f->label[i] = i % 10 == 6 ? NULL : names[class < n_classes ? class : n_classes - 1];
    }
    const chunked_column columns[] = {{.column = {.name = "x", .type = DN_NUMERIC}, .number = f->x},
                                      {.column = {.name = "y", .type = DN_NUMERIC}, .number = f->y},
                                      {.column = {.name = "class", .type = DN_CATEGORICAL},
                                       .text = f->label},
                                      {.column = {.name = "weight", .type = DN_NUMERIC},
                                       .number = f->weight}};
    memcpy(f->columns, columns, sizeof columns);
    chunked_init(&f->source, f->columns, COLUMNS, N, borders, n_chunks);
}

static dn_model *train(const struct fixture *f, const char *algorithm) {
    static const size_t inputs[] = {0, 1};
    dn_train_result result;
    dn_params *p;
    OK(dn_params_new(dn_algorithm_find(algorithm), &p, NULL));
    const dn_train_request request = {.source = &f->source.source,
                                      .params = p,
                                      .target = CLASS,
                                      .features = {.columns = inputs, .n_columns = 2}};
    OK(dn_train(&request, NULL, &result, NULL));
    dn_model *model = dn_model_ref(result.model);
    dn_train_result_done(&result);
    dn_params_free(p);
    return model;
}

static const char *const algorithms[] = {"logistic", "naive_bayes", "svm"};
enum { MODELS = 3 };

static dn_status compare_models(dn_model *const *models, const dn_table_source *source,
                                const dn_comparison_options *options, const dn_run *run,
                                dn_comparison **out) {
    dn_comparison *c = NULL;
    dn_status status = dn_comparison_new(options, run, &c, NULL);
    for (size_t m = 0; status == DN_OK && m < options->n_models; m++) {
        status = dn_comparison_add(c, models[m], source, run, NULL);
    }
    if (status == DN_OK) {
        status = dn_comparison_finish(c, NULL);
    }
    if (status == DN_OK) {
        *out = c;
    } else {
        dn_comparison_free(c);
    }
    return status;
}

/* Checks that two comparisons have the same results, bit by bit. */
static void same_check(const dn_comparison *a, const dn_comparison *b) {
    double x[2], y[2];
    for (size_t i = 0; dn_compared_metric_name(i) != NULL; i++) {
        for (size_t m = 0; m < MODELS; m++) {
            const double u = dn_comparison_value(a, m, i, x), v = dn_comparison_value(b, m, i, y);
            assert_memory_equal(&u, &v, sizeof u);
            assert_memory_equal(x, y, sizeof x);
        }
        for (size_t k = 0; k < dn_comparison_n_pairs(a); k++) {
            (void)dn_comparison_difference(a, k, i, x);
            (void)dn_comparison_difference(b, k, i, y);
            assert_memory_equal(x, y, sizeof x);
        }
    }
}

static void results(void **state) {
    (void)state;
    for (size_t K = 2; K <= 3; K++) {
        static struct fixture f, g;
        dn_model *models[MODELS];
        fixture_init(&f, K, one_chunk, 1);
        fixture_init(&g, K, five_chunks, 5);
        for (size_t m = 0; m < MODELS; m++) {
            models[m] = train(&f, algorithms[m]);
        }
        for (int weighted = 0; weighted < 2; weighted++) {
            const dn_comparison_options options = {.n_models = MODELS,
                                                   .n_samples = 200,
                                                   .max_rows = 5,
                                                   .weight = weighted ? "weight" : NULL};
            dn_run scattered = scattered_run(), serial = dn_run_default();
            scattered.seed = serial.seed = 3;
            dn_comparison *a, *b;
            OK(compare_models(models, &f.source.source, &options, &serial, &a));
            OK(compare_models(models, &g.source.source, &options, &scattered, &b));
            same_check(a, b);
            size_t n = 0;
            for (size_t i = 0; i < N; i++) {
                n += f.label[i] != NULL && (!weighted || f.weight[i] > 0);
            }
            assert_int_equal(dn_comparison_rows(a), n);
            assert_int_equal(dn_comparison_skipped(a), N - n);
            for (size_t m = 0; m < MODELS; m++) { /* the metrics of an evaluation */
                dn_metrics *metrics;
                double interval[2];
                OK(dn_model_evaluate(models[m], &f.source.source,
                                     &(dn_evaluate_options){.weight = options.weight}, NULL,
                                     &metrics, NULL));
                for (size_t i = 0; dn_metric_name(i) != NULL; i++) {
                    const double value = dn_metric_value(metrics, i),
                                 own = dn_comparison_value(a, m, i, interval);
                    assert_true(own == value || (isnan(own) && isnan(value)));
                    assert_true(isnan(value) || interval[0] <= interval[1]);
                }
                dn_metrics_free(metrics);
            }
            for (size_t k = 0; k < dn_comparison_n_pairs(a); k++) {
                const dn_compared_pair *p = dn_comparison_pair(a, k);
                assert_true(p->first < p->second);
                assert_int_equal(p->both_right + p->first_right + p->second_right + p->both_wrong,
                                 n);
                assert_true(p->disagreements >= p->first_right + p->second_right);
            }
            assert_true(dn_comparison_n_listed(a) <= 5);
            for (size_t i = 0; i < dn_comparison_n_listed(a); i++) {
                const dn_disagreement d = dn_comparison_disagreement(a, i);
                assert_string_equal(f.label[d.row],
                                    ((const char *const[]){"a", "b", "c"})[d.truth]);
            }
            dn_comparison_free(a);
            dn_comparison_free(b);
        }
        for (size_t m = 0; m < MODELS; m++) {
            dn_model_unref(models[m]);
        }
        chunked_done(&f.source);
        chunked_done(&g.source);
    }
}

static void failures(void **state) {
    (void)state;
    static struct fixture f;
    fixture_init(&f, 2, five_chunks, 5);
    dn_model *models[2] = {train(&f, "logistic"), train(&f, "naive_bayes")};
    const dn_comparison_options options = {.n_models = 2, .n_samples = 20};
    size_t refused = 0, stopped = 0;
    for (size_t at = 1;; at++) {
        refusing allocator;
        dn_run run = dn_run_default();
        dn_comparison *c = NULL;
        refusing_init(&allocator, at);
        run.allocator = &allocator.allocator;
        const dn_status status = compare_models(models, &f.source.source, &options, &run, &c);
        dn_comparison_free(c);
        assert_int_equal(allocator.live, 0);
        if (status == DN_OK && allocator.calls < at) {
            break;
        }
        refused += status != DN_OK; /* without ranks a comparison goes on */
    }
    assert_true(refused > 10);
    for (size_t at = 1;; at += 3) {
        struct polls polls = {.stop_at = at};
        const dn_run run = polls_run(&polls);
        dn_comparison *c = NULL;
        const dn_status status = compare_models(models, &f.source.source, &options, &run, &c);
        dn_comparison_free(c);
        if (status == DN_OK) {
            break;
        }
        assert_int_equal(status, DN_ERR_STOPPED);
        stopped++;
    }
    assert_true(stopped > 10);
    dn_model_unref(models[0]);
    dn_model_unref(models[1]);
    chunked_done(&f.source);
}

static void arguments(void **state) {
    (void)state;
    static struct fixture f, three;
    dn_comparison *c = NULL;
    fixture_init(&f, 2, one_chunk, 1);
    fixture_init(&three, 3, one_chunk, 1);
    dn_model *models[2] = {train(&f, "logistic"), train(&three, "logistic")};
    static const dn_comparison_options wrong[] = {{.n_models = 1},
                                                  {.n_models = DN_MAX_COMPARED + 1},
                                                  {.n_models = 2, .confidence = 1},
                                                  {.n_models = 2, .confidence = -1}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(dn_comparison_new(&wrong[i], NULL, &c, NULL), DN_ERR_ARGUMENT);
        assert_null(c);
    }
    const dn_comparison_options options = {.n_models = 2};
    dn_error err;
    OK(dn_comparison_new(&options, NULL, &c, NULL));
    assert_int_equal(dn_comparison_finish(c, NULL), DN_ERR_ARGUMENT);
    OK(dn_comparison_add(c, models[0], &f.source.source, NULL, NULL));
    dn_error_clear(&err);
    assert_int_equal(dn_comparison_add(c, models[1], &three.source.source, NULL, &err),
                     DN_ERR_ARGUMENT);
    assert_string_equal(err.field, "classes");
    dn_comparison_free(c);
    /* other rows have a class; the class of a row is another one */
    for (size_t i = 0; i < 2; i++) {
        const char *was = f.label[4];
        OK(dn_comparison_new(&options, NULL, &c, NULL));
        OK(dn_comparison_add(c, models[0], &f.source.source, NULL, NULL));
        f.label[4] = i == 0 ? NULL : strcmp(was, "a") == 0 ? "b" : "a";
        assert_int_equal(dn_comparison_add(c, models[0], &f.source.source, NULL, NULL),
                         DN_ERR_DATA);
        f.label[4] = was;
        dn_comparison_free(c);
    }
    for (size_t i = 0; i < N; i++) {
        f.label[i] = NULL;
    }
    OK(dn_comparison_new(&options, NULL, &c, NULL));
    assert_int_equal(dn_comparison_add(c, models[0], &f.source.source, NULL, NULL), DN_ERR_DATA);
    dn_comparison_free(c);
    dn_comparison_free(NULL);
    dn_model_unref(models[0]);
    dn_model_unref(models[1]);
    chunked_done(&f.source);
    chunked_done(&three.source);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(measured), cmocka_unit_test(mcnemar),
                                       cmocka_unit_test(results), cmocka_unit_test(failures),
                                       cmocka_unit_test(arguments)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
