/* Tests of the metrics of kernel machines. Encoded rows on several threads and raw rows on one
 * thread give the same values. Cancellation and memory. Outliers are the positive class. */
#include "kernels/points.h"
#include "unit/core/encoder/kernel_texts.h"
#include "unit/core/model/kernel_models.h"

#include "evaluate/evaluate_rows.h"

static const dn_kernel rbf = {.type = DN_KERNEL_RBF, .width = 4};

static dn_model *rbf_model(const struct km_rows *r, size_t n, dn_decision decision) {
    dn_kernel kernel = rbf;
    kernel.n_features = r->d;
    return km_model(r, &kernel, n, decision, 0.1);
}

static void assert_same_metrics(const dn_metrics *a, const dn_metrics *b) {
    for (size_t i = 0; dn_metric_name(i) != NULL; i++) {
        const double x = dn_metric_value(a, i), y = dn_metric_value(b, i);
        assert_true((isnan(x) && isnan(y)) || x == y);
    }
    assert_memory_equal(a->confusion, b->confusion, 9 * sizeof *a->confusion);
}

static void threads_raw_or_encoded(void **state) {
    (void)state;
    for (size_t way = 0; way < KM_WAYS; way++) {
        struct km_rows r = km_rows_new((enum km_way)way);
        dn_model *model = rbf_model(&r, 3, DN_DECISION_ONE_VS_ONE);
        const dni_evaluate_input input = {.rows = r.rows};
        const dn_labelled_rows raw = {.raw = r.raw.rows, .truth = r.raw.truth};
        dn_run one = dn_run_default(), three = dn_run_default();
        dn_metrics *a, *b, *c;
        three.n_slots = 3;
        three.sum = sum_in_ranges;
        three.each = each_in_reverse;
        OK(dni_evaluate_rows(&input, model, &one, &a, NULL));
        OK(dni_evaluate_rows(&input, model, &three, &b, NULL));
        OK(dn_model_evaluate_raw(model, &raw, false, &one, &c, NULL));
        assert_same_metrics(a, b);
        assert_same_metrics(a, c);
        assert_true(a->rows == KM_ROWS && a->error > 0 && a->error < 1);
        dn_metrics_free(a);
        dn_metrics_free(b);
        dn_metrics_free(c);
        dn_model_unref(model);
        km_rows_done(&r);
    }
}

static void stops_and_lacks_memory(void **state) {
    (void)state;
    struct km_rows r = km_rows_new(KM_SPARSE);
    dn_model *model = rbf_model(&r, 3, DN_DECISION_ONE_VS_ONE);
    const dni_evaluate_input input = {.rows = r.rows};
    dn_metrics *metrics;
    dn_status status = DN_ERR_STOPPED;
    size_t n_stopped = 0;
    for (size_t at = 1; status == DN_ERR_STOPPED; at++) {
        struct polls polls = {.stop_at = at};
        const dn_run run = polls_run(&polls);
        status = dni_evaluate_rows(&input, model, &run, &metrics, NULL);
        n_stopped += status == DN_ERR_STOPPED;
    }
    OK(status);
    dn_metrics_free(metrics);
    assert_true(n_stopped >= KM_ROWS / DNI_POINTS_QUERIES); /* one poll for each tile of rows */
    struct memory memory = {.left = SIZE_MAX};
    for (memory.fail_at = 1; memory.fail_at <= memory.count + 1; memory.fail_at++) {
        const dn_allocator allocator = memory_allocator(&memory, true);
        dn_run run = dn_run_default();
        run.allocator = &allocator;
        memory.count = 0;
        status = dni_evaluate_rows(&input, model, &run, &metrics, NULL);
        assert_true(status == DN_OK || status == DN_ERR_BUDGET);
        if (status == DN_OK) {
            dn_metrics_free(metrics);
        }
        assert_int_equal(memory.live, 0);
    }
    dn_model_unref(model);
    km_rows_done(&r);
}

/* If the support vectors are long texts, scoring one row takes long. Cancellation is then polled
 * for between any two raw rows. */
