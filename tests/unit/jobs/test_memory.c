/* The memory that a dry run promises is at least what the training then takes: every solver, with
 * and without a penalty, many shapes, one thread and several. */
#include "jobs/budget.h"
#include "jobs/team.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LEVELS = 5 }; /* of a categorical input, and missing cells beside them */

/* What a table looks like. */
struct shape {
    size_t n_rows, n_numeric, n_categorical, n_classes;
    double holdout;
};

/* The table: numeric inputs with some cells missing, categorical ones too, the target last. */
struct made {
    dn_table_column *columns;
    dn_column_view *views;
    size_t *inputs;
    char *bytes; /* one string of 5 digits for each class or level */
    uint32_t *starts;
    dn_table_source *source;
};

static void *zeroed(size_t n, size_t size) {
    void *memory = calloc(n ? n : 1, size);
    assert_non_null(memory);
    return memory;
}

static uint64_t noise(size_t i, size_t j) {
    uint64_t x = (uint64_t)i * 0x9e3779b97f4a7c15u + (uint64_t)j * 0xbf58476d1ce4e5b9u + 1;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static dn_column_view numeric_view(const struct shape *s, size_t column) {
    double *x = zeroed(s->n_rows, sizeof *x);
    for (size_t i = 0; i < s->n_rows; i++) {
        x[i] = noise(i, column) % 37 == 0 ? (double)NAN
                                          : (double)(noise(i, column) % 1000) / 100 +
                                                (double)((i + column) % s->n_classes);
    }
    return (dn_column_view){.type = DN_NUMERIC, .n_rows = s->n_rows, .number = x};
}

static dn_column_view word_view(const struct shape *s, const struct made *m, size_t column,
                                size_t n_words, bool missing) {
    uint32_t *code = zeroed(s->n_rows, sizeof *code);
    for (size_t i = 0; i < s->n_rows; i++) {
        code[i] = missing && noise(i, column) % 11 == 0 ? DN_CODE_MISSING
                  : i < n_words                         ? (uint32_t)i
                                : (uint32_t)((missing ? noise(i, column) : i) % n_words);
    }
    return (
        dn_column_view){.type = DN_CATEGORICAL,
                        .n_rows = s->n_rows,
                        .code = code,
                        .strings = {.n = (uint32_t)n_words, .start = m->starts, .bytes = m->bytes}};
}

static void make(const struct shape *s, struct made *m) {
    size_t n = s->n_numeric + s->n_categorical,
           n_words = s->n_classes > LEVELS ? s->n_classes : LEVELS;
    m->columns = zeroed(n + 1, sizeof *m->columns);
    m->views = zeroed(n + 1, sizeof *m->views);
    m->inputs = zeroed(n, sizeof *m->inputs);
    m->bytes = zeroed(5 * n_words + 1, 1);
    m->starts = zeroed(n_words + 1, sizeof *m->starts);
    for (size_t k = 0; k < n_words; k++) {
        (void)snprintf(m->bytes + 5 * k, 6, "%05u", (unsigned)(10000 + k));
        m->starts[k + 1] = (uint32_t)(5 * (k + 1));
    }
    for (size_t j = 0; j < n; j++) {
        bool numeric = j < s->n_numeric;
        char *name = zeroed(24, 1);
        (void)snprintf(name, 24, "x%zu", j);
        m->columns[j] =
            (dn_table_column){.name = name, .type = numeric ? DN_NUMERIC : DN_CATEGORICAL};
        m->views[j] = numeric ? numeric_view(s, j) : word_view(s, m, j, LEVELS, true);
        m->inputs[j] = j;
    }
    m->columns[n] = (dn_table_column){.name = strdup("y"), .type = DN_CATEGORICAL};
    m->views[n] = word_view(s, m, n, s->n_classes, false);
    assert_int_equal(dn_table_source_from_columns(m->columns, m->views, n + 1, s->n_rows,
                                                  &m->source, NULL),
                     DN_OK);
}

static void unmake(const struct shape *s, struct made *m) {
    dn_table_source_free(m->source);
    for (size_t j = 0; j <= s->n_numeric + s->n_categorical; j++) {
        free((void *)(uintptr_t)m->columns[j].name);
        free((void *)(uintptr_t)m->views[j].number);
        free((void *)(uintptr_t)m->views[j].code);
    }
    free(m->columns);
    free(m->views);
    free(m->inputs);
    free(m->bytes);
    free(m->starts);
}

static dn_status each(const dn_run *run, const dn_rows *rows, dn_each_fn fn, void *arg,
                      dn_error *err) {
    return team_each(run->ctx, run, rows, fn, arg, err);
}

struct asked {
    const char *solver;
    double lambda;
    size_t n_threads;
    double factor; /* of the estimate that there is */
};

/* Trains within what a dry run says; true: that was enough. */
static bool enough(const struct shape *s, const struct made *m, const struct asked *asked) {
    struct team *team = NULL;
    struct problem problem = {0};
    struct budget budget;
    dn_error err;
    dn_params *params = NULL;
    dn_train_result result = {0};
    dn_run run = dn_run_default();
    dn_error_clear(&err);
    assert_true(team_start(asked->n_threads, &team, &problem));
    assert_int_equal(dn_params_new(dn_algorithm_find("logistic"), &params, NULL), DN_OK);
    assert_int_equal(dn_params_set_word(params, "solver", asked->solver, NULL), DN_OK);
    assert_int_equal(dn_params_set_number(params, "lambda", asked->lambda, NULL), DN_OK);
    assert_int_equal(dn_params_set_number(params, "max_iterations", 3, NULL), DN_OK);
    const dn_train_request request = {.source = m->source,
                                      .params = params,
                                      .target = s->n_numeric + s->n_categorical,
                                      .features = {.columns = m->inputs,
                                                   .n_columns = s->n_numeric + s->n_categorical,
                                                   .standardize = true},
                                      .holdout = s->holdout};
    size_t n_features =
        s->n_numeric + s->n_categorical * (LEVELS + 1); /* what is missing is a level */
    double estimate =
        dn_train_memory(&request, s->n_rows, n_features, s->n_classes, asked->n_threads);
    budget_init(&budget, (int64_t)ceil(asked->factor * estimate));
    run.allocator = &budget.allocator;
    run.n_slots = asked->n_threads;
    run.each = each;
    run.ctx = team;
    bool good = dn_train(&request, &run, &result, &err) == DN_OK;
    if (good) {
        assert_int_equal(dn_encoder_n_features(dn_model_encoder(result.model)), n_features);
        dn_train_result_done(&result);
    } else {
        assert_int_equal(err.code, DN_ERR_BUDGET);
        print_error("%s, lambda %g, %zu threads; %zu rows, %zu + %zu columns, %zu classes: %g x "
                    "%.0f bytes are not enough: %s\n",
                    asked->solver, asked->lambda, asked->n_threads, s->n_rows, s->n_numeric,
                    s->n_categorical, s->n_classes, asked->factor, estimate, err.message);
    }
    dn_params_free(params);
    team_stop(team);
    assert_int_equal(atomic_load(&budget.used), 0);
    return good;
}

static void the_estimate_is_enough(void **state) {
    (void)state;
    static const char *const solvers[] = {"newton", "lbfgs", "gradient_descent", "sgd"};
    static const struct shape shapes[] = {
        {60, 1, 0, 2, 0},      {300, 3, 2, 2, 0.25},  {300, 3, 2, 3, 0.25},   {5000, 8, 1, 2, 0},
        {5000, 8, 1, 10, 0.2}, {20000, 4, 0, 3, 0.3}, {2000, 60, 10, 4, 0.1}, {400, 300, 0, 2, 0},
        {500, 2, 0, 40, 0.2},  {600, 0, 3, 2, 0},
    };
    /* TEST_SLOW: one factor, and only several threads */
    const bool slow = getenv("TEST_SLOW") != NULL;
    size_t n_bad = 0;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        struct made m;
        make(&shapes[i], &m);
        for (size_t k = slow ? 8 : 0; k < 4 * 2 * 2; k++) {
            for (double factor = 1; factor < (slow ? 1.5 : 4);
                 factor *= 1.5) { /* with more, more rows are kept in memory: still enough */
                n_bad += !enough(&shapes[i], &m,
                                 &(struct asked){solvers[k % 4], k / 4 % 2 ? 0.01 : 0,
                                                 k / 8 ? 3 : 1, factor});
            }
        }
        unmake(&shapes[i], &m);
    }
    assert_int_equal(n_bad, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_estimate_is_enough)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
