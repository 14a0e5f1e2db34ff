/* Tests of ROC and precision-recall curves: short curves are exact, long curves are thinned. Tests
 * of the sort of the scores. */
#include "unit/core/support.h"

#include "evaluate/descending.h"

static uint64_t next(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 11;
}

/* ---- the sort ---- */
static void sorts(void **state) {
    (void)state;
    const size_t sizes[] = {0, 1, 2, 31, 32, 33, 64, 65, 1000, 4097};
    uint64_t seed = 1;
    dn_run run = dn_run_default();
    for (size_t s = 0; s < 10; s++) {
        for (uint64_t distinct = 1; distinct < 2000000; distinct *= 37) {
            size_t n = sizes[s];
            dni_pairs p = {xcalloc(n, sizeof(double)), xcalloc(n, sizeof(uint32_t))},
                      room = {xcalloc(n, sizeof(double)), xcalloc(n, sizeof(uint32_t))};
            double *key = xcalloc(n, sizeof *key);
            for (size_t i = 0; i < n; i++) {
                p.key[i] = key[i] = (double)(next(&seed) % distinct);
                p.row[i] = (uint32_t)i;
            }
            if (n > 3) {
                p.key[1] = key[1] = -(double)INFINITY, p.key[2] = key[2] = (double)INFINITY;
            }
            OK(dni_sort_descending(p, n, room, &run, NULL));
            for (size_t i = 0; i < n; i++) {
                assert_true(p.key[i] == key[p.row[i]]);
                assert_true(i == 0 || p.key[i - 1] > p.key[i] ||
                            (p.key[i - 1] == p.key[i] && p.row[i - 1] < p.row[i]));
            }
            free(p.key);
            free(p.row);
            free(room.key);
            free(room.row);
            free(key);
        }
    }
}

/* ---- curves of two classes ---- */
static dn_metrics *curves_of(const size_t *truth, const double *scores, size_t n, size_t K,
                             const double *v) {
    size_t *label = xcalloc(n, sizeof *label);
    dn_metrics *m;
    const dn_metrics_options options = {
        .n_classes = K, .n_rows = n, .class_scores = true, .weighted = v != NULL, .curves = true};
    const dn_metrics_rows rows = {
        .n = n, .truth = truth, .predicted = label, .class_scores = scores, .weight = v};
    OK(dn_metrics_new(&options, &m, NULL));
    dn_metrics_add(m, &rows);
    OK(dn_metrics_finish(m, NULL));
    free(label);
    return m;
}

static double trapezoids(const dn_curve *c) {
    double area = 0;
    for (size_t i = 1; i < c->n_points; i++) {
        area += (c->points[i].x - c->points[i - 1].x) * (c->points[i].y + c->points[i - 1].y) / 2;
    }
    return area;
}

static double steps(const dn_curve *c) {
    double area = 0;
    for (size_t i = 1; i < c->n_points; i++) {
        area += (c->points[i].x - c->points[i - 1].x) * c->points[i].y;
    }
    return area;
}

static void assert_point(const dn_curve_point *p, double x, double y, double threshold) {
    assert_true(fabs(p->x - x) < 1e-15 && fabs(p->y - y) < 1e-15 && p->threshold == threshold);
}

/* Curves of nine rows, computed by hand. Scores: 8 (+), 7 (+), 6 (−), 5 (+ and −), 4 (−), 3 (−),
 * 2 (+), 1 (−). + is the class of the curve. */
static void short_curves(void **state) {
    (void)state;
    const double g[] = {5, 1, 8, 3, 7, 2, 6, 5, 4};
    const size_t truth[] = {1, 0, 1, 0, 1, 1, 0, 0, 0};
    double s[18];
    for (size_t i = 0; i < 9; i++) {
        s[2 * i] = -g[i] / 2;
        s[2 * i + 1] = g[i] / 2;
    }
    dn_metrics *m = curves_of(truth, s, 9, 2, NULL);
    assert_int_equal(m->curves->n_curves, 1);
    assert_true(!m->curves->of_probability && !m->curves->calibrated);
    const dn_curve *roc = &m->curves->roc[0], *pr = &m->curves->precision_recall[0];
    /* no points for thresholds 8 and 4: both are on a line between other points */
    assert_int_equal(roc->n_points, 7);
    assert_point(&roc->points[0], 0, 0, (double)INFINITY);
    assert_point(&roc->points[1], 0, 0.5, 7);
    assert_point(&roc->points[2], 0.2, 0.5, 6);
    assert_point(&roc->points[3], 0.4, 0.75, 5);
    assert_point(&roc->points[4], 0.8, 0.75, 3);
    assert_point(&roc->points[5], 0.8, 1, 2);
    assert_point(&roc->points[6], 1, 1, 1);
    assert_near(trapezoids(roc), m->roc_auc, 1e-15);
    assert_true(roc->area == m->roc_auc && pr->area == m->average_precision);
    const double precision[] = {1, 1, 1, 2.0 / 3, 3.0 / 5, 3.0 / 6, 3.0 / 7, 4.0 / 8, 4.0 / 9},
                 recall[] = {0, 0.25, 0.5, 0.5, 0.75, 0.75, 0.75, 1, 1};
    assert_int_equal(pr->n_points, 9);
    for (size_t i = 0; i < 9; i++) {
        assert_point(&pr->points[i], recall[i], precision[i],
                     i == 0 ? (double)INFINITY : (double)(9 - i));
    }
    assert_near(steps(pr), m->average_precision, 1e-15);
    dn_metrics_free(m);
}

