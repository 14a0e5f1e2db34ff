/* The estimated memory of a fit against the memory that the fit allocates. */
#include "unit/core/learners/estimates.h"

static void test_estimates_are_close(void **state) {
    (void)state;
    static const char *const words[] = {
        "",
        "shrinkage=0.1",
        "shrinkage=auto",
    };
    assert_estimates("fisher", words, sizeof words / sizeof words[0], 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_estimates_are_close)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
