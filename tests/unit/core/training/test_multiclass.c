/* Tests of models whose machines have two classes. Each machine equals a training with its two
 * classes only. Decision rules, reports, bytes, memory. */
#include "unit/core/support.h"

#include "machine/machine_dispatch.h"

struct way {
    const char *multiclass, *discriminants;
    dn_decision decision;
};

static const struct way ways[] = {
    {"one_vs_rest", "K", DN_DECISION_ONE_VS_REST},
    {"one_vs_rest_strict", "K", DN_DECISION_ONE_VS_REST_STRICT},
    {"one_vs_rest_strict", "K-1", DN_DECISION_ALL_BUT_ONE_VS_REST_STRICT},
    {"one_vs_one", "K", DN_DECISION_ONE_VS_ONE},
    {"one_vs_one_strict", "K", DN_DECISION_ONE_VS_ONE_STRICT},
};
enum { N_WAYS = sizeof ways / sizeof ways[0] };

static bool of_pairs(const struct way *way) {
    return way->decision == DN_DECISION_ONE_VS_ONE ||
           way->decision == DN_DECISION_ONE_VS_ONE_STRICT;
}

static dn_params *params_for(const char *algorithm, const struct way *way) {
    dn_params *p;
    OK(dn_params_new(dn_algorithm_find(algorithm), &p, NULL));
    OK(dn_params_set_word(p, "multiclass", way->multiclass, NULL));
    OK(dn_params_set_word(p, "discriminants", way->discriminants, NULL));
    return p;
}

static dn_train_result train(const dn_train_request *request, const dn_run *run) {
    dn_run plain = dn_run_default();
    dn_train_result result;
    dn_error err = {0};
    if (dn_train(request, run == NULL ? &plain : run, &result, &err) != DN_OK) {
        fail_msg("training failed: %s", err.message);
    }
    return result;
}

/* Returns the first max_rows rows of the class `negative` (SIZE_MAX: of all other classes), with
 * the label "0", and of the class `positive`, with the label "1". positive == SIZE_MAX: the rows of
 * all classes, with their labels. */
static struct csv *rows_of(const struct csv *t, size_t negative, size_t positive, size_t max_rows) {
    struct csv *out = xcalloc(1, sizeof *out);
    out->d = t->d;
    out->names = xcalloc(t->d + 1, sizeof *out->names);
    out->x = xcalloc(t->n * t->d, sizeof *out->x);
    out->labels = xcalloc(t->n, sizeof *out->labels);
    for (size_t j = 0; j <= t->d; j++) {
        out->names[j] = csv_copy(t->names[j]);
    }
    for (size_t i = 0; i < t->n && out->n < max_rows; i++) {
        size_t k = (size_t)t->target[i];
        if (positive != SIZE_MAX && negative != SIZE_MAX && k != negative && k != positive) {
            continue;
        }
        memcpy(out->x + out->n * t->d, t->x + i * t->d, t->d * sizeof *t->x);
        out->labels[out->n++] = csv_copy(positive == SIZE_MAX ? t->labels[i]
                                         : k == positive      ? "1"
                                                              : "0");
    }
    csv_classify(out);
    return out;
}

static struct csv *set_named(const char *name) {
    struct csv *all = csv_named(name), *t = rows_of(all, SIZE_MAX, SIZE_MAX, 240);
    csv_free(all);
    return t;
}

static void *bytes_of(const dn_model *model, size_t *out_size) {
    void *bytes;
    OK(dn_model_write(model, &bytes, out_size, NULL));
    return bytes;
}

static void assert_same_bytes(const dn_model *a, const dn_model *b) {
    size_t n, m;
    void *p = bytes_of(a, &n), *q = bytes_of(b, &m);
    assert_int_equal(n, m);
    assert_memory_equal(p, q, n);
    free(p);
    free(q);
}

static const dn_detail *detail(const dn_detail *details, size_t n, const char *name) {
    size_t i = 0;
    while (i < n && strcmp(details[i].name, name) != 0) {
        i++;
    }
    if (i == n) {
        fail_msg("no detail \"%s\"", name);
    }
    return &details[i];
}

