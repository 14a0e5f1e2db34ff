/* Lets every allocation fail once: the function must not crash, must release its memory (valgrind
 * and the sanitizers check the same paths in the other tests), and must report the failure. */
#include "model_helper.h"
#include "unit/base/alloc_fail.h"

/* Returns true if the table was read, false if a lack of memory was reported. */
static bool read_table(const char *body, size_t size) {
    size_t chunks = 0;
    struct problem problem = {0};
    struct table_summary sum;
    struct table *t =
        table_new(&(struct table_options){.types = "b:categorical", .missing = "-", .label = "b"},
                  &(struct table_sink){table_sink_forget, NULL, &chunks});
    if (t == NULL) {
        return false;
    }
    bool well = table_feed(t, body, size / 2, &problem) &&
                table_feed(t, body + size / 2, size - size / 2, &problem);
    problem_done(&problem);
    well = table_end(t, &sum, &problem) && well;
    if (!well && problem.type != PROBLEM_UNAVAILABLE) {
        atomic_store(&alloc_fail_at, 0);
        fail_msg("problem %d: %s", problem.type, problem.detail != NULL ? problem.detail : "");
    }
    assert_true(!well || (chunks == 1 && sum.n_rows == 3));
    problem_done(&problem);
    table_free(t);
    return well;
}

/* Reads rows of which some have faults and are skipped. Returns true if the table was read, false
 * if a lack of memory was reported. The table must never have a part of a row. */
static bool read_skipping(const char *body, size_t size) {
    size_t chunks = 0;
    struct problem problem = {0};
    struct table_summary sum;
    struct table *t = table_new(&(struct table_options){.types = "a:numeric",
                                                        .on_error = TABLE_SKIP,
                                                        .comment = '%'},
                                &(struct table_sink){table_sink_forget, NULL, &chunks});
    if (t == NULL) {
        return false;
    }
    bool well = table_feed(t, body, size, &problem);
    problem_done(&problem);
    well = table_end(t, &sum, &problem) && well;
    assert_true(well || problem.type == PROBLEM_UNAVAILABLE);
    assert_true(!well || sum.n_rows == 2);
    problem_done(&problem);
    table_free(t);
    return well;
}

static void each_skipping(const char *body) {
    bool well = false;
    ALLOC_FAIL_EACH(well = read_skipping(body, strlen(body)));
    assert_true(well);
}

static void each_table(const char *body) {
    bool well = false;
    ALLOC_FAIL_EACH(well = read_table(body, strlen(body)));
    assert_true(well); /* the last call, in which no allocation failed */
}

static void test_tables(void **state) {
    (void)state;
    each_table("a,b,\"c\"\"d\"\n1,x,\"y\"\"z\"\n2.50,7,w\nfalls,-,\n");
    each_table(
        "[{\"a\":1,\"b\":\"x\\n\",\"c\":true},{\"a\":\"f\",\"b\":2,\"d\":null},{\"c\":false}]");
    each_table("{\"a\":1,\"b\":\"x\\n\",\"c\":true}\n{\"a\":\"f\",\"b\":2,\"d\":null}\n{\"c\":"
               "9007199254740993}\n");
    each_table("[1,\"\\u00e9\",null]\n[2,\"y\",4]\n[3,\"z\",5]\n");
    each_table("{\"columns\":[\"a\",{\"name\":\"b\",\"type\":\"text\"}],\"rows\":[[1,\"\\u00e9\"],["
               "2,null],[3,4]]}");
}

static void test_skipped_rows(void **state) {
    (void)state;
    each_skipping("% remark\na,b\n1,x\n2\ntwo,y\n3,\"z\"\n");
    each_skipping(
        "{\"a\":1,\"b\":\"x\"}\n{\"a\":\"two\",\"c\":1}\nno\n{\"a\":3,\"d\":[1]}\n{\"a\":4}\n");
}

static dn_model *model;

static bool read_instances(const char *body, bool labelled) {
    struct instance_rows in = {0};
    struct problem problem = {0};
    const bool well =
        instances_read(body, strlen(body), &(struct instances_options){.labelled = labelled}, model,
                       &in, &problem);
    assert_true(well || problem.type == PROBLEM_UNAVAILABLE);
    assert_true(!well || in.n == 3);
    problem_done(&problem);
    instance_rows_done(&in);
    return well;
}

