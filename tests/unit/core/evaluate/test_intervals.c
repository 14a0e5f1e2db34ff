/* Cohen's kappa, Wilson's and DeLong's intervals, and ties of scores. Numbers of scikit-learn 1.2.1
 * (cohen_kappa_score, roc_auc_score), SciPy 1.10.1 (binomtest, method wilson) and pROC 1.18.0 in R
 * 4.2.2 (ci.auc, method delong), and a computation of DeLong's variance over all pairs of rows. */
#include "unit/core/support.h"
#include <discern/decision.h>
#include <discern/metrics.h>

static double next(uint64_t *x) {
    *x = (*x * 1103515245 + 12345) % 2147483648;
    return (double)*x / 2147483648;
}

/* Rows of two classes with a score g; the class scores are −g/2 and g/2. */
struct pairs {
    size_t n, truth[200], predicted[200];
    double g[200], s[400], v[200];
};

static dn_metrics *measure(const struct pairs *p, bool weighted) {
    const dn_metrics_options options = {.n_classes = 2,
                                        .n_rows = p->n,
                                        .class_scores = true,
                                        .weighted = weighted};
    const dn_metrics_rows rows = {.n = p->n,
                                  .truth = p->truth,
                                  .predicted = p->predicted,
                                  .class_scores = p->s,
                                  .weight = weighted ? p->v : NULL};
    dn_metrics *m;
    OK(dn_metrics_new(&options, &m, NULL));
    dn_metrics_add(m, &rows);
    OK(dn_metrics_finish(m, NULL));
    return m;
}

static void set_score(struct pairs *p, size_t i, double g) {
    p->g[i] = g;
    p->s[2 * i] = -g / 2;
    p->s[2 * i + 1] = g / 2;
    p->predicted[i] = g > 0;
}

/* The rows of the reference programs: scores in steps of 1/4, so that many tie. */
static struct pairs reference_rows(void) {
    struct pairs p = {.n = 60};
    uint64_t x = 42;
    for (size_t i = 0; i < p.n; i++) {
        p.truth[i] = next(&x) < 0.4;
        set_score(&p, i, floor(10 * (next(&x) + 0.35 * (double)p.truth[i])) / 4 - 1.2);
    }
    return p;
}

static void other_programs(void **state) {
    (void)state;
    const struct pairs p = reference_rows();
    dn_metrics *m = measure(&p, false);
    assert_near(m->accuracy, 0.6, 1e-12);
    assert_near(m->kappa, 0.252336448598131, 1e-12);
    assert_near(m->accuracy_interval[0], 0.473660534920407, 1e-12);
    assert_near(m->accuracy_interval[1], 0.714305094651174, 1e-12);
    assert_near(m->roc_auc, 0.757020757020757, 1e-12);
    assert_near(m->roc_auc_interval[0], 0.63367987411864, 1e-12);
    assert_near(m->roc_auc_interval[1], 0.880361639922874, 1e-12);
    dn_metrics_free(m);
}

/* DeLong's interval by all pairs of rows, with weights. */
static void pairs_of_rows(const struct pairs *p, double *interval) {
    double area = 0, T = 0, F = 0, squares[2] = {0}, parts[2] = {0};
    for (size_t i = 0; i < p->n; i++) {
        *(p->truth[i] ? &T : &F) += p->v[i];
        squares[p->truth[i]] += p->v[i] * p->v[i];
    }
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < p->n; i++) {
            double share = 0;
            for (size_t j = 0; j < p->n; j++) {
                if (p->truth[j] != p->truth[i]) {
                    const double d = p->truth[i] ? p->g[i] - p->g[j] : p->g[j] - p->g[i];
                    share += p->v[j] / (p->truth[i] ? F : T) * (d > 0 ? 1 : d == 0 ? 0.5 : 0);
                }
            }
            if (pass == 0 && p->truth[i]) {
                area += p->v[i] * share / T;
            } else if (pass == 1) {
                parts[p->truth[i]] += p->v[i] * p->v[i] * (share - area) * (share - area);
            }
        }
    }
    double variance = 0;
    for (size_t c = 0; c < 2; c++) {
        const double total = c == 1 ? T : F, n = total * total / squares[c];
        variance += parts[c] / (total * total) * n / (n - 1);
    }
    interval[0] = fmax(0, area - 1.959963984540054 * sqrt(variance));
    interval[1] = fmin(1, area + 1.959963984540054 * sqrt(variance));
}

