/* A group of ranks trains a model with the bytes and metrics of one process, for every method whose
 * fit is made of sums over blocks. */
#include "unit/core/ranks.h"
#include "unit/core/support.h"

enum { ROWS = 20500, NUMBERS = 5, LEVELS = 9, WIDTH = 30, CLASSES = 3, MAX_RANKS = 7 };
enum { COLOUR = NUMBERS, SPARSE, TEXT, WEIGHT, LABEL, COLUMNS };
static const size_t rank_counts[] = {2, 3, 4, 7};

/* A table with numbers, missing numbers, categories, sparse vectors, texts, weights, classes. */
struct data {
    double *number; /* [NUMBERS × ROWS] */
    double *weight, *value;
    uint32_t *colour, *text, *label, *place;
    size_t *row_start;
    dn_table_column columns[COLUMNS];
    dn_column_view views[COLUMNS];
    dn_table_source *source;
};

static double draw(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

static void draw_row(struct data *t, size_t i, uint64_t *state, size_t *n_entries) {
    const uint32_t k = (uint32_t)(3 * draw(state));
    t->label[i] = k;
    for (size_t j = 0; j < NUMBERS; j++) {
        t->number[j * ROWS + i] =
            (double)k * (double)(j % 3) * 0.4 + 3 * draw(state) + draw(state) * (j == 2 ? 100 : 1);
    }
    if (i % 50 == 7) {
        t->number[4 * ROWS + i] = (double)NAN;
    }
    t->colour[i] = (uint32_t)((i / 4096 * 2 + (k == 0) + (i % 7 == 0)) % LEVELS);
    t->text[i] = (uint32_t)((i / 4096 + k + (i % 5 == 0)) % 4);
    t->weight[i] = i % 11 == 0 ? 0 : 0.5 + draw(state);
    for (uint32_t j = 0; j < WIDTH; j++) {
        if (draw(state) < (j % CLASSES == k ? 0.3 : 0.15)) {
            t->place[*n_entries] = j;
            t->value[(*n_entries)++] = 1 + floor(4 * draw(state));
        }
    }
    t->row_start[i + 1] = *n_entries;
}

static void set_columns(struct data *t) {
    static const char *const names[] = {"x0", "x1", "x2", "x3", "x4"};
    static const uint32_t starts[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    static const uint32_t text_starts[] = {0, 9, 19, 28, 40};
    for (size_t j = 0; j < NUMBERS; j++) {
        t->columns[j] = (dn_table_column){.name = names[j], .type = DN_NUMERIC};
        t->views[j] =
            (dn_column_view){.type = DN_NUMERIC, .n_rows = ROWS, .number = t->number + j * ROWS};
    }
    t->columns[COLOUR] = (dn_table_column){.name = "colour", .type = DN_CATEGORICAL};
    t->views[COLOUR] = (dn_column_view){.type = DN_CATEGORICAL,
                                        .n_rows = ROWS,
                                        .code = t->colour,
                                        .strings = {LEVELS, starts, "ihgfedcba"}};
    t->columns[SPARSE] =
        (dn_table_column){.name = "f", .type = DN_SPARSE, .width = WIDTH, .first_index = 1};
    t->views[SPARSE] = (dn_column_view){.type = DN_SPARSE,
                                        .n_rows = ROWS,
                                        .number = t->value,
                                        .row_start = t->row_start,
                                        .index = t->place};
    t->columns[TEXT] = (dn_table_column){.name = "text", .type = DN_TEXT};
    t->views[TEXT] =
        (dn_column_view){.type = DN_TEXT,
                         .n_rows = ROWS,
                         .code = t->text,
                         .strings = {4, text_starts, "red greenblue greenred bluegreen blue x"}};
    t->columns[WEIGHT] = (dn_table_column){.name = "weight", .type = DN_NUMERIC};
    t->views[WEIGHT] = (dn_column_view){.type = DN_NUMERIC, .n_rows = ROWS, .number = t->weight};
    t->columns[LABEL] = (dn_table_column){.name = "class", .type = DN_CATEGORICAL};
    t->views[LABEL] = (dn_column_view){.type = DN_CATEGORICAL,
                                       .n_rows = ROWS,
                                       .code = t->label,
                                       .strings = {CLASSES, starts, "abc"}};
}

static struct data *data_new(void) {
    struct data *t = xcalloc(1, sizeof *t);
    uint64_t state = 2026;
    size_t n = 0;
    t->number = xcalloc((size_t)NUMBERS * ROWS, sizeof *t->number);
    t->weight = xcalloc(ROWS, sizeof *t->weight);
    t->value = xcalloc((size_t)ROWS * WIDTH, sizeof *t->value);
    t->place = xcalloc((size_t)ROWS * WIDTH, sizeof *t->place);
    t->colour = xcalloc(ROWS, sizeof *t->colour);
    t->text = xcalloc(ROWS, sizeof *t->text);
    t->label = xcalloc(ROWS, sizeof *t->label);
    t->row_start = xcalloc(ROWS + 1, sizeof *t->row_start);
    for (size_t i = 0; i < ROWS; i++) {
        draw_row(t, i, &state, &n);
    }
    set_columns(t);
    OK(dn_table_source_from_columns(t->columns, t->views, COLUMNS, ROWS, &t->source, NULL));
    return t;
}

static void data_free(struct data *t) {
    dn_table_source_free(t->source);
    free(t->number);
    free(t->weight);
    free(t->value);
    free(t->place);
    free(t->colour);
    free(t->text);
    free(t->label);
    free(t->row_start);
    free(t);
}

/* What a training gave. */
struct outcome {
    dn_status status;
    void *bytes;
    size_t size;
    double train[4], validation[4]; /* metrics */
    size_t n_folds;
    double fold_loss;
    dn_error error;
};

static void take_metrics(const dn_metrics *m, double out[4]) {
    const double values[] = {m->rows, m->error, m->log_loss, m->roc_auc};
    memcpy(out, values, sizeof values);
}

static struct outcome train(const dn_train_request *request, dn_group *group,
                            const dn_allocator *allocator, size_t n_slots) {
    struct outcome o = {0};
    dn_train_result r;
    dn_run run = dn_run_default();
    run.group = group;
    run.allocator = allocator;
    run.n_slots = n_slots;
    run.each = n_slots > 1 ? each_in_reverse : NULL;
    dn_error_clear(&o.error);
    o.status = dn_train(request, &run, &r, &o.error);
    if (o.status != DN_OK) {
        return o;
    }
    OK(dn_model_write(r.model, &o.bytes, &o.size, NULL));
    take_metrics(r.train, o.train);
    if (r.validation != NULL) {
        take_metrics(r.validation, o.validation);
    }
    o.n_folds = r.n_folds;
    o.fold_loss = r.n_folds > 0 ? r.folds[r.n_folds - 1]->error : 0;
    dn_train_result_done(&r);
    return o;
}

struct trial {
    const dn_train_request *request;
    const dn_allocator *allocator[MAX_RANKS]; /* NULL: malloc */
    size_t n_slots;                           /* 0: one */
    struct outcome outcomes[MAX_RANKS];
};

static void train_rank(void *arg, dn_group *group) {
    struct trial *t = arg;
    t->outcomes[group->rank] =
        train(t->request, group, t->allocator[group->rank], t->n_slots > 0 ? t->n_slots : 1);
}

static void assert_same(const struct outcome *a, const struct outcome *b, const char *what,
                        size_t n_ranks) {
    if (b->status != DN_OK) {
        fail_msg("%s, %zu ranks: %s", what, n_ranks, b->error.message);
    }
    if (a->size != b->size || memcmp(a->bytes, b->bytes, a->size) != 0) {
        fail_msg("%s, %zu ranks: another model", what, n_ranks);
    }
    if (memcmp(a->train, b->train, sizeof a->train) != 0 ||
        memcmp(a->validation, b->validation, sizeof a->validation) != 0 ||
        a->n_folds != b->n_folds || memcmp(&a->fold_loss, &b->fold_loss, sizeof(double)) != 0) {
        fail_msg("%s, %zu ranks: other metrics", what, n_ranks);
    }
}

/* The inputs of a case. */
enum inputs { DENSE, SPARSE_ROWS, ALL };
static const size_t input_lists[][SPARSE + 2] = {
    [DENSE] = {0, 1, 2, 3, 4, COLOUR}, [SPARSE_ROWS] = {SPARSE, TEXT}, [ALL] = {0, 3, COLOUR}};
static const size_t input_counts[] = {[DENSE] = 6, [SPARSE_ROWS] = 2, [ALL] = 3};

static void compare(const struct data *data, const char *algorithm, const char *words,
                    enum inputs inputs, size_t folds, size_t n_slots) {
    char what[200];
    dn_params *params;
    dn_error err;
    dn_error_clear(&err);
    (void)snprintf(what, sizeof what, "%s %s, inputs %d", algorithm, words, (int)inputs);
    OK(dn_params_new(dn_algorithm_find(algorithm), &params, NULL));
    if (dn_params_set_words(params, words, &err) != DN_OK) {
        fail_msg("%s: %s", what, err.message);
    }
    dn_train_request request = {.struct_size = sizeof request,
                                .source = data->source,
                                .params = params,
                                .target = LABEL,
                                .weighted = true,
                                .weight = WEIGHT,
                                .holdout = folds > 0 ? 0 : 0.15,
                                .folds = folds,
                                .features = {.columns = input_lists[inputs],
                                             .n_columns = input_counts[inputs]}};
    const struct outcome one = train(&request, NULL, NULL, 1);
    if (one.status != DN_OK) {
        fail_msg("%s: %s", what, one.error.message);
    }
    for (size_t c = 0; c < sizeof rank_counts / sizeof *rank_counts; c++) {
        struct trial trial = {.request = &request, .n_slots = n_slots};
        ranks_run(rank_counts[c], train_rank, &trial);
        for (size_t r = 0; r < rank_counts[c]; r++) {
            assert_same(&one, &trial.outcomes[r], what, rank_counts[c]);
            free(trial.outcomes[r].bytes);
        }
    }
    free(one.bytes);
    dn_params_free(params);
}

static const struct {
    const char *algorithm, *words;
} ways[] = {
    {"logistic", "solver=lbfgs max_iterations=12"},
    {"logistic", "solver=newton max_iterations=6"},
    {"logistic", "solver=lbfgs multiclass=one_vs_rest max_iterations=6"},
    {"logistic", "solver=lbfgs multiclass=one_vs_one max_iterations=6"},
    {"logistic", "solver=lbfgs penalty=l1 lambda=0.001 max_iterations=12"},
    {"logistic", "solver=gradient_descent max_iterations=8"},
    {"least_squares", "solver=closed_form"},
    {"least_squares", "solver=conjugate_gradient max_iterations=6"},
    {"fisher", ""},
    {"gaussian", "covariance=shared"},
    {"gaussian", "covariance=full"},
    {"gaussian", "covariance=diagonal"},
    {"naive_bayes", ""},
    {"svm", "kernel=linear solver=interior_point max_iterations=12"},
    {"mlp", "solver=lbfgs layers=4 max_iterations=5"},
};

static void every_method_of_sums_gives_the_same_bytes(void **state) {
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        compare(*state, ways[i].algorithm, ways[i].words, DENSE, 0, 1);
    }
}

static void sparse_rows_and_texts_give_the_same_bytes(void **state) {
    static const size_t some[] = {0, 1, 7, 12, 13};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        compare(*state, ways[some[i]].algorithm, ways[some[i]].words, SPARSE_ROWS, 0, 1);
    }
}

