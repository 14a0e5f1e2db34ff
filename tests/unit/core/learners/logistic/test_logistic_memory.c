/* The estimated memory of a fit against the memory that the fit allocates. */
#include "unit/core/learners/estimates.h"

static void test_estimates_are_close(void **state) {
    (void)state;
    static const char *const words[] = {
        "solver=newton max_iterations=2",
        "solver=newton penalty=none max_iterations=2",
        "solver=newton penalty=l1 max_iterations=2",
        "solver=lbfgs max_iterations=2",
        "solver=lbfgs penalty=none",
        "solver=lbfgs penalty=l1 max_iterations=2",
        "solver=lbfgs loss=squared_error max_iterations=2",
        "solver=gradient_descent max_iterations=2",
        "solver=gradient_descent penalty=none max_iterations=2",
        "solver=sgd max_iterations=2",
        "solver=sgd penalty=l1 max_iterations=2",
        "solver=sgd penalty=none max_iterations=2",
    };
    assert_estimates("logistic", words, sizeof words / sizeof words[0], 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_estimates_are_close)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
