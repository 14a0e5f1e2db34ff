/* The estimated memory of a fit against the memory that the fit allocates. */
#include "unit/core/learners/estimates.h"

static void test_estimates_are_close(void **state) {
    (void)state;
    static const char *const words[] = {
        "solver=conjugate_gradient max_iterations=2",
        "solver=conjugate_gradient lambda=0 max_iterations=2",
        "solver=gradient_descent max_iterations=2",
    };
    assert_estimates("least_squares", words, sizeof words / sizeof words[0], 3);
}

/* The closed form allocates a triangular factor of the rows if columns are linearly dependent.
 * Tables: many rows, and many columns. */
static void test_estimate_of_the_closed_form_is_close(void **state) {
    (void)state;
    static const size_t shapes[][3] = {{5000, 3, 2}, {5000, 40, 3}, {60, 200, 2}, {60, 200, 3}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        const size_t n = shapes[i][0], d = shapes[i][1], K = shapes[i][2];
        struct csv *t = csv_clouds(n, d, K);
        dn_rows *rows;
        for (size_t r = 0; r < n; r++) {
            t->x[r * d + 2] = t->x[r * d] - t->x[r * d + 1];
        }
        OK(dn_rows_from_matrix(dn_matrix_dense(t->x, n, d), t->target, NULL, &rows, NULL));
        dn_params *p = params_of_words("least_squares", "solver=closed_form lambda=0");
        assert_estimate(rows, K, (double)INFINITY, false, p, "closed form");
        dn_params_free(p);
        dn_rows_free(rows);
        csv_free(t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_estimates_are_close),
                                       cmocka_unit_test(test_estimate_of_the_closed_form_is_close)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
