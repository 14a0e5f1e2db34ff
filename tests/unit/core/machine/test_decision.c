/* Tests of the decision rules: labels, candidates and probabilities follow their definitions. */
#include "machine/probability.h"
#include "unit/core/support.h"

static size_t label(dn_decision d, size_t K, const double *g) {
    return dn_decision_label(d, K, g);
}

static void counts(void **state) {
    (void)state;
    static const dn_decision all[] = {DN_DECISION_NATIVE,
                                      DN_DECISION_ONE_VS_REST,
                                      DN_DECISION_ONE_VS_REST_STRICT,
                                      DN_DECISION_ALL_BUT_ONE_VS_REST_STRICT,
                                      DN_DECISION_ONE_VS_ONE,
                                      DN_DECISION_ONE_VS_ONE_STRICT};
    static const size_t machines[] = {1, 5, 5, 4, 10, 10}, scores[] = {5, 5, 5, 4, 10, 10};
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(dn_decision_n_machines(all[i], 2), 1);
        assert_int_equal(dn_decision_n_scores(all[i], 2), 1);
        assert_int_equal(dn_decision_n_machines(all[i], 5), machines[i]);
        assert_int_equal(dn_decision_n_scores(all[i], 5), scores[i]);
    }
    size_t a, b, i = 0;
    for (size_t first = 0; first < 5; first++) {
        for (size_t second = first + 1; second < 5; second++, i++) {
            dn_decision_machine(DN_DECISION_ONE_VS_ONE, 5, i, &a, &b);
            assert_int_equal(a, first);
            assert_int_equal(b, second);
        }
    }
    dn_decision_machine(DN_DECISION_ONE_VS_REST, 5, 3, &a, &b);
    assert_true(a == SIZE_MAX && b == 3);
}

static void ties_go_to_the_first(void **state) {
    (void)state;
    static const double zero[10] = {0};
    assert_int_equal(label(DN_DECISION_NATIVE, 2, zero), 0);
    assert_int_equal(label(DN_DECISION_NATIVE, 4, zero), 0);
    assert_int_equal(label(DN_DECISION_ONE_VS_REST, 4, zero), 0);
    assert_int_equal(label(DN_DECISION_ONE_VS_ONE, 4, zero), 0);
    assert_true(label(DN_DECISION_ONE_VS_REST_STRICT, 4, zero) == DN_AMBIGUOUS);
    assert_int_equal(label(DN_DECISION_ALL_BUT_ONE_VS_REST_STRICT, 4, zero), 3);
    assert_true(label(DN_DECISION_ONE_VS_ONE_STRICT, 4, zero) == DN_AMBIGUOUS);
}

static void strict_rules(void **state) {
    (void)state;
    bool candidate[3];
    static const double both[] = {1, 2, -1}, one[] = {-1, 2, -1}, none[] = {-1, -2, -1};
    assert_true(label(DN_DECISION_ONE_VS_REST_STRICT, 3, both) == DN_AMBIGUOUS);
    assert_int_equal(label(DN_DECISION_ONE_VS_REST_STRICT, 3, one), 1);
    assert_true(label(DN_DECISION_ONE_VS_REST_STRICT, 3, none) == DN_AMBIGUOUS);
    assert_int_equal(dn_decision_candidates(DN_DECISION_ONE_VS_REST_STRICT, 3, both, candidate), 2);
    assert_true(candidate[0] && candidate[1] && !candidate[2]);
    assert_int_equal(dn_decision_candidates(DN_DECISION_ONE_VS_REST_STRICT, 3, one, candidate), 1);
    assert_true(!candidate[0] && candidate[1] && !candidate[2]);
    assert_int_equal(dn_decision_candidates(DN_DECISION_ONE_VS_REST_STRICT, 3, none, candidate), 3);
    assert_true(label(DN_DECISION_ALL_BUT_ONE_VS_REST_STRICT, 3, both) == DN_AMBIGUOUS);
    assert_int_equal(label(DN_DECISION_ALL_BUT_ONE_VS_REST_STRICT, 3, none), 2);
    /* The rule has two scores for three classes; the third number must not be read. */
    static const double two[] = {1, 1, 1};
    assert_int_equal(dn_decision_candidates(DN_DECISION_ALL_BUT_ONE_VS_REST_STRICT, 3, two,
                                            candidate),
                     2);
    assert_true(candidate[0] && candidate[1] && !candidate[2]);
    /* Scores of the pairs (0,1), (0,2), (1,2); a positive score chooses the second class. In
     * `circle` 1 beats 0, 0 beats 2, and 2 beats 1. */
    static const double circle[] = {1, -1, 3}, clear[] = {1, -1, -2};
    assert_true(label(DN_DECISION_ONE_VS_ONE_STRICT, 3, circle) == DN_AMBIGUOUS);
    assert_int_equal(dn_decision_candidates(DN_DECISION_ONE_VS_ONE_STRICT, 3, circle, candidate),
                     3);
    assert_int_equal(label(DN_DECISION_ONE_VS_ONE, 3, circle),
                     2); /* Σ_j g_kj: class 0: −1 + 1, class 1: 1 − 3, class 2: −1 + 3 */
    assert_int_equal(label(DN_DECISION_ONE_VS_ONE_STRICT, 3, clear), 1);
    assert_int_equal(label(DN_DECISION_ONE_VS_ONE, 3, clear), 1);
}

