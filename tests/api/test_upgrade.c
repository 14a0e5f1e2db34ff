/* Databases of earlier releases (tests/data/databases): they are opened, read, predicted from and
 * trained from, and a queued job makes the model that the release itself made of the same request.
 */
#include "lib/api.h"
#include "lib/postgresql.h"

#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define IRIS_ROWS "{'instances':[[5.1,3.5,1.4,0.2],[6.1,2.8,4.7,1.2],[7.7,3.0,6.1,2.3]]}"

/* The jobs of the database: the model "first-NAME" was trained by the release, the job of
 * "next-NAME" is queued. */
static const struct {
    const char *name, *dataset;
    const char *instances; /* JSON as in quoted(), or svmlight */
} jobs[] = {
    {"defaults", "iris", IRIS_ROWS},
    {"options", "wine",
     "{'instances':[[13.2,1.78,2.14,11.2,100,2.65,2.76,0.26,1.28,4.38,1.05,3.4,1050],"
     "[12.3,0.94,1.36,10.6,88,1.98,0.57,0.28,0.42,1.95,1.05,1.82,520]]}"},
    {"kernel", "iris", IRIS_ROWS},
    {"network", "iris", IRIS_ROWS},
    {"text", "words",
     "{'instances':[{'note':'the parcel came late','length':3},{'note':'send the parcel number 5 "
     "to "
     "the office','length':40},{'note':null,'length':2}]}"},
    {"sparse", "sparse", "1 3:1 25:0.4 100:2.5 1000000:3\n-1 2:1 150:2.5\n"},
    {"appended", "appended", IRIS_ROWS},
    {"outliers", "iris", IRIS_ROWS},
};
enum { N_JOBS = sizeof jobs / sizeof jobs[0] };

/* The databases; the number is asserted so that a missing one is noticed. */
static const char *const *databases(size_t *n) {
    static glob_t found;
    if (found.gl_pathc == 0) {
        assert_int_equal(glob("tests/data/databases/*.db.gz", 0, NULL, &found), 0);
    }
    *n = found.gl_pathc;
    assert_true(*n >= 1);
    return (const char *const *)found.gl_pathv;
}

/* A daemon on a copy of the database. */
static void start_on(const char *database) {
    service_start(NULL);
    service_stop();
    assert_int_equal(system(text("rm -f '%s'-wal && gzip -dc '%s' >'%s'", the_daemon.database,
                                 database, the_daemon.database)),
                     0);
    service_restart(NULL);
    assert_int_equal(access(text("%s.before-0003", the_daemon.database), R_OK), 0); /* its backup */
}

/* Numbers may differ by 1e-4, because an iteration that ends at its tolerance rounds otherwise with
 * another release or another version of OpenBLAS (Debian 13: 8e-6 of a score), and b may have
 * further members, because a later release may have more parameters. A member of a that is
 * null may have a value in b: a later release computes more metrics. */
static void assert_alike(const json_t *a, const json_t *b) {
    if (json_is_null(a)) {
        return;
    }
    assert_int_equal(json_typeof(a), json_typeof(b));
    if (json_is_number(a)) {
        assert_near(json_number_value(b), json_number_value(a),
                    1e-4 * (1 + fabs(json_number_value(a))));
    } else if (json_is_array(a)) {
        assert_int_equal(json_array_size(a), json_array_size(b));
        for (size_t i = 0; i < json_array_size(a); i++) {
            assert_alike(json_array_get(a, i), json_array_get(b, i));
        }
    } else if (json_is_object(a)) {
        assert_true(json_object_size(a) <= json_object_size(b));
        for (void *at = json_object_iter((json_t *)(uintptr_t)a); at != NULL;
             at = json_object_iter_next((json_t *)(uintptr_t)a, at)) {
            const json_t *other = json_object_get(b, json_object_iter_key(at));
            assert_non_null(other);
            assert_alike(json_object_iter_value(at), other);
        }
    } else {
        assert_true(json_equal(a, b));
    }
}

