/* Jobs: their JSON, waiting, lists, events, history, cancel, delete. */
#include "lib/api.h"
#include "lib/database.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Runs until it is cancelled. */
#define ENDLESS                                                                                    \
    "{'model':'endless','dataset':'iris','target':'class','algorithm':'logistic',"                 \
    "'params':{'solver':'gradient_descent','learning_rate':1e-9,'tolerance':1e-300,"               \
    "'max_iterations':1000000000}}"
#define IRIS "{'model':'iris','dataset':'iris','target':'class','algorithm':'logistic'}"

static int open_daemon(void **state) {
    static const char *const flags[] = {"--workers", "2", "--job-memory", "512M", "--train-threads",
                                        "2",         NULL};
    (void)state;
    service_start(flags);
    upload_file("iris", "iris.csv");
    return 0;
}

static const char *job_path(int64_t id, const char *rest) {
    return text("/v1/jobs/%lld%s", (long long)id, rest);
}

static void test_a_job_from_post_to_result(void **state) {
    (void)state;
    const struct response *a =
        call_json("POST", "/v1/jobs",
                  "{'model':'first','dataset':'iris@1','target':'class',"
                  "'algorithm':'logistic','params':{'lambda':0.01},"
                  "'validation':{'holdout':0.2},'seed':7,'snapshots':[1,3]}");
    status_check(a, 202);
    assert_string_equal(header_of(a, "Location"), job_path(whole_at(a, "/id"), ""));
    assert_string_equal(header_of(a, "Cache-Control"), "no-store");
    assert_string_equal(string_at(a, "/dataset/name"), "iris");
    assert_int_equal(real_at(a, "/dataset/version"), 1);
    a = call_get("%s?wait=50", header_of(a, "Location"));
    assert_string_equal(string_at(a, "/state"), "succeeded");
    assert_int_equal(real_at(a, "/attempts"), 1);
    assert_true(json_is_string(json_find(a->json, "/created_at")) &&
                json_is_string(json_find(a->json, "/started_at")) &&
                json_is_string(json_find(a->json, "/finished_at")));
    assert_true(json_is_null(json_find(a->json, "/error")));
    assert_true(json_is_array(json_find(a->json, "/warnings")));
    assert_string_equal(string_at(a, "/result/model"), "first");
    assert_int_equal(real_at(a, "/result/version"), 1);
    assert_true(json_is_true(json_find(a->json, "/result/converged")));
    assert_true(json_is_string(json_find(a->json, "/result/stop_reason")));
    assert_true(real_at(a, "/result/objective") > 0);
    assert_true(real_at(a, "/result/metrics/train/accuracy") > 0.9);
    assert_int_equal(real_at(a, "/result/metrics/train/rows"), 120);
    assert_int_equal(real_at(a, "/result/metrics/validation/rows"), 30);
    assert_int_equal(count_at(a, "/result/metrics/train/confusion/matrix"), 3);
}

static void test_history_and_snapshots(void **state) {
    (void)state;
    const double began = now();
    const struct response *job =
        job_train("{'model':'history','dataset':'iris','target':'class',"
                  "'algorithm':'logistic','params':{'solver':"
                  "'gradient_descent','max_iterations':50},'snapshots':[30,10,10]}");
    const double seconds = now() - began;
    const struct response *a =
        status_check(call_get("%s", job_path(whole_at(job, "/id"), "/history")), 200);
    assert_int_equal(count_at(a, "/items"), 50);
    assert_int_equal(real_at(a, "/items/0/iteration"), 1);
    for (size_t i = 1; i < 50; i++) {
        assert_true(real_in(json_array_get(json_find(a->json, "/items"), i), "/loss") <
                    real_in(json_array_get(json_find(a->json, "/items"), i - 1), "/loss"));
        assert_true(real_in(json_array_get(json_find(a->json, "/items"), i), "/elapsed") >=
                    real_in(json_array_get(json_find(a->json, "/items"), i - 1), "/elapsed"));
    }
    /* the training time is at most the time from request to answer, and at least 1 ns */
    assert_true(real_at(a, "/items/-1/elapsed") >= 1e-9);
    assert_true(real_at(a, "/items/-1/elapsed") <= seconds);
    assert_near(real_at(a, "/items/-1/loss"), real_at(job, "/result/objective"), 1e-9);
    assert_int_equal(count_at(a, "/snapshots"), 2);
    assert_int_equal(real_at(a, "/snapshots/0/iteration"), 10);
    assert_int_equal(count_at(a, "/snapshots/1/w"), 3);
}

