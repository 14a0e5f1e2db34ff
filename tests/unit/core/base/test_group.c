/* Sums of a group of ranks have the bits of one process, for any number of blocks and ranks; an
 * error of one rank reaches all. */
#include "base/argument.h"
#include "base/group.h"
#include "base/random.h"
#include "base/sum.h"
#include "base/tasks.h"
#include "unit/core/ranks.h"
#include "unit/core/support.h"

enum { MAX_BLOCKS = 70, LONG = 20000 };
static const size_t rank_counts[] = {1, 2, 3, 4, 7, 16};

/* A sum of n_out numbers over n_blocks blocks, and what happens in it. */
struct problem {
    size_t n_blocks, n_out, n_slots;
    const double *values; /* [MAX_BLOCKS] of different magnitudes */
    double *expected;     /* [n_out] */
    size_t fails_at;      /* block whose function fails; SIZE_MAX: none */
    size_t leaves;        /* rank that returns before the sum; SIZE_MAX: none */
    int failures[16];     /* status of each rank */
};

static dn_status add_block(const void *arg, const dn_block *block, size_t slot, double *out,
                           dn_error *err) {
    const struct problem *p = arg;
    const size_t i = block->first_row / DN_BLOCK_ROWS;
    (void)slot;
    if (i == p->fails_at) {
        return dn_error_set(err, DN_ERR_DATA, "block %zu cannot be read", i);
    }
    for (size_t j = 0; j < p->n_out; j++) {
        out[j] += p->values[i] / (double)(j + 3);
    }
    return DN_OK;
}

static dn_status sum_of(const struct problem *p, const dn_run *run, double *out, dn_error *err) {
    const dn_rows rows = dni_numbered_rows(p->n_blocks);
    return dn_run_sum(run, &rows, &(dn_sum){.fn = add_block, .arg = p, .n_out = p->n_out}, out,
                      err);
}

static void sum_on_rank(void *arg, dn_group *group) {
    const struct problem *p = arg;
    double *out = xcalloc(p->n_out + 1, sizeof *out);
    dn_run run = dn_run_default();
    run.group = group;
    run.each = p->n_slots > 1 ? each_in_reverse : NULL;
    run.n_slots = p->n_slots > 1 ? p->n_slots : 1;
    OK(sum_of(p, &run, out, NULL));
    assert_memory_equal(out, p->expected, p->n_out * sizeof *out + (p->n_out == 0));
    free(out);
}

static void magnitudes(double values[MAX_BLOCKS]) {
    dni_random random;
    dni_random_init(&random, 5, 1);
    for (size_t i = 0; i < MAX_BLOCKS; i++) {
        values[i] = dni_random_uniform(&random, -1, 1) * (i % 3 == 0 ? 1e12 : 1e-3);
    }
}

static void sums_have_the_bits_of_one_process(void **state) {
    (void)state;
    double values[MAX_BLOCKS];
    magnitudes(values);
    for (size_t c = 0; c < sizeof rank_counts / sizeof *rank_counts; c++) {
        for (size_t n = 0; n <= MAX_BLOCKS; n += n < 20 ? 1 : 7) {
            const size_t widths[] = {0, 1, 3, LONG};
            for (size_t w = 0; w < (n % 5 == 3 ? 4 : 3); w++) {
                struct problem p = {.n_blocks = n,
                                    .n_out = widths[w],
                                    .values = values,
                                    .fails_at = SIZE_MAX};
                p.expected = xcalloc(p.n_out + 1, sizeof *p.expected);
                OK(sum_of(&p, NULL, p.expected, NULL));
                ranks_run(rank_counts[c], sum_on_rank, &p);
                free(p.expected);
            }
        }
    }
}

static void sums_of_several_slots_have_the_same_bits(void **state) {
    (void)state;
    double values[MAX_BLOCKS];
    magnitudes(values);
    for (size_t n = 0; n <= MAX_BLOCKS; n += 1 + n / 4) {
        struct problem p = {.n_blocks = n,
                            .n_out = n % 2 == 0 ? 3 : LONG,
                            .n_slots = 3,
                            .values = values,
                            .fails_at = SIZE_MAX};
        p.expected = xcalloc(p.n_out, sizeof *p.expected);
        OK(sum_of(&p, NULL, p.expected, NULL));
        for (size_t c = 0; c < sizeof rank_counts / sizeof *rank_counts; c++) {
            ranks_run(rank_counts[c], sum_on_rank, &p);
        }
        free(p.expected);
    }
}

static bool no_gather(const dn_group *group, const void *mine, const size_t *size, void *all) {
    (void)group, (void)mine, (void)size, (void)all;
    return false;
}

static bool no_exchange(const dn_group *group, const void *send, const size_t *send_size,
                        void *receive, const size_t *receive_size) {
    (void)group, (void)send, (void)send_size, (void)receive, (void)receive_size;
    return false;
}

static dn_status no_sum(const dn_run *run, const dn_rows *rows, const dn_sum *sum, double *out,
                        dn_error *err) {
    (void)run, (void)rows, (void)sum, (void)out, (void)err;
    return DN_OK;
}

