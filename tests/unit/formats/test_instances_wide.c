/* Tests of instances of a model with a sparse column and a text input: the entries must be
 * ascending in every format; features that are not in the training rows; values that may be
 * missing. */
#include "model_helper.h"

#include <math.h>

static dn_model *wide;

static int setup(void **state) {
    (void)state;
    wide = model_wide();
    return 0;
}

static int teardown(void **state) {
    (void)state;
    dn_model_unref(wide);
    return 0;
}

/* Appends each row as "x f2=3 words:red=1". */
static void put_rows(const struct instance_rows *in, struct buf *out) {
    const dn_encoder *encoder = dn_model_encoder(wide);
    struct buf name = {0};
    for (size_t i = 0; i < in->n; i++) {
        buf_printf(out, isnan(in->raw[i * in->n_inputs]) ? "-" : "%g", in->raw[i * in->n_inputs]);
        for (size_t k = in->row_start[i]; k < in->row_start[i + 1]; k++) {
            assert_true(k == in->row_start[i] || in->feature[k] > in->feature[k - 1]);
            buf_printf(out, " %s=%g", answer_feature_name(encoder, in->feature[k], &name),
                       in->entry[k]);
        }
        if (in->label != NULL) {
            buf_printf(out, in->label[i] == SIZE_MAX ? " (-)" : " (%zu)", in->label[i]);
        }
        buf_putc(out, '\n');
    }
    buf_done(&name);
}

static void check_as(const struct instances_options *options, const char *body,
                     const char *expected) {
    struct instance_rows in = {0};
    struct problem problem = {0};
    struct buf out = {0};
    if (!instances_read(body, strlen(body), options, wide, &in, &problem)) {
        fail_msg("%s: %s", body, problem.detail);
    }
    put_rows(&in, &out);
    assert_string_equal(buf_cstr(&out), expected);
    buf_done(&out);
    instance_rows_done(&in);
}

static void check(const char *body, const char *expected) {
    check_as(&(struct instances_options){0}, body, expected);
}

static void refused(const char *body, const char *place, const char *words) {
    struct instance_rows in = {0};
    struct problem problem = {0};
    struct buf text = {0};
    assert_false(
        instances_read(body, strlen(body), &(struct instances_options){0}, wide, &in, &problem));
    assert_int_equal(problem.type, PROBLEM_INVALID_INSTANCES);
    problem_write(&problem, "", NULL, &text);
    assert_non_null(strstr(buf_cstr(&text), place));
    assert_non_null(strstr(buf_cstr(&text), words));
    buf_done(&text);
    problem_done(&problem);
}

/* A body that is refused, the place of the fault, and a part of its message. */
struct refusal {
    const char *body, *place, *text;
};

static void all_refused(const struct refusal *cases, size_t n) {
    for (size_t i = 0; i < n; i++) {
        refused(cases[i].body, cases[i].place, cases[i].text);
    }
}

static void test_entries(void **state) {
    (void)state;
    check("[[1,0,2,0,0,3,\"red sea\"],[2,0,0,0,0,0,null]]",
          "1 f2=2 f5=3 words:red=1 words:sea=1\n2\n");
    check("[{\"words\":\"Sea, sea and SUN\",\"f5\":1,\"x\":4,\"f1\":-2}]",
          "4 f1=-2 f5=1 words:sea=2 words:sun=1\n");
    check("[{\"f2\":0,\"f4\":null,\"x\":1,\"words\":\"\"},{\"f6\":9,\"f123456789\":9,"
          "\"f4294967295\":1}]",
          "1\n-\n");
    check("x,f3,words,f99\n1,2,\"sun, sun\",4\n,,,\n", "1 f3=2 words:sun=2\n-\n");
    check("7,1,0,0,0,2.5,hills\n", "7 f1=1 f5=2.5 words:hills=1\n");
    check(
        "[[1,1e0,0.0,-0.0,0,1E-2,12]]",
        "1 f1=1 f5=0.01\n"); /* the number is read as a text, which has no word of the vocabulary */
    check("[1,0,0,0,0,0,\"sun\"]\n{\"words\":\"sea\"}\n", "1 words:sun=1\n- words:sea=1\n");
}