static json_t *predictions(const char *model, const char *instances) {
    const bool json = instances[0] == '{';
    const char *body = json ? quoted("%s", instances) : instances;
    const struct request q = {.method = "POST",
                              .path = text("/v1/models/%s/predict", model),
                              .headers = json ? HEADERS("Content-Type: application/json",
                                                        "Accept: application/json")
                                              : HEADERS("Content-Type: text/x-svmlight",
                                                        "Accept: application/json"),
                              .body = body};
    return value_at(status_check(call(&q), 200), "/predictions");
}

/* Id of the job that makes the model. */
static int64_t job_of(const char *model) {
    const struct response *r = status_check(call_get("/v1/jobs?limit=100"), 200);
    for (size_t i = 0; i < count_at(r, "/items"); i++) {
        if (strcmp(string_at(r, text("/items/%zu/model", i)), model) == 0) {
            return whole_at(r, text("/items/%zu/id", i));
        }
    }
    fail_msg("no job makes model %s", model);
    return 0;
}

static void check_datasets(void) {
    const struct response *iris = status_check(call_get("/v1/datasets/iris"), 200), *r;
    assert_string_equal(string_at(iris, "/description"), "flowers");
    assert_json(iris, "/tags", "['small']");
    assert_int_equal(whole_at(iris, "/rows"), 150);
    assert_string_equal(string_at(iris, "/columns/4/name"), "class");
    r = status_check(call_get("/v1/datasets/appended"), 200);
    assert_int_equal(whole_at(r, "/version"), 3);
    assert_string_equal(string_at(r, "/content"), string_at(iris, "/content"));
    assert_int_equal(count_at(call_get("/v1/datasets/appended/versions"), "/items"), 3);
    assert_string_equal(
        call_get_with("Accept: text/csv", "/v1/datasets/appended/rows?limit=150")->body,
        call_get_with("Accept: text/csv", "/v1/datasets/iris/rows?limit=150")->body);
    r = status_check(call_get("/v1/datasets/words"), 200);
    assert_string_equal(string_at(r, "/columns/0/type"), "text");
    r = status_check(call_get_with("Accept: text/x-svmlight", "/v1/datasets/sparse/rows"), 200);
    assert_non_null(strstr(r->body, "100:2.5"));
    assert_non_null(strstr(r->body, "1000000:1"));
    /* the same table makes no new version */
    size_t size;
    const char *file = read_whole("tests/data/iris.csv", &size);
    assert_int_equal(whole_at(status_check(call_upload("/v1/datasets/iris", file), 200),
                              "/version"),
                     1);
}

static void check_jobs(void) {
    const struct response *r = status_check(call_get("/v1/jobs/%d", 2), 200);
    assert_string_equal(string_at(r, "/state"), "succeeded");
    assert_string_equal(string_at(r, "/model"), "first-options");
    assert_true(json_is_null(value_at(r, "/request"))); /* the release did not store it */
    assert_string_equal(string_at(r, "/resolved/model"), "first-options");
    assert_string_equal(string_at(r, "/resolved/dataset"), "wine@1");
    assert_true(real_at(r, "/result/metrics/validation/accuracy") > 0.8);
    assert_int_equal(count_at(call_get("/v1/jobs/2/history"), "/items"), 40);
    assert_int_equal(count_at(call_get("/v1/jobs/2/history"), "/snapshots"), 3);
    r = status_check(call_get("/v1/jobs/%lld", (long long)job_of("never")), 200);
    assert_string_equal(string_at(r, "/state"), "failed");
    assert_non_null(strstr(string_at(r, "/error/type"), "job-time-limit"));
    r = status_check(call_get("/v1/jobs/%lld", (long long)job_of("cancelled-defaults")), 200);
    assert_string_equal(string_at(r, "/state"), "cancelled");
    r = status_check(call_get("/v1/models/first-defaults/versions"), 200);
    assert_int_equal(count_at(r, "/items"), 2);
    assert_int_equal(whole_at(call_get("/v1/models/first-defaults"), "/version"), 1);
}

