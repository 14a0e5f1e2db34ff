/* Searches as jobs: candidates, leaderboard, the winner, honest figures, faults, interruptions. */
#include "base/memory/buf.h"
#include "lib/api.h"
#include "lib/database.h"
#include "lib/postgresql.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static const char *const flags[] = {"--train-threads", "4", NULL};

static int prepare(void **state) {
    (void)state;
    service_start(flags);
    upload_file("iris", "iris.csv");
    upload_file("digits", "digits.csv");
    return 0;
}

#define IRIS "'model':'iris','dataset':'iris','target':'class'"
#define CANDIDATES                                                                                 \
    "[{'algorithm':'logistic','params':{'lambda':{'from':1e-6,'to':1,'scale':'log','n':7}}},"      \
    "{'algorithm':'knn','params':{'k':[15,5]},'features':{'standardize':[true,false]}},"           \
    "{'algorithm':'svm','params':{'kernel':['linear',{'type':'rbf','width':[1,2]}],"               \
    "'C':[1,10],'calibrate':'platt'}}]"

static const char *json_at(const struct response *r, const char *pointer) {
    char *dump = json_dumps(value_at(r, pointer), JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
    const char *copy = text("%s", dump);
    free(dump);
    return copy;
}

static const struct response *leaderboard(int64_t id) {
    const struct response *r = call_get("/v1/jobs/%lld/leaderboard", (long long)id);
    status_check(r, 200);
    return r;
}

/* The winner has the best mean; it is trained with the parameters of its trial on all training
 * rows; the mean is that of a cross-validation on these rows. */
static void test_winner(void **state) {
    (void)state;
    const struct response *r =
        job_train("{" IRIS ",'search':{'candidates':" CANDIDATES "},'validation':{'holdout':0.2}}");
    const int64_t id = whole_at(r, "/id");
    assert_int_equal(whole_at(r, "/result/search/combinations"), 7 + 4 + 6);
    assert_int_equal(whole_at(r, "/result/search/tried"), 17);
    assert_true(json_is_true(value_at(r, "/result/search/complete")));
    const char *algorithm = string_at(r, "/algorithm");
    assert_string_equal(algorithm, string_at(r, "/result/search/winner/algorithm"));
    assert_true(real_at(r, "/result/search/outer") ==
                real_at(r, "/result/metrics/validation/log_loss"));
    const int64_t winner = whole_at(r, "/result/search/winner/candidate");
    const double inner = real_at(r, "/result/search/inner/mean");
    assert_string_equal(string_at(call_get("/v1/models/iris"), "/algorithm"), algorithm);
    r = leaderboard(id);
    double last = -1;
    for (int i = 0; i < 17; i++) {
        assert_int_equal(whole_at(r, text("/items/%d/rank", i)), i + 1);
        const double mean = real_at(r, text("/items/%d/mean", i));
        assert_true(mean >= last);
        last = mean;
        double sum = 0;
        for (int f = 0; f < 5; f++) {
            sum += real_at(r, text("/items/%d/values/%d", i, f));
        }
        assert_true(fabs(sum / 5 - mean) < 1e-12);
    }
    assert_int_equal(whole_at(r, "/items/0/candidate"), winner);
    assert_true(real_at(r, "/items/0/mean") == inner);
    r = call_get("/v1/jobs/%lld/leaderboard?limit=2", (long long)id);
    assert_int_equal(count_at(r, "/items"), 2);
    assert_int_equal(whole_at(r, "/trials"), 17);
    problem_check(call_get("/v1/jobs/%lld/leaderboard?limit=0", (long long)id), 400, "bad-request");
    /* without a validation all rows are searched, and the folds are those of a validation */
    r = job_train("{" IRIS ",'search':{'candidates':[{'algorithm':'logistic','params':"
                  "{'lambda':[0.1,0.01]}}]}}");
    const double mean = real_at(r, "/result/search/inner/mean");
    assert_true(json_is_null(value_at(r, "/result/search/outer")));
    r = job_train("{" IRIS ",'algorithm':'logistic','params':{'lambda':%g},"
                  "'validation':{'folds':5}}",
                  real_at(r, "/result/search/winner/params/lambda"));
    assert_true(fabs(real_at(r, "/result/metrics/validation/log_loss") - mean) < 1e-7);
}

/* The resolved request makes the same search again. */
static void test_resolved(void **state) {
    (void)state;
    const struct response *r =
        job_train("{" IRIS ",'search':{'candidates':'auto','folds':3},'features':{'exclude':"
                  "['sepal_width']},'validation':{'holdout':0.2}}");
    const double inner = real_at(r, "/result/search/inner/mean");
    const int64_t tried = whole_at(r, "/result/search/tried");
    const char *resolved = json_at(r, "/resolved");
    assert_true(tried > 20);
    r = call_text("POST", "/v1/jobs", "Content-Type: application/json", resolved);
    status_check(r, 202);
    r = job_wait(whole_at(r, "/id"));
    assert_true(real_at(r, "/result/search/inner/mean") == inner);
    assert_int_equal(whole_at(r, "/result/search/tried"), tried);
    assert_string_equal(json_at(r, "/resolved"), resolved);
}

/* One standard error chooses a model that is not more complex. */
static void test_rule_and_strategies(void **state) {
    (void)state;
    const struct response *r =
        job_train("{" IRIS ",'search':{'candidates':[{'algorithm':'logistic','params':{'lambda':"
                  "'auto'}}],'rule':'one_standard_error'}}");
    const double simple = real_at(r, "/result/search/winner/params/lambda");
    r = leaderboard(whole_at(r, "/id"));
    const double best = real_at(r, "/items/0/params/lambda"),
                 limit = real_at(r, "/items/0/mean") + real_at(r, "/items/0/standard_error");
    assert_true(simple > best);
    for (int i = 0; i < 13; i++) {
        const double lambda = real_at(r, text("/items/%d/params/lambda", i));
        assert_true(lambda > simple ? real_at(r, text("/items/%d/mean", i)) > limit : true);
    }
    r = job_train("{" IRIS ",'search':{'candidates':[{'algorithm':'logistic','params':{'lambda':"
                  "{'from':1e-6,'to':1,'scale':'log'},'tolerance':{'from':1e-9,'to':1e-3,'scale':"
                  "'log'}}},{'algorithm':'knn','params':{'k':[3,7]}}],'strategy':'random',"
                  "'trials':9}}");
    assert_int_equal(whole_at(r, "/result/search/combinations"), 7 + 2);
    assert_int_equal(whole_at(r, "/result/search/tried"), 9);
    /* 1e12 combinations, drawn without repetition */
    r = job_train("{" IRIS ",'search':{'candidates':[{'algorithm':'logistic','params':{'lambda':"
                  "{'from':1e-6,'to':1,'scale':'log'},'tolerance':{'from':1e-9,'to':1e-3,'scale':"
                  "'log'},'max_iterations':{'from':50,'to':1000},'solver':['newton','lbfgs']}}],"
                  "'strategy':'random','trials':20}}");
    r = leaderboard(whole_at(r, "/id"));
    double lambdas[20];
    for (int i = 0; i < 20; i++) {
        lambdas[i] = real_at(r, text("/items/%d/params/lambda", i));
        for (int k = 0; k < i; k++) {
            assert_true(lambdas[k] != lambdas[i]); /* 20 of 1,000 */
        }
    }
}

/* A candidate that fails is a row with its error; all must fail for the job to fail. */
static void test_failing_candidate(void **state) {
    (void)state;
    const char *rows = "a,b,y\n";
    for (int i = 0; i < 40; i++) {
        rows = text("%s%d,%d,%s\n", rows, i, i % 7, i % 20 == 0 ? "u" : "v");
    }
    status_check(call_upload("/v1/datasets/line", rows), 201);
    const struct response *r =
        job_train("{'model':'line','dataset':'line','target':'y','search':{'candidates':["
                  "{'algorithm':'naive_bayes'},{'algorithm':'logistic','params':{'solver':"
                  "'gradient_descent','learning_rate':1e200,'lambda':0.1}}]}}");
    assert_non_null(strstr(json_at(r, "/warnings"), "the smallest class of \\\"y\\\" has 2 rows"));
    const struct response *b = leaderboard(whole_at(r, "/id"));
    assert_string_equal(string_at(b, "/items/0/algorithm"), "naive_bayes");
    assert_non_null(string_at(b, "/items/1/error"));
}

static void test_faults(void **state) {
    (void)state;
    static const struct {
        const char *search, *more, *pointer, *words;
    } cases[] = {
        {"{}", "", "/search/candidates", ""},
        {"{'candidates':[]}", "", "/search/candidates", "at least one"},
        {"{'candidates':'all'}", "", "/search/candidates", "auto"},
        {"{'candidates':[{'algorithm':'logistic','params':{'lambda':[]}}]}", "",
         "/search/candidates/0/params/lambda", "at least one value"},
        {"{'candidates':[{'algorithm':'logistic','params':{'lambda':[0.1,-1]}}]}", "",
         "/search/candidates/0/params/lambda", "got -1"},
        {"{'candidates':[{'algorithm':'logistic'},{'algorithm':'knn','params':{'C':[1,2]}}]}", "",
         "/search/candidates/1/params/C", "no parameter"},
        {"{'candidates':[{'algorithm':'tree'}]}", "", "/search/candidates/0/algorithm", "tree"},
        {"{'candidates':[{'algorithm':'one_class_svm'}]}", "", "/search/candidates/0/algorithm",
         "no target"},
        {"{'candidates':[{'algorithm':'logistic','features':{'include':['a']}}]}", "",
         "/search/candidates/0/features/include", "same inputs"},
        {"{'candidates':[{'algorithm':'logistic','params':{'lambda':{'from':1,'to':0.1}}}]}", "",
         "/search/candidates/0/params/lambda/to", "must be > from"},
        {"{'candidates':[{'algorithm':'logistic','params':{'lambda':{'from':0,'to':1,'scale':"
         "'log'}}}]}",
         "", "/search/candidates/0/params/lambda/from", "must be > 0"},
        {"{'candidates':[{'algorithm':'logistic','params':{'lambda':{'from':0,'to':1,'n':1000},"
         "'tolerance':{'from':1e-9,'to':0.1,'n':1000}}}]}",
         "", "/search/candidates", "1000000 combinations, and a search tries at most 10000"},
        {"{'candidates':[{'algorithm':'knn','params':{'k':{'from':1,'to':5.5}}}]}", "",
         "/search/candidates/0/params/k/to", "integer"},
        {"{'candidates':[{'algorithm':'logistic'},{'algorithm':'svm'}],'metric':'accuracy'}",
         ",'validation':{'holdout':0.3},'conformal':{'coverage':0.9}",
         "/search/candidates/1/params", "conformal"},
        {"{'candidates':[{'algorithm':'svm','params':{'C':[1,2],'calibrate':['platt','none']}}]}",
         "", "/search/candidates/0/params", "log_loss"},
        {"{'candidates':[{'algorithm':'knn'},{'algorithm':'gaussian'}],'strategy':'random',"
         "'trials':1}",
         "", "/search/candidates", "2 objects"},
        {"{'candidates':[{'algorithm':'svm'}]}", "", "/search/candidates/0/params", "log_loss"},
        {"{'candidates':[{'algorithm':'knn'}],'metric':'beauty'}", "", "/search/metric", ""},
        {"{'candidates':[{'algorithm':'knn'}],'folds':1}", "", "/search/folds", ""},
        {"{'candidates':[{'algorithm':'knn'}],'folds':'leave_one_out','metric':'roc_auc'}", "",
         "/search/folds", "a row has no roc_auc"},
        {"{'candidates':[{'algorithm':'knn'}],'folds':'leave_one_out','repeats':2}", "",
         "/search/repeats", "number of folds"},
        {"{'candidates':[{'algorithm':'knn'}],'folds':'leave_one_out','group':'sepal_length'}", "",
         "/search/folds", "excludes group"},
        {"{'candidates':[{'algorithm':'knn'}],'folds':3,'column':'sepal_length'}", "",
         "/search/column", "excludes folds"},
        {"{'candidates':[{'algorithm':'knn'}],'column':'sepal_length'}", "", "/search/column",
         "training rows"},
        {"{'candidates':[{'algorithm':'knn'}],'column':'sepal_length','rule':'one_standard_error'}",
         "", "/search/rule", "no standard error"},
        {"{'candidates':'auto','column':'sepal_length','combine':2}", "", "/search/combine",
         "no standard error"},
        {"{'candidates':[{'algorithm':'knn'}],'folds':'leave_one_out'}",
         ",'validation':{'holdout':0.2,'group':'sepal_length'}", "/search/folds", "groups"},
        {"{'candidates':[{'algorithm':'knn'}],'folds':151}", "", "/search/folds", "150"},
        {"{'candidates':[{'algorithm':'knn'}],'seconds':0}", "", "/search/seconds", ""},
        {"{'candidates':[{'algorithm':'knn'}],'trials':3}", "", "/search/trials", "random"},
        {"{'candidates':[{'algorithm':'knn'}],'depth':3}", "", "/search/depth", ""},
        {"{'candidates':[{'algorithm':'knn'}]}", ",'algorithm':'knn'", "/algorithm",
         "excludes search"},
        {"{'candidates':[{'algorithm':'knn'}]}", ",'snapshots':[1]", "/snapshots",
         "excludes search"},
        {"{'candidates':[{'algorithm':'knn'}]}", ",'validation':{'folds':3}", "/validation/folds",
         "excludes search"},
    };
    fault_contains(problem_check(call_post("/v1/jobs", "{" IRIS "}"), 422, "invalid"), "/algorithm",
                   "is missing: give an algorithm, or \"search\"");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct response *r =
            call_post("/v1/jobs", "{" IRIS ",'search':%s%s}", cases[i].search, cases[i].more);
        problem_check(r, 422, "invalid");
        if (strstr(r->body, text("\"%s\"", cases[i].pointer)) == NULL ||
            strstr(r->body, cases[i].words) == NULL) {
            answer_fail(r, __FILE__, __LINE__, "case %zu", i);
        }
    }
    const struct response *r = job_train("{" IRIS ",'algorithm':'knn'}");
    r = call_get("/v1/jobs/%lld/leaderboard", (long long)whole_at(r, "/id"));
    problem_check(r, 404, "not-found");
}

