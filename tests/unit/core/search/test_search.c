/* Tests of the model search: its figures are those of dn_train, they do not depend on threads,
 * memory or interruptions, and rows of the validation have no effect. */
#include "unit/core/support.h"

#include <discern/search.h>
#include <pthread.h>

enum { N = 700, D = 5, K = 3, FOLDS = 4, MOST = 12 };

/* A table of three clouds, and candidates of several methods. */
struct sample {
    struct csv *rows;
    struct table *table;
    dn_params *params[MOST];
    dn_candidate candidates[MOST];
    dn_train_request training;
    dn_search_request request;
    size_t n_ended, stop_after; /* trials received; number after which the run stops */
};

static void add(struct sample *s, const char *algorithm, const char *name, double value) {
    dn_params *p = NULL;
    OK(dn_params_new(dn_algorithm_find(algorithm), &p, NULL));
    OK(dn_params_set_number(p, name, value, NULL));
    const size_t i = s->request.n_candidates++;
    s->params[i] = p;
    s->candidates[i] = (dn_candidate){p, s->training.features};
    s->candidates[i].features.standardize = dn_params_standardizes(p);
}

static void ended(void *ctx, const dn_trial *trial) {
    struct sample *s = ctx;
    assert_true(trial->status != DN_OK || trial->n_values == FOLDS);
    s->n_ended++;
}

static void sample_init(struct sample *s) {
    *s = (struct sample){0};
    s->rows = csv_clouds(N, D, K);
    s->table = table_of(s->rows);
    s->training = table_request(s->rows, s->table, NULL);
    s->request = (dn_search_request){.training = &s->training,
                                     .candidates = s->candidates,
                                     .metric = 3,
                                     .folds = FOLDS,
                                     .trial = ended,
                                     .ctx = s};
    assert_string_equal(dn_metric_name(s->request.metric), "log_loss");
}

static void sample_done(struct sample *s) {
    for (size_t i = 0; i < s->request.n_candidates; i++) {
        dn_params_free(s->params[i]);
    }
    columns_table_free(s->table);
    csv_free(s->rows);
}

/* Logistic regression from much to little penalty, k nearest neighbours, naive Bayes. */
static void add_methods(struct sample *s) {
    add(s, "logistic", "lambda", 0.3);
    add(s, "logistic", "lambda", 0.01);
    add(s, "logistic", "lambda", 1e-4);
    add(s, "knn", "k", 7);
    add(s, "knn", "k", 25);
    add(s, "naive_bayes", "smoothing", 1);
}

static const dn_trial *trial_of(const dn_search_result *result, size_t candidate) {
    size_t i = 0;
    while (i + 1 < result->n_trials && result->trials[i].candidate != candidate) {
        i++;
    }
    assert_int_equal(result->trials[i].candidate, candidate);
    return &result->trials[i];
}

static void assert_same(const dn_search_result *a, const dn_search_result *b) {
    assert_int_equal(a->winner, b->winner);
    assert_int_equal(a->n_trials, b->n_trials);
    for (size_t i = 0; i < a->n_trials; i++) {
        const dn_trial *x = &a->trials[i], *y = &b->trials[i];
        assert_int_equal(x->candidate, y->candidate);
        assert_int_equal(x->n_values, y->n_values);
        assert_memory_equal(x->values, y->values, x->n_values * sizeof(double));
        assert_true(x->mean == y->mean && x->error == y->error && x->bytes == y->bytes);
    }
}

