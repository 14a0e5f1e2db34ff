/* The OpenAPI document: it and the route table name the same calls, and it is sound in itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/api.h"
#include "api/operations/openapi.h"
#include "api/policy.h"

#include <jansson.h>
#include <string.h>

static json_t *doc; /* the document, read once */

static int load(void **state) {
    (void)state;
    json_error_t error;
    doc = json_loads(api_openapi_document(), JSON_REJECT_DUPLICATES, &error);
    if (!doc) {
        print_error("openapi.json line %d: %s\n", error.line, error.text);
    }
    return doc ? 0 : -1;
}

static int unload(void **state) {
    (void)state;
    json_decref(doc);
    return 0;
}

static const char *const methods[] = {"get", "put", "post", "patch", "delete"};
enum { N_METHODS = sizeof methods / sizeof methods[0] };

/* Calls fn for every operation. */
static void each_operation(void (*fn)(const char *path, const char *method, json_t *item,
                                      json_t *operation)) {
    const char *path, *key;
    json_t *item, *operation;
    json_object_foreach(json_object_get(doc, "paths"), path, item) {
        json_object_foreach(item, key, operation) {
            if (strcmp(key, "parameters") == 0) {
                continue;
            }
            size_t m = 0;
            while (m < N_METHODS && strcmp(methods[m], key) != 0) {
                m++;
            }
            if (m == N_METHODS) {
                fail_msg("%s has a member \"%s\" that is no method", path, key);
            }
            fn(path, key, item, operation);
        }
    }
}

static const struct http_route *route_find(const char *path, const char *method) {
    for (size_t i = 0; i < api_n_routes; i++) {
        const struct http_route *r = &api_routes[i];
        bool same = strlen(r->method) == strlen(method) && strcmp(r->path, path) == 0;
        for (size_t k = 0; same && method[k]; k++) {
            same = (r->method[k] | 0x20) == method[k];
        }
        if (same) {
            return r;
        }
    }
    return NULL;
}

static void check_has_route(const char *path, const char *method, json_t *item, json_t *operation) {
    (void)item;
    const struct http_route *r = route_find(path, method);
    if (!r) {
        fail_msg("the document has %s %s, the route table has not", method, path);
    } else {
        assert_string_equal(r->operation,
                            json_string_value(json_object_get(operation, "operationId")));
    }
}

static void test_every_operation_has_a_route(void **state) {
    (void)state;
    each_operation(check_has_route);
}

static void test_every_route_has_an_operation(void **state) {
    (void)state;
    for (size_t i = 0; i < api_n_routes; i++) {
        const struct http_route *r = &api_routes[i];
        char method[16] = {0};
        for (size_t k = 0; r->method[k] && k < sizeof method - 1; k++) {
            method[k] = (char)(r->method[k] | 0x20);
        }
        json_t *operation =
            json_object_get(json_object_get(json_object_get(doc, "paths"), r->path), method);
        if (!operation) {
            fail_msg("the route table has %s %s, the document has not", r->method, r->path);
        }
        bool has_body = r->body != HTTP_BODY_NONE;
        assert_int_equal(has_body, json_object_get(operation, "requestBody") != NULL);
    }
}

/* What "$ref": "#/a/b" points at. */
static json_t *resolve(json_t *value) {
    const char *ref = json_string_value(json_object_get(value, "$ref"));
    if (!ref) {
        return value;
    }
    if (strncmp(ref, "#/", 2) != 0) {
        fail_msg("\"$ref\": \"%s\" points outside the document", ref);
    }
    json_t *at = doc;
    for (const char *part = ref + 2; *part;) {
        char key[128];
        size_t n = strcspn(part, "/");
        assert_true(n < sizeof key);
        memcpy(key, part, n);
        key[n] = '\0';
        at = json_object_get(at, key);
        if (!at) {
            fail_msg("\"$ref\": \"%s\" points at nothing", ref);
        }
        part += n + (part[n] == '/');
    }
    return at;
}