static void test_instances(void **state) {
    (void)state;
    bool well = false;
    ALLOC_FAIL_EACH(well = read_instances("{\"instances\":[[1,2,\"r\\u00e9d\",true,\"a\"],{\"old\":"
                                          "1,\"kind\":\"b\"},[1,2,\"red\",true,\"a\"]]}",
                                          true));
    assert_true(well);
    ALLOC_FAIL_EACH(
        well =
            read_instances("old,length,colour,width\n1,2,\"r\"\"ed\",3\n,,,\n0,1,blue,2\n", false));
    assert_true(well);
    ALLOC_FAIL_EACH(
        well = read_instances(
            "[1,2,\"r\\u00e9d\",true]\n{\"old\":1}\n{\"length\":3,\"colour\":null,\"width\":2}\n",
            false));
    assert_true(well);
    ALLOC_FAIL_EACH(
        well = read_instances(
            "{\"columns\":[\"old\",{\"name\":\"length\"},\"width\",\"colour\"],\"rows\":[[1,2,3,"
            "\"r\\u00e9d\"],[0,1,2,null],[1,1,1,\"red\"]]}",
            false));
    assert_true(well);
    dn_model *plain = model;
    model = model_wide();
    ALLOC_FAIL_EACH(
        well = read_instances("[{\"f5\":1,\"words\":\"sun red "
                              "sea\",\"f1\":2,\"x\":1},[1,2,3,4,5,6,\"red red hills\"],{}]",
                              false));
    assert_true(well);
    ALLOC_FAIL_EACH(
        well = read_instances("f1,x,words,f4\n1,2,sun,3\n,,,\n0,1,\"sea, red\",2\n", false));
    assert_true(well);
    dn_model_unref(model);
    model = plain;
}

/* Reads instances as lines in blocks and writes their answers. */
static bool answer_lines(const struct format *format) {
    static const char body[] =
        "[1,2,\"red\",true]\n{\"old\":1,\"none\":2,\"other\":3}\n{\"colour\":\"bl\\u00fce\"}\n";
    struct problem problem = {0}, why = {0};
    struct buf out = {0};
    struct predictions_writer answer = {0};
    size_t label[3] = {0}, at = 0, used = 0;
    double probabilities[9] = {0};
    const dn_prediction rows = {.label = label, .probabilities = probabilities};
    struct keep keep;
    if (!keep_parse("colour,\"none\"", &keep, &problem)) {
        assert_int_equal(problem.type, PROBLEM_UNAVAILABLE);
        problem_done(&problem);
        keep_done(&keep);
        return false;
    }
    const struct answer_head head = {.name = "m",
                                     .version = 1,
                                     .outputs = ANSWER_LABEL | ANSWER_PROBABILITIES,
                                     .format = format,
                                     .refusal_base = "",
                                     .keep = &keep};
    struct instance_lines *lines =
        instance_lines_new(model, &(struct instances_options){.keep = &keep}, 3, 1000, &problem);
    enum instance_lines_state state = INSTANCE_LINES_FULL;
    predictions_writer_begin(&answer, &head, model, &rows, &out);
    while (lines != NULL && state != INSTANCE_LINES_MORE && state != INSTANCE_LINES_FAILED) {
        state = instance_lines_read(lines, body + at, sizeof body - 1 - at, true, &used, &why);
        at += used;
        answer.kept = &instance_lines_block(lines)->kept;
        predictions_writer_rows(&answer, instance_lines_block(lines)->n, &rows);
        instance_lines_clear(lines);
        if (state == INSTANCE_LINES_FAULT) {
            predictions_writer_refusal(&answer, instance_lines_at(lines), &why);
            problem_done(&why);
        }
    }
    predictions_writer_end(&answer, NULL, NULL);
    predictions_writer_done(&answer);
    const bool well = lines != NULL && state == INSTANCE_LINES_MORE && !out.failed &&
                      instance_lines_check_columns(lines, &problem);
    assert_true(lines != NULL || problem.type == PROBLEM_UNAVAILABLE);
    assert_true(state != INSTANCE_LINES_FAILED || why.type == PROBLEM_UNAVAILABLE);
    instance_lines_free(lines);
    keep_done(&keep);
    buf_done(&out);
    problem_done(&problem);
    problem_done(&why);
    return well;
}

static void test_lines(void **state) {
    (void)state;
    for (size_t i = 0; formats[i] != NULL; i++) {
        bool well = formats[i]->answers == NULL;
        if (!well) {
            ALLOC_FAIL_EACH(well = answer_lines(formats[i]));
        }
        assert_true(well);
    }
}

static int setup(void **state) {
    (void)state;
    model = model_mixed();
    return 0;
}

static int teardown(void **state) {
    (void)state;
    dn_model_unref(model);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tables),
                                       cmocka_unit_test(test_skipped_rows),
                                       cmocka_unit_test(test_instances),
                                       cmocka_unit_test(test_lines)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
