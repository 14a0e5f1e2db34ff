/* If-Match and If-None-Match of every call that changes something that exists, and what happens to
 * conditions that a call does not apply. */
#include "lib/api.h"

#include <pthread.h>
#include <string.h>

#define ENDLESS                                                                                    \
    "{'model':'endless','dataset':'iris','target':'class','algorithm':'logistic',"                 \
    "'params':{'solver':'gradient_descent','learning_rate':1e-9,'tolerance':1e-300,"               \
    "'max_iterations':1000000000}}"
#define IRIS "{'model':'iris','dataset':'iris','target':'class','algorithm':'logistic'}"

static int open_daemon(void **state) {
    static const char *const flags[] = {"--workers", "1", NULL};
    (void)state;
    service_start(flags);
    upload_file("iris", "iris.csv");
    job_train(IRIS);
    job_train(IRIS);
    return 0;
}

/* A change of something that exists. It is valid, except for its condition. */
struct change {
    const char *method, *path, *body;
    const char *tagged; /* path of the GET that has the ETag */
};

static const struct change changes[] = {
    {"PUT", "/v1/datasets/iris", "a,b\n1,x\n2,y\n", "/v1/datasets/iris"},
    {"POST", "/v1/datasets/iris/rows", "5,4,3,2,setosa\n", "/v1/datasets/iris"},
    {"PATCH", "/v1/datasets/iris", "{\"description\":\"x\"}", "/v1/datasets/iris"},
    {"DELETE", "/v1/datasets/iris/versions/1", NULL, "/v1/datasets/iris/versions/1"},
    {"DELETE", "/v1/datasets/iris?version=1", NULL, "/v1/datasets/iris?version=1"},
    {"DELETE", "/v1/datasets/iris", NULL, "/v1/datasets/iris"},
    {"PUT", "/v1/models/iris/live", "{\"version\":1}", "/v1/models/iris"},
    {"PATCH", "/v1/models/iris", "{\"description\":\"x\"}", "/v1/models/iris"},
    {"DELETE", "/v1/models/iris/versions/1", NULL, "/v1/models/iris/versions/1"},
    {"DELETE", "/v1/models/iris", NULL, "/v1/models/iris"},
    {"POST", "/v1/jobs/1/cancel", NULL, "/v1/jobs/1"},
    {"DELETE", "/v1/jobs/1", NULL, "/v1/jobs/1"},
};
enum { N_CHANGES = sizeof changes / sizeof changes[0] };

static const struct response *attempt(const struct change *c, const char *first,
                                      const char *second) {
    return call_or_fail(&(struct request){
        .method = c->method, .path = c->path, .body = c->body, .headers = HEADERS(first, second)});
}

/* Conditions that do not hold. TAG stands for the ETag of the resource. */
static const char *const false_ones[] = {
    "If-Match: \"other\"", "If-Match: W/TAG",      "If-Match: \"other\", W/TAG", "If-None-Match: *",
    "If-None-Match: TAG",  "If-None-Match: W/TAG", "If-None-Match: \"x\", TAG",
};
/* Headers that are refused. */
static const char *const malformed[] = {
    "If-Match: other",
    "If-Match: \"x",
    "If-Match: *, \"x\"",
    "If-Match: \"x\" \"y\"",
    "If-None-Match: other",
    "If-None-Match: ,",
    "If-Unmodified-Since: Sat, 29 Oct 1994 19:43:31 GMT",
};

static const char *with_tag(const char *condition, const char *tag) {
    const char *at = strstr(condition, "TAG");
    return at == NULL ? condition : text("%.*s%s%s", (int)(at - condition), condition, tag, at + 3);
}

