/* The pairs of classes of a linear support vector machine run the solver, the tolerance and the
 * limit of iterations that the parameters of the model name. */
#include "unit/core/support.h"

#include <math.h>

/* 334 rows of each of 3 classes: more than 1000 rows in all, and at most 1000 rows in a pair. */
enum { N_ROWS = 1002, N_COLS = 1001 };

static const dn_detail no_detail;

static const dn_detail *detail_of(const dn_report_part *part, const char *name) {
    for (size_t i = 0; i < part->n_details; i++) {
        if (strcmp(part->details[i].name, name) == 0) {
            return &part->details[i];
        }
    }
    fail_msg("no detail %s", name);
    return &no_detail;
}

static void compare_with_model(const dn_train_result *r) {
    const dn_params *used = dn_model_params(r->model);
    assert_int_equal(r->report.n_parts, 3);
    for (size_t i = 0; i < r->report.n_parts; i++) {
        const dn_report_part *part = &r->report.parts[i];
        assert_string_equal(detail_of(part, "solver")->text, dn_params_word(used, "solver"));
        assert_true(detail_of(part, "tolerance")->number == dn_params_number(used, "tolerance"));
        assert_true((double)part->iterations <= dn_params_number(used, "max_iterations"));
    }
}

/* Trains with the estimate of memory as the budget, and compares the machines with the model. */
static void pairs_follow_model(void **state) {
    static const struct {
        const char *loss, *multiclass, *solver;
        double tolerance;
    } cases[] = {
        {"hinge", "one_vs_one", "dual_coordinate_descent", 1e-4},
        {"hinge", "one_vs_rest", "dual_coordinate_descent", 1e-4},
        {"squared_hinge", "one_vs_one", "newton", 1e-9},
    };
    (void)state;
    struct csv *t = csv_clouds(N_ROWS, N_COLS, 3);
    struct table *table = table_of(t);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        dn_params *p;
        OK(dn_params_new(dn_algorithm_find("svm"), &p, NULL));
        OK(dn_params_set_word(p, "loss", cases[i].loss, NULL));
        OK(dn_params_set_word(p, "multiclass", cases[i].multiclass, NULL));
        dn_train_request request = table_request(t, table, p);
        struct memory memory = {.left = (size_t)dn_train_memory(&request, t->n, t->d, 3, 1)};
        dn_allocator allocator = memory_allocator(&memory, true);
        dn_run run = dn_run_default();
        run.allocator = &allocator;
        dn_train_result r;
        dn_error err = {0};
        if (dn_train(&request, &run, &r, &err) != DN_OK) {
            fail_msg("%s, %s: %s", cases[i].loss, cases[i].multiclass, err.message);
        }
        assert_string_equal(dn_params_word(dn_model_params(r.model), "solver"), cases[i].solver);
        assert_true(dn_params_number(dn_model_params(r.model), "tolerance") == cases[i].tolerance);
        compare_with_model(&r);
        dn_train_result_done(&r);
        dn_params_free(p);
    }
    columns_table_free(table);
    csv_free(t);
}

/* The estimate for one of several machines is enough for any number of rows up to n_rows. */
static void memory_of_fewer_rows(void **state) {
    static const char *const losses[] = {"hinge", "squared_hinge"};
    (void)state;
    for (size_t i = 0; i < sizeof losses / sizeof losses[0]; i++) {
        const dn_algorithm *svm = dn_algorithm_find("svm");
        dn_params *p;
        OK(dn_params_new(svm, &p, NULL));
        OK(dn_params_set_word(p, "loss", losses[i], NULL));
        OK(dn_params_resolve(p, 5000, 2000, 2, NULL));
        const dn_fit_shape all = {.n_rows = 5000,
                                  .n_features = 2000,
                                  .n_classes = 2,
                                  .n_slots = 1,
                                  .n_entries = (double)INFINITY,
                                  .fewer_rows = true};
        for (size_t n = 500; n < 5000; n += 100) {
            dn_fit_shape pair = all;
            pair.n_rows = n;
            pair.fewer_rows = false;
            assert_true(svm->memory(p, &pair) <= svm->memory(p, &all));
        }
        dn_params_free(p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_follow_model),
        cmocka_unit_test(memory_of_fewer_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
