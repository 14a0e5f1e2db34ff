/* Names that expire: datasets, models and their jobs. The tests move time by a change of the
 * database, so that nothing waits for an expiry of a minute or more. */
#include "lib/api.h"
#include "lib/database.h"
#include "lib/postgresql.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ROWS "x,y,class\n1,2,a\n2,1,a\n3,1,b\n4,2,b\n5,1,a\n6,3,b\n"
#define JOB "'dataset':'rows','target':'class','algorithm':'logistic'"

/* Runs one training job at a time, so that a job can be kept queued. */
static const char *const one_worker[] = {"--workers", "1", NULL};

static int start(void **state) {
    (void)state;
    service_start(one_worker);
    upload_rows("rows");
    (void)upload_file("digits", "digits.csv");
    return 0;
}

/* Returns a time of an answer in seconds. */
static double time_at(const struct response *r, const char *pointer) {
    struct tm t = {0};
    double seconds = 0;
    assert_int_equal(sscanf(string_at(r, pointer), "%4d-%2d-%2dT%2d:%2d:%lfZ", &t.tm_year,
                            &t.tm_mon, &t.tm_mday, &t.tm_hour, &t.tm_min, &seconds),
                     6);
    t.tm_year -= 1900;
    t.tm_mon -= 1;
    return (double)timegm(&t) + seconds;
}

/* Checks that `pointer` is `seconds` after the time at `from`, in answers of two calls. */
static void after_check(const struct response *r, const char *pointer, const struct response *from,
                        const char *from_pointer, double seconds) {
    assert_near(time_at(r, pointer) - time_at(from, from_pointer), seconds, 1e-3);
}

static void assert_permanent(const struct response *r) {
    assert_json(r, "/expires_at", "null");
}

static const struct response *upload(const char *name, const char *query, int status) {
    return status_check(call_upload(text("/v1/datasets/%s%s", name, query), ROWS), status);
}

/* Waits until a path answers 404. */
static void await_gone(const char *path) {
    const double end = now() + 60;
    while (call_get("%s", path)->status != 404) {
        assert_true(now() < end);
        pause_ms(50);
    }
}

/* Waits for two complete sweeps: a dataset that expires later than everything else is deleted. */
static void await_sweeps(void) {
    for (int i = 0; i < 2; i++) {
        (void)upload("marker", "?expires_in=60", 201);
        assert_int_equal(database_change(
                             "UPDATE datasets SET expires_at = 2 WHERE name = 'marker'"),
                         1);
        await_gone("/v1/datasets/marker");
    }
}

static void expire_dataset(const char *name) {
    assert_int_equal(database_change("UPDATE datasets SET expires_at = 1 WHERE name = '%s'", name),
                     1);
}

static void expire_model(const char *name) {
    assert_int_equal(database_change("UPDATE models SET expires_at = 1 WHERE name = '%s'", name),
                     1);
}

static int64_t count_audit(const char *action, const char *name) {
    const struct response *r =
        status_check(call_get("/v1/audit?action=%s%s%s", action, name != NULL ? "&name=" : "",
                              name != NULL ? name : ""),
                     200);
    return (int64_t)count_at(r, "/items");
}

/* ---- datasets ---- */

