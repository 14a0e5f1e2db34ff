/* Errors, working memory and the serial block sum of a run. */
#include <discern/run.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void first_error_wins(void **unused) {
    (void)unused;
    dn_error err;
    memset(&err, 0x55, sizeof err);
    dn_error_clear(&err);
    assert_int_equal(err.code, DN_OK);
    assert_int_equal(err.row, -1);
    assert_string_equal(err.message, "");
    assert_string_equal(err.field, "");
    dn_error_set_field(&err, "early"); /* no error is set: the calls have no effect */
    dn_error_set_row(&err, 3);
    assert_string_equal(err.field, "");
    assert_int_equal(err.row, -1);
    assert_int_equal(dn_error_set(&err, DN_ERR_DATA, "value %d", 5), DN_ERR_DATA);
    dn_error_set_field(&err, "x");
    dn_error_set_row(&err, 3);
    assert_int_equal(dn_error_set(&err, DN_ERR_MEMORY, "later"), DN_ERR_MEMORY);
    assert_int_equal(err.code, DN_ERR_DATA);
    assert_string_equal(err.message, "value 5");
    assert_string_equal(err.field, "x");
    assert_int_equal(err.row, 3);
    assert_int_equal(dn_error_set(NULL, DN_ERR_TIME, "nobody"), DN_ERR_TIME);
    dn_error_clear(NULL);
    dn_error_set_field(NULL, "x");
    dn_error_set_row(NULL, 1);
}

/* Long messages end with whole characters. */
static void cut_at_characters(void **unused) {
    (void)unused;
    static const char *const characters[] = {"a", "ä", "€", "😀"};
    for (size_t c = 0; c < 4; c++) {
        size_t width = strlen(characters[c]);
        for (size_t before = 0; before < 5; before++) {
            char text[1200] = "";
            for (size_t i = 0; i < before; i++) {
                strcat(text, "x");
            }
            for (size_t i = 0; i < 250; i++) {
                strcat(text, characters[c]);
            }
            dn_error err;
            dn_error_clear(&err);
            dn_error_set(&err, DN_ERR_DATA, "%s", text);
            dn_error_set_field(&err, text);
            size_t length = strlen(err.message), field = strlen(err.field);
            size_t most = strlen(text) < DN_MESSAGE_SIZE - 1 ? strlen(text) : DN_MESSAGE_SIZE - 1;
            assert_int_equal((length - before) % width, 0);
            assert_true(length <= most && length + width > most);
            assert_int_equal((field - before) % width, 0);
            assert_true(field < DN_FIELD_SIZE && field + width > DN_FIELD_SIZE - 1);
            assert_memory_equal(err.message, text, length);
        }
    }
}

static void names_of_statuses(void **unused) {
    (void)unused;
    assert_string_equal(dn_status_name(DN_OK), "ok");
    assert_string_equal(dn_status_name(DN_ERR_SOURCE), "source");
    for (int code = DN_OK; code <= DN_ERR_SOURCE; code++) {
        assert_true(strlen(dn_status_name((dn_status)code)) > 1 &&
                    strlen(dn_status_meaning((dn_status)code)) > 5);
    }
    assert_string_equal(dn_status_name((dn_status)999), "unknown");
}

/* An allocator that counts live allocations and makes one call fail. */
struct counting {
    size_t live, calls;
    size_t refuse; /* number of the call that fails, from 1; 0: none */
};

static void *count_allocate(void *ctx, size_t size) {
    struct counting *self = ctx;
    assert_true(size > 0);
    if (++self->calls == self->refuse) {
        return NULL;
    }
    void *memory = malloc(size);
    assert_non_null(memory);
    memset(memory, 0xa5, size);
    self->live++;
    return memory;
}

static void count_release(void *ctx, void *memory) {
    struct counting *self = ctx;
    self->live -= memory != NULL;
    free(memory);
}

