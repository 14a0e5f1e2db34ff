/* Tests of models of tables with text and sparse columns. Predictions from raw rows equal those
 * from the full x. Sparse columns and numeric columns give equal models. Rows in memory and
 * streamed give equal models. */
#include "unit/core/encoder/raw_vectors.h"

#include "encoder/encoder_apply.h"
#include "machine/machine_dispatch.h"

static const size_t all_columns[] = {L_AGE, L_SPARSE, L_KIND, L_NOTE};

static dn_params *algorithm(const char *id) {
    dn_params *p;
    OK(dn_params_new(dn_algorithm_find(id), &p, NULL));
    return p;
}

static dn_train_request request_of(const dn_table_source *source, const dn_params *params) {
    return (dn_train_request){.source = source,
                              .params = params,
                              .target = L_CLASS,
                              .features = {.columns = all_columns,
                                           .n_columns = 4,
                                           .missing_indicator = true}};
}

static dn_train_result train(const dn_train_request *request, const dn_run *run) {
    dn_run plain = dn_run_default();
    dn_train_result r = {0};
    dn_error err = {0};
    if (dn_train(request, run == NULL ? &plain : run, &r, &err) != DN_OK) {
        fail_msg("%s: %s", request->params->algorithm->id, err.message);
    }
    return r;
}

/* ---- predictions ---- */
static double distance_by_definition(const dn_linear *l, const double *scores, size_t K) {
    double least = (double)INFINITY;
    size_t best = 0;
    if (K == 2) {
        double square = 0;
        for (size_t j = 0; j < l->n_features; j++) {
            square += l->w[j] * l->w[j];
        }
        return scores[0] / sqrt(square);
    }
    for (size_t k = 1; k < K; k++) {
        best = scores[k] > scores[best] ? k : best;
    }
    for (size_t k = 0; k < K; k++) {
        double square = 0;
        for (size_t j = 0; j < l->n_features; j++) {
            square += (l->w[best * l->n_features + j] - l->w[k * l->n_features + j]) *
                      (l->w[best * l->n_features + j] - l->w[k * l->n_features + j]);
        }
        if (k != best) {
            least = fmin(least, (scores[best] - scores[k]) / sqrt(square));
        }
    }
    return least;
}

/* Recomputes every result of a prediction from the full x. */
static void check_predictions(const dn_model *m, const dn_raw_rows rows, bool distances) {
    enum { N = 40 };
    const size_t d = dn_encoder_n_features(dn_model_encoder(m)), S = dn_model_n_scores(m),
                 K = dn_model_classes(m)->n;
    double *work = xcalloc(dn_model_workspace(m), sizeof *work), *x = xcalloc(d, sizeof *x),
           *parts = xcalloc(N * S * d, sizeof *parts), *own = xcalloc(2 * d + K, sizeof *own),
           scores[N * 8], distance[N], density[N], alone[8];
    const bool dense = dn_model_has_density(m);
    const dn_prediction out = {.scores = scores,
                               .distance = distance,
                               .contributions = parts,
                               .log_density = dense ? density : NULL};
    assert_int_equal(dn_model_predict(m, dn_raw_part(rows, 4, 0, N), work, &out), N);
    for (size_t i = 0; i < N; i++) {
        const dn_raw_rows row = dn_raw_part(rows, 4, i, 1);
        double want[8], joint[8], *at = want;
        dni_encoder_expand(dn_model_encoder(m), row, x);
        for (size_t k = 0; k < dn_model_n_machines(m); k++) {
            (void)dni_machine_scores(dn_model_machine(m, k), x, at, own);
            at += dn_machine_n_scores(dn_model_machine(m, k));
        }
        assert_close(scores + i * S, want, S, 1e-11);
        for (size_t k = 0; k < S; k++) {
            double sum = dn_model_intercept(m)[k];
            for (size_t j = 0; j < d; j++) {
                sum += parts[(i * S + k) * d + j];
            }
            assert_true(fabs(sum - want[k]) <= 1e-10 * (1 + fabs(want[k])));
        }
        assert_int_equal(dn_model_predict(m, row, work, &(dn_prediction){.scores = alone}), 1);
        assert_memory_equal(alone, scores + i * S, S * sizeof *alone);
        dn_linear linear;
        if (distances && dn_model_linear(m, &linear)) {
            assert_near(distance[i], distance_by_definition(&linear, scores + i * S, K), 1e-12);
        }
        if (dense) {
            assert_true(dni_machine_joint(dn_model_machine(m, 0), x, joint, own));
            assert_near(density[i], dni_log_sum(joint, K), 1e-11);
        }
    }
    free(work);
    free(x);
    free(parts);
    free(own);
}

