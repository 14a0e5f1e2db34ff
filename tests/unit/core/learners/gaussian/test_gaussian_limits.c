/* Errors of Gaussian classes, each with its cause and a remedy; rules between parameters; priors;
 * standardised columns; serialised models. */
#include "unit/core/learners/shared/densities.h"

static const char *const names[] = {"ash", "birch", "cedar"};

/* Fits rows with the class names that error messages use. */
static dn_status fit_named(const double *x, const double *y, const double *v, size_t n, size_t d,
                           size_t K, const dn_params *p, struct fit *fit, dn_error *err) {
    dn_rows *rows;
    dn_run run = dn_run_default();
    dn_fit_input input = {.n_classes = K, .params = p, .class_names = names};
    OK(dn_rows_from_matrix(dn_matrix_dense(x, n, d), y, v, &rows, NULL));
    input.rows = rows;
    dn_status status = fit_input(p, &input, &run, fit, err);
    dn_rows_free(rows);
    return status;
}

/* Asserts that the fit is refused and that the message contains all the words (a list that ends
 * with NULL). */
static void refused(const struct csv *t, const double *v, const dn_params *p, dn_status code,
                    const char *const *words) {
    dn_error err = {0};
    struct fit fit = {0};
    assert_int_equal(fit_named(t->x, t->target, v, t->n, t->d, t->K, p, &fit, &err), code);
    assert_true(fit.out.n_classes == 0 && fit.report.n_details == 0);
    for (size_t i = 0; words[i] != NULL; i++) {
        if (strstr(err.message, words[i]) == NULL) {
            fail_msg("\"%s\" does not say \"%s\"", err.message, words[i]);
        }
    }
}

static dn_params *gaussian(const char *covariance) {
    dn_params *p = params_for("gaussian");
    OK(dn_params_set_word(p, "covariance", covariance, NULL));
    return p;
}

static void collinear_columns(void **state) {
    (void)state;
    const char *const covariances[] = {"shared", "full"};
    struct csv *t = csv_clouds(200, 5, 3);
    for (size_t i = 0; i < t->n;
         i++) { /* columns 1 and 4 are collinear in different units; 0, 2 and 3 are not */
        t->x[i * 5 + 4] = 1e-4 * t->x[i * 5 + 1] + 1000;
    }
    for (size_t c = 0; c < 2; c++) {
        dn_params *p = gaussian(covariances[c]);
        struct fit fit = {0};
        OK(fit_named(t->x, t->target, NULL, t->n, 5, 3, p, &fit, NULL)); /* if_singular */
        /* full: the pooled covariance and those of three classes */
        assert_int_equal(fit.report.n_warnings, c == 0 ? 1 : 4);
        assert_int_equal(fit.report.warnings[0].code, DN_WARNING_SINGULAR);
        assert_non_null(strstr(fit.report.warnings[0].text, "(\"#1\", \"#4\")"));
        fit_done(&fit);
        OK(dn_params_set_number(p, "shrinkage", 0, NULL));
        refused(t, NULL, p, DN_ERR_DATA,
                (const char *const[]){"singular", "rank 4 instead of 5", "(\"#1\", \"#4\")",
                                      "set shrinkage above 0",
                                      c == 0 ? "within the classes" : "of class \"ash\"", NULL});
        OK(dn_params_set_number(p, "shrinkage", 1e-14, NULL)); /* too little shrinkage */
        refused(t, NULL, p, DN_ERR_DATA,
                (const char *const[]){"singular", "raise shrinkage", NULL});
        OK(dn_params_set_number(p, "shrinkage", 0.01, NULL));
        OK(fit_named(t->x, t->target, NULL, t->n, 5, 3, p, &fit, NULL));
        fit_done(&fit);
        OK(dn_params_set_word(p, "shrinkage", "auto", NULL));
        OK(fit_named(t->x, t->target, NULL, t->n, 5, 3, p, &fit, NULL));
        assert_true(densities_detail(&fit.report, "shrinkage") > 0 &&
                    densities_detail(&fit.report, "shrinkage") <= 1);
        fit_done(&fit);
        dn_params_free(p);
    }
    csv_free(t);
}

