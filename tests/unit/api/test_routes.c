/* What the route table promises beyond its paths: who waits for whom, and what is refused before
 * its handler has run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/api.h"

#include <string.h>

/* What watches the daemon must have an answer whatever else runs. */
static void operations_wait_for_nobody(void **state) {
    (void)state;
    static const char *const paths[] = {"/healthz", "/readyz", "/metrics", "/version"};
    size_t found = 0;
    for (size_t i = 0; i < api_n_routes; i++) {
        for (size_t k = 0; k < sizeof paths / sizeof paths[0]; k++) {
            if (strcmp(api_routes[i].path, paths[k]) == 0) {
                assert_int_not_equal(api_routes[i].where, HTTP_ON_POOL);
                found++;
            }
        }
    }
    assert_int_equal(found, sizeof paths / sizeof paths[0]);
}

/* `changes` is set in the routes that change stored data, not of those that compute. */
static void changes_are_told(void **state) {
    (void)state;
    static const char *const computing[] = {"/predict",   "/evaluate",  "/importance",
                                            "/transform", "/loss_grid", "/projection_curve",
                                            "/compare",   ":preview"};
    for (size_t i = 0; i < api_n_routes; i++) {
        const struct http_route *r = &api_routes[i];
        bool reads = strcmp(r->method, "GET") == 0;
        for (size_t k = 0; k < sizeof computing / sizeof computing[0]; k++) {
            reads = reads || strstr(r->path, computing[k]) != NULL;
        }
        if (r->changes == reads) {
            fail_msg("%s %s: changes = %d", r->method, r->path, r->changes);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_wait_for_nobody),
        cmocka_unit_test(changes_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