static void predictions(void **unused) {
    (void)unused;
    static const struct {
        const char *id, *word, *value;
        bool standardize, distances;
        size_t K;
    } cases[] = {{"logistic", NULL, NULL, true, true, 2},
                 {"logistic", NULL, NULL, false, true, 3},
                 {"logistic", "multiclass", "one_vs_one", true, false, 3},
                 {"perceptron", NULL, NULL, false, true, 2},
                 {"naive_bayes", NULL, NULL, false, false, 2},
                 {"naive_bayes", NULL, NULL, true, false, 3},
                 {"gaussian", NULL, NULL, false, true, 3}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        vector_table *t = vector_table_new(cases[c].K);
        chunked source;
        vector_table_source(t, t->columns, L_COLUMNS, c % 4, &source);
        dn_params *p = algorithm(cases[c].id);
        if (cases[c].word != NULL) {
            OK(dn_params_set_word(p, cases[c].word, cases[c].value, NULL));
        }
        if (strcmp(cases[c].id, "perceptron") == 0) {
            OK(dn_params_set_number(p, "max_iterations", 20, NULL));
        }
        if (strcmp(cases[c].id, "gaussian") == 0) {
            OK(dn_params_set_word(p, "covariance", "shared", NULL));
        }
        dn_train_request request = request_of(&source.source, p);
        static const size_t ages[] = {0};
        static const double centres[] = {20, 90};
        const dn_basis_spec basis = {.kind = DN_BASIS_GAUSSIAN,
                                     .columns = ages,
                                     .n_columns = 1,
                                     .keep = true,
                                     .points = centres,
                                     .n_points = 2,
                                     .width = 30};
        request.features.standardize = cases[c].standardize;
        request.features.categorical =
            strcmp(cases[c].id, "gaussian") == 0 ? DN_DROP_FIRST : DN_ONE_HOT;
        request.features.text.weighting = c % 2 == 0 ? DN_TEXT_COUNTS : DN_TEXT_BINARY;
        request.features.bases = &basis;
        request.features.n_bases = c < 3 ? 1 : 0;
        dn_train_result r = train(&request, NULL), other;
        struct raw raw = raw_of(t, dn_model_encoder(r.model), VECTORS_ROWS);
        check_predictions(r.model, raw.rows, cases[c].distances);

        dn_run run = dn_run_default(); /* a table and its raw rows have the same metrics */
        dn_metrics *a, *b;
        OK(dn_model_evaluate(r.model, &source.source, NULL, &run, &a, NULL));
        OK(dn_model_evaluate_raw(r.model, &(dn_labelled_rows){.raw = raw.rows, .truth = raw.truth},
                                 false, &run, &b, NULL));
        for (size_t i = 0; dn_metric_name(i) != NULL; i++) {
            const char *name = dn_metric_name(i);
            const double u = dn_metric_value(a, i), v = dn_metric_value(b, i);
            /* The two evaluations sum in different orders. Scores that are equal in one may differ
             * in the last bit in the other, which changes ranks. */
            const bool ranks =
                strcmp(name, "roc_auc") == 0 || strcmp(name, "average_precision") == 0;
            if (!(isnan(u) && isnan(v)) && !(fabs(u - v) <= (ranks ? 1e-3 : 1e-9) * fabs(u))) {
                fail_msg("case %zu: %s is %.17g of the table, %.17g of its rows", c, name, u, v);
            }
        }
        assert_true(dn_metric_value(a, 0) > 1.2 / (double)cases[c].K);
        dn_metrics_free(a);
        dn_metrics_free(b);

        void *bytes, *again; /* the model is written to bytes and read back */
        size_t size, again_size;
        OK(dn_model_write(r.model, &bytes, &size, NULL));
        OK(dn_model_read(bytes, size, &other.model, NULL));
        check_predictions(other.model, raw.rows, cases[c].distances);
        OK(dn_model_evaluate(other.model, &source.source, NULL, &run, &a, NULL));
        dn_metrics_free(a);
        OK(dn_model_write(other.model, &again, &again_size, NULL));
        assert_int_equal(size, again_size);
        assert_memory_equal(bytes, again, size);
        free(bytes);
        free(again);
        dn_model_unref(other.model);
        raw_done(&raw);
        dn_train_result_done(&r);
        dn_params_free(p);
        chunked_done(&source);
        free(t);
    }
}

