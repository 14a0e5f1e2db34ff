/* Tokens: every route with every scope, with no token and with wrong ones; names that a token is
 * for; the token file and its changes; the command `discernd token`. */
#include "api/api.h"
#include "lib/api.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64];
static char file[80];

/* ---- the command ---- */

/* Runs discernd token with --tokens FILE. Returns its output; *status is its exit status. */
#define token_run(status, ...)                                                                     \
    token_run_at(status, (const char *const[]){"token", __VA_ARGS__, "--tokens", file, NULL})
static const char *token_run_at(int *status, const char *const *arguments) {
    const char *out;
    *status = discernd_run(arguments, &out);
    return out;
}

/* Makes a token. Returns its secret. */
#define token_add(...)                                                                             \
    token_made((const char *const[]){"token", "add", __VA_ARGS__, "--tokens", file, NULL})
static const char *token_made(const char *const *arguments) {
    const char *out;
    assert_int_equal(discernd_run(arguments, &out), 0);
    assert_int_equal(strlen(out), 8 + 64 + 1);
    assert_memory_equal(out, "discern_", 8);
    return text("%.72s", out);
}

static void write_file(const char *content) {
    FILE *f = fopen(file, "w");
    assert_non_null(f);
    assert_true(fputs(content, f) >= 0);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(file, 0600), 0);
}

static const struct response *get_as(const char *token, const char *path) {
    client_token = token;
    return call_get("%s", path);
}

/* Waits until a request with this token has this status. */
static void await_status(const char *token, const char *path, int status) {
    const double end = now() + 30;
    while (get_as(token, path)->status != status) {
        assert_true(now() < end);
        pause_ms(50);
    }
}

static int open_dir(void **state) {
    (void)state;
    (void)snprintf(dir, sizeof dir, "/tmp/discern-tokens.XXXXXX");
    if (mkdtemp(dir) == NULL) {
        return -1;
    }
    (void)snprintf(file, sizeof file, "%s/tokens", dir);
    return 0;
}

static int close_dir(void **state) {
    client_token = NULL;
    const int bad = group_end(state);
    unlink(file);
    return rmdir(dir) != 0 ? -1 : bad;
}

static int forget(void **state) {
    client_token = NULL;
    return test_end(state);
}

static void start(void) {
    service_start(FLAGS("--tokens", file));
}

/* ---- every route ---- */

/* Writes the path of a route with names and numbers in place of its placeholders. */
static const char *path_of(const struct http_route *r) {
    static const char *const values[][2] = {{"dataset", "churn-1"}, {"model", "churn-1"},
                                            {"version", "1"},       {"id", "1"},
                                            {"algorithm", "svm"},   {"name", "bad-request"},
                                            {"page", "data"},       {"digest", "0"},
                                            {"folder", "base"},     {"subfolder", "x"},
                                            {"file", "app.js"}};
    char out[300] = "";
    for (const char *at = r->path; *at != '\0';) {
        const char *end = *at == '{' ? strchr(at, '}') : at;
        bool found = *at != '{';
        const char *put = found ? text("%c", *at) : "";
        for (size_t i = 0; !found && i < sizeof values / sizeof values[0]; i++) {
            if (strncmp(values[i][0], at + 1, (size_t)(end - at - 1)) == 0) {
                put = values[i][1];
                found = true;
            }
        }
        assert_true(found);
        (void)snprintf(out + strlen(out), sizeof out - strlen(out), "%s", put);
        at = end + 1;
    }
    return text("%s", out);
}

static const struct response *call_route(const struct http_route *r, const char *const *headers) {
    const bool body = r->body != HTTP_BODY_NONE;
    return call_or_fail(&(struct request){.method = r->method,
                                          .path = path_of(r),
                                          .headers = headers,
                                          .body = body ? "{}" : NULL,
                                          .upload = body});
}

