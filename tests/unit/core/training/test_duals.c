/* The support vectors of trained models: row numbers of the table, w and scores computed from the
 * rows, equal rows, bytes, limits. */
#include "base/crc32.h"
#include "model/model_bytes.h"
#include "model/model_impl.h"
#include "unit/core/support.h"

#include <math.h>

enum { N_ROWS = 240, N_COLS = 3 };

/* Clouds in which every fourth row equals an earlier row of its class, K rows before it. */
static struct csv *cloud_rows(size_t K) {
    struct csv *t = csv_clouds(N_ROWS, N_COLS, K);
    for (size_t i = 3; i < t->n; i += 4) {
        memcpy(t->x + i * t->d, t->x + (i - K) * t->d, t->d * sizeof *t->x);
    }
    return t;
}

static dn_params *svm_params(const char *kernel, const char *solver, const char *loss,
                             const char *multiclass, double C) {
    dn_params *p;
    OK(dn_params_new(dn_algorithm_find("svm"), &p, NULL));
    OK(dn_params_set_word(p, "kernel", kernel, NULL));
    OK(dn_params_set_word(p, "solver", solver, NULL));
    OK(dn_params_set_word(p, "loss", loss, NULL));
    OK(dn_params_set_word(p, "multiclass", multiclass, NULL));
    OK(dn_params_set_number(p, "C", C, NULL));
    return p;
}

static dn_train_result train_with(const dn_train_request *request) {
    dn_train_result r;
    dn_error err = {0};
    const dn_run run = dn_run_default();
    if (dn_train(request, &run, &r, &err) != DN_OK) {
        fail_msg("%s", err.message);
    }
    return r;
}

/* The score of machine i for a row of the table. */
static double score_of(const struct csv *t, const dn_model *model, size_t i, size_t row) {
    double scores[3], *workspace = xcalloc(dn_model_workspace(model), sizeof *workspace);
    assert_int_equal(dn_model_predict(model, dn_raw_numbers(t->x + row * t->d, 1), workspace,
                                      &(dn_prediction){.scores = scores}),
                     1);
    free(workspace);
    return scores[i];
}

/* Compares a machine with the sums over its support vectors. */
static void check_machine(const struct csv *t, const dn_model *model, size_t i, double tolerance) {
    const dn_duals *duals = dn_model_duals(model, i);
    const double *mean = dn_encoder_mean(dn_model_encoder(model)),
                 *scale = dn_encoder_scale(dn_model_encoder(model));
    double w[N_COLS] = {0}, sum = 0, size = 0;
    size_t negative, positive;
    dn_linear linear;
    dn_decision_machine(dn_model_decision(model), t->K, i, &negative, &positive);
    if (positive == SIZE_MAX) {
        negative = 0;
        positive = 1;
    }
    assert_non_null(duals);
    assert_true(duals->n > 0 && !duals->omitted);
    for (size_t k = 0; k < duals->n; k++) {
        const dn_dual *a = &duals->items[k];
        assert_true(a->row < t->n && (k == 0 || a->row > duals->items[k - 1].row));
        assert_true((a->coef > 0) == (t->target[a->row] == (double)positive));
        assert_true(negative == SIZE_MAX || a->coef > 0 || t->target[a->row] == (double)negative);
        const double g = score_of(t, model, i, a->row);
        assert_near(a->slack + 1, fmax(0, 1 - (a->coef > 0 ? g : -g)) + 1, 1e-9);
        for (size_t j = 0; j < t->d; j++) {
            const double m = mean == NULL ? 0 : mean[j], s = scale == NULL ? 1 : scale[j];
            w[j] += a->coef * (t->x[a->row * t->d + j] - m) / (s * s);
        }
        sum += a->coef;
        size += fabs(a->coef);
    }
    assert_true(fabs(sum) <= 1e-12 * size);
    if (dn_model_linear(model, &linear)) {
        assert_close(w, linear.w + i * t->d, t->d, tolerance);
    }
}