static void unusable_groups_are_refused(void **state) {
    (void)state;
    const dn_group good = {.struct_size = sizeof good,
                           .rank = DN_MAX_RANKS - 1,
                           .n_ranks = DN_MAX_RANKS,
                           .gather = no_gather,
                           .exchange = no_exchange};
    dn_group groups[6];
    for (size_t i = 0; i < 6; i++) {
        groups[i] = good;
    }
    groups[0].n_ranks = DN_MAX_RANKS + 1;
    groups[1].n_ranks = 0;
    groups[2].rank = DN_MAX_RANKS;
    groups[3].gather = NULL;
    groups[4].exchange = NULL;
    groups[5].struct_size = 8;
    static const char *const messages[] = {
        "a group must have 1 to 1024 ranks (got 1025)",
        "a group must have 1 to 1024 ranks (got 0)",
        "the rank of a group must be less than its 1024 ranks (got 1024)",
        "the function gather of the group must not be NULL",
        "the function exchange of the group must not be NULL",
        "the group has a struct_size of 8 bytes, but at least "};
    dn_error err;
    dn_run run = dn_run_default();
    for (size_t i = 0; i < 6; i++) {
        run.group = &groups[i];
        dn_error_clear(&err);
        assert_int_equal(dni_argument_run(&run, &err), DN_ERR_ARGUMENT);
        assert_int_equal(strncmp(err.message, messages[i], strlen(messages[i])), 0);
    }
    dn_group group = good;
    run.group = &group;
    OK(dni_argument_run(&run, NULL));
    run.sum = no_sum;
    dn_error_clear(&err);
    assert_int_equal(dni_argument_run(&run, &err), DN_ERR_ARGUMENT);
    assert_string_equal(err.message, "a run with a group must have no function sum");
    /* a sum without the check of a larger call */
    double out, values[MAX_BLOCKS] = {0};
    const struct problem p = {.n_blocks = 4, .n_out = 1, .values = values, .fails_at = SIZE_MAX};
    run.sum = NULL;
    group.n_ranks = 100 * (size_t)DN_MAX_RANKS;
    dn_error_clear(&err);
    assert_int_equal(sum_of(&p, &run, &out, &err), DN_ERR_ARGUMENT);
    assert_string_equal(err.message, "a group must have 1 to 1024 ranks (got 102400)");
}

static void ranges_cover_all_blocks_once(void **state) {
    (void)state;
    for (size_t ranks = 1; ranks <= 40; ranks++) {
        for (size_t n = 0; n < 600; n += 1 + n / 7) {
            size_t next = 0, most = 0;
            for (size_t r = 0; r < ranks; r++) {
                size_t first, end;
                dn_group_blocks(ranks, r, n, &first, &end);
                assert_true(first == next && end >= first);
                next = end;
                most = end - first > most ? end - first : most;
            }
            assert_int_equal(next, n);
            assert_true((double)most <= 1.25 * (double)n / (double)ranks + 1);
        }
    }
}

static void fail_on_rank(void *arg, dn_group *group) {
    struct problem *p = arg;
    double out[1];
    dn_error err;
    dn_run run = dn_run_default();
    run.group = group;
    dn_error_clear(&err);
    dn_status status = group->rank == p->leaves
                           ? dn_error_set(&err, DN_ERR_BUDGET, "no memory for a table")
                           : sum_of(p, &run, out, &err);
    status = dni_group_end(&run, status, &err);
    p->failures[group->rank] = (int)status;
    assert_string_equal(err.message,
                        p->leaves == SIZE_MAX ? "block 9 cannot be read" : "no memory for a table");
}

/* A function that fails, and a rank that does not reach the sum. */
static void an_error_reaches_all_ranks(void **state) {
    (void)state;
    double values[MAX_BLOCKS];
    magnitudes(values);
    for (size_t c = 1; c < sizeof rank_counts / sizeof *rank_counts; c++) {
        for (size_t leaves = 0; leaves <= rank_counts[c]; leaves++) {
            const bool one_leaves = leaves < rank_counts[c];
            struct problem p = {.n_blocks = 12,
                                .n_out = 1,
                                .values = values,
                                .fails_at = one_leaves ? SIZE_MAX : 9,
                                .leaves = one_leaves ? leaves : SIZE_MAX};
            ranks_run(rank_counts[c], fail_on_rank, &p);
            for (size_t r = 0; r < rank_counts[c]; r++) {
                assert_int_equal(p.failures[r], one_leaves ? DN_ERR_BUDGET : DN_ERR_DATA);
            }
        }
    }
}

/* A rank whose process has ended. */
static void vanish(void *arg, dn_group *group) {
    const struct problem *p = arg;
    double out[1];
    dn_error err;
    dn_run run = dn_run_default();
    run.group = group;
    dn_error_clear(&err);
    if (group->rank != 1) {
        assert_int_equal(sum_of(p, &run, out, &err), DN_ERR_SOURCE);
        assert_string_equal(err.message, "the ranks of the training are no longer connected");
        assert_int_equal(sum_of(p, &run, out, NULL), DN_ERR_SOURCE);
    }
}

static void a_rank_that_has_ended_is_an_error(void **state) {
    (void)state;
    double values[MAX_BLOCKS];
    magnitudes(values);
    struct problem p = {.n_blocks = 12, .n_out = 1, .values = values, .fails_at = SIZE_MAX};
    ranks_run(3, vanish, &p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_have_the_bits_of_one_process),
        cmocka_unit_test(sums_of_several_slots_have_the_same_bits),
        cmocka_unit_test(unusable_groups_are_refused),
        cmocka_unit_test(ranges_cover_all_blocks_once),
        cmocka_unit_test(an_error_reaches_all_ranks),
        cmocka_unit_test(a_rank_that_has_ended_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