/* ---- combinations ---- */
enum { MEMBERS = 4 };

/* Members with encoders of two kinds: with and without standardisation. */
static void make_members(const dn_encoder_spec *features, dn_params **params, dn_member *members) {
    static const char *const ids[] = {"logistic", "naive_bayes", "svm", "knn"};
    static const double shares[] = {0.7, 0.2, 0.4, 0.1};
    for (size_t m = 0; m < MEMBERS; m++) {
        params[m] = algorithm(ids[m]);
        members[m] = (dn_member){params[m], *features, shares[m]};
        members[m].features.standardize = m % 2 == 0;
    }
    OK(dn_params_set_word(params[2], "calibrate", "platt", NULL));
}

/* logs [n × K] += share · ln p of a model trained alone. */
static void add_member(const dn_train_request *request, const dn_member *member,
                       const vector_table *t, size_t K, double *logs) {
    dn_train_request own = *request;
    own.params = member->params;
    own.features = member->features;
    dn_train_result r = train(&own, NULL);
    struct raw raw = raw_of(t, dn_model_encoder(r.model), VECTORS_ROWS);
    double *p = xcalloc(VECTORS_ROWS * K, sizeof *p),
           *work = xcalloc(dn_model_workspace(r.model) + 1, sizeof *work);
    const dn_prediction out = {.probabilities = p};
    assert_int_equal(dn_model_predict(r.model, raw.rows, work, &out), VECTORS_ROWS);
    for (size_t i = 0; i < VECTORS_ROWS * K; i++) {
        logs[i] += member->share * log(fmax(p[i], 1e-15));
    }
    free(p);
    free(work);
    raw_done(&raw);
    dn_train_result_done(&r);
}

/* The log loss of the products of the members' probabilities. */
static double product_loss(const double *logs, const size_t *truth, size_t n, size_t K) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += dni_log_sum(logs + i * K, K) - logs[i * K + truth[i]];
    }
    return sum / (double)n;
}

/* Rows of words, sparse columns and categories: the product of the members, from raw rows and from
 * the table. */
