/* Tests of combined models: the probabilities are the product of those of the members, the shares
 * are optimal, and a search makes a combination win only where it is better. */
#include "unit/core/support.h"

#include "lib/random.h"
#include "search/search_shares.h"
#include <discern/search.h>

enum { N = 1600, D = 5, FOLDS = 4, MOST = 6 };

/* ---- a table that no single method fits: a linear effect and a checkerboard ---- */
static struct csv *make_rows(size_t n, uint64_t seed) {
    struct csv *t = xcalloc(1, sizeof *t);
    t->n = n;
    t->d = D;
    t->names = xcalloc(D + 1, sizeof(*t->names));
    t->x = xcalloc(n * D, sizeof *t->x);
    t->labels = xcalloc(n, sizeof(*t->labels));
    for (size_t j = 0; j <= D; j++) {
        char name[] = "a";
        name[0] = (char)('a' + j);
        t->names[j] = csv_copy(name);
    }
    for (size_t i = 0; i < n; i++) {
        double *x = t->x + i * D;
        for (size_t j = 0; j < D; j++) {
            x[j] = 4 * random_unit(&seed) - 2;
        }
        const double board = (x[3] > 0) == (x[4] > 0) ? 2 : -2,
                     g = x[0] - 1.5 * x[1] + x[2] + board;
        t->labels[i] = csv_copy(random_unit(&seed) < 1 / (1 + exp(-g)) ? "yes" : "no");
    }
    csv_classify(t);
    return t;
}

struct sample {
    struct csv *rows;
    struct table *table;
    dn_params *params[MOST];
    dn_encoder_spec features[MOST];
    dn_candidate candidates[MOST];
    dn_train_request training;
    dn_search_request request;
    size_t n, n_ended;
    dn_trial last;
};

static void add(struct sample *s, const char *algorithm, const char *name, double value) {
    dn_params *p = NULL;
    OK(dn_params_new(dn_algorithm_find(algorithm), &p, NULL));
    OK(dn_params_set_number(p, name, value, NULL));
    s->params[s->n] = p;
    s->features[s->n] = s->training.features;
    s->features[s->n].standardize = dn_params_standardizes(p);
    s->candidates[s->n] = (dn_candidate){p, s->features[s->n]};
    s->request.n_candidates = ++s->n;
}

static void ended(void *ctx, const dn_trial *trial) {
    struct sample *s = ctx;
    s->n_ended++;
    s->last = *trial;
}

static void sample_init(struct sample *s) {
    *s = (struct sample){0};
    s->rows = make_rows(N, 7);
    s->table = table_of(s->rows);
    s->training = table_request(s->rows, s->table, NULL);
    s->request = (dn_search_request){.training = &s->training,
                                     .candidates = s->candidates,
                                     .metric = 3,
                                     .folds = FOLDS,
                                     .trial = ended,
                                     .ctx = s,
                                     .combine = 3};
    assert_string_equal(dn_metric_name(s->request.metric), "log_loss");
    add(s, "logistic", "lambda", 1e-3);
    add(s, "logistic", "lambda", 10);
    add(s, "knn", "k", 45);
    add(s, "naive_bayes", "smoothing", 1);
}

static void sample_done(struct sample *s) {
    for (size_t i = 0; i < s->n; i++) {
        dn_params_free(s->params[i]);
    }
    columns_table_free(s->table);
    csv_free(s->rows);
}

/* p [n × K] of raw rows. */
static double *predict(const dn_model *model, const struct csv *t) {
    const size_t K = dn_model_classes(model)->n;
    double *p = xcalloc(t->n * K, sizeof *p),
           *work = xcalloc(dn_model_workspace(model) + 1, sizeof *work);
    const dn_prediction out = {.probabilities = p};
    assert_int_equal(dn_model_predict(model, (dn_raw_rows){.n = t->n, .value = t->x}, work, &out),
                     t->n);
    free(work);
    return p;
}

static double log_loss(const double *p, const struct csv *t) {
    double sum = 0;
    for (size_t i = 0; i < t->n; i++) {
        sum -= log(p[i * t->K + (size_t)t->target[i]]);
    }
    return sum / (double)t->n;
}

/* ---- models ---- */
/* Four methods with encoders of three kinds: standardised, plain, and with a basis of so many
 * features that rows are read in pieces. */
