/* The estimated memory of a fit against the memory that the fit allocates. */
#include "unit/core/learners/estimates.h"

static void test_estimates_are_close(void **state) {
    (void)state;
    static const char *const words[] = {
        "solver=lbfgs max_iterations=2 restarts=1",
        "solver=adam max_iterations=2",
        "solver=lbfgs max_iterations=2 restarts=2 early_stopping=0.2",
        "solver=adam max_iterations=2 early_stopping=0.2",
    };
    assert_estimates("mlp", words, sizeof words / sizeof words[0], 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_estimates_are_close)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
