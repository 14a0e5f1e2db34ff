/* Support vector machines over HTTP: golden numbers with default parameters, decisions among K
 * classes from the scores of pairs, models after a restart, jobs that are cancelled during a long
 * computation or lack memory. */
#include "lib/api.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const tables[] = {"iris", "wine", "breast_cancer", "digits"};
enum { N_TABLES = sizeof tables / sizeof tables[0] };

/* ---- golden numbers ---- */
static const json_t *golden_entry(const char *table, const char *name) {
    json_t *golden =
        keep(json_load_file("tests/data/golden.json", 0, NULL), (void (*)(void *))json_decref);
    return json_object_get(json_object_get(golden, table), name);
}

static double golden_number(const json_t *entry, const char *name) {
    const json_t *value = json_object_get(entry, name);
    if (!json_is_number(value)) {
        fail_msg("golden.json has no number \"%s\" there", name);
    }
    return json_number_value(value);
}

/* As make_reference.py makes it: the rows of the first two classes, standardised by the mean and
 * deviation of all rows. */
static void upload_pair(const char *name) {
    const struct table *t = table_read(text("tests/data/%s.csv", name));
    char *csv = keep(malloc((t->n_rows + 1) * (t->n_cols + 1) * 32), free);
    size_t n = 0;
    assert_non_null(csv);
    for (size_t j = 0; j < t->n_cols; j++) {
        n += (size_t)sprintf(csv + n, "x%zu,", j);
    }
    n += (size_t)sprintf(csv + n, "class\n");
    for (size_t i = 0; i < t->n_rows; i++) {
        if (t->y[i] > 1) {
            continue;
        }
        for (size_t j = 0; j < t->n_cols; j++) {
            n += (size_t)sprintf(csv + n, "%.17g,",
                                 (t->x[i * t->n_cols + j] - t->mean[j]) /
                                     (t->std[j] > 0 ? t->std[j] : 1));
        }
        n += (size_t)sprintf(csv + n, "%s\n", t->label[i]);
    }
    status_check(call_upload(text("/v1/datasets/%s-pair", name), csv), 201);
}

static void check_golden(const char *name, const char *kernel, const char *entry_name) {
    const json_t *e = golden_entry(name, entry_name);
    const double tolerance = golden_number(e, "tol");
    const struct response *job =
        job_train("{'model':'golden','dataset':'%s-pair','target':'class','algorithm':'svm',"
                  "'params':{'kernel':%s},'features':{'standardize':false},'validation':null}",
                  name, kernel);
    static const char *const numbers[][2] = {{"/result/objective", "primal"},
                                             {"/result/details/primal_objective", "primal"},
                                             {"/result/details/dual_objective", "dual"},
                                             {"/result/details/w0", "w0"},
                                             {"/result/details/norm", "norm_w"}},
                             *const counts[][2] = {{"/result/details/support_vectors", "n_support"},
                                                   {"/result/details/slack_positive",
                                                    "n_slack_positive"},
                                                   {"/result/details/slack_over_one",
                                                    "n_slack_over_one"}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const double got = real_at(job, numbers[i][0]), expected = golden_number(e, numbers[i][1]);
        if (!(fabs(got - expected) <= tolerance * fabs(expected))) {
            fail_msg("%s, kernel %s: %s is %.12g, not %.12g", name, kernel, numbers[i][0], got,
                     expected);
        }
    }
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        if (real_at(job, counts[i][0]) != golden_number(e, counts[i][1])) {
            fail_msg("%s, kernel %s: %s is %g, not %g", name, kernel, counts[i][0],
                     real_at(job, counts[i][0]), golden_number(e, counts[i][1]));
        }
    }
    /* the sum of slacks can be 0 */
    const double slack = golden_number(e, "sum_slack");
    assert_true(fabs(real_at(job, "/result/details/slack_sum") - slack) <=
                tolerance * golden_number(e, "primal"));
    assert_close(real_at(job, "/result/metrics/train/accuracy"), golden_number(e, "train_accuracy"),
                 1e-12);
    assert_json(job, "/result/details/certified", "true");
    assert_json(job, "/result/converged", "true");
    const struct response *w = status_check(call_get("/v1/models/golden/weights"), 200);
    const json_t *weights = json_object_get(e, "w");
    double largest = 0;
    for (size_t j = 0; j < json_array_size(weights); j++) {
        largest = fmax(largest, fabs(json_number_value(json_array_get(weights, j))));
    }
    for (size_t j = 0; j < json_array_size(weights); j++) {
        const double got = real_at(w, text("/w/0/%zu", j)),
                     expected = json_number_value(json_array_get(weights, j));
        if (!(fabs(got - expected) <= tolerance * largest)) {
            fail_msg("%s: weight %zu is %.12g, not %.12g", name, j, got, expected);
        }
    }
    assert_close(real_at(w, "/w0/0"), golden_number(e, "w0"), tolerance);
}