static void weighted_intervals(void **state) {
    (void)state;
    struct pairs p = reference_rows();
    double wanted[2];
    uint64_t x = 7;
    for (size_t i = 0; i < p.n; i++) {
        p.v[i] = i % 9 == 4 ? 0 : 0.5 + next(&x);
    }
    pairs_of_rows(&p, wanted);
    dn_metrics *m = measure(&p, true);
    assert_near(m->roc_auc_interval[0], wanted[0], 1e-12);
    assert_near(m->roc_auc_interval[1], wanted[1], 1e-12);
    /* a common factor of the weights has no effect */
    for (size_t i = 0; i < p.n; i++) {
        p.v[i] /= 400;
    }
    dn_metrics *small = measure(&p, true);
    for (size_t e = 0; e < 2; e++) {
        assert_near(small->roc_auc_interval[e], m->roc_auc_interval[e], 1e-12);
        assert_near(small->accuracy_interval[e], m->accuracy_interval[e], 1e-12);
    }
    dn_metrics_free(small);
    dn_metrics_free(m);
    /* equal weights are no weights */
    for (size_t i = 0; i < p.n; i++) {
        p.v[i] = 3;
    }
    m = measure(&p, true);
    assert_near(m->accuracy_interval[0], 0.473660534920407, 1e-12);
    assert_near(m->roc_auc_interval[1], 0.880361639922874, 1e-12);
    dn_metrics_free(m);
}

static void undefined_intervals(void **state) {
    (void)state;
    struct pairs p = {.n = 3};
    set_score(&p, 0, 1), set_score(&p, 1, -1), set_score(&p, 2, -2);
    p.truth[0] = 1;
    dn_metrics *m = measure(&p, false); /* one row of the second class */
    assert_near(m->roc_auc, 1, 0);
    assert_true(isnan(m->roc_auc_interval[0]) && isnan(m->roc_auc_interval[1]));
    assert_true(m->accuracy_interval[1] == 1); /* the accuracy is in its interval */
    dn_metrics_free(m);
    p.truth[0] = 0;
    m = measure(&p, false); /* one class only: kappa is 0, as scikit-learn says of such rows */
    assert_near(m->kappa, 0, 0);
    assert_true(isnan(m->roc_auc_interval[0]));
    dn_metrics_free(m);
    p.n = 0;
    m = measure(&p, false);
    assert_true(isnan(m->kappa) && isnan(m->accuracy_interval[0]) && isnan(m->roc_auc_interval[0]));
    dn_metrics_free(m);
}

/* Three classes: kappa of scikit-learn; ranks of machines that vote. */
static void three_classes(void **state) {
    (void)state;
    enum { N = 60, K = 3 };
    size_t truth[N], predicted[N];
    double s[N * K];
    uint64_t x = 42;
    for (size_t i = 0; i < 2 * N; i++) {
        (void)next(&x); /* the numbers of reference_rows */
    }
    for (size_t i = 0; i < N; i++) {
        truth[i] = (size_t)(next(&x) * K);
        predicted[i] = 0;
        for (size_t k = 0; k < K; k++) {
            s[i * K + k] = floor(10 * (next(&x) + (k == truth[i] ? 0.3 : 0))) / 4;
            predicted[i] = s[i * K + k] > s[i * K + predicted[i]] ? k : predicted[i];
        }
    }
    const dn_metrics_options options = {.n_classes = K, .n_rows = N, .rank_scores = true};
    const dn_metrics_rows rows = {.n = N, .truth = truth, .predicted = predicted, .rank_scores = s};
    dn_metrics *m;
    OK(dn_metrics_new(&options, &m, NULL));
    dn_metrics_add(m, &rows);
    OK(dn_metrics_finish(m, NULL));
    assert_near(m->kappa, 0.279503105590062, 1e-12);
    double area = 0;
    for (size_t k = 0; k < K; k++) {
        double sum = 0, n = 0;
        for (size_t i = 0; i < N; i++) {
            for (size_t j = 0; truth[i] == k && j < N; j++) {
                if (truth[j] != k) {
                    const double d = s[i * K + k] - s[j * K + k];
                    sum += d > 0 ? 1 : d == 0 ? 0.5 : 0;
                    n++;
                }
            }
        }
        area += sum / n / K;
    }
    assert_near(m->roc_auc, area, 1e-12);
    assert_true(isnan(m->hinge) && isnan(m->log_loss) && isnan(m->roc_auc_interval[0]));
    dn_metrics_free(m);
}

/* Scores within 1e-9 of the range tie with the first of their group; probabilities only if they
 * differ by rounding. */
