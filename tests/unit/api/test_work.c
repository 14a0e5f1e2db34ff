/* Estimates of the work of calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/predictions/plan.h"
#include "api/predictions/work.h"

#include <string.h>

static double work_of(const char *body) {
    static const struct predict_plan plan = {.cost = 1e6};
    const struct serving_model m = {.plan = &plan};
    return api_rows_work(&m, body, strlen(body));
}

/* Whatever ends the lines, each row counts, and CR LF counts once. */
static void each_row_counts(void **state) {
    (void)state;
    static const char *const four[] = {"a\n1\n2\n3", "a\r1\r2\r3", "a\r\n1\r\n2\r\n3",
                                       "[[1],[2],[3", "[{\"a\":1},{\"a\":2},{\"a\":3}"};
    for (size_t i = 0; i < sizeof four / sizeof four[0]; i++) {
        assert_in_range((uint64_t)work_of(four[i]), 4000000, 6000000);
    }
    assert_in_range((uint64_t)work_of("1\r"), 2000000, 2100000);
}

/* A long body is long, however few rows are counted. */
static void loads(void **state) {
    (void)state;
    assert_int_equal(api_load_of(work_of("a\n1")), HTTP_SHORT);
    assert_int_equal(api_load_of(work_of("a\n1\n2\n3\n4\n5")), HTTP_LASTING);
    assert_int_equal(api_load_of(33e6), HTTP_LONG);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_row_counts),
        cmocka_unit_test(loads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