/* Which scopes a token may have for a call. */
static bool suffices(const char *has, enum http_scope needs) {
    static const struct {
        enum http_scope needs;
        const char *has;
    } enough[] = {{HTTP_SCOPE_ANY, "read predict train write admin"},
                  {HTTP_SCOPE_READ, "read train write admin"},
                  {HTTP_SCOPE_PREDICT, "predict admin"},
                  {HTTP_SCOPE_TRAIN, "train admin"},
                  {HTTP_SCOPE_WRITE, "write admin"},
                  {HTTP_SCOPE_ADMIN, "admin"}};
    for (size_t i = 0; i < sizeof enough / sizeof enough[0]; i++) {
        if (enough[i].needs == needs) {
            return strstr(enough[i].has, has) != NULL;
        }
    }
    return needs == HTTP_SCOPE_PUBLIC;
}

static void expect(const struct http_route *r, const char *what, const struct response *a,
                   int refusal) {
    const char *header = header_of(a, "WWW-Authenticate");
    const bool refused = a->status == 401 || a->status == 403;
    if (refused ? a->status != refusal : refusal != 0) {
        answer_fail(a, __FILE__, __LINE__, "%s %s %s: %d, expected %d (0: not refused)", r->method,
                    r->path, what, a->status, refusal);
    }
    if (refused && (header == NULL || strncmp(header, "Bearer realm=", 13) != 0)) {
        answer_fail(a, __FILE__, __LINE__, "%s %s %s: no WWW-Authenticate", r->method, r->path,
                    what);
    }
    if (refused) {
        problem_check(a, refusal, refusal == 401 ? "unauthorized" : "forbidden");
    }
}

static void test_every_route_and_every_scope(void **state) {
    (void)state;
    static const char *const scopes[] = {"read", "predict", "train", "write", "admin"};
    enum { N_SCOPES = sizeof scopes / sizeof scopes[0] };
    const char *secrets[N_SCOPES];
    unlink(file);
    for (size_t i = 0; i < N_SCOPES; i++) {
        secrets[i] = token_add(scopes[i], "--scope", scopes[i]);
    }
    const char *mixed = token_add("mixed", "--scope", "predict,train");
    const char *other = token_add("other", "--scope", "admin", "--only", "other-*,churn");
    const char *mine = token_add("mine", "--scope", "admin", "--only", "x,ch*-1");
    char *old = strdup(read_whole(file, NULL));
    const char *expired = token_add("expired", "--scope", "admin");
    const char *line = strstr(read_whole(file, NULL), "\nexpired b2:");
    write_file(text("%sexpired %.67s admin expires=2020-01-01\n", old, line + 9));
    free(old);
    start();
    for (size_t i = 0; i < api_n_routes; i++) {
        const struct http_route *r = &api_routes[i];
        const bool public = r->scope == HTTP_SCOPE_PUBLIC;
        const bool named =
            strstr(r->path, "{dataset}") != NULL || strstr(r->path, "{model}") != NULL;
        const bool daemon = strcmp(r->path, "/metrics") == 0 || strcmp(r->path, "/v1/audit") == 0 ||
                            strcmp(r->path, "/v1/admin/backup") == 0;
        const int refused = public ? 0 : 401;
        client_token = NULL;
        expect(r, "without a token", call_route(r, NULL), refused);
        expect(r, "Basic", call_route(r, HEADERS("Authorization: Basic YTpi")), refused);
        expect(r, "no secret", call_route(r, HEADERS("Authorization: Bearer")), refused);
        client_token = text("discern_%s", repeat("0", 64));
        expect(r, "unknown token", call_route(r, NULL), refused);
        client_token = text("%.71s", secrets[4]);
        expect(r, "short token", call_route(r, NULL), refused);
        client_token = text("%s,x", secrets[4]);
        expect(r, "long token", call_route(r, NULL), refused);
        client_token = expired;
        const struct response *a = call_route(r, NULL);
        expect(r, "expired token", a, refused);
        assert_true(public || strstr(string_at(a, "/detail"), "expired") != NULL);
        for (size_t s = 0; s < N_SCOPES; s++) {
            client_token = secrets[s];
            expect(r, scopes[s], call_route(r, NULL), suffices(scopes[s], r->scope) ? 0 : 403);
        }
        client_token = mixed;
        expect(r, "predict,train", call_route(r, NULL),
               suffices("predict", r->scope) || suffices("train", r->scope) ? 0 : 403);
        client_token = other;
        expect(r, "only other names", call_route(r, NULL), named || daemon ? 403 : 0);
        client_token = mine;
        expect(r, "only these names", call_route(r, NULL), daemon ? 403 : 0);
    }
    assert_null(strstr(daemon_log(&the_daemon), "discern_"));
    assert_non_null(strstr(daemon_log(&the_daemon), " token=mixed"));
}