static void check_refs(json_t *value) {
    const char *key;
    json_t *member;
    size_t i;
    if (json_is_object(value)) {
        resolve(value);
        json_object_foreach(value, key, member) check_refs(member);
    } else if (json_is_array(value)) {
        json_array_foreach(value, i, member) check_refs(member);
    }
}

static void test_references_resolve(void **state) {
    (void)state;
    check_refs(doc);
}

/* Every component is used, so that none outlives its use. */
static bool uses(json_t *value, const char *ref) {
    const char *key;
    json_t *member;
    size_t i;
    if (json_is_object(value)) {
        const char *own = json_string_value(json_object_get(value, "$ref"));
        if (own && strcmp(own, ref) == 0) {
            return true;
        }
        json_object_foreach(value, key, member) if (uses(member, ref)) return true;
    } else if (json_is_array(value)) {
        json_array_foreach(value, i, member) if (uses(member, ref)) return true;
    }
    return false;
}

static void test_components_are_used(void **state) {
    (void)state;
    const char *kind, *name;
    json_t *group, *component;
    json_object_foreach(json_object_get(doc, "components"), kind, group) {
        json_object_foreach(group, name, component) {
            char ref[128];
            (void)snprintf(ref, sizeof ref, "#/components/%s/%s", kind, name);
            if (strcmp(kind, "securitySchemes") != 0 && !uses(doc, ref)) {
                fail_msg("%s is not used", ref);
            }
        }
    }
}

static json_t *ids; /* operation ids seen */

static void check_operation(const char *path, const char *method, json_t *item, json_t *operation) {
    (void)item;
    const char *id = json_string_value(json_object_get(operation, "operationId")), *status;
    json_t *responses = json_object_get(operation, "responses"), *response;
    bool good = false;
    if (!id || json_object_get(ids, id)) {
        fail_msg("%s %s: operationId is missing or used twice", method, path);
    }
    json_object_set_new(ids, id, json_true());
    assert_true(json_is_string(json_object_get(operation, "summary")));
    assert_true(json_is_array(json_object_get(operation, "tags")));
    assert_true(json_object_size(responses) > 0);
    json_object_foreach(responses, status, response) {
        if (!json_is_string(json_object_get(resolve(response), "description"))) {
            fail_msg("%s %s: response %s has no description", method, path, status);
        }
        good = good || status[0] == '2';
    }
    if (!good || !json_object_get(responses, "default")) {
        fail_msg("%s %s: needs a response of success and the default problem", method, path);
    }
}

static void test_operations_are_complete(void **state) {
    (void)state;
    ids = json_object();
    each_operation(check_operation);
    json_decref(ids);
}

static bool declares(json_t *parameters, const char *name, size_t n, const char *in) {
    size_t i;
    json_t *p;
    json_array_foreach(parameters, i, p) {
        p = resolve(p);
        const char *own = json_string_value(json_object_get(p, "name"));
        if (strlen(own) == n && memcmp(own, name, n) == 0 &&
            strcmp(json_string_value(json_object_get(p, "in")), in) == 0) {
            return strcmp(in, "path") != 0 || json_is_true(json_object_get(p, "required"));
        }
    }
    return false;
}

static void check_path_parameters(const char *path, const char *method, json_t *item,
                                  json_t *operation) {
    size_t n_placeholders = 0, n_declared = 0, i;
    json_t *p;
    for (const char *at = strchr(path, '{'); at; at = strchr(at + 1, '{')) {
        size_t n = strcspn(at + 1, "}");
        n_placeholders++;
        if (!declares(json_object_get(item, "parameters"), at + 1, n, "path")) {
            fail_msg("%s: {%.*s} is not declared", path, (int)n, at + 1);
        }
    }
    json_array_foreach(json_object_get(item, "parameters"), i, p) n_declared +=
        strcmp(json_string_value(json_object_get(resolve(p), "in")), "path") == 0;
    assert_int_equal(n_placeholders, n_declared);
    json_array_foreach(json_object_get(operation, "parameters"), i, p) {
        const char *in = json_string_value(json_object_get(resolve(p), "in"));
        if (strcmp(in, "query") != 0 && strcmp(in, "header") != 0) {
            fail_msg("%s %s: a parameter in \"%s\"", method, path, in);
        }
    }
}

