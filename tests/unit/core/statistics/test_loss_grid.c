/* Losses over one or two weights against plain loops over encoded rows: each loss, two and three
 * classes, fitted together and one at a time, standardised and sparse features, chunk borders and
 * slots; the figure of a logistic unit by hand; refused options, data and allocations. */
#include "unit/core/support.h"

#include "unit/core/table/chunked.h"
#include <discern/loss_grid.h>

enum { N = 4300, LEVELS = 30, INPUTS = 4, COLUMNS = 6 };

struct data {
    double x[2][N], weight[N];
    char names[LEVELS][16];
    const char *colour[N], *id[N], *label[N];
    chunked_column columns[COLUMNS];
    chunked source;
    size_t K;
};

static const size_t one_chunk[] = {0, N}, chunks[] = {0, 1, 170, 4100, N};

static void data_init(struct data *t, size_t K, const size_t *borders, size_t n_chunks) {
    static const char *const colours[] = {"red", "green", "blue"}, *const classes[] = {"a", "b",
                                                                                       "c"};
    memset(t, 0, sizeof *t);
    t->K = K;
    for (size_t i = 0; i < LEVELS; i++) {
        snprintf(t->names[i], sizeof t->names[i], "level%02zu", i);
    }
    for (size_t i = 0; i < N; i++) {
        const size_t k = i % K;
        t->x[0][i] = i % 13 == 2 ? (double)NAN : 10 + 3 * sin((double)i) + (double)k;
        t->x[1][i] = 0.01 * (cos(3.0 * (double)i) - 0.7 * (double)(k == 1));
        t->colour[i] = i % 17 == 4 ? NULL : colours[(i / 2 + (i % 5 ? k : 0)) % 3];
        t->id[i] = t->names[i * i % 101 % LEVELS];
        t->label[i] = i % 11 == 5 ? NULL : classes[k];
        t->weight[i] = i % 7 == 0 ? 0 : 0.5 * (double)(1 + i % 3);
    }
    const chunked_column columns[] = {
        {.column = {.name = "x0", .type = DN_NUMERIC}, .number = t->x[0]},
        {.column = {.name = "x1", .type = DN_NUMERIC}, .number = t->x[1]},
        {.column = {.name = "colour", .type = DN_CATEGORICAL}, .text = t->colour},
        {.column = {.name = "id", .type = DN_CATEGORICAL}, .text = t->id},
        {.column = {.name = "class", .type = DN_CATEGORICAL}, .text = t->label},
        {.column = {.name = "w", .type = DN_NUMERIC}, .number = t->weight}};
    memcpy(t->columns, columns, sizeof columns);
    chunked_init(&t->source, t->columns, COLUMNS, N, borders, n_chunks);
}

/* A model of the first n_inputs columns. */
static dn_model *train(struct data *t, const char *algorithm, const char *words, size_t n_inputs,
                       bool standardize) {
    static const size_t columns[INPUTS] = {0, 1, 2, 3};
    dn_params *p;
    OK(dn_params_new(dn_algorithm_find(algorithm), &p, NULL));
    OK(dn_params_set_words(p, words, NULL));
    dn_train_request request = {.source = &t->source.source, .params = p, .target = 4};
    request.features.columns = columns;
    request.features.n_columns = n_inputs;
    request.features.standardize = standardize;
    dn_run run = dn_run_default();
    dn_train_result result;
    OK(dn_train(&request, &run, &result, NULL));
    dn_model *model = dn_model_ref(result.model);
    dn_train_result_done(&result);
    dn_params_free(p);
    return model;
}

/* ---- the plain loops ---- */

/* Returns [N × (d + 1)]: the raw features of each row, then 1. */
static double *raw_features(const struct data *t, const dn_model *model) {
    const dn_encoder *encoder = dn_model_encoder(model);
    const size_t d = dn_encoder_n_features(encoder), n_inputs = dn_encoder_n_inputs(encoder);
    const double *mean = dn_encoder_mean(encoder), *scale = dn_encoder_scale(encoder);
    double *out = xcalloc(N * (d + 1), sizeof *out), *x = xcalloc(d, sizeof *x);
    for (size_t i = 0; i < N; i++) {
        const char *const texts[] = {t->colour[i], t->id[i]};
        double raw[INPUTS] = {t->x[0][i], t->x[1][i]};
        for (size_t c = 2; c < n_inputs; c++) {
            const char *text = texts[c - 2];
            raw[c] = text == NULL ? (double)NAN : dn_encoder_level(encoder, c, text, strlen(text));
        }
        dn_encoder_apply(encoder, dn_raw_numbers(raw, 1), x);
        for (size_t j = 0; j < d; j++) {
            out[i * (d + 1) + j] = mean == NULL ? x[j] : x[j] * scale[j] + mean[j];
        }
        out[i * (d + 1) + d] = 1;
    }
    free(x);
    return out;
}

