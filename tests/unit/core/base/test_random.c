/* Random numbers: known values of the generator, uniformity, permutations. */
#include "unit/core/support.h"

#include "base/random.h"

static void known_values(void **state) {
    (void)state;
    dni_random r = {{1, 2, 3, 4}};
    const uint64_t expected[] = {
        11520, 0, 1509978240,
        1215971899390074240}; /* by hand from the definition of xoshiro256** */
    for (size_t i = 0; i < 4; i++) {
        assert_true(dni_random_next(&r) == expected[i]);
    }
    dni_random a, b, c, d;
    dni_random_init(&a, 1, 1);
    dni_random_init(&b, 1, 1);
    dni_random_init(&c, 1, 2);
    dni_random_init(&d, 2, 1);
    uint64_t x = dni_random_next(&a);
    assert_true(x == dni_random_next(&b) && x != dni_random_next(&c) && x != dni_random_next(&d));
}

static void even(void **state) {
    (void)state;
    dni_random r;
    size_t hits[7] = {0};
    double sum = 0;
    dni_random_init(&r, 42, 0);
    for (size_t i = 0; i < 70000; i++) {
        hits[dni_random_below(&r, 7)]++;
        double u = dni_random_uniform(&r, -2, 4);
        assert_true(u >= -2 && u < 4);
        sum += u;
    }
    for (size_t i = 0; i < 7; i++) {
        assert_true(hits[i] > 9500 && hits[i] < 10500);
    }
    assert_true(fabs(sum / 70000 - 1) < 0.05);
}

static void shuffles(void **state) {
    (void)state;
    dni_random r;
    size_t order[100], first[100] = {0};
    dni_random_init(&r, 7, 0);
    for (size_t round = 0; round < 5000; round++) {
        bool seen[100] = {0};
        for (size_t i = 0; i < 100; i++) {
            order[i] = i;
        }
        dni_random_shuffle(&r, order, 100);
        for (size_t i = 0; i < 100; i++) {
            assert_false(seen[order[i]]);
            seen[order[i]] = true;
        }
        first[order[0]]++;
    }
    for (size_t i = 0; i < 100; i++) {
        assert_true(first[i] > 10 && first[i] < 100); /* 50 on the average */
    }
    dni_random_shuffle(&r, order, 0);
}

/* A sample has the requested number of distinct elements; each element is drawn equally often. */
static void draws(void **state) {
    (void)state;
    enum { N = 40, WANTED = 7, ROUNDS = 20000 };
    dni_random r;
    size_t hits[N] = {0};
    dni_random_init(&r, 9, 0);
    for (size_t round = 0; round < ROUNDS; round++) {
        size_t left = WANTED;
        for (size_t i = 0; i < N; i++) {
            if (dni_random_draws(&r, left, N - i)) {
                hits[i]++;
                left--;
            }
        }
        assert_int_equal(left, 0);
    }
    for (size_t i = 0; i < N; i++) {
        assert_in_range(hits[i], 3250, 3750); /* mean 3500, standard deviation 54 */
    }
    const dni_random before = r;
    assert_false(dni_random_draws(&r, 0, 5));
    assert_memory_equal(&r, &before, sizeof r);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(known_values), cmocka_unit_test(even),
                                       cmocka_unit_test(shuffles), cmocka_unit_test(draws)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
