/* Rows, schemas and predictions as text. */
#include "model_helper.h"

#include <jansson.h>
#include <math.h>

static void test_csv_rows(void **state) {
    (void)state;
    static const double number[] = {1.5, (double)NAN, -0.0, 1e21};
    static const double truth[] = {1, (double)NAN, 0, 1};
    static const uint32_t code[] = {0, DN_CODE_MISSING, 1, 2};
    static const uint32_t start[] = {0, 3, 6, 15};
    const dn_strings strings = {3, start, "a,b\"\"x two\nline"};
    const dn_column_view views[] = {{.type = DN_NUMERIC, .n_rows = 4, .number = number},
                                    {.type = DN_BOOLEAN, .n_rows = 4, .number = truth},
                                    {.type = DN_CATEGORICAL, .n_rows = 4, .code = code, .strings = strings}};
    const char *const names[] = {"n", "the \"flag\"", "s"};
    struct buf out = {0};
    wire_csv_header(names, 3, &out);
    wire_rows_write(WIRE_ROWS_CSV, views, names, 3, 0, 4, false, &out);
    assert_string_equal(buf_cstr(&out),
                        "n,\"the \"\"flag\"\"\",s\n1.5,true,\"a,b\"\n,,\n-0,false,\"\"\"\"\"x\"\n1e21,true,\" two\nline\"\n");
    buf_clear(&out);
    wire_rows_write(WIRE_ROWS_CSV, views, names, 1, 0, 2, false, &out);
    assert_string_equal(buf_cstr(&out), "1.5\n\"\"\n"); /* a missing cell alone is no empty line */
    buf_clear(&out);
    wire_rows_write(WIRE_ROWS_NDJSON, views, names, 3, 1, 2, false, &out);
    assert_string_equal(buf_cstr(&out),
                        "{\"n\":null,\"the \\\"flag\\\"\":null,\"s\":null}\n{\"n\":-0,\"the \\\"flag\\\"\":false,\"s\":\"\\\"\\\"x\"}\n");
    buf_clear(&out);
    wire_rows_write(WIRE_ROWS_JSON, views, names, 2, 0, 2, false, &out);
    wire_rows_write(WIRE_ROWS_JSON, views, names, 2, 2, 1, true, &out);
    assert_string_equal(
        buf_cstr(&out),
        "{\"n\":1.5,\"the \\\"flag\\\"\":true},{\"n\":null,\"the \\\"flag\\\"\":null},{\"n\":-0,\"the \\\"flag\\\"\":false}");
    buf_done(&out);
}

static void test_schema(void **state) {
    (void)state;
    struct wire_schema schema = {0};
    struct problem problem = {0};
    assert_true(wire_schema_parse("[{\"name\":\"a\",\"type\":\"numeric\",\"missing\":2,\"min\":-1.5,\"max\":3,\"distinct\":7},"
                                  "{\"name\":\"b\",\"type\":\"text\",\"missing\":0,\"distinct\":null}]",
                                  &schema, &problem));
    assert_int_equal(schema.n, 2);
    assert_string_equal(schema.columns[0].name, "a");
    assert_int_equal(schema.columns[0].type, DN_NUMERIC);
    assert_int_equal(schema.columns[0].missing, 2);
    assert_int_equal(schema.columns[0].distinct, 7);
    assert_true(schema.columns[0].minimum == -1.5 && schema.columns[0].maximum == 3);
    assert_int_equal(schema.columns[1].distinct, -1);
    assert_true(isnan(schema.columns[1].minimum));
    assert_int_equal(wire_schema_find(&schema, "b"), 1);
    assert_int_equal(wire_schema_find(&schema, "c"), -1);
    wire_schema_done(&schema);
    static const char *const damaged[] = {"",
                                          "{}",
                                          "[1]",
                                          "[{\"name\":\"a\"}]",
                                          "[{\"name\":\"a\",\"type\":\"x\",\"missing\":0}]",
                                          "[{\"name\":\"a\",\"type\":\"text\"}]",
                                          "[{\"name\":\"a\",\"type\":\"text\",\"missing\":0},{}]",
                                          "[{\"name\""};
    for (size_t i = 0; i < sizeof damaged / sizeof damaged[0]; i++) {
        assert_false(wire_schema_parse(damaged[i], &schema, &problem));
        assert_int_equal(problem.type, PROBLEM_INTERNAL);
        assert_int_equal(schema.n, 0);
        problem_done(&problem);
    }
}