/* The loss of one score g for a row of the class (own) or not; T: targets of least squares. */
static double plain_one(dn_loss loss, double g, bool own, const double *T) {
    const double t = own ? 1 : -1, p = 1 / (1 + exp(-g));
    switch (loss) {
    case DN_LOSS_CROSS_ENTROPY:
        return log1p(exp(-t * g));
    case DN_LOSS_SQUARED_ERROR:
        return T != NULL ? pow(g - T[own], 2) / 2 : pow(p - own, 2) / 2;
    case DN_LOSS_HINGE:
        return fmax(0, 1 - t * g);
    default:
        return fmax(0, -t * g);
    }
}

static double plain_many(dn_loss loss, const double *g, size_t K, size_t c, const double *T) {
    double sum = 0, squares = 0, rival = -(double)INFINITY;
    for (size_t k = 0; k < K; k++) {
        sum += exp(g[k]);
        rival = k != c ? fmax(rival, g[k]) : rival;
    }
    for (size_t k = 0; k < K; k++) {
        squares += T != NULL ? pow(g[k] - T[k == c], 2) : pow(exp(g[k]) / sum - (k == c), 2);
    }
    switch (loss) {
    case DN_LOSS_CROSS_ENTROPY:
        return -log(exp(g[c]) / sum);
    case DN_LOSS_SQUARED_ERROR:
        return squares / 2;
    case DN_LOSS_HINGE:
        return fmax(0, 1 - (g[c] - rival));
    default:
        return fmax(0, rival - g[c]);
    }
}

/* The classes of a score: positive SIZE_MAX: all scores are fitted together. */
struct score {
    size_t index, positive, negative;
};

/* The mean loss with the weights of the model, but `value` for those of the axes. */
static double plain(const struct data *t, const dn_model *model, const double *x,
                    const dn_loss_grid_options *o, const struct score *score, const double *value,
                    const double *T) {
    dn_linear l;
    assert_true(dn_model_linear(model, &l));
    const size_t width = l.n_features + 1;
    double loss = 0, all = 0;
    for (size_t i = 0; i < N; i++) {
        const size_t c = i % t->K;
        double g[3] = {0};
        if (t->label[i] == NULL || (o->weight != NULL && !(t->weight[i] > 0)) ||
            (score->negative != SIZE_MAX && c != score->positive && c != score->negative)) {
            continue;
        }
        for (size_t k = 0; k < l.n_scores; k++) {
            for (size_t j = 0; j < width; j++) {
                double w = j < l.n_features ? l.w[k * l.n_features + j] : l.w0[k];
                for (size_t a = 0; a < o->n_axes && k == score->index; a++) {
                    w = o->axis[a].feature == j ? value[a] : w;
                }
                g[k] += w * x[i * width + j];
            }
        }
        const double v = o->weight != NULL ? t->weight[i] : 1;
        all += v;
        loss += v * (score->positive == SIZE_MAX
                         ? plain_many(o->loss, g, t->K, c, T)
                         : plain_one(o->loss, g[score->index], c == score->positive, T));
    }
    return loss / all;
}

static const double first[] = {-2, 0.125, 1}, second[] = {-1, 0.5};

