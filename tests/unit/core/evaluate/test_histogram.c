/* Histograms of coordinates: edges and weighted counts against a plain loop, for chunk borders; one
 * value in all rows; refused options and allocations. */
#include "unit/core/support.h"

#include "unit/core/table/chunked.h"
#include <discern/histogram.h>

enum { N = 40, BINS = 4 };

struct data {
    double x[2][N], weight[N];
    const char *label[N];
    chunked_column columns[4];
    chunked source;
};

static void data_init(struct data *t, const size_t *borders, size_t n_chunks) {
    for (size_t i = 0; i < N; i++) {
        t->x[0][i] = sin((double)i);
        t->x[1][i] = cos(3.0 * (double)i) + (double)(i % 2);
        t->weight[i] = i % 7 == 0 ? 0 : 0.5 * (double)(1 + i % 3);
        t->label[i] = i % 11 == 5 ? NULL : i % 2 == 0 ? "a" : "b";
    }
    const chunked_column columns[] = {
        {.column = {.name = "x0", .type = DN_NUMERIC}, .number = t->x[0]},
        {.column = {.name = "x1", .type = DN_NUMERIC}, .number = t->x[1]},
        {.column = {.name = "class", .type = DN_CATEGORICAL}, .text = t->label},
        {.column = {.name = "w", .type = DN_NUMERIC}, .number = t->weight}};
    memcpy(t->columns, columns, sizeof columns);
    chunked_init(&t->source, t->columns, 4, N, borders, n_chunks);
}

static dn_model *train_on(struct data *t) {
    dn_params *p;
    size_t columns[] = {0, 1};
    OK(dn_params_new(dn_algorithm_find("least_squares"), &p, NULL));
    dn_train_request request = {.source = &t->source.source, .params = p, .target = 2};
    request.features.columns = columns;
    request.features.n_columns = 2;
    dn_run run = dn_run_default();
    dn_train_result result;
    OK(dn_train(&request, &run, &result, NULL));
    dn_model *model = dn_model_ref(result.model);
    dn_train_result_done(&result);
    dn_params_free(p);
    return model;
}

static const size_t one_chunk[] = {0, N}, chunks[] = {0, 1, 17, 18, N};

/* The score of row i: w'x + w0. */
static double score_of(const struct data *t, const dn_linear *linear, size_t i) {
    return linear->w0[0] + linear->w[0] * t->x[0][i] + linear->w[1] * t->x[1][i];
}

static void counts(void **state) {
    (void)state;
    for (size_t way = 0; way < 2; way++) {
        struct data t;
        data_init(&t, way ? chunks : one_chunk, way ? 4 : 1);
        dn_model *model = train_on(&t);
        dn_linear linear;
        assert_true(dn_model_linear(model, &linear));
        const dn_histogram_options options = {.coordinates = DN_COORDINATES_SCORES,
                                              .bins = BINS,
                                              .weight = "w"};
        dn_histogram *h = NULL;
        OK(dn_model_histogram(model, &t.source.source, &options, NULL, &h, NULL));
        double least = (double)INFINITY, most = -(double)INFINITY, plain[2][BINS] = {{0}};
        size_t rows = 0;
        for (size_t i = 0; i < N; i++) {
            if (t.label[i] != NULL && t.weight[i] > 0) {
                least = fmin(least, score_of(&t, &linear, i));
                most = fmax(most, score_of(&t, &linear, i));
                rows++;
            }
        }
        for (size_t i = 0; i < N; i++) {
            if (t.label[i] != NULL && t.weight[i] > 0) {
                const double place = BINS * (score_of(&t, &linear, i) - least) / (most - least);
                plain[i % 2][(size_t)fmin(place, BINS - 1)] += t.weight[i];
            }
        }
        assert_int_equal(h->n_components, 1);
        assert_int_equal(h->n_classes, 2);
        assert_int_equal(h->n_bins, BINS);
        assert_int_equal(h->n_rows, rows);
        for (size_t b = 0; b <= BINS; b++) {
            assert_true(fabs(h->edges[b] - (least + (most - least) * (double)b / BINS)) < 1e-12);
        }
        for (size_t k = 0; k < 2; k++) {
            for (size_t b = 0; b < BINS; b++) {
                assert_true(h->counts[k * BINS + b] == plain[k][b]);
            }
        }
        dn_histogram_free(h);
        dn_model_unref(model);
        chunked_done(&t.source);
    }
}

