/* Tests of rows, schemas and predictions as text. */
#include "base/json/json_write.h"
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
    const dn_column_view views[] = {
        {.type = DN_NUMERIC, .n_rows = 4, .number = number},
        {.type = DN_BOOLEAN, .n_rows = 4, .number = truth},
        {.type = DN_CATEGORICAL, .n_rows = 4, .code = code, .strings = strings}};
    const char *const names[] = {"n", "the \"flag\"", "s"};
    struct buf out = {0};
    format_csv.rows->header(names, 3, &out);
    format_csv.rows->rows(views, names, 3, 0, 4, false, &out);
    assert_string_equal(
        buf_cstr(&out),
        "n,\"the \"\"flag\"\"\",s\n1.5,true,\"a,b\"\n,,\n-0,false,\"\"\"\"\"x\"\n1e21,true,\" "
        "two\nline\"\n");
    buf_clear(&out);
    format_tsv.rows->header(names, 3, &out);
    format_tsv.rows->rows(views, names, 3, 0, 4, false, &out);
    assert_string_equal(buf_cstr(&out), "n\t\"the "
                                        "\"\"flag\"\"\"\ts\n1.5\ttrue\ta,b\n\t\t\n-"
                                        "0\tfalse\t\"\"\"\"\"x\"\n1e21\ttrue\t\" two\nline\"\n");
    buf_clear(&out);
    format_csv.rows->rows(views, names, 1, 0, 2, false, &out);
    /* a row of one missing cell must not become an empty line */
    assert_string_equal(buf_cstr(&out), "1.5\n\"\"\n");
    buf_clear(&out);
    format_ndjson.rows->rows(views, names, 3, 1, 2, false, &out);
    assert_string_equal(buf_cstr(&out),
                        "{\"n\":null,\"the \\\"flag\\\"\":null,\"s\":null}\n{\"n\":-0,\"the "
                        "\\\"flag\\\"\":false,\"s\":\"\\\"\\\"x\"}\n");
    buf_clear(&out);
    format_json.rows->rows(views, names, 2, 0, 2, false, &out);
    format_json.rows->rows(views, names, 2, 2, 1, true, &out);
    assert_string_equal(buf_cstr(&out),
                        "{\"n\":1.5,\"the \\\"flag\\\"\":true},{\"n\":null,\"the "
                        "\\\"flag\\\"\":null},{\"n\":-0,\"the \\\"flag\\\"\":false}");
    buf_done(&out);
}

static void check_columns(const char *columns, const char *expected) {
    struct buf out = {0};
    struct json_writer w;
    w = json_writer_of(&out);
    json_begin_object(&w);
    (void)schema_columns_write(columns, 2, &w);
    json_end_object(&w);
    assert_string_equal(buf_cstr(&out), expected);
    buf_done(&out);
}

/* The sparse column is found in the JSON, whatever the order of its members and the blanks between
 * them. */
static void test_sparse_column(void **state) {
    (void)state;
#define FEATURES                                                                                   \
    "{\"name\":\"f1\",\"type\":\"numeric\",\"missing\":0,\"min\":0,\"max\":5,\"mean\":2,\"std\":"  \
    "1,"                                                                                           \
    "\"nonzero\":1},"                                                                              \
    "{\"name\":\"f2\",\"type\":\"numeric\",\"missing\":0,\"min\":0,\"max\":6,\"mean\":3,\"std\":"  \
    "2,"                                                                                           \
    "\"nonzero\":2}],\"sparse\":{\"first\":\"f1\",\"columns\":2,\"entries\":3,\"density\":0.75}}"
    static const char members[] =
        "\"first\":1,\"width\":2,\"entries\":3,\"features\":{\"min\":[0,0],\"max\":[5,6],"
        "\"mean\":[2,3],\"std\":[1,2],\"nonzero\":[1,2]}";
    static const char label[] = "{\"name\":\"{\\\"name\\\":\",\"top\":[[\"sparse\",1],{\"type\":"
                                "\"sparse\"}],\"type\":\"numeric\"}";
    struct buf columns = {0}, expected = {0};
    buf_printf(&columns, "[%s,{\"name\":\"f\",\"type\":\"sparse\",%s}]", label, members);
    buf_printf(&expected, "{\"columns\":[%s," FEATURES, label);
    check_columns(buf_cstr(&columns), buf_cstr(&expected));
    buf_clear(&columns);
    buf_printf(&columns, " [ %s , { %s, \"type\" : \"sparse\",\"name\":\"f\"} ] ", label, members);
    buf_clear(&expected);
    buf_printf(&expected, "{\"columns\":[ %s ," FEATURES, label);
    check_columns(buf_cstr(&columns), buf_cstr(&expected));
    buf_clear(&columns);
    buf_printf(&columns, "[{%s,\"type\":\"sparse\"}]", members);
    check_columns(buf_cstr(&columns), "{\"columns\":[" FEATURES);
    /* without a sparse column */
    buf_clear(&columns);
    buf_printf(&columns, "[%s]", label);
    buf_clear(&expected);
    buf_printf(&expected, "{\"columns\":[%s]}", label);
    check_columns(buf_cstr(&columns), buf_cstr(&expected));
    check_columns("[]", "{\"columns\":[]}");
    check_columns("null", "{\"columns\":null}");
    check_columns(NULL, "{\"columns\":null}");
    buf_done(&columns);
    buf_done(&expected);
}