/* The metric of each fold is that of a cross-validation by dn_train. */
static void trials_are_cross_validations(void **state) {
    (void)state;
    struct sample s;
    dn_search_result result = {0};
    sample_init(&s);
    add_methods(&s);
    add(&s, "svm", "C", 2);
    OK(dn_params_set_word(s.params[6], "calibrate", "platt", NULL));
    s.training.class_weight = DN_CLASS_WEIGHT_BALANCED;
    OK(dn_search(&s.request, NULL, &result, NULL));
    assert_int_equal(s.n_ended, s.request.n_candidates);
    assert_true(result.complete && result.n_rows == N);
    for (size_t c = 0; c < s.request.n_candidates; c++) {
        const dn_trial *trial = trial_of(&result, c);
        dn_train_request request = s.training;
        dn_train_result by_hand = {0};
        request.params = s.params[c];
        request.features = s.candidates[c].features;
        request.folds = FOLDS;
        OK(dn_train(&request, NULL, &by_hand, NULL));
        double sum = 0, squares = 0;
        for (size_t f = 0; f < FOLDS; f++) {
            const double value = by_hand.folds[f]->log_loss;
            assert_near(trial->values[f], value, 1e-8);
            sum += value;
            squares += value * value;
        }
        assert_near(trial->mean, sum / FOLDS, 1e-8);
        assert_near(trial->error, sqrt((squares - sum * sum / FOLDS) / (FOLDS - 1) / FOLDS), 1e-6);
        assert_true(result.trials[0].mean <= trial->mean);
        dn_train_result_done(&by_hand);
    }
    assert_int_equal(result.winner, result.trials[0].candidate);
    dn_search_result_done(&result);
    sample_done(&s);
}

/* One row is left out at a time; with marks there is one fit. */
static void rows_are_left_out(void **state) {
    (void)state;
    struct sample s;
    dn_search_result result = {0};
    dn_train_result by_hand = {0};
    dn_error err;
    dn_error_clear(&err);
    sample_init(&s);
    s.request.trial = NULL;
    add(&s, "naive_bayes", "smoothing", 1);
    s.request.folds = DN_LEAVE_ONE_OUT;
    OK(dn_search(&s.request, NULL, &result, NULL));
    dn_train_request request = s.training;
    request.params = s.params[0];
    request.features = s.candidates[0].features;
    request.folds = N;
    OK(dn_train(&request, NULL, &by_hand, NULL));
    assert_int_equal(result.trials[0].n_values, N);
    for (size_t f = 0; f < N; f++) {
        assert_near(result.trials[0].values[f], by_hand.folds[f]->log_loss, 1e-12);
    }
    dn_train_result_done(&by_hand);
    dn_search_result_done(&result);
    s.request.repeats = 2;
    assert_int_equal(dn_search(&s.request, NULL, &result, &err), DN_ERR_ARGUMENT);
    s.request.repeats = 1;

    for (size_t i = 0; i < N; i++) { /* the last column becomes marks */
        s.table->numbers[(D - 1) * N + i] = i % 4 != 0;
    }
    s.training.features.n_columns = D - 1;
    s.candidates[0].features.n_columns = D - 1;
    s.request.marked = true;
    s.request.mark = D - 1;
    dn_error_clear(&err);
    assert_int_equal(dn_search(&s.request, NULL, &result, &err), DN_ERR_ARGUMENT);
    assert_string_equal(err.message, "marks exclude folds, repeats, groups and an order");
    s.request.folds = 0;
    s.request.strategy = DN_SEARCH_HALVING;
    OK(dn_search(&s.request, NULL, &result, NULL));
    request.folds = 0;
    request.marked = true;
    request.mark = D - 1;
    request.features.n_columns = D - 1;
    OK(dn_train(&request, NULL, &by_hand, NULL));
    assert_int_equal(by_hand.n_validation, N / 4);
    assert_near(result.trials[0].mean, by_hand.validation->log_loss, 1e-12);
    assert_true(isnan(result.trials[0].error) && result.trials[0].n_values == 1);
    assert_int_equal(result.n_rows, N);
    dn_train_result_done(&by_hand);
    dn_search_result_done(&result);
    sample_done(&s);
}

/* ---- threads and memory ---- */
struct half {
    const dn_run *run;
    const dn_rows *rows;
    dn_each_fn fn;
    void *arg;
    size_t slot;
    dn_status status;
};

static void *run_half(void *arg) {
    struct half *h = arg;
    for (size_t i = h->slot; i < h->rows->n_blocks && h->status == DN_OK; i += 2) {
        h->status = dn_run_each_block(h->run, h->rows, i, h->slot, h->fn, h->arg, NULL);
    }
    return NULL;
}

