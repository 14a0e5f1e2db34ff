/* Features of an svmlight dataset that a job names: a model of some features equals a model of a
 * table with these features only, predicts by their names, and lists them. */
#include "lib/api.h"

#include <stdio.h>
#include <string.h>

#define SVMLIGHT "Content-Type: text/x-svmlight"
enum { ROWS = 400, WIDTH = 5000, SHOWN = 6 };

static double entry_of(size_t row, size_t place) {
    const size_t h = (row * 7919 + place * 104729) % 97;
    return h < 40 ? (double)h / 8 - 2 : 0;
}

static bool label_of(size_t row) {
    return entry_of(row, 0) - entry_of(row, 3) + entry_of(row, 5) / 2 +
               ((double)(row * 31 % 17) - 8) / 6 >
           0;
}

/* f1 … f6, and f5000 in some rows; the same numbers as CSV without f5000. */
static int prepare(void **state) {
    if (group_start(state) != 0) {
        return -1;
    }
    char *lines = keep(malloc(ROWS * 120), free), *csv = keep(malloc(ROWS * 120), free);
    size_t n = 0, m = (size_t)sprintf(csv, "y,f1,f2,f3,f4,f5,f6\n");
    for (size_t i = 0; i < ROWS; i++) {
        n += (size_t)sprintf(lines + n, "%d", label_of(i));
        m += (size_t)sprintf(csv + m, "%d", label_of(i));
        for (size_t j = 0; j < SHOWN; j++) {
            if (entry_of(i, j) != 0) {
                n += (size_t)sprintf(lines + n, " %zu:%g", j + 1, entry_of(i, j));
            }
            m += (size_t)sprintf(csv + m, ",%g", entry_of(i, j));
        }
        n += (size_t)sprintf(lines + n, i % 3 == 0 ? " 5000:%zu\n" : "\n", i % 5 + 1);
        m += (size_t)sprintf(csv + m, "\n");
    }
    status_check(call_upload_bytes("/v1/datasets/wide?label=y", lines, 0, SVMLIGHT), 201);
    status_check(call_upload("/v1/datasets/table", csv), 201);
    keep_free();
    return 0;
}

static const struct response *weights(const char *model) {
    return status_check(call_get("/v1/models/%s/weights", model), 200);
}

/* Equal weights with equal names. */
static void same_weights(const char *sparse, const char *dense, size_t n) {
    const struct response *a = weights(sparse), *b = weights(dense);
    assert_true(json_equal(value_at(a, "/features"), value_at(b, "/features")));
    assert_int_equal(count_at(a, "/w/0"), n);
    for (size_t j = 0; j < n; j++) {
        assert_close(real_at(a, text("/w/0/%zu", j)), real_at(b, text("/w/0/%zu", j)), 1e-7);
    }
    assert_close(real_at(a, "/w0/0"), real_at(b, "/w0/0"), 1e-7);
}

static void train_as(const char *model, const char *dataset, const char *features) {
    const struct response *r =
        job_wait(job_post("{'model':'%s','dataset':'%s','target':'y','algorithm':'logistic','"
                          "features':{'standardize':false%s}}",
                          model, dataset, features));
    if (strcmp(string_at(r, "/state"), "succeeded") != 0) {
        fail_msg("%s: %s", features, r->body);
    }
}

/* Predictions of svmlight lines. */
static const struct response *call_lines(const char *path, const char *lines) {
    static const char *const headers[] = {SVMLIGHT, NULL};
    return call(
        &(struct request){.method = "POST", .path = path, .headers = headers, .body = lines});
}

static void test_included(void **state) {
    (void)state;
    train_as("in", "wide", ",'include':['f6','f1','f4']");
    train_as("in-table", "table", ",'include':['f1','f4','f6']");
    same_weights("in", "in-table", 3);
    const struct response *m = status_check(call_get("/v1/models/in"), 200);
    assert_json(m, "/features", "['f1','f4','f6']");
    assert_json(m, "/inputs", "[{'name':'f','type':'sparse','n_features':3,'n_places':5000}]");
    /* instances by name and by position; features that the model does not use have no effect */
    const char *rows = "{'instances':[{'f4':2,'f1':1,'f2':9,'f5000':3},[1,2,0]]}";
    const struct response
        *r = status_check(call_post("/v1/models/in/predict", "%s", rows), 200),
        *s = status_check(call_lines("/v1/models/in/predict", "0 1:1 2:9 4:2 5000:3\n"), 200),
        *t = status_check(call_post("/v1/models/in-table/predict", "{'instances':[[1,2,0]]}"), 200);
    assert_true(json_equal(value_at(r, "/predictions/0"), value_at(r, "/predictions/1")));
    assert_true(json_equal(value_at(r, "/predictions/0"), value_at(s, "/predictions/0")));
    assert_close(real_at(r, "/predictions/0/probabilities/1"),
                 real_at(t, "/predictions/0/probabilities/1"), 1e-7);
    problem_check(call_post("/v1/models/in/predict", "{'instances':[[1,2,0,0]]}"), 422,
                  "invalid-instances");
    problem_check(call_post("/v1/models/in/predict", "{'instances':[{'g1':1}]}"), 422,
                  "invalid-instances");
}