/* More columns than rows: the message gives the rank and lists the 12 columns. */
static void fewer_rows_than_columns(void **state) {
    (void)state;
    struct csv *t = csv_clouds(8, 12, 2);
    dn_params *p = gaussian("shared");
    struct fit fit = {0}, automatic = {0};
    OK(fit_named(t->x, t->target, NULL, 8, 12, 2, p, &automatic, NULL));
    assert_int_equal(automatic.report.n_warnings, 1);
    OK(dn_params_set_number(p, "shrinkage", 0, NULL));
    refused(t, NULL, p, DN_ERR_DATA,
            (const char *const[]){"singular", "rank 6 instead of 12",
                                  "12 columns are linear combinations of others (", "\"#0\"",
                                  NULL});
    OK(dn_params_set_word(p, "shrinkage", "auto", NULL));
    OK(fit_named(t->x, t->target, NULL, 8, 12, 2, p, &fit, NULL));
    assert_int_equal(fit.report.n_warnings, 0);
    assert_true(densities_detail(&fit.report, "shrinkage") ==
                densities_detail(&automatic.report, "shrinkage"));
    fit_done(&fit);
    fit_done(&automatic);
    dn_params_free(p);
    csv_free(t);
}

/* Strongly correlated columns with a nonsingular covariance: the pivots are small, and the result
 * is accurate. */
static void nearly_collinear(void **state) {
    (void)state;
    struct csv *t = csv_clouds(400, 3, 2);
    double noise = 1e-4, p[2], q[2];
    struct csv *other = csv_clouds(400, 3, 2);
    for (size_t i = 0; i < t->n; i++) {
        t->x[i * 3 + 2] = t->x[i * 3] + noise * other->x[i * 3 + 2];
    }
    dn_params *params = gaussian("shared");
    struct fit direct, rotated;
    OK(fit_named(t->x, t->target, NULL, t->n, 3, 2, params, &direct, NULL));
    for (size_t i = 0; i < t->n; i++) { /* linearly transformed rows without correlation */
        other->x[i * 3] = t->x[i * 3], other->x[i * 3 + 1] = t->x[i * 3 + 1];
    }
    OK(fit_named(other->x, t->target, NULL, t->n, 3, 2, params, &rotated, NULL));
    for (size_t i = 0; i < t->n; i++) {
        posterior(&direct.out, t->x + i * 3, p);
        posterior(&rotated.out, other->x + i * 3, q);
        assert_true(fabs(p[0] - q[0]) < 1e-6);
    }
    fit_done(&direct);
    fit_done(&rotated);
    dn_params_free(params);
    csv_free(t);
    csv_free(other);
}

static void constant_columns(void **state) {
    (void)state;
    struct csv *t = csv_clouds(60, 3, 3);
    const char *const covariances[] = {"shared", "full", "diagonal"};
    for (size_t i = 0; i < t->n; i++) {
        t->x[i * 3 + 1] = t->target[i]; /* separates the classes, and has variance 0 within them */
    }
    for (size_t c = 0; c < 3; c++) {
        dn_params *p = gaussian(covariances[c]);
        struct fit fit = {0};
        double posteriors[3];
        OK(fit_named(t->x, t->target, NULL, t->n, 3, 3, p, &fit, NULL)); /* the variance floor */
        assert_int_equal(fit.report.n_warnings, c == 1 ? 4 : 1);
        assert_int_equal(fit.report.warnings[0].code, DN_WARNING_VARIANCE_FLOOR);
        assert_non_null(strstr(fit.report.warnings[0].text, "(\"#1\")"));
        for (size_t i = 0; i < t->n; i++) {
            posterior(&fit.out, t->x + i * 3, posteriors);
            assert_true(posteriors[(size_t)t->target[i]] > 0.999);
        }
        fit_done(&fit);
        if (c == 2) {
            dn_params_free(p);
            continue;
        }
        OK(dn_params_set_number(p, "shrinkage", 0, NULL));
        refused(t, NULL, p, DN_ERR_DATA,
                (const char *const[]){"columns with variance 0", "(\"#1\")", "exclude",
                                      c == 0 ? "within the classes" : "of class \"ash\"", NULL});
        dn_params_free(p);
    }
    csv_free(t);
    t = csv_clouds(3, 2, 3); /* one row per class: the message names no column */
    dn_params *p = gaussian("shared");
    refused(t, NULL, p, DN_ERR_DATA,
            (const char *const[]){"no column varies within the classes", "single row", NULL});
    dn_params_free(p);
    csv_free(t);
}