static void combinations(void **unused) {
    (void)unused;
    for (size_t K = 2; K <= 3; K++) {
        vector_table *t = vector_table_new(K);
        chunked source;
        vector_table_source(t, t->columns, L_COLUMNS, K, &source);
        dn_params *params[MEMBERS], *none = NULL;
        dn_member members[MEMBERS];
        double *logs = xcalloc(VECTORS_ROWS * K, sizeof *logs);
        OK(dn_params_new(dn_algorithm_combination(), &none, NULL));
        dn_train_request request = request_of(&source.source, none);
        make_members(&request.features, params, members);
        for (size_t m = 0; m < MEMBERS; m++) {
            add_member(&request, &members[m], t, K, logs);
        }
        request.members = members;
        request.n_members = MEMBERS;
        dn_train_result r = train(&request, NULL);
        assert_true(dn_encoder_is_sparse(dn_model_encoder(r.model)));
        struct raw raw = raw_of(t, dn_model_encoder(r.model), VECTORS_ROWS);
        const double loss = product_loss(logs, raw.truth, VECTORS_ROWS, K);
        dn_metrics *metrics;
        OK(dn_model_evaluate(r.model, &source.source, NULL, NULL, &metrics, NULL));
        assert_near(metrics->log_loss, loss, 1e-10);
        dn_metrics_free(metrics);
        OK(dn_model_evaluate_raw(r.model, &(dn_labelled_rows){.raw = raw.rows, .truth = raw.truth},
                                 false, NULL, &metrics, NULL));
        assert_near(metrics->log_loss, loss, 1e-10);
        dn_metrics_free(metrics);
        assert_near(r.train->log_loss, loss, 1e-10);
        raw_done(&raw);
        dn_train_result_done(&r);

        /* another vocabulary has other features for the words */
        dn_error err = {0};
        members[1].features.text.weighting = DN_TEXT_BINARY;
        assert_int_equal(dn_train(&request, NULL, &r, &err), DN_ERR_ARGUMENT);
        assert_string_equal(err.message, "the encoders of the members do not read the same rows");
        for (size_t m = 0; m < MEMBERS; m++) {
            dn_params_free(params[m]);
        }
        dn_params_free(none);
        free(logs);
        chunked_done(&source);
        free(t);
    }
}

/* ---- one table as sparse and as dense columns ---- */
static void sparse_is_dense(void **unused) {
    (void)unused;
    vector_table *t = vector_table_new(2);
    chunked_column *columns = xcalloc(VECTORS_WIDTH + 1, sizeof *columns);
    size_t places[VECTORS_WIDTH];
    static const size_t sparse[] = {L_SPARSE};
    memcpy(columns, t->numbers, VECTORS_WIDTH * sizeof *columns);
    columns[VECTORS_WIDTH] = t->columns[L_CLASS];
    for (size_t j = 0; j < VECTORS_WIDTH; j++) {
        places[j] = j;
    }
    for (int standardize = 0; standardize < 2; standardize++) {
        chunked a, b;
        vector_table_source(t, t->columns, L_COLUMNS, 3, &a);
        vector_table_source(t, columns, VECTORS_WIDTH + 1, 1, &b);
        dn_params *p = params_of("newton", 1e-3);
        OK(dn_params_set_number(p, "tolerance", 1e-12, NULL));
        dn_train_request request = {.source = &a.source,
                                    .params = p,
                                    .target = L_CLASS,
                                    .features = {.columns = sparse,
                                                 .n_columns = 1,
                                                 .standardize = standardize,
                                                 .standardize_sparse = standardize}};
        dn_train_result x = train(&request, NULL);
        request.source = &b.source;
        request.target = VECTORS_WIDTH;
        request.features = (dn_encoder_spec){.columns = places,
                                             .n_columns = VECTORS_WIDTH,
                                             .standardize = standardize};
        dn_train_result y = train(&request, NULL);
        dn_linear u, v;
        assert_true(dn_model_linear(x.model, &u) && dn_model_linear(y.model, &v) &&
                    u.n_features == VECTORS_WIDTH);
        assert_close(u.w, v.w, VECTORS_WIDTH, 1e-11);
        assert_near(u.w0[0], v.w0[0], 1e-11);
        assert_true(
            u.w[10] == 0 &&
            (!standardize || u.w[3] == 0)); /* constant features: f11 is 0 in all rows, f4 is 1 */
        assert_memory_equal(x.train->confusion, y.train->confusion, 4 * sizeof(double));
        assert_near(x.train->log_loss, y.train->log_loss, 1e-12);
        dn_train_result_done(&x);
        dn_train_result_done(&y);
        dn_params_free(p);
        chunked_done(&a);
        chunked_done(&b);
    }
    free(columns);
    free(t);
}

