/* Naive Bayes on counts: texts and sparse columns, compared with scikit-learn 1.2, plain counting
 * and dense rows; values of 0 probability; refused data. */
#include "unit/core/learners/shared/densities.h"

#include "machine/bayes.h"
#include "machine/machine_bytes.h"
#include "machine/machine_dispatch.h"

static dn_params *bayes(const char *numeric, double smoothing) {
    dn_params *p = params_for("naive_bayes");
    OK(dn_params_set_word(p, "numeric", numeric, NULL));
    OK(dn_params_set_number(p, "smoothing", smoothing, NULL));
    return p;
}

/* ---- texts: CountVectorizer and TfidfVectorizer(token_pattern=r"(?u)\b\w+\b"), then
 * MultinomialNB(alpha=1).predict_joint_log_proba ---- */
static const char text[] = "Free entry: win a FREE prize noware you free tonight?Win cash, win a "
                           "car! Text WIN to 80086see you at home tonight"
                           "L'\xc3\xa9t\xc3\xa9 d\xc3\xa9j\xc3\xa0 \xc3\xa0 la maison, you said";
static const uint32_t begins[] = {0, 32, 53, 91, 114, 151};
static const uint32_t codes[] = {0, 1, 2, 3, DN_CODE_MISSING, 4};
static const double classes[] = {1, 0, 1, 0, 0, 0};

/* The joint log density of a text, from its encoded entries and from the dense x. */
static void text_joint(const dn_encoder *encoder, const dn_machine *m, const char *of,
                       double joint[2]) {
    dn_text_work *work;
    dni_entry_part part = {0};
    double *x = xcalloc(m->n_features, sizeof *x), dense[2];
    OK(dn_text_work_new(&work, NULL));
    OK(dn_encoder_text(encoder, 0, of, strlen(of), work, &part.feature, &part.value, &part.n,
                       NULL));
    assert_true(dni_machine_joint_entries(m, &part, 1, joint));
    for (size_t i = 0; i < part.n; i++) {
        x[part.feature[i]] = part.value[i];
    }
    assert_true(dni_machine_joint(m, x, dense, NULL));
    assert_close(joint, dense, 2, 1e-14);
    dn_text_work_free(work);
    free(x);
}

static void texts(void **state) {
    (void)state;
    static const char *const asked[] = {"win a free car, you: free", "maison zzz"};
    static const double want[2][2][2] = {{{-19.914308786094228, -17.633467054353353},
                                          {-3.4258899942525263, -4.787491742782046}},
                                         {{-7.195208400959198, -7.36844741831451},
                                          {-3.528148272171566, -4.458501362478659}}};
    static const size_t columns[] = {0};
    const dn_table_column column = {.name = "message", .type = DN_TEXT};
    const dn_column_view view = {.type = DN_TEXT,
                                 .n_rows = 6,
                                 .code = codes,
                                 .strings = {5, begins, text}};
    assert_int_equal(begins[5], sizeof text - 1);
    dn_table_source *source;
    OK(dn_table_source_from_columns(&column, &view, 1, 6, &source, NULL));
    for (size_t tfidf = 0; tfidf < 2; tfidf++) {
        dn_run run = dn_run_default();
        dn_encoder_spec spec = {.columns = columns,
                                .n_columns = 1,
                                .text.weighting = tfidf ? DN_TEXT_TFIDF : DN_TEXT_COUNTS};
        dn_encoder *encoder;
        dn_rows *rows;
        struct fit fit;
        dn_params *p = bayes("gaussian", 1);
        OK(dn_encoder_fit(source, &spec, NULL, NULL, &run, &encoder, NULL));
        OK(dn_rows_from_source(source, encoder, NULL, DN_ROW_TRAIN, classes, NULL, true, &run,
                               &rows, NULL));
        dn_fit_input input = {.rows = rows,
                              .n_classes = 2,
                              .params = p,
                              .encoder = encoder,
                              .mean = dn_encoder_mean(encoder),
                              .scale = dn_encoder_scale(encoder)};
        OK(fit_input(p, &input, &run, &fit, NULL));
        assert_int_equal(fit.out.n_features, 24);
        assert_near(densities_detail(&fit.report, "count_features"), 24, 0);
        assert_near(densities_detail(&fit.report, "gaussian_features"), 0, 0);
        dn_machine *raw;
        OK(dni_machine_to_raw(fit.out.machine, input.mean, input.scale, &raw, NULL));
        for (size_t i = 0; i < 2; i++) {
            double joint[2];
            text_joint(encoder, raw, asked[i], joint);
            assert_close(joint, want[tfidf][i], 2, 1e-13);
        }
        double joint[2];
        text_joint(encoder, raw, "zzz",
                   joint); /* no known word: the joint densities are the priors */
        assert_near(joint[1], log(2.0 / 6), 1e-14);
        dn_machine_free(raw);
        fit_done(&fit);
        dn_params_free(p);
        dn_rows_free(rows);
        dn_encoder_unref(encoder);
    }
    dn_table_source_free(source);
}