/* The density ignores constant columns: the density is that of the other columns, standardised or
 * not, and in units of the raw features. */
static void columns_of_one_value(void **state) {
    (void)state;
    enum { N = 90, D = 4 };
    struct csv *t = csv_clouds(N, D, 3), *other = csv_clouds(N, D - 1, 3);
    const char *const covariances[] = {"shared", "full", "diagonal"};
    const double mean[D] = {0.5, 0.1 * 3, -1, 2}, scale[D] = {2, 1, 0.25, 3};
    for (size_t i = 0; i < N; i++) {
        t->x[i * D + 1] = 0.1 * 3;
        for (size_t j = 0; j < D - 1; j++) {
            other->x[i * (D - 1) + j] = t->x[i * D + j + (j > 0)];
        }
    }
    for (size_t c = 0; c < 3; c++) {
        dn_params *p = gaussian(covariances[c]);
        struct fit fit = {0}, fewer = {0};
        OK(fit_named(t->x, t->target, NULL, N, D, 3, p, &fit, NULL));
        OK(fit_named(other->x, t->target, NULL, N, D - 1, 3, p, &fewer, NULL));
        dn_machine *raw;
        OK(dni_machine_to_raw(fit.out.machine, mean, scale, &raw, NULL));
        assert_near(fit.report.objective, fewer.report.objective, 1e-12);
        double log_scale = log(scale[0]) + log(scale[2]) + log(scale[3]);
        for (size_t i = 0; i < N; i++) {
            double joint[3], want[3], of_raw[3], x[D], work[64];
            dni_machine_joint(fit.out.machine, t->x + i * D, joint, work);
            dni_machine_joint(fewer.out.machine, other->x + i * (D - 1), want, work);
            for (size_t j = 0; j < D; j++) {
                x[j] = mean[j] + scale[j] * t->x[i * D + j];
            }
            dni_machine_joint(raw, x, of_raw, work);
            for (size_t k = 0; k < 3; k++) {
                assert_near(joint[k], want[k], 1e-11);
                assert_near(of_raw[k] + log_scale, want[k], 1e-11);
            }
        }
        double covariance[D * D], work[D * D];
        dni_gaussians_covariance(fit.out.gaussians, D, 0, covariance, work);
        bool diagonal = fit.out.gaussians->covariance == DNI_COVARIANCE_DIAGONAL;
        for (size_t j = 0; j < D; j++) {
            assert_true((covariance[diagonal ? j : j * D + j] == 0) == (j == 1));
        }
        for (size_t k = 0; fit.out.w != NULL && k < 3; k++) {
            assert_true(fit.out.w[k * D + 1] == 0);
        }
        dn_machine_free(raw);
        fit_done(&fit);
        fit_done(&fewer);
        dn_params_free(p);
    }
    for (size_t i = 0; i < N * D; i++) {
        t->x[i] = 4;
    }
    dn_params *p = gaussian("full");
    refused(t, NULL, p, DN_ERR_DATA, (const char *const[]){"every column is constant", NULL});
    dn_params_free(p);
    csv_free(t);
    csv_free(other);
}