/* Scores 0, 1, 2, 3, 4 and the edges 0, 1, 2, 3, 4: a bin has its lower edge, the last one both. */
static void values_on_edges(void **state) {
    (void)state;
    struct data t;
    data_init(&t, one_chunk, 1);
    dn_model *model = train_on(&t), *scores_x0;
    const double w[2] = {1, 0}, w0 = 0;
    dn_histogram *h = NULL;
    OK(dn_model_with_weights(model, w, &w0, &scores_x0, NULL));
    assert_null(dn_encoder_mean(dn_model_encoder(model)));
    chunked_done(&t.source);
    for (size_t i = 0; i < N; i++) {
        t.x[0][i] = (double)(i % 5);
        t.label[i] = i < 5 ? "b" : NULL;
    }
    chunked_init(&t.source, t.columns, 4, N, one_chunk, 1);
    const dn_histogram_options options = {.coordinates = DN_COORDINATES_SCORES, .bins = BINS};
    OK(dn_model_histogram(scores_x0, &t.source.source, &options, NULL, &h, NULL));
    for (size_t b = 0; b < BINS; b++) {
        assert_true(h->edges[b] == (double)b && h->edges[b + 1] == (double)(b + 1));
        assert_true(h->counts[b] == 0 && h->counts[BINS + b] == (b + 1 == BINS ? 2 : 1));
    }
    dn_histogram_free(h);
    dn_model_unref(scores_x0);
    dn_model_unref(model);
    chunked_done(&t.source);
}

/* Scores that are a few units of the last digit apart: the edges ascend, and no row is lost. */
static void neighbouring_values(void **state) {
    (void)state;
    struct data t;
    data_init(&t, one_chunk, 1);
    dn_model *model = train_on(&t), *scores_x0;
    const double w[2] = {1, 0}, w0 = 0, ulp = nextafter(3, 4) - 3;
    dn_histogram *h = NULL;
    OK(dn_model_with_weights(model, w, &w0, &scores_x0, NULL));
    for (size_t i = 0; i < N; i++) {
        t.x[0][i] = 3 + (double)(i % 6) * ulp;
    }
    const dn_histogram_options options = {.coordinates = DN_COORDINATES_SCORES, .bins = 10};
    OK(dn_model_histogram(scores_x0, &t.source.source, &options, NULL, &h, NULL));
    double sum = 0;
    for (size_t b = 0; b < 20; b++) {
        sum += h->counts[b];
    }
    for (size_t b = 0; b < 10; b++) {
        assert_true(h->edges[b] <= h->edges[b + 1]);
    }
    assert_true(h->edges[0] == 3 && h->edges[10] == 3 + 5 * ulp && sum == (double)h->n_rows);
    dn_histogram_free(h);
    dn_model_unref(scores_x0);
    dn_model_unref(model);
    chunked_done(&t.source);
}

static void one_value(void **state) {
    (void)state;
    struct data t;
    data_init(&t, one_chunk, 1);
    dn_model *model = train_on(&t);
    dn_histogram *h = NULL;
    for (size_t i = 0; i < N; i++) {
        t.x[0][i] = 2;
        t.x[1][i] = 3;
    }
    const dn_histogram_options options = {.coordinates = DN_COORDINATES_SCORES};
    OK(dn_model_histogram(model, &t.source.source, &options, NULL, &h, NULL));
    const double middle = (h->edges[0] + h->edges[30]) / 2;
    assert_int_equal(h->n_bins, 30);
    assert_true(fabs(h->edges[30] - h->edges[0] - 1) < 1e-12);
    double sum = 0;
    for (size_t b = 0; b < 60; b++) {
        sum += h->counts[b];
    }
    assert_true(sum == (double)h->n_rows && isfinite(middle));
    dn_histogram_free(h);
    dn_model_unref(model);
    chunked_done(&t.source);
}

static void refusals(void **state) {
    (void)state;
    struct data t;
    data_init(&t, one_chunk, 1);
    dn_model *model = train_on(&t);
    dn_histogram *h = NULL;
    const dn_histogram_options directions = {0},
                               many = {.coordinates = DN_COORDINATES_SCORES,
                                       .bins = DN_MAX_BINS + 1},
                               weight = {.coordinates = DN_COORDINATES_SCORES, .weight = "v"};
    dn_error err;
    dn_error_clear(&err);
    assert_int_equal(dn_model_histogram(model, &t.source.source, &directions, NULL, &h, &err),
                     DN_ERR_ARGUMENT);
    assert_string_equal(err.field, "coordinates");
    dn_error_clear(&err);
    assert_int_equal(dn_model_histogram(model, &t.source.source, &many, NULL, &h, &err),
                     DN_ERR_ARGUMENT);
    assert_string_equal(err.field, "bins");
    dn_error_clear(&err);
    assert_int_equal(dn_model_histogram(model, &t.source.source, &weight, NULL, &h, &err),
                     DN_ERR_DATA);
    assert_string_equal(err.field, "v");
    for (size_t i = 0; i < N; i++) {
        t.label[i] = NULL;
    }
    chunked_done(&t.source);
    chunked_init(&t.source, t.columns, 4, N, one_chunk, 1);
    const dn_histogram_options scores = {.coordinates = DN_COORDINATES_SCORES};
    dn_error_clear(&err);
    assert_int_equal(dn_model_histogram(model, &t.source.source, &scores, NULL, &h, &err),
                     DN_ERR_DATA);
    assert_null(h);
    dn_model_unref(model);
    chunked_done(&t.source);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts),
        cmocka_unit_test(values_on_edges),
        cmocka_unit_test(neighbouring_values),
        cmocka_unit_test(one_value),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