static void test_waiting_ends_with_the_time_or_the_job(void **state) {
    (void)state;
    int64_t id = job_post(ENDLESS);
    job_wait_state(id, "running");
    const struct response *a = call_get("%s", job_path(id, "?wait=0.2"));
    assert_string_equal(string_at(a, "/state"), "running");
    problem_check(call_get("%s", job_path(id, "?wait=51")), 400, "bad-request");
    problem_check(call_get("%s", job_path(id, "?wait=-1")), 400, "bad-request");
    problem_check(call_get("%s", job_path(id, "?wait=soon")), 400, "bad-request");
    status_check(call_empty("HEAD", "%s", job_path(id, "?wait=50")), 200); /* never waits */
    /* 409 while it runs */
    problem_check(call_delete("%s", job_path(id, "")), 409, "conflict");
    problem_check(call_delete("/v1/datasets/iris"), 409, "in-use");
    problem_check(call_delete("/v1/datasets/iris?version=1"), 409, "in-use");
    status_check(call_empty("POST", "%s", job_path(id, "/cancel")), 202);
    a = call_get("%s", job_path(id, "?wait=50"));
    assert_string_equal(string_at(a, "/state"), "cancelled");
    assert_true(json_is_null(json_find(a->json, "/result")));
    problem_check(call_empty("POST", "%s", job_path(id, "/cancel")), 409, "conflict");
    status_check(call_delete("%s", job_path(id, "")), 204);
    problem_check(call_get("%s", job_path(id, "")), 404, "unknown-job");
}

static void test_a_queued_job_is_cancelled_at_once(void **state) {
    (void)state;
    int64_t first = job_post(ENDLESS), second = job_post(ENDLESS), queued = job_post(IRIS);
    job_wait_state(first, "running");
    job_wait_state(second, "running");
    const struct response *a =
        status_check(call_empty("POST", "%s", job_path(queued, "/cancel")), 202);
    assert_string_equal(header_of(a, "Location"), job_path(queued, ""));
    assert_string_equal(string_at(a, "/state"), "cancelled");
    assert_int_equal(real_at(a, "/attempts"), 0);
    assert_true(json_is_null(json_find(a->json, "/started_at")));
    a = call_get("/v1/jobs?state=running");
    assert_int_equal(count_at(a, "/items"), 2);
    assert_true(real_at(a, "/items/0/id") > real_at(a, "/items/1/id")); /* newest first */
    status_check(call_empty("POST", "%s", job_path(first, "/cancel")), 202);
    status_check(call_empty("POST", "%s", job_path(second, "/cancel")), 202);
    job_wait_state(first, "cancelled");
    job_wait_state(second, "cancelled");
}

static void test_lists_and_filters(void **state) {
    (void)state;
    job_train(IRIS);
    job_train(IRIS);
    const struct response *a = call_get("/v1/jobs?model=iris&state=succeeded&limit=1");
    assert_int_equal(count_at(a, "/items"), 1);
    double newest = real_at(a, "/items/0/id");
    a = call_get("/v1/jobs?model=iris&state=succeeded&limit=1&after=%s", string_at(a, "/next"));
    assert_int_equal(count_at(a, "/items"), 1);
    assert_true(real_at(a, "/items/0/id") < newest);
    assert_string_equal(string_at(a, "/items/0/model"), "iris");
    a = call_get("/v1/jobs?model=nobody");
    assert_int_equal(count_at(a, "/items"), 0);
    problem_check(call_get("/v1/jobs?state=asleep"), 400, "bad-request");
    problem_check(call_get("/v1/jobs?after=x"), 400, "bad-request");
    problem_check(call_get("/v1/jobs/0"), 404, "unknown-job");
    a = status_check(call_get("/v1/jobs/9223372036854775808"), 404);
    assert_non_null(strstr(string_at(a, "/detail"), "an integer from 1 to 9007199254740991"));
    problem_check(call_get("/v1/jobs/x/history"), 404, "unknown-job");
    problem_check(call_get("/v1/jobs/123456789/events"), 404, "unknown-job");
}

/* At most --max-queued-jobs jobs are queued; a running or cancelled job is not queued. */
static void test_the_queue_is_bounded(void **state) {
    (void)state;
    service_start(FLAGS("--workers", "1", "--max-queued-jobs", "2"));
    upload_file("iris", "iris.csv");
    status_check(call_post("/v1/jobs", ENDLESS), 202);
    job_wait_state(1, "running");
    status_check(call_post("/v1/jobs", IRIS), 202);
    status_check(call_post("/v1/jobs", IRIS), 202);
    const struct response *a = status_check(call_post("/v1/jobs", IRIS), 503);
    assert_non_null(header_of(a, "Retry-After"));
    assert_string_equal(string_at(a, "/type"), "/problems/unavailable");
    assert_non_null(strstr(string_at(a, "/detail"), "--max-queued-jobs"));
    status_check(call_post("/v1/jobs?dry_run=true", IRIS), 200);
    a = call_get("/v1/jobs");
    assert_int_equal(count_at(a, "/items"), 3); /* a refused job is not in the list */
    status_check(call_empty("POST", "/v1/jobs/3/cancel"), 202);
    status_check(call_post("/v1/jobs", IRIS), 202);
}