/* The figure of a search that leaves out one row at a time is that of such a validation. */
static void test_leave_one_out(void **state) {
    (void)state;
    const struct response *r = job_train(
        "{" IRIS ",'algorithm':'gaussian','params':{'covariance':'shared','shrinkage':0.1},"
        "'validation':{'folds':'leave_one_out'}}");
    const double loss = real_at(r, "/result/metrics/validation/log_loss");
    r = job_train("{" IRIS ",'search':{'candidates':[{'algorithm':'gaussian','params':{"
                  "'covariance':'shared','shrinkage':[0.9,0.1]}},{'algorithm':'knn'}],"
                  "'folds':'leave_one_out','combine':2,'rule':'one_standard_error'}}");
    assert_string_equal(string_at(r, "/resolved/search/folds"), "leave_one_out");
    r = leaderboard(whole_at(r, "/id"));
    assert_int_equal(count_at(r, "/items"), 4);
    for (int i = 0; i < 4; i++) {
        assert_true(whole_at(r, text("/items/%d/candidate", i)) ==
                        3 || /* the combination may fail */
                    count_at(r, text("/items/%d/values", i)) == 150);
        if (whole_at(r, text("/items/%d/candidate", i)) == 1) {
            assert_true(fabs(real_at(r, text("/items/%d/mean", i)) - loss) < 1e-12);
        }
    }
    r = call_post("/v1/jobs", "{'model':'m','dataset':'digits','target':'class','search':{"
                              "'candidates':'auto','folds':'leave_one_out'}}");
    problem_check(r, 422, "invalid");
    assert_true(strstr(r->body, "at most 1000 rows, and 1797 are searched") != NULL);
}

