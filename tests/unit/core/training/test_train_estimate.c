/* Tests of dn_train_memory. A memory budget of the estimated bytes is enough for a training; two
 * thirds of the estimate are not. */
#include "unit/core/encoder/vector_table.h"

/* A memory budget: the bytes that are left, and the minimum of `left` so far. */
struct budget {
    size_t left, min_left;
};

enum { HEADER_SIZE = 64 }; /* bytes before each allocation, which store its size */

static bool budget_charge(void *ctx, size_t size) {
    struct budget *b = ctx;
    if (size > b->left) {
        return false;
    }
    b->left -= size;
    b->min_left = b->left < b->min_left ? b->left : b->min_left;
    return true;
}

static void budget_discharge(void *ctx, size_t size) {
    struct budget *b = ctx;
    b->left += size;
}

static void *budget_allocate(void *ctx, size_t size) {
    char *p = budget_charge(ctx, size) ? malloc(size + HEADER_SIZE) : NULL;
    if (p == NULL) {
        return NULL;
    }
    memcpy(p, &size, sizeof size);
    return p + HEADER_SIZE;
}

static void budget_release(void *ctx, void *memory) {
    size_t size;
    if (memory == NULL) {
        return;
    }
    memcpy(&size, (char *)memory - HEADER_SIZE, sizeof size);
    budget_discharge(ctx, size);
    free((char *)memory - HEADER_SIZE);
}

static dn_status train_within(const dn_train_request *request, size_t bytes, size_t n_slots) {
    struct budget budget = {bytes, bytes};
    const dn_allocator allocator = {.allocate = budget_allocate,
                                    .release = budget_release,
                                    .charge = budget_charge,
                                    .discharge = budget_discharge,
                                    .ctx = &budget,
                                    .budgeted = true};
    dn_run run = n_slots == 1 ? dn_run_default() : scattered_run();
    run.allocator = &allocator;
    dn_train_result result;
    dn_error err = {0};
    const dn_status status = dn_train(request, &run, &result, &err);
    if (status == DN_OK) {
        dn_train_result_done(&result);
    } else if (status != DN_ERR_BUDGET) {
        fail_msg("%s: %s", request->params->algorithm->id, err.message);
    }
    assert_int_equal(budget.left, bytes);
    return status;
}

/* Checks that a budget of the estimated bytes is enough, and that this budget divided by `factor`
 * is not. */
static void check(const dn_train_request *request, size_t n_features, size_t n_classes,
                  size_t n_slots, double factor) {
    const double bytes =
        dn_train_memory(request, request->source->n_rows, n_features, n_classes, n_slots);
    assert_int_equal(train_within(request, (size_t)bytes, n_slots), DN_OK);
    assert_int_equal(train_within(request, (size_t)(bytes / factor), n_slots), DN_ERR_BUDGET);
}

/* Factors of `check`. For pairs of classes the estimate is greater than necessary, because it
 * assumes that each pair has all rows of the table. */
#define MAX_RATIO 1.5
#define MAX_RATIO_PAIRS 2.5
/* The 100 pairs of L-BFGS take most of the memory of a small fit, and their size is in proportion
 * to the number of features, of which the estimate knows an upper bound. */
#define MAX_RATIO_PAIRS_OF_STEPS 1.7

static const struct {
    const char *id, *params;
    double factor;
} methods[] = {
    {"logistic", "solver=lbfgs max_iterations=3", MAX_RATIO},
    {"logistic", "solver=newton max_iterations=2", MAX_RATIO},
    {"logistic", "multiclass=one_vs_one max_iterations=2", MAX_RATIO_PAIRS},
    {"least_squares", "", MAX_RATIO},
    {"fisher", "", MAX_RATIO},
    {"perceptron", "max_iterations=2", MAX_RATIO},
    {"perceptron", "max_iterations=2 calibrate=isotonic multiclass=one_vs_one", MAX_RATIO_PAIRS},
    {"gaussian", "", MAX_RATIO},
    {"naive_bayes", "", MAX_RATIO},
    {"svm", "calibrate=platt max_iterations=2 calibration_folds=2 multiclass=one_vs_rest",
     MAX_RATIO},
    {"svm", "kernel=rbf max_iterations=5", MAX_RATIO},
    {"svm", "kernel=rbf calibrate=isotonic calibration_folds=2", MAX_RATIO},
    {"mlp", "max_iterations=2", MAX_RATIO},
    {"knn", "", MAX_RATIO},
};