/* ---- machines ---- */
/* Machine i and its part of the report equal those of a training with its two classes only. */
static void assert_machine(const struct csv *t, const dn_params *p, bool standardize,
                           const dn_train_result *whole, size_t i) {
    const dn_report_part *part = &whole->report.parts[i];
    struct csv *two = rows_of(t, part->negative, part->positive, SIZE_MAX);
    struct table *table = table_of(two);
    dn_train_request request = table_request(two, table, p);
    request.features.standardize = standardize;
    dn_train_result alone = train(&request, NULL);
    const struct machine_view a = machine_view(dn_model_machine(whole->model, i)),
                              b = machine_view(dn_model_machine(alone.model, 0));
    assert_int_equal(dn_model_n_machines(alone.model), 1);
    assert_int_equal(a.n_classes, 2);
    assert_memory_equal(a.w, b.w, t->d * sizeof *a.w);
    assert_memory_equal(a.w0, b.w0, sizeof *a.w0);
    assert_int_equal(part->converged, alone.report.converged);
    assert_int_equal(part->stop_reason, alone.report.stop_reason);
    assert_int_equal(part->iterations, alone.report.iterations);
    assert_true(part->objective == alone.report.objective);
    assert_true(part->n_details > 0 &&
                part->n_details < alone.report.n_details); /* all details except "rows" */
    for (size_t k = 0; k < part->n_details; k++) {
        assert_string_equal(part->details[k].name, alone.report.details[k].name);
        assert_string_equal(part->details[k].text, alone.report.details[k].text);
        assert_memory_equal(&part->details[k].number, &alone.report.details[k].number,
                            sizeof(double));
    }
    dn_train_result_done(&alone);
    columns_table_free(table);
    csv_free(two);
}

static void assert_report(const struct way *way, size_t K, const dn_train_result *r) {
    const dn_report *report = &r->report;
    size_t n = of_pairs(way)                                             ? K * (K - 1) / 2
               : way->decision == DN_DECISION_ALL_BUT_ONE_VS_REST_STRICT ? K - 1
                                                                         : K,
           iterations = 0;
    double objective = 0;
    bool converged = true;
    assert_int_equal(dn_model_decision(r->model), way->decision);
    assert_int_equal(dn_model_n_machines(r->model), n);
    assert_int_equal(dn_model_n_scores(r->model), n);
    assert_int_equal(report->n_parts, n);
    assert_non_null(report->parts);
    assert_true(detail(report->details, report->n_details, "n_machines")->number == (double)n);
    for (size_t i = 0, first = 0, second = 1; i < n; i++) {
        const dn_report_part *part = &report->parts[i];
        assert_int_equal(part->negative, of_pairs(way) ? first : SIZE_MAX);
        assert_int_equal(part->positive, of_pairs(way) ? second : i);
        if (++second == K) {
            second = ++first + 1;
        }
        iterations += part->iterations;
        objective += part->objective;
        converged = converged && part->converged;
    }
    assert_int_equal(report->iterations, iterations);
    assert_near(report->objective + 1, objective + 1, 1e-12);
    assert_int_equal(report->converged, converged);
}

static void each_machine_is_its_own(void **state) {
    (void)state;
    const char *const names[] = {"iris", "wine", "digits"};
    for (size_t s = 0; s < 3; s++) {
        struct csv *t = set_named(names[s]);
        struct table *table = table_of(t);
        for (size_t w = 0; w < N_WAYS; w++) {
            dn_params *p = params_for("logistic", &ways[w]);
            dn_train_request request = table_request(t, table, p);
            request.features.standardize =
                !of_pairs(&ways[w]); /* the rows of a pair have other column means */
            dn_train_result whole = train(&request, NULL);
            assert_report(&ways[w], t->K, &whole);
            for (size_t i = 0; i < whole.report.n_parts; i++) {
                assert_machine(t, p, request.features.standardize, &whole, i);
            }
            dn_train_result_done(&whole);
            dn_params_free(p);
        }
        columns_table_free(table);
        csv_free(t);
    }
}