static void a_stop_between_long_texts(void **state) {
    (void)state;
    enum { LONG = DN_MAX_CHARACTERS };
    const dn_kernel kernel = {.type = DN_KERNEL_DISTANCE,
                              .metric = DN_METRIC_EDIT,
                              .width = 2,
                              .n_features = DN_MAX_CHARACTERS};
    static const char *const words[] = {"cat", "dog", "catalogue", "", "cot"};
    static double value[KM_ROWS];
    static size_t truth[KM_ROWS];
    const char *text[KM_ROWS];
    char *longest = xcalloc(LONG + 1, 1);
    memset(longest, 'a', LONG);
    for (size_t i = 0; i < KM_ROWS; i++) {
        text[i] = i == 0 ? longest : words[i % 5];
        truth[i] = i % 2;
    }
    struct km_rows r = {.n = KM_ROWS,
                        .encoder =
                            texts_fit(text, KM_ROWS, texts_spec(DN_TEXT_CHARACTERS, 0), NULL)};
    struct corpus c;
    dn_block block;
    dn_metrics *metrics;
    size_t heard = 0;
    corpus_init(&c, text, KM_ROWS, KM_ROWS);
    OK(dn_rows_from_source(&c.source.source, r.encoder, NULL, DN_ROW_SKIP, NULL, NULL, true, NULL,
                           &r.rows, NULL));
    OK(dn_rows_block(r.rows, 0, 0, &block, NULL));
    r.encoded = block.x;
    dn_model *model = km_model(&r, &kernel, 1, DN_DECISION_ONE_VS_ONE, 0);
    const dn_raw_rows rows = {KM_ROWS, value, block.x.row_start, block.x.cols, block.x.values};
    const dn_labelled_rows labelled = {.raw = dn_raw_part(rows, 1, 1, KM_ROWS - 1),
                                       .truth = truth + 1};
    for (size_t at = 1; at < KM_ROWS; at += 37) {
        struct polls polls = {.stop_at = at};
        const dn_run run = polls_run(&polls);
        assert_int_equal(dn_model_evaluate_raw(model, &labelled, false, &run, &metrics, NULL),
                         DN_ERR_STOPPED);
        heard++;
    }
    assert_true(heard > 4);
    dn_model_unref(model);
    dn_rows_free(r.rows);
    dn_encoder_unref(r.encoder);
    chunked_done(&c.source);
    free(longest);
}

/* Outliers have the smallest scores f: ranks and margins are computed from −f, labels from f and
 * the threshold. */
static void outliers_are_positive(void **state) {
    (void)state;
    struct km_rows r = km_rows_new(KM_DENSE);
    dn_model *model = rbf_model(&r, 1, DN_DECISION_OUTLIER);
    double *workspace = xcalloc(dn_model_workspace(model), sizeof *workspace), f[KM_ROWS], area = 0,
           wrong = 0, pairs = 0;
    size_t truth[KM_ROWS], label[KM_ROWS];
    const dn_run run = dn_run_default();
    dn_metrics *metrics;
    assert_int_equal(dn_model_predict(model, r.raw.rows, workspace,
                                      &(dn_prediction){.scores = f, .label = label}),
                     r.n);
    for (size_t i = 0; i < r.n; i++) {
        truth[i] = f[i] + 0.4 * sin(5 * (double)i) < 0.05;
    }
    for (size_t i = 0; i < r.n; i++) {
        wrong += truth[i] != (f[i] < -0.1);
        for (size_t j = 0; truth[i] == 1 && j < r.n; j++) {
            if (truth[j] == 0) {
                pairs++;
                area += -f[i] > -f[j] ? 1 : f[i] == f[j] ? 0.5 : 0;
            }
        }
    }
    const dn_labelled_rows rows = {.raw = r.raw.rows, .truth = truth};
    OK(dn_model_evaluate_raw(model, &rows, false, &run, &metrics, NULL));
    assert_true(pairs > 0 && wrong > 0);
    assert_near(metrics->error, wrong / (double)r.n, 1e-12);
    for (size_t i = 0; dn_metric_name(i) != NULL; i++) {
        if (strcmp(dn_metric_name(i), "roc_auc") == 0) {
            assert_near(dn_metric_value(metrics, i), area / pairs, 1e-12);
        }
    }
    dn_metrics_free(metrics);
    free(workspace);
    dn_model_unref(model);
    km_rows_done(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_raw_or_encoded),
        cmocka_unit_test(stops_and_lacks_memory),
        cmocka_unit_test(a_stop_between_long_texts),
        cmocka_unit_test(outliers_are_positive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
