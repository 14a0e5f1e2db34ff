/* Tests of the functions for arrays of the caller (dn_fit, dn_model_predict_rows), and of
 * dn_model_save and dn_model_load. */
#include "../support.h"

enum { N = 60, D = 3 };

/* Rows of three linearly separable classes. */
struct data {
    double x[N * D], y[N];
    const char *labels[N];
};

static void make_data(struct data *t) {
    static const char *const names[] = {"red", "blue", "green"};
    for (size_t i = 0; i < N; i++) {
        const size_t k = i % 3;
        for (size_t j = 0; j < D; j++) {
            t->x[i * D + j] = (double)((i * 7 + j * 3) % 11) / 11.0 + (j == k ? 5.0 : 0.0);
        }
        t->y[i] = 10.0 * (double)k;
        t->labels[i] = names[k];
    }
}

static void assert_message(const dn_error *err, const char *part) {
    if (strstr(err->message, part) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", part, err->message);
    }
}

static void a_fit_of_numbers_predicts_its_rows(void **state) {
    (void)state;
    struct data t;
    make_data(&t);
    for (size_t i = 0; i < dn_algorithm_count(); i++) {
        const dn_algorithm *a = dn_algorithm_at(i);
        dn_model *model = NULL;
        size_t label[N];
        dn_error err;
        dn_error_clear(&err);
        const bool target = (a->flags & DN_ALGORITHM_TARGET) != 0;
        OK(dn_fit(t.x, N, D, target ? t.y : NULL, a->id, NULL, NULL, &model, &err));
        assert_string_equal(dn_encoder_input(dn_model_encoder(model), 2)->name, "x2");
        const dn_array x = dn_array_doubles(t.x, N, D);
        OK(dn_model_predict_rows(model, &x, &(dn_prediction){.label = label}, NULL, &err));
        size_t wrong = 0;
        for (size_t r = 0; target && r < N; r++) {
            wrong +=
                label[r] == DN_AMBIGUOUS || dn_model_classes(model)->number[label[r]] != t.y[r];
        }
        assert_true(wrong <= N / 10);
        dn_model_unref(model);
    }
}

static void a_fit_of_strings_has_their_classes(void **state) {
    (void)state;
    struct data t;
    make_data(&t);
    t.labels[5] = NULL; /* skipped */
    dn_model *model = NULL;
    OK(dn_fit_strings(t.x, N, D, t.labels, "logistic", "lambda=0.01", NULL, &model, NULL));
    const dn_classes *classes = dn_model_classes(model);
    assert_int_equal(classes->n, 3);
    assert_int_equal(dn_model_class_of_text(model, "green", 5), 1);
    assert_float_equal(dn_params_number(dn_model_params(model), "lambda"), 0.01, 0);
    dn_model_unref(model);
}

/* *out ← the bytes of a model that dn_train trains on a table with the same columns. */
static void train_bytes(const struct data *t, const double *weight, void **out, size_t *out_size) {
    double columns[D + 1][N];
    const char *names[] = {"x0", "x1", "x2", "y", "w"};
    dn_table_column described[D + 2];
    dn_column_view views[D + 2];
    for (size_t j = 0; j < D + 2; j++) {
        for (size_t i = 0; i < N && j < D; i++) {
            columns[j][i] = t->x[i * D + j];
        }
        described[j] = (dn_table_column){.name = names[j], .type = DN_NUMERIC};
        views[j] = (dn_column_view){.type = DN_NUMERIC,
                                    .n_rows = N,
                                    .number = j < D    ? columns[j]
                                              : j == D ? t->y
                                                       : weight};
    }
    dn_table_source *source;
    const size_t n_cols = D + 1 + (weight != NULL);
    OK(dn_table_source_from_columns(described, views, n_cols, N, &source, NULL));
    dn_params *params;
    OK(dn_params_new(dn_algorithm_find("logistic"), &params, NULL));
    const size_t inputs[] = {0, 1, 2};
    const dn_train_request request = {.source = source,
                                      .params = params,
                                      .target = D,
                                      .weighted = weight != NULL,
                                      .weight = D + 1,
                                      .features = {.columns = inputs,
                                                   .n_columns = D,
                                                   .standardize = true}};
    dn_train_result result = {0};
    OK(dn_train(&request, NULL, &result, NULL));
    OK(dn_model_write(result.model, out, out_size, NULL));
    dn_train_result_done(&result);
    dn_params_free(params);
    dn_table_source_free(source);
}