static void rows_give_weights(void **state) {
    static const struct {
        const char *kernel, *solver, *loss, *multiclass;
        double tolerance;
    } cases[] = {
        {"linear", "interior_point", "hinge", "one_vs_one", 1e-9},
        {"linear", "interior_point", "hinge", "one_vs_rest", 1e-9},
        {"linear", "dual_coordinate_descent", "hinge", "one_vs_one", 0.05},
        {"linear", "newton", "squared_hinge", "one_vs_one", 1e-9},
        {"linear", "smo", "hinge", "one_vs_one", 1e-9},
        {"linear", "smo", "hinge", "one_vs_rest", 1e-9},
        {"rbf", "smo", "hinge", "one_vs_one", 0},
    };
    (void)state;
    for (size_t K = 2; K <= 3; K++) {
        struct csv *t = cloud_rows(K);
        struct table *table = table_of(t);
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            dn_params *p = svm_params(cases[i].kernel, cases[i].solver, cases[i].loss,
                                      cases[i].multiclass, 0.5);
            dn_train_request request = table_request(t, table, p);
            request.features.standardize = true;
            for (size_t held = 0; held < 2; held++) {
                request.holdout = held > 0 ? 0.3 : 0;
                dn_train_result r = train_with(&request);
                for (size_t k = 0; k < dn_model_n_machines(r.model); k++) {
                    check_machine(t, r.model, k, cases[i].tolerance);
                }
                dn_train_result_done(&r);
            }
            dn_params_free(p);
        }
        columns_table_free(table);
        csv_free(t);
    }
}

/* Equal rows share the dual variable of their values: α is the same, and both rows are listed. */
static void equal_rows(void **state) {
    (void)state;
    struct csv *t = cloud_rows(2);
    struct table *table = table_of(t);
    dn_params *p = svm_params("rbf", "smo", "hinge", "one_vs_one", 1);
    const dn_train_request request = table_request(t, table, p);
    dn_train_result r = train_with(&request);
    const dn_duals *duals = dn_model_duals(r.model, 0);
    size_t n_pairs = 0;
    for (size_t k = 0; k < duals->n; k++) {
        for (size_t j = k + 1; j < duals->n; j++) {
            const dn_dual *a = &duals->items[k], *b = &duals->items[j];
            if (b->row % 4 == 3 && a->row + 2 == b->row) {
                assert_true(a->coef == b->coef && a->slack == b->slack && a->inside == b->inside);
                n_pairs++;
            }
        }
    }
    assert_true(n_pairs > 0);
    for (size_t k = 0; k < r.report.n_details; k++) {
        if (strcmp(r.report.details[k].name, "support_vectors") == 0) {
            assert_true(r.report.details[k].number == (double)duals->n);
        }
    }
    dn_train_result_done(&r);
    dn_params_free(p);
    columns_table_free(table);
    csv_free(t);
}

/* One class: Σ α = 1, and α of an outlier is its bound 1/(ν n). */
static void outliers(void **state) {
    (void)state;
    struct csv *t = cloud_rows(2);
    struct table *table = table_of(t);
    dn_params *p;
    OK(dn_params_new(dn_algorithm_find("one_class_svm"), &p, NULL));
    OK(dn_params_set_number(p, "nu", 0.2, NULL));
    dn_train_request request = table_request(t, table, p);
    request.target = DN_NO_TARGET;
    dn_train_result r = train_with(&request);
    const dn_duals *duals = dn_model_duals(r.model, 0);
    double sum = 0;
    size_t n_inside = 0, n_equal = 0;
    for (size_t k = 0; k < duals->n; k++) {
        const dn_dual *a = &duals->items[k];
        const double g = score_of(t, r.model, 0, a->row);
        assert_true(a->row < t->n && (k == 0 || a->row > duals->items[k - 1].row));
        assert_true(fabs(a->slack - fmax(0, -g)) < 1e-6);
        assert_true(!a->inside || a->bounded);
        if (a->bounded) {
            assert_near(a->coef, 1 / (0.2 * N_ROWS), 1e-9);
        }
        sum += a->coef;
        n_inside += a->inside;
        for (size_t j = 0; j < k; j++) {
            n_equal += a->row % 4 == 3 && duals->items[j].row + 2 == a->row &&
                       duals->items[j].coef == a->coef;
        }
    }
    assert_near(sum, 1, 1e-9);
    assert_true(n_inside > 0 && n_inside <= N_ROWS / 5 && n_equal > 0);
    dn_train_result_done(&r);
    dn_params_free(p);
    columns_table_free(table);
    csv_free(t);
}

