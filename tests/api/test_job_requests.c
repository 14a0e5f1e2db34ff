/* Job requests: the estimate of a dry run, the columns that are used, all faults with their places
 * in one answer. */
#include "lib/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IRIS                                                                                       \
    "{\"model\":\"iris\",\"dataset\":\"iris\",\"target\":\"class\",\"algorithm\":\"logistic\"}"

static int open_daemon(void **state) {
    static const char *const flags[] = {"--job-memory", "512M", "--train-threads", "2", NULL};
    (void)state;
    service_start(flags);
    upload_file("iris", "iris.csv");
    return 0;
}

/* ---- dry run ---- */

static void test_dry_run_says_all_and_starts_nothing(void **state) {
    (void)state;
    status_check(
        call_upload(
            "/v1/datasets/mixed",
            "n,c,b,y\n1,red,true,a\n2,blue,false,b\n,green,true,a\n4,,false,b\n5,red,true,a\n"),
        201);
    const struct response *before = call_get("/v1/jobs");
    const struct response *a =
        status_check(call_json("POST", "/v1/jobs?dry_run=true",
                               "{'model':'mixed','dataset':'mixed','target':'y',"
                               "'algorithm':'logistic','params':{'lambda':0.5}}"),
                     200);
    assert_true(json_is_true(json_find(a->json, "/dry_run")));
    assert_string_equal(string_at(a, "/model"), "mixed");
    assert_string_equal(string_at(a, "/algorithm"), "logistic");
    assert_int_equal(real_at(a, "/dataset/version"), 1);
    assert_int_equal(real_at(a, "/target/classes"), 2);
    assert_near(real_at(a, "/params/lambda"), 0.5, 0);
    assert_string_equal(string_at(a, "/params/solver"), "newton"); /* the resolved value */
    assert_int_equal(real_at(a, "/params/max_iterations"), 100);
    assert_near(real_at(a, "/params/tolerance"), 1e-9, 0);
    /* "auto": the value depends on the data */
    assert_string_equal(string_at(a, "/params/learning_rate"), "auto");
    assert_true(json_is_true(json_find(a->json, "/features/standardize")));
    /* n: 1 feature; c: red, blue, green, (missing); b: 1 */
    assert_int_equal(real_at(a, "/features/count"), 6);
    assert_int_equal(real_at(a, "/features/columns/1/features"), 4);
    assert_string_equal(string_at(a, "/features/columns/1/encoding"), "one_hot");
    assert_true(json_is_true(json_find(a->json, "/features/columns/1/missing_level")));
    assert_true(json_is_false(json_find(a->json, "/features/columns/2/standardized")));
    assert_true(json_is_null(json_find(a->json, "/validation")));
    assert_int_equal(real_at(a, "/seed"), 1);
    assert_int_equal(real_at(a, "/limits/memory_mib"), 512);
    assert_true(json_is_null(json_find(a->json, "/limits/seconds")));
    assert_true(real_at(a, "/memory_bytes") > 0);
    a = call_get("/v1/jobs");
    assert_true(json_equal(a->json, before->json));
    problem_check(call_text("POST", "/v1/jobs?dry_run=yes", NULL, IRIS), 400, "bad-request");
}

static void test_chosen_columns(void **state) {
    (void)state;
    const struct response *a = call_json("POST", "/v1/jobs?dry_run=true",
                                         "{'model':'m','dataset':'mixed','target':'y','algorithm':"
                                         "'logistic','features':{'include':['b','n'],"
                                         "'standardize':false}}");
    assert_string_equal(string_at(a, "/features/columns/0/name"), "b");
    assert_string_equal(string_at(a, "/features/columns/1/name"), "n");
    assert_int_equal(count_at(a, "/features/columns"), 2);
    assert_true(json_is_false(json_find(a->json, "/features/standardize")));
    a = call_json("POST", "/v1/jobs?dry_run=true",
                  "{'model':'m','dataset':'mixed','target':'y','algorithm':"
                  "'logistic','features':{'exclude':['c']}}");
    assert_int_equal(real_at(a, "/features/count"), 2);
    /* a text column has one feature for each word; the summary bounds their number */
    status_check(call_upload("/v1/datasets/texts?types=t:text", "t,x,y\none,1,a\ntwo,2,b\n"), 201);
    a = call_json("POST", "/v1/jobs?dry_run=true",
                  "{'model':'m','dataset':'texts','target':'y','algorithm':'logistic',"
                  "'features':{'include':['t','x']}}");
    assert_int_equal(real_at(a, "/features/count"), 3);
    assert_string_equal(string_at(a, "/features/columns/0/encoding"), "words");
    assert_true(json_is_true(json_find(a->json, "/features/columns/0/at_most")));
    assert_true(json_is_null(json_find(a->json, "/features/names")));
    a = call_json("POST", "/v1/jobs?dry_run=true",
                  "{'model':'m','dataset':'texts','target':'y','algorithm':"
                  "'logistic','features':{'include':['t'],"
                  "'text':{'weighting':'tfidf','hash':64}}}");
    assert_int_equal(real_at(a, "/features/count"), 64);
    assert_string_equal(string_at(a, "/features/columns/0/encoding"), "hashed_words");
    assert_string_equal(string_at(a, "/features/text/weighting"), "tfidf");
}

