/* Tests of network models. The scores of a row equal the reference implementation and do not depend
 * on the other rows of the call. Writing and reading reproduces the model. Damaged bytes with a
 * valid checksum are refused or give a valid model. */
#include "base/crc32.h"
#include "machine/machine_dispatch.h"
#include "model/model_impl.h"
#include "unit/core/learners/mlp/mlps.h"

static dn_train_result train(const struct table *table, const struct csv *csv,
                             const char *multiclass, bool standardize) {
    static const double layers[] = {5, 4};
    dn_params *p = mlp_params("lbfgs", layers, 2);
    dn_train_result result;
    const dn_run run = dn_run_default();
    OK(dn_params_set_word(p, "multiclass", multiclass, NULL));
    OK(dn_params_set_number(p, "max_iterations", 30, NULL));
    dn_train_request request = table_request(csv, table, p);
    request.features.standardize = standardize;
    OK(dn_train(&request, &run, &result, NULL));
    dn_params_free(p);
    return result;
}

/* The predictions of a model for n raw rows. */
struct predictions {
    double *scores, *probabilities, *distance;
    size_t *label;
};

static struct predictions predict(const dn_model *m, const double *raw, size_t n, size_t at_once) {
    const size_t S = dn_model_n_scores(m), K = dn_model_classes(m)->n;
    const size_t n_inputs = dn_encoder_n_inputs(dn_model_encoder(m));
    struct predictions a = {xcalloc(n * S, sizeof(double)), xcalloc(n * K, sizeof(double)),
                            xcalloc(n, sizeof(double)), xcalloc(n, sizeof(size_t))};
    double *workspace = xcalloc(dn_model_workspace(m), sizeof(double));
    for (size_t i = 0; i < n; i += at_once) {
        const size_t rows = n - i < at_once ? n - i : at_once;
        const dn_prediction out = {.label = a.label + i,
                                   .scores = a.scores + i * S,
                                   .probabilities = a.probabilities + i * K,
                                   .distance = a.distance + i};
        assert_int_equal(dn_model_predict(m, dn_raw_numbers(raw + i * n_inputs, rows), workspace,
                                          &out),
                         rows);
    }
    free(workspace);
    return a;
}

static void predictions_done(struct predictions *a) {
    free(a->scores);
    free(a->probabilities);
    free(a->distance);
    free(a->label);
}

/* The scores equal those of the reference implementation, computed with the machines of the raw
 * features and with the machines of the encoded features. */
static void scores(void **state) {
    (void)state;
    const char *const ways[] = {"softmax", "one_vs_rest", "one_vs_one"};
    struct csv *csv = csv_named("iris");
    struct table *table = table_of(csv);
    for (int w = 0; w < 6; w++) {
        dn_train_result r = train(table, csv, ways[w / 2], w % 2);
        const dn_model *m = r.model;
        const size_t S = dn_model_n_scores(m);
        assert_false(dn_model_has_contributions(m));
        assert_false(dn_model_has_density(m));
        assert_true(isnan(dn_model_intercept(m)[0]));
        struct predictions a = predict(m, csv->x, csv->n, 7), b = predict(m, csv->x, csv->n, 1);
        assert_memory_equal(a.scores, b.scores, csv->n * S * sizeof(double));
        assert_memory_equal(a.probabilities, b.probabilities, csv->n * 3 * sizeof(double));
        double right = 0, *z = standardised(csv->x, csv->n, csv->d, NULL, NULL);
        for (size_t i = 0; i < csv->n; i++) {
            double g[3], sum = 0;
            for (size_t k = 0, at = 0; k < dn_model_n_machines(m); k++) {
                const dn_machine *raw = dn_model_machine(m, k);
                plain_scores(dni_network_of(raw), csv->d, csv->x + i * csv->d, g);
                for (size_t s = 0; s < dn_machine_n_scores(raw); s++) {
                    assert_true(fabs(a.scores[i * S + at + s] - g[s]) <= 1e-11 * (1 + fabs(g[s])));
                }
                plain_scores(dni_network_of(m->machines[k]), csv->d,
                             (w % 2 ? z : csv->x) + i * csv->d, g);
                for (size_t s = 0; s < dn_machine_n_scores(raw); s++) {
                    assert_true(fabs(a.scores[i * S + at + s] - g[s]) <= 1e-9 * (1 + fabs(g[s])));
                }
                at += dn_machine_n_scores(raw);
            }
            for (size_t k = 0; k < 3; k++) {
                sum += a.probabilities[i * 3 + k];
            }
            assert_true(fabs(sum - 1) < 1e-12);
            assert_true(isnan(a.distance[i]));
            right += a.label[i] == (size_t)csv->target[i];
        }
        assert_true(right / (double)csv->n == r.train->accuracy);
        assert_true(right > 140);
        free(z);
        predictions_done(&a);
        predictions_done(&b);
        dn_train_result_done(&r);
    }
    columns_table_free(table);
    csv_free(csv);
}