static void put_checksum(unsigned char *bytes, size_t size) {
    const uint32_t crc = dni_crc32(0, bytes, size - 4);
    for (size_t i = 0; i < 4; i++) {
        bytes[size - 4 + i] = (unsigned char)(crc >> (8 * i));
    }
}

/* The support vectors are the last section of a model. Damaged bytes of this section give an error
 * or other support vectors. */
static void bytes_and_back(void **state) {
    (void)state;
    struct csv *t = cloud_rows(3);
    struct table *table = table_of(t);
    dn_params *p = svm_params("linear", "auto", "hinge", "one_vs_one", 1);
    const dn_train_request request = table_request(t, table, p);
    dn_train_result r = train_with(&request);
    dn_model *back;
    void *bytes, *again;
    size_t size, n, section = 1, n_refused = 0;
    OK(dn_model_write(r.model, &bytes, &size, NULL));
    OK(dn_model_read(bytes, size, &back, NULL));
    for (size_t i = 0; i < 3; i++) {
        const dn_duals *a = dn_model_duals(r.model, i), *b = dn_model_duals(back, i);
        assert_int_equal(a->n, b->n);
        assert_true(a->residual == b->residual);
        for (size_t k = 0; k < a->n; k++) {
            assert_true(a->items[k].row == b->items[k].row && a->items[k].coef == b->items[k].coef);
            assert_true(a->items[k].slack == b->items[k].slack &&
                        a->items[k].bounded == b->items[k].bounded &&
                        a->items[k].inside == b->items[k].inside);
        }
        section += 8 + 8 + 25 * a->n;
    }
    assert_null(dn_model_duals(back, 3));
    assert_int_equal(dn_model_memory(back), dn_model_memory(r.model));
    OK(dn_model_write(back, &again, &n, NULL));
    assert_int_equal(n, size);
    assert_memory_equal(bytes, again, size);
    free(again);
    dn_model_unref(back);
    for (size_t at = size - 4 - section; at < size - 4; at++) {
        unsigned char *b = bytes;
        b[at] ^= 0x90;
        put_checksum(b, size);
        if (dn_model_read(b, size, &back, NULL) == DN_OK) {
            dn_model_unref(back);
        } else {
            n_refused++;
        }
        b[at] ^= 0x90;
    }
    assert_true(n_refused > section / 5);
    free(bytes);
    dn_train_result_done(&r);
    dn_params_free(p);
    columns_table_free(table);
    csv_free(t);
}

/* More support vectors than DN_MAX_DUALS in all machines together: none are kept. */
static void too_many(void **state) {
    enum { MANY = 70000 };
    (void)state;
    for (size_t K = 2; K <= 3; K++) {
        struct csv *t = csv_clouds(MANY, 1, K);
        for (size_t i = 0; i < t->n; i++) { /* one value: every row is a support vector */
            t->x[i] = i % 2 == 0 ? 1 : -1;
        }
        struct table *table = table_of(t);
        dn_params *p = svm_params("linear", "newton", "squared_hinge", "one_vs_rest", 1e-3);
        const dn_train_request request = table_request(t, table, p);
        dn_train_result r = train_with(&request);
        for (size_t i = 0; i < dn_model_n_machines(r.model); i++) {
            const dn_duals *duals = dn_model_duals(r.model, i);
            assert_int_equal(duals->omitted, K == 3);
            assert_int_equal(duals->n, K == 3 ? 0 : MANY);
        }
        void *bytes;
        size_t size;
        dn_model *back;
        OK(dn_model_write(r.model, &bytes, &size, NULL));
        OK(dn_model_read(bytes, size, &back, NULL));
        assert_int_equal(dn_model_duals(back, 0)->omitted, K == 3);
        free(bytes);
        dn_model_unref(back);
        dn_train_result_done(&r);
        dn_params_free(p);
        columns_table_free(table);
        csv_free(t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_give_weights), cmocka_unit_test(equal_rows),
        cmocka_unit_test(outliers),          cmocka_unit_test(bytes_and_back),
        cmocka_unit_test(too_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
