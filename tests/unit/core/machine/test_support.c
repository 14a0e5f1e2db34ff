/* Tests of kernel machine models as bytes. Writing and reading reproduces the model, whose machines
 * share one support. Bytes that break a rule are refused. */
#include "unit/base/alloc_fail.h"
#include "unit/core/model/kernel_models.h"

#include "base/crc32.h"

enum { SIZE_AT = 16, BIG_PLACE = 70 };

static void put_checksum(unsigned char *bytes, size_t size) {
    const uint32_t crc = dni_crc32(0, bytes, size - 4);
    for (unsigned i = 0; i < 4; i++) {
        bytes[size - 4 + i] = (unsigned char)(crc >> (8 * i));
    }
}

static void assert_same(const dn_model *a, const void *bytes, size_t size) {
    void *again;
    size_t n;
    OK(dn_model_write(a, &again, &n, NULL));
    assert_int_equal(n, size);
    assert_memory_equal(again, bytes, n);
    free(again);
}

static void there_and_back(void **state) {
    (void)state;
    for (size_t way = 0; way < KM_WAYS; way++) {
        struct km_rows r = km_rows_new((enum km_way)way);
        double *factor = xcalloc(r.d * r.d, sizeof *factor), *a = xcalloc(3 * r.n, sizeof *a),
               *b = xcalloc(3 * r.n, sizeof *b);
        for (size_t k = 0; k < PLAIN_KERNELS; k++) {
            const dn_kernel kernel = plain_kernel(k, r.d, factor);
            dn_model *model = km_model(&r, &kernel, 3, DN_DECISION_ONE_VS_ONE, 0), *back;
            const dn_raw_rows few = dn_raw_part(r.raw.rows, 4, 0, 20);
            double *workspace = xcalloc(dn_model_workspace(model), sizeof *workspace);
            void *bytes;
            size_t size;
            dni_kernel_machine_of(dn_model_machine(model, 1))->norm = (double)NAN;
            OK(dn_model_write(model, &bytes, &size, NULL));
            OK(dn_model_read(bytes, size, &back, NULL));
            assert_same(back, bytes, size);
            assert_int_equal(dn_model_workspace(back), dn_model_workspace(model));
            assert_int_equal(dn_model_predict(model, few, workspace, &(dn_prediction){.scores = a}),
                             20);
            assert_int_equal(dn_model_predict(back, few, workspace, &(dn_prediction){.scores = b}),
                             20);
            assert_memory_equal(a, b, 60 * sizeof *a);
            const dni_support *shared = dni_kernel_machine_of(dn_model_machine(back, 0))->support;
            assert_true(dni_kernel_machine_of(dn_model_machine(back, 1))->support == shared &&
                        dni_kernel_machine_of(dn_model_machine(back, 2))->support == shared);
            assert_int_equal(shared->references, 3);
            free(bytes);
            free(workspace);
            dn_model_unref(model);
            dn_model_unref(back);
        }
        free(factor);
        free(a);
        free(b);
        km_rows_done(&r);
    }
}

/* ---- rules ---- */
typedef void (*breaker)(dni_kernel_machine *k);

static double *values_of(dni_kernel_machine *k) { /* writable */
    return (double *)(uintptr_t)k->support->x.values;
}
static uint32_t *cols_of(dni_kernel_machine *k) {
    return (uint32_t *)(uintptr_t)k->support->x.cols;
}
static size_t *starts_of(dni_kernel_machine *k) {
    return (size_t *)(uintptr_t)k->support->x.row_start;
}

