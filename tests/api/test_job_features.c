/* `features` of a job: the estimate, the trained model, and each fault with its place. */
#include "lib/api.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* n: numbers, one missing; c: red, blue, green, one missing; b: boolean; e: numbers, none
 * missing. */
#define MIXED                                                                                      \
    "n,c,b,e,y\n1,red,true,1,a\n2,blue,false,2,b\n,green,true,3,a\n4,,false,4,b\n5,red,true,5,"    \
    "a\n2,red,false,7,b\n2,blue,true,9,a\n3,"                                                      \
    "green,false,2,b\n"

static int prepare(void **state) {
    if (group_start(state) != 0) {
        return -1;
    }
    upload_file("iris", "iris.csv");
    status_check(call_upload("/v1/datasets/mixed", MIXED), 201);
    keep_free();
    return 0;
}

#define JOB(dataset, target, features)                                                             \
    "{'model':'m','dataset':'" dataset "','target':'" target                                       \
    "','algorithm':'logistic','features':{" features "}}"

static const struct response *plan(const char *spec) {
    return status_check(call_post("/v1/jobs?dry_run=true", "%s", spec), 200);
}

/* The feature names of the estimate are those of the trained model. */
static const struct response *same_as_trained(const char *spec) {
    const struct response *planned = plan(spec);
    job_train("%s", spec);
    const struct response *model = status_check(call_get("/v1/models/m"), 200);
    if (!json_equal(value_at(planned, "/features/names"), value_at(model, "/features"))) {
        fail_msg("planned %s\ntrained %s", planned->body, model->body);
    }
    assert_int_equal(whole_at(planned, "/features/count"), count_at(planned, "/features/names"));
    assert_true(
        json_equal(value_at(planned, "/features/basis"), value_at(model, "/encoding/basis")));
    assert_true(
        json_equal(value_at(planned, "/features/missing"), value_at(model, "/encoding/missing")));
    assert_true(json_equal(value_at(planned, "/features/categorical"),
                           value_at(model, "/encoding/categorical")));
    return planned;
}

static void test_defaults(void **state) {
    (void)state;
    const struct response *r = same_as_trained(JOB("mixed", "y", ""));
    assert_json(r, "/features/missing",
                "{'numeric':'mean','categorical':'own_category','indicator':false}");
    assert_json(r, "/features/categorical", "{'encoding':'one_hot','unseen':'zeros'}");
    assert_json(r, "/features/basis", "[]");
    assert_json(r, "/features/names", "['n','c=blue','c=green','c=red','c=(missing)','b','e']");
}

static void test_missing_values(void **state) {
    (void)state;
    const struct response *r = same_as_trained(JOB("mixed", "y", "'missing':'most_frequent'"));
    assert_json(r, "/features/missing",
                "{'numeric':'most_frequent','categorical':'most_frequent','indicator':false}");
    assert_json(r, "/features/names", "['n','c=blue','c=green','c=red','b','e']");
    r = call_get("/v1/models/m");
    assert_json(r, "/inputs/0/missing_value", "2");
    assert_json(r, "/inputs/1/missing_as", "'red'");
    assert_json(r, "/inputs/1/missing_level", "false");
    r = same_as_trained(JOB("mixed", "y", "'missing':{'indicator':true}"));
    assert_json(r, "/features/names",
                "['n','n=(missing)','c=blue','c=green','c=red','c=(missing)','b','e']");
    assert_json(r, "/features/columns/0/indicator", "true");
    assert_json(r, "/features/columns/0/features", "2");
    r = same_as_trained(JOB("mixed", "y", "'missing':'own_category'"));
    assert_json(r, "/features/missing/categorical", "'own_category'");
    /* a missing number is replaced by the mean: equal answers */
    r = call_post(
        "/v1/models/m/predict?output=scores",
        "{'instances':[{'n':null,'c':'red','b':true,'e':1},{'n':%.17g,'c':'red','b':true,'e':1}]}",
        19.0 / 7);
    assert_close(real_at(r, "/predictions/0/scores/0"), real_at(r, "/predictions/1/scores/0"),
                 1e-12);
}

