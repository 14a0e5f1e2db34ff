/* The team's sums have the bytes of the library's serial sum, whatever the number of threads and blocks; failures and stops come through. */
#include "jobs/team.h"

#include "jobs/budget.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COLS 3

static double *numbers(size_t n) {
    double *x = malloc(n * sizeof *x);
    uint64_t s = 88172645463325252u;
    assert_non_null(x);
    for (size_t i = 0; i < n; i++) {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        x[i] = (double)(s >> 11) * 0x1p-53 * (i % 7 == 0 ? 1e8 : 1e-3) -
               0.3; /* sums whose order shows */
    }
    return x;
}

static dn_status moments(void *arg, const dn_block *block, size_t slot, double *out,
                         dn_error *err) {
    (void)arg, (void)slot, (void)err;
    for (size_t i = 0; i < block->x.n_rows; i++) {
        for (size_t j = 0; j < COLS; j++) {
            out[j] += block->x.values[i * block->x.stride + j];
        }
    }
    return DN_OK;
}

static void same_bytes_as_serial(void **state) {
    (void)state;
    const size_t sizes[] = {1, 4096, 4097, 5 * 4096, 33 * 4096 + 17, 64 * 4096, 100 * 4096 + 1};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        size_t n = sizes[k];
        double *x = numbers(n * COLS), serial[COLS];
        dn_rows *rows = NULL;
        dn_run run = dn_run_default();
        assert_int_equal(dn_rows_from_matrix(dn_matrix_dense(x, n, COLS), NULL, NULL, &rows, NULL),
                         DN_OK);
        assert_int_equal(dn_run_sum(&run, rows, moments, NULL, COLS, serial, NULL), DN_OK);
        for (size_t threads = 1; threads <= 7; threads++) {
            struct problem problem = {0};
            struct team *team = NULL;
            double parallel[COLS] = {0};
            assert_true(team_start(threads, &team, &problem));
            for (int repeat = 0; repeat < 3; repeat++) {
                assert_int_equal(team_sum(team, &run, rows, moments, NULL, COLS, parallel, NULL),
                                 DN_OK);
                assert_memory_equal(parallel, serial, sizeof serial);
            }
            team_stop(team);
        }
        dn_rows_free(rows);
        free(x);
    }
}

static dn_status fails_at_block_9(void *arg, const dn_block *block, size_t slot, double *out,
                                  dn_error *err) {
    (void)arg, (void)slot, (void)out;
    if (block->first_row == (size_t)9 * DN_BLOCK_ROWS) {
        return dn_error_set(err, DN_ERR_NUMERIC, "row %zu is bad", block->first_row);
    }
    return DN_OK;
}

static dn_status stops(const dn_run *run) {
    (void)run;
    return DN_ERR_STOPPED;
}

static void failure_and_stop(void **state) {
    (void)state;
    size_t n = 40 * 4096;
    double *x = numbers(n * COLS), out[COLS] = {7, 7, 7};
    dn_rows *rows = NULL;
    struct problem problem = {0};
    struct team *team = NULL;
    dn_run run = dn_run_default();
    dn_error err;
    dn_error_clear(&err);
    assert_int_equal(dn_rows_from_matrix(dn_matrix_dense(x, n, COLS), NULL, NULL, &rows, NULL),
                     DN_OK);
    assert_true(team_start(3, &team, &problem));
    assert_int_equal(team_sum(team, &run, rows, fails_at_block_9, NULL, COLS, out, &err),
                     DN_ERR_NUMERIC);
    assert_string_equal(err.message, "row 36864 is bad");
    assert_true(out[0] == 7); /* outputs untouched */
    run.stop = stops;
    assert_int_equal(team_sum(team, &run, rows, moments, NULL, COLS, out, NULL), DN_ERR_STOPPED);
    run.stop = NULL;
    assert_int_equal(team_sum(team, &run, rows, moments, NULL, COLS, out, NULL),
                     DN_OK); /* usable afterwards */
    team_stop(team);
    dn_rows_free(rows);
    free(x);
}

static void a_budget_refuses_and_is_given_back(void **state) {
    (void)state;
    struct budget b;
    budget_init(&b, 4096);
    void *p = b.allocator.allocate(b.allocator.ctx, 3000);
    assert_non_null(p);
    memset(p, 1, 3000);
    assert_null(b.allocator.allocate(b.allocator.ctx, 2000));
    assert_null(b.allocator.allocate(b.allocator.ctx, SIZE_MAX - 5));
    b.allocator.release(b.allocator.ctx, p);
    assert_int_equal(atomic_load(&b.used), 0);
    assert_true(atomic_load(&b.highest) >= 3000 && atomic_load(&b.highest) <= 4096);
    dn_run run = dn_run_default();
    run.allocator = &b.allocator;
    dn_error err;
    dn_error_clear(&err);
    void *out = NULL;
    assert_int_equal(dn_run_alloc(&run, 1000, 8, "a matrix", &out, &err), DN_ERR_BUDGET);
    assert_non_null(strstr(err.message, "a matrix"));
    dn_error_clear(&err);
    assert_int_equal(dn_run_hold(&run, 4000, "a model", &err), DN_OK);
    assert_int_equal(dn_run_hold(&run, 97, "a model", &err), DN_ERR_BUDGET);
    dn_error_clear(&err);
    assert_int_equal(dn_run_hold(&run, SIZE_MAX / 2, "a model", &err), DN_ERR_BUDGET);
    assert_non_null(strstr(err.message, "a model"));
    assert_null(b.allocator.allocate(b.allocator.ctx, 90));
    dn_run_let_go(&run, 4000);
    assert_int_equal(atomic_load(&b.used), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bytes_as_serial),
        cmocka_unit_test(failure_and_stop),
        cmocka_unit_test(a_budget_refuses_and_is_given_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
