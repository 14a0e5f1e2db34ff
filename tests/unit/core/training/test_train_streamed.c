/* Tests of training with sparse rows that do not fit into the memory budget. Every method that can
 * stream gives the same model bytes as without a budget, and needs at most the estimated memory. */
#include "unit/core/support.h"

enum { ROWS = 80000, WIDTH = 40, ENTRIES = 15, CLASSES = 3 };

struct data {
    double *value;
    uint32_t *place, *code;
    size_t *row_start;
    dn_table_column columns[2];
    dn_column_view views[2];
    dn_table_source *source;
    size_t input;
};

/* Creates sparse rows. Features that belong to the class of a row have entries more often. */
static struct data *data_new(void) {
    static const uint32_t starts[] = {0, 1, 2, 3};
    struct data *t = xcalloc(1, sizeof *t);
    uint64_t state = 2024;
    size_t n = 0;
    t->value = xcalloc((size_t)ROWS * WIDTH, sizeof *t->value);
    t->place = xcalloc((size_t)ROWS * WIDTH, sizeof *t->place);
    t->code = xcalloc(ROWS, sizeof *t->code);
    t->row_start = xcalloc(ROWS + 1, sizeof *t->row_start);
    for (size_t i = 0; i < ROWS; i++) {
        t->code[i] = (uint32_t)(i * 7 % CLASSES);
        for (uint32_t j = 0; j < WIDTH; j++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            double u = (double)(state >> 11) * 0x1p-53,
                   often = (double)ENTRIES / WIDTH + (j % CLASSES == t->code[i] ? 0.1 : -0.05);
            if (u < often) {
                t->place[n] = j;
                t->value[n++] = 1 + floor(4 * u / often);
            }
        }
        t->row_start[i + 1] = n;
    }
    t->columns[0] =
        (dn_table_column){.name = "f", .type = DN_SPARSE, .width = WIDTH, .first_index = 1};
    t->columns[1] = (dn_table_column){.name = "class", .type = DN_CATEGORICAL};
    t->views[0] = (dn_column_view){.type = DN_SPARSE,
                                   .n_rows = ROWS,
                                   .number = t->value,
                                   .row_start = t->row_start,
                                   .index = t->place};
    t->views[1] = (dn_column_view){.type = DN_CATEGORICAL,
                                   .n_rows = ROWS,
                                   .code = t->code,
                                   .strings = {CLASSES, starts, "abc"}};
    OK(dn_table_source_from_columns(t->columns, t->views, 2, ROWS, &t->source, NULL));
    return t;
}

static void data_free(struct data *t) {
    dn_table_source_free(t->source);
    free(t->value);
    free(t->place);
    free(t->code);
    free(t->row_start);
    free(t);
}

/* An allocator with a memory budget. */
static void *budget_allocate(void *ctx, size_t size) {
    size_t *left = ctx;
    max_align_t *p = size > *left ? NULL : malloc(size + sizeof *p);
    if (p == NULL) {
        return NULL;
    }
    *left -= size;
    memcpy(p, &size, sizeof size);
    return p + 1;
}

static void budget_release(void *ctx, void *memory) {
    size_t *left = ctx, size;
    if (memory == NULL) {
        return;
    }
    memcpy(&size, (max_align_t *)memory - 1, sizeof size);
    *left += size;
    free((max_align_t *)memory - 1);
}

static void *model_of(const dn_train_request *request, size_t budget, const char *rows,
                      size_t *out_size) {
    size_t left = budget;
    const dn_allocator allocator = {.allocate = budget_allocate,
                                    .release = budget_release,
                                    .ctx = &left,
                                    .budgeted = true};
    dn_run run = dn_run_default();
    dn_train_result r;
    dn_error err = {0};
    void *bytes;
    run.allocator = &allocator;
    if (dn_train(request, &run, &r, &err) != DN_OK) {
        fail_msg("training failed: %s", err.message);
    }
    bool said = false;
    for (size_t i = 0; i < r.report.n_details; i++) {
        said = said || (strcmp(r.report.details[i].name, "rows") == 0 &&
                        strcmp(r.report.details[i].text, rows) == 0);
    }
    assert_true(said);
    OK(dn_model_write(r.model, &bytes, out_size, NULL));
    dn_train_result_done(&r);
    assert_int_equal(left, budget);
    return bytes;
}

static void streamed_within_what_was_foretold(void **state) {
    (void)state;
    static const struct {
        const char *algorithm, *solver;
        double iterations, rate; /* 0: as it is */
    } ways[] = {{"logistic", "sgd", 1, 1e-4},
                {"logistic", "lbfgs", 2, 0},
                {"logistic", "newton", 1, 0},
                {"naive_bayes", NULL, 0, 0},
                {"gaussian", NULL, 0, 0},
                {"least_squares", "closed_form", 0, 0},
                {"least_squares", "conjugate_gradient", 2, 0},
                {"perceptron", NULL, 1, 0}};
    struct data *t = data_new();
    double size = 12.0 * (double)t->row_start[ROWS] + 8.0 * ROWS;
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        dn_params *p;
        OK(dn_params_new(dn_algorithm_find(ways[i].algorithm), &p, NULL));
        if (ways[i].solver != NULL) {
            OK(dn_params_set_word(p, "solver", ways[i].solver, NULL));
        }
        if (ways[i].iterations > 0) {
            OK(dn_params_set_number(p, "max_iterations", ways[i].iterations, NULL));
        }
        if (ways[i].rate > 0) {
            OK(dn_params_set_number(p, "learning_rate", ways[i].rate, NULL));
        }
        dn_train_request request = {.source = t->source,
                                    .params = p,
                                    .target = 1,
                                    .entries = (double)t->row_start[ROWS],
                                    .features = {.columns = &t->input, .n_columns = 1}};
        double foretold = dn_train_memory(&request, ROWS, WIDTH, CLASSES, 1);
        if (!(foretold < size / 3)) {
            fail_msg("%s: %.0f bytes foretold beside rows of %.0f", ways[i].algorithm, foretold,
                     size);
        }
        size_t n_whole, n_streamed;
        void *whole = model_of(&request, SIZE_MAX, "in memory", &n_whole);
        void *streamed = model_of(&request, (size_t)foretold, "streamed", &n_streamed);
        assert_int_equal(n_whole, n_streamed);
        assert_memory_equal(whole, streamed, n_whole);
        free(whole);
        free(streamed);
        dn_params_free(p);
    }
    data_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(streamed_within_what_was_foretold)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
