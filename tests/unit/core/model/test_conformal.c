/* Sets of labels: thresholds by hand and against sorting, too few rows, the sets of a model in
 * predictions, evaluations and bytes, and their coverage of new rows. */
#include "base/crc32.h"
#include "model/conformal.h"
#include "model/model_bytes.h"
#include "unit/core/support.h"

enum { N = 600, K = 3 };

static const char *const names[] = {"a", "b", "c"};

static void ranks(void **state) {
    (void)state;
    static const struct {
        size_t n;
        double coverage;
        size_t rank;
    } known[] = {{19, 0.95, 19}, {18, 0.95, 19}, {20, 0.95, 20}, {99, 0.9, 90}, {9, 0.9, 9},
                 {99, 0.55, 55}, {0, 0.5, 1},    {1, 0.5, 1},    {2, 0.5, 2},   {4, 0.1, 1}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        assert_int_equal(dn_conformal_rank(known[i].n, known[i].coverage), known[i].rank);
    }
    assert_int_equal(dn_conformal_least_rows(0.95), 19);
    assert_int_equal(dn_conformal_least_rows(0.9), 9);
    assert_int_equal(dn_conformal_least_rows(0.99), 99);
    assert_int_equal(dn_conformal_least_rows(0.5), 1);
    assert_int_equal(dn_conformal_least_rows(0.01), 1);
    assert_int_equal(dn_conformal_least_rows(0.9999999), 9999999);
    assert_true(dn_conformal_least_rows(1 - 1e-9) >= 998000000);
    assert_true(dn_conformal_least_rows(nextafter(1, 0)) > 1000000000);
    for (double c = 0.005; c < 1; c += 0.005) {
        const size_t n = dn_conformal_least_rows(c);
        assert_true(dn_conformal_rank(n, c) <= n);
        assert_true(n == 1 || dn_conformal_rank(n - 1, c) > n - 1);
    }
}

/* Nine rows of three classes; the true labels have these probabilities. */
static const double given[] = {0.9, 0.5, 0.75, 0.5, 0.25, 0.5, 1, 0.125, 0.75};
static const uint32_t truth[] = {0, 1, 0, 2, 1, 2, 0, 2, 1};

static dn_status fit(double coverage, bool by_class, size_t n, dn_conformal **out, dn_error *err) {
    double p[9 * K];
    const dni_conformal_spec spec = {.coverage = coverage,
                                     .by_class = by_class,
                                     .n_classes = K,
                                     .class_name = names};
    const dn_run run = dn_run_default();
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < K; k++) {
            p[i * K + k] = k == truth[i] ? given[i] : (1 - given[i]) / 2;
        }
    }
    return dni_conformal_fit(&spec, n, p, truth, &run, out, err);
}

/* All scores, sorted: 0, 0.1, 0.25, 0.25, 0.5, 0.5, 0.5, 0.75, 0.875. By class: a 0, 0.1, 0.25;
 * b 0.25, 0.5, 0.75; c 0.5, 0.5, 0.875. */
static void by_hand(void **state) {
    (void)state;
    static const struct {
        double coverage, threshold;
    } all[] = {{0.05, 0}, {0.4, 0.25}, {0.5, 0.5}, {0.7, 0.5}, {0.75, 0.75}, {0.9, 0.875}};
    dn_conformal *c = NULL;
    bool set[K];
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        OK(fit(all[i].coverage, false, 9, &c, NULL));
        for (size_t k = 0; k < K; k++) {
            assert_true(c->threshold[k] == all[i].threshold && c->rows[k] == 9);
        }
        free(c);
    }
    OK(fit(0.5, true, 9, &c, NULL));
    assert_true(c->by_class && !c->folds && c->coverage == 0.5 && c->n_classes == K);
    assert_true(c->threshold[0] == 1 - 0.9 && c->threshold[1] == 0.5 && c->threshold[2] == 0.5);
    assert_true(c->rows[0] == 3 && c->rows[1] == 3 && c->rows[2] == 3);
    assert_int_equal(dn_conformal_set(c, (double[]){0, 0.5, 0.5}, set), 2);
    assert_true(!set[0] && set[1] && set[2]);
    assert_int_equal(dn_conformal_set(c, (double[]){0.9, 0.1, 0}, set), 1);
    assert_true(set[0] && !set[1] && !set[2]);
    assert_int_equal(dn_conformal_set(c, (double[]){0.4, 0.3, 0.3}, set), 0);
    assert_true(!set[0] && !set[1] && !set[2]);
    free(c);
    OK(fit(0.75, true, 9, &c, NULL));
    assert_true(c->threshold[0] == 0.25 && c->threshold[1] == 0.75 && c->threshold[2] == 0.875);
    free(c);
}