static void working_memory(void **unused) {
    (void)unused;
    struct counting counting = {0};
    dn_allocator allocator = {.allocate = count_allocate,
                              .release = count_release,
                              .ctx = &counting,
                              .budgeted = true};
    dn_run run = dn_run_default();
    dn_error err;
    for (int with = 0; with < 2; with++) {
        run.allocator = with == 1 ? &allocator : NULL;
        void *memory = NULL;
        assert_int_equal(dn_run_alloc(&run, 10, 8, "things", &memory, NULL), DN_OK);
        for (size_t i = 0; i < 80; i++) {
            assert_int_equal(((unsigned char *)memory)[i], 0);
        }
        dn_run_free(&run, memory);
        assert_int_equal(dn_run_alloc(&run, 0, 8, "things", &memory, NULL), DN_OK);
        assert_non_null(memory);
        dn_run_free(&run, memory);
        dn_run_free(&run, NULL);
        dn_error_clear(&err);
        void *before = memory;
        assert_int_equal(dn_run_alloc(&run, SIZE_MAX / 2, 4, "things", &memory, &err),
                         DN_ERR_MEMORY);
        assert_ptr_equal(memory, before);
        assert_non_null(strstr(err.message, "things"));
    }
    assert_int_equal(counting.live, 0);
    void *memory = NULL;
    counting.refuse = counting.calls + 1;
    dn_error_clear(&err);
    assert_int_equal(dn_run_alloc(&run, 3, 7, "the wishes", &memory, &err), DN_ERR_BUDGET);
    assert_string_equal(err.message,
                        "no memory for the wishes: 21 bytes are more than is left of the budget");
    allocator.budgeted = false;
    counting.refuse = counting.calls + 1;
    assert_int_equal(dn_run_alloc(&run, 3, 7, "the wishes", &memory, NULL), DN_ERR_MEMORY);
}

/* Adds the first column of the block and the number of its rows. */
static dn_status add_column(const void *arg, const dn_block *block, size_t slot, double *out,
                            dn_error *err) {
    size_t *calls = *(size_t *const *)arg;
    (void)err;
    assert_int_equal(slot, 0);
    ++*calls;
    for (size_t i = 0; i < block->x.n_rows; i++) {
        out[0] += block->x.values[i * block->x.stride];
    }
    out[1] += (double)block->x.n_rows;
    return DN_OK;
}

static dn_status refuse_second(const void *arg, const dn_block *block, size_t slot, double *out,
                               dn_error *err) {
    (void)slot;
    (void)out;
    ++**(size_t *const *)arg;
    return block->first_row == 0 ? DN_OK : dn_error_set(err, DN_ERR_NUMERIC, "no more");
}

static dn_status stop_at_once(const dn_run *run) {
    return *(const dn_status *)run->ctx;
}

static dn_status stop_second(const dn_run *run) {
    return ++*(size_t *)run->ctx == 2 ? DN_ERR_STOPPED : DN_OK;
}

/* Zeroing a large array takes time: the stop function is polled before each large allocation. */
static void large_memory(void **unused) {
    (void)unused;
    size_t looks = 0;
    void *memory = NULL, *other = NULL;
    dn_error err = {0};
    dn_run run = dn_run_default();
    run.stop = stop_second;
    run.ctx = &looks;
    assert_int_equal(dn_run_alloc(&run, (size_t)1 << 20, 8, "things", &other, NULL), DN_OK);
    dn_run_free(&run, other);
    assert_int_equal(looks, 0);
    assert_int_equal(dn_run_alloc(&run, (size_t)1 << 22, 8, "things", &other, NULL), DN_OK);
    dn_run_free(&run, other);
    assert_int_equal(dn_run_alloc(&run, (size_t)1 << 22, 8, "things", &memory, &err),
                     DN_ERR_STOPPED);
    assert_null(memory);
    assert_int_equal(err.code, DN_ERR_STOPPED);
    assert_int_equal(looks, 2);
}

