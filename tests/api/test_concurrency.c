/* Several things at the same time: two jobs train while predictions continue, uploads to one name
 * and to several, a live version that changes under predictions. */
#include "lib/api.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS "{\"instances\":[[5.1,3.5,1.4,0.2],[6.3,3.3,6.0,2.5],[5.9,3.0,4.2,1.5]]}"

static int prepare(void **state) {
    if (group_start(state) != 0) {
        return -1;
    }
    upload_file("iris", "iris.csv");
    upload_file("digits", "digits.csv");
    job_train("{'model':'iris','dataset':'iris','target':'class','algorithm':'logistic'}");
    keep_free();
    return 0;
}

/* ---- threads that predict until they are stopped; they only count, because cmocka's checks must
 * run on the main thread ---- */

struct predictors {
    pthread_t threads[8];
    size_t n;
    const char *expected[3]; /* bodies of which each is a right answer; NULL: none */
    atomic_bool stop;
    atomic_size_t served, wrong;
};

static void *predict(void *arg) {
    struct predictors *p = arg;
    while (!atomic_load(&p->stop)) {
        const struct response *r = call(
            &(struct request){.method = "POST", .path = "/v1/models/iris/predict", .body = ROWS});
        bool right = false;
        for (size_t i = 0; i < 3; i++) {
            right = right || (p->expected[i] != NULL && strcmp(p->expected[i], r->body) == 0);
        }
        atomic_fetch_add(&p->served, 1);
        atomic_fetch_add(&p->wrong, r->status != 200 || !right);
    }
    return NULL;
}

static void predictors_start(struct predictors *p, size_t n, const char *first,
                             const char *second) {
    *p = (struct predictors){.expected = {first, second}};
    for (; p->n < n; p->n++) {
        assert_int_equal(pthread_create(&p->threads[p->n], NULL, predict, p), 0);
    }
}

static void predictors_end(struct predictors *p) {
    atomic_store(&p->stop, true);
    for (size_t i = 0; i < p->n; i++) {
        pthread_join(p->threads[i], NULL);
    }
    assert_int_equal(atomic_load(&p->wrong), 0);
    assert_true(atomic_load(&p->served) > 0);
}

static void wait_served(struct predictors *p, size_t more) {
    for (size_t end = atomic_load(&p->served) + more; atomic_load(&p->served) < end; pause_ms(1))
        ;
}

static const char *prediction(void) {
    return status_check(call_post("/v1/models/iris/predict", "%s", ROWS), 200)->body;
}

/* ---- tests ---- */

static void test_two_jobs_train_while_predictions_go_on(void **state) {
    (void)state;
    struct predictors p;
    const char *expected = prediction();
    int64_t first = job_endless("a"), second = job_endless("b");
    job_wait_state(first, "running");
    job_wait_state(second, "running"); /* both at the same time: --workers is 2 */
    predictors_start(&p, 4, expected, NULL);
    wait_served(&p, 200);
    assert_string_equal(string_at(call_get("/v1/jobs/%lld", (long long)first), "/state"),
                        "running");
    assert_string_equal(string_at(call_get("/v1/jobs/%lld", (long long)second), "/state"),
                        "running");
    assert_int_equal(count_at(call_get("/v1/jobs?state=running"), "/items"), 2);
    predictors_end(&p);
    problem_check(call_delete("/v1/datasets/digits"), 409, "in-use");
    problem_check(call_delete("/v1/datasets/digits?version=1"), 409, "in-use");
    problem_check(call_delete("/v1/jobs/%lld", (long long)first), 409, NULL);
    status_check(call_post(text("/v1/jobs/%lld/cancel", (long long)first), "{}"), 202);
    status_check(call_post(text("/v1/jobs/%lld/cancel", (long long)second), "{}"), 202);
    assert_string_equal(string_at(job_wait(first), "/state"), "cancelled");
    assert_string_equal(string_at(job_wait(second), "/state"), "cancelled");
}

/* A job that runs beside others gives the same bytes as a job that runs alone. */
static void test_a_job_beside_others_gives_the_same_weights(void **state) {
    (void)state;
#define DESCENT                                                                                    \
    "{'model':'%s','dataset':'digits','target':'class','algorithm':'logistic','seed':11,"          \
    "'params':{'solver':'%s','max_iterations':%d,'tolerance':1e-300}}"
    static const char *const solvers[] = {"gradient_descent", "sgd", "lbfgs", "newton"};
    static const int iterations[] = {
        /* a pass of each method takes another time; when they stop does not matter */
        30, 10, 20, 2};
    int64_t ids[4];
    struct predictors p;
    for (size_t i = 0; i < 4; i++) {
        job_train(DESCENT, text("alone-%zu", i), solvers[i], iterations[i]);
    }
    predictors_start(&p, 2, prediction(), NULL);
    for (size_t i = 0; i < 4; i++) {
        ids[i] = job_post(DESCENT, text("beside-%zu", i), solvers[i], iterations[i]);
    }
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(string_at(job_wait(ids[i]), "/state"), "succeeded");
    }
    predictors_end(&p);
    for (size_t i = 0; i < 4; i++) {
        const struct response *alone =
            status_check(call_get("/v1/models/alone-%zu/weights", i), 200);
        const struct response *beside =
            status_check(call_get("/v1/models/beside-%zu/weights", i), 200);
        assert_true(json_equal(value_at(alone, "/w"), value_at(beside, "/w")));
        assert_true(json_equal(value_at(alone, "/w0"), value_at(beside, "/w0")));
    }
}

