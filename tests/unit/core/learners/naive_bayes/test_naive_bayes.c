/* Naive Bayes: golden numbers, an example of thirteen samples, columns of every type against plain
 * counting, refused data, invariants. */
#include "unit/core/learners/shared/densities.h"
#include "unit/core/table/chunked.h"

static dn_params *bayes(double smoothing, double floor) {
    dn_params *p = params_for("naive_bayes");
    OK(dn_params_set_number(p, "smoothing", smoothing, NULL));
    OK(dn_params_set_number(p, "variance_floor", floor, NULL));
    return p;
}

static void golden(void **state) {
    const char *set = *state;
    struct csv *t = csv_named(set);
    if (t == NULL) {
        skip();
        return;
    }
    json_t *root = golden_load();
    const json_t *all = json_object_get(root, set);
    dn_params *p = bayes(1, 0);
    struct fit fit;
    OK(fit_arrays(t->x, t->target, NULL, t->n, t->d, t->K, p, &fit, NULL));
    compare_golden(json_object_get(all, "naive_bayes_gaussian"), json_object_get(all, "rows"), t,
                   &fit.out);
    assert_int_equal(fit.report.n_warnings, 0);
    fit_done(&fit);
    dn_params_free(p);
    json_decref(root);
    csv_free(t);
}

/* ---- typed columns ---- */
struct typed {
    chunked source;
    dn_encoder *encoder;
    dn_rows *rows;
    size_t borders[2];
};

static void typed_init(struct typed *t, const chunked_column *columns, size_t n_cols, size_t n,
                       const double *y, const double *v, const dn_encoder_spec *given) {
    static const size_t places[] = {0, 1, 2, 3, 4, 5};
    dn_run run = dn_run_default();
    t->borders[0] = 0;
    t->borders[1] = n;
    chunked_init(&t->source, columns, n_cols, n, t->borders, 1);
    dn_encoder_spec spec = *given;
    spec.columns = places;
    spec.n_columns = n_cols;
    OK(dn_encoder_fit(&t->source.source, &spec, NULL, v, &run, &t->encoder, NULL));
    OK(dn_rows_from_source(&t->source.source, t->encoder, NULL, DN_ROW_TRAIN, y, v, true, &run,
                           &t->rows, NULL));
}

static dn_status typed_fit(const struct typed *t, size_t K, const dn_params *p, struct fit *fit,
                           dn_error *err) {
    dn_run run = dn_run_default();
    dn_fit_input input = {.rows = t->rows,
                          .n_classes = K,
                          .params = p,
                          .encoder = t->encoder,
                          .mean = dn_encoder_mean(t->encoder),
                          .scale = dn_encoder_scale(t->encoder)};
    return fit_input(p, &input, &run, fit, err);
}

static void typed_done(struct typed *t) {
    dn_rows_free(t->rows);
    dn_encoder_unref(t->encoder);
    chunked_done(&t->source);
}

/* Thirteen samples (x1, x2): one sample (1,1) of class C1; four samples each of (1,0), (0,1) and
 * (0,0) of class C2. */
static void thirteen_samples(void **state) {
    (void)state;
    double x1[13], x2[13], y[13];
    for (size_t i = 0; i < 13; i++) {
        x1[i] = i < 5;
        x2[i] = i == 0 || (i >= 5 && i < 9);
        y[i] = i > 0;
    }
    const chunked_column columns[] = {{.column = {.name = "x1", .type = DN_BOOLEAN}, .number = x1},
                                      {.column = {.name = "x2", .type = DN_BOOLEAN}, .number = x2}};
    struct typed t;
    typed_init(&t, columns, 2, 13, y, NULL, &(dn_encoder_spec){0});
    dn_params *p = bayes(0, 1e-9);
    struct fit fit;
    OK(typed_fit(&t, 2, p, &fit, NULL));
    double probability[2], x[] = {1, 1};
    double density = posterior(&fit.out, x, probability);
    assert_near(probability[0], 3.0 / 7,
                1e-13); /* joint probabilities: 1/13 in C1, 12/13 · 1/3 · 1/3 in C2 */
    assert_near(exp(density), 1.0 / 13 + 12.0 / 13 / 9, 1e-13);
    x[1] = 0;
    posterior(&fit.out, x, probability);
    assert_true(probability[0] == 0 && probability[1] == 1); /* no row of C1 has this value */
    fit_done(&fit);
    OK(dn_params_set_number(p, "smoothing", 1, NULL));
    OK(typed_fit(&t, 2, p, &fit, NULL));
    posterior(&fit.out, x, probability);
    double one = 1.0 / 13 * (2.0 / 3) * (1.0 / 3),
           two = 12.0 / 13 * (5.0 / 14) * (9.0 / 14); /* (N + 1)/(N_k + 2) */
    assert_near(probability[0], one / (one + two), 1e-13);
    fit_done(&fit);
    dn_params_free(p);
    typed_done(&t);
}