static void test_categories(void **state) {
    (void)state;
    const struct response *r = same_as_trained(
        JOB("mixed", "y", "'categorical':{'encoding':'drop_first','unseen':'most_frequent'}"));
    assert_json(r, "/features/names", "['n','c=green','c=red','c=(missing)','b','e']");
    assert_json(r, "/features/columns/1/encoding", "'drop_first'");
    r = call_get("/v1/models/m");
    assert_json(r, "/inputs/1/dropped_level", "'blue'");
    assert_json(r, "/inputs/1/unseen_as", "'red'");
    r = call_post(
        "/v1/models/m/predict?output=scores",
        "{'instances':[{'n':1,'c':'red','b':true,'e':1},{'n':1,'c':'pink','b':true,'e':1}]}");
    assert_true(real_at(r, "/predictions/0/scores/0") == real_at(r, "/predictions/1/scores/0"));
    same_as_trained(JOB("mixed", "y", "'categorical':{'unseen':'error'}"));
}

static void test_bases(void **state) {
    (void)state;
    const struct response *r =
        same_as_trained(JOB("mixed", "y", "'basis':[{'type':'polynomial','columns':['n','e']}]"));
    assert_json(
        r, "/features/basis",
        "[{'type':'polynomial','columns':['n','e'],'keep':true,'degree':2,'interactions':true}]");
    assert_json(r, "/features/basis_features", "[5]");
    assert_json(r, "/features/columns/0/encoding", "'basis'");
    assert_json(r, "/features/columns/0/features", "0");
    same_as_trained(
        JOB("mixed", "y", "'basis':[{'type':'polynomial','degree':3,'interactions':false}]"));
    r = same_as_trained(JOB("mixed", "y",
                            "'basis':[{'type':'gaussian','columns':['e'],'centres':[[1],[5],[9]],'"
                            "width':2},{'type':'distance','columns':['"
                            "n','e'],'points':[[0,0],[1,1]],'keep':true}]"));
    assert_json(r, "/features/basis_features", "[3,2]");
    /* a feature because the second basis keeps its columns */
    assert_json(r, "/features/columns/3/encoding", "'number'");
    r = same_as_trained(
        JOB("mixed", "y", "'basis':[{'type':'gaussian','columns':['e'],'centers':2}]"));
    assert_json(r, "/features/basis/0",
                "{'type':'gaussian','columns':['e'],'keep':false,'standardize':false,'centres':2,'"
                "width':'auto'}");
    r = same_as_trained(
        JOB("mixed", "y",
            "'basis':[{'type':'random_fourier','features':7,'standardize':true,'width':1.5}]"));
    assert_json(r, "/features/basis_features", "[7]");
    assert_json(r, "/features/basis/0/columns", "['n','b','e']");
}

/* The feature names of a fisher basis depend on the rows: the estimate has only their number. */
static void test_a_fisher_basis(void **state) {
    (void)state;
    const char *spec = JOB("iris", "class", "'basis':[{'type':'fisher'}]");
    const struct response *r = plan(spec);
    assert_json(r, "/features/names", "null");
    assert_json(r, "/features/count", "2");
    assert_json(r, "/features/basis/0/components", "null");
    job_train("%s", spec);
    assert_json(call_get("/v1/models/m"), "/features", "['fisher(1)','fisher(2)']");
    r = plan(JOB("iris", "class", "'basis':[{'type':'fisher','components':1,'keep':true}]"));
    assert_json(r, "/features/count", "5");
}