/* ---- threads that change one resource ---- */

struct changer {
    pthread_t thread;
    const char *path;
    int number;
    size_t n_wrong;
    char etags[100][64]; /* of its answers */
};

static void *change(void *arg) {
    struct changer *c = arg;
    for (int i = 0; i < 100; i++) {
        char body[64], expected[64];
        (void)snprintf(body, sizeof body, "{\"description\":\"by %d, %d\"}", c->number, i);
        (void)snprintf(expected, sizeof expected, "\"description\":\"by %d, %d\"", c->number, i);
        const struct response *r =
            call(&(struct request){.method = "PATCH", .path = c->path, .body = body});
        const char *etag = header_of(r, "ETag");
        c->n_wrong += r->status != 200 || strstr(r->body, expected) == NULL || etag == NULL;
        (void)snprintf(c->etags[i], sizeof c->etags[i], "%s", etag != NULL ? etag : "");
    }
    return NULL;
}

/* The answer to a change contains the state after this change, with an ETag that no other change
 * has. */
static void check_changes(const char *path) {
    static struct changer changers[4];
    for (int i = 0; i < 4; i++) {
        changers[i] = (struct changer){.path = path, .number = i};
        assert_int_equal(pthread_create(&changers[i].thread, NULL, change, &changers[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(changers[i].thread, NULL);
        assert_int_equal(changers[i].n_wrong, 0);
    }
    for (int i = 0; i < 400; i++) {
        for (int k = 0; k < i; k++) {
            assert_string_not_equal(changers[i / 100].etags[i % 100],
                                    changers[k / 100].etags[k % 100]);
        }
    }
}

static void test_answers_of_changes(void **state) {
    (void)state;
    check_changes("/v1/models/iris");
    check_changes("/v1/datasets/iris");
}

/* Each answer is of one version only, while the live version changes. */
static void test_the_live_version_changes_under_predictions(void **state) {
    (void)state;
    struct predictors p;
    const char *one = prediction();
    job_train("{'model':'iris','dataset':'iris','target':'class','algorithm':'logistic','params':{'"
              "lambda':1}}");
    const char *two = prediction();
    assert_string_not_equal(one, two);
    predictors_start(&p, 4, one, two);
    for (int i = 0; i < 60; i++) {
        int version = 1 + i % 2;
        status_check(call_put("/v1/models/iris/live", "{'version':%d}", version), 200);
        /* a client that has the answer to the change sees the new version */
        assert_string_equal(prediction(), version == 1 ? one : two);
    }
    predictors_end(&p);
    status_check(call_put("/v1/models/iris/live", "{'version':1}"), 200);
    status_check(call_delete("/v1/models/iris/versions/2"), 204);
}

struct uploader {
    pthread_t thread;
    const char *path, *body;
    const struct response *r;
};

static void *upload_chunked(void *arg) {
    struct uploader *u = arg;
    u->r = call(&(struct request){
        .method = "PUT", .path = u->path, .body = u->body, .upload = true, .chunked = true});
    return NULL;
}

static void uploads(struct uploader *u, size_t n) {
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(pthread_create(&u[i].thread, NULL, upload_chunked, &u[i]), 0);
    }
    for (size_t i = 0; i < n; i++) {
        pthread_join(u[i].thread, NULL);
    }
}

/* Each upload becomes a complete version; exactly one is 201. */
static void test_uploads_of_one_name_at_once(void **state) {
    (void)state;
    enum { N = 6, LINES = 60000 };
    struct uploader u[N];
    struct predictors p;
    size_t created = 0;
    bool seen[N + 1] = {false};
    for (size_t i = 0; i < N; i++) {
        u[i] = (struct uploader){.path = "/v1/datasets/same",
                                 .body = text("a,b\n%s",
                                              repeat(text("%zu,upload-%zu\n", i, i), LINES))};
    }
    predictors_start(&p, 2, prediction(), NULL);
    uploads(u, N);
    predictors_end(&p);
    for (size_t i = 0; i < N; i++) {
        assert_true(u[i].r->status == 201 || u[i].r->status == 200);
        created += u[i].r->status == 201;
        int64_t version = whole_at(u[i].r, "/version");
        assert_in_range(version, 1, N);
        assert_false(seen[version]);
        seen[version] = true;
        const struct response *d =
            status_check(call_get("/v1/datasets/same?version=%lld", (long long)version), 200);
        assert_int_equal(whole_at(d, "/rows"), LINES);
        /* the rows of this upload, not of another */
        assert_int_equal(whole_at(d, "/columns/0/min"), i);
        assert_int_equal(whole_at(d, "/columns/0/max"), i);
    }
    assert_int_equal(created, 1);
    assert_int_equal(count_at(call_get("/v1/datasets/same/versions"), "/items"), N);
}

/* A dataset is created and deleted while jobs name it: an upload answers with its own version, and
 * a job finds the dataset or names the member that does not. */
static void *come_and_go(void *arg) {
    atomic_size_t *wrong = arg;
    for (int i = 0; i < 150; i++) {
        const struct response *put = call(&(struct request){.method = "PUT",
                                                            .path = "/v1/datasets/fleeting",
                                                            .body = "x,y\n1,a\n2,b\n",
                                                            .upload = true});
        const struct response *gone =
            call(&(struct request){.method = "DELETE", .path = "/v1/datasets/fleeting"});
        atomic_fetch_add(wrong,
                         (put->status != 200 && put->status != 201) ||
                             (gone->status != 204 && gone->status != 404 && gone->status != 409));
    }
    return NULL;
}

static void test_jobs_of_a_dataset_that_comes_and_goes(void **state) {
    (void)state;
    pthread_t threads[2];
    atomic_size_t wrong = 0;
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, come_and_go, &wrong), 0);
    }
    for (int i = 0; i < 300; i++) {
        const struct response *r = call_post(
            "/v1/jobs", "%s",
            "{'model':'fleeting','dataset':'fleeting','target':'y','algorithm':'logistic'}");
        if (r->status == 202) {
            call_post(text("/v1/jobs/%lld/cancel", (long long)whole_at(r, "/id")), "%s",
                      ""); /* so that the dataset can be deleted again */
        } else {
            fault_check(problem_check(r, 422, "invalid"), "/dataset");
        }
    }
    for (size_t i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(atomic_load(&wrong), 0);
}