/* ---- events ---- */

/* Message n of a stream: its event and parsed data. Returns its id; 0: there is no such message. */
static long message(const char *stream, size_t n, char event[32], json_t **data) {
    const char *m = stream;
    long id = 0;
    for (m = strstr(m, "id: "); m && n > 0; n--) {
        m = strstr(m + 1, "\nid: ");
    }
    if (!m) {
        return 0;
    }
    m += *m == '\n';
    assert_int_equal(sscanf(m, "id: %ld\nevent: %31s", &id, event), 2);
    const char *begin = strstr(m, "data: ") + 6;
    *data = json_loadb(begin, strcspn(begin, "\n"), 0, NULL);
    return id;
}

static void test_events_of_a_job_that_has_ended(void **state) {
    (void)state;
    char event[32];
    json_t *data = NULL;
    const struct response *job = job_train(IRIS);
    const int64_t id = whole_at(job, "/id");
    const struct response *a = status_check(call_get("%s", job_path(id, "/events")), 200);
    assert_memory_equal(header_of(a, "Content-Type"), "text/event-stream", 17);
    assert_string_equal(header_of(a, "X-Accel-Buffering"), "no");
    assert_string_equal(header_of(a, "Cache-Control"), "no-store");
    assert_memory_equal(a->body, "retry: 2000\n\n", 13);
    long first = message(a->body, 0, event, &data);
    assert_string_equal(event, "state");
    assert_true(json_equal(data, job->json));
    json_decref(data);
    long last = message(a->body, 1, event, &data);
    assert_string_equal(event, "done");
    assert_true(json_equal(data, job->json));
    json_decref(data);
    assert_int_equal(last, first + 1);
    assert_int_equal(message(a->body, 2, event, &data), 0);
    /* a client that has received `done` gets 204 */
    status_check(call_get_with(text("Last-Event-ID: %ld", last), "%s", job_path(id, "/events")),
                 204);
    /* a client that has not gets the missed events */
    a = call_get_with(text("Last-Event-ID: %ld", last - 1), "%s", job_path(id, "/events"));
    assert_int_equal(message(a->body, 0, event, &data), last);
    assert_string_equal(event, "done");
    json_decref(data);
    /* from the first event on: consecutive ids */
    a = call_get_with("Last-Event-ID: 0", "%s", job_path(id, "/events"));
    for (long n = 1; n <= last; n++) {
        assert_int_equal(message(a->body, (size_t)n - 1, event, &data), n);
        json_decref(data);
    }
    problem_check(call_get_with("Last-Event-ID: x", "%s", job_path(id, "/events")), 400,
                  "bad-request");
}

/* A client that has missed more events than one step of the stream writes gets all of them. */
static void test_many_missed_events(void **state) {
    (void)state;
    char event[32];
    json_t *data = NULL;
    const struct response *job = job_train(IRIS);
    const int64_t id = whole_at(job, "/id");
    const struct response *a = call_get("%s", job_path(id, "/events"));
    const long last = message(a->body, 1, event, &data);
    json_decref(data);
    /* 350 progress events before the last event: four steps of at most 100 */
    (void)database_change("UPDATE job_events SET seq = seq + 350 WHERE job = %ld AND kind = 2",
                          (long)id);
    (void)database_change("UPDATE jobs SET last_event = last_event + 350 WHERE id = %ld", (long)id);
    (void)database_change(
        "WITH RECURSIVE n (i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < 349)"
        " INSERT INTO job_events (job, seq, kind, progress)"
        " SELECT j.id, j.last_event - 350 + n.i, 1, '{\"iteration\":' || n.i || '}'"
        " FROM n, jobs j WHERE j.id = %ld",
        (long)id);
    /* a stream that waits instead of sending events would send ": still here" */
    a = call_or_fail(&(struct request){.method = "GET",
                                       .path = job_path(id, "/events"),
                                       .headers = HEADERS("Last-Event-ID: 0"),
                                       .until = ": still here"});
    assert_null(strstr(a->body, ": still here"));
    for (long n = 1; n <= last + 350; n++) {
        assert_int_equal(message(a->body, (size_t)n - 1, event, &data), n);
        if (n >= last && n < last + 350) {
            assert_string_equal(event, "progress");
            assert_int_equal(real_in(data, "/iteration"), n - last);
        }
        json_decref(data);
    }
    assert_string_equal(event, "done");
}