static void too_few(void **state) {
    (void)state;
    dn_conformal *c = NULL;
    dn_error err = {0};
    assert_int_equal(fit(0.95, false, 9, &c, &err), DN_ERR_DATA);
    assert_string_equal(err.field, "coverage");
    assert_non_null(strstr(err.message, "9 held-out rows"));
    assert_non_null(strstr(err.message, "coverage 0.95 need at least 19"));
    dn_error_clear(&err);
    assert_int_equal(fit(0.8, true, 9, &c, &err), DN_ERR_DATA);
    assert_non_null(strstr(err.message, "class \"a\" has 3 held-out rows"));
    assert_non_null(strstr(err.message, "at least 4 of each class (3 of 3"));
    dn_error_clear(&err);
    assert_int_equal(fit(0.5, true, 3, &c, &err), DN_ERR_DATA); /* no row of the last class */
    assert_non_null(strstr(err.message, "class \"c\" has 0 held-out rows"));
    dn_error_clear(&err);
    assert_int_equal(fit(0.5, false, 0, &c, &err), DN_ERR_DATA);
    assert_null(c);
}

/* ---- of a model ---- */
static int compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Compares the thresholds with those of sorted scores of the first repeat. */
static void assert_thresholds(const dn_conformal *c, const dn_held_out *rows) {
    static double scores[N];
    for (size_t k = 0; k < c->n_classes; k++) {
        size_t n = 0;
        for (size_t i = 0; i < rows->n; i++) {
            if (rows->repeat[i] == 0 && (!c->by_class || rows->truth[i] == k)) {
                scores[n++] = 1 - rows->values[i * c->n_classes + rows->truth[i]];
            }
        }
        qsort(scores, n, sizeof *scores, compare_doubles);
        assert_int_equal(c->rows[k], n);
        assert_true(c->threshold[k] == scores[(size_t)ceil((double)(n + 1) * c->coverage) - 1]);
    }
}

/* Compares sets of predictions, and metrics, with the probabilities. Returns the coverage. */
static double assert_sets(const dn_model *model, const struct csv *t, const struct table *table) {
    const dn_conformal *c = dn_model_conformal(model);
    static double p[N * K], workspace[4096];
    static bool set[N * K], alone[N * K];
    const dn_raw_rows rows = {.n = t->n, .value = t->x};
    const dn_prediction both = {.probabilities = p, .set = set}, only = {.set = alone};
    double size[K + 1] = {0}, right[K + 1] = {0}, n[K + 1] = {0}, empty = 0, single = 0;
    assert_true(dn_model_workspace(model) <= 4096);
    assert_int_equal(dn_model_predict(model, rows, workspace, &both), t->n);
    assert_int_equal(dn_model_predict(model, rows, workspace, &only), t->n);
    assert_memory_equal(set, alone, t->n * K * sizeof *set);
    for (size_t i = 0; i < t->n; i++) {
        const size_t label = (size_t)t->target[i];
        double labels = 0;
        for (size_t k = 0; k < K; k++) {
            assert_int_equal(set[i * K + k], 1 - p[i * K + k] <= c->threshold[k]);
            labels += set[i * K + k];
        }
        for (size_t k = label;; k = K) {
            n[k]++;
            size[k] += labels;
            right[k] += set[i * K + label];
            if (k == K) {
                break;
            }
        }
        empty += labels == 0;
        single += labels == 1;
    }
    dn_metrics *m = NULL;
    OK(dn_model_evaluate(model, table->source, NULL, NULL, &m, NULL));
    assert_non_null(m->sets);
    for (size_t k = 0; k <= K; k++) {
        assert_true(m->sets[k].weight == n[k]);
        assert_near(m->sets[k].size, size[k] / n[k], 2 / n[k]); /* other rounding of scores */
        assert_near(m->sets[k].coverage, right[k] / n[k], 2 / n[k]);
    }
    assert_near(m->sets[K].empty, empty / n[K], 2 / n[K]);
    assert_near(m->sets[K].single, single / n[K], 2 / n[K]);
    dn_metrics_free(m);
    return right[K] / n[K];
}