static void class_of_one_row(void **state) {
    (void)state;
    const char *const covariances[] = {"full", "diagonal"};
    struct csv *t = csv_clouds(61, 3, 2);
    double v[61];
    size_t kept = 0;
    for (size_t i = 0; i < t->n; i++) {
        v[i] =
            t->target[i] == 0 || kept++ == 0 ? 1 : 0; /* only one row of class birch has weight 1 */
    }
    for (size_t c = 0; c < 2; c++) {
        dn_params *p = gaussian(covariances[c]);
        if (c == 0) { /* the class has the pooled covariance */
            struct fit full = {0};
            double a[9], b[9], work[9];
            OK(fit_named(t->x, t->target, v, t->n, 3, 2, p, &full, NULL));
            assert_int_equal(full.report.n_warnings, 1);
            assert_non_null(
                strstr(full.report.warnings[0].text, "the covariance of class \"birch\" is 0"));
            dni_gaussians_covariance(full.out.gaussians, 3, 0, a, work);
            dni_gaussians_covariance(full.out.gaussians, 3, 1, b, work);
            for (size_t i = 0; i < 9; i++) { /* all scatter is that of the first class */
                assert_near(b[i], a[i] * (double)(t->n - kept) / (double)(t->n - kept + 1), 1e-9);
            }
            fit_done(&full);
            OK(dn_params_set_number(p, "shrinkage", 0, NULL));
        }
        if (c == 0) {
            refused(t, v, p, DN_ERR_DATA,
                    (const char *const[]){"class \"birch\"", "a single row", "covariance shared",
                                          NULL});
        } else { /* the variances of the class are raised, as those of naive_bayes */
            struct fit diagonal = {0};
            OK(fit_named(t->x, t->target, v, t->n, 3, 2, p, &diagonal, NULL));
            assert_int_equal(diagonal.report.n_warnings, 1);
            assert_int_equal(diagonal.report.warnings[0].code, DN_WARNING_VARIANCE_FLOOR);
            fit_done(&diagonal);
        }
        OK(dn_params_set_word(p, "divisor", "unbiased", NULL));
        refused(t, v, p, DN_ERR_DATA, (const char *const[]){"class \"birch\"", "divisor ml", NULL});
        dn_params_free(p);
    }
    dn_params *p = gaussian("shared");
    struct fit fit = {0};
    OK(fit_named(t->x, t->target, v, t->n, 3, 2, p, &fit, NULL));
    fit_done(&fit);
    OK(dn_params_set_word(p, "divisor", "unbiased", NULL));
    for (size_t i = 0; i < t->n; i++) {
        v[i] = 1.0 / 61;
    }
    refused(t, v, p, DN_ERR_DATA,
            (const char *const[]){"unbiased", "number of classes, 2", "divisor ml", NULL});
    dn_params_free(p);
    csv_free(t);
}

static void huge_values(void **state) {
    (void)state;
    struct csv *t = csv_clouds(60, 3, 2);
    t->x[7 * 3 + 2] = 1e300;
    const char *const covariances[] = {"shared", "full", "diagonal"};
    for (size_t c = 0; c < 3; c++) {
        dn_params *p = gaussian(covariances[c]);
        refused(t, NULL, p, DN_ERR_NUMERIC, (const char *const[]){"\"#2\"", NULL});
        dn_params_free(p);
    }
    csv_free(t);
}

static void rules_between_parameters(void **state) {
    (void)state;
    dn_params *p = gaussian("diagonal");
    dn_error err = {0};
    OK(dn_params_check(p, NULL));
    OK(dn_params_set_word(p, "shrinkage", "auto", NULL));
    assert_int_equal(dn_params_check(p, &err), DN_ERR_ARGUMENT);
    assert_string_equal(err.field, "shrinkage");
    OK(dn_params_set_number(p, "shrinkage", 0.5, NULL));
    assert_int_equal(dn_params_check(p, NULL), DN_ERR_ARGUMENT);
    OK(dn_params_set_word(p, "covariance", "full", NULL));
    OK(dn_params_check(p, NULL));
    OK(dn_params_set_word(p, "discriminants", "K-1", NULL));
    assert_int_equal(dn_params_check(p, NULL), DN_ERR_ARGUMENT);
    assert_int_equal(dn_params_set_number(p, "shrinkage", 1.01, NULL), DN_ERR_ARGUMENT);
    assert_int_equal(dn_params_set_number(p, "shrinkage", -0.01, NULL), DN_ERR_ARGUMENT);
    dn_params_free(p);
}