/* ---- faults ---- */

/* One member that makes a valid job invalid, and words of the message. */
static const struct {
    const char *member, *pointer, *words;
} faults[] = {
    {"\"model\":7", "/model", "string"},
    {"\"model\":\"a/b\"", "/model", "match"},
    {"\"model\":\"..\"", "/model", "match"},
    {"\"model\":\"\"", "/model", "match"},
    {"\"dataset\":[]", "/dataset", "string"},
    {"\"dataset\":\"nobody\"", "/dataset", "nobody"},
    {"\"dataset\":\"iris@9\"", "/dataset", "9"},
    {"\"dataset\":\"iris@x\"", "/dataset", "version"},
    {"\"dataset\":\"a b\"", "/dataset", "name"},
    {"\"target\":true", "/target", "string"},
    {"\"target\":\"colour\"", "/target", "colour"},
    {"\"algorithm\":{}", "/algorithm", "string"},
    {"\"algorithm\":\"oracle\"", "/algorithm", "logistic"},
    {"\"params\":[]", "/params", "object"},
    {"\"params\":{\"lambda\":-1}", "/params/lambda", "-1"},
    {"\"params\":{\"lambda\":\"much\"}", "/params/lambda", "lambda"},
    {"\"params\":{\"lambada\":null}", "/params/lambada", "has no parameter"},
    {"\"params\":{\"lambda\":[1]}", "/params/lambda", "list of 1"},
    {"\"params\":{\"lambda\":[\"a\"]}", "/params/lambda", "list of 1"},
    {"\"params\":{\"init\":[]}", "/params/init", "must have 1 to 65536 numbers (got 0)"},
    {"\"params\":{\"init\":[1,\"a\"]}", "/params/init/1", "string \"a\""},
    {"\"params\":{\"init\":[[1],2]}", "/params/init/0", "array"},
    {"\"params\":{\"init\":[1,2,null]}", "/params/init/2", "null"},
    {"\"params\":{\"lambda\":true}", "/params/lambda", "lambda"},
    {"\"params\":{\"momentum\":0.9}", "/params/momentum", "momentum"},
    {"\"params\":{\"solver\":\"magic\"}", "/params/solver", "newton"},
    {"\"params\":{\"solver\":3}", "/params/solver", "solver"},
    {"\"params\":{\"max_iterations\":1.5}", "/params/max_iterations", "integer"},
    {"\"params\":{\"max_iterations\":-1}", "/params/max_iterations", "max_iterations"},
    {"\"params\":{\"solver\":\"newton\",\"learning_rate\":0.1}", "/params/learning_rate",
     "gradient_descent"},
    {"\"params\":{\"step\":\"full\"}", "/params/step", "belongs to solver newton"},
    {"\"params\":{\"solver\":\"newton\",\"irls\":true}", "/params/irls", "two classes (got 3)"},
    {"\"params\":{\"intercept\":\"fixed\"}", "/params/intercept", "penalised"},
    {"\"features\":\"all\"", "/features", "object"},
    {"\"features\":{\"include\":\"petal_length\"}", "/features/include", "array"},
    {"\"features\":{\"include\":[\"petal_length\",\"nobody\"]}", "/features/include/1", "nobody"},
    {"\"features\":{\"include\":[7]}", "/features/include/0", "string"},
    {"\"features\":{\"include\":[\"class\"]}", "/features/include/0", "target"},
    {"\"features\":{\"include\":[\"petal_length\",\"petal_length\"]}", "/features/include/1",
     "twice"},
    {"\"features\":{\"include\":[\"petal_length\"],\"exclude\":[\"petal_length\"]}",
     "/features/exclude/0", "include"},
    {"\"features\":{\"exclude\":[\"nobody\"]}", "/features/exclude/0", "nobody"},
    {"\"features\":{\"include\":[]}", "/features", "no column"},
    {"\"features\":{\"standardize\":1}", "/features/standardize", "boolean"},
    {"\"features\":{\"basis\":[1]}", "/features/basis/0", "object"},
    {"\"features\":{\"scale\":true}", "/features/scale", "known"},
    {"\"validation\":0.25", "/validation", "object"},
    {"\"validation\":{}", "/validation", "holdout"},
    {"\"validation\":{\"holdout\":0}", "/validation/holdout", "> 0"},
    {"\"validation\":{\"holdout\":1}", "/validation/holdout", "< 1"},
    {"\"validation\":{\"holdout\":\"some\"}", "/validation/holdout", "number"},
    {"\"validation\":{\"folds\":1}", "/validation/folds", "from 2"},
    {"\"validation\":{\"dataset\":\"nobody\"}", "/validation/dataset", "nobody"},
    {"\"weight\":\"w\"", "/weight", "no column"},
    {"\"class_weight\":\"even\"", "/class_weight", "balanced"},
    {"\"weights\":\"counts\"", "/weights", "frequencies"},
    {"\"seed\":-1", "/seed", "0"},
    {"\"seed\":1.5", "/seed", "integer"},
    {"\"seed\":\"x\"", "/seed", "integer"},
    {"\"seed\":1e300", "/seed", "integer"},
    {"\"limits\":7", "/limits", "object"},
    {"\"limits\":{\"seconds\":0}", "/limits/seconds", "> 0"},
    {"\"limits\":{\"seconds\":\"long\"}", "/limits/seconds", "number"},
    {"\"limits\":{\"memory_mib\":0}", "/limits/memory_mib", "1"},
    {"\"limits\":{\"memory_mib\":1000000}", "/limits/memory_mib", "512"},
    {"\"limits\":{\"threads\":99}", "/limits/threads", "2"},
    {"\"limits\":{\"cores\":2}", "/limits/cores", "known"},
    {"\"snapshots\":10", "/snapshots", "array"},
    {"\"snapshots\":[1,-1]", "/snapshots/1", "integer"},
    {"\"snapshots_of\":\"updates\"", "/snapshots_of", "only perceptron"},
    {"\"snapshots_of\":\"passes\"", "/snapshots_of", "iterations"},
    {"\"snapshots\":[\"1\"]", "/snapshots/0", "integer"},
    {"\"colour\":\"blue\"", "/colour", "known"},
};