/* The perceptron has no native model for more than two classes: its default is one_vs_rest. */
static void machines_by_default(void **state) {
    (void)state;
    struct csv *t = set_named("iris");
    struct table *table = table_of(t);
    dn_params *p;
    OK(dn_params_new(dn_algorithm_find("perceptron"), &p, NULL));
    OK(dn_params_set_number(p, "max_iterations", 50, NULL));
    dn_train_request request = table_request(t, table, p);
    request.features.standardize = false;
    dn_train_result r = train(&request, NULL);
    assert_report(&ways[0], 3, &r);
    for (size_t i = 0; i < 3; i++) {
        assert_machine(t, p, false, &r, i);
    }
    assert_true(r.report.parts[0].converged && !r.report.parts[1].converged && !r.report.converged);
    assert_int_equal(r.report.n_warnings, 2);
    assert_true(strncmp(r.report.warnings[0].text,
                        "versicolor against the rest: the classes may not be separable", 61) == 0);
    assert_true(strncmp(r.report.warnings[1].text, "virginica against the rest: ", 28) == 0);
    assert_int_equal(r.report.stop_reason, DN_STOP_MAX_ITERATIONS);
    assert_false(dn_model_has_probabilities(r.model));
    dn_train_result_done(&r);
    OK(dn_params_set_word(p, "multiclass", "one_vs_one", NULL));
    r = train(&request, NULL);
    assert_report(&ways[3], 3, &r);
    for (size_t i = 0; i < 3; i++) {
        assert_machine(t, p, false, &r, i);
    }
    dn_train_result_done(&r);
    dn_params_free(p);
    columns_table_free(table);
    csv_free(t);
}

/* With two classes all choices of `multiclass` give the native model. */
static void two_classes(void **state) {
    (void)state;
    struct csv *t = csv_clouds(200, 3, 2);
    struct table *table = table_of(t);
    dn_params *p;
    OK(dn_params_new(dn_algorithm_find("logistic"), &p, NULL));
    dn_train_request request = table_request(t, table, p);
    dn_train_result own = train(&request, NULL);
    for (size_t w = 0; w < N_WAYS; w++) {
        dn_params *q = params_for("logistic", &ways[w]);
        request.params = q;
        dn_train_result r = train(&request, NULL);
        assert_int_equal(dn_model_n_machines(r.model), 1);
        assert_int_equal(r.report.n_parts, 0);
        assert_memory_equal(machine_view(dn_model_machine(r.model, 0)).w,
                            machine_view(dn_model_machine(own.model, 0)).w, 3 * sizeof(double));
        assert_true(r.train->log_loss == own.train->log_loss && r.train->ambiguous == 0);
        dn_train_result_done(&r);
        dn_params_free(q);
    }
    dn_train_result_done(&own);
    dn_params_free(p);
    columns_table_free(table);
    csv_free(t);
}

/* ---- decisions ---- */
/* Returns the score of class i against class j (one versus rest: of class i), from the scores g of
 * all machines. The order of the machines is that of decision.h. */
static double score_of(const struct way *way, size_t K, const double *g, size_t i, size_t j) {
    if (!of_pairs(way)) {
        return g[i];
    }
    size_t low = i < j ? i : j, high = i < j ? j : i, at = 0;
    for (size_t a = 0; a < low; a++) {
        at += K - 1 - a;
    }
    at += high - low - 1;
    return i == high ? g[at] : -g[at]; /* a positive score of the pair favours `high` */
}

static size_t label_of(const struct way *way, size_t K, const double *g) {
    size_t best = 0, claims = 0, last = SIZE_MAX;
    double most = -(double)INFINITY;
    if (way->decision == DN_DECISION_ONE_VS_REST) {
        for (size_t k = 0; k < K; k++) {
            if (g[k] > most) {
                most = g[best = k];
            }
        }
        return best;
    }
    if (!of_pairs(way)) {
        size_t n = way->decision == DN_DECISION_ONE_VS_REST_STRICT ? K : K - 1;
        for (size_t k = 0; k < n; k++) {
            if (g[k] > 0) {
                claims++, last = k;
            }
        }
        return claims == 1 ? last : claims == 0 && n < K ? K - 1 : DN_AMBIGUOUS;
    }
    size_t most_won = 0;
    for (size_t i = 0; i < K; i++) {
        size_t won = 0;
        double sum = 0;
        for (size_t j = 0; j < K; j++) {
            if (j != i) {
                won += score_of(way, K, g, i, j) > 0;
                sum += score_of(way, K, g, i, j);
            }
        }
        if (won == K - 1) {
            last = i;
        }
        if (i == 0 || won > most_won || (won == most_won && sum > most)) {
            best = i, most_won = won, most = sum;
        }
    }
    return way->decision == DN_DECISION_ONE_VS_ONE_STRICT ? (last == SIZE_MAX ? DN_AMBIGUOUS : last)
                                                          : best;
}

