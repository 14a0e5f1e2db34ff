/* Tests of parameters. Every default satisfies the rule of its parameter. Messages of all rules,
 * and suggestions for misspelled words. */
#include "unit/core/support.h"

static void catalogue_is_complete(void **state) {
    (void)state;
    assert_true(dn_algorithm_count() >= 1);
    assert_null(dn_algorithm_find("astrology"));
    assert_null(dn_algorithm_find(""));
    for (size_t i = 0; i < dn_algorithm_count(); i++) {
        const dn_algorithm *a = dn_algorithm_at(i);
        assert_ptr_equal(dn_algorithm_find(a->id), a);
        assert_non_null(a->title);
        assert_non_null(a->summary);
        assert_non_null(a->source);
        assert_non_null(a->stopping_rule);
        assert_non_null(a->fit);
        assert_non_null(a->memory);
        dn_params *p;
        OK(dn_params_new(a, &p, NULL));
        OK(dn_params_check(p, NULL));
        for (size_t k = 0; k < a->n_params; k++) {
            const dn_param *param = &a->params[k];
            assert_non_null(param->meaning);
            if (param->type == DN_PARAM_CHOICE) {
                OK(dn_params_set_word(p, param->name, dn_params_word(p, param->name), NULL));
                for (size_t c = 0; param->choices[c] != NULL; c++) {
                    assert_non_null(param->choice_meanings[c]);
                }
            } else if (param->type == DN_PARAM_LIST) {
                const double shares[] = {0.25, 0.25, 0.5}, numbers[] = {1, 2, 3};
                size_t n;
                OK(dn_params_set_list(p, param->name, param->distribution ? shares : numbers, 3,
                                      NULL));
                assert_true(dn_params_list(p, param->name, &n) != NULL && n == 3);
                if (param->distribution) {
                    OK(dn_params_check_classes(p, 3, NULL));
                    assert_int_equal(dn_params_check_classes(p, 2, NULL), DN_ERR_ARGUMENT);
                }
                for (size_t c = 0; param->choices != NULL && param->choices[c] != NULL; c++) {
                    OK(dn_params_set_word(p, param->name, param->choices[c], NULL));
                }
            } else if (param->type != DN_PARAM_BOOLEAN) {
                OK(dn_params_set_number(
                    p, param->name, param->default_number,
                    NULL)); /* the default number of "auto" parameters is valid */
                assert_true(param->default_choice == NULL ||
                            strcmp(param->default_choice, param->word) == 0);
            }
        }
        dn_params_free(p);
    }
}

static void refused(dn_status status, const dn_error *err, const char *field, const char *words) {
    assert_int_equal(status, DN_ERR_ARGUMENT);
    assert_string_equal(err->field, field);
    if (strstr(err->message, words) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", words, err->message);
    }
}

