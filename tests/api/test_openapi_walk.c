/* Calls every operation of the OpenAPI document with boundary values: each parameter and each member
 * of a JSON body, one at a time, is absent, null, of another type, at and beyond its bounds, empty,
 * huge, not ASCII, or unknown. No call may hang or be answered with a status that the document does
 * not have, or with 500. lib/client.c compares each answer with its schema.
 *
 *   WALK=all   with all values for parameters that several operations share, and with the operations
 * that differ by a version in their path only */
#include "lib/answer_schema.h"
#include "lib/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { CALL_SECONDS = 100, HUGE_BYTES = 5000, MAX_DEPTH = 3, MAX_SEEN = 200 };

static json_t *doc;
static size_t n_calls, n_faults, n_by_status[600];
static bool all;
/* names of shared parameters that all values were given to */
static const char *seen[MAX_SEEN];
static size_t n_seen;

static const json_t *resolve(const json_t *schema) {
    return answer_schema_resolve(doc, schema);
}

static bool is_shared(const json_t *parameter) {
    const char *reference = json_string_value(json_object_get(parameter, "$ref"));
    if (reference == NULL || all) {
        return false;
    }
    for (size_t i = 0; i < n_seen; i++) {
        if (strcmp(seen[i], reference) == 0) {
            return true;
        }
    }
    if (n_seen < MAX_SEEN) {
        seen[n_seen++] = reference;
    }
    return false;
}

/* ---- a call ---- */

struct operation {
    const char *method; /* in upper case */
    const char *path;   /* with placeholders */
    const json_t *item, *op;
    const char *body, *type; /* of a usual call; NULL: none */
};

static bool is_documented(const struct operation *o, int status) {
    static const int general[] = {400, 404, 405, 411, 413, 414, 415, 417, 421, 429, 431};
    char key[16];
    (void)snprintf(key, sizeof key, "%d", status);
    bool found = json_object_get(json_object_get(o->op, "responses"), key) != NULL;
    for (size_t i = 0; i < COUNT(general); i++) {
        found = found || general[i] == status;
    }
    return found && (status < 500 || status == 503 || status == 507);
}

static void send_call(const struct operation *o, const char *target, const char *header,
                      const char *body) {
    const char *headers[] = {o->type != NULL ? text("Content-Type: %s", o->type) : header,
                             o->type != NULL ? header : NULL, NULL};
    const struct response *r = call(&(struct request){.method = o->method,
                                                      .path = target,
                                                      .headers = headers,
                                                      .body = body,
                                                      .seconds = CALL_SECONDS});
    n_calls++;
    n_by_status[r->status % 600]++;
    if (r->code == CURLE_OK && is_documented(o, r->status)) {
        return;
    }
    n_faults++;
    print_error("# %s %.300s\n# %s\n# %.600s\n# is answered %d (%s): %.600s\n", o->method, target,
                header != NULL ? header : "", body != NULL ? body : "", r->status,
                curl_easy_strerror(r->code), r->body);
}

/* The value of a placeholder in a usual call. */
static const char *usual(const struct operation *o, const char *name, size_t n) {
    const bool change = strcmp(o->method, "GET") != 0;
    return n == 7 && memcmp(name, "dataset", n) == 0     ? (change ? "walk" : "iris")
           : n == 5 && memcmp(name, "model", n) == 0     ? "m"
           : n == 9 && memcmp(name, "algorithm", n) == 0 ? "logistic"
           : n == 4 && memcmp(name, "name", n) == 0      ? "invalid"
           : n == 4 && memcmp(name, "page", n) == 0      ? "data"
                                                         : "1";
}

/* Returns the path with its placeholders filled; the placeholder `name` has the
 * given value. */
static const char *fill(const struct operation *o, const char *name, const char *value) {
    const char *made = "";
    for (const char *c = o->path; *c != '\0';) {
        const size_t n = strcspn(c, "{");
        made = text("%s%.*s", made, (int)n, c);
        c += n;
        if (*c == '{') {
            const size_t length = strcspn(c, "}") - 1;
            const bool is =
                name != NULL && strlen(name) == length && memcmp(c + 1, name, length) == 0;
            made = text("%s%s", made, is ? value : usual(o, c + 1, length));
            c += length + 2;
        }
    }
    return made;
}