/* Thousands of excluded names, which leave one column of the table. */
static void test_excluded(void **state) {
    (void)state;
    char *names = keep(malloc(WIDTH * 10), free);
    size_t n = (size_t)sprintf(names, ",'exclude':['f3'");
    for (size_t j = SHOWN + 1; j <= WIDTH; j++) {
        n += (size_t)sprintf(names + n, ",'f%zu'", j);
    }
    sprintf(names + n, "]");
    train_as("out", "wide", names);
    train_as("out-table", "table", ",'exclude':['f3']");
    same_weights("out", "out-table", 5);
    /* a few excluded out of many: the dry run has their number, and `include` may name the whole
     * column as well */
#define EXCLUDING(include)                                                                         \
    "{'model':'m','dataset':'wide','target':'y','algorithm':'logistic','features':{" include       \
    "'exclude':['f2','f4999']}}"
    const struct response *r = status_check(call_post("/v1/jobs?dry_run=true", EXCLUDING("")), 200),
                          *s = status_check(call_post("/v1/jobs?dry_run=true",
                                                      EXCLUDING("'include':['f'],")),
                                            200);
    assert_int_equal(whole_at(r, "/features/count"), WIDTH - 2);
    assert_int_equal(whole_at(s, "/features/columns/0/features"), WIDTH - 2);
}

/* Validation on another version with a narrower column, with standardising: the features are found
 * by their names. */
static void test_validated_and_standardised(void **state) {
    (void)state;
    status_check(call_upload_bytes("/v1/datasets/narrow?label=y", "0 1:1 2:3\n1 1:-1 6:2\n1 4:1\n",
                                   0, SVMLIGHT),
                 201);
    const struct response *r =
        job_wait(job_post("{'model':'v','dataset':'wide','target':'y','algorithm':'logistic','"
                          "features':{'include':['f1','f6'],'standardize':true},"
                          "'validation':{'dataset':'narrow'}}"));
    assert_string_equal(string_at(r, "/state"), "succeeded");
    const struct response *t =
        job_wait(job_post("{'model':'v-table','dataset':'table','target':'y','algorithm':'logistic'"
                          ",'features':{'include':['f1','f6'],'standardize':true}}"));
    assert_string_equal(string_at(t, "/state"), "succeeded");
    same_weights("v", "v-table", 2);
}

static void test_faults(void **state) {
    (void)state;
    static const struct {
        const char *members, *pointer, *words;
    } faults[] = {
        {"'target':'f1'", "/target",
         "\\\"f1\\\" is a feature of the sparse column \\\"f\\\"; the target must be a separate "
         "column"},
        {"'target':'y','weight':'f3'", "/weight", "the dataset has \\\"y\\\""},
        {"'target':'f5001'", "/target", "go from f1 to f5000"},
        {"'target':'y','features':{'include':['f1','f0']}", "/features/include/1",
         "go from f1 to f5000"},
        {"'target':'y','features':{'include':['f01']}", "/features/include/0",
         "has no column \\\"f01\\\""},
        {"'target':'y','features':{'include':['f2','f9','f2']}", "/features/include/2",
         "named twice"},
        {"'target':'y','features':{'include':['f2'],'exclude':['f3','f2']}", "/features/exclude/1",
         "in include and in exclude"},
        {"'target':'y','features':{'include':['f','f2']}", "/features/include/1", "as a whole"},
        {"'target':'y','features':{'include':['f2','f']}", "/features/include/1",
         "single features"},
        {"'target':'y','features':{'exclude':['f','f2']}", "/features/exclude/1", "as a whole"},
        {"'target':'y','features':{'include':[]}", "/features", "no column is left"},
        {"'target':'y','features':{'basis':[{'type':'polynomial'}]}", "/features/basis/0",
         "sparse"},
        {"'target':'y','features':{'basis':[{'type':'polynomial','columns':['f1','f2']}]}",
         "/features/basis/0/columns/1", "sparse"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        const struct response *r =
            call_post("/v1/jobs", "%s",
                      text("{'model':'m','dataset':'wide','algorithm':'logistic',%s}",
                           faults[i].members));
        if (r->status != 422 || strstr(r->body, faults[i].words) == NULL) {
            fail_msg("%s: no \"%s\" in %d %s", faults[i].members, faults[i].words, r->status,
                     r->body);
        }
        fault_check(problem_check(r, 422, "invalid"), faults[i].pointer);
    }
    status_check(call_upload_bytes("/v1/datasets/two?label=y", "0 1:1 2:3\n1 1:-1\n", 0, SVMLIGHT),
                 201);
    const struct response *r =
        call_post("/v1/jobs", "{'model':'m','dataset':'two','target':'y','algorithm':'logistic','"
                              "features':{'exclude':['f2','f1']}}");
    fault_check(problem_check(r, 422, "invalid"), "/features/exclude");
    assert_non_null(strstr(r->body, "names all 2 features"));
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_included), TEST(test_excluded),
                                       TEST(test_validated_and_standardised), TEST(test_faults)};
    return cmocka_run_group_tests(tests, prepare, group_end);
}
