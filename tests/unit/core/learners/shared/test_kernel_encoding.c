/* Encodings that kernels require: one text column and its weighting, and the columns that kernels
 * refuse. */
#include "learners/shared/kernel_params.h"
#include "unit/core/support.h"

static const dn_param rows[] = {DNI_PARAMS_KERNEL("linear")};
static const dn_algorithm algorithm = {.id = "kernels",
                                       .params = rows,
                                       .n_params = sizeof rows / sizeof rows[0],
                                       .applies = dni_kernel_param_applies,
                                       .encoding = dni_kernel_encoding};

enum { AGE, KIND, NOTE, PLACES, OTHER };
static const dn_table_column columns[] = {{.name = "age", .type = DN_NUMERIC},
                                          {.name = "kind", .type = DN_CATEGORICAL},
                                          {.name = "note", .type = DN_TEXT},
                                          {.name = "f", .type = DN_SPARSE, .width = 5},
                                          {.name = "other", .type = DN_TEXT}};

/* Requests the encoding of n inputs. text: the text options that were set before. */
static dn_status ask(const char *kernel, const char *metric, const size_t *inputs, size_t n,
                     dn_text_spec text, dn_encoder_spec *out, dn_error *err) {
    dn_params *p = NULL;
    OK(dn_params_new(&algorithm, &p, NULL));
    OK(dn_params_set_word(p, "kernel", kernel, NULL));
    if (metric != NULL) {
        OK(dn_params_set_word(p, "kernel.metric", metric, NULL));
    }
    OK(dn_params_set_number(p, "kernel.length", 5, NULL));
    *out = (dn_encoder_spec){.columns = inputs, .n_columns = n, .text = text, .standardize = true};
    dn_error_clear(err);
    dn_status status = dn_params_encoding(p, columns, 100, out, err);
    dn_params_free(p);
    return status;
}

static const struct {
    const char *kernel, *metric, *shown;
    dn_text_spec want;
} of_text[] = {
    {"shared_words", NULL, "kernel shared_words", {.weighting = DN_TEXT_SET}},
    {"shared_paths", NULL, "kernel shared_paths", {.weighting = DN_TEXT_PATHS, .length = 5}},
    {"distance", "edit", "kernel distance with metric edit", {.weighting = DN_TEXT_CHARACTERS}}};

static void one_text(void **state) {
    (void)state;
    static const size_t note[] = {NOTE};
    const dn_text_spec usual = {.vocabulary = DN_DEFAULT_VOCABULARY, .min_rows = 1};
    for (size_t k = 0; k < 3; k++) {
        dn_encoder_spec spec;
        dn_error err;
        OK(ask(of_text[k].kernel, of_text[k].metric, note, 1, usual, &spec, &err));
        assert_int_equal(spec.text.weighting, of_text[k].want.weighting);
        assert_int_equal(spec.text.length, of_text[k].want.length);
        assert_true(spec.text.buckets == 0 && !spec.text.keep_case);
        OK(dn_encoder_check(columns, 5, &spec, NULL));
        /* Again, with the text options that the first call returned. */
        OK(ask(of_text[k].kernel, of_text[k].metric, note, 1, spec.text, &spec, &err));
        const dn_text_spec others[] = {{.weighting = DN_TEXT_TFIDF},
                                       {.buckets = 10},
                                       {.keep_case = true},
                                       {.vocabulary = 10},
                                       {.min_rows = 2}};
        for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
            assert_int_equal(ask(of_text[k].kernel, of_text[k].metric, note, 1, others[i], &spec,
                                 &err),
                             DN_ERR_ARGUMENT);
            assert_string_equal(err.field, "text");
            assert_int_equal(spec.text.weighting, others[i].weighting);
        }
    }
}

static void nothing_else(void **state) {
    (void)state;
    static const struct {
        size_t inputs[2], n;
        const char *why;
    } bad[] = {{{AGE}, 1, "\"age\" is numeric"},
               {{NOTE, AGE}, 2, "\"age\" is numeric; name it in features.include"},
               {{KIND}, 1, "\"kind\" is categorical; upload the rows with types=NAME:text"},
               {{PLACES, NOTE}, 2, "\"f\" is sparse"},
               {{NOTE, OTHER}, 2, "(got 2)"}};
    for (size_t k = 0; k < 3; k++) {
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
            dn_encoder_spec spec;
            dn_error err;
            assert_int_equal(ask(of_text[k].kernel, of_text[k].metric, bad[i].inputs, bad[i].n,
                                 (dn_text_spec){0}, &spec, &err),
                             DN_ERR_ARGUMENT);
            assert_string_equal(err.field, "kernel");
            assert_true(strstr(err.message, of_text[k].shown) == err.message);
            assert_non_null(strstr(err.message, " needs one text column and nothing else"));
            assert_non_null(strstr(err.message, bad[i].why));
            assert_int_equal(spec.text.weighting, DN_TEXT_COUNTS);
        }
    }
}

static void other_kernels(void **state) {
    (void)state;
    static const char *const kernels[] = {"linear", "polynomial", "rbf", "sigmoid", "distance"};
    static const size_t all[] = {AGE, KIND, NOTE, PLACES};
    dn_encoder_spec spec;
    dn_error err;
    for (size_t k = 0; k < 5; k++) {
        OK(ask(kernels[k], NULL, all, 4, (dn_text_spec){.weighting = DN_TEXT_TFIDF}, &spec, &err));
        assert_int_equal(spec.text.weighting, DN_TEXT_TFIDF);
    }
    OK(ask("mahalanobis", NULL, all, 2, (dn_text_spec){0}, &spec, &err));
    for (size_t n = 3; n <= 4; n++) {
        assert_int_equal(ask("mahalanobis", NULL, all + n - 2, 2, (dn_text_spec){0}, &spec, &err),
                         DN_ERR_ARGUMENT);
        assert_string_equal(err.field, "kernel");
        assert_non_null(strstr(err.message, "\"note\" is text"));
    }
    static const size_t sparse[] = {AGE, PLACES};
    assert_int_equal(ask("mahalanobis", NULL, sparse, 2, (dn_text_spec){0}, &spec, &err),
                     DN_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "\"f\" is sparse"));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_text), cmocka_unit_test(nothing_else),
                                       cmocka_unit_test(other_kernels)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
