/* The passes of sequential minimal optimisation against plain loops, for every length around the
 * sizes of vectors. */
#include "base/random.h"
#include "learners/shared/smo/smo_passes.h"
#include "unit/core/support.h"

enum { MOST = 1300 };

struct problem {
    double up[MOST], low[MOST], self[MOST], row_i[MOST], row_j[MOST];
};

/* Some variables may not increase, some may not decrease. Values occur twice. */
static void fill(struct problem *p, uint64_t seed) {
    dni_random random;
    dni_random_init(&random, seed, 1);
    for (size_t k = 0; k < MOST; k++) {
        const double g = floor(20 * dni_random_uniform(&random, -1, 1)) / 20,
                     side = dni_random_uniform(&random, 0, 3);
        p->up[k] = side < 1 ? -(double)INFINITY : g;
        p->low[k] = side > 2 ? (double)INFINITY : g;
        p->self[k] = floor(3 * dni_random_uniform(&random, 0, 1)) / 2;
        p->row_i[k] = floor(9 * dni_random_uniform(&random, -1, 1)) / 8;
        p->row_j[k] = floor(9 * dni_random_uniform(&random, -1, 1)) / 8;
    }
}

static void updates_and_extremes(void **state) {
    (void)state;
    for (size_t n = 0; n < MOST; n += n < 40 ? 1 : 61) {
        for (int both = 0; both < 2; both++) {
            struct problem p, q;
            const size_t first = n / 3;
            fill(&p, n + 1);
            q = p;
            const dni_smo_extremes e =
                dni_smo_update(p.up, p.low, p.row_i, both ? p.row_j : NULL, 0.25, first, n);
            dni_smo_extremes plain = {-(double)INFINITY, (double)INFINITY, SIZE_MAX, SIZE_MAX};
            for (size_t k = first; k < n; k++) {
                const double change = 0.25 * (q.row_i[k] - (both ? q.row_j[k] : 0));
                q.up[k] -= change;
                q.low[k] -= change;
                if (q.up[k] > plain.up) {
                    plain.up = q.up[k];
                    plain.up_at = k;
                }
                if (q.low[k] < plain.low) {
                    plain.low = q.low[k];
                    plain.low_at = k;
                }
            }
            assert_memory_equal(&p, &q, sizeof p);
            assert_true(e.up == plain.up && e.low == plain.low);
            assert_true(e.up_at == plain.up_at && e.low_at == plain.low_at);
        }
    }
}

static void partners(void **state) {
    (void)state;
    for (size_t n = 0; n < MOST; n += n < 40 ? 1 : 61) {
        struct problem p;
        double best = 0;
        size_t place = SIZE_MAX;
        fill(&p, n + 7);
        for (size_t k = n / 4; k < n; k++) {
            const double b = 0.5 - p.low[k], a = fmax(1 + p.self[k] - 2 * p.row_i[k], 1e-12),
                         gain = b > 0 ? b * b / a : 0;
            if (gain > best) {
                best = gain;
                place = k;
            }
        }
        assert_true(dni_smo_partner(p.low, p.self, p.row_i, 0.5, 1, 1e-12, n / 4, n) == place);
    }
}

static void single_ones(void **state) {
    (void)state;
    for (size_t n = 0; n < 100; n++) {
        struct problem p;
        double best = 0;
        fill(&p, n + 99);
        const size_t k = dni_smo_single(p.up, p.low, p.self, 1e-12, n);
        for (size_t i = 0; i < n; i++) {
            const double g = p.up[i] > 0 ? p.up[i] : p.low[i] < 0 ? p.low[i] : 0;
            best = fmax(best, g * g / fmax(p.self[i], 1e-12));
        }
        if (k == SIZE_MAX) {
            assert_true(best == 0);
            continue;
        }
        const double g = p.up[k] > 0 ? p.up[k] : p.low[k];
        assert_true(g * g / fmax(p.self[k], 1e-12) == best);
    }
}

static void sums_of_rows(void **state) {
    (void)state;
    for (size_t n = 0; n < 100; n++) {
        struct problem p, q;
        float row[100];
        fill(&p, n + 3);
        q = p;
        for (size_t k = 0; k < n; k++) {
            const double product = p.row_i[k] * 0.3, other = p.row_j[k] / 3;
            row[k] = (float)other;
            q.self[k] += product;
            q.self[k] += (double)row[k] * 0x1.8p-5;
        }
        dni_smo_add(p.self, p.row_i, 0.3, n);
        dni_smo_add_single(p.self, row, 0x1.8p-5, n);
        assert_memory_equal(&p, &q, sizeof p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(updates_and_extremes),
        cmocka_unit_test(partners),
        cmocka_unit_test(single_ones),
        cmocka_unit_test(sums_of_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
