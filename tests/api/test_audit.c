/* The audit: each change has an entry; its list; the command `discernd audit verify`. */
#include "lib/api.h"
#include "lib/postgresql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *verify(int expected, const char *head) {
    const char *out;
    const char *option = head != NULL ? "--head" : NULL;
    const int status = discernd_run((const char *const[]){"audit", "verify", the_daemon.database,
                                                          option, head, NULL},
                                    &out);
    if (status != expected) {
        fail_msg("audit verify: %d, expected %d: %s", status, expected, out);
    }
    return out;
}

/* Checks the newest entry of the list with the query. kind, name: NULL: null. */
static const struct response *newest_is(const char *query, const char *action, const char *kind,
                                        const char *name) {
    const struct response *r = status_check(call_get("/v1/audit?%s", query), 200);
    assert_true(count_at(r, "/items") > 0);
    assert_string_equal(string_at(r, "/items/0/action"), action);
    const char *const expected[][2] = {{"/items/0/kind", kind}, {"/items/0/name", name}};
    for (size_t i = 0; i < 2; i++) {
        if (expected[i][1] != NULL) {
            assert_string_equal(string_at(r, expected[i][0]), expected[i][1]);
        } else {
            assert_true(json_is_null(value_at(r, expected[i][0])));
        }
    }
    assert_json(r, "/items/0/intact", "true");
    return r;
}

static const struct response *last(const char *action, const char *kind, const char *name) {
    return newest_is("limit=1", action, kind, name);
}

/* Each call that changes something adds one entry; calls that change nothing add none. */
static void test_changes(void **state) {
    (void)state;
    service_start(NULL);
    upload_file("iris", "iris.csv");
    const struct response *r = last("dataset.create", "dataset", "iris");
    assert_json(r, "/items/0/version", "1");
    assert_json(r, "/items/0/token", "null");
    assert_json(r, "/items/0/client", "'127.0.0.1'");
    assert_json(r, "/items/0/result", "'done'");
    assert_json(r, "/items/0/count", "1");
    const int64_t first = whole_at(r, "/items/0/seq");
    status_check(call_upload("/v1/datasets/iris", read_whole("tests/data/iris.csv", NULL)), 200);
    assert_int_equal(whole_at(last("dataset.create", "dataset", "iris"), "/items/0/seq"), first);
    status_check(call_upload("/v1/datasets/iris", "a,class\n1,x\n2,y\n3,x\n4,y\n5,x\n6,y\n"), 200);
    assert_json(last("dataset.replace", "dataset", "iris"), "/items/0/version", "2");
    r = call_bytes("POST", "/v1/datasets/iris/rows",
                   HEADERS("Content-Type: text/csv", "X-Request-Id: the-append"), "a,class\n7,x\n",
                   0);
    status_check(r, 201);
    r = last("dataset.append", "dataset", "iris");
    assert_json(r, "/items/0/version", "3");
    assert_json(r, "/items/0/request", "'the-append'");
    status_check(call_patch("/v1/datasets/iris", "{'description':'x'}"), 200);
    last("dataset.patch", "dataset", "iris");
    problem_check(call_patch("/v1/datasets/none", "{'description':'x'}"), 404, NULL);
    status_check(call_post("/v1/jobs?dry_run=true", "{'model':'m','dataset':'iris@1','target':"
                                                    "'class','algorithm':'logistic'}"),
                 200);
    last("dataset.patch", "dataset", "iris");
    for (int i = 1; i <= 2; i++) {
        job_train("{'model':'m','dataset':'iris@1','target':'class','algorithm':'logistic'}");
        r = newest_is("action=job.create&limit=1", "job.create", "job", "m");
        assert_int_equal(whole_at(r, "/items/0/job"), i);
        r = last("job.end", "job", "m");
        assert_json(r, "/items/0/result", "'succeeded'");
        assert_json(r, "/items/0/detail", "'live'");
        assert_int_equal(whole_at(r, "/items/0/version"), i);
        assert_json(r, "/items/0/client", "null");
    }
    status_check(call_put("/v1/models/m/live", "{'version':1}"), 200);
    r = last("model.live", "model", "m");
    assert_json(r, "/items/0/detail", "'before: version 2'");
    status_check(call_patch("/v1/models/m", "{'tags':['a']}"), 200);
    last("model.patch", "model", "m");
    status_check(call_delete("/v1/models/m/versions/1?promote=2"), 204);
    r = last("model.delete", "model", "m");
    assert_json(r, "/items/0/version", "1");
    status_check(call_delete("/v1/models/m"), 204);
    assert_json(last("model.delete", "model", "m"), "/items/0/version", "null");
    status_check(call_delete("/v1/jobs/1"), 204);
    assert_json(last("job.delete", "job", "m"), "/items/0/job", "1");
    status_check(call_delete("/v1/datasets/iris/versions/1"), 204);
    assert_json(last("dataset.delete", "dataset", "iris"), "/items/0/version", "1");
    status_check(call_delete("/v1/datasets/iris"), 204);
    last("dataset.delete", "dataset", "iris");
    problem_check(call_delete("/v1/datasets/iris"), 404, NULL);
    const int64_t seq = whole_at(last("dataset.delete", "dataset", "iris"), "/items/0/seq");
    /* it runs until it is cancelled */
    upload_file("iris", "iris.csv");
    r = status_check(call_post("/v1/jobs", "{'model':'m','dataset':'iris','target':'class',"
                                           "'algorithm':'logistic','params':{'solver':"
                                           "'gradient_descent','max_iterations':100000000,"
                                           "'tolerance':0}}"),
                     202);
    const int id = (int)whole_at(r, "/id");
    status_check(call_empty("POST", "/v1/jobs/%d/cancel", id), 202);
    status_check(call_get("/v1/jobs/%d?wait=50", id), 200);
    newest_is("action=job.cancel", "job.cancel", "job", "m");
    assert_json(last("job.end", "job", "m"), "/items/0/result", "'cancelled'");
    assert_int_equal(whole_at(last("job.end", "job", "m"), "/items/0/seq"), seq + 4);
    assert_non_null(strstr(verify(0, NULL), "intact: "));
}