/* ---- parameters ---- */

static const char *const texts[] = {
    "",      "0",          "-1",    "1",         "0.5",
    "1e999", "true",       "a,b",   "%22",       "%C3%A9%F0%9F%98%80",
    "%0A",   "2147483648", "*",     "%2C%2C%2C", "9223372036854775808",
    "HUGE",  "NaN",        "a=b;c", "%25",       "\\"};

static void give(const struct operation *o, const json_t *parameter, const char *value) {
    const char *name = json_string_value(json_object_get(parameter, "name")),
               *in = json_string_value(json_object_get(parameter, "in"));
    if (strcmp(value, "HUGE") == 0) {
        value = repeat("x", HUGE_BYTES);
    }
    if (strcmp(in, "path") == 0) {
        send_call(o, fill(o, name, value), NULL, o->body);
    } else if (strcmp(in, "query") == 0) {
        send_call(o, text("%s?%s=%s", fill(o, NULL, NULL), name, value), NULL, o->body);
    } else {
        send_call(o, fill(o, NULL, NULL), text("%s: %s", name, value), o->body);
    }
}

static void give_number(const struct operation *o, const json_t *parameter, const json_t *bound) {
    if (json_is_number(bound)) {
        const double value = json_number_value(bound);
        give(o, parameter, text("%.17g", value));
        give(o, parameter, text("%.17g", value + 1));
        give(o, parameter, text("%.17g", value - 1));
    }
}

static void walk_parameter(const struct operation *o, const json_t *parameter) {
    const bool shared = is_shared(parameter);
    parameter = resolve(parameter);
    const json_t *schema = resolve(json_object_get(parameter, "schema")), *word;
    const size_t n = shared ? 3 : COUNT(texts);
    size_t i;
    for (i = 0; i < n; i++) {
        give(o, parameter, texts[i]);
    }
    if (shared) {
        return;
    }
    give_number(o, parameter, json_object_get(schema, "minimum"));
    give_number(o, parameter, json_object_get(schema, "maximum"));
    json_array_foreach(json_object_get(schema, "enum"), i, word) {
        const char *value = "";
        for (const char *c = json_string_value(word); c != NULL && *c != '\0'; c++) {
            value = text("%s%%%02X", value, (unsigned)(unsigned char)*c);
        }
        give(o, parameter, value);
    }
}

/* ---- JSON bodies ---- */

/* Sends the body with the value at the path of members; value NULL: without the
 * member. */
static void give_member(const struct operation *o, const json_t *body, const char *const *path,
                        size_t depth, json_t *value) {
    json_t *root = json_deep_copy(body), *at = root;
    for (size_t i = 0; i + 1 < depth; i++) {
        json_t *next = json_object_get(at, path[i]);
        if (!json_is_object(next)) {
            next = json_object();
            json_object_set_new(at, path[i], next);
        }
        at = next;
    }
    if (value != NULL) {
        json_object_set(at, path[depth - 1], value);
    } else {
        json_object_del(at, path[depth - 1]);
    }
    char *sent = json_dumps(root, JSON_COMPACT);
    send_call(o,
              text("%s%s", fill(o, NULL, NULL),
                   strcmp(o->path, "/v1/jobs") == 0 ? "?dry_run=true" : ""),
              NULL, sent);
    free(sent);
    json_decref(root);
}

static void give_new(const struct operation *o, const json_t *body, const char *const *path,
                     size_t depth, json_t *value) {
    give_member(o, body, path, depth, value);
    json_decref(value);
}