/* The scheme in any case, one header only, HEAD, OPTIONS, the path of no route, health. */
static void test_the_header(void **state) {
    (void)state;
    unlink(file);
    const char *secret = token_add("reader", "--scope", "read");
    start();
    status_check(call_get_with(text("Authorization: bEARER   %s", secret), "/v1/models"), 200);
    status_check(call_get_with(text("Authorization: Bearer %s \t ", secret), "/v1/models"), 200);
    problem_check(call_get_with(text("Authorization: Bearer %s x", secret), "/v1/models"), 401,
                  "unauthorized");
    problem_check(call_or_fail(
                      &(struct request){.method = "GET",
                                        .path = "/v1/models",
                                        .headers =
                                            HEADERS(text("Authorization: Bearer %s", secret),
                                                    text("Authorization: Bearer %s", secret))}),
                  400, "bad-request");
    status_check(call_get("/nothing"), 404);
    status_check(call_empty("PUT", "/v1/models"), 405);
    status_check(call_empty("OPTIONS", "/v1/models"), 204);
    const struct response *a = call_empty("HEAD", "/v1/models");
    assert_int_equal(a->status, 401);
    assert_string_equal(header_of(a, "WWW-Authenticate"), "Bearer realm=\"discern\"");
    a = call_get_with("Authorization: Bearer wrong", "/readyz");
    assert_string_equal(status_check(a, 200)->body, "{\"ready\":true}\n");
    a = call_get_with(text("Authorization: Bearer %s", secret), "/readyz");
    assert_string_equal(string_at(a, "/checks/database"), "ok");
    /* any Host: a page of another site has no token */
    status_check(call_get_with("Host: public.example", "/healthz"), 200);
    /* a token does not permit requests of other sites */
    client_token = secret;
    problem_check(call_or_fail(&(struct request){.method = "DELETE",
                                                 .path = "/v1/models/a",
                                                 .headers = HEADERS("Origin: https://x.example")}),
                  403, "cross-origin");
}

/* ---- names ---- */

/* A token that may only predict reads what it has to send, and nothing else of the model. */
static void test_the_schema_of_a_model(void **state) {
    (void)state;
    unlink(file);
    const char *all = token_add("all", "--scope", "admin");
    const char *asks = token_add("asks", "--scope", "predict", "--only", "ir*", "--calls", "1");
    start();
    client_token = all;
    upload_file("iris", "iris.csv");
    job_train("{'model':'iris','dataset':'iris','target':'class','algorithm':'logistic'}");
    job_train("{'model':'other','dataset':'iris','target':'class','algorithm':'logistic'}");
    client_token = asks;
    const struct response *a = status_check(call_get("/v1/models/iris/schema"), 200);
    assert_int_equal(count_at(a, "/inputs"), 4);
    assert_int_equal(count_at(a, "/classes"), 3);
    assert_null(json_find(a->json, "/dataset"));
    assert_null(json_find(a->json, "/metrics"));
    status_check(call_get("/v1/models/iris/versions/1/schema"), 200);
    problem_check(call_get("/v1/models/iris/versions/2/schema"), 404, "unknown-model");
    problem_check(call_get("/v1/models/other/schema"), 403, "forbidden");
    problem_check(call_get("/v1/models/iris"), 403, "forbidden");
}

