/* The estimated memory of a fit against the memory that the fit allocates. */
#include "unit/core/learners/estimates.h"

static void test_estimates_are_close(void **state) {
    (void)state;
    static const char *const words[] = {
        "max_iterations=2",
        "order=shuffled max_iterations=2",
        "mode=batch max_iterations=2",
        "criterion=relaxation mode=batch max_iterations=2",
    };
    assert_estimates("perceptron", words, sizeof words / sizeof words[0], 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_estimates_are_close)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