/* A column says which rows compare the candidates; the winner is trained on all of them. */
static void test_column(void **state) {
    (void)state;
    struct buf rows = {0};
    buf_puts(&rows, "x,z,part,use,class\n");
    for (int i = 0; i < 200; i++) {
        buf_printf(&rows, "%d,%d,%s,%s,%s\n", i * 37 % 101, i * 13 % 17,
                   i % 5 == 0 ? "test" : "train", i % 4 == 1 ? "test" : "train",
                   i * 37 % 101 + i * 7 % 31 > 65 ? "yes" : "no");
    }
    status_check(call_upload_bytes("/v1/datasets/parts", rows.data, rows.size, NULL), 201);
    buf_done(&rows);
#define PARTS "'model':'parts','dataset':'parts','target':'class','features':{'exclude':['use']}"
    const struct response *r = job_train(
        "{" PARTS
        ",'algorithm':'logistic','params':{'lambda':0.01},'validation':{'column':'part'}}");
    const double loss = real_at(r, "/result/metrics/validation/log_loss");
    r = job_train("{" PARTS ",'search':{'candidates':[{'algorithm':'logistic','params':{'lambda':"
                  "[1,0.01]}}],'column':'part'}}");
    const int64_t id = whole_at(r, "/id");
    assert_int_equal(whole_at(r, "/result/rows/train"), 200);
    assert_string_equal(string_at(r, "/resolved/search/column"), "part");
    assert_true(json_object_get(value_at(r, "/resolved/search"), "folds") == NULL);
    assert_true(fabs(real_at(r, "/result/search/inner/mean") - loss) < 1e-6);
    assert_true(json_is_null(value_at(r, "/result/search/inner/standard_error")));
    assert_int_equal(count_at(leaderboard(id), "/items/0/values"), 1);
    char *resolved = json_dumps(value_at(r, "/resolved"), JSON_COMPACT);
    r = call_text("POST", "/v1/jobs", "Content-Type: application/json", resolved);
    free(resolved);
    status_check(r, 202);
    r = job_wait(whole_at(r, "/id"));
    assert_true(fabs(real_at(r, "/result/search/inner/mean") - loss) < 1e-6);
    /* beside a column of the validation, whose rows are outside */
    r = job_train("{" PARTS ",'search':{'candidates':[{'algorithm':'logistic'}],'column':'part'},"
                  "'validation':{'column':'use'}}");
    assert_int_equal(whole_at(r, "/result/rows/train"), 150);
    assert_int_equal(whole_at(r, "/result/rows/validation"), 50);
}

