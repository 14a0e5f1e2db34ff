/* Compares the innermost loops, in each version that this processor can run, with plain loops, and
 * checks that lanes are independent. */
#include "unit/core/kernels/plain.h"

#include "kernels/lanes.h"

enum { D = 131 };

static double panel[D * DNI_PANEL], group[D * DNI_GROUP];
static float panel_single[D * DNI_PANEL], group_single[D * DNI_GROUP];

static void make(void) {
    dni_random random;
    dni_random_init(&random, 3, 0);
    for (size_t i = 0; i < D * DNI_PANEL; i++) {
        panel_single[i] = (float)(panel[i] = dni_random_uniform(&random, -1, 1));
    }
    for (size_t i = 0; i < D * DNI_GROUP; i++) {
        group_single[i] = (float)(group[i] = dni_random_uniform(&random, -1, 1));
    }
}

static double plain_measure(dni_form form, size_t d, size_t l, size_t q) {
    double sum = 0;
    for (size_t k = 0; k < d; k++) {
        double x = panel[k * DNI_PANEL + l], z = group[k * DNI_GROUP + q];
        sum = form == DNI_FORM_PRODUCT     ? sum + x * z
              : form == DNI_FORM_SQUARE    ? sum + (x - z) * (x - z)
              : form == DNI_FORM_MANHATTAN ? sum + fabs(x - z)
                                           : fmax(sum, fabs(x - z));
    }
    return sum;
}

/* Checks bit for bit that the values of the first queries do not depend on the number of queries,
 * and that `square` of a row is the product of the row with itself. */
static void check_measures(const dni_lanes *lanes, dni_form form, size_t d) {
    double all[DNI_GROUP * DNI_PANEL], some[DNI_GROUP * DNI_PANEL];
    for (size_t n = DNI_GROUP; n > 0; n--) {
        if (form == DNI_FORM_PRODUCT) {
            lanes->products(panel, group, 0, d, n, some);
        } else {
            lanes->distances(form, panel, group, 0, d, n, some);
        }
        if (n == DNI_GROUP) {
            memcpy(all, some, sizeof all);
        }
        assert_memory_equal(all, some, n * DNI_PANEL * sizeof *all);
    }
    for (size_t q = 0; q < DNI_GROUP; q++) {
        for (size_t l = 0; l < DNI_PANEL; l++) {
            assert_value(all[q * DNI_PANEL + l], plain_measure(form, d, l, q), 1, 1e-13);
        }
    }
    if (form != DNI_FORM_PRODUCT) {
        return;
    }
    for (size_t k = 0; k < d * DNI_GROUP; k++) {
        group[k] = panel[k / DNI_GROUP * DNI_PANEL + 5 * k % DNI_GROUP];
    }
    lanes->products(panel, group, 0, d, DNI_GROUP, all);
    for (size_t q = 0; q < DNI_GROUP; q++) {
        assert_true(lanes->square(panel + 5 * q % DNI_GROUP, d, DNI_PANEL) ==
                    all[q * DNI_PANEL + 5 * q % DNI_GROUP]);
    }
    make();
}

static void check_singles(const dni_lanes *lanes, size_t d) {
    double all[DNI_GROUP * DNI_PANEL], some[DNI_GROUP * DNI_PANEL];
    for (size_t n = DNI_GROUP; n > 0; n--) {
        lanes->products_single(panel_single, group_single, 0, d, n, some);
        if (n == DNI_GROUP) {
            memcpy(all, some, sizeof all);
        }
        assert_memory_equal(all, some, n * DNI_PANEL * sizeof *all);
    }
    for (size_t q = 0; q < DNI_GROUP; q++) {
        for (size_t l = 0; l < DNI_PANEL; l++) {
            assert_value(all[q * DNI_PANEL + l], plain_measure(DNI_FORM_PRODUCT, d, l, q), 1, 2e-6);
        }
    }
    for (size_t k = 0; k < d; k++) {
        for (size_t q = 0; q < DNI_GROUP; q++) {
            group_single[k * DNI_GROUP + q] = panel_single[k * DNI_PANEL + 5 * q % DNI_PANEL];
        }
    }
    lanes->products_single(panel_single, group_single, 0, d, DNI_GROUP, all);
    for (size_t q = 0; q < DNI_GROUP; q++) {
        assert_true(lanes->square_single(panel_single + 5 * q % DNI_PANEL, d, DNI_PANEL) ==
                    all[q * DNI_PANEL + 5 * q % DNI_PANEL]);
    }
    make();
}