/* If the likelihood is 0 for every class, the probabilities are the priors, and the result has a
 * flag. */
static void likelihood_zero_everywhere(void **state) {
    (void)state;
    const double a[] = {1, 1, 0, 0, 0}, b[] = {0, 0, 1, 1, 1}, y[] = {0, 0, 1, 1, 1};
    const chunked_column columns[] = {{.column = {.name = "a", .type = DN_BOOLEAN}, .number = a},
                                      {.column = {.name = "b", .type = DN_BOOLEAN}, .number = b}};
    struct typed t;
    typed_init(&t, columns, 2, 5, y, NULL, &(dn_encoder_spec){0});
    dn_params *p = bayes(0, 1e-9);
    struct fit fit;
    double x[] = {1, 1}, joint[2], score, work[16];
    OK(typed_fit(&t, 2, p, &fit, NULL));
    assert_false(dni_machine_joint(fit.out.machine, x, joint, work));
    assert_false(dni_machine_scores(fit.out.machine, x, &score, work));
    assert_near(score, log(0.6 / 0.4), 1e-12);
    fit_done(&fit);
    dn_params_free(p);
    typed_done(&t);
}

enum { N = 400, LEVELS = 3 };
static const char *const colours[] = {"blue", "green", "red", NULL};

struct mixed {
    double number[N], flag[N], y[N], v[N];
    const char *colour[N];
    chunked_column columns[3];
};

/* A number, a boolean and a category, with missing values in the last two. No row of class 1 is
 * "red". */
static void mixed_init(struct mixed *m, bool holes) {
    uint64_t state = 99;
    for (size_t i = 0; i < N; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        unsigned r = (unsigned)(state >> 33);
        m->y[i] = (double)(r % 3);
        m->number[i] = (double)(r / 3 % 1000) / 100 + (m->y[i] == 2 ? 4 : 0);
        m->flag[i] = holes && r % 11 == 0 ? (double)NAN : (double)(r / 7 % 5 < 1 + r % 3);
        m->colour[i] = holes && r % 13 == 0 ? NULL : colours[r / 17 % (m->y[i] == 1 ? 2 : 3)];
        m->v[i] = (double)(r / 29 % 4) / 2;
    }
    m->columns[0] =
        (chunked_column){.column = {.name = "number", .type = DN_NUMERIC}, .number = m->number};
    m->columns[1] =
        (chunked_column){.column = {.name = "flag", .type = DN_BOOLEAN}, .number = m->flag};
    m->columns[2] =
        (chunked_column){.column = {.name = "colour", .type = DN_CATEGORICAL}, .text = m->colour};
}

/* ln p(row i, C_k) by counting. levels: with or without the level "(missing)". */
static double counted(const struct mixed *m, double alpha, double levels, size_t i, size_t k) {
    double total = 0, rows = 0, mean = 0, square = 0, ones = 0, same = 0, fill = 0, flags = 0;
    for (size_t t = 0; t < N; t++) {
        total += m->v[t];
        flags += isnan(m->flag[t]) ? 0 : m->v[t];
        fill += isnan(m->flag[t]) ? 0 : m->v[t] * m->flag[t];
    }
    fill /= flags;
    for (size_t t = 0; t < N; t++) {
        if ((size_t)m->y[t] != k) {
            continue;
        }
        rows += m->v[t];
        mean += m->v[t] * m->number[t];
        ones += m->v[t] * (isnan(m->flag[t]) ? fill : m->flag[t]);
        same += m->colour[t] == m->colour[i] ? m->v[t] : 0;
    }
    mean /= rows;
    for (size_t t = 0; t < N; t++) {
        square +=
            (size_t)m->y[t] == k ? m->v[t] * (m->number[t] - mean) * (m->number[t] - mean) : 0;
    }
    double variance = square / rows, flag = isnan(m->flag[i]) ? fill : m->flag[i],
           p = (ones + alpha) / (rows + 2 * alpha);
    double g = log(rows / total) - 0.5 * (log(2 * 3.14159265358979323846 * variance) +
                                          pow(m->number[i] - mean, 2) / variance);
    g += (flag == 0 ? 0 : flag * log(p)) + (flag == 1 ? 0 : (1 - flag) * log(1 - p));
    return g + log((same + alpha) / (rows + alpha * levels));
}