/* Every loss over one and over two weights; T: targets of least squares, or NULL. */
static void compare(const struct data *t, const dn_model *model, const struct score *score,
                    const double *T) {
    const size_t d = dn_encoder_n_features(dn_model_encoder(model));
    const size_t features[][2] = {{0, d}, {d, 1}, {1, d - 1}, {d - 1, 0}};
    double *x = raw_features(t, model);
    const dn_run scattered = scattered_run();
    for (size_t c = 0; c < 16; c++) {
        const dn_loss_grid_options o = {.loss = (dn_loss)(c / 4),
                                        .score = score->index,
                                        .axis = {{features[c % 4][0], first, 3},
                                                 {features[c % 4][1], second, 2}},
                                        .n_axes = 1 + (c / 2 + c) % 2,
                                        .weight = c % 3 == 1 ? "w" : NULL};
        dn_loss_grid *g = NULL, *again = NULL;
        OK(dn_model_loss_grid(model, &t->source.source, &o, NULL, &g, NULL));
        OK(dn_model_loss_grid(model, &t->source.source, &o, &scattered, &again, NULL));
        assert_int_equal(g->n_x, 3);
        assert_int_equal(g->n_y, o.n_axes == 2 ? 2 : 1);
        assert_memory_equal(g->value, again->value, g->n_x * g->n_y * sizeof *g->value);
        for (size_t p = 0; p < g->n_x * g->n_y; p++) {
            const double at[] = {first[p % 3], second[p / 3]},
                         expected = plain(t, model, x, &o, score, at, T);
            assert_true(expected > 0);
            assert_true(fabs(g->value[p] - expected) <= 1e-12 * (1 + expected));
            assert_true(g->value[p] >= g->value[g->best]);
            assert_true(p >= g->best || g->value[p] > g->value[g->best]);
        }
        dn_loss_grid_free(g);
        dn_loss_grid_free(again);
    }
    free(x);
}

static void two_classes(void **state) {
    (void)state;
    static struct data t;
    const struct score second_class = {0, 1, SIZE_MAX};
    for (size_t way = 0; way < 4; way++) { /* standardised or not; the last one sparse */
        data_init(&t, 2, way % 2 ? chunks : one_chunk, way % 2 ? 4 : 1);
        dn_model *model = train(&t, "logistic", "", way == 3 ? 4 : 3, way != 1);
        assert_int_equal(dn_encoder_is_sparse(dn_model_encoder(model)), way == 3);
        compare(&t, model, &second_class, NULL);
        dn_model_unref(model);
        chunked_done(&t.source);
    }
}

static void fitted_together(void **state) {
    (void)state;
    static struct data t;
    data_init(&t, 3, chunks, 4);
    for (size_t way = 0; way < 3; way++) {
        dn_model *model = way == 0   ? train(&t, "logistic", "", 3, true)
                          : way == 1 ? train(&t, "gaussian", "covariance=shared", 3, false)
                                     : train(&t, "logistic", "", 4, false);
        assert_int_equal(dn_model_n_machines(model), 1);
        for (size_t k = 0; k < 3; k++) {
            compare(&t, model, &(struct score){k, SIZE_MAX, SIZE_MAX}, NULL);
        }
        dn_model_unref(model);
    }
    chunked_done(&t.source);
}

static void one_at_a_time(void **state) {
    (void)state;
    static struct data t;
    data_init(&t, 3, chunks, 4);
    dn_model *rest = train(&t, "logistic", "multiclass=one_vs_rest", 3, true),
             *pairs = train(&t, "logistic", "multiclass=one_vs_one", 3, true);
    for (size_t k = 0; k < 3; k++) {
        const struct score pair = {k, k < 1 ? 1 : 2, k < 2 ? 0 : 1}; /* (0,1), (0,2), (1,2) */
        compare(&t, rest, &(struct score){k, k, SIZE_MAX}, NULL);
        compare(&t, pairs, &pair, NULL);
    }
    dn_model_unref(rest);
    dn_model_unref(pairs);
    chunked_done(&t.source);
}

/* zero_one of two classes: the score is y − 1/2, so that its targets are −1/2 and 1/2. */
static void targets_of_least_squares(void **state) {
    (void)state;
    static struct data t;
    static const struct {
        const char *words;
        double two[2], three[2];
    } codings[] = {{"targets=one_of_k", {-1, 1}, {0, 1}},
                   {"targets=plus_minus", {-1, 1}, {-1, 1}},
                   {"targets=zero_one", {-0.5, 0.5}, {0, 1}}};
    for (size_t c = 0; c < 3; c++) {
        for (size_t K = 2; K <= 3; K++) {
            data_init(&t, K, one_chunk, 1);
            dn_model *model = train(&t, "least_squares", codings[c].words, 3, true);
            compare(&t, model,
                    K == 2 ? &(struct score){0, 1, SIZE_MAX}
                           : &(struct score){1, SIZE_MAX, SIZE_MAX},
                    K == 2 ? codings[c].two : codings[c].three);
            dn_model_unref(model);
            chunked_done(&t.source);
        }
    }
}