static void test_schema(void **state) {
    (void)state;
    struct schema schema = {0};
    struct problem problem = {0};
    assert_true(schema_parse("[{\"name\":\"a\",\"type\":\"numeric\",\"missing\":2,\"min\":-1.5,"
                             "\"max\":3,\"distinct\":7},"
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
    assert_int_equal(schema_find(&schema, "b"), 1);
    assert_int_equal(schema_find(&schema, "c"), -1);
    schema_done(&schema);
    static const char *const damaged[] = {"",
                                          "{}",
                                          "[1]",
                                          "[{\"name\":\"a\"}]",
                                          "[{\"name\":\"a\",\"type\":\"x\",\"missing\":0}]",
                                          "[{\"name\":\"a\",\"type\":\"text\"}]",
                                          "[{\"name\":\"a\",\"type\":\"text\",\"missing\":0},{}]",
                                          "[{\"name\""};
    for (size_t i = 0; i < sizeof damaged / sizeof damaged[0]; i++) {
        assert_false(schema_parse(damaged[i], &schema, &problem));
        assert_int_equal(problem.type, PROBLEM_INTERNAL);
        assert_int_equal(schema.n, 0);
        problem_done(&problem);
    }
}

/* ---- predictions ---- */
enum { ROWS = 2 };
static const unsigned all_outputs = ANSWER_LABEL | ANSWER_PROBABILITIES | ANSWER_SCORES |
                                    ANSWER_DISTANCE | ANSWER_CONTRIBUTIONS | ANSWER_AMBIGUOUS |
                                    ANSWER_LOG_DENSITY;

/* All outputs of the model for two rows. */
struct said {
    size_t label[ROWS];
    bool candidates[ROWS * 8];
    double probabilities[ROWS * 8], scores[ROWS * 8], distance[ROWS], contributions[ROWS * 8 * 16];
};

/* Returns the prediction of row i. */
static dn_prediction row_of(const dn_model *model, struct said *said, size_t i) {
    const size_t k = dn_model_classes(model)->n, s = dn_model_n_scores(model),
                 d = dn_encoder_n_features(dn_model_encoder(model));
    return (dn_prediction){.label = said->label + i,
                           .candidates = said->candidates + i * k,
                           .probabilities = said->probabilities + i * k,
                           .scores = said->scores + i * s,
                           .distance = said->distance + i,
                           .contributions = said->contributions + i * s * d};
}

static void expect_numbers(const json_t *array, const double *expected, size_t n) {
    assert_int_equal(json_array_size(array), n);
    for (size_t j = 0; j < n; j++) { /* exactly equal */
        assert_true(json_number_value(json_array_get(array, j)) == expected[j]);
    }
}

static void expect_row(const json_t *row, const json_t *classes, const dn_model *model,
                       unsigned outputs, const dn_prediction *said) {
    const size_t k = dn_model_classes(model)->n, s = dn_model_n_scores(model),
                 d = dn_encoder_n_features(dn_model_encoder(model));
    const bool ambiguous = said->label[0] == DN_AMBIGUOUS;
    size_t members = 0;
    for (unsigned bit = 1; bit <= ANSWER_LOG_DENSITY; bit *= 2) {
        members += (outputs & bit) != 0;
    }
    if (outputs & ANSWER_LABEL) {
        const json_t *label = json_object_get(row, "label");
        assert_true(ambiguous ? json_is_null(label)
                              : json_equal(label, json_array_get(classes, said->label[0])));
    }
    if (outputs & (ANSWER_LABEL | ANSWER_AMBIGUOUS) && ambiguous) {
        const json_t *candidates = json_object_get(row, "candidates");
        size_t n = 0;
        for (size_t j = 0; j < k; j++) {
            if (said->candidates[j]) {
                assert_true(
                    json_equal(json_array_get(candidates, n++), json_array_get(classes, j)));
            }
        }
        assert_true(n != 1 && json_array_size(candidates) == n &&
                    json_is_true(json_object_get(row, "ambiguous")));
        members += outputs & ANSWER_AMBIGUOUS ? 1 : 2;
    } else if (outputs & ANSWER_AMBIGUOUS) {
        assert_true(json_is_false(json_object_get(row, "ambiguous")));
    }
    if (outputs & ANSWER_PROBABILITIES) {
        expect_numbers(json_object_get(row, "probabilities"), said->probabilities, k);
    }
    if (outputs & ANSWER_SCORES) {
        expect_numbers(json_object_get(row, "scores"), said->scores, s);
    }
    if (outputs & ANSWER_DISTANCE) {
        const json_t *distance = json_object_get(row, "distance");
        assert_true(isnan(said->distance[0]) ? json_is_null(distance)
                                             : json_number_value(distance) == said->distance[0]);
    }
    for (size_t j = 0; outputs & ANSWER_CONTRIBUTIONS && j < s; j++) {
        expect_numbers(json_array_get(json_object_get(row, "contributions"), j),
                       said->contributions + j * d, d);
    }
    if (outputs & ANSWER_LOG_DENSITY) { /* the model has no density */
        assert_true(json_is_null(json_object_get(row, "log_density")));
    }
    assert_int_equal(json_object_size(row), members);
}

static void begin(struct predictions_writer *answer, const dn_model *model, const char *name,
                  int64_t version, unsigned outputs, struct buf *out) {
    const struct answer_head head = {.name = name,
                                     .version = version,
                                     .outputs = outputs,
                                     .format = &format_json};
    predictions_writer_begin(answer, &head, model, &(dn_prediction){0}, out);
}

/* Writes the predictions of two rows and returns the parsed JSON. */
static json_t *predict(const dn_model *model, unsigned outputs) {
    const dn_encoder *encoder = dn_model_encoder(model);
    const size_t n_inputs = dn_encoder_n_inputs(encoder), k = dn_model_classes(model)->n,
                 s = dn_model_n_scores(model);
    double raw[ROWS * 16] = {0},
                      *workspace = malloc((dn_model_workspace(model) + 1) * sizeof *workspace);
    struct said said = {0};
    assert_non_null(workspace);
    assert_true(ROWS * n_inputs <= 32 && k <= 8 && s <= 8 && dn_encoder_n_features(encoder) <= 16);
    for (size_t i = 0; i < ROWS * n_inputs; i++) {
        raw[i] = (double)(i % 2);
    }
    const dn_prediction whole = row_of(model, &said, 0);
    dn_model_predict(model, dn_raw_numbers(raw, ROWS), workspace, &whole);
    struct buf out = {0};
    struct predictions_writer answer;
    begin(&answer, model, "na\"me", 7, outputs, &out);
    for (size_t i = 0; i < ROWS; i++) { /* written row by row; the output must be the same as for
                                         * both rows at once */
        const dn_prediction one = row_of(model, &said, i);
        predictions_writer_rows(&answer, 1, &one);
    }
    predictions_writer_end(&answer, NULL, NULL);
    predictions_writer_done(&answer);
    json_error_t error;
    json_t *tree = json_loadb(out.data, out.size, JSON_REJECT_DUPLICATES, &error);
    if (tree == NULL) {
        fail_msg("%s: %s", buf_cstr(&out), error.text);
    }
    struct buf again = {0};
    begin(&answer, model, "na\"me", 7, outputs, &again);
    predictions_writer_rows(&answer, ROWS, &whole);
    predictions_writer_end(&answer, NULL, NULL);
    predictions_writer_done(&answer);
    assert_int_equal(out.size, again.size);
    assert_memory_equal(out.data, again.data, out.size);
    const json_t *classes = json_object_get(tree, "classes");
    assert_string_equal(json_string_value(json_object_get(tree, "model")), "na\"me");
    assert_int_equal(json_integer_value(json_object_get(tree, "version")), 7);
    assert_int_equal(json_array_size(classes), k);
    assert_int_equal(json_array_size(json_object_get(tree, "predictions")), ROWS);
    for (size_t i = 0; i < ROWS; i++) {
        const dn_prediction one = row_of(model, &said, i);
        expect_row(json_array_get(json_object_get(tree, "predictions"), i), classes, model, outputs,
                   &one);
    }
    if (outputs & ANSWER_CONTRIBUTIONS) {
        expect_numbers(json_object_get(tree, "intercept"), dn_model_intercept(model), s);
        assert_int_equal(json_array_size(json_object_get(tree, "features")),
                         dn_encoder_n_features(encoder));
    } else {
        assert_int_equal(json_object_size(tree), 4);
    }
    buf_done(&out);
    buf_done(&again);
    free(workspace);
    return tree;
}

static void test_predictions(void **state) {
    (void)state;
    dn_model *mixed = model_mixed(), *numeric = model_numeric(), *boolean = model_boolean();
    for (unsigned outputs = 1; outputs <= all_outputs; outputs++) {
        json_decref(predict(mixed, outputs));
        json_decref(predict(numeric, outputs));
        json_decref(predict(boolean, outputs));
    }
    json_t *tree = predict(numeric, ANSWER_LABEL);
    const json_t *classes = json_object_get(tree, "classes");
    assert_true(json_is_number(json_array_get(classes, 2)) &&
                json_number_value(json_array_get(classes, 2)) == 7.5);
    json_decref(tree);
    tree = predict(boolean, ANSWER_LABEL);
    classes = json_object_get(tree, "classes");
    assert_true(json_is_false(json_array_get(classes, 0)) &&
                json_is_true(json_array_get(classes, 1)));
    json_decref(tree);
    tree = predict(mixed, ANSWER_LABEL | ANSWER_CONTRIBUTIONS);
    assert_string_equal(json_string_value(json_array_get(json_object_get(tree, "classes"), 1)),
                        "b");
    assert_string_equal(json_string_value(json_array_get(json_object_get(tree, "features"), 2)),
                        "colour=blue");
    json_decref(tree);
    dn_model_unref(mixed);
    dn_model_unref(numeric);
    dn_model_unref(boolean);
}

/* Two rows of a model with a strict decision rule, which assigns no class to one of them. */
static void test_ambiguous_predictions(void **state) {
    (void)state;
    dn_model *model = model_mixed_as("one_vs_rest_strict", DN_UNSEEN_ZEROS);
    const size_t labels[] = {DN_AMBIGUOUS, 1};
    const bool candidates[] = {true, false, true, false, true, false};
    const struct {
        unsigned outputs;
        const char *rows;
    } expected[] = {
        {ANSWER_LABEL,
         "[{\"label\":null,\"ambiguous\":true,\"candidates\":[\"a\",\"c\"]},{\"label\":\"b\"}]}"},
        {ANSWER_AMBIGUOUS,
         "[{\"ambiguous\":true,\"candidates\":[\"a\",\"c\"]},{\"ambiguous\":false}]}"},
        {ANSWER_LABEL | ANSWER_AMBIGUOUS,
         "[{\"label\":null,\"ambiguous\":true,\"candidates\":[\"a\","
         "\"c\"]},{\"label\":\"b\",\"ambiguous\":false}]}"},
    };
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        struct buf out = {0};
        struct predictions_writer answer;
        begin(&answer, model, "m", 1, expected[i].outputs, &out);
        predictions_writer_rows(&answer, ROWS,
                                &(dn_prediction){.label = (size_t *)labels,
                                                 .candidates = (bool *)candidates});
        predictions_writer_end(&answer, NULL, NULL);
        predictions_writer_done(&answer);
        assert_non_null(strstr(buf_cstr(&out), expected[i].rows));
        buf_done(&out);
    }
    for (unsigned outputs = 1; outputs <= all_outputs; outputs++) {
        json_decref(predict(model, outputs));
    }
    dn_model_unref(model);
}

/* Log densities, and rows outside of the support of every class. */
static void test_densities(void **state) {
    (void)state;
    dn_model *model = model_boolean();
    double density[] = {-1.5, -(double)INFINITY}, of_class[] = {-1, -2.25, -(double)INFINITY, 0},
           posterior[] = {0.75, 0.25, 0, 1};
    bool outside[] = {false, true};
    const size_t labels[] = {0, 1};
    const dn_prediction rows = {.label = (size_t *)labels,
                                .log_density = density,
                                .class_log_density = of_class,
                                .posterior = posterior,
                                .out_of_support = outside};
    const struct {
        unsigned outputs;
        const char *rows;
    } expected[] = {
        {ANSWER_LABEL, "[{\"label\":false},{\"label\":true,\"out_of_support\":true}]}"},
        {ANSWER_LOG_DENSITY,
         "[{\"log_density\":-1.5,\"class_log_density\":[-1,-2.25],\"out_of_support\":false},"
         "{\"log_density\":null,\"class_log_density\":[null,0],\"out_of_support\":true}]}"},
        {ANSWER_POSTERIOR,
         "[{\"posterior\":[0.75,0.25]},{\"posterior\":[0,1],\"out_of_support\":true}]}"},
    };
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        struct buf out = {0};
        struct predictions_writer answer;
        begin(&answer, model, "m", 1, expected[i].outputs, &out);
        predictions_writer_rows(&answer, ROWS, &rows);
        predictions_writer_end(&answer, NULL, NULL);
        predictions_writer_done(&answer);
        assert_non_null(strstr(buf_cstr(&out), expected[i].rows));
        buf_done(&out);
    }
    dn_model_unref(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_csv_rows),
                                       cmocka_unit_test(test_sparse_column),
                                       cmocka_unit_test(test_schema),
                                       cmocka_unit_test(test_predictions),
                                       cmocka_unit_test(test_ambiguous_predictions),
                                       cmocka_unit_test(test_densities)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
