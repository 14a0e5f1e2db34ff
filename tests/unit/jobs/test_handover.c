/* Tests of the bytes of a result: they give an equal result, and damaged ones give an error. */
#include "jobs/ranks/handover.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N = 90 };

/* Trains a model of three machines, whose report has a part for each. */
static void fit(dn_train_result *out) {
    static double x[N], y[N];
    dn_error err;
    dn_error_clear(&err);
    for (size_t i = 0; i < N; i++) {
        x[i] = (double)(i * 7 % 31) + 10 * (double)(i % 3);
        y[i] = (double)(i % 3);
    }
    const dn_fit_data data = {
        .struct_size = sizeof data,
        .x = {.values = x, .n_rows = N, .n_cols = 1, .row_stride = 1, .col_stride = 1},
        .y = y};
    if (dn_fit_arrays(&data, "logistic", "multiclass=one_vs_rest", NULL, out, &err) != DN_OK) {
        fail_msg("%s", err.message);
    }
}

static dn_held_out rows_of(void) {
    static const size_t row[] = {3, 5};
    static const uint32_t fold[] = {0, 1}, repeat[] = {0, 0}, truth[] = {2, 1},
                          label[] = {2, DN_HELD_OUT_AMBIGUOUS};
    static const double weight[] = {1, 2.5}, values[] = {0.1, 0.2, 0.7, 0.3, 0.3, 0.4};
    return (dn_held_out){.n = 2,
                         .n_values = 3,
                         .probabilities = true,
                         .row = row,
                         .fold = fold,
                         .repeat = repeat,
                         .truth = truth,
                         .label = label,
                         .weight = weight,
                         .values = values};
}

static void an_equal_result(void **state) {
    (void)state;
    dn_train_result result, back;
    const dn_held_out held_out = rows_of();
    struct handover_rows rows;
    struct buf bytes = {0}, again = {0};
    struct problem problem = {0};
    fit(&result);
    assert_true(result.report.n_parts > 0 && result.report.n_details > 0);
    assert_int_equal(handover_write(&result, &held_out, &bytes, NULL), DN_OK);
    if (!handover_read(bytes.data, bytes.size, &back, &rows, &problem)) {
        fail_msg("%s", problem.detail);
    }
    assert_int_equal(back.report.n_parts, result.report.n_parts);
    assert_memory_equal(back.train->confusion, result.train->confusion, 9 * sizeof(double));
    assert_int_equal(rows.rows.n, 2);
    assert_int_equal(rows.rows.label[1], DN_HELD_OUT_AMBIGUOUS);
    assert_true(rows.rows.weight[1] == 2.5 && rows.rows.values[5] == 0.4);
    /* the same but for the addresses */
    assert_int_equal(handover_write(&back, &rows.rows, &again, NULL), DN_OK);
    assert_int_equal(again.size, bytes.size);
    dn_train_result_done(&result);
    dn_train_result_done(&back);
    handover_rows_done(&rows);
    buf_done(&bytes);
    buf_done(&again);
}

static void damaged_bytes(void **state) {
    (void)state;
    dn_train_result result, back;
    const dn_held_out held_out = rows_of();
    struct handover_rows rows;
    struct buf bytes = {0};
    fit(&result);
    assert_int_equal(handover_write(&result, &held_out, &bytes, NULL), DN_OK);
    for (size_t size = 0; size < bytes.size; size += size < 64 ? 1 : 97) {
        struct problem problem = {0};
        char *copy = malloc(size + 1); /* of the exact size, for the address sanitizer */
        assert_non_null(copy);
        memcpy(copy, bytes.data, size);
        assert_false(handover_read(copy, size, &back, &rows, &problem));
        assert_int_equal(problem.type, PROBLEM_INTERNAL);
        problem_done(&problem);
        free(copy);
    }
    struct problem problem = {0};
    bytes.data[0] ^= 1; /* another version */
    assert_false(handover_read(bytes.data, bytes.size, &back, &rows, &problem));
    problem_done(&problem);
    dn_train_result_done(&result);
    buf_done(&bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_equal_result),
        cmocka_unit_test(damaged_bytes),
    };
    return cmocka_run_group_tests_name("handover", tests, NULL, NULL);
}
