/* Parts of dates as categories: training, and all ways in which rows come in and answers go out.
 * The daemon runs in a zone that is 14 hours ahead of UTC, which must have no effect. */
#include "lib/api.h"

#include <stdlib.h>
#include <string.h>

/* Mondays and Tuesdays are a, a Tuesday and a Sunday are b, at 5 hours west of UTC. In UTC the
 * first row is a Tuesday. */
#define TABLE                                                                                      \
    "when,y\n2024-01-01T23:30:00-05:00,a\n2024-01-08T10:00:00-05:00,a\n"                           \
    "2024-01-02T10:00:00-05:00,a\n2024-01-09T00:30:00-05:00,b\n2024-01-07T10:00:00-05:00,b\n"
#define MONDAY "2024-01-15T23:59:00-05:00"

static int prepare(void **state) {
    (void)setenv("TZ", "Pacific/Kiritimati", 1);
    if (group_start(state) != 0) {
        return -1;
    }
    status_check(call_upload("/v1/datasets/days", TABLE), 201);
    job_train("{'model':'days','dataset':'days','target':'y','algorithm':'naive_bayes',"
              "'features':{'datetime':{'parts':['weekday']}}}");
    job_train("{'model':'strict','dataset':'days','target':'y','algorithm':'naive_bayes',"
              "'features':{'datetime':{'parts':['year','weekday']},"
              "'categorical':{'unseen':'error'}}}");
    const char *csv = "when,x,y\n";
    for (int i = 0; i < 120; i++) { /* Saturdays and Sundays, and mornings, are a */
        csv = text("%s%04d-%02d-%02d %02d:00,%d,%s\n", csv, 2022 + i / 60, 1 + i % 12, 1 + i % 28,
                   i * 7 % 24, i % 5, i * 7 % 24 < 12 ? "a" : "b");
    }
    status_check(call_upload("/v1/datasets/hours", csv), 201);
    job_train("{'model':'hours','dataset':'hours','target':'y','algorithm':'logistic',"
              "'features':{'datetime':{'parts':['hour','year','seconds','month']}}}");
    job_train("{'model':'fisher','dataset':'hours','target':'y','algorithm':'fisher',"
              "'features':{'datetime':{'parts':['year','seconds']}}}");
    keep_free();
    return 0;
}

/* Levels Mon, Sun, Tue, each counted once more: p(Mon | a) = (2 + 1)/(3 + 3) and p(Mon | b) =
 * (0 + 1)/(2 + 3); with the shares 3/5 and 2/5 of the classes p(a | Mon) = 0.3/(0.3 + 0.08). */
static const double p_monday = 0.3 / 0.38;

static void check_monday(const struct response *r) {
    status_check(r, 200);
    assert_near(real_at(r, "/predictions/0/probabilities/0"), p_monday, 1e-12);
    assert_null(json_find(r->json, "/unseen"));
}

static const struct response *post(const char *type, const char *body) {
    return call_text("POST", "/v1/models/days/predict", type, body);
}