static void index_twice(dni_kernel_machine *k) {
    k->index[3] = k->index[2];
}
static void index_out_of_range(dni_kernel_machine *k) {
    k->index[k->n - 1] = KM_SUPPORT;
}
static void coef_no_number(dni_kernel_machine *k) {
    k->coef[5] = (double)NAN;
}
static void intercept_infinite(dni_kernel_machine *k) {
    k->w0 = (double)INFINITY;
}
static void norm_below_zero(dni_kernel_machine *k) {
    k->norm = -1;
}
static void norm_infinite(dni_kernel_machine *k) {
    k->norm = (double)INFINITY;
}
static void no_width(dni_kernel_machine *k) {
    k->support->kernel.width = 0;
}
static void width_below_zero(dni_kernel_machine *k) {
    k->support->kernel.width = -1;
}
static void gamma_no_number(dni_kernel_machine *k) {
    k->support->kernel.gamma = (double)NAN;
}
static void unknown_kernel(dni_kernel_machine *k) {
    k->support->kernel.type = (dn_kernel_type)(DN_KERNEL_PRECOMPUTED + 1);
}
static void unknown_metric(dni_kernel_machine *k) {
    k->support->kernel.metric = (dn_metric)(DN_METRIC_EDIT + 1);
}
static void no_degree(dni_kernel_machine *k) {
    k->support->kernel.type = DN_KERNEL_POLYNOMIAL;
    k->support->kernel.degree = 0;
}
static void value_no_number(dni_kernel_machine *k) {
    values_of(k)[1] = (double)NAN;
}
static void no_characters(dni_kernel_machine *k) {
    k->support->kernel.type = DN_KERNEL_DISTANCE;
    k->support->kernel.metric = DN_METRIC_EDIT;
}
static void no_places(dni_kernel_machine *k) {
    k->support->kernel.type = DN_KERNEL_PRECOMPUTED;
}
static void kernel_value_not_finite(dni_kernel_machine *k) { /* K(x, x) is not finite */
    k->support->kernel = (dn_kernel){.type = DN_KERNEL_POLYNOMIAL,
                                     .gamma = 1e300,
                                     .degree = 9,
                                     .n_features = k->support->x.n_cols};
}
static void cols_descend(dni_kernel_machine *k) {
    cols_of(k)[1] = cols_of(k)[0];
}
static void col_out_of_range(dni_kernel_machine *k) {
    cols_of(k)[starts_of(k)[1] - 1] = (uint32_t)k->support->x.n_cols;
}
static void too_many_entries(dni_kernel_machine *k) { /* row 0 has more entries than all rows */
    starts_of(k)[1] += starts_of(k)[KM_SUPPORT];
}

static void assert_refused(const struct km_rows *r, const dn_kernel *kernel, breaker spoil) {
    dn_model *model = km_model(r, kernel, 1, DN_DECISION_ONE_VS_ONE, 0), *back = NULL;
    dn_error err = {0};
    void *bytes;
    size_t size;
    spoil(dni_kernel_machine_of(dn_model_machine(model, 0)));
    OK(dn_model_write(model, &bytes, &size, NULL));
    assert_int_equal(dn_model_read(bytes, size, &back, &err), DN_ERR_CORRUPT);
    assert_true(back == NULL && strstr(err.message, "damaged") != NULL);
    free(bytes);
    dn_model_unref(model);
}

static void rules_are_checked(void **state) {
    (void)state;
    static const breaker any[] = {
        index_twice,     index_out_of_range, coef_no_number, intercept_infinite,
        norm_below_zero, norm_infinite,      no_width,       width_below_zero,
        gamma_no_number, unknown_kernel,     unknown_metric, no_degree,
        value_no_number, no_characters,      no_places,      kernel_value_not_finite};
    static const breaker sparse[] = {cols_descend, col_out_of_range, too_many_entries};
    for (size_t way = KM_SPARSE; way <= KM_DENSE; way++) {
        struct km_rows r = km_rows_new((enum km_way)way);
        const dn_kernel kernel = {.type = DN_KERNEL_RBF, .width = 4, .n_features = r.d};
        for (size_t i = 0; i < sizeof any / sizeof any[0]; i++) {
            assert_refused(&r, &kernel, any[i]);
        }
        for (size_t i = 0; way == KM_SPARSE && i < sizeof sparse / sizeof sparse[0]; i++) {
            assert_refused(&r, &kernel, sparse[i]);
        }
        km_rows_done(&r);
    }
}

static void factor_above(dni_kernel_machine *k) {
    k->support->kernel.factor[1] = 0.5;
}
static void factor_no_number(dni_kernel_machine *k) {
    k->support->kernel.factor[0] = (double)INFINITY;
}

static void a_factor_is_a_triangle(void **state) {
    (void)state;
    struct km_rows r = km_rows_new(KM_SPARSE);
    double *factor = xcalloc(r.d * r.d, sizeof *factor);
    const dn_kernel kernel = plain_kernel(6, r.d, factor);
    assert_int_equal(kernel.type, DN_KERNEL_MAHALANOBIS);
    assert_refused(&r, &kernel, factor_above);
    assert_refused(&r, &kernel, factor_no_number);
    free(factor);
    km_rows_done(&r);
}

/* ---- forged bytes ---- */
/* Damaged bytes with a valid checksum give a valid model or an error. A model that was read can
 * predict and can be written again. */