/* ---- numbers that are counts: MultinomialNB and BernoulliNB(alpha=.5), sample_weight ---- */
static void counts_match_scikit_learn(void **state) {
    (void)state;
    static const double x[] = {2, 0, 1, 0,   0, 3, 0, 0, 1, 1, 0, 0,
                               0, 0, 4, 0.5, 0, 2, 0, 0, 3, 0, 2, 0};
    static const double y[] = {0, 1, 0, 0, 1, 1}, v[] = {1, 2, .5, 1, 1, 3},
                        asked[3][4] = {{1, 0, 2, 0}, {0, 0, 0, 3}, {2, 2, 0, 0}};
    static const struct {
        const char *numeric;
        double joint[3][2];
    } want[] = {{"multinomial",
                 {{-3.7697927299675884, -4.01003801646314},
                  {-8.277901203112549, -12.084375710552653},
                  {-8.432051882939806, -4.441094069535486}}},
                {"bernoulli",
                 {{-3.015951480735387, -2.5018562081017732},
                  {-4.507606357513103, -5.06680556556331},
                  {-4.848532944483696, -2.5018562081017732}}}};
    for (size_t i = 0; i < 2; i++) {
        dn_params *p = bayes(want[i].numeric, 0.5);
        struct fit fit;
        OK(fit_arrays(x, y, v, 6, 4, 2, p, &fit, NULL));
        for (size_t q = 0; q < 3; q++) {
            double joint[2];
            assert_true(dni_machine_joint(fit.out.machine, asked[q], joint, NULL));
            assert_close(joint, want[i].joint[q], 2, 1e-13);
        }
        fit_done(&fit);
        dn_params_free(p);
    }
}

/* ---- sparse rows ---- */
enum { ROWS = 5000, WIDTH = 40, CLASSES = 3 };

struct sparse {
    double dense[ROWS * WIDTH], y[ROWS], v[ROWS], value[ROWS * WIDTH];
    size_t start[ROWS + 1];
    uint32_t place[ROWS * WIDTH];
};

/* Rows of integers >= 0, most of them 0. stamp: column 7 is a time stamp and nonzero in every row.
 * The last option makes entries of column 9 negative. */
static struct sparse *sparse_new(bool stamp, bool negative) {
    struct sparse *s = xcalloc(1, sizeof *s);
    uint64_t r = 11;
    size_t n = 0;
    for (size_t i = 0; i < ROWS; i++) {
        s->y[i] = (double)(i % CLASSES);
        s->v[i] = (double)(i % 5) / 2;
        for (size_t j = 0; j < WIDTH; j++) {
            r = r * 6364136223846793005u + 1442695040888963407u;
            double x = (r >> 33) % 10 < (j + i % CLASSES) % 4 ? (double)(1 + (r >> 50) % 6) : 0;
            x = stamp && j == 7 ? 1.7e9 + x : negative && j == 9 ? -x : x;
            s->dense[i * WIDTH + j] = x;
            if (x == 0) {
                continue;
            }
            s->place[n] = (uint32_t)j;
            s->value[n++] = x;
        }
        s->start[i + 1] = n;
    }
    return s;
}

static dn_status sparse_fit(const struct sparse *s, bool csr, const dn_params *p, struct fit *fit,
                            dn_error *err) {
    dn_run run = dn_run_default();
    dn_rows *rows;
    OK(dn_rows_from_matrix(csr ? dn_matrix_csr(s->start, s->place, s->value, ROWS, WIDTH)
                               : dn_matrix_dense(s->dense, ROWS, WIDTH),
                           s->y, s->v, &rows, NULL));
    dn_status status = fit_rows(rows, CLASSES, p, &run, fit, err);
    dn_rows_free(rows);
    return status;
}

