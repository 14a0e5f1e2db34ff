/* Jobs: the object, waiting, lists, events, history, cancelling, deleting. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "client.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Ends only when it is told to. */
#define ENDLESS                                                                                    \
    "{\"model\":\"endless\",\"dataset\":\"iris\",\"target\":\"class\",\"algorithm\":\"logistic\"," \
    "\"params\":{\"solver\":\"gradient_"                                                           \
    "descent\","                                                                                   \
    "\"learning_rate\":1e-9,\"tolerance\":1e-300,\"max_iterations\":1000000000}}"
#define IRIS                                                                                       \
    "{\"model\":\"iris\",\"dataset\":\"iris\",\"target\":\"class\",\"algorithm\":\"logistic\"}"

static struct daemon d;

static int open_daemon(void **state) {
    static const char *const flags[] = {"--workers", "2", "--job-memory", "512M", "--train-threads",
                                        "2",         NULL};
    (void)state;
    daemon_open(&d, flags);
    upload(&d, "iris");
    return 0;
}

static int close_daemon(void **state) {
    (void)state;
    daemon_close(&d);
    return 0;
}

static double post(const char *body) {
    struct answer a = send_text(&d, "POST", "/v1/jobs", body);
    assert_int_equal(a.status, 202);
    double id = number_at(a.json, "id");
    answer_done(&a);
    return id;
}

static const char *job_path(double id, const char *rest) {
    static char path[4][96];
    static size_t turn;
    char *out = path[turn++ % 4];
    (void)snprintf(out, sizeof path[0], "/v1/jobs/%.0f%s", id, rest);
    return out;
}

/* Waits until the job is in a state. */
static void wait_state(double id, const char *state) {
    for (int i = 0; i < 600; i++) {
        struct answer a = get(&d, job_path(id, ""));
        bool there = strcmp(text_at(a.json, "state"), state) == 0;
        answer_done(&a);
        if (there) {
            return;
        }
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    }
    fail_msg("job %.0f does not become %s", id, state);
}

static void test_a_job_from_post_to_result(void **state) {
    (void)state;
    struct answer a = send_text(&d, "POST", "/v1/jobs",
                                "{\"model\":\"first\",\"dataset\":\"iris@1\",\"target\":\"class\","
                                "\"algorithm\":\"logistic\",\"params\":{\"lambda\":0.01},"
                                "\"validation\":{\"holdout\":0.2},\"seed\":7,\"snapshots\":[1,3]}");
    assert_int_equal(a.status, 202);
    assert_string_equal(answer_header(&a, "Location"), job_path(number_at(a.json, "id"), ""));
    assert_string_equal(answer_header(&a, "Cache-Control"), "no-store");
    assert_string_equal(text_at(a.json, "dataset.name"), "iris");
    assert_int_equal(number_at(a.json, "dataset.version"), 1);
    char path[128];
    (void)snprintf(path, sizeof path, "%s?wait=50", answer_header(&a, "Location"));
    answer_done(&a);
    a = get(&d, path);
    assert_string_equal(text_at(a.json, "state"), "succeeded");
    assert_int_equal(number_at(a.json, "attempts"), 1);
    assert_true(json_is_string(at(a.json, "created_at")) &&
                json_is_string(at(a.json, "started_at")) &&
                json_is_string(at(a.json, "finished_at")));
    assert_true(is_null_at(a.json, "error"));
    assert_true(json_is_array(at(a.json, "warnings")));
    assert_string_equal(text_at(a.json, "result.model"), "first");
    assert_int_equal(number_at(a.json, "result.version"), 1);
    assert_true(json_is_true(at(a.json, "result.converged")));
    assert_true(json_is_string(at(a.json, "result.stop_reason")));
    assert_true(number_at(a.json, "result.objective") > 0);
    assert_true(number_at(a.json, "result.metrics.train.accuracy") > 0.9);
    assert_int_equal(number_at(a.json, "result.metrics.train.rows"), 120);
    assert_int_equal(number_at(a.json, "result.metrics.validation.rows"), 30);
    assert_int_equal(json_array_size(at(a.json, "result.metrics.train.confusion.matrix")), 3);
    answer_done(&a);
}