static void test_false_conditions_change_nothing(void **state) {
    (void)state;
    for (size_t i = 0; i < N_CHANGES; i++) {
        const struct change *c = &changes[i];
        const char *tag =
            text("%s", header_of(status_check(call_get("%s", c->tagged), 200), "ETag"));
        assert_true(tag[0] == '"');
        for (size_t k = 0; k < sizeof false_ones / sizeof false_ones[0]; k++) {
            problem_check(attempt(c, with_tag(false_ones[k], tag), NULL), 412,
                          "precondition-failed");
        }
        /* each of two conditions must hold, and a list may have several lines */
        problem_check(attempt(c, text("If-Match: %s", tag), "If-None-Match: *"), 412,
                      "precondition-failed");
        problem_check(attempt(c, "If-None-Match: \"x\"", text("If-None-Match: %s", tag)), 412,
                      "precondition-failed");
        for (size_t k = 0; k < sizeof malformed / sizeof malformed[0]; k++) {
            problem_check(attempt(c, malformed[k], NULL), 400, "bad-request");
        }
        assert_string_equal(header_of(call_get("%s", c->tagged), "ETag"), tag);
    }
}

static void test_true_conditions(void **state) {
    (void)state;
    static const char *const true_ones[] = {"If-Match: *", "If-Match: TAG", "If-Match: \"x\", TAG",
                                            "If-None-Match: \"x\""};
    const struct change patch = {"PATCH", "/v1/models/iris", "{\"description\":\"x\"}",
                                 "/v1/models/iris"},
                        append = {"POST", "/v1/datasets/iris/rows", "5,4,3,2,setosa\n",
                                  "/v1/datasets/iris"};
    const struct change *const both[] = {&patch, &append};
    for (size_t i = 0; i < 2; i++) {
        for (size_t k = 0; k < sizeof true_ones / sizeof true_ones[0]; k++) {
            const char *tag = text("%s", header_of(call_get("%s", both[i]->tagged), "ETag"));
            status_check(attempt(both[i], with_tag(true_ones[k], tag), NULL), i == 0 ? 200 : 201);
        }
        /* the second line of a list */
        const char *tag = text("%s", header_of(call_get("%s", both[i]->tagged), "ETag"));
        status_check(attempt(both[i], "If-Match: \"x\"", text("If-Match: %s", tag)),
                     i == 0 ? 200 : 201);
        status_check(attempt(both[i], text("If-Match: %s", tag), NULL), 412);
    }
    /* nothing of the name exists */
    const struct change make = {"PUT", "/v1/datasets/fresh", "a,b\n1,x\n2,y\n", NULL};
    problem_check(attempt(&make, "If-Match: *", NULL), 412, "precondition-failed");
    status_check(attempt(&make, "If-None-Match: *", NULL), 201);
    problem_check(attempt(&make, "If-None-Match: *", NULL), 412, "precondition-failed");
}

static void test_jobs(void **state) {
    (void)state;
    const int64_t running = job_post(ENDLESS);
    const struct response *r = status_check(call_json("POST", "/v1/jobs", IRIS), 202);
    const int64_t queued = whole_at(r, "/id");
    const char *path = text("/v1/jobs/%lld", (long long)queued);
    /* 202 has the ETag of the job */
    const char *tag = text("%s", header_of(r, "ETag"));
    assert_string_equal(header_of(call_get("%s", path), "ETag"), tag);
    status_check(call_get_with(text("If-None-Match: %s", tag), "%s", path), 304);
    status_check(call_get_with(text("If-None-Match: %s", tag), "%s?wait=0.1", path), 304);
    const struct change cancel = {"POST", text("%s/cancel", path), NULL, path},
                        delete = {"DELETE", path, NULL, path};
    r = status_check(attempt(&cancel, text("If-Match: %s", tag), NULL), 202);
    assert_string_not_equal(header_of(r, "ETag"), tag);
    status_check(call_get_with(text("If-None-Match: %s", tag), "%s", path), 200);
    problem_check(attempt(&delete, text("If-Match: %s", tag), NULL), 412, "precondition-failed");
    tag = text("%s", header_of(r, "ETag"));
    status_check(attempt(&delete, text("If-Match: %s", tag), NULL), 204);
    problem_check(attempt(&delete, text("If-Match: %s", tag), NULL), 404, "unknown-job");
    status_check(call_empty("POST", "/v1/jobs/%lld/cancel", (long long)running), 202);
    job_wait(running);
}

