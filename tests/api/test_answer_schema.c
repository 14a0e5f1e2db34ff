/* Tests of the check that compares every answer of the API tests with its OpenAPI schema. */
#include "lib/answer_schema.h"
#include "lib/cmocka.h"

#include <string.h>

static const char VERSION[] = "{\"name\":\"discernd\",\"version\":\"1\",\"library\":\"1\","
                              "\"started_at\":\"2026-01-01T00:00:00.000Z\",\"uptime\":1";

/* The fault of an answer in a static buffer; "" if the answer conforms. */
static const char *fault_of(const char *method, const char *target, long status, const char *type,
                            const char *head, const char *tail) {
    static char fault[1000];
    char text[4000];
    (void)snprintf(text, sizeof text, "%s%s", head, tail);
    json_t *json = json_loads(text, JSON_DECODE_ANY, NULL);
    assert_non_null(json);
    const struct answer_seen answer = {method, target, status, type, json, text, strlen(text)};
    const bool conforms = answer_conforms(&answer, fault, sizeof fault);
    assert_int_equal(conforms, fault[0] == '\0');
    json_decref(json);
    return fault;
}

static const char *version_fault(const char *tail) {
    return fault_of("GET", "/version", 200, "application/json", VERSION, tail);
}

static void expect(const char *fault, const char *words) {
    if (strstr(fault, words) == NULL) {
        fail_msg("\"%s\" does not contain \"%s\"", fault, words);
    }
}

static void test_members(void **state) {
    (void)state;
    assert_string_equal(version_fault("}"), "");
    expect(version_fault(",\"more\":1}"), "has a member \"more\"");
    expect(fault_of("GET", "/version?x=1", 200, "application/json", "{\"name\":\"discernd\"}", ""),
           "lacks \"version\"");
    expect(fault_of("GET", "/version", 200, "application/json", "[]", ""), "type");
}

static void test_members_of_members(void **state) {
    (void)state;
    static const char head[] = "{\"items\":[{\"type\":\"/problems/conflict\",\"name\":\"conflict\","
                               "\"status\":409,\"title\":\"t\",\"meaning\":\"m\"";
    assert_string_equal(fault_of("GET", "/problems", 200, "application/json", head,
                                 "}],\"next\":null}"),
                        "");
    expect(fault_of("GET", "/problems", 200, "application/json", head, ",\"x\":1}],\"next\":null}"),
           "\"/items/0\" has a member \"x\"");
}

static void test_parts_of_a_schema(void **state) {
    (void)state;
    static const char head[] =
        "{\"id\":1,\"state\":\"queued\",\"model\":\"m\",\"algorithm\":\"svm\","
        "\"dataset\":{\"name\":\"d\",\"version\":1},\"attempts\":0,"
        "\"created_at\":\"t\",\"started_at\":null,\"finished_at\":null,"
        "\"progress\":null,\"warnings\":[],\"result\":null,\"error\":";
    static const char problem[] =
        "{\"type\":\"/problems/conflict\",\"title\":\"t\",\"status\":409,\"detail\":\"d\"";
    char tail[300];
    assert_string_equal(fault_of("GET", "/v1/jobs/1", 200, "application/json", head, "null}"), "");
    (void)snprintf(tail, sizeof tail, "%s}}", problem);
    assert_string_equal(fault_of("GET", "/v1/jobs/1", 200, "application/json", head, tail), "");
    (void)snprintf(tail, sizeof tail, "%s,\"x\":1}}", problem);
    expect(fault_of("GET", "/v1/jobs/1", 200, "application/json", head, tail),
           "\"/error\" has a member \"x\"");
    expect(fault_of("GET", "/v1/jobs/1", 200, "application/json", head, "1}"), "oneOf");
}

static void test_statuses_and_media_types(void **state) {
    (void)state;
    expect(fault_of("GET", "/version", 201, "application/json", VERSION, "}"), "status 201");
    expect(fault_of("GET", "/version", 200, "text/plain", VERSION, "}"), "media type text/plain");
    expect(fault_of("GET", "/version", 404, "application/problem+json", VERSION, "}"), "lacks");
    expect(fault_of("PUT", "/version", 405, "application/problem+json", VERSION, "}"), "lacks");
    expect(fault_of("GET", "/nowhere", 404, "application/json", VERSION, "}"), "media type");
}

static void test_lines(void **state) {
    (void)state;
    static const char target[] = "/v1/models/m/predict", line[] = "{\"label\":1}\n";
    static char fault[1000];
    struct answer_seen answer = {.method = "POST",
                                 .target = target,
                                 .status = 200,
                                 .type = "application/x-ndjson",
                                 .body = line,
                                 .size = strlen(line)};
    assert_true(answer_conforms(&answer, fault, sizeof fault));
    answer.body = "{\"label\":1}\n{\"lable\":1}\n";
    answer.size = strlen(answer.body);
    assert_false(answer_conforms(&answer, fault, sizeof fault));
    expect(fault, "line 2");
    answer.body = "{\"label\":1\n";
    answer.size = strlen(answer.body);
    assert_false(answer_conforms(&answer, fault, sizeof fault));
    expect(fault, "no JSON");
}

/* A path with a literal segment is chosen before one with a placeholder. */
static void test_paths(void **state) {
    (void)state;
    static const char list[] = "{\"items\":[],\"next\":null}";
    assert_string_equal(fault_of("GET", "/v1/jobs?limit=1", 200, "application/json", list, ""), "");
    assert_string_equal(fault_of("GET", "/v1/models/m/versions", 200, "application/json", list, ""),
                        "");
    expect(fault_of("GET", "/v1/datasets/m", 200, "application/json", list, ""), "lacks \"name\"");
    expect(fault_of("HEAD", "/v1/datasets/m", 200, "application/json", list, ""), "lacks \"name\"");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_members),
        cmocka_unit_test(test_members_of_members),
        cmocka_unit_test(test_parts_of_a_schema),
        cmocka_unit_test(test_statuses_and_media_types),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