static void measures(void **state) {
    (void)state;
    make();
    for (size_t m = 0; dni_lanes_version(m) != NULL; m++) {
        for (size_t d = 0; d <= D; d += d < 3 ? 1 : 64) {
            check_measures(dni_lanes_version(m), DNI_FORM_PRODUCT, d);
            check_measures(dni_lanes_version(m), DNI_FORM_SQUARE, d);
            check_measures(dni_lanes_version(m), DNI_FORM_MANHATTAN, d);
            check_measures(dni_lanes_version(m), DNI_FORM_CHEBYSHEV, d);
            check_singles(dni_lanes_version(m), d);
        }
    }
}

static void exponentials(void **state) {
    (void)state;
    enum { N = 20005 };
    static double t[N], value[N];
    static float single[N];
    dni_random random;
    dni_random_init(&random, 3, 0);
    for (size_t i = 0; i < N; i++) {
        t[i] = i % 3 == 0   ? dni_random_uniform(&random, 0, 1)
               : i % 3 == 1 ? dni_random_uniform(&random, 0, 708)
                            : ldexp(1, -(int)(i % 80));
    }
    t[0] = 0;
    for (size_t m = 0; dni_lanes_version(m) != NULL; m++) {
        memcpy(value, t, sizeof t);
        dni_lanes_version(m)->exponentials(value, N);
        dni_lanes_version(m)->exponentials_single(t, N, single);
        assert_true(value[0] == 1 && single[0] == 1);
        for (size_t i = 0; i < N; i++) {
            double truth = exp(-t[i]), truth_single = exp(-(double)(float)t[i]), one = truth;
            assert_true(fabs(value[i] - truth) <= 2 * 0x1p-52 * truth);
            assert_true(t[i] > 87
                            ? single[i] < 2e-38F
                            : fabs((double)single[i] - truth_single) <= 2 * 0x1p-23 * truth_single);
            one = t[i];
            dni_lanes_version(m)->exponentials(
                &one, 1); /* one value alone equals the same value in a vector */
            assert_true(one == value[i]);
        }
        double far[] = {709, 1e5, 1e300, (double)INFINITY, (double)NAN};
        float far_single[5];
        dni_lanes_version(m)->exponentials_single(far, 5, far_single);
        dni_lanes_version(m)->exponentials(far, 5);
        for (size_t i = 0; i < 5; i++) {
            assert_true(far[i] == 0 && far_single[i] == 0);
        }
    }
}

static void expands(void **state) {
    (void)state;
    double square[37];
    for (size_t m = 0; dni_lanes_version(m) != NULL; m++) {
        double t[37];
        for (size_t i = 0; i < 37; i++) {
            square[i] = (double)i;
            t[i] = 3;
        }
        t[36] = (double)NAN;
        dni_lanes_version(m)->expand(t, square, 1, 37);
        for (size_t i = 0; i < 36; i++) {
            assert_true(t[i] == (i < 5 ? 0 : (double)i - 5));
        }
        assert_true(isnan(t[36]));
    }
}

static void counts(void **state) {
    (void)state;
    enum { N = 67, WORDS = 3 };
    uint64_t x[WORDS], points[N * WORDS];
    double table[64 * WORDS + 1], out[N];
    float table_single[64 * WORDS + 1], out_single[N];
    dni_random random;
    dni_random_init(&random, 3, 0);
    for (size_t i = 0; i < N * WORDS; i++) {
        points[i] =
            dni_random_next(&random) & (i % 4 == 0 ? ~(uint64_t)0 : dni_random_next(&random));
    }
    points[0] = points[1] = ~(uint64_t)0;
    memcpy(x, points + 9, sizeof x);
    for (size_t i = 0; i <= 64 * WORDS; i++) {
        table_single[i] = (float)(table[i] = (double)i + 0.5);
    }
    for (size_t m = 0; dni_lanes_version(m) != NULL; m++) {
        for (size_t words = 1; words <= WORDS; words++) {
            for (int differences = 0; differences < 2; differences++) {
                dni_lanes_version(m)->counts(differences, x, points, words, N, table, out);
                dni_lanes_version(m)->counts_single(differences, x, points, words, N, table_single,
                                                    out_single);
                for (size_t j = 0; j < N; j++) {
                    size_t n = 0;
                    for (size_t w = 0; w < words; w++) {
                        for (size_t b = 0; b < 64; b++) {
                            unsigned p = x[w] >> b & 1, q = points[j * words + w] >> b & 1;
                            n += differences ? p != q : p & q;
                        }
                    }
                    assert_true(out[j] == (double)n + 0.5 && (double)out_single[j] == out[j]);
                }
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measures),
        cmocka_unit_test(exponentials),
        cmocka_unit_test(expands),
        cmocka_unit_test(counts),
    };
    return cmocka_run_group_tests_name("lanes", tests, NULL, NULL);
}
