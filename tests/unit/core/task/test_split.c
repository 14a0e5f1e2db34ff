/* Tests of splits. A holdout has the exact number of rows of each class, leaves a training row of
 * each class, and depends on the seed only. Folds have equal sizes, in each class and in total. */
#include "unit/core/support.h"

#include "base/random.h"
#include "task/split.h"

enum { N = 1000 };

static void fill(double *target) {
    for (size_t i = 0; i < N; i++) {
        target[i] =
            i % 50 == 7 ? (double)NAN
            : i == 3    ? 2
            : i == 4 || i == 5
                ? 3
                : i % 4 == 0; /* classes 0 and 1 have many rows, classes 2 and 3 have 1 and 2 */
    }
}

static void shares_are_exact(void **state) {
    (void)state;
    const double holdouts[] = {0, 0.1, 0.25, 0.5, 0.99};
    double target[N];
    uint8_t role[N];
    fill(target);
    for (size_t h = 0; h < 5; h++) {
        size_t rows[4] = {0}, held[4] = {0}, skipped = 0;
        dni_split split;
        dn_run run = dn_run_default();
        OK(dni_split_holdout(target, N, 4, holdouts[h], &run, role, &split, NULL));
        for (size_t i = 0; i < N; i++) {
            if (isnan(target[i])) {
                assert_int_equal(role[i], DN_ROW_SKIP);
                skipped++;
                continue;
            }
            rows[(size_t)target[i]]++;
            held[(size_t)target[i]] += role[i] == DN_ROW_VALIDATE;
            assert_true(role[i] == DN_ROW_TRAIN || role[i] == DN_ROW_VALIDATE);
        }
        for (size_t k = 0; k < 4; k++) {
            size_t wanted = (size_t)floor((double)rows[k] * holdouts[h] + 0.5);
            assert_int_equal(held[k], wanted < rows[k] ? wanted : rows[k] - 1);
        }
        assert_int_equal(split.n_validation, held[0] + held[1] + held[2] + held[3]);
        assert_int_equal(split.n_skipped, skipped);
        assert_int_equal(split.n_train + split.n_validation + split.n_skipped, N);
    }
}

/* 0.1 of 400 rows in 100 classes of 4 rows are 40 rows, of 40 classes. Which classes, the seed
 * decides: each has a row in about 40 of 100 seeds. */
static void small_classes_share_the_holdout(void **state) {
    (void)state;
    enum { ROWS = 400, CLASSES = 100, SEEDS = 100 };
    double target[ROWS];
    uint8_t role[ROWS];
    size_t times[CLASSES] = {0};
    for (size_t i = 0; i < ROWS; i++) {
        target[i] = (double)(i % CLASSES);
    }
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        size_t held[CLASSES] = {0};
        dni_split split;
        dn_run run = dn_run_default();
        run.seed = seed;
        OK(dni_split_holdout(target, ROWS, CLASSES, 0.1, &run, role, &split, NULL));
        assert_int_equal(split.n_validation, 40);
        for (size_t i = 0; i < ROWS; i++) {
            held[i % CLASSES] += role[i] == DN_ROW_VALIDATE;
        }
        for (size_t k = 0; k < CLASSES; k++) {
            assert_true(held[k] <= 1);
            times[k] += held[k];
        }
    }
    for (size_t k = 0; k < CLASSES;
         k++) { /* within five standard deviations √(100·0.4·0.6) = 4.9 */
        assert_true(times[k] > 40 - 25 && times[k] < 40 + 25);
    }
}

/* Classes of 13, 11, 9, 2 and 1 rows, 36 in all. A quarter is 9 rows; the shares are 3.25, 2.75,
 * 2.25, 0.5 and 0.25, and their integer parts sum to 7. The two rows that are left go to the
 * largest fractional parts, those of the second and the fourth class. Nine tenths are 32.4 rows;
 * the shares are 11.7, 9.9, 8.1, 1.8, 0.9: 29 rows, and no class can give another row but the first
 * (12 of 13) and the second (10 of 11), as the others keep one. */
static void largest_remainder(void **state) {
    (void)state;
    enum { ROWS = 36, CLASSES = 5 };
    static const size_t rows[CLASSES] = {13, 11, 9, 2, 1};
    static const struct {
        double holdout;
        size_t held[CLASSES];
    } cases[] = {{0.25, {3, 3, 2, 1, 0}}, {0.9, {12, 10, 8, 1, 0}}, {0.01, {0, 0, 0, 0, 0}}};
    double target[ROWS];
    uint8_t role[ROWS];
    size_t n = 0;
    for (size_t k = 0; k < CLASSES; k++) {
        for (size_t i = 0; i < rows[k]; i++) {
            target[n++] = (double)k;
        }
    }
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        size_t held[CLASSES] = {0};
        dni_split split;
        dn_run run = dn_run_default();
        OK(dni_split_holdout(target, ROWS, CLASSES, cases[c].holdout, &run, role, &split, NULL));
        for (size_t i = 0; i < ROWS; i++) {
            held[(size_t)target[i]] += role[i] == DN_ROW_VALIDATE;
        }
        assert_memory_equal(held, cases[c].held, sizeof held);
    }
}

