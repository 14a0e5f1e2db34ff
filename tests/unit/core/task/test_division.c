/* Tests of the division of rows by groups, by an order and by marks: which rows are on which side,
 * that the fits of dn_train use these rows, and what is refused. */
#include "unit/core/support.h"

#include "task/division.h"

enum { N = 600, GROUPS = 60, X = 0, TARGET, GROUP, ORDER, MARK, WORD, COLUMNS };

/* A table: a number, two classes, 60 groups of 1 … 19 rows, an order with equal values, marks as
 * numbers and as words. */
struct sample {
    double number[COLUMNS][N];
    uint32_t code[N], word[N];
    dn_table_column columns[COLUMNS];
    dn_column_view views[COLUMNS];
    dn_table_source *source;
    dn_params *params;
    size_t inputs[1];
    dn_train_request request;
};

static const uint32_t word_start[] = {0, 5, 9};
static char group_names[GROUPS * 3 + 1];

static void sample_init(struct sample *s) {
    static uint32_t start[GROUPS + 1];
    static const char *const names[] = {"x", "y", "group", "order", "mark", "word"};
    unsigned state = 1;
    *s = (struct sample){0};
    for (size_t g = 0; g <= GROUPS; g++) {
        start[g] = (uint32_t)(3 * g);
        if (g < GROUPS) {
            (void)snprintf(group_names + 3 * g, 4, "g%02zu", g % 100);
        }
    }
    for (size_t i = 0; i < N; i++) {
        state = state * 1103515245U + 12345U;
        const size_t g = (state >> 16) % GROUPS, h = (state >> 8) % GROUPS;
        s->code[i] = (uint32_t)(g < h ? g : h); /* the first groups have more rows */
        s->number[TARGET][i] = (state >> 20) % 3 == 0;
        s->number[X][i] = s->number[TARGET][i] + (double)(state >> 24) / 256;
        s->number[GROUP][i] = s->code[i];
        s->number[ORDER][i] = (double)((i * 7919) % N / 4); /* each value has four rows */
        s->number[MARK][i] = i % 5 != 0;
        s->word[i] = i % 5 == 0;
    }
    for (size_t j = 0; j < COLUMNS; j++) {
        const bool text = j == GROUP || j == WORD;
        s->columns[j] =
            (dn_table_column){.name = names[j], .type = text ? DN_CATEGORICAL : DN_NUMERIC};
        s->views[j] =
            (dn_column_view){.type = s->columns[j].type, .n_rows = N, .number = s->number[j]};
    }
    s->views[GROUP].code = s->code;
    s->views[GROUP].strings = (dn_strings){GROUPS, start, group_names};
    s->views[WORD].code = s->word;
    s->views[WORD].strings = (dn_strings){2, word_start, "TrainTest"};
    OK(dn_table_source_from_columns(s->columns, s->views, COLUMNS, N, &s->source, NULL));
    OK(dn_params_new(dn_algorithm_find("logistic"), &s->params, NULL));
    s->request = (dn_train_request){.source = s->source,
                                    .params = s->params,
                                    .target = TARGET,
                                    .features = {.columns = s->inputs, .n_columns = 1}};
}

static void sample_done(struct sample *s) {
    dn_params_free(s->params);
    dn_table_source_free(s->source);
}

static void labels_of(const struct sample *s, dni_labels *out) {
    static const dn_run run = {.n_slots = 1};
    OK(dni_labels_read(&s->request, &run, out, NULL));
}

static dn_run run_of(uint64_t seed) {
    dn_run run = dn_run_default();
    run.seed = seed;
    return run;
}

/* Every group is in one fold; the shares of the classes in the folds are nearly equal; the folds
 * depend on the seed and on the repeat. */