/* What the model says for two rows, parsed back. */
static json_t *predict(const dn_model *model, bool label, bool probabilities, bool scores) {
    const size_t n_inputs = dn_encoder_n_inputs(dn_model_encoder(model)), k = dn_model_classes(model)->n, s = dn_model_n_scores(model);
    double raw[2 * 16] = {0}, p[2 * 8] = {0}, g[2 * 8] = {0};
    size_t labels[2] = {0};
    double *workspace = malloc((dn_model_workspace(model) + 1) * sizeof *workspace);
    assert_non_null(workspace);
    assert_true(2 * n_inputs <= 32 && k <= 8 && s <= 8);
    for (size_t i = 0; i < 2 * n_inputs; i++) {
        raw[i] = (double)(i % 2);
    }
    const dn_prediction prediction = {.label = label ? labels : NULL,
                                      .probabilities = probabilities ? p : NULL,
                                      .scores = scores ? g : NULL};
    dn_model_predict(model, raw, 2, workspace, &prediction);
    struct buf out = {0};
    wire_predictions_write(model, "na\"me", 7, 2, &prediction, &out);
    json_error_t error;
    json_t *tree = json_loadb(out.data, out.size, JSON_REJECT_DUPLICATES, &error);
    if (tree == NULL) {
        fail_msg("%s: %s", buf_cstr(&out), error.text);
    }
    assert_string_equal(json_string_value(json_object_get(tree, "model")), "na\"me");
    assert_int_equal(json_integer_value(json_object_get(tree, "version")), 7);
    assert_int_equal(json_array_size(json_object_get(tree, "classes")), k);
    assert_int_equal(json_array_size(json_object_get(tree, "predictions")), 2);
    for (size_t i = 0; i < 2; i++) { /* every number is the very one */
        const json_t *row = json_array_get(json_object_get(tree, "predictions"), i);
        assert_int_equal(json_object_size(row), label + probabilities + scores);
        if (label) {
            assert_true(json_equal(json_object_get(row, "label"), json_array_get(json_object_get(tree, "classes"), labels[i])));
        }
        for (size_t j = 0; probabilities && j < k; j++) {
            assert_true(json_number_value(json_array_get(json_object_get(row, "probabilities"), j)) == p[i * k + j]);
        }
        for (size_t j = 0; scores && j < s; j++) {
            assert_true(json_number_value(json_array_get(json_object_get(row, "scores"), j)) == g[i * s + j]);
        }
    }
    buf_done(&out);
    free(workspace);
    return tree;
}

static void test_predictions(void **state) {
    (void)state;
    dn_model *mixed = model_mixed(), *numeric = model_numeric(), *boolean = model_boolean();
    for (int what = 1; what < 8; what++) {
        json_decref(predict(mixed, what & 1, what & 2, what & 4));
        json_decref(predict(numeric, what & 1, what & 2, what & 4));
        json_decref(predict(boolean, what & 1, what & 2, what & 4));
    }
    json_t *tree = predict(numeric, true, false, false);
    const json_t *classes = json_object_get(tree, "classes");
    assert_true(json_is_number(json_array_get(classes, 2)) && json_number_value(json_array_get(classes, 2)) == 7.5);
    json_decref(tree);
    tree = predict(boolean, true, false, false);
    classes = json_object_get(tree, "classes");
    assert_true(json_is_false(json_array_get(classes, 0)) && json_is_true(json_array_get(classes, 1)));
    json_decref(tree);
    tree = predict(mixed, true, true, false);
    assert_string_equal(json_string_value(json_array_get(json_object_get(tree, "classes"), 1)), "b");
    json_decref(tree);
    dn_model_unref(mixed);
    dn_model_unref(numeric);
    dn_model_unref(boolean);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_csv_rows), cmocka_unit_test(test_schema), cmocka_unit_test(test_predictions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
