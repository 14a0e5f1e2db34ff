/* Models as bytes: written, read back, and refused if a byte is changed. */
#include "unit/core/support.h"

#include "base/crc32.h"
#include "model/model_bytes.h"
#include "model/model_impl.h"

/* Makes a model with a numeric, a boolean and a categorical input and three classes, so that its
 * bytes have every section of the format. */
static dn_model *make_model(bool strings) {
    enum { N = 12 };
    static const double x[N] = {1, 2, (double)NAN, 4, 5, 6, 7, 8, 2, 4, 6, 9},
                        flag[N] = {0, 1, 0, 1, 1, 0, 1, 0, 0, 1, 1, 1};
    static const double y[N] = {-1, 0, 2.5, -1, 0, 2.5, -1, 0, 2.5, 0, -1, 0};
    static const uint32_t code[N] = {0, 1, 0, DN_CODE_MISSING, 2, 2, 1, 2, 0, 0, 1, 2},
                          start[] = {0, 3, 7, 11};
    static const uint32_t label[N] = {0, 1, 2, 0, 1, 2, 0, 1, 2, 1, 0, 1}, starts[] = {0, 4, 5, 7};
    const dn_table_column columns[] = {{.name = "x", .type = DN_NUMERIC},
                                       {.name = "flag", .type = DN_BOOLEAN},
                                       {.name = "sort", .type = DN_CATEGORICAL},
                                       {.name = "größe",
                                        .type = strings ? DN_CATEGORICAL : DN_NUMERIC}};
    const dn_column_view views[] = {{.type = DN_NUMERIC, .n_rows = N, .number = x},
                                    {.type = DN_BOOLEAN, .n_rows = N, .number = flag},
                                    {.type = DN_CATEGORICAL,
                                     .n_rows = N,
                                     .code = code,
                                     .strings = {.n = 3, .start = start, .bytes = "redbluepink"}},
                                    {.type = columns[3].type,
                                     .n_rows = N,
                                     .number = y,
                                     .code = label,
                                     .strings = {.n = 3, .start = starts, .bytes = "tallmxl"}}};
    const size_t inputs[] = {0, 1, 2};
    dn_table_source *source;
    OK(dn_table_source_from_columns(columns, views, 4, N, &source, NULL));
    dn_params *p = params_of("newton", 0.1);
    dn_train_request request = {.source = source,
                                .params = p,
                                .target = 3,
                                .features = {.columns = inputs,
                                             .n_columns = 3,
                                             .standardize = true}};
    dn_run run = dn_run_default();
    dn_train_result result;
    run.seed = 0xfedcba9876543210u;
    OK(dn_train(&request, &run, &result, NULL));
    dn_model *model = dn_model_ref(result.model);
    dn_train_result_done(&result);
    dn_params_free(p);
    dn_table_source_free(source);
    return model;
}

static void assert_same(const dn_model *a, const dn_model *b) {
    void *x, *y;
    size_t n, m;
    OK(dn_model_write(a, &x, &n, NULL));
    OK(dn_model_write(b, &y, &m, NULL));
    assert_int_equal(n, m);
    assert_memory_equal(x, y, n);
    free(x);
    free(y);
}

static void round_trip(void **state) {
    (void)state;
    for (int strings = 0; strings < 2; strings++) {
        dn_model *model = make_model(strings), *back;
        void *bytes;
        size_t size;
        OK(dn_model_write(model, &bytes, &size, NULL));
        OK(dn_model_read(bytes, size, &back, NULL));
        assert_same(model, back);
        assert_true(dn_model_seed(back) == 0xfedcba9876543210u);
        assert_string_equal(dn_model_target(back), "größe");
        assert_string_equal(dn_model_algorithm(back)->id, "logistic");
        assert_string_equal(dn_params_word(dn_model_params(back), "solver"), "newton");
        assert_true(dn_params_number(dn_model_params(back), "lambda") == 0.1);
        assert_true(dn_params_number(dn_model_params(back), "tolerance") ==
                    1e-9); /* what "auto" became */
        assert_string_equal(dn_params_word(dn_model_params(back), "learning_rate"), "auto");
        assert_true(dn_model_has_probabilities(back) && dn_model_n_scores(back) == 3);
        if (strings) {
            assert_int_equal(dn_model_class_of_text(back, "tall", 4), 1); /* m, tall, xl */
        } else {
            assert_int_equal(dn_model_class_of_number(back, 2.5), 2);
        }
        dn_linear a, b;
        assert_true(dn_model_linear(model, &a) && dn_model_linear(back, &b));
        assert_int_equal(a.n_features, b.n_features);
        assert_memory_equal(a.w, b.w, 3 * a.n_features * sizeof(double));
        const double raw[] = {3, 1, 0, (double)NAN, (double)NAN, (double)NAN};
        double p[6], q[6], *workspace = xcalloc(dn_model_workspace(model), sizeof(double));
        dn_model_predict(model, dn_raw_numbers(raw, 2), workspace,
                         &(dn_prediction){.probabilities = p});
        dn_model_predict(back, dn_raw_numbers(raw, 2), workspace,
                         &(dn_prediction){.probabilities = q});
        assert_memory_equal(p, q, sizeof p);
        free(workspace);
        free(bytes);
        dn_model_unref(model);
        dn_model_unref(back);
    }
    dn_model_unref(NULL);
}