/* A polynomial basis equals the same products uploaded as columns. */
static void test_a_polynomial_is_the_columns_it_says(void **state) {
    (void)state;
    enum { ROWS = 40 };
    char plain[4096] = "a,b,y\n", squared[8192] = "a,b,aa,ab,bb,y\n";
    for (int i = 0; i < ROWS; i++) {
        const double a = (i * 7 % 11 - 5) / 4.0, b = (i * 5 % 13 - 6) / 4.0;
        const char *label = a * a + b * b < 1.7 ? "in" : "out";
        (void)sprintf(plain + strlen(plain), "%.17g,%.17g,%s\n", a, b, label);
        (void)sprintf(squared + strlen(squared), "%.17g,%.17g,%.17g,%.17g,%.17g,%s\n", a, b, a * a,
                      a * b, b * b, label);
    }
    status_check(call_upload("/v1/datasets/plain", plain), 201);
    status_check(call_upload("/v1/datasets/squared", squared), 201);
    const struct response *basis =
        job_train(JOB("plain", "y", "'basis':[{'type':'polynomial','degree':2}]"));
    const struct response *columns = job_train(JOB("squared", "y", ""));
    assert_close(real_at(basis, "/result/objective"), real_at(columns, "/result/objective"), 1e-9);
    const struct response *line = job_train(JOB("plain", "y", ""));
    assert_true(real_at(basis, "/result/metrics/train/accuracy") >
                real_at(line, "/result/metrics/train/accuracy"));
}

static void test_a_column_of_one_category_is_warned_of(void **state) {
    (void)state;
    status_check(call_upload("/v1/datasets/one", "a,only,y\n1,x,p\n2,x,q\n3,x,q\n4,x,p\n6,x,q\n"),
                 201);
    const struct response *r = job_train(JOB("one", "y", ""));
    assert_int_equal(count_at(r, "/warnings"), 1);
    assert_non_null(strstr(string_at(r, "/warnings/0"), "the same category of \"only\""));
    r = plan(JOB("one", "y", ""));
    assert_int_equal(count_at(r, "/warnings"), 1);
    assert_non_null(
        strstr(string_at(r, "/warnings/0"), "\"only\" has the same category in every row"));
}

static void test_a_constant_column_is_warned_of(void **state) {
    (void)state;
    status_check(call_upload("/v1/datasets/constant", "a,k,y\n1,7,p\n2,7,q\n3,7,q\n4,7,p\n6,,q\n"),
                 201);
    const struct response *r = job_train(JOB("constant", "y", ""));
    assert_int_equal(count_at(r, "/warnings"), 1);
    assert_non_null(strstr(string_at(r, "/warnings/0"), "the same value of \"k\""));
    r = call_get("/v1/models/m/weights");
    assert_json(r, "/features", "['a','k']");
    assert_json(r, "/w/0/1", "0");
    r = plan(JOB("constant", "y", ""));
    assert_int_equal(count_at(r, "/warnings"), 1);
    assert_non_null(strstr(string_at(r, "/warnings/0"), "\"k\" is 7 in every row"));
    assert_int_equal(count_at(plan(JOB("constant", "y", "'exclude':['k']")), "/warnings"), 0);
}

/* ---- faults ---- */

static void test_a_target_of_one_value_and_missing_words(void **state) {
    (void)state;
    status_check(call_upload("/v1/datasets/names", "a,y\n1,DE\n3,NA\n2,DE\n5,NA\n"), 201);
    const struct response *r =
        problem_check(call_post("/v1/jobs", "%s", JOB("names", "y", "")), 422, "invalid");
    assert_non_null(
        strstr(string_at(r, "/errors/0/detail"), "has one value only, and 2 rows without one"));
}