static void test_dataset_times(void **state) {
    (void)state;
    const struct response *made = upload("d", "?expires_in=3600", 201), *r = made;
    after_check(r, "/expires_at", r, "/created_at", 3600);
    const char *etag = header_of(made, "ETag");
    assert_string_equal(string_at(call_get("/v1/datasets/d"), "/expires_at"),
                        string_at(made, "/expires_at"));
    assert_string_equal(string_at(call_get("/v1/datasets/d/versions"), "/items/0/expires_at"),
                        string_at(made, "/expires_at"));
    r = status_check(call_get("/v1/datasets?fields=name,expires_at"), 200);
    assert_string_equal(string_at(r, "/items/0/expires_at"), string_at(made, "/expires_at"));
    assert_string_equal(string_at(r, "/items/0/name"), "d");
    assert_json(r, "/items/1", "{'name':'digits','expires_at':null}");
    /* the same content makes no version, but sets the time, and with it the ETag */
    r = upload("d", "?expires_in=7200", 200);
    assert_string_equal(header_of(r, "Discern-Unchanged"), "true");
    assert_true(time_at(r, "/expires_at") >= time_at(made, "/created_at") + 7200);
    assert_int_equal(whole_at(r, "/version"), 1);
    assert_string_not_equal(header_of(r, "ETag"), etag);
    assert_int_equal(count_audit("dataset.patch", "d"), 1);
    /* an append sets it too, also to an earlier time */
    r = status_check(call_text("POST", "/v1/datasets/d/rows?expires_in=60",
                               "Content-Type: text/csv", "x,y,class\n7,1,a\n"),
                     201);
    after_check(r, "/expires_at", r, "/created_at", 60);
    assert_int_equal(whole_at(r, "/version"), 2);
    /* all versions have it */
    after_check(call_get("/v1/datasets/d?version=1"), "/expires_at", r, "/created_at", 60);
    /* PATCH */
    r = status_check(call_json("PATCH", "/v1/datasets/d", "{'tags':['x']}"), 200);
    assert_true(has(r, "/expires_at"));
    assert_false(json_is_null(value_at(r, "/expires_at")));
    r = status_check(call_json("PATCH", "/v1/datasets/d", "{'expires_in':2592000}"), 200);
    assert_true(time_at(r, "/expires_at") >= time_at(made, "/created_at") + 2592000);
    assert_json(r, "/tags", "['x']");
    status_check(call_get_with(text("If-None-Match: %s", header_of(r, "ETag")), "/v1/datasets/d"),
                 304);
    assert_permanent(
        status_check(call_json("PATCH", "/v1/datasets/d", "{'expires_in':null}"), 200));
}

static void test_dataset_permanent(void **state) {
    (void)state;
    const char *rows = "x,y,class\n7,1,a\n";
    (void)upload("p", "?expires_in=60", 201);
    /* the same content without expires_in makes the name permanent */
    assert_permanent(upload("p", "", 200));
    assert_permanent(call_get("/v1/datasets/p"));
    /* a permanent name is not made to expire by the way */
    const struct response *r = call_upload("/v1/datasets/p?expires_in=60", "x,class\n1,a\n2,b\n");
    problem_check(r, 409, "conflict");
    assert_non_null(strstr(string_at(r, "/detail"), "PATCH /v1/datasets/p"));
    r = call_text("POST", "/v1/datasets/p/rows?expires_in=60", "Content-Type: text/csv", rows);
    problem_check(r, 409, "conflict");
    assert_permanent(call_get("/v1/datasets/p"));
    assert_int_equal(whole_at(call_get("/v1/datasets/p"), "/version"), 1);
    /* PATCH may; then an append without expires_in makes it permanent again */
    status_check(call_json("PATCH", "/v1/datasets/p", "{'expires_in':60}"), 200);
    assert_permanent(
        status_check(call_text("POST", "/v1/datasets/p/rows", "Content-Type: text/csv", rows),
                     201));
    /* a deleted name begins anew */
    status_check(call_json("PATCH", "/v1/datasets/p", "{'expires_in':60}"), 200);
    status_check(call_delete("/v1/datasets/p"), 204);
    r = upload("p", "", 201);
    assert_int_equal(whole_at(r, "/version"), 3);
    assert_permanent(r);
}

static void test_dataset_conditions(void **state) {
    (void)state;
    const char *etag = header_of(upload("c", "?expires_in=3600", 201), "ETag");
    const struct response *before = call_get("/v1/datasets/c");
    problem_check(call_upload_bytes("/v1/datasets/c?expires_in=60", ROWS, 0, "If-Match: \"9-9\""),
                  412, "precondition-failed");
    problem_check(call_upload_bytes("/v1/datasets/c?expires_in=60", ROWS, 0, "If-None-Match: *"),
                  412, "precondition-failed");
    assert_string_equal(string_at(call_get("/v1/datasets/c"), "/expires_at"),
                        string_at(before, "/expires_at"));
    const struct response *r =
        call_upload_bytes("/v1/datasets/c?expires_in=60", ROWS, 0, text("If-Match: %s", etag));
    status_check(r, 200);
    assert_true(time_at(r, "/expires_at") < time_at(before, "/expires_at"));
    /* the tag that was seen is not that of the later time */
    problem_check(call_upload_bytes("/v1/datasets/c?expires_in=60", ROWS, 0,
                                    text("If-Match: %s", etag)),
                  412, "precondition-failed");
    status_check(call_delete("/v1/datasets/c"), 204);
}

