/* The holdout: exact numbers by class, a training row for every class, the seed and nothing else. */
#include "unit/core/support.h"

#include "evaluate/split.h"

enum { N = 1000 };

static void fill(double *target) {
    for (size_t i = 0; i < N; i++)
        target[i] = i % 50 == 7 ? (double)NAN : i == 3 ? 2 : i == 4 || i == 5 ? 3 : i % 4 == 0; /* classes of many, many, 1 and 2 rows */
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

/* Every row is drawn about as often as any other: 400 seeds, share 0.3, five deviations of √(400·0.3·0.7) = 9.2. */
static void every_row_has_its_chance(void **state) {
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
        for (size_t i = 0; i < N; i++)
            drawn[i] += role[i] == DN_ROW_VALIDATE;
    }
    for (size_t i = 0; i < N; i++)
        if (target[i] < 2)
            assert_true(drawn[i] > 120 - 46 && drawn[i] < 120 + 46);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_exact),
        cmocka_unit_test(seed_decides),
        cmocka_unit_test(every_row_has_its_chance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