static void test_invalid_features(void **state) {
    (void)state;
    /* jobs on dataset mixed with target y: the member of features, the place of the fault, words of
     * the message */
    static const struct {
        const char *features, *pointer, *words;
    } faults[] = {
        {"'missing':7", "/features/missing", "word or an object"},
        {"'missing':'median'", "/features/missing", "own_category"},
        {"'missing':{'numeric':'own_category'}", "/features/missing/numeric", "most_frequent"},
        {"'missing':{'categorical':'mean'}", "/features/missing/categorical", "own_category"},
        {"'missing':{'indicator':1}", "/features/missing/indicator", "boolean"},
        {"'missing':{'text':'mean'}", "/features/missing/text", "known"},
        {"'categorical':'one_hot'", "/features/categorical", "object"},
        {"'categorical':{'encoding':'hash'}", "/features/categorical/encoding", "drop_first"},
        {"'categorical':{'encoding':true}", "/features/categorical/encoding", "one of"},
        {"'categorical':{'unseen':'ignore'}", "/features/categorical/unseen", "zeros"},
        {"'categorical':{'levels':3}", "/features/categorical/levels", "known"},
        {"'text':{'weighting':'tfidf'}", "/features/text", "no feature is a text column"},
        {"'text':{'min_rows':3}", "/features/text", "types=NAME:text"},
        {"'basis':{}", "/features/basis", "array"},
        {"'basis':[7]", "/features/basis/0", "object"},
        {"'basis':[{}]", "/features/basis/0/type", "missing"},
        {"'basis':[{'type':'spline'}]", "/features/basis/0/type", "polynomial"},
        {"'basis':[{'type':'polynomial','degree':0}]", "/features/basis/0/degree", "1 to 5"},
        {"'basis':[{'type':'polynomial','degree':6}]", "/features/basis/0/degree", "1 to 5"},
        {"'basis':[{'type':'polynomial','degree':1.5}]", "/features/basis/0/degree", "integer"},
        {"'basis':[{'type':'polynomial','interactions':'all'}]", "/features/basis/0/interactions",
         "boolean"},
        {"'basis':[{'type':'polynomial','width':1}]", "/features/basis/0/width", "known"},
        {"'basis':[{'type':'polynomial','keep':false}]", "/features/basis/0/keep", "degree 1"},
        {"'basis':[{'type':'polynomial','columns':['n','nobody']}]", "/features/basis/0/columns/1",
         "nobody"},
        {"'basis':[{'type':'polynomial','columns':['y']}]", "/features/basis/0/columns/0",
         "not a column that is a feature"},
        {"'basis':[{'type':'polynomial','columns':['c']}]", "/features/basis/0/columns/0",
         "categorical"},
        {"'basis':[{'type':'polynomial','columns':['n','n']}]", "/features/basis/0/columns/1",
         "twice"},
        {"'basis':[{'type':'polynomial','columns':[]}]", "/features/basis/0/columns",
         "at least one"},
        {"'basis':[{'type':'polynomial','columns':'n'}]", "/features/basis/0/columns", "array"},
        {"'exclude':['n'],'basis':[{'type':'polynomial','columns':['n']}]",
         "/features/basis/0/columns/0", "not a column that is a feature"},
        {"'include':['c'],'basis':[{'type':'polynomial'}]", "/features/basis/0", "no column"},
        {"'basis':[{'type':'gaussian'}]", "/features/basis/0/centres", "missing"},
        {"'basis':[{'type':'gaussian','centres':0}]", "/features/basis/0/centres", "1 to"},
        {"'basis':[{'type':'gaussian','centres':'many'}]", "/features/basis/0/centres", "integer"},
        {"'basis':[{'type':'gaussian','columns':['e'],'centres':[]}]", "/features/basis/0/centres",
         "at least one"},
        {"'basis':[{'type':'gaussian','columns':['e'],'centres':[[1],[2,3]]}]",
         "/features/basis/0/centres/1", "must have 1"},
        {"'basis':[{'type':'gaussian','columns':['e'],'centres':[1]}]",
         "/features/basis/0/centres/0", "array"},
        {"'basis':[{'type':'gaussian','columns':['e'],'centres':[['x']]}]",
         "/features/basis/0/centres/0/0", "finite"},
        {"'basis':[{'type':'gaussian','columns':['e'],'centres':[[1]],'width':0}]",
         "/features/basis/0/width", "> 0"},
        {"'basis':[{'type':'gaussian','columns':['e'],'centres':[[1]],'width':'wide'}]",
         "/features/basis/0/width", "auto"},
        {"'basis':[{'type':'gaussian','columns':['e'],'centres':[[1]],'centers':[[1]]}]",
         "/features/basis/0/centers", "one of them"},
        {"'basis':[{'type':'distance'}]", "/features/basis/0/points", "missing"},
        {"'basis':[{'type':'distance','points':5}]", "/features/basis/0/points", "array"},
        {"'basis':[{'type':'random_fourier','features':0}]", "/features/basis/0/features",
         "1 to 20000"},
        {"'basis':[{'type':'random_fourier','features':20001}]", "/features/basis/0/features",
         "1 to 20000"},
        {"'basis':[{'type':'random_fourier','width':-1}]", "/features/basis/0/width", "> 0"},
        {"'basis':[{'type':'random_fourier','features':15000},{'type':'random_fourier','features':"
         "15000}]",
         "/features/basis", "20000"},
        {"'basis':[{'type':'fisher','components':0}]", "/features/basis/0/components", "1 to"},
        {"'basis':[{'type':'fisher','points':[[1]]}]", "/features/basis/0/points", "known"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        const char *spec = text(
            "{'model':'m','dataset':'mixed','target':'y','algorithm':'logistic','features':{%s}}",
            faults[i].features);
        const struct response *r = call_post("/v1/jobs", "%s", spec);
        if (r->status != 422 || strstr(r->body, faults[i].words) == NULL) {
            fail_msg("%s: no \"%s\" in %d %s", faults[i].features, faults[i].words, r->status,
                     r->body);
        }
        fault_check(problem_check(r, 422, "invalid"), faults[i].pointer);
    }
}

/* Options of a vocabulary are refused together with hashing; the members of a description are
 * accepted in a job. */
static void test_useless_text_options(void **state) {
    (void)state;
    status_check(call_upload("/v1/datasets/notes?types=m:text",
                             "m,y\nfree money,a\nhow are you,b\nmoney now,a\nsee you,b\n"),
                 201);
    static const char *const beside[][2] = {{"'vocabulary':50", "/features/text/vocabulary"},
                                            {"'min_rows':2", "/features/text/min_rows"}};
    for (size_t i = 0; i < 2; i++) {
        const struct response *r =
            call_post("/v1/jobs", "%s",
                      text("{'model':'m','dataset':'notes','target':'y','algorithm':'logistic','"
                           "features':{'text':{'hash':8,%s}}}",
                           beside[i][0]));
        fault_check(problem_check(r, 422, "invalid"), beside[i][1]);
    }
#define ENCODED                                                                                    \
    "'text':{'weighting':'counts','vocabulary':100000,'min_rows':1,'hash':0,'lowercase':true}"
    plan(JOB("notes", "y", "'text':{'hash':8,'vocabulary':100000,'min_rows':1}"));
    const struct response *r = plan(JOB("iris", "class", ENCODED));
    assert_int_equal(count_at(r, "/warnings"), 0);
    assert_null(strstr(plan(JOB("notes", "y", ENCODED))->body, "no effect"));
}

/* naive_bayes needs a probability of every level: drop_first is refused. Without a categorical
 * column drop_first has no effect and is accepted. */
static void test_every_level_where_it_is_needed(void **state) {
    (void)state;
    static const char *const job = "{'model':'m','dataset':'mixed','target':'y','algorithm':'naive_"
                                   "bayes','features':{%s'categorical':{"
                                   "'encoding':'drop_first'}}}";
    const struct response *r = problem_check(call_post("/v1/jobs", job, ""), 422, "invalid");
    fault_check(r, "/features/categorical/encoding");
    assert_non_null(strstr(r->body, "needs a feature for every level"));
    status_check(call_post("/v1/jobs?dry_run=true", job, "'include':['n'],"), 200);
}

static void test_all_faults_of_features_at_once(void **state) {
    (void)state;
    const struct response *r = problem_check(
        call_post(
            "/v1/jobs",
            JOB("mixed", "y",
                "'missing':{'numeric':1,'x':2},'categorical':{'encoding':3},'basis':[{'type':'"
                "polynomial','degree':9},"
                "{'type':'gaussian','width':0},{'type':'other'}],'standardize':'yes','colour':1")),
        422, "invalid");
    static const char *const places[] = {
        "/features/missing/numeric", "/features/missing/x",       "/features/categorical/encoding",
        "/features/basis/0/degree",  "/features/basis/1/centres", "/features/basis/1/width",
        "/features/basis/2/type",    "/features/standardize",     "/features/colour"};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        fault_check(r, places[i]);
    }
    assert_int_equal(count_at(r, "/errors"), sizeof places / sizeof places[0]);
}