static void forged_checksums(void **state) {
    (void)state;
    struct km_rows r = km_rows_new(KM_SPARSE);
    const dn_kernel kernel = {.type = DN_KERNEL_RBF, .width = 4, .n_features = r.d};
    dn_model *model = km_model(&r, &kernel, 3, DN_DECISION_ONE_VS_ONE, 0), *back;
    void *bytes;
    size_t size, read = 0, refused = 0;
    OK(dn_model_write(model, &bytes, &size, NULL));
    unsigned char *b = xcalloc(size, 1);
    for (size_t i = size / 8, step = 1; i < size - 4; i += step = 1 + (step * 7 + 3) % 11) {
        memcpy(b, bytes, size);
        b[i] ^= (unsigned char)(1 << i % 8);
        put_checksum(b, size);
        if (dn_model_read(b, size, &back, NULL) != DN_OK) {
            refused++;
            continue;
        }
        read++;
        double g[3], *workspace = xcalloc(dn_model_workspace(back), sizeof *workspace);
        (void)dn_model_predict(back, dn_raw_part(r.raw.rows, 4, 1, 1), workspace,
                               &(dn_prediction){.scores = g});
        assert_same(back, b, size);
        free(workspace);
        dn_model_unref(back);
    }
    assert_true(read > 100 && refused > 100);
    for (size_t n = size - 4; n > size / 2;
         n -= 37) { /* truncated bytes with a valid size and checksum */
        unsigned char *cut = xcalloc(n, 1);
        memcpy(cut, bytes, n);
        for (unsigned i = 0; i < 8; i++) {
            cut[SIZE_AT + i] = (unsigned char)((uint64_t)n >> (8 * i));
        }
        put_checksum(cut, n);
        assert_int_equal(dn_model_read(cut, n, &back, NULL), DN_ERR_CORRUPT);
        free(cut);
    }
    free(b);
    free(bytes);
    dn_model_unref(model);
    km_rows_done(&r);
}

/* A model with few support vectors and more hashed features than bytes can be written and read. */
static void hashed_features_without_bytes(void **state) {
    (void)state;
    static const size_t columns[] = {L_NOTE};
    vector_table *t = vector_table_new(3);
    struct km_rows r = {.t = t};
    const dn_encoder_spec spec = {.columns = columns,
                                  .n_columns = 1,
                                  .text = {.buckets = DN_MAX_DENSE_FEATURES + BIG_PLACE}};
    chunked source;
    vector_table_source(t, t->columns, L_COLUMNS, 1, &source);
    OK(dn_encoder_fit(&source.source, &spec, NULL, NULL, NULL, &r.encoder, NULL));
    chunked_done(&source);
    const dn_kernel kernel = {.type = DN_KERNEL_LINEAR,
                              .normalize = true,
                              .n_features = dn_encoder_n_features(r.encoder)};
    const uint32_t col = DN_MAX_DENSE_FEATURES + BIG_PLACE - 1;
    const double one = 1;
    const size_t start[] = {0, 1};
    dn_machine **machines = xcalloc(1, sizeof *machines), *machine;
    dni_support *support;
    dn_model *model, *back;
    void *bytes;
    size_t size;
    OK(dni_support_new(&kernel, 1, 1, NULL, &support, NULL));
    dni_support_add(support, dn_matrix_csr(start, &col, &one, 1, kernel.n_features));
    OK(dni_support_end(support, NULL));
    OK(dni_kernel_machine_new(support, 1, &machine, NULL));
    dni_support_unref(support);
    dni_kernel_machine_of(machine)->w0 = 0.5;
    if (machines != NULL) {
        machines[0] = machine;
    }
    OK(km_try_model(&r, machines, 1, DN_DECISION_ONE_VS_ONE, &model, NULL));
    OK(dn_model_write(model, &bytes, &size, NULL));
    OK(dn_model_read(bytes, size, &back, NULL));
    assert_same(back, bytes, size);
    const double raw = (double)NAN, entry = 3;
    const dn_raw_rows row = {1, &raw, start, &col, &entry};
    double g, *workspace = xcalloc(dn_model_workspace(back), sizeof *workspace);
    assert_int_equal(dn_model_predict(back, row, workspace, &(dn_prediction){.scores = &g}), 1);
    assert_true(g == 0.5);
    free(workspace);
    free(bytes);
    dn_model_unref(model);
    dn_model_unref(back);
    dn_encoder_unref(r.encoder);
    free(t);
}

/* ---- memory ---- */
static void without_memory(void **state) {
    (void)state;
    if (!alloc_fail_works()) {
        skip();
    }
    struct km_rows r = km_rows_new(KM_SPARSE);
    const dn_kernel kernel = {.type = DN_KERNEL_RBF, .width = 4, .n_features = r.d};
    dn_model *model = km_model(&r, &kernel, 3, DN_DECISION_ONE_VS_ONE, 0);
    void *bytes;
    size_t size;
    OK(dn_model_write(model, &bytes, &size, NULL));
    ALLOC_FAIL_EACH({
        dn_model *back = NULL;
        const dn_status status = dn_model_read(bytes, size, &back, NULL);
        assert_true(status == DN_OK || (status == DN_ERR_MEMORY && back == NULL));
        dn_model_unref(back);
    });
    free(bytes);
    dn_model_unref(model);
    km_rows_done(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_and_back),
        cmocka_unit_test(rules_are_checked),
        cmocka_unit_test(a_factor_is_a_triangle),
        cmocka_unit_test(forged_checksums),
        cmocka_unit_test(hashed_features_without_bytes),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