static void give_bounds(const struct operation *o, const json_t *body, const char *const *path,
                        size_t depth, const json_t *schema) {
    static const char *const bounds[] = {"minimum", "maximum", "exclusiveMinimum",
                                         "exclusiveMaximum"};
    for (size_t i = 0; i < COUNT(bounds); i++) {
        const json_t *bound = json_object_get(schema, bounds[i]);
        for (int step = -1; json_is_number(bound) && step <= 1; step++) {
            give_new(o, body, path, depth, json_real(json_number_value(bound) + step));
        }
    }
    const json_t *word;
    size_t i;
    json_array_foreach(json_object_get(schema, "enum"), i, word) {
        give_member(o, body, path, depth, (json_t *)(uintptr_t)word);
    }
}

static void walk_members(const struct operation *o, const json_t *body, const json_t *schema,
                         const char **path, size_t depth);

static void walk_member(const struct operation *o, const json_t *body, const json_t *schema,
                        const char **path, size_t depth) {
    static const double numbers[] = {0, -1, 0.5, 1, 2147483648.0, 9007199254740992.0, 1e300};
    give_member(o, body, path, depth, NULL);
    give_new(o, body, path, depth, json_null());
    give_new(o, body, path, depth, json_true());
    give_new(o, body, path, depth, json_array());
    give_new(o, body, path, depth, json_object());
    give_new(o, body, path, depth, json_pack("[n,{},[],s]", ""));
    give_new(o, body, path, depth, json_pack("{s:n}", "unknown \xc3\xa9"));
    give_new(o, body, path, depth, json_string(""));
    give_new(o, body, path, depth, json_string("a"));
    give_new(o, body, path, depth, json_string("\xf0\x9f\x98\x80 \xc3\xa9 \x7f"));
    give_new(o, body, path, depth, json_string(repeat("x", HUGE_BYTES)));
    for (size_t i = 0; i < COUNT(numbers); i++) {
        give_new(o, body, path, depth, json_real(numbers[i]));
    }
    give_bounds(o, body, path, depth, schema);
    walk_members(o, body, schema, path, depth);
}

/* Walks the members that a schema, or one of its subschemas, describes. */
static void walk_members(const struct operation *o, const json_t *body, const json_t *schema,
                         const char **path, size_t depth) {
    static const char *const lists[] = {"allOf", "anyOf", "oneOf"};
    const char *key;
    json_t *member;
    if (depth >= MAX_DEPTH) {
        return;
    }
    json_object_foreach(json_object_get(schema, "properties"), key, member) {
        path[depth] = key;
        walk_member(o, body, resolve(member), path, depth + 1);
        keep_free();
    }
    for (size_t k = 0; k < COUNT(lists); k++) {
        size_t i;
        json_array_foreach(json_object_get(schema, lists[k]), i, member) {
            walk_members(o, body, resolve(member), path, depth);
        }
    }
}

static void walk_body(const struct operation *o, const json_t *media) {
    const char *path[MAX_DEPTH + 1] = {"unknown"};
    json_t *body = json_loads(o->body, JSON_DECODE_ANY, NULL);
    assert_true(json_is_object(body));
    give_new(o, body, path, 1, json_true());
    walk_members(o, body, resolve(json_object_get(media, "schema")), path, 0);
    static const char *const wholes[] = {"",
                                         "null",
                                         "true",
                                         "0",
                                         "\"a\"",
                                         "[]",
                                         "{}",
                                         "{",
                                         "[[",
                                         "\xff",
                                         "{\"a\":1,\"a\":2}",
                                         "[null]",
                                         "{\"\":{}}",
                                         "\xef\xbb\xbf{}"};
    for (size_t i = 0; i < COUNT(wholes); i++) {
        send_call(o, fill(o, NULL, NULL), NULL, wholes[i]);
    }
    json_decref(body);
}

/* ---- the document ---- */

