/* Decision rules among K classes. */
#include <discern/decision.h>

#include "machine/decision_pairs.h"
#include "machine/probability.h"

#include <math.h>
#include <string.h>

bool dni_decision_is_pairwise(dn_decision decision, size_t K) {
    return K > 2 &&
           (decision == DN_DECISION_ONE_VS_ONE || decision == DN_DECISION_ONE_VS_ONE_STRICT);
}

static bool native(dn_decision decision, size_t K) {
    return K == 2 || decision == DN_DECISION_NATIVE;
}

size_t dn_decision_n_machines(dn_decision decision, size_t K) {
    if (native(decision, K)) {
        return 1;
    }
    if (dni_decision_is_pairwise(decision, K)) {
        return K > UINT32_MAX ? SIZE_MAX : K * (K - 1) / 2;
    }
    return decision == DN_DECISION_ALL_BUT_ONE_VS_REST_STRICT ? K - 1 : K;
}

size_t dn_decision_n_scores(dn_decision decision, size_t K) {
    if (K == 2) {
        return 1;
    }
    return native(decision, K) ? K : dn_decision_n_machines(decision, K);
}

void dn_decision_machine(dn_decision decision, size_t K, size_t i, size_t *out_negative,
                         size_t *out_positive) {
    *out_negative = SIZE_MAX;
    *out_positive = SIZE_MAX;
    if (native(decision, K)) {
        return;
    }
    if (!dni_decision_is_pairwise(decision, K)) {
        *out_positive = i;
        return;
    }
    size_t first = 0;
    while (i >= K - 1 - first) { /* skips the pairs (first, j) */
        i -= K - 1 - first;
        first++;
    }
    *out_negative = first;
    *out_positive = first + 1 + i;
}

static size_t greatest(const double *scores, size_t n) {
    size_t best = 0;
    for (size_t k = 1; k < n; k++) {
        if (scores[k] > scores[best]) {
            best = k;
        }
    }
    return best;
}

/* Returns g_kj, the score of class k against class j. */
static double pair_score(const double *scores, size_t K, size_t k, size_t j) {
    const double g = scores[dni_pair_index(K, k, j)];
    return k > j ? g : -g;
}

/* Returns the number of pairs that class k wins and sets *out_sum to Σ_j g_kj. A score of 0 chooses
 * the first class of the pair. */
static size_t votes(const double *scores, size_t K, size_t k, double *out_sum) {
    size_t won = 0;
    *out_sum = 0;
    for (size_t j = 0; j < K; j++) {
        if (j != k) {
            const double g = pair_score(scores, K, k, j);
            won += j < k ? g > 0 : !(g < 0);
            *out_sum += g;
        }
    }
    return won;
}

/* Returns the class with the most votes; of equal classes that with the greater Σ_j g_kj, then the
 * first. */
static size_t most_votes(const double *scores, size_t K) {
    double best_sum, sum;
    size_t best = 0, max_won = votes(scores, K, 0, &best_sum);
    for (size_t k = 1; k < K; k++) {
        const size_t won = votes(scores, K, k, &sum);
        if (won > max_won || (won == max_won && sum > best_sum)) {
            best = k;
            max_won = won;
            best_sum = sum;
        }
    }
    return best;
}

/* Returns whether class k wins every pair strictly: g_kj > 0 for all j. */
static bool wins_all(const double *scores, size_t K, size_t k) {
    for (size_t j = 0; j < K; j++) {
        if (j != k && !(pair_score(scores, K, k, j) > 0)) {
            return false;
        }
    }
    return true;
}

size_t dn_decision_label(dn_decision decision, size_t K, const double *scores) {
    if (decision == DN_DECISION_OUTLIER) {
        return scores[0] < 0;
    }
    if (K == 2) {
        return decision == DN_DECISION_ONE_VS_REST_CLOSED ? scores[0] >= 0 : scores[0] > 0;
    }
    size_t n_positive = 0, last = DN_AMBIGUOUS;
    switch (decision) {
    case DN_DECISION_NATIVE:
    case DN_DECISION_ONE_VS_REST:
    case DN_DECISION_ONE_VS_REST_CLOSED:
    case DN_DECISION_OUTLIER:
        return greatest(scores, K);
    case DN_DECISION_ONE_VS_ONE:
        return most_votes(scores, K);
    case DN_DECISION_ONE_VS_ONE_STRICT:
        last = most_votes(scores, K);
        return wins_all(scores, K, last) ? last : DN_AMBIGUOUS;
    case DN_DECISION_ONE_VS_REST_STRICT:
    case DN_DECISION_ALL_BUT_ONE_VS_REST_STRICT:
        break;
    }
    size_t n = dn_decision_n_scores(decision, K);
    for (size_t k = 0; k < n; k++) {
        if (scores[k] > 0) {
            n_positive++;
            last = k;
        }
    }
    if (n_positive == 0 && n == K - 1) {
        return K - 1;
    }
    return n_positive == 1 ? last : DN_AMBIGUOUS;
}