static void serial_sum(void **unused) {
    (void)unused;
    size_t n = 3 * DN_BLOCK_ROWS + 17;
    double *values = malloc(n * sizeof *values);
    for (size_t i = 0; i < n; i++) {
        values[i] = sin((double)i);
    }
    dn_rows *rows = NULL;
    assert_int_equal(dn_rows_from_matrix(dn_matrix_dense(values, n, 1), NULL, NULL, &rows, NULL),
                     DN_OK);
    double part[4] = {0}, out[2] = {5, 5};
    for (size_t i = 0; i < n; i++) {
        part[i / DN_BLOCK_ROWS] += values[i];
    }
    double want = (part[0] + part[1]) + (part[2] + part[3]);
    size_t calls = 0, *arg = &calls;
    const dn_sum both = {add_column, &arg, sizeof arg, 2},
                 refused = {refuse_second, &arg, sizeof arg, 1};
    dn_run run = dn_run_default();
    assert_int_equal(dn_run_sum(&run, rows, &both, out, NULL), DN_OK);
    assert_int_equal(calls, 4);
    assert_memory_equal(&out[0], &want, sizeof want);
    assert_true(out[1] == (double)n);

    calls = 0;
    out[0] = 9;
    dn_error err;
    dn_error_clear(&err);
    assert_int_equal(dn_run_sum(&run, rows, &refused, out, &err), DN_ERR_NUMERIC);
    assert_int_equal(calls, 2);
    assert_true(out[0] == 9);
    assert_string_equal(err.message, "no more");

    static const dn_status ends[] = {DN_ERR_STOPPED, DN_ERR_TIME};
    for (size_t k = 0; k < 2; k++) {
        dn_status status = ends[k];
        run.stop = stop_at_once;
        run.ctx = &status;
        calls = 0;
        dn_error_clear(&err);
        assert_int_equal(dn_run_sum(&run, rows, &both, out, &err), status);
        assert_int_equal(calls, 0);
        assert_int_equal(err.code, status);
    }
    dn_rows_free(rows);
    free(values);
}

static void defaults(void **unused) {
    (void)unused;
    dn_run run = dn_run_default();
    assert_int_equal(run.seed, 1);
    assert_int_equal(run.n_slots, 1);
    assert_int_equal(dn_run_stop(&run, NULL), DN_OK);
    assert_true(dn_run_elapsed(&run) == 0 && dn_run_elapsed(NULL) == 0);
    assert_true(run.allocator == NULL && run.sum == NULL && run.each == NULL && run.stop == NULL);
    assert_true(run.elapsed == NULL && run.progress == NULL && run.snapshots == NULL);
    assert_int_equal(run.n_snapshots, 0);
    assert_int_equal(dn_run_stop(NULL, NULL), DN_OK);
    assert_false(dn_run_wants_snapshot(&run, 0));
}

static void ignore_progress(const dn_run *run, const dn_progress *progress) {
    (void)run, (void)progress;
}

static void snapshots_only_with_progress_and_in_the_list(void **unused) {
    (void)unused;
    const size_t iterations[] = {2, 5};
    dn_run run = dn_run_default();
    run.snapshots = iterations;
    run.n_snapshots = 1;
    assert_false(dn_run_wants_snapshot(&run, 2));
    run.progress = ignore_progress;
    assert_true(dn_run_wants_snapshot(&run, 2));
    assert_false(dn_run_wants_snapshot(&run, 5));
    run.n_snapshots = 2;
    assert_true(dn_run_wants_snapshot(&run, 5));
    assert_false(dn_run_wants_snapshot(&run, 4));
}