static void test_golden_machines(void **state) {
    (void)state;
    for (size_t i = 0; i < N_TABLES; i++) {
        upload_pair(tables[i]);
        check_golden(tables[i], "'linear'", "svm_linear_C1_standardized_first_pair");
        check_golden(tables[i], "{'type':'rbf','width':2}",
                     "svm_rbf_width_2_C1_standardized_first_pair");
        check_golden(tables[i], "{'type':'polynomial','degree':2,'gamma':1,'coef0':1}",
                     "svm_polynomial_2_C1_standardized_first_pair");
    }
}

static void test_golden_outliers(void **state) {
    (void)state;
    for (size_t i = 0; i < N_TABLES; i++) {
        const json_t *e = golden_entry(tables[i], "one_class_nu0.1_rbf_width_2_standardized");
        if (e == NULL) {
            continue;
        }
        (void)upload_file(text("%s-table", tables[i]), text("%s.csv", tables[i]));
        const struct response *job =
            job_train("{'model':'golden','dataset':'%s-table','algorithm':'one_class_svm',"
                      "'params':{'nu':0.1,'kernel':{'type':'rbf','width':2}},'features':{'exclude':"
                      "['class']}}",
                      tables[i]);
        assert_close(real_at(job, "/result/objective"), golden_number(e, "objective"),
                     golden_number(e, "tol"));
        assert_close(real_at(job, "/result/details/rho"), golden_number(e, "rho"),
                     golden_number(e, "tol"));
        assert_int_equal(whole_at(job, "/result/details/outliers"),
                         golden_number(e, "n_clear_outliers"));
    }
}

/* Standardised rows have mean 0, so no plane has most of them on one side. Raw rows have such a
 * plane. */
static void test_outliers_of_a_plane(void **state) {
    (void)state;
    (void)call_upload("/v1/datasets/iris-table", read_whole("tests/data/iris.csv", NULL));
    static const char *const kernels[] = {"'linear'", "{'type':'linear','normalize':true}"};
    for (size_t i = 0; i < 4; i++) {
        const bool standardize = i < 2;
        const struct response *r = job_train(
            "{'model':'plane','dataset':'iris-table','algorithm':'one_class_svm',"
            "'params':{'nu':0.1,'kernel':%s},'features':{'exclude':['class'],'standardize':%s}}",
            kernels[i % 2], standardize ? "true" : "false");
        assert_true(whole_at(r, "/result/details/outliers") <= (standardize ? 0 : 15));
        assert_true(whole_at(r, "/result/details/support_vectors") >= 15);
        assert_int_equal(count_at(r, "/warnings"), standardize);
        if (standardize) {
            assert_non_null(strstr(string_at(r, "/warnings/0"), "around the origin"));
        }
    }
}

/* ---- K classes ---- */
enum { K = 3, WINES = 178 };

static const char *wines; /* as {"instances":[…]} */

static const struct response *predict(const char *model, const char *output) {
    const char *path = text("/v1/models/%s/predict?output=%s", model, output);
    const struct response *r =
        status_check(call(&(struct request){.method = "POST", .path = path, .body = wines}), 200);
    assert_int_equal(count_at(r, "/predictions"), WINES);
    return r;
}

static void train_wines(const char *params) {
    (void)call_upload("/v1/datasets/wines", read_whole("tests/data/wine.csv", NULL));
    const struct response *rows = status_check(call_get("/v1/datasets/wines/rows?limit=1000"), 200);
    json_t *body = keep(json_pack("{s:O}", "instances", value_at(rows, "/items")),
                        (void (*)(void *))json_decref);
    wines = keep(json_dumps(body, JSON_REAL_PRECISION(17)), free);
    job_train("{'model':'wines','dataset':'wines','target':'class','algorithm':'svm','params':%s}",
              params);
}