static void test_rows(void **state) {
    (void)state;
    check_monday(post(NULL, "{\"instances\":[{\"when\":\"" MONDAY "\"}]}"));
    check_monday(post(NULL, "{\"instances\":[[\"" MONDAY "\"]]}"));
    check_monday(post(NULL, "{\"instances\":[[\" 2024-01-16T04:59:00Z \"]]}")); /* the same time */
    check_monday(post("Content-Type: text/csv", "when\n" MONDAY "\n"));
    check_monday(post("Content-Type: text/csv", MONDAY "\n" MONDAY "\n"));
    check_monday(post("Content-Type: text/csv", "y;when\nb;\"" MONDAY "\"\n"));
    check_monday(post("Content-Type: text/x-arff",
                      "@relation r\n@attribute when date \"yyyy-MM-dd'T'HH:mm:ssX\"\n@data\n"
                      "\"" MONDAY "\"\n"));
    check_monday(
        post("Content-Type: multipart/form-data; boundary=xyz",
             "--xyz\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a.csv\"\r\n\r\n"
             "when\r\n" MONDAY "\r\n\r\n--xyz--\r\n"));
    check_monday(call_get("/v1/models/days/predict?when=2024-01-15T23:59:00-05:00"));
    static const char zipped[] =
        "\037\213\010\000\000\000\000\000\002\003\053\317\110\315\343\062\062\060"
        "\062\321\065\060\324\065\064\015\061\062\266\062\265\264\062\060\320\065"
        "\060\005\222\134\000\133\035\164\232\037\000\000\000";
    static const char *const headers[] = {"Content-Type: text/csv", "Content-Encoding: gzip", NULL};
    check_monday(call_bytes("POST", "/v1/models/days/predict", headers, zipped, sizeof zipped - 1));
    const struct response *r =
        post("Content-Type: application/x-ndjson", "{\"when\":\"" MONDAY "\"}\n[\"" MONDAY "\"]\n");
    status_check(r, 200);
    const char *first = strstr(r->body, "0.78947368421052"),
               *second = first != NULL ? strstr(first + 1, "0.78947368421052") : NULL;
    assert_non_null(second);
}

/* Faults name the value, the form and the reason. */
static void test_refused(void **state) {
    (void)state;
    const struct response *r =
        problem_check(post(NULL, "{\"instances\":[{\"when\":\"2024-01-15\"}]}"), 422,
                      "invalid-instances");
    assert_non_null(strstr(string_at(r, "/detail"), "the form YYYY-MM-DDThh:mm:ss-05:00"));
    r = problem_check(post(NULL, "{\"instances\":[{\"when\":\"2024-02-30T10:00:00Z\"}]}"), 422,
                      "invalid-instances");
    assert_non_null(strstr(string_at(r, "/detail"), "no such day in the calendar"));
    problem_check(post(NULL, "{\"instances\":[{\"when\":1704067200}]}"), 422, "invalid-instances");
    problem_check(post(NULL, "{\"instances\":[{\"when\":true}]}"), 422, "invalid-instances");
    problem_check(post(NULL, "{\"instances\":[{\"when:weekday\":\"Mon\"}]}"), 422,
                  "invalid-instances");
    problem_check(post("Content-Type: text/csv", "when\n" MONDAY "\nx\n"), 422,
                  "invalid-instances");
    r = problem_check(call_text("POST", "/v1/models/hours/predict", "Content-Type: text/csv",
                                "wehn,x\n2022-03-05 06:00,1\n"),
                      422, "invalid-instances");
    assert_non_null(strstr(string_at(r, "/detail"), "\"when\" is missing"));
}