static void columns_of_every_kind(void **state) {
    (void)state;
    static struct mixed m;
    const double alphas[] = {0, 0.5, 1};
    for (size_t holes = 0; holes < 2; holes++) {
        for (size_t standardize = 0; standardize < 2; standardize++) {
            for (size_t a = 0; a < 3; a++) {
                mixed_init(&m, holes == 1);
                struct typed t;
                typed_init(&t, m.columns, 3, N, m.y, m.v,
                           &(dn_encoder_spec){.standardize = standardize == 1});
                dn_params *p = bayes(alphas[a], 0);
                struct fit fit;
                OK(typed_fit(&t, 3, p, &fit, NULL));
                assert_near(densities_detail(&fit.report, "gaussian_features"), 1, 0);
                assert_near(densities_detail(&fit.report, "bernoulli_features"), 1, 0);
                assert_near(densities_detail(&fit.report, "count_features"), LEVELS + (double)holes,
                            0);
                dn_machine *raw;
                OK(dni_machine_to_raw(fit.out.machine, dn_encoder_mean(t.encoder),
                                      dn_encoder_scale(t.encoder), &raw, NULL));
                double *work = xcalloc(dni_machine_work(raw), sizeof *work), joint[3], x[6] = {0},
                       least = (double)INFINITY, mean = 0, weight = 0;
                for (size_t i = 0; i < N; i++) {
                    double own[3];
                    const dn_input *flag = dn_encoder_input(t.encoder, 1);
                    memset(x, 0, sizeof x);
                    x[0] = m.number[i];
                    x[1] = isnan(m.flag[i]) ? flag->fill : m.flag[i];
                    for (size_t l = 0; l <= LEVELS; l++) {
                        x[2 + l] = m.colour[i] == colours[l];
                    }
                    dni_machine_joint(raw, x, joint, work);
                    for (size_t k = 0; k < 3; k++) {
                        own[k] = counted(&m, alphas[a], LEVELS + (double)holes, i, k);
                        assert_true(own[k] == joint[k] ||
                                    fabs(own[k] - joint[k]) < 1e-9 * fabs(own[k]));
                    }
                    if (m.v[i] > 0) {
                        least = fmin(least, dni_log_sum(own, 3));
                    }
                    mean -= m.v[i] == 0 ? 0 : m.v[i] * own[(size_t)m.y[i]];
                    weight += m.v[i];
                }
                assert_near(densities_detail(&fit.report, "log_density_min"), least, 1e-9);
                assert_near(fit.report.objective, mean / weight, 1e-9);
                size_t red = 4;
                assert_true((fit.out.naive_bayes->a[red * 3 + 1] == -(double)INFINITY) ==
                            (alphas[a] == 0));
                memset(x + 2, 0, 4 * sizeof *x); /* an unseen category contributes no factor */
                double with[3], none[3];
                dni_machine_joint(raw, x, with, work);
                for (size_t k = 0; k < 3; k++) {
                    for (size_t l = 0; l < LEVELS + holes; l++) {
                        dni_bayes_of(raw)->a[(2 + l) * 3 + k] = -7;
                    }
                }
                dni_machine_joint(raw, x, none, work);
                assert_memory_equal(with, none, sizeof with);
                free(work);
                dn_machine_free(raw);
                fit_done(&fit);
                dn_params_free(p);
                typed_done(&t);
            }
        }
    }
}

/* The indicator of a missing number is an additional Bernoulli feature. */
static void indicators(void **state) {
    (void)state;
    enum { ROWS = 12 };
    double x[ROWS], y[ROWS];
    for (size_t i = 0; i < ROWS; i++) {
        y[i] = i % 2 == 1;
        x[i] = i % 3 == 0 ? (double)NAN : (double)(i * i);
    }
    const chunked_column columns[] = {{.column = {.name = "x", .type = DN_NUMERIC}, .number = x}};
    struct typed t;
    typed_init(&t, columns, 1, ROWS, y, NULL, &(dn_encoder_spec){.missing_indicator = true});
    assert_int_equal(t.rows->n_cols, 2);
    dn_params *p = bayes(1, 1e-9);
    struct fit fit;
    OK(typed_fit(&t, 2, p, &fit, NULL));
    const dni_naive_bayes *b = fit.out.naive_bayes;
    assert_true(b->factor[0] == DNI_FACTOR_GAUSSIAN && b->factor[1] == DNI_FACTOR_BERNOULLI);
    assert_near(b->a[2], log(3.0 / 8), 1e-12); /* rows 0 and 6 of six, and one row of smoothing */
    assert_near(b->b[3], log(5.0 / 8), 1e-12);
    fit_done(&fit);
    dn_params_free(p);
    typed_done(&t);
}