static void groups_stay_together_in_folds(void **state) {
    (void)state;
    enum { FOLDS = 5 };
    struct sample s;
    dni_labels labels;
    uint16_t fold[N], other[N];
    sample_init(&s);
    s.request.folds = FOLDS;
    s.request.repeats = 3;
    s.request.grouped = true;
    s.request.group = GROUP;
    labels_of(&s, &labels);
    dn_run run = run_of(1);
    OK(dni_division_folds(&s.request, 0, &run, &labels, fold, NULL));
    double rows[FOLDS] = {0}, ones[FOLDS] = {0}, all = 0;
    int of_group[GROUPS];
    memset(of_group, -1, sizeof of_group);
    for (size_t i = 0; i < N; i++) {
        assert_true(fold[i] < FOLDS);
        assert_true(of_group[s.code[i]] < 0 || of_group[s.code[i]] == fold[i]);
        of_group[s.code[i]] = fold[i];
        rows[fold[i]]++;
        ones[fold[i]] += s.number[TARGET][i];
        all += s.number[TARGET][i];
    }
    for (size_t f = 0; f < FOLDS; f++) {
        assert_true(fabs(rows[f] - N / FOLDS) <= 3);
        assert_true(fabs(ones[f] - all / FOLDS) <= 4);
    }
    for (size_t repeat = 1; repeat < 3; repeat++) {
        OK(dni_division_folds(&s.request, repeat, &run, &labels, other, NULL));
        assert_true(memcmp(fold, other, sizeof fold) != 0);
    }
    run.seed = 2;
    OK(dni_division_folds(&s.request, 0, &run, &labels, other, NULL));
    assert_true(memcmp(fold, other, sizeof fold) != 0);
    run.seed = 1;
    OK(dni_division_folds(&s.request, 0, &run, &labels, other, NULL));
    assert_memory_equal(fold, other, sizeof fold);
    dni_labels_done(&labels);
    sample_done(&s);
}

/* The held-out groups have about the wanted share of each class, for every seed. Two groups: one of
 * them is held out. */
static void groups_are_held_out(void **state) {
    (void)state;
    struct sample s;
    dni_labels labels;
    dni_split split;
    sample_init(&s);
    s.request.holdout = 0.25;
    s.request.grouped = true;
    s.request.group = GROUP;
    labels_of(&s, &labels);
    for (uint64_t seed = 0; seed < 20; seed++) {
        dn_run run = run_of(seed);
        uint8_t of_group[GROUPS] = {0};
        size_t held = 0;
        OK(dni_division_holdout(&s.request, &run, &labels, &split, NULL));
        for (size_t i = 0; i < N; i++) {
            assert_true(of_group[s.code[i]] == 0 || of_group[s.code[i]] == labels.role[i] + 1);
            of_group[s.code[i]] = (uint8_t)(labels.role[i] + 1);
            held += labels.role[i] == DN_ROW_VALIDATE;
        }
        assert_int_equal(held, split.n_validation);
        assert_int_equal(split.n_train, N - held);
        assert_true(held >= N / 5 && held <= 3 * N / 10);
    }
    dni_labels_done(&labels);
    s.request.group = MARK; /* two groups, of 120 and 480 rows */
    labels_of(&s, &labels);
    dn_run run = run_of(3);
    OK(dni_division_holdout(&s.request, &run, &labels, &split, NULL));
    assert_int_equal(split.n_validation, 120);
    dni_labels_done(&labels);
    sample_done(&s);
}

/* A group that has all rows of a class is a training group of every fold and of the holdout. */
static void groups_of_whole_classes_are_not_held_out(void **state) {
    (void)state;
    struct sample s;
    dni_labels labels;
    dni_split split;
    uint16_t fold[N];
    sample_init(&s);
    for (size_t i = 0; i < N; i++) {
        s.number[TARGET][i] = s.code[i] == 3 ? 2 : s.number[TARGET][i];
    }
    s.request.folds = 4;
    s.request.grouped = true;
    s.request.group = GROUP;
    labels_of(&s, &labels);
    dn_run run = run_of(1);
    OK(dni_division_folds(&s.request, 0, &run, &labels, fold, NULL));
    s.request.folds = 0;
    s.request.holdout = 0.5;
    OK(dni_division_holdout(&s.request, &run, &labels, &split, NULL));
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(fold[i] == 4, s.code[i] == 3);
        assert_true(s.code[i] != 3 || labels.role[i] == DN_ROW_TRAIN);
    }
    dni_labels_done(&labels);
    sample_done(&s);
}

