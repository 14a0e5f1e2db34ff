/* Every allocation may fail: nothing crashes, nothing leaks (valgrind and the sanitizers watch the same paths in the other tests), and the failure is told. */
#include "model_helper.h"
#include "unit/base/alloc_fail.h"

static bool quiet_chunk(void *arg, int64_t chunk, int64_t n_rows, struct wire_blob *blobs, size_t n_columns, struct problem *problem) {
    (void)chunk;
    (void)n_rows;
    (void)problem;
    for (size_t i = 0; i < n_columns; i++) {
        free(blobs[i].bytes);
    }
    *(size_t *)arg += 1;
    return true;
}

/* true: read well. false: told as a lack of memory. */
static bool read_table(const char *body, size_t size) {
    size_t chunks = 0;
    struct problem problem = {0};
    struct wire_table_summary sum;
    struct wire_table *t = wire_table_new(&(struct wire_table_options){.types = "b:categorical", .missing = "-"},
                                          &(struct wire_table_sink){quiet_chunk, NULL, &chunks});
    if (t == NULL) {
        return false;
    }
    bool well = wire_table_feed(t, body, size / 2, &problem) && wire_table_feed(t, body + size / 2, size - size / 2, &problem);
    problem_done(&problem);
    well = wire_table_end(t, &sum, &problem) && well;
    if (!well && problem.type != PROBLEM_UNAVAILABLE) {
        atomic_store(&alloc_fail_at, 0);
        fail_msg("problem %d: %s", problem.type, problem.detail != NULL ? problem.detail : "");
    }
    assert_true(!well || (chunks == 1 && sum.n_rows == 3));
    problem_done(&problem);
    wire_table_free(t);
    return well;
}

static void each_table(const char *body) {
    bool well = false;
    ALLOC_FAIL_EACH(well = read_table(body, strlen(body)));
    assert_true(well); /* the last run, without a failure */
}

static void test_tables(void **state) {
    (void)state;
    each_table("a,b,\"c\"\"d\"\n1,x,\"y\"\"z\"\n2.50,7,w\nfalls,-,\n");
    each_table("[{\"a\":1,\"b\":\"x\\n\",\"c\":true},{\"a\":\"f\",\"b\":2,\"d\":null},{\"c\":false}]");
    each_table("{\"columns\":[\"a\",{\"name\":\"b\",\"type\":\"text\"}],\"rows\":[[1,\"\\u00e9\"],[2,null],[3,4]]}");
}

static dn_model *model;

static bool read_instances(const char *body, bool labelled) {
    struct wire_instances in = {0};
    struct problem problem = {0};
    const bool well = wire_instances_read(body, strlen(body), WIRE_INSTANCES_SNIFF, model, labelled, &in, &problem);
    assert_true(well || problem.type == PROBLEM_UNAVAILABLE);
    assert_true(!well || in.n == 3);
    problem_done(&problem);
    wire_instances_done(&in);
    return well;
}

static void test_instances(void **state) {
    (void)state;
    bool well = false;
    ALLOC_FAIL_EACH(
        well =
            read_instances("{\"instances\":[[1,2,\"r\\u00e9d\",true,\"a\"],{\"old\":1,\"kind\":\"b\"},[1,2,\"red\",true,\"a\"]]}", true));
    assert_true(well);
    ALLOC_FAIL_EACH(well = read_instances("old,length,colour,width\n1,2,\"r\"\"ed\",3\n,,,\n0,1,blue,2\n", false));
    assert_true(well);
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tables), cmocka_unit_test(test_instances)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