static void folds_give_the_same_metrics(void **state) {
    compare(*state, "gaussian", "covariance=shared", ALL, 3, 1);
}

static void several_slots_give_the_same_bytes(void **state) {
    compare(*state, ways[0].algorithm, ways[0].words, DENSE, 0, 3);
}

static void other_methods_are_refused(void **state) {
    const struct data *data = *state;
    static const struct {
        const char *algorithm, *words, *message;
    } refused[] = {
        {"knn", "",
         "knn cannot be trained by several ranks: its fit is not made of sums over the "
         "rows"},
        {"logistic", "solver=sgd",
         "logistic cannot be trained by several ranks: solver sgd changes the weights after each "
         "batch of rows"},
        {"svm", "kernel=rbf",
         "svm cannot be trained by several ranks: only a linear kernel has a fit that is made of "
         "sums over the rows"},
        {"mlp", "",
         "mlp cannot be trained by several ranks: only solver lbfgs is made of sums "
         "over the rows"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        dn_params *params;
        OK(dn_params_new(dn_algorithm_find(refused[i].algorithm), &params, NULL));
        OK(dn_params_set_words(params, refused[i].words, NULL));
        dn_train_request request = {.struct_size = sizeof request,
                                    .source = data->source,
                                    .params = params,
                                    .target = LABEL,
                                    .features = {.columns = input_lists[ALL], .n_columns = 1}};
        struct trial trial = {.request = &request};
        ranks_run(2, train_rank, &trial);
        assert_int_equal(trial.outcomes[1].status, DN_ERR_ARGUMENT);
        assert_string_equal(trial.outcomes[1].error.message, refused[i].message);
        dn_params_free(params);
    }
}

/* A rank whose memory ends at any point ends the training of all ranks with its error. */
static void a_rank_without_memory_ends_all(void **state) {
    const struct data *data = *state;
    dn_params *params;
    OK(dn_params_new(dn_algorithm_find("logistic"), &params, NULL));
    OK(dn_params_set_words(params, "max_iterations=2", NULL));
    dn_train_request request = {.struct_size = sizeof request,
                                .source = data->source,
                                .params = params,
                                .target = LABEL,
                                .holdout = 0.2,
                                .features = {.columns = input_lists[DENSE], .n_columns = 2}};
    size_t n_failed = 0;
    for (size_t fail_at = 1; fail_at < 400; fail_at += 1 + fail_at / 8) {
        struct memory memory = {.fail_at = fail_at, .left = SIZE_MAX};
        const dn_allocator allocator = memory_allocator(&memory, false);
        struct trial trial = {.request = &request, .allocator = {NULL, &allocator}};
        ranks_run(3, train_rank, &trial);
        for (size_t r = 0; r < 3; r++) {
            assert_int_equal(trial.outcomes[r].status, trial.outcomes[0].status);
            if (trial.outcomes[r].status != DN_OK && trial.outcomes[r].status != DN_ERR_MEMORY) {
                fail_msg("request %zu fails: %s", fail_at, trial.outcomes[r].error.message);
            }
            free(trial.outcomes[r].bytes);
        }
        n_failed += trial.outcomes[0].status != DN_OK;
        assert_int_equal(memory.live, 0);
    }
    assert_true(n_failed > 10);
    dn_params_free(params);
}

static int set_up(void **state) {
    *state = data_new();
    return 0;
}

static int tear_down(void **state) {
    data_free(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_method_of_sums_gives_the_same_bytes),
        cmocka_unit_test(sparse_rows_and_texts_give_the_same_bytes),
        cmocka_unit_test(folds_give_the_same_metrics),
        cmocka_unit_test(several_slots_give_the_same_bytes),
        cmocka_unit_test(other_methods_are_refused),
        cmocka_unit_test(a_rank_without_memory_ends_all),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