struct answers {
    size_t *label;
    double *scores, *p;
    bool *candidates;
};

static struct answers ask(const dn_model *model, const struct csv *t) {
    size_t S = dn_model_n_scores(model);
    struct answers a = {xcalloc(t->n, sizeof(size_t)), xcalloc(t->n * S, sizeof(double)),
                        xcalloc(t->n * t->K, sizeof(double)), xcalloc(t->n * t->K, sizeof(bool))};
    double *work = xcalloc(dn_model_workspace(model), sizeof *work);
    dn_prediction out = {.label = a.label, .scores = a.scores, .candidates = a.candidates};
    if (dn_model_has_probabilities(model)) {
        out.probabilities = a.p;
    }
    dn_model_predict(model, dn_raw_numbers(t->x, t->n), work, &out);
    free(work);
    return a;
}

static void answers_done(struct answers *a) {
    free(a->label);
    free(a->scores);
    free(a->p);
    free(a->candidates);
}

static void assert_probabilities(const struct way *way, const struct csv *t,
                                 const struct answers *a, size_t S) {
    for (size_t i = 0; i < t->n; i++) {
        const double *p = a->p + i * t->K, *g = a->scores + i * S;
        double sum = 0, sigmoids = 0;
        for (size_t k = 0; k < t->K; k++) {
            assert_true(p[k] >= 0 && p[k] <= 1);
            sum += p[k];
            sigmoids += 1 / (1 + exp(-g[k]));
        }
        assert_near(sum, 1, 1e-12);
        for (size_t k = 0; !of_pairs(way) && k < t->K; k++) {
            assert_true(fabs(p[k] - 1 / (1 + exp(-g[k])) / sigmoids) < 1e-12);
        }
    }
}

static void rules(void **state) {
    (void)state;
    struct csv *const sets[] = {set_named("iris"), csv_clouds(600, 3, 5)};
    double ambiguous_rows[N_WAYS] = {0};
    for (size_t s = 0; s < 2; s++) {
        struct csv *t = sets[s];
        struct table *table = table_of(t);
        for (size_t w = 0; w < N_WAYS; w++) {
            dn_params *p = params_for("logistic", &ways[w]);
            OK(dn_params_set_word(p, "decision", "scores", NULL));
            dn_train_request request = table_request(t, table, p);
            dn_train_result r = train(&request, NULL);
            struct answers a = ask(r.model, t);
            size_t S = dn_model_n_scores(r.model);
            double ambiguous = 0, right = 0;
            for (size_t i = 0; i < t->n; i++) {
                size_t label = label_of(&ways[w], t->K, a.scores + i * S), candidates = 0;
                assert_true(a.label[i] == label);
                for (size_t k = 0; k < t->K; k++) {
                    candidates += a.candidates[i * t->K + k];
                }
                assert_true(label == DN_AMBIGUOUS
                                ? candidates != 1
                                : candidates == 1 && a.candidates[i * t->K + label]);
                ambiguous += label == DN_AMBIGUOUS;
                right += label == (size_t)t->target[i];
            }
            assert_true(r.train->ambiguous == ambiguous);
            assert_near(r.train->accuracy, right / (double)t->n, 1e-12);
            ambiguous_rows[w] += ambiguous;
            assert_int_equal(dn_model_has_probabilities(r.model),
                             ways[w].decision != DN_DECISION_ALL_BUT_ONE_VS_REST_STRICT);
            if (dn_model_has_probabilities(r.model)) {
                assert_probabilities(&ways[w], t, &a, S);
            } else {
                assert_true(isnan(r.train->log_loss));
            }
            answers_done(&a);
            dn_train_result_done(&r);
            dn_params_free(p);
        }
        columns_table_free(table);
        csv_free(t);
    }
    for (size_t w = 0; w < N_WAYS; w++) { /* without a strict rule no row is ambiguous */
        bool strict = ways[w].decision != DN_DECISION_ONE_VS_REST &&
                      ways[w].decision != DN_DECISION_ONE_VS_ONE;
        assert_true(strict || ambiguous_rows[w] == 0);
    }
    assert_true(ambiguous_rows[1] > 10);
}

