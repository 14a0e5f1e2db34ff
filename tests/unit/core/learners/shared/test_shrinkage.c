/* Ledoit and Wolf's shrinkage: against a literal evaluation of the formula with one matrix per row,
 * its effect on a matrix, its limits. */
#include "learners/shared/shrinkage.h"
#include "unit/core/learners/shared/densities.h"

/* s = b²/d² of section 3.2 on rows centred within their classes and scaled: d² = ‖S − T‖², b² =
 * min(d², Σ_t v‖z_t z_tᵀ − S‖²/n²), norms ‖A‖² = tr(AAᵀ)/p.
 *
 *   only  SIZE_MAX: the rows of all classes in units of their deviations, T = mI. A class: its rows
 *         in units of the deviations within all classes, T the pooled correlations; at least 1/n */
static double by_definition(const struct csv *t, const double *v, size_t only) {
    size_t d = t->d, n = t->n;
    double *z = xcalloc(n * d, sizeof *z), *s = xcalloc(d * d, sizeof *s),
           *mean = xcalloc(d * d + d, sizeof *mean), weight = 0;
    for (size_t k = 0; k < t->K; k++) {
        class_scatter(t->x, t->target, v, n, d, k, mean, mean + d);
        for (size_t i = 0; i < n; i++) {
            for (size_t j = 0; j < d; j++) {
                if ((size_t)t->target[i] == k) {
                    z[i * d + j] = t->x[i * d + j] - mean[j];
                }
            }
        }
    }
    double *counts = xcalloc(n, sizeof *counts), *pooled = xcalloc(d * d, sizeof *pooled),
           total = 0;
    for (size_t i = 0; i < n; i++) {
        const double own = v == NULL ? 1 : v[i];
        counts[i] = only == SIZE_MAX || (size_t)t->target[i] == only ? own : 0;
        weight += counts[i];
        total += own;
    }
    for (size_t j = 0; j < d; j++) {
        double square = 0;
        for (size_t i = 0; i < n; i++) {
            square += (v == NULL ? 1 : v[i]) * z[i * d + j] * z[i * d + j] / total;
        }
        for (size_t i = 0; i < n; i++) {
            z[i * d + j] /= sqrt(square);
        }
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t a = 0; a < d; a++) {
            for (size_t b = 0; b < d; b++) {
                s[a * d + b] += counts[i] * z[i * d + a] * z[i * d + b] / weight;
                pooled[a * d + b] += (v == NULL ? 1 : v[i]) * z[i * d + a] * z[i * d + b] / total;
            }
        }
    }
    double m = 0, distance = 0, error = 0, p = (double)d;
    for (size_t a = 0; a < d; a++) {
        m += s[a * d + a] / p;
    }
    for (size_t a = 0; a < d; a++) {
        for (size_t b = 0; b < d; b++) {
            const double target = only != SIZE_MAX ? pooled[a * d + b] : a == b ? m : 0;
            distance += (s[a * d + b] - target) * (s[a * d + b] - target) / p;
        }
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t a = 0; a < d; a++) {
            for (size_t b = 0; b < d; b++) {
                double off = z[i * d + a] * z[i * d + b] - s[a * d + b];
                error += counts[i] * off * off / p / weight / weight;
            }
        }
    }
    free(z);
    free(s);
    free(mean);
    free(counts);
    free(pooled);
    return fmax(fmin(error, distance) / distance, only == SIZE_MAX ? 0 : 1 / weight);
}

static double chosen(const struct csv *t, const double *v, size_t k) {
    dn_params *p = params_for("gaussian");
    OK(dn_params_set_word(p, "covariance", k == SIZE_MAX ? "shared" : "full", NULL));
    OK(dn_params_set_word(p, "shrinkage", "auto", NULL));
    struct fit fit;
    OK(fit_arrays(t->x, t->target, v, t->n, t->d, t->K, p, &fit, NULL));
    double s = k == SIZE_MAX ? densities_detail(&fit.report, "shrinkage") : 0;
    for (size_t i = 0; i < fit.report.n_details; i++) {
        if (strcmp(fit.report.details[i].name, "shrinkage") == 0 &&
            k < fit.report.details[i].n_list) {
            s = fit.report.details[i].list[k];
        }
    }
    fit_done(&fit);
    dn_params_free(p);
    return s;
}

static void the_published_formula(void **state) {
    (void)state;
    for (size_t d = 2; d <= 30; d += 14) {
        struct csv *t = csv_clouds(75, d, 3);
        double v[75];
        for (size_t i = 0; i < t->n; i++) {
            v[i] = 0.5 * (double)(i % 4);
            t->x[i * d + 1] += 1.5 * t->x[i * d]; /* a correlation to be preserved */
        }
        double s = chosen(t, NULL, SIZE_MAX);
        assert_true(s > 0 && s < 1);
        assert_near(s, by_definition(t, NULL, SIZE_MAX), 1e-10);
        assert_near(chosen(t, v, SIZE_MAX), by_definition(t, v, SIZE_MAX), 1e-10);
        for (size_t k = 0; k < 3; k++) {
            /* Elements of a list detail have nine digits. */
            assert_near(chosen(t, v, k), by_definition(t, v, k), 1e-8);
        }
        csv_free(t);
    }
}

/* Fewer rows give more shrinkage. A strong correlation and many rows give almost none. The units of
 * the columns have no effect. */
static void directions(void **state) {
    (void)state;
    struct csv *few = csv_clouds(30, 6, 2), *many = csv_clouds(3000, 6, 2);
    assert_true(chosen(few, NULL, SIZE_MAX) > chosen(many, NULL, SIZE_MAX) ||
                chosen(few, NULL, SIZE_MAX) == 1);
    for (size_t i = 0; i < many->n; i++) {
        for (size_t j = 1; j < 6; j++) {
            many->x[i * 6 + j] += 20 * many->x[i * 6];
        }
    }
    double s = chosen(many, NULL, SIZE_MAX);
    assert_true(s < 0.01);
    for (size_t i = 0; i < many->n; i++) {
        many->x[i * 6 + 2] = 1e5 * many->x[i * 6 + 2] - 3;
    }
    assert_near(chosen(many, NULL, SIZE_MAX), s, 1e-9);
    csv_free(few);
    csv_free(many);
}

/* A total weight below one row carries no information on correlations: the shrinkage is 1. */
static void without_weight(void **state) {
    (void)state;
    struct csv *t = csv_clouds(40, 3, 2);
    double v[40];
    for (size_t i = 0; i < 40; i++) {
        v[i] = 1e-3;
    }
    assert_true(chosen(t, v, SIZE_MAX) == 1);
    csv_free(t);
}

static void entries_off_the_diagonal(void **state) {
    (void)state;
    double m[] = {4, 99, 99, 2, 9, 99, -1, 6, 25};
    dni_shrinkage_apply(m, 3, 0.25);
    /* The entries above the diagonal are not accessed. */
    const double want[] = {4, 99, 99, 1.5, 9, 99, -0.75, 4.5, 25};
    assert_memory_equal(m, want, sizeof m);
    dni_shrinkage_apply(m, 3, 1);
    assert_true(m[3] == 0 && m[6] == 0 && m[7] == 0 && m[0] == 4 && m[8] == 25);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_published_formula),
        cmocka_unit_test(directions),
        cmocka_unit_test(without_weight),
        cmocka_unit_test(entries_off_the_diagonal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