static double score(const struct response *r, size_t row, size_t k) {
    return real_at(r, text("/predictions/%zu/scores/%zu", row, k));
}

static void same_label(const struct response *r, size_t row, size_t class_) {
    assert_true(json_equal(value_at(r, text("/predictions/%zu/label", row)),
                           value_at(r, text("/classes/%zu", class_))));
}

/* The label of a strict decision: the class, or null with return value 1. */
static size_t strict_label(const struct response *r, size_t row, bool unambiguous, size_t class_) {
    assert_true(json_is_false(value_at(r, text("/predictions/%zu/ambiguous", row))) == unambiguous);
    if (unambiguous) {
        same_label(r, row, class_);
    } else {
        assert_json(r, text("/predictions/%zu/label", row), "null");
    }
    return !unambiguous;
}

/* A sigmoid kernel, because a good machine leaves no point ambiguous. */
static void test_one_against_one(void **state) {
    (void)state;
    static const size_t of[][2] = {{0, 1}, {0, 2}, {1, 2}};
    size_t ambiguous = 0;
    train_wines("{'kernel':'sigmoid'}");
    const struct response *voted = predict("wines", "label,scores");
    train_wines("{'kernel':'sigmoid','multiclass':'one_vs_one_strict'}");
    const struct response *strict = predict("wines", "label,scores,ambiguous");
    for (size_t i = 0; i < WINES; i++) {
        size_t votes[K] = {0}, best = 0;
        double sums[K] = {0};
        for (size_t p = 0; p < 3; p++) {
            const double g = score(voted, i, p); /* > 0: the second class of the pair */
            assert_true(g == score(strict, i, p));
            votes[of[p][g > 0]]++;
            sums[of[p][1]] += g;
            sums[of[p][0]] -= g;
        }
        for (size_t k = 1; k < K; k++) {
            if (votes[k] > votes[best] || (votes[k] == votes[best] && sums[k] > sums[best])) {
                best = k;
            }
        }
        same_label(voted, i, best);
        ambiguous += strict_label(strict, i, votes[best] == K - 1, best);
    }
    assert_true(ambiguous > 0);
}

static void test_one_against_the_rest(void **state) {
    (void)state;
    size_t ambiguous = 0;
    train_wines("{'kernel':{'type':'rbf','width':8},'C':0.5,'multiclass':'one_vs_rest'}");
    const struct response *greatest = predict("wines", "label,scores");
    train_wines("{'kernel':{'type':'rbf','width':8},'C':0.5,'multiclass':'one_vs_rest_strict'}");
    const struct response *strict = predict("wines", "label,scores,ambiguous");
    for (size_t i = 0; i < WINES; i++) {
        size_t best = 0, above = 0;
        for (size_t k = 0; k < K; k++) {
            assert_true(score(greatest, i, k) == score(strict, i, k));
            above += score(strict, i, k) > 0;
            best = score(strict, i, k) > score(strict, i, best) ? k : best;
        }
        same_label(greatest, i, best);
        ambiguous += strict_label(strict, i, above == 1, best);
    }
    assert_true(ambiguous > 0 && ambiguous < WINES);
}

/* ---- a restart ---- */
static void test_models_outlive_the_daemon(void **state) {
    (void)state;
    static const char *const kernels[] = {"'linear'", "'rbf'", "'mahalanobis'",
                                          "{'type':'distance','metric':'manhattan','width':3}",
                                          "{'type':'polynomial','degree':3,'normalize':true}"};
    enum { N = sizeof kernels / sizeof *kernels };
    const char *before[N][2];
    for (size_t i = 0; i < N; i++) {
        train_wines(text("{'kernel':%s}", kernels[i]));
        before[i][0] = predict("wines", "label,scores,distance")->body;
        before[i][1] = status_check(call_get("/v1/models/wines/weights"), 200)->body;
    }
    const int64_t live = whole_at(call_get("/v1/models/wines"), "/version");
    service_stop();
    service_restart(NULL);
    for (size_t i = 0; i < N; i++) {
        const int64_t number = live - N + 1 + (int64_t)i;
        const char *version = text("wines/versions/%lld", (long long)number);
        assert_string_equal(predict(version, "label,scores,distance")->body, before[i][0]);
        assert_string_equal(status_check(call_get("/v1/models/%s/weights", version), 200)->body,
                            before[i][1]);
    }
}