/* dn_run.each with two threads. */
static dn_status each_on_two_threads(const dn_run *run, const dn_rows *rows, dn_each_fn fn,
                                     void *arg, dn_error *err) {
    struct half halves[2] = {{run, rows, fn, arg, 0, DN_OK}, {run, rows, fn, arg, 1, DN_OK}};
    pthread_t other;
    (void)err;
    assert_int_equal(pthread_create(&other, NULL, run_half, &halves[1]), 0);
    run_half(&halves[0]);
    pthread_join(other, NULL);
    return halves[0].status != DN_OK ? halves[0].status : halves[1].status;
}

/* Threads, the order of partial sums, and streamed rows do not change a bit. */
static void the_result_is_the_same_for_any_run(void **state) {
    (void)state;
    struct sample s;
    dn_search_result plain = {0}, other = {0};
    sample_init(&s);
    add_methods(&s);
    OK(dn_search(&s.request, NULL, &plain, NULL));
    dn_run threads = dn_run_default(), reverse = dn_run_default(), tight = dn_run_default();
    struct memory memory = {.left = 80000}; /* encoded rows of four folds are 84,000 bytes */
    const dn_allocator allocator = memory_allocator(&memory, true);
    threads.each = each_on_two_threads;
    threads.n_slots = 2;
    reverse.each = each_in_reverse;
    reverse.sum = sum_in_ranges;
    reverse.n_slots = 3;
    tight.allocator = &allocator;
    const dn_run *const runs[] = {&threads, &reverse, &tight};
    for (size_t i = 0; i < 3; i++) {
        s.request.n_candidates = i == 2 ? 3 : 6; /* neighbours keep rows in memory */
        if (i == 2) {
            dn_search_result_done(&plain);
            OK(dn_search(&s.request, NULL, &plain, NULL));
        }
        OK(dn_search(&s.request, runs[i], &other, NULL));
        assert_same(&plain, &other);
        dn_search_result_done(&other);
    }
    s.request.n_candidates = 6;
    assert_int_equal(memory.live, 0);
    dn_search_result_done(&plain);
    sample_done(&s);
}

/* Kernel methods keep the kernel matrix of a fold from one C to the next. */
static void kernels_are_shared(void **state) {
    (void)state;
    struct sample s;
    dn_search_result together = {0}, alone = {0};
    sample_init(&s);
    add(&s, "svm", "C", 0.1);
    add(&s, "svm", "C", 1);
    add(&s, "svm", "C", 10);
    for (size_t i = 0; i < 3; i++) {
        OK(dn_params_set_word(s.params[i], "kernel", "rbf", NULL));
        OK(dn_params_set_number(s.params[i], "kernel.width", 1.5, NULL));
    }
    s.request.metric = 0;
    dn_run threads = dn_run_default();
    threads.each = each_on_two_threads;
    threads.n_slots = 2;
    OK(dn_search(&s.request, &threads, &together, NULL));
    for (size_t c = 0; c < 3; c++) {
        dn_search_request one = s.request;
        one.candidates = &s.candidates[c];
        one.n_candidates = 1;
        OK(dn_search(&one, NULL, &alone, NULL));
        assert_memory_equal(alone.trials[0].values, trial_of(&together, c)->values,
                            FOLDS * sizeof(double));
        dn_search_result_done(&alone);
    }
    dn_search_result_done(&together);
    sample_done(&s);
}

/* Memory of at most `limit` bytes. n_large: number of blocks of at least `large` bytes. */
struct budget {
    size_t limit, used, peak, large, n_large;
};

static bool budget_charge(void *ctx, size_t size) {
    struct budget *b = ctx;
    if (size > b->limit - b->used) {
        return false;
    }
    b->used += size;
    b->peak = b->used > b->peak ? b->used : b->peak;
    return true;
}

static void budget_discharge(void *ctx, size_t size) {
    ((struct budget *)ctx)->used -= size;
}

/* The size precedes each block. */
static void *budget_allocate(void *ctx, size_t size) {
    struct budget *b = ctx;
    if (!budget_charge(ctx, size)) {
        return NULL;
    }
    max_align_t *memory = xcalloc(1, sizeof *memory + size);
    memcpy(memory, &size, sizeof size);
    b->n_large += size >= b->large;
    return memory + 1;
}