static size_t listed(const char *path) {
    return count_at(status_check(call_get("%s", path), 200), "/items");
}

static void test_names(void **state) {
    (void)state;
    unlink(file);
    const char *all = token_add("all", "--scope", "admin");
    const char *churn = token_add("churn", "--scope", "train,predict,write", "--only", "churn-*");
    const char *blind = token_add("blind", "--scope", "predict", "--only", "churn-*");
    start();
    client_token = all;
    upload_file("iris", "iris.csv");
    upload_file("churn-b", "iris.csv");
    job_train("{'model':'iris','dataset':'iris','target':'class','algorithm':'logistic'}");
    const int64_t mixed = whole_at(job_train("{'model':'churn-x','dataset':'iris','target':'class',"
                                             "'algorithm':'logistic'}"),
                                   "/id");
    assert_string_equal(string_at(call_get("/v1/models/iris"), "/submitted_by"), "all");

    client_token = churn;
    const struct response *a = upload_file("churn-a", "iris.csv");
    assert_string_equal(string_at(a, "/submitted_by"), "churn");
    problem_check(call_upload("/v1/datasets/burn", "a,b\n1,2\n"), 403, "forbidden");
    a = job_train("{'model':'churn-m','dataset':'churn-a','target':'class','algorithm':'logistic',"
                  "'validation':{'dataset':'churn-b@1'}}");
    const int64_t own = whole_at(a, "/id");
    assert_string_equal(string_at(a, "/submitted_by"), "churn");
    assert_string_equal(string_at(call_get("/v1/models/churn-m"), "/submitted_by"), "churn");
    static const char *const refused[] = {"{\"model\":\"iris\",\"dataset\":\"churn-a\",\"target\":"
                                          "\"class\",\"algorithm\":\"logistic\"}",
                                          "{\"model\":\"churn-m\",\"dataset\":\"iris\",\"target\":"
                                          "\"class\",\"algorithm\":\"logistic\"}",
                                          "{\"model\":\"churn-m\",\"dataset\":\"nothing@3\","
                                          "\"target\":\"class\",\"algorithm\":\"logistic\"}",
                                          "{\"model\":\"churn-m\",\"dataset\":\"churn-a\","
                                          "\"target\":\"class\",\"algorithm\":\"logistic\","
                                          "\"validation\":{\"dataset\":\"iris\"}}"};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        problem_check(call_text("POST", "/v1/jobs", NULL, refused[i]), 403, "forbidden");
        problem_check(call_text("POST", "/v1/jobs?dry_run=true", NULL, refused[i]), 403,
                      "forbidden");
    }
    problem_check(call_post("/v1/models/churn-m/evaluate", "{'dataset':'iris'}"), 403, "forbidden");
    problem_check(call_post("/v1/models/churn-m/predict", "{'dataset':'iris'}"), 403, "forbidden");
    status_check(call_post("/v1/models/churn-m/evaluate", "{'dataset':'churn-b'}"), 200);

    /* lists have the matching names only, and their pages are full */
    assert_int_equal(listed("/v1/datasets"), 2);
    assert_int_equal(listed("/v1/models"), 2);
    assert_int_equal(listed("/v1/jobs"), 1);
    assert_int_equal(listed("/v1/jobs?model=iris"), 0);
    a = call_get("/v1/datasets?limit=1");
    assert_string_equal(string_at(a, "/items/0/name"), "churn-a");
    assert_string_equal(string_at(a, "/next"), "churn-a");
    a = call_get("/v1/datasets?limit=1&after=churn-a");
    assert_string_equal(string_at(a, "/items/0/name"), "churn-b");
    assert_true(json_is_null(value_at(a, "/next")));

    /* a job is seen only if its model and its dataset match */
    static const char *const reads[] = {"", "?wait=20", "/events", "/history"};
    for (size_t i = 0; i < sizeof reads / sizeof reads[0]; i++) {
        problem_check(call_get("/v1/jobs/1%s", reads[i]), 404, "unknown-job");
        problem_check(call_get("/v1/jobs/%lld%s", (long long)mixed, reads[i]), 404, "unknown-job");
        status_check(call_get("/v1/jobs/%lld%s", (long long)own, reads[i]), 200);
    }
    problem_check(call_empty("POST", "/v1/jobs/1/cancel"), 404, "unknown-job");
    problem_check(call_delete("/v1/jobs/1"), 404, "unknown-job");
    status_check(call_delete("/v1/jobs/%lld", (long long)own), 204);

    /* no name that does not match is suggested: "churn-iris" is near to "iris" only */
    a = problem_check(call_get("/v1/datasets/churn-z"), 404, "unknown-dataset");
    assert_null(strstr(a->body, "did you mean"));

    /* rows of stored datasets are data: the scope read is needed */
    client_token = blind;
    status_check(call_post("/v1/models/churn-m/predict", "{'instances':[[5.1,3.5,1.4,0.2]]}"), 200);
    problem_check(call_post("/v1/models/churn-m/predict", "{'dataset':'churn-a'}"), 403,
                  "forbidden");
    problem_check(call_post("/v1/models/churn-m/evaluate", "{'dataset':'churn-a'}"), 403,
                  "forbidden");

    client_token = all;
    assert_int_equal(listed("/v1/datasets"), 3);
    assert_int_equal(listed("/v1/jobs"), 2);
    status_check(call_get("/v1/jobs/1"), 200);
}