static void test_dataset_expires(void **state) {
    (void)state;
    (void)upload("gone", "?expires_in=60", 201);
    status_check(call_text("POST", "/v1/datasets/gone/rows?expires_in=60", "Content-Type: text/csv",
                           "x,y,class\n7,1,a\n"),
                 201);
    (void)upload("later", "?expires_in=2592000", 201);
    expire_dataset("gone");
    await_gone("/v1/datasets/gone");
    problem_check(call_get("/v1/datasets/gone/rows"), 404, "unknown-dataset");
    problem_check(call_get("/v1/datasets/gone?version=1"), 404, "unknown-dataset");
    problem_check(call_get("/v1/datasets/gone/versions"), 404, "unknown-dataset");
    assert_null(strstr(call_get("/v1/datasets?fields=name")->body, "\"gone\""));
    status_check(call_get("/v1/datasets/later/rows"), 200);
    const struct response *r = status_check(call_get("/v1/audit?name=gone&limit=1"), 200);
    assert_json(r, "/items/0/action", "'dataset.expire'");
    assert_json(r, "/items/0/client", "null");
    assert_json(r, "/items/0/token", "null");
    /* the name can be used again; no version number is given twice */
    r = upload("gone", "", 201);
    assert_int_equal(whole_at(r, "/version"), 3);
    assert_permanent(r);
    await_sweeps();
    status_check(call_get("/v1/datasets/gone"), 200);
    status_check(call_delete("/v1/datasets/gone"), 204);
}

/* ---- models and jobs ---- */

static void test_model_times(void **state) {
    (void)state;
    const struct response *job = job_train("{'model':'m'," JOB ",'expires_in':3600}"),
                          *first = status_check(call_get("/v1/models/m"), 200), *r = first;
    assert_int_equal(whole_at(job, "/request/expires_in"), 3600);
    assert_int_equal(whole_at(job, "/resolved/expires_in"), 3600);
    after_check(first, "/expires_at", first, "/created_at", 3600);
    r = status_check(call_get("/v1/models?fields=name,expires_at"), 200);
    assert_string_equal(string_at(r, "/items/0/expires_at"), string_at(first, "/expires_at"));
    assert_string_equal(string_at(r, "/items/0/name"), "m");
    /* each training sets the time, also one that does not become live */
    (void)job_train("{'model':'m'," JOB ",'expires_in':600,'promote':'never'}");
    r = status_check(call_get("/v1/models/m/versions/2"), 200);
    after_check(r, "/expires_at", r, "/created_at", 600);
    assert_int_equal(whole_at(r, "/live_version"), 1);
    assert_string_equal(string_at(call_get("/v1/models/m"), "/expires_at"),
                        string_at(r, "/expires_at"));
    /* without expires_in, the model is permanent, and a job cannot change that */
    job = job_train("{'model':'m'," JOB "}");
    assert_false(has(job, "/resolved/expires_in"));
    assert_permanent(call_get("/v1/models/m"));
    r = call_json("POST", "/v1/jobs?dry_run=true", "{'model':'m'," JOB ",'expires_in':600}");
    problem_check(r, 409, "conflict");
    r = call_json("POST", "/v1/jobs", "{'model':'m'," JOB ",'expires_in':600}");
    problem_check(r, 409, "conflict");
    assert_non_null(strstr(string_at(r, "/detail"), "PATCH /v1/models/m"));
    /* PATCH can */
    r = status_check(call_json("PATCH", "/v1/models/m", "{'expires_in':60,'tags':['t']}"), 200);
    assert_false(json_is_null(value_at(r, "/expires_at")));
    assert_permanent(status_check(call_json("PATCH", "/v1/models/m", "{'expires_in':null}"), 200));
    /* a permanent model keeps its jobs */
    await_sweeps();
    status_check(call_get("/v1/jobs/%s", text("%lld", (long long)whole_at(job, "/id"))), 200);
    status_check(call_get("/v1/models/m/versions/1"), 200);
    status_check(call_delete("/v1/models/m"), 204);
}

