/* Combinations of models over HTTP: a search makes one, and it is served as any model. */
#include "base/memory/buf.h"
#include "lib/api.h"
#include "lib/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PART = 150 };

static const char *const flags[] = {"--train-threads", "2", NULL};

/* Writes CSV of a linear effect, a checkerboard and a category, which no single method fits. Some
 * cells are missing. */
static void write_board(struct buf *out, size_t n) {
    uint64_t state = 42;
    double x[5];
    buf_puts(out, "a,b,c,d,e,color,y\n");
    for (size_t i = 0; i < n; i++) {
        static const char *const colors[] = {"red", "green", "blue", ""};
        for (size_t j = 0; j < 5; j++) {
            x[j] = 4 * random_unit(&state) - 2;
            if (j == 0 && i % 13 == 3) {
                buf_puts(out, ",");
            } else {
                buf_printf(out, "%.3f,", x[j]);
            }
        }
        const size_t color = (size_t)(4 * random_unit(&state));
        const double g =
            x[0] - 1.5 * x[1] + x[2] + ((x[3] > 0) == (x[4] > 0) ? 2 : -2) + (color == 0 ? 1 : 0);
        buf_printf(out, "%s,%s\n", colors[color],
                   random_unit(&state) < 1 / (1 + exp(-g)) ? "yes" : "no");
    }
}

/* Uploads n rows; tables of different sizes begin with the same rows. */
static void upload_board(const char *name, size_t n) {
    struct buf text = {0};
    write_board(&text, n);
    status_check(call_upload_bytes(name, text.data, text.size, NULL), 201);
    buf_done(&text);
}

static int prepare(void **state) {
    (void)state;
    service_start(flags);
    upload_board("/v1/datasets/board", 1600);
    upload_file("iris", "iris.csv");
    return 0;
}

#define BOARD "'dataset':'board','target':'y','validation':{'holdout':0.2},'seed':3"
#define CANDIDATES                                                                                 \
    "[{'algorithm':'logistic','params':{'lambda':[0.1,0.001]},'features':{'missing':"              \
    "{'indicator':true}}},{'algorithm':'knn','params':{'k':45}},{'algorithm':'naive_bayes'}]"
#define ROWS                                                                                       \
    "{'instances':[{'a':1,'b':0,'c':0.5,'d':1,'e':1,'color':'red'},{'a':null,'b':-1,'c':0,'d':-1," \
    "'e':1,'color':'violet'},{'a':-1,'b':1,'c':0,'d':-1,'e':-1,'color':null}]}"

static double probability(const struct response *r, int i) {
    return real_at(r, text("/predictions/%d/probabilities/1", i));
}

/* The log loss of a table is that of the predictions of its rows. */
static void check_evaluation(void) {
    struct buf rows = {0};
    double loss = 0;
    write_board(&rows, PART);
    const struct response *r =
        status_check(call_typed("/v1/models/mix/predict?output=probabilities&keep=y", "text/csv",
                                "application/json", buf_cstr(&rows)),
                     200);
    for (int i = 0; i < PART; i++) {
        const bool yes = strcmp(string_at(r, text("/predictions/%d/keep/y", i)), "yes") == 0;
        const double p = probability(r, i);
        loss -= log(yes ? p : 1 - p) / PART;
    }
    buf_done(&rows);
    upload_board("/v1/datasets/part", PART);
    r = call_post("/v1/models/mix/evaluate", "{'dataset':'part'}");
    assert_int_equal(whole_at(r, "/metrics/rows"), PART);
    assert_near(real_at(r, "/metrics/log_loss"), loss, 1e-9);
}

/* The winner is a combination. Its probabilities are the product of those of its members, which are
 * trained alone. */