/* ---- by hand ---- */

/* x = −2 and −1 are class a, 1 and 2 class b; no intercept. With w = 0 every p is 1/2, g is 0: the
 * losses are ln 2, (1/2)²/2 = 1/8, 1 and 0. With w = 1 the margins are 1 and 2: the hinge loss is
 * 0. With w = −1 they are −1 and −2: hinge (2 + 3)/2, perceptron (1 + 2)/2. Far to the left,
 * cross-entropy rises by 1.5 for each unit, and the squared error is at its maximum 1/2. */
static void by_hand(void **state) {
    (void)state;
    static struct data t;
    static const double w[] = {-1000, -999, -1, 0, 1, 1000};
    data_init(&t, 2, one_chunk, 1);
    dn_model *model = train(&t, "logistic", "", 1, false), *zero;
    OK(dn_model_with_weights(model, (double[]){5}, (double[]){0}, &zero, NULL));
    chunked_done(&t.source);
    for (size_t i = 0; i < N; i++) {
        t.x[0][i] = (double[]){-2, -1, 1, 2}[i % 4];
        t.label[i] = i < 4 ? i < 2 ? "a" : "b" : NULL;
    }
    chunked_init(&t.source, t.columns, COLUMNS, N, one_chunk, 1);
    static const double expected[][6] = {{1500, 1498.5, 0, 0, 0, 0},
                                         {0.5, 0.5, 0, 0.125, 0, 0},
                                         {1501, 1499.5, 2.5, 1, 0, 0},
                                         {1500, 1498.5, 1.5, 0, 0, 0}};
    for (size_t loss = 0; loss < 4; loss++) {
        const dn_loss_grid_options o = {.loss = (dn_loss)loss, .axis = {{0, w, 6}}, .n_axes = 1};
        dn_loss_grid *g = NULL;
        OK(dn_model_loss_grid(zero, &t.source.source, &o, NULL, &g, NULL));
        assert_int_equal(g->n_rows, 4);
        for (size_t i = 0; i < 6; i++) {
            if (expected[loss][i] > 0) {
                assert_near(g->value[i], expected[loss][i], 1e-12);
            }
        }
        if (loss == DN_LOSS_CROSS_ENTROPY) {
            assert_near(g->value[3], log(2), 1e-15);
            assert_near(g->value[2], (log1p(exp(1)) + log1p(exp(2))) / 2, 1e-12);
            assert_true(g->value[5] == 0 && g->best == 5);
        } else if (loss == DN_LOSS_SQUARED_ERROR) {
            const double p = 1 / (1 + exp(1)), q = 1 / (1 + exp(2));
            assert_near(g->value[4], (p * p + q * q) / 4, 1e-15);
        } else { /* w = 0 or w = 1 is the first without loss */
            assert_int_equal(g->best, loss == DN_LOSS_HINGE ? 4 : 3);
            assert_true(g->value[4] == 0 && g->value[5] == 0);
        }
        dn_loss_grid_free(g);
    }
    dn_model_unref(zero);
    dn_model_unref(model);
    chunked_done(&t.source);
}

/* ---- errors ---- */

