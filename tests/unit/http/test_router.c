/* The router: what matches what, and how wrong tables are refused. */
#include "http/call/router.h"
#include "unit/base/alloc_fail.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

static void handle(struct http_call *call) {
    (void)call;
}
#define ROUTE(m, p)                                                                                \
    { .method = (m), .path = (p), .operation = (p), .handle = handle }
static const struct http_route ROUTES[] = {
    ROUTE("GET", "/"),
    ROUTE("GET", "/jobs"),
    ROUTE("POST", "/jobs"),
    ROUTE("GET", "/jobs/{id}"),
    ROUTE("DELETE", "/jobs/{id}"),
    ROUTE("GET", "/jobs/{id}/events"),
    ROUTE("POST", "/jobs/{id}/cancel"),
    ROUTE("GET", "/jobs/active"),
    ROUTE("PUT", "/jobs/active/now"),
    ROUTE("POST", "/models/{model}:predict"),
    ROUTE("POST", "/models/{model}:explain"),
    ROUTE("GET", "/models/{model}"),
    ROUTE("POST", "/models/{name}/versions/{v}:predict"),
    ROUTE("GET", "/models/{model}/versions/{version}"),
};

static struct arena arena;
static struct router *router;

static int setup(void **state) {
    (void)state;
    struct problem problem = {0};
    arena_init(&arena, 1 << 20);
    router = router_new(ROUTES, sizeof ROUTES / sizeof ROUTES[0], &problem);
    return router == NULL;
}
static int teardown(void **state) {
    (void)state;
    router_free(router);
    arena_done(&arena);
    return 0;
}

static struct router_match match(const char *method, const char *path, size_t skip) {
    struct target t = {.raw = arena_strdup(&arena, path), .raw_size = strlen(path)};
    struct problem problem = {0};
    assert_true(target_parse_path(&t, &arena, &problem));
    struct router_match m;
    assert_true(router_match(router, method, &t, skip, &arena, &m));
    return m;
}