static dn_params *params_with(const char *id, const char *words) {
    dn_params *p;
    dn_error err = {0};
    OK(dn_params_new(dn_algorithm_find(id), &p, NULL));
    if (dn_params_set_words(p, words, &err) != DN_OK) {
        fail_msg("%s", err.message);
    }
    return p;
}

static void numbers(void **state) {
    (void)state;
    enum { ROWS = 1200, COLS = 12, K = 3 };
    struct csv *t = csv_clouds(ROWS, COLS + 1, K);
    for (size_t i = 0; i < ROWS; i++) {
        t->x[i * (COLS + 1) + COLS] = 1 + (double)(i % 3);
    }
    struct table *table = table_of(t);
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        for (size_t way = 0; way < 4; way++) {
            dn_params *p = params_with(methods[m].id, methods[m].params);
            dn_train_request request = table_request(t, table, p);
            request.features.n_columns = COLS;
            request.weighted = way % 2 == 1 && dn_params_has(p, "lambda");
            request.weight = COLS;
            request.class_weight =
                request.weighted ? DN_CLASS_WEIGHT_BALANCED : DN_CLASS_WEIGHT_NONE;
            request.holdout = way == 1 ? 0.25 : 0;
            request.folds = way == 2 ? 3 : 0;
            request.validation = way == 3 ? table->source : NULL;
            check(&request, COLS, K, 1, methods[m].factor);
            dn_params_free(p);
        }
    }
    columns_table_free(table);
    csv_free(t);
}

static void vectors(void **state) {
    (void)state;
    static const size_t columns[] = {L_AGE, L_SPARSE, L_KIND, L_NOTE};
    vector_table *t = vector_table_new(3);
    double entries = (double)t->row_start[VECTORS_ROWS];
    for (size_t i = 0; i < VECTORS_ROWS; i++) {
        for (size_t w = 0; w < VECTORS_WORDS; w++) {
            entries += t->count[i][w];
        }
    }
    static const char *const ids[] = {"logistic", "naive_bayes", "svm", "least_squares"};
    for (size_t m = 0; m < 4; m++) {
        for (size_t way = 0; way < 4; way++) {
            chunked source;
            vector_table_source(t, t->columns, L_COLUMNS, way % 2 == 0 ? 0 : 2, &source);
            dn_params *p = params_with(ids[m], m == 0   ? "max_iterations=2"
                                               : m == 2 ? "max_iterations=2 multiclass=one_vs_rest"
                                                        : "");
            dn_train_request request = {.source = &source.source,
                                        .params = p,
                                        .target = L_CLASS,
                                        .features = {.columns = columns,
                                                     .n_columns = 4,
                                                     .missing_indicator = true}};
            request.features.text.buckets = way == 3 ? 3000 : 0;
            request.entries = entries;
            request.different_words = VECTORS_WORDS;
            request.holdout = way == 1 ? 0.25 : 0;
            request.folds = way == 2 ? 3 : 0;
            const size_t n_features = 2 + VECTORS_WIDTH + 4 + (way == 3 ? 3000 : VECTORS_WORDS),
                         slots = way % 3 == 0 ? 1 : CHUNKED_SLOTS;
            check(&request, n_features, 3, slots, m == 0 ? MAX_RATIO_PAIRS_OF_STEPS : MAX_RATIO);
            dn_params_free(p);
            chunked_done(&source);
        }
    }
    free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers), cmocka_unit_test(vectors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