/* An expanded x and the same x given by its entries have equal scores. */
static void entries(void **state) {
    (void)state;
    const size_t units[] = {3, 2};
    const dni_layers layers = {DNI_ACTIVATION_SIGMOID, 4, 2, units};
    dn_machine *m;
    const dni_layers shape = {DNI_ACTIVATION_SIGMOID, 4, 2, (const size_t[]){3, 3}};
    OK(dni_network_machine_new(3, &shape, &m, NULL));
    assert_int_equal(dni_layers_numbers(&layers), 4 * 3 + 3 + 3 * 2 + 2);
    for (size_t i = 0; i < dni_layers_numbers(&shape); i++) {
        dni_network_of(m)->w[i] = sin((double)i + 1);
    }
    const double x[] = {0, 2, 0, -1}, values[] = {2, -1};
    const uint32_t features[] = {1, 3};
    double whole[3], parted[3], plain[3], *work = xcalloc(dni_machine_work(m), sizeof *work);
    const dni_entry_part parts[] = {{features, values, 1}, {features + 1, values + 1, 1}};
    assert_true(dni_machine_scores(m, x, whole, work));
    assert_true(dni_machine_scores_entries(m, parts, 2, parted, work));
    plain_scores(dni_network_of(m), 4, x, plain);
    assert_memory_equal(whole, parted, sizeof whole);
    assert_close(whole, plain, 3, 1e-14);
    free(work);
    dn_machine_free(m);
}

/* Prediction stops at the first row whose inputs are so large that a score is not finite. */
static void overflowing_scores(void **state) {
    (void)state;
    static const double layers[] = {4};
    struct csv *csv = csv_named("iris");
    struct table *table = table_of(csv);
    dn_params *p = mlp_params("adam", layers, 1);
    OK(dn_params_set_number(p, "max_iterations", 2, NULL));
    const dn_train_request request = table_request(csv, table, p);
    const dn_run run = dn_run_default();
    dn_train_result r;
    OK(dn_train(&request, &run, &r, NULL));
    double raw[] = {5, 3, 1, 1, 1e308, -1e308, 1e308, 1e308, 5, 3, 1, 1}, scores[9];
    double *workspace = xcalloc(dn_model_workspace(r.model), sizeof(double));
    assert_int_equal(dn_model_predict(r.model, dn_raw_numbers(raw, 3), workspace,
                                      &(dn_prediction){.scores = scores}),
                     1);
    free(workspace);
    dn_train_result_done(&r);
    dn_params_free(p);
    columns_table_free(table);
    csv_free(csv);
}

/* ---- bytes ---- */
static void mend(unsigned char *bytes, size_t size) {
    for (unsigned i = 0; i < 8; i++) {
        bytes[16 + i] = (unsigned char)((uint64_t)size >> (8 * i));
    }
    const uint32_t crc = dni_crc32(0, bytes, size - 4);
    for (unsigned i = 0; i < 4; i++) {
        bytes[size - 4 + i] = (unsigned char)(crc >> (8 * i));
    }
}

