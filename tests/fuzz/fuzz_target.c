/* Parses the input as a request target, and finds its route in the route table. Byte 0 of the input
 * chooses the method. Of an accepted target, all segments and parameters are UTF-8, and the path
 * that is made of the escaped segments has the same segments. */
#include "api/api.h"
#include "base/utf8.h"
#include "fuzz/support.h"
#include "http/call/router.h"

static struct router *router;

static void check_text(const char *text) {
    CHECK(text != NULL && utf8_valid_prefix(text, strlen(text)) == strlen(text));
}

static void check_segments_again(const struct target *t, struct arena *arena) {
    struct buf path = {0};
    struct problem problem = {0};
    for (size_t i = 0; i < t->n_segments && i < TARGET_MAX_SEGMENTS; i++) {
        buf_putc(&path, '/');
        for (const char *c = t->segments[i]; *c != '\0'; c++) {
            buf_printf(&path, "%%%02X", (unsigned)(unsigned char)*c);
        }
    }
    if (path.size > 0 && t->n_segments <= TARGET_MAX_SEGMENTS) {
        struct target again = {.raw = arena_strndup(arena, path.data, path.size),
                               .raw_size = path.size};
        const bool well = target_parse_path(&again, arena, &problem);
        CHECK(well && again.n_segments == t->n_segments);
        for (size_t i = 0; i < t->n_segments; i++) {
            CHECK(strcmp(again.segments[i], t->segments[i]) == 0);
        }
    }
    buf_done(&path);
}

static void check_route(const struct target *t, const char *method, struct arena *arena) {
    struct router_match match = {0};
    CHECK(router_match(router, method, t, 0, arena, &match));
    CHECK(!match.known_path || match.allow != NULL);
    CHECK(match.route == NULL || match.known_path);
    for (size_t i = 0; i < match.n_values; i++) {
        check_text(match.values[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const methods[] = {"GET",   "HEAD",   "POST",    "PUT",
                                          "PATCH", "DELETE", "OPTIONS", "TRACE"};
    struct problem problem = {0};
    struct arena arena;
    if (router == NULL) {
        router = router_new(api_routes, api_n_routes, &problem);
        CHECK(router != NULL);
    }
    if (size < 1) {
        return 0;
    }
    arena_init(&arena, 0);
    char *raw = calloc(1, size);
    CHECK(raw != NULL);
    memcpy(raw, data + 1, size - 1);
    struct target t = {.raw = raw, .raw_size = strlen(raw)};
    if (target_parse_path(&t, &arena, &problem)) {
        CHECK(t.path_at + t.path_size <= t.raw_size);
        for (size_t i = 0; i < t.n_segments && i < TARGET_MAX_SEGMENTS; i++) {
            check_text(t.segments[i]);
        }
        check_segments_again(&t, &arena);
        check_route(&t, methods[data[0] & 7], &arena);
    } else {
        CHECK(problem.type == PROBLEM_BAD_REQUEST);
    }
    problem_done(&problem);
    problem = (struct problem){0};
    if (target_parse_query(&t, &arena, &problem)) {
        CHECK(t.n_params <= TARGET_MAX_PARAMS);
        for (size_t i = 0; i < t.n_params; i++) {
            check_text(t.params[i].name);
            check_text(t.params[i].value);
        }
    } else {
        CHECK(problem.type == PROBLEM_BAD_REQUEST);
    }
    problem_done(&problem);
    arena_done(&arena);
    free(raw);
    return 0;
}