/* A feature that is 0 in all training rows has weight 0, not its random initial weight. */
static void weights_of_zero_features(void **unused) {
    (void)unused;
    vector_table *t = vector_table_new(2);
    chunked source;
    vector_table_source(t, t->columns, L_COLUMNS, 0, &source);
    static const size_t sparse[] = {L_SPARSE};
    dn_params *p = algorithm("perceptron");
    OK(dn_params_set_word(p, "init", "random", NULL));
    OK(dn_params_set_number(p, "max_iterations", 3, NULL));
    dn_train_request request = {.source = &source.source,
                                .params = p,
                                .target = L_CLASS,
                                .features = {.columns = sparse, .n_columns = 1}};
    dn_train_result r = train(&request, NULL);
    dn_linear linear;
    assert_true(dn_model_linear(r.model, &linear) && linear.w[10] == 0 && linear.w[0] != 0);
    dn_train_result_done(&r);
    dn_params_free(p);
    chunked_done(&source);
    free(t);
}

/* ---- from memory and streamed ---- */
struct budget {
    size_t left, least;
};

static void *budget_allocate(void *ctx, size_t size) {
    struct budget *b = ctx;
    char *p = size > b->left ? NULL : malloc(size + 64);
    if (p == NULL) {
        return NULL;
    }
    b->left -= size;
    b->least = b->left < b->least ? b->left : b->least;
    memcpy(p, &size, sizeof size);
    return p + 64;
}

static void budget_release(void *ctx, void *memory) {
    struct budget *b = ctx;
    size_t size;
    if (memory == NULL) {
        return;
    }
    memcpy(&size, (char *)memory - 64, sizeof size);
    b->left += size;
    free((char *)memory - 64);
}

/* dn_train_memory is enough for a training, and the model is the same as without a budget, for all
 * orders of summation and chunks. */
static void within_a_budget(void **unused) {
    (void)unused;
    vector_table *t = vector_table_new(2);
    double entries = (double)t->row_start[VECTORS_ROWS];
    for (size_t i = 0; i < VECTORS_ROWS; i++) {
        for (size_t w = 0; w < VECTORS_WORDS; w++) {
            entries += t->count[i][w];
        }
    }
    static const char *const solvers[] = {"lbfgs", "sgd", NULL};
    for (size_t s = 0; s < 3; s++) {
        dn_params *p = solvers[s] == NULL ? algorithm("naive_bayes") : params_of(solvers[s], 1e-2);
        if (solvers[s] != NULL) {
            OK(dn_params_set_number(p, "max_iterations", 6, NULL));
        }
        void *first = NULL;
        size_t first_size = 0;
        for (size_t way = 0; way < 4; way++) {
            chunked source;
            vector_table_source(t, t->columns, L_COLUMNS, way, &source);
            dn_train_request request = request_of(&source.source, p);
            request.features.text.buckets = s == 1 ? 3000 : 0;
            request.entries = entries;
            request.holdout = 0.25;
            const size_t n_features = 2 + VECTORS_WIDTH + 4 + (s == 1 ? 3000 : VECTORS_WORDS),
                         slots = way == 0 ? 1 : CHUNKED_SLOTS;
            const double bytes = dn_train_memory(&request, VECTORS_ROWS, n_features, 2, slots);
            struct budget budget = {way < 2 ? (size_t)1 << 40 : (size_t)bytes, SIZE_MAX};
            const dn_allocator allocator = {.allocate = budget_allocate,
                                            .release = budget_release,
                                            .ctx = &budget,
                                            .budgeted = true};
            dn_run run = way == 0 ? dn_run_default() : scattered_run();
            run.allocator = &allocator;
            dn_train_result r = train(&request, &run);
            void *model;
            size_t size;
            OK(dn_model_write(r.model, &model, &size, NULL));
            assert_true(budget.left == (way < 2 ? (size_t)1 << 40 : (size_t)bytes));
            assert_true(way < 2 || budget.least != SIZE_MAX);
            if (way == 0) {
                first = model;
                first_size = size;
            } else {
                assert_int_equal(size, first_size);
                assert_memory_equal(model, first, size);
                free(model);
            }
            dn_train_result_done(&r);
            chunked_done(&source);
        }
        free(first);
        dn_params_free(p);
    }
    free(t);
}

