/* k nearest neighbours against a plain search: class shares, ties, weights, limits, serialised
 * models. */
#include "machine/machine_kind.h"
#include "machine/neighbours.h"
#include "unit/core/support.h"

enum { N = 90, D = 4 };

static dn_params *knn_params(double k, const char *metric, const char *votes) {
    dn_params *p;
    OK(dn_params_new(dn_algorithm_find("knn"), &p, NULL));
    OK(dn_params_set_number(p, "k", k, NULL));
    OK(dn_params_set_word(p, "metric", metric, NULL));
    OK(dn_params_set_word(p, "votes", votes, NULL));
    return p;
}

static dn_machine *fit_knn(dn_matrix x, const double *target, const double *weight, size_t K,
                           const dn_params *p, dn_report *report) {
    const dn_run run = dn_run_default();
    struct fit fit = {0};
    dn_rows *rows;
    OK(dn_rows_from_matrix(x, target, weight, &rows, NULL));
    OK(fit_rows(rows, K, p, &run, &fit, NULL));
    dn_rows_free(rows);
    if (report != NULL) {
        *report = fit.report;
    } else {
        dn_report_done(&fit.report);
    }
    return fit.out.machine;
}

static void score(dn_machine *m, dn_matrix x, double *scores) {
    double *work = xcalloc(dni_machines_work(&m, 1, 1) + 1, sizeof *work);
    dni_machines_prepare(&m, 1, x.kind == DN_CSR, work);
    for (size_t first = 0; first < x.n_rows; first += 64) {
        const size_t n = x.n_rows - first < 64 ? x.n_rows - first : 64;
        OK(dni_machines_score(&m, 1, dn_matrix_rows(x, first, n), NULL, 0,
                              scores + first * dn_machine_n_scores(m), work, NULL));
    }
    free(work);
}

/* ---- the plain search ---- */
static double plain_distance(const char *metric, const double *x, const double *z) {
    double sum = 0, most = 0, squares = 0, product = 0, xx = 0, zz = 0;
    for (size_t j = 0; j < D; j++) {
        sum += fabs(x[j] - z[j]);
        most = fmax(most, fabs(x[j] - z[j]));
        squares += (x[j] - z[j]) * (x[j] - z[j]);
        product += x[j] * z[j];
        xx += x[j] * x[j];
        zz += z[j] * z[j];
    }
    return strcmp(metric, "euclidean") == 0   ? sqrt(squares)
           : strcmp(metric, "manhattan") == 0 ? sum
           : strcmp(metric, "chebyshev") == 0 ? most
                                              : 1 - product / sqrt(xx * zz);
}

/* Computes the class shares [K] of the k nearest rows by repeated search for the next nearest
 * row. */
static void plain_shares(const struct csv *t, const double *weight, const double *query,
                         const char *metric, bool inverse, size_t k, double *share) {
    bool taken[N] = {false};
    double all = 0;
    memset(share, 0, t->K * sizeof *share);
    for (size_t v = 0; v < k; v++) {
        size_t best = SIZE_MAX;
        double least = (double)INFINITY;
        for (size_t i = 0; i < N; i++) {
            const double distance = plain_distance(metric, query, t->x + i * D);
            if (!taken[i] && distance < least) {
                best = i;
                least = distance;
            }
        }
        taken[best] = true;
        const double vote = (weight == NULL ? 1 : weight[best]) / (inverse ? least : 1);
        share[(size_t)t->target[best]] += vote;
        all += vote;
    }
    for (size_t c = 0; c < t->K; c++) {
        share[c] /= all;
    }
}