static void dropped_levels(void **state) {
    (void)state;
    static struct mixed m;
    mixed_init(&m, false);
    struct typed t;
    typed_init(&t, m.columns, 3, N, m.y, NULL, &(dn_encoder_spec){.categorical = DN_DROP_FIRST});
    dn_params *p = bayes(1, 1e-9);
    struct fit fit = {0};
    dn_error err = {0};
    assert_int_equal(typed_fit(&t, 3, p, &fit, &err), DN_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "\"colour\""));
    assert_non_null(strstr(err.message, "one_hot"));
    assert_string_equal(err.field, "categorical");
    dn_params_free(p);
    typed_done(&t);
}

/* ---- variances ---- */
static void the_floor(void **state) {
    (void)state;
    struct csv *t = csv_clouds(90, 3, 3);
    for (size_t i = 0; i < t->n; i++) {
        if (t->target[i] == 1) {
            t->x[i * 3 + 1] = 5; /* constant in one class only */
        }
    }
    dn_params *p = bayes(1, 0);
    struct fit fit = {0}, raised;
    dn_error err = {0};
    dn_rows *rows;
    dn_run run = dn_run_default();
    static const char *const names[] = {"ash", "birch", "cedar"};
    OK(dn_rows_from_matrix(dn_matrix_dense(t->x, t->n, 3), t->target, NULL, &rows, NULL));
    dn_fit_input input = {.rows = rows, .n_classes = 3, .params = p, .class_names = names};
    assert_int_equal(fit_input(p, &input, &run, &fit, &err), DN_ERR_DATA);
    assert_non_null(strstr(err.message, "\"#1\""));
    assert_non_null(strstr(err.message, "\"birch\""));
    assert_non_null(strstr(err.message, "variance_floor"));
    double variance[3];
    for (size_t j = 0; j < 3; j++) { /* the variance over all rows, not within the classes */
        double mean = 0, square = 0;
        for (size_t i = 0; i < t->n; i++) {
            mean += t->x[i * 3 + j] / (double)t->n;
        }
        for (size_t i = 0; i < t->n; i++) {
            square += pow(t->x[i * 3 + j] - mean, 2) / (double)t->n;
        }
        variance[j] = square;
    }
    const double floors[] = {1e-9, 1e-3, 0.2, 3};
    dn_params *exact = bayes(1, 1e-300);
    OK(fit_arrays(t->x, t->target, NULL, t->n, 3, 3, exact, &fit, NULL));
    for (size_t f = 0; f < 4; f++) {
        OK(dn_params_set_number(p, "variance_floor", floors[f], NULL));
        OK(fit_arrays(t->x, t->target, NULL, t->n, 3, 3, p, &raised, NULL));
        for (size_t i = 0; i < 9; i++) { /* the floor changes only variances below it */
            assert_near(raised.out.naive_bayes->b[i],
                        fmax(fit.out.naive_bayes->b[i], floors[f] * variance[i / 3]), 1e-12);
        }
        assert_true(densities_detail(&raised.report, "raised_variances") >= 1);
        assert_int_equal(raised.report.n_warnings, 1);
        assert_non_null(strstr(raised.report.warnings[0].text, "\"#1\""));
        fit_done(&raised);
    }
    fit_done(&fit);
    dn_params_free(exact);
    dn_params_free(p);
    dn_rows_free(rows);
    csv_free(t);
}

/* The floor of a column does not depend on the units of the other columns: a column of small
 * numbers beside a column of large numbers keeps its variance. */
static void the_floor_is_of_each_column(void **state) {
    (void)state;
    struct csv *t = csv_clouds(90, 3, 3);
    double *x = xcalloc(t->n * 3, sizeof *x), a[3], b[3];
    const double unit[] = {1e-6, 1, 1e6};
    for (size_t i = 0; i < t->n * 3; i++) {
        x[i] = t->x[i] * unit[i % 3];
    }
    dn_params *p = bayes(1, 1e-9);
    struct fit one, two;
    OK(fit_arrays(t->x, t->target, NULL, t->n, 3, 3, p, &one, NULL));
    OK(fit_arrays(x, t->target, NULL, t->n, 3, 3, p, &two, NULL));
    assert_int_equal(two.report.n_warnings, 0);
    for (size_t i = 0; i < t->n; i++) {
        posterior(&one.out, t->x + i * 3, a);
        posterior(&two.out, x + i * 3, b);
        assert_close(a, b, 3, 1e-10);
    }
    fit_done(&one);
    fit_done(&two);
    dn_params_free(p);
    free(x);
    csv_free(t);
}