static void seed_decides(void **state) {
    (void)state;
    double target[N];
    uint8_t a[N], b[N], c[N];
    dni_split split;
    dn_run run = dn_run_default();
    fill(target);
    OK(dni_split_holdout(target, N, 4, 0.3, &run, a, &split, NULL));
    OK(dni_split_holdout(target, N, 4, 0.3, &run, b, &split, NULL));
    run.seed = 2;
    OK(dni_split_holdout(target, N, 4, 0.3, &run, c, &split, NULL));
    assert_memory_equal(a, b, N);
    assert_memory_not_equal(a, c, N);
}

/* With 400 seeds and holdout 0.3, each row is held out about 120 times: within five standard
 * deviations √(400·0.3·0.7) = 9.2. */
static void rows_are_held_out_equally_often(void **state) {
    (void)state;
    double target[N];
    uint8_t role[N];
    size_t drawn[N] = {0};
    fill(target);
    for (uint64_t seed = 1; seed <= 400; seed++) {
        dni_split split;
        dn_run run = dn_run_default();
        run.seed = seed;
        OK(dni_split_holdout(target, N, 4, 0.3, &run, role, &split, NULL));
        for (size_t i = 0; i < N; i++) {
            drawn[i] += role[i] == DN_ROW_VALIDATE;
        }
    }
    for (size_t i = 0; i < N; i++) {
        if (target[i] < 2) {
            assert_true(drawn[i] > 120 - 46 && drawn[i] < 120 + 46);
        }
    }
}

static void folds_are_even(void **state) {
    (void)state;
    double target[N];
    uint16_t fold[N];
    dn_run run = dn_run_default();
    fill(target);
    for (size_t n_folds = 2; n_folds <= 700; n_folds = n_folds * 5 / 2) {
        size_t *rows = xcalloc(
            5 * n_folds,
            sizeof *rows); /* [5 × n_folds] numbers of rows of the four classes, and their totals */
        OK(dni_split_folds(target, N, 4, n_folds, DNI_STREAM_FOLDS, &run, fold, NULL));
        for (size_t i = 0; i < N; i++) {
            /* class 2 has one row, which is in no fold */
            assert_true(fold[i] == n_folds ? isnan(target[i]) || target[i] == 2
                                           : fold[i] < n_folds);
            if (fold[i] == n_folds) {
                continue;
            }
            rows[(size_t)target[i] * n_folds + fold[i]]++;
            rows[4 * n_folds + fold[i]]++;
        }
        for (size_t k = 0; k < 5; k++) {
            size_t least = N, most = 0;
            for (size_t f = 0; f < n_folds; f++) {
                least = rows[k * n_folds + f] < least ? rows[k * n_folds + f] : least;
                most = rows[k * n_folds + f] > most ? rows[k * n_folds + f] : most;
            }
            assert_true(most - least <= 1);
        }
        free(rows);
    }
}

static void folds_by_seed(void **state) {
    (void)state;
    double target[N];
    uint16_t a[N], b[N];
    size_t together = 0;
    dn_run run = dn_run_default();
    fill(target);
    OK(dni_split_folds(target, N, 4, 5, DNI_STREAM_FOLDS, &run, a, NULL));
    OK(dni_split_folds(target, N, 4, 5, DNI_STREAM_FOLDS, &run, b, NULL));
    assert_memory_equal(a, b, sizeof a);
    for (run.seed = 2; run.seed <= 401;
         run.seed++) { /* rows 1 and 2 share a fold for 80 ± 5·8 of 400 seeds */
        OK(dni_split_folds(target, N, 4, 5, DNI_STREAM_FOLDS, &run, b, NULL));
        together += b[1] == b[2];
    }
    assert_memory_not_equal(a, b, sizeof a);
    assert_true(together > 80 - 40 && together < 80 + 40);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_exact),
        cmocka_unit_test(small_classes_share_the_holdout),
        cmocka_unit_test(largest_remainder),
        cmocka_unit_test(seed_decides),
        cmocka_unit_test(rows_are_held_out_equally_often),
        cmocka_unit_test(folds_are_even),
        cmocka_unit_test(folds_by_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