static void budget_release(void *ctx, void *block) {
    max_align_t *memory = block;
    size_t size;
    if (memory != NULL) {
        memcpy(&size, memory - 1, sizeof size);
        budget_discharge(ctx, size);
        free(memory - 1);
    }
}

static void search_within(const struct sample *s, struct budget *b) {
    const dn_allocator allocator = {.allocate = budget_allocate,
                                    .release = budget_release,
                                    .charge = budget_charge,
                                    .discharge = budget_discharge,
                                    .ctx = b,
                                    .budgeted = true};
    dn_run run = dn_run_default();
    dn_search_result result = {0};
    run.allocator = &allocator;
    OK(dn_search(&s->request, &run, &result, NULL));
    assert_int_equal(result.n_trials, s->request.n_candidates);
    assert_int_equal(result.trials[0].status, DN_OK);
    dn_search_result_done(&result);
    assert_int_equal(b->used, 0);
}

/* In little memory a search gives up the kernel values of held-out rows before the kernel matrices
 * of the folds. */
static void matrices_are_kept_before_scores(void **state) {
    (void)state;
    struct sample s;
    sample_init(&s);
    add(&s, "svm", "C", 0.1);
    add(&s, "svm", "C", 1);
    for (size_t i = 0; i < 2; i++) {
        OK(dn_params_set_word(s.params[i], "kernel", "rbf", NULL));
        OK(dn_params_set_number(s.params[i], "kernel.width", 1.5, NULL));
    }
    s.request.metric = 0;
    struct budget all = {.limit = SIZE_MAX, .large = 2000000}; /* the kernel matrix of a fold */
    search_within(&s, &all);
    assert_int_equal(all.n_large, FOLDS);
    for (size_t percent = 50; percent <= 90; percent += 20) { /* the scores take some 20 */
        struct budget little = {.limit = all.peak / 100 * percent, .large = all.large};
        search_within(&s, &little);
        assert_true((little.n_large == FOLDS) == (percent == 90));
    }
    sample_done(&s);
}

/* The dual variables of a fit without an intercept satisfy no equality constraint: a fit with an
 * intercept does not start from them. */
static void starts_are_feasible(void **state) {
    (void)state;
    struct sample s;
    dn_search_result together = {0}, alone = {0};
    sample_init(&s);
    add(&s, "svm", "C", 10);
    add(&s, "svm", "C", 11);
    for (size_t i = 0; i < 2; i++) {
        OK(dn_params_set_word(s.params[i], "kernel", "rbf", NULL));
        OK(dn_params_set_number(s.params[i], "kernel.width", 1.5, NULL));
        OK(dn_params_set_number(s.params[i], "tolerance", 1e-9, NULL));
        OK(dn_params_set_word(s.params[i], "multiclass", "one_vs_rest", NULL));
        OK(dn_params_set_word(s.params[i], "intercept", i == 0 ? "none" : "free", NULL));
    }
    while (strcmp(dn_metric_name(s.request.metric), "hinge") != 0) {
        s.request.metric++;
    }
    OK(dn_search(&s.request, NULL, &together, NULL));
    s.request.candidates = &s.candidates[1];
    s.request.n_candidates = 1;
    OK(dn_search(&s.request, NULL, &alone, NULL));
    for (size_t f = 0; f < FOLDS; f++) {
        assert_near(trial_of(&together, 1)->values[f], alone.trials[0].values[f], 1e-7);
    }
    s.request.n_candidates = 2;
    dn_search_result_done(&together);
    dn_search_result_done(&alone);
    sample_done(&s);
}