static void test_labels(void **state) {
    (void)state;
    const struct instances_options labelled = {.labelled = true};
    check_as(&labelled, "[[1,0,2,0,0,0,\"sun\",2],[1,0,0,0,0,0,null,null]]",
             "1 f2=2 words:sun=1 (2)\n1 (-)\n");
    check_as(&labelled, "f3,kind,x,words\n5,1,1,sea\n", "1 f3=5 words:sea=1 (1)\n");
    struct instance_rows in = {0};
    struct problem problem = {0};
    struct buf out = {0};
    const char *body = "[{\"f1\":1,\"x\":1,\"words\":\"sun\"},{\"f2\":2,\"kind\":1},{\"f3\":3},{"
                       "\"f4\":4,\"f5\":5,\"kind\":0}]";
    assert_true(instances_read(body, strlen(body), &labelled, wide, &in, &problem));
    instance_rows_keep_labelled(&in);
    put_rows(&in, &out);
    assert_string_equal(buf_cstr(&out), "- f2=2 (1)\n- f4=4 f5=5 (0)\n");
    buf_done(&out);
    instance_rows_done(&in);
}

static void test_query(void **state) {
    (void)state;
    static const char *const names[] = {"f4", "x", "words", "f1", "f77"},
                             *const values[] = {"0.5", "1", "red sun", "-1", "3"},
                             *const twice[] = {"f4", "x", "words", "f4", "f77"};
    struct instance_rows in = {0};
    struct problem problem = {0};
    struct buf out = {0};
    assert_true(instances_read_pairs(names, values, 5, wide, NULL, NULL, false, &in, &problem));
    put_rows(&in, &out);
    assert_string_equal(buf_cstr(&out), "1 f1=-1 f4=0.5 words:red=1 words:sun=1\n");
    buf_done(&out);
    instance_rows_done(&in);
    assert_false(instances_read_pairs(twice, values, 5, wide, NULL, NULL, false, &in, &problem));
    assert_non_null(strstr(problem.detail, "\"f4\" comes twice"));
    problem_done(&problem);
    assert_false(instances_read_pairs(names, values, 1, wide, NULL, NULL, true, &in,
                                      &problem)); /* x and words are missing */
    assert_int_equal(problem.n_errors, 2);
    problem_done(&problem);
}

static void test_faults(void **state) {
    (void)state;
    static const struct refusal cases[] = {
        {"[{\"f0\":1,\"x\":1,\"words\":\"\"}]", "/0/f0", "no column \\\"f0\\\""},
        {"[{\"f02\":1,\"x\":1,\"words\":\"\"}]", "/0/f02", "no column"},
        {"[{\"f99999999999999999999\":1}]", "/0/f9", "no column"},
        {"[{\"f2\":1,\"x\":1,\"words\":\"\",\"f2\":0}]", "/0/f2", "comes twice"},
        {"[{\"f2\":true,\"x\":1,\"words\":\"\"}]", "/0/f2", "must be a finite number (got true)"},
        {"[{\"f2\":1e999,\"x\":1,\"words\":\"\"}]", "/0/f2", "must be a finite number (got 1e999)"},
        {"[{\"f200\":\"a\",\"x\":1,\"words\":\"\"}]", "/0/f200", "must be a finite number"},
        {"[[1,1,2,3,4,5]]", "/0", "has 6 values, expected 7"},
        {"[[1,0,0,0,0,0,[\"a\"]]]", "/0/6", "must be a string"},
        {"[{\"x\":1}]", "\"detail\":", "no instance names the column \\\"words\\\""},
        {"x,f1,f1,words\n1,2,3,a\n", "\"line\":1,\"column\":6",
         "the column \\\"f1\\\" comes twice"},
        {"1,2,3\n", "\"line\":1", "has 3 cells, expected 7"},
        {"1 1:2\n", "\"detail\":", "was not trained on svmlight data"},
    };
    all_refused(cases, sizeof cases / sizeof *cases);
}

/* Entries in any order are sorted. */
static void test_order(void **state) {
    (void)state;
    uint64_t seed = 5;
    for (int round = 0; round < 200; round++) {
        char body[200], expected[100];
        unsigned order[] = {1, 2, 3, 4, 5};
        for (size_t i = 5; i-- > 1;) {
            const size_t j = cells_random(&seed) % (i + 1);
            const unsigned t = order[i];
            order[i] = order[j];
            order[j] = t;
        }
        (void)snprintf(body, sizeof body,
                       "[{\"f%u\":%u,\"f%u\":%u,\"words\":\"sun "
                       "hills\",\"f%u\":%u,\"f%u\":%u,\"x\":0,\"f%u\":%u}]",
                       order[0], order[0], order[1], order[1], order[2], order[2], order[3],
                       order[3], order[4], order[4]);
        (void)snprintf(expected, sizeof expected,
                       "0 f1=1 f2=2 f3=3 f4=4 f5=5 words:hills=1 words:sun=1\n");
        check(body, expected);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_entries),
                                       cmocka_unit_test(test_labels), cmocka_unit_test(test_query),
                                       cmocka_unit_test(test_faults), cmocka_unit_test(test_order)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