/* ---- the same bytes ---- */
static void round_trip(void **state) {
    (void)state;
    struct csv *t = set_named("wine");
    struct table *table = table_of(t);
    const char *const algorithms[] = {"logistic", "perceptron"};
    for (size_t k = 0; k < 2; k++) {
        for (size_t w = 0; w < N_WAYS; w++) {
            dn_params *p = params_for(algorithms[k], &ways[w]);
            dn_train_request request = table_request(t, table, p);
            dn_train_result r = train(&request, NULL);
            size_t size;
            void *bytes = bytes_of(r.model, &size);
            dn_model *again;
            OK(dn_model_read(bytes, size, &again, NULL));
            assert_same_bytes(again, r.model);
            assert_int_equal(dn_model_decision(again), ways[w].decision);
            assert_string_equal(dn_params_word(dn_model_params(again), "multiclass"),
                                ways[w].multiclass);
            assert_string_equal(dn_params_word(dn_model_params(again), "discriminants"),
                                ways[w].discriminants);
            struct answers a = ask(r.model, t), b = ask(again, t);
            assert_memory_equal(a.label, b.label, t->n * sizeof *a.label);
            assert_memory_equal(a.scores, b.scores,
                                t->n * dn_model_n_scores(again) * sizeof *a.scores);
            assert_memory_equal(a.p, b.p, t->n * t->K * sizeof *a.p);
            answers_done(&a);
            answers_done(&b);
            dn_model_unref(again);
            free(bytes);
            dn_train_result_done(&r);
            dn_params_free(p);
        }
    }
    columns_table_free(table);
    csv_free(t);
}

/* The number of threads, and a budget that is too small for the rows, do not change the bytes: the
 * rows of a pair are numbered from 0 in memory and streamed. */
static void threads_and_streams(void **state) {
    (void)state;
    struct csv *t = csv_clouds(21000, 8, 3);
    struct table *table = table_of(t);
    const char *const algorithms[] = {"logistic", "perceptron"};
    for (size_t k = 0; k < 2; k++) {
        for (size_t w = 0; w < N_WAYS;
             w += 3) { /* one_vs_rest, then one_vs_one, where a pair has 14,000 rows */
            dn_params *p = params_for(algorithms[k], &ways[w]);
            OK(dn_params_set_number(p, "max_iterations", 4, NULL));
            if (k == 1) {
                OK(dn_params_set_word(p, "order", "shuffled", NULL));
            }
            dn_train_request request = table_request(t, table, p);
            dn_run tight = dn_run_default(), grouped = dn_run_default();
            struct memory memory = {
                .left =
                    800000}; /* 14,000 × 8 doubles are 896,000 bytes, 21,000 × 8 are 1,344,000 */
            dn_allocator allocator = memory_allocator(&memory, true);
            tight.allocator = &allocator;
            grouped.sum = sum_in_ranges;
            grouped.each = each_in_reverse;
            grouped.n_slots = 3;
            dn_train_result a = train(&request, NULL), b = train(&request, &tight),
                            c = train(&request, &grouped);
            assert_string_equal(detail(a.report.details, a.report.n_details, "rows")->text,
                                "in memory");
            assert_string_equal(detail(b.report.details, b.report.n_details, "rows")->text,
                                "streamed");
            assert_same_bytes(a.model, b.model);
            assert_same_bytes(a.model, c.model);
            assert_true(a.train->accuracy == b.train->accuracy &&
                        a.train->accuracy == c.train->accuracy);
            dn_train_result_done(&a);
            dn_train_result_done(&b);
            dn_train_result_done(&c);
            assert_int_equal(memory.live, 0);
            dn_params_free(p);
        }
    }
    columns_table_free(table);
    csv_free(t);
}