static double seconds_now(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void test_history_and_snapshots(void **state) {
    (void)state;
    const double began = seconds_now();
    json_t *job = train(&d,
                        "{\"model\":\"history\",\"dataset\":\"iris\",\"target\":\"class\","
                        "\"algorithm\":\"logistic\",\"params\":{\"solver\":"
                        "\"gradient_descent\",\"max_iterations\":50},\"snapshots\":[30,10,10]}",
                        "succeeded");
    const double seconds = seconds_now() - began;
    struct answer a = get(&d, job_path(number_at(job, "id"), "/history"));
    assert_int_equal(a.status, 200);
    assert_int_equal(json_array_size(at(a.json, "items")), 50);
    assert_int_equal(number_at(a.json, "items.0.iteration"), 1);
    for (size_t i = 1; i < 50; i++) {
        assert_true(number_at(json_array_get(at(a.json, "items"), i), "loss") <
                    number_at(json_array_get(at(a.json, "items"), i - 1), "loss"));
        assert_true(number_at(json_array_get(at(a.json, "items"), i), "elapsed") >=
                    number_at(json_array_get(at(a.json, "items"), i - 1), "elapsed"));
    }
    /* the training lies within the time from the request to the answer, and takes 1 ns or more */
    assert_true(number_at(a.json, "items.-1.elapsed") >= 1e-9);
    assert_true(number_at(a.json, "items.-1.elapsed") <= seconds);
    expect_near(number_at(a.json, "items.-1.loss"), number_at(job, "result.objective"), 1e-9);
    assert_int_equal(json_array_size(at(a.json, "snapshots")), 2);
    assert_int_equal(number_at(a.json, "snapshots.0.iteration"), 10);
    assert_int_equal(json_array_size(at(a.json, "snapshots.1.w")), 3);
    answer_done(&a);
    json_decref(job);
}

static void test_waiting_ends_with_the_time_or_the_job(void **state) {
    (void)state;
    double id = post(ENDLESS);
    wait_state(id, "running");
    struct answer a = get(&d, job_path(id, "?wait=0.2"));
    assert_string_equal(text_at(a.json, "state"), "running");
    answer_done(&a);
    expect_problem(get(&d, job_path(id, "?wait=51")), 400, "bad-request");
    expect_problem(get(&d, job_path(id, "?wait=-1")), 400, "bad-request");
    expect_problem(get(&d, job_path(id, "?wait=soon")), 400, "bad-request");
    expect_status(ask(&d, "HEAD", job_path(id, "?wait=50"), NULL, NULL, 0), 200); /* never waits */
    /* 409 while it runs */
    expect_problem(ask(&d, "DELETE", job_path(id, ""), NULL, NULL, 0), 409, "conflict");
    expect_problem(ask(&d, "DELETE", "/v1/datasets/iris", NULL, NULL, 0), 409, "in-use");
    expect_problem(ask(&d, "DELETE", "/v1/datasets/iris?version=1", NULL, NULL, 0), 409, "in-use");
    expect_status(ask(&d, "POST", job_path(id, "/cancel"), NULL, NULL, 0), 202);
    a = get(&d, job_path(id, "?wait=50"));
    assert_string_equal(text_at(a.json, "state"), "cancelled");
    assert_true(is_null_at(a.json, "result"));
    answer_done(&a);
    expect_problem(ask(&d, "POST", job_path(id, "/cancel"), NULL, NULL, 0), 409, "conflict");
    expect_status(ask(&d, "DELETE", job_path(id, ""), NULL, NULL, 0), 204);
    expect_problem(get(&d, job_path(id, "")), 404, "unknown-job");
}

static void test_a_queued_job_is_cancelled_at_once(void **state) {
    (void)state;
    double first = post(ENDLESS), second = post(ENDLESS), queued = post(IRIS);
    wait_state(first, "running");
    wait_state(second, "running");
    struct answer a = ask(&d, "POST", job_path(queued, "/cancel"), NULL, NULL, 0);
    assert_int_equal(a.status, 202);
    assert_string_equal(answer_header(&a, "Location"), job_path(queued, ""));
    assert_string_equal(text_at(a.json, "state"), "cancelled");
    assert_int_equal(number_at(a.json, "attempts"), 0);
    assert_true(is_null_at(a.json, "started_at"));
    answer_done(&a);
    a = get(&d, "/v1/jobs?state=running");
    assert_int_equal(json_array_size(at(a.json, "items")), 2);
    assert_true(number_at(a.json, "items.0.id") >
                number_at(a.json, "items.1.id")); /* newest first */
    answer_done(&a);
    expect_status(ask(&d, "POST", job_path(first, "/cancel"), NULL, NULL, 0), 202);
    expect_status(ask(&d, "POST", job_path(second, "/cancel"), NULL, NULL, 0), 202);
    wait_state(first, "cancelled");
    wait_state(second, "cancelled");
}

static void test_lists_and_filters(void **state) {
    (void)state;
    json_decref(train(&d, IRIS, "succeeded"));
    json_decref(train(&d, IRIS, "succeeded"));
    struct answer a = get(&d, "/v1/jobs?model=iris&state=succeeded&limit=1");
    assert_int_equal(json_array_size(at(a.json, "items")), 1);
    char path[160];
    double newest = number_at(a.json, "items.0.id");
    (void)snprintf(path, sizeof path, "/v1/jobs?model=iris&state=succeeded&limit=1&after=%s",
                   text_at(a.json, "next"));
    answer_done(&a);
    a = get(&d, path);
    assert_int_equal(json_array_size(at(a.json, "items")), 1);
    assert_true(number_at(a.json, "items.0.id") < newest);
    assert_string_equal(text_at(a.json, "items.0.model"), "iris");
    answer_done(&a);
    a = get(&d, "/v1/jobs?model=nobody");
    assert_int_equal(json_array_size(at(a.json, "items")), 0);
    answer_done(&a);
    expect_problem(get(&d, "/v1/jobs?state=asleep"), 400, "bad-request");
    expect_problem(get(&d, "/v1/jobs?after=x"), 400, "bad-request");
    expect_problem(get(&d, "/v1/jobs/0"), 404, "unknown-job");
    a = get(&d, "/v1/jobs/9223372036854775808");
    assert_int_equal(a.status, 404);
    assert_non_null(strstr(text_at(a.json, "detail"), "an integer from 1 to 9007199254740991"));
    answer_done(&a);
    expect_problem(get(&d, "/v1/jobs/x/history"), 404, "unknown-job");
    expect_problem(get(&d, "/v1/jobs/123456789/events"), 404, "unknown-job");
}

/* As many may wait as --max-queued-jobs says; one that runs waits no more, nor does one that is
 * cancelled. */
static void test_the_queue_is_bounded(void **state) {
    (void)state;
    static const char *const flags[] = {"--workers", "1", "--max-queued-jobs", "2", NULL};
    struct daemon full, *one = &full;
    daemon_open(one, flags);
    upload(one, "iris");
    expect_status(send_text(one, "POST", "/v1/jobs", ENDLESS), 202);
    for (int i = 0; i < 6000; i++) {
        struct answer a = get(one, "/v1/jobs/1");
        bool runs = strcmp(text_at(a.json, "state"), "running") == 0;
        answer_done(&a);
        if (runs) {
            break;
        }
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    expect_status(send_text(one, "POST", "/v1/jobs", IRIS), 202);
    expect_status(send_text(one, "POST", "/v1/jobs", IRIS), 202);
    struct answer a = send_text(one, "POST", "/v1/jobs", IRIS);
    assert_int_equal(a.status, 503);
    assert_non_null(answer_header(&a, "Retry-After"));
    assert_string_equal(text_at(a.json, "type"), "/problems/unavailable");
    assert_non_null(strstr(text_at(a.json, "detail"), "--max-queued-jobs"));
    answer_done(&a);
    expect_status(send_text(one, "POST", "/v1/jobs?dry_run=true", IRIS), 200);
    a = get(one, "/v1/jobs");
    assert_int_equal(json_array_size(at(a.json, "items")), 3); /* the refused one left no trace */
    answer_done(&a);
    expect_status(ask(one, "POST", "/v1/jobs/3/cancel", NULL, NULL, 0), 202);
    expect_status(send_text(one, "POST", "/v1/jobs", IRIS), 202);
    daemon_close(one);
}

/* ---- events ---- */

/* The n-th message of a stream: its event and the parsed data. Returns its id, 0: there is none. */
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
    char event[32], header[64];
    json_t *data = NULL, *job = train(&d, IRIS, "succeeded");
    double id = number_at(job, "id");
    struct answer a = get(&d, job_path(id, "/events"));
    assert_int_equal(a.status, 200);
    assert_memory_equal(answer_header(&a, "Content-Type"), "text/event-stream", 17);
    assert_string_equal(answer_header(&a, "X-Accel-Buffering"), "no");
    assert_string_equal(answer_header(&a, "Cache-Control"), "no-store");
    assert_memory_equal(a.body, "retry: 2000\n\n", 13);
    long first = message(a.body, 0, event, &data);
    assert_string_equal(event, "state");
    assert_true(json_equal(data, job));
    json_decref(data);
    long last = message(a.body, 1, event, &data);
    assert_string_equal(event, "done");
    assert_true(json_equal(data, job));
    json_decref(data);
    assert_int_equal(last, first + 1);
    assert_int_equal(message(a.body, 2, event, &data), 0);
    answer_done(&a);
    /* a client that has seen `done` is told that there is nothing more */
    (void)snprintf(header, sizeof header, "Last-Event-ID: %ld", last);
    expect_status(get_with(&d, job_path(id, "/events"), header), 204);
    /* one that has not gets what it missed */
    (void)snprintf(header, sizeof header, "Last-Event-ID: %ld", last - 1);
    a = get_with(&d, job_path(id, "/events"), header);
    assert_int_equal(message(a.body, 0, event, &data), last);
    assert_string_equal(event, "done");
    json_decref(data);
    answer_done(&a);
    /* from the very first: ids without a gap */
    a = get_with(&d, job_path(id, "/events"), "Last-Event-ID: 0");
    for (long n = 1; n <= last; n++) {
        assert_int_equal(message(a.body, (size_t)n - 1, event, &data), n);
        json_decref(data);
    }
    answer_done(&a);
    expect_problem(get_with(&d, job_path(id, "/events"), "Last-Event-ID: x"), 400, "bad-request");
    json_decref(job);
}

/* Replayed, an event shows the job as it was then. */
/* Runs SQL on the database of the daemon. */
static void change_database(const char *format, long number) {
    sqlite3 *db = NULL;
    char *sql = sqlite3_mprintf(format, number);
    assert_int_equal(sqlite3_open_v2(d.database, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    sqlite3_busy_timeout(db, 5000);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_free(sql);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* A client that has missed more events than one step of the stream writes gets them all, to the
 * end. */
static void test_many_missed_events(void **state) {
    (void)state;
    char event[32];
    json_t *data = NULL, *job = train(&d, IRIS, "succeeded");
    const double id = number_at(job, "id");
    struct answer a = get(&d, job_path(id, "/events"));
    const long last = message(a.body, 1, event, &data);
    json_decref(data);
    answer_done(&a);
    /* 350 events of progress before the last one: three steps of 100 and a part of one */
    change_database("UPDATE job_events SET seq = seq + 350 WHERE job = %ld AND kind = 2", (long)id);
    change_database("UPDATE jobs SET last_event = last_event + 350 WHERE id = %ld", (long)id);
    change_database(
        "WITH RECURSIVE n (i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < 349)"
        " INSERT INTO job_events (job, seq, kind, progress)"
        " SELECT j.id, j.last_event - 350 + n.i, 1, '{\"iteration\":' || n.i || '}'"
        " FROM n, jobs j WHERE j.id = %ld",
        (long)id);
    static char text[256 * 1024];
    char request[200];
    (void)snprintf(request, sizeof request,
                   "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nLast-Event-ID: 0\r\n"
                   "Connection: close\r\n\r\n",
                   job_path(id, "/events"));
    int fd = bare_open(&d);
    bare_text(fd, request);
    size_t size = 0;
    ssize_t got = 1;
    /* a stream that waits though there are events says so after a while: it is not waited for */
    while (got > 0 && strstr(text, "\r\n0\r\n\r\n") == NULL &&
           strstr(text, ": still here") == NULL && size + 1 < sizeof text) {
        got = recv(fd, text + size, sizeof text - 1 - size, 0);
        size += got > 0 ? (size_t)got : 0;
        text[size] = '\0';
    }
    close(fd);
    assert_null(strstr(text, ": still here"));
    for (long n = 1; n <= last + 350; n++) {
        assert_int_equal(message(text, (size_t)n - 1, event, &data), n);
        if (n >= last && n < last + 350) {
            assert_string_equal(event, "progress");
            assert_int_equal(number_at(data, "iteration"), n - last);
        }
        json_decref(data);
    }
    assert_string_equal(event, "done");
    json_decref(job);
}

static void test_past_events_show_the_past(void **state) {
    (void)state;
    static const char *const later[] = {"finished_at", "progress", "error", "result"};
    char event[32];
    size_t n_states = 0;
    json_t *data = NULL, *job = train(&d, IRIS, "succeeded");
    struct answer a = get_with(&d, job_path(number_at(job, "id"), "/events"), "Last-Event-ID: 0");
    assert_int_equal(a.status, 200);
    for (size_t i = 0; message(a.body, i, event, &data) > 0; i++) {
        static const char *const states[] = {"queued", "running", "succeeded"};
        if (strcmp(event, "state") == 0) {
            assert_true(n_states < 3);
            assert_string_equal(text_at(data, "state"), states[n_states]);
            assert_int_equal(number_at(data, "attempts"), n_states > 0);
            assert_int_equal(is_null_at(data, "started_at"), n_states == 0);
            for (size_t k = 0; k < 4 && n_states < 2; k++) {
                assert_true(is_null_at(data, later[k]));
            }
            n_states++;
        }
        if (n_states == 3 && strcmp(event, "progress") != 0) {
            assert_true(json_equal(data, job));
        }
        json_decref(data);
    }
    assert_int_equal(n_states, 3);
    assert_string_equal(event, "done");
    answer_done(&a);
    json_decref(job);
}

static void test_events_while_a_job_runs(void **state) {
    (void)state;
    static char text[256 * 1024];
    char request[160];
    double id = post(ENDLESS);
    wait_state(id, "running");
    (void)snprintf(request, sizeof request,
                   "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n",
                   job_path(id, "/events"));
    int fd = bare_open(&d);
    bare_text(fd, request);
    bare_until(fd, text, sizeof text, "event: state");
    bare_until(fd, text, sizeof text, "event: progress\ndata: {");
    assert_non_null(strstr(text, "\"iteration\":"));
    expect_status(ask(&d, "POST", job_path(id, "/cancel"), NULL, NULL, 0), 202);
    bare_until(fd, text, sizeof text, "event: done");
    bare_until(fd, text, sizeof text,
               "\r\n0\r\n\r\n"); /* the last chunk: the stream ends properly */
    assert_non_null(strstr(strstr(text, "event: done"), "\"state\":\"cancelled\""));
    close(fd);
}

/* A number that this job never had (another life of the database): what was missed cannot be known,
 * so the stream begins as without one. */
static void test_events_from_the_future(void **state) {
    (void)state;
    static char text[256 * 1024];
    char request[200], event[32];
    json_t *data = NULL, *job = train(&d, IRIS, "succeeded");
    struct answer a =
        get_with(&d, job_path(number_at(job, "id"), "/events"), "Last-Event-ID: 1000000");
    assert_int_equal(a.status, 200);
    long first = message(a.body, 0, event, &data);
    assert_string_equal(event, "state");
    assert_true(json_equal(data, job));
    json_decref(data);
    assert_int_equal(message(a.body, 1, event, &data), first + 1);
    assert_string_equal(event, "done");
    json_decref(data);
    answer_done(&a);
    json_decref(job);
    double id = post(ENDLESS);
    wait_state(id, "running");
    (void)snprintf(request, sizeof request,
                   "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nLast-Event-ID: "
                   "9007199254740991\r\nConnection: close\r\n\r\n",
                   job_path(id, "/events"));
    int fd = bare_open(&d);
    bare_text(fd, request);
    bare_until(fd, text, sizeof text, "event: state");
    bare_until(fd, text, sizeof text, "event: progress\ndata: {");
    assert_true(message(text, 0, event, &data) < 1000000);
    assert_string_equal(event, "state");
    assert_string_equal(text_at(data, "state"), "running");
    json_decref(data);
    expect_status(ask(&d, "POST", job_path(id, "/cancel"), NULL, NULL, 0), 202);
    bare_until(fd, text, sizeof text, "event: done");
    close(fd);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_job_from_post_to_result),
        cmocka_unit_test(test_history_and_snapshots),
        cmocka_unit_test(test_waiting_ends_with_the_time_or_the_job),
        cmocka_unit_test(test_a_queued_job_is_cancelled_at_once),
        cmocka_unit_test(test_lists_and_filters),
        cmocka_unit_test(test_the_queue_is_bounded),
        cmocka_unit_test(test_events_of_a_job_that_has_ended),
        cmocka_unit_test(test_many_missed_events),
        cmocka_unit_test(test_past_events_show_the_past),
        cmocka_unit_test(test_events_while_a_job_runs),
        cmocka_unit_test(test_events_from_the_future),
    };
    return cmocka_run_group_tests(tests, open_daemon, close_daemon);
}