static void compare(const struct csv *t, const double *weight, const char *metric,
                    const char *votes, size_t k, dn_matrix x, const struct csv *queries,
                    dn_matrix q) {
    dn_params *p = knn_params((double)k, metric, votes);
    dn_machine *m = fit_knn(x, t->target, weight, t->K, p, NULL);
    const size_t S = dn_machine_n_scores(m);
    double *scores = xcalloc(N * S, sizeof *scores), share[3], got[3], work[16];
    score(m, q, scores);
    for (size_t i = 0; i < N; i++) {
        plain_shares(t, weight, queries->x + i * D, metric, strcmp(votes, "uniform") != 0, k,
                     share);
        dn_decision_probabilities(DN_DECISION_NATIVE, t->K, scores + i * S, got, work);
        assert_close(got, share, t->K, 1e-9);
    }
    free(scores);
    dn_machine_free(m);
    dn_params_free(p);
}

/* The matrix in CSR form. Zeros are not stored. */
static dn_matrix sparse_of(const struct csv *t, size_t *row_start, uint32_t *cols, double *values) {
    size_t n = 0;
    for (size_t i = 0; i < N; i++) {
        row_start[i] = n;
        for (size_t j = 0; j < D; j++) {
            if (t->x[i * D + j] != 0) {
                cols[n] = (uint32_t)j;
                values[n++] = t->x[i * D + j];
            }
        }
    }
    row_start[N] = n;
    return dn_matrix_csr(row_start, cols, values, N, D);
}

static void shares_are_those_of_a_plain_search(void **state) {
    (void)state;
    static const char *const metrics[] = {"euclidean", "manhattan", "chebyshev", "cosine"};
    static const size_t neighbours[] = {1, 5, 32, N};
    size_t row_start[N + 1];
    uint32_t cols[N * D];
    double values[N * D], weight[N];
    for (size_t i = 0; i < N; i++) {
        weight[i] = 0.5 + (double)(i % 7);
    }
    for (size_t K = 2; K <= 3; K++) {
        struct csv *t = csv_clouds(N, D, K), *queries = csv_clouds(N, D, K);
        for (size_t i = 0; i < (size_t)N * D; i++) {
            queries->x[i] += 0.3 * sin((double)i);
        }
        const dn_matrix dense = dn_matrix_dense(t->x, N, D),
                        sparse = sparse_of(t, row_start, cols, values),
                        q = dn_matrix_dense(queries->x, N, D);
        for (size_t m = 0; m < 4; m++) {
            for (size_t k = 0; k < 4; k++) {
                compare(t, NULL, metrics[m], "uniform", neighbours[k], dense, queries, q);
                compare(t, weight, metrics[m], "inverse_distance", neighbours[k], dense, queries,
                        q);
                compare(t, weight, metrics[m], "uniform", neighbours[k], sparse, queries, q);
            }
        }
        csv_free(t);
        csv_free(queries);
    }
}

/* ---- ties ---- */
static void ties_go_to_the_first_class_and_the_first_row(void **state) {
    (void)state;
    const double x[] = {1, -1}, target[] = {1, 0}, zero = 0, far = 1;
    double g;
    dn_params *p = knn_params(2, "euclidean", "uniform");
    dn_machine *m = fit_knn(dn_matrix_dense(x, 2, 1), target, NULL, 2, p, NULL);
    score(m, dn_matrix_dense(&zero, 1, 1), &g);
    assert_true(g == 0 && dn_decision_label(DN_DECISION_NATIVE, 2, &g) == 0);
    dn_machine_free(m);
    OK(dn_params_set_number(p, "k", 1, NULL));
    m = fit_knn(dn_matrix_dense(x, 2, 1), target, NULL, 2, p, NULL);
    score(m, dn_matrix_dense(&zero, 1, 1), &g);
    assert_near(g, log(1e15), 1e-12); /* the first stored row has class 1 */
    dn_machine_free(m);
    OK(dn_params_set_number(p, "k", 2, NULL));
    OK(dn_params_set_word(p, "votes", "inverse_distance", NULL));
    m = fit_knn(dn_matrix_dense(x, 2, 1), target, NULL, 2, p, NULL);
    score(m, dn_matrix_dense(&far, 1, 1), &g);
    assert_near(g, log(1e15), 1e-12); /* the row at distance 0 has nearly all the weight */
    dn_machine_free(m);
    dn_params_free(p);
}