static void test_model_expires(void **state) {
    (void)state;
    const int64_t kept = whole_at(job_train("{'model':'e'," JOB "}"), "/id");
    status_check(call_json("PATCH", "/v1/models/e", "{'expires_in':60}"), 200);
    const int64_t one = whole_at(job_train("{'model':'e'," JOB ",'expires_in':60}"), "/id"),
                  two = whole_at(job_train("{'model':'e'," JOB ",'expires_in':60}"), "/id"),
                  other = whole_at(job_train("{'model':'o'," JOB ",'expires_in':60}"), "/id");
    status_check(call_json("PUT", "/v1/models/e/decision", "{'threshold':0.3}"), 200);
    const char *rows = "{'instances':[{'length':3,'weight':1,'sex':'m'}]}";
    status_check(call_json("POST", "/v1/models/e/predict", "%s", rows), 200);
    expire_model("e");
    await_gone("/v1/models/e");
    problem_check(call_json("POST", "/v1/models/e/predict", "%s", rows), 404, "unknown-model");
    problem_check(call_json("POST", "/v1/models/e/versions/1/predict", "%s", rows), 404,
                  "unknown-model");
    problem_check(call_get("/v1/models/e/versions"), 404, "unknown-model");
    problem_check(call_get("/v1/jobs/%lld", (long long)one), 404, "unknown-job");
    problem_check(call_get("/v1/jobs/%lld", (long long)two), 404, "unknown-job");
    /* jobs without expires_in, and those of other models, stay */
    status_check(call_get("/v1/jobs/%lld", (long long)kept), 200);
    status_check(call_get("/v1/jobs/%lld", (long long)other), 200);
    const struct response *r = status_check(call_get("/v1/audit?name=e&limit=2"), 200);
    assert_json(r, "/items/0/action", "'model.expire'");
    assert_json(r, "/items/1/action", "'job.expire'");
    assert_int_equal(whole_at(r, "/items/1/count"), 2);
    /* the name begins anew */
    (void)job_train("{'model':'e'," JOB "}");
    r = status_check(call_get("/v1/models/e"), 200);
    assert_permanent(r);
    assert_int_equal(whole_at(r, "/version"), 4);
    assert_false(has(r, "/decision_rule"));
    status_check(call_delete("/v1/models/e"), 204);
    /* a model that a client deletes: its job goes when the model would have */
    status_check(call_delete("/v1/models/o"), 204);
    await_sweeps();
    status_check(call_get("/v1/jobs/%lld", (long long)other), 200);
    expire_model("o");
    await_gone(text("/v1/jobs/%lld", (long long)other));
}

/* More jobs than one step deletes. */
static void test_many_jobs(void **state) {
    (void)state;
    const int64_t last = whole_at(job_train("{'model':'many'," JOB ",'expires_in':60}"), "/id");
    const int n = database_change(
        "INSERT INTO jobs (state, model, algorithm, dataset, dataset_version, dataset_id, spec, "
        "created_at, finished_at, version, expires_in) WITH RECURSIVE k(i) AS (SELECT 1 UNION ALL "
        "SELECT i + 1 FROM k WHERE i < 450) SELECT state, model, algorithm, dataset, "
        "dataset_version, dataset_id, spec, created_at, finished_at, version, expires_in FROM jobs "
        "CROSS JOIN k WHERE id = %lld",
        (long long)last);
    assert_int_equal(n, 450);
    const int64_t entries = count_audit("job.expire", "many");
    expire_model("many");
    await_gone("/v1/models/many");
    assert_int_equal(count_at(call_get("/v1/jobs?model=many"), "/items"), 0);
    assert_int_equal(count_audit("job.expire", "many") - entries, 3);
}