static void strides_and_weights_give_the_model_of_dn_train(void **state) {
    (void)state;
    struct data t;
    make_data(&t);
    double weight[N], wide[N * (D + 2)], columns[D * N];
    for (size_t i = 0; i < N; i++) {
        weight[i] = (double)(i % 4);
        for (size_t j = 0; j < D; j++) {
            wide[i * (D + 2) + j] = columns[j * N + i] = t.x[i * D + j];
        }
    }
    void *expected, *bytes;
    size_t expected_size, size;
    train_bytes(&t, weight, &expected, &expected_size);
    const dn_array views[] = {
        dn_array_doubles(t.x, N, D),
        {.values = wide, .n_rows = N, .n_cols = D, .row_stride = D + 2},
        {.values = columns, .n_rows = N, .n_cols = D, .row_stride = 1, .col_stride = N}};
    for (size_t v = 0; v < 3; v++) {
        dn_train_result result = {0};
        OK(dn_fit_arrays(&(dn_fit_data){.x = views[v], .y = t.y, .weight = weight}, "logistic",
                         NULL, NULL, &result, NULL));
        OK(dn_model_write(result.model, &bytes, &size, NULL));
        assert_int_equal(size, expected_size);
        assert_memory_equal(bytes, expected, size);
        free(bytes);
        dn_train_result_done(&result);
    }
    free(expected);
}

static void more_rows_than_a_chunk(void **state) {
    (void)state;
    enum { MANY = 2500 };
    double *x = xcalloc(MANY, sizeof *x), *y = xcalloc(MANY, sizeof *y);
    size_t *label = xcalloc(MANY, sizeof *label);
    for (size_t i = 0; i < MANY; i++) {
        x[i] = (double)i;
        y[i] = i >= 1200;
    }
    dn_run run = dn_run_default();
    run.n_slots = 3;
    dn_model *model;
    OK(dn_fit(x, MANY, 1, y, "fisher", NULL, &run, &model, NULL));
    const dn_array a = dn_array_doubles(x, MANY, 1);
    OK(dn_model_predict_rows(model, &a, &(dn_prediction){.label = label}, &run, NULL));
    assert_int_equal(label[0], 0);
    assert_int_equal(label[MANY - 1], 1);
    dn_model_unref(model);
    free(label);
    free(y);
    free(x);
}

static void floats_predict_as_the_doubles_they_are(void **state) {
    (void)state;
    struct data t;
    make_data(&t);
    float single[N * D];
    double same[N * D], p[2][N * 3], g[2][N * 3];
    for (size_t i = 0; i < N * D; i++) {
        single[i] = (float)t.x[i];
        same[i] = (double)single[i];
    }
    dn_model *model;
    OK(dn_fit(t.x, N, D, t.y, "logistic", NULL, NULL, &model, NULL));
    const dn_array x[] = {dn_array_floats(single, N, D), dn_array_doubles(same, N, D)};
    for (size_t v = 0; v < 2; v++) {
        OK(dn_model_predict_rows(model, &x[v],
                                 &(dn_prediction){.probabilities = p[v], .scores = g[v]}, NULL,
                                 NULL));
    }
    assert_memory_equal(p[0], p[1], sizeof p[0]);
    assert_memory_equal(g[0], g[1], sizeof g[0]);
    dn_model_unref(model);
}

