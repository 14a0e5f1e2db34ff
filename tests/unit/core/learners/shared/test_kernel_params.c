/* Kernel parameters, on an algorithm that has no others: which parameter belongs to which kernel,
 * the requirements on a covariance, and those on the columns of a precomputed kernel. */
#include "learners/shared/kernel_params.h"
#include "unit/core/support.h"

static const dn_param table[] = {DNI_PARAMS_KERNEL("linear")};
static const dn_algorithm kernels = {.id = "kernels",
                                     .params = table,
                                     .n_params = sizeof table / sizeof table[0],
                                     .applies = dni_kernel_param_applies};

static dn_params *with_kernel(const char *kernel) {
    dn_params *p;
    OK(dn_params_new(&kernels, &p, NULL));
    OK(dn_params_set_word(p, "kernel", kernel, NULL));
    return p;
}

static void refused(dn_status status, const dn_error *err, const char *field, const char *words) {
    assert_int_equal(status, DN_ERR_ARGUMENT);
    assert_string_equal(err->field, field);
    if (strstr(err->message, words) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", words, err->message);
    }
}

static void members_belong(void **state) {
    (void)state;
    const struct {
        const char *kernel, *has;
    } rows[] = {{"linear", "kernel kernel.normalize"},
                {"polynomial", "kernel kernel.gamma kernel.coef0 kernel.degree kernel.normalize"},
                {"rbf", "kernel kernel.width kernel.normalize"},
                {"sigmoid", "kernel kernel.coef0 kernel.scale kernel.normalize"},
                {"mahalanobis", "kernel kernel.covariance kernel.normalize"},
                {"distance", "kernel kernel.width kernel.metric kernel.normalize"},
                {"shared_words", "kernel kernel.normalize"},
                {"shared_paths", "kernel kernel.length kernel.normalize"},
                {"precomputed", "kernel"}};
    for (size_t i = 0; dni_kernel_types[i] != NULL; i++) {
        char has[200] = "";
        dn_params *p = with_kernel(rows[i].kernel);
        for (size_t k = 0; k < kernels.n_params; k++) {
            if (dn_params_applies(p, k)) {
                strcat(has, has[0] == '\0' ? "" : " ");
                strcat(has, table[k].name);
            }
        }
        assert_string_equal(dni_kernel_types[i], rows[i].kernel);
        assert_string_equal(has, rows[i].has);
        dn_params_free(p);
    }
}

static void a_covariance_is_square_symmetric_and_definite(void **state) {
    (void)state;
    const double good[] = {2, 1, 1, 2}, crooked[] = {2, 1, 0.5, 2}, flat[] = {1, 2, 2, 1},
                 nothing[] = {0, 0, 0, 0}, one[] = {4};
    dn_params *p = with_kernel("mahalanobis");
    dn_error err;
    /* The covariance is estimated. */
    OK(dni_kernel_params_shape(p, 7, NULL));
    OK(dn_params_set_list(p, "kernel.covariance", good, 4, NULL));
    OK(dni_kernel_params_shape(p, 2, NULL));
    dn_error_clear(&err);
    refused(dni_kernel_params_shape(p, 3, &err), &err, "kernel.covariance",
            "must have 3 rows of 3 numbers, a row for each feature (got 4 numbers in all)");
    OK(dn_params_set_list(p, "kernel.covariance", crooked, 4, NULL));
    dn_error_clear(&err);
    refused(dni_kernel_params_shape(p, 2, &err), &err, "kernel.covariance",
            "row 2 column 1 is 0.5, row 1 column 2 is 1");
    const double *const singular[] = {flat, nothing};
    for (size_t i = 0; i < 2; i++) {
        OK(dn_params_set_list(p, "kernel.covariance", singular[i], 4, NULL));
        dn_error_clear(&err);
        refused(dni_kernel_params_shape(p, 2, &err), &err, "kernel.covariance",
                "must be positive definite");
    }
    OK(dn_params_set_list(p, "kernel.covariance", one, 1, NULL));
    OK(dni_kernel_params_shape(p, 1, NULL));
    /* A kernel without a covariance ignores the list. */
    OK(dn_params_set_word(p, "kernel", "rbf", NULL));
    OK(dni_kernel_params_shape(p, 5, NULL));
    dn_params_free(p);
}

static void a_list_has_room_for_256_features(void **state) {
    (void)state;
    enum { D = 256 };
    double *s = xcalloc(D * D + 1, sizeof *s);
    dn_params *p = with_kernel("mahalanobis");
    dn_error err;
    for (size_t i = 0; i < D; i++) {
        s[i * D + i] = 1 + (double)i;
    }
    OK(dn_params_set_list(p, "kernel.covariance", s, D * D, NULL));
    OK(dni_kernel_params_shape(p, D, NULL));
    dn_error_clear(&err);
    refused(dn_params_set_list(p, "kernel.covariance", s, D * D + 1, &err), &err,
            "kernel.covariance", "must have 1 to 65536 numbers (got 65537)");
    dn_params_free(p);
    free(s);
}

static void a_precomputed_kernel_has_a_column_for_each_row(void **state) {
    (void)state;
    const dn_table_column columns[] = {{.name = "a", .type = DN_NUMERIC},
                                       {.name = "kind", .type = DN_CATEGORICAL},
                                       {.name = "b", .type = DN_NUMERIC},
                                       {.name = "yes", .type = DN_BOOLEAN}};
    const size_t numbers[] = {0, 2}, both[] = {2, 1}, boolean[] = {0, 3};
    const dn_basis_spec basis = {.kind = DN_BASIS_POLYNOMIAL, .degree = 2};
    dn_encoder_spec spec = {.columns = numbers,
                            .n_columns = 2,
                            .standardize = true,
                            .standardize_sparse = true,
                            .missing_indicator = true};
    dn_error err;
    OK(dni_precomputed_encoding(columns, 2, &spec, NULL));
    assert_false(spec.standardize || spec.standardize_sparse || spec.missing_indicator);
    assert_int_equal(spec.missing_number, DN_MISSING_NONE);
    OK(dni_precomputed_encoding(columns, 2, &spec, NULL)); /* accepts its own result */
    dn_error_clear(&err);
    refused(dni_precomputed_encoding(columns, 3, &spec, &err), &err, "kernel",
            "a precomputed kernel needs as many columns as rows: 3 rows, 2 columns");
    spec.columns = both;
    dn_error_clear(&err);
    refused(dni_precomputed_encoding(columns, 2, &spec, &err), &err, "kind",
            "column \"kind\" is categorical");
    spec.columns = boolean;
    dn_error_clear(&err);
    refused(dni_precomputed_encoding(columns, 2, &spec, &err), &err, "yes",
            "column \"yes\" is boolean");
    spec.columns = numbers;
    spec.bases = &basis;
    spec.n_bases = 1;
    dn_error_clear(&err);
    refused(dni_precomputed_encoding(columns, 2, &spec, &err), &err, "basis", "has no basis");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_belong),
        cmocka_unit_test(a_covariance_is_square_symmetric_and_definite),
        cmocka_unit_test(a_list_has_room_for_256_features),
        cmocka_unit_test(a_precomputed_kernel_has_a_column_for_each_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
