/* A w = ρ B w, checked by residuals, for few and many rows, with eigenvalues that are 0 and of very
 * different size. */
#include "unit/core/support.h"

#include "linalg/cholesky.h"
#include "linalg/generalised.h"
#include "linalg/vector.h"

enum { D = 20, MOST = 30 };

static void make(size_t k, double *b, double *m) {
    for (size_t i = 0; i < D; i++) {
        for (size_t j = 0; j <= i; j++) {
            b[i * D + j] = b[j * D + i] =
                (i == j ? 3 : 0) + 0.1 * cos((double)(i * j)) + (i == j + 1 ? 1 : 0);
        }
    }
    uint64_t state = 99;
    for (size_t i = 0; i < k; i++) {
        for (size_t j = 0; j < D; j++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            m[i * D + j] = ((double)(state >> 11) * 0x1p-53 - 0.5) * pow(0.3, (double)(i % 8));
        }
    }
}

static double form(const double *matrix, const double *x, const double *y) {
    double sum = 0;
    for (size_t i = 0; i < D; i++) {
        sum += x[i] * dni_dot(matrix + i * D, y, D);
    }
    return sum;
}

static void eigenvectors(void **state) {
    (void)state;
    static double b[D * D], l[D * D], a[D * D], m[MOST * D];
    const size_t rows[] = {1, 2, 7, MOST};
    dn_run run = dn_run_default();
    for (size_t t = 0; t < 4; t++) {
        size_t k = rows[t];
        double values[MOST];
        bool definite;
        make(k, b, m);
        if (k == 7) {
            for (size_t j = 0; j < D; j++) {
                m[6 * D + j] = m[j] - 2 * m[3 * D + j]; /* rank 6 */
            }
        }
        memset(a, 0, sizeof a);
        for (size_t r = 0; r < k; r++) {
            for (size_t i = 0; i < D; i++) {
                dni_axpy(m[r * D + i], m + r * D, a + i * D, D);
            }
        }
        memcpy(l, b, sizeof l);
        OK(dni_cholesky(&run, l, D, &definite, NULL));
        assert_true(definite);
        OK(dni_generalised_eigen(&run, l, D, m, k, values, NULL));
        size_t rank = k == 7 ? 6 : k < D ? k : D;
        for (size_t i = 0; i < k; i++) {
            assert_true(i == 0 || values[i] <= values[i - 1]);
            assert_true(i < rank ? values[i] > 1e-16 * values[0] : values[i] < 1e-26 * values[0]);
            if (i >= rank) {
                continue;
            }
            double left[D], right[D];
            for (size_t j = 0; j < D; j++) {
                left[j] = dni_dot(a + j * D, m + i * D, D);
                right[j] = values[i] * dni_dot(b + j * D, m + i * D, D);
            }
            for (size_t j = 0; j < D; j++) {
                assert_true(fabs(left[j] - right[j]) < 1e-12 * values[0]);
            }
            for (size_t j = 0; j <= i; j++) {
                assert_true(fabs(form(b, m + i * D, m + j * D) - (i == j)) < 1e-10);
            }
        }
    }
}

static void ends(void **state) {
    (void)state;
    static double b[D * D], m[MOST * D];
    double values[MOST];
    bool definite;
    struct polls polls = {0};
    dn_run run = polls_run(&polls);
    make(MOST, b, m);
    OK(dni_cholesky(&run, b, D, &definite, NULL));
    polls = (struct polls){0};
    OK(dni_generalised_eigen(&run, b, D, m, MOST, values, NULL));
    size_t n_polls = polls.n;
    assert_true(n_polls > MOST); /* at least one poll for each row of a sweep */
    for (size_t at = 1; at <= n_polls; at += 13) {
        static double spoilt[D * D];
        polls = (struct polls){.stop_at = at};
        make(MOST, spoilt, m);
        assert_int_equal(dni_generalised_eigen(&run, b, D, m, MOST, values, NULL), DN_ERR_STOPPED);
    }
    polls = (struct polls){0};
    m[0] = (double)INFINITY;
    assert_int_equal(dni_generalised_eigen(&run, b, D, m, 3, values, NULL), DN_ERR_NUMERIC);
    memset(m, 0, sizeof m);
    OK(dni_generalised_eigen(&run, b, D, m, 3, values, NULL));
    assert_true(values[0] == 0 && dni_max_abs(m, (size_t)3 * D) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(eigenvectors), cmocka_unit_test(ends)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