static void test_job_alone(void **state) {
    (void)state;
    const int64_t running = job_endless("busy");
    job_wait_state(running, "running");
    const int64_t scratch = job_post("{'model':'never'," JOB ",'expires_in':60}"),
                  kept = job_post("{'model':'never'," JOB "}");
    status_check(call_empty("POST", "/v1/jobs/%lld/cancel", (long long)scratch), 202);
    status_check(call_empty("POST", "/v1/jobs/%lld/cancel", (long long)kept), 202);
    await_sweeps();
    status_check(call_get("/v1/jobs/%lld", (long long)scratch), 200);
    assert_int_equal(database_change("UPDATE jobs SET finished_at = 1 WHERE model = 'never'"), 2);
    await_gone(text("/v1/jobs/%lld", (long long)scratch));
    status_check(call_get("/v1/jobs/%lld", (long long)kept), 200);
    status_check(call_empty("POST", "/v1/jobs/%lld/cancel", (long long)running), 202);
    job_wait(running);
}

static void test_in_use(void **state) {
    (void)state;
    (void)job_train("{'model':'u'," JOB ",'expires_in':60}");
    status_check(call_json("PATCH", "/v1/datasets/digits", "{'expires_in':60}"), 200);
    const int64_t running = job_endless("busy");
    job_wait_state(running, "running");
    const int64_t queued = job_post("{'model':'u'," JOB ",'expires_in':3600}");
    expire_dataset("digits");
    expire_model("u");
    await_sweeps();
    status_check(call_get("/v1/datasets/digits"), 200);
    status_check(call_get("/v1/models/u"), 200);
    assert_int_equal(string_at(call_get("/v1/jobs/%lld", (long long)queued), "/state")[0], 'q');
    status_check(call_empty("POST", "/v1/jobs/%lld/cancel", (long long)running), 202);
    assert_string_equal(string_at(job_wait(queued), "/state"), "succeeded");
    await_gone("/v1/datasets/digits");
    /* the training has set the time again */
    const struct response *r = status_check(call_get("/v1/models/u"), 200);
    assert_int_equal(whole_at(r, "/version"), 2);
    after_check(r, "/expires_at", r, "/created_at", 3600);
}

/* A model that becomes permanent while a job with expires_in waits stays permanent. */
static void test_permanent_meanwhile(void **state) {
    (void)state;
    (void)upload_file("digits", "digits.csv");
    const int64_t running = job_endless("busy");
    job_wait_state(running, "running");
    const int64_t plain = job_post("{'model':'w'," JOB "}"),
                  scratch = job_post("{'model':'w'," JOB ",'expires_in':60}");
    status_check(call_empty("POST", "/v1/jobs/%lld/cancel", (long long)running), 202);
    assert_string_equal(string_at(job_wait(plain), "/state"), "succeeded");
    assert_string_equal(string_at(job_wait(scratch), "/state"), "succeeded");
    const struct response *r = status_check(call_get("/v1/models/w"), 200);
    assert_int_equal(whole_at(r, "/version"), 2);
    assert_permanent(r);
}

/* ---- faults ---- */