/* ---- progress ---- */
struct progress_log {
    size_t calls, last;
    double fraction;
};

static void check_progress(const dn_run *run, const dn_progress *progress) {
    struct progress_log *log = run->ctx;
    assert_true(progress->iteration > log->last); /* counted over all machines */
    assert_true(progress->fraction >= log->fraction && progress->fraction <= 1);
    assert_int_equal(progress->max_iterations, 0);
    assert_true(progress->w == NULL &&
                progress->w0 == NULL); /* no snapshots: they could not be assigned to one machine */
    log->last = progress->iteration;
    log->fraction = progress->fraction;
    log->calls++;
}

static void progress(void **state) {
    (void)state;
    struct csv *t = set_named("iris");
    struct table *table = table_of(t);
    const char *const algorithms[] = {"logistic", "perceptron"};
    const size_t wanted[] = {1, 2, 3, 5, 8, 13};
    for (size_t k = 0; k < 2; k++) {
        for (size_t w = 0; w < N_WAYS; w++) {
            dn_params *p = params_for(algorithms[k], &ways[w]);
            OK(dn_params_set_number(p, "max_iterations", 6, NULL));
            dn_train_request request = table_request(t, table, p);
            struct progress_log log = {0};
            dn_run run = dn_run_default();
            run.progress = check_progress;
            run.ctx = &log;
            run.snapshots = wanted;
            run.n_snapshots = 6;
            dn_train_result r = train(&request, &run);
            assert_int_equal(log.last, r.report.iterations);
            assert_int_equal(log.calls, r.report.iterations);
            dn_train_result_done(&r);
            dn_params_free(p);
        }
    }
    columns_table_free(table);
    csv_free(t);
}

/* ---- refusals ---- */
static void too_many_machines(void **state) {
    (void)state;
    struct csv *t = csv_clouds(284, 2, 142);
    struct table *table = table_of(t);
    dn_params *p = params_for("perceptron", &ways[3]);
    OK(dn_params_set_number(p, "max_iterations", 1, NULL));
    dn_train_request request = table_request(t, table, p);
    dn_run run = dn_run_default();
    dn_train_result result;
    dn_error err = {0};
    assert_int_equal(dn_train(&request, &run, &result, &err), DN_ERR_ARGUMENT);
    assert_string_equal(err.field, "multiclass");
    assert_non_null(strstr(err.message, "142 classes"));
    assert_non_null(strstr(err.message, "one_vs_rest"));
    OK(dn_params_set_word(p, "multiclass", "one_vs_rest", NULL));
    result = train(&request, &run);
    assert_int_equal(result.report.n_parts, DN_MAX_PARTS);
    assert_int_equal(result.report.n_warnings, DN_MAX_WARNINGS); /* more are not kept */
    dn_train_result_done(&result);
    dn_params_free(p);
    columns_table_free(table);
    csv_free(t);
}

/* A method that converges for some of its machines only. */
static size_t n_fits;

static dn_status fit_some(const dn_fit_input *input, const dn_run *run, dn_machine **out,
                          dn_report *report, dn_error *err) {
    (void)run;
    OK(dni_linear_machine_new(2, input->rows->n_cols, false, out, err));
    n_fits++;
    *report =
        (dn_report){.converged = n_fits % 50 != 0,
                    .stop_reason = n_fits % 50 == 0 ? DN_STOP_MAX_ITERATIONS : DN_STOP_TOLERANCE,
                    .iterations = 2};
    dn_report_list(report, "numbers", (const double[]){1, 2}, 2);
    return DN_OK;
}

static double no_memory(const dn_params *params, const dn_fit_shape *shape) {
    (void)params, (void)shape;
    return 0;
}

/* With more than DN_MAX_PARTS machines the report has the first ones, and unconverged ones take
 * precedence. */