/* The estimate of a search has the roles of 150 rows in each fit. */
static void test_memory(void **state) {
    (void)state;
    double bytes[2];
    for (int i = 0; i < 2; i++) {
        const struct response *r =
            call_post("/v1/jobs?dry_run=true",
                      "{" IRIS ",'search':{'candidates':[{'algorithm':'knn'}],'folds':%d,"
                      "'repeats':10}}",
                      i == 0 ? 5 : 100);
        bytes[i] = real_at(r, "/memory_bytes");
    }
    assert_true(bytes[1] - bytes[0] >= 0.9 * (1000 - 50) * 150);
}

/* A search that takes long: many kernel machines on digits. */
#define LONG                                                                                       \
    "{'model':'long','dataset':'digits','target':'class','search':{'candidates':[{'algorithm':"    \
    "'svm','params':{'kernel':{'type':'rbf','width':{'from':2,'to':30,'n':40}},'C':[1,10]}}],"     \
    "'metric':'accuracy'},'validation':{'holdout':0.2}}"

/* Waits until some trials have ended. */
static int64_t await_trials(int64_t id, int64_t least) {
    int64_t n = 0;
    for (const double until = now() + 120; now() < until && n < least;) {
        n = whole_at(leaderboard(id), "/trials");
        pause_ms(20);
    }
    assert_true(n >= least);
    return n;
}