/* Sparse and dense rows give the same model and the same densities. The objective and the least
 * density are recomputed by plain loops. */
static void sparse_is_dense(void **state) {
    (void)state;
    static const char *const numeric[] = {"gaussian", "multinomial", "bernoulli"};
    static const double smoothing[] = {0, 1e-3, 1};
    for (size_t way = 0; way < 9; way++) {
        bool gaussian = way % 3 == 0;
        struct sparse *s = sparse_new(gaussian, way % 3 == 2);
        dn_params *p = bayes(numeric[way % 3], smoothing[way / 3]);
        struct fit one, two;
        OK(sparse_fit(s, false, p, &one, NULL));
        OK(sparse_fit(s, true, p, &two, NULL));
        if (gaussian) {
            assert_same_machine(&one.out, &two.out, 1e-9);
        } else {
            assert_same_machine(&one.out, &two.out, 0);
        }
        assert_near(one.report.objective, two.report.objective, 1e-9);
        dn_machine *raw;
        OK(dni_machine_to_raw(two.out.machine, NULL, NULL, &raw, NULL));
        double sum = 0, weight = 0, least = (double)INFINITY, work[CLASSES + 2], joint[CLASSES],
               dense[CLASSES], scores[CLASSES];
        for (size_t i = 0; i < ROWS; i++) {
            size_t n = s->start[i + 1] - s->start[i], half = n / 2;
            dni_entry_part parts[] = {{s->place + s->start[i], s->value + s->start[i], half},
                                      {s->place + s->start[i] + half, s->value + s->start[i] + half,
                                       n - half}};
            bool possible = dni_machine_joint_entries(raw, parts, 2, joint);
            assert_true(possible == dni_machine_joint(raw, s->dense + i * WIDTH, dense, work));
            for (size_t k = 0; k < CLASSES; k++) {
                assert_true(joint[k] == dense[k] ||
                            fabs(joint[k] - dense[k]) <
                                1e-11 * fabs(dense[k])); /* no trace of (1.7e9)² */
            }
            assert_true(possible == dni_machine_scores_entries(raw, parts, 2, scores, work));
            assert_memory_equal(scores, joint, sizeof joint);
            if (s->v[i] == 0) {
                continue;
            }
            sum -= s->v[i] * dense[(size_t)s->y[i]];
            weight += s->v[i];
            least = fmin(least, dni_log_sum(dense, CLASSES));
        }
        assert_near(two.report.objective, sum / weight, 1e-9);
        assert_near(densities_detail(&two.report, "log_density_min"), least, 1e-9);
        assert_near(densities_detail(&two.report, "rows_weight"), weight, 1e-12);
        static const char *const counted[] = {"gaussian_features", "count_features",
                                              "bernoulli_features"};
        assert_near(densities_detail(&two.report, counted[way % 3]), WIDTH, 0);
        dn_machine_free(raw);
        fit_done(&one);
        fit_done(&two);
        dn_params_free(p);
        free(s);
    }
}

/* Without smoothing, a row has probability 0 in a class if the row lacks a feature that all rows of
 * the class have. Sparse rows give the same result. */
static void rows_of_probability_0(void **state) {
    (void)state;
    static const double x[] = {1, 0, 1, 2, 1, 0, 0, 1, 0, 3, 0, 0}, y[] = {0, 0, 0, 1, 1, 1};
    dn_params *p = bayes("bernoulli", 0);
    struct fit fit;
    OK(fit_arrays(x, y, NULL, 6, 2, 2, p, &fit,
                  NULL)); /* all rows of class 0 have the first feature, no row of class 1 has it */
    dn_machine *raw;
    OK(dni_machine_to_raw(fit.out.machine, NULL, NULL, &raw, NULL));
    static const uint32_t first[] = {0, 1};
    static const double one[] = {5, 1};
    double joint[2], work[4], score;
    assert_true(dni_machine_joint_entries(raw, &(dni_entry_part){first, one, 1}, 1, joint));
    assert_near(joint[0], log(0.5) + log(2.0 / 3), 1e-14);
    assert_true(joint[1] == -(double)INFINITY);
    assert_true(dni_machine_joint_entries(raw, NULL, 0, joint));
    assert_true(joint[0] == -(double)INFINITY);
    assert_near(joint[1], log(0.5) + log(1.0 / 3), 1e-14);
    assert_true(dni_machine_scores_entries(raw, &(dni_entry_part){first, one, 2}, 1, &score, work));
    assert_true(score == -(double)INFINITY);
    dni_bayes_of(raw)->a[0] =
        -(double)INFINITY; /* the first feature has probability 0 in both classes */
    assert_false(dni_machine_joint_entries(raw, &(dni_entry_part){first, one, 2}, 1, joint));
    assert_near(joint[0], log(0.5), 1e-14);
    /* a value whose square overflows */
    dn_machine_free(raw);
    fit_done(&fit);
    dn_params_free(p);
    p = bayes("gaussian", 1);
    OK(fit_arrays(x, y, NULL, 6, 2, 2, p, &fit, NULL));
    OK(dni_machine_to_raw(fit.out.machine, NULL, NULL, &raw, NULL));
    assert_false(dni_machine_joint_entries(raw, &(dni_entry_part){first, (double[]){1e300, 0}, 2},
                                           1, joint));
    dn_machine_free(raw);
    fit_done(&fit);
    dn_params_free(p);
}