/* ---- limits ---- */
static void all_rows_vote_when_k_is_larger(void **state) {
    (void)state;
    const double x[] = {0, 1, 2}, target[] = {0, 1, 1}, weight[] = {1, 1, 0};
    dn_report report;
    dn_params *p = knn_params(3, "euclidean", "uniform");
    dn_machine *m = fit_knn(dn_matrix_dense(x, 3, 1), target, NULL, 2, p, &report);
    assert_true(dni_neighbours_of(m)->k == 3 && report.n_warnings == 0);
    dn_machine_free(m);
    dn_report_done(&report);
    m = fit_knn(dn_matrix_dense(x, 3, 1), target, weight, 2, p, &report);
    assert_true(dni_neighbours_of(m)->k == 2 && report.n_warnings == 1);
    assert_non_null(strstr(report.warnings[0].text, "parameter \"k\" is 3, but there are 2"));
    assert_int_equal(dni_neighbours_of(m)->rows->x.n_rows, 2); /* weight 0: ignored */
    dn_machine_free(m);
    dn_report_done(&report);
    dn_params_free(p);
}

static void defaults(void **state) {
    (void)state;
    dn_params *p;
    OK(dn_params_new(dn_algorithm_find("knn"), &p, NULL));
    assert_true(dn_params_number(p, "k") == 5);
    assert_string_equal(dn_params_word(p, "metric"), "euclidean");
    assert_string_equal(dn_params_word(p, "votes"), "uniform");
    assert_int_equal(dn_params_set_number(p, "k", 0, NULL), DN_ERR_ARGUMENT);
    assert_int_equal(dn_params_set_number(p, "k", 1.5, NULL), DN_ERR_ARGUMENT);
    assert_int_equal(dn_params_set_word(p, "metric", "edit", NULL), DN_ERR_ARGUMENT);
    dn_params_free(p);
}

/* The scores of a query whose distances overflow are not finite. */
static void distances_beyond_the_numbers_have_no_score(void **state) {
    (void)state;
    const double x[] = {0, 1}, target[] = {0, 1}, far = 1e308;
    double g;
    dn_params *p = knn_params(1, "cosine", "uniform");
    dn_machine *m = fit_knn(dn_matrix_dense(x, 2, 1), target, NULL, 2, p, NULL);
    score(m, dn_matrix_dense(&far, 1, 1), &g);
    assert_true(isnan(g));
    dn_machine_free(m);
    dn_params_free(p);
}

static void failures_and_stops(void **state) {
    (void)state;
    struct csv *t = csv_clouds(N, D, 2);
    dn_params *p = knn_params(5, "euclidean", "uniform");
    dn_rows *rows;
    OK(dn_rows_from_matrix(dn_matrix_dense(t->x, N, D), t->target, NULL, &rows, NULL));
    dn_status status = DN_ERR_STOPPED;
    size_t stops = 0;
    for (size_t at = 1; status != DN_OK; at++) {
        struct polls polls = {.stop_at = at};
        const dn_run run = polls_run(&polls);
        struct fit fit = {0};
        status = fit_rows(rows, 2, p, &run, &fit, NULL);
        assert_true(status == DN_OK || status == DN_ERR_STOPPED);
        stops += status != DN_OK;
        fit_done(&fit);
    }
    assert_true(stops >= 3);
    const double estimate = estimated_memory(p, N, D, 2, 1);
    for (size_t part = 1; part <= 3; part++) { /* budgets of 0.5, 1 and 1.5 times the estimate */
        struct memory memory = {.fail_at = SIZE_MAX, .left = (size_t)(estimate * (double)part / 2)};
        const dn_allocator allocator = memory_allocator(&memory, true);
        dn_run run = dn_run_default();
        run.allocator = &allocator;
        struct fit fit = {0};
        status = fit_rows(rows, 2, p, &run, &fit, NULL);
        assert_int_equal(status, part == 1 ? DN_ERR_BUDGET : DN_OK);
        if (status == DN_OK) {
            assert_true((double)memory.held <= estimate && estimate <= 1.5 * (double)memory.held);
        }
        fit_done(&fit);
    }
    dn_rows_free(rows);
    dn_params_free(p);
    csv_free(t);
}