static void scores_that_tie(void **state) {
    (void)state;
    /* margins of a support vector machine: ±1 up to rounding, and rows further away */
    static const double g[] = {3, 1 + 2e-12, 1, 1 - 2e-12, -1 + 2e-12, -1, -1 - 2e-12, -3};
    static const size_t truth[] = {1, 0, 1, 1, 1, 0, 0, 0};
    struct pairs p = {.n = 8};
    for (size_t i = 0; i < 8; i++) {
        set_score(&p, i, g[i]);
        p.truth[i] = truth[i];
    }
    dn_metrics *m = measure(&p, false);
    /* (3), (1, 1, 1), (−1, −1, −1), (−3): ΔF·(T_before + ½ΔT) = 1·(1 + 1) + 2·(3 + ½) + 1·4 */
    assert_near(m->roc_auc, (2 + 7 + 4) / 16.0, 1e-15);
    assert_near(m->average_precision, (1 + 2 * 0.75 + 1 * (4.0 / 7)) / 4, 1e-15);
    dn_metrics_free(m);
    /* a difference of just more than 1e-9 of the range 6 is no tie */
    set_score(&p, 1, 1 + 6.1e-9);
    m = measure(&p, false);
    assert_near(m->roc_auc, (1 + 0 + 7 + 4) / 16.0, 1e-15);
    dn_metrics_free(m);
    /* an infinite score does not enter the range */
    set_score(&p, 1, 1 + 2e-12);
    set_score(&p, 7, -(double)INFINITY);
    m = measure(&p, false);
    assert_near(m->roc_auc, 13 / 16.0, 1e-15);
    dn_metrics_free(m);
    /* probabilities: 2e-12 apart is not equal */
    const double q[] = {0.5 - 1e-12, 0.5 + 1e-12, 0.5 + 1e-12, 0.5 - 1e-12, 1, 0, 0, 1};
    const size_t label[] = {1, 0, 1, 0}, said[] = {1, 0, 0, 1};
    const dn_metrics_options options = {.n_classes = 2, .n_rows = 4, .probabilities = true};
    const dn_metrics_rows rows = {.n = 4, .truth = label, .predicted = said, .probabilities = q};
    OK(dn_metrics_new(&options, &m, NULL));
    dn_metrics_add(m, &rows);
    OK(dn_metrics_finish(m, NULL));
    /* p of class 1, descending: row 3 (class 0) 1, row 0 (class 1), row 1 (class 0), row 2 */
    assert_near(m->roc_auc, 0.25, 1e-15);
    dn_metrics_free(m);
    /* equal votes of neighbours: 3 of 5, with one or two classes that have no vote */
    const double votes[] = {0.6 - 6e-16, 0.4 - 4e-16, 1e-15, 0.6 - 1.2e-15, 1e-15, 0.4 - 8e-16};
    const dn_metrics_options three = {.n_classes = 3, .n_rows = 2, .probabilities = true};
    const dn_metrics_rows two = {.n = 2, .truth = label, .predicted = said, .probabilities = votes};
    OK(dn_metrics_new(&three, &m, NULL));
    dn_metrics_add(m, &two);
    OK(dn_metrics_finish(m, NULL));
    /* truth: classes 1 and 0. Class 0 ties: 1/2; class 1 is ranked rightly: 1 */
    assert_near(m->roc_auc, 0.75, 1e-15);
    dn_metrics_free(m);
}

/* One versus one: the score of class k for ranking is the sum of its pair scores. */
static void rank_scores_of_pairs(void **state) {
    (void)state;
    const double g[] = {1, -2, 0.5}; /* (0,1), (0,2), (1,2), positive for the second */
    double m[3] = {0};
    assert_true(dn_decision_rank_scores(DN_DECISION_ONE_VS_ONE, 3, g, m));
    assert_near(m[0], -1 + 2, 0);
    assert_near(m[1], 1 - 0.5, 0);
    assert_near(m[2], -2 + 0.5, 0);
    assert_true(dn_decision_rank_scores(DN_DECISION_NATIVE, 3, g, m) && m[1] == -2);
    assert_false(dn_decision_rank_scores(DN_DECISION_ALL_BUT_ONE_VS_REST_STRICT, 3, g, m));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_programs),      cmocka_unit_test(weighted_intervals),
        cmocka_unit_test(undefined_intervals), cmocka_unit_test(three_classes),
        cmocka_unit_test(scores_that_tie),     cmocka_unit_test(rank_scores_of_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