static void make_members(struct sample *s, dn_basis_spec *basis, dn_member *members) {
    const double shares[] = {0.5, 0, 0.8, 0.3, 0.25};
    *basis = (dn_basis_spec){.kind = DN_BASIS_POLYNOMIAL, .degree = 5, .interactions = true};
    add(s, "logistic", "lambda", 0.1);
    s->features[4].bases = basis;
    s->features[4].n_bases = 1;
    add(s, "svm", "C", 1);
    OK(dn_params_set_word(s->params[5], "kernel", "rbf", NULL));
    OK(dn_params_set_word(s->params[5], "calibrate", "platt", NULL));
    for (size_t m = 0; m < 5; m++) {
        members[m] = (dn_member){s->params[m + 1], s->features[m + 1], shares[m]};
    }
}

static void a_combination_is_the_product_of_its_members(void **state) {
    (void)state;
    struct sample s;
    dn_basis_spec basis;
    dn_member members[5];
    dn_params *none = NULL;
    dn_train_result combined = {0}, alone = {0};
    double *logs = xcalloc(N * 2, sizeof *logs);
    sample_init(&s);
    make_members(&s, &basis, members);
    OK(dn_params_new(dn_algorithm_combination(), &none, NULL));
    s.training.holdout = 0.25;
    dn_train_request request = s.training;
    request.params = none;
    request.features = members[0].features;
    request.members = members;
    request.n_members = 5;
    OK(dn_train(&request, NULL, &combined, NULL));
    assert_true(combined.report.converged);
    assert_int_equal(combined.report.stop_reason, DN_STOP_TOLERANCE);
    for (size_t m = 0; m < 5; m++) {
        request = s.training;
        request.params = members[m].params;
        request.features = members[m].features;
        OK(dn_train(&request, NULL, &alone, NULL));
        double *p = predict(alone.model, s.rows);
        for (size_t i = 0; i < N * 2; i++) {
            logs[i] += members[m].share * log(fmax(p[i], 1e-15));
        }
        free(p);
        dn_train_result_done(&alone);
    }
    double *p = predict(combined.model, s.rows);
    for (size_t i = 0; i < N; i++) {
        assert_near(p[2 * i + 1], 1 / (1 + exp(logs[2 * i] - logs[2 * i + 1])), 1e-12);
    }
    /* the evaluation reads the same rows through the encoder of all members */
    dn_metrics *metrics = NULL;
    OK(dn_model_evaluate(combined.model, s.table->source, NULL, NULL, &metrics, NULL));
    assert_near(metrics->log_loss, log_loss(p, s.rows), 1e-12);
    dn_metrics_free(metrics);
    assert_true(combined.validation->rows == N / 4);
    free(p);
    free(logs);
    dn_train_result_done(&combined);
    dn_params_free(none);
    sample_done(&s);
}

/* A model that is read gives the same bits and the same bytes. */
static void the_bytes_are_read(void **state) {
    (void)state;
    struct sample s;
    dn_basis_spec basis;
    dn_member members[5];
    dn_params *none = NULL;
    dn_train_result combined = {0};
    dn_model *read = NULL;
    void *bytes = NULL, *again = NULL;
    size_t size = 0, again_size = 0;
    dn_error err;
    sample_init(&s);
    make_members(&s, &basis, members);
    OK(dn_params_new(dn_algorithm_combination(), &none, NULL));
    s.training.params = none;
    s.training.members = members;
    s.training.n_members = 5;
    s.training.holdout = 0.3;
    for (int sets = 0; sets < 2; sets++) {
        s.training.coverage = sets == 0 ? 0 : 0.9;
        OK(dn_train(&s.training, NULL, &combined, NULL));
        OK(dn_model_write(combined.model, &bytes, &size, NULL));
        OK(dn_model_read(bytes, size, &read, NULL));
        OK(dn_model_write(read, &again, &again_size, NULL));
        assert_int_equal(size, again_size);
        assert_memory_equal(bytes, again, size);
        assert_true((dn_model_conformal(read) != NULL) == (sets == 1));
        double *p = predict(combined.model, s.rows), *q = predict(read, s.rows);
        assert_memory_equal(p, q, N * 2 * sizeof *p);
        free(p);
        free(q);
        dn_model_unref(read);
        read = NULL;
        for (size_t cut = 0; cut < size; cut += 97) {
            assert_true(dn_model_read(bytes, cut, &read, &err) != DN_OK);
        }
        free(bytes);
        free(again);
        dn_train_result_done(&combined);
    }
    dn_params_free(none);
    sample_done(&s);
}