/* A Wednesday is no weekday of the training table, and 2025 no year. */
static void test_unseen(void **state) {
    (void)state;
    const struct response *r =
        post(NULL, "{\"instances\":[{\"when\":\"2024-01-17T12:00:00-05:00\"},"
                   "{\"when\":\"2024-01-24T12:00:00-05:00\"},"
                   "{\"when\":\"" MONDAY "\"},{\"when\":null},{}]}");
    status_check(r, 200);
    assert_near(real_at(r, "/predictions/0/probabilities/0"), 0.6, 1e-12); /* as without a value */
    assert_near(real_at(r, "/predictions/3/probabilities/0"), 0.6, 1e-12);
    assert_near(real_at(r, "/predictions/4/probabilities/0"), 0.6, 1e-12);
    assert_int_equal(count_at(r, "/unseen"), 1);
    assert_string_equal(string_at(r, "/unseen/0/column"), "when:weekday");
    assert_string_equal(string_at(r, "/unseen/0/value"), "Wed");
    assert_json(r, "/unseen/0/rows", "2");
    assert_string_equal(header_of(r, "Discern-Unseen"), "2");
    r = problem_check(call_post("/v1/models/strict/predict",
                                "{'instances':[{'when':'2025-01-06T12:00:00-05:00'}]}"),
                      422, "invalid-instances");
    assert_non_null(strstr(string_at(r, "/detail"), "a year of the training data (got 2025)"));
    /* the same in a stored table, whose form is another one */
    status_check(call_upload("/v1/datasets/later",
                             "id,when,y\n7,2024-01-17 12:00Z,a\n8,2024-01-16 04:59Z,a\n9,,b\n"),
                 201);
    r = call_post("/v1/models/days/predict?keep=id,when", "{'dataset':'later'}");
    status_check(r, 200);
    assert_string_equal(header_of(r, "Discern-Unseen"), "1");
    assert_non_null(strstr(r->body,
                           "\"when\":\"2024-01-16 04:59Z\"},\"label\":\"a\",\"probabilities\":"
                           "[0.78947368421052"));
    r = status_check(call_post("/v1/models/days/evaluate", "{'dataset':'later'}"), 200);
    assert_string_equal(string_at(r, "/unseen/0/value"), "Wed");
    const double accuracy = real_at(r, "/metrics/accuracy"); /* a, a, and a for b */
    assert_near(accuracy, 2.0 / 3, 1e-12);
    /* the body has the form of the training table */
    r = status_check(call_text("POST", "/v1/models/days/evaluate", "Content-Type: text/csv",
                               "when,y\n2024-01-17T12:00:00Z,a\n2024-01-16T04:59:00Z,a\n,b\n"),
                     200);
    assert_near(real_at(r, "/metrics/accuracy"), accuracy, 1e-12);
    assert_string_equal(string_at(r, "/unseen/0/value"), "Wed");
    status_check(call_upload("/v1/datasets/bare", "when,y\n2024-01-17,a\n2024-01-16,b\n"), 201);
    problem_check(call_post("/v1/models/days/evaluate", "{'dataset':'bare'}"), 422, "invalid");
    problem_check(call_post("/v1/models/days/predict", "{'dataset':'bare'}"), 422,
                  "invalid-instances");
}

/* The missing words of the training table are missing dates, in bodies and in stored tables. */
static void test_missing_words(void **state) {
    (void)state;
    status_check(call_upload("/v1/datasets/words?missing=never,1900-01-01",
                             "when,y\n2024-01-01,a\nnever,b\n1900-01-01,b\n2024-01-08,a\n"),
                 201);
    assert_json(call_get("/v1/datasets/words"), "/columns/0/missing", "2");
    job_train("{'model':'words','dataset':'words','target':'y','algorithm':'naive_bayes',"
              "'features':{'datetime':{'parts':['weekday','seconds']}}}");
    const struct response *r =
        status_check(call_text("POST", "/v1/models/words/predict", "Content-Type: text/csv",
                               "when\nnever\n1900-01-01\n\n2024-01-01\n"),
                     200);
    const double p = real_at(r, "/predictions/0/probabilities/0");
    assert_true(real_at(r, "/predictions/1/probabilities/0") == p);
    assert_true(real_at(r, "/predictions/2/probabilities/0") > p);
    status_check(call_upload("/v1/datasets/plain",
                             "when,y\n1900-01-01,b\n2024-01-01,a\n2024-01-08,a\n"),
                 201);
    r = status_check(call_post("/v1/models/words/evaluate", "{'dataset':'plain'}"), 200);
    const struct response *body =
        status_check(call_text("POST", "/v1/models/words/evaluate", "Content-Type: text/csv",
                               "when,y\n1900-01-01,b\n2024-01-01,a\n2024-01-08,a\n"),
                     200);
    assert_near(real_at(r, "/metrics/log_loss"), real_at(body, "/metrics/log_loss"), 1e-12);
    assert_false(has(r, "/unseen"));
}