/* ---- rows that a kernel cannot use ---- */
/* Trains without standardising; the job must fail with these words in its message. */
static void fails_over(const char *dataset, const char *kernel, const char *more,
                       const char *words) {
    const struct response *r = job_wait(job_post(
        "{'model':'bad','dataset':'%s','target':'class','algorithm':'svm','params':{'kernel':%s},"
        "'features':{'standardize':false}%s}",
        dataset, kernel, more));
    assert_string_equal(string_at(r, "/state"), "failed");
    if (strstr(string_at(r, "/error/detail"), words) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", string_at(r, "/error/detail"), words);
    }
}

/* The message names the row of the table, also if the rows are in another order in training. */
static void test_rows_are_named(void **state) {
    (void)state;
    status_check(
        call_upload("/v1/datasets/far",
                    "x,y,class\n1,1,b\n2,2,a\n3,1,b\n7,1,a\n1e200,4,c\n5,5,a\n9,9,b\n3,7,c\n"),
        201);
    fails_over("far", "'polynomial'", "", "row 4: its length is beyond");
    fails_over("far", "{'type':'polynomial','normalize':true}", ",'validation':{'folds':2}",
               "row 4: its length is beyond");
    fails_over("far", "{'type':'rbf','width':1}", "", "distances of the rows from their mean");
    fails_over("far", "'rbf'", "", "\"x\" has values so large that their squares overflow");
    status_check(call_upload("/v1/datasets/crooked",
                             "p,q,r,class\n1,0,0.5,a\n0,1,0.25,b\n0.5,0.125,1,a\n"),
                 201);
    fails_over("crooked", "'precomputed'", "",
               "row 1 has 0.25 in column \"r\", row 2 has 0.125 in column \"q\"");
}

/* ---- long computations ---- */
/* The documented limit is one second on an idle machine. */
static double soon_seconds(void) {
    return daemon_is_sanitized() ? 60 : 10;
}

static unsigned next_of(unsigned *state) {
    return (*state = *state * 1103515245u + 12345u) >> 16;
}

/* Numbers and labels that are independent of each other. */
static void upload_noise(const char *name, size_t n, size_t d) {
    char *csv = keep(malloc((n + 1) * (d + 1) * 8), free);
    size_t size = 0;
    unsigned state = 1;
    assert_non_null(csv);
    for (size_t j = 0; j < d; j++) {
        size += (size_t)sprintf(csv + size, "x%zu,", j);
    }
    size += (size_t)sprintf(csv + size, "class\n");
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < d; j++) {
            size += (size_t)sprintf(csv + size, "%u,", next_of(&state) % 10000);
        }
        size += (size_t)sprintf(csv + size, "%c\n", next_of(&state) % 2 ? 'a' : 'b');
    }
    status_check(call_upload(text("/v1/datasets/%s", name), csv), 201);
}

/* Texts of letters. */
static void upload_letters(const char *name, size_t n, size_t length) {
    char *csv = keep(malloc((n + 1) * (length + 16)), free);
    size_t size = (size_t)sprintf(csv, "letters,class\n");
    unsigned state = 2;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < length; j++) {
            csv[size++] = (char)('a' + next_of(&state) % 26);
        }
        size += (size_t)sprintf(csv + size, ",%c\n", i % 2 ? 'a' : 'b');
    }
    status_check(call_upload(text("/v1/datasets/%s?types=letters:text", name), csv), 201);
}

static void stop_in_the_middle(const char *job) {
    const int64_t id = job_post("%s", job);
    job_wait_state(id, "running");
    pause_ms(700);
    assert_string_equal(string_at(status_check(call_get("/v1/jobs/%lld", (long long)id), 200),
                                  "/state"),
                        "running");
    const double begin = now();
    status_check(call_post(text("/v1/jobs/%lld/cancel", (long long)id), "{}"), 202);
    const struct response *r = job_wait(id);
    const double seconds = now() - begin;
    assert_string_equal(string_at(r, "/state"), "cancelled");
    if (!(seconds < soon_seconds())) {
        fail_msg("cancelled after %.1f s: %s", seconds, job);
    }
}