/* A request that is sent again with its Idempotency-Key changes nothing. */
static void test_repeated_request(void **state) {
    (void)state;
    service_start(NULL);
    upload_file("iris", "iris.csv");
    for (int i = 0; i < 2; i++) {
        status_check(call_bytes("POST", "/v1/datasets/iris/rows",
                                HEADERS("Content-Type: text/csv", "Idempotency-Key: append-1"),
                                "sepal_length,sepal_width,petal_length,petal_width,class\n"
                                "5,3,1,0.2,setosa\n",
                                0),
                     201);
    }
    assert_int_equal(count_at(call_get("/v1/audit?action=dataset.append"), "/items"), 1);
}

static void test_list(void **state) {
    (void)state;
    service_start(NULL);
    for (int i = 0; i < 5; i++) {
        status_check(call_upload(text("/v1/datasets/d%d", i), "a,b\n1,x\n2,y\n"), 201);
    }
    const struct response *r = call_get("/v1/audit?action=dataset.create&limit=2&fields=seq,name");
    status_check(r, 200);
    assert_json(r, "/items/0/name", "'d4'");
    assert_int_equal(json_object_size(json_find(r->json, "/items/0")), 2);
    r = call_get("/v1/audit?action=dataset.create&limit=3&after=%s", string_at(r, "/next"));
    assert_json(r, "/items/0/name", "'d2'");
    assert_json(r, "/items/2/name", "'d0'");
    assert_json(r, "/next", "null");
    assert_int_equal(count_at(call_get("/v1/audit?name=d3"), "/items"), 1);
    assert_int_equal(count_at(call_get("/v1/audit?token=nobody"), "/items"), 0);
    assert_int_equal(count_at(call_get("/v1/audit?since=2100-01-01"), "/items"), 0);
    assert_true(count_at(call_get("/v1/audit?since=2020-01-01T00:00:00Z"), "/items") >= 5);
    problem_check(call_get("/v1/audit?since=yesterday"), 400, "bad-request");
    problem_check(call_get("/v1/audit?after=x"), 400, "bad-request");
    problem_check(call_get("/v1/audit?fields=x"), 400, "bad-request");
    problem_check(call_get("/v1/audit?model=x"), 400, "bad-request");
    r = status_check(call_get_with("Accept: text/csv",
                                   "/v1/audit?limit=1&name=d1&since=2020-01-01"),
                     200);
    assert_memory_equal(r->body, "seq,at,token,client,request,action,kind,", 40);
    r = status_check(call_get_with("Accept: text/csv", "/v1/audit?limit=1&action=dataset.create"),
                     200);
    assert_non_null(strstr(header_of(r, "Link"), "&action=dataset.create"));
    problem_check(call_delete("/v1/audit"), 405, NULL);
}

static const char *head_hash(void) {
    const char *head = header_of(call_get("/v1/audit?limit=1"), "Discern-Audit-Head");
    assert_non_null(head);
    const char *hash = strstr(head, "hash=");
    assert_non_null(hash);
    return text("%.64s", hash + 5);
}

