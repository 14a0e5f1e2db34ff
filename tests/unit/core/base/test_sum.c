/* dn_run_sum, dni_each_sum and dn_run_each: serial and on the threads of a run give the same
 * bits. */
#include "base/sum.h"

#include "base/random.h"
#include "unit/core/support.h"

enum { MAX_BLOCKS = 70 };

struct column {
    double *x; /* [n] */
    size_t n;
    dn_rows *rows;
};

static struct column column_new(size_t n) {
    struct column t = {.x = xcalloc(n + 1, sizeof(double)), .n = n};
    dni_random random;
    dni_random_init(&random, 3, 1);
    for (size_t i = 0; i < n;
         i++) { /* different magnitudes: the order of additions changes the last bits */
        t.x[i] = dni_random_uniform(&random, -1, 1) * (i % 5 == 0 ? 1e9 : 1e-3);
    }
    OK(dn_rows_from_matrix(dn_matrix_dense(t.x, n, 1), NULL, NULL, &t.rows, NULL));
    return t;
}

static void column_done(struct column *t) {
    dn_rows_free(t->rows);
    free(t->x);
}

static dn_status add_powers(const void *arg, const dn_block *block, size_t slot, double *out,
                            dn_error *err) {
    (void)arg, (void)slot, (void)err;
    for (size_t i = 0; i < block->x.n_rows; i++) {
        out[0] += block->x.values[i];
        out[1] += block->x.values[i] * block->x.values[i];
    }
    return DN_OK;
}

struct seen {
    int calls[MAX_BLOCKS]; /* by block */
    double greatest[3];    /* by slot */
    size_t fails_at;       /* index of the block that fails; SIZE_MAX: none */
};

static dn_status add_and_note(void *arg, const dn_block *block, size_t slot, double *out,
                              dn_error *err) {
    struct seen *seen = arg;
    const size_t i = block->first_row / DN_BLOCK_ROWS;
    if (i == seen->fails_at) {
        return dn_error_set(err, DN_ERR_DATA, "block %zu", i);
    }
    seen->calls[i]++;
    for (size_t t = 0; t < block->x.n_rows; t++) {
        seen->greatest[slot] = fmax(seen->greatest[slot], block->x.values[t]);
    }
    return add_powers(NULL, block, slot, out, err);
}

static dn_status note(void *arg, const dn_block *block, size_t slot, dn_error *err) {
    double unused[2] = {0};
    return add_and_note(arg, block, slot, unused, err);
}

/* A run with 3 slots whose each takes the blocks in reverse order. */
static dn_run reverse_run(void) {
    dn_run run = dn_run_default();
    run.n_slots = 3;
    run.each = each_in_reverse;
    return run;
}

static const dn_sum powers = {.fn = add_powers, .n_out = 2};

static void sums_are_the_same_in_any_order(void **state) {
    (void)state;
    const size_t n_blocks[] = {1, 2, 3, 12, 13, 64, MAX_BLOCKS};
    for (size_t k = 0; k < sizeof n_blocks / sizeof *n_blocks; k++) {
        struct column t = column_new(n_blocks[k] * DN_BLOCK_ROWS - 5);
        dn_run reverse = reverse_run(), ranges = dn_run_default();
        ranges.n_slots = 3;
        ranges.sum = sum_in_ranges;
        double serial[2], out[2];
        OK(dn_run_sum(NULL, t.rows, &powers, serial, NULL));
        OK(dn_run_sum(&reverse, t.rows, &powers, out, NULL));
        assert_memory_equal(out, serial, sizeof out);
        OK(dn_run_sum(&ranges, t.rows, &powers, out, NULL));
        assert_memory_equal(out, serial, sizeof out);
        struct seen seen = {.fails_at = SIZE_MAX};
        double greatest = 0;
        OK(dni_each_sum(&reverse, t.rows, add_and_note, &seen, 2, out, NULL));
        assert_memory_equal(out, serial, sizeof out);
        for (size_t i = 0; i < MAX_BLOCKS; i++) {
            assert_int_equal(seen.calls[i], i < n_blocks[k]);
        }
        for (size_t i = 0; i < t.n; i++) {
            greatest = fmax(greatest, t.x[i]);
        }
        assert_true(fmax(fmax(seen.greatest[0], seen.greatest[1]), seen.greatest[2]) == greatest);
        assert_true(n_blocks[k] < 3 || (seen.greatest[0] > 0 && seen.greatest[2] > 0));
        column_done(&t);
    }
}

static void each_processes_every_block_once(void **state) {
    (void)state;
    struct column t = column_new(MAX_BLOCKS * DN_BLOCK_ROWS);
    dn_run runs[] = {dn_run_default(), reverse_run()};
    for (size_t k = 0; k < 2; k++) {
        struct seen seen = {.fails_at = SIZE_MAX};
        OK(dn_run_each(&runs[k], t.rows, note, &seen, NULL));
        for (size_t i = 0; i < MAX_BLOCKS; i++) {
            assert_int_equal(seen.calls[i], 1);
        }
    }
    column_done(&t);
}