static void test_long_computations_are_stopped(void **state) {
    (void)state;
    upload_noise("noise", 30000, 40);
    upload_letters("letters", 6000, 400);
    stop_in_the_middle("{'model':'long','dataset':'noise','target':'class','algorithm':'svm','"
                       "params':{'kernel':{'type':'rbf','width':4},'C':1000}}");
    stop_in_the_middle("{'model':'long','dataset':'noise','target':'class','algorithm':'svm','"
                       "params':{'kernel':'mahalanobis','C':1000}}");
    stop_in_the_middle(
        "{'model':'long','dataset':'noise','target':'class','algorithm':'svm',"
        "'params':{'kernel':{'type':'distance','metric':'chebyshev'},'cache_mib':1}}");
    stop_in_the_middle("{'model':'long','dataset':'noise','algorithm':'one_class_svm','params':{'"
                       "nu':0.5,'tolerance':1e-9},"
                       "'features':{'exclude':['class']}}");
    stop_in_the_middle("{'model':'long','dataset':'letters','target':'class','algorithm':'svm',"
                       "'params':{'kernel':{'type':'distance','metric':'edit'}}}");
}

/* With 64 MiB a job is refused at the POST, or fails with a message about memory; another job that
 * runs is not affected. */
static void test_little_memory(void **state) {
    (void)state;
    static const char *const jobs[] = {
        "'target':'class','algorithm':'svm'",
        "'target':'class','algorithm':'svm','params':{'solver':'dual_coordinate_descent','max_"
        "iterations':5}",
        "'target':'class','algorithm':'svm','params':{'kernel':'rbf','max_iterations':1}",
        "'target':'class','algorithm':'svm','params':{'kernel':'rbf','max_iterations':1,'cache_mib'"
        ":4}",
        "'target':'class','algorithm':'svm','params':{'kernel':'mahalanobis','max_iterations':1,'"
        "cache_mib':4}",
        "'algorithm':'one_class_svm','params':{'max_iterations':1,'cache_mib':4},'features':{'"
        "exclude':['class']}",
        "'target':'class','algorithm':'mlp','params':{'layers':[300],'max_iterations':2}",
        "'target':'class','algorithm':'svm','params':{'calibrate':'platt','max_iterations':5}",
        "'target':'class','algorithm':'svm','params':{'kernel':'rbf','calibrate':'isotonic','max_"
        "iterations':1,'cache_mib':4}",
    };
    static const char *const texts[] = {
        "'params':{'kernel':{'type':'distance','metric':'edit'},'max_iterations':1}",
        "'params':{'kernel':'shared_words','max_iterations':1}",
        "'params':{'kernel':'shared_words','max_iterations':1,'cache_mib':1}"};
    size_t refused = 0;
    upload_noise("wide", 20000, 100);
    upload_letters("short", 6000, 10);
    (void)call_upload("/v1/datasets/wines", read_whole("tests/data/wine.csv", NULL));
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs + sizeof texts / sizeof *texts; i++) {
        const bool text = i >= sizeof jobs / sizeof *jobs;
        const struct response *r = call_post(
            "/v1/jobs",
            "{'model':'small','dataset':'%s',%s%s,'limits':{'memory_mib':64,'threads':1}}",
            text ? "short" : "wide", text ? "'target':'class','algorithm':'svm'," : "",
            text ? texts[i - sizeof jobs / sizeof *jobs] : jobs[i]);
        const struct response *beside =
            job_train("{'model':'beside','dataset':'wines','target':'class','algorithm':'svm','"
                      "params':{'kernel':'rbf'}}");
        assert_true(real_at(beside, "/result/metrics/train/accuracy") > 0.98);
        if (r->status == 422) {
            fault_check(problem_check(r, 422, "invalid"), "/limits/memory_mib");
            assert_non_null(strstr(r->body, "would need about"));
            refused++;
            continue;
        }
        r = job_wait(whole_at(status_check(r, 202), "/id"));
        if (strcmp(string_at(r, "/state"), "succeeded") != 0) {
            assert_string_equal(string_at(r, "/state"), "failed");
            assert_non_null(strstr(string_at(r, "/error/detail"), "memory"));
        }
    }
    assert_true(refused >= 4 && refused < sizeof jobs / sizeof *jobs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_golden_machines),
        TEST(test_golden_outliers),
        TEST(test_outliers_of_a_plane),
        TEST(test_one_against_one),
        TEST(test_one_against_the_rest),
        TEST(test_rows_are_named),
        TEST(test_models_outlive_the_daemon),
        TEST(test_long_computations_are_stopped),
        TEST(test_little_memory),
    };
    return RUN(tests);
}