/* ---- models ---- */
static dn_model *train(const struct csv *t) {
    struct table *table = table_of(t);
    dn_params *p = knn_params(7, "manhattan", "inverse_distance");
    dn_train_request request = table_request(t, table, p);
    request.features.standardize = true;
    request.folds = 3;
    const dn_run run = dn_run_default();
    dn_train_result result;
    OK(dn_train(&request, &run, &result, NULL));
    assert_true(result.train->accuracy ==
                1); /* the nearest neighbour of each row is the row itself */
    assert_int_equal(result.n_folds, 3);
    dn_model *model = dn_model_ref(result.model);
    dn_train_result_done(&result);
    dn_params_free(p);
    columns_table_free(table);
    return model;
}

static void spoil_k(dni_neighbours *m) {
    m->k = 0;
}
static void spoil_k_above(dni_neighbours *m) {
    m->k = m->rows->x.n_rows + 1;
}
static void spoil_votes(dni_neighbours *m) {
    m->votes = (dni_votes)2;
}
static void spoil_class(dni_neighbours *m) {
    m->class_of[3] = 3;
}
static void spoil_weight(dni_neighbours *m) {
    m->weight[3] = 0;
}
static void spoil_infinite_weight(dni_neighbours *m) {
    m->weight[3] = (double)INFINITY;
}
static void spoil_width(dni_neighbours *m) {
    m->rows->kernel.width = 2;
}
static void spoil_metric(dni_neighbours *m) {
    m->rows->kernel.metric = DN_METRIC_EDIT;
}

static void models_as_bytes(void **state) {
    (void)state;
    static void (*const spoil[])(
        dni_neighbours *) = {spoil_k,      spoil_k_above,         spoil_votes, spoil_class,
                             spoil_weight, spoil_infinite_weight, spoil_width, spoil_metric};
    struct csv *t = csv_clouds(N, D, 3);
    dn_model *model = train(t), *back;
    void *bytes;
    size_t size;
    OK(dn_model_write(model, &bytes, &size, NULL));
    OK(dn_model_read(bytes, size, &back, NULL));
    const dn_raw_rows rows = {.n = N, .value = t->x};
    double *a = xcalloc((size_t)N * 3, sizeof *a), *b = xcalloc((size_t)N * 3, sizeof *b),
           *work = xcalloc(dn_model_workspace(model), sizeof *work);
    assert_int_equal(dn_model_predict(model, rows, work, &(dn_prediction){.scores = a}), N);
    assert_int_equal(dn_model_predict(back, rows, work, &(dn_prediction){.scores = b}), N);
    assert_memory_equal(a, b, sizeof(double) * N * 3);
    assert_string_equal(dn_model_kind(back), "neighbours");
    assert_false(dn_model_has_contributions(back) || dn_model_has_density(back));
    assert_true(dn_model_has_probabilities(back) && isnan(dn_model_intercept(back)[0]));
    free(bytes);
    dn_model_unref(back);
    dn_model_unref(model);
    for (size_t i = 0; i < sizeof spoil / sizeof spoil[0]; i++) {
        dn_error err = {0};
        model = train(t);
        spoil[i](dni_neighbours_of(dn_model_machine(model, 0)));
        OK(dn_model_write(model, &bytes, &size, NULL));
        assert_int_equal(dn_model_read(bytes, size, &back, &err), DN_ERR_CORRUPT);
        free(bytes);
        dn_model_unref(model);
    }
    free(a);
    free(b);
    free(work);
    csv_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_those_of_a_plain_search),
        cmocka_unit_test(ties_go_to_the_first_class_and_the_first_row),
        cmocka_unit_test(all_rows_vote_when_k_is_larger),
        cmocka_unit_test(defaults),
        cmocka_unit_test(distances_beyond_the_numbers_have_no_score),
        cmocka_unit_test(failures_and_stops),
        cmocka_unit_test(models_as_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