/* The body of a usual call. */
static const char *usual_body(const char *path) {
    static const struct {
        const char *end, *body;
    } bodies[] = {
        {"/v1/jobs", "{\"model\":\"w\",\"dataset\":\"iris\",\"target\":\"class\","
                     "\"algorithm\":\"logistic\",\"seed\":1}"},
        {"/live", "{\"version\":1}"},
        {"/predict", "{\"instances\":[[5.1,3.5,1.4,0.2]]}"},
        {"/transform", "{\"instances\":[[5.1,3.5,1.4,0.2]]}"},
        {"/evaluate", "{\"dataset\":\"iris\"}"},
        {"/importance", "{\"dataset\":\"iris\",\"repeats\":2}"},
        {"/evaluate_grid", "{\"features\":[\"petal_length\",\"petal_width\"],\"steps\":5}"},
        {"/v1/datasets:preview", "{\"columns\":[\"a\",\"b\"],\"rows\":[[1,\"x\"],[2,\"y\"]]}"},
        {"/rows", "{\"columns\":[\"a\",\"b\"],\"rows\":[[1,\"x\"],[2,\"y\"]]}"},
        {"/v1/datasets/{dataset}", "{\"columns\":[\"a\",\"b\"],\"rows\":[[1,\"x\"],[2,\"y\"]]}"}};
    for (size_t i = 0; i < COUNT(bodies); i++) {
        const size_t n = strlen(bodies[i].end), length = strlen(path);
        if (length >= n && strcmp(path + length - n, bodies[i].end) == 0) {
            return bodies[i].body;
        }
    }
    return "{}";
}

static void walk_operation(const struct operation *o) {
    const json_t *parameter;
    size_t i;
    const json_t *own = json_object_get(o->op, "parameters"),
                 *common = json_object_get(o->item, "parameters");
    send_call(o, fill(o, NULL, NULL), NULL, o->body);
    send_call(o, text("%s?unknown=1&&=&%s", fill(o, NULL, NULL), "b"), NULL, o->body);
    json_array_foreach(own, i, parameter) {
        walk_parameter(o, parameter);
        keep_free();
    }
    json_array_foreach(common, i, parameter) {
        walk_parameter(o, parameter);
        keep_free();
    }
    const json_t *content =
        json_object_get(resolve(json_object_get(o->op, "requestBody")), "content");
    const json_t *media = json_object_get(content, "application/json");
    if (media != NULL) {
        walk_body(o, media);
    }
}

static void walk_document(bool deletes) {
    const char *path, *method;
    json_t *item, *op;
    json_object_foreach(json_object_get(doc, "paths"), path, item) {
        if (!all && strstr(path, "/versions/{version}/") != NULL) {
            continue;
        }
        json_object_foreach(item, method, op) {
            if (json_object_get(op, "responses") == NULL ||
                (strcmp(method, "delete") == 0) != deletes) {
                continue;
            }
            char upper[16] = "";
            for (size_t i = 0; method[i] != '\0' && i + 1 < sizeof upper; i++) {
                upper[i] = (char)(method[i] - 'a' + 'A');
            }
            const bool body = json_object_get(op, "requestBody") != NULL;
            const struct operation o = {.method = upper,
                                        .path = path,
                                        .item = item,
                                        .op = op,
                                        .body = !body ? NULL
                                                : strcmp(upper, "PATCH") == 0
                                                    ? "{\"description\":\"x\"}"
                                                    : usual_body(path),
                                        .type = body ? "application/json" : NULL};
            walk_operation(&o);
            keep_free();
        }
    }
}

static void test_walk(void **state) {
    (void)state;
    const char *walk = getenv("WALK");
    all = walk != NULL && strcmp(walk, "all") == 0;
    doc = json_load_file("server/api/operations/openapi.json", 0, NULL);
    assert_non_null(doc);
    upload_file("iris", "iris.csv");
    const struct response *r =
        call_post("/v1/jobs", "{'model':'m','dataset':'iris','target':'class','"
                              "algorithm':'logistic','seed':1}");
    status_check(r, 202);
    r = call_get("/v1/jobs/%d?wait=50", (int)whole_at(r, "/id"));
    assert_string_equal(string_at(r, "/state"), "succeeded");
    walk_document(false);
    walk_document(true);
    for (size_t i = 0; i < COUNT(n_by_status); i++) {
        if (n_by_status[i] > 0) {
            print_message("# status %zu: %zu\n", i, n_by_status[i]);
        }
    }
    print_message("# %zu calls\n", n_calls);
    assert_int_equal(n_faults, 0);
    json_decref(doc);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_walk)};
    return RUN(tests);
}