static void no_rows_sum_to_zero(void **state) {
    (void)state;
    struct column t = column_new(0);
    dn_run runs[] = {dn_run_default(), reverse_run()};
    for (size_t k = 0; k < 2; k++) {
        double out[2] = {5, 5};
        OK(dn_run_sum(&runs[k], t.rows, &powers, out, NULL));
        assert_true(out[0] == 0 && out[1] == 0);
    }
    column_done(&t);
}

static void a_failure_leaves_the_output_untouched(void **state) {
    (void)state;
    struct column t = column_new(40 * DN_BLOCK_ROWS);
    dn_run runs[] = {dn_run_default(), reverse_run()};
    for (size_t k = 0; k < 2; k++) {
        struct seen seen = {.fails_at = 9};
        double out[2] = {5, 5};
        dn_error err;
        dn_error_clear(&err);
        assert_int_equal(dni_each_sum(&runs[k], t.rows, add_and_note, &seen, 2, out, &err),
                         DN_ERR_DATA);
        assert_string_equal(err.message, "block 9");
        assert_true(out[0] == 5 && out[1] == 5);
        assert_int_equal(dn_run_each(&runs[k], t.rows, note, &seen, NULL), DN_ERR_DATA);
    }
    column_done(&t);
}

/* Violates the contract of dn_sum: modifies the const argument. */
static dn_status change_argument(const void *arg, const dn_block *block, size_t slot, double *out,
                                 dn_error *err) {
    (void)slot, (void)out, (void)err;
    unsigned char *bytes = (unsigned char *)(uintptr_t)arg;
    bytes[*(const uint16_t *)arg] = (unsigned char)(block->first_row == 0);
    return DN_OK;
}

static void a_sum_that_changes_its_argument_is_an_error(void **state) {
    (void)state;
    struct column t = column_new(2 * DN_BLOCK_ROWS);
    union {
        uint16_t at; /* byte that change_argument overwrites */
        unsigned char bytes[1026];
    } arg;
    dn_run ranges = dn_run_default();
    ranges.sum = sum_in_ranges;
    const dn_run *runs[] = {NULL, &ranges};
    for (size_t k = 0; k < 2; k++) {
        for (uint16_t at = 2; at < 1026; at = at == 2 ? 1023 : (uint16_t)(at + 1)) {
            const dn_sum sum = {change_argument, &arg, sizeof arg, 0},
                         unchecked = {change_argument, &arg, 0, 0};
            double none = 0;
            dn_error err;
            dn_error_clear(&err);
            memset(&arg, 7, sizeof arg);
            arg.at = at;
            dn_status status = dn_run_sum(runs[k], t.rows, &sum, &none, &err);
            assert_int_equal(status, at < 1024 ? DN_ERR_ARGUMENT : DN_OK);
            assert_string_equal(err.message,
                                at < 1024 ? "the function of a sum changed its argument" : "");
            OK(dn_run_sum(runs[k], t.rows, &unchecked, &none, NULL));
        }
    }
    column_done(&t);
}

/* dn_run_sum_memory is at least what a sum allocates, and at most 1.5 times as much. */
static void the_memory_of_a_sum_is_as_estimated(void **state) {
    (void)state;
    for (size_t n_blocks = 1; n_blocks <= MAX_BLOCKS; n_blocks += 23) {
        struct column t = column_new(n_blocks * DN_BLOCK_ROWS);
        for (size_t n_slots = 1; n_slots <= 3; n_slots += 2) {
            const size_t estimate = (size_t)dn_run_sum_memory(t.n, n_slots, 2);
            dn_run run = reverse_run();
            run.n_slots = n_slots;
            double out[2];
            struct memory memory = {.left = estimate};
            dn_allocator allocator = memory_allocator(&memory, true);
            run.allocator = &allocator;
            OK(dn_run_sum(&run, t.rows, &powers, out, NULL));
            assert_int_equal(memory.count, 1);
            memory.left = estimate * 2 / 3 - 1;
            assert_int_equal(dn_run_sum(&run, t.rows, &powers, out, NULL), DN_ERR_BUDGET);
        }
        column_done(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_the_same_in_any_order),
        cmocka_unit_test(each_processes_every_block_once),
        cmocka_unit_test(no_rows_sum_to_zero),
        cmocka_unit_test(a_failure_leaves_the_output_untouched),
        cmocka_unit_test(a_sum_that_changes_its_argument_is_an_error),
        cmocka_unit_test(the_memory_of_a_sum_is_as_estimated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