/* An allocation of 32 MiB polls the stop function; one byte less does not. */
static void memory_polls_the_stop_from_32_mib(void **unused) {
    (void)unused;
    size_t polls = 0;
    void *memory = NULL;
    dn_run run = dn_run_default();
    run.stop = stop_second;
    run.ctx = &polls;
    assert_int_equal(dn_run_alloc(&run, ((size_t)32 << 20) - 1, 1, "things", &memory, NULL), DN_OK);
    dn_run_free(&run, memory);
    assert_int_equal(polls, 0);
    assert_int_equal(dn_run_alloc(&run, (size_t)32 << 20, 1, "things", &memory, NULL), DN_OK);
    dn_run_free(&run, memory);
    assert_int_equal(polls, 1);
}

/* The stop function is polled exactly once before each piece of a block. */
static void a_sum_polls_the_stop_once_a_piece(void **unused) {
    (void)unused;
    const size_t n_cols = 4096, n = DN_BLOCK_ROWS + 1; /* pieces of 256 rows: 16 and 1 */
    double *values = calloc(n * n_cols, sizeof *values);
    assert_non_null(values);
    dn_rows *rows = NULL;
    assert_int_equal(dn_rows_from_matrix(dn_matrix_dense(values, n, n_cols), NULL, NULL, &rows,
                                         NULL),
                     DN_OK);
    size_t calls = 0, *arg = &calls, polls = 100;
    double out[2];
    const dn_sum sum = {add_column, &arg, sizeof arg, 2};
    dn_run run = dn_run_default();
    run.stop = stop_second;
    run.ctx = &polls;
    assert_int_equal(dn_run_sum(&run, rows, &sum, out, NULL), DN_OK);
    assert_int_equal(calls, 17);
    assert_int_equal(polls, 117);
    polls = 0;
    calls = 0;
    assert_int_equal(dn_run_sum(&run, rows, &sum, out, NULL), DN_ERR_STOPPED);
    assert_int_equal(calls, 1);
    dn_rows_free(rows);
    free(values);
}

static bool charge_up_to(void *ctx, size_t size) {
    size_t *left = ctx;
    if (size > *left) {
        return false;
    }
    *left -= size;
    return true;
}

static void discharge_again(void *ctx, size_t size) {
    *(size_t *)ctx += size;
}

static void a_charge_may_fill_the_budget_exactly(void **unused) {
    (void)unused;
    size_t left = 100;
    const dn_allocator allocator = {.charge = charge_up_to,
                                    .discharge = discharge_again,
                                    .ctx = &left,
                                    .budgeted = true};
    dn_run run = dn_run_default();
    dn_error err;
    dn_error_clear(&err);
    assert_int_equal(dn_run_charge(&run, SIZE_MAX, "a model", NULL), DN_OK); /* no allocator */
    dn_run_discharge(&run, SIZE_MAX);
    run.allocator = &allocator;
    assert_int_equal(dn_run_charge(&run, 101, "a model", &err), DN_ERR_BUDGET);
    assert_int_equal(left, 100);
    assert_int_equal(dn_run_charge(&run, 100, "a model", NULL), DN_OK);
    assert_int_equal(left, 0);
    dn_run_discharge(&run, 100);
    assert_int_equal(left, 100);
    const dn_allocator without = {.budgeted = true};
    run.allocator = &without;
    assert_int_equal(dn_run_charge(&run, SIZE_MAX, "a model", NULL), DN_OK);
    dn_run_discharge(&run, SIZE_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_error_wins),
        cmocka_unit_test(cut_at_characters),
        cmocka_unit_test(names_of_statuses),
        cmocka_unit_test(working_memory),
        cmocka_unit_test(large_memory),
        cmocka_unit_test(serial_sum),
        cmocka_unit_test(defaults),
        cmocka_unit_test(snapshots_only_with_progress_and_in_the_list),
        cmocka_unit_test(memory_polls_the_stop_from_32_mib),
        cmocka_unit_test(a_sum_polls_the_stop_once_a_piece),
        cmocka_unit_test(a_charge_may_fill_the_budget_exactly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