static void test_cancel(void **state) {
    (void)state;
    const int64_t id = job_post("%s", LONG);
    assert_string_equal(string_at(call_get("/v1/jobs/%lld", (long long)id), "/algorithm"),
                        "search");
    await_trials(id, 2);
    status_check(call_text("POST", text("/v1/jobs/%lld/cancel", (long long)id), NULL, NULL), 202);
    const struct response *r = job_wait_state(id, "succeeded");
    assert_false(json_is_true(value_at(r, "/result/search/complete")));
    assert_true(strstr(json_at(r, "/warnings"), "the search is not complete") != NULL);
    const int64_t tried = whole_at(r, "/result/search/tried");
    assert_in_range(tried, 2, 79);
    const int64_t winner = whole_at(r, "/result/search/winner/candidate");
    r = leaderboard(id);
    assert_int_equal(whole_at(r, "/trials"), tried);
    assert_int_equal(whole_at(r, "/items/0/candidate"), winner);
    status_check(call_get("/v1/models/long"), 200);
}

/* A second cancellation ends the training of the winner. */
static void test_cancel_twice(void **state) {
    (void)state;
    const int64_t id = job_post(
        "{'model':'long3','dataset':'digits','target':'class','search':{'candidates':[{'algorithm':"
        "'mlp','params':{'layers':[200],'max_iterations':300,'tolerance':0,'solver':'adam'}},"
        "{'algorithm':'mlp','params':{'layers':[200,200],'max_iterations':100000,'tolerance':0}}],"
        "'folds':2,'strategy':'grid'}}");
    await_trials(id, 1);
    status_check(call_text("POST", text("/v1/jobs/%lld/cancel", (long long)id), NULL, NULL), 202);
    const char *progress = "";
    for (const double until = now() + 120; now() < until && progress != NULL;) {
        pause_ms(20); /* until the search has ended */
        progress = strstr(json_at(call_get("/v1/jobs/%lld", (long long)id), "/progress"), "trial");
    }
    const struct response *r =
        call_text("POST", text("/v1/jobs/%lld/cancel", (long long)id), NULL, NULL);
    if (r->status != 202) {
        problem_check(r, 409, "conflict"); /* the winner was trained already */
    }
    r = job_wait(id); /* the training may have ended before it was asked to stop */
    if (strcmp(string_at(r, "/state"), "succeeded") == 0) {
        assert_false(json_is_true(value_at(r, "/result/search/complete")));
    } else {
        assert_string_equal(string_at(r, "/state"), "cancelled");
    }
}