static void bad_members_are_refused(void **state) {
    (void)state;
    struct sample s;
    dn_basis_spec basis;
    dn_member members[5];
    dn_params *none = NULL;
    dn_train_result result = {0};
    dn_error err;
    dn_error_clear(&err);
    sample_init(&s);
    make_members(&s, &basis, members);
    OK(dn_params_new(dn_algorithm_combination(), &none, NULL));
    s.training.params = none;
    assert_int_equal(dn_train(&s.training, NULL, &result, &err), DN_ERR_ARGUMENT);
    assert_string_equal(err.message, "a combination has 2 to 10 members (got 0)");
    s.training.members = members;
    s.training.n_members = 5;
    dn_error_clear(&err);
    members[2].share = -1;
    assert_int_equal(dn_train(&s.training, NULL, &result, &err), DN_ERR_ARGUMENT);
    assert_string_equal(err.message,
                        "member 3 of the combination must have a finite share >= 0 (got -1)");
    members[2].share = 1;
    dn_error_clear(&err);
    OK(dn_params_set_word(s.params[5], "calibrate", "none", NULL));
    assert_int_equal(dn_train(&s.training, NULL, &result, &err), DN_ERR_ARGUMENT);
    assert_string_equal(err.message, "member 5 of the combination has no probabilities");
    s.training.n_members = 4;
    s.training.folds = 3;
    assert_int_equal(dn_train(&s.training, NULL, &result, &err), DN_ERR_ARGUMENT);
    s.training.folds = 0;
    s.training.params = s.params[0];
    dn_error_clear(&err);
    assert_int_equal(dn_train(&s.training, NULL, &result, &err), DN_ERR_ARGUMENT);
    assert_string_equal(err.message, "only a combination has members");
    const size_t fewer[] = {0, 1};
    dn_error_clear(&err);
    s.training.params = none;
    members[1].features.columns = fewer;
    members[1].features.n_columns = 2;
    assert_int_equal(dn_train(&s.training, NULL, &result, &err), DN_ERR_ARGUMENT);
    assert_string_equal(err.message, "the encoders of the members do not read the same rows");
    dn_params_free(none);
    sample_done(&s);
}

/* ---- shares ---- */
/* The projected gradient is 0 at the shares; without weight on rows they are equal. */
static void the_shares_are_optimal(void **state) {
    (void)state;
    enum { n = 300, M = 4, K = 3 };
    uint64_t seed = 3;
    double *logs = xcalloc(n * M * K, sizeof *logs), weight[n], s[M];
    size_t truth[n];
    bool used[n], bounded = false;
    for (size_t i = 0; i < n; i++) {
        truth[i] = (size_t)(3 * random_unit(&seed));
        weight[i] = 0.5 + random_unit(&seed);
        used[i] = i % 5 != 0;
        for (size_t m = 0; m < M; m++) { /* member 0 knows most, member 3 is wrong */
            for (size_t k = 0; k < K; k++) {
                const double hint = k == truth[i] ? 2 - (double)m : 0;
                logs[(i * M + m) * K + k] = hint + 2 * random_unit(&seed) - 3;
            }
        }
    }
    const dni_share_rows rows = {logs, truth, weight, used, n, M, K};
    OK(dni_fit_shares(&rows, NULL, s, NULL));
    double gradient[M] = {0}, sum = 0, count = 0;
    for (size_t i = 0; i < n; i++) {
        double z[K] = {0}, total = 0;
        if (!used[i]) {
            continue;
        }
        for (size_t k = 0; k < K; k++) {
            for (size_t m = 0; m < M; m++) {
                z[k] += s[m] * logs[(i * M + m) * K + k];
            }
            total += exp(z[k]);
        }
        for (size_t m = 0; m < M; m++) {
            for (size_t k = 0; k < K; k++) {
                gradient[m] += weight[i] * (exp(z[k]) / total - (double)(k == truth[i])) *
                               logs[(i * M + m) * K + k];
            }
        }
        sum += weight[i];
        count++;
    }
    for (size_t m = 0; m < M; m++) {
        const double g = gradient[m] / sum + (s[m] - 1.0 / M) / count;
        assert_true(s[m] >= 0 && (s[m] > 0 ? fabs(g) < 1e-9 : g > -1e-9));
        bounded = bounded || s[m] == 0;
    }
    assert_true(bounded && s[0] > 0.5);
    memset(used, 0, sizeof used);
    OK(dni_fit_shares(&rows, NULL, s, NULL));
    for (size_t m = 0; m < M; m++) {
        assert_near(s[m], 0.25, 1e-12);
    }
    free(logs);
}

/* ---- the search ---- */
static dn_status each_in_order(const dn_run *run, const dn_rows *rows, dn_each_fn fn, void *arg,
                               dn_error *err) {
    for (size_t i = rows->n_blocks; i-- > 0;) {
        const dn_status status = dn_run_each_block(run, rows, i, i % run->n_slots, fn, arg, err);
        if (status != DN_OK) {
            return status;
        }
    }
    return DN_OK;
}

