/* Rules for labels: thresholds against brute force over all of them, costs and rejection against
 * sums over all labels, the rule of a model in predictions and evaluations. */
#include "unit/core/support.h"

enum { N = 400 };

static double uniform(uint64_t *s) {
    *s = *s * 6364136223846793005u + 1442695040888963407u;
    return (double)(*s >> 11) * 0x1p-53;
}

/* Returns the goal's value at a threshold, by counting; NaN if not allowed. */
static double count(const dn_rule_rows *r, dn_rule_goal goal, double least, double t) {
    double tp = 0, fp = 0, fn = 0, tn = 0;
    for (size_t i = 0; i < r->n; i++) {
        const double v = r->weight == NULL ? 1 : r->weight[i];
        const bool label = r->p[i] >= t;
        tp += label && r->positive[i] ? v : 0;
        fp += label && !r->positive[i] ? v : 0;
        fn += !label && r->positive[i] ? v : 0;
        tn += !label && !r->positive[i] ? v : 0;
    }
    switch (goal) {
    case DN_RULE_F1:
        return 2 * tp / (2 * tp + fp + fn);
    case DN_RULE_YOUDEN:
        return tp / (tp + fn) + tn / (tn + fp) - 1;
    case DN_RULE_MCC:
        return (tp * tn - fp * fn) / sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn));
    case DN_RULE_ACCURACY:
        return (tp + tn) / (tp + tn + fp + fn);
    case DN_RULE_PRECISION:
        return tp / (tp + fp) >= least ? tp / (tp + fn) : (double)NAN;
    }
    return (double)NAN;
}

static void thresholds(void **state) {
    (void)state;
    static double p[N], weight[N];
    static bool positive[N];
    uint64_t s = 3;
    for (size_t i = 0; i < N; i++) {
        p[i] = floor(uniform(&s) * 50) / 50; /* with equal values */
        positive[i] = uniform(&s) < p[i];
        weight[i] = 1 + floor(uniform(&s) * 3);
    }
    for (size_t way = 0; way < 10; way++) {
        const dn_rule_goal goal = (dn_rule_goal)(way % 5);
        const dn_rule_rows rows = {N, p, positive, way < 5 ? NULL : weight};
        double threshold = -1, value = -1, best = -2, best_t = -1;
        bool found = false;
        OK(dn_rule_choose(&rows, goal, 0.8, &threshold, &value, &found, NULL));
        assert_true(found);
        for (size_t i = 0; i < N; i++) {
            const double v = count(&rows, goal, 0.8, p[i]);
            if (v > best + 1e-12 || (fabs(v - best) <= 1e-12 && p[i] > best_t)) {
                best = v;
                best_t = p[i];
            }
        }
        assert_true(threshold == best_t && fabs(value - best) < 1e-12);
    }
    const dn_rule_rows few = {3, (double[]){0.9, 0.8, 0.1}, (bool[]){false, true, false}, NULL};
    double threshold = 5, value = 5;
    bool found = true;
    OK(dn_rule_choose(&few, DN_RULE_PRECISION, 0.9, &threshold, &value, &found, NULL));
    assert_true(!found && threshold == 5);
    const dn_rule_rows one = {2, few.p, (bool[]){true, true}, NULL};
    OK(dn_rule_choose(&one, DN_RULE_F1, 0, &threshold, &value, &found, NULL));
    assert_false(found);
}

static void costs(void **state) {
    (void)state;
    enum { K = 4 };
    uint64_t s = 5;
    size_t rejected = 0;
    for (size_t i = 0; i < 500; i++) {
        double p[K], cost[K * K], sum = 0, least = (double)INFINITY;
        size_t best = 0;
        for (size_t k = 0; k < K; k++) {
            sum += p[k] = uniform(&s);
        }
        for (size_t k = 0; k < K * K; k++) {
            cost[k] = k % (K + 1) == 0 ? 0 : 5 * uniform(&s);
        }
        for (size_t k = 0; k < K; k++) {
            p[k] /= sum;
        }
        for (size_t k = 0; k < K; k++) {
            double r = 0;
            for (size_t j = 0; j < K; j++) {
                r += p[j] * cost[j * K + k];
            }
            if (r < least) {
                least = r;
                best = k;
            }
        }
        const dn_rule rule = {.n_classes = K, .cost = cost, .rejects = true, .reject = 1};
        const size_t label = dn_rule_label(&rule, p);
        assert_int_equal(label, least > 1 ? DN_AMBIGUOUS : best);
        rejected += label == DN_AMBIGUOUS;
    }
    assert_true(rejected > 0 && rejected < 500);
    /* Elkan: a cost of 5 for a missed positive is the threshold 1/6 */
    const double cost[] = {0, 1, 5, 0};
    const dn_rule german = {.n_classes = 2, .cost = cost},
                  chow = {.n_classes = 2, .rejects = true, .reject = 0.1};
    assert_int_equal(dn_rule_label(&german, (double[]){0.84, 0.16}), 0);
    assert_int_equal(dn_rule_label(&german, (double[]){0.83, 0.17}), 1);
    assert_int_equal(dn_rule_label(&chow, (double[]){0.95, 0.05}), 0);
    assert_int_equal(dn_rule_label(&chow, (double[]){0.2, 0.8}), DN_AMBIGUOUS);
}

static void of_a_model(void **state) {
    (void)state;
    struct csv *t = csv_clouds(N, 4, 2);
    struct table *table = table_of(t);
    dn_params *params = params_of("newton", 1e-2);
    const dn_train_request request = table_request(t, table, params);
    dn_train_result r;
    static double p[N * 2], workspace[4096];
    static size_t label[N], plain[N];
    const dn_rule rule = {.n_classes = 2, .by_threshold = true, .positive = 1, .threshold = 0.2},
                  three = {.n_classes = 3};
    OK(dn_train(&request, NULL, &r, NULL));
    assert_true(dn_model_workspace(r.model) <= 4096);
    assert_int_equal(dn_model_set_rule(r.model, &three, NULL), DN_ERR_ARGUMENT);
    OK(dn_model_set_rule(r.model, &rule, NULL));
    const dn_raw_rows rows = {.n = N, .value = t->x};
    const dn_prediction with = {.label = label, .probabilities = p},
                        without = {.label = plain, .labels = DN_LABELS_PROBABILITIES},
                        given = {.label = plain, .rule = &rule};
    assert_int_equal(dn_model_predict(r.model, rows, workspace, &with), N);
    assert_int_equal(dn_model_predict(r.model, rows, workspace, &without), N);
    size_t differ = 0, positive = 0;
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(label[i], p[2 * i + 1] >= 0.2);
        assert_int_equal(plain[i], p[2 * i + 1] > 0.5);
        differ += label[i] != plain[i];
        positive += label[i];
    }
    assert_true(differ > 0);
    dn_metrics *m = NULL;
    OK(dn_model_evaluate(r.model, table->source, NULL, NULL, &m, NULL));
    assert_true(m->confusion[1] + m->confusion[3] == (double)positive);
    dn_metrics_free(m);
    OK(dn_model_set_rule(r.model, NULL, NULL));
    assert_int_equal(dn_model_predict(r.model, rows, workspace, &given), N);
    assert_memory_equal(plain, label, sizeof plain);
    dn_train_result_done(&r);
    dn_params_free(params);
    columns_table_free(table);
    csv_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(thresholds), cmocka_unit_test(costs),
                                       cmocka_unit_test(of_a_model)};
    return cmocka_run_group_tests_name("rules for labels", tests, NULL, NULL);
}