/* With a diagonal covariance and the same divisor, `gaussian` gives the same model. */
static void is_the_diagonal_gaussian(void **state) {
    (void)state;
    struct csv *t = csv_named("wine");
    dn_params *p = bayes(1, 0), *q = params_for("gaussian");
    struct fit one, two;
    double a[3], b[3];
    OK(dn_params_set_word(q, "covariance", "diagonal", NULL));
    OK(fit_arrays(t->x, t->target, NULL, t->n, t->d, 3, p, &one, NULL));
    OK(fit_arrays(t->x, t->target, NULL, t->n, t->d, 3, q, &two, NULL));
    for (size_t i = 0; i < t->n; i++) {
        assert_near(posterior(&one.out, t->x + i * t->d, a),
                    posterior(&two.out, t->x + i * t->d, b), 1e-10);
        assert_close(a, b, 3, 1e-10);
    }
    assert_near(one.report.objective, two.report.objective, 1e-12);
    fit_done(&one);
    fit_done(&two);
    dn_params_free(p);
    dn_params_free(q);
    csv_free(t);
}

/* No column varies, so the relative variance floor is 0 and the fit is refused. The message
 * recommends a floor only if the parameter is 0. */
static void all_columns_are_constant(void **state) {
    (void)state;
    const double x[] = {4, 4, 4, 4}, y[] = {0, 1, 0, 1};
    for (size_t i = 0; i < 2; i++) {
        dn_params *p = bayes(1, i == 0 ? 0 : 1e-9);
        struct fit fit;
        dn_error err = {0};
        assert_int_equal(fit_arrays(x, y, NULL, 4, 1, 2, p, &fit, &err), DN_ERR_DATA);
        assert_true((strstr(err.message, "set variance_floor above 0") != NULL) == (i == 0));
        assert_non_null(strstr(err.message, "exclude the column"));
        dn_params_free(p);
    }
}

static void huge_values(void **state) {
    (void)state;
    struct csv *t = csv_clouds(60, 3, 2);
    t->x[7 * 3 + 2] = 1e300;
    dn_params *p = bayes(1, 1e-9);
    struct fit fit = {0};
    dn_error err = {0};
    assert_int_equal(fit_arrays(t->x, t->target, NULL, t->n, 3, 2, p, &fit, &err), DN_ERR_NUMERIC);
    assert_non_null(strstr(err.message, "\"#2\""));
    t->x[7 * 3 + 2] = 1e100;
    OK(dn_params_set_number(p, "variance_floor", 1e300,
                            NULL)); /* overflows: the variance is about 1e198 */
    err = (dn_error){0};
    assert_int_equal(fit_arrays(t->x, t->target, NULL, t->n, 3, 2, p, &fit, &err), DN_ERR_DATA);
    assert_non_null(strstr(err.message, "variance_floor"));
    dn_params_free(p);
    csv_free(t);
}

static void invariants(void **state) {
    (void)state;
    dn_params *p = bayes(1, 1e-9);
    for (size_t K = 2; K <= 3; K++) {
        struct csv *t = csv_clouds(500, 4, K), *large = csv_clouds(5 * DN_BLOCK_ROWS - 100, 3, K);
        for (size_t i = 0; i < t->n; i += 3) {
            t->x[i * 4 + i % 4] = 0;
        }
        check_invariants(t, p);
        check_threads(large, p);
        check_failures(t, p);
        check_memory(large, p);
        csv_free(t);
        csv_free(large);
    }
    dn_params_free(p);
}

int main(void) {
    static char *const sets[] = {"iris", "wine", "breast_cancer", "pima"};
    struct CMUnitTest tests[32] = {
        cmocka_unit_test(thirteen_samples),
        cmocka_unit_test(likelihood_zero_everywhere),
        cmocka_unit_test(columns_of_every_kind),
        cmocka_unit_test(indicators),
        cmocka_unit_test(dropped_levels),
        cmocka_unit_test(the_floor),
        cmocka_unit_test(the_floor_is_of_each_column),
        cmocka_unit_test(all_columns_are_constant),
        cmocka_unit_test(is_the_diagonal_gaussian),
        cmocka_unit_test(huge_values),
        cmocka_unit_test(invariants),
    };
    size_t n = 10;
    for (size_t i = 0; i < 4; i++) {
        tests[n++] = (struct CMUnitTest){"golden", golden, NULL, NULL, sets[i]};
    }
    return _cmocka_run_group_tests("naive_bayes", tests, n, NULL, NULL);
}