/* ---- the rows ---- */
/* The validation rows have no effect: numbers in them may be anything. */
static void validation_rows_are_not_seen(void **state) {
    (void)state;
    struct sample s;
    dn_search_result before = {0}, after = {0};
    sample_init(&s);
    double *mark = s.table->numbers + (D - 1) * N;
    s.training.features.n_columns = D - 1;
    s.training.marked = true;
    s.training.mark = D - 1;
    add_methods(&s);
    for (size_t i = 0; i < N; i++) {
        mark[i] = i % 4 != 0;
    }
    OK(dn_search(&s.request, NULL, &before, NULL));
    assert_int_equal(before.n_rows, N - N / 4);
    for (size_t i = 0; i < N; i += 4) {
        for (size_t j = 0; j < D - 1; j++) {
            s.table->numbers[j * N + i] = 1e6 * (double)(i % 3);
        }
    }
    OK(dn_search(&s.request, NULL, &after, NULL));
    assert_same(&before, &after);
    dn_search_result_done(&before);
    dn_search_result_done(&after);
    sample_done(&s);
}

/* ---- interruptions ---- */
static dn_status stop_after(const dn_run *run) {
    const struct sample *s = run->ctx;
    return s->n_ended >= s->stop_after ? DN_ERR_STOPPED : DN_OK;
}

/* A search that was stopped has the trials that ended, and continues with the others. */
static void a_search_continues(void **state) {
    (void)state;
    struct sample s;
    dn_search_result whole = {0}, part = {0}, rest = {0};
    sample_init(&s);
    add_methods(&s);
    OK(dn_search(&s.request, NULL, &whole, NULL));
    for (size_t n = 0; n < 6; n++) {
        dn_run run = dn_run_default();
        run.stop = stop_after;
        run.ctx = &s;
        s.n_ended = 0;
        s.stop_after = n;
        dn_error err;
        dn_error_clear(&err);
        const dn_status status = dn_search(&s.request, &run, &part, &err);
        assert_int_equal(status, n == 0 ? DN_ERR_STOPPED : DN_OK);
        if (n == 0) {
            assert_int_equal(err.code, DN_ERR_STOPPED);
            continue;
        }
        assert_false(part.complete);
        assert_int_equal(part.n_trials, n);
        dn_search_request next = s.request;
        next.known = part.trials;
        next.n_known = part.n_trials;
        s.n_ended = 0;
        OK(dn_search(&next, NULL, &rest, NULL));
        assert_int_equal(s.n_ended, 6 - n);
        assert_true(rest.complete);
        assert_int_equal(rest.winner, whole.winner);
        for (size_t c = 0; c < 6; c++) {
            assert_near(trial_of(&rest, c)->mean, trial_of(&whole, c)->mean, 1e-8);
        }
        dn_search_result_done(&part);
        dn_search_result_done(&rest);
    }
    dn_search_result_done(&whole);
    sample_done(&s);
}

static double half_a_second_for_each_trial(const dn_run *run) {
    const struct sample *s = run->ctx;
    return (double)s->n_ended / 2;
}

static void the_time_is_limited(void **state) {
    (void)state;
    struct sample s;
    dn_search_result result = {0};
    sample_init(&s);
    add_methods(&s);
    dn_run run = dn_run_default();
    run.elapsed = half_a_second_for_each_trial;
    run.ctx = &s;
    s.request.seconds = 1.25;
    OK(dn_search(&s.request, &run, &result, NULL));
    assert_int_equal(result.n_trials, 3);
    assert_false(result.complete);
    dn_search_result_done(&result);
    sample_done(&s);
}

/* ---- strategies and rules ---- */
/* Halving drops candidates on few rows; the winner was fitted to all rows, with the figures that it
 * has without halving. */
static void halving_drops_candidates(void **state) {
    (void)state;
    enum { ROWS = 6000, CANDIDATES = 9 };
    struct sample s;
    dn_search_result all = {0}, halved = {0};
    sample_init(&s);
    columns_table_free(s.table);
    csv_free(s.rows);
    s.rows = csv_clouds(ROWS, D, K);
    s.table = table_of(s.rows);
    s.training = table_request(s.rows, s.table, NULL);
    for (int i = 0; i < CANDIDATES; i++) {
        add(&s, "logistic", "lambda", pow(10, 1 - i));
    }
    OK(dn_search(&s.request, NULL, &all, NULL));
    s.request.strategy = DN_SEARCH_HALVING;
    s.n_ended = 0;
    OK(dn_search(&s.request, NULL, &halved, NULL));
    assert_int_equal(s.n_ended, 9 + 3);
    assert_int_equal(halved.n_trials, CANDIDATES);
    for (size_t i = 0; i < CANDIDATES; i++) {
        assert_near(halved.trials[i].share, i < 3 ? 1 : 1.0 / 3, 1e-12);
    }
    const dn_trial *winner = trial_of(&halved, halved.winner);
    assert_true(winner->share == 1);
    assert_near(winner->mean, trial_of(&all, halved.winner)->mean, 1e-8);
    assert_true(winner->mean - all.trials[0].mean <= all.trials[0].error);
    dn_search_result_done(&all);
    dn_search_result_done(&halved);
    sample_done(&s);
}

