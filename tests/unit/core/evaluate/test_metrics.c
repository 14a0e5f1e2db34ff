/* Tests of metrics: compared with golden values of another program, with plain loops on random
 * rows, and with values computed by hand. */
#include "evaluate/evaluate_rows.h"
#include "unit/core/support.h"

/* ---- rows ---- */
struct rows {
    size_t n, K;
    size_t *truth, *predicted;
    double *p; /* [n × K] probabilities */
    double *s; /* [n × K] class scores */
    double *v; /* [n] weights */
};

static double uniform(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

/* Scores in steps of 1/4, so that many are equal. Each seventh row has weight 0. If requested,
 * each eleventh row is ambiguous. */
static struct rows random_rows(size_t n, size_t K, uint64_t seed, bool ambiguous) {
    struct rows r = {n,
                     K,
                     xcalloc(n, sizeof *r.truth),
                     xcalloc(n, sizeof *r.truth),
                     xcalloc(n * K, sizeof *r.p),
                     xcalloc(n * K, sizeof *r.s),
                     xcalloc(n, sizeof *r.v)};
    for (size_t i = 0; i < n; i++) {
        double *s = r.s + i * K, *p = r.p + i * K, sum = 0;
        r.truth[i] = (size_t)(uniform(&seed) * (double)K);
        for (size_t k = 0; k < K; k++) {
            s[k] = floor(8 * (uniform(&seed) + (k == r.truth[i] ? 0.4 : 0))) / 4;
        }
        if (K == 2) {
            s[0] = -s[1];
        }
        for (size_t k = 0; k < K; k++) {
            sum += p[k] = exp(s[k]);
        }
        for (size_t k = 0; k < K; k++) {
            p[k] /= sum;
            r.predicted[i] = p[k] > p[r.predicted[i]] ? k : r.predicted[i];
        }
        if (ambiguous && i % 11 == 3) {
            r.predicted[i] = DN_AMBIGUOUS;
        }
        r.v[i] = i % 7 == 2 ? 0 : 0.25 + uniform(&seed);
    }
    return r;
}

static void rows_free(struct rows *r) {
    free(r->truth);
    free(r->predicted);
    free(r->p);
    free(r->s);
    free(r->v);
}

enum { P = 1, S = 2, V = 4, CURVES = 8 }; /* flags: probabilities, class scores, weights, curves */

static dn_metrics_options options_of(const struct rows *r, unsigned with) {
    return (dn_metrics_options){.n_classes = r->K,
                                .n_rows = r->n,
                                .probabilities = (with & P) != 0,
                                .class_scores = (with & S) != 0,
                                .weighted = (with & V) != 0,
                                .curves = (with & CURVES) != 0};
}

static void add(dn_metrics *m, const struct rows *r, size_t first, size_t n, unsigned with) {
    const dn_metrics_rows rows = {.n = n,
                                  .truth = r->truth + first,
                                  .predicted = r->predicted + first,
                                  .probabilities = with & P ? r->p + first * r->K : NULL,
                                  .class_scores = with & S ? r->s + first * r->K : NULL,
                                  .weight = with & V ? r->v + first : NULL};
    dn_metrics_add(m, &rows);
}

static dn_metrics *measure(const struct rows *r, unsigned with) {
    dn_metrics_options options = options_of(r, with);
    dn_metrics *m;
    OK(dn_metrics_new(&options, &m, NULL));
    add(m, r, 0, r->n / 3, with);
    add(m, r, r->n / 3, r->n - r->n / 3, with);
    OK(dn_metrics_finish(m, NULL));
    return m;
}

/* ---- golden values of another program ---- */
static void two_classes_golden(void **state) {
    (void)state;
    json_t *golden = golden_load();
    const json_t *g = json_object_get(golden, "metrics_two_class");
    double y[500], score[500], p[1000], s[1000];
    size_t truth[500], predicted[500];
    assert_int_equal(golden_numbers(json_object_get(g, "y"), y), 500);
    assert_int_equal(golden_numbers(json_object_get(g, "score"), score), 500);
    for (size_t i = 0; i < 500; i++) {
        truth[i] = (size_t)y[i];
        p[2 * i + 1] = 1 / (1 + exp(-score[i]));
        p[2 * i] = 1 - p[2 * i + 1];
        s[2 * i + 1] = score[i] / 2;
        s[2 * i] = -score[i] / 2;
        predicted[i] = score[i] > 0;
    }
    struct rows r = {500, 2, truth, predicted, p, s, NULL};
    dn_metrics *m = measure(&r, P | S);
    double tol = json_number_value(json_object_get(g, "tol")), confusion[4];
    golden_numbers(json_object_get(g, "confusion"), confusion);
    assert_memory_equal(m->confusion, confusion, sizeof confusion);
    static const char *const names[] = {"accuracy",         "log_loss",          "brier",
                                        "roc_auc",          "average_precision", "mcc",
                                        "balanced_accuracy"};
    for (size_t i = 0; i < 7; i++) {
        size_t j = 0;
        while (strcmp(dn_metric_name(j), names[i]) != 0) {
            j++;
        }
        assert_near(dn_metric_value(m, j), json_number_value(json_object_get(g, names[i])), tol);
    }
    assert_near(m->per_class[1].f1, json_number_value(json_object_get(g, "f1")), tol);
    assert_near(m->error, 1 - m->accuracy, tol);
    assert_near(m->macro.recall, m->balanced_accuracy, tol);
    assert_near(m->weighted.recall, m->accuracy, tol);
    assert_true(m->rows == 500 && m->weight == 500 && m->warning[0] == '\0');
    dn_metrics_free(m);
    json_decref(golden);
}

/* ---- against plain loops ---- */
/* Whether two numbers differ by rounding only. */
static bool same(double a, double b) {
    return a == b || fabs(a - b) <= 1e-14 * fmax(fabs(a), fabs(b));
}

/* Returns the probability that a row of class k has a greater score than a row of another class;
 * equal scores count 1/2. Loops over all pairs of rows. */
static double pairs_area(const struct rows *r, const double *score, size_t k) {
    double won = 0, all = 0;
    for (size_t i = 0; i < r->n; i++) {
        for (size_t j = 0; j < r->n; j++) {
            if (r->truth[i] != k || r->truth[j] == k) {
                continue;
            }
            double a = score[i * r->K + k], b = score[j * r->K + k], v = r->v[i] * r->v[j];
            won += v * (same(a, b) ? 0.5 : a > b ? 1 : 0);
            all += v;
        }
    }
    return won / all;
}

/* Returns the average precision of class k, with one pass over the rows for each threshold. */
static double plain_precision(const struct rows *r, const double *score, size_t k) {
    double sum = 0, all = 0;
    for (size_t i = 0; i < r->n; i++) {
        all += r->truth[i] == k ? r->v[i] : 0;
    }
    for (size_t i = 0; i < r->n; i++) {
        if (r->truth[i] != k) {
            continue;
        }
        double right = 0, chosen = 0; /* weights of the rows with at least this score */
        for (size_t j = 0; j < r->n; j++) {
            const double a = score[j * r->K + k], b = score[i * r->K + k];
            bool taken = a >= b || same(a, b);
            chosen += taken ? r->v[j] : 0;
            right += taken && r->truth[j] == k ? r->v[j] : 0;
        }
        sum += chosen > 0 ? r->v[i] / all * right / chosen : 0;
    }
    return sum;
}

static double plain_ece(const struct rows *r) {
    double weight = 0, ece = 0;
    for (size_t i = 0; i < r->n; i++) {
        weight += r->v[i];
    }
    for (size_t b = 0; b < 10; b++) {
        double off = 0;
        for (size_t i = 0; i < r->n; i++) {
            size_t top = 0;
            for (size_t k = 1; k < r->K; k++) {
                top = r->p[i * r->K + k] > r->p[i * r->K + top] ? k : top;
            }
            double p = r->p[i * r->K + top];
            if (fmin(floor(10 * p), 9) == (double)b) {
                off += r->v[i] * ((top == r->truth[i] ? 1 : 0) - p);
            }
        }
        ece += fabs(off) / weight;
    }
    return ece;
}

/* The correlation of the indicator matrices of truth and prediction, which equals R_K. */
static double plain_matthews(const struct rows *r) {
    double n = 0, both = 0, truth2 = 0, predicted2 = 0, *t = xcalloc(r->K + 1, sizeof *t),
           *p = xcalloc(r->K + 1, sizeof *p);
    for (size_t i = 0; i < r->n; i++) {
        n += r->v[i];
        t[r->truth[i]] += r->v[i];
        p[r->predicted[i] == DN_AMBIGUOUS ? r->K : r->predicted[i]] += r->v[i];
    }
    for (size_t i = 0; i < r->n; i++) {
        for (size_t k = 0; k <= r->K; k++) {
            size_t label = r->predicted[i] == DN_AMBIGUOUS ? r->K : r->predicted[i];
            double a = (r->truth[i] == k) - t[k] / n, b = (label == k) - p[k] / n;
            both += r->v[i] * a * b;
            truth2 += r->v[i] * a * a;
            predicted2 += r->v[i] * b * b;
        }
    }
    free(t);
    free(p);
    return both / sqrt(truth2 * predicted2);
}

struct sums {
    double weight, right, log_loss, brier, hinge, squared, logistic;
};

static struct sums plain_sums(const struct rows *r) {
    struct sums sum = {0};
    for (size_t i = 0; i < r->n; i++) {
        const double *p = r->p + i * r->K, *s = r->s + i * r->K;
        double v = r->v[i], square = 0, other = -(double)INFINITY;
        for (size_t k = 0; k < r->K; k++) {
            square += pow(p[k] - (k == r->truth[i]), 2);
            other = k != r->truth[i] ? fmax(other, s[k]) : other;
        }
        double m = s[r->truth[i]] - other;
        sum.weight += v;
        sum.right += r->predicted[i] == r->truth[i] ? v : 0;
        sum.log_loss -= v * log(p[r->truth[i]]);
        sum.brier += v * (r->K == 2 ? square / 2 : square);
        sum.hinge += v * fmax(0, 1 - m);
        sum.squared += v * (1 - m) * (1 - m);
        sum.logistic += v * log(1 + exp(-m)) / log(2);
    }
    return sum;
}

static void random_rows_plainly(void **state) {
    (void)state;
    for (size_t K = 2; K <= 5; K += 3) {
        for (uint64_t seed = 1; seed <= 5; seed++) {
            struct rows r = random_rows(500, K, seed, K > 2);
            dn_metrics *m = measure(&r, P | S | V), *voted = measure(&r, V),
                       *scored = measure(&r, S | V);
            struct sums sum = plain_sums(&r);
            assert_near(m->weight, sum.weight, 1e-13);
            assert_near(m->accuracy, sum.right / sum.weight, 1e-13);
            assert_near(m->error, 1 - sum.right / sum.weight, 1e-13);
            assert_near(m->log_loss, sum.log_loss / sum.weight, 1e-13);
            assert_near(m->brier, sum.brier / sum.weight, 1e-13);
            assert_near(m->hinge, sum.hinge / sum.weight, 1e-13);
            assert_near(m->squared_loss, sum.squared / sum.weight, 1e-13);
            assert_near(m->logistic_loss, sum.logistic / sum.weight, 1e-13);
            assert_near(m->ece, plain_ece(&r), 1e-12);
            assert_near(m->mcc, plain_matthews(&r), 1e-12);
            double area = 0, precision = 0, score_area = 0;
            for (size_t k = K == 2 ? 1 : 0; k < K; k++) {
                area += pairs_area(&r, r.p, k) / (K == 2 ? 1 : (double)K);
                precision += plain_precision(&r, r.p, k) / (K == 2 ? 1 : (double)K);
                score_area += pairs_area(&r, r.s, k) / (K == 2 ? 1 : (double)K);
            }
            assert_near(m->roc_auc, area, 1e-12);
            assert_near(m->average_precision, precision, 1e-12);
            assert_near(scored->roc_auc, score_area,
                        1e-12); /* without probabilities: by the class scores */
            assert_true(isnan(scored->log_loss) && isnan(scored->brier) && isnan(scored->ece) &&
                        scored->hinge == m->hinge);
            assert_true(isnan(voted->roc_auc) && isnan(voted->average_precision) &&
                        isnan(voted->hinge) && isnan(voted->logistic_loss));
            assert_true(voted->accuracy == m->accuracy && voted->warning[0] == '\0');
            /* each loss is at least the 0/1 loss of the same decision */
            assert_true(K > 2 || (m->hinge >= m->error && m->squared_loss >= m->error &&
                                  m->logistic_loss >= m->error));
            dn_metrics_free(m);
            dn_metrics_free(voted);
            dn_metrics_free(scored);
            rows_free(&r);
        }
    }
}

/* Weight 2 equals a repeated row; rows with weight 0 are ignored. */
static void weights_are_copies(void **state) {
    (void)state;
    struct rows once = random_rows(300, 3, 9, true), twice = random_rows(900, 3, 10, true);
    size_t n = 0;
    for (size_t i = 0; i < once.n; i++) {
        once.v[i] = (double)(i % 4);
        for (size_t c = 0; c < i % 4; c++, n++) {
            twice.truth[n] = once.truth[i];
            twice.predicted[n] = once.predicted[i];
            memcpy(twice.p + 3 * n, once.p + 3 * i, 3 * sizeof(double));
            memcpy(twice.s + 3 * n, once.s + 3 * i, 3 * sizeof(double));
        }
    }
    twice.n = n;
    dn_metrics *a = measure(&once, P | S | V), *b = measure(&twice, P | S);
    for (size_t i = 0; dn_metric_name(i) != NULL; i++) {
        assert_near(dn_metric_value(a, i), dn_metric_value(b, i), 1e-12);
    }
    assert_true(a->rows == 225 && b->rows == (double)n && a->weight == b->weight);
    assert_memory_equal(a->confusion, b->confusion, 9 * sizeof(double));
    dn_metrics_free(a);
    dn_metrics_free(b);
    rows_free(&once);
    rows_free(&twice);
}

/* ---- limits of the definitions ---- */
static void weights_and_gaps(void **state) {
    (void)state;
    /* class 2 is never true, class 3 never predicted, class 4 neither */
    size_t truth[] = {0, 0, 1, 1, 3}, predicted[] = {0, 1, 1, 2, 0};
    double v[] = {2, 1, 1, 3, 0.5};
    struct rows r = {5, 5, truth, predicted, NULL, NULL, v};
    dn_metrics *m = measure(&r, V);
    assert_true(m->rows == 5 && m->weight == 7.5);
    assert_near(m->accuracy, 3 / 7.5, 1e-15);
    assert_true(isnan(m->log_loss));
    assert_near(m->per_class[0].precision, 2 / 2.5, 1e-15);
    assert_near(m->per_class[0].recall, 2.0 / 3, 1e-15);
    assert_near(m->per_class[1].recall, 1.0 / 4, 1e-15);
    assert_true(isnan(m->per_class[2].recall) && m->per_class[2].precision == 0 &&
                m->per_class[2].f1 == 0);
    assert_true(isnan(m->per_class[3].precision) && m->per_class[3].recall == 0);
    assert_true(isnan(m->per_class[4].precision) && isnan(m->per_class[4].recall) &&
                isnan(m->per_class[4].f1));
    assert_near(m->balanced_accuracy, (2.0 / 3 + 1.0 / 4 + 0) / 3, 1e-15);
    /* an undefined ratio counts as 0: the precision of class 3, which is never predicted. Class 4,
     * which does not occur, is not part of the means */
    assert_near(m->macro.precision, (2 / 2.5 + 1.0 / 2 + 0 + 0) / 4, 1e-15);
    assert_near(m->macro.recall, (2.0 / 3 + 1.0 / 4 + 0 + 0) / 4, 1e-15);
    assert_near(m->macro.f1, (8.0 / 11 + 1.0 / 3 + 0 + 0) / 4, 1e-15);
    assert_near(m->weighted.precision, (3 * 0.8 + 4 * 0.5) / 7.5, 1e-15);
    assert_near(m->weighted.recall, m->accuracy, 1e-15);
    assert_true(m->per_class[1].support == 4 && m->macro.support == 7.5);
    dn_metrics_free(m);
}

/* The area of a class without rows, or with all rows, is undefined (NaN), and the mean is over the
 * other classes. With one class no area is defined. */
static void undefined_areas(void **state) {
    (void)state;
    size_t truth[] = {0, 1, 0, 1}, predicted[] = {0, 1, 1, 1};
    double p[] = {0.6, 0.3, 0.1, 0.2, 0.5, 0.3, 0.3, 0.6, 0.1, 0.2, 0.7, 0.1};
    struct rows r = {4, 3, truth, predicted, p, NULL, NULL};
    dn_metrics *m = measure(&r, P | CURVES);
    assert_near(m->roc_auc, (1 + 0.75) / 2,
                1e-15); /* class 0: 4 of 4 pairs of rows are in order; class 1: 3 of 4 */
    assert_true(isnan(m->curves->roc[2].area) && m->curves->roc[2].n_points == 0 &&
                m->curves->precision_recall[2].n_points == 0);
    dn_metrics_free(m);
    truth[0] = truth[2] = 1;
    m = measure(&r, P | CURVES);
    assert_true(isnan(m->roc_auc) && isnan(m->average_precision) && isnan(m->mcc) &&
                m->warning[0] == '\0');
    assert_true(!isnan(m->log_loss) && m->curves->roc[1].n_points == 0);
    dn_metrics_free(m);
}

static void clipped_and_empty(void **state) {
    (void)state;
    size_t truth[] = {0, 1}, predicted[] = {1, 1};
    double p[] = {0, 1, 0, 1}, s[] = {-400, 400, -400, 400};
    struct rows r = {2, 2, truth, predicted, p, s, NULL},
                none = {0, 2, truth, predicted, p, s, NULL};
    dn_metrics *m = measure(&none, P | S | CURVES);
    for (size_t i = 0; strcmp(dn_metric_name(i), "ambiguous") != 0; i++) {
        assert_true(isnan(dn_metric_value(m, i)));
    }
    assert_true(isnan(m->macro.f1) && m->rows == 0 && m->ambiguous == 0);
    dn_metrics_free(m);
    m = measure(&r, P | S | CURVES);
    assert_near(m->log_loss, -(log(1e-15) + log(1 - 1e-15)) / 2, 1e-12);
    assert_near(m->logistic_loss, 400 / log(2), 1e-12); /* e^800 is not computed */
    assert_near(m->hinge, 801.0 / 2, 1e-15);
    assert_near(m->ece, 0.5, 1e-15);
    assert_true(m->roc_auc == 0.5 && m->curves->calibration[9].weight == 2 &&
                m->curves->calibration[9].accuracy == 0.5);
    dn_metrics_free(m);
    dn_metrics_free(NULL);
    const dn_metrics_options huge = {.n_classes = SIZE_MAX / 8};
    assert_int_equal(dn_metrics_new(&huge, &m, NULL), DN_ERR_MEMORY);
}

/* Rows with NaN scores are not ranked. Rows with infinite scores are ranked. */
static void scores_beyond_numbers(void **state) {
    (void)state;
    struct rows r = random_rows(50, 2, 4, false);
    for (size_t i = 0; i < 50; i++) {
        r.s[2 * i + 1] = r.truth[i] == 1 ? (double)INFINITY : -(double)INFINITY;
        r.s[2 * i] = -r.s[2 * i + 1];
    }
    dn_metrics *m = measure(&r, S | CURVES);
    assert_true(m->roc_auc == 1 && m->average_precision == 1 && m->hinge == 0 &&
                m->logistic_loss == 0);
    dn_metrics_free(m);
    r.s[7] = (double)NAN;
    m = measure(&r, S | CURVES);
    assert_true(isnan(m->roc_auc) && isnan(m->hinge) &&
                strstr(m->warning, "not a number") != NULL && m->curves->roc[0].n_points == 0);
    assert_true(!isnan(m->accuracy));
    dn_metrics_free(m);
    rows_free(&r);
}

/* ---- memory and stop ---- */
static void ranking_needs_memory(void **state) {
    (void)state;
    struct rows r = random_rows(1000, 5, 3, false);
    dn_metrics *whole = measure(&r, P | S | V), *m;
    const size_t need = 1000 * (5 * 8 + 20 + 8);
    assert_true(dni_ranking_memory(1000, 5, true) == (double)need);
    assert_true(dni_ranking_memory(1000, 2, false) == 1000 * (8 + 20));
    for (size_t left = need - 1; left <= need; left++) {
        struct memory memory = {.left = left};
        dn_allocator allocator = memory_allocator(&memory, true);
        dn_run run = dn_run_default();
        dn_metrics_options options = options_of(&r, P | S | V);
        run.allocator = &allocator;
        options.run = &run;
        OK(dn_metrics_new(&options, &m, NULL));
        add(m, &r, 0, r.n, P | S | V);
        OK(dn_metrics_finish(m, NULL));
        if (left == need) {
            assert_true(m->roc_auc == whole->roc_auc && m->warning[0] == '\0');
        } else {
            assert_true(isnan(m->roc_auc) && isnan(m->average_precision));
            assert_non_null(strstr(m->warning, "more than is left of the budget"));
        }
        assert_true(m->log_loss == whole->log_loss && m->mcc == whole->mcc);
        assert_int_equal(memory.live, 0); /* released by finish */
        dn_metrics_free(m);
    }
    dn_metrics_options huge = options_of(&r, P);
    huge.n_rows = DN_MAX_RANKED_SCORES / 5 + 1;
    OK(dn_metrics_new(&huge, &m, NULL));
    assert_non_null(strstr(m->warning, "the limit of 134217728 scores"));
    dn_metrics_free(m);
    dn_metrics_free(whole);
    rows_free(&r);
}

static void stopped(void **state) {
    (void)state;
    struct rows r = random_rows(1000, 5, 3, false);
    struct memory memory = {.left = SIZE_MAX};
    dn_allocator allocator = memory_allocator(&memory, true);
    for (size_t at = 1; at <= 5; at++) {
        struct polls polls = {.stop_at = at};
        dn_run run = polls_run(&polls);
        run.allocator = &allocator;
        dn_metrics_options options = options_of(&r, P | CURVES);
        options.run = &run;
        dn_metrics *m;
        OK(dn_metrics_new(&options, &m, NULL));
        add(m, &r, 0, r.n, P);
        assert_int_equal(dn_metrics_finish(m, NULL), DN_ERR_STOPPED);
        dn_metrics_free(m);
        assert_int_equal(memory.live, 0);
    }
    rows_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_classes_golden),
        cmocka_unit_test(random_rows_plainly),
        cmocka_unit_test(weights_are_copies),
        cmocka_unit_test(weights_and_gaps),
        cmocka_unit_test(undefined_areas),
        cmocka_unit_test(clipped_and_empty),
        cmocka_unit_test(scores_beyond_numbers),
        cmocka_unit_test(ranking_needs_memory),
        cmocka_unit_test(stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