/* The valid job with one member replaced or added. */
static void spoil(const char *member, char *out, size_t size) {
    static const char *const good[] = {"\"model\":\"m\"", "\"dataset\":\"iris\"",
                                       "\"target\":\"class\"", "\"algorithm\":\"logistic\""};
    size_t key = strcspn(member, ":"), n = (size_t)snprintf(out, size, "{%s", member);
    for (size_t i = 0; i < 4; i++) {
        if (strncmp(good[i], member, key + 1) != 0) {
            n += (size_t)snprintf(out + n, size - n, ",%s", good[i]);
        }
    }
    snprintf(out + n, size - n, "}");
}

static void test_invalid_jobs(void **state) {
    (void)state;
    char body[1024];
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        spoil(faults[i].member, body, sizeof body);
        fault_contains(problem_check(call_text("POST", "/v1/jobs", NULL, body), 422, "invalid"),
                       faults[i].pointer, faults[i].words);
    }
    /* an invalid number in a list: the place is the item */
    fault_contains(
        problem_check(call_json("POST", "/v1/jobs",
                                "{'model':'m','dataset':'iris','target':'class',"
                                "'algorithm':'fisher','params':{'priors':[0.5,0.5,-1]}}"),
                      422, "invalid"),
        "/params/priors/2", "-1");
}

/* The job with n snapshots from iteration `first` on. */
static const struct response *snapshots(size_t n, size_t first) {
    static char body[16 * 1024];
    size_t at = (size_t)snprintf(body, sizeof body,
                                 "{\"model\":\"m\",\"dataset\":\"iris\",\"target\":\"class\","
                                 "\"algorithm\":\"logistic\",\"snapshots\":[");
    for (size_t i = 0; i < n; i++) {
        at += (size_t)snprintf(body + at, sizeof body - at, "%s%zu", i > 0 ? "," : "", first + i);
    }
    snprintf(body + at, sizeof body - at, "]}");
    return call_text("POST", "/v1/jobs?dry_run=true", NULL, body);
}