/* One class has no words, and there is no smoothing. In this class every word has probability 0; a
 * text without words has positive probability. */
static void class_without_words(void **state) {
    (void)state;
    static const double x[] = {0, 0, 1, 2, 0, 0, 3, 0}, y[] = {0, 1, 0, 1};
    dn_params *p = bayes("multinomial", 0);
    struct fit fit;
    OK(fit_arrays(x, y, NULL, 4, 2, 2, p, &fit, NULL));
    double joint[2];
    assert_true(dni_machine_joint(fit.out.machine, (double[]){1, 0}, joint, NULL));
    assert_true(joint[0] == -(double)INFINITY);
    assert_near(joint[1], log(0.5) + log(4.0 / 6), 1e-14);
    assert_true(dni_machine_joint(fit.out.machine, (double[]){0, 0}, joint, NULL));
    assert_true(joint[0] == log(0.5) && joint[1] == log(0.5));
    fit_done(&fit);
    dn_params_free(p);
}

/* ---- the columns of an svmlight file and those of a CSV file give one model ---- */
static void svmlight_and_csv_give_one_model(void **state) {
    (void)state;
    static const char *const numeric[] = {"gaussian", "multinomial", "bernoulli"};
    static size_t all[WIDTH];
    struct sparse *s = sparse_new(false, false);
    dn_table_column columns[WIDTH],
        one = {.name = "f", .type = DN_SPARSE, .width = WIDTH, .first_index = 1};
    dn_column_view views[WIDTH];
    char names[WIDTH][8];
    double *turned = xcalloc(ROWS * WIDTH, sizeof *turned);
    for (size_t j = 0; j < WIDTH; j++) {
        all[j] = j;
        (void)snprintf(names[j], sizeof names[j], "f%zu", j + 1);
        columns[j] = (dn_table_column){.name = names[j], .type = DN_NUMERIC};
        for (size_t i = 0; i < ROWS; i++) {
            turned[j * ROWS + i] = s->dense[i * WIDTH + j];
        }
        views[j] =
            (dn_column_view){.type = DN_NUMERIC, .n_rows = ROWS, .number = turned + j * ROWS};
    }
    const dn_column_view sparse = {.type = DN_SPARSE,
                                   .n_rows = ROWS,
                                   .number = s->value,
                                   .row_start = s->start,
                                   .index = s->place};
    for (size_t way = 0; way < 3; way++) {
        struct fit fit[2];
        dn_params *p = bayes(numeric[way], 1);
        for (size_t as = 0; as < 2; as++) {
            dn_run run = dn_run_default();
            dn_table_source *source;
            dn_encoder *encoder;
            dn_rows *rows;
            OK(dn_table_source_from_columns(as == 0 ? columns : &one, as == 0 ? views : &sparse,
                                            as == 0 ? WIDTH : 1, ROWS, &source, NULL));
            dn_encoder_spec spec = {.columns = all, .n_columns = as == 0 ? WIDTH : 1};
            OK(dn_encoder_fit(source, &spec, NULL, s->v, &run, &encoder, NULL));
            OK(dn_rows_from_source(source, encoder, NULL, DN_ROW_TRAIN, s->y, s->v, true, &run,
                                   &rows, NULL));
            dn_fit_input input = {.rows = rows,
                                  .n_classes = CLASSES,
                                  .params = p,
                                  .encoder = encoder};
            OK(fit_input(p, &input, &run, &fit[as], NULL));
            dn_rows_free(rows);
            dn_encoder_unref(encoder);
            dn_table_source_free(source);
        }
        assert_same_machine(&fit[0].out, &fit[1].out, way == 0 ? 1e-12 : 0);
        fit_done(&fit[0]);
        fit_done(&fit[1]);
        dn_params_free(p);
    }
    free(turned);
    free(s);
}

