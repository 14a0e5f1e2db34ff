/* Tests of ARFF tables and ARFF instances. */
#include "model_helper.h"
#include "unit/base/alloc_fail.h"

#define HEADER                                                                                     \
    "@relation r\n@attribute x numeric\n@attribute c {red,'dark blue',\"it's\"}\n"                 \
    "@attribute s string\n@data\n"

/* Checks the rows of a body that is fed in two pieces, once for each offset of the cut. */
static void check_rows(const char *body, const char *expected) {
    for (size_t cut = 0; cut <= strlen(body); cut++) {
        const struct table_options options = {0};
        struct table_copy t = table_read_cut(&options, body, strlen(body), &cut, 1);
        struct buf rows = {0};
        if (!t.well) {
            fail_msg("%s", buf_cstr(&t.problem_text));
        }
        table_rows(&t, &format_csv, false, &rows);
        assert_string_equal(buf_cstr(&rows), expected);
        buf_done(&rows);
        table_done(&t);
    }
}

static void check_refused_as(const struct table_options *options, const char *body,
                             const char *text) {
    for (size_t cut = 0; cut <= strlen(body); cut++) {
        struct table_copy t = table_read_cut(options, body, strlen(body), &cut, 1);
        assert_false(t.well);
        assert_int_equal(t.problem.type, PROBLEM_INVALID_DATASET);
        if (strstr(buf_cstr(&t.problem_text), text) == NULL) {
            fail_msg("%s\nis not in %s", text, buf_cstr(&t.problem_text));
        }
        table_done(&t);
    }
}

static void check_refused(const char *body, const char *text) {
    check_refused_as(&(struct table_options){.format = &format_arff}, body, text);
}

static void test_dense_rows(void **state) {
    (void)state;
    check_rows(HEADER "1,red,a\n2.50,'dark blue','b c'\n?,\"it's\",?\n",
               "x,c,s\n1,red,a\n2.5,dark blue,b c\n,it's,\n");
    check_rows(
        "% a comment\r\n\r\n  @RELATION 'two words' % x\r\n@Attribute\tx{1,2}\r\n"
        "@ATTRIBUTE 'y z' REAL %\n@attribute i Integer\n@Data %\n%\n1,-1e3,0\r\n 2 , .5 , 7 %\n",
        "x,y z,i\n1,-1000,0\n2,0.5,7\n");
    check_rows(HEADER "1\tred\ta\n2 ,\tred,\t'b'", "x,c,s\n1,red,a\n2,red,b\n");
    check_rows("\xEF\xBB\xBF@attribute a numeric\n@attribute b numeric\n@data\n1,0\n",
               "a,b\n1,0\n");
}

static void test_quotes_and_escapes(void **state) {
    (void)state;
    check_rows(HEADER "1,red,'a\\'b\\\\c'\n2,red,\"x,{}%y\"\n3,red,'1\\n2\\t3'\n",
               "x,c,s\n1,red,a'b\\c\n2,red,\"x,{}%y\"\n3,red,\"1\n2\t3\"\n");
    check_rows("@relation r\n@attribute 'a\\'b' {'c\\'d','e\\'f'}\n@data\n'e\\'f'\n'c\\'d'\n",
               "a'b\ne'f\nc'd\n");
}

static void test_sparse_rows(void **state) {
    (void)state;
    check_rows(HEADER "{0 1, 2 a}\n{1 'dark blue',2 b}\n{ 2 \"c\" }\n{0 ?,1 ?,2 ?}\n",
               "x,c,s\n1,red,a\n0,dark blue,b\n0,red,c\n,,\n");
    check_rows("@relation r\n@attribute a numeric\n@attribute b {n,y}\n@data\n{}\n{1 y}\n",
               "a,b\n0,n\n0,y\n");
    check_refused(HEADER "{0 1}\n", "attribute \\\"s\\\": a sparse row must give the value");
    check_refused(HEADER "{3 1,2 a}\n", "must be 0 … 2 (got \\\"3\\\")");
    check_refused(HEADER "{2 a,0 1}\n", "the indices of a row must ascend");
    check_refused(HEADER "{2 a,2 b}\n", "the indices of a row must ascend");
    check_refused(HEADER "{x 1}\n", "the index of an attribute must be");
    check_refused(HEADER "{2 a\n", "the closing } is missing");
    check_refused(HEADER "{2 a},{3}\n", "weights of rows are not supported");
}