/* The chain goes on after a restart and after a crash; a noted hash stays in it. */
static void test_verify(void **state) {
    (void)state;
    const char *out;
    service_start(NULL);
    upload_file("iris", "iris.csv");
    const char *noted = head_hash();
    assert_non_null(strstr(verify(0, NULL), noted));
    daemon_kill(&the_daemon);
    (void)verify(0, noted);
    daemon_start(&the_daemon);
    status_check(call_delete("/v1/datasets/iris"), 204);
    (void)verify(0, noted);
    assert_non_null(strstr(verify(1, repeat("1", 64)), "no entry has the hash"));
    service_stop();
    (void)verify(0, noted);
    assert_int_equal(discernd_run((const char *const[]){"audit", NULL}, &out), 2);
    assert_int_equal(discernd_run((const char *const[]){"audit", "verify", NULL}, &out), 2);
    assert_int_equal(discernd_run((const char *const[]){"audit", "verify", "/nowhere/x.db", NULL},
                                  &out),
                     2);
    assert_int_equal(discernd_run((const char *const[]){"audit", "verify", the_daemon.database,
                                                        "--head", "12", NULL},
                                  &out),
                     2);
    assert_non_null(strstr(out, "64 hexadecimal digits"));
    assert_int_equal(discernd_run((const char *const[]){"audit", "--help", NULL}, &out), 0);
    service_restart(NULL);
}

/* ---- with tokens ---- */

static char file[80];

static const char *token_add(const char *name, const char *scope) {
    const char *out;
    const int status = discernd_run((const char *const[]){"token", "add", name, "--scope", scope,
                                                          "--tokens", file, NULL},
                                    &out);
    assert_int_equal(status, 0);
    return text("%.72s", out);
}

/* Waits until the query has an entry, and returns the list. */
static const struct response *await_entry(const char *query) {
    const double end = now() + 30;
    for (;;) {
        const struct response *r = status_check(call_get("/v1/audit?%s", query), 200);
        if (count_at(r, "/items") > 0) {
            return r;
        }
        assert_true(now() < end);
        pause_ms(50);
    }
}

static void test_tokens(void **state) {
    (void)state;
    char dir[] = "/tmp/discern-audit.XXXXXX";
    assert_non_null(mkdtemp(dir));
    (void)snprintf(file, sizeof file, "%s/tokens", dir);
    const char *admin = token_add("root", "admin"), *writer = token_add("ci", "write");
    service_start(FLAGS("--tokens", file));
    client_token = writer;
    upload_file("iris", "iris.csv");
    problem_check(call_get("/v1/audit"), 403, "forbidden");
    client_token = admin;
    const struct response *r =
        newest_is("token=ci&action=dataset.create", "dataset.create", "dataset", "iris");
    assert_json(r, "/items/0/token", "'ci'");
    r = await_entry("action=access.refused&token=ci");
    assert_json(r, "/items/0/result", "'forbidden'");
    assert_json(r, "/items/0/detail", "'GET /v1/audit'");
    assert_json(r, "/items/0/client", "'127.0.0.1'");
    job_train("{'model':'m','dataset':'iris','target':'class','algorithm':'logistic'}");
    r = newest_is("action=job.end", "job.end", "job", "m");
    assert_json(r, "/items/0/token", "'root'");
    if (postgresql_is_used()) {
        problem_check(call_get("/v1/admin/backup"), 409, "conflict");
    } else {
        status_check(call_get("/v1/admin/backup"), 200);
        r = last("backup.read", NULL, NULL);
        assert_json(r, "/items/0/token", "'root'");
    }
    /* a flood of unknown tokens has two entries */
    for (int i = 0; i < 50; i++) {
        client_token = i % 2 != 0 ? text("discern_%064d", i) : NULL;
        problem_check(call_get("/v1/datasets/iris"), 401, "unauthorized");
    }
    client_token = admin;
    r = await_entry("action=access.refused&name=iris");
    assert_json(r, "/items/0/result", "'unauthorized'");
    assert_json(r, "/items/0/token", "null");
    /* the file changes, and is refused */
    (void)token_add("third", "read");
    r = await_entry("action=tokens.reload");
    assert_json(r, "/items/0/detail", "'3 tokens; added third'");
    FILE *f = fopen(file, "a");
    assert_non_null(f);
    assert_true(fputs("third b2:x read\n", f) >= 0);
    assert_int_equal(fclose(f), 0);
    const double end = now() + 30;
    while (strcmp(string_at(r, "/items/0/result"), "refused") != 0) {
        assert_true(now() < end);
        pause_ms(50);
        r = call_get("/v1/audit?action=tokens.reload&limit=1");
    }
    client_token = NULL;
    service_stop();
    (void)verify(0, NULL);
    /* without tokens everybody may read the audit */
    service_restart(NULL);
    r = call_get("/v1/audit?action=access.refused&name=iris");
    assert_int_equal(count_at(r, "/items"), 2);
    assert_int_equal(whole_at(r, "/items/0/count") + whole_at(r, "/items/1/count"), 50);
    last("daemon.start", NULL, NULL);
    unlink(file);
    (void)unlink(text("%s.lock", file));
    assert_int_equal(rmdir(dir), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_changes), TEST(test_repeated_request), TEST(test_list),
        TEST(test_verify),  TEST(test_tokens),
    };
    return RUN_WITHOUT_DAEMON(tests);
}