static void misuse_is_a_status(void **state) {
    (void)state;
    struct data t;
    make_data(&t);
    dn_model *model = NULL;
    dn_error err;
#define REFUSED(status, part, call)                                                                \
    dn_error_clear(&err);                                                                          \
    assert_int_equal((call), (status));                                                            \
    assert_message(&err, part)
    REFUSED(DN_ERR_ARGUMENT, "the values of x must not be NULL",
            dn_fit(NULL, N, D, t.y, "svm", NULL, NULL, &model, &err));
    REFUSED(DN_ERR_ARGUMENT, "method must not be NULL",
            dn_fit(t.x, N, D, t.y, NULL, NULL, NULL, &model, &err));
    REFUSED(DN_ERR_ARGUMENT, "there is no method \"svn\"; did you mean svm?",
            dn_fit(t.x, N, D, t.y, "svn", NULL, NULL, &model, &err));
    REFUSED(DN_ERR_ARGUMENT, "needs a target",
            dn_fit(t.x, N, D, NULL, "svm", NULL, NULL, &model, &err));
    REFUSED(DN_ERR_ARGUMENT, "has no target",
            dn_fit(t.x, N, D, t.y, "one_class_svm", NULL, NULL, &model, &err));
    REFUSED(DN_ERR_ARGUMENT, "out must not be NULL",
            dn_fit(t.x, N, D, t.y, "svm", NULL, NULL, NULL, &err));
    REFUSED(DN_ERR_ARGUMENT, "data must not be NULL",
            dn_fit_arrays(NULL, "svm", NULL, NULL, &(dn_train_result){0}, &err));
    REFUSED(DN_ERR_VERSION, "older than the headers",
            dn_fit_arrays(&(dn_fit_data){.struct_size = 4096}, "svm", NULL, NULL,
                          &(dn_train_result){0}, &err));
    dn_run run = dn_run_default();
    run.n_slots = 0;
    REFUSED(DN_ERR_ARGUMENT, "slot", dn_fit(t.x, N, D, t.y, "svm", NULL, &run, &model, &err));
    const char *same[] = {"a", "b", "a"};
    REFUSED(DN_ERR_ARGUMENT, "columns 0 and 2 are both named \"a\"",
            dn_fit_arrays(&(dn_fit_data){.x = dn_array_doubles(t.x, N, D), .y = t.y, .names = same},
                          "svm", NULL, NULL, &(dn_train_result){0}, &err));
    t.x[4 * D + 1] = (double)INFINITY;
    REFUSED(DN_ERR_DATA, "row 4, column \"x1\": a value must be finite",
            dn_fit(t.x, N, D, t.y, "svm", NULL, NULL, &model, &err));
    assert_int_equal(err.row, 4);
    t.x[4 * D + 1] = 0;
    t.y[7] = (double)INFINITY;
    REFUSED(DN_ERR_DATA, "row 7", dn_fit(t.x, N, D, t.y, "svm", NULL, NULL, &model, &err));
    t.y[7] = 10;
    REFUSED(DN_ERR_DATA, "", dn_fit(t.x, 0, D, t.y, "svm", NULL, NULL, &model, &err));
    assert_null(model);

    OK(dn_fit(t.x, N, D, t.y, "perceptron", NULL, NULL, &model, NULL));
    size_t label[N];
    double p[N * 3];
    const dn_prediction labels = {.label = label};
    dn_array x = dn_array_doubles(t.x, N, D);
    REFUSED(DN_ERR_ARGUMENT, "model must not be NULL",
            dn_model_predict_rows(NULL, &x, &labels, NULL, &err));
    REFUSED(DN_ERR_ARGUMENT, "x must not be NULL",
            dn_model_predict_rows(model, NULL, &labels, NULL, &err));
    REFUSED(DN_ERR_ARGUMENT, "out must not be NULL",
            dn_model_predict_rows(model, &x, NULL, NULL, &err));
    REFUSED(DN_ERR_ARGUMENT, "no probabilities",
            dn_model_predict_rows(model, &x, &(dn_prediction){.probabilities = p}, NULL, &err));
    x.n_cols = 2;
    REFUSED(DN_ERR_ARGUMENT, "x must have 3 columns, one for each input of the model (got 2)",
            dn_model_predict_rows(model, &x, &labels, NULL, &err));
    x.n_cols = D;
    x.values = NULL;
    REFUSED(DN_ERR_ARGUMENT, "the values of x must not be NULL",
            dn_model_predict_rows(model, &x, &labels, NULL, &err));
    x.n_rows = 0;
    OK(dn_model_predict_rows(model, &x, &labels, NULL, NULL));
    x = dn_array_doubles(t.x, N, D);
    t.x[9 * D + 2] = -(double)INFINITY;
    REFUSED(DN_ERR_DATA, "row 9, input \"x2\": a value must be finite",
            dn_model_predict_rows(model, &x, &labels, NULL, &err));
    t.x[9 * D + 2] = (double)NAN; /* missing: the mean */
    OK(dn_model_predict_rows(model, &x, &labels, NULL, NULL));
    dn_model_unref(model);
}