/* The header determines the types, whatever the cells look like. */
static void test_types(void **state) {
    (void)state;
    struct table_copy t = cells_read("@relation r\n@attribute a {0,1}\n@attribute b numeric\n"
                                     "@attribute c string\n@data\n0,1,2\n1,0,3\n");
    assert_true(t.well);
    assert_non_null(strstr(t.columns, "\"name\":\"a\",\"type\":\"categorical\""));
    assert_non_null(strstr(t.columns, "\"name\":\"b\",\"type\":\"numeric\""));
    /* an inferred type */
    assert_non_null(strstr(t.columns, "\"name\":\"c\",\"type\":\"numeric\""));
    assert_non_null(strstr(t.notes, "\"format\":\"arff\""));
    table_done(&t);
    t = cells_read("@relation r\n@attribute a {yes,NA}\n@data\nyes\nNA\n");
    assert_true(t.well);
    assert_non_null(strstr(t.notes, "the value \\\"NA\\\" is read as missing"));
    table_done(&t);
    const struct table_options options = {.types = "a:boolean,b:numeric"};
    t = table_read_options(&options, "@relation r\n@attribute a {true,false}\n"
                                     "@attribute b {1,2}\n@data\ntrue,1\n'false','2'\n");
    assert_true(t.well);
    assert_non_null(strstr(t.columns, "\"name\":\"a\",\"type\":\"boolean\""));
    assert_non_null(strstr(t.columns, "\"name\":\"b\",\"type\":\"numeric\""));
    table_done(&t);
    check_refused_as(&(struct table_options){.types = "s:numeric"}, HEADER "1,red,a\n",
                     "column \\\"s\\\": a cell must be a number (got \\\"a\\\")");
}

static void test_faults(void **state) {
    (void)state;
    check_refused("@relation r\n@attribute a date\n@data\n1\n",
                  "column \\\"a\\\": a cell must be a date or time (got \\\"1\\\")");
    check_refused("@relation r\n@attribute a relational\n@end a\n@data\n", "relational attributes");
    check_refused("@relation r\n@attribute a blob\n@data\n", "(got \\\"blob\\\")");
    check_refused("@relation r\n@data\n1\n", "@data comes before the first @attribute");
    check_refused("@relation r\n@attribute a numeric\n", "the body ends before @data");
    check_refused("@relation r\n@attribute a numeric\n@data\n", "the table has no rows");
    check_refused("@relation r\n@attribute a numeric\n@attribute a real\n@data\n1,2\n",
                  "\"line\":3,\"column\":12,\"detail\":\"attribute \\\"a\\\" is declared twice");
    check_refused("@relation r\n@attribute a {x,x}\n@data\nx\n", "is listed twice");
    check_refused("@relation r\n@attribute a {}\n@data\nx\n", "the list of values is empty");
    check_refused("@relation r\n@attribute a {x,\n@data\nx\n", "has no closing }");
    check_refused("@relation r\n@attribute a {x y}\n@data\nx\n", "must be followed by , or }");
    check_refused("@relation r\n@attribute\n@data\nx\n", "the attribute has no name");
    check_refused("@relation r\n@attribute a numeric b\n@data\n1\n", "the line must end here");
    check_refused("@relation r\n@attribute 'a numeric\n@data\n1\n",
                  "the closing quote ' is missing");
    check_refused_as(&(struct table_options){.on_error = TABLE_SKIP},
                     "@attribute a numeric\n@data 1\n1\n", "the line must end here");
    check_refused("a,b\n1,2\n", "@relation, @attribute or @data must begin the line");
    check_refused(HEADER "1,green,a\n",
                  "\"line\":6,\"column\":3,\"detail\":\"attribute \\\"c\\\": the value must be one "
                  "of those declared (got \\\"green\\\")");
    check_refused(HEADER "one,red,a\n", "must be a finite number or ? (got \\\"one\\\")");
    check_refused(HEADER "'1',red,a\n", "must be a finite number or ?");
    check_refused(HEADER "inf,red,a\n", "must be a finite number or ?");
    check_refused(HEADER "1,red\n", "the row has 2 values, expected 3");
    check_refused(HEADER "1,red,a,b\n", "the row has more than 3 values");
    check_refused(HEADER "1,,a\n", "the value is missing: write ?");
    check_refused(HEADER "1,red,a,{2}\n", "weights of rows are not supported");
    check_refused(HEADER "1,red,a b\n", "a comma is missing");
    check_refused(HEADER "1,red,'a\n", "the closing quote ' is missing");
    check_refused_as(&(struct table_options){.types = "q:numeric"}, HEADER "1,red,a\n",
                     "option \\\"types\\\" names \\\"q\\\"");
}