/* A replayed event contains the job's state at the time of the event. */
static void test_replayed_events_show_the_past(void **state) {
    (void)state;
    static const char *const later[] = {"/finished_at", "/progress", "/error", "/result"};
    char event[32];
    size_t n_states = 0;
    json_t *data = NULL;
    const struct response *job = job_train(IRIS);
    const struct response *a =
        call_get_with("Last-Event-ID: 0", "%s", job_path(whole_at(job, "/id"), "/events"));
    status_check(a, 200);
    for (size_t i = 0; message(a->body, i, event, &data) > 0; i++) {
        static const char *const states[] = {"queued", "running", "succeeded"};
        if (strcmp(event, "state") == 0) {
            assert_true(n_states < 3);
            assert_string_equal(string_in(data, "/state"), states[n_states]);
            assert_int_equal(real_in(data, "/attempts"), n_states > 0);
            assert_int_equal(json_is_null(json_find(data, "/started_at")), n_states == 0);
            for (size_t k = 0; k < 4 && n_states < 2; k++) {
                assert_true(json_is_null(json_find(data, later[k])));
            }
            n_states++;
        }
        if (n_states == 3 && strcmp(event, "progress") != 0) {
            assert_true(json_equal(data, job->json));
        }
        json_decref(data);
    }
    assert_int_equal(n_states, 3);
    assert_string_equal(event, "done");
}

/* Opens the event stream of a job on its own connection. */
static int follow(int64_t id, const char *headers) {
    int fd = raw_open();
    const char *request = text("GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\n%sConnection: close\r\n\r\n",
                               job_path(id, "/events"), headers);
    raw_send_text(fd, request);
    return fd;
}

static void test_events_while_a_job_runs(void **state) {
    (void)state;
    int64_t id = job_post(ENDLESS);
    job_wait_state(id, "running");
    int fd = follow(id, "");
    const char *got = raw_until(fd, "", "event: state");
    got = raw_until(fd, got, "event: progress\ndata: {");
    assert_non_null(strstr(got, "\"iteration\":"));
    status_check(call_empty("POST", "%s", job_path(id, "/cancel")), 202);
    got = raw_until(fd, got, "event: done");
    got = raw_until(fd, got, "\r\n0\r\n\r\n"); /* the last chunk */
    assert_non_null(strstr(strstr(got, "event: done"), "\"state\":\"cancelled\""));
    close(fd);
}

/* An event id that this job did not have (an id of another database): the missed events are
 * unknown, so the stream starts from the beginning. */
static void test_unknown_last_event_id(void **state) {
    (void)state;
    char event[32];
    json_t *data = NULL;
    const struct response *job = job_train(IRIS);
    const struct response *a =
        call_get_with("Last-Event-ID: 1000000", "%s", job_path(whole_at(job, "/id"), "/events"));
    status_check(a, 200);
    long first = message(a->body, 0, event, &data);
    assert_string_equal(event, "state");
    assert_true(json_equal(data, job->json));
    json_decref(data);
    assert_int_equal(message(a->body, 1, event, &data), first + 1);
    assert_string_equal(event, "done");
    json_decref(data);
    int64_t id = job_post(ENDLESS);
    job_wait_state(id, "running");
    int fd = follow(id, "Last-Event-ID: 9007199254740991\r\n");
    const char *got = raw_until(fd, "", "event: state");
    got = raw_until(fd, got, "event: progress\ndata: {");
    assert_true(message(got, 0, event, &data) < 1000000);
    assert_string_equal(event, "state");
    assert_string_equal(string_in(data, "/state"), "running");
    json_decref(data);
    status_check(call_empty("POST", "%s", job_path(id, "/cancel")), 202);
    (void)raw_until(fd, got, "event: done");
    close(fd);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_a_job_from_post_to_result),
        TEST(test_history_and_snapshots),
        TEST(test_waiting_ends_with_the_time_or_the_job),
        TEST(test_a_queued_job_is_cancelled_at_once),
        TEST(test_lists_and_filters),
        TEST(test_events_of_a_job_that_has_ended),
        TEST(test_many_missed_events),
        TEST(test_replayed_events_show_the_past),
        TEST(test_events_while_a_job_runs),
        TEST(test_unknown_last_event_id),
    };
    const struct CMUnitTest alone[] = {TEST(test_the_queue_is_bounded)};
    return cmocka_run_group_tests(tests, open_daemon, group_end) + RUN_WITHOUT_DAEMON(alone);
}