/* The members that describe a model, without its name, time and job. */
static const char *const described[] = {"/algorithm", "/params",     "/features", "/classes",
                                        "/seed",      "/validation", "/metrics"};

static void test_queued_jobs_mean_the_same(void **state) {
    (void)state;
    size_t n;
    const char *const *files = databases(&n);
    for (size_t k = 0; k < n; k++) {
        start_on(files[k]);
        check_datasets();
        for (size_t i = 0; i < N_JOBS; i++) {
            const char *first = text("first-%s", jobs[i].name),
                       *next = text("next-%s", jobs[i].name);
            const struct response *r = job_wait(job_of(next));
            assert_string_equal(string_at(r, "/state"), "succeeded");
            assert_int_equal(whole_at(r, "/attempts"), 1);
            const struct response *a = status_check(call_get("/v1/models/%s", first), 200),
                                  *b = status_check(call_get("/v1/models/%s", next), 200);
            for (size_t m = 0; m < sizeof described / sizeof described[0]; m++) {
                assert_int_equal(has(a, described[m]), has(b, described[m]));
                if (has(a, described[m])) {
                    assert_alike(value_at(a, described[m]), value_at(b, described[m]));
                }
            }
            json_t *by_first = predictions(first, jobs[i].instances),
                   *by_next = predictions(next, jobs[i].instances);
            assert_alike(by_first, by_next);
        }
        check_jobs();
        service_end();
    }
}

static void test_old_data_are_used_and_changed(void **state) {
    (void)state;
    size_t n;
    const char *const *files = databases(&n);
    for (size_t k = 0; k < n; k++) {
        start_on(files[k]);
        for (size_t i = 0; i < N_JOBS; i++) {
            assert_true(json_array_size(
                            predictions(text("first-%s", jobs[i].name), jobs[i].instances)) > 1);
        }
        /* models of format version 5 and before have no mean row */
        problem_check(call_text("POST",
                                text("/v1/models/first-%s/predict?output=contributions&"
                                     "baseline=mean",
                                     jobs[0].name),
                                NULL, quoted("%s", jobs[0].instances)),
                      409, NULL);
        /* format version 6 and before have no support vectors with row numbers */
        const struct response *r =
            status_check(call_get("/v1/models/first-kernel/weights?support_vectors=true"), 200);
        assert_json(r, "/support/reason", "'earlier_version'");
        r = status_check(
            call_post("/v1/datasets/appended/rows",
                      "[{'sepal_length':5,'sepal_width':3,'petal_length':1.5,'petal_width':0.2,"
                      "'class':'setosa'}]"),
            201);
        assert_int_equal(whole_at(r, "/version"), 4);
        assert_int_equal(whole_at(r, "/rows"), 151);
        static const char *const targets[][2] = {{"iris", "class"},
                                                 {"wine", "class"},
                                                 {"appended", "class"},
                                                 {"words", "kind"},
                                                 {"sparse", "label"}};
        for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
            job_train("{'model':'new','dataset':'%s','target':'%s','algorithm':'logistic'}",
                      targets[i][0], targets[i][1]);
        }
        status_check(call_put("/v1/models/first-defaults/live", "{'version':2}"), 200);
        status_check(call_delete("/v1/models/first-kernel"), 204);
        status_check(call_delete("/v1/jobs/%d", 10), 204);
        for (size_t i = 0; i < N_JOBS; i++) {
            job_wait(job_of(text("next-%s", jobs[i].name)));
        }
        status_check(call_delete("/v1/datasets/%s", "appended"), 204);
        service_end();
    }
}

int main(void) {
    if (postgresql_skips("there are no databases of earlier versions")) {
        return POSTGRESQL_SKIPPED;
    }
    const struct CMUnitTest tests[] = {
        TEST(test_queued_jobs_mean_the_same),
        TEST(test_old_data_are_used_and_changed),
    };
    return RUN_WITHOUT_DAEMON(tests);
}