/* A value may have exactly TABLE_MAX_CELL bytes, but not one byte more. */
static void test_longest_value(void **state) {
    (void)state;
    static const char head[] = "@relation r\n@attribute a string\n@data\n";
    const size_t n_head = sizeof head - 1;
    char *body = malloc(n_head + TABLE_MAX_CELL + 2);
    assert_non_null(body);
    memcpy(body, head, n_head);
    memset(body + n_head, 'x', TABLE_MAX_CELL + 1);
    for (size_t more = 0; more < 2; more++) {
        const size_t n = n_head + TABLE_MAX_CELL + more;
        struct table_copy t = table_read_cut(&(struct table_options){0}, body, n, &n, 1);
        assert_int_equal(t.well, more == 0);
        if (more > 0) {
            assert_non_null(strstr(buf_cstr(&t.problem_text), "at most 1048576 are allowed"));
        }
        table_done(&t);
    }
    free(body);
}

static void test_faulty_rows_are_skipped(void **state) {
    (void)state;
    const struct table_options options = {.on_error = TABLE_SKIP};
    struct table_copy t =
        table_read_options(&options, HEADER "1,red,a\n2,green,b\n3,red\n4,red,c\n");
    struct buf rows = {0};
    assert_true(t.well);
    table_rows(&t, &format_csv, false, &rows);
    assert_string_equal(buf_cstr(&rows), "x,c,s\n1,red,a\n4,red,c\n");
    assert_non_null(strstr(t.notes, "\"skipped\":{\"rows\":2,"));
    buf_done(&rows);
    table_done(&t);
}

/* Options that ARFF does not use are reported as unused. */
static void test_unused_options(void **state) {
    (void)state;
    const struct table_options options = {.format = &format_arff,
                                          .header = TABLE_HEADER_NO,
                                          .zero_based = true};
    struct table_copy t = table_read_options(&options, HEADER "1,red,a\n");
    assert_true(t.well);
    assert_non_null(strstr(t.notes, "option \\\"header\\\" was not used: the body is ARFF"));
    assert_non_null(strstr(t.notes, "option \\\"zero_based\\\" was not used"));
    table_done(&t);
}