static void arguments(void **state) {
    (void)state;
    static struct data t;
    static double many[DN_MAX_LOSS_VALUES + 1];
    const double infinite[] = {0, (double)INFINITY};
    data_init(&t, 2, one_chunk, 1);
    dn_model *model = train(&t, "logistic", "", 2, true);
    dn_loss_grid *g = NULL;
    dn_error err;
    const struct {
        dn_loss_grid_options options;
        dn_status status;
        const char *field;
    } bad[] = {
        {{.axis = {{0, first, 3}}}, DN_ERR_ARGUMENT, "weights"},
        {{.axis = {{0, first, 3}}, .n_axes = 3}, DN_ERR_ARGUMENT, "weights"},
        {{.axis = {{0, first, 0}}, .n_axes = 1}, DN_ERR_ARGUMENT, "weights"},
        {{.axis = {{0, NULL, 3}}, .n_axes = 1}, DN_ERR_ARGUMENT, "weights"},
        {{.axis = {{3, first, 3}}, .n_axes = 1}, DN_ERR_ARGUMENT, "weights"},
        {{.axis = {{0, first, 3}, {0, first, 3}}, .n_axes = 2}, DN_ERR_ARGUMENT, "weights"},
        {{.axis = {{0, infinite, 2}}, .n_axes = 1}, DN_ERR_ARGUMENT, "weights"},
        {{.axis = {{0, many, DN_MAX_LOSS_VALUES + 1}}, .n_axes = 1}, DN_ERR_ARGUMENT, "weights"},
        {{.axis = {{0, many, 501}, {1, many, 500}}, .n_axes = 2}, DN_ERR_ARGUMENT, "weights"},
        {{.axis = {{0, first, 3}}, .n_axes = 1, .score = 1}, DN_ERR_ARGUMENT, "score"},
        {{.axis = {{0, first, 3}}, .n_axes = 1, .loss = (dn_loss)4}, DN_ERR_ARGUMENT, "loss"},
        {{.axis = {{0, first, 3}}, .n_axes = 1, .weight = "v"}, DN_ERR_DATA, "v"},
        {{.axis = {{0, first, 3}}, .n_axes = 1, .target = "t"}, DN_ERR_DATA, "t"},
        {{.axis = {{0, many, 500}, {1, many, 500}}, .n_axes = 2}, DN_ERR_BUDGET, ""},
    };
    refusing memory;
    refusing_init(&memory, 0);
    memory.limit = 1000000;
    memory.below = SIZE_MAX; /* 250,000 sums are too many */
    dn_run run = dn_run_default();
    run.allocator = &memory.allocator;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        dn_error_clear(&err);
        assert_int_equal(dn_model_loss_grid(model, &t.source.source, &bad[i].options, &run, &g,
                                            &err),
                         bad[i].status);
        assert_string_equal(err.field, bad[i].field);
    }
    assert_int_equal(memory.live, 0);
    assert_int_equal(dn_model_loss_grid(NULL, &t.source.source, &bad[0].options, NULL, &g, NULL),
                     DN_ERR_ARGUMENT);
    assert_int_equal(dn_model_loss_grid(model, NULL, &bad[0].options, NULL, &g, NULL),
                     DN_ERR_ARGUMENT);
    assert_int_equal(dn_model_loss_grid(model, &t.source.source, NULL, NULL, &g, NULL),
                     DN_ERR_ARGUMENT);
    assert_int_equal(dn_model_loss_grid(model, &t.source.source, &bad[0].options, NULL, NULL, NULL),
                     DN_ERR_ARGUMENT);
    dn_model *quadratic = train(&t, "gaussian", "covariance=full", 2, false);
    assert_false(dn_model_has_loss_grid(quadratic));
    assert_true(dn_model_has_loss_grid(model));
    assert_int_equal(dn_model_loss_grid(quadratic, &t.source.source, &bad[9].options, NULL, &g,
                                        NULL),
                     DN_ERR_ARGUMENT);
    assert_null(g);
    dn_loss_grid_free(NULL);
    dn_model_unref(quadratic);
    dn_model_unref(model);
    chunked_done(&t.source);
}

static void refused_data(struct data *t, const dn_model *model, const dn_loss_grid_options *o,
                         const char *words) {
    dn_loss_grid *g = NULL;
    dn_error err;
    dn_error_clear(&err);
    assert_int_equal(dn_model_loss_grid(model, &t->source.source, o, NULL, &g, &err), DN_ERR_DATA);
    if (strstr(err.message, words) == NULL) {
        fail_msg("no \"%s\" in: %s", words, err.message);
    }
    assert_null(g);
}