static void of_a_model(void **state) {
    (void)state;
    struct csv *t = csv_clouds(N, 4, K);
    struct table *table = table_of(t);
    dn_params *params = params_of("newton", 1e-2);
    for (size_t way = 0; way < 6; way++) {
        dn_train_request request = table_request(t, table, params);
        dn_held_out *rows = NULL;
        dn_train_result r;
        request.holdout = way < 2 ? 0.4 : 0;
        request.folds = way < 2 ? 0 : way < 5 ? 3 : DN_LEAVE_ONE_OUT;
        request.repeats = way == 4 ? 2 : 1;
        request.coverage = 0.9;
        request.coverage_by_class = way % 2 == 1 && way < 5;
        request.held_out = &rows;
        OK(dn_train(&request, NULL, &r, NULL));
        const dn_conformal *c = dn_model_conformal(r.model);
        assert_non_null(c);
        assert_true(c->by_class == request.coverage_by_class && c->folds == (way >= 2));
        assert_true(c->coverage == 0.9);
        assert_thresholds(c, rows);
        assert_true(r.validation == NULL || r.validation->sets == NULL);
        const double coverage = assert_sets(r.model, t, table);
        assert_true(coverage > 0.85 && coverage <= 0.97);
        dn_held_out_free(rows);
        const double threshold = c->threshold[K - 1];
        dn_train_result_done(&r);
        request.held_out = NULL; /* the sets do not need that the predictions are kept */
        OK(dn_train(&request, NULL, &r, NULL));
        assert_true(dn_model_conformal(r.model)->threshold[K - 1] == threshold);
        dn_train_result_done(&r);
    }
    dn_params_free(params);
    columns_table_free(table);
    csv_free(t);
}

static void put_checksum(unsigned char *b, size_t size) {
    const uint32_t crc = dni_crc32(0, b, size - 4);
    for (unsigned i = 0; i < 4; i++) {
        b[size - 4 + i] = (unsigned char)(crc >> (8 * i));
    }
}

/* The section is the last one; a model without sets has the bytes of the version before. */
static void bytes(void **state) {
    (void)state;
    struct csv *t = csv_clouds(N, 4, K);
    struct table *table = table_of(t);
    dn_params *params = params_of("newton", 1e-2);
    dn_train_request request = table_request(t, table, params);
    void *plain, *with, *again;
    size_t plain_size, size, n;
    request.holdout = 0.4;
    for (size_t way = 0; way < 2; way++) {
        dn_train_result r;
        dn_model *back = NULL;
        request.coverage = 0;
        OK(dn_train(&request, NULL, &r, NULL));
        assert_null(dn_model_conformal(r.model));
        OK(dn_model_write(r.model, &plain, &plain_size, NULL));
        dn_train_result_done(&r);
        assert_int_equal(((unsigned char *)plain)[8], DNI_MODEL_WITHOUT_SETS);
        request.coverage = 0.8;
        request.coverage_by_class = way == 1;
        OK(dn_train(&request, NULL, &r, NULL));
        OK(dn_model_write(r.model, &with, &size, NULL));
        unsigned char *b = with;
        const size_t section = way == 1 ? 9 + 16 * K : 9 + 16, at = plain_size - 4;
        assert_int_equal(b[8], DNI_MODEL_WITH_SETS);
        assert_int_equal(size, plain_size + section);
        assert_memory_equal(b + DNI_MODEL_HEAD_SIZE, (unsigned char *)plain + DNI_MODEL_HEAD_SIZE,
                            at - DNI_MODEL_HEAD_SIZE);
        OK(dn_model_read(with, size, &back, NULL));
        const dn_conformal *c = dn_model_conformal(back), *own = dn_model_conformal(r.model);
        assert_true(c->coverage == 0.8 && c->by_class == (way == 1) && !c->folds);
        assert_memory_equal(c->threshold, own->threshold, K * sizeof *c->threshold);
        assert_memory_equal(c->rows, own->rows, K * sizeof *c->rows);
        assert_true(dn_model_memory(back) > 0);
        OK(dn_model_write(back, &again, &n, NULL));
        assert_int_equal(n, size);
        assert_memory_equal(again, with, size);
        dn_model_unref(back);
        for (size_t i = 0; i < section; i++) { /* the highest byte of a number, the flags */
            const bool number = i == 7 || (i > 9 && (i - 9) % 8 == 7);
            if (number || i == 8) {
                const unsigned char old = b[at + i];
                b[at + i] = number ? 0x7f : 4;
                put_checksum(b, size);
                assert_int_equal(dn_model_read(with, size, &back, NULL), DN_ERR_CORRUPT);
                b[at + i] = old;
            }
        }
        dn_train_result_done(&r);
        free(plain);
        free(with);
        free(again);
    }
    dn_params_free(params);
    columns_table_free(table);
    csv_free(t);
}