/* A model and its bytes, which a test may change. */
struct written {
    dn_model *model;
    unsigned char *bytes;
    size_t size;
};

static struct written write_model(bool strings) {
    struct written w = {.model = make_model(strings)};
    void *bytes;
    OK(dn_model_write(w.model, &bytes, &w.size, NULL));
    w.bytes = bytes;
    return w;
}

static void written_done(struct written *w) {
    free(w->bytes);
    dn_model_unref(w->model);
}

/* Returns the offset of a text in the bytes. */
static size_t offset_of(const struct written *w, const char *words) {
    const size_t n = strlen(words);
    size_t at = 0;
    while (memcmp(w->bytes + at, words, n) != 0) {
        at++;
        assert_true(at + n < w->size);
    }
    return at;
}

static void put_checksum(unsigned char *bytes, size_t size) {
    uint32_t crc = dni_crc32(0, bytes, size - 4);
    for (unsigned i = 0; i < 4; i++) {
        bytes[size - 4 + i] = (unsigned char)(crc >> (8 * i));
    }
}

static void every_byte_counts(void **state) {
    (void)state;
    struct written w = write_model(true);
    unsigned char *b = w.bytes;
    const size_t size = w.size;
    dn_model *back;
    for (size_t i = 0; i < size; i++) {
        for (int bit = 0; bit < 8; bit++) {
            dn_error err = {0};
            b[i] ^= (unsigned char)(1 << bit);
            dn_status status = dn_model_read(b, size, &back, &err);
            assert_true(status == DN_ERR_CORRUPT || status == DN_ERR_VERSION);
            assert_true(err.message[0] != '\0');
            b[i] ^= (unsigned char)(1 << bit);
        }
    }
    for (size_t n = 0; n < size; n++) {
        unsigned char *cut =
            xcalloc(n, 1); /* of exactly the size, so that a read past the end is detected */
        memcpy(cut, b, n);
        assert_int_equal(dn_model_read(cut, n, &back, NULL), DN_ERR_CORRUPT);
        free(cut);
    }
    unsigned char *longer = xcalloc(size + 1, 1);
    memcpy(longer, b, size);
    assert_int_equal(dn_model_read(longer, size + 1, &back, NULL), DN_ERR_CORRUPT);
    free(longer);
    written_done(&w);
}

/* Changed bytes with a valid checksum are read as a model or refused, and never crash. A model that
 * was read can be used and written again. */
static void forged_checksums(void **state) {
    (void)state;
    dn_model *model = make_model(false);
    void *bytes;
    size_t size, read = 0;
    OK(dn_model_write(model, &bytes, &size, NULL));
    unsigned char *b = xcalloc(size, 1);
    double *workspace = xcalloc(4096, sizeof *workspace);
    for (size_t i = 8; i < size - 4; i++) {
        for (unsigned value = 0; value < 256; value += i % 2 == 0 ? 51 : 85) {
            dn_model *back;
            memcpy(b, bytes, size);
            b[i] = (unsigned char)(value == 0 ? b[i] ^ 1 : value);
            put_checksum(b, size);
            if (dn_model_read(b, size, &back, NULL) != DN_OK) {
                continue;
            }
            read++;
            void *again;
            size_t n;
            OK(dn_model_write(back, &again, &n, NULL));
            free(again);
            const double raw[] = {3, 1, 0, (double)NAN, (double)NAN, (double)NAN};
            double p[6];
            assert_int_equal(dn_encoder_n_inputs(dn_model_encoder(back)), 3);
            assert_true(dn_model_workspace(back) <= 4096);
            dn_model_predict(back, dn_raw_numbers(raw, 2), workspace,
                             &(dn_prediction){.probabilities = p});
            dn_model_unref(back);
        }
    }
    assert_true(read > 100);             /* changed weights give another valid model */
    for (size_t n = 28; n < size; n++) { /* truncated bytes with a valid size and checksum */
        unsigned char *cut = xcalloc(n, 1);
        dn_model *back;
        memcpy(cut, bytes, n);
        for (unsigned i = 0; i < 8; i++) {
            cut[16 + i] = (unsigned char)((uint64_t)n >> (8 * i));
        }
        put_checksum(cut, n);
        assert_true(dn_model_read(cut, n, &back, NULL) != DN_OK);
        free(cut);
    }
    free(workspace);
    free(b);
    free(bytes);
    dn_model_unref(model);
}

