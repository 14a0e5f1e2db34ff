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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_estimates_are_close)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