/* Every class keeps a training row, also where several groups together have all rows of a class. */
static void every_class_is_trained_on(void **state) {
    (void)state;
    struct sample s;
    dni_labels labels;
    dni_split split;
    uint16_t fold[N];
    sample_init(&s);
    /* 41 classes; class 40 has one row in each of the groups 0 and 1, which are small */
    for (size_t i = 0; i < N; i++) {
        s.code[i] = i % 40 < 20 ? 0 : 1;
        s.code[i] = i >= 100 ? (uint32_t)(2 + i % 2) : s.code[i];
        s.number[TARGET][i] = i == 0 || i == 20 ? 40 : (double)(i % 40);
    }
    s.request.grouped = true;
    s.request.group = GROUP;
    labels_of(&s, &labels);
    for (uint64_t seed = 0; seed < 20; seed++) {
        dn_run run = run_of(seed);
        for (int way = 0; way < 2; way++) {
            double held[2][41] = {{0}}, all[41] = {0};
            s.request.folds = way == 0 ? 2 : 0;
            s.request.holdout = way == 0 ? 0 : 0.2;
            if (way == 0) {
                OK(dni_division_folds(&s.request, 0, &run, &labels, fold, NULL));
            } else {
                OK(dni_division_holdout(&s.request, &run, &labels, &split, NULL));
            }
            for (size_t i = 0; i < N; i++) {
                const size_t k = (size_t)labels.stratum[i];
                all[k]++;
                if (way == 0 ? fold[i] < 2 : labels.role[i] == DN_ROW_VALIDATE) {
                    held[way == 0 ? fold[i] : 0][k]++;
                }
            }
            for (size_t k = 0; k < labels.n_strata; k++) {
                assert_true(held[0][k] < all[k] && held[1][k] < all[k]);
            }
        }
    }
    dni_labels_done(&labels);
    sample_done(&s);
}

/* The blocks of an order ascend, rows with equal values are in one block, and blocks have about the
 * same size. The last rows are held out. */
static void an_order_is_kept(void **state) {
    (void)state;
    enum { FOLDS = 4 };
    struct sample s;
    dni_labels labels;
    dni_split split;
    uint16_t fold[N];
    sample_init(&s);
    s.request.folds = FOLDS;
    s.request.ordered = true;
    s.request.order = ORDER;
    labels_of(&s, &labels);
    dn_run run = run_of(1);
    OK(dni_division_folds(&s.request, 0, &run, &labels, fold, NULL));
    size_t rows[FOLDS + 1] = {0};
    for (size_t i = 0; i < N; i++) {
        const size_t block = fold[i] == FOLDS ? 0 : (size_t)fold[i] + 1;
        rows[block]++;
        for (size_t k = 0; k < N; k++) {
            const size_t other = fold[k] == FOLDS ? 0 : (size_t)fold[k] + 1;
            assert_true(s.number[ORDER][k] < s.number[ORDER][i]   ? other <= block
                        : s.number[ORDER][k] > s.number[ORDER][i] ? other >= block
                                                                  : other == block);
        }
    }
    for (size_t b = 0; b <= FOLDS; b++) {
        assert_int_equal(rows[b], N / (FOLDS + 1));
    }
    s.request.folds = 0;
    s.request.holdout = 0.1;
    OK(dni_division_holdout(&s.request, &run, &labels, &split, NULL));
    assert_int_equal(split.n_validation, N / 10);
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(labels.role[i] == DN_ROW_VALIDATE, s.number[ORDER][i] >= 135);
    }
    dni_labels_done(&labels);
    sample_done(&s);
}

/* A training on the rows with a nonzero `wanted`, without validation. Other rows have no class. */
static dn_train_result train_on(struct sample *s, const uint8_t *wanted, const dn_run *run) {
    double kept[N];
    dn_train_request request = s->request;
    dn_train_result result = {0};
    request.folds = request.repeats = 0;
    request.holdout = 0;
    request.grouped = request.ordered = request.marked = false;
    memcpy(kept, s->number[TARGET], sizeof kept);
    for (size_t i = 0; i < N; i++) {
        s->number[TARGET][i] = wanted[i] ? kept[i] : (double)NAN;
    }
    OK(dn_train(&request, run, &result, NULL));
    memcpy(s->number[TARGET], kept, sizeof kept);
    return result;
}