size_t dn_decision_candidates(dn_decision decision, size_t K, const double *scores,
                              bool *candidates) {
    size_t label = dn_decision_label(decision, K, scores), n = 0, max_won = 0;
    double sum;
    memset(candidates, 0, K * sizeof *candidates);
    if (label != DN_AMBIGUOUS) {
        candidates[label] = true;
        return 1;
    }
    for (size_t k = 0; dni_decision_is_pairwise(decision, K) && k < K; k++) {
        size_t won = votes(scores, K, k, &sum);
        max_won = won > max_won ? won : max_won;
    }
    size_t n_scores = dn_decision_n_scores(decision, K);
    for (size_t k = 0; k < K; k++) {
        candidates[k] = dni_decision_is_pairwise(decision, K) ? votes(scores, K, k, &sum) == max_won
                                                              : k < n_scores && scores[k] > 0;
        n += candidates[k];
    }
    for (size_t k = 0; n == 0 && k < K; k++) {
        candidates[k] = true;
    }
    return n == 0 ? K : n;
}

bool dn_decision_has_probabilities(dn_decision decision, size_t K) {
    return decision != DN_DECISION_OUTLIER &&
           (K == 2 || decision != DN_DECISION_ALL_BUT_ONE_VS_REST_STRICT);
}

size_t dn_decision_work(dn_decision decision, size_t K) {
    return dni_decision_is_pairwise(decision, K) ? dni_coupling_work(K) : 0;
}

/* p_i ← σ(g_i)/Σ_j σ(g_j). If all scores are below −30, σ(g) ≈ exp(g), and the softmax of the
 * scores is computed instead, because Σ_j σ(g_j) could be 0. */
static void rest_probabilities(const double *scores, size_t K, double *p) {
    double best = scores[greatest(scores, K)], sum = 0;
    if (best < -30) {
        dni_softmax(scores, K, p);
        return;
    }
    for (size_t k = 0; k < K; k++) {
        double two[2];
        dni_sigmoid(scores[k], two);
        p[k] = two[1];
        sum += two[1];
    }
    for (size_t k = 0; k < K; k++) {
        p[k] /= sum;
    }
}

void dn_decision_probabilities(dn_decision decision, size_t K, const double *scores, double *p,
                               double *work) {
    if (K == 2) {
        dni_sigmoid(scores[0], p);
    } else if (decision == DN_DECISION_NATIVE) {
        dni_softmax(scores, K, p);
    } else if (dni_decision_is_pairwise(decision, K)) {
        dni_coupling(scores, K, p, work);
    } else {
        rest_probabilities(scores, K, p);
    }
}

bool dn_decision_has_class_scores(dn_decision decision, size_t K) {
    return K == 2 || (dn_decision_n_scores(decision, K) == K &&
                      !dni_decision_is_pairwise(decision, K)); /* K = 3 also has three pairs */
}

bool dn_decision_class_scores(dn_decision decision, size_t K, const double *scores, double *m) {
    if (K == 2) {
        const double second = decision == DN_DECISION_OUTLIER ? -scores[0] : scores[0];
        m[0] = -0.5 * second;
        m[1] = 0.5 * second;
        return true;
    }
    if (!dn_decision_has_class_scores(decision, K)) {
        return false;
    }
    memcpy(m, scores, K * sizeof *m);
    return true;
}

bool dn_decision_rank_scores(dn_decision decision, size_t K, const double *scores, double *m) {
    if (!dni_decision_is_pairwise(decision, K)) {
        return dn_decision_class_scores(decision, K, scores, m);
    }
    for (size_t k = 0; k < K; k++) {
        (void)votes(scores, K, k, &m[k]);
    }
    return true;
}