static void assert_curve(const dn_curve *c, size_t most, bool roc) {
    assert_true(c->n_points >= 2 && c->n_points <= most);
    const dn_curve_point *first = &c->points[0], *last = &c->points[c->n_points - 1];
    assert_true(first->x == 0 && first->y == (roc ? 0 : 1) && last->x == 1 &&
                (!roc || last->y == 1));
    for (size_t i = 1; i < c->n_points; i++) {
        assert_true(c->points[i].x >= c->points[i - 1].x &&
                    c->points[i].threshold < c->points[i - 1].threshold);
        assert_true(!roc || c->points[i].y >= c->points[i - 1].y);
    }
}

/* The curve of thousands of weighted scores has at most 200 points, each of them a point of the
 * full curve, and nearly the same area. With many classes the curves have fewer points. */
static void thinned_curves(void **state) {
    (void)state;
    enum { N = 20000 };
    uint64_t seed = 7;
    for (size_t K = 2; K <= 100; K *= 50) {
        double *s = xcalloc(N * K, sizeof *s), *v = xcalloc(N, sizeof *v);
        size_t *truth = xcalloc(N, sizeof *truth);
        for (size_t i = 0; i < N; i++) {
            truth[i] = (size_t)(next(&seed) % K);
            v[i] = (double)(next(&seed) % 5);
            for (size_t k = 0; k < K; k++) {
                s[i * K + k] = (double)(next(&seed) % 1000000) + (k == truth[i] ? 300000 : 0);
            }
            if (K == 2) {
                s[2 * i] = -s[2 * i + 1];
            }
        }
        dn_metrics *m = curves_of(truth, s, N, K, v);
        assert_int_equal(m->curves->n_curves, K == 2 ? 1 : K);
        for (size_t c = 0; c < m->curves->n_curves; c++) {
            const dn_curve *roc = &m->curves->roc[c], *pr = &m->curves->precision_recall[c];
            size_t most = K == 2 ? DN_CURVE_POINTS : 40, k = K == 2 ? 1 : c, at = roc->n_points / 3;
            assert_curve(roc, most, true);
            assert_curve(pr, most, false);
            assert_true(roc->n_points > most / 2 && pr->n_points > most / 2);
            assert_true(fabs(trapezoids(roc) - roc->area) < (K == 2 ? 0.003 : 0.02));
            assert_true(fabs(steps(pr) - pr->area) < (K == 2 ? 0.01 : 0.05));
            double right = 0, wrong = 0, all = 0,
                   weight = 0; /* recomputes a point: rows with score >= threshold are positive */
            for (size_t i = 0; i < N; i++) {
                double score = K == 2 ? s[2 * i + 1] - s[2 * i] : s[i * K + k];
                bool taken = score >= roc->points[at].threshold;
                right += taken && truth[i] == k ? v[i] : 0;
                wrong += taken && truth[i] != k ? v[i] : 0;
                all += truth[i] == k ? v[i] : 0;
                weight += v[i];
            }
            assert_near(roc->points[at].y, right / all, 1e-14);
            assert_near(roc->points[at].x, wrong / (weight - all), 1e-14);
        }
        dn_metrics_free(m);
        free(s);
        free(v);
        free(truth);
    }
}

/* A ROC curve of up to DN_CURVE_POINTS points has all of them; a longer one is thinned. Rows of
 * alternating classes: each row is a corner. */
static void number_of_points(void **state) {
    (void)state;
    enum { MOST = DN_CURVE_POINTS + 10 };
    static double s[2 * MOST];
    static size_t truth[MOST];
    for (size_t n = DN_CURVE_POINTS - 10; n <= MOST; n++) {
        for (size_t i = 0; i < n; i++) {
            s[2 * i + 1] = (double)(n - i);
            truth[i] = i % 2;
        }
        dn_metrics *m = curves_of(truth, s, n, 2, NULL);
        const size_t n_points = m->curves->roc[0].n_points;
        if (n + 1 <= DN_CURVE_POINTS) {
            assert_int_equal(n_points, n + 1);
        } else {
            assert_true(n_points <= DN_CURVE_POINTS && n_points < n + 1);
        }
        dn_metrics_free(m);
    }
}

/* With equal scores the ROC curve is one line from (0, 0) to (1, 1). */
static void one_threshold(void **state) {
    (void)state;
    double s[20] = {0};
    size_t truth[10] = {0, 1, 0, 1, 1};
    dn_metrics *m = curves_of(truth, s, 10, 2, NULL);
    assert_int_equal(m->curves->roc[0].n_points, 2);
    assert_int_equal(m->curves->precision_recall[0].n_points, 2);
    assert_true(m->roc_auc == 0.5 && m->average_precision == 0.3);
    dn_metrics_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorts),
        cmocka_unit_test(short_curves),
        cmocka_unit_test(number_of_points),
        cmocka_unit_test(thinned_curves),
        cmocka_unit_test(one_threshold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