/* Returns the mean log loss of a model on some rows. */
static double loss_of(struct sample *s, const dn_model *model, const uint8_t *wanted,
                      const dn_run *run) {
    double kept[N], loss;
    dn_metrics *metrics = NULL;
    memcpy(kept, s->number[TARGET], sizeof kept);
    for (size_t i = 0; i < N; i++) {
        s->number[TARGET][i] = wanted[i] ? kept[i] : (double)NAN;
    }
    OK(dn_model_evaluate(model, s->source, NULL, run, &metrics, NULL));
    memcpy(s->number[TARGET], kept, sizeof kept);
    loss = metrics->log_loss;
    dn_metrics_free(metrics);
    return loss;
}

/* The metrics of each fold of dn_train are those of a training and an evaluation by hand: repeats,
 * groups, and blocks of an order. dn_model_evaluate_held_out has the same rows. */
static void trainings_use_the_division(void **state) {
    (void)state;
    for (int way = 0; way < 3; way++) {
        struct sample s;
        dni_labels labels;
        uint16_t fold[N];
        sample_init(&s);
        s.request.folds = 3;
        s.request.repeats = way == 2 ? 0 : 2;
        s.request.grouped = way == 1;
        s.request.group = GROUP;
        s.request.ordered = way == 2;
        s.request.order = ORDER;
        dn_run run = run_of(7);
        dn_train_result result = {0};
        OK(dn_train(&s.request, &run, &result, NULL));
        labels_of(&s, &labels);
        const size_t n_fits = dni_division_fits(&s.request);
        assert_int_equal(result.n_folds, n_fits);
        dn_metrics **held = calloc(n_fits, sizeof *held);
        OK(dn_model_evaluate_held_out(result.model, &s.request, s.source, &run, held, NULL));
        for (size_t f = 0; f < n_fits; f++) {
            uint8_t train[N] = {0}, validate[N] = {0};
            OK(dni_division_folds(&s.request, f / 3, &run, &labels, fold, NULL));
            for (size_t i = 0; i < N; i++) {
                validate[i] = fold[i] == f % 3;
                train[i] = way == 2 ? fold[i] == 3 || fold[i] < f : fold[i] != f % 3;
            }
            dn_train_result by_hand = train_on(&s, train, &run);
            assert_true(result.folds[f]->log_loss == loss_of(&s, by_hand.model, validate, &run));
            assert_true(held[f]->log_loss == loss_of(&s, result.model, validate, &run));
            dn_metrics_free(held[f]);
            dn_train_result_done(&by_hand);
        }
        free(held);
        dni_labels_done(&labels);
        dn_train_result_done(&result);
        sample_done(&s);
    }
}

/* Marks as numbers and as words give the same training and validation rows. */
static void marks_divide_the_rows(void **state) {
    (void)state;
    struct sample s;
    dn_run run = run_of(1);
    uint8_t train[N], validate[N];
    sample_init(&s);
    for (size_t i = 0; i < N; i++) {
        train[i] = i % 5 != 0;
        validate[i] = !train[i];
    }
    dn_train_result by_hand = train_on(&s, train, &run);
    const double loss = loss_of(&s, by_hand.model, validate, &run);
    for (size_t column = MARK; column <= WORD; column++) {
        dn_train_result result = {0};
        dn_metrics *held = NULL;
        s.request.marked = true;
        s.request.mark = column;
        OK(dn_train(&s.request, &run, &result, NULL));
        assert_int_equal(result.n_train, 480);
        assert_int_equal(result.n_validation, 120);
        assert_true(result.validation->log_loss == loss);
        OK(dn_model_evaluate_held_out(result.model, &s.request, s.source, &run, &held, NULL));
        assert_true(held->log_loss == loss);
        dn_metrics_free(held);
        dn_train_result_done(&result);
    }
    dn_train_result_done(&by_hand);
    sample_done(&s);
}