/* The winner of the checkerboard is a combination; its model is better on fresh rows than those of
 * its members. */
static void a_combination_wins_if_it_is_better(void **state) {
    (void)state;
    struct sample s;
    dn_search_result result = {0};
    sample_init(&s);
    OK(dn_search(&s.request, NULL, &result, NULL));
    assert_int_equal(s.n_ended, 5);
    assert_true(result.complete);
    assert_int_equal(result.winner, 4);
    const dn_trial *won = &result.trials[0];
    assert_int_equal(won->candidate, 4);
    assert_true(won->n_members >= 2 && won->n_values == FOLDS);
    assert_true(result.trials[1].mean - won->mean > result.trials[1].error);

    struct csv *fresh = make_rows(4000, 99);
    dn_member members[3];
    dn_params *none = NULL;
    dn_train_result trained = {0};
    double best = (double)INFINITY;
    OK(dn_params_new(dn_algorithm_combination(), &none, NULL));
    for (size_t m = 0; m < won->n_members; m++) {
        const size_t c = won->members[m].candidate;
        members[m] = (dn_member){s.params[c], s.features[c], won->members[m].share};
        s.training.params = s.params[c];
        s.training.features = s.features[c];
        OK(dn_train(&s.training, NULL, &trained, NULL));
        double *p = predict(trained.model, fresh);
        best = fmin(best, log_loss(p, fresh));
        free(p);
        dn_train_result_done(&trained);
    }
    s.training.params = none;
    s.training.members = members;
    s.training.n_members = won->n_members;
    OK(dn_train(&s.training, NULL, &trained, NULL));
    double *p = predict(trained.model, fresh);
    assert_true(log_loss(p, fresh) < best - 0.01);
    free(p);
    dn_train_result_done(&trained);

    /* threads change nothing; a search that continues takes the trial as it is */
    dn_run threads = dn_run_default();
    dn_search_result other = {0};
    threads.n_slots = 3;
    threads.each = each_in_order;
    s.training.params = NULL;
    s.training.members = NULL;
    s.training.n_members = 0;
    OK(dn_search(&s.request, &threads, &other, NULL));
    assert_memory_equal(other.trials[0].values, won->values, FOLDS * sizeof(double));
    assert_memory_equal(other.trials[0].members, won->members,
                        won->n_members * sizeof *won->members);
    dn_search_result_done(&other);
    s.n_ended = 0;
    s.request.known = result.trials;
    s.request.n_known = result.n_trials;
    s.request.known_only = true;
    OK(dn_search(&s.request, NULL, &other, NULL));
    assert_int_equal(s.n_ended, 0);
    assert_true(other.complete && other.winner == 4);
    assert_memory_equal(other.trials[0].members, won->members,
                        won->n_members * sizeof *won->members);
    dn_search_result_done(&other);
    dn_search_result_done(&result);
    dn_params_free(none);
    csv_free(fresh);
    sample_done(&s);
}

/* Where one method is right, it wins; one algorithm alone has no combination. */
static void a_combination_loses_otherwise(void **state) {
    (void)state;
    struct sample s;
    dn_search_result result = {0};
    uint64_t seed = 11;
    sample_init(&s);
    s.request.n_candidates = 2;
    OK(dn_search(&s.request, NULL, &result, NULL));
    assert_int_equal(s.n_ended, 3);
    assert_int_equal(s.last.candidate, 2);
    assert_string_equal(s.last.message,
                        "there are no two algorithms whose probabilities can be combined among "
                        "the candidates that were tried on all rows");
    assert_int_equal(result.winner, 0);
    dn_search_result_done(&result);
    for (size_t i = 0; i < N; i++) { /* only the linear effect */
        const double *x = s.rows->x + i * D;
        const double g = x[0] - 1.5 * x[1] + x[2] + 0.3 * x[3];
        s.table->codes[i] = random_unit(&seed) < 1 / (1 + exp(-g));
    }
    s.request.n_candidates = 4;
    OK(dn_search(&s.request, NULL, &result, NULL));
    assert_int_equal(result.winner, 0);
    dn_search_result_done(&result);
    s.request.combine = 1;
    dn_error err;
    dn_error_clear(&err);
    assert_int_equal(dn_search(&s.request, NULL, &result, &err), DN_ERR_ARGUMENT);
    assert_string_equal(err.message, "combine must be from 2 to 10, or 0 for none (got 1)");
    sample_done(&s);
}