static void test_path_parameters_are_declared(void **state) {
    (void)state;
    each_operation(check_path_parameters);
}

/* ---- the policy of a route ---- */

static bool operation_declares(json_t *item, json_t *operation, const char *name, const char *in) {
    return declares(json_object_get(item, "parameters"), name, strlen(name), in) ||
           declares(json_object_get(operation, "parameters"), name, strlen(name), in);
}

/* A route without a list takes any parameter: the document describes them as one object. */
static void check_query(const char *path, const char *method, json_t *item, json_t *operation) {
    const char *const *known = route_find(path, method)->query;
    size_t n_known = 0, n_declared = 0, i;
    json_t *p;
    for (; known != NULL && known[n_known] != NULL; n_known++) {
        if (!operation_declares(item, operation, known[n_known], "query")) {
            fail_msg("%s %s: the document lacks ?%s=", method, path, known[n_known]);
        }
    }
    json_array_foreach(json_object_get(operation, "parameters"), i, p) {
        n_declared += strcmp(json_string_value(json_object_get(resolve(p), "in")), "query") == 0;
    }
    if (known == NULL) {
        assert_true(n_declared == 0 || operation_declares(item, operation, "features", "query"));
    } else if (n_declared != n_known) {
        fail_msg("%s %s: the document has %zu query parameters, the route %zu", method, path,
                 n_declared, n_known);
    }
}

static void test_query_parameters_are_those_of_the_route(void **state) {
    (void)state;
    each_operation(check_query);
}

static void check_conditions(const char *path, const char *method, json_t *item,
                             json_t *operation) {
    static const struct {
        const char *header;
        unsigned bit;
    } conditions[] = {{"If-Match", HTTP_IF_MATCH}, {"If-None-Match", HTTP_IF_NONE_MATCH}};
    const struct http_route *route = route_find(path, method);
    json_t *responses = json_object_get(operation, "responses");
    for (size_t i = 0; i < 2; i++) {
        const bool has = (route->conditions & conditions[i].bit) != 0;
        if (operation_declares(item, operation, conditions[i].header, "header") != has) {
            fail_msg("%s %s: %s of route and document differ", method, path, conditions[i].header);
        }
    }
    const bool reads = route->conditions != 0 && !route->changes;
    if ((json_object_get(responses, "304") != NULL) != reads ||
        (json_object_get(responses, "412") != NULL) != (route->conditions != 0)) {
        fail_msg("%s %s: 412 is for conditions, 304 for those of a read", method, path);
    }
    if (operation_declares(item, operation, "Idempotency-Key", "header") != route->keyed) {
        fail_msg("%s %s: Idempotency-Key of route and document differ", method, path);
    }
    /* Every POST that changes something takes a key. */
    assert_int_equal(route->keyed, route->changes && strcmp(route->method, "POST") == 0);
    /* A change of something that exists has both. POST /v1/jobs makes something new. */
    const bool tagged = route->changes && strcmp(route->operation, "createJob") != 0;
    if (tagged && route->conditions != (HTTP_IF_MATCH | HTTP_IF_NONE_MATCH)) {
        fail_msg("%s %s: a change must apply conditions", method, path);
    }
}