/* A cancellation before a trial has ended leaves nothing to keep. */
static void test_cancel_at_once(void **state) {
    (void)state;
    const int64_t id = job_post(
        "{'model':'long2','dataset':'digits','target':'class','search':{'candidates':[{'algorithm':"
        "'mlp','params':{'layers':[400,400],'max_iterations':100000,'tolerance':0,'solver':'lbfgs'}"
        "}]}}");
    job_wait_state(id, "running");
    pause_ms(300);
    status_check(call_text("POST", text("/v1/jobs/%lld/cancel", (long long)id), NULL, NULL), 202);
    job_wait_state(id, "cancelled");
    assert_int_equal(whole_at(leaderboard(id), "/trials"), 0);
}

static void test_time(void **state) {
    (void)state;
    const struct response *r = job_train(
        "{'model':'timed','dataset':'digits','target':'class','search':{'candidates':[{'algorithm':"
        "'knn'},{'algorithm':'svm','params':{'kernel':{'type':'rbf','width':{'from':2,'to':30,'n':"
        "1000}},'C':[1,10]}}],'metric':'accuracy','seconds':3}}");
    assert_false(json_is_true(value_at(r, "/result/search/complete")));
}

/* After kill -9 the search goes on with the trials that are left, and ends with the same winner. A
 * stored trial that is damaged is repeated. */
static void test_kill(void **state) {
    (void)state;
    enum { TRIALS = 6 + 16 };
    static const char spec[] =
        "{'model':'killed','dataset':'digits','target':'class','search':{'candidates':["
        "{'algorithm':'gaussian','params':{'shrinkage':[0.9,0.5,0.1],'covariance':['shared','full']"
        "}},{'algorithm':'svm','params':{'kernel':{'type':'rbf','width':[5,7,10,14,20,28,40,56]},'"
        "C':[0.1,1]}}"
        "],'metric':'accuracy'},'validation':{'holdout':0.2}}";
    const struct response *r = job_train("%s", spec);
    const int64_t whole = whole_at(r, "/id"),
                  winner = whole_at(r, "/result/search/winner/candidate");
    const char *params = json_at(r, "/result/params");
    const int64_t id = job_post("%s", spec);
    int64_t n = await_trials(id, 2);
    daemon_kill(&the_daemon);
    if (!postgresql_is_used()) { /* its rows have no checksums */
        assert_int_equal(database_damage("UPDATE job_trials SET doc = '{}' WHERE id = (SELECT "
                                         "min(id) FROM job_trials WHERE job = %lld)",
                                         (long long)id),
                         1);
    }
    service_restart(flags);
    n = await_trials(id, n + 2 < TRIALS ? n + 2 : TRIALS); /* on a slow client all have ended */
    service_stop();                                        /* queues the job again */
    service_restart(flags);
    const struct response *b = leaderboard(id);
    assert_true(whole_at(b, "/trials") >= n);
    r = job_wait_state(id, "succeeded");
    assert_true(json_is_true(value_at(r, "/result/search/complete")));
    assert_int_equal(whole_at(r, "/result/search/winner/candidate"), winner);
    assert_string_equal(json_at(r, "/result/params"), params);
    b = leaderboard(id);
    assert_int_equal(whole_at(b, "/winner"), winner);
    assert_int_equal(whole_at(b, "/trials"), TRIALS); /* none was repeated */
    const struct response *first = leaderboard(whole);
    for (int i = 0; i < TRIALS; i++) {
        const char *at = text("/items/%d/mean", i);
        assert_true(fabs(real_at(b, at) - real_at(first, at)) < 1e-12);
    }
}