/* ---- the file ---- */

/* A token that may train, but not delete, makes only its new models expire. */
static void test_expiry(void **state) {
    (void)state;
#define JOB "'dataset':'iris','target':'class','algorithm':'logistic'"
    unlink(file);
    const char *write = token_add("write", "--scope", "write");
    const char *train = token_add("train", "--scope", "train");
    start();
    client_token = write;
    upload_file("iris", "iris.csv");
    status_check(call_upload("/v1/datasets/d?expires_in=60", "a,b\n1,2\n"), 201);
    problem_check(call_json("POST", "/v1/jobs", "{'model':'m'," JOB ",'expires_in':60}"), 403,
                  "forbidden");
    client_token = train;
    problem_check(call_upload("/v1/datasets/d?expires_in=60", "a,b\n1,2\n"), 403, "forbidden");
    problem_check(call_json("PATCH", "/v1/datasets/d", "{'expires_in':60}"), 403, "forbidden");
    job_train("{'model':'m'," JOB "}");
    problem_check(call_json("POST", "/v1/jobs", "{'model':'m'," JOB ",'expires_in':60}"), 409,
                  "conflict");
    problem_check(call_json("PATCH", "/v1/models/m", "{'expires_in':60}"), 403, "forbidden");
    job_train("{'model':'n'," JOB ",'expires_in':60}");
    assert_false(json_is_null(value_at(call_get("/v1/models/n"), "/expires_at")));
    client_token = write;
    status_check(call_json("PATCH", "/v1/models/m", "{'expires_in':60}"), 200);
#undef JOB
}

