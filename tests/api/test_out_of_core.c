/* Tables larger than the memory limit of a job: the rows are read again in each pass, and the
 * result equals that of a job with memory for all rows. A method that needs the matrix in memory is
 * refused at the POST with the amount. */
#include "sheet.h"

#include <stdio.h>
#include <string.h>

enum { ROWS = 105000, COLUMNS = 50, MEMORY_MIB = 16 }; /* 42 MB of numbers of 8 bytes */

enum {
    WIDE_ROWS = 6000,
    WIDE_COLUMNS = 300,
    WIDE_MIB = 20
}; /* 14 MB of numbers, 10 MB of them in a block of 4,096 rows */

/* Two classes that overlap; numbers of several lengths, so that no column is stored as bytes. */
static const char *table(size_t rows, size_t columns) {
    struct buf {
        char *text;
        size_t size;
    } out = {keep(malloc(rows * columns * 12), free), 0};
    uint64_t state = 5;
    assert_non_null(out.text);
    for (size_t j = 0; j < columns; j++) {
        out.size += (size_t)sprintf(out.text + out.size, "x%zu,", j);
    }
    out.size += (size_t)sprintf(out.text + out.size, "class\n");
    for (size_t i = 0; i < rows; i++) {
        const bool second = next_uniform(&state) < 0.4;
        for (size_t j = 0; j < columns; j++) {
            const double x =
                next_uniform(&state) + next_uniform(&state) + (second && j < 10 ? 0.4 : 0);
            out.size += j % 3 == 0   ? (size_t)sprintf(out.text + out.size, "%d,", (int)(x * 100))
                        : j % 3 == 1 ? (size_t)sprintf(out.text + out.size, "%.3f,", x)
                                     : (size_t)sprintf(out.text + out.size, "%.5f,", x * 40);
        }
        out.size += (size_t)sprintf(out.text + out.size, "%s\n", second ? "b" : "a");
    }
    return out.text;
}

static const char *weights(const char *model) {
    const struct response *r = status_check(call_get("/v1/models/%s/weights", model), 200);
    json_object_del(r->json, "model");
    json_object_del(r->json, "version");
    return keep(json_dumps(r->json, JSON_REAL_PRECISION(17) | JSON_SORT_KEYS), free);
}

static void same_bytes(const char *dataset, int memory_mib) {
    static const char *const methods[] = {
        "'algorithm':'logistic','params':{'solver':'sgd','max_iterations':2}",
        "'algorithm':'logistic','params':{'solver':'lbfgs','max_iterations':6}",
        "'algorithm':'naive_bayes'",
        "'algorithm':'gaussian'",
        "'algorithm':'least_squares'",
        "'algorithm':'perceptron','params':{'max_iterations':2}",
    };
    enum { N = sizeof methods / sizeof methods[0] };
    int64_t jobs[2][N];
    for (size_t i = 0; i < N; i++) {
        for (int large = 0; large < 2; large++) {
            jobs[large][i] =
                job_post("{'model':'%s%zu-%d','dataset':'%s','target':'class',%s,'limits':{'memory_"
                         "mib':%d,'threads':1}}",
                         dataset, i, large, dataset, methods[i], large ? 1000 : memory_mib);
        }
    }
    for (size_t i = 0; i < N; i++) {
        const char *of[2];
        for (int large = 0; large < 2; large++) {
            const struct response *r = job_wait(jobs[large][i]);
            if (strcmp(string_at(r, "/state"), "succeeded") != 0) {
                fail_msg("%s, %s: %s", methods[i], large ? "in memory" : "out of core", r->body);
            }
            of[large] = weights(text("%s%zu-%d", dataset, i, large));
        }
        if (strcmp(of[0], of[1]) != 0) {
            fail_msg("%s: the weights differ:\n%.300s\n%.300s", methods[i], of[0], of[1]);
        }
    }
}

static void test_the_same_bytes_as_in_memory(void **state) {
    (void)state;
    status_check(call_upload("/v1/datasets/large", table(ROWS, COLUMNS)), 201);
    same_bytes("large", MEMORY_MIB);
}

/* A block of wide rows is read in parts. */
static void test_wide_rows(void **state) {
    (void)state;
    status_check(call_upload("/v1/datasets/wide", table(WIDE_ROWS, WIDE_COLUMNS)), 201);
    same_bytes("wide", WIDE_MIB);
}

/* Each thread has its own working memory: if the limit is too small for all, fewer threads are
 * used, unless the job sets `threads`. The message names the limit. */
static void test_fewer_threads(void **state) {
    (void)state;
    status_check(call_upload("/v1/datasets/wide", table(WIDE_ROWS, WIDE_COLUMNS)), 200);
    service_stop();
    service_restart(FLAGS("--job-memory", "64M", "--train-threads", "8"));
#define SHORT(more)                                                                                \
    "{'model':'short','dataset':'wide','target':'class','algorithm':'gaussian'" more "}"
    const struct response *r = status_check(call_post("/v1/jobs?dry_run=true", SHORT("")), 200);
    assert_in_range(whole_at(r, "/limits/threads"), 1, 7);
    assert_non_null(strstr(r->body, "in 8 it would need about"));
    assert_true(whole_at(r, "/memory_bytes") <= 56 << 20);
    r = problem_check(call_post("/v1/jobs", SHORT(",'limits':{'threads':8}")), 422, "invalid");
    assert_string_equal(string_at(r, "/errors/0/pointer"), "");
    assert_non_null(strstr(r->body, "(--job-memory)"));
    assert_non_null(strstr(r->body, "(limits.threads) it would need about"));
    r = problem_check(call_post("/v1/jobs",
                                SHORT(",'params':{'covariance':'full'},'limits':{'memory_mib':8}")),
                      422, "invalid");
    fault_check(r, "/limits/memory_mib");
    assert_non_null(strstr(r->body, "the method's own for 300 features"));
    const struct response *done = job_wait(job_post(SHORT("")));
    assert_string_equal(string_at(done, "/state"), "succeeded");
    assert_non_null(strstr(done->body, "in 8 it would need about"));
}

/* Coordinate descent needs all rows: the job is refused at the POST with the estimate. */
static void test_refused_without_the_matrix(void **state) {
    (void)state;
    const struct response *r =
        call_post("/v1/jobs", "{'model':'no','dataset':'large','target':'class','algorithm':'"
                              "gaussian','limits':{'memory_mib':1},"
                              "'features':{'basis':[{'type':'polynomial','degree':2}]}}");
    problem_check(r, 422, "invalid");
    fault_check(r, "/limits/memory_mib");
    assert_non_null(strstr(r->body, "would need about"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_the_same_bytes_as_in_memory),
        TEST(test_refused_without_the_matrix),
        TEST(test_wide_rows),
        TEST(test_fewer_threads),
    };
    return RUN(tests);
}