/* The estimate includes the memory for counting words that are not chosen as features, with one
 * slot and with several. */
static void memory_for_words(void **unused) {
    (void)unused;
    enum { ROWS = 6000, WORDS = 25 };
    static const char *text[ROWS], *class[ROWS];
    static const size_t borders[] = {0, 1500, 4500, ROWS}, note[] = {0};
    char *room = xcalloc(ROWS, WORDS * 10), *at = room;
    for (size_t i = 0; i < ROWS; i++) {
        text[i] = at;
        class[i] = i % 2 == 0 ? "a" : "b";
        for (size_t w = 0; w < WORDS; w++) {
            at += sprintf(at, "%07zxq%s", (i * WORDS + w) * 7654321 % (ROWS * WORDS),
                          w + 1 < WORDS ? " " : "");
        }
        at++;
    }
    chunked_column columns[] = {{.column = {.name = "note", .type = DN_TEXT}, .text = text},
                                {.column = {.name = "class", .type = DN_CATEGORICAL},
                                 .text = class}};
    chunked source;
    chunked_init(&source, columns, 2, ROWS, borders, 3);
    dn_params *p = algorithm("naive_bayes");
    dn_train_request request = {.source = &source.source,
                                .params = p,
                                .target = 1,
                                .features = {.columns = note,
                                             .n_columns = 1,
                                             .text = {.vocabulary = 500}},
                                .entries = ROWS * WORDS};
    for (size_t slots = 1; slots <= CHUNKED_SLOTS; slots += CHUNKED_SLOTS - 1) {
        request.different_words = 0;
        const double without = dn_train_memory(&request, ROWS, 500, 2, slots);
        request.different_words = ROWS * WORDS;
        const double bytes = dn_train_memory(&request, ROWS, 500, 2, slots);
        struct budget budget = {(size_t)bytes, SIZE_MAX};
        const dn_allocator allocator = {.allocate = budget_allocate,
                                        .release = budget_release,
                                        .ctx = &budget,
                                        .budgeted = true};
        dn_run run = slots == 1 ? dn_run_default() : scattered_run();
        run.allocator = &allocator;
        dn_train_result r = train(&request, &run);
        const double peak = bytes - (double)budget.least;
        assert_true(without < peak && bytes < 2 * peak);
        dn_train_result_done(&r);
    }
    dn_params_free(p);
    chunked_done(&source);
    free(room);
}

/* A warning names columns without information, also if they have many features. */
static void uninformative_columns(void **unused) {
    (void)unused;
    vector_table *t = vector_table_new(2);
    static size_t none[VECTORS_ROWS + 1];
    static const char *empty[VECTORS_ROWS];
    chunked_column columns[L_COLUMNS];
    memcpy(columns, t->columns, sizeof columns);
    columns[L_SPARSE].row_start = none;
    columns[L_SPARSE].column.width = 100000;
    columns[L_NOTE].text = empty;
    chunked source;
    vector_table_source(t, columns, L_COLUMNS, 0, &source);
    dn_params *p = params_of("lbfgs", 1e-2);
    dn_train_request request = request_of(&source.source, p);
    dn_train_result r = train(&request, NULL);
    bool said = false;
    for (size_t i = 0; i < r.report.n_warnings; i++) {
        said = said ||
               strcmp(r.report.warnings[i].text,
                      "no training row has a value of \"f\" and \"note\": it was ignored") == 0 ||
               (strstr(r.report.warnings[i].text, "\"f\"") != NULL &&
                strstr(r.report.warnings[i].text, "\"note\"") != NULL);
    }
    assert_true(said);
    dn_train_result_done(&r);
    dn_params_free(p);
    chunked_done(&source);
    free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(predictions),
                                       cmocka_unit_test(combinations),
                                       cmocka_unit_test(sparse_is_dense),
                                       cmocka_unit_test(weights_of_zero_features),
                                       cmocka_unit_test(within_a_budget),
                                       cmocka_unit_test(memory_for_words),
                                       cmocka_unit_test(uninformative_columns)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