/* A model with several parts and another column: inputs, names, answers by feature. */
static void test_model(void **state) {
    (void)state;
    const struct response *r = call_get("/v1/models/hours");
    static const char *const names[] = {"when", "when:year", "when:month", "when:hour", "x"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_string_equal(string_at(r, text("/inputs/%zu/name", i)), names[i]);
    }
    assert_json(r, "/inputs/1",
                "{'name':'when:year','type':'categorical','column':'when','part':'year',"
                "'form':'YYYY-MM-DD hh:mm','levels':['2022','2023'],'missing_level':false,"
                "'missing_as':null,'unseen_as':null,'dropped_level':null}");
    assert_json(r, "/encoding/datetime/parts", "['seconds','year','month','hour']");
    r = call_get("/v1/models/hours/weights");
    assert_string_equal(string_at(r, "/features/0"), "when");
    assert_string_equal(string_at(r, "/features/1"), "when:year=2022");
    assert_string_equal(string_at(r, "/features/3"), "when:month=01");
    /* the contributions add up to the score */
    r = status_check(call_get("/v1/models/hours/predict?when=2022-03-05+06:00&x=2&"
                              "output=scores,contributions"),
                     200);
    double sum = real_at(r, "/intercept/0");
    for (size_t j = 0; j < count_at(r, "/features"); j++) {
        sum += real_at(r, text("/predictions/0/contributions/0/%zu", j));
    }
    assert_near(sum, real_at(r, "/predictions/0/scores/0"), 1e-9);
    r = status_check(call_post("/v1/models/hours/importance", "{'dataset':'hours'}"), 200);
    assert_string_equal(string_at(r, "/columns/0/column"), "when:hour");
    assert_int_equal(count_at(r, "/columns"), 5);
    r = status_check(call_post("/v1/models/fisher/transform",
                               "{'instances':[{'when':'2022-03-05 06:00','x':2}]}"),
                     200);
    /* rows without names have one value for each column */
    r = status_check(call_text("POST", "/v1/models/hours/predict?keep=when",
                               "Content-Type: text/csv", "2022-03-05 06:00,2\n"),
                     200);
    assert_string_equal(string_at(r, "/predictions/0/keep/when"), "2022-03-05 06:00");
    r = status_check(call_text("POST", "/v1/models/hours/evaluate", "Content-Type: text/csv",
                               "2022-03-05 06:00,2,a\n2022-03-05 18:00,2,b\n"),
                     200);
    assert_near(real_at(r, "/metrics/accuracy"), 1, 0);
    problem_check(call_text("POST", "/v1/models/hours/predict", "Content-Type: text/csv",
                            "2022-03-05 06:00,2,3,4\n"),
                  422, "invalid-instances");
    r = problem_check(call_post("/v1/models/hours/evaluate?target=when", "{'dataset':'hours'}"),
                      422, "invalid");
    assert_non_null(strstr(string_at(r, "/detail"), "is an input"));
}

static void test_grid(void **state) {
    (void)state;
    const struct response *r = status_check(
        call_post("/v1/models/hours/evaluate_grid",
                  "{'x':{'column':'when','from':'2022-03-05 06:00','to':'2022-03-05 18:00',"
                  "'steps':3},'at':{'x':2}}"),
        200);
    assert_json(r, "/x",
                "{'column':'when','values':['2022-03-05 06:00','2022-03-05 12:00',"
                "'2022-03-05 18:00']}");
    assert_json(r, "/at", "{'x':2}");
    const struct response *p = status_check(
        call_post("/v1/models/hours/predict",
                  "{'instances':[{'when':'2022-03-05 06:00','x':2},"
                  "{'when':'2022-03-05 12:00','x':2},{'when':'2022-03-05 18:00','x':2}]}"),
        200);
    for (size_t i = 0; i < 3; i++) {
        assert_true(real_at(r, text("/probabilities/0/%zu", i)) ==
                    real_at(p, text("/predictions/%zu/probabilities/0", i)));
    }
    r = status_check(call_post("/v1/models/hours/evaluate_grid",
                               "{'x':{'column':'x','steps':2},'at':{'when':'2023-05-06 07:00'}}"),
                     200);
    assert_json(r, "/at",
                "{'when':'2023-05-06 07:00','when:year':'2023','when:month':'05',"
                "'when:hour':'07'}");
    r = status_check(call_post("/v1/models/hours/evaluate_grid",
                               "{'x':{'column':'x','steps':2},'at':{'when:hour':'07'}}"),
                     200);
    assert_string_equal(string_at(r, "/at/when:hour"), "07");
    r = problem_check(call_post("/v1/models/hours/evaluate_grid",
                                "{'x':{'column':'when'},'at':{'when:hour':'07'}}"),
                      422, "invalid");
    assert_non_null(strstr(string_at(r, "/detail"), "varies already, as x"));
    problem_check(call_post("/v1/models/hours/evaluate_grid",
                            "{'x':{'column':'x'},'at':{'when':'5.6.2023'}}"),
                  422, "invalid");
    problem_check(call_post("/v1/models/hours/evaluate_grid",
                            "{'x':{'column':'when','from':'2023-01-01 00:00',"
                            "'to':'2022-01-01 00:00'}}"),
                  422, "invalid");
}