static void bytes_and_back(void **state) {
    (void)state;
    struct csv *csv = csv_named("iris");
    struct table *table = table_of(csv);
    dn_train_result r = train(table, csv, "softmax", true);
    void *bytes, *again;
    size_t size, n, read = 0;
    dn_model *back;
    dn_error err = {0};
    OK(dn_model_write(r.model, &bytes, &size, NULL));
    OK(dn_model_read(bytes, size, &back, NULL));
    OK(dn_model_write(back, &again, &n, NULL));
    assert_true(n == size && memcmp(bytes, again, n) == 0);
    struct predictions a = predict(r.model, csv->x, csv->n, 8),
                       b = predict(back, csv->x, csv->n, 8);
    assert_memory_equal(a.scores, b.scores, csv->n * 3 * sizeof(double));
    predictions_done(&a);
    predictions_done(&b);
    assert_string_equal(dn_model_algorithm(back)->id, "mlp");
    dn_model_unref(back);
    free(again);
    /* `machine` is the offset of the bytes of the machine: kind, K, activation, number of layers,
     * units, weights. Then follow the number of components (8 bytes, 0), the statistics (1 byte,
     * 0), the number of feature means (8 bytes, 0), the support vectors (1 byte, 0) and the
     * checksum. */
    const size_t numbers = 5 * 5 + 6 * 4 + 5 * 3,
                 machine = size - 4 - 1 - 8 - 1 - 8 - 8 * numbers - (1 + 8 + 1 + 8 + 3 * 8);
    unsigned char *forged = xcalloc(size, 1);
    memcpy(forged, bytes, size);
    assert_int_equal(forged[machine], 4);
    assert_int_equal(forged[machine + 10], 3);
    static const struct {
        size_t at;
        unsigned char value;
        const char *words;
    } forgeries[] = {{9, 3, "layers of a network are invalid"},
                     {10, 1, "layers of a network are invalid"},
                     {10, 18, "layers of a network are invalid"},
                     {17, 1, "layers of a network are invalid"},
                     {18, 0, "units of a layer"},
                     {18, 6, "truncated"},
                     {23, 1, "units of a layer"},
                     {34, 2, "truncated"},
                     {42 + 7, 0x7f, NULL},
                     {34, 0, "units of a layer"}};
    for (size_t i = 0; i < sizeof forgeries / sizeof forgeries[0]; i++) {
        memcpy(forged, bytes, size);
        forged[machine + forgeries[i].at] = forgeries[i].value;
        if (forgeries[i].words == NULL) { /* makes a weight infinite */
            forged[machine + forgeries[i].at - 1] = 0xf0;
        }
        mend(forged, size);
        dn_error_clear(&err);
        assert_int_equal(dn_model_read(forged, size, &back, &err), DN_ERR_CORRUPT);
        if (strstr(err.message, forgeries[i].words == NULL ? "not finite" : forgeries[i].words) ==
            NULL) {
            fail_msg("forgery %zu: %s", i, err.message);
        }
    }
    for (size_t i = machine; i < size - 4;
         i++) { /* damages one byte: dn_model_read must not crash */
        memcpy(forged, bytes, size);
        forged[i] ^= 0x55;
        mend(forged, size);
        if (dn_model_read(forged, size, &back, NULL) != DN_OK) {
            continue;
        }
        read++;
        dn_model_unref(back);
    }
    assert_true(read > 100);
    for (n = machine; n < size; n++) {
        unsigned char *cut = xcalloc(n, 1);
        memcpy(cut, bytes, n);
        mend(cut, n);
        assert_int_equal(dn_model_read(cut, n, &back, NULL), DN_ERR_CORRUPT);
        free(cut);
    }
    free(forged);
    free(bytes);
    dn_train_result_done(&r);
    columns_table_free(table);
    csv_free(csv);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores),
        cmocka_unit_test(entries),
        cmocka_unit_test(overflowing_scores),
        cmocka_unit_test(bytes_and_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
