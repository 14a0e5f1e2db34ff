/* The estimated memory of a fit against the memory that the fit allocates. */
#include "unit/core/learners/estimates.h"

static void test_estimates_are_close(void **state) {
    (void)state;
    static const char *const words[] = {
        "",
        "smoothing=0.5",
    };
    assert_estimates("naive_bayes", words, sizeof words / sizeof words[0], 3);
}

/* A fit to word counts has no Gaussian feature and allocates no scatter. The estimate includes no
 * scatter. */
static void test_estimate_of_words_has_no_scatter(void **state) {
    (void)state;
    enum { N = 9000, D = 2000, WORDS = 4 };
    size_t *start = xcalloc(N + 1, sizeof *start);
    uint32_t *cols = xcalloc(N * WORDS, sizeof *cols);
    double *values = xcalloc(N * WORDS, sizeof *values), *target = xcalloc(N, sizeof *target);
    for (size_t i = 0; i < N; i++) {
        for (size_t e = 0; e < WORDS; e++) {
            cols[i * WORDS + e] = (uint32_t)(e * (D / WORDS) + i * (e + 1) % (D / WORDS));
            values[i * WORDS + e] = 1;
        }
        start[i + 1] = (i + 1) * WORDS;
        target[i] = (double)(i % 3);
    }
    dn_rows *rows;
    OK(dn_rows_from_matrix(dn_matrix_csr(start, cols, values, N, D), target, NULL, &rows, NULL));
    dn_params *p = params_of_words("naive_bayes", "numeric=multinomial");
    assert_estimate(rows, 3, (double)start[N], true, p, "words");
    dn_params_free(p);
    dn_rows_free(rows);
    free(start);
    free(cols);
    free(values);
    free(target);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_estimates_are_close),
                                       cmocka_unit_test(test_estimate_of_words_has_no_scatter)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