/* The largest number of snapshots and the last iteration are accepted, larger numbers are
 * refused. */
static void test_limits_of_snapshots(void **state) {
    (void)state;
    const struct response *a = snapshots(1000, 1);
    status_check(a, 200);
    assert_int_equal(count_at(a, "/snapshots"), 1000);
    fault_contains(problem_check(snapshots(1001, 1), 422, "invalid"), "/snapshots", "at most 1000");
    status_check(snapshots(1, 1000000000), 200);
    fault_contains(problem_check(snapshots(2, 1000000000), 422, "invalid"), "/snapshots/1",
                   "0 to 1000000000");
    status_check(snapshots(1, 0), 200);
    status_check(snapshots(0, 1), 200);
}

/* null means that the member is not given. */
static void test_null_is_not_given(void **state) {
    (void)state;
    const struct response *bare = call_text("POST", "/v1/jobs?dry_run=true", NULL, IRIS);
    const struct response *nulls = status_check(
        call_json("POST", "/v1/jobs?dry_run=true",
                  "{'model':'iris','dataset':'iris','target':'class',"
                  "'algorithm':'logistic','params':null,'features':null,"
                  "'validation':null,'seed':null,'limits':null,"
                  "'snapshots':null,'weight':null,'weights':null,'class_weight':null}"),
        200);
    assert_true(json_equal(nulls->json, bare->json));
    nulls = status_check(call_json("POST", "/v1/jobs?dry_run=true",
                                   "{'model':'iris','dataset':'iris','target':'class','algorithm':"
                                   "'logistic','params':{'lambda':null},"
                                   "'features':{'include':null,'exclude':null,'standardize':null},"
                                   "'validation':{'holdout':null},"
                                   "'limits':{'seconds':null,'memory_mib':null,'threads':null}}"),
                         200);
    assert_true(json_equal(nulls->json, bare->json));
    fault_contains(
        problem_check(
            call_json("POST", "/v1/jobs",
                      "{'model':'m','dataset':'iris','target':null,'algorithm':'logistic'}"),
            422, "invalid"),
        "/target", "string");
}