static void test_sniffing(void **state) {
    (void)state;
    static const struct {
        const char *body, *format;
    } cases[] = {{"@relation r\n@attribute a numeric\n@data\n1\n", "arff"},
                 {"% 1\n%\n\n\t@RELATION r\n@attribute a numeric\n@data\n1\n", "arff"},
                 {"@attribute a numeric\n@data\n1\n", "arff"},
                 {"@relations,b\n1,2\n", "csv"},
                 {"@name,b\n1,2\n", "csv"},
                 {"%a,b\n1,2\n", "csv"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct table_copy t = cells_read(cases[i].body);
        char text[32];
        (void)snprintf(text, sizeof text, "\"format\":\"%s\"", cases[i].format);
        assert_true(t.well);
        assert_non_null(strstr(t.notes, text));
        assert_ptr_equal(instances_sniff(cases[i].body, strlen(cases[i].body)),
                         strcmp(cases[i].format, "arff") == 0 ? &format_arff : &format_csv);
        table_done(&t);
    }
}

/* ---- instances for a model with the inputs length, width, colour, old and the target kind ---- */
#define INSTANCES                                                                                  \
    "@relation r\n@attribute old {true,false}\n@attribute length numeric\n"                        \
    "@attribute colour {red,blue}\n@attribute width numeric\n"

static void test_instances(void **state) {
    (void)state;
    dn_model *model = model_mixed();
    struct instance_rows in = {0};
    struct problem problem = {0};
    static const char body[] = INSTANCES "@attribute kind {a,b}\n@data\n"
                                         "true,1.5,red,2,a\n{1 3,2 blue,4 b}\n?,?,?,?,?\n";
    assert_true(instances_read(body, strlen(body), &(struct instances_options){.labelled = true},
                               model, &in, &problem));
    assert_int_equal(in.n, 3);
    assert_true(in.raw[0] == 1.5 && in.raw[1] == 2 && in.raw[3] == 1);
    /* values that a sparse row omits: 0 and "true" */
    assert_true(in.raw[4] == 3 && in.raw[5] == 0 && in.raw[7] == 1);
    assert_true(in.raw[2] != in.raw[6]);
    assert_int_equal(in.label[0], 0);
    assert_int_equal(in.label[1], 1);
    assert_true(in.label[2] == SIZE_MAX);
    instance_rows_done(&in);
    dn_model_unref(model);
}

static void refused_instances(const dn_model *model, const char *body, const char *text) {
    struct instance_rows in = {0};
    struct problem problem = {0};
    struct buf out = {0};
    assert_false(instances_read(body, strlen(body),
                                &(struct instances_options){.refuse_extra = true}, model, &in,
                                &problem));
    problem_write(&problem, "", NULL, &out);
    if (strstr(buf_cstr(&out), text) == NULL) {
        fail_msg("%s\nis not in %s", text, buf_cstr(&out));
    }
    buf_done(&out);
    problem_done(&problem);
}

static void test_refused_instances(void **state) {
    (void)state;
    dn_model *model = model_mixed();
    refused_instances(model, INSTANCES "@attribute more real\n@data\ntrue,1,red,2,3\n",
                      "the model has no column \\\"more\\\"");
    refused_instances(model, "@relation r\n@attribute length numeric\n@data\n1\n",
                      "no instance names the column \\\"width\\\"");
    refused_instances(
        model, INSTANCES "@data\ntrue,x,red,2\n",
        "\"line\":7,\"column\":6,\"detail\":\"instance 0, column \\\"length\\\": must "
        "be a finite number (got \\\"x\\\")");
    refused_instances(model, INSTANCES "@data\ntrue,1,pink,2\n", "one of those declared");
    refused_instances(model, INSTANCES "@data\n", "at least one is needed");
    refused_instances(model, INSTANCES, "the body ends before @data");
    refused_instances(model, INSTANCES "@data\ntrue,1,red\n", "the row has 3 values, expected 4");
    dn_model_unref(model);
}

/* ---- memory ---- */
static bool read_table(const char *body) {
    size_t chunks = 0;
    struct problem problem = {0};
    struct table_summary sum;
    struct table *t = table_new(&(struct table_options){0},
                                &(struct table_sink){table_sink_forget, NULL, &chunks});
    if (t == NULL) {
        return false;
    }
    bool well = table_feed(t, body, strlen(body), &problem);
    problem_done(&problem);
    well = table_end(t, &sum, &problem) && well;
    assert_true(well || problem.type == PROBLEM_UNAVAILABLE);
    assert_true(!well || (chunks == 1 && sum.n_rows == 2));
    problem_done(&problem);
    table_free(t);
    return well;
}

/* The model of the tests below. A fixture makes it, since the tests may be skipped at any point */
static dn_model *model;

static int make_model(void **state) {
    (void)state;
    model = model_mixed();
    return 0;
}

static int free_model(void **state) {
    (void)state;
    dn_model_unref(model);
    return 0;
}

static bool read_instances(const char *body) {
    struct instance_rows in = {0};
    struct problem problem = {0};
    const bool well =
        instances_read(body, strlen(body), &(struct instances_options){0}, model, &in, &problem);
    assert_true(well || problem.type == PROBLEM_UNAVAILABLE);
    problem_done(&problem);
    instance_rows_done(&in);
    return well;
}

static void test_every_allocation_may_fail(void **state) {
    (void)state;
    bool well = false;
    ALLOC_FAIL_EACH(well = read_table(HEADER "1,red,'a\\'b'\n{0 2,2 c}\n"));
    assert_true(well);
    ALLOC_FAIL_EACH(well = read_instances(INSTANCES "@data\ntrue,1,'re\\d',2\n{2 blue}\n"));
    assert_true(well);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dense_rows),
        cmocka_unit_test(test_quotes_and_escapes),
        cmocka_unit_test(test_sparse_rows),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_longest_value),
        cmocka_unit_test(test_faulty_rows_are_skipped),
        cmocka_unit_test(test_unused_options),
        cmocka_unit_test(test_sniffing),
        cmocka_unit_test(test_instances),
        cmocka_unit_test(test_refused_instances),
        cmocka_unit_test_setup_teardown(test_every_allocation_may_fail, make_model, free_model),
    };
    return cmocka_run_group_tests_name("formats: ARFF", tests, NULL, NULL);
}