static void rules_are_said(void **state) {
    (void)state;
    dn_params *p;
    OK(dn_params_new(dn_algorithm_find("logistic"), &p, NULL));
    dn_error err;
#define REFUSED(call, field, words)                                                                \
    do {                                                                                           \
        dn_error_clear(&err);                                                                      \
        refused(call, &err, field, words);                                                         \
    } while (0)
    REFUSED(dn_params_set_number(p, "lambda", -1, &err), "lambda",
            "parameter \"lambda\" must be a finite number >= 0");
    REFUSED(dn_params_set_number(p, "lambda", -1, &err), "lambda", "(got -1)");
    REFUSED(dn_params_set_number(p, "lambda", (double)NAN, &err), "lambda", "finite");
    REFUSED(dn_params_set_number(p, "lambda", (double)INFINITY, &err), "lambda", "finite");
    REFUSED(dn_params_set_word(p, "lambda", "automatic", &err), "lambda",
            "must be a finite number >= 0 or \"auto\" (got \"automatic\")");
    REFUSED(dn_params_set_boolean(p, "lambda", true, &err), "lambda", "(got true)");
    REFUSED(dn_params_set_number(p, "tolerance", -1e-9, &err), "tolerance",
            "must be a finite number >= 0 or \"auto\" (got -1e-9)");
    REFUSED(dn_params_set_number(p, "batch_size", 2.5, &err), "batch_size",
            "an integer >= 1 and <= 4096");
    REFUSED(dn_params_set_number(p, "batch_size", 5000, &err), "batch_size", "(got 5000)");
    REFUSED(dn_params_set_word(p, "solver", "magic", &err), "solver",
            "one of auto, newton, lbfgs, gradient_descent, sgd");
    REFUSED(dn_params_set_word(p, "penalty", "l0", &err), "penalty",
            "one of none, l2, l1, elastic_net");
    REFUSED(dn_params_set_word(p, "penalty", "l0", &err), "penalty", "(got \"l0\")");
    REFUSED(dn_params_set_word(p, "penalty", "Elastic-Net ", &err), "penalty",
            "(got \"Elastic-Net \"; did you mean elastic_net)");
    REFUSED(dn_params_set_word(p, "penalty", "elastc_net", &err), "penalty",
            "did you mean elastic_net");
    REFUSED(dn_params_set_word(p, "solver", "newotn", &err), "solver", "did you mean newton");
    REFUSED(dn_params_set_word(p, "multiclass", "one_vs_rest_stric", &err), "multiclass",
            "did you mean one_vs_rest_strict)");
    REFUSED(dn_params_set_word(p, "multiclass", "OneVsOneStrickt", &err), "multiclass",
            "did you mean one_vs_one_strict)");
    REFUSED(dn_params_set_word(p, "multiclass", "one_vs", &err), "multiclass", "(got \"one_vs\")");
    REFUSED(dn_params_set_word(p, "solver", "grad", &err), "solver",
            "did you mean gradient_descent");
    REFUSED(dn_params_set_word(p, "solver", "newton_cholesky", &err), "solver",
            "did you mean newton");
    REFUSED(dn_params_set_word(p, "solver", "nevvton", &err), "solver", "(got \"nevvton\")");
    REFUSED(dn_params_set_word(p, "solver", "", &err), "solver", "(got \"\")");
    REFUSED(dn_params_set_number(p, "init", 3, &err), "init", "(got 3, which is not a list)");
    REFUSED(dn_params_set_number(p, "solver", 1, &err), "solver", "one of");
    REFUSED(dn_params_set_number(p, "gamma", 1, &err), "gamma",
            "has no parameter \"gamma\"; it has solver");
    REFUSED(dn_params_set_word(p, "", "x", &err), "", "has no parameter");
    assert_int_equal(err.row, -1);
    const double list[] = {1, 2, (double)NAN};
    REFUSED(dn_params_set_list(p, "init", list, 3, &err), "init", "at index 2");
    assert_int_equal(err.row, 2);
    assert_string_equal(dn_params_word(p, "lambda"),
                        "auto"); /* the refused values changed nothing */
    assert_string_equal(dn_params_word(p, "solver"), "auto");
    assert_string_equal(dn_params_word(p, "tolerance"), "auto");

    OK(dn_params_set_number(p, "learning_rate", 0.5, NULL));
    REFUSED(dn_params_check(p, &err), "learning_rate", "gradient_descent");
    OK(dn_params_set_word(p, "solver", "sgd", NULL));
    OK(dn_params_check(p, NULL));
    assert_null(dn_params_word(p, "learning_rate"));
    OK(dn_params_set_word(p, "learning_rate", "auto", NULL));
    assert_string_equal(dn_params_word(p, "learning_rate"), "auto");

    dn_params *copy;
    OK(dn_params_copy(p, &copy, NULL));
    OK(dn_params_set_number(copy, "lambda", 7, NULL));
    assert_string_equal(dn_params_word(p, "lambda"), "auto");
    assert_true(dn_params_word(copy, "lambda") == NULL && dn_params_number(copy, "lambda") == 7);
    assert_string_equal(dn_params_word(copy, "solver"), "sgd");
    dn_params_free(copy);
    dn_params_free(p);
    dn_params_free(NULL);
}

/* The message recommends only parameters that the algorithm has. */
static void too_many_pairs(void **state) {
    (void)state;
    dn_params *svm, *logistic;
    dn_error err;
    OK(dn_params_new(dn_algorithm_find("svm"), &svm, NULL));
    OK(dn_params_new(dn_algorithm_find("logistic"), &logistic, NULL));
    OK(dn_params_set_word(logistic, "multiclass", "one_vs_one", NULL));
    OK(dn_params_check_classes(svm, 141, NULL));
    REFUSED(dn_params_check_classes(svm, 142, &err), "multiclass",
            "10011 machines of two classes for 142 classes, but at most 10000");
    REFUSED(dn_params_check_classes(svm, 142, &err), "multiclass", "are allowed: use one_vs_rest");
    REFUSED(dn_params_check_classes(logistic, 142, &err), "multiclass",
            "are allowed: use softmax or one_vs_rest");
    dn_params_free(svm);
    dn_params_free(logistic);
}

static void report_keeps_its_limits(void **state) {
    (void)state;
    dn_report report = {0};
    for (int i = 0; i < 100; i++) {
        dn_report_warn(&report, DN_WARNING_OTHER, "warning %d", i);
        dn_report_number(&report, "number", i);
        dn_report_text(
            &report,
            "a name much longer than the room there is for names of details, as it happens",
            "%01000d", i);
    }
    assert_int_equal(report.n_warnings, DN_MAX_WARNINGS);
    assert_int_equal(report.n_details, DN_MAX_DETAILS);
    assert_string_equal(report.warnings[DN_MAX_WARNINGS - 1].text, "warning 15");
    assert_int_equal(strlen(report.details[1].name), sizeof report.details[1].name - 1);
    assert_int_equal(strlen(report.details[1].text), sizeof report.details[1].text - 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(catalogue_is_complete),
        cmocka_unit_test(rules_are_said),
        cmocka_unit_test(too_many_pairs),
        cmocka_unit_test(report_keeps_its_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