static void newer_versions(void **state) {
    (void)state;
    struct written w = write_model(true);
    unsigned char *b = w.bytes;
    const size_t size = w.size;
    dn_model *back;
    dn_error err = {0};
    b[8] = DNI_MODEL_VERSION + 1;
    assert_int_equal(dn_model_read(b, size, &back, &err), DN_ERR_VERSION);
    char named[32];
    snprintf(named, sizeof named, "version %d", DNI_MODEL_VERSION + 1);
    assert_non_null(strstr(err.message, named));
    b[8] = 1; /* format version 1, which is not supported */
    dn_error_clear(&err);
    assert_int_equal(dn_model_read(b, size, &back, &err), DN_ERR_VERSION);
    b[8] = 2;
    b[32] = 'x'; /* the first letter of the algorithm's name, after its length */
    put_checksum(b, size);
    dn_error_clear(&err);
    assert_int_equal(dn_model_read(b, size, &back, &err), DN_ERR_VERSION);
    assert_non_null(strstr(err.message, "\"xogistic\""));
    written_done(&w);
}

static void put_size(unsigned char *bytes, size_t size) {
    for (unsigned i = 0; i < 8; i++) {
        bytes[DNI_MODEL_SIZE_AT + i] = (unsigned char)((uint64_t)size >> (8 * i));
    }
}

/* Older versions lack the last sections: the support vectors, the feature means, and before them
 * the statistics. "No support vectors" is one byte. */
static void older_versions(void **state) {
    (void)state;
    dn_model *model = make_model(true), *back;
    dni_writer section;
    void *bytes, *again;
    size_t size, n;
    OK(dn_model_write(model, &bytes, &size, NULL));
    dni_writer_init(&section);
    dni_statistics_write(model->statistics, &section);
    const size_t no_duals = size - 1, no_means = no_duals - 8 - model->n_features * sizeof(double),
                 no_statistics = no_means - section.size;
    dni_writer_done(&section);
    assert_int_equal(dn_model_statistics(model)->reason, DN_STATISTICS_AVAILABLE);
    assert_non_null(dn_model_feature_means(model));
    assert_true(no_statistics < no_means);
    unsigned char *b = bytes, *whole = xcalloc(size, 1);
    memcpy(whole, bytes, size);
    for (unsigned char version = 2; version < DNI_MODEL_WITHOUT_SETS; version++) {
        const bool statistics = version >= DNI_MODEL_WITH_STATISTICS;
        const bool means = version >= DNI_MODEL_WITH_MEANS;
        const size_t old = means ? no_duals : statistics ? no_means : no_statistics;
        memcpy(b, whole, size);
        b[8] = version;
        put_size(b, old);
        put_checksum(b, old);
        OK(dn_model_read(b, old, &back, NULL));
        assert_int_equal(dn_model_statistics(back) != NULL, statistics);
        assert_int_equal(dn_model_feature_means(back) != NULL, means);
        assert_null(dn_model_duals(back, 0));
        assert_true(dn_model_has_statistics_method(back));
        OK(dn_model_write(back, &again, &n, NULL));
        /* "no statistics" is one byte, "no means" eight */
        assert_int_equal(n, old + (means ? 1 : statistics ? 9 : 10));
        assert_memory_equal((char *)again + DNI_MODEL_HEAD_SIZE, b + DNI_MODEL_HEAD_SIZE,
                            old - 4 - DNI_MODEL_HEAD_SIZE);
        b[8] = version + 1; /* the next version needs one more section from version 5 on */
        put_checksum(b, old);
        if (version + 1 >= DNI_MODEL_WITH_STATISTICS) {
            assert_int_equal(dn_model_read(b, old, &back, NULL), DN_ERR_CORRUPT);
        }
        free(again);
        dn_model_unref(back);
    }
    free(whole);
    free(bytes);
    dn_model_unref(model);
}