/* Coupling reproduces a distribution from the log-odds of its pairs. */
static void coupling_finds_consistent_probabilities(void **state) {
    (void)state;
    enum { K = 5 };
    static const double truth[K] = {0.05, 0.4, 0.3, 0.05, 0.2};
    double scores[K * (K - 1) / 2], p[K], work[K * K + K];
    size_t i = 0;
    for (size_t a = 0; a < K; a++) {
        for (size_t b = a + 1; b < K; b++) {
            scores[i++] = log(truth[b] / truth[a]);
        }
    }
    assert_int_equal(dni_coupling_work(K), K * K + K);
    dni_coupling(scores, K, p, work);
    assert_close(p, truth, K, 1e-9);
}

/* At the optimum (Qp)_i is the same for every i, also for inconsistent pairs. */
static void coupling_is_optimal(void **state) {
    (void)state;
    enum { K = 6, PAIRS = K * (K - 1) / 2 };
    uint64_t seed = 9;
    for (int round = 0; round < 200; round++) {
        double scores[PAIRS], p[K], work[K * K + K], r[K][K] = {{0}}, sum = 0;
        size_t at = 0;
        for (size_t a = 0; a < K; a++) {
            for (size_t b = a + 1; b < K; b++, at++) {
                seed = seed * 6364136223846793005u + 1442695040888963407u;
                scores[at] = ((double)(seed >> 33) / 2147483648.0 - 0.5) * (round % 2 ? 6 : 60);
                r[b][a] = 1 / (1 + exp(-scores[at]));
                r[b][a] = fmin(fmax(r[b][a], 1e-7), 1 - 1e-7);
                r[a][b] = 1 - r[b][a];
            }
        }
        dni_coupling(scores, K, p, work);
        double least = (double)INFINITY, most = -(double)INFINITY;
        for (size_t i = 0; i < K; i++) {
            double qp = 0;
            for (size_t j = 0; j < K; j++) {
                if (j != i) {
                    qp += r[j][i] * r[j][i] * p[i] - r[j][i] * r[i][j] * p[j];
                }
            }
            least = fmin(least, qp);
            most = fmax(most, qp);
            sum += p[i];
            assert_true(p[i] >= 0);
        }
        assert_true(fabs(sum - 1) < 1e-12);
        if (most - least > 1e-8) {
            fail_msg("round %d: (Qp) spreads by %g", round, most - least);
        }
    }
}

static void probabilities_fit_the_scores(void **state) {
    (void)state;
    double p[3], work[16];
    static const double g[] = {0.5, -1, 2}, far[] = {-800, -801, -802};
    dn_decision_probabilities(DN_DECISION_ONE_VS_REST, 3, g, p, work);
    double s[3], sum = 0;
    for (int k = 0; k < 3; k++) {
        sum += s[k] = 1 / (1 + exp(-g[k]));
    }
    for (int k = 0; k < 3; k++) {
        s[k] /= sum;
    }
    assert_close(p, s, 3, 1e-12);
    dn_decision_probabilities(DN_DECISION_ONE_VS_REST, 3, far, p, work);
    assert_true(p[0] > p[1] && p[1] > p[2] && fabs(p[0] + p[1] + p[2] - 1) < 1e-12);
    assert_false(dn_decision_has_probabilities(DN_DECISION_ALL_BUT_ONE_VS_REST_STRICT, 3));
    assert_true(dn_decision_has_probabilities(DN_DECISION_ALL_BUT_ONE_VS_REST_STRICT, 2));
    double m[3];
    assert_true(dn_decision_class_scores(DN_DECISION_NATIVE, 2, g, m));
    assert_true(m[1] - m[0] == g[0]);
    assert_false(dn_decision_class_scores(DN_DECISION_ONE_VS_ONE, 3, g, m));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts),
        cmocka_unit_test(ties_go_to_the_first),
        cmocka_unit_test(strict_rules),
        cmocka_unit_test(coupling_finds_consistent_probabilities),
        cmocka_unit_test(coupling_is_optimal),
        cmocka_unit_test(probabilities_fit_the_scores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