/* A target of numbers with signs or units is a measured quantity, as a numeric one is. */
static void test_amounts_as_target(void **state) {
    (void)state;
    static const char refused[] = "looks like a measured quantity",
                      warned[] = "numbers with signs or units, and each is a class";
    static const struct {
        const char *first, *second, *says; /* NULL: classes */
    } cases[] = {{"12%", "13%", warned},      {"12%", "13.5%", refused}, {"$5", "-$6", warned},
                 {"€ 1200", "€ 7", warned},   {"7 kg", "8 kg", warned},  {"[0;1)", "[1;2)", NULL},
                 {"<5", ">5", NULL},          {"#1", "#2", NULL},        {"A 1", "A 2", NULL},
                 {"18-25 y", "26-30 y", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        status_check(call_upload("/v1/datasets/amounts?types=y:categorical",
                                 text("x,y\n1,%s\n1,%s\n2,%s\n3,%s\n", cases[i].first,
                                      cases[i].second, cases[i].first, cases[i].second)),
                     i == 0 ? 201 : 200);
        const struct response *a =
            call_post("/v1/jobs?dry_run=true", "%s",
                      "{'model':'m','dataset':'amounts','target':'y','algorithm':'naive_bayes'}");
        assert_int_equal(a->status, cases[i].says == refused ? 422 : 200);
        assert_true((strstr(a->body, refused) != NULL) == (cases[i].says == refused));
        assert_true((strstr(a->body, warned) != NULL) == (cases[i].says == warned));
    }
    const char *rows = "x,y\n";
    for (int i = 0; i < 202; i++) {
        rows = text("%s%d,%d%%\n", rows, i % 5, i / 2);
    }
    status_check(call_upload("/v1/datasets/percents", rows), 201);
    fault_contains(
        problem_check(call_post("/v1/jobs", "%s",
                                "{'model':'m','dataset':'percents','target':'y','algorithm':"
                                "'naive_bayes'}"),
                      422, "invalid"),
        "/target", "\"y\" looks like a measured quantity (101 distinct values such as \"");
    status_check(call_post("/v1/jobs?dry_run=true", "%s",
                           "{'model':'m','dataset':'percents','target':'y','algorithm':"
                           "'naive_bayes','target_as':'classes'}"),
                 200);
}

/* A numeric target with fractions or more than 100 values is refused, unless the client wants
 * classes; with more than 20 values there is a warning. */
static void test_a_measured_target_is_refused(void **state) {
    (void)state;
    enum { ROWS = 1212, SIZE = ROWS * 64 };
    static const struct {
        const char *target, *says; /* NULL: accepted */
        int64_t classes, warnings;
    } cases[] = {
        {"a20", NULL, 20, 0},
        {"a21", NULL, 21, 1},
        {"a100", NULL, 100, 1},
        {"a101",
         "\"a101\" looks like a measured quantity (101 different values); Discern learns classes. "
         "To use each value as a class, set \"target_as\":\"classes\"",
         101, 1},
        {"halves",
         "\"halves\" looks like a measured quantity (3 different values, not all of them whole "
         "numbers); Discern learns classes. To use each value as a class, set "
         "\"target_as\":\"classes\"",
         3, 0},
        {"whole", NULL, 3, 0},
        {"negative", NULL, 3, 0},
        {"codes", NULL, 101, 0}, /* texts are classes */
    };
    char *table = keep(malloc(SIZE), free), *end = table;
    assert_non_null(table);
    end += sprintf(end, "x,a20,a21,a100,a101,halves,whole,negative,codes,many\n");
    for (int i = 0; i < ROWS; i++) {
        end += sprintf(end, "%d,%d,%d,%d,%d,%g,%d.0,%d,k%d,%d\n", i % 7, i % 20, i % 21, i % 100,
                       i % 101, i % 3 * 0.5, i % 3, i % 3 - 1, i % 101, i % 1001);
    }
    assert_true(end < table + SIZE);
    status_check(call_upload("/v1/datasets/measured", table), 201);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct response *a = call_post("/v1/jobs?dry_run=true",
                                             "{'model':'m','dataset':'measured','target':'%s',"
                                             "'algorithm':'naive_bayes'}",
                                             cases[i].target);
        if (cases[i].says != NULL) {
            fault_contains(problem_check(a, 422, "invalid"), "/target", cases[i].says);
            a = call_post("/v1/jobs?dry_run=true",
                          "{'model':'m','dataset':'measured','target':'%s','target_as':'classes',"
                          "'algorithm':'naive_bayes'}",
                          cases[i].target);
        }
        status_check(a, 200);
        assert_int_equal(real_at(a, "/target/classes"), cases[i].classes);
        assert_int_equal(count_at(a, "/warnings"), cases[i].warnings);
    }
    fault_contains(problem_check(call_json("POST", "/v1/jobs",
                                           "{'model':'m','dataset':'measured','target':'many',"
                                           "'algorithm':'naive_bayes'}"),
                                 422, "invalid"),
                   "/target", "(1001 different values); Discern learns classes, at most 1000");
    fault_contains(problem_check(call_json("POST", "/v1/jobs",
                                           "{'model':'m','dataset':'measured','target':'many',"
                                           "'target_as':'classes','algorithm':'naive_bayes'}"),
                                 422, "invalid"),
                   "/target", "may be at most 1000");
    fault_contains(problem_check(call_json("POST", "/v1/jobs",
                                           "{'model':'m','dataset':'measured','target':'a20',"
                                           "'target_as':'numbers','algorithm':'naive_bayes'}"),
                                 422, "invalid"),
                   "/target_as", "classes");
    fault_contains(problem_check(call_json("POST", "/v1/jobs",
                                           "{'model':'m','dataset':'measured',"
                                           "'target_as':'classes','algorithm':'one_class_svm'}"),
                                 422, "invalid"),
                   "/target_as", "no target");
    const struct response *a = call_get("/v1/datasets/measured");
    assert_true(json_is_true(json_find(a->json, "/columns/5/fractions")));
    assert_null(json_find(a->json, "/columns/6/fractions"));
}

static void test_text_alone_can_be_trained_on(void **state) {
    (void)state;
    status_check(call_upload("/v1/datasets/letters?types=note:text,answer:text",
                             "note,answer,y\nab,cd,1\nef,gh,0\n"),
                 201);
    job_train("{'model':'letters','dataset':'letters','target':'y','algorithm':'logistic'}");
    const struct response *a = call_get("/v1/models/letters/weights");
    assert_string_equal(string_at(a, "/features/0"), "note:ab");
    assert_string_equal(string_at(a, "/features/3"), "answer:gh");
    assert_int_equal(count_at(a, "/features"), 4);
    for (size_t i = 0; i < 3; i++) {
        static const char *const faults_of_text[] = {"'weighting':'often'", "'vocabulary':0",
                                                     "'words':1"};
        problem_check(call_post("/v1/jobs",
                                "{'model':'m','dataset':'letters','target':'y',"
                                "'algorithm':'logistic','features':{'text':{%s}}}",
                                faults_of_text[i]),
                      422, "invalid");
    }
}