/* A number of means other than 0 and the number of features, and a mean that is not finite. */
static void wrong_means(void **state) {
    (void)state;
    struct written w = write_model(true);
    unsigned char *b = w.bytes;
    const size_t size = w.size;
    dn_model *back;
    const size_t at = size - 4 - 1 - w.model->n_features * sizeof(double);
    assert_int_equal(b[at - 8], w.model->n_features);
    b[at - 8]--;
    put_checksum(b, size);
    assert_int_equal(dn_model_read(b, size, &back, NULL), DN_ERR_CORRUPT);
    b[at - 8]++;
    memset(b + at + 6, 0xff, 2); /* the first mean becomes a NaN */
    put_checksum(b, size);
    assert_int_equal(dn_model_read(b, size, &back, NULL), DN_ERR_CORRUPT);
    written_done(&w);
}

/* A parameter that the library does not know is ignored. */
static void unknown_parameter(void **state) {
    (void)state;
    struct written w = write_model(true);
    unsigned char *b = w.bytes;
    const size_t size = w.size;
    dn_model *back;
    b[offset_of(&w, "lambda")] = 'L';
    put_checksum(b, size);
    OK(dn_model_read(b, size, &back, NULL));
    assert_true(dn_params_number(dn_model_params(back), "lambda") ==
                1e-3); /* the missing parameter has its default */
    dn_model_unref(back);
    written_done(&w);
}

/* Models of versions without the parameter `decision` keep the labels of the scores. */
static void no_decision(void **state) {
    (void)state;
    struct written w = write_model(true);
    unsigned char *b = w.bytes;
    const size_t size = w.size;
    dn_model *back;
    OK(dn_model_read(b, size, &back, NULL));
    assert_int_equal(dn_model_labels(back), DN_LABELS_PROBABILITIES);
    dn_model_unref(back);
    b[offset_of(&w, "decision")] = 'D';
    put_checksum(b, size);
    OK(dn_model_read(b, size, &back, NULL));
    assert_int_equal(dn_model_labels(back), DN_LABELS_SCORES);
    dn_model_unref(back);
    written_done(&w);
}

/* A model has at least two classes. The test removes classes from the bytes and adapts their
 * number. */
static void too_few_classes(void **state) {
    (void)state;
    static const char target[] = "größe";
    enum {
        LENGTH = sizeof target - 1,
        KEPT_AT = LENGTH + 9
    }; /* after the target: u8 type, u64 number of classes */
    dn_model *model = make_model(false), *back;
    void *bytes;
    size_t size, at = 0;
    OK(dn_model_write(model, &bytes, &size, NULL));
    const unsigned char *b = bytes;
    while (memcmp(b + at, target, LENGTH) != 0) {
        at++;
        assert_true(at + KEPT_AT < size);
    }
    assert_int_equal(b[at + LENGTH + 1], 3);
    for (size_t n = 0; n <= 3; n++) {
        const size_t removed = (3 - n) * sizeof(double), kept = at + KEPT_AT + n * sizeof(double);
        unsigned char *few = xcalloc(size, 1);
        dn_error err;
        dn_error_clear(&err);
        memcpy(few, b, kept);
        memcpy(few + kept, b + kept + removed, size - kept - removed);
        few[at + LENGTH + 1] = (unsigned char)n;
        for (size_t i = 0; i < 8; i++) {
            few[DNI_MODEL_SIZE_AT + i] = (unsigned char)((uint64_t)(size - removed) >> (8 * i));
        }
        put_checksum(few, size - removed);
        const dn_status status = dn_model_read(few, size - removed, &back, &err);
        assert_int_equal(status, n == 3 ? DN_OK : DN_ERR_CORRUPT);
        assert_int_equal(strstr(err.message, "fewer than two classes") != NULL, n < 2);
        if (status == DN_OK) {
            dn_model_unref(back);
        }
        free(few);
    }
    free(bytes);
    dn_model_unref(model);
}

static void checksum_is_the_known_one(void **state) {
    (void)state;
    assert_true(dni_crc32(0, "123456789", 9) == 0xcbf43926u);
    assert_true(dni_crc32(0, "", 0) == 0);
    assert_true(dni_crc32(dni_crc32(0, "1234", 4), "56789", 5) == 0xcbf43926u);
    assert_string_equal(dn_version(), DISCERN_VERSION);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip),        cmocka_unit_test(every_byte_counts),
        cmocka_unit_test(forged_checksums),  cmocka_unit_test(newer_versions),
        cmocka_unit_test(older_versions),    cmocka_unit_test(wrong_means),
        cmocka_unit_test(unknown_parameter), cmocka_unit_test(no_decision),
        cmocka_unit_test(too_few_classes),   cmocka_unit_test(checksum_is_the_known_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