static void test_refusals(void **state) {
    (void)state;
    static const char *const queries[] = {"0",       "-1",  "59",   "1.5", "60.0",
                                          "2592001", "1e3", "text", "",    "9223372036854775808"};
    for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++) {
        const struct response *r =
            call_upload(text("/v1/datasets/bad?expires_in=%s", queries[i]), ROWS);
        problem_check(r, 400, "bad-request");
        assert_non_null(
            strstr(string_at(r, "/detail"),
                   text("\"expires_in\" must be an integer from 60 to 2592000, got \"%s\"",
                        queries[i])));
        problem_check(call_text("POST", text("/v1/datasets/rows/rows?expires_in=%s", queries[i]),
                                "Content-Type: text/csv", "id\n1\n"),
                      400, "bad-request");
    }
    problem_check(call_get("/v1/datasets/bad"), 404, "unknown-dataset");
    problem_check(call_upload("/v1/datasets/bad?expires_in=60&expires_in=60", ROWS), 400, NULL);
    problem_check(call_text("POST", "/v1/datasets:preview?expires_in=60", "Content-Type: text/csv",
                            ROWS),
                  400, "bad-request");
    static const char *const values[] = {"0",      "-1",   "59",   "1.5", "2592001",
                                         "'3600'", "true", "[60]", "{}",  "1e300"};
    (void)upload("v", "", 201);
    (void)job_train("{'model':'v'," JOB "}");
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        const struct response *r =
            call_json("POST", "/v1/jobs", "{'model':'x'," JOB ",'expires_in':%s}", values[i]);
        problem_check(r, 422, "invalid");
        fault_check(r, "/expires_in");
        r = call_json("PATCH", "/v1/datasets/v", "{'expires_in':%s}", values[i]);
        problem_check(r, 422, "invalid");
        fault_check(r, "/expires_in");
        r = call_json("PATCH", "/v1/models/v", "{'expires_in':%s}", values[i]);
        problem_check(r, 422, "invalid");
        fault_check(r, "/expires_in");
    }
    fault_contains(call_json("PATCH", "/v1/models/v", "{'expires_in':0}"), "/expires_in",
                   "from 60 to 2592000");
    assert_permanent(call_get("/v1/datasets/v"));
    assert_permanent(call_get("/v1/models/v"));
    /* null is no expiry */
    const struct response *job = job_train("{'model':'v'," JOB ",'expires_in':null}");
    assert_false(has(job, "/resolved/expires_in"));
}

/* ---- restarts ---- */

static void test_restart(void **state) {
    (void)state;
    const char *out;
    (void)upload("r-gone", "?expires_in=60", 201);
    (void)upload("r-later", "?expires_in=3600", 201);
    const struct response *later = call_get("/v1/datasets/r-later");
    (void)job_train("{'model':'r-gone'," JOB ",'expires_in':60}");
    (void)job_train("{'model':'r-later'," JOB ",'expires_in':3600}");
    const struct response *model = call_get("/v1/models/r-later");
    service_stop();
    expire_dataset("r-gone");
    expire_model("r-gone");
    if (!postgresql_is_used()) {
        assert_int_equal(discernd_run((const char *const[]){"check", "--database",
                                                            the_daemon.database, NULL},
                                      &out),
                         0);
    }
    service_restart(one_worker);
    await_gone("/v1/datasets/r-gone");
    await_gone("/v1/models/r-gone");
    assert_string_equal(string_at(call_get("/v1/datasets/r-later"), "/expires_at"),
                        string_at(later, "/expires_at"));
    assert_string_equal(string_at(call_get("/v1/models/r-later"), "/expires_at"),
                        string_at(model, "/expires_at"));
    postgresql_skip("there are no checksums of rows, and discernd makes no backup");
    /* the checksums of a backup have the new columns */
    const char *copy = text("%s/copy.db", the_daemon.dir);
    assert_int_equal(discernd_run((const char *const[]){"backup", copy, "--database",
                                                        the_daemon.database, NULL},
                                  &out),
                     0);
    assert_int_equal(discernd_run((const char *const[]){"check", "--database", copy, NULL}, &out),
                     0);
    assert_int_equal(unlink(copy), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_dataset_times, test_end),
        cmocka_unit_test_teardown(test_dataset_permanent, test_end),
        cmocka_unit_test_teardown(test_dataset_conditions, test_end),
        cmocka_unit_test_teardown(test_dataset_expires, test_end),
        cmocka_unit_test_teardown(test_model_times, test_end),
        cmocka_unit_test_teardown(test_model_expires, test_end),
        cmocka_unit_test_teardown(test_many_jobs, test_end),
        cmocka_unit_test_teardown(test_job_alone, test_end),
        cmocka_unit_test_teardown(test_in_use, test_end),
        cmocka_unit_test_teardown(test_permanent_meanwhile, test_end),
        cmocka_unit_test_teardown(test_refusals, test_end),
        cmocka_unit_test_teardown(test_restart, test_end),
    };
    return cmocka_run_group_tests(tests, start, group_end);
}