static void priors(void **state) {
    (void)state;
    const double given[] = {0.7, 0.2, 0.1}, zero[] = {0.7, 0.3, 0}, short_of[] = {0.5, 0.5},
                 more[] = {0.5, 0.4, 0.2};
    const char *const algorithms[] = {"gaussian", "naive_bayes"};
    struct csv *t = csv_clouds(100, 3, 3);
    for (size_t a = 0; a < 2; a++) {
        dn_params *p = params_for(algorithms[a]);
        struct fit estimated, equal, list;
        OK(fit_arrays(t->x, t->target, NULL, t->n, 3, 3, p, &estimated, NULL));
        OK(dn_params_set_word(p, "priors", "equal", NULL));
        OK(fit_arrays(t->x, t->target, NULL, t->n, 3, 3, p, &equal, NULL));
        OK(dn_params_set_list(p, "priors", given, 3, NULL));
        OK(fit_arrays(t->x, t->target, NULL, t->n, 3, 3, p, &list, NULL));
        const double *e =
            a == 0 ? estimated.out.gaussians->prior : estimated.out.naive_bayes->prior;
        assert_near(e[0], 0.34, 1e-12);
        assert_near(e[2], 0.33, 1e-12);
        for (size_t i = 0; i < t->n; i++) { /* Bayes' rule: odds are proportional to the priors */
            double p0[3], p1[3], p2[3];
            posterior(&estimated.out, t->x + i * 3, p0);
            posterior(&equal.out, t->x + i * 3, p1);
            posterior(&list.out, t->x + i * 3, p2);
            for (size_t k = 1; k < 3; k++) {
                assert_near(p1[k] / p1[0], p0[k] / p0[0] / e[k] * e[0], 1e-8);
                assert_near(p2[k] / p2[0], p1[k] / p1[0] * given[k] / given[0], 1e-8);
            }
        }
        fit_done(&estimated);
        fit_done(&equal);
        fit_done(&list);
        assert_int_equal(dn_params_set_list(p, "priors", zero, 3, NULL), DN_ERR_ARGUMENT);
        OK(dn_params_set_list(p, "priors", short_of, 2, NULL));
        assert_int_equal(dn_params_check_classes(p, 3, NULL), DN_ERR_ARGUMENT);
        OK(dn_params_set_list(p, "priors", more, 3, NULL));
        assert_int_equal(dn_params_check_classes(p, 3, NULL), DN_ERR_ARGUMENT);
        assert_int_equal(dn_params_set_word(p, "priors", "uniform", NULL), DN_ERR_ARGUMENT);
        dn_params_free(p);
    }
    csv_free(t);
}

/* ---- whole models ---- */
static void train(const struct csv *t, const struct table *table, const dn_params *p,
                  bool standardize, dn_train_result *out) {
    dn_run run = dn_run_default();
    dn_train_request request = table_request(t, table, p);
    request.features.standardize = standardize;
    OK(dn_train(&request, &run, out, NULL));
}

/* The scores, probabilities and log densities of all rows. */
static void predict(const dn_model *m, const struct csv *t, double *scores, double *probabilities,
                    double *log_density) {
    double *workspace = xcalloc(dn_model_workspace(m), sizeof *workspace);
    dn_prediction out = {.scores = scores,
                         .probabilities = probabilities,
                         .log_density = log_density};
    dn_model_predict(m, dn_raw_numbers(t->x, t->n), workspace, &out);
    free(workspace);
}

static void standardised_columns(void **state) {
    (void)state;
    const char *const covariances[] = {"shared", "full", "diagonal", NULL};
    struct csv *t = csv_named("wine");
    struct table *table = table_of(t);
    size_t n = t->n, K = t->K;
    double *a = xcalloc(2 * n * (K + 1), sizeof *a), *b = a + n * (K + 1),
           *s = xcalloc(n * K, sizeof *s);
    for (size_t c = 0; c < 4; c++) { /* NULL: naive Bayes without a variance floor */
        dn_params *p =
            covariances[c] == NULL ? params_for("naive_bayes") : gaussian(covariances[c]);
        if (covariances[c] == NULL) {
            OK(dn_params_set_number(p, "variance_floor", 0, NULL));
        }
        dn_train_result raw, scaled;
        train(t, table, p, false, &raw);
        train(t, table, p, true, &scaled);
        predict(raw.model, t, s, a, a + n * K);
        predict(scaled.model, t, s, b, b + n * K);
        double least = (double)INFINITY;
        for (size_t i = 0; i < n; i++) {
            least = fmin(least, a[n * K + i]);
            assert_near(b[n * K + i], a[n * K + i], 1e-8);
            for (size_t k = 0; k < K; k++) {
                assert_true(fabs(a[i * K + k] - b[i * K + k]) < 1e-8);
            }
        }
        assert_near(densities_detail(&raw.report, "log_density_min"), least,
                    1e-9); /* `least` is recomputed from `a` */
        assert_near(densities_detail(&scaled.report, "log_density_min"), least, 1e-8);
        assert_near(scaled.report.objective, raw.report.objective, 1e-8);
        dn_train_result_done(&raw);
        dn_train_result_done(&scaled);
        dn_params_free(p);
    }
    free(a);
    free(s);
    columns_table_free(table);
    csv_free(t);
}