/* Faults that are found in the rows: the job fails with a message. */
static void test_faults_found_while_reading_rows(void **state) {
    (void)state;
    const int64_t id =
        job_post(JOB("mixed", "y", "'basis':[{'type':'gaussian','columns':['b'],'centres':3}]"));
    const struct response *r = job_wait(id);
    assert_string_equal(string_at(r, "/state"), "failed");
    assert_string_equal(string_at(r, "/error/type"), "/problems/untrainable");
    assert_non_null(strstr(string_at(r, "/error/detail"), "centres"));
}

/* The message about texts without words names the rows and the reason. */
static void test_texts_without_words(void **state) {
    (void)state;
    status_check(call_upload("/v1/datasets/wordless?types=t:text,s:text,u:text",
                             "t,s,u,y\none day,!!! ...,+,a\ntwo days,?,;,b\none day,!,:),a\n"),
                 201);
    const struct response *r =
        job_train("%s", JOB("wordless", "y", "'include':['t','s','u'],'text':{'min_rows':3}"));
    static const char *const said[] = {
        "no training row has a word in \\\"s\\\", \\\"u\\\":",
        "no word of \\\"t\\\" is in at least 3 training rows (\\\"min_rows\\\"): it was ignored"};
    for (size_t i = 0; i < 2; i++) {
        if (strstr(r->body, said[i]) == NULL) {
            fail_msg("no \"%s\" in %s", said[i], r->body);
        }
    }
    static const struct {
        const char *include, *said;
    } none[] = {{"['s']", "no feature is left: column \\\"s\\\" has no words"},
                {"['s','u']", "no feature is left: every column has no words"}};
    for (size_t i = 0; i < 2; i++) {
        r = problem_check(call_post("/v1/jobs",
                                    "{'model':'m','dataset':'wordless','target':'y','algorithm':'"
                                    "logistic','features':{'include':%s}}",
                                    none[i].include),
                          422, "invalid");
        if (strstr(r->body, none[i].said) == NULL) {
            fail_msg("no \"%s\" in %s", none[i].said, r->body);
        }
    }
}

