/* Model bytes whose parts do not match: machines of different kinds, a basis over a column that is
 * not a number. dn_model_read refuses these bytes. A model that it accepts predicts and is
 * evaluated. */
#include "unit/core/support.h"

#include "base/bytes.h"
#include "base/crc32.h"
#include "machine/machine_bytes.h"
#include "model/model_bytes.h"
#include "model/model_impl.h"

enum { N = 30, D = 2, K = 3 };

static const char *const methods[][2] = {
    {"logistic", "multiclass=one_vs_rest"},
    {"svm", "multiclass=one_vs_rest kernel=rbf"},
    {"mlp", "layers=3 max_iterations=20"},
    {"naive_bayes", ""},
    {"gaussian", "covariance=full"},
    {"gaussian", "covariance=diagonal"},
    {"gaussian", "covariance=shared"},
    {"fisher", ""},
    {"knn", "k=3"},
    {"svm", "multiclass=one_vs_rest"},
};
enum { N_METHODS = sizeof methods / sizeof methods[0] };

/* Fits a method to n_classes clouds of points. */
static dn_model *fit_clouds(const char *method, const char *params, size_t n_classes) {
    double x[N * D], y[N];
    dn_model *model;
    for (size_t i = 0; i < N; i++) {
        const size_t k = i % n_classes;
        y[i] = (double)k;
        x[i * D] = (double)k + 0.3 * sin(7.0 * (double)i);
        x[i * D + 1] = 0.5 * (double)(k == 1) + cos(3.0 * (double)i);
    }
    OK(dn_fit(x, N, D, y, method, params, NULL, &model, NULL));
    return model;
}

static void machine_write(const dn_machine *machine, const dn_machine *first, dni_writer *w) {
    dni_writer_init(w);
    dni_machine_write(machine, first, w);
}

/* Returns the size of the machines of a model in its bytes. */
static size_t machines_size(const dn_model *model) {
    size_t sum = 0;
    for (size_t i = 0; i < model->n_machines; i++) {
        dni_writer w;
        void *bytes;
        size_t size;
        machine_write(model->machines[i], i == 0 ? NULL : model->machines[0], &w);
        OK(dni_writer_take(&w, &bytes, &size, NULL));
        dni_writer_done(&w);
        free(bytes);
        sum += size;
    }
    return sum;
}

/* Corrects the size in the header and the checksum. */
static void seal(unsigned char *bytes, size_t size) {
    for (size_t i = 0; i < 8; i++) {
        bytes[DNI_MODEL_SIZE_AT + i] = (unsigned char)((uint64_t)size >> (8 * i));
    }
    const uint32_t crc = dni_crc32(0, bytes, size - 4);
    for (size_t i = 0; i < 4; i++) {
        bytes[size - 4 + i] = (unsigned char)(crc >> (8 * i));
    }
}

/* Reads the bytes of `model` with its machines replaced by `machines` [n]. */
static dn_status read_with_machines(const dn_model *model, dn_machine *const *machines, size_t n,
                                    dn_model **out) {
    dni_writer w;
    void *bytes, *whole;
    size_t size;
    OK(dn_model_write(model, &whole, &size, NULL));
    const size_t head = size - 4 - machines_size(model);
    dni_writer_init(&w);
    dni_write_bytes(&w, whole, head);
    for (size_t i = 0; i < n; i++) {
        /* a kernel machine after a machine of another kind is written as if it were the first */
        dni_machine_write(machines[i],
                          i == 0 || machines[0]->kind != machines[i]->kind ? NULL : machines[0],
                          &w);
    }
    dni_write_u32(&w, 0);
    free(whole);
    OK(dni_writer_take(&w, &bytes, &size, NULL));
    dni_writer_done(&w);
    seal(bytes, size);
    const dn_status status = dn_model_read(bytes, size, out, NULL);
    free(bytes);
    return status;
}

/* Predicts all results of a row, and evaluates raw and encoded rows. */
static void use(const dn_model *model) {
    const double raw[3 * D] = {0, 1, 1, 0, 2, 1};
    const size_t truth[3] = {0, 1, 1}, n_scores = dn_model_n_scores(model),
                 n_classes = dn_model_classes(model)->n;
    size_t label[3];
    double *workspace = xcalloc(dn_model_workspace(model), sizeof *workspace),
           *scores = xcalloc(3 * n_scores, sizeof *scores),
           *contributions = xcalloc(3 * n_scores * D, sizeof *contributions),
           *probabilities = xcalloc(3 * n_classes, sizeof *probabilities), log_density[3],
           *densities = xcalloc(6 * n_classes, sizeof *densities);
    const dn_prediction out = {.label = label,
                               .scores = scores,
                               .probabilities = probabilities,
                               .contributions = contributions,
                               .log_density = log_density,
                               .class_log_density = densities,
                               .posterior = densities + 3 * n_classes};
    assert_int_equal(dn_model_predict(model, dn_raw_numbers(raw, 3), workspace, &out), 3);
    dn_metrics *metrics;
    const dn_labelled_rows rows = {.raw = dn_raw_numbers(raw, 3), .truth = truth};
    OK(dn_model_evaluate_raw(model, &rows, true, NULL, &metrics, NULL));
    dn_metrics_free(metrics);
    free(workspace);
    free(scores);
    free(contributions);
    free(probabilities);
    free(densities);
}

