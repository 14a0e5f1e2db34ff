/* The mean training row: against plain sums for every kind of feature, weights and encodings; its
 * contributions against those of a prediction of this row. */
#include "unit/core/support.h"

#include "base/random.h"
#include "unit/core/table/chunked.h"

enum { N = 60, LABEL = 4, WEIGHT = 5, COLUMNS = 6 };

struct mixed {
    double x[N], flag[N], entry[N], weight[N];
    const char *kind[N], *label[N];
    size_t row_start[N + 1];
    uint32_t index[N];
    chunked_column columns[COLUMNS];
    chunked source;
    size_t borders[3];
};

static void mixed_init(struct mixed *m) {
    static const char *const kinds[] = {"red", "green", "blue"}, *const classes[] = {"a", "b", "c"};
    dni_random random;
    dni_random_init(&random, 5, 0);
    memset(m, 0, sizeof *m);
    for (size_t i = 0; i < N; i++) {
        m->x[i] = i % 7 == 2 ? (double)NAN : dni_random_uniform(&random, 99, 101);
        m->flag[i] = i % 9 == 4 ? (double)NAN : dni_random_below(&random, 3) == 0;
        m->kind[i] = i % 8 == 3 ? NULL : kinds[dni_random_below(&random, 3)];
        m->label[i] = classes[(i + dni_random_below(&random, 2)) % 3];
        m->weight[i] = 1 + (double)(i % 4);
        m->row_start[i + 1] = m->row_start[i];
        if (i % 3 == 1) {
            m->index[m->row_start[i]] = i % 2 ? 2 : 5;
            m->entry[m->row_start[i + 1]++] = dni_random_uniform(&random, 1, 2);
        }
    }
    const chunked_column columns[] = {
        {.column = {.name = "x", .type = DN_NUMERIC}, .number = m->x},
        {.column = {.name = "flag", .type = DN_BOOLEAN}, .number = m->flag},
        {.column = {.name = "kind", .type = DN_CATEGORICAL}, .text = m->kind},
        {.column = {.name = "s", .type = DN_SPARSE, .width = 6},
         .number = m->entry,
         .row_start = m->row_start,
         .index = m->index},
        {.column = {.name = "class", .type = DN_CATEGORICAL}, .text = m->label},
        {.column = {.name = "weight", .type = DN_NUMERIC}, .number = m->weight}};
    memcpy(m->columns, columns, sizeof columns);
    m->borders[1] = 23;
    m->borders[2] = N;
    chunked_init(&m->source, m->columns, COLUMNS, N, m->borders, 2);
}

/* The value of a feature in row i. */
static double value_of(const struct mixed *m, const dn_encoder *encoder, const char *feature,
                       size_t i) {
    const bool is_x = feature[0] == 'x';
    const double *number = is_x ? m->x : m->flag;
    if (feature[0] == 's') {
        const size_t e = m->row_start[i];
        return m->row_start[i + 1] > e && m->index[e] == (uint32_t)(feature[1] - '0') ? m->entry[e]
                                                                                      : 0;
    }
    if (strncmp(feature, "kind=", 5) == 0) {
        const char *kind = m->kind[i] == NULL ? "(missing)" : m->kind[i];
        return strcmp(feature + 5, kind) == 0;
    }
    if (strcmp(feature, "x") == 0 || strcmp(feature, "flag") == 0) {
        return isnan(number[i]) ? dn_encoder_input(encoder, is_x ? 0 : 1)->fill : number[i];
    }
    return isnan(number[i]); /* a missing indicator */
}

static void check_means(const struct mixed *m, const dn_model *model, bool weighted) {
    const dn_encoder *encoder = dn_model_encoder(model);
    const double *mean = dn_model_feature_means(model);
    assert_non_null(mean);
    for (size_t j = 0; j < dn_encoder_n_features(encoder); j++) {
        char name[64];
        double sum = 0, total = 0;
        (void)dn_encoder_feature_name(encoder, j, name, sizeof name);
        for (size_t i = 0; i < N; i++) {
            const double v = weighted ? m->weight[i] : 1;
            sum += v * value_of(m, encoder, name, i);
            total += v;
        }
        assert_near(mean[j], sum / total, 1e-13);
    }
}

static dn_model *train(const struct mixed *m, const char *algorithm, const dn_encoder_spec *given,
                       size_t n_columns, bool weighted) {
    static const size_t inputs[] = {0, 1, 2, 3};
    dn_train_result result;
    dn_params *p;
    dn_train_request request = {.source = &m->source.source,
                                .target = LABEL,
                                .features = *given,
                                .weighted = weighted,
                                .weight = WEIGHT};
    request.features.columns = inputs;
    request.features.n_columns = n_columns;
    OK(dn_params_new(dn_algorithm_find(algorithm), &p, NULL));
    request.params = p;
    OK(dn_train(&request, NULL, &result, NULL));
    dn_model *model = dn_model_ref(result.model);
    dn_train_result_done(&result);
    dn_params_free(p);
    return model;
}

static void every_feature(void **state) {
    (void)state;
    static const char *const algorithms[] = {"logistic", "naive_bayes"};
    static struct mixed m;
    mixed_init(&m);
    for (unsigned bits = 0; bits < 64; bits++) {
        const bool weighted = bits & 8, all = bits & 32;
        const dn_encoder_spec spec = {.standardize = bits & 1,
                                      .missing_indicator = bits & 2,
                                      .missing_number =
                                          bits & 4 ? DN_MISSING_FREQUENT_NUMBER : DN_MISSING_MEAN,
                                      .missing_category = DN_MISSING_OWN_LEVEL};
        /* columns x and flag alone have means that need no pass */
        dn_model *model = train(&m, algorithms[bits >> 4 & 1], &spec, all ? 4 : 2, weighted);
        check_means(&m, model, weighted);
        dn_model_unref(model);
    }
    chunked_done(&m.source);
}

/* The contributions of the mean row are those of a prediction of this row. */
static void contributions(void **state) {
    (void)state;
    static const char *const algorithms[] = {"logistic", "gaussian", "naive_bayes",
                                             "least_squares"};
    static struct mixed m;
    mixed_init(&m);
    for (size_t a = 0; a < sizeof algorithms / sizeof *algorithms; a++) {
        dn_model *model =
            train(&m, algorithms[a], &(dn_encoder_spec){.standardize = a % 2 == 0}, 2, false);
        double *workspace = xcalloc(dn_model_workspace(model), sizeof *workspace);
        double expected[6], out[6];
        assert_int_equal(dn_model_n_scores(model), 3);
        assert_int_equal(dn_model_predict(model, dn_raw_numbers(dn_model_feature_means(model), 1),
                                          workspace, &(dn_prediction){.contributions = expected}),
                         1);
        OK(dn_model_mean_contributions(model, out, NULL));
        assert_close(out, expected, 6, 1e-14);
        free(workspace);
        dn_model_unref(model);
    }
    chunked_done(&m.source);
}

static void no_contributions(void **state) {
    (void)state;
    static struct mixed m;
    double out[64];
    dn_error err;
    mixed_init(&m);
    dn_model *model = train(&m, "knn", &(dn_encoder_spec){.standardize = true}, 2, false);
    dn_error_clear(&err);
    assert_null(dn_model_feature_means(model));
    assert_int_equal(dn_model_mean_contributions(model, out, &err), DN_ERR_ARGUMENT);
    assert_string_equal(err.message, "the model has no contributions of the mean row");
    dn_model_unref(model);
    chunked_done(&m.source);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_feature),
                                       cmocka_unit_test(contributions),
                                       cmocka_unit_test(no_contributions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