/* Requests without held-out rows or probabilities, with a wrong coverage, or with too few rows. */
static void refused(void **state) {
    (void)state;
    struct csv *t = csv_clouds(90, 4, K);
    struct table *table = table_of(t);
    dn_params *params = params_of("newton", 1e-2), *fisher = NULL;
    OK(dn_params_new(dn_algorithm_find("least_squares"), &fisher, NULL));
    for (size_t way = 0; way < 7; way++) {
        dn_train_request request = table_request(t, table, way == 3 ? fisher : params);
        dn_train_result r;
        dn_error err = {0};
        request.coverage = way == 1 ? 1 : way == 2 ? -0.1 : way == 6 ? (double)NAN : 0.95;
        request.holdout = way == 0 ? 0 : way == 4 ? 0.2 : 0.5;
        request.coverage_by_class = way == 5;
        const dn_status status = dn_train(&request, NULL, &r, &err);
        assert_int_equal(status, way == 4 || way == 5 ? DN_ERR_DATA : DN_ERR_ARGUMENT);
        assert_string_equal(err.field, "coverage");
    }
    dn_params_free(params);
    dn_params_free(fisher);
    columns_table_free(table);
    csv_free(t);
}

static void count_reports(const dn_run *run, const dn_progress *progress) {
    (void)progress;
    ++*(size_t *)run->ctx;
}

/* Rows of the validation table with weight 0 do not calibrate. Too few others are found before the
 * fit. */
static void weighted_table(void **state) {
    (void)state;
    struct csv *t = csv_clouds(90, 4, K);
    dn_params *params = params_of("newton", 1e-2);
    for (size_t i = 0; i < t->n; i++) {
        t->x[i * t->d] = i / 3 % 3 == 0 ? 0 : 1 + (double)(i % 5); /* the weights: 60 are > 0 */
    }
    struct table *table = table_of(t);
    for (size_t way = 0; way < 3; way++) { /* 60, 61 and 19 by class are needed */
        size_t reports = 0;
        dn_train_request request = table_request(t, table, params);
        dn_train_result r;
        dn_error err = {0};
        dn_run run = dn_run_default();
        run.ctx = &reports;
        run.progress = count_reports;
        request.weighted = true;
        request.weight = 0;
        request.features.columns = table->inputs + 1;
        request.features.n_columns = t->d - 1;
        request.validation = table->source;
        request.coverage = way == 0 ? 1 - 1 / 60.5 : way == 1 ? 1 - 1 / 61.5 : 0.95;
        request.coverage_by_class = way == 2;
        if (way == 1) {
            assert_int_equal(dn_train(&request, &run, &r, &err), DN_ERR_DATA);
            assert_non_null(strstr(err.message, "there are 60 held-out rows"));
            assert_int_equal(reports, 0);
            continue;
        }
        OK(dn_train(&request, &run, &r, &err));
        assert_true(reports > 0);
        const dn_conformal *c = dn_model_conformal(r.model);
        assert_int_equal(way == 0 ? c->rows[0] : c->rows[0] + c->rows[1] + c->rows[2], 60);
        dn_train_result_done(&r);
    }
    dn_params_free(params);
    columns_table_free(table);
    csv_free(t);
}

/* A training that fails at an allocation leaks no memory. The number of threads does not change the
 * thresholds. */
static void memory_and_threads(void **state) {
    (void)state;
    struct csv *t = csv_clouds(90, 2, K);
    struct table *table = table_of(t);
    dn_params *params = params_of("newton", 1e-2);
    for (size_t way = 0; way < 2; way++) {
        dn_train_request request = table_request(t, table, params);
        dn_train_result r;
        dn_status status = DN_ERR_MEMORY;
        double threshold[K];
        request.holdout = way == 0 ? 0.5 : 0;
        request.folds = way == 0 ? 0 : 3;
        request.coverage = 0.8;
        request.coverage_by_class = true;
        for (size_t k = 1; status != DN_OK; k += 1 + k / 16) {
            struct memory m = {.fail_at = k, .left = SIZE_MAX};
            const dn_allocator allocator = memory_allocator(&m, false);
            dn_run run = dn_run_default();
            dn_error err = {0};
            run.allocator = &allocator;
            status = dn_train(&request, &run, &r, &err);
            assert_true(status == DN_OK || status == DN_ERR_MEMORY);
            if (status == DN_OK) {
                memcpy(threshold, dn_model_conformal(r.model)->threshold, sizeof threshold);
                dn_train_result_done(&r);
            }
            assert_int_equal(m.live, 0);
        }
        dn_run many = dn_run_default();
        many.n_slots = 3;
        many.sum = sum_in_ranges;
        many.each = each_in_reverse;
        OK(dn_train(&request, &many, &r, NULL));
        assert_memory_equal(dn_model_conformal(r.model)->threshold, threshold, sizeof threshold);
        dn_train_result_done(&r);
    }
    dn_params_free(params);
    columns_table_free(table);
    csv_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks),          cmocka_unit_test(by_hand),
        cmocka_unit_test(too_few),        cmocka_unit_test(of_a_model),
        cmocka_unit_test(bytes),          cmocka_unit_test(refused),
        cmocka_unit_test(weighted_table), cmocka_unit_test(memory_and_threads)};
    return cmocka_run_group_tests_name("sets of labels", tests, NULL, NULL);
}