/* One machine of each method, in every position of a one-versus-rest model. */
static void machines_of_other_kinds(void **state) {
    (void)state;
    dn_model *two[N_METHODS];
    for (size_t m = 0; m < N_METHODS; m++) {
        two[m] = fit_clouds(methods[m][0], methods[m][1], 2);
        assert_int_equal(two[m]->n_machines, 1);
    }
    for (size_t base = 0; base < 2; base++) {
        dn_model *model = fit_clouds(methods[base][0], methods[base][1], K);
        assert_int_equal(model->n_machines, K);
        for (size_t m = 0; m < N_METHODS; m++) {
            for (unsigned mask = 1; mask < 1u << K; mask++) { /* bit i: replace machine i */
                dn_machine *machines[K];
                dn_model *back = NULL;
                for (size_t i = 0; i < K; i++) {
                    machines[i] = (mask >> i & 1) != 0 ? two[m]->machines[0] : model->machines[i];
                }
                const dn_status status = read_with_machines(model, machines, K, &back);
                const bool agree =
                    mask == (1u << K) - 1 || two[m]->machines[0]->kind == model->machines[0]->kind;
                if (!agree) {
                    assert_int_equal(status, DN_ERR_CORRUPT);
                } else if (status == DN_OK) {
                    use(back);
                }
                dn_model_unref(back);
            }
        }
        dn_model_unref(model);
    }
    for (size_t m = 0; m < N_METHODS; m++) {
        dn_model_unref(two[m]);
    }
}

/* ---- a basis ---- */
/* Fits a model of the columns x (numeric), words (text) and u (numeric) with a Gaussian basis of
 * x and u. */
static dn_model *fit_basis(void) {
    static double x[N], u[N], y[N];
    static uint32_t code[N];
    static const uint32_t start[] = {0, 3, 6};
    static const size_t inputs[] = {0, 1, 2}, in_basis[] = {0, 2};
    for (size_t i = 0; i < N; i++) {
        x[i] = sin((double)i);
        u[i] = cos(3.0 * (double)i);
        y[i] = (double)(i % 2);
        code[i] = i % 3 == 0;
    }
    const dn_strings strings = {.n = 2, .start = start, .bytes = "onetwo"};
    const dn_table_column columns[] = {{.name = "x", .type = DN_NUMERIC},
                                       {.name = "words", .type = DN_TEXT},
                                       {.name = "u", .type = DN_NUMERIC},
                                       {.name = "y", .type = DN_NUMERIC}};
    const dn_column_view views[] = {
        {.type = DN_NUMERIC, .n_rows = N, .number = x},
        {.type = DN_TEXT, .n_rows = N, .code = code, .strings = strings},
        {.type = DN_NUMERIC, .n_rows = N, .number = u},
        {.type = DN_NUMERIC, .n_rows = N, .number = y}};
    const dn_basis_spec basis = {
        .kind = DN_BASIS_GAUSSIAN, .columns = in_basis, .n_columns = 2, .n_points = 2, .width = 1};
    dn_table_source *source;
    OK(dn_table_source_from_columns(columns, views, 4, N, &source, NULL));
    dn_params *p = params_of("newton", 0.1);
    const dn_train_request request = {.source = source,
                                      .params = p,
                                      .target = 3,
                                      .features = {.columns = inputs,
                                                   .n_columns = 3,
                                                   .bases = &basis,
                                                   .n_bases = 1,
                                                   .text = {.vocabulary = 10, .min_rows = 1}}};
    dn_train_result result;
    OK(dn_train(&request, NULL, &result, NULL));
    dn_model *model = dn_model_ref(result.model);
    dn_train_result_done(&result);
    dn_params_free(p);
    dn_table_source_free(source);
    return model;
}

/* Replaces the second column of the basis. 1 is the text, 3 is not an input. */
static void basis_over_other_columns(void **state) {
    (void)state;
    static const unsigned char pattern[] = {2, 0, 0, 0, 0, 0, 0, 0, /* number of columns */
                                            0, 0, 0, 0, 2, 0, 0, 0};
    dn_model *model = fit_basis(), *back;
    void *bytes;
    size_t size, n_found = 0, at = 0;
    OK(dn_model_write(model, &bytes, &size, NULL));
    unsigned char *b = bytes;
    for (size_t i = 0; i + sizeof pattern <= size; i++) {
        if (memcmp(b + i, pattern, sizeof pattern) == 0) {
            at = i + sizeof pattern - 4;
            n_found++;
        }
    }
    assert_int_equal(n_found, 1);
    OK(dn_model_read(bytes, size, &back, NULL));
    dn_model_unref(back);
    for (unsigned char column = 1; column < 4; column += 2) {
        b[at] = column;
        seal(b, size);
        assert_int_equal(dn_model_read(bytes, size, &back, NULL), DN_ERR_CORRUPT);
    }
    free(bytes);
    dn_model_unref(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(machines_of_other_kinds),
                                       cmocka_unit_test(basis_over_other_columns)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