/* One standard error: the greatest lambda whose mean is near enough. */
static void the_simplest_of_the_good_ones_wins(void **state) {
    (void)state;
    struct sample s;
    dn_search_result result = {0};
    sample_init(&s);
    for (int i = 0; i < MOST; i++) {
        add(&s, "logistic", "lambda", pow(10, -(MOST - 1 - i) / 2.0));
    }
    s.request.rule = DN_SEARCH_ONE_STANDARD_ERROR;
    OK(dn_search(&s.request, NULL, &result, NULL));
    const dn_trial *best = &result.trials[0];
    size_t wanted = 0;
    for (size_t c = 0; c < MOST; c++) {
        wanted = trial_of(&result, c)->mean <= best->mean + best->error ? c : wanted;
    }
    assert_int_equal(result.winner, wanted);
    assert_true(wanted != best->candidate);
    dn_search_result_done(&result);
    sample_done(&s);
}

/* The figures of fits that end before they have converged are those of the candidate alone. */
static void unconverged_fits_start_alone(void **state) {
    (void)state;
    struct sample s;
    dn_search_result path = {0}, alone = {0};
    sample_init(&s);
    add(&s, "logistic", "lambda", 0.1);
    add(&s, "logistic", "lambda", 0.01);
    add(&s, "logistic", "lambda", 1e-3);
    for (size_t c = 0; c < 3; c++) {
        OK(dn_params_set_word(s.params[c], "solver", "lbfgs", NULL));
        OK(dn_params_set_number(s.params[c], "max_iterations", 2, NULL));
    }
    OK(dn_search(&s.request, NULL, &path, NULL));
    for (size_t c = 0; c < 3; c++) {
        dn_search_request one = s.request;
        one.candidates = &s.candidates[c];
        one.n_candidates = 1;
        OK(dn_search(&one, NULL, &alone, NULL));
        const dn_trial *trial = trial_of(&path, c);
        assert_int_equal(trial->n_unconverged, FOLDS);
        assert_memory_equal(trial->values, alone.trials[0].values, FOLDS * sizeof(double));
        dn_search_result_done(&alone);
    }
    dn_search_result_done(&path);
    sample_done(&s);
}

/* ---- failures ---- */
static void a_candidate_may_fail(void **state) {
    (void)state;
    struct sample s;
    dn_search_result result = {0};
    dn_error err;
    sample_init(&s);
    add_methods(&s);
    add(&s, "least_squares", "lambda", 0);
    const double list[] = {1, 2};
    OK(dn_params_set_list(s.params[1], "init", list, 2, NULL)); /* of the wrong length */
    dn_error_clear(&err);
    OK(dn_search(&s.request, NULL, &result, &err));
    const dn_trial *failed = trial_of(&result, 1), *without = trial_of(&result, 6);
    assert_int_equal(failed->status, DN_ERR_ARGUMENT);
    assert_string_equal(failed->field, "init");
    assert_true(isnan(failed->mean) && failed->n_values == 0);
    assert_true(without->bytes == 0 && without->n_warnings == 0 && without->fit_seconds == 0);
    assert_int_equal(without->status, DN_ERR_DATA); /* least squares has no probabilities */
    assert_non_null(strstr(without->message, "no finite log_loss"));
    assert_int_equal(result.n_trials, 7);
    assert_true(result.complete && result.trials[4].status == DN_OK);
    dn_search_result_done(&result);
    dn_search_request bad = s.request;
    bad.candidates = &s.candidates[1];
    bad.n_candidates = 1;
    assert_int_equal(dn_search(&bad, NULL, &result, &err), DN_ERR_ARGUMENT);
    assert_string_equal(err.field, "init");
    sample_done(&s);
}