static const struct response *dry_run(const char *features) {
    return call_post("/v1/jobs?dry_run=true",
                     "{'model':'dry','dataset':'hours','target':'y','algorithm':'logistic',"
                     "'features':%s}",
                     features);
}

static void test_jobs(void **state) {
    (void)state;
    const struct response *r =
        status_check(dry_run("{'datetime':{'parts':['month','year','hour','weekday','day']}}"),
                     200);
    assert_json(r, "/features/columns/0",
                "{'name':'when:year','type':'categorical','encoding':'one_hot','features':2,"
                "'at_most':true,'standardized':false,'missing_level':false}");
    assert_json(r, "/features/count", "77"); /* 2 + 12 + 31 + 7 + 24 and x */
    r = status_check(dry_run("{}"), 200);
    assert_json(r, "/features/datetime/parts", "['seconds']");
    assert_json(r, "/features/count", "2");
    static const struct {
        const char *features, *detail;
    } cases[] = {
        {"{'datetime':{'parts':[]}}", "/features/datetime/parts: must have at least one part"},
        {"{'datetime':{'parts':'month'}}", "must be a list, got string"},
        {"{'datetime':{'parts':['minute']}}",
         "must be seconds, year, month, day, weekday or hour, got string \"minute\""},
        {"{'datetime':{'parts':['year','year']}}", "\"year\" comes twice"},
        {"{'datetime':{'part':['year']}}", "/features/datetime/part: is not a known member"},
        {"{'include':['when:year']}", "has no column \"when:year\""},
        {"{'datetime':{'parts':['year']},'basis':[{'type':'polynomial','degree':2,"
         "'columns':['when']}]}",
         "\"when\" is not a column that is a feature of this job"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        r = problem_check(dry_run(cases[i].features), 422, "invalid");
        if (strstr(string_at(r, "/detail"), cases[i].detail) == NULL) {
            fail_msg("\"%s\" is not in \"%s\"", cases[i].detail, string_at(r, "/detail"));
        }
    }
    status_check(call_upload("/v1/datasets/times", "at,day,day:month,y\n10:00,2024-01-01,1,a\n"
                                                   "11:30,2024-02-01,2,b\n10:00,2024-03-01,3,a\n"),
                 201);
    r = problem_check(call_post("/v1/jobs?dry_run=true",
                                "{'model':'t','dataset':'times','target':'y',"
                                "'algorithm':'logistic',"
                                "'features':{'datetime':{'parts':['month']}}}"),
                      422, "invalid");
    assert_non_null(strstr(string_at(r, "/detail"), "the name of column \"day:month\""));
    /* times of day have no month, and dates no hour */
    r = status_check(
        call_post("/v1/jobs?dry_run=true",
                  "{'model':'t','dataset':'times','target':'y',"
                  "'algorithm':'logistic',"
                  "'features':{'include':['at','day'],'datetime':{'parts':['hour']}}}"),
        200);
    assert_string_equal(string_at(r, "/features/columns/0/name"), "at:hour");
    assert_string_equal(string_at(r, "/features/columns/1/name"), "day");
    assert_non_null(strstr(string_at(r, "/warnings/0"), "has dates without times"));
}

/* The resolved request of a job trains the same model again; a job is validated on another dataset;
 * a live version of another type is named in a warning. */
static void test_again(void **state) {
    (void)state;
    const int64_t id =
        job_post("{'model':'again','dataset':'hours','target':'y','algorithm':'logistic',"
                 "'features':{'datetime':{'parts':['hour','seconds']}},"
                 "'validation':{'dataset':'hours'}}");
    const struct response *r = job_wait(id);
    assert_string_equal(string_at(r, "/state"), "succeeded");
    assert_near(real_at(r, "/result/metrics/validation/accuracy"), 1, 0);
    assert_json(r, "/resolved/features/include", "['when','x']");
    const struct response *first = call_get("/v1/models/again/weights"), *second;
    char *resolved = json_dumps(value_at(r, "/resolved"), 0);
    r = status_check(call_text("POST", "/v1/jobs", NULL, resolved), 202);
    free(resolved);
    r = job_wait((int64_t)real_at(r, "/id"));
    assert_string_equal(string_at(r, "/state"), "succeeded");
    second = call_get("/v1/models/again/weights");
    assert_json(second, "/version", "2");
    for (size_t j = 0; j < count_at(first, "/features"); j++) {
        const char *weight = text("/w/0/%zu", j);
        assert_true(real_at(first, weight) == real_at(second, weight));
    }
    status_check(call_upload("/v1/datasets/bare-days",
                             "when,x,y\n2022-01-01,1,a\n2022-01-02,2,b\n"),
                 201);
    r = problem_check(call_post("/v1/jobs",
                                "{'model':'again','dataset':'hours','target':'y',"
                                "'algorithm':'logistic','validation':{'dataset':'bare-days'}}"),
                      422, "invalid");
    assert_non_null(strstr(string_at(r, "/detail"), "has the form YYYY-MM-DD in dataset"));
    status_check(call_upload("/v1/datasets/as-text?types=when:categorical",
                             "when,x,y\n2022-01-01 10:00,1,a\n2022-01-02 12:00,2,b\n"
                             "2022-01-01 10:00,1,a\n2022-01-02 12:00,2,b\n"),
                 201);
    r = job_wait(job_post("{'model':'again','dataset':'as-text','target':'y',"
                          "'algorithm':'naive_bayes'}"));
    assert_string_equal(string_at(r, "/state"), "succeeded");
    json_t *warnings = value_at(r, "/warnings");
    bool named = false;
    for (size_t i = 0; i < json_array_size(warnings); i++) {
        const char *warning = json_string_value(json_array_get(warnings, i));
        named =
            named || (strstr(warning, "\"when\"") != NULL && strstr(warning, "datetime") != NULL);
    }
    assert_true(named);
}

/* The rows of an unanswered date are missing categories, if training has them. */
static void test_missing_level(void **state) {
    (void)state;
    status_check(call_upload("/v1/datasets/gaps", "when,y\n2024-01-01,a\n,b\n2024-01-08,a\n,b\n"),
                 201);
    job_train("{'model':'gaps','dataset':'gaps','target':'y','algorithm':'naive_bayes',"
              "'features':{'datetime':{'parts':['weekday']}}}");
    /* Mon and missing: p(Mon | a) = (2 + 1)/(2 + 2), p(Mon | b) = (0 + 1)/(2 + 2) */
    const struct response *r =
        status_check(call_post("/v1/models/gaps/predict", "{'instances':[['2024-01-15'],[null]]}"),
                     200);
    assert_near(real_at(r, "/predictions/0/probabilities/0"), 0.75, 1e-12);
    assert_near(real_at(r, "/predictions/1/probabilities/0"), 0.25, 1e-12);
    r = status_check(call_post("/v1/models/gaps/predict", "{'dataset':'gaps'}"), 200);
    assert_non_null(strstr(r->body, "\"a\""));
    r = status_check(call_post("/v1/models/gaps/evaluate", "{'dataset':'gaps'}"), 200);
    assert_near(real_at(r, "/metrics/accuracy"), 1, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_rows),          TEST(test_refused), TEST(test_unseen),
        TEST(test_missing_words), TEST(test_model),   TEST(test_grid),
        TEST(test_jobs),          TEST(test_again),   TEST(test_missing_level),
    };
    return cmocka_run_group_tests(tests, prepare, group_end);
}