/* Most rows have one value of the order. Each block has a value, and equal values one block. */
static void few_values_are_blocks(void **state) {
    (void)state;
    enum { FOLDS = 4 };
    struct sample s;
    dn_run run = run_of(1);
    uint16_t fold[N];
    sample_init(&s);
    s.request.ordered = true;
    s.request.order = ORDER;
    s.request.folds = FOLDS;
    for (size_t big = 0; big <= FOLDS; big++) {
        dni_labels labels;
        for (size_t i = 0; i < N; i++) {
            s.number[ORDER][i] = i % 10 == 0 ? (double)(i / 10 % (FOLDS + 1)) : (double)big;
        }
        OK(dni_labels_read(&s.request, &run, &labels, NULL));
        if (big > 0) { /* the first block has rows of all classes */
            for (size_t i = 0; i < 20; i++) {
                s.number[ORDER][i] = 0;
            }
        }
        OK(dni_division_folds(&s.request, 0, &run, &labels, fold, NULL));
        for (size_t i = 0; i < N; i++) {
            const size_t block = (size_t)s.number[ORDER][i];
            assert_int_equal(fold[i], block == 0 ? FOLDS : block - 1);
        }
        dni_labels_done(&labels);
    }
    sample_done(&s);
}

static void refuse(const dn_train_request *request, dn_status wanted, const char *text) {
    dn_train_result result = {0};
    dn_error err;
    dn_error_clear(&err);
    assert_int_equal(dn_train(request, NULL, &result, &err), wanted);
    if (strstr(err.message, text) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", text, err.message);
    }
}

static void bad_columns_are_refused(void **state) {
    (void)state;
    struct sample s;
    sample_init(&s);
    dn_train_request r = s.request;
    r.grouped = true;
    r.group = GROUP;
    refuse(&r, DN_ERR_ARGUMENT, "needs a holdout or a number of folds");
    r.folds = 61;
    refuse(&r, DN_ERR_DATA, "61 folds need at least 61 groups, and group column \"group\" has ");
    r.folds = 3;
    r.ordered = true;
    refuse(&r, DN_ERR_ARGUMENT, "exclude each other");
    r.ordered = false;
    r.group = TARGET;
    refuse(&r, DN_ERR_ARGUMENT, "must not be the target");
    r.group = GROUP;
    s.code[17] = DN_CODE_MISSING;
    refuse(&r, DN_ERR_DATA, "group column \"group\", row 17: the value is missing");
    r.grouped = false;
    r.ordered = true;
    r.order = GROUP;
    refuse(&r, DN_ERR_DATA, "order column \"group\" must be numeric or a datetime");
    r.order = ORDER;
    r.folds = 200;
    refuse(&r, DN_ERR_DATA,
           "different values; rows with equal values stay together, and 200 folds need 201");
    r.folds = 3;
    r.repeats = 2;
    refuse(&r, DN_ERR_ARGUMENT, "must be 1 if the rows have an order");
    r.repeats = 0;
    s.number[ORDER][5] = (double)NAN;
    refuse(&r, DN_ERR_DATA, "order column \"order\", row 5: the value is missing");
    for (size_t i = 0; i < N; i++) {
        s.number[ORDER][i] = 1;
    }
    r.folds = 0;
    r.holdout = 0.5;
    refuse(&r, DN_ERR_DATA, "has the same value in all rows");
    for (size_t i = 0; i < N; i++) {
        s.number[ORDER][i] = s.number[TARGET][i];
    }
    refuse(&r, DN_ERR_DATA, "class \"1\" has no row among the training rows");
    r = s.request;
    r.marked = true;
    r.mark = GROUP;
    refuse(&r, DN_ERR_DATA, "(got \"g");
    r.mark = MARK;
    r.folds = 2;
    refuse(&r, DN_ERR_ARGUMENT, "marks exclude every other validation");
    r.folds = 0;
    s.number[MARK][9] = (double)NAN;
    refuse(&r, DN_ERR_DATA, "split column \"mark\", row 9: the value is missing");
    for (size_t i = 0; i < N; i++) {
        s.number[MARK][i] = 1;
    }
    refuse(&r, DN_ERR_DATA, "marks no validation row");
    r = s.request;
    r.folds = 50;
    r.repeats = 30;
    refuse(&r, DN_ERR_ARGUMENT, "30 repeats of 50 folds are more than 1000 fits");
    sample_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_stay_together_in_folds),
        cmocka_unit_test(groups_are_held_out),
        cmocka_unit_test(groups_of_whole_classes_are_not_held_out),
        cmocka_unit_test(every_class_is_trained_on),
        cmocka_unit_test(an_order_is_kept),
        cmocka_unit_test(trainings_use_the_division),
        cmocka_unit_test(marks_divide_the_rows),
        cmocka_unit_test(few_values_are_blocks),
        cmocka_unit_test(bad_columns_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