static void test_changes_of_the_file(void **state) {
    (void)state;
    int status;
    unlink(file);
    const char *first = token_add("first", "--scope", "read");
    start();
    await_status(first, "/v1/models", 200);
    const char *second = token_add("second", "--scope", "read");
    await_status(second, "/v1/models", 200);
    const char *rotated = text("%.72s", token_run(&status, "rotate", "first", "--expires", "90d"));
    assert_int_equal(status, 0);
    await_status(rotated, "/v1/models", 200);
    await_status(first, "/v1/models", 401);

    /* a file with a fault, and no file: the tokens stay, and one line says why */
    const char *good = read_whole(file, NULL);
    write_file(text("%s# a comment\n\nthird b2:00 read\n", good));
    const double end = now() + 30;
    while (strstr(daemon_log(&the_daemon), "line 7: the hash must be") == NULL) {
        assert_true(now() < end);
        pause_ms(50);
    }
    status_check(get_as(second, "/v1/models"), 200);
    unlink(file);
    kill(the_daemon.pid, SIGHUP);
    while (strstr(daemon_log(&the_daemon), "cannot be read") == NULL) {
        assert_true(now() < end);
        pause_ms(50);
    }
    status_check(get_as(second, "/v1/models"), 200);
    write_file(good);
    kill(the_daemon.pid, SIGHUP);
    await_status(second, "/v1/models", 200);
    (void)token_run(&status, "revoke", "second");
    assert_int_equal(status, 0);
    await_status(second, "/v1/models", 401);
    status_check(get_as(rotated, "/v1/models"), 200);
    client_token = NULL;
    kill(the_daemon.pid, SIGHUP); /* further signals do not end the daemon */
    kill(the_daemon.pid, SIGHUP);
    status_check(call_get("/healthz"), 200);
    service_stop();
    write_file("first b2:00 read\n");
    const char *out;
    assert_int_equal(discernd_run((const char *const[]){"--tokens", file, "--listen", "127.0.0.1:0",
                                                        "--database", text("%s/x.db", dir), NULL},
                                  &out),
                     2);
    assert_non_null(strstr(out, "line 1: the hash must be"));
    unlink(file);
}

static atomic_bool stop_calling;
static atomic_int n_calls, n_bad;

static void *call_all_the_time(void *secret) {
    const char *const headers[] = {secret, NULL};
    while (!atomic_load(&stop_calling)) {
        const struct response *r =
            call(&(struct request){.method = "GET", .path = "/v1/models", .headers = headers});
        atomic_fetch_add(&n_calls, 1);
        atomic_fetch_add(&n_bad, r->status != 200);
    }
    return NULL;
}

/* No request fails while the file is replaced and read again. */
static void test_reload_under_load(void **state) {
    (void)state;
    enum { N_THREADS = 4, N_CHANGES = 30 };
    pthread_t threads[N_THREADS];
    int status;
    unlink(file);
    const char *secret = token_add("caller", "--scope", "read");
    start();
    char *header = strdup(text("Authorization: Bearer %s", secret));
    for (size_t i = 0; i < N_THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, call_all_the_time, header), 0);
    }
    for (int i = 0; i < N_CHANGES; i++) {
        const char *const name = text("t%d", i);
        (void)token_add(name, "--scope", "read");
        kill(the_daemon.pid, SIGHUP);
        (void)token_run(&status, "revoke", name);
        kill(the_daemon.pid, SIGHUP);
    }
    atomic_store(&stop_calling, true);
    for (size_t i = 0; i < N_THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    free(header);
    assert_int_equal(atomic_load(&n_bad), 0);
    assert_true(atomic_load(&n_calls) > N_CHANGES);
}

/* With tokens the daemon may listen on all addresses. */
static void test_beyond_loopback(void **state) {
    (void)state;
    service_end();
    unlink(file);
    (void)token_add("reader", "--scope", "read");
    const char *out;
    /* the folder of the database does not exist: the start gets that far */
    assert_int_equal(discernd_run((const char *const[]){"--tokens", file, "--listen", "0.0.0.0:0",
                                                        "--database", "/nowhere/x.db", NULL},
                                  &out),
                     2);
    assert_null(strstr(out, "--insecure"));
    assert_non_null(strstr(out, "/nowhere/x.db"));
}

static void refuse(const char *words, const char *const *arguments) {
    const char *out;
    const int status = discernd_run(arguments, &out);
    if (status != 2 || strstr(out, words) == NULL || strncmp(out, "discernd: ", 10) != 0) {
        fail_msg("exit %d, expected 2 and \"%s\", got: %s", status, words, out);
    }
}
#define refuse_token(words, ...)                                                                   \
    refuse(words, (const char *const[]){"token", __VA_ARGS__, "--tokens", file, NULL})