static void test_winner(void **state) {
    (void)state;
    double log_odds[3] = {0};
    const struct response *r = job_train(
        "{'model':'mix'," BOARD ",'search':{'candidates':" CANDIDATES ",'combine':3},"
        "'conformal':{'coverage':0.9},'decision':{'cost':{'yes':{'no':5},'no':{'yes':1}}}}");
    const int64_t id = whole_at(r, "/id");
    assert_string_equal(string_at(r, "/algorithm"), "combination");
    assert_int_equal(whole_at(r, "/resolved/search/combine"), 3);
    assert_int_equal(whole_at(r, "/result/search/tried"), 4);
    assert_true(real_at(r, "/result/search/combination") ==
                real_at(r, "/result/search/inner/mean"));
    assert_int_equal(whole_at(r, "/result/search/winner/candidate"), 4);
    assert_true(real_at(r, "/result/search/outer") ==
                real_at(r, "/result/metrics/validation/log_loss"));
    const size_t n = count_at(r, "/result/search/winner/members");
    assert_true(n >= 2);
    char *specs[3] = {NULL};
    double shares[3] = {0};
    for (size_t m = 0; m < n; m++) {
        const char *at = text("/result/search/winner/members/%zu", m);
        json_t *member = json_deep_copy(value_at(r, at));
        shares[m] = json_number_value(json_object_get(member, "share"));
        json_object_del(member, "share");
        json_object_del(member, "candidate");
        specs[m] = json_dumps(member, JSON_COMPACT);
        json_decref(member);
    }
    for (size_t m = 0; m < n; m++) {
        specs[m][strlen(specs[m]) - 1] = '\0';
        job_train("{'model':'alone'," BOARD ",%s}", specs[m] + 1);
        r = call_post("/v1/models/alone/predict", ROWS);
        for (int i = 0; i < 3; i++) {
            const double p = probability(r, i);
            log_odds[i] += shares[m] * (log(p) - log1p(-p));
        }
        free(specs[m]);
    }
    for (int run = 0; run < 2; run++) {
        r = call_post("/v1/models/mix/predict", ROWS);
        for (int i = 0; i < 3; i++) {
            assert_true(fabs(probability(r, i) - 1 / (1 + exp(-log_odds[i]))) < 1e-9);
        }
        r = call_post("/v1/models/mix/predict?output=set", ROWS);
        assert_true(count_at(r, "/predictions/0/set") >= 1);
        service_stop();
        service_restart(flags);
    }
    r = call_get("/v1/models/mix");
    assert_int_equal(count_at(r, "/members"), n);
    assert_true(real_at(r, "/members/0/share") == shares[0]);
    assert_int_equal(count_at(call_get("/v1/models/mix/weights"), "/members"), n);
    r = call_get("/v1/jobs/%lld/leaderboard", (long long)id);
    assert_int_equal(whole_at(r, "/winner"), 4);
    assert_string_equal(string_at(r, "/items/0/algorithm"), "combination");
    assert_true(real_at(r, "/items/1/mean") - real_at(r, "/items/0/mean") >
                real_at(r, "/items/1/standard_error"));
    r = call_post("/v1/models/mix/evaluate", "{'dataset':'board'}");
    assert_int_equal(whole_at(r, "/metrics/rows"), 1600);
    check_evaluation();
    status_check(call_post("/v1/models/mix/importance", "{'dataset':'board','repeats':1}"), 200);
    r = call_post("/v1/models/mix/predict?output=contributions", ROWS);
    assert_true(json_is_null(value_at(r, "/predictions/0/contributions")));
}

/* Combinations of three classes, which lose where one method is right, and with halving. */
static void test_loser(void **state) {
    (void)state;
    const struct response *r =
        job_train("{'model':'iris','dataset':'iris','target':'class','search':{'candidates':["
                  "{'algorithm':'gaussian','params':{'covariance':'shared','shrinkage':[0.9,0.1]}},"
                  "{'algorithm':'knn','params':{'k':[15,31]}}],'combine':2,'strategy':'halving'}}");
    const int64_t id = whole_at(r, "/id");
    assert_string_equal(string_at(r, "/algorithm"), "gaussian");
    r = call_get("/v1/jobs/%lld/leaderboard", (long long)id);
    assert_int_equal(count_at(r, "/items"), 5);
    size_t found = 0;
    for (int i = 0; i < 5; i++) {
        if (whole_at(r, text("/items/%d/candidate", i)) == 4) {
            assert_int_equal(count_at(r, text("/items/%d/members", i)), 2);
            assert_true(real_at(r, text("/items/%d/mean", i)) < 0.2);
            found++;
        }
    }
    assert_int_equal(found, 1);
}

#define MAILS                                                                                      \
    "{'model':'mails','dataset':'mails','target':'y','search':{'candidates':["                     \
    "{'algorithm':'logistic','params':{'lambda':0.01}},{'algorithm':'naive_bayes'%s}],"            \
    "'combine':2},'validation':{'holdout':0.25}}"