/* Graphs as texts: paths are the features; a text that is not a graph is refused with its place. */
static void test_graphs(void **state) {
    (void)state;
    static const char *const job = "{'model':'graphs','dataset':'graphs','target':'y','algorithm':'"
                                   "logistic','features':{'text':{'weighting':'paths'%s}}}";
    status_check(call_upload("/v1/datasets/graphs?types=g:text",
                             "g,y\na-b b-c,ring\na-b,chain\nc-b,ring\nd-a,chain\n"),
                 201);
    const struct response *r =
        status_check(call_post("/v1/jobs?dry_run=true", job, ",'length':2"), 200);
    assert_json(r, "/features/text", "{'weighting':'paths','length':2}");
    assert_json(r, "/features/columns/0/encoding", "'paths'");
    job_train(job, "");
    r = status_check(call_get("/v1/models/graphs"), 200);
    assert_json(r, "/encoding/text", "{'weighting':'paths','length':3}");
    status_check(call_post("/v1/jobs?dry_run=true", job, ",'length':3"), 200);
    r = status_check(call_get("/v1/models/graphs/weights"), 200);
    assert_json(r, "/features/0", "'g:a'");
    assert_json(r, "/features/12", "'g:(unseen)'");
    status_check(call_post("/v1/models/graphs/predict",
                           "{'instances':[{'g':'b-a x-y'},{'g':null},{'g':''}]}"),
                 200);
    r = problem_check(call_post("/v1/models/graphs/predict",
                                "{'instances':[{'g':'a-b'},{'g':'a-b c--d'}]}"),
                      422, "invalid-instances");
    fault_check(r, "/instances/1/g");
    assert_non_null(
        strstr(r->body,
               "column \\\"g\\\": edge 2, \\\"c--d\\\", must be two labels joined by one"));
    static const char *const beside[][2] = {{",'length':9", "/features/text/length"},
                                            {",'hash':7", "/features/text/hash"},
                                            {",'vocabulary':7", "/features/text/vocabulary"}};
    for (size_t i = 0; i < 3; i++) {
        fault_check(problem_check(call_post("/v1/jobs", job, beside[i][0]), 422, "invalid"),
                    beside[i][1]);
    }
    fault_check(problem_check(call_post("/v1/jobs", JOB("graphs", "y",
                                                        "'text':{'weighting':'set','length':2}")),
                              422, "invalid"),
                "/features/text/length");
    status_check(call_upload("/v1/datasets/broken?types=g:text",
                             "g,y\na-b b-c,ring\na-b,chain\nc-,ring\nd-a,chain\n"),
                 201);
    r = job_wait(job_post(JOB("broken", "y", "'text':{'weighting':'paths'}")));
    assert_string_equal(string_at(r, "/state"), "failed");
    assert_non_null(
        strstr(r->body, "column \\\"g\\\", row 2: edge 1, \\\"c-\\\", must be two labels"));
}