/* ---- parameters as words ---- */
static void words_set_parameters(void **state) {
    (void)state;
    dn_params *params;
    size_t n;
    OK(dn_params_new(dn_algorithm_find("svm"), &params, NULL));
    OK(dn_params_set_words(params, " C=10\tkernel.type=rbf  kernel.width=0.5\n", NULL));
    assert_float_equal(dn_params_number(params, "C"), 10, 0);
    assert_string_equal(dn_params_word(params, "kernel"), "rbf");
    assert_float_equal(dn_params_number(params, "kernel.width"), 0.5, 0);
    OK(dn_params_set_words(params, NULL, NULL));
    OK(dn_params_set_words(params, "", NULL));
    dn_params_free(params);
    OK(dn_params_new(dn_algorithm_find("mlp"), &params, NULL));
    OK(dn_params_set_words(params, "layers=4,2", NULL));
    const double *layers = dn_params_list(params, "layers", &n);
    assert_int_equal(n, 2);
    assert_float_equal(layers[1], 2, 0);
    OK(dn_params_set_words(params, "layers=7", NULL));
    layers = dn_params_list(params, "layers", &n);
    assert_int_equal(n, 1);
    assert_float_equal(layers[0], 7, 0);
    dn_params_free(params);
}

static void wrong_words_are_named(void **state) {
    (void)state;
    static const struct {
        const char *words, *message, *field;
    } cases[] = {{"C", "name=value", ""},
                 {"=1", "name=value", ""},
                 {"C=", "name=value", ""},
                 {"C=ten", "parameter \"C\" must be", "C"},
                 {"C=-1", "(got -1)", "C"},
                 {"C=1 C=2", "parameter \"C\" is given twice", "C"},
                 {"kernel=rbf kernel.type=rbf", "parameter \"kernel\" is given twice", "kernel"},
                 {"width=2", "did you mean kernel.width?", "width"},
                 {"kernal=rbf", "did you mean kernel?", "kernal"},
                 {"qqqqqq=1", "it has ", "qqqqqq"},
                 {"kernel=rfb", "did you mean rbf", "kernel"},
                 {"kernel=rbf kernel.degree=2", "has no effect", "kernel.degree"},
                 {"C=1,2", "(got \"1,2\")", "C"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dn_params *params;
        dn_error err;
        dn_error_clear(&err);
        OK(dn_params_new(dn_algorithm_find("svm"), &params, NULL));
        assert_int_equal(dn_params_set_words(params, cases[i].words, &err), DN_ERR_ARGUMENT);
        assert_message(&err, cases[i].message);
        assert_string_equal(err.field, cases[i].field);
        assert_string_equal(dn_params_word(params, "kernel"), "linear"); /* unchanged */
        dn_params_free(params);
    }
    dn_params *params;
    dn_error err;
    dn_error_clear(&err);
    OK(dn_params_new(dn_algorithm_find("mlp"), &params, NULL));
    assert_int_equal(dn_params_set_words(params, "layers=4,x", &err), DN_ERR_ARGUMENT);
    assert_message(&err, "(got \"x\" at index 1)");
    assert_int_equal(err.row, 1);
    assert_int_equal(dn_params_set_words(params, "layers=4,", NULL), DN_ERR_ARGUMENT);
    dn_params_free(params);
}

/* ---- streams ---- */
struct stream {
    unsigned char bytes[65536];
    size_t size, at;
    size_t most;    /* bytes of one call */
    size_t fail_at; /* the call fails from this byte on */
};

static ptrdiff_t stream_write(void *ctx, const void *bytes, size_t size) {
    struct stream *s = ctx;
    const size_t n = size < s->most ? size : s->most;
    if (s->size + n > s->fail_at) {
        return -1;
    }
    memcpy(s->bytes + s->size, bytes, n);
    s->size += n;
    return (ptrdiff_t)n;
}

static ptrdiff_t stream_read(void *ctx, void *buffer, size_t size) {
    struct stream *s = ctx;
    size_t n = size < s->most ? size : s->most;
    n = n < s->size - s->at ? n : s->size - s->at;
    if (s->at + n > s->fail_at) {
        return -1;
    }
    memcpy(buffer, s->bytes + s->at, n);
    s->at += n;
    return (ptrdiff_t)n;
}

static void models_pass_through_streams_of_any_step(void **state) {
    (void)state;
    struct data t;
    make_data(&t);
    dn_model *model, *loaded;
    void *bytes;
    size_t size;
    OK(dn_fit(t.x, N, D, t.y, "svm", "kernel=rbf", NULL, &model, NULL));
    OK(dn_model_write(model, &bytes, &size, NULL));
    static struct stream s;
    for (size_t most = 1; most < 2000; most = most * 7 + 1) {
        s.size = s.at = 0;
        s.most = most;
        s.fail_at = SIZE_MAX;
        OK(dn_model_save(model, stream_write, &s, NULL));
        assert_int_equal(s.size, size);
        assert_memory_equal(s.bytes, bytes, size);
        s.size += 100; /* bytes after the model are not read */
        OK(dn_model_load(stream_read, &s, &loaded, NULL));
        assert_int_equal(s.at, size);
        dn_model_unref(loaded);
    }
    dn_error err;
    loaded = NULL;
    for (size_t at = 0; at < size; at += size / 5 + 1) {
        s.size = 0;
        s.fail_at = at;
        dn_error_clear(&err);
        assert_int_equal(dn_model_save(model, stream_write, &s, &err), DN_ERR_SOURCE);
        s.at = 0;
        s.size = size;
        dn_error_clear(&err);
        assert_int_equal(dn_model_load(stream_read, &s, &loaded, &err), DN_ERR_SOURCE);
        s.at = 0;
        s.fail_at = SIZE_MAX;
        s.size = at; /* the stream ends early */
        dn_error_clear(&err);
        assert_int_equal(dn_model_load(stream_read, &s, &loaded, &err), DN_ERR_CORRUPT);
    }
    assert_null(loaded);
    assert_int_equal(dn_model_save(NULL, stream_write, &s, NULL), DN_ERR_ARGUMENT);
    assert_int_equal(dn_model_save(model, NULL, &s, NULL), DN_ERR_ARGUMENT);
    assert_int_equal(dn_model_load(NULL, &s, &loaded, NULL), DN_ERR_ARGUMENT);
    assert_int_equal(dn_model_load(stream_read, &s, NULL, NULL), DN_ERR_ARGUMENT);
    free(bytes);
    dn_model_unref(model);
}

/* A size field of 2^60 bytes causes no allocation before the bytes arrive. */
static void wrong_size_allocates_nothing(void **state) {
    (void)state;
    static struct stream s = {.most = SIZE_MAX, .fail_at = SIZE_MAX, .size = 1000};
    dn_model *model = NULL;
    memcpy(s.bytes, "DNMODEL\n", 8);
    s.bytes[23] = 0x10;
    assert_int_equal(dn_model_load(stream_read, &s, &model, NULL), DN_ERR_CORRUPT);
    assert_null(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fit_of_numbers_predicts_its_rows),
        cmocka_unit_test(a_fit_of_strings_has_their_classes),
        cmocka_unit_test(strides_and_weights_give_the_model_of_dn_train),
        cmocka_unit_test(more_rows_than_a_chunk),
        cmocka_unit_test(floats_predict_as_the_doubles_they_are),
        cmocka_unit_test(misuse_is_a_status),
        cmocka_unit_test(words_set_parameters),
        cmocka_unit_test(wrong_words_are_named),
        cmocka_unit_test(models_pass_through_streams_of_any_step),
        cmocka_unit_test(wrong_size_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