/* Words and categories must be encoded alike. */
static void test_texts(void **state) {
    (void)state;
    struct buf rows = {0};
    uint64_t seed = 9;
    buf_puts(&rows, "text,size,y\n");
    for (size_t i = 0; i < 400; i++) {
        static const char *const words[] = {"cheap", "prize", "win", "lunch", "report", "friday"};
        const bool spam = random_unit(&seed) < 0.5;
        for (size_t k = 0; k < 4; k++) {
            const bool own = random_unit(&seed) < 0.7;
            buf_printf(&rows, "%s ",
                       words[(own == spam ? 0 : 3) + (size_t)(3 * random_unit(&seed))]);
        }
        buf_printf(&rows, "word%zu,%.2f,%s\n", i, random_unit(&seed) + (spam ? 0.5 : 0),
                   spam ? "spam" : "ham");
    }
    status_check(call_upload_bytes("/v1/datasets/mails?types=text:text", rows.data, rows.size,
                                   NULL),
                 201);
    buf_done(&rows);
    const struct response *r = job_train(MAILS, "");
    r = call_get("/v1/jobs/%lld/leaderboard", (long long)whole_at(r, "/id"));
    assert_int_equal(count_at(r, "/items"), 3);
    assert_true(strstr(r->body, "\"algorithm\":\"combination\"") != NULL);
    assert_true(strstr(r->body, "can be combined") == NULL);
    r = job_train(MAILS, ",'features':{'text':{'weighting':'binary'}}");
    r = call_get("/v1/jobs/%lld/leaderboard", (long long)whole_at(r, "/id"));
    assert_true(strstr(r->body, "no two algorithms whose probabilities can be combined") != NULL);
}

/* A combination that needs more memory than each candidate is given up, not the search. */
static void test_fallback(void **state) {
    (void)state;
    bool given_up = false;
    for (int mib = 6; mib <= 40 && !given_up; mib += 1) {
        const struct response *r = call_post(
            "/v1/jobs",
            "{'model':'small'," BOARD ",'search':{'candidates':[{'algorithm':'logistic'},"
            "{'algorithm':'knn','params':{'k':45}},{'algorithm':'svm','params':{'kernel':'rbf',"
            "'C':0.3,'calibrate':'platt'}}],'combine':3},'limits':{'memory_mib':%d,'threads':1}}",
            mib);
        if (r->status != 202) {
            continue;
        }
        r = job_wait(whole_at(r, "/id"));
        if (strcmp(string_at(r, "/state"), "succeeded") != 0) {
            answer_fail(r, __FILE__, __LINE__, "%d MiB", mib);
        }
        given_up = strcmp(string_at(r, "/algorithm"), "combination") != 0;
    }
}

static void test_faults(void **state) {
    (void)state;
    static const struct {
        const char *candidates, *combine, *words;
    } cases[] = {
        {"'auto'", "1", "2"},
        {"'auto'", "11", "10"},
        {"'auto'", "'all'", "integer"},
        {"[{'algorithm':'knn','params':{'k':[5,9]}}]", "2", "at least two algorithms"},
        {"[{'algorithm':'knn'},{'algorithm':'svm'}]", "2", "at least two algorithms"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct response *r =
            call_post("/v1/jobs",
                      "{'model':'bad','dataset':'iris','target':'class','search':{'candidates':%s,"
                      "'metric':'accuracy','combine':%s}}",
                      cases[i].candidates, cases[i].combine);
        problem_check(r, 422, "invalid");
        if (strstr(r->body, "\"/search/combine\"") == NULL ||
            strstr(r->body, cases[i].words) == NULL) {
            answer_fail(r, __FILE__, __LINE__, "case %zu", i);
        }
    }
    problem_check(call_post("/v1/jobs", "{'model':'bad','dataset':'iris','target':'class',"
                                        "'algorithm':'combination'}"),
                  422, "invalid");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_winner), cmocka_unit_test(test_loser),
        cmocka_unit_test(test_texts),  cmocka_unit_test(test_fallback),
        cmocka_unit_test(test_faults),
    };
    return cmocka_run_group_tests(tests, prepare, group_end);
}