/* Labels without any relation to the columns: the shares of over-confident candidates are 0, and a
 * combination without two members is none. */
static void noise_has_no_combination(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct sample s;
        dn_search_result result = {0};
        uint64_t numbers = seed;
        sample_init(&s);
        for (size_t i = 0; i < N; i++) {
            s.table->codes[i] = random_unit(&numbers) < 0.5;
        }
        s.request.candidates = s.candidates + 2; /* knn and naive Bayes */
        s.request.n_candidates = 2;
        OK(dn_params_set_number(s.params[2], "k", 3, NULL));
        OK(dn_search(&s.request, NULL, &result, NULL));
        assert_int_equal(s.last.candidate, 2);
        if (s.last.status != DN_OK) {
            assert_int_equal(s.last.status, DN_ERR_DATA);
            assert_true(result.winner < 2 && s.last.n_members == 0);
        } else {
            assert_true(s.last.n_members == 2);
        }
        assert_true(result.winner == 2 || result.winner == result.best);
        dn_search_result_done(&result);
        sample_done(&s);
    }
}

/* Known trials of candidates with members, and of combinations with wrong ones, are not taken. */
static void wrong_known_trials_are_not_taken(void **state) {
    (void)state;
    struct sample s;
    dn_search_result first = {0}, again = {0};
    dn_search_member members[DN_MAX_MEMBERS] = {{0, 0.5}, {77, 0.5}};
    sample_init(&s);
    OK(dn_search(&s.request, NULL, &first, NULL));
    dn_trial known[5];
    memcpy(known, first.trials, sizeof known);
    for (size_t i = 0; i < 5; i++) {
        known[i].members = members;
        known[i].n_members = DN_MAX_MEMBERS;
    }
    s.request.known = known;
    s.request.n_known = 5;
    for (size_t combine = 0; combine <= 3; combine += 3) {
        s.n_ended = 0;
        s.request.combine = combine;
        OK(dn_search(&s.request, NULL, &again, NULL));
        assert_int_equal(s.n_ended, combine > 0); /* the combination is tried again */
        for (size_t i = 0; i < again.n_trials; i++) {
            assert_true(again.trials[i].candidate == 4 || again.trials[i].members == NULL);
        }
        dn_search_result_done(&again);
    }
    dn_search_result_done(&first);
    sample_done(&s);
}

/* Ordered folds, repeats, weights of the classes. */
static void combinations_of_other_folds(void **state) {
    (void)state;
    struct sample s;
    dn_search_result result = {0};
    const double weights[] = {1, 6};
    sample_init(&s);
    for (int way = 0; way < 3; way++) {
        s.request.ordered = way == 0;
        s.request.order = 2;
        s.request.repeats = way == 1 ? 2 : 1;
        s.training.class_weight = way == 2 ? DN_CLASS_WEIGHT_GIVEN : DN_CLASS_WEIGHT_NONE;
        s.training.class_weights = weights;
        s.training.n_class_weights = 2;
        s.request.trial = NULL;
        OK(dn_search(&s.request, NULL, &result, NULL));
        size_t i = 0;
        while (i < result.n_trials && result.trials[i].candidate != 4) {
            i++;
        }
        assert_true(i < result.n_trials);
        if (way == 2) { /* with the weights of the classes knn needs no other */
            assert_int_equal(result.trials[i].status, DN_ERR_DATA);
            assert_true(strstr(result.trials[i].message, "one candidate alone") != NULL);
        } else {
            assert_int_equal(result.trials[i].status, DN_OK);
            assert_int_equal(result.trials[i].n_values, way == 1 ? 2 * FOLDS : FOLDS);
        }
        dn_search_result_done(&result);
    }
    sample_done(&s);
}

static void memory_may_fail(void **state) {
    (void)state;
    struct sample s;
    sample_init(&s);
    s.request.n_candidates = 4;
    for (size_t k = 1;; k += 29) {
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
            break;
        }
    }
    sample_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_combination_is_the_product_of_its_members),
        cmocka_unit_test(the_bytes_are_read),
        cmocka_unit_test(bad_members_are_refused),
        cmocka_unit_test(the_shares_are_optimal),
        cmocka_unit_test(a_combination_wins_if_it_is_better),
        cmocka_unit_test(a_combination_loses_otherwise),
        cmocka_unit_test(noise_has_no_combination),
        cmocka_unit_test(wrong_known_trials_are_not_taken),
        cmocka_unit_test(combinations_of_other_folds),
        cmocka_unit_test(memory_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
