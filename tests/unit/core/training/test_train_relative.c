/* Tests of the meaning of weights (dn_weights). With relative weights a common factor of all
 * weights changes no sample size: naive Bayes, shrinkage, unbiased covariances, Fisher's scores and
 * Platt's sigmoid are the same. With frequencies a row of weight 2 has the effect of two rows. */
#include "unit/core/support.h"
#include <discern/simple.h>

enum { N = 240, D = 6, K = 3 };

struct data {
    double x[N * D], y[N], weight[N], small[N];
};

/* The classes overlap; weights have the mean 1 and differ from row to row. */
static void make_data(struct data *t, size_t n_classes) {
    uint64_t state = 12345;
    double sum = 0;
    for (size_t i = 0; i < N; i++) {
        const size_t k = i % n_classes;
        t->y[i] = (double)k;
        double common = 0; /* correlates the columns */
        for (size_t j = 0; j < D; j++) {
            double u = common / 2;
            for (size_t r = 0; r < 4; r++) {
                state = state * 6364136223846793005u + 1442695040888963407u;
                u += (double)(state >> 11) * 0x1p-53 - 0.5;
            }
            common = j == 0 ? u : common;
            t->x[i * D + j] = u + 0.4 * (double)((k + j) % n_classes) - 0.3;
        }
        t->weight[i] = 1 + (double)(i % 5);
        sum += t->weight[i];
    }
    for (size_t i = 0; i < N; i++) {
        t->weight[i] *= N / sum;
        t->small[i] = t->weight[i] / 400;
    }
}

/* out [N × n_classes] ← the probabilities of the training rows. */
static void fit(const struct data *t, size_t n_classes, const char *method, const char *params,
                const double *weight, dn_weights weights, double *out) {
    dn_train_result result = {0};
    dn_error err = {0};
    const dn_array x = dn_array_doubles(t->x, N, D);
    const dn_fit_data data = {.x = x, .y = t->y, .weight = weight, .weights = weights};
    if (dn_fit_arrays(&data, method, params, NULL, &result, &err) != DN_OK) {
        fail_msg("%s %s: %s", method, params, err.message);
    }
    assert_true(n_classes <= K);
    OK(dn_model_predict_rows(result.model, &x, &(dn_prediction){.probabilities = out}, NULL, NULL));
    dn_train_result_done(&result);
}

static double largest_difference(const double *a, const double *b, size_t n) {
    double largest = 0;
    for (size_t i = 0; i < n; i++) {
        largest = fmax(largest, fabs(a[i] - b[i]));
    }
    return largest;
}

static const struct {
    size_t n_classes;
    const char *method, *params;
} fits[] = {
    {2, "least_squares", "lambda=0 calibrate=platt"},
    {3, "naive_bayes", "numeric=bernoulli smoothing=2"},

    {3, "gaussian", "shrinkage=auto"},
    {3, "gaussian", "shrinkage=auto covariance=full"},
    {3, "gaussian", "divisor=unbiased"},
    {3, "fisher", "shrinkage=auto"},
};
enum { N_FITS = sizeof fits / sizeof fits[0] };

static void factor_has_no_effect(void **state) {
    (void)state;
    struct data t;
    double a[N * K], b[N * K], c[N * K];
    for (size_t f = 0; f < N_FITS; f++) {
        const size_t n = fits[f].n_classes;
        if (strcmp(fits[f].method, "fisher") == 0) {
            continue; /* no probabilities; see below */
        }
        make_data(&t, n);
        fit(&t, n, fits[f].method, fits[f].params, t.weight, DN_WEIGHTS_RELATIVE, a);
        fit(&t, n, fits[f].method, fits[f].params, t.small, DN_WEIGHTS_RELATIVE, b);
        assert_true(largest_difference(a, b, N * n) < 1e-9);
        fit(&t, n, fits[f].method, fits[f].params, t.weight, DN_WEIGHTS_FREQUENCIES, c);
        assert_true(largest_difference(a, c, N * n) < 1e-9); /* the mean of the weights is 1 */
        if (strstr(fits[f].params, "unbiased") != NULL) {
            continue; /* Σv < K: an error */
        }
        fit(&t, n, fits[f].method, fits[f].params, t.small, DN_WEIGHTS_FREQUENCIES, c);
        assert_true(largest_difference(a, c, N * n) > 1e-3);
    }
}

/* The scores of three classes are those of the same rows with a common factor of the weights. */
static void fisher_scores(void **state) {
    (void)state;
    struct data t;
    double scores[2][N * K];
    make_data(&t, K);
    const dn_array x = dn_array_doubles(t.x, N, D);
    for (size_t way = 0; way < 2; way++) {
        dn_train_result result = {0};
        const dn_fit_data data = {.x = x, .y = t.y, .weight = way == 0 ? t.weight : t.small};
        OK(dn_fit_arrays(&data, "fisher", "shrinkage=auto", NULL, &result, NULL));
        OK(dn_model_predict_rows(result.model, &x, &(dn_prediction){.scores = scores[way]}, NULL,
                                 NULL));
        dn_train_result_done(&result);
    }
    assert_true(largest_difference(scores[0], scores[1], N * K) < 1e-9);
    dn_error err = {0};
    dn_train_result result = {0};
    const dn_fit_data small = {.x = x,
                               .y = t.y,
                               .weight = t.small,
                               .weights = DN_WEIGHTS_FREQUENCIES};
    assert_int_equal(dn_fit_arrays(&small, "fisher", NULL, NULL, &result, &err), DN_ERR_DATA);
    assert_non_null(strstr(err.message, "(got 0.6)"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factor_has_no_effect),
        cmocka_unit_test(fisher_scores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