/* The document names the scope of the route; a call that needs a token may be answered 401 and 403. */
static void check_scope(const char *path, const char *method, json_t *item, json_t *operation) {
    static const char *const scopes[] = {
        [HTTP_SCOPE_READ] = "read",   [HTTP_SCOPE_PREDICT] = "predict",
        [HTTP_SCOPE_TRAIN] = "train", [HTTP_SCOPE_WRITE] = "write",
        [HTTP_SCOPE_ADMIN] = "admin",
    };
    (void)item;
    const enum http_scope scope = route_find(path, method)->scope;
    json_t *security = json_object_get(operation, "security");
    json_t *roles = json_object_get(json_array_get(security, 0), "token");
    json_t *responses = json_object_get(operation, "responses");
    const bool public = scope == HTTP_SCOPE_PUBLIC;
    assert_int_not_equal(scope, HTTP_SCOPE_NOT_SET);
    if (!json_is_array(security) || (roles == NULL) != public ||
        (json_object_get(responses, "401") == NULL) != public ||
        (json_object_get(responses, "403") == NULL) != public) {
        fail_msg("%s %s: security, 401 and 403 must be those of the route's scope", method, path);
    }
    const char *role = json_string_value(json_array_get(roles, 0));
    const char *wanted = scope >= HTTP_SCOPE_READ ? scopes[scope] : NULL;
    if ((role == NULL) != (wanted == NULL) || (role != NULL && strcmp(role, wanted) != 0)) {
        fail_msg("%s %s: the document has the scope %s", method, path, role ? role : "none");
    }
}

static void test_scopes_are_those_of_the_route(void **state) {
    (void)state;
    each_operation(check_scope);
}

static void test_conditions_are_those_of_the_route(void **state) {
    (void)state;
    each_operation(check_conditions);
}

/* The media types of a route: of a list of formats, or one. n of them are in the content. */
static bool media_are_described(const struct http_media *media, const char *type, json_t *content,
                                size_t *n) {
    bool good = true;
    *n = 0;
    if (media == NULL || media->kind != MEDIA_FORMATS) {
        const char *const own[] = {type, NULL}, *const *types = own;
        if (media != NULL && media->types != NULL) {
            types = media->types;
        }
        for (; types[*n] != NULL; ++*n) {
            good = good && json_object_get(content, types[*n]) != NULL;
        }
        return good;
    }
    for (size_t i = 0; formats[i] != NULL; i++) {
        if (format_has(formats[i], media->use)) {
            good = good && json_object_get(content, format_media_type(formats[i])) != NULL;
            ++*n;
        }
    }
    return good;
}

static void check_request_media(const char *path, const char *method, json_t *item,
                                json_t *operation) {
    const struct http_route *route = route_find(path, method);
    json_t *content = json_object_get(json_object_get(operation, "requestBody"), "content");
    const bool refuses = json_object_get(json_object_get(operation, "responses"), "415") != NULL;
    (void)item;
    if ((route->accepts != NULL) != (content != NULL) || (route->accepts != NULL) != refuses) {
        fail_msg("%s %s: a route with a body accepts media types and refuses others", method, path);
    }
    if (content == NULL || route->accepts == NULL) {
        return;
    }
    size_t n;
    const bool good = media_are_described(route->accepts, "application/json", content, &n);
    /* A body without Content-Type, and the part of a form, may have any of the formats. */
    static const char *const any[] = {"application/octet-stream", "multipart/form-data"};
    for (size_t i = 0; i < 2; i++) {
        const bool described = json_object_get(content, any[i]) != NULL;
        n += described;
        assert_int_equal(route->accepts->kind == MEDIA_FORMATS, described);
    }
    if (!good || n != json_object_size(content)) {
        fail_msg("%s %s: media types of request bodies of route and document differ", method, path);
    }
}

static void test_request_media_types_are_those_of_the_route(void **state) {
    (void)state;
    each_operation(check_request_media);
}

static void check_reply_media(const char *path, const char *method, json_t *item,
                              json_t *operation) {
    const struct http_route *route = route_find(path, method);
    json_t *responses = json_object_get(operation, "responses"), *response;
    const char *status;
    (void)item;
    if ((route->offers != &api_sends_any) != (json_object_get(responses, "406") != NULL)) {
        fail_msg("%s %s: 406 is for routes that heed Accept", method, path);
    }
    json_object_foreach(responses, status, response) {
        json_t *content = json_object_get(resolve(response), "content");
        size_t n;
        if (status[0] != '2' || strcmp(status, "204") == 0) {
            continue;
        }
        const bool good = media_are_described(route->offers, "application/json", content, &n);
        if (!good || n != json_object_size(content)) {
            fail_msg("%s %s: media types of replies of route and document differ", method, path);
        }
    }
}

