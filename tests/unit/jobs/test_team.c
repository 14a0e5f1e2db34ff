/* Sums on a team of threads equal the serial sum bit for bit for any number of threads and blocks.
 * Every block is processed once. Failures and stops are returned. */
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

static dn_status moments(const void *arg, const dn_block *block, size_t slot, double *out,
                         dn_error *err) {
    (void)arg, (void)slot, (void)err;
    for (size_t i = 0; i < block->x.n_rows; i++) {
        for (size_t j = 0; j < COLS; j++) {
            out[j] += block->x.values[i * block->x.stride + j];
        }
    }
    return DN_OK;
}

static dn_status on_team(const dn_run *run, const dn_rows *rows, dn_each_fn fn, void *arg,
                         dn_error *err) {
    return team_each(run->ctx, run, rows, fn, arg, err);
}

static dn_run team_run(struct team *team) {
    dn_run run = dn_run_default();
    run.n_slots = team_size(team);
    run.each = on_team;
    run.ctx = team;
    return run;
}

static const dn_sum moments_sum = {.fn = moments, .n_out = COLS};

static dn_status count_block(void *arg, const dn_block *block, size_t slot, dn_error *err) {
    int(*counts)[128] = arg; /* by slot and block */
    (void)err;
    counts[slot][block->first_row / DN_BLOCK_ROWS]++;
    return DN_OK;
}

static void every_block_is_processed_once(void **state) {
    (void)state;
    const size_t n_blocks[] = {0, 1, 2, 16, 17, 127};
    for (size_t k = 0; k < sizeof n_blocks / sizeof *n_blocks; k++) {
        const size_t n = n_blocks[k] * DN_BLOCK_ROWS;
        double *x = numbers(n + 1);
        dn_rows *rows = NULL;
        assert_int_equal(dn_rows_from_matrix(dn_matrix_dense(x, n, 1), NULL, NULL, &rows, NULL),
                         DN_OK);
        for (size_t threads = 1; threads <= 4; threads++) {
            struct problem problem = {0};
            struct team *team = NULL;
            int counts[4][128] = {{0}};
            assert_true(team_start(threads, &team, &problem));
            const dn_run run = team_run(team);
            assert_int_equal(dn_run_each(&run, rows, count_block, counts, NULL), DN_OK);
            for (size_t i = 0; i < 128; i++) {
                int calls = 0;
                for (size_t slot = 0; slot < 4; slot++) {
                    assert_true(slot < threads || counts[slot][i] == 0);
                    calls += counts[slot][i];
                }
                assert_int_equal(calls, i < n_blocks[k]);
            }
            team_stop(team);
        }
        dn_rows_free(rows);
        free(x);
    }
}

static void same_bytes_as_serial(void **state) {
    (void)state;
    const size_t sizes[] = {1, 4096, 4097, 5 * 4096, 33 * 4096 + 17, 64 * 4096, 100 * 4096 + 1};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        size_t n = sizes[k];
        double *x = numbers(n * COLS), serial[COLS];
        dn_rows *rows = NULL;
        assert_int_equal(dn_rows_from_matrix(dn_matrix_dense(x, n, COLS), NULL, NULL, &rows, NULL),
                         DN_OK);
        assert_int_equal(dn_run_sum(NULL, rows, &moments_sum, serial, NULL), DN_OK);
        for (size_t threads = 1; threads <= 7; threads++) {
            struct problem problem = {0};
            struct team *team = NULL;
            double parallel[COLS] = {0};
            assert_true(team_start(threads, &team, &problem));
            const dn_run run = team_run(team);
            for (int repeat = 0; repeat < 3; repeat++) {
                assert_int_equal(dn_run_sum(&run, rows, &moments_sum, parallel, NULL), DN_OK);
                assert_memory_equal(parallel, serial, sizeof serial);
            }
            team_stop(team);
        }
        dn_rows_free(rows);
        free(x);
    }
}

static dn_status fails_at_block_9(const void *arg, const dn_block *block, size_t slot, double *out,
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
    const dn_sum failing = {.fn = fails_at_block_9, .n_out = COLS};
    dn_error err;
    dn_error_clear(&err);
    assert_int_equal(dn_rows_from_matrix(dn_matrix_dense(x, n, COLS), NULL, NULL, &rows, NULL),
                     DN_OK);
    assert_true(team_start(3, &team, &problem));
    dn_run run = team_run(team);
    assert_int_equal(dn_run_sum(&run, rows, &failing, out, &err), DN_ERR_NUMERIC);
    assert_string_equal(err.message, "row 36864 is bad");
    assert_true(out[0] == 7); /* outputs untouched */
    run.stop = stops;
    assert_int_equal(dn_run_sum(&run, rows, &moments_sum, out, NULL), DN_ERR_STOPPED);
    run.stop = NULL;
    assert_int_equal(dn_run_sum(&run, rows, &moments_sum, out, NULL),
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
    assert_int_equal(dn_run_charge(&run, 4000, "a model", &err), DN_OK);
    assert_int_equal(dn_run_charge(&run, 97, "a model", &err), DN_ERR_BUDGET);
    dn_error_clear(&err);
    assert_int_equal(dn_run_charge(&run, SIZE_MAX / 2, "a model", &err), DN_ERR_BUDGET);
    assert_non_null(strstr(err.message, "a model"));
    assert_null(b.allocator.allocate(b.allocator.ctx, 90));
    dn_run_discharge(&run, 4000);
    assert_int_equal(atomic_load(&b.used), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_block_is_processed_once),
        cmocka_unit_test(same_bytes_as_serial),
        cmocka_unit_test(failure_and_stop),
        cmocka_unit_test(a_budget_refuses_and_is_given_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