/* All different words are counted before the vocabulary is chosen: the estimate includes the memory
 * for them. */
static void test_memory_of_words(void **state) {
    (void)state;
    enum { ROWS = 200, WORDS = 500 };
    static const char *const names[] = {"same", "different"};
    double told[2];
    for (size_t k = 0; k < 2; k++) {
        char *body = malloc((size_t)ROWS * (WORDS * 8 + 8) + 8), path[64], job[200];
        assert_non_null(body);
        size_t at = (size_t)sprintf(body, "t,y\n");
        for (size_t i = 0; i < (size_t)ROWS * WORDS; i++) {
            at += (size_t)sprintf(body + at, "w%06zu%s", k == 0 ? 7 : i,
                                  i % WORDS < WORDS - 1 ? " "
                                  : i / WORDS % 2 == 0  ? ",a\n"
                                                        : ",b\n");
        }
        (void)snprintf(path, sizeof path, "/v1/datasets/%s?types=t:text", names[k]);
        (void)snprintf(job, sizeof job,
                       "{'model':'m','dataset':'%s','target':'y','algorithm':'naive_bayes','"
                       "features':{'text':{'vocabulary':100}}}",
                       names[k]);
        status_check(call_upload(path, body), 201);
        free(body);
        told[k] = real_at(plan(job), "/memory_bytes");
    }
    assert_true(told[1] > told[0] + 40.0 * ROWS * WORDS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_defaults),
        TEST(test_missing_values),
        TEST(test_categories),
        TEST(test_bases),
        TEST(test_a_fisher_basis),
        TEST(test_a_polynomial_is_the_columns_it_says),
        TEST(test_a_target_of_one_value_and_missing_words),
        TEST(test_a_constant_column_is_warned_of),
        TEST(test_a_column_of_one_category_is_warned_of),
        TEST(test_invalid_features),
        TEST(test_useless_text_options),
        TEST(test_every_level_where_it_is_needed),
        TEST(test_all_faults_of_features_at_once),
        TEST(test_faults_found_while_reading_rows),
        TEST(test_texts_without_words),
        TEST(test_graphs),
        TEST(test_memory_of_words),
    };
    return cmocka_run_group_tests(tests, prepare, group_end);
}