static void test_the_command(void **state) {
    (void)state;
    int status;
    struct stat info;
    service_end();
    unlink(file);
    (void)token_add("a", "--scope", "read", "--only", "x-*,y", "--expires", "12h");
    assert_int_equal(stat(file, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0600);
    write_file(text("%s# kept\n", read_whole(file, NULL)));
    (void)token_add("b", "--scope", "predict,train", "--expires", "2999-12-31");
    const char *list = token_run(&status, "list");
    assert_int_equal(status, 0);
    assert_non_null(strstr(list, "x-*,y"));
    assert_non_null(strstr(list, "predict,train"));
    assert_non_null(strstr(list, "2999-12-31T00:00:00.000Z"));
    assert_null(strstr(list, "discern_"));
    assert_null(strstr(list, "b2:"));
    (void)token_run(&status, "revoke", "a");
    assert_int_equal(status, 0);
    assert_non_null(strstr(read_whole(file, NULL), "# kept\n"));
    assert_null(strstr(read_whole(file, NULL), "\na "));

    refuse_token("add, list, revoke or rotate", "create", "x");
    refuse_token("the name of the token is missing", "add");
    refuse_token("the name must match", "add", "a b", "--scope", "read");
    refuse_token("--scope is needed", "add", "c");
    refuse_token("--scope must be read, predict", "add", "c", "--scope", "reads");
    refuse_token("--scope must be read, predict", "add", "c", "--scope", "read,");
    refuse_token("--only must be names", "add", "c", "--scope", "read", "--only", "a b");
    refuse_token("--only must be names", "add", "c", "--scope", "read", "--only", "[ab]*");
    refuse_token("--expires must be like 90d", "add", "c", "--scope", "read", "--expires", "0d");
    refuse_token("--expires must be like 90d", "add", "c", "--scope", "read", "--expires",
                 "2020-01-01");
    refuse_token("--expires must be like 90d", "add", "c", "--scope", "read", "--expires",
                 "2030-02-30");
    refuse_token("has a token \"b\" already", "add", "b", "--scope", "read");
    refuse_token("has no token \"c\"", "revoke", "c");
    refuse_token("has no token \"c\"", "rotate", "c");
    refuse_token("unknown option --scopes", "add", "c", "--scopes", "read");
    refuse_token("--scope, --only and limits are options of token add", "list", "--scope", "read");
    assert_int_equal(chmod(file, 0620), 0);
    refuse_token("may be written by its group or by others", "list");
    assert_int_equal(unlink(file), 0);
    refuse_token("cannot be read", "list");
    refuse("--tokens FILE is needed", (const char *const[]){"token", "list", NULL});
    write_file("");
    assert_int_equal(symlink(file, text("%s.link", file)), 0);
    assert_int_equal(discernd_run((const char *const[]){"token", "add", "l", "--scope", "read",
                                                        "--tokens", text("%s.link", file), NULL},
                                  &list),
                     0);
    assert_int_equal(lstat(text("%s.link", file), &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_non_null(strstr(read_whole(file, NULL), "\nl b2:"));
    unlink(text("%s.link", file));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_every_route_and_every_scope, forget),
        cmocka_unit_test_teardown(test_the_header, forget),
        cmocka_unit_test_teardown(test_the_schema_of_a_model, forget),
        cmocka_unit_test_teardown(test_names, forget),
        cmocka_unit_test_teardown(test_expiry, forget),
        cmocka_unit_test_teardown(test_changes_of_the_file, forget),
        cmocka_unit_test_teardown(test_reload_under_load, forget),
        cmocka_unit_test_teardown(test_beyond_loopback, forget),
        cmocka_unit_test_teardown(test_the_command, forget),
    };
    return cmocka_run_group_tests(tests, open_dir, close_dir);
}