/* The trials do not depend on the number of threads, bit for bit. */
static void test_threads(void **state) {
    (void)state;
    static const char spec[] =
        "{" IRIS ",'limits':{'threads':%d},'search':{'candidates':[{'algorithm':'logistic',"
        "'params':{'lambda':[1,0.01]}},{'algorithm':'mlp','params':{'layers':[[4]]}},{'algorithm':"
        "'gaussian'},{'algorithm':'svm','params':{'kernel':{'type':'rbf','width':1},'C':[0.5,5],"
        "'calibrate':'platt'}}],'folds':4,'repeats':2},'validation':{'holdout':0.25}}";
    const struct response *r = job_train(spec, 1);
    const struct response *one = leaderboard(whole_at(r, "/id"));
    const char *params = json_at(r, "/result/search/winner");
    r = job_train(spec, 4);
    const struct response *four = leaderboard(whole_at(r, "/id"));
    assert_string_equal(json_at(r, "/result/search/winner"), params);
    for (int i = 0; i < 6; i++) {
        static const char *const members[] = {"candidate", "values", "mean", "standard_error",
                                              "model_bytes"};
        for (size_t k = 0; k < sizeof members / sizeof *members; k++) {
            const char *at = text("/items/%d/%s", i, members[k]);
            assert_string_equal(json_at(one, at), json_at(four, at));
        }
    }
}

/* 200 rows, 1,000 columns of noise: no model has an accuracy other than 1/2. The outer figure shows
 * that, within its error; the figure of the winner in the search does not. */
static void test_honest_figure(void **state) {
    (void)state;
    enum { SETS = 10, ROWS = 200, COLUMNS = 1000 };
    double inner = 0, outer = 0;
    unsigned random = 12345;
    for (int d = 0; d < SETS; d++) {
        struct buf csv = {0};
        for (int c = 0; c < COLUMNS; c++) {
            buf_printf(&csv, "x%d,", c);
        }
        buf_puts(&csv, "y\n");
        for (int i = 0; i < ROWS; i++) {
            for (int c = 0; c < COLUMNS; c++) {
                random = random * 1664525U + 1013904223U;
                buf_printf(&csv, "%d,", (int)(random >> 22));
            }
            random = random * 1664525U + 1013904223U;
            buf_printf(&csv, "%s\n", random >> 31 ? "u" : "v");
        }
        status_check(call_upload(text("/v1/datasets/noise%d", d), buf_cstr(&csv)), 201);
        buf_done(&csv);
        const struct response *r =
            job_train("{'model':'noise','dataset':'noise%d','target':'y','search':{'metric':"
                      "'accuracy','candidates':[{'algorithm':'knn','params':{'k':[1,3,5,7,11,15,21,"
                      "31],'metric':['euclidean','manhattan','cosine']}},{'algorithm':'logistic',"
                      "'params':{'lambda':[10,0.1]}}]},'validation':{'holdout':0.5}}",
                      d);
        inner += real_at(r, "/result/search/inner/mean") / SETS;
        outer += real_at(r, "/result/search/outer") / SETS;
    }
    /* standard errors: 1/2 / sqrt(10 × 100) = 0.016 of each */
    print_message("accuracy of noise: inner %.3f, outer %.3f\n", inner, outer);
    assert_true(fabs(outer - 0.5) < 0.04);
    assert_true(inner > 0.5 + 0.04);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_winner),
        cmocka_unit_test(test_resolved),
        cmocka_unit_test(test_rule_and_strategies),
        cmocka_unit_test(test_failing_candidate),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_leave_one_out),
        cmocka_unit_test(test_column),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_cancel_at_once),
        cmocka_unit_test(test_cancel_twice),
        cmocka_unit_test(test_time),
        cmocka_unit_test(test_kill),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_honest_figure),
    };
    return cmocka_run_group_tests(tests, prepare, group_end);
}