static void reports_of_many_machines(void **state) {
    (void)state;
    enum { CLASSES = 30, MACHINES = CLASSES * (CLASSES - 1) / 2 };
    dn_algorithm some = *dn_algorithm_find("perceptron");
    some.fit = fit_some;
    some.memory = no_memory;
    struct csv *t = csv_clouds(2 * CLASSES, 2, CLASSES);
    struct table *table = table_of(t);
    dn_params *p;
    OK(dn_params_new(&some, &p, NULL));
    OK(dn_params_set_word(p, "multiclass", "one_vs_one", NULL));
    const dn_train_request request = table_request(t, table, p);
    n_fits = 0;
    dn_train_result result = train(&request, NULL);
    const dn_report *report = &result.report;
    size_t n_unconverged = 0;
    assert_int_equal(n_fits, MACHINES);
    assert_int_equal(report->n_parts, DN_MAX_PARTS);
    for (size_t i = 0; i < report->n_parts; i++) {
        const dn_report_part *part = &report->parts[i];
        assert_true(i == 0 || report->parts[i - 1].negative < part->negative ||
                    (report->parts[i - 1].negative == part->negative &&
                     report->parts[i - 1].positive < part->positive));
        assert_true(part->n_details == 1 && part->details[0].n_list == 2);
        n_unconverged += !part->converged;
    }
    assert_int_equal(n_unconverged, MACHINES / 50);
    assert_false(report->converged);
    assert_int_equal(report->stop_reason, DN_STOP_MAX_ITERATIONS);
    assert_int_equal(report->iterations, 2 * MACHINES);
    const char *const names[] = {"n_machines", "machines_omitted", "machines_not_converged"};
    const double wanted[] = {MACHINES, MACHINES - DN_MAX_PARTS, MACHINES / 50};
    for (size_t k = 0; k < 3; k++) {
        size_t found = 0;
        for (size_t i = 0; i < report->n_details; i++) {
            found += strcmp(report->details[i].name, names[k]) == 0 &&
                     report->details[i].number == wanted[k];
        }
        assert_int_equal(found, 1);
    }
    dn_train_result_done(&result);
    dn_params_free(p);
    columns_table_free(table);
    csv_free(t);
}

static void memory_runs_out(void **state) {
    (void)state;
    struct csv *t = csv_clouds(60, 3, 3);
    struct table *table = table_of(t);
    for (size_t w = 0; w < N_WAYS; w += 3) {
        dn_params *p = params_for("logistic", &ways[w]);
        dn_train_request request = table_request(t, table, p);
        size_t failures = 0, stops = 0;
        for (size_t k = 1;; k++) {
            struct memory memory = {.fail_at = k, .left = SIZE_MAX};
            dn_allocator allocator = memory_allocator(&memory, true);
            dn_run run = dn_run_default();
            run.allocator = &allocator;
            dn_train_result result;
            dn_error err = {0};
            dn_status status = dn_train(&request, &run, &result, &err);
            if (status == DN_OK) {
                dn_train_result_done(&result);
            } else {
                assert_true(status == DN_ERR_BUDGET && err.message[0] != '\0');
            }
            assert_int_equal(memory.live, 0);
            failures += status != DN_OK;
            if (memory.count < k) {
                break;
            }
        }
        assert_true(failures > 30); /* at least 10 allocations for each machine */
        for (size_t k = 1;; k++) {
            struct polls polls = {.stop_at = k};
            dn_run run = polls_run(&polls);
            dn_train_result result;
            dn_status status = dn_train(&request, &run, &result, NULL);
            if (status == DN_OK) {
                dn_train_result_done(&result);
                break;
            }
            assert_int_equal(status, DN_ERR_STOPPED);
            stops++;
        }
        assert_true(stops > 10);
        dn_params_free(p);
    }
    columns_table_free(table);
    csv_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_machine_is_its_own),
        cmocka_unit_test(machines_by_default),
        cmocka_unit_test(two_classes),
        cmocka_unit_test(rules),
        cmocka_unit_test(round_trip),
        cmocka_unit_test(threads_and_streams),
        cmocka_unit_test(progress),
        cmocka_unit_test(too_many_machines),
        cmocka_unit_test(reports_of_many_machines),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
