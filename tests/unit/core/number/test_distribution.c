/* Distribution functions against 40-digit values of mpmath (betainc, gammainc, erfc). */
#include "number/distribution.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void expect_within(double value, double wanted, double error) {
    if (!(fabs(value - wanted) <= error * fabs(wanted))) {
        fail_msg("%.17g instead of %.17g", value, wanted);
    }
}

static void expect(double value, double wanted) {
    expect_within(value, wanted, 1e-11);
}

static void test_normal(void **state) {
    (void)state;
    static const double cases[][2] = {
        {0, 1.0},
        {1e-8, 0.99999999202115439},
        {0.5, 0.61707507745197379},
        {1.96, 0.049995790296440868},
        {6, 1.9731752900753963e-9},
        {30, 9.8134278542963741e-198},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        expect(dni_normal_two_sided(cases[i][0]), cases[i][1]);
        expect(dni_normal_two_sided(-cases[i][0]), cases[i][1]);
    }
}

static void test_student(void **state) {
    (void)state;
    static const double cases[][3] = {
        {1e-6, 3, 0.9999992648948061},
        {0.5, 0.5, 0.75731807292943663},
        {1, 1, 0.5},
        {2.5, 7, 0.040992218585752897},
        {-2.5, 30, 0.018115649068066694},
        {12, 100, 4.3950877156043781e-21},
        {1000, 2, 9.999985000025e-7},
        {4, 1e6, 6.3347034010048105e-5},
        {1e150, 1, 6.3661977236758134e-151},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        expect_within(dni_student_two_sided(cases[i][0], cases[i][1]), cases[i][2],
                      cases[i][1] > 1e5 ? 1e-10 : 1e-11);
    }
    expect(dni_student_two_sided(2, (double)INFINITY), dni_normal_two_sided(2));
    expect(dni_student_two_sided(0, 4), 1);
    expect(dni_student_two_sided((double)INFINITY, 4), 0);
}

static void test_f(void **state) {
    (void)state;
    static const double cases[][4] = {
        {1e-5, 1, 40, 0.9974925905311},
        {0.1, 5, 3, 0.98511147427620834},
        {1, 50, 50, 0.5},
        {1.5, 2, 147, 0.22652522132326352},
        {10, 4, 1000, 6.1566256417620913e-8},
        {200, 1, 1, 0.044941013726514094},
        {2, 50, 100000, 3.4790835357869738e-5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        expect(dni_f_upper(cases[i][0], cases[i][1], cases[i][2]), cases[i][3]);
    }
    expect(dni_f_upper(0, 2, 3), 1);
    expect(dni_f_upper((double)INFINITY, 2, 3), 0);
    double t = 0.25;
    for (int i = 0; i < 9; i++, t *= 2) { /* F(1, n) is the square of Student's t */
        expect(dni_f_upper(t * t, 1, 17), dni_student_two_sided(t, 17));
    }
}

static void test_chi_squared(void **state) {
    (void)state;
    static const double cases[][3] = {
        {1e-5, 1, 0.9974768716831944},     {0.5, 2, 0.77880078307140487},
        {3.84, 1, 0.050043521248705099},   {40, 5, 1.4933679000503952e-7},
        {1900, 2000, 0.94494531376926197}, {2300, 2000, 2.8737760603923576e-6},
        {700, 3, 2.0991308534204088e-151},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        expect(dni_chi_squared_upper(cases[i][0], cases[i][1]), cases[i][2]);
    }
    expect(dni_chi_squared_upper(0, 3), 1);
    expect(dni_chi_squared_upper((double)INFINITY, 3), 0);
}

static void test_quantiles(void **state) {
    (void)state;
    static const double cases[][3] = {
        {0.5, (double)INFINITY, 0.67448975019608174},
        {0.5, 1, 1.0},
        {0.5, 2, 0.81649658092772603},
        {0.5, 7, 0.71114177808178631},
        {0.5, 100, 0.67695104301147148},
        {0.5, 100000, 0.67449220355329221},
        {0.95, (double)INFINITY, 1.9599639845400539},
        {0.95, 1, 12.706204736174693},
        {0.95, 2, 4.3026527297494618},
        {0.95, 7, 2.3646242515927847},
        {0.95, 100, 1.9839715185235519},
        {0.95, 100000, 1.9599877075346093},
        {0.999, (double)INFINITY, 3.2905267314918945},
        {0.999, 1, 636.61924876871905},
        {0.999, 2, 31.599054576443607},
        {0.999, 7, 5.4078825208617244},
        {0.999, 100, 3.3904913111642296},
        {0.999, 100000, 3.2906240314118824},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        expect(dni_student_quantile(cases[i][0], cases[i][1]), cases[i][2]);
    }
    expect(dni_normal_quantile(0.95), 1.9599639845400539);
}

static void test_invalid(void **state) {
    (void)state;
    const double nan = (double)NAN;
    assert_true(isnan(dni_normal_two_sided(nan)));
    assert_true(isnan(dni_student_two_sided(nan, 3)));
    assert_true(isnan(dni_student_two_sided(1, 0)));
    assert_true(isnan(dni_student_two_sided(1, nan)));
    assert_true(isnan(dni_f_upper(nan, 3, 3)));
    assert_true(isnan(dni_f_upper(1, 0, 3)));
    assert_true(isnan(dni_f_upper(1, 3, -1)));
    assert_true(isnan(dni_chi_squared_upper(nan, 3)));
    assert_true(isnan(dni_chi_squared_upper(1, 0)));
    assert_true(isnan(dni_student_quantile(1, 3)));
    assert_true(isnan(dni_student_quantile(0, 3)));
    assert_true(isnan(dni_student_quantile(nan, 3)));
    assert_true(isnan(dni_student_quantile(0.5, 0)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_normal),    cmocka_unit_test(test_student),
        cmocka_unit_test(test_f),         cmocka_unit_test(test_chi_squared),
        cmocka_unit_test(test_quantiles), cmocka_unit_test(test_invalid),
    };
    return cmocka_run_group_tests_name("distributions", tests, NULL, NULL);
}