static void test_reply_media_types_are_those_of_the_route(void **state) {
    (void)state;
    each_operation(check_reply_media);
}

static void check_limit(const char *path, const char *method, json_t *item, json_t *operation) {
    (void)item;
    if (route_find(path, method)->limit != NULL &&
        json_object_get(json_object_get(operation, "responses"), "413") == NULL) {
        fail_msg("%s %s: the document lacks 413", method, path);
    }
}

static void test_limits_are_described(void **state) {
    (void)state;
    each_operation(check_limit);
}

/* Every schema is an object with words of JSON Schema that fit together. */
static void check_schema(const char *name, json_t *schema) {
    size_t i;
    json_t *required, *properties = json_object_get(schema, "properties");
    json_array_foreach(json_object_get(schema, "required"), i, required) {
        if (!json_object_get(properties, json_string_value(required))) {
            fail_msg("schema %s requires \"%s\", which it does not describe", name,
                     json_string_value(required));
        }
    }
}

static void test_schemas_describe_what_they_require(void **state) {
    (void)state;
    const char *name;
    json_t *schema;
    json_object_foreach(json_object_get(json_object_get(doc, "components"), "schemas"), name,
                        schema) check_schema(name, schema);
}

static void test_head_of_the_document(void **state) {
    (void)state;
    assert_string_equal(json_string_value(json_object_get(doc, "openapi")), "3.1.0");
    assert_string_equal(json_string_value(json_object_get(json_object_get(doc, "info"), "version")),
                        DISCERN_VERSION);
}

static void test_servers_follow_the_base_path(void **state) {
    (void)state;
    static const char *const base[] = {NULL, "", "/discern", "/a\"b"};
    static const char *const expected[] = {"/", "/", "/discern", "/a\"b"};
    for (size_t i = 0; i < 4; i++) {
        struct buf out = {0};
        api_openapi_write(base[i], &out);
        json_t *root = json_loadb(out.data, out.size, 0, NULL);
        json_t *servers = json_object_get(root, "servers");
        assert_int_equal(json_array_size(servers), 1);
        assert_string_equal(json_string_value(json_object_get(json_array_get(servers, 0), "url")),
                            expected[i]);
        assert_int_equal(json_object_size(json_object_get(root, "paths")),
                         json_object_size(json_object_get(doc, "paths")));
        json_decref(root);
        buf_done(&out);
    }
}

/* The table itself: what http relies on. */
static void test_routes_are_sound(void **state) {
    (void)state;
    for (size_t i = 0; i < api_n_routes; i++) {
        const struct http_route *r = &api_routes[i];
        assert_true(r->body == HTTP_BODY_STREAM ? r->sink && !r->handle
                                                : r->handle && (!r->sink || r->sink->wants));
        assert_true(r->limit == NULL || r->limit->option != NULL);
        for (size_t k = 0; k < i; k++) {
            assert_false(strcmp(api_routes[k].method, r->method) == 0 &&
                         strcmp(api_routes[k].path, r->path) == 0);
            assert_string_not_equal(api_routes[k].operation, r->operation);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_operation_has_a_route),
        cmocka_unit_test(test_every_route_has_an_operation),
        cmocka_unit_test(test_references_resolve),
        cmocka_unit_test(test_components_are_used),
        cmocka_unit_test(test_operations_are_complete),
        cmocka_unit_test(test_path_parameters_are_declared),
        cmocka_unit_test(test_query_parameters_are_those_of_the_route),
        cmocka_unit_test(test_scopes_are_those_of_the_route),
        cmocka_unit_test(test_conditions_are_those_of_the_route),
        cmocka_unit_test(test_request_media_types_are_those_of_the_route),
        cmocka_unit_test(test_reply_media_types_are_those_of_the_route),
        cmocka_unit_test(test_limits_are_described),
        cmocka_unit_test(test_schemas_describe_what_they_require),
        cmocka_unit_test(test_head_of_the_document),
        cmocka_unit_test(test_servers_follow_the_base_path),
        cmocka_unit_test(test_routes_are_sound),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