static void refuse(const dn_search_request *request, dn_status wanted, const char *words) {
    dn_search_result result = {0};
    dn_error err;
    dn_error_clear(&err);
    assert_int_equal(dn_search(request, NULL, &result, &err), wanted);
    if (strstr(err.message, words) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", words, err.message);
    }
}

static void bad_requests_are_refused(void **state) {
    (void)state;
    struct sample s;
    sample_init(&s);
    refuse(&s.request, DN_ERR_ARGUMENT, "no candidates");
    add_methods(&s);
    dn_search_request r = s.request;
    r.folds = 1;
    refuse(&r, DN_ERR_ARGUMENT, "from 2 to 1000");
    r.folds = 701;
    refuse(&r, DN_ERR_DATA, "701 folds need at least 701 rows");
    r = s.request;
    r.metric = 1000;
    refuse(&r, DN_ERR_ARGUMENT, "no such metric");
    r = s.request;
    r.repeats = 300;
    refuse(&r, DN_ERR_ARGUMENT, "must be at most 100");
    const dn_candidate none[] = {s.candidates[0], {0}};
    r = s.request;
    r.candidates = none;
    r.n_candidates = 2;
    refuse(&r, DN_ERR_ARGUMENT, "the params of a candidate must not be NULL");
    dn_params *outliers = NULL;
    OK(dn_params_new(dn_algorithm_find("one_class_svm"), &outliers, NULL));
    const dn_candidate targetless = {.params = outliers};
    r.candidates = &targetless;
    r.n_candidates = 1;
    refuse(&r, DN_ERR_ARGUMENT, "has no target");
    dn_params_free(outliers);
    s.training.folds = 3;
    refuse(&s.request, DN_ERR_ARGUMENT, "must not be folds");
    s.training.folds = 0;
    s.training.target = DN_NO_TARGET;
    refuse(&s.request, DN_ERR_ARGUMENT, "needs a target");
    r.training = NULL;
    refuse(&r, DN_ERR_ARGUMENT, "must not be NULL");
    sample_done(&s);
}

/* Each allocation of the run fails once: the search fails, or the candidate is tried with less
 * memory, and nothing is lost. */
static void memory_may_fail(void **state) {
    (void)state;
    struct sample s;
    sample_init(&s);
    add(&s, "logistic", "lambda", 0.1);
    add(&s, "naive_bayes", "smoothing", 1);
    for (size_t k = 1;; k++) {
        struct memory memory = {.fail_at = k, .left = SIZE_MAX};
        const dn_allocator allocator = memory_allocator(&memory, true);
        dn_run run = dn_run_default();
        dn_search_result result = {0};
        run.allocator = &allocator;
        const dn_status status = dn_search(&s.request, &run, &result, NULL);
        assert_true(status == DN_OK || status == DN_ERR_BUDGET);
        dn_search_result_done(&result);
        assert_int_equal(memory.live, 0);
        if (memory.count < k) {
            assert_true(k > 20);
            break;
        }
    }
    sample_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trials_are_cross_validations),
        cmocka_unit_test(rows_are_left_out),
        cmocka_unit_test(the_result_is_the_same_for_any_run),
        cmocka_unit_test(kernels_are_shared),
        cmocka_unit_test(matrices_are_kept_before_scores),
        cmocka_unit_test(starts_are_feasible),
        cmocka_unit_test(validation_rows_are_not_seen),
        cmocka_unit_test(a_search_continues),
        cmocka_unit_test(the_time_is_limited),
        cmocka_unit_test(halving_drops_candidates),
        cmocka_unit_test(the_simplest_of_the_good_ones_wins),
        cmocka_unit_test(unconverged_fits_start_alone),
        cmocka_unit_test(a_candidate_may_fail),
        cmocka_unit_test(bad_requests_are_refused),
        cmocka_unit_test(memory_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