/* Only one of the uploads with If-None-Match: * succeeds. */
static void *upload_new(void *arg) {
    struct uploader *u = arg;
    u->r = call(&(struct request){.method = "PUT",
                                  .path = u->path,
                                  .headers = HEADERS("If-None-Match: *"),
                                  .body = u->body,
                                  .upload = true});
    return NULL;
}

static void test_only_one_creates(void **state) {
    (void)state;
    enum { N = 6 };
    struct uploader u[N];
    size_t created = 0;
    for (size_t i = 0; i < N; i++) {
        u[i] =
            (struct uploader){.path = "/v1/datasets/once", .body = text("a\n%zu\n%zu\n", i, i + 1)};
        assert_int_equal(pthread_create(&u[i].thread, NULL, upload_new, &u[i]), 0);
    }
    for (size_t i = 0; i < N; i++) {
        pthread_join(u[i].thread, NULL);
    }
    for (size_t i = 0; i < N; i++) {
        created += u[i].r->status == 201;
        if (u[i].r->status != 201) {
            problem_check(u[i].r, 412, "precondition-failed");
        }
    }
    assert_int_equal(created, 1);
}

/* More waiting calls and event streams than threads: other calls are served, and each waiting call
 * gets the end of the job. */
static void *wait_for_end(void *arg) {
    struct uploader *u = arg;
    do { /* on a slow machine the job takes longer than the 50 s of a wait */
        u->r = call(&(struct request){.method = "GET", .path = u->path});
    } while (u->r->status == 200 && u->r->json != NULL &&
             strcmp(string_at(u->r, "/state"), "running") == 0);
    return NULL;
}

static void test_many_wait_for_one_job(void **state) {
    (void)state;
    enum { N = 40 };
    struct uploader u[N];
    int64_t id = job_endless("waited-for");
    job_wait_state(id, "running");
    for (size_t i = 0; i < N; i++) {
        u[i] = (struct uploader){
            .path = text("/v1/jobs/%lld%s", (long long)id, i % 2 == 0 ? "?wait=50" : "/events")};
        assert_int_equal(pthread_create(&u[i].thread, NULL, wait_for_end, &u[i]), 0);
    }
    for (int i = 0; i < 50; i++) {
        status_check(call_get("/v1/datasets"), 200);
    }
    status_check(call_post(text("/v1/jobs/%lld/cancel", (long long)id), "{}"), 202);
    for (size_t i = 0; i < N; i++) {
        pthread_join(u[i].thread, NULL);
    }
    for (size_t i = 0; i < N; i++) {
        status_check(u[i].r, 200);
        if (i % 2 == 0) {
            assert_string_equal(string_at(u[i].r, "/state"), "cancelled");
        } else {
            assert_non_null(strstr(u[i].r->body, "event: done"));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_two_jobs_train_while_predictions_go_on),
        TEST(test_a_job_beside_others_gives_the_same_weights),
        TEST(test_the_live_version_changes_under_predictions),
        TEST(test_answers_of_changes),
        TEST(test_uploads_of_one_name_at_once),
        TEST(test_jobs_of_a_dataset_that_comes_and_goes),
        TEST(test_only_one_creates),
        TEST(test_many_wait_for_one_job),
    };
    curl_global_init(CURL_GLOBAL_DEFAULT); /* before threads are started */
    return cmocka_run_group_tests(tests, prepare, group_end);
}