static void test_all_faults_at_once(void **state) {
    (void)state;
    const struct response *a =
        call_json("POST", "/v1/jobs",
                  "{'dataset':'iris','target':'x','algorithm':'logistic','params':{"
                  "'lambda':-1,'p':2},'seed':-1,"
                  "'validation':{'holdout':3},'limits':{'threads':0},'who':1}");
    status_check(a, 422);
    assert_int_equal(count_at(a, "/errors"), 8);
    a = call_json("POST", "/v1/jobs", "{}");
    assert_int_equal(count_at(a, "/errors"), 4);
}

static void test_invalid_targets(void **state) {
    (void)state;
    static const char job[] =
        "{\"model\":\"m\",\"dataset\":\"targets\",\"target\":\"%s\",\"algorithm\":\"logistic\"}";
    static const struct {
        const char *target, *words;
    } bad[] = {{"constant", "one value"},
               {"empty", "has no value in any row"},
               {"prose", "text"},
               {"many", "different"}};
    enum { ROWS = 1500, SIZE = 64 * ROWS };
    char *table = malloc(SIZE);
    assert_non_null(table);
    size_t n = (size_t)sprintf(table, "x,constant,empty,prose,many\n");
    for (int i = 0; i < ROWS; i++) {
        n += (size_t)sprintf(table + n, "%d,same,,word number %d,%d\n", i % 7, i, i);
    }
    status_check(call_bytes("PUT", "/v1/datasets/targets", NULL, table, n), 201);
    free(table);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        fault_contains(problem_check(call_text("POST", "/v1/jobs", NULL, text(job, bad[i].target)),
                                     422, "invalid"),
                       "/target", bad[i].words);
    }
}

/* One warning for each of 10,000 columns without a value: the memory is proportional to their
 * number. */
static void test_ten_thousand_warnings(void **state) {
    (void)state;
    enum { N = 10000 };
    char *table = malloc(20 * N), *end = table;
    assert_non_null(table);
    for (int i = 0; i < N; i++) {
        end += sprintf(end, "e%d,", i);
    }
    end += sprintf(end, "x,y\n");
    for (int row = 0; row < 4; row++) {
        memset(end, ',', N);
        end += N;
        end += sprintf(end, "%d,%s\n", row, row % 2 == 0 ? "a" : "b");
    }
    status_check(call_upload("/v1/datasets/empty", table), 201);
    free(table);
    status_check(call_json("POST", "/v1/jobs?dry_run=true",
                           "{'model':'m','dataset':'empty','target':'y',"
                           "'algorithm':'logistic'}"),
                 200);
}

static void test_estimate_over_the_memory_limit(void **state) {
    (void)state;
    enum { ROWS = 150000, SIZE = 16 * ROWS };
    char *text = malloc(SIZE);
    assert_non_null(text);
    size_t n = (size_t)sprintf(text, "a,y\n");
    for (int i = 0; i < ROWS; i++) {
        n += (size_t)sprintf(text + n, "%d.5,%c\n", i * 7 % 101, "ab"[i & 1]);
    }
    status_check(call_bytes("PUT", "/v1/datasets/heavy", NULL, text, n), 201);
    free(text);
    fault_contains(
        problem_check(call_json("POST", "/v1/jobs",
                                "{'model':'m','dataset':'heavy','target':'y','algorithm':"
                                "'logistic','limits':{'memory_mib':1}}"),
                      422, "invalid"),
        "/limits/memory_mib", "MiB");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_dry_run_says_all_and_starts_nothing),
        TEST(test_chosen_columns),
        TEST(test_invalid_jobs),
        TEST(test_limits_of_snapshots),
        TEST(test_null_is_not_given),
        TEST(test_a_measured_target_is_refused),
        TEST(test_amounts_as_target),
        TEST(test_text_alone_can_be_trained_on),
        TEST(test_all_faults_at_once),
        TEST(test_invalid_targets),
        TEST(test_ten_thousand_warnings),
        TEST(test_estimate_over_the_memory_limit),
    };
    return cmocka_run_group_tests(tests, open_daemon, group_end);
}