/* ---- what it refuses ---- */
static void refused(void **state) {
    (void)state;
    struct sparse *s = sparse_new(false, true);
    dn_params *p = bayes("multinomial", 1);
    struct fit fit = {0};
    for (size_t csr = 0; csr < 2; csr++) {
        dn_error err = {0};
        assert_int_equal(sparse_fit(s, csr == 1, p, &fit, &err), DN_ERR_DATA);
        assert_non_null(strstr(err.message, "\"#9\""));
        assert_non_null(strstr(err.message, "(got -"));
        assert_non_null(strstr(err.message, "\"bernoulli\""));
        assert_string_equal(err.field, "#9");
    }
    for (size_t i = 0; i < ROWS; i++) { /* rows with weight 0 are not checked */
        for (size_t e = s->start[i]; e < s->start[i + 1]; e++) {
            s->v[i] = s->value[e] < 0 ? 0 : s->v[i];
        }
    }
    OK(sparse_fit(s, true, p, &fit, NULL));
    fit_done(&fit);
    double mean[WIDTH] = {0}, scale[WIDTH];
    for (size_t j = 0; j < WIDTH; j++) {
        scale[j] = j == 3 ? 2 : 1;
    }
    dn_rows *rows;
    dn_run run = dn_run_default();
    dn_error err = {0};
    OK(dn_rows_from_matrix(dn_matrix_dense(s->dense, ROWS, WIDTH), s->y, NULL, &rows, NULL));
    dn_fit_input input = {
        .rows = rows, .n_classes = CLASSES, .params = p, .mean = mean, .scale = scale};
    assert_int_equal(fit_input(p, &input, &run, &fit, &err), DN_ERR_ARGUMENT);
    assert_string_equal(err.field, "standardize");
    assert_non_null(strstr(err.message, "\"#3\""));
    dn_rows_free(rows);
    dn_params_free(p);
    free(s);
}

/* ---- invariants of every method ---- */
static void shared_invariants(void **state) {
    (void)state;
    static const char *const numeric[] = {"multinomial", "bernoulli"};
    for (size_t i = 0; i < 2; i++) {
        struct csv *t = csv_clouds(4 * DN_BLOCK_ROWS + 100, 6, 3);
        dn_params *p = bayes(numeric[i], 1);
        for (size_t k = 0; k < t->n * t->d; k++) {
            t->x[k] = t->x[k] > 0 ? floor(4 * t->x[k]) / 4 : 0;
        }
        check_invariants(t, p);
        check_threads(t, p);
        check_failures(t, p);
        check_memory(t, p);
        dn_params_free(p);
        csv_free(t);
    }
}

static void there_and_back(void **state) {
    (void)state;
    struct sparse *s = sparse_new(false, false);
    dn_params *p = bayes("bernoulli", 0.5);
    struct fit fit;
    OK(sparse_fit(s, true, p, &fit, NULL));
    dni_writer writer;
    dni_writer_init(&writer);
    dni_machine_write(fit.out.machine, NULL, &writer);
    dni_reader reader = dni_reader_of(writer.bytes, writer.size);
    dn_machine *back;
    OK(dni_machine_read(&reader, CLASSES, WIDTH, NULL, &back, NULL));
    const struct machine_view view = machine_view(back);
    assert_same_machine(&fit.out, &view, 0);
    assert_int_equal(dni_bayes_of(back)->factor[0], DNI_FACTOR_PRESENCE);
    dn_machine_free(back);
    dni_writer_done(&writer);
    fit_done(&fit);
    dn_params_free(p);
    free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts),
        cmocka_unit_test(counts_match_scikit_learn),
        cmocka_unit_test(sparse_is_dense),
        cmocka_unit_test(rows_of_probability_0),
        cmocka_unit_test(class_without_words),
        cmocka_unit_test(svmlight_and_csv_give_one_model),
        cmocka_unit_test(refused),
        cmocka_unit_test(shared_invariants),
        cmocka_unit_test(there_and_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