/* If-Match of a read: 412 unless it has the tag. */
static void test_reads(void **state) {
    (void)state;
    static const char *const paths[] = {"/v1/datasets/iris",
                                        "/v1/datasets/iris/rows",
                                        "/v1/datasets/iris/versions/1",
                                        "/v1/models/iris",
                                        "/v1/models/iris/weights",
                                        "/v1/jobs/1",
                                        "/",
                                        "/docs",
                                        "/docs/data"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        const struct response *r = status_check(call_get("%s", paths[i]), 200);
        const char *tag = text("%s", header_of(r, "ETag"));
        status_check(call_get_with(text("If-Match: \"x\", %s", tag), "%s", paths[i]), 200);
        status_check(call_get_with("If-Match: *", "%s", paths[i]), 200);
        problem_check(call_get_with("If-Match: \"x\"", "%s", paths[i]), 412, "precondition-failed");
        problem_check(call_get_with(text("If-Match: W/%s", tag), "%s", paths[i]), 412,
                      "precondition-failed");
        status_check(call_get_with(text("If-None-Match: W/%s", tag), "%s", paths[i]), 304);
        problem_check(call_get_with("If-None-Match: x", "%s", paths[i]), 400, "bad-request");
    }
}

/* A call that does not apply a condition refuses it. */
static void test_no_condition_is_ignored(void **state) {
    (void)state;
    const struct change others[] = {
        {"POST", "/v1/jobs", IRIS, NULL},
        {"POST", "/v1/models/iris/predict", "{\"instances\":[[1,2,3,4]]}", NULL},
        {"POST", "/v1/datasets:preview", "a,b\n1,x\n", NULL},
        {"GET", "/v1/jobs", NULL, NULL},
        {"GET", "/version", NULL, NULL},
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        problem_check(attempt(&others[i], "If-Match: *", NULL), 400, "bad-request");
        problem_check(attempt(&others[i], "If-Match: \"x\"", NULL), 400, "bad-request");
        if (strcmp(others[i].method, "POST") == 0) {
            problem_check(attempt(&others[i], "If-None-Match: *", NULL), 400, "bad-request");
        } else { /* it has no ETag, so none of the list */
            status_check(attempt(&others[i], "If-None-Match: \"x\"", NULL), 200);
        }
    }
}

/* Of several changes with the same tag one is made. */
enum { RACERS = 8 };
static const char *race_tag;

static void *race(void *status) {
    const struct response *r = call(&(struct request){.method = "PATCH",
                                                      .path = "/v1/datasets/iris",
                                                      .body = "{\"description\":\"race\"}",
                                                      .headers = HEADERS(race_tag)});
    *(int *)status = r->status;
    return NULL;
}

static void test_one_of_several(void **state) {
    (void)state;
    race_tag = text("If-Match: %s", header_of(call_get("/v1/datasets/iris"), "ETag"));
    pthread_t threads[RACERS];
    int status[RACERS], made = 0;
    for (size_t i = 0; i < RACERS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, race, &status[i]), 0);
    }
    for (size_t i = 0; i < RACERS; i++) {
        pthread_join(threads[i], NULL);
        made += status[i] == 200;
        assert_true(status[i] == 200 || status[i] == 412);
    }
    assert_int_equal(made, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_false_conditions_change_nothing),
                                       TEST(test_true_conditions),
                                       TEST(test_jobs),
                                       TEST(test_reads),
                                       TEST(test_no_condition_is_ignored),
                                       TEST(test_one_of_several)};
    return cmocka_run_group_tests(tests, open_daemon, group_end);
}