static void data_errors(void **state) {
    (void)state;
    static struct data t;
    static double many[500];
    static const double huge[] = {0, 1e308};
    data_init(&t, 2, one_chunk, 1);
    dn_model *model = train(&t, "logistic", "", 2, false), *line;
    OK(dn_model_with_weights(model, (double[]){1e300, 0}, (double[]){0}, &line, NULL));
    const dn_loss_grid_options large = {.axis = {{0, huge, 2}, {1, huge, 2}}, .n_axes = 2},
                               large_one = {.axis = {{0, huge, 2}}, .n_axes = 1},
                               second_weight = {.axis = {{1, first, 3}}, .n_axes = 1};
    refused_data(&t, model, &large, "the losses of the weights 1e+308 and 0");
    refused_data(&t, model, &large_one, "the losses of the weight 1e+308");
    for (size_t i = 0; i < N; i++) {
        t.x[0][i] = 1e10;
    }
    chunked_done(&t.source);
    chunked_init(&t.source, t.columns, COLUMNS, N, one_chunk, 1);
    refused_data(&t, line, &second_weight, "a row has values so large");
    for (size_t i = 0; i < N; i++) {
        t.label[i] = NULL;
    }
    chunked_done(&t.source);
    chunked_init(&t.source, t.columns, COLUMNS, N, one_chunk, 1);
    refused_data(&t, model, &second_weight, "no row");
    dn_model_unref(line);
    dn_model_unref(model);
    /* 9,000 rows times 250,000 points */
    static double x[9000];
    static const char *label[9000];
    static const size_t borders[] = {0, 9000};
    for (size_t i = 0; i < 9000; i++) {
        x[i] = (double)i;
        label[i] = i % 2 ? "a" : "b";
    }
    t.columns[0].number = t.columns[1].number = x;
    t.columns[4].text = label;
    chunked_done(&t.source);
    const chunked_column few[] = {t.columns[0], t.columns[1], t.columns[4]};
    data_init(&t, 2, one_chunk, 1);
    model = train(&t, "logistic", "", 2, false);
    chunked_done(&t.source);
    chunked_init(&t.source, few, 3, 9000, borders, 1);
    const dn_loss_grid_options costly = {.axis = {{0, many, 500}, {1, many, 500}}, .n_axes = 2};
    refused_data(&t, model, &costly, "9000 rows times 250000 points");
    dn_model_unref(model);
    chunked_done(&t.source);
}

static void memory_stops_and_failures(void **state) {
    (void)state;
    static struct data t;
    data_init(&t, 3, chunks, 4);
    dn_model *model = train(&t, "logistic", "", 3, true);
    const dn_loss_grid_options o = {.axis = {{0, first, 3}, {1, second, 2}}, .n_axes = 2};
    size_t count = 0;
    for (size_t at = 1;; at++) { /* this allocation is refused */
        refusing memory;
        dn_loss_grid *g = NULL;
        dn_run run = dn_run_default();
        refusing_init(&memory, at);
        run.allocator = &memory.allocator;
        const dn_status status = dn_model_loss_grid(model, &t.source.source, &o, &run, &g, NULL);
        assert_int_equal(memory.live, 0);
        if (status == DN_OK) {
            assert_int_equal(memory.refused, 0);
            dn_loss_grid_free(g);
            break;
        }
        assert_int_equal(status, DN_ERR_BUDGET);
        assert_null(g);
        count++;
    }
    assert_true(count >= 4);
    for (size_t at = count = 1;; at++, count++) { /* this poll cancels */
        struct polls polls = {.stop_at = at};
        const dn_run run = polls_run(&polls);
        dn_loss_grid *g = NULL;
        const dn_status status = dn_model_loss_grid(model, &t.source.source, &o, &run, &g, NULL);
        if (status == DN_OK) {
            dn_loss_grid_free(g);
            break;
        }
        assert_int_equal(status, DN_ERR_STOPPED);
        assert_null(g);
    }
    assert_true(count > 2 * N / 256);             /* each tile, each row of the grid */
    for (size_t at = count = 1;; at++, count++) { /* this read fails */
        dn_loss_grid *g = NULL;
        t.source.fail_at = at;
        t.source.calls = 0;
        const dn_status status = dn_model_loss_grid(model, &t.source.source, &o, NULL, &g, NULL);
        if (status == DN_OK) {
            dn_loss_grid_free(g);
            break;
        }
        assert_int_equal(status, DN_ERR_SOURCE);
        assert_null(g);
    }
    assert_true(count > 8);
    dn_model_unref(model);
    chunked_done(&t.source);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_classes),   cmocka_unit_test(fitted_together),
        cmocka_unit_test(one_at_a_time), cmocka_unit_test(targets_of_least_squares),
        cmocka_unit_test(by_hand),       cmocka_unit_test(arguments),
        cmocka_unit_test(data_errors),   cmocka_unit_test(memory_stops_and_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