static void bytes_and_back(void **state) {
    (void)state;
    const char *const ways[] = {"native", "one_vs_rest", "one_vs_rest_strict", "one_vs_one",
                                "one_vs_one_strict"};
    const char *const covariances[] = {"shared", "full", "diagonal", NULL};
    struct csv *t = csv_named("iris");
    struct table *table = table_of(t);
    for (size_t c = 0; c < 4; c++) {
        for (size_t w = 0; w < (covariances[c] == NULL ? 1 : 5); w++) {
            dn_params *p =
                covariances[c] == NULL ? params_for("naive_bayes") : gaussian(covariances[c]);
            OK(dn_params_set_word(p, "priors", "equal", NULL));
            if (covariances[c] != NULL) {
                OK(dn_params_set_word(p, "multiclass", ways[w], NULL));
            }
            dn_train_result result;
            dn_model *back;
            void *bytes;
            size_t size;
            train(t, table, p, true, &result);
            OK(dn_model_write(result.model, &bytes, &size, NULL));
            OK(dn_model_read(bytes, size, &back, NULL));
            size_t S = dn_model_n_scores(result.model), n = t->n;
            double *one = xcalloc(2 * n * (S + t->K + 1), sizeof *one),
                   *two = one + n * (S + t->K + 1);
            bool density = dn_model_has_density(result.model);
            assert_true(density == (w == 0));
            predict(result.model, t, one, one + n * S, density ? one + n * (S + t->K) : NULL);
            predict(back, t, two, two + n * S, density ? two + n * (S + t->K) : NULL);
            assert_memory_equal(one, two, n * (S + t->K + 1) * sizeof *one);
            free(one);
            free(bytes);
            dn_model_unref(back);
            dn_train_result_done(&result);
            dn_params_free(p);
        }
    }
    columns_table_free(table);
    csv_free(t);
}

/* In machines of one class against the rest, priors "equal" give the same result as the list of K
 * numbers 1/K. */
static void equal_priors_against_the_rest(void **state) {
    (void)state;
    const char *const ways[] = {"one_vs_rest", "one_vs_one"};
    const double third[] = {1.0 / 3, 1.0 / 3, 1.0 / 3};
    struct csv *t = csv_named("iris");
    struct table *table = table_of(t);
    double *a = xcalloc(2 * t->n * 6, sizeof *a), *b = a + t->n * 6;
    for (size_t w = 0; w < 2; w++) {
        dn_params *p = gaussian("shared");
        dn_train_result word, list;
        OK(dn_params_set_word(p, "multiclass", ways[w], NULL));
        OK(dn_params_set_word(p, "priors", "equal", NULL));
        train(t, table, p, false, &word);
        OK(dn_params_set_list(p, "priors", third, 3, NULL));
        train(t, table, p, false, &list);
        predict(word.model, t, a, a + t->n * 3, NULL);
        predict(list.model, t, b, b + t->n * 3, NULL);
        assert_close(a, b, t->n * 6, 1e-12);
        const struct machine_view view = machine_view(dn_model_machine(word.model, 0));
        const double *prior = view.gaussians == NULL ? b : view.gaussians->prior;
        assert_non_null(view.gaussians);
        assert_near(prior[1], w == 0 ? 1.0 / 3 : 0.5, 1e-12);
        dn_train_result_done(&word);
        dn_train_result_done(&list);
        dn_params_free(p);
    }
    free(a);
    columns_table_free(table);
    csv_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(collinear_columns),
        cmocka_unit_test(fewer_rows_than_columns),
        cmocka_unit_test(nearly_collinear),
        cmocka_unit_test(constant_columns),
        cmocka_unit_test(columns_of_one_value),
        cmocka_unit_test(class_of_one_row),
        cmocka_unit_test(huge_values),
        cmocka_unit_test(rules_between_parameters),
        cmocka_unit_test(priors),
        cmocka_unit_test(standardised_columns),
        cmocka_unit_test(bytes_and_back),
        cmocka_unit_test(equal_priors_against_the_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