static void matches(void **state) {
    (void)state;
    static const struct {
        const char *method, *path, *route, *name, *value;
    } cases[] = {
        {"GET", "/", "/", NULL, NULL},
        {"GET", "/jobs", "/jobs", NULL, NULL},
        {"HEAD", "/jobs", "/jobs", NULL, NULL},
        {"GET", "/%6aobs", "/jobs", NULL, NULL},
        {"GET", "/jobs/7", "/jobs/{id}", "id", "7"},
        {"GET", "/jobs/active", "/jobs/active", "id", NULL},
        {"GET", "/jobs/active/events", "/jobs/{id}/events", "id",
         "active"}, /* given up the literal that leads nowhere */
        {"PUT", "/jobs/active/now", "/jobs/active/now", NULL, NULL},
        {"POST", "/models/iris:predict", "/models/{model}:predict", "model", "iris"},
        {"POST", "/models/a:b:explain", "/models/{model}:explain", "model", "a:b"},
        {"GET", "/models/iris:other", "/models/{model}", "model", "iris:other"},
        {"POST", "/models/m/versions/3:predict", "/models/{name}/versions/{v}:predict", "v", "3"},
        {"POST", "/models/m/versions/3:predict", "/models/{name}/versions/{v}:predict", "name",
         "m"},
        {"GET", "/models/m/versions/3", "/models/{model}/versions/{version}", "model", "m"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct router_match m = match(cases[i].method, cases[i].path, 0);
        if (m.route == NULL) {
            fail_msg("%s %s matches nothing", cases[i].method, cases[i].path);
        }
        assert_string_equal(m.route->path, cases[i].route);
        if (cases[i].value != NULL) {
            assert_string_equal(router_value(&m, cases[i].name), cases[i].value);
        } else if (cases[i].name != NULL) {
            assert_null(router_value(&m, cases[i].name));
        }
    }
}

static void misses(void **state) {
    (void)state;
    static const char *const paths[] = {"/nope",     "/jobs/",        "/jobs/7/",
                                        "/jobs/7/8", "/jobs//events", "/jobs/7/events/x",
                                        "/models/",  "/job",          "/jobss",
                                        "//"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        struct router_match m = match("GET", paths[i], 0);
        assert_null(m.route);
        if (m.known_path) {
            fail_msg("\"%s\" is taken for known", paths[i]);
        }
    }
}

static void allow(void **state) {
    (void)state;
    struct router_match m = match("PATCH", "/jobs/7", 0);
    assert_null(m.route);
    assert_true(m.known_path);
    assert_string_equal(m.allow, "GET, HEAD, DELETE, OPTIONS");
    assert_string_equal(match("GET", "/jobs/7/cancel", 0).allow, "POST, OPTIONS");
    assert_null(match("HEAD", "/jobs/7/cancel", 0).route);
    assert_string_equal(match("GET", "/models/:predict", 0).route->path,
                        "/models/{model}"); /* no empty name before the verb */
}

static void skips(void **state) {
    (void)state;
    assert_string_equal(match("GET", "/discern/jobs/7", 1).route->path, "/jobs/{id}");
    assert_string_equal(match("GET", "/a/b/jobs", 2).route->path, "/jobs");
    assert_string_equal(match("GET", "/a", 1).route->path, "/");
    assert_string_equal(match("GET", "/a/", 1).route->path, "/");
    assert_null(match("GET", "/a", 2).route);
}

static void wrong_tables(void **state) {
    (void)state;
    static const struct http_route tables[][2] = {
        {ROUTE("GET", "/a"), ROUTE("GET", "/a")},
        {ROUTE("GET", "/{a}"), ROUTE("GET", "/{b}")},
        {ROUTE("GET", "/a"), ROUTE("FETCH", "/b")},
        {ROUTE("GET", "/a"), ROUTE("GET", "b")},
        {ROUTE("GET", "/a"), ROUTE("GET", "/{b")},
        {ROUTE("GET", "/a"), ROUTE("GET", "/{b}c")},
        {ROUTE("GET", "/a"), {.method = "GET", .path = "/b", .operation = "b"}},
        {ROUTE("GET", "/a"),
         {.method = "PUT",
          .path = "/b",
          .operation = "b",
          .body = HTTP_BODY_STREAM,
          .handle = handle}},
    };
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        struct problem problem = {0};
        assert_null(router_new(tables[i], 2, &problem));
        assert_non_null(problem.detail);
        problem_done(&problem);
    }
    assert_true(router_method_known("OPTIONS") && router_method_known("PATCH"));
    assert_false(router_method_known("TRACE") || router_method_known("get") ||
                 router_method_known(""));
}

/* Each allocation fails once: the table is refused with a problem, and nothing leaks. */
static void out_of_memory_at_start(void **state) {
    (void)state;
    struct router *made;
    ALLOC_FAIL_EACH({
        struct problem problem = {0};
        made = router_new(ROUTES, sizeof ROUTES / sizeof ROUTES[0], &problem);
        assert_true((made == NULL) == (problem.type != PROBLEM_NONE));
        router_free(made);
        problem_done(&problem);
    });
    assert_non_null(made);
}

/* A value in front of a verb is copied: without memory the match fails, and no route is called with
 * a missing value. */
static void out_of_memory_in_a_match(void **state) {
    (void)state;
    const char *segments[] = {"models", "iris:predict"};
    struct target t = {.n_segments = 2};
    memcpy(t.segments, segments, sizeof segments);
    struct router_match m;
    ALLOC_FAIL_EACH({
        struct arena fresh;
        arena_init(&fresh, 1 << 20);
        const bool good = router_match(router, "POST", &t, 0, &fresh, &m);
        assert_int_equal(good, atomic_load(&alloc_fail_at) != 0);
        assert_true(!good || strcmp(router_value(&m, "model"), "iris") == 0);
        arena_done(&fresh);
    });
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches),
        cmocka_unit_test(misses),
        cmocka_unit_test(allow),
        cmocka_unit_test(skips),
        cmocka_unit_test(wrong_tables),
        cmocka_unit_test(out_of_memory_at_start),
        cmocka_unit_test(out_of_memory_in_a_match),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
